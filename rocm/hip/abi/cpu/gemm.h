/* D = alpha op(A) op(B) + beta C, column-major and computed in f32, as an
 * operation of a stream. */
#ifndef ROCSTRESS_ABI_CPU_GEMM_H
#define ROCSTRESS_ABI_CPU_GEMM_H

#include "stream.h"

enum element { F32, BF16 };

struct matrix {
    uintptr_t at;
    int rows, cols; /* of op(X) */
    int ld;
    bool transposed;
    enum element element; /* of what is stored */
};

struct gemm {
    struct op op;
    struct matrix a, b, c, d;
    float alpha, beta;
};

bool gemm_run(struct op *self, struct worker *w, uintptr_t *bad);

#endif
