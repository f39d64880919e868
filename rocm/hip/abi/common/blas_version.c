#include "blas_version.h"

#include <string.h>

#include "../abi.h"

int rocblas_get_version_string(char *buf, size_t size)
{
    const char *version = abi_blas_version();
    if (!buf)
        return ABI_BLAS_INVALID_POINTER;
    if (size < strlen(version) + 1)
        return ABI_BLAS_INVALID_SIZE;
    memcpy(buf, version, strlen(version) + 1);
    return ABI_BLAS_SUCCESS;
}

int rocblas_get_version_string_size(size_t *size)
{
    if (!size)
        return ABI_BLAS_INVALID_POINTER;
    *size = strlen(abi_blas_version()) + 1;
    return ABI_BLAS_SUCCESS;
}
