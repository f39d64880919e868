#include "memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../abi.h"
#include "../common/config.h"
#include "../common/status.h"
#include "device.h"
#include "stream.h"

/* The smallest page of AMD's GPU virtual memory. An access past the end of an
 * allocation but inside its last page is not noticed, as on the device. */
#define PAGE 4096ull

/* What fresh device memory holds: a NaN as a float, and an integer that no
 * sum of products of small integers reaches. The same as in rocm/sim. */
#define FRESH_WORD 0x7fa5a5a5u

struct block {
    struct space *space;
    uintptr_t base;
    size_t bytes; /* whole pages */
    int device;
    int pins;   /* guarded by space->mu */
    bool freed; /* guarded by space->mu */
};

/* An address space: its blocks by address. */
struct space {
    pthread_mutex_t mu;
    struct block **blocks;     /* guarded by mu; sorted by base */
    size_t count, room;        /* guarded by mu */
    size_t used[MAX_DEVICES];  /* guarded by mu; bytes */
};

static struct space device_space = {.mu = PTHREAD_MUTEX_INITIALIZER};
static struct space host_space = {.mu = PTHREAD_MUTEX_INITIALIZER};
static struct space registered_space = {.mu = PTHREAD_MUTEX_INITIALIZER}; /* of memory that callers own */

