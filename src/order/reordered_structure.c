/* SPDX-License-Identifier: BSD-3-Clause */
/* The structure of B = P Q A Pᵀ, and the maps from its rows, columns and blocks to those of A. A is
 * taken with its blocks, or as the scalar matrix of its nonzeros if a matching of entries has
 * listed them. */
#include "order/reordered_structure.h"
#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"
#include "core/matrix/search.h"
#include "core/matrix/sort.h"
#include "core/threads/parallel.h"

enum { BLOCKS_PER_THREAD = 4096 };

/* What is permuted. */
typedef struct original {
  int32_t n, block_size, blocks;
  bsi_structure s;
  /* as bsi_matching */
  const int32_t *source, *row_of;
} original;

static int32_t row_of(const original *a, int32_t j) { return a->row_of ? a->row_of[j] : j; }

/* --- P --- */

/* *qa ← the structure of Q A, which is owned. */
static bisai_status permute_rows(bisai_context *context, const original *a, int32_t **row_ptr,
                                 int32_t **col_idx) {
  int32_t *ptr = bsi_allocate(context, (size_t)a->n + 1, sizeof *ptr);
  *row_ptr = ptr;
  if (ptr) *col_idx = bsi_allocate(context, (size_t)a->blocks, sizeof **col_idx);
  if (!*col_idx) return BISAI_OUT_OF_MEMORY;
  ptr[0] = 0;
  for (int32_t j = 0; j < a->n; j++) {
    const int32_t begin = a->s.row_ptr[row_of(a, j)], end = a->s.row_ptr[row_of(a, j) + 1];
    for (int32_t p = begin; p < end; p++) (*col_idx)[ptr[j] + p - begin] = a->s.col_idx[p];
    ptr[j + 1] = ptr[j] + end - begin;
  }
  return BISAI_OK;
}

/* Computes the ordering of Q A. */
static bisai_status compute_order(bisai_context *context, const original *a,
                                  bisai_ordering ordering, int32_t *permutation) {
  if (!a->row_of || ordering == BISAI_ORDERING_NATURAL)
    return bsi_order_structure(context, a->n, &a->s, ordering, permutation);
  int32_t *row_ptr = NULL, *col_idx = NULL;
  bisai_status status = permute_rows(context, a, &row_ptr, &col_idx);
  if (!status)
    status = bsi_order_structure(context, a->n, &(bsi_structure){row_ptr, col_idx}, ordering,
                                 permutation);
  bsi_release(context, col_idx);
  bsi_release(context, row_ptr);
  return status;
}

static bisai_status find_order(bisai_context *context, const original *a, const bsi_reordering *how,
                               int32_t unit, int32_t *permutation) {
  if (how->ordering != BISAI_ORDERING_GIVEN)
    return compute_order(context, a, how->ordering, permutation);
  for (int32_t i = 0; i < a->n; i++) permutation[i] = how->permutation[i / unit] * unit + i % unit;
  return BISAI_OK;
}

/* --- the maps --- */

/* Reserves maps in host memory, and in that of the backend if it is another one. */
static bool reserve(bisai_context *context, size_t count, int32_t **host, int32_t **backend) {
  const bsi_memory_ops *memory = context->backend->memory;
  *backend = memory->allocate(context, count, sizeof **backend);
  if (!*backend) return false;
  *host = memory->is_host ? *backend : bsi_allocate(context, count, sizeof **host);
  return *host != NULL;
}

static bool reserve_maps(bisai_context *context, const original *a, bsi_reordered *r) {
  const size_t n = (size_t)a->n;
  if (!reserve(context, n, &r->host.columns, &r->maps.columns) ||
      !reserve(context, (size_t)a->blocks, &r->host.source, &r->maps.source))
    return false;
  r->host.rows = r->host.columns;
  r->maps.rows = r->maps.columns;
  if (a->row_of && !reserve(context, n, &r->host.rows, &r->maps.rows)) return false;
  if (r->unit == 1) return true;
  r->row_names = bsi_allocate(context, n, sizeof *r->row_names);
  return r->row_names != NULL;
}

