/* Time, in nanoseconds of CLOCK_MONOTONIC. */
#ifndef ROCSTRESS_ABI_CPU_CLOCK_H
#define ROCSTRESS_ABI_CPU_CLOCK_H

#include <stdint.h>

int64_t clock_now(void);

/* Keeps the core until a time. */
void clock_spin_until(int64_t until);

/* Gives the core away until a time; a pause too short for that is spun. */
void clock_sleep_until(int64_t until);

#endif
