/* SPDX-License-Identifier: BSD-3-Clause */
/* An upper bound on the memory that one call may hold at a time. */
#ifndef BSI_LIMIT_H
#define BSI_LIMIT_H

#include <inttypes.h>

#include "core/context/context_impl.h"

typedef struct bsi_limit {
  /* bytes */
  int64_t max, held;
} bsi_limit;

/* Fails if `more` bytes beside those held exceed the limit. NULL: no limit. */
static inline bisai_status bsi_limit_check(bisai_context *context, const bsi_limit *limit,
                                           int64_t more) {
  if (!limit || more <= limit->max - limit->held) return BISAI_OK;
  return bsi_fail(context, BISAI_OUT_OF_MEMORY,
                  "at least %" PRId64 " bytes are needed at a time, and max_bytes allows %" PRId64,
                  limit->held + more, limit->max);
}

#endif
