/* A CUDA driver, cuBLAS and NVRTC over the CPU test ABI, so that the CUDA test ABI can
 * be tested where there is no GPU. Built with the sources of the CPU test ABI,
 * whose own symbols stay hidden (-DABI_EXPORT=) and whose settings come from
 * another variable (-DABI_ENV), as libcuda.so.1 and, the same file, as
 * libcublas.so.13 and libnvrtc.so.13. HIP's numbers are CUDA's wherever the CPU test ABI uses
 * one. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../abi.h"
#include "../cpu/device.h"

#define VISIBLE __attribute__((visibility("default")))
/* Prototypes are the callers' own. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { CUDA_INVALID_CONTEXT = 201, CUBLAS_NOT_INITIALIZED = 1, DEVICES = 16 };

static char contexts[DEVICES];           /* their addresses are the contexts */
static _Thread_local int context_is_set; /* CUDA has no current device until then */

/* CUDA follows a stream that is gone, after a reset as well. */
static void *alive(void *stream)
{
    if (stream && hipStreamQuery(stream) == ABI_INVALID_HANDLE)
        device_crash(SIGSEGV, "use of a CUDA stream that is gone");
    return stream;
}

/* A call that needs a context. */
#define IN_CONTEXT(call) (context_is_set ? (call) : CUDA_INVALID_CONTEXT)

VISIBLE int cuInit(unsigned flags) { return hipInit(flags); }
VISIBLE int cuDeviceGetCount(int *count) { return hipGetDeviceCount(count); }
VISIBLE int cuDeviceTotalMem_v2(size_t *bytes, int device) { return hipDeviceTotalMem(bytes, device); }

VISIBLE int cuDriverGetVersion(int *version)
{
    *version = 13000;
    return 0;
}

VISIBLE int cuDeviceGet(int *device, int ordinal)
{
    int count = 0, error = hipGetDeviceCount(&count);
    *device = ordinal;
    return error != 0 ? error : ordinal < count ? 0 : ABI_INVALID_DEVICE;
}

VISIBLE int cuDeviceGetName(char *name, int size, int device)
{
    (void)device;
    strncpy(name, "fake GPU", (size_t)size);
    return 0;
}

VISIBLE int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    switch (attribute) {
    case 1:
        return hipDeviceGetAttribute(value, ABI_ATTR_MAX_THREADS_PER_BLOCK, device);
    case 10:
        return hipDeviceGetAttribute(value, ABI_ATTR_WARP_SIZE, device);
    case 16:
        return hipDeviceGetAttribute(value, ABI_ATTR_MULTIPROCESSOR_COUNT, device);
    case 75: /* compute capability 9.0 */
    case 76:
        *value = attribute == 75 ? 9 : 0;
        return 0;
    }
    return ABI_INVALID_VALUE;
}

VISIBLE int cuDevicePrimaryCtxRetain(void **context, int device)
{
    *context = &contexts[device];
    return 0;
}

VISIBLE int cuCtxSetCurrent(void *context)
{
    context_is_set = 1;
    return hipSetDevice((int)((char *)context - contexts));
}

VISIBLE int cuCtxSynchronize(void) { return IN_CONTEXT(hipDeviceSynchronize()); }
VISIBLE int cuMemGetInfo_v2(size_t *f, size_t *t) { return IN_CONTEXT(hipMemGetInfo(f, t)); }
VISIBLE int cuMemFree_v2(uint64_t p) { return IN_CONTEXT(hipFree((void *)(uintptr_t)p)); }

VISIBLE int cuMemAlloc_v2(uint64_t *p, size_t size)
{
    return size == 0 ? ABI_INVALID_VALUE : IN_CONTEXT(hipMalloc((void **)p, size));
}

VISIBLE int cuMemHostRegister_v2(void *p, size_t n, unsigned flags) { return IN_CONTEXT(hipHostRegister(p, n, flags)); }
VISIBLE int cuMemHostUnregister(void *p) { return IN_CONTEXT(hipHostUnregister(p)); }

