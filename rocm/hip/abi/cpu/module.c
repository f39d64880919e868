#include "module.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../abi.h"
#include "../common/config.h"
#include "../common/extent.h"
#include "../common/status.h"
#include "device.h"
#include "kernels.h"
#include "stream.h"
#include "table.h"
#include "worker.h"

/* Modules and functions are never freed; see table.h. */
struct module {
    char *names; /* each with a zero, and one more zero */
    int device;
    _Atomic bool gone;
};

struct function {
    struct module *module;
    const struct kernel *kernel;
};

static struct table modules = TABLE_INIT(0x540000000000);
static struct table functions = TABLE_INIT(0x550000000000);

/* Bytes of names, the last zero included. */
static size_t extent(const char *names)
{
    const char *at = names;
    while (*at != '\0')
        at += strlen(at) + 1;
    return (size_t)(at - names) + 1;
}

int hipModuleLoadData(void **module, const void *image)
{
    int state = abi_state();
    if (state == ABI_SUCCESS && (!module || !image))
        state = ABI_INVALID_VALUE;
    if (state == ABI_SUCCESS && strncmp(image, MODULE_MAGIC, sizeof MODULE_MAGIC) != 0)
        state = ABI_INVALID_IMAGE;
    if (state != ABI_SUCCESS)
        return abi_status(state);
    const char *names = (const char *)image + sizeof MODULE_MAGIC;
    struct module *m = calloc(1, sizeof *m);
    char *copy = malloc(extent(names));
    uintptr_t handle = 0;
    if (m && copy) {
        memcpy(copy, names, extent(names));
        m->names = copy;
        m->device = device_current();
        handle = table_put(&modules, m);
    }
    if (handle == 0) {
        free(copy);
        free(m); /* nobody knows it yet */
        return abi_status(ABI_OUT_OF_MEMORY);
    }
    *module = (void *)handle;
    return ABI_SUCCESS;
}

static bool has(const struct module *m, const char *name)
{
    for (const char *at = m->names; *at != '\0'; at += strlen(at) + 1)
        if (strcmp(at, name) == 0)
            return true;
    return false;
}

int hipModuleGetFunction(void **out, void *module, const char *name)
{
    int state = abi_state();
    if (state == ABI_SUCCESS && (!out || !name))
        state = ABI_INVALID_VALUE;
    if (state != ABI_SUCCESS)
        return abi_status(state);
    struct module *m = table_get(&modules, (uintptr_t)module);
    if (!m || atomic_load(&m->gone))
        return abi_status(ABI_INVALID_HANDLE);
    const struct kernel *kernel = has(m, name) ? kernel_named(name, strlen(name)) : NULL;
    if (!kernel)
        return abi_status(ABI_NOT_FOUND);
    struct function *f = malloc(sizeof *f);
    if (!f)
        return abi_status(ABI_OUT_OF_MEMORY);
    *f = (struct function){m, kernel};
    uintptr_t handle = table_put(&functions, f);
    if (handle == 0) {
        free(f);
        return abi_status(ABI_OUT_OF_MEMORY);
    }
    *out = (void *)handle;
    return ABI_SUCCESS;
}

int hipModuleUnload(void *module)
{
    int state = abi_state();
    if (state != ABI_SUCCESS)
        return abi_status(state);
    struct module *m = table_take(&modules, (uintptr_t)module);
    return abi_status(!m || atomic_exchange(&m->gone, true) ? ABI_INVALID_HANDLE : ABI_SUCCESS);
}

static void reset_one(void *object, void *arg)
{
    struct module *m = object;
    if (m->device == *(const int *)arg)
        atomic_store(&m->gone, true);
}

void module_reset(int device) { table_each(&modules, reset_one, &device); }

struct launch {
    struct op op;
    const struct kernel *kernel;
    union arg args[MAX_ARGS];
    uint64_t threads; /* along X */
};

static bool run_launch(struct op *self, struct worker *w, uintptr_t *bad)
{
    struct launch *l = (struct launch *)self;
    bool ok = l->kernel->run(l->args, l->threads, w, bad);
    if (ok)
        worker_elapse(w, 0);
    return ok;
}

/* Reads the arguments. */
static bool read_args(struct launch *l, void **params)
{
    for (size_t i = 0; l->kernel->args[i] != '\0'; i++) {
        if (!params || !params[i])
            return false;
        if (l->kernel->args[i] == 'p')
            memcpy(&l->args[i].ptr, params[i], sizeof l->args[i].ptr);
        else
            memcpy(&l->args[i].i32, params[i], sizeof l->args[i].i32);
    }
    return true;
}

int hipModuleLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                          unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream,
                          void **params, void **extra)
{
    const unsigned grid[] = {grid_x, grid_y, grid_z}, block[] = {block_x, block_y, block_z};
    (void)shared_bytes; /* no kernel has any use for it */
    int state = abi_state();
    if (state != ABI_SUCCESS)
        return abi_status(state);
    struct function *f = table_get(&functions, (uintptr_t)function);
    if (!f || atomic_load(&f->module->gone))
        return abi_status(ABI_INVALID_HANDLE);
    int error = abi_check_extent(grid, block, (int)abi_config()->max_threads);
    if (error == ABI_SUCCESS && extra)
        error = ABI_NOT_SUPPORTED; /* arguments as one buffer */
    if (error != ABI_SUCCESS)
        return abi_status(error);
    struct launch *l = malloc(sizeof *l);
    if (!l)
        return abi_status(ABI_OUT_OF_MEMORY);
    *l = (struct launch){.op = {.name = f->kernel->name, .run = run_launch}, .kernel = f->kernel,
                         .threads = (uint64_t)grid_x * block_x};
    if (!read_args(l, params)) {
        free(l);
        return abi_status(ABI_INVALID_VALUE);
    }
    return abi_status(stream_submit((uintptr_t)stream, f->module->device, &l->op));
}
