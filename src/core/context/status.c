/* SPDX-License-Identifier: BSD-3-Clause */
#include <bisai/status.h>
#include <bisai/version.h>

const char *bisai_status_string(bisai_status status) {
  switch (status) {
#define STATUS_CASE(name, number, text)                                                            \
  case name: return text;
    BISAI_STATUS_LIST(STATUS_CASE)
#undef STATUS_CASE
  }
  return "unknown status";
}

const char *bisai_version(void) { return BISAI_VERSION; }
