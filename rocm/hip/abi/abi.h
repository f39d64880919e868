/* The part of the HIP and rocBLAS ABI that the test libraries implement.
 *
 * Signatures and values are those of hip_runtime_api.h and rocblas-types.h,
 * equal in HIP 5.2, 5.7, 6.4 and 7.2; layout_check.c compares them with a
 * header where one is installed. Handles are void * and enums are int: the
 * ABI is the same, and no HIP header is needed.
 */
#ifndef ROCSTRESS_ABI_H
#define ROCSTRESS_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifndef ABI_EXPORT
#define ABI_EXPORT __attribute__((visibility("default")))
#endif

/* hipError_t */
enum {
    ABI_SUCCESS = 0,
    ABI_INVALID_VALUE = 1,
    ABI_OUT_OF_MEMORY = 2,
    ABI_NOT_INITIALIZED = 3,
    ABI_INVALID_CONFIGURATION = 9,
    ABI_NO_DEVICE = 100,
    ABI_INVALID_DEVICE = 101,
    ABI_INVALID_IMAGE = 200,
    ABI_INVALID_CONTEXT = 201,
    ABI_NO_BINARY = 209,
    ABI_INVALID_HANDLE = 400,
    ABI_NOT_FOUND = 500,
    ABI_NOT_READY = 600,
    ABI_ILLEGAL_ADDRESS = 700,
    ABI_CONTEXT_IS_DESTROYED = 709,
    ABI_ALREADY_REGISTERED = 712,
    ABI_NOT_REGISTERED = 713,
    ABI_LAUNCH_FAILURE = 719,
    ABI_NOT_SUPPORTED = 801,
    ABI_UNKNOWN = 999
};

/* hipDeviceAttribute_t */
enum {
    ABI_ATTR_MAX_THREADS_PER_BLOCK = 56,
    ABI_ATTR_MULTIPROCESSOR_COUNT = 63,
    ABI_ATTR_WARP_SIZE = 87
};

/* hipMemcpyKind, stream and event flags */
enum {
    ABI_HOST_TO_DEVICE = 1,
    ABI_DEVICE_TO_HOST = 2,
    ABI_DEVICE_TO_DEVICE = 3,
    ABI_STREAM_NON_BLOCKING = 1,
    ABI_EVENT_FLAGS = 1 | 2 /* BlockingSync, DisableTiming */
};

/* rocblas_status and rocblas_operation */
enum {
    ABI_BLAS_SUCCESS = 0,
    ABI_BLAS_INVALID_HANDLE = 1,
    ABI_BLAS_NOT_IMPLEMENTED = 2,
    ABI_BLAS_INVALID_POINTER = 3,
    ABI_BLAS_INVALID_SIZE = 4,
    ABI_BLAS_MEMORY_ERROR = 5,
    ABI_BLAS_INTERNAL_ERROR = 6,
    ABI_BLAS_INVALID_VALUE = 11,
    ABI_BLAS_ARCH_MISMATCH = 15,
    ABI_OPERATION_NONE = 111,
    ABI_OPERATION_TRANSPOSE = 112,
    ABI_OPERATION_CONJUGATE = 113
};

/* rocblas_datatype and rocblas_gemm_algo */
enum {
    ABI_TYPE_F32 = 151,
    ABI_TYPE_BF16 = 168,
    ABI_ALGO_STANDARD = 0
};

/* hiprtcResult */
enum {
    ABI_RTC_SUCCESS = 0,
    ABI_RTC_OUT_OF_MEMORY = 1,
    ABI_RTC_INVALID_INPUT = 3,
    ABI_RTC_INVALID_PROGRAM = 4,
    ABI_RTC_INVALID_OPTION = 5,
    ABI_RTC_COMPILATION = 6,
    ABI_RTC_INTERNAL_ERROR = 11
};

/* Offsets in the two layouts of hipDeviceProp_t. R0600 is what HIP 6 added. */
enum {
    ABI_R0000_SIZE = 792,
    ABI_R0000_NAME = 0,
    ABI_R0000_TOTAL_MEM = 256,
    ABI_R0000_WARP_SIZE = 276,
    ABI_R0000_MAX_THREADS = 280,
    ABI_R0000_PROCESSORS = 336,
    ABI_R0000_ARCH = 396,
    ABI_R0600_SIZE = 1472,
    ABI_R0600_NAME = 0,
    ABI_R0600_TOTAL_MEM = 288,
    ABI_R0600_WARP_SIZE = 308,
    ABI_R0600_MAX_THREADS = 320,
    ABI_R0600_PROCESSORS = 388,
    ABI_R0600_ARCH = 1160,
    ABI_NAME_SIZE = 256
};

/* The HIP version whose behaviour the test libraries follow: errors after a
 * fault, no abort. */
#ifndef ABI_HIP_VERSION
#define ABI_HIP_VERSION 70000000
#endif

#ifndef ABI_CONSTANTS_ONLY

/* Only the test libraries have these. The label is the device's name, and the
 * second says what stands in for HIP. Both live as long as the library. */
ABI_EXPORT const char *rocstress_abi_label(void);
ABI_EXPORT const char *rocstress_abi_runtime(void);

