/* Compares abi.h and the offsets that rocm/hip uses with an installed HIP
 * header. It is compiled and never run: cc -fsyntax-only
 * -D__HIP_PLATFORM_AMD__ check/layout.c, for HIP 5 and for HIP 6 and later. */
#define ABI_CONSTANTS_ONLY
#include "../abi.h"

#include <hip/hip_runtime_api.h>
#include <hip/hip_version.h>
#include <hip/hiprtc.h>

#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours " is not " #theirs)
#define AT(offset, field) _Static_assert(offsetof(hipDeviceProp_t, field) == (offset), #offset " is not where " #field " is")

SAME(ABI_SUCCESS, hipSuccess);
SAME(ABI_INVALID_VALUE, hipErrorInvalidValue);
SAME(ABI_OUT_OF_MEMORY, hipErrorOutOfMemory);
SAME(ABI_NOT_INITIALIZED, hipErrorNotInitialized);
SAME(ABI_INVALID_CONFIGURATION, hipErrorInvalidConfiguration);
SAME(ABI_INVALID_IMAGE, hipErrorInvalidImage);
SAME(ABI_INVALID_CONTEXT, hipErrorInvalidContext);
SAME(ABI_NO_BINARY, hipErrorNoBinaryForGpu);
SAME(ABI_NOT_FOUND, hipErrorNotFound);
SAME(ABI_CONTEXT_IS_DESTROYED, hipErrorContextIsDestroyed);
SAME(ABI_ALREADY_REGISTERED, hipErrorHostMemoryAlreadyRegistered);
SAME(ABI_NOT_REGISTERED, hipErrorHostMemoryNotRegistered);
SAME(ABI_NO_DEVICE, hipErrorNoDevice);
SAME(ABI_INVALID_DEVICE, hipErrorInvalidDevice);
SAME(ABI_INVALID_HANDLE, hipErrorInvalidHandle);
SAME(ABI_NOT_READY, hipErrorNotReady);
SAME(ABI_ILLEGAL_ADDRESS, hipErrorIllegalAddress);
SAME(ABI_LAUNCH_FAILURE, hipErrorLaunchFailure);
SAME(ABI_NOT_SUPPORTED, hipErrorNotSupported);
SAME(ABI_UNKNOWN, hipErrorUnknown);
SAME(ABI_ATTR_MAX_THREADS_PER_BLOCK, hipDeviceAttributeMaxThreadsPerBlock);
SAME(ABI_ATTR_MULTIPROCESSOR_COUNT, hipDeviceAttributeMultiprocessorCount);
SAME(ABI_ATTR_WARP_SIZE, hipDeviceAttributeWarpSize);
SAME(ABI_HOST_TO_DEVICE, hipMemcpyHostToDevice);
SAME(ABI_DEVICE_TO_HOST, hipMemcpyDeviceToHost);
SAME(ABI_DEVICE_TO_DEVICE, hipMemcpyDeviceToDevice);
SAME(ABI_STREAM_NON_BLOCKING, hipStreamNonBlocking);
SAME(ABI_EVENT_FLAGS, hipEventBlockingSync | hipEventDisableTiming);
SAME(ABI_RTC_SUCCESS, HIPRTC_SUCCESS);
SAME(ABI_RTC_OUT_OF_MEMORY, HIPRTC_ERROR_OUT_OF_MEMORY);
SAME(ABI_RTC_INVALID_INPUT, HIPRTC_ERROR_INVALID_INPUT);
SAME(ABI_RTC_INVALID_PROGRAM, HIPRTC_ERROR_INVALID_PROGRAM);
SAME(ABI_RTC_INVALID_OPTION, HIPRTC_ERROR_INVALID_OPTION);
SAME(ABI_RTC_COMPILATION, HIPRTC_ERROR_COMPILATION);
SAME(ABI_RTC_INTERNAL_ERROR, HIPRTC_ERROR_INTERNAL_ERROR);

#if __has_include(<rocblas/rocblas.h>)
#include <rocblas/rocblas.h>
SAME(ABI_BLAS_SUCCESS, rocblas_status_success);
SAME(ABI_BLAS_INVALID_HANDLE, rocblas_status_invalid_handle);
SAME(ABI_BLAS_NOT_IMPLEMENTED, rocblas_status_not_implemented);
SAME(ABI_BLAS_INVALID_POINTER, rocblas_status_invalid_pointer);
SAME(ABI_BLAS_INVALID_SIZE, rocblas_status_invalid_size);
SAME(ABI_BLAS_MEMORY_ERROR, rocblas_status_memory_error);
SAME(ABI_BLAS_INTERNAL_ERROR, rocblas_status_internal_error);
SAME(ABI_BLAS_INVALID_VALUE, rocblas_status_invalid_value);
SAME(ABI_OPERATION_NONE, rocblas_operation_none);
SAME(ABI_OPERATION_CONJUGATE, rocblas_operation_conjugate_transpose);
SAME(ABI_TYPE_F32, rocblas_datatype_f32_r);
SAME(ABI_TYPE_BF16, rocblas_datatype_bf16_r);
SAME(ABI_ALGO_STANDARD, rocblas_gemm_algo_standard);
#endif

#if HIP_VERSION_MAJOR < 6
SAME(ABI_R0000_SIZE, sizeof(hipDeviceProp_t));
AT(ABI_R0000_NAME, name);
AT(ABI_R0000_TOTAL_MEM, totalGlobalMem);
AT(ABI_R0000_WARP_SIZE, warpSize);
AT(ABI_R0000_MAX_THREADS, maxThreadsPerBlock);
AT(ABI_R0000_PROCESSORS, multiProcessorCount);
AT(ABI_R0000_ARCH, gcnArchName);
#else
SAME(ABI_R0600_SIZE, sizeof(hipDeviceProp_t));
AT(ABI_R0600_NAME, name);
AT(ABI_R0600_TOTAL_MEM, totalGlobalMem);
AT(ABI_R0600_WARP_SIZE, warpSize);
AT(ABI_R0600_MAX_THREADS, maxThreadsPerBlock);
AT(ABI_R0600_PROCESSORS, multiProcessorCount);
AT(ABI_R0600_ARCH, gcnArchName);
#endif