VISIBLE int cuDevicePrimaryCtxReset_v2(int device)
{
    int before = 0, error = hipGetDevice(&before);
    if (error == 0)
        error = hipSetDevice(device);
    if (error == 0)
        error = hipDeviceReset();
    hipSetDevice(before);
    return error;
}

VISIBLE int cuMemcpyHtoDAsync_v2(uint64_t dst, const void *src, size_t n, void *stream)
{
    return IN_CONTEXT(hipMemcpyHtoDAsync((void *)(uintptr_t)dst, src, n, alive(stream)));
}

VISIBLE int cuMemcpyDtoHAsync_v2(void *dst, uint64_t src, size_t n, void *stream)
{
    return IN_CONTEXT(hipMemcpyDtoHAsync(dst, (void *)(uintptr_t)src, n, alive(stream)));
}

VISIBLE int cuMemcpyDtoDAsync_v2(uint64_t dst, uint64_t src, size_t n, void *stream)
{
    return IN_CONTEXT(hipMemcpyDtoDAsync((void *)(uintptr_t)dst, (void *)(uintptr_t)src, n, alive(stream)));
}

VISIBLE int cuMemsetD32Async(uint64_t dst, unsigned v, size_t n, void *stream)
{
    return IN_CONTEXT(hipMemsetD32Async((void *)(uintptr_t)dst, (int)v, n, alive(stream)));
}

VISIBLE int cuMemsetD8Async(uint64_t dst, unsigned char v, size_t n, void *stream)
{
    return IN_CONTEXT(hipMemsetD8Async((void *)(uintptr_t)dst, v, n, alive(stream)));
}

VISIBLE int cuStreamCreate(void **s, unsigned flags) { return IN_CONTEXT(hipStreamCreateWithFlags(s, flags)); }
VISIBLE int cuStreamDestroy_v2(void *s) { return IN_CONTEXT(hipStreamDestroy(alive(s))); }
VISIBLE int cuStreamSynchronize(void *s) { return IN_CONTEXT(hipStreamSynchronize(alive(s))); }
VISIBLE int cuStreamQuery(void *s) { return IN_CONTEXT(hipStreamQuery(alive(s))); }
VISIBLE int cuEventCreate(void **e, unsigned flags) { return IN_CONTEXT(hipEventCreateWithFlags(e, flags)); }
VISIBLE int cuEventRecord(void *e, void *s) { return IN_CONTEXT(hipEventRecord(e, alive(s))); }
VISIBLE int cuEventQuery(void *e) { return IN_CONTEXT(hipEventQuery(e)); }
VISIBLE int cuEventSynchronize(void *e) { return IN_CONTEXT(hipEventSynchronize(e)); }
VISIBLE int cuEventDestroy_v2(void *e) { return IN_CONTEXT(hipEventDestroy(e)); }

VISIBLE int cuModuleLoadData(void **m, const void *image) { return IN_CONTEXT(hipModuleLoadData(m, image)); }
VISIBLE int cuModuleGetFunction(void **f, void *m, const char *name) { return IN_CONTEXT(hipModuleGetFunction(f, m, name)); }
VISIBLE int cuModuleUnload(void *m) { return IN_CONTEXT(hipModuleUnload(m)); }

VISIBLE int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                           unsigned shared, void *stream, void **params, void **extra)
{
    return IN_CONTEXT(hipModuleLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, alive(stream), params, extra));
}

VISIBLE int nvrtcCreateProgram(void **p, const char *source, const char *name, int count, const char *const *headers,
                               const char *const *names)
{
    return hiprtcCreateProgram(p, source, name, count, headers, names);
}

VISIBLE int nvrtcCompileProgram(void *p, int count, const char *const *options)
{
    /* NVRTC knows nothing of AMD's option. */
    for (int i = 0; i < count; i++)
        if (strcmp(options[i], "--gpu-architecture=sm_90") != 0)
            return ABI_RTC_INVALID_OPTION;
    return hiprtcCompileProgram(p, count, options);
}

