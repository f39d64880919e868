#include "props.h"

#include <stdio.h>
#include <string.h>

#include "../abi.h"
#include "config.h"
#include "status.h"

/* The first step of every call that asks about a device. */
static int look(const void *out, int device, struct abi_props *props)
{
    int state = abi_state();
    if (state != ABI_SUCCESS)
        return state;
    if (device < 0 || device >= abi_devices())
        return ABI_INVALID_DEVICE;
    if (!out)
        return ABI_INVALID_VALUE;
    return abi_props(device, props);
}

int hipDeviceGetAttribute(int *value, int attribute, int device)
{
    struct abi_props props;
    int error = look(value, device, &props);
    if (error != ABI_SUCCESS)
        return abi_status(error);
    switch (attribute) {
    case ABI_ATTR_MAX_THREADS_PER_BLOCK:
        *value = props.max_threads;
        return ABI_SUCCESS;
    case ABI_ATTR_MULTIPROCESSOR_COUNT:
        *value = props.processors;
        return ABI_SUCCESS;
    case ABI_ATTR_WARP_SIZE:
        *value = props.warp;
        return ABI_SUCCESS;
    }
    return abi_status(ABI_INVALID_VALUE);
}

int hipDeviceGetName(char *name, int size, int device)
{
    struct abi_props props;
    int error = look(name, device, &props);
    if (error == ABI_SUCCESS && size <= 0)
        error = ABI_INVALID_VALUE;
    if (error == ABI_SUCCESS)
        snprintf(name, (size_t)size, "%s", props.name);
    return abi_status(error);
}

int hipDeviceTotalMem(size_t *bytes, int device)
{
    struct abi_props props;
    int error = look(bytes, device, &props);
    if (error == ABI_SUCCESS)
        *bytes = props.memory;
    return abi_status(error);
}

static void put(void *props, int offset, const void *value, size_t size)
{
    memcpy((char *)props + offset, value, size);
}

static void put_text(void *props, int offset, const char *text)
{
    snprintf((char *)props + offset, ABI_NAME_SIZE, "%s", text);
}

int hipGetDevicePropertiesR0600(void *out, int device)
{
    struct abi_props props;
    int error = look(out, device, &props);
    if (error != ABI_SUCCESS)
        return abi_status(error);
    memset(out, 0, ABI_R0600_SIZE);
    put_text(out, ABI_R0600_NAME, props.name);
    put_text(out, ABI_R0600_ARCH, props.arch);
    put(out, ABI_R0600_TOTAL_MEM, &props.memory, sizeof props.memory);
    put(out, ABI_R0600_WARP_SIZE, &props.warp, sizeof props.warp);
    put(out, ABI_R0600_MAX_THREADS, &props.max_threads, sizeof props.max_threads);
    put(out, ABI_R0600_PROCESSORS, &props.processors, sizeof props.processors);
    return ABI_SUCCESS;
}

int hipGetDeviceProperties(void *out, int device)
{
    struct abi_props props;
    int error = look(out, device, &props);
    if (error != ABI_SUCCESS)
        return abi_status(error);
    memset(out, 0, ABI_R0000_SIZE);
    put_text(out, ABI_R0000_NAME, props.name);
    put_text(out, ABI_R0000_ARCH, props.arch);
    put(out, ABI_R0000_TOTAL_MEM, &props.memory, sizeof props.memory);
    put(out, ABI_R0000_WARP_SIZE, &props.warp, sizeof props.warp);
    put(out, ABI_R0000_MAX_THREADS, &props.max_threads, sizeof props.max_threads);
    put(out, ABI_R0000_PROCESSORS, &props.processors, sizeof props.processors);
    return ABI_SUCCESS;
}

/* Versions answer without a device, and before anything else was called. */
int hipRuntimeGetVersion(int *version)
{
    if (!abi_config())
        return abi_status(ABI_NOT_INITIALIZED);
    if (!version)
        return abi_status(ABI_INVALID_VALUE);
    *version = ABI_HIP_VERSION;
    return ABI_SUCCESS;
}

int hipDriverGetVersion(int *version) { return hipRuntimeGetVersion(version); }
