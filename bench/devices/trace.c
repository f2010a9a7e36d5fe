/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace.h"

#include <stdlib.h>
#include <string.h>

#ifdef BISAI_HAVE_CUPTI
#include <cupti.h>

enum { BUFFER_BYTES = 1 << 22, MOST_KERNELS = 1 << 16 };

static device_kernel *found;
static int count;

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *records) {
  *buffer = bench_allocate(BUFFER_BYTES, 1);
  *size = BUFFER_BYTES;
  *records = 0;
}

static void CUPTIAPI take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                                 size_t valid) {
  CUpti_Activity *record = NULL;
  (void)context, (void)stream, (void)size;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || count == MOST_KERNELS) continue;
    const CUpti_ActivityKernel10 *kernel = (const CUpti_ActivityKernel10 *)(const void *)record;
    found[count++] =
        (device_kernel){kernel->name, 1e-9 * (double)kernel->start, 1e-9 * (double)kernel->end};
  }
  free(buffer);
}

static int compare(const void *a, const void *b) {
  const double x = ((const device_kernel *)a)->start, y = ((const device_kernel *)b)->start;
  return (x > y) - (x < y);
}

bool device_trace_start(void) {
  if (!found) found = bench_allocate(MOST_KERNELS, sizeof *found);
  count = 0;
  return cuptiActivityRegisterCallbacks(give_buffer, take_buffer) == CUPTI_SUCCESS &&
         cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == CUPTI_SUCCESS;
}

int device_trace_stop(const device_kernel **kernels) {
  cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  qsort(found, (size_t)count, sizeof *found, compare);
  *kernels = found;
  return count;
}
#else
bool device_trace_start(void) { return false; }

int device_trace_stop(const device_kernel **kernels) {
  *kernels = NULL;
  return 0;
}
#endif
