/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/context/staging.h"
#include "core/context/context_impl.h"

static bool is_copy(const bsi_staged *s) { return s->data && s->data != s->caller; }

/* Uses the caller's vectors themselves, or reserves memory for a copy of them. */
static bisai_status reserve(bisai_context *context, int64_t n, int32_t count, double *caller,
                            int64_t ld, bsi_staged *s) {
  *s = (bsi_staged){
      .n = n, .count = count, .caller = caller, .caller_ld = ld, .data = caller, .ld = ld};
  if (n == 0 || count == 0 || !caller || context->backend->memory->reaches(context, caller))
    return BISAI_OK;
  s->ld = n;
  s->data = context->backend->memory->allocate(context, (size_t)n * (size_t)count, sizeof *s->data);
  return s->data ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

static bisai_status copy_in(bisai_context *context, const bsi_staged *s) {
  for (int32_t c = 0; c < s->count; c++)
    BSI_TRY(context->backend->memory->upload(context, s->data + c * s->ld,
                                             s->caller + c * s->caller_ld,
                                             (size_t)s->n * sizeof *s->data));
  /* A copy from page-locked memory may still be under way. */
  return context->backend->memory->synchronize(context);
}

bisai_status bsi_stage_input(bisai_context *context, int64_t n, int32_t count, const double *caller,
                             int64_t ld, bsi_staged *staged) {
  /* The cast is safe because nothing is written through an input. */
  return bsi_stage_output(context, n, count, true, (double *)(uintptr_t)caller, ld, staged);
}

bisai_status bsi_stage_output(bisai_context *context, int64_t n, int32_t count, bool keep,
                              double *caller, int64_t ld, bsi_staged *staged) {
  bisai_status status = reserve(context, n, count, caller, ld, staged);
  if (!status && keep && is_copy(staged)) status = copy_in(context, staged);
  if (status) bsi_stage_release(context, staged);
  return status;
}

bisai_status bsi_stage_return(bisai_context *context, bisai_status status, bsi_staged *s) {
  bisai_status fetched = BISAI_OK;
  for (int32_t c = 0; is_copy(s) && c < s->count && !fetched; c++)
    fetched = context->backend->memory->fetch(context, s->caller + c * s->caller_ld,
                                              s->data + c * s->ld, (size_t)s->n * sizeof *s->data);
  bsi_stage_release(context, s);
  return status ? status : fetched;
}

void bsi_stage_release(bisai_context *context, bsi_staged *staged) {
  if (is_copy(staged)) context->backend->memory->release(context, staged->data);
  *staged = (bsi_staged){0};
}
