/* Programs of hiprtc: source that becomes code. */
#ifndef ROCSTRESS_ABI_PROGRAM_H
#define ROCSTRESS_ABI_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

/* One program belongs to one thread at a time, as in hiprtc. */
struct program {
    char *source, *name;
    char *log;      /* what the compiler said; NULL before */
    void *code;     /* NULL unless it compiled */
    size_t code_size;
};

/* Compiles p: sets its log, and its code on success. Returns a hiprtcResult.
 * Each library has its own. */
int abi_compile(struct program *p, int option_count, const char *const *options);

/* Adds text to the log, with printf's formats. Returns false where the host has
 * no memory for it. */
__attribute__((format(printf, 2, 3))) bool program_say(struct program *p, const char *format, ...);

/* Whether an option names the architecture to compile for, and which. */
const char *option_arch(const char *option);

#endif
