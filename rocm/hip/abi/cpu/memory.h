/* Device and pinned host memory, as allocations that are looked up before
 * they are touched. */
#ifndef ROCSTRESS_ABI_CPU_MEMORY_H
#define ROCSTRESS_ABI_CPU_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct block;

/* Finds the allocation that holds all of [address, address + bytes) and keeps
 * it mapped until memory_unpin, though it be freed meanwhile. NULL if there is
 * none: the access is a fault. */
struct block *memory_pin_device(uintptr_t address, size_t bytes);
struct block *memory_pin_host(uintptr_t address, size_t bytes);
void memory_unpin(struct block *b);

/* Frees all memory of a device. */
void memory_reset(int device);

/* Copies with relaxed atomics, words where both sides are aligned to them:
 * whoever else touches the memory meanwhile, it is no data race. */
void memory_copy(void *dst, const void *src, size_t bytes);
void memory_fill32(void *dst, uint32_t value, size_t words);
/* bf16 to f32, and f32 rounded to nearest even; aligned to their elements. */
void memory_load_bf16(float *dst, const uint16_t *src, size_t n);
void memory_store_bf16(uint16_t *dst, const float *src, size_t n);
void memory_fill8(void *dst, uint8_t value, size_t bytes);

#endif
