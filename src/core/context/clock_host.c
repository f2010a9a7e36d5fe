/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/context/context_impl.h"

static bisai_status clock_open(bisai_context *context, bsi_clock *clock) {
  (void)context;
  (void)clock;
  return BISAI_OK;
}

static void clock_close(bisai_context *context, bsi_clock *clock) {
  (void)context;
  (void)clock;
}

static bisai_status clock_start(bisai_context *context, bsi_clock *clock) {
  (void)context;
  clock->seconds = -bsi_now();
  return BISAI_OK;
}

static bisai_status clock_stop(bisai_context *context, bsi_clock *clock) {
  (void)context;
  clock->seconds += bsi_now();
  return BISAI_OK;
}

static bisai_status clock_read(bisai_context *context, const bsi_clock *clock, double *seconds) {
  (void)context;
  *seconds = clock->seconds;
  return BISAI_OK;
}

const bsi_clock_ops bsi_clock_host = {.open = clock_open,
                                      .close = clock_close,
                                      .start = clock_start,
                                      .stop = clock_stop,
                                      .read = clock_read};
