#include "table.h"

#include <stdlib.h>

enum { HANDLE_STEP = 16 };

static _Atomic(void *) *slot(struct table *t, uintptr_t handle)
{
    if (handle <= t->base || (handle - t->base) % HANDLE_STEP != 0)
        return NULL;
    uintptr_t i = (handle - t->base) / HANDLE_STEP - 1;
    if (i >= atomic_load(&t->count))
        return NULL;
    return &atomic_load(&t->chunks[i / TABLE_CHUNK])[i % TABLE_CHUNK];
}

uintptr_t table_put(struct table *t, void *object)
{
    uintptr_t handle = 0;
    pthread_mutex_lock(&t->mu);
    uintptr_t i = atomic_load(&t->count);
    if (i < (uintptr_t)TABLE_CHUNK * TABLE_CHUNKS) {
        _Atomic(void *) *chunk = atomic_load(&t->chunks[i / TABLE_CHUNK]);
        if (!chunk) {
            chunk = calloc(TABLE_CHUNK, sizeof *chunk);
            atomic_store(&t->chunks[i / TABLE_CHUNK], chunk);
        }
        if (chunk) {
            atomic_store(&chunk[i % TABLE_CHUNK], object);
            atomic_store(&t->count, i + 1); /* publishes the slot */
            handle = t->base + (i + 1) * HANDLE_STEP;
        }
    }
    pthread_mutex_unlock(&t->mu);
    return handle;
}

void *table_get(struct table *t, uintptr_t handle)
{
    _Atomic(void *) *s = slot(t, handle);
    return s ? atomic_load(s) : NULL;
}

void *table_take(struct table *t, uintptr_t handle)
{
    _Atomic(void *) *s = slot(t, handle);
    return s ? atomic_exchange(s, NULL) : NULL;
}

void table_each(struct table *t, void (*visit)(void *, void *), void *arg)
{
    uintptr_t count = atomic_load(&t->count);
    for (uintptr_t i = 0; i < count; i++) {
        void *object = atomic_load(&atomic_load(&t->chunks[i / TABLE_CHUNK])[i % TABLE_CHUNK]);
        if (object)
            visit(object, arg);
    }
}
