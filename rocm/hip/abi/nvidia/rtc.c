#include <stdio.h>
#include <stdlib.h>

#include "../abi.h"
#include "../common/program.h"
#include "cuda.h"
#include "device.h"

/* Writes the option for the calling thread's device: the architecture that the
 * caller names is AMD's. */
static bool architecture(char *option, size_t size)
{
    int device, major = 0, minor = 0;
    if (device_enter() != ABI_SUCCESS ||
        device_result(cuda()->device_get(&device, device_current())) != ABI_SUCCESS ||
        device_result(cuda()->device_attribute(&major, CUDA_MAJOR, device)) != ABI_SUCCESS ||
        device_result(cuda()->device_attribute(&minor, CUDA_MINOR, device)) != ABI_SUCCESS)
        return false;
    snprintf(option, size, "--gpu-architecture=sm_%d%d", major, minor);
    return true;
}

static int compile(void *program, int option_count, const char *const *options)
{
    char own[64];
    if (!architecture(own, sizeof own))
        return ABI_RTC_INTERNAL_ERROR;
    const char **all = malloc(((size_t)option_count + 1) * sizeof *all);
    if (!all)
        return ABI_RTC_OUT_OF_MEMORY;
    int count = 0;
    all[count++] = own;
    for (int i = 0; i < option_count; i++)
        if (!option_arch(options[i]))
            all[count++] = options[i];
    int result = nvrtc()->compile(program, count, all);
    free(all);
    return result;
}

static int take_log(struct program *p, void *program)
{
    size_t size = 0;
    int result = nvrtc()->log_size(program, &size);
    if (result != ABI_RTC_SUCCESS || size == 0)
        return result;
    char *log = calloc(size, 1);
    if (!log)
        return ABI_RTC_OUT_OF_MEMORY;
    result = nvrtc()->log(program, log);
    if (result == ABI_RTC_SUCCESS && !program_say(p, "%s", log))
        result = ABI_RTC_OUT_OF_MEMORY;
    free(log);
    return result;
}

static int take_code(struct program *p, void *program)
{
    int result = nvrtc()->code_size(program, &p->code_size);
    if (result != ABI_RTC_SUCCESS)
        return result;
    p->code = malloc(p->code_size);
    return p->code ? nvrtc()->code(program, p->code) : ABI_RTC_OUT_OF_MEMORY;
}

/* The results of hiprtc are those of NVRTC, number for number. */
int abi_compile(struct program *p, int option_count, const char *const *options)
{
    void *program;
    if (!nvrtc()) {
        program_say(p, "error: NVRTC cannot be loaded\n");
        return ABI_RTC_INTERNAL_ERROR;
    }
    int result = nvrtc()->create(&program, p->source, p->name, 0, NULL, NULL);
    if (result != ABI_RTC_SUCCESS)
        return result;
    result = compile(program, option_count, options);
    int logged = take_log(p, program);
    if (result == ABI_RTC_SUCCESS)
        result = logged;
    if (result == ABI_RTC_SUCCESS)
        result = take_code(p, program);
    nvrtc()->destroy(&program);
    return result;
}
