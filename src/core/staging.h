/* SPDX-License-Identifier: BSD-3-Clause */
/* Vectors of a call that the caller may have in host memory while the backend works elsewhere:
 * copied into backend memory for the length of the call. Where the backend reaches the caller's
 * array, that itself. */
#ifndef BSI_STAGING_H
#define BSI_STAGING_H

#include "core/context_impl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `count` vectors of n values. */
typedef struct bsi_staged {
  int64_t n;
  int32_t count;
  double *caller;
  int64_t caller_ld;
  /* what the backend works on; NULL: nothing was staged */
  double *data;
  int64_t ld;
} bsi_staged;

/* Vectors to be read. */
bisai_status bsi_stage_input(bisai_context *context, int64_t n, int32_t count, const double *caller,
                             int64_t ld, bsi_staged *staged);
void bsi_stage_release(bisai_context *context, bsi_staged *staged);

/* Vectors to be written; `keep`: and read before that. */
bisai_status bsi_stage_output(bisai_context *context, int64_t n, int32_t count, bool keep,
                              double *caller, int64_t ld, bsi_staged *staged);
/* Gives the results to the caller, waiting for them where they are a copy. Returns `status`, or
 * what went wrong with that. */
bisai_status bsi_stage_return(bisai_context *context, bisai_status status, bsi_staged *staged);

#ifdef __cplusplus
}
#endif

#endif
