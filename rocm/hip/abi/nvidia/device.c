#include "device.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "../abi.h"
#include "../common/config.h"
#include "../common/props.h"
#include "../common/status.h"
#include "cuda.h"

enum { MAX_DEVICES = 64 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int start_state;       /* written under once; a HIP error */
static int count;             /* the same */
static char label[320];       /* the same */
static char runtime_text[64]; /* the same */

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static void *contexts[MAX_DEVICES]; /* guarded by mu; retained for good */

static _Atomic unsigned generations[MAX_DEVICES]; /* written under mu */

static _Atomic int lost; /* the HIP error that lost the context, 0 before */

static _Thread_local int current;
static _Thread_local int entered = -1; /* whose context is current */
static _Thread_local unsigned entered_generation;

bool abi_config_takes(const char *key)
{
    static const char *const keys[] = {"arch", "create-fails", "create-status", "set-stream-fails",
                                       "set-stream-status", "gemm-ex-fails", "gemm-ex-status"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

/* Whether HIP has a code of the same number and meaning. */
static bool same_in_hip(int result)
{
    switch (result) {
    case ABI_SUCCESS:
    case ABI_INVALID_VALUE:
    case ABI_OUT_OF_MEMORY:
    case ABI_NOT_INITIALIZED:
    case ABI_NO_DEVICE:
    case ABI_INVALID_DEVICE:
    case ABI_INVALID_IMAGE:
    case ABI_INVALID_CONTEXT:
    case ABI_NO_BINARY:
    case ABI_INVALID_HANDLE:
    case ABI_NOT_FOUND:
    case ABI_NOT_READY:
    case ABI_ILLEGAL_ADDRESS:
    case ABI_CONTEXT_IS_DESTROYED:
    case ABI_ALREADY_REGISTERED:
    case ABI_NOT_REGISTERED:
    case ABI_LAUNCH_FAILURE:
    case ABI_NOT_SUPPORTED:
        return true;
    }
    return false;
}

/* CUDA_ERROR_HARDWARE_STACK_ERROR to CUDA_ERROR_INVALID_PC: kernels that broke
 * in ways that HIP calls a launch failure. */
enum { CUDA_STACK_ERROR = 714, CUDA_INVALID_PC = 718 };

int device_result(int result)
{
    int error = result;
    if (result >= CUDA_STACK_ERROR && result <= CUDA_INVALID_PC)
        error = ABI_LAUNCH_FAILURE;
    else if (!same_in_hip(result))
        error = ABI_UNKNOWN;
    if (error != result)
        fprintf(stderr, "HIP test ABI over CUDA: CUDA error %d is passed on as HIP error %d\n", result, error);
    if (error == ABI_ILLEGAL_ADDRESS || error == ABI_LAUNCH_FAILURE) {
        int none = ABI_SUCCESS;
        atomic_compare_exchange_strong(&lost, &none, error);
    }
    return error;
}

static void start(void)
{
    const char *name = "no device";
    char buf[256];
    int version = 0, device;
    snprintf(runtime_text, sizeof runtime_text, "test ABI over CUDA");
    start_state = !abi_config() ? ABI_NOT_INITIALIZED : !cuda() ? ABI_NO_DEVICE : ABI_SUCCESS;
    if (start_state == ABI_SUCCESS) {
        start_state = device_result(cuda()->init(0));
        if (cuda()->driver_version(&version) == CUDA_OK)
            snprintf(runtime_text, sizeof runtime_text, "test ABI over CUDA %d.%d", version / 1000,
                     version % 1000 / 10);
    }
    if (start_state == ABI_SUCCESS)
        start_state = device_result(cuda()->device_count(&count));
    if (count > MAX_DEVICES)
        count = MAX_DEVICES;
    if (start_state == ABI_SUCCESS && count == 0)
        start_state = ABI_NO_DEVICE;
    if (start_state == ABI_SUCCESS && cuda()->device_get(&device, 0) == CUDA_OK &&
        cuda()->device_name(buf, sizeof buf, device) == CUDA_OK)
        name = buf;
    snprintf(label, sizeof label, "HIP test ABI over CUDA, %s", name);
}

const char *rocstress_abi_label(void)
{
    pthread_once(&once, start);
    return label;
}

const char *rocstress_abi_runtime(void)
{
    pthread_once(&once, start);
    return runtime_text;
}

int abi_state(void)
{
    pthread_once(&once, start);
    return start_state != ABI_SUCCESS ? start_state : atomic_load(&lost);
}

int abi_devices(void) { return count; }

int device_current(void) { return current; }

unsigned device_generation(int device) { return atomic_load(&generations[device]); }

/* Retains the context of the current device unless that was done. The caller
 * holds mu. */
static int retain(void)
{
    int device, error = ABI_SUCCESS;
    if (contexts[current])
        return ABI_SUCCESS;
    error = device_result(cuda()->device_get(&device, current));
    if (error == ABI_SUCCESS)
        error = device_result(cuda()->primary_retain(&contexts[current], device));
    if (error != ABI_SUCCESS)
        contexts[current] = NULL;
    return error;
}

int device_enter(void)
{
    int error = abi_state();
    if (error != ABI_SUCCESS || (entered == current && entered_generation == device_generation(current)))
        return error;
    pthread_mutex_lock(&mu);
    error = retain();
    void *context = contexts[current];
    unsigned generation = device_generation(current);
    pthread_mutex_unlock(&mu);
    if (error == ABI_SUCCESS)
        error = device_result(cuda()->set_current(context));
    if (error == ABI_SUCCESS) {
        entered = current;
        entered_generation = generation;
    }
    return error;
}

int abi_props(int ordinal, struct abi_props *out)
{
    int device;
    int error = device_result(cuda()->device_get(&device, ordinal));
    if (error == ABI_SUCCESS)
        error = device_result(cuda()->device_name(out->name, sizeof out->name, device));
    if (error == ABI_SUCCESS)
        error = device_result(cuda()->device_memory(&out->memory, device));
    if (error == ABI_SUCCESS)
        error = device_result(cuda()->device_attribute(&out->max_threads, CUDA_MAX_THREADS, device));
    if (error == ABI_SUCCESS)
        error = device_result(cuda()->device_attribute(&out->processors, CUDA_PROCESSORS, device));
    if (error == ABI_SUCCESS)
        error = device_result(cuda()->device_attribute(&out->warp, CUDA_WARP_SIZE, device));
    out->arch = abi_config()->arch; /* what the protocol believes, so that it takes rocBLAS */
    return error;
}

int hipInit(unsigned flags)
{
    int state = abi_state();
    if (state == ABI_SUCCESS && flags != 0)
        state = ABI_INVALID_VALUE;
    return abi_status(state);
}

int hipGetDeviceCount(int *out)
{
    int state = abi_state();
    if (out && (state == ABI_SUCCESS || state == ABI_NO_DEVICE))
        *out = count;
    if (state == ABI_SUCCESS && !out)
        state = ABI_INVALID_VALUE;
    return abi_status(state);
}

int hipSetDevice(int device)
{
    int state = abi_state();
    if (state == ABI_SUCCESS && (device < 0 || device >= count))
        state = ABI_INVALID_DEVICE;
    if (state == ABI_SUCCESS) {
        int before = current;
        current = device;
        state = device_enter();
        if (state != ABI_SUCCESS)
            current = before;
    }
    return abi_status(state);
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

int hipDeviceSynchronize(void)
{
    int error = device_enter();
    if (error == ABI_SUCCESS)
        error = device_result(cuda()->synchronize());
    return abi_status(error);
}

/* Destroys the context of the current device under whoever uses it, and makes
 * a new one at once. Threads that come meanwhile wait, and set it as theirs. On
 * CUDA 13.0 the new context has the old one's address, functions of before
 * answer 400 and freed memory 1. A call that another thread is inside of
 * meanwhile is CUDA's affair, and may be a SIGSEGV. */
int hipDeviceReset(void)
{
    int device, error = device_enter();
    if (error != ABI_SUCCESS)
        return abi_status(error);
    pthread_mutex_lock(&mu);
    atomic_fetch_add(&generations[current], 1);
    error = device_result(cuda()->device_get(&device, current));
    if (error == ABI_SUCCESS)
        error = device_result(cuda()->primary_reset(device));
    contexts[current] = NULL;
    if (error == ABI_SUCCESS)
        error = retain();
    pthread_mutex_unlock(&mu);
    if (error == ABI_SUCCESS)
        error = device_enter();
    return abi_status(error);
}
