/* What a library knows of a device, in the shapes in which HIP hands it out. */
#ifndef ROCSTRESS_ABI_PROPS_H
#define ROCSTRESS_ABI_PROPS_H

#include <stddef.h>

struct abi_props {
    char name[256];
    const char *arch;
    size_t memory; /* bytes */
    int max_threads, processors, warp;
};

/* Fills out, or returns the error. Each library has its own. It is called
 * after abi_state and with a device that exists. */
int abi_props(int device, struct abi_props *out);

/* The number of devices. Each library has its own; called after abi_state. */
int abi_devices(void);

#endif