ABI_EXPORT int hipInit(unsigned flags);
ABI_EXPORT int hipRuntimeGetVersion(int *version);
ABI_EXPORT int hipDriverGetVersion(int *version);
ABI_EXPORT int hipGetDeviceCount(int *count);
ABI_EXPORT int hipSetDevice(int device);
ABI_EXPORT int hipGetDevice(int *device);
ABI_EXPORT int hipDeviceGetAttribute(int *value, int attribute, int device);
ABI_EXPORT int hipDeviceGetName(char *name, int size, int device);
ABI_EXPORT int hipDeviceTotalMem(size_t *bytes, int device);
ABI_EXPORT int hipGetDevicePropertiesR0600(void *props, int device);
ABI_EXPORT int hipGetDeviceProperties(void *props, int device);
ABI_EXPORT int hipDeviceSynchronize(void);
ABI_EXPORT int hipDeviceReset(void);
ABI_EXPORT int hipGetLastError(void);
ABI_EXPORT int hipPeekAtLastError(void);
ABI_EXPORT const char *hipGetErrorName(int error);
ABI_EXPORT const char *hipGetErrorString(int error);

ABI_EXPORT int hipMemGetInfo(size_t *free_bytes, size_t *total);
ABI_EXPORT int hipMalloc(void **ptr, size_t size);
ABI_EXPORT int hipFree(void *ptr);
ABI_EXPORT int hipHostMalloc(void **ptr, size_t size, unsigned flags);
ABI_EXPORT int hipHostFree(void *ptr);
ABI_EXPORT int hipHostRegister(void *ptr, size_t size, unsigned flags);
ABI_EXPORT int hipHostUnregister(void *ptr);
ABI_EXPORT int hipMemcpyAsync(void *dst, const void *src, size_t size, int kind, void *stream);
ABI_EXPORT int hipMemcpyHtoDAsync(void *dst, const void *src, size_t size, void *stream);
ABI_EXPORT int hipMemcpyDtoHAsync(void *dst, void *src, size_t size, void *stream);
ABI_EXPORT int hipMemcpyDtoDAsync(void *dst, void *src, size_t size, void *stream);
ABI_EXPORT int hipMemsetAsync(void *dst, int value, size_t size, void *stream);
ABI_EXPORT int hipMemsetD8Async(void *dst, unsigned char value, size_t count, void *stream);
ABI_EXPORT int hipMemsetD32Async(void *dst, int value, size_t count, void *stream);

ABI_EXPORT int hipStreamCreateWithFlags(void **stream, unsigned flags);
ABI_EXPORT int hipStreamDestroy(void *stream);
ABI_EXPORT int hipStreamSynchronize(void *stream);
ABI_EXPORT int hipStreamQuery(void *stream);
ABI_EXPORT int hipEventCreateWithFlags(void **event, unsigned flags);
ABI_EXPORT int hipEventRecord(void *event, void *stream);
ABI_EXPORT int hipEventQuery(void *event);
ABI_EXPORT int hipEventSynchronize(void *event);
ABI_EXPORT int hipEventDestroy(void *event);

ABI_EXPORT int hipModuleLoadData(void **module, const void *image);
ABI_EXPORT int hipModuleGetFunction(void **function, void *module, const char *name);
ABI_EXPORT int hipModuleLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                     unsigned block_x, unsigned block_y, unsigned block_z,
                                     unsigned shared_bytes, void *stream, void **params, void **extra);
ABI_EXPORT int hipModuleUnload(void *module);

ABI_EXPORT int hiprtcCreateProgram(void **program, const char *source, const char *name, int header_count,
                                   const char *const *headers, const char *const *include_names);
ABI_EXPORT int hiprtcCompileProgram(void *program, int option_count, const char *const *options);
ABI_EXPORT int hiprtcGetProgramLogSize(void *program, size_t *size);
ABI_EXPORT int hiprtcGetProgramLog(void *program, char *log);
ABI_EXPORT int hiprtcGetCodeSize(void *program, size_t *size);
ABI_EXPORT int hiprtcGetCode(void *program, char *code);
ABI_EXPORT int hiprtcDestroyProgram(void **program);
ABI_EXPORT const char *hiprtcGetErrorString(int result);

ABI_EXPORT int rocblas_create_handle(void **handle);
ABI_EXPORT int rocblas_destroy_handle(void *handle);
ABI_EXPORT int rocblas_set_stream(void *handle, void *stream);
ABI_EXPORT int rocblas_get_stream(void *handle, void **stream);
ABI_EXPORT int rocblas_get_version_string(char *buf, size_t size);
ABI_EXPORT int rocblas_get_version_string_size(size_t *size);
ABI_EXPORT const char *rocblas_status_to_string(int status);
ABI_EXPORT int rocblas_sgemm(void *handle, int trans_a, int trans_b, int m, int n, int k,
                             const float *alpha, const float *a, int lda,
                             const float *b, int ldb,
                             const float *beta, float *c, int ldc);
ABI_EXPORT int rocblas_gemm_ex(void *handle, int trans_a, int trans_b, int m, int n, int k, const void *alpha,
                               const void *a, int a_type, int lda, const void *b, int b_type, int ldb,
                               const void *beta, const void *c, int c_type, int ldc, void *d, int d_type, int ldd,
                               int compute_type, int algo, int32_t solution, uint32_t flags);

#endif /* ABI_CONSTANTS_ONLY */
#endif
