#define _GNU_SOURCE
#include "stream.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "../abi.h"
#include "../common/status.h"
#include "clock.h"
#include "device.h"
#include "table.h"
#include "worker.h"

/* A stream is never freed; see table.h. */
struct stream {
    pthread_mutex_t mu;
    pthread_cond_t work, idle;
    struct op *head, *tail;  /* guarded by mu */
    uint64_t enqueued, done; /* guarded by mu */
    bool started, closing;   /* guarded by mu */
    pthread_t thread;        /* written before started is set */
    int device;
};

#define STREAM_INIT(ordinal)                                                          \
    {.mu = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER,               \
     .idle = PTHREAD_COND_INITIALIZER, .device = (ordinal)}

static struct table streams = TABLE_INIT(0x510000000000);
static struct stream null_streams[MAX_DEVICES]; /* written under null_once */
static pthread_once_t null_once = PTHREAD_ONCE_INIT;

static void make_null_streams(void)
{
    for (int i = 0; i < MAX_DEVICES; i++)
        null_streams[i] = (struct stream)STREAM_INIT(i);
}

/* The null stream of a device is a queue of its own: the streams that
 * hipStreamNonBlocking made do not wait for it. */
static struct stream *null_stream(int device)
{
    pthread_once(&null_once, make_null_streams);
    return &null_streams[device];
}

static struct stream *stream_of(uintptr_t handle, int device)
{
    return handle == 0 ? null_stream(device) : table_get(&streams, handle);
}

static void *serve(void *arg)
{
    struct stream *s = arg;
    struct worker w = {0};
    prctl(PR_SET_TIMERSLACK, 1); /* device time is microseconds */
    pthread_mutex_lock(&s->mu);
    for (;;) {
        while (!s->head && !s->closing)
            pthread_cond_wait(&s->work, &s->mu);
        struct op *op = s->head;
        if (!op)
            break;
        s->head = op->next;
        pthread_mutex_unlock(&s->mu);
        worker_run(&w, op);
        pthread_mutex_lock(&s->mu);
        s->done++;
        pthread_cond_broadcast(&s->idle);
    }
    pthread_mutex_unlock(&s->mu);
    worker_end(&w);
    return NULL;
}

/* Starts the stream's thread unless it runs. The caller holds s->mu. All
 * signals stay with the caller's threads: this one has no stack for the
 * handlers of a Go process. */
static bool start(struct stream *s)
{
    sigset_t all, old;
    if (s->started)
        return true;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    s->started = pthread_create(&s->thread, NULL, serve, s) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return s->started;
}

int stream_submit(uintptr_t handle, int device, struct op *op)
{
    if (!op)
        return ABI_OUT_OF_MEMORY;
    struct stream *s = stream_of(handle, device);
    if (!s) {
        free(op);
        return ABI_INVALID_HANDLE;
    }
    op->next = NULL;
    op->at = clock_now();
    pthread_mutex_lock(&s->mu);
    int error = s->closing ? ABI_INVALID_HANDLE : start(s) ? ABI_SUCCESS : ABI_OUT_OF_MEMORY;
    if (error == ABI_SUCCESS) {
        if (s->head)
            s->tail->next = op;
        else
            s->head = op;
        s->tail = op;
        s->enqueued++;
        pthread_cond_signal(&s->work);
    }
    pthread_mutex_unlock(&s->mu);
    if (error != ABI_SUCCESS)
        free(op);
    return error;
}

static void drain(struct stream *s)
{
    pthread_mutex_lock(&s->mu);
    for (uint64_t target = s->enqueued; s->done < target && !device_faulted();)
        pthread_cond_wait(&s->idle, &s->mu);
    pthread_mutex_unlock(&s->mu);
}

/* Whether s was destroyed. */
static bool closed(struct stream *s)
{
    pthread_mutex_lock(&s->mu);
    bool closing = s->closing;
    pthread_mutex_unlock(&s->mu);
    return closing;
}

