#include "device.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "../abi.h"
#include "../common/blas_version.h"
#include "../common/config.h"
#include "../common/props.h"
#include "../common/status.h"
#include "event.h"
#include "memory.h"
#include "module.h"
#include "stream.h"

static _Thread_local int current;
static _Atomic bool faulted;
static _Atomic unsigned resets[MAX_DEVICES];

const char *rocstress_abi_label(void) { return "HIP test ABI over pthreads"; }
const char *rocstress_abi_runtime(void) { return "test ABI over pthreads"; }
const char *abi_blas_version(void) { return "test ABI over pthreads"; }

bool abi_config_takes(const char *key)
{
    (void)key; /* all of them mean something here */
    return true;
}

int abi_state(void)
{
    const struct abi_config *cfg = abi_config();
    if (!cfg)
        return ABI_NOT_INITIALIZED;
    if (cfg->devices == 0)
        return ABI_NO_DEVICE;
    return device_faulted() ? ABI_ILLEGAL_ADDRESS : ABI_SUCCESS;
}

int device_current(void) { return current; }

unsigned device_resets(int device) { return atomic_load(&resets[device]); }

bool device_faulted(void) { return atomic_load(&faulted); }

void device_fault(uintptr_t address, const char *by)
{
    if (atomic_exchange(&faulted, true))
        return;
    fprintf(stderr,
            "Memory access fault by GPU node-1 (Agent handle: %p) on address %p. "
            "Reason: Page not present or supervisor privilege.\n"
            "%s: the access was by %s\n",
            (void *)&faulted, (void *)address, rocstress_abi_label(), by);
    stream_wake_all();
    event_wake_all();
}

_Noreturn void device_crash(int signo, const char *why)
{
    sigset_t set;
    fprintf(stderr, "%s: %s\n", rocstress_abi_label(), why);
    signal(signo, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, signo);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    raise(signo);
    _exit(128 + signo);
}

int hipInit(unsigned flags)
{
    int state = abi_state();
    if (state == ABI_SUCCESS && flags != 0)
        state = ABI_INVALID_VALUE;
    return abi_status(state);
}

int abi_devices(void) { return (int)abi_config()->devices; }

int hipGetDeviceCount(int *count)
{
    int state = abi_state();
    if (count && (state == ABI_SUCCESS || state == ABI_NO_DEVICE))
        *count = abi_devices();
    if (state == ABI_SUCCESS && !count)
        state = ABI_INVALID_VALUE;
    return abi_status(state);
}

int hipSetDevice(int device)
{
    int state = abi_state();
    if (state != ABI_SUCCESS)
        return abi_status(state);
    if (device < 0 || device >= abi_devices())
        return abi_status(ABI_INVALID_DEVICE);
    current = device;
    return ABI_SUCCESS;
}

int hipGetDevice(int *device)
{
    int state = abi_state();
    if (state == ABI_SUCCESS && !device)
        state = ABI_INVALID_VALUE;
    if (state == ABI_SUCCESS)
        *device = current;
    return abi_status(state);
}

int abi_props(int device, struct abi_props *out)
{
    const struct abi_config *cfg = abi_config();
    (void)device; /* all devices are alike */
    snprintf(out->name, sizeof out->name, "%s", rocstress_abi_label());
    out->arch = cfg->arch;
    out->memory = cfg->memory;
    out->max_threads = (int)cfg->max_threads;
    out->processors = (int)cfg->processors;
    out->warp = (int)cfg->warp;
    return ABI_SUCCESS;
}

int hipDeviceSynchronize(void)
{
    int state = abi_state();
    if (state != ABI_SUCCESS)
        return abi_status(state);
    stream_drain_device(current);
    return abi_status(abi_state());
}

/* Drains the current device, and destroys its streams, modules and memory.
 * Pinned host memory and rocBLAS handles outlive it, the workspace of a handle
 * does not. */
int hipDeviceReset(void)
{
    int state = abi_state();
    if (state == ABI_SUCCESS) {
        stream_reset(current);
        atomic_fetch_add(&resets[current], 1);
        module_reset(current);
        state = abi_state(); /* what was drained may have faulted */
    }
    if (state == ABI_SUCCESS)
        memory_reset(current);
    return abi_status(state);
}
