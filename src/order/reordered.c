/* SPDX-License-Identifier: BSD-3-Clause */
/* B = P Dr A Dc Pᵀ. Its structure and the source of each block are computed once, its values at
 * every update. */
#include "order/reordered.h"

#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"
#include "core/matrix/search.h"
#include "core/matrix/sort.h"
#include "core/threads/parallel.h"
#include "order/order_ops.h"

enum { BLOCKS_PER_THREAD = 4096 };

/* The structure of B in host memory. */
typedef struct permuted {
  int32_t *row_ptr, *col_idx;
} permuted;

typedef struct permute_job {
  int32_t n;
  const bsi_structure *a;
  const int32_t *inverse;
  const bsi_reordered *r;
  const permuted *b;
} permute_job;

/* Makes rows of B: row i is row permutation[i] of A with its columns renumbered by `inverse` and
 * sorted. b->row_ptr is made. */
static void permute_part(void *work, bsi_part part) {
  const permute_job *job = work;
  const bsi_structure *a = job->a;
  const bsi_rows rows = bsi_rows_of(job->n, job->b->row_ptr, part);
  for (int32_t i = rows.begin; i < rows.end; i++) {
    const int32_t begin = a->row_ptr[job->r->host_permutation[i]], at = job->b->row_ptr[i],
                  length = job->b->row_ptr[i + 1] - at;
    int32_t *columns = job->b->col_idx + at;
    for (int32_t k = 0; k < length; k++) columns[k] = job->inverse[a->col_idx[begin + k]];
    bsi_sort(columns, length);
    for (int32_t k = 0; k < length; k++) {
      const int32_t column = job->inverse[a->col_idx[begin + k]];
      job->r->host_source[at + bsi_find_column(columns, 0, length, column)] = begin + k;
    }
  }
}

static void permute_structure(bisai_context *context, const permute_job *job) {
  int32_t *row_ptr = job->b->row_ptr;
  row_ptr[0] = 0;
  for (int32_t i = 0; i < job->n; i++) {
    const int32_t old = job->r->host_permutation[i];
    row_ptr[i + 1] = row_ptr[i] + job->a->row_ptr[old + 1] - job->a->row_ptr[old];
  }
  bsi_run(context, bsi_threads_for(context->threads, row_ptr[job->n], BLOCKS_PER_THREAD),
          BSI_SOME_PARTS, permute_part, (void *)(uintptr_t)job);
}

/* Reserves the maps. A backend with memory of its own has them twice. */
static bool reserve_maps(bisai_context *context, const bisai_bcsr *a, bsi_reordered *r) {
  const bsi_backend *backend = context->backend;
  const size_t n = (size_t)a->block_rows, blocks = (size_t)a->blocks;
  const bool elsewhere = !backend->memory->is_host;
  r->permutation = backend->memory->allocate(context, n, sizeof *r->permutation);
  if (r->permutation) r->source = backend->memory->allocate(context, blocks, sizeof *r->source);
  if (!r->source) return false;
  r->host_permutation =
      elsewhere ? bsi_allocate(context, n, sizeof *r->host_permutation) : r->permutation;
  if (!r->host_permutation) return false;
  r->host_source = elsewhere ? bsi_allocate(context, blocks, sizeof *r->host_source) : r->source;
  return r->host_source != NULL;
}

static bisai_status upload_maps(bisai_context *context, const bisai_bcsr *a,
                                const bsi_reordered *r) {
  const bsi_backend *backend = context->backend;
  if (r->host_permutation == r->permutation) return BISAI_OK;
  BSI_TRY(backend->memory->upload(context, r->permutation, r->host_permutation,
                                  (size_t)a->block_rows * sizeof *r->permutation));
  return backend->memory->upload(context, r->source, r->host_source,
                                 (size_t)a->blocks * sizeof *r->source);
}

static bisai_status create_permuted(bisai_context *context, const bisai_bcsr *a,
                                    const bsi_structure *s, const int32_t *permutation,
                                    bsi_reordered *r) {
  const size_t n = (size_t)a->block_rows;
  if (!reserve_maps(context, a, r)) return BISAI_OUT_OF_MEMORY;
  permuted b = {.row_ptr = bsi_allocate(context, n + 1, sizeof *b.row_ptr)};
  if (b.row_ptr) b.col_idx = bsi_allocate(context, (size_t)a->blocks, sizeof *b.col_idx);
  int32_t *inverse = b.col_idx ? bsi_allocate(context, n, sizeof *inverse) : NULL;
  bisai_status status = inverse ? BISAI_OK : BISAI_OUT_OF_MEMORY;
  if (!status) {
    for (size_t i = 0; i < n; i++) inverse[r->host_permutation[i] = permutation[i]] = (int32_t)i;
    permute_structure(context, &(permute_job){a->block_rows, s, inverse, r, &b});
    r->matrix->row_names = r->host_permutation;
    status = bsi_bcsr_set_structure(r->matrix, b.row_ptr, b.col_idx);
  }
  if (!status) status = upload_maps(context, a, r);
  bsi_release(context, inverse);
  bsi_release(context, b.col_idx);
  bsi_release(context, b.row_ptr);
  return status;
}

