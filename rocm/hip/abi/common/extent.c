#include "extent.h"

#include <stdint.h>

#include "../abi.h"

int abi_check_extent(const unsigned grid[3], const unsigned block[3], int max_threads)
{
    uint64_t threads = 1;
    for (int i = 0; i < 3; i++) {
        if (grid[i] == 0 || block[i] == 0)
            return ABI_INVALID_VALUE;
        threads *= block[i];
        if (threads > (uint64_t)max_threads) /* factor by factor, so that it cannot wrap */
            return ABI_INVALID_VALUE;
    }
    for (int i = 0; i < 3; i++)
        if ((uint64_t)grid[i] * block[i] > UINT32_MAX)
            return ABI_INVALID_CONFIGURATION;
    return ABI_SUCCESS;
}
