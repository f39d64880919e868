/* The part of the CUDA driver API, of cuBLAS and of NVRTC that stands in for
 * HIP, rocBLAS and hiprtc, with prototypes of our own: it compiles where there
 * is no CUDA. Source: cuda.h, cublas_api.h and nvrtc.h, equal in CUDA 11 to 13.
 * The libraries are found when they are first needed. */
#ifndef ROCSTRESS_ABI_NVIDIA_CUDA_H
#define ROCSTRESS_ABI_NVIDIA_CUDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t cuda_ptr; /* CUdeviceptr */

/* Name of a field, of the exported symbol, and arguments; all return CUresult. */
#define CUDA_FUNCTIONS(F)                                                          \
    F(init, cuInit, (unsigned flags))                                              \
    F(driver_version, cuDriverGetVersion, (int *version))                          \
    F(device_count, cuDeviceGetCount, (int *count))                                \
    F(device_get, cuDeviceGet, (int *device, int ordinal))                         \
    F(device_name, cuDeviceGetName, (char *name, int size, int device))            \
    F(device_memory, cuDeviceTotalMem_v2, (size_t * bytes, int device))            \
    F(device_attribute, cuDeviceGetAttribute, (int *value, int attr, int device))  \
    F(primary_retain, cuDevicePrimaryCtxRetain, (void **context, int device))      \
    F(primary_reset, cuDevicePrimaryCtxReset_v2, (int device))                     \
    F(set_current, cuCtxSetCurrent, (void *context))                               \
    F(synchronize, cuCtxSynchronize, (void))                                       \
    F(mem_info, cuMemGetInfo_v2, (size_t * free_bytes, size_t *total))             \
    F(mem_alloc, cuMemAlloc_v2, (cuda_ptr * ptr, size_t size))                     \
    F(mem_free, cuMemFree_v2, (cuda_ptr ptr))                                      \
    F(host_register, cuMemHostRegister_v2, (void *ptr, size_t size, unsigned flags)) \
    F(host_unregister, cuMemHostUnregister, (void *ptr))                           \
    F(htod, cuMemcpyHtoDAsync_v2, (cuda_ptr dst, const void *src, size_t n, void *stream)) \
    F(dtoh, cuMemcpyDtoHAsync_v2, (void *dst, cuda_ptr src, size_t n, void *stream))       \
    F(dtod, cuMemcpyDtoDAsync_v2, (cuda_ptr dst, cuda_ptr src, size_t n, void *stream))    \
    F(set32, cuMemsetD32Async, (cuda_ptr dst, unsigned v, size_t n, void *stream))         \
    F(set8, cuMemsetD8Async, (cuda_ptr dst, unsigned char v, size_t n, void *stream))      \
    F(stream_create, cuStreamCreate, (void **stream, unsigned flags))              \
    F(stream_destroy, cuStreamDestroy_v2, (void *stream))                          \
    F(stream_synchronize, cuStreamSynchronize, (void *stream))                     \
    F(stream_query, cuStreamQuery, (void *stream))                                 \
    F(event_create, cuEventCreate, (void **event, unsigned flags))                 \
    F(event_record, cuEventRecord, (void *event, void *stream))                    \
    F(event_query, cuEventQuery, (void *event))                                    \
    F(event_synchronize, cuEventSynchronize, (void *event))                        \
    F(event_destroy, cuEventDestroy_v2, (void *event))                             \
    F(module_load, cuModuleLoadData, (void **module, const void *image))           \
    F(module_function, cuModuleGetFunction, (void **function, void *module, const char *name)) \
    F(module_unload, cuModuleUnload, (void *module))                               \
    F(launch, cuLaunchKernel, (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, \
                               unsigned block_x, unsigned block_y, unsigned block_z, \
                               unsigned shared_bytes, void *stream, void **params, void **extra))

/* The same for cuBLAS; all return cublasStatus_t. */
#define CUBLAS_FUNCTIONS(F)                                                        \
    F(property, cublasGetProperty, (int which, int *value))                        \
    F(create, cublasCreate_v2, (void **handle))                                    \
    F(destroy, cublasDestroy_v2, (void *handle))                                   \
    F(set_stream, cublasSetStream_v2, (void *handle, void *stream))                \
    F(get_stream, cublasGetStream_v2, (void *handle, void **stream))               \
    F(sgemm, cublasSgemm_v2, (void *handle, int trans_a, int trans_b, int m, int n, int k, \
                              const float *alpha, const float *a, int lda, const float *b, \
                              int ldb, const float *beta, float *c, int ldc))      \
    F(gemm_ex, cublasGemmEx, (void *handle, int trans_a, int trans_b, int m, int n, int k, \
                              const void *alpha, const void *a, int a_type, int lda, \
                              const void *b, int b_type, int ldb, const void *beta, void *c, \
                              int c_type, int ldc, int compute_type, int algo))

/* The same for NVRTC; all return nvrtcResult. */
#define NVRTC_FUNCTIONS(F)                                                         \
    F(create, nvrtcCreateProgram, (void **program, const char *source, const char *name, int header_count, \
                                   const char *const *headers, const char *const *include_names)) \
    F(compile, nvrtcCompileProgram, (void *program, int option_count, const char *const *options)) \
    F(log_size, nvrtcGetProgramLogSize, (void *program, size_t *size))             \
    F(log, nvrtcGetProgramLog, (void *program, char *log))                         \
    F(code_size, nvrtcGetCUBINSize, (void *program, size_t *size))                 \
    F(code, nvrtcGetCUBIN, (void *program, char *code))                            \
    F(destroy, nvrtcDestroyProgram, (void **program))

#define FIELD(field, symbol, args) int(*field) args;
struct cuda {
    CUDA_FUNCTIONS(FIELD)
};
struct cublas {
    CUBLAS_FUNCTIONS(FIELD)
};
struct nvrtc {
    NVRTC_FUNCTIONS(FIELD)
};
#undef FIELD

enum {
    CUDA_OK = 0,
    CUDA_PORTABLE = 1,     /* CU_MEMHOSTREGISTER_PORTABLE */
    CUDA_MAX_THREADS = 1,  /* CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK */
    CUDA_WARP_SIZE = 10,   /* CU_DEVICE_ATTRIBUTE_WARP_SIZE */
    CUDA_PROCESSORS = 16,  /* CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT */
    CUDA_MAJOR = 75,       /* CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR */
    CUDA_MINOR = 76,       /* CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR */
    CUDA_R_32F = 0,        /* cudaDataType_t of library_types.h */
    CUDA_R_16BF = 14,      /* the same */
    CUBLAS_32F = 68,       /* CUBLAS_COMPUTE_32F */
    CUBLAS_DEFAULT = -1,   /* CUBLAS_GEMM_DEFAULT */
};

/* The library, or NULL if it cannot be loaded; why not was said on stderr. */
const struct cuda *cuda(void);
const struct cublas *cublas(void);
const struct nvrtc *nvrtc(void);

#endif
