/* The thread that serves a stream. */
#ifndef ROCSTRESS_ABI_CPU_WORKER_H
#define ROCSTRESS_ABI_CPU_WORKER_H

#include "stream.h"

struct worker {
    int64_t began;      /* when the host began with this operation */
    int64_t start;      /* when the device did: after its predecessor */
    int64_t busy_until; /* when the device is through with it */
    struct {
        float *at;
        size_t room;
    } scratch[SCRATCHES];
};

/* Runs one operation and frees it. After a fault a queue does nothing more. */
void worker_run(struct worker *w, struct op *op);

/* Frees what the worker holds. */
void worker_end(struct worker *w);

#endif
