/* SPDX-License-Identifier: BSD-3-Clause */
/* Time on the device between two places in the stream. */
#include "core/backend_cuda.h"
#include "core/launch_cuda.cuh"

namespace {
bisai_status outcome(bisai_context *context, cudaError_t error) {
  if (error == cudaSuccess) return BISAI_OK;
  return bsi_fail(context, BISAI_DEVICE_ERROR, "timing on the device: %s",
                  cudaGetErrorString(error));
}

cudaEvent_t event_of(void *event) { return static_cast<cudaEvent_t>(event); }
} // namespace

bisai_status bsi_clock_open_cuda(bisai_context *context, bsi_clock *clock) {
  for (void **event : {&clock->from, &clock->to}) {
    cudaEvent_t made = nullptr;
    const bisai_status status = outcome(context, cudaEventCreate(&made));
    if (status) return status;
    *event = made;
  }
  return BISAI_OK;
}

void bsi_clock_close_cuda(bisai_context *context, bsi_clock *clock) {
  (void)context;
  if (clock->from) cudaEventDestroy(event_of(clock->from));
  if (clock->to) cudaEventDestroy(event_of(clock->to));
}

bisai_status bsi_clock_start_cuda(bisai_context *context, bsi_clock *clock) {
  return outcome(context, cudaEventRecord(event_of(clock->from), bsi_stream_of(context)));
}

bisai_status bsi_clock_stop_cuda(bisai_context *context, bsi_clock *clock) {
  return outcome(context, cudaEventRecord(event_of(clock->to), bsi_stream_of(context)));
}

bisai_status bsi_clock_read_cuda(bisai_context *context, const bsi_clock *clock, double *seconds) {
  float milliseconds = 0.0f;
  cudaError_t error = cudaEventSynchronize(event_of(clock->to));
  if (!error)
    error = cudaEventElapsedTime(&milliseconds, event_of(clock->from), event_of(clock->to));
  *seconds = milliseconds * 1e-3;
  return outcome(context, error);
}
