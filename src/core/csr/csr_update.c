/* SPDX-License-Identifier: BSD-3-Clause */
/* New values for a matrix that was made from scalar CSR arrays: value map(p) ← entry p. Zeros that
 * fill blocks up and the identity of the padding have no entry, so they stay. */
#include "core/context/context_impl.h"
#include "core/context/staging.h"
#include "core/csr/csr.h"
#include "core/csr/csr_desc.h"
#include "core/csr/device_csr.h"
#include "core/matrix/bcsr_impl.h"
#include "core/matrix/matrix_ops.h"
#include "core/threads/parallel.h"

/* The least number of entries for which a thread is woken. */
enum { GRAIN = 32768 };

typedef struct scalar_entry {
  int32_t row, column;
} scalar_entry;

/* Returns the caller's row at a place. For messages: it looks through all rows. */
static int32_t row_at(const bisai_bcsr *a, int32_t place) {
  const int32_t *places = a->kept.places.host;
  int32_t i = 0;
  if (!places) return place;
  while (places[i] != place) i++;
  return i;
}

static int32_t place_of(const bisai_bcsr *a, int32_t i) {
  return a->kept.places.host ? a->kept.places.host[i] : i;
}

/* Returns the row and column of entry p in the arrays from which the matrix was made. */
static scalar_entry entry_of(const bisai_bcsr *a, const bsi_structure *s, int32_t p) {
  const uint64_t per_block = bsi_block_offset(a, 1),
                 place = bsi_entry_map_at(a->kept.map.wide, a->kept.map.host, p);
  const int32_t block = (int32_t)(place / per_block), inside = (int32_t)(place % per_block);
  /* the first block row that ends after this block */
  const int32_t row = bsi_lower_bound(s->row_ptr + 1, 0, a->block_rows, block + 1);
  return (scalar_entry){row_at(a, row * a->block_size + inside % a->block_size),
                        row_at(a, s->col_idx[block] * a->block_size + inside / a->block_size)};
}

/* Returns true if row i has the same entries in the same order as at creation. */
static bool is_same_row(const bisai_bcsr *a, const bsi_structure *s, const bisai_csr_desc *d,
                        int32_t i) {
  const int32_t bs = a->block_size, at = place_of(a, i);
  const int32_t begin = s->row_ptr[at / bs], end = s->row_ptr[at / bs + 1];
  const uint64_t per_block = bsi_block_offset(a, 1);
  if (d->row_ptr[i + 1] > a->kept.map.entries) return false;
  for (int32_t p = d->row_ptr[i]; p < d->row_ptr[i + 1]; p++) {
    const uint64_t place = bsi_entry_map_at(a->kept.map.wide, a->kept.map.host, p);
    const int64_t block = (int64_t)(place / per_block);
    const int32_t inside = (int32_t)(place % per_block);
    if (block < begin || block >= end || inside % bs != at % bs) return false;
    if (d->col_idx[p] < 0 || d->col_idx[p] >= d->cols) return false;
    if (place_of(a, d->col_idx[p]) != s->col_idx[block] * bs + inside / bs) return false;
  }
  return true;
}

static bisai_status fail_length(const bisai_bcsr *a, int32_t row) {
  return bsi_fail(a->context, BISAI_INVALID_STRUCTURE,
                  "row %d: another number of entries than at creation; the pattern cannot change",
                  row);
}

/* Fails with a message that names the first difference. The rows before row i are equal; i = rows:
 * all are. */
static bisai_status name_difference(const bisai_bcsr *a, const bsi_structure *s,
                                    const bisai_csr_desc *d, int32_t i) {
  const int32_t from = d->row_ptr[i], to = i < d->rows ? d->row_ptr[i + 1] : from;
  for (int32_t p = from; p < to && p < a->kept.map.entries; p++) {
    const scalar_entry old = entry_of(a, s, p);
    if (old.row != i) return fail_length(a, old.row < i ? old.row : i);
    if (old.column != d->col_idx[p])
      return bsi_fail(a->context, BISAI_INVALID_STRUCTURE,
                      "row %d: column %d, but column %d at creation; the pattern cannot change", i,
                      d->col_idx[p], old.column);
  }
  return fail_length(a, i < d->rows ? i : entry_of(a, s, from).row);
}

typedef struct pattern_job {
  const bisai_bcsr *a;
  const bsi_structure *s;
  const bisai_csr_desc *d;
} pattern_job;

/* The partial result of a thread is the first of its rows that differs. */
static void compare_part(void *job, bsi_part part) {
  const pattern_job *j = job;
  const bsi_range range = bsi_range_of(j->d->rows, part);
  int32_t *first = bsi_partial(j->a->context, part.thread);
  for (int32_t i = (int32_t)range.begin; i < range.end; i++) {
    if (is_same_row(j->a, j->s, j->d, i)) continue;
    bsi_min_index(first, i);
    return;
  }
}

