#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "../abi.h"
#include "../common/config.h"
#include "../common/status.h"
#include "clock.h"
#include "device.h"
#include "gemm.h"
#include "table.h"

/* A handle is never freed; see table.h. */
struct handle {
    int device;
    unsigned resets; /* of the device, before it was created */
    _Atomic uintptr_t stream; /* unchecked until something is launched */
    _Atomic bool freed;
};

static struct table handles = TABLE_INIT(0x530000000000);

/* The lock inside rocBLAS that serialises creation. */
static pthread_mutex_t library = PTHREAD_MUTEX_INITIALIZER;

static _Atomic uint64_t creates; /* creations that succeeded or failed */
static _Atomic uint64_t binds;   /* calls of set_stream on a valid handle */
static _Atomic uint64_t gemm_exs; /* calls of gemm_ex with valid arguments */

/* The object of a handle that is not null. One that was freed, or was none
 * ever, is a pointer that rocBLAS follows; here the crash is at once. */
static struct handle *handle_of(void *h)
{
    struct handle *handle = table_get(&handles, (uintptr_t)h);
    if (!handle || atomic_load(&handle->freed))
        device_crash(SIGSEGV, "use of a rocBLAS handle after it was freed");
    return handle;
}

int rocblas_create_handle(void **out)
{
    if (!out)
        return ABI_BLAS_INVALID_HANDLE;
    if (abi_state() != ABI_SUCCESS)
        return ABI_BLAS_INTERNAL_ERROR;
    const struct abi_config *cfg = abi_config();
    int status = ABI_BLAS_SUCCESS;
    pthread_mutex_lock(&library);
    clock_sleep_until(clock_now() + (int64_t)cfg->create);
    if (atomic_fetch_add(&creates, 1) < cfg->create_fails) {
        status = (int)cfg->create_status;
    } else {
        struct handle *handle = calloc(1, sizeof *handle);
        uintptr_t h = 0;
        if (handle) {
            handle->device = device_current();
            handle->resets = device_resets(handle->device);
            h = table_put(&handles, handle);
        }
        if (h != 0)
            *out = (void *)h;
        else
            status = ABI_BLAS_MEMORY_ERROR;
    }
    pthread_mutex_unlock(&library);
    return status;
}

int rocblas_destroy_handle(void *h)
{
    if (!h)
        return ABI_BLAS_INVALID_HANDLE;
    if (atomic_exchange(&handle_of(h)->freed, true))
        device_crash(SIGABRT, "double free of a rocBLAS handle");
    return ABI_BLAS_SUCCESS;
}

int rocblas_set_stream(void *h, void *stream)
{
    if (!h)
        return ABI_BLAS_INVALID_HANDLE;
    struct handle *handle = handle_of(h);
    if (abi_state() != ABI_SUCCESS)
        return ABI_BLAS_INTERNAL_ERROR;
    const struct abi_config *cfg = abi_config();
    clock_spin_until(clock_now() + (int64_t)cfg->set_stream);
    if (atomic_fetch_add(&binds, 1) < cfg->set_stream_fails)
        return (int)cfg->set_stream_status;
    atomic_store(&handle->stream, (uintptr_t)stream);
    return ABI_BLAS_SUCCESS;
}

int rocblas_get_stream(void *h, void **stream)
{
    if (!h)
        return ABI_BLAS_INVALID_HANDLE;
    if (!stream)
        return ABI_BLAS_INVALID_POINTER;
    *stream = (void *)atomic_load(&handle_of(h)->stream);
    return ABI_BLAS_SUCCESS;
}

/* Whether an operation is one, with the rows that X is stored in for op(X) of
 * rows x cols. */
static bool shape(int operation, int rows, int cols, int *stored)
{
    *stored = operation == ABI_OPERATION_NONE ? rows : cols;
    return operation >= ABI_OPERATION_NONE && operation <= ABI_OPERATION_CONJUGATE;
}

static int at_least_one(int n) { return n > 1 ? n : 1; }

/* The status with which rocblas_sgemm refuses sizes and operations. */
static int check_shapes(int trans_a, int trans_b, int m, int n, int k, int lda, int ldb, int ldc)
{
    int rows_a, rows_b;
    if (!shape(trans_a, m, k, &rows_a) || !shape(trans_b, k, n, &rows_b))
        return ABI_BLAS_INVALID_VALUE;
    if (m < 0 || n < 0 || k < 0 || lda < at_least_one(rows_a) || ldb < at_least_one(rows_b) ||
        ldc < at_least_one(m))
        return ABI_BLAS_INVALID_SIZE;
    return ABI_BLAS_SUCCESS;
}

/* What the kernel of a handle does whose workspace a reset freed: rocBLAS
 * allocates it when the handle is created, and notices nothing. */
static bool run_without_workspace(struct op *self, struct worker *w, uintptr_t *bad)
{
    (void)self;
    (void)w;
    *bad = 0;
    return false;
}

