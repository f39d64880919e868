#include <stdatomic.h>

#include "memory.h"

/* The builtins take plain pointers, which the memory of callers is. */
#define LOAD(p) __atomic_load_n(p, __ATOMIC_RELAXED)
#define STORE(p, v) __atomic_store_n(p, v, __ATOMIC_RELAXED)

void memory_copy(void *dst, const void *src, size_t bytes)
{
    if (((uintptr_t)dst | (uintptr_t)src | bytes) % sizeof(uint32_t) == 0) {
        uint32_t *to = dst;
        const uint32_t *from = src;
        for (size_t i = 0; i < bytes / sizeof(uint32_t); i++)
            STORE(&to[i], LOAD(&from[i]));
        return;
    }
    uint8_t *to = dst;
    const uint8_t *from = src;
    for (size_t i = 0; i < bytes; i++)
        STORE(&to[i], LOAD(&from[i]));
}

void memory_fill32(void *dst, uint32_t value, size_t words)
{
    uint32_t *to = dst;
    for (size_t i = 0; i < words; i++)
        STORE(&to[i], value);
}

void memory_fill8(void *dst, uint8_t value, size_t bytes)
{
    uint8_t *to = dst;
    for (size_t i = 0; i < bytes; i++)
        STORE(&to[i], value);
}