static bisai_status upload(bisai_context *context, const int32_t *host, int32_t *backend,
                           int32_t count) {
  return host == backend ? BISAI_OK
                         : context->backend->memory->upload(context, backend, host,
                                                            (size_t)count * sizeof *host);
}

static bisai_status upload_maps(bisai_context *context, const original *a, const bsi_reordered *r) {
  BSI_TRY(upload(context, r->host.columns, r->maps.columns, a->n));
  if (a->row_of) BSI_TRY(upload(context, r->host.rows, r->maps.rows, a->n));
  return upload(context, r->host.source, r->maps.source, a->blocks);
}

/* --- B --- */

typedef struct permute_job {
  const original *a;
  const int32_t *inverse;
  const bsi_reordered *r;
  int32_t *row_ptr, *col_idx;
} permute_job;

/* Makes rows of B: row i is row rows[i] of A with its columns renumbered by `inverse` and sorted.
 * row_ptr is made. */
static void permute_part(void *work, bsi_part part) {
  const permute_job *job = work;
  const original *a = job->a;
  const bsi_rows rows = bsi_rows_of(a->n, job->row_ptr, part);
  for (int32_t i = rows.begin; i < rows.end; i++) {
    const int32_t begin = a->s.row_ptr[job->r->host.rows[i]], at = job->row_ptr[i],
                  length = job->row_ptr[i + 1] - at;
    int32_t *columns = job->col_idx + at;
    for (int32_t k = 0; k < length; k++) columns[k] = job->inverse[a->s.col_idx[begin + k]];
    bsi_sort(columns, length);
    for (int32_t k = 0; k < length; k++) {
      const int32_t column = job->inverse[a->s.col_idx[begin + k]];
      job->r->host.source[at + bsi_find_column(columns, 0, length, column)] =
          a->source ? a->source[begin + k] : begin + k;
    }
  }
}

static void permute_structure(bisai_context *context, const permute_job *job) {
  const original *a = job->a;
  job->row_ptr[0] = 0;
  for (int32_t i = 0; i < a->n; i++) {
    const int32_t old = job->r->host.rows[i];
    job->row_ptr[i + 1] = job->row_ptr[i] + a->s.row_ptr[old + 1] - a->s.row_ptr[old];
  }
  bsi_run(context, bsi_threads_for(context->threads, job->row_ptr[a->n], BLOCKS_PER_THREAD),
          BSI_SOME_PARTS, permute_part, (void *)(uintptr_t)job);
}

/* Sets the maps of rows and columns and the inverse of that of columns. */
static void set_orders(const original *a, int32_t *inverse, bsi_reordered *r) {
  for (int32_t i = 0; i < a->n; i++) {
    inverse[r->host.columns[i]] = i;
    if (a->row_of) r->host.rows[i] = a->row_of[r->host.columns[i]];
    r->moved_rows += r->host.rows[i] != r->host.columns[i];
    if (r->row_names) r->row_names[i] = r->host.rows[i] / r->unit;
  }
  r->matrix->row_names = r->row_names ? r->row_names : r->host.rows;
}

static bisai_status create_permuted(bisai_context *context, const original *a,
                                    const bsi_reordering *how, bsi_reordered *r) {
  const size_t n = (size_t)a->n;
  permute_job job = {.a = a, .r = r};
  int32_t *inverse = NULL;
  bisai_status status = reserve_maps(context, a, r)
                            ? find_order(context, a, how, r->unit, r->host.columns)
                            : BISAI_OUT_OF_MEMORY;
  if (!status) job.row_ptr = bsi_allocate(context, n + 1, sizeof *job.row_ptr);
  if (job.row_ptr) job.col_idx = bsi_allocate(context, (size_t)a->blocks, sizeof *job.col_idx);
  if (job.col_idx) inverse = bsi_allocate(context, n, sizeof *inverse);
  if (!status && !inverse) status = BISAI_OUT_OF_MEMORY;
  if (!status) {
    set_orders(a, inverse, r);
    job.inverse = inverse;
    permute_structure(context, &job);
    status = bsi_bcsr_set_structure(r->matrix, job.row_ptr, job.col_idx);
  }
  if (!status) status = upload_maps(context, a, r);
  bsi_release(context, inverse);
  bsi_release(context, job.col_idx);
  bsi_release(context, job.row_ptr);
  return status;
}

