/* SPDX-License-Identifier: BSD-3-Clause */
/* What all kinds do for their descriptions and reports. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "precond/precond_impl.h"

void bsi_append(bisai_precond *m, const char *format, ...) {
  const size_t length = strlen(m->description);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(m->description + length, sizeof m->description - length, format, arguments);
  va_end(arguments);
}

void bsi_report_inversion(const bsi_invert_stats *stats, bisai_precond_report *r) {
  r->fallbacks = stats->fallbacks;
  r->repairs = stats->repairs;
  r->first_repair_row = stats->first_repair_row;
  r->largest_condition = stats->largest_condition;
  r->largest_condition_row = stats->largest_condition_row;
}
