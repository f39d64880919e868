#include "kernels.h"

#include <string.h>

#include "memory.h"
#include "worker.h"

#define MAX_WORDS (1ull << 38) /* of the largest "memory" there is a setting for */

static bool load(void *dst, uintptr_t src, size_t words, uintptr_t *bad)
{
    struct block *b = memory_pin_device(src, words * sizeof(uint32_t));
    if (!b) {
        *bad = src;
        return false;
    }
    memory_copy(dst, (const void *)src, words * sizeof(uint32_t));
    memory_unpin(b);
    return true;
}

static bool store(uintptr_t dst, const void *src, size_t words, uintptr_t *bad)
{
    struct block *b = memory_pin_device(dst, words * sizeof(uint32_t));
    if (!b) {
        *bad = dst;
        return false;
    }
    memory_copy((void *)dst, src, words * sizeof(uint32_t));
    memory_unpin(b);
    return true;
}

/* Whether words are mapped at an address: asked before scratch is sized by
 * arguments that may be nonsense. */
static bool mapped(uintptr_t address, size_t words, uintptr_t *bad)
{
    *bad = address;
    if (words > MAX_WORDS)
        return false;
    struct block *b = memory_pin_device(address, words * sizeof(uint32_t));
    if (b)
        memory_unpin(b);
    return b != NULL;
}

/* rocstress_naive_gemm_f32(a, b, c, m, k, n): one thread an element of C. */
static bool naive_gemm(const union arg *args, uint64_t threads, struct worker *w, uintptr_t *bad)
{
    int64_t m = args[3].i32, k = args[4].i32, n = args[5].i32;
    if (m <= 0 || n <= 0)
        return true;
    size_t inner = k > 0 ? (size_t)k : 0, elements = (size_t)(m * n);
    if (threads < elements)
        elements = threads;
    size_t rows = (elements + (size_t)n - 1) / (size_t)n;
    size_t a_words = rows * inner, b_words = inner * (size_t)n;
    if (!mapped(args[2].ptr, elements, bad) ||
        (inner > 0 && (!mapped(args[0].ptr, a_words, bad) || !mapped(args[1].ptr, b_words, bad))))
        return false;
    float *a = worker_scratch(w, 1, a_words + 1), *b = worker_scratch(w, 2, b_words + 1);
    float *c = worker_scratch(w, 0, elements);
    if (inner > 0 && (!load(a, args[0].ptr, a_words, bad) || !load(b, args[1].ptr, b_words, bad)))
        return false;
    memset(c, 0, elements * sizeof *c);
    for (size_t i = 0; i < elements; i++)
        for (size_t p = 0; p < inner; p++)
            c[i] += a[i / (size_t)n * inner + p] * b[p * (size_t)n + i % (size_t)n];
    return store(args[2].ptr, c, elements, bad);
}

/* rocstress_conformance_add(p, n, v): adds v to each of the first n words. */
static bool add(const union arg *args, uint64_t threads, struct worker *w, uintptr_t *bad)
{
    size_t n = args[1].i32 > 0 ? (size_t)args[1].i32 : 0;
    if (threads < n)
        n = threads;
    if (n == 0)
        return true;
    if (!mapped(args[0].ptr, n, bad))
        return false;
    uint32_t *words = (uint32_t *)(void *)worker_scratch(w, 0, n);
    if (!load(words, args[0].ptr, n, bad))
        return false;
    for (size_t i = 0; i < n; i++)
        words[i] += (uint32_t)args[2].i32;
    return store(args[0].ptr, words, n, bad);
}

static const struct kernel kernels[] = {
    {"rocstress_naive_gemm_f32", "pppiii", naive_gemm},
    {"rocstress_conformance_add", "pii", add},
};

const struct kernel *kernel_named(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (strlen(kernels[i].name) == length && strncmp(kernels[i].name, name, length) == 0)
            return &kernels[i];
    return NULL;
}
