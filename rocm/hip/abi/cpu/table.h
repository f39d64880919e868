/* Tables that turn handles into objects, whatever a caller passes in.
 *
 * A handle is never used twice and an object is never freed: a caller that
 * races on a destroyed handle meets its remains, which say that it is gone,
 * and never freed memory. */
#ifndef ROCSTRESS_ABI_CPU_TABLE_H
#define ROCSTRESS_ABI_CPU_TABLE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { TABLE_CHUNK = 1024, TABLE_CHUNKS = 1024 };

struct table {
    uintptr_t base;     /* handles are base + 16, base + 32, ... */
    pthread_mutex_t mu; /* serialises table_put */
    _Atomic uintptr_t count;
    _Atomic(_Atomic(void *) *) chunks[TABLE_CHUNKS];
};

#define TABLE_INIT(address) {.base = (address), .mu = PTHREAD_MUTEX_INITIALIZER}

/* Returns the handle of a new object, 0 if the table is full. */
uintptr_t table_put(struct table *t, void *object);

/* Returns the object of a handle, NULL if there is none any more. */
void *table_get(struct table *t, uintptr_t handle);

/* The same, and takes it out of the table: one caller alone gets it. */
void *table_take(struct table *t, uintptr_t handle);

/* Calls visit for every object that is in the table. */
void table_each(struct table *t, void (*visit)(void *object, void *arg), void *arg);

#endif
