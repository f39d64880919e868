/* The version text that rocblas_get_version_string hands out. */
#ifndef ROCSTRESS_ABI_BLAS_VERSION_H
#define ROCSTRESS_ABI_BLAS_VERSION_H

/* Each library has its own; called without a device. Never NULL. */
const char *abi_blas_version(void);

#endif
