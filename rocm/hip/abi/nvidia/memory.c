#include <stdlib.h>

#include "../abi.h"
#include "../common/status.h"
#include "cuda.h"
#include "device.h"
#include "stream.h"

static cuda_ptr address(const void *p) { return (cuda_ptr)(uintptr_t)p; }

int hipMemGetInfo(size_t *free_bytes, size_t *total)
{
    int error = device_enter();
    if (error == ABI_SUCCESS)
        error = free_bytes && total ? device_result(cuda()->mem_info(free_bytes, total)) : ABI_INVALID_VALUE;
    return abi_status(error);
}

/* Zero bytes are the null pointer and no error in HIP; CUDA refuses them. */
int hipMalloc(void **ptr, size_t size)
{
    cuda_ptr p = 0;
    int error = device_enter();
    if (error == ABI_SUCCESS && !ptr)
        error = ABI_INVALID_VALUE;
    if (error == ABI_SUCCESS && size > 0)
        error = device_result(cuda()->mem_alloc(&p, size));
    if (error == ABI_SUCCESS)
        *ptr = (void *)(uintptr_t)p;
    return abi_status(error);
}

int hipFree(void *ptr)
{
    int error = device_enter();
    if (error == ABI_SUCCESS && ptr)
        error = device_result(cuda()->mem_free(address(ptr)));
    return abi_status(error);
}

#define PAGE 4096

/* CUDA unmaps memory of cuMemHostAlloc in a reset, under threads that read it.
 * Memory of the process that is registered stays, and is as good for copies. */
int hipHostMalloc(void **ptr, size_t size, unsigned flags)
{
    void *p = NULL;
    int error = device_enter();
    (void)flags; /* coherence is what CUDA has anyway */
    if (error == ABI_SUCCESS && !ptr)
        error = ABI_INVALID_VALUE;
    if (error == ABI_SUCCESS && size > 0) {
        size = (size + PAGE - 1) / PAGE * PAGE;
        p = aligned_alloc(PAGE, size);
        error = p ? device_result(cuda()->host_register(p, size, CUDA_PORTABLE)) : ABI_OUT_OF_MEMORY;
    }
    if (error == ABI_SUCCESS)
        *ptr = p;
    else
        free(p);
    return abi_status(error);
}

/* Waits for the device first, as hipHostFree does. What was registered before a
 * reset is so no longer. */
int hipHostFree(void *ptr)
{
    int error = device_enter();
    if (error == ABI_SUCCESS && ptr)
        error = device_result(cuda()->synchronize());
    if (error == ABI_SUCCESS && ptr) {
        error = device_result(cuda()->host_unregister(ptr));
        if (error == ABI_NOT_REGISTERED)
            error = ABI_SUCCESS;
    }
    if (error == ABI_SUCCESS)
        free(ptr);
    return abi_status(error);
}

int hipHostRegister(void *ptr, size_t size, unsigned flags)
{
    int error = device_enter();
    (void)flags;
    if (error == ABI_SUCCESS)
        error = device_result(cuda()->host_register(ptr, size, CUDA_PORTABLE));
    return abi_status(error);
}

int hipHostUnregister(void *ptr)
{
    int error = device_enter();
    if (error == ABI_SUCCESS)
        error = device_result(cuda()->host_unregister(ptr));
    return abi_status(error);
}

int hipMemcpyHtoDAsync(void *dst, const void *src, size_t size, void *stream)
{
    void *cuda_stream;
    int error = stream_enter(stream, &cuda_stream);
    if (error == ABI_SUCCESS && size > 0)
        error = device_result(cuda()->htod(address(dst), src, size, cuda_stream));
    return abi_status(error);
}

int hipMemcpyDtoHAsync(void *dst, void *src, size_t size, void *stream)
{
    void *cuda_stream;
    int error = stream_enter(stream, &cuda_stream);
    if (error == ABI_SUCCESS && size > 0)
        error = device_result(cuda()->dtoh(dst, address(src), size, cuda_stream));
    return abi_status(error);
}

int hipMemcpyDtoDAsync(void *dst, void *src, size_t size, void *stream)
{
    void *cuda_stream;
    int error = stream_enter(stream, &cuda_stream);
    if (error == ABI_SUCCESS && size > 0)
        error = device_result(cuda()->dtod(address(dst), address(src), size, cuda_stream));
    return abi_status(error);
}

int hipMemcpyAsync(void *dst, const void *src, size_t size, int kind, void *stream)
{
    switch (kind) {
    case ABI_HOST_TO_DEVICE:
        return hipMemcpyHtoDAsync(dst, src, size, stream);
    case ABI_DEVICE_TO_HOST:
        return hipMemcpyDtoHAsync(dst, (void *)(uintptr_t)src, size, stream);
    case ABI_DEVICE_TO_DEVICE:
        return hipMemcpyDtoDAsync(dst, (void *)(uintptr_t)src, size, stream);
    }
    return abi_status(ABI_NOT_SUPPORTED); /* host to host, or to be guessed */
}

int hipMemsetD32Async(void *dst, int value, size_t count, void *stream)
{
    void *cuda_stream;
    int error = stream_enter(stream, &cuda_stream);
    if (error == ABI_SUCCESS && count > 0)
        error = device_result(cuda()->set32(address(dst), (unsigned)value, count, cuda_stream));
    return abi_status(error);
}

int hipMemsetD8Async(void *dst, unsigned char value, size_t count, void *stream)
{
    void *cuda_stream;
    int error = stream_enter(stream, &cuda_stream);
    if (error == ABI_SUCCESS && count > 0)
        error = device_result(cuda()->set8(address(dst), value, count, cuda_stream));
    return abi_status(error);
}

int hipMemsetAsync(void *dst, int value, size_t size, void *stream)
{
    return hipMemsetD8Async(dst, (unsigned char)value, size, stream);
}
