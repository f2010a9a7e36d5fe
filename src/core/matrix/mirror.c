/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/matrix/mirror.h"
#include "core/context/context_impl.h"

#include <string.h>

static bool is_host(const bisai_context *context) { return context->backend->memory->is_host; }

/* Returns a host copy of `count` integers of backend memory, or NULL with the reason in *status. */
static int32_t *fetch(bisai_context *context, size_t count, const int32_t *from,
                      bisai_status *status) {
  int32_t *to = bsi_allocate(context, count, sizeof *to);
  *status = to ? context->backend->memory->fetch(context, to, from, count * sizeof *to)
               : BISAI_OUT_OF_MEMORY;
  if (!*status) return to;
  bsi_release(context, to);
  return NULL;
}

bisai_status bsi_mirror_read(bisai_context *context, int32_t n, const int32_t *row_ptr,
                             const int32_t *col_idx, bsi_mirror *mirror, bsi_structure *structure) {
  if (is_host(context)) {
    *structure = (bsi_structure){row_ptr, col_idx};
    return BISAI_OK;
  }
  bisai_status status = BISAI_OK;
  if (!mirror->row_ptr) mirror->row_ptr = fetch(context, (size_t)n + 1, row_ptr, &status);
  if (!status && !mirror->col_idx)
    mirror->col_idx = fetch(context, (size_t)mirror->row_ptr[n], col_idx, &status);
  *structure = (bsi_structure){mirror->row_ptr, mirror->col_idx};
  return status;
}

/* `to` ← `count` integers of host memory. *kept becomes a copy of them. */
static bisai_status upload(bisai_context *context, size_t count, const int32_t *from,
                           int32_t **kept, int32_t *to) {
  const size_t bytes = count * sizeof *to;
  *kept = bsi_allocate(context, count, sizeof **kept);
  if (!*kept) return BISAI_OUT_OF_MEMORY;
  if (bytes > 0) memcpy(*kept, from, bytes);
  return context->backend->memory->upload(context, to, from, bytes);
}

bisai_status bsi_mirror_write(bisai_context *context, int32_t n, const bsi_structure *structure,
                              bsi_mirror *mirror, int32_t *row_ptr, int32_t *col_idx) {
  const size_t rows = (size_t)n + 1, blocks = (size_t)structure->row_ptr[n];
  if (is_host(context)) {
    memcpy(row_ptr, structure->row_ptr, rows * sizeof *row_ptr);
    if (blocks > 0) memcpy(col_idx, structure->col_idx, blocks * sizeof *col_idx);
    return BISAI_OK;
  }
  bsi_mirror_release(context, mirror);
  bisai_status status = upload(context, rows, structure->row_ptr, &mirror->row_ptr, row_ptr);
  if (!status) status = upload(context, blocks, structure->col_idx, &mirror->col_idx, col_idx);
  /* the copies may be under way if the caller's memory is page-locked */
  return status ? status : context->backend->memory->synchronize(context);
}

void bsi_mirror_release(bisai_context *context, bsi_mirror *mirror) {
  bsi_release(context, mirror->row_ptr);
  bsi_release(context, mirror->col_idx);
  *mirror = (bsi_mirror){0};
}
