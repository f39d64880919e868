/* Modules of kernels. */
#ifndef ROCSTRESS_ABI_CPU_MODULE_H
#define ROCSTRESS_ABI_CPU_MODULE_H

/* What code begins with, its zero included. The names of the kernels follow,
 * each with a zero, and one more zero. */
#define MODULE_MAGIC "rocstress cpu code 1"

/* Destroys the modules of a device. */
void module_reset(int device);

#endif
