/* C = alpha op(A) op(B) + beta C, column-major, as an operation of a stream. */
#ifndef ROCSTRESS_ABI_CPU_GEMM_H
#define ROCSTRESS_ABI_CPU_GEMM_H

#include "stream.h"

struct matrix {
    uintptr_t at;
    int rows, cols; /* of op(X) */
    int ld;
    bool transposed;
};

struct gemm {
    struct op op;
    struct matrix a, b, c;
    float alpha, beta;
};

bool gemm_run(struct op *self, struct worker *w, uintptr_t *bad);

#endif
