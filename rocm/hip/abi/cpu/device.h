/* The state of the process and of each thread. */
#ifndef ROCSTRESS_ABI_CPU_DEVICE_H
#define ROCSTRESS_ABI_CPU_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

enum { MAX_DEVICES = 16 }; /* the bound of the setting "devices" */

/* The calling thread's current device, 0 until it is set. */
int device_current(void);

/* How often a device was reset. */
unsigned device_resets(int device);

/* Whether an access has faulted. It stays so for the life of the process. */
bool device_faulted(void);

/* Notes the first fault, says so on stderr as ROCr does, and wakes every
 * waiter. The caller holds no lock. */
void device_fault(uintptr_t address, const char *by);

/* Ends the process by a signal, as the heap corruption or the wild pointer
 * that it stands for would. */
_Noreturn void device_crash(int signal, const char *why);

#endif
