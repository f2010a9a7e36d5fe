/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "core/context/context_impl.h"

static bisai_status synchronize(bisai_context *context) {
  (void)context;
  return BISAI_OK;
}

static bool reaches(const bisai_context *context, const void *array) {
  (void)context;
  (void)array;
  return true;
}

static bisai_status copy(bisai_context *context, void *to, const void *from, size_t bytes) {
  (void)context;
  if (bytes > 0) memcpy(to, from, bytes);
  return BISAI_OK;
}

static bisai_status report(bisai_context *context, bool restart, bisai_device_memory *memory) {
  (void)context;
  (void)restart;
  *memory = (bisai_device_memory){.struct_size = sizeof *memory};
  return BISAI_OK;
}

static bisai_status copy_together(bisai_context *context, int count, const bsi_fetched *fetched) {
  for (int k = 0; k < count; k++) copy(context, fetched[k].to, fetched[k].from, fetched[k].bytes);
  return BISAI_OK;
}

static double *allocate_shared(bisai_context *context, size_t count) {
  return bsi_allocate(context, count, sizeof(double));
}

static void release_shared(bisai_context *context, double *shared) { bsi_release(context, shared); }

static void clear_shared(bisai_context *context, int count, double *shared) {
  (void)context;
  (void)count;
  (void)shared;
}

static bisai_status await_shared(bisai_context *context, int count, const double *shared,
                                 double *values) {
  return copy(context, values, shared, (size_t)count * sizeof(double));
}

const bsi_memory_ops bsi_memory_host = {.is_host = true,
                                        .synchronize = synchronize,
                                        .allocate = bsi_allocate,
                                        .release = bsi_release,
                                        .upload = copy,
                                        .fetch = copy,
                                        .fetch_together = copy_together,
                                        .copy = copy,
                                        .report = report,
                                        .trim = synchronize,
                                        .reaches = reaches,
                                        .allocate_shared = allocate_shared,
                                        .release_shared = release_shared,
                                        .clear_shared = clear_shared,
                                        .await_shared = await_shared};
