/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops on the threads of a context. */
#include "core/context/context_impl.h"

void bsi_run(bisai_context *context, int threads, bsi_parts parts, bsi_work *work, void *job) {
  bsi_team_run(context->team, threads, parts, work, job);
}

void *bsi_partial(bisai_context *context, int thread) {
  return bsi_team_partial(context->team, thread);
}

int32_t bsi_find_first(bisai_context *context, int threads, bsi_work *work, void *job) {
  for (int t = 0; t < threads; t++) *(int32_t *)bsi_partial(context, t) = -1;
  bsi_run(context, threads, BSI_SOME_PARTS, work, job);
  int32_t first = -1;
  for (int t = 0; t < threads; t++)
    bsi_min_index(&first, *(const int32_t *)bsi_partial(context, t));
  return first;
}