/* Returns the index of the first block that ends behind address. */
static size_t find(const struct space *s, uintptr_t address)
{
    size_t low = 0, high = s->count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (s->blocks[mid]->base + s->blocks[mid]->bytes <= address)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static bool insert(struct space *s, struct block *b)
{
    if (s->count == s->room) {
        size_t room = s->room ? 2 * s->room : 64;
        struct block **grown = realloc(s->blocks, room * sizeof *grown);
        if (!grown)
            return false;
        s->blocks = grown;
        s->room = room;
    }
    size_t at = find(s, b->base);
    memmove(&s->blocks[at + 1], &s->blocks[at], (s->count - at) * sizeof *s->blocks);
    s->blocks[at] = b;
    s->count++;
    return true;
}

static void unmap(struct block *b)
{
    if (b->space != &registered_space)
        munmap((void *)b->base, b->bytes);
    free(b);
}

/* Takes block at out of s. Returns it if nobody has it pinned, so that the
 * caller unmaps it; else the last one to unpin it does. */
static struct block *erase(struct space *s, size_t at)
{
    struct block *b = s->blocks[at];
    memmove(&s->blocks[at], &s->blocks[at + 1], (s->count - at - 1) * sizeof *s->blocks);
    s->count--;
    s->used[b->device] -= b->bytes;
    b->freed = true;
    return b->pins == 0 ? b : NULL;
}

/* Maps bytes for a device that may hold limit. A block that others can see may
 * be freed under its maker, by a reset: its address alone goes out. */
static int map(struct space *s, size_t bytes, size_t limit, int device, void **out)
{
    if (bytes > limit)
        return ABI_OUT_OF_MEMORY;
    bytes = (bytes + PAGE - 1) / PAGE * PAGE;
    pthread_mutex_lock(&s->mu);
    bool fits = s->used[device] <= limit && bytes <= limit - s->used[device];
    if (fits)
        s->used[device] += bytes;
    pthread_mutex_unlock(&s->mu);
    if (!fits)
        return ABI_OUT_OF_MEMORY;
    struct block *b = calloc(1, sizeof *b);
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (b && p != MAP_FAILED) {
        *b = (struct block){.space = s, .base = (uintptr_t)p, .bytes = bytes, .device = device};
        if (s == &device_space)
            memory_fill32(p, FRESH_WORD, bytes / sizeof(uint32_t));
    }
    pthread_mutex_lock(&s->mu);
    bool ok = b && p != MAP_FAILED && insert(s, b);
    if (!ok)
        s->used[device] -= bytes;
    pthread_mutex_unlock(&s->mu);
    if (!ok) {
        if (p != MAP_FAILED)
            munmap(p, bytes);
        free(b);
        return ABI_OUT_OF_MEMORY;
    }
    *out = p;
    return ABI_SUCCESS;
}

static struct block *pin(struct space *s, uintptr_t address, size_t bytes)
{
    struct block *b = NULL;
    pthread_mutex_lock(&s->mu);
    size_t at = find(s, address);
    if (at < s->count && s->blocks[at]->base <= address &&
        bytes <= s->blocks[at]->base + s->blocks[at]->bytes - address) {
        b = s->blocks[at];
        b->pins++;
    }
    pthread_mutex_unlock(&s->mu);
    return b;
}

struct block *memory_pin_device(uintptr_t address, size_t bytes) { return pin(&device_space, address, bytes); }

struct block *memory_pin_host(uintptr_t address, size_t bytes)
{
    struct block *b = pin(&host_space, address, bytes);
    return b ? b : pin(&registered_space, address, bytes);
}

void memory_unpin(struct block *b)
{
    struct space *s = b->space;
    pthread_mutex_lock(&s->mu);
    bool last = --b->pins == 0 && b->freed;
    pthread_mutex_unlock(&s->mu);
    if (last)
        unmap(b);
}

/* Whether a block begins at p; takes it out of s where asked to. */
static bool begins(struct space *s, void *p, bool take)
{
    struct block *b = NULL;
    pthread_mutex_lock(&s->mu);
    size_t at = find(s, (uintptr_t)p);
    bool found = at < s->count && s->blocks[at]->base == (uintptr_t)p;
    if (found && take)
        b = erase(s, at);
    pthread_mutex_unlock(&s->mu);
    if (b)
        unmap(b);
    return found;
}

/* Frees the block that begins at p, after all streams have done what is
 * enqueued now: hipFree and hipHostFree wait for the device. */
static int release(struct space *s, void *p)
{
    int state = abi_state();
    if (state != ABI_SUCCESS || !p)
        return abi_status(state);
    if (!begins(s, p, false))
        return abi_status(ABI_INVALID_VALUE);
    stream_drain_all();
    state = abi_state();
    if (state == ABI_SUCCESS && !begins(s, p, true)) /* freed by another thread meanwhile */
        state = ABI_INVALID_VALUE;
    return abi_status(state);
}

static int allocate(struct space *s, void **out, size_t bytes)
{
    int state = abi_state();
    if (state == ABI_SUCCESS && !out)
        state = ABI_INVALID_VALUE;
    if (state != ABI_SUCCESS)
        return abi_status(state);
    if (bytes == 0) {
        *out = NULL;
        return ABI_SUCCESS;
    }
    return abi_status(map(s, bytes, abi_config()->memory, device_current(), out));
}

int hipMalloc(void **ptr, size_t size) { return allocate(&device_space, ptr, size); }
int hipFree(void *ptr) { return release(&device_space, ptr); }
int hipHostFree(void *ptr) { return release(&host_space, ptr); }

int hipHostMalloc(void **ptr, size_t size, unsigned flags)
{
    (void)flags; /* portable, mapped and coherent is what it is anyway */
    return allocate(&host_space, ptr, size);
}

/* Makes memory of the caller's pinned: a copy from it or to it does not wait. */
int hipHostRegister(void *ptr, size_t size, unsigned flags)
{
    struct space *s = &registered_space;
    int state = abi_state();
    (void)flags;
    if (state == ABI_SUCCESS && (!ptr || size == 0))
        state = ABI_INVALID_VALUE;
    if (state != ABI_SUCCESS)
        return abi_status(state);
    struct block *b = calloc(1, sizeof *b);
    if (!b)
        return abi_status(ABI_OUT_OF_MEMORY);
    *b = (struct block){.space = s, .base = (uintptr_t)ptr, .bytes = size, .device = device_current()};
    pthread_mutex_lock(&s->mu);
    size_t at = find(s, b->base);
    if (at < s->count && s->blocks[at]->base < b->base + size)
        state = ABI_ALREADY_REGISTERED;
    else if (!insert(s, b))
        state = ABI_OUT_OF_MEMORY;
    else
        s->used[b->device] += size;
    pthread_mutex_unlock(&s->mu);
    if (state != ABI_SUCCESS)
        free(b);
    return abi_status(state);
}

int hipHostUnregister(void *ptr)
{
    if (abi_state() == ABI_SUCCESS && !begins(&registered_space, ptr, false))
        return abi_status(ABI_NOT_REGISTERED);
    return release(&registered_space, ptr);
}

int hipMemGetInfo(size_t *free_bytes, size_t *total)
{
    int state = abi_state();
    if (state == ABI_SUCCESS && (!free_bytes || !total))
        state = ABI_INVALID_VALUE;
    if (state != ABI_SUCCESS)
        return abi_status(state);
    pthread_mutex_lock(&device_space.mu);
    *total = abi_config()->memory;
    *free_bytes = *total - device_space.used[device_current()];
    pthread_mutex_unlock(&device_space.mu);
    return ABI_SUCCESS;
}

void memory_reset(int device)
{
    struct space *s = &device_space;
    pthread_mutex_lock(&s->mu);
    for (size_t i = s->count; i-- > 0;) {
        if (s->blocks[i]->device != device)
            continue;
        struct block *b = erase(s, i);
        if (b)
            unmap(b);
    }
    pthread_mutex_unlock(&s->mu);
}
