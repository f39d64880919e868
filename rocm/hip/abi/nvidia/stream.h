/* Streams, as this library hands them out. */
#ifndef ROCSTRESS_ABI_NVIDIA_STREAM_H
#define ROCSTRESS_ABI_NVIDIA_STREAM_H

/* The first step of every call on a stream: device_enter, and the CUDA stream
 * of a handle; the null stream is itself. Returns hipErrorInvalidHandle for one
 * that was destroyed, by a reset or by its owner. */
int stream_enter(void *handle, void **cuda_stream);

#endif
