/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "core/context/context_impl.h"

static const char *missing(int device) {
  (void)device;
  return NULL;
}

/* Names the processor. */
static bisai_status open(bisai_context *context, const bisai_context_options *options) {
  (void)options;
  snprintf(context->limits.name, sizeof context->limits.name, "CPU");
  FILE *file = fopen("/proc/cpuinfo", "r");
  if (!file) return BISAI_OK;
  char line[256];
  while (fgets(line, sizeof line, file)) {
    const char *colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) != 0 || !colon) continue;
    const char *name = colon + 1 + strspn(colon + 1, " \t");
    snprintf(context->limits.name, sizeof context->limits.name, "%.*s", (int)strcspn(name, "\n"),
             name);
    break;
  }
  fclose(file);
  return BISAI_OK;
}

static void close(bisai_context *context) { (void)context; }

const bsi_device_ops bsi_device_host = {.missing = missing, .open = open, .close = close};
