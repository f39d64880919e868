#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "../abi.h"
#include "../common/blas_version.h"
#include "../common/config.h"
#include "cuda.h"
#include "device.h"

static _Atomic uint64_t creates; /* creations that succeeded or failed */
static _Atomic uint64_t binds;   /* calls of set_stream on a handle that is not null */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char version[64]; /* written under once */

static void read_version(void)
{
    int part[3] = {0};
    bool ok = cublas() != NULL;
    for (int i = 0; ok && i < 3; i++) /* MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL */
        ok = cublas()->property(i, &part[i]) == CUDA_OK;
    if (ok)
        snprintf(version, sizeof version, "cuBLAS %d.%d.%d", part[0], part[1], part[2]);
    else
        snprintf(version, sizeof version, "cuBLAS, not available");
}

const char *abi_blas_version(void)
{
    pthread_once(&once, read_version);
    return version;
}

/* The rocBLAS status of a cublasStatus_t. */
static int status_of(int cublas_status)
{
    switch (cublas_status) {
    case 0: /* CUBLAS_STATUS_SUCCESS */
        return ABI_BLAS_SUCCESS;
    case 1: /* NOT_INITIALIZED: what a null handle is answered with */
        return ABI_BLAS_INVALID_HANDLE;
    case 3: /* ALLOC_FAILED */
        return ABI_BLAS_MEMORY_ERROR;
    case 7: /* INVALID_VALUE: a size or a leading dimension */
        return ABI_BLAS_INVALID_SIZE;
    case 8: /* ARCH_MISMATCH */
        return ABI_BLAS_ARCH_MISMATCH;
    case 15: /* NOT_SUPPORTED */
        return ABI_BLAS_NOT_IMPLEMENTED;
    }
    return ABI_BLAS_INTERNAL_ERROR; /* MAPPING_ERROR 11, EXECUTION_FAILED 13, INTERNAL_ERROR 14 */
}

/* The first step of every call. rocBLAS hands a HIP failure on as
 * internal_error. */
static int enter(void)
{
    return device_enter() == ABI_SUCCESS && cublas() ? ABI_BLAS_SUCCESS : ABI_BLAS_INTERNAL_ERROR;
}

int rocblas_create_handle(void **handle)
{
    if (!handle)
        return ABI_BLAS_INVALID_HANDLE;
    int status = enter();
    if (status != ABI_BLAS_SUCCESS)
        return status;
    const struct abi_config *cfg = abi_config();
    if (atomic_fetch_add(&creates, 1) < cfg->create_fails)
        return (int)cfg->create_status;
    return status_of(cublas()->create(handle));
}

/* The null handle is cuBLAS's to refuse: it answers NOT_INITIALIZED. */
int rocblas_destroy_handle(void *handle)
{
    int status = enter();
    return status != ABI_BLAS_SUCCESS ? status : status_of(cublas()->destroy(handle));
}

int rocblas_set_stream(void *handle, void *stream)
{
    int status = enter();
    if (status != ABI_BLAS_SUCCESS)
        return status;
    const struct abi_config *cfg = abi_config();
    if (handle && atomic_fetch_add(&binds, 1) < cfg->set_stream_fails)
        return (int)cfg->set_stream_status;
    return status_of(cublas()->set_stream(handle, stream));
}

int rocblas_get_stream(void *handle, void **stream)
{
    int status = enter();
    if (status == ABI_BLAS_SUCCESS && !stream)
        status = ABI_BLAS_INVALID_POINTER;
    return status != ABI_BLAS_SUCCESS ? status : status_of(cublas()->get_stream(handle, stream));
}

int rocblas_sgemm(void *handle, int trans_a, int trans_b, int m, int n, int k, const float *alpha,
                  const float *a, int lda, const float *b, int ldb, const float *beta, float *c, int ldc)
{
    int status = enter();
    if (status != ABI_BLAS_SUCCESS)
        return status;
    /* rocblas_operation counts from 111, cublasOperation_t from 0. */
    return status_of(cublas()->sgemm(handle, trans_a - ABI_OPERATION_NONE, trans_b - ABI_OPERATION_NONE,
                                     m, n, k, alpha, a, lda, b, ldb, beta, c, ldc));
}
