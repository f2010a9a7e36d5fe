/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of CUDA for the benchmark on a GPU. Every failure ends the program. */
#ifndef BENCH_DEVICE_H
#define BENCH_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void *bench_device_allocate(size_t bytes);
void bench_device_release(void *memory);
void bench_device_upload(void *device, const void *host, size_t bytes);
void bench_device_download(void *host, const void *device, size_t bytes);
/* Waits for all work of the device. */
void bench_device_wait(void);
/* The same. Returns the seconds of bench_now(). */
double bench_device_now(void);

/* Bytes of the device's memory that are in use now, and the most since the last reset. What the
 * driver's pool keeps without use counts as free; the most is that of the pool. */
typedef struct bench_pool {
  int64_t used, most;
} bench_pool;
bench_pool bench_device_pool(bool reset);

/* Returns the seconds of one copy of `bytes` between two arrays of the device, the mean of `count`
 * copies on a stream. */
double bench_device_copy(void *to, const void *from, size_t bytes, int count, void *stream);
/* Returns the bytes that the fastest copies of an array of `bytes` read and write in a second. */
double bench_device_copy_rate(size_t bytes, void *stream);

uint16_t bench_to_fp16(double value);
uint16_t bench_to_bf16(double value);

/* Return the versions of the runtime, for example "13.0", and of the driver. */
void bench_device_versions(char runtime[16], char driver[16]);

#ifdef __cplusplus
}
#endif
#endif
