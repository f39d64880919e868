#include "status.h"

#include "../abi.h"

static _Thread_local int last_error;

int abi_status(int error)
{
    if (error != ABI_SUCCESS && error != ABI_NOT_READY)
        last_error = error;
    return error;
}

/* A state that lasts is never cleared by reading it: without a device the real
 * runtime answers 100 to any number of calls. */
static int pending(void)
{
    int state = abi_state();
    return state != ABI_SUCCESS ? state : last_error;
}

int hipGetLastError(void)
{
    int error = pending();
    last_error = ABI_SUCCESS;
    return error;
}

int hipPeekAtLastError(void) { return pending(); }

static const struct {
    int code;
    const char *name, *text;
} errors[] = {
    {ABI_SUCCESS, "hipSuccess", "no error"},
    {ABI_INVALID_VALUE, "hipErrorInvalidValue", "invalid argument"},
    {ABI_OUT_OF_MEMORY, "hipErrorOutOfMemory", "out of memory"},
    {ABI_NOT_INITIALIZED, "hipErrorNotInitialized", "initialization error"},
    {ABI_INVALID_CONFIGURATION, "hipErrorInvalidConfiguration", "invalid configuration argument"},
    {ABI_NO_DEVICE, "hipErrorNoDevice", "no ROCm-capable device is detected"},
    {ABI_INVALID_DEVICE, "hipErrorInvalidDevice", "invalid device ordinal"},
    {ABI_INVALID_IMAGE, "hipErrorInvalidImage", "device kernel image is invalid"},
    {ABI_INVALID_CONTEXT, "hipErrorInvalidContext", "invalid device context"},
    {ABI_NO_BINARY, "hipErrorNoBinaryForGpu", "no kernel image is available for execution on the device"},
    {ABI_INVALID_HANDLE, "hipErrorInvalidHandle", "invalid resource handle"},
    {ABI_NOT_FOUND, "hipErrorNotFound", "named symbol not found"},
    {ABI_NOT_READY, "hipErrorNotReady", "device not ready"},
    {ABI_ILLEGAL_ADDRESS, "hipErrorIllegalAddress", "an illegal memory access was encountered"},
    {ABI_CONTEXT_IS_DESTROYED, "hipErrorContextIsDestroyed", "context is destroyed"},
    {ABI_ALREADY_REGISTERED, "hipErrorHostMemoryAlreadyRegistered", "part or all of the requested memory range is already mapped"},
    {ABI_NOT_REGISTERED, "hipErrorHostMemoryNotRegistered", "pointer does not correspond to a registered memory region"},
    {ABI_LAUNCH_FAILURE, "hipErrorLaunchFailure", "unspecified launch failure"},
    {ABI_NOT_SUPPORTED, "hipErrorNotSupported", "operation not supported"},
};

const char *hipGetErrorName(int error)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == error)
            return errors[i].name;
    return "hipErrorUnknown";
}

const char *hipGetErrorString(int error)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == error)
            return errors[i].text;
    return "unknown error";
}

const char *rocblas_status_to_string(int status)
{
    static const char *const names[] = {
        "rocblas_status_success", "rocblas_status_invalid_handle", "rocblas_status_not_implemented",
        "rocblas_status_invalid_pointer", "rocblas_status_invalid_size", "rocblas_status_memory_error",
        "rocblas_status_internal_error", "rocblas_status_perf_degraded",
        "rocblas_status_size_query_mismatch", "rocblas_status_size_increased",
        "rocblas_status_size_unchanged", "rocblas_status_invalid_value", "rocblas_status_continue",
        "rocblas_status_check_numerics_fail", "rocblas_status_excluded_from_build",
        "rocblas_status_arch_mismatch"};
    if (status < 0 || (size_t)status >= sizeof names / sizeof *names)
        return "<undefined rocblas_status value>";
    return names[status];
}
