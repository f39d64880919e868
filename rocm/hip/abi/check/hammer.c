/* Races every call of the CPU test ABI from many threads, over one handle and
 * over streams, events and memory that others destroy. Built with a sanitizer
 * it must stay silent; exit 0 is all it says. Results are not looked at: they
 * are as wrong as the callers. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../abi.h"

enum { THREADS = 8, ROUNDS = 60, SIDE = 8, BYTES = SIDE * SIDE * sizeof(float), SHARED = 4 };

static _Atomic(void *) handle;
static _Atomic(void *) streams[SHARED];
static _Atomic(void *) events[SHARED];
static _Atomic(void *) buffers[SHARED];

static void must(int status, const char *what)
{
    if (status != ABI_SUCCESS) {
        fprintf(stderr, "%s: status %d\n", what, status);
        exit(1);
    }
}

/* Replaces a shared stream and event, and destroys the old ones under their
 * users. */
static void replace(unsigned at)
{
    void *stream, *event;
    must(hipStreamCreateWithFlags(&stream, ABI_STREAM_NON_BLOCKING), "hipStreamCreateWithFlags");
    must(hipEventCreateWithFlags(&event, 0), "hipEventCreateWithFlags");
    hipStreamDestroy(atomic_exchange(&streams[at], stream));
    hipEventDestroy(atomic_exchange(&events[at], event));
}

static void *race(void *arg)
{
    static const float one = 1, zero = 0;
    unsigned seed = (unsigned)(uintptr_t)arg;
    float *host;
    int device;
    must(hipHostMalloc((void **)&host, BYTES, 0), "hipHostMalloc");
    for (int round = 0; round < ROUNDS; round++) {
        unsigned at = (unsigned)rand_r(&seed) % SHARED;
        void *stream = atomic_load(&streams[at]), *event = atomic_load(&events[at]), *own;
        void *a = atomic_load(&buffers[at]), *c = atomic_load(&buffers[(at + 1) % SHARED]);
        void *created = NULL;
        if (rocblas_create_handle(&created) == ABI_BLAS_SUCCESS)
            atomic_store(&handle, created); /* lost by whoever stored before */
        rocblas_set_stream(atomic_load(&handle), stream);
        hipMemsetD32Async(a, round, SIDE * SIDE, stream);
        hipMemcpyHtoDAsync(a, host, BYTES, stream);
        rocblas_sgemm(atomic_load(&handle), 111, 111, SIDE, SIDE, SIDE, &one, a, SIDE, a, SIDE, &zero, c, SIDE);
        hipMemcpyDtoHAsync(host, c, BYTES, stream);
        hipEventRecord(event, stream);
        hipEventQuery(event);
        hipStreamQuery(stream);
        must(hipMalloc(&own, BYTES), "hipMalloc");
        hipMemcpyDtoDAsync(own, c, BYTES, NULL);
        hipEventSynchronize(event);
        hipStreamSynchronize(stream);
        must(hipFree(own), "hipFree");
        must(hipGetDevice(&device), "hipGetDevice");
        hipGetLastError();
        if (round % 4 == 0)
            replace(at);
    }
    must(hipHostFree(host), "hipHostFree");
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < SHARED; i++) {
        void *buffer;
        must(hipMalloc(&buffer, BYTES), "hipMalloc");
        atomic_store(&buffers[i], buffer);
        replace(i);
    }
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, race, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    must(hipDeviceSynchronize(), "hipDeviceSynchronize");
    return 0;
}
