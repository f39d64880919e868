#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "../abi.h"
#include "../common/config.h"
#include "../common/program.h"
#include "clock.h"
#include "kernels.h"
#include "module.h"

static const char *skip_space(const char *s)
{
    while (isspace((unsigned char)*s))
        s++;
    return s;
}

/* Returns what follows word and the space before it, NULL if s is another. */
static const char *after(const char *s, const char *word)
{
    s = skip_space(s);
    return strncmp(s, word, strlen(word)) == 0 ? s + strlen(word) : NULL;
}

static size_t identifier(const char *s)
{
    size_t n = 0;
    while (s[n] == '_' || isalnum((unsigned char)s[n]))
        n++;
    return n;
}

/* Finds the next extern "C" __global__ void NAME( at or behind *s. Returns NAME
 * with its length, and moves *s behind it; NULL at the end. */
static const char *next_kernel(const char **s, size_t *length)
{
    const char *at;
    while ((at = strstr(*s, "extern")) != NULL) {
        *s = at + strlen("extern");
        at = after(*s, "\"C\"");
        at = at ? after(at, "__global__") : NULL;
        at = at ? after(at, "void") : NULL;
        if (!at)
            continue;
        at = skip_space(at);
        *length = identifier(at);
        if (*length > 0 && after(at + *length, "(")) {
            *s = at + *length;
            return at;
        }
    }
    return NULL;
}

static int line_of(const char *source, const char *at)
{
    int line = 1;
    for (; source < at; source++)
        line += *source == '\n';
    return line;
}

static int check_options(struct program *p, int count, const char *const *options)
{
    const char *arch = NULL;
    for (int i = 0; i < count; i++) {
        arch = options[i] ? option_arch(options[i]) : NULL;
        if (!arch) {
            program_say(p, "error: unknown option '%s'\n", options[i] ? options[i] : "(null)");
            return ABI_RTC_INVALID_OPTION;
        }
    }
    if (!arch) {
        program_say(p, "error: no --offload-arch\n");
        return ABI_RTC_COMPILATION;
    }
    return ABI_RTC_SUCCESS;
}

/* The code is the names of the kernels that the source has, each of which this
 * library must have as well. It takes the source at its word: what runs is the
 * C function of that name. */
int abi_compile(struct program *p, int option_count, const char *const *options)
{
    if (!abi_config())
        return ABI_RTC_INTERNAL_ERROR;
    clock_sleep_until(clock_now() + (int64_t)abi_config()->compile);
    int result = check_options(p, option_count, options), found = 0;
    if (result != ABI_RTC_SUCCESS)
        return result;
    /* Each name is in the source, with a delimiter behind it, so that the
     * names with their zeros and the last zero fit. */
    size_t size = sizeof MODULE_MAGIC;
    char *code = calloc(1, size + strlen(p->source) + 1);
    if (!code)
        return ABI_RTC_OUT_OF_MEMORY;
    memcpy(code, MODULE_MAGIC, sizeof MODULE_MAGIC);
    const char *at = p->source, *name;
    for (size_t length; (name = next_kernel(&at, &length)) != NULL; found++) {
        if (!kernel_named(name, length)) {
            program_say(p, "%s:%d: error: kernel '%.*s' is none that this test ABI has\n", p->name,
                        line_of(p->source, name), (int)length, name);
            result = ABI_RTC_COMPILATION;
        }
        memcpy(code + size, name, length);
        size += length + 1;
    }
    if (found == 0) {
        program_say(p, "%s: error: no extern \"C\" __global__ void function\n", p->name);
        result = ABI_RTC_COMPILATION;
    }
    if (result != ABI_RTC_SUCCESS) {
        free(code);
        return result;
    }
    p->code = code;
    p->code_size = size + 1;
    return ABI_RTC_SUCCESS;
}