/* Returns the first row that differs, or -1. */
static int32_t find_difference(const bisai_bcsr *a, const bsi_structure *s,
                               const bisai_csr_desc *d) {
  const int threads = bsi_threads_for(a->context->threads, d->row_ptr[d->rows], GRAIN);
  return bsi_find_first(a->context, threads, compare_part, &(pattern_job){a, s, d});
}

/* Refuses a pattern that differs from the one at creation. Without a pattern, the caller knows that
 * it is the same. */
static bisai_status check_pattern(bisai_bcsr *a, const bisai_csr_desc *d) {
  bsi_structure s;
  if (!d->row_ptr) return BISAI_OK;
  BSI_TRY(bsi_check_row_ptr(a->context, "row", d->rows, d->row_ptr));
  BSI_TRY(bsi_device_map_fetch(a->context, &a->kept.map));
  BSI_TRY(bsi_bcsr_structure(a, &s));
  const int32_t entries = d->row_ptr[d->rows];
  if (entries > 0 && !d->col_idx)
    return bsi_fail(a->context, BISAI_INVALID_ARGUMENT, "col_idx is NULL");
  const int32_t first = find_difference(a, &s, d);
  if (first < 0 && entries == a->kept.map.entries) return BISAI_OK;
  return name_difference(a, &s, d, first < 0 ? d->rows : first);
}

/* Refuses NaN and infinity in values of the entries, which are in host memory or in backend
 * memory. */
static bisai_status check_values(bisai_bcsr *a, const double *values, bool in_host_memory) {
  const bsi_backend *backend = in_host_memory ? &bsi_backend_host : a->context->backend;
  int64_t first = -1;
  bsi_structure s;
  BSI_TRY(backend->matrix->blocks->find_not_finite(a->context, BISAI_FP64, a->kept.map.entries,
                                                   values, &first));
  if (first < 0) return BISAI_OK;
  BSI_TRY(bsi_device_map_fetch(a->context, &a->kept.map));
  BSI_TRY(bsi_bcsr_structure(a, &s));
  const scalar_entry entry = entry_of(a, &s, (int32_t)first);
  return bsi_fail(a->context, BISAI_NOT_FINITE, BSI_ENTRY_NOT_FINITE, entry.row, entry.column);
}

static bisai_status check_desc(const bisai_bcsr *a, const bisai_csr_desc *d) {
  bisai_context *context = a->context;
  if (!d)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_bcsr_update_from_csr: desc is NULL");
  BSI_TRY(bsi_check_struct(context, "bisai_csr_desc", d->struct_size, sizeof *d));
  if (!a->kept.map.backend)
    return bsi_fail(
        context, BISAI_INVALID_ARGUMENT,
        "the matrix was not made by bisai_bcsr_from_csr: bisai_bcsr_update takes its blocks");
  const int32_t cols = a->block_cols * a->block_size - bisai_bcsr_padding(a);
  if (d->rows != a->rows || d->cols != cols)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "the arrays are of %d × %d, the matrix of %d × %d", d->rows, d->cols, a->rows,
                    cols);
  if (!d->row_ptr && d->col_idx)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "row_ptr is NULL");
  return BISAI_OK;
}

static bisai_status check_base(bisai_bcsr *a, const bisai_csr_desc *d) {
  bisai_csr_desc zero;
  bsi_index_copies copies;
  bisai_status status = bsi_csr_from_zero(a->context, d, &zero, &copies);
  if (!status) status = check_pattern(a, &zero);
  bsi_index_copies_release(a->context, &copies);
  return status;
}

bisai_status bisai_bcsr_update_from_csr(bisai_bcsr *matrix, const bisai_csr_desc *desc) {
  if (!matrix) return BISAI_INVALID_ARGUMENT;
  bisai_context *context = matrix->context;
  const bsi_entry_map *map = &matrix->kept.map;
  bisai_status status = check_desc(matrix, desc);
  if (!status) status = check_base(matrix, desc);
  if (status || map->entries == 0) return status;
  if (!desc->values) return bsi_fail(context, BISAI_INVALID_ARGUMENT, "values is NULL");
  if (desc->values == matrix->values)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "values is the matrix's own array, which must not be written to");
  status =
      check_values(matrix, desc->values, !context->backend->memory->reaches(context, desc->values));
  if (status) return status;
  bsi_staged values;
  status = bsi_stage_input(context, map->entries, 1, desc->values, map->entries, &values);
  if (status) return status;
  matrix->kept.measured = false;
  status = context->backend->matrix->blocks->scatter_values(
      context, map->entries, map->wide, map->backend, values.data, matrix->values);
  bsi_stage_release(context, &values);
  return status;
}
