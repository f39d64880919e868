#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { COUNT, LATENCY, AMOUNT };

struct setting {
    const char *key;
    size_t offset;
    enum kind kind;
    uint64_t low, high, fallback;
};

#ifndef ABI_ENV
#define ABI_ENV "ROCSTRESS_ABI"
#endif
#define US 1000ull
#define MS 1000000ull
#define HOUR (3600ull * 1000 * MS)
#define FIELD(f) offsetof(struct abi_config, f)

static const struct setting settings[] = {
    {"devices", FIELD(devices), COUNT, 0, 16, 1},
    {"memory", FIELD(memory), AMOUNT, 4096, 1ull << 40, 1ull << 30},
    {"max-threads", FIELD(max_threads), COUNT, 1, 1 << 20, 1024},
    {"warp", FIELD(warp), COUNT, 1, 1024, 32},
    {"processors", FIELD(processors), COUNT, 1, 1 << 16, 20},
    {"create", FIELD(create), LATENCY, 0, HOUR, 4 * MS},
    {"set-stream", FIELD(set_stream), LATENCY, 0, HOUR, 200},
    {"select", FIELD(select), LATENCY, 0, HOUR, 15 * US},
    {"compile", FIELD(compile), LATENCY, 0, HOUR, 2 * MS},
    {"launch", FIELD(launch), LATENCY, 0, HOUR, 5 * US},
    {"memset-rate", FIELD(memset_rate), AMOUNT, 0, 1ull << 50, 512ull << 20},
    {"copy-rate", FIELD(copy_rate), AMOUNT, 0, 1ull << 50, 4ull << 30},
    {"gemm-rate", FIELD(gemm_rate), AMOUNT, 0, 1ull << 60, 1000000000000ull},
    {"create-fails", FIELD(create_fails), COUNT, 0, 1 << 30, 0},
    {"create-status", FIELD(create_status), COUNT, 1, 15, 6},
    {"set-stream-fails", FIELD(set_stream_fails), COUNT, 0, 1 << 30, 0},
    {"set-stream-status", FIELD(set_stream_status), COUNT, 1, 15, 6},
    {"gemm-ex-fails", FIELD(gemm_ex_fails), COUNT, 0, 1 << 30, 0},
    {"gemm-ex-status", FIELD(gemm_ex_status), COUNT, 1, 15, 6},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct abi_config config; /* written under once, then read only */
static bool valid;               /* the same */

static uint64_t *at(const struct setting *s) { return (uint64_t *)((char *)&config + s->offset); }

/* Reads digits; false if there are none or they do not fit. */
static bool number(const char **text, uint64_t *n)
{
    char *end;
    if (!isdigit((unsigned char)**text))
        return false;
    errno = 0;
    *n = strtoull(*text, &end, 10);
    *text = end;
    return errno == 0;
}

static bool amount(const char *text, uint64_t *n)
{
    static const struct {
        const char *suffix;
        int shift;
    } units[] = {{"GiB", 30}, {"MiB", 20}, {"KiB", 10}, {"", 0}};
    if (!number(&text, n))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(text, units[i].suffix) != 0)
            continue;
        if (*n > (1ull << 63) >> units[i].shift)
            return false;
        *n <<= units[i].shift;
        return true;
    }
    return false;
}

/* Reads "4ms", "1.5s" or "1m30s" as Go's time.ParseDuration does. */
static bool latency(const char *text, uint64_t *ns)
{
    static const struct {
        const char *suffix;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"\u00b5s", 1e3}, {"ms", 1e6},
                 {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};
    double sum = 0;
    if (strcmp(text, "0") == 0)
        text = "0s";
    if (*text == '\0')
        return false;
    while (*text != '\0') {
        size_t digits = strspn(text, "0123456789."), i, count = sizeof units / sizeof *units;
        char *end, *dot = memchr(text, '.', digits);
        if (digits == 0 || (dot && (digits == 1 || memchr(dot + 1, '.', digits - (size_t)(dot + 1 - text)))))
            return false;
        double value = strtod(text, &end);
        if (end != text + digits)
            return false;
        size_t letters = strcspn(end, "0123456789.");
        for (i = 0; i < count; i++)
            if (strlen(units[i].suffix) == letters && strncmp(end, units[i].suffix, letters) == 0)
                break;
        if (i == count)
            return false;
        sum += value * units[i].ns;
        text = end + letters;
    }
    if (sum > 9e18)
        return false;
    *ns = (uint64_t)(sum + 0.5);
    return true;
}

static bool refuse(const char *item, const char *why)
{
    fprintf(stderr, "rocstress test ABI: " ABI_ENV ": %s: %s; accepted keys:", item, why);
    if (abi_config_takes("arch"))
        fputs(" arch", stderr);
    for (int i = 0; i < SETTINGS; i++)
        if (abi_config_takes(settings[i].key))
            fprintf(stderr, " %s", settings[i].key);
    fputs("; every call will fail with hipErrorNotInitialized (3)\n", stderr);
    return false;
}

static bool set_number(const struct setting *s, const char *item, const char *value)
{
    static const char *const want[] = {"want a whole number", "want a duration such as 4ms",
                                       "want a whole number, with KiB, MiB or GiB if you like"};
    uint64_t n;
    const char *rest = value;
    bool ok = s->kind == LATENCY  ? latency(value, &n)
              : s->kind == AMOUNT ? amount(value, &n)
                                  : number(&rest, &n) && *rest == '\0';
    if (!ok)
        return refuse(item, want[s->kind]);
    if (n < s->low || n > s->high)
        return refuse(item, "the value is out of range");
    *at(s) = n;
    return true;
}

/* Reads one key=value. seen has a bit for each setting and one for arch. */
static bool set(char *item, uint32_t *seen)
{
    char key[32];
    const char *equals = strchr(item, '=');
    if (!equals)
        return refuse(item, "want key=value");
    size_t length = (size_t)(equals - item);
    if (length >= sizeof key)
        return refuse(item, "unknown key");
    memcpy(key, item, length);
    key[length] = '\0';
    int i = 0;
    bool arch = strcmp(key, "arch") == 0;
    while (!arch && i < SETTINGS && strcmp(key, settings[i].key) != 0)
        i++;
    if ((!arch && i == SETTINGS) || !abi_config_takes(key))
        return refuse(item, "unknown key");
    uint32_t bit = 1u << (arch ? SETTINGS : i);
    if (*seen & bit)
        return refuse(item, "the key is given twice");
    *seen |= bit;
    if (!arch)
        return set_number(&settings[i], item, equals + 1);
    if (equals[1] == '\0' || strlen(equals + 1) >= sizeof config.arch || strpbrk(equals + 1, "= \t\n"))
        return refuse(item, "want an architecture such as gfx1151");
    strcpy(config.arch, equals + 1);
    return true;
}

static void read_config(void)
{
    strcpy(config.arch, "gfx1151");
    for (int i = 0; i < SETTINGS; i++)
        *at(&settings[i]) = settings[i].fallback;
    const char *text = getenv(ABI_ENV);
    if (!text || *text == '\0') {
        valid = true;
        return;
    }
    char *copy = strdup(text);
    if (!copy) {
        refuse(text, "out of memory");
        return;
    }
    uint32_t seen = 0;
    char *rest = copy, *item;
    bool ok = true;
    while (ok && (item = strsep(&rest, ",")) != NULL)
        ok = set(item, &seen);
    free(copy);
    valid = ok;
}

const struct abi_config *abi_config(void)
{
    pthread_once(&once, read_config);
    return valid ? &config : NULL;
}