VISIBLE int nvrtcGetProgramLogSize(void *p, size_t *size) { return hiprtcGetProgramLogSize(p, size); }
VISIBLE int nvrtcGetProgramLog(void *p, char *log) { return hiprtcGetProgramLog(p, log); }
VISIBLE int nvrtcGetCUBINSize(void *p, size_t *size) { return hiprtcGetCodeSize(p, size); }
VISIBLE int nvrtcGetCUBIN(void *p, char *code) { return hiprtcGetCode(p, code); }
VISIBLE int nvrtcDestroyProgram(void **p) { return hiprtcDestroyProgram(p); }

/* The cublasStatus_t of a rocBLAS status. */
static int cublas(int status)
{
    switch (status) {
    case ABI_BLAS_SUCCESS:
        return 0;
    case ABI_BLAS_INVALID_HANDLE:
        return CUBLAS_NOT_INITIALIZED;
    case ABI_BLAS_MEMORY_ERROR:
        return 3;
    case ABI_BLAS_INVALID_SIZE:
    case ABI_BLAS_INVALID_POINTER:
    case ABI_BLAS_INVALID_VALUE:
        return 7;
    }
    return 14;
}

VISIBLE int cublasGetProperty(int which, int *value)
{
    static const int version[] = {13, 0, 2};
    *value = version[which];
    return 0;
}

/* A cuBLAS handle. The null handle is one to rocBLAS as well. */
struct blas {
    void *rocblas;
    int device;
    unsigned resets; /* of the device, before */
};

static void *rocblas(struct blas *b) { return b ? b->rocblas : NULL; }

VISIBLE int cublasCreate_v2(void **h)
{
    struct blas *b = calloc(1, sizeof *b);
    if (!b || !context_is_set)
        return CUBLAS_NOT_INITIALIZED;
    b->device = device_current();
    b->resets = device_resets(b->device);
    *h = b;
    return cublas(rocblas_create_handle(&b->rocblas));
}

/* As cuBLAS 13.1 on CUDA 13.0 does. */
VISIBLE int cublasDestroy_v2(void *h)
{
    struct blas *b = h;
    if (b && b->resets != device_resets(b->device))
        device_crash(SIGSEGV, "cublasDestroy of a handle whose context was reset");
    return cublas(rocblas_destroy_handle(rocblas(b)));
}

VISIBLE int cublasSetStream_v2(void *h, void *s) { return cublas(rocblas_set_stream(rocblas(h), alive(s))); }
VISIBLE int cublasGetStream_v2(void *h, void **s) { return cublas(rocblas_get_stream(rocblas(h), s)); }

VISIBLE int cublasSgemm_v2(void *h, int trans_a, int trans_b, int m, int n, int k, const float *alpha,
                           const float *a, int lda, const float *b, int ldb, const float *beta, float *c, int ldc)
{
    /* cublasOperation_t counts from 0. */
    return cublas(rocblas_sgemm(rocblas(h), trans_a + ABI_OPERATION_NONE, trans_b + ABI_OPERATION_NONE, m, n, k, alpha,
                                a, lda, b, ldb, beta, c, ldc));
}

/* The rocblas_datatype of a cudaDataType_t, -1 for one that is not used. */
static int datatype(int type) { return type == 0 ? ABI_TYPE_F32 : type == 14 ? ABI_TYPE_BF16 : -1; }

VISIBLE int cublasGemmEx(void *h, int trans_a, int trans_b, int m, int n, int k, const void *alpha, const void *a,
                         int a_type, int lda, const void *b, int b_type, int ldb, const void *beta, void *c,
                         int c_type, int ldc, int compute, int algo)
{
    if (compute != 68 || algo != -1) /* CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT */
        return 15;
    return cublas(rocblas_gemm_ex(rocblas(h), trans_a + ABI_OPERATION_NONE, trans_b + ABI_OPERATION_NONE, m, n, k, alpha,
                                  a, datatype(a_type), lda, b, datatype(b_type), ldb, beta, c, datatype(c_type), ldc,
                                  c, datatype(c_type), ldc, ABI_TYPE_F32, ABI_ALGO_STANDARD, 0, 0));
}