int stream_drain(uintptr_t handle)
{
    struct stream *s = stream_of(handle, device_current());
    if (!s || closed(s))
        return ABI_INVALID_HANDLE;
    drain(s);
    return abi_state();
}

static void drain_one(void *object, void *arg)
{
    struct stream *s = object;
    const int *device = arg; /* NULL: of any device */
    if (!device || *device == s->device)
        drain(s);
}

void stream_drain_all(void)
{
    for (int i = 0; i < MAX_DEVICES; i++)
        drain_one(null_stream(i), NULL);
    table_each(&streams, drain_one, NULL);
}

void stream_drain_device(int device)
{
    drain_one(null_stream(device), NULL);
    table_each(&streams, drain_one, &device);
}

static void wake(void *object, void *arg)
{
    struct stream *s = object;
    (void)arg;
    pthread_mutex_lock(&s->mu);
    pthread_cond_broadcast(&s->idle);
    pthread_mutex_unlock(&s->mu);
}

void stream_wake_all(void)
{
    for (int i = 0; i < MAX_DEVICES; i++)
        wake(null_stream(i), NULL);
    table_each(&streams, wake, NULL);
}

int hipStreamCreateWithFlags(void **stream, unsigned flags)
{
    int state = abi_state();
    if (state == ABI_SUCCESS && !stream)
        state = ABI_INVALID_VALUE;
    if (state == ABI_SUCCESS && flags != ABI_STREAM_NON_BLOCKING)
        state = ABI_NOT_SUPPORTED; /* waiting for the null stream is not modelled */
    if (state != ABI_SUCCESS)
        return abi_status(state);
    struct stream *s = malloc(sizeof *s);
    if (!s)
        return abi_status(ABI_OUT_OF_MEMORY);
    *s = (struct stream)STREAM_INIT(device_current());
    pthread_mutex_lock(&s->mu);
    bool started = start(s);
    pthread_mutex_unlock(&s->mu);
    uintptr_t handle = started ? table_put(&streams, s) : 0;
    if (handle == 0) {
        if (!started)
            free(s); /* nobody knows it yet; a started one idles for good */
        return abi_status(ABI_OUT_OF_MEMORY);
    }
    *stream = (void *)handle;
    return ABI_SUCCESS;
}

/* Lets the worker do what is enqueued, and joins it. Returns false if another
 * caller does. */
static bool close_stream(struct stream *s)
{
    pthread_mutex_lock(&s->mu);
    bool first = !s->closing;
    s->closing = true;
    pthread_cond_signal(&s->work);
    pthread_mutex_unlock(&s->mu);
    if (first)
        pthread_join(s->thread, NULL);
    return first;
}

static void reset_one(void *object, void *arg)
{
    struct stream *s = object;
    if (s->device == *(const int *)arg)
        close_stream(s);
}

void stream_reset(int device)
{
    table_each(&streams, reset_one, &device);
    drain(null_stream(device));
}

int hipStreamDestroy(void *stream)
{
    int state = abi_state();
    if (state != ABI_SUCCESS)
        return abi_status(state);
    struct stream *s = table_take(&streams, (uintptr_t)stream);
    if (!s || !close_stream(s))
        return abi_status(ABI_INVALID_HANDLE);
    return abi_status(abi_state());
}

int hipStreamSynchronize(void *stream)
{
    int state = abi_state();
    if (state == ABI_SUCCESS)
        state = stream_drain((uintptr_t)stream);
    return abi_status(state);
}

int hipStreamQuery(void *stream)
{
    int state = abi_state();
    if (state != ABI_SUCCESS)
        return abi_status(state);
    struct stream *s = stream_of((uintptr_t)stream, device_current());
    if (!s)
        return abi_status(ABI_INVALID_HANDLE);
    pthread_mutex_lock(&s->mu);
    bool busy = s->done < s->enqueued, closing = s->closing;
    pthread_mutex_unlock(&s->mu);
    return abi_status(closing ? ABI_INVALID_HANDLE : busy ? ABI_NOT_READY : ABI_SUCCESS);
}
