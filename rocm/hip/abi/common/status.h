/* Each thread's last error, and what a library answers before it looks at
 * arguments. */
#ifndef ROCSTRESS_ABI_STATUS_H
#define ROCSTRESS_ABI_STATUS_H

/* Returns error after noting it as the calling thread's last error. Neither
 * success nor hipErrorNotReady is noted: the rule since HIP 7. */
int abi_status(int error);

/* What each library answers to every call at the moment, 0 if the call may go
 * on: not initialised, no device, faulted. Each library has its own. */
int abi_state(void);

#endif