static bisai_status create_equilibration(bisai_context *context, const bisai_bcsr *a,
                                         bsi_equilibration *e) {
  const bsi_backend *backend = context->backend;
  const size_t n = (size_t)a->block_rows * (size_t)a->block_size;
  e->row_scale = backend->memory->allocate(context, 2 * n, sizeof *e->row_scale);
  if (e->row_scale)
    e->exponents =
        backend->memory->allocate(context, bsi_block_offset(a, a->blocks), sizeof *e->exponents);
  if (e->exponents)
    e->row_exponent = backend->memory->allocate(context, 4 * n, sizeof *e->row_exponent);
  if (!e->row_exponent) return BISAI_OUT_OF_MEMORY;
  e->col_scale = e->row_scale + n;
  e->col_exponent = e->row_exponent + n;
  e->row_max = e->col_exponent + n;
  e->col_max = e->row_max + n;
  return BISAI_OK;
}

static void destroy_equilibration(bisai_context *context, const bsi_equilibration *e) {
  context->backend->memory->release(context, e->row_scale);
  context->backend->memory->release(context, e->exponents);
  context->backend->memory->release(context, e->row_exponent);
}

static bisai_status check_matrix(bisai_context *context, const bisai_bcsr *a) {
  if (a->type != BISAI_FP64)
    return bsi_fail(context, BISAI_UNSUPPORTED,
                    "the matrix must hold fp64 values to be factorised");
  if (a->unit_diagonal)
    return bsi_fail(context, BISAI_UNSUPPORTED,
                    "the matrix implies its diagonal blocks: block ILU needs them stored");
  return BISAI_OK;
}

bisai_status bsi_reordered_create(bisai_context *context, const bisai_bcsr *a,
                                  const int32_t *permutation, bool equilibrate,
                                  bsi_reordered *reordered) {
  bsi_reordered made = {0};
  bsi_structure s;
  bisai_status status = check_matrix(context, a);
  if (!status) status = bsi_bcsr_structure(a, &s);
  if (!status)
    status = bsi_bcsr_reserve(
        context,
        &(bsi_bcsr_sizes){a->block_rows, a->block_cols, a->block_size, a->blocks, BISAI_FP64}, NULL,
        NULL, &made.matrix);
  if (!status)
    status = permutation ? create_permuted(context, a, &s, permutation, &made)
                         : bsi_bcsr_set_structure(made.matrix, s.row_ptr, s.col_idx);
  if (!status && equilibrate) status = create_equilibration(context, a, &made.equilibration);
  if (status)
    bsi_reordered_destroy(context, &made);
  else
    *reordered = made;
  return status;
}

typedef struct compare_job {
  bisai_context *context;
  const bsi_reordered *r;
  const bsi_structure *b, *a;
} compare_job;

static bool same_row(const compare_job *job, int32_t i) {
  const bsi_structure *b = job->b, *a = job->a;
  const int32_t *permutation = job->r->host_permutation, *source = job->r->host_source;
  const int32_t old = permutation ? permutation[i] : i, end = b->row_ptr[i + 1];
  if (a->row_ptr[old + 1] - a->row_ptr[old] != end - b->row_ptr[i]) return false;
  for (int32_t p = b->row_ptr[i]; p < end; p++) {
    const int32_t column = permutation ? permutation[b->col_idx[p]] : b->col_idx[p];
    if (a->col_idx[source ? source[p] : p] != column) return false;
  }
  return true;
}

static void compare_part(void *work, bsi_part part) {
  const compare_job *job = work;
  int32_t *first = bsi_partial(job->context, part.thread);
  const bsi_rows rows = bsi_rows_of(job->r->matrix->block_rows, job->b->row_ptr, part);
  int32_t i = rows.begin;
  while (i < rows.end && same_row(job, i)) i++;
  bsi_min_index(first, i < rows.end ? i : -1);
}

/* Returns true if A, with as many blocks, still has the pattern from which `source` was made. */
static bool same_pattern(bisai_context *context, const bsi_reordered *r, const bsi_structure *b,
                         const bsi_structure *a) {
  const int threads = bsi_threads_for(context->threads, r->matrix->blocks, BLOCKS_PER_THREAD);
  compare_job job = {context, r, b, a};
  return bsi_find_first(context, threads, compare_part, &job) < 0;
}

