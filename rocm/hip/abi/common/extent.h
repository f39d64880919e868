/* The sizes of a launch. */
#ifndef ROCSTRESS_ABI_EXTENT_H
#define ROCSTRESS_ABI_EXTENT_H

/* The code with which hipModuleLaunchKernel refuses sizes, 0 for good ones: 1
 * for a block of too many threads and for nothing to launch, 9 for 2^32 threads
 * or more in one dimension. */
int abi_check_extent(const unsigned grid[3], const unsigned block[3], int max_threads);

#endif
