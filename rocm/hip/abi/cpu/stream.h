/* Streams: queues that one thread each serves in order. */
#ifndef ROCSTRESS_ABI_CPU_STREAM_H
#define ROCSTRESS_ABI_CPU_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct worker;

/* One operation. It is the first member of what an operation needs, all of it
 * one allocation of malloc, which submitting gives away. */
struct op {
    struct op *next;
    int64_t at;       /* when it was enqueued; set by stream_submit */
    const char *name; /* the call that enqueued it */
    /* Does the work, with worker_elapse for the time it stands for. Returns
     * false, and the address in *bad, for an address that is not mapped. */
    bool (*run)(struct op *self, struct worker *w, uintptr_t *bad);
};

/* Charges device time: the launch and cost, or what the host has spent on the
 * operation so far if that is more. */
void worker_elapse(struct worker *w, int64_t cost);

/* Returns n floats of the worker's private memory with unspecified content;
 * which tells buffers apart. */
enum { SCRATCHES = 3 };
float *worker_scratch(struct worker *w, int which, size_t n);

/* How long amount takes at rate a second, in nanoseconds; rate 0 is infinitely
 * fast. */
int64_t time_for(uint64_t amount, uint64_t rate);

/* Puts an operation on a stream of the current device. Takes op over, and
 * accepts NULL for one that could not be allocated. Returns a HIP error. */
int stream_submit(uintptr_t stream, int device, struct op *op);

/* Waits until a stream has done what is enqueued now. Returns a HIP error. */
int stream_drain(uintptr_t stream);

/* The same for all streams, or those of one device. A fault ends the wait. */
void stream_drain_all(void);
void stream_drain_device(int device);

/* Destroys the streams of a device, as hipStreamDestroy would each, and drains
 * its null stream. */
void stream_reset(int device);

/* Makes every waiter look again. */
void stream_wake_all(void);

#endif
