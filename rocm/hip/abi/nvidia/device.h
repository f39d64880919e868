/* Devices, each thread's current one, and what CUDA's codes mean in HIP. */
#ifndef ROCSTRESS_ABI_NVIDIA_DEVICE_H
#define ROCSTRESS_ABI_NVIDIA_DEVICE_H

/* The first step of every call that needs a device: makes the context of the
 * calling thread's device current. Returns a HIP error. */
int device_enter(void);

/* Returns the HIP error of a CUDA result. A result after which the context is
 * lost makes every later call fail with it, as HIP does. */
int device_result(int cuda_result);

#endif
