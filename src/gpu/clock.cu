/* SPDX-License-Identifier: BSD-3-Clause */
/* The time that the device takes between two places in the stream. */
#include "core/context/backend.h"
#include "gpu/runtime.cuh"

namespace {
bisai_status outcome(bisai_context *context, bsi_gpu_error error) {
  return bsi_gpu_status(context, "timing on the device", error);
}

cudaEvent_t event_of(void *event) { return static_cast<cudaEvent_t>(event); }
} // namespace
static bisai_status clock_open(bisai_context *context, bsi_clock *clock) {
  for (void **event : {&clock->from, &clock->to}) {
    cudaEvent_t made = nullptr;
    const bisai_status status = outcome(context, cudaEventCreate(&made));
    if (status) return status;
    *event = made;
  }
  return BISAI_OK;
}

static void clock_close(bisai_context *context, bsi_clock *clock) {
  (void)context;
  if (clock->from) cudaEventDestroy(event_of(clock->from));
  if (clock->to) cudaEventDestroy(event_of(clock->to));
}

static bisai_status clock_start(bisai_context *context, bsi_clock *clock) {
  return outcome(context, cudaEventRecord(event_of(clock->from), bsi_stream_of(context)));
}

static bisai_status clock_stop(bisai_context *context, bsi_clock *clock) {
  return outcome(context, cudaEventRecord(event_of(clock->to), bsi_stream_of(context)));
}

static bisai_status clock_read(bisai_context *context, const bsi_clock *clock, double *seconds) {
  float milliseconds = 0.0f;
  bsi_gpu_error error = cudaEventSynchronize(event_of(clock->to));
  if (!error)
    error = cudaEventElapsedTime(&milliseconds, event_of(clock->from), event_of(clock->to));
  *seconds = milliseconds * 1e-3;
  return outcome(context, error);
}

const bsi_clock_ops bsi_clock_cuda = {.open = clock_open,
                                      .close = clock_close,
                                      .start = clock_start,
                                      .stop = clock_stop,
                                      .read = clock_read};
