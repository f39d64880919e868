#include "clock.h"

#include <errno.h>
#include <time.h>

#define SECOND 1000000000ll
/* A sleep takes some 10 us to set up and wake from. */
#define SPIN_BELOW 20000

int64_t clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * SECOND + t.tv_nsec;
}

void clock_spin_until(int64_t until)
{
    while (clock_now() < until)
        ;
}

void clock_sleep_until(int64_t until)
{
    if (until - clock_now() < SPIN_BELOW) {
        clock_spin_until(until);
        return;
    }
    struct timespec t = {until / SECOND, until % SECOND};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}
