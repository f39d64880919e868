#define _GNU_SOURCE
#include "program.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../abi.h"

bool program_say(struct program *p, const char *format, ...)
{
    char *text, *log;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    if (length < 0)
        return false;
    length = asprintf(&log, "%s%s", p->log ? p->log : "", text);
    free(text);
    if (length < 0)
        return false;
    free(p->log);
    p->log = log;
    return true;
}

const char *option_arch(const char *option)
{
    static const char *const names[] = {"--offload-arch=", "--gpu-architecture="};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(option, names[i], strlen(names[i])) == 0)
            return option + strlen(names[i]);
    return NULL;
}

static void forget(struct program *p)
{
    free(p->log);
    free(p->code);
    p->log = NULL;
    p->code = NULL;
    p->code_size = 0;
}

static void destroy(struct program *p)
{
    forget(p);
    free(p->source);
    free(p->name);
    free(p);
}

/* Headers are not supported: no kernel needs one. */
int hiprtcCreateProgram(void **program, const char *source, const char *name, int header_count,
                        const char *const *headers, const char *const *include_names)
{
    (void)headers;
    (void)include_names;
    if (!program || !source || header_count != 0)
        return ABI_RTC_INVALID_INPUT;
    struct program *p = calloc(1, sizeof *p);
    if (!p)
        return ABI_RTC_OUT_OF_MEMORY;
    p->source = strdup(source);
    p->name = strdup(name ? name : "program");
    if (!p->source || !p->name) {
        destroy(p);
        return ABI_RTC_OUT_OF_MEMORY;
    }
    *program = p;
    return ABI_RTC_SUCCESS;
}

int hiprtcCompileProgram(void *program, int option_count, const char *const *options)
{
    if (!program)
        return ABI_RTC_INVALID_PROGRAM;
    if (option_count < 0 || (option_count > 0 && !options))
        return ABI_RTC_INVALID_INPUT;
    forget(program);
    return abi_compile(program, option_count, options);
}

int hiprtcGetProgramLogSize(void *program, size_t *size)
{
    struct program *p = program;
    if (!p)
        return ABI_RTC_INVALID_PROGRAM;
    if (!size)
        return ABI_RTC_INVALID_INPUT;
    *size = (p->log ? strlen(p->log) : 0) + 1;
    return ABI_RTC_SUCCESS;
}

int hiprtcGetProgramLog(void *program, char *log)
{
    struct program *p = program;
    if (!p)
        return ABI_RTC_INVALID_PROGRAM;
    if (!log)
        return ABI_RTC_INVALID_INPUT;
    strcpy(log, p->log ? p->log : "");
    return ABI_RTC_SUCCESS;
}

int hiprtcGetCodeSize(void *program, size_t *size)
{
    struct program *p = program;
    if (!p || !p->code)
        return ABI_RTC_INVALID_PROGRAM;
    if (!size)
        return ABI_RTC_INVALID_INPUT;
    *size = p->code_size;
    return ABI_RTC_SUCCESS;
}

int hiprtcGetCode(void *program, char *code)
{
    struct program *p = program;
    if (!p || !p->code)
        return ABI_RTC_INVALID_PROGRAM;
    if (!code)
        return ABI_RTC_INVALID_INPUT;
    memcpy(code, p->code, p->code_size);
    return ABI_RTC_SUCCESS;
}

int hiprtcDestroyProgram(void **program)
{
    if (!program)
        return ABI_RTC_INVALID_INPUT;
    if (!*program)
        return ABI_RTC_INVALID_PROGRAM;
    destroy(*program);
    *program = NULL;
    return ABI_RTC_SUCCESS;
}

const char *hiprtcGetErrorString(int result)
{
    switch (result) {
    case ABI_RTC_SUCCESS:
        return "HIPRTC_SUCCESS";
    case ABI_RTC_OUT_OF_MEMORY:
        return "HIPRTC_ERROR_OUT_OF_MEMORY";
    case ABI_RTC_INVALID_INPUT:
        return "HIPRTC_ERROR_INVALID_INPUT";
    case ABI_RTC_INVALID_PROGRAM:
        return "HIPRTC_ERROR_INVALID_PROGRAM";
    case ABI_RTC_INVALID_OPTION:
        return "HIPRTC_ERROR_INVALID_OPTION";
    case ABI_RTC_COMPILATION:
        return "HIPRTC_ERROR_COMPILATION";
    case ABI_RTC_INTERNAL_ERROR:
        return "HIPRTC_ERROR_INTERNAL_ERROR";
    }
    return "Invalid HIPRTC error code";
}