static bisai_status check_pattern(bisai_context *context, const bisai_bcsr *a,
                                  const bsi_reordered *r) {
  bsi_structure of_a, of_b;
  BSI_TRY(bsi_bcsr_structure(a, &of_a));
  BSI_TRY(bsi_bcsr_structure(r->matrix, &of_b));
  if (a->blocks == r->matrix->blocks && same_pattern(context, r, &of_b, &of_a)) return BISAI_OK;
  return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                  "the pattern changed: other blocks than at creation");
}

/* Dc ← Dr. This is needed because the magnitudes of an A that is symmetric but for rounding may lie
 * on two sides of a power of two. */
static bisai_status copy_row_scales(bisai_context *context, const bisai_bcsr *a,
                                    const bsi_equilibration *e) {
  const size_t n = (size_t)a->block_rows * (size_t)a->block_size;
  BSI_TRY(context->backend->memory->copy(context, e->col_scale, e->row_scale,
                                         n * sizeof *e->col_scale));
  return context->backend->memory->copy(context, e->col_exponent, e->row_exponent,
                                        n * sizeof *e->col_exponent);
}

static bisai_status equilibrate(bisai_context *context, const bisai_bcsr *a, bsi_equilibration *e) {
  BSI_TRY(context->backend->order->reordered->equilibrate(context, a, e));
  if (e->zero_row >= 0)
    return bsi_fail(context, BISAI_SINGULAR_BLOCK,
                    "block row %d is zero: it cannot be equilibrated", e->zero_row);
  if (e->zero_col >= 0)
    return bsi_fail(context, BISAI_SINGULAR_BLOCK,
                    "block column %d is zero: it cannot be equilibrated", e->zero_col);
  return e->symmetric ? copy_row_scales(context, a, e) : BISAI_OK;
}

bisai_status bsi_reordered_check(bisai_context *context, const bisai_bcsr *a,
                                 const bsi_reordered *r) {
  BSI_TRY(check_matrix(context, a));
  return check_pattern(context, a, r);
}

bisai_status bsi_reordered_update(bisai_context *context, const bisai_bcsr *a, bsi_reordered *r) {
  if (r->equilibration.row_scale) BSI_TRY(equilibrate(context, a, &r->equilibration));
  return context->backend->order->reordered->values(context, a, r);
}

/* Moves `count` vectors x to y. */
static bsi_move move_of(const bsi_reordered *r, int32_t count, const double *x, int64_t ldx,
                        double *y, int64_t ldy) {
  return (bsi_move){.bs = r->matrix->block_size,
                    .n = r->matrix->block_rows,
                    .permutation = r->permutation,
                    .scale = r->equilibration.row_scale,
                    .count = count,
                    .x = x,
                    .ldx = ldx,
                    .y = y,
                    .ldy = ldy};
}

bisai_status bsi_reordered_enter(bisai_context *context, const bsi_reordered *r, int32_t count,
                                 const double *x, int64_t ldx, double *y, int64_t ldy) {
  const bsi_move move = move_of(r, count, x, ldx, y, ldy);
  return context->backend->order->reordered->move(context, &move);
}

bisai_status bsi_reordered_leave(bisai_context *context, const bsi_reordered *r, int32_t count,
                                 const double *x, int64_t ldx, double *y, int64_t ldy) {
  bsi_move move = move_of(r, count, x, ldx, y, ldy);
  move.scatter = true;
  move.scale = r->equilibration.col_scale;
  return context->backend->order->reordered->move(context, &move);
}

void bsi_reordered_destroy(bisai_context *context, bsi_reordered *reordered) {
  const bsi_backend *backend = context->backend;
  bisai_bcsr_destroy(&reordered->matrix);
  if (reordered->host_permutation != reordered->permutation)
    bsi_release(context, reordered->host_permutation);
  if (reordered->host_source != reordered->source) bsi_release(context, reordered->host_source);
  backend->memory->release(context, reordered->permutation);
  backend->memory->release(context, reordered->source);
  destroy_equilibration(context, &reordered->equilibration);
  *reordered = (bsi_reordered){0};
}

int64_t bsi_reordered_memory(const bsi_reordered *reordered) {
  const bisai_bcsr *b = reordered->matrix;
  const int64_t n = (int64_t)b->block_rows * b->block_size;
  int64_t bytes = bsi_bcsr_memory(b);
  if (reordered->permutation) bytes += 4 * ((int64_t)b->block_rows + b->blocks);
  if (reordered->equilibration.row_scale)
    bytes += 32 * n + 2 * (int64_t)bsi_block_offset(b, b->blocks);
  return bytes;
}

int64_t bsi_reordered_bytes(const bsi_reordered *reordered) {
  const int64_t rows = reordered->matrix->block_rows, n = rows * reordered->matrix->block_size;
  return 2 * (16 * n + (reordered->permutation ? 4 * rows : 0) +
              (reordered->equilibration.row_scale ? 8 * n : 0));
}
