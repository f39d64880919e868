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

static _Atomic(void *) handle, module, function;
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

/* Adds 1 to every word of p, in a kernel from a module that others unload. */
static void add(void *p, void *stream)
{
    int n = SIDE * SIDE, by = 1;
    void *params[] = {&p, &n, &by};
    hipModuleLaunchKernel(atomic_load(&function), 1, 1, 1, SIDE * SIDE, 1, 1, 0, stream, params, NULL);
}

/* Compiles and loads the kernel anew, and unloads the old one under its users. */
static void reload(void)
{
    static const char source[] = "extern \"C\" __global__ void rocstress_conformance_add(unsigned*, int, int);";
    static const char *const options[] = {"--offload-arch=gfx90a"};
    void *program, *loaded, *found;
    char code[256];
    must(hiprtcCreateProgram(&program, source, "add", 0, NULL, NULL), "hiprtcCreateProgram");
    must(hiprtcCompileProgram(program, 1, options), "hiprtcCompileProgram");
    must(hiprtcGetCode(program, code), "hiprtcGetCode");
    must(hiprtcDestroyProgram(&program), "hiprtcDestroyProgram");
    must(hipModuleLoadData(&loaded, code), "hipModuleLoadData");
    must(hipModuleGetFunction(&found, loaded, "rocstress_conformance_add"), "hipModuleGetFunction");
    atomic_store(&function, found);
    hipModuleUnload(atomic_exchange(&module, loaded));
}

/* Resets the second device, which nobody computes on, under the streams and
 * memory that others make there. Memory is not freed after it: another thread
 * may have got the address. */
static void reset_other(void)
{
    void *stream, *p;
    must(hipSetDevice(1), "hipSetDevice");
    if (hipStreamCreateWithFlags(&stream, ABI_STREAM_NON_BLOCKING) == ABI_SUCCESS) {
        must(hipMalloc(&p, BYTES), "hipMalloc");
        hipDeviceReset();
        hipStreamSynchronize(stream);
        hipStreamQuery(stream);
        hipStreamDestroy(stream);
    }
    must(hipSetDevice(0), "hipSetDevice");
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
        rocblas_gemm_ex(atomic_load(&handle), 111, 111, SIDE, SIDE, SIDE, &one, a, ABI_TYPE_BF16, SIDE, a,
                        ABI_TYPE_BF16, SIDE, &zero, c, ABI_TYPE_BF16, SIDE, c, ABI_TYPE_BF16, SIDE, ABI_TYPE_F32,
                        ABI_ALGO_STANDARD, 0, 0);
        add(c, stream);
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
        if (round % 8 == 0)
            reload();
        if (round % 8 == 4)
            reset_other();
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
    reload();
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, race, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    must(hipDeviceSynchronize(), "hipDeviceSynchronize");
    return 0;
}