/* Chooses a kernel, then reads the handle's stream, then launches on it: the
 * order in which rocBLAS does, and the window in which a second thread can
 * bind the handle to a stream of its own. */
static int launch(struct handle *handle, const struct gemm *with)
{
    struct gemm *g = malloc(sizeof *g);
    if (!g)
        return ABI_BLAS_MEMORY_ERROR;
    *g = *with;
    if (handle->resets != device_resets(handle->device))
        g->op.run = run_without_workspace;
    clock_spin_until(clock_now() + (int64_t)abi_config()->select);
    if (atomic_load(&handle->freed))
        device_crash(SIGSEGV, "use of a rocBLAS handle after it was freed");
    uintptr_t stream = atomic_load(&handle->stream);
    return stream_submit(stream, handle->device, &g->op) == ABI_SUCCESS ? ABI_BLAS_SUCCESS
                                                                       : ABI_BLAS_INTERNAL_ERROR;
}

int rocblas_sgemm(void *h, int trans_a, int trans_b, int m, int n, int k, const float *alpha,
                  const float *a, int lda, const float *b, int ldb, const float *beta, float *c, int ldc)
{
    if (!h)
        return ABI_BLAS_INVALID_HANDLE;
    struct handle *handle = handle_of(h);
    int status = check_shapes(trans_a, trans_b, m, n, k, lda, ldb, ldc);
    if (status != ABI_BLAS_SUCCESS || m == 0 || n == 0)
        return status;
    if (!alpha || !beta || !c || (k > 0 && (!a || !b)))
        return ABI_BLAS_INVALID_POINTER;
    if (abi_state() != ABI_SUCCESS)
        return ABI_BLAS_INTERNAL_ERROR;
    struct matrix out = {(uintptr_t)c, m, n, ldc, false, F32};
    struct gemm g = {
        .op = {.name = "rocblas_sgemm", .run = gemm_run},
        .a = {(uintptr_t)a, m, k, lda, trans_a != ABI_OPERATION_NONE, F32},
        .b = {(uintptr_t)b, k, n, ldb, trans_b != ABI_OPERATION_NONE, F32},
        .c = out,
        .d = out,
        .alpha = *alpha,
        .beta = *beta};
    return launch(handle, &g);
}

/* Whether this library multiplies these types: bf16 or f32 all over, computed
 * in f32. */
static bool multiplies(int a, int b, int c, int d, int compute)
{
    return (a == ABI_TYPE_BF16 || a == ABI_TYPE_F32) && b == a && c == a && d == a && compute == ABI_TYPE_F32;
}

int rocblas_gemm_ex(void *h, int trans_a, int trans_b, int m, int n, int k, const void *alpha, const void *a,
                    int a_type, int lda, const void *b, int b_type, int ldb, const void *beta, const void *c,
                    int c_type, int ldc, void *d, int d_type, int ldd, int compute_type, int algo,
                    int32_t solution, uint32_t flags)
{
    (void)solution; /* of other algorithms than the standard one */
    (void)flags;    /* hints for speed */
    if (!h)
        return ABI_BLAS_INVALID_HANDLE;
    struct handle *handle = handle_of(h);
    int status = check_shapes(trans_a, trans_b, m, n, k, lda, ldb, ldc);
    if (status == ABI_BLAS_SUCCESS && ldd < at_least_one(m))
        status = ABI_BLAS_INVALID_SIZE;
    if (status == ABI_BLAS_SUCCESS && (algo != ABI_ALGO_STANDARD || !multiplies(a_type, b_type, c_type, d_type, compute_type)))
        status = ABI_BLAS_NOT_IMPLEMENTED;
    if (status != ABI_BLAS_SUCCESS || m == 0 || n == 0)
        return status;
    if (!alpha || !beta || !c || !d || (k > 0 && (!a || !b)))
        return ABI_BLAS_INVALID_POINTER;
    if (abi_state() != ABI_SUCCESS)
        return ABI_BLAS_INTERNAL_ERROR;
    if (atomic_fetch_add(&gemm_exs, 1) < abi_config()->gemm_ex_fails)
        return (int)abi_config()->gemm_ex_status;
    enum element element = a_type == ABI_TYPE_BF16 ? BF16 : F32;
    struct gemm g = {
        .op = {.name = "rocblas_gemm_ex", .run = gemm_run},
        .a = {(uintptr_t)a, m, k, lda, trans_a != ABI_OPERATION_NONE, element},
        .b = {(uintptr_t)b, k, n, ldb, trans_b != ABI_OPERATION_NONE, element},
        .c = {(uintptr_t)c, m, n, ldc, false, element},
        .d = {(uintptr_t)d, m, n, ldd, false, element}};
    memcpy(&g.alpha, alpha, sizeof g.alpha); /* both of the compute type */
    memcpy(&g.beta, beta, sizeof g.beta);
    return launch(handle, &g);
}
