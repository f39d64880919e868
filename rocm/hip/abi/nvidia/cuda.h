/* The part of the CUDA driver API and of cuBLAS that stands in for HIP and
 * rocBLAS, with prototypes of our own: it compiles where there is no CUDA.
 * Source: cuda.h and cublas_api.h, equal in CUDA 11 to 13. Both libraries are
 * found when they are first needed. */
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
    F(set_current, cuCtxSetCurrent, (void *context))                               \
    F(synchronize, cuCtxSynchronize, (void))                                       \
    F(mem_info, cuMemGetInfo_v2, (size_t * free_bytes, size_t *total))             \
    F(mem_alloc, cuMemAlloc_v2, (cuda_ptr * ptr, size_t size))                     \
    F(mem_free, cuMemFree_v2, (cuda_ptr ptr))                                      \
    F(host_alloc, cuMemHostAlloc, (void **ptr, size_t size, unsigned flags))       \
    F(host_free, cuMemFreeHost, (void *ptr))                                       \
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
    F(event_destroy, cuEventDestroy_v2, (void *event))

/* The same for cuBLAS; all return cublasStatus_t. */
#define CUBLAS_FUNCTIONS(F)                                                        \
    F(property, cublasGetProperty, (int which, int *value))                        \
    F(create, cublasCreate_v2, (void **handle))                                    \
    F(destroy, cublasDestroy_v2, (void *handle))                                   \
    F(set_stream, cublasSetStream_v2, (void *handle, void *stream))                \
    F(get_stream, cublasGetStream_v2, (void *handle, void **stream))               \
    F(sgemm, cublasSgemm_v2, (void *handle, int trans_a, int trans_b, int m, int n, int k, \
                              const float *alpha, const float *a, int lda, const float *b, \
                              int ldb, const float *beta, float *c, int ldc))

#define FIELD(field, symbol, args) int(*field) args;
struct cuda {
    CUDA_FUNCTIONS(FIELD)
};
struct cublas {
    CUBLAS_FUNCTIONS(FIELD)
};
#undef FIELD

enum {
    CUDA_OK = 0,
    CUDA_PORTABLE = 1,     /* CU_MEMHOSTALLOC_PORTABLE */
    CUDA_MAX_THREADS = 1,  /* CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK */
    CUDA_WARP_SIZE = 10,   /* CU_DEVICE_ATTRIBUTE_WARP_SIZE */
    CUDA_PROCESSORS = 16,  /* CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT */
};

/* The library, or NULL if it cannot be loaded; why not was said on stderr. */
const struct cuda *cuda(void);
const struct cublas *cublas(void);

#endif