static bisai_status upload_zeros(bisai_context *context, const bsi_matching *m, bsi_reordered *r) {
  const size_t count = (size_t)m->zero_count;
  if (count == 0) return BISAI_OK;
  r->zeros = context->backend->memory->allocate(context, count, sizeof *r->zeros);
  if (!r->zeros) return BISAI_OUT_OF_MEMORY;
  r->zero_count = m->zero_count;
  return context->backend->memory->upload(context, r->zeros, m->zeros, count * sizeof *r->zeros);
}

bisai_status bsi_reordered_structure(bisai_context *context, const bisai_bcsr *a,
                                     const bsi_reordering *how, const bsi_matching *matching,
                                     bsi_reordered *r) {
  original o = {.n = a->block_rows,
                .block_size = a->block_size,
                .blocks = a->blocks,
                .row_of = matching->row_of};
  BSI_TRY(bsi_bcsr_structure(a, &o.s));
  r->unit = 1;
  if (matching->source) {
    r->unit = a->block_size;
    o = (original){.n = matching->n,
                   .block_size = 1,
                   .blocks = matching->ptr[matching->n],
                   .s = {matching->ptr, matching->columns},
                   .source = matching->source,
                   .row_of = matching->row_of};
    BSI_TRY(upload_zeros(context, matching, r));
  }
  BSI_TRY(bsi_bcsr_reserve(context, &(bsi_bcsr_sizes){o.n, o.n, o.block_size, o.blocks, BISAI_FP64},
                           NULL, NULL, &r->matrix));
  if (how->ordering == BISAI_ORDERING_NATURAL && !matching->row_of)
    return bsi_bcsr_set_structure(r->matrix, o.s.row_ptr, o.s.col_idx);
  return create_permuted(context, &o, how, r);
}

/* --- the same pattern again --- */

typedef struct compare_job {
  bisai_context *context;
  const bsi_reordered *r;
  const bsi_structure *b, *a;
} compare_job;

static bool same_row(const compare_job *job, int32_t i) {
  const bsi_structure *b = job->b, *a = job->a;
  const bsi_reordered_maps *maps = &job->r->host;
  const int32_t unit = job->r->unit, old = (maps->rows ? maps->rows[i] : i) / unit,
                begin = a->row_ptr[old], end = a->row_ptr[old + 1];
  if (unit == 1 && end - begin != b->row_ptr[i + 1] - b->row_ptr[i]) return false;
  for (int32_t p = b->row_ptr[i]; p < b->row_ptr[i + 1]; p++) {
    const int32_t column = maps->columns ? maps->columns[b->col_idx[p]] : b->col_idx[p];
    const int32_t block = (maps->source ? maps->source[p] : p) / (unit * unit);
    if (block < begin || block >= end || a->col_idx[block] != column / unit) return false;
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

bool bsi_reordered_same_pattern(bisai_context *context, const bsi_reordered *r,
                                const bsi_structure *b, const bisai_bcsr *a,
                                const bsi_structure *of_a) {
  const int threads = bsi_threads_for(context->threads, r->matrix->blocks, BLOCKS_PER_THREAD);
  compare_job job = {context, r, b, of_a};
  const int64_t of_one = (int64_t)r->unit * r->unit;
  return a->blocks * of_one == (int64_t)r->matrix->blocks + r->zero_count &&
         bsi_find_first(context, threads, compare_part, &job) < 0;
}
