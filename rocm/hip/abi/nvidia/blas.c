#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "../abi.h"
#include "../common/blas_version.h"
#include "../common/config.h"
#include "cuda.h"
#include "device.h"
#include "stream.h"

static _Atomic uint64_t creates; /* creations that succeeded or failed */
static _Atomic uint64_t binds;   /* calls of set_stream on a handle that is not null */
static _Atomic uint64_t gemm_exs; /* calls of gemm_ex on a handle that is not null */

/* A handle, which is never freed: cuBLAS follows one whose context was reset,
 * and cublasDestroy of it is a SIGSEGV on CUDA 13.0. A handle that its owner
 * destroyed is cuBLAS's to follow. */
struct handle {
    void *cublas;
    int device;
    unsigned generation;
    _Atomic(void *) stream; /* as it was passed in */
};

/* The cuBLAS handle of h; the null handle is itself, and cuBLAS's to refuse: it
 * answers NOT_INITIALIZED. */
static void *cublas_of(struct handle *h) { return h ? h->cublas : NULL; }

static bool stale(struct handle *h) { return h && h->generation != device_generation(h->device); }

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
    struct handle *h = calloc(1, sizeof *h);
    if (!h)
        return ABI_BLAS_MEMORY_ERROR;
    h->device = device_current();
    h->generation = device_generation(h->device);
    status = status_of(cublas()->create(&h->cublas));
    if (status == ABI_BLAS_SUCCESS)
        *handle = h;
    else
        free(h);
    return status;
}

/* What a reset left of a handle is not freed. */
int rocblas_destroy_handle(void *handle)
{
    int status = enter();
    if (status != ABI_BLAS_SUCCESS || stale(handle))
        return status;
    return status_of(cublas()->destroy(cublas_of(handle)));
}

int rocblas_set_stream(void *handle, void *stream)
{
    void *cuda_stream;
    struct handle *h = handle;
    int status = enter();
    if (status == ABI_BLAS_SUCCESS && (stale(h) || stream_enter(stream, &cuda_stream) != ABI_SUCCESS))
        status = ABI_BLAS_INTERNAL_ERROR;
    if (status != ABI_BLAS_SUCCESS)
        return status;
    const struct abi_config *cfg = abi_config();
    if (h && atomic_fetch_add(&binds, 1) < cfg->set_stream_fails)
        return (int)cfg->set_stream_status;
    status = status_of(cublas()->set_stream(cublas_of(h), cuda_stream));
    if (status == ABI_BLAS_SUCCESS)
        atomic_store(&h->stream, stream);
    return status;
}

int rocblas_get_stream(void *handle, void **stream)
{
    struct handle *h = handle;
    int status = enter();
    if (status == ABI_BLAS_SUCCESS && !h)
        status = ABI_BLAS_INVALID_HANDLE;
    if (status == ABI_BLAS_SUCCESS && !stream)
        status = ABI_BLAS_INVALID_POINTER;
    if (status == ABI_BLAS_SUCCESS)
        *stream = atomic_load(&h->stream);
    return status;
}

int rocblas_sgemm(void *handle, int trans_a, int trans_b, int m, int n, int k, const float *alpha,
                  const float *a, int lda, const float *b, int ldb, const float *beta, float *c, int ldc)
{
    int status = enter();
    if (status == ABI_BLAS_SUCCESS && stale(handle))
        status = ABI_BLAS_INTERNAL_ERROR;
    if (status != ABI_BLAS_SUCCESS)
        return status;
    /* rocblas_operation counts from 111, cublasOperation_t from 0. */
    return status_of(cublas()->sgemm(cublas_of(handle), trans_a - ABI_OPERATION_NONE,
                                     trans_b - ABI_OPERATION_NONE, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc));
}

/* The cudaDataType_t of a rocblas_datatype, -1 if there is no need for it. */
static int type_of(int datatype)
{
    return datatype == ABI_TYPE_F32 ? CUDA_R_32F : datatype == ABI_TYPE_BF16 ? CUDA_R_16BF : -1;
}

/* cuBLAS writes to C, so D must be C. */
int rocblas_gemm_ex(void *handle, int trans_a, int trans_b, int m, int n, int k, const void *alpha, const void *a,
                    int a_type, int lda, const void *b, int b_type, int ldb, const void *beta, const void *c,
                    int c_type, int ldc, void *d, int d_type, int ldd, int compute_type, int algo,
                    int32_t solution, uint32_t flags)
{
    (void)solution; /* of other algorithms than the standard one */
    (void)flags;    /* hints for speed */
    int status = enter();
    if (status == ABI_BLAS_SUCCESS && (type_of(a_type) < 0 || type_of(b_type) < 0 || type_of(c_type) < 0 ||
                                       c != d || c_type != d_type || ldc != ldd ||
                                       compute_type != ABI_TYPE_F32 || algo != ABI_ALGO_STANDARD))
        status = ABI_BLAS_NOT_IMPLEMENTED;
    if (status == ABI_BLAS_SUCCESS && stale(handle))
        status = ABI_BLAS_INTERNAL_ERROR;
    if (status != ABI_BLAS_SUCCESS)
        return status;
    const struct abi_config *cfg = abi_config();
    if (handle && atomic_fetch_add(&gemm_exs, 1) < cfg->gemm_ex_fails)
        return (int)cfg->gemm_ex_status;
    return status_of(cublas()->gemm_ex(cublas_of(handle), trans_a - ABI_OPERATION_NONE, trans_b - ABI_OPERATION_NONE,
                                       m, n, k, alpha, a, type_of(a_type), lda, b, type_of(b_type), ldb, beta,
                                       d, type_of(d_type), ldd, CUBLAS_32F, CUBLAS_DEFAULT));
}
