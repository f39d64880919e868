/* Compares abi.h and the offsets that rocm/hip uses with an installed HIP
 * header. It is compiled and never run: cc -fsyntax-only
 * -D__HIP_PLATFORM_AMD__ check/layout.c, for HIP 5 and for HIP 6 and later. */
#define ABI_CONSTANTS_ONLY
#include "../abi.h"

#include <hip/hip_runtime_api.h>
#include <hip/hip_version.h>

#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours " is not " #theirs)
#define AT(offset, field) _Static_assert(offsetof(hipDeviceProp_t, field) == (offset), #offset " is not where " #field " is")

SAME(ABI_SUCCESS, hipSuccess);
SAME(ABI_INVALID_VALUE, hipErrorInvalidValue);
SAME(ABI_OUT_OF_MEMORY, hipErrorOutOfMemory);
SAME(ABI_NOT_INITIALIZED, hipErrorNotInitialized);
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
