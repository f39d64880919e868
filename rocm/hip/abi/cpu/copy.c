#include <stdlib.h>

#include "../abi.h"
#include "../common/config.h"
#include "../common/status.h"
#include "device.h"
#include "memory.h"
#include "stream.h"

#define MAX_BYTES (1ull << 40) /* the bound of the setting "memory" */

enum place { DEVICE, PINNED, PAGEABLE };

struct copy {
    struct op op;
    uintptr_t dst, src;
    enum place dst_place, src_place;
    size_t bytes;
};

/* Keeps one side of a copy mapped. Pageable memory is the caller's, who waits
 * for the copy. */
static bool hold(enum place place, uintptr_t address, size_t bytes, struct block **held)
{
    *held = place == DEVICE   ? memory_pin_device(address, bytes)
            : place == PINNED ? memory_pin_host(address, bytes)
                              : NULL;
    return *held || place == PAGEABLE;
}

static void let_go(struct block *held)
{
    if (held)
        memory_unpin(held);
}

static bool run_copy(struct op *self, struct worker *w, uintptr_t *bad)
{
    struct copy *c = (struct copy *)self;
    struct block *src = NULL, *dst = NULL;
    bool ok = hold(c->src_place, c->src, c->bytes, &src);
    if (!ok) {
        *bad = c->src;
    } else {
        ok = hold(c->dst_place, c->dst, c->bytes, &dst);
        if (ok)
            memory_copy((void *)c->dst, (const void *)c->src, c->bytes);
        else
            *bad = c->dst;
    }
    let_go(src);
    let_go(dst);
    if (ok)
        worker_elapse(w, time_for(c->bytes, abi_config()->copy_rate));
    return ok;
}

/* Where a host buffer lives. */
static enum place host_place(uintptr_t address, size_t bytes)
{
    struct block *b = memory_pin_host(address, bytes);
    let_go(b);
    return b ? PINNED : PAGEABLE;
}

static int copy(const char *name, void *dst, const void *src, size_t bytes, int kind, void *stream)
{
    int state = abi_state();
    if (state != ABI_SUCCESS || bytes == 0)
        return abi_status(state);
    if (!dst || !src || bytes > MAX_BYTES)
        return abi_status(ABI_INVALID_VALUE);
    struct copy *c = malloc(sizeof *c);
    if (!c)
        return abi_status(ABI_OUT_OF_MEMORY);
    *c = (struct copy){.op = {.name = name, .run = run_copy},
                       .dst = (uintptr_t)dst, .src = (uintptr_t)src, .bytes = bytes,
                       .dst_place = DEVICE, .src_place = DEVICE};
    if (kind == ABI_HOST_TO_DEVICE)
        c->src_place = host_place(c->src, bytes);
    if (kind == ABI_DEVICE_TO_HOST)
        c->dst_place = host_place(c->dst, bytes);
    bool wait = c->src_place == PAGEABLE || c->dst_place == PAGEABLE;
    int error = stream_submit((uintptr_t)stream, device_current(), &c->op);
    if (error == ABI_SUCCESS && wait)
        error = stream_drain((uintptr_t)stream);
    return abi_status(error);
}

int hipMemcpyHtoDAsync(void *dst, const void *src, size_t size, void *stream)
{
    return copy("hipMemcpyHtoDAsync", dst, src, size, ABI_HOST_TO_DEVICE, stream);
}

int hipMemcpyDtoHAsync(void *dst, void *src, size_t size, void *stream)
{
    return copy("hipMemcpyDtoHAsync", dst, src, size, ABI_DEVICE_TO_HOST, stream);
}

int hipMemcpyDtoDAsync(void *dst, void *src, size_t size, void *stream)
{
    return copy("hipMemcpyDtoDAsync", dst, src, size, ABI_DEVICE_TO_DEVICE, stream);
}

int hipMemcpyAsync(void *dst, const void *src, size_t size, int kind, void *stream)
{
    if (kind < ABI_HOST_TO_DEVICE || kind > ABI_DEVICE_TO_DEVICE)
        return abi_status(ABI_NOT_SUPPORTED); /* host to host, or to be guessed */
    return copy("hipMemcpyAsync", dst, src, size, kind, stream);
}

struct fill {
    struct op op;
    uintptr_t dst;
    uint32_t value;
    size_t count, size; /* elements, and bytes of one */
};

static bool run_fill(struct op *self, struct worker *w, uintptr_t *bad)
{
    struct fill *f = (struct fill *)self;
    size_t bytes = f->count * f->size;
    struct block *b = memory_pin_device(f->dst, bytes);
    if (!b) {
        *bad = f->dst;
        return false;
    }
    if (f->size == sizeof(uint32_t))
        memory_fill32((void *)f->dst, f->value, f->count);
    else
        memory_fill8((void *)f->dst, (uint8_t)f->value, f->count);
    memory_unpin(b);
    worker_elapse(w, time_for(bytes, abi_config()->memset_rate));
    return true;
}

static int fill(const char *name, void *dst, uint32_t value, size_t count, size_t size, void *stream)
{
    int state = abi_state();
    if (state != ABI_SUCCESS || count == 0)
        return abi_status(state);
    if (!dst || (uintptr_t)dst % size != 0 || count > MAX_BYTES / size)
        return abi_status(ABI_INVALID_VALUE);
    struct fill *f = malloc(sizeof *f);
    if (!f)
        return abi_status(ABI_OUT_OF_MEMORY);
    *f = (struct fill){.op = {.name = name, .run = run_fill},
                       .dst = (uintptr_t)dst, .value = value, .count = count, .size = size};
    return abi_status(stream_submit((uintptr_t)stream, device_current(), &f->op));
}

int hipMemsetD32Async(void *dst, int value, size_t count, void *stream)
{
    return fill("hipMemsetD32Async", dst, (uint32_t)value, count, sizeof(uint32_t), stream);
}

int hipMemsetD8Async(void *dst, unsigned char value, size_t count, void *stream)
{
    return fill("hipMemsetD8Async", dst, value, count, 1, stream);
}

int hipMemsetAsync(void *dst, int value, size_t size, void *stream)
{
    return fill("hipMemsetAsync", dst, (uint8_t)value, size, 1, stream);
}
