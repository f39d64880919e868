#include "gemm.h"

#include <string.h>

#include "../common/config.h"
#include "memory.h"

static size_t size_of(enum element e) { return e == BF16 ? sizeof(uint16_t) : sizeof(float); }

static int stored_rows(const struct matrix *m) { return m->transposed ? m->cols : m->rows; }
static int stored_cols(const struct matrix *m) { return m->transposed ? m->rows : m->cols; }

/* Bytes from the first element to the last. */
static size_t extent(const struct matrix *m)
{
    return ((size_t)(stored_cols(m) - 1) * (size_t)m->ld + (size_t)stored_rows(m)) *
           size_of(m->element);
}

/* Reads n consecutive elements. */
static void read_run(float *dst, const struct matrix *m, size_t at, size_t n)
{
    if (m->element == BF16)
        memory_load_bf16(dst, (const uint16_t *)m->at + at, n);
    else
        memory_copy(dst, (const float *)m->at + at, n * sizeof(float));
}

static void write_run(const struct matrix *m, size_t at, const float *src, size_t n)
{
    if (m->element == BF16)
        memory_store_bf16((uint16_t *)m->at + at, src, n);
    else
        memory_copy((float *)m->at + at, src, n * sizeof(float));
}

/* Reads op(X) into dense column-major scratch. */
static bool load(float *dst, const struct matrix *m, uintptr_t *bad)
{
    struct block *b = memory_pin_device(m->at, extent(m));
    if (!b) {
        *bad = m->at;
        return false;
    }
    for (int j = 0; j < stored_cols(m); j++) {
        size_t col = (size_t)j * (size_t)m->ld;
        if (!m->transposed) {
            read_run(dst + (size_t)j * (size_t)m->rows, m, col, (size_t)m->rows);
            continue;
        }
        for (int i = 0; i < stored_rows(m); i++)
            read_run(dst + (size_t)i * (size_t)m->rows + j, m, col + (size_t)i, 1);
    }
    memory_unpin(b);
    return true;
}

static bool store(const struct matrix *m, const float *src, uintptr_t *bad)
{
    struct block *b = memory_pin_device(m->at, extent(m));
    if (!b) {
        *bad = m->at;
        return false;
    }
    for (int j = 0; j < m->cols; j++)
        write_run(m, (size_t)j * (size_t)m->ld, src + (size_t)j * (size_t)m->rows, (size_t)m->rows);
    memory_unpin(b);
    return true;
}

/* A nonsense size is an address error and not an exhausted host: operands are
 * looked up before scratch is sized by them. */
static bool mapped(const struct matrix *m, uintptr_t *bad)
{
    struct block *b = memory_pin_device(m->at, extent(m));
    *bad = m->at;
    if (b)
        memory_unpin(b);
    return b != NULL;
}

static void multiply_add(float *restrict c, const float *restrict a, const float *restrict b,
                         size_t m, size_t n, size_t k)
{
    for (size_t j = 0; j < n; j++)
        for (size_t p = 0; p < k; p++) {
            float factor = b[j * k + p];
            for (size_t i = 0; i < m; i++)
                c[j * m + i] += a[p * m + i] * factor;
        }
}

static void scale(float *x, size_t n, float by)
{
    for (size_t i = 0; by != 1 && i < n; i++)
        x[i] *= by;
}

/* Adds alpha op(A) op(B) to c. */
static bool add_product(const struct gemm *g, struct worker *w, float *c, uintptr_t *bad)
{
    size_t m = (size_t)g->c.rows, n = (size_t)g->c.cols, k = (size_t)g->a.cols;
    if (!mapped(&g->a, bad) || !mapped(&g->b, bad))
        return false;
    float *a = worker_scratch(w, 1, m * k), *b = worker_scratch(w, 2, k * n);
    if (!load(a, &g->a, bad) || !load(b, &g->b, bad))
        return false;
    scale(b, k * n, g->alpha);
    multiply_add(c, a, b, m, n, k);
    return true;
}

bool gemm_run(struct op *self, struct worker *w, uintptr_t *bad)
{
    struct gemm *g = (struct gemm *)self;
    size_t m = (size_t)g->c.rows, n = (size_t)g->c.cols, k = (size_t)g->a.cols;
    if (!mapped(&g->d, bad) || (g->beta != 0 && !mapped(&g->c, bad)))
        return false;
    float *c = worker_scratch(w, 0, m * n);
    if (g->beta == 0)
        memset(c, 0, m * n * sizeof *c); /* beta 0 does not read C, so a NaN there is no matter */
    else if (!load(c, &g->c, bad))
        return false;
    scale(c, m * n, g->beta == 0 ? 1 : g->beta);
    if (k > 0 && g->alpha != 0 && !add_product(g, w, c, bad))
        return false;
    worker_elapse(w, time_for(2 * m * n * k, abi_config()->gemm_rate));
    return store(&g->d, c, bad);
}
