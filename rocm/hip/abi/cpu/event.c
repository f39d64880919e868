#include "event.h"

#include <pthread.h>
#include <stdlib.h>

#include "../abi.h"
#include "../common/status.h"
#include "device.h"
#include "stream.h"
#include "table.h"

/* An event is never freed; see table.h. */
struct event {
    pthread_mutex_t mu;
    pthread_cond_t complete;
    uint64_t recorded;  /* guarded by mu; times it was recorded */
    uint64_t completed; /* guarded by mu; the last of them that a stream passed */
};

static struct table events = TABLE_INIT(0x520000000000);

struct marker {
    struct op op;
    struct event *event;
    uint64_t number; /* which recording this is */
};

static bool run_marker(struct op *self, struct worker *w, uintptr_t *bad)
{
    struct marker *m = (struct marker *)self;
    (void)bad;
    worker_elapse(w, 0);
    pthread_mutex_lock(&m->event->mu);
    if (m->event->completed < m->number)
        m->event->completed = m->number;
    pthread_cond_broadcast(&m->event->complete);
    pthread_mutex_unlock(&m->event->mu);
    return true;
}

int hipEventCreateWithFlags(void **event, unsigned flags)
{
    int state = abi_state();
    if (state == ABI_SUCCESS && (!event || (flags & ~(unsigned)ABI_EVENT_FLAGS)))
        state = ABI_INVALID_VALUE;
    if (state != ABI_SUCCESS)
        return abi_status(state);
    struct event *e = malloc(sizeof *e);
    if (!e)
        return abi_status(ABI_OUT_OF_MEMORY);
    *e = (struct event){.mu = PTHREAD_MUTEX_INITIALIZER, .complete = PTHREAD_COND_INITIALIZER};
    uintptr_t handle = table_put(&events, e);
    if (handle == 0) {
        free(e); /* nobody knows it yet */
        return abi_status(ABI_OUT_OF_MEMORY);
    }
    *event = (void *)handle;
    return ABI_SUCCESS;
}

int hipEventRecord(void *event, void *stream)
{
    int state = abi_state();
    if (state != ABI_SUCCESS)
        return abi_status(state);
    struct event *e = table_get(&events, (uintptr_t)event);
    if (!e)
        return abi_status(ABI_INVALID_HANDLE);
    struct marker *m = malloc(sizeof *m);
    if (!m)
        return abi_status(ABI_OUT_OF_MEMORY);
    pthread_mutex_lock(&e->mu);
    *m = (struct marker){.op = {.name = "hipEventRecord", .run = run_marker},
                         .event = e, .number = e->recorded + 1};
    /* Under the lock, so that recordings are numbered as they are enqueued. */
    int error = stream_submit((uintptr_t)stream, device_current(), &m->op);
    if (error == ABI_SUCCESS)
        e->recorded++;
    pthread_mutex_unlock(&e->mu);
    return abi_status(error);
}

int hipEventQuery(void *event)
{
    int state = abi_state();
    if (state != ABI_SUCCESS)
        return abi_status(state);
    struct event *e = table_get(&events, (uintptr_t)event);
    if (!e)
        return abi_status(ABI_INVALID_HANDLE);
    pthread_mutex_lock(&e->mu);
    bool pending = e->completed < e->recorded;
    pthread_mutex_unlock(&e->mu);
    return pending ? abi_status(ABI_NOT_READY) : ABI_SUCCESS;
}

int hipEventSynchronize(void *event)
{
    int state = abi_state();
    if (state != ABI_SUCCESS)
        return abi_status(state);
    struct event *e = table_get(&events, (uintptr_t)event);
    if (!e)
        return abi_status(ABI_INVALID_HANDLE);
    pthread_mutex_lock(&e->mu);
    for (uint64_t target = e->recorded; e->completed < target && !device_faulted();)
        pthread_cond_wait(&e->complete, &e->mu);
    pthread_mutex_unlock(&e->mu);
    return abi_status(abi_state());
}

int hipEventDestroy(void *event)
{
    int state = abi_state();
    if (state == ABI_SUCCESS && !table_take(&events, (uintptr_t)event))
        state = ABI_INVALID_HANDLE;
    return abi_status(state);
}

static void wake(void *object, void *arg)
{
    struct event *e = object;
    (void)arg;
    pthread_mutex_lock(&e->mu);
    pthread_cond_broadcast(&e->complete);
    pthread_mutex_unlock(&e->mu);
}

void event_wake_all(void) { table_each(&events, wake, NULL); }
