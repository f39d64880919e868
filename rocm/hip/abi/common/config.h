/* Settings of a test library, read from ROCSTRESS_ABI=key=value,... */
#ifndef ROCSTRESS_ABI_CONFIG_H
#define ROCSTRESS_ABI_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

/* Keys, bounds and defaults are those of the simulated device (rocm/sim).
 * Times are nanoseconds, sizes bytes, rates a second; 0 costs nothing. */
struct abi_config {
    char arch[256];
    uint64_t devices;
    uint64_t memory;
    uint64_t max_threads;
    uint64_t warp;
    uint64_t processors;
    uint64_t create;
    uint64_t set_stream;
    uint64_t select;
    uint64_t compile;
    uint64_t launch;
    uint64_t memset_rate;
    uint64_t copy_rate;
    uint64_t gemm_rate;
    uint64_t create_fails;
    uint64_t create_status;
    uint64_t set_stream_fails;
    uint64_t set_stream_status;
    uint64_t gemm_ex_fails;
    uint64_t gemm_ex_status;
};

/* The settings of the process, read once. NULL if ROCSTRESS_ABI is malformed:
 * that was said on stderr, and the library must answer every call with
 * hipErrorNotInitialized. */
const struct abi_config *abi_config(void);

/* Whether this library takes a key. Each library has its own: a key that it
 * would ignore is refused. */
bool abi_config_takes(const char *key);

#endif
