#include "../abi.h"
#include "../common/status.h"
#include "cuda.h"
#include "device.h"

/* The flags of streams and events have the same numbers in HIP and CUDA. */

int hipStreamCreateWithFlags(void **stream, unsigned flags)
{
    int error = device_enter();
    if (error == ABI_SUCCESS)
        error = stream ? device_result(cuda()->stream_create(stream, flags)) : ABI_INVALID_VALUE;
    return abi_status(error);
}

int hipStreamDestroy(void *stream)
{
    int error = device_enter();
    if (error == ABI_SUCCESS)
        error = stream ? device_result(cuda()->stream_destroy(stream)) : ABI_INVALID_HANDLE;
    return abi_status(error);
}

int hipStreamSynchronize(void *stream)
{
    int error = device_enter();
    if (error == ABI_SUCCESS)
        error = device_result(cuda()->stream_synchronize(stream));
    return abi_status(error);
}

int hipStreamQuery(void *stream)
{
    int error = device_enter();
    if (error == ABI_SUCCESS)
        error = device_result(cuda()->stream_query(stream));
    return abi_status(error);
}

int hipEventCreateWithFlags(void **event, unsigned flags)
{
    int error = device_enter();
    if (error == ABI_SUCCESS)
        error = event ? device_result(cuda()->event_create(event, flags)) : ABI_INVALID_VALUE;
    return abi_status(error);
}

int hipEventRecord(void *event, void *stream)
{
    int error = device_enter();
    if (error == ABI_SUCCESS)
        error = event ? device_result(cuda()->event_record(event, stream)) : ABI_INVALID_HANDLE;
    return abi_status(error);
}

int hipEventQuery(void *event)
{
    int error = device_enter();
    if (error == ABI_SUCCESS)
        error = event ? device_result(cuda()->event_query(event)) : ABI_INVALID_HANDLE;
    return abi_status(error);
}

int hipEventSynchronize(void *event)
{
    int error = device_enter();
    if (error == ABI_SUCCESS)
        error = event ? device_result(cuda()->event_synchronize(event)) : ABI_INVALID_HANDLE;
    return abi_status(error);
}

int hipEventDestroy(void *event)
{
    int error = device_enter();
    if (error == ABI_SUCCESS)
        error = event ? device_result(cuda()->event_destroy(event)) : ABI_INVALID_HANDLE;
    return abi_status(error);
}
