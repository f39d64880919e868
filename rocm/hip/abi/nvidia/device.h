/* Devices, each thread's current one, and what CUDA's codes mean in HIP. */
#ifndef ROCSTRESS_ABI_NVIDIA_DEVICE_H
#define ROCSTRESS_ABI_NVIDIA_DEVICE_H

/* The first step of every call that needs a device: makes the context of the
 * calling thread's device current. Returns a HIP error. */
int device_enter(void);

/* The calling thread's device. */
int device_current(void);

/* How often a device was reset: what was made before the last time is gone. */
unsigned device_generation(int device);

/* Returns the HIP error of a CUDA result. A result after which the context is
 * lost makes every later call fail with it, as HIP does. */
int device_result(int cuda_result);

#endif
