/* SPDX-License-Identifier: BSD-3-Clause */
/* D⁻ᵀ as a matrix of scalars. Column k of all blocks of D⁻¹ is D⁻¹ times a vector that has a one in
 * row k of each block, in every form and format. It is row k of the blocks of D⁻ᵀ. */
#include "bjacobi/bjacobi.h"
#include "bjacobi/bjacobi_ops.h"
#include "core/context/context_impl.h"

/* The arrays of D⁻ᵀ. Row i belongs to the block that begins in row start[i]. */
typedef struct transposed {
  int32_t n;
  int32_t *start, *row_ptr, *col_idx;
  double *values;
} transposed;

static bisai_status list_rows(bisai_context *context, const bsi_partition *p, transposed *t) {
  int32_t *block_ptr = bsi_allocate(context, (size_t)p->blocks + 1, sizeof *block_ptr);
  t->start = block_ptr ? bsi_allocate(context, (size_t)t->n, sizeof *t->start) : NULL;
  t->row_ptr = t->start ? bsi_allocate(context, (size_t)t->n + 1, sizeof *t->row_ptr) : NULL;
  bisai_status status =
      t->row_ptr ? bsi_partition_fetch(context, p, block_ptr) : BISAI_OUT_OF_MEMORY;
  int64_t entries = 0;
  for (int32_t b = 0; b < p->blocks && !status; b++)
    for (int32_t i = block_ptr[b]; i < block_ptr[b + 1] && !status; i++) {
      t->start[i] = block_ptr[b];
      t->row_ptr[i] = (int32_t)entries;
      entries += block_ptr[b + 1] - block_ptr[b];
      if (entries > INT32_MAX)
        status =
            bsi_fail(context, BISAI_INDEX_OVERFLOW,
                     "the blocks of bjacobi have more than %d entries: no transpose", INT32_MAX);
    }
  if (!status) t->row_ptr[t->n] = (int32_t)entries;
  bsi_release(context, block_ptr);
  return status;
}

static void take_column(const transposed *t, int32_t k, const double *column) {
  for (int32_t i = k; i < t->n; i++) {
    if (i - t->start[i] != k) continue;
    for (int32_t q = t->row_ptr[i]; q < t->row_ptr[i + 1]; q++) {
      t->col_idx[q] = t->start[i] + q - t->row_ptr[i];
      t->values[q] = column[t->col_idx[q]];
    }
  }
}

/* `host` and the two halves of `device` are vectors. */
static bisai_status read_columns(bisai_context *context, const bsi_bjacobi *jacobi,
                                 const transposed *t, double *host, double *device) {
  const bsi_memory_ops *memory = context->backend->memory;
  const size_t bytes = (size_t)t->n * sizeof *host;
  double *product = device + t->n;
  for (int32_t k = 0; k < jacobi->partition.largest; k++) {
    for (int32_t i = 0; i < t->n; i++) host[i] = i - t->start[i] == k ? 1.0 : 0.0;
    BSI_TRY(memory->upload(context, device, host, bytes));
    BSI_TRY(
        context->backend->bjacobi->solve->apply(context, jacobi, 1, device, t->n, product, t->n));
    BSI_TRY(memory->fetch(context, host, product, bytes));
    take_column(t, k, host);
  }
  return BISAI_OK;
}

static bisai_status read_values(bisai_context *context, const bsi_bjacobi *jacobi, transposed *t) {
  const bsi_memory_ops *memory = context->backend->memory;
  const size_t n = (size_t)t->n, entries = (size_t)t->row_ptr[n];
  double *host = bsi_allocate(context, n, sizeof *host),
         *device = memory->allocate(context, 2 * n, sizeof *device);
  t->col_idx = bsi_allocate(context, entries, sizeof *t->col_idx);
  t->values = bsi_allocate(context, entries, sizeof *t->values);
  const bisai_status status = host && device && t->col_idx && t->values
                                  ? read_columns(context, jacobi, t, host, device)
                                  : BISAI_OUT_OF_MEMORY;
  bsi_release(context, host);
  memory->release(context, device);
  return status;
}

bisai_status bsi_bjacobi_transpose(bisai_context *context, const bsi_bjacobi *jacobi,
                                   bisai_bcsr **inverse) {
  transposed t = {.n = jacobi->partition.rows};
  bisai_status status = list_rows(context, &jacobi->partition, &t);
  if (!status) status = read_values(context, jacobi, &t);
  if (!status) {
    bisai_bcsr_desc desc = bisai_bcsr_desc_default();
    desc.block_rows = desc.block_cols = t.n, desc.block_size = 1;
    desc.row_ptr = t.row_ptr, desc.col_idx = t.col_idx, desc.values = t.values;
    status = bsi_bcsr_create(context, &desc, inverse);
  }
  bsi_release(context, t.start);
  bsi_release(context, t.row_ptr);
  bsi_release(context, t.col_idx);
  bsi_release(context, t.values);
  return status;
}
