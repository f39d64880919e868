/* The kernels that this library has: C functions under the names of the
 * extern "C" functions in HIP C++ source that they stand for. */
#ifndef ROCSTRESS_ABI_CPU_KERNELS_H
#define ROCSTRESS_ABI_CPU_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct worker;

enum { MAX_ARGS = 8 };

/* One argument, read at the launch. */
union arg {
    uintptr_t ptr;
    int32_t i32;
};

struct kernel {
    const char *name;
    const char *args; /* p for a pointer, i for an int */
    /* Does the work of threads threads, numbered along X. Returns false, and
     * the address in *bad, for an address that is not mapped. */
    bool (*run)(const union arg *args, uint64_t threads, struct worker *w, uintptr_t *bad);
};

/* Finds a kernel by the first length characters of name. NULL if there is none. */
const struct kernel *kernel_named(const char *name, size_t length);

#endif
