/* SPDX-License-Identifier: BSD-3-Clause */
/* Stages the caller's vectors for one call. If the backend cannot reach the caller's array, the
 * vectors are copied to backend memory for the length of the call. Otherwise the array itself is
 * used. */
#ifndef BSI_STAGING_H
#define BSI_STAGING_H

#include "core/context/context_impl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `count` vectors of n values. */
typedef struct bsi_staged {
  int64_t n;
  int32_t count;
  double *caller;
  int64_t caller_ld;
  /* the array on which the backend works; NULL: nothing was staged */
  double *data;
  int64_t ld;
} bsi_staged;

/* Stages vectors to be read. */
bisai_status bsi_stage_input(bisai_context *context, int64_t n, int32_t count, const double *caller,
                             int64_t ld, bsi_staged *staged);
void bsi_stage_release(bisai_context *context, bsi_staged *staged);

/* Stages vectors to be written. With `keep` they may also be read before that. */
bisai_status bsi_stage_output(bisai_context *context, int64_t n, int32_t count, bool keep,
                              double *caller, int64_t ld, bsi_staged *staged);
/* Copies the results back to the caller if they were staged by a copy, waits for that, and releases
 * the copy. Returns `status`, or if that is BISAI_OK the status of the copy. */
bisai_status bsi_stage_return(bisai_context *context, bisai_status status, bsi_staged *staged);

#ifdef __cplusplus
}
#endif

#endif
