#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include "cuda.h"

struct name {
    const char *symbol;
    void **into;
};

static void say(const char *what)
{
    const char *why = dlerror();
    fprintf(stderr, "HIP test ABI over CUDA: %s: %s\n", what, why ? why : "not found");
}

/* Loads the first of sonames that there is, and every symbol of it. */
static bool load(const char *what, const char *const *sonames, const struct name *names, size_t count)
{
    void *library = NULL;
    for (; *sonames && !library; sonames++)
        library = dlopen(*sonames, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        say(what);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        *names[i].into = dlsym(library, names[i].symbol);
        if (!*names[i].into) {
            say(names[i].symbol);
            return false;
        }
    }
    return true;
}

/* POSIX lets a data pointer of dlsym become a function pointer this way. */
#define NAME(field, symbol, args) {#symbol, (void **)&functions.field},

static pthread_once_t cuda_once = PTHREAD_ONCE_INIT;
static pthread_once_t cublas_once = PTHREAD_ONCE_INIT;
static pthread_once_t nvrtc_once = PTHREAD_ONCE_INIT;
static const struct cuda *cuda_loaded;     /* written under cuda_once */
static const struct cublas *cublas_loaded; /* written under cublas_once */
static const struct nvrtc *nvrtc_loaded;   /* written under nvrtc_once */

static void load_cuda(void)
{
    static struct cuda functions;
    static const char *const sonames[] = {"libcuda.so.1", NULL};
    const struct name names[] = {CUDA_FUNCTIONS(NAME)};
    if (load("libcuda.so.1", sonames, names, sizeof names / sizeof *names))
        cuda_loaded = &functions;
}

static void load_cublas(void)
{
    static struct cublas functions;
    static const char *const sonames[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11", NULL};
    const struct name names[] = {CUBLAS_FUNCTIONS(NAME)};
    if (load("libcublas.so.13, .12 and .11", sonames, names, sizeof names / sizeof *names))
        cublas_loaded = &functions;
}

static void load_nvrtc(void)
{
    static struct nvrtc functions;
    static const char *const sonames[] = {"libnvrtc.so.13", "libnvrtc.so.12", NULL};
    const struct name names[] = {NVRTC_FUNCTIONS(NAME)};
    if (load("libnvrtc.so.13 and .12", sonames, names, sizeof names / sizeof *names))
        nvrtc_loaded = &functions;
}

const struct cuda *cuda(void)
{
    pthread_once(&cuda_once, load_cuda);
    return cuda_loaded;
}

const struct cublas *cublas(void)
{
    pthread_once(&cublas_once, load_cublas);
    return cublas_loaded;
}

const struct nvrtc *nvrtc(void)
{
    pthread_once(&nvrtc_once, load_nvrtc);
    return nvrtc_loaded;
}
