#include "../abi.h"
#include "../common/extent.h"
#include "../common/status.h"
#include "cuda.h"
#include "device.h"
#include "stream.h"

int hipModuleLoadData(void **module, const void *image)
{
    int error = device_enter();
    if (error == ABI_SUCCESS)
        error = module && image ? device_result(cuda()->module_load(module, image)) : ABI_INVALID_VALUE;
    return abi_status(error);
}

int hipModuleGetFunction(void **function, void *module, const char *name)
{
    int error = device_enter();
    if (error == ABI_SUCCESS && !module)
        error = ABI_INVALID_HANDLE;
    if (error == ABI_SUCCESS)
        error = function && name ? device_result(cuda()->module_function(function, module, name)) : ABI_INVALID_VALUE;
    return abi_status(error);
}

int hipModuleUnload(void *module)
{
    int error = device_enter();
    if (error == ABI_SUCCESS)
        error = module ? device_result(cuda()->module_unload(module)) : ABI_INVALID_HANDLE;
    return abi_status(error);
}

/* Sizes are refused as HIP does: CUDA takes a grid of 2^32 threads. */
int hipModuleLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                          unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream,
                          void **params, void **extra)
{
    const unsigned grid[] = {grid_x, grid_y, grid_z}, block[] = {block_x, block_y, block_z};
    void *cuda_stream;
    int device, max_threads = 0;
    int error = stream_enter(stream, &cuda_stream);
    if (error == ABI_SUCCESS && !function)
        error = ABI_INVALID_HANDLE;
    if (error == ABI_SUCCESS)
        error = device_result(cuda()->device_get(&device, device_current()));
    if (error == ABI_SUCCESS)
        error = device_result(cuda()->device_attribute(&max_threads, CUDA_MAX_THREADS, device));
    if (error == ABI_SUCCESS)
        error = abi_check_extent(grid, block, max_threads);
    if (error == ABI_SUCCESS && extra)
        error = ABI_NOT_SUPPORTED; /* arguments as one buffer */
    if (error == ABI_SUCCESS)
        error = device_result(cuda()->launch(function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                                             shared_bytes, cuda_stream, params, NULL));
    return abi_status(error);
}
