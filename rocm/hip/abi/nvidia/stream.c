#include "stream.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "../abi.h"
#include "../common/status.h"
#include "cuda.h"
#include "device.h"

/* CUDA follows a stream whose context was reset, which is a SIGSEGV sooner or
 * later. So a handle is this and is never freed: it knows what became of its
 * stream. */
struct stream {
    void *cuda;
    int device;
    unsigned generation;
    _Atomic bool destroyed;
};

static int look(const struct stream *s)
{
    return atomic_load(&s->destroyed) || s->generation != device_generation(s->device) ? ABI_INVALID_HANDLE : ABI_SUCCESS;
}

int stream_enter(void *handle, void **cuda_stream)
{
    struct stream *s = handle;
    int error = device_enter();
    if (error == ABI_SUCCESS && s)
        error = look(s);
    *cuda_stream = error == ABI_SUCCESS && s ? s->cuda : NULL;
    return error;
}

/* The flags of streams and events have the same numbers in HIP and CUDA. */

int hipStreamCreateWithFlags(void **stream, unsigned flags)
{
    int error = device_enter();
    if (error == ABI_SUCCESS && !stream)
        error = ABI_INVALID_VALUE;
    if (error != ABI_SUCCESS)
        return abi_status(error);
    struct stream *s = calloc(1, sizeof *s);
    if (!s)
        return abi_status(ABI_OUT_OF_MEMORY);
    s->device = device_current();
    s->generation = device_generation(s->device);
    error = device_result(cuda()->stream_create(&s->cuda, flags));
    if (error == ABI_SUCCESS)
        *stream = s;
    else
        free(s);
    return abi_status(error);
}

int hipStreamDestroy(void *stream)
{
    void *cuda_stream;
    struct stream *s = stream;
    int error = s ? stream_enter(s, &cuda_stream) : ABI_INVALID_HANDLE;
    if (error == ABI_SUCCESS && atomic_exchange(&s->destroyed, true))
        error = ABI_INVALID_HANDLE;
    if (error == ABI_SUCCESS)
        error = device_result(cuda()->stream_destroy(cuda_stream));
    return abi_status(error);
}

int hipStreamSynchronize(void *stream)
{
    void *cuda_stream;
    int error = stream_enter(stream, &cuda_stream);
    if (error == ABI_SUCCESS)
        error = device_result(cuda()->stream_synchronize(cuda_stream));
    return abi_status(error);
}

int hipStreamQuery(void *stream)
{
    void *cuda_stream;
    int error = stream_enter(stream, &cuda_stream);
    if (error == ABI_SUCCESS)
        error = device_result(cuda()->stream_query(cuda_stream));
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
    void *cuda_stream;
    int error = stream_enter(stream, &cuda_stream);
    if (error == ABI_SUCCESS)
        error = event ? device_result(cuda()->event_record(event, cuda_stream)) : ABI_INVALID_HANDLE;
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
