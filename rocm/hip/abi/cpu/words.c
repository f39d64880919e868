#include <stdatomic.h>
#include <string.h>

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

void memory_load_bf16(float *dst, const uint16_t *src, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t bits = (uint32_t)LOAD(&src[i]) << 16;
        memcpy(&dst[i], &bits, sizeof bits);
    }
}

/* The upper half of a float, rounded by what is cut off. A NaN stays one. */
static uint16_t to_bf16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (value != value)
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

void memory_store_bf16(uint16_t *dst, const float *src, size_t n)
{
    for (size_t i = 0; i < n; i++)
        STORE(&dst[i], to_bf16(src[i]));
}
