#include "worker.h"

#include <signal.h>
#include <stdlib.h>

#include "../common/config.h"
#include "clock.h"
#include "device.h"

#define SECOND 1e9

int64_t time_for(uint64_t amount, uint64_t rate)
{
    return rate == 0 ? 0 : (int64_t)((double)amount / (double)rate * SECOND);
}

void worker_elapse(struct worker *w, int64_t cost)
{
    int64_t spent = clock_now() - w->began;
    cost += (int64_t)abi_config()->launch;
    /* The device's clock runs on from the operation before it and not from
     * now, so a sleep that took too long is made up for by those behind it. */
    w->busy_until = w->start + (cost > spent ? cost : spent);
    clock_sleep_until(w->busy_until);
}

float *worker_scratch(struct worker *w, int which, size_t n)
{
    if (w->scratch[which].room < n) {
        free(w->scratch[which].at);
        w->scratch[which].at = malloc(n * sizeof(float));
        w->scratch[which].room = n;
        if (!w->scratch[which].at)
            device_crash(SIGABRT, "the host has no memory for an operation");
    }
    return w->scratch[which].at;
}

void worker_run(struct worker *w, struct op *op)
{
    uintptr_t bad = 0;
    if (!device_faulted()) {
        w->began = clock_now();
        w->start = op->at > w->busy_until ? op->at : w->busy_until;
        if (!op->run(op, w, &bad))
            device_fault(bad, op->name);
    }
    free(op);
}

void worker_end(struct worker *w)
{
    for (int i = 0; i < SCRATCHES; i++)
        free(w->scratch[i].at);
}
