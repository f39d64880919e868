/* Events: markers in streams. */
#ifndef ROCSTRESS_ABI_CPU_EVENT_H
#define ROCSTRESS_ABI_CPU_EVENT_H

/* Makes every waiter look again. */
void event_wake_all(void);

#endif
