/* SPDX-License-Identifier: BSD-3-Clause */
/* The study of a matrix on the host. Block rows are shared out over the threads, each of which has
 * a record. */
#include "core/block/block_sizes.h"
#include "core/context/context_impl.h"
#include "core/threads/parallel.h"
#include "study/diagonal.h"
#include "study/samples.h"
#include "study/study_ops.h"

enum { VALUES_PER_THREAD = 1 << 15 };

/* What a thread finds. */
typedef struct findings {
  bsi_study_record record;
  double probes[2 * BISAI_MAX_BLOCK_SIZE];
  uint64_t sums[2 * BISAI_MAX_BLOCK_SIZE];
  int64_t inner;
} findings;

typedef struct study_job {
  const bsi_study_view *a;
  /* one for each thread */
  findings *found;
  bool probing;
  uint32_t *zeros;
  /* of samples */
  int32_t count;
} study_job;

static int threads_of(const bisai_context *context, const bsi_study_view *a) {
  const int64_t values = (int64_t)a->blocks * a->block_size * a->block_size;
  return bsi_threads_for(context->threads, values + a->block_rows, VALUES_PER_THREAD);
}

/* Allocates and clears the findings of the threads. */
static findings *reserve(bisai_context *context, int threads) {
  findings *found = bsi_allocate(context, (size_t)threads, sizeof *found);
  for (int t = 0; found && t < threads; t++) {
    found[t] = (findings){.inner = 0};
    bsi_study_clear(&found[t].record);
  }
  return found;
}

/* --- all rows --- */

BSI_INLINE void study_rows(const int bs, const study_job *job, bsi_rows rows, findings *found) {
  const bsi_study_view *a = job->a;
  double off[BISAI_MAX_BLOCK_SIZE], inverse[BSI_MAX_BLOCK_VALUES];
  bsi_study_row row;
  for (int32_t i = rows.begin; i < rows.end; i++) {
    for (int r = 0; r < bs; r++) {
      off[r] = 0.0;
      if ((int64_t)i * bs + r >= a->rows) continue;
      bsi_study_row_clear(bs, &row);
      for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++)
        bsi_study_row_add(bs, a, job->probing, i, r, p, &row);
      found->probes[2 * r] += row.probe;
      found->probes[2 * r + 1] += row.probe_size;
      off[r] = bsi_study_row_end(bs, r, &row, &found->record);
    }
    const bsi_study_block block = bsi_study_block_row(bs, a, i, off, &found->record);
    job->zeros[i] = block.zeros;
    if (block.diagonal >= 0 && !a->brief)
      bsi_study_invert_diagonal(bs, a->values + (size_t)block.diagonal * (size_t)(bs * bs), off, i,
                                inverse, &found->record);
  }
}

static void study_rows_any(const int bs, const study_job *job, bsi_rows rows, findings *found) {
  study_rows(bs, job, rows, found);
}

#define CASE(BS)                                                                                   \
  case BS: study_rows(BS, job, rows, found); break;
static void rows_part(void *work, bsi_part part) {
  const study_job *job = work;
  findings *found = job->found + part.thread;
  const bsi_rows rows = bsi_rows_of(job->a->block_rows, job->a->row_ptr, part);
  switch (job->a->block_size) {
    BSI_BLOCK_SIZES(CASE)
  default: study_rows_any(job->a->block_size, job, rows, found);
  }
}
#undef CASE

/* Adds the records of the threads. */
static void merge(const findings *found, int threads, bsi_study_record *record) {
  for (int t = 0; t < threads; t++) bsi_study_merge(record, &found[t].record);
}

static bisai_status rows(bisai_context *context, const bsi_study_view *a, uint32_t *zeros,
                         double *probes, bsi_study_record *record) {
  const int threads = threads_of(context, a);
  study_job job = {
      .a = a, .found = reserve(context, threads), .probing = probes != NULL, .zeros = zeros};
  if (!job.found) return BISAI_OUT_OF_MEMORY;
  bsi_run(context, threads, BSI_SOME_PARTS, rows_part, &job);
  merge(job.found, threads, record);
  for (int k = 0; probes && k < 2 * a->block_size; k++) {
    probes[k] = 0.0;
    for (int t = 0; t < threads; t++) probes[k] += job.found[t].probes[k];
  }
  bsi_release(context, job.found);
  return BISAI_OK;
}

/* --- rows with a zero on the diagonal --- */

static void inner_part(void *work, bsi_part part) {
  const study_job *job = work;
  const bsi_rows rows = bsi_rows_of(job->a->block_rows, job->a->row_ptr, part);
  for (int32_t i = rows.begin; i < rows.end; i++)
    for (int r = 0; r < job->a->block_size && job->zeros[i] >> r; r++)
      if (job->zeros[i] >> r & 1u)
        job->found[part.thread].inner += bsi_study_inner_entries(job->a, job->zeros, i, r);
}

static bisai_status inner(bisai_context *context, const bsi_study_view *a, const uint32_t *zeros,
                          int64_t *entries) {
  const int threads = threads_of(context, a);
  study_job job = {
      .a = a, .found = reserve(context, threads), .zeros = (uint32_t *)(uintptr_t)zeros};
  if (!job.found) return BISAI_OUT_OF_MEMORY;
  bsi_run(context, threads, BSI_SOME_PARTS, inner_part, &job);
  *entries = 0;
  for (int t = 0; t < threads; t++) *entries += job.found[t].inner;
  bsi_release(context, job.found);
  return BISAI_OK;
}

/* --- columns --- */

/* Adds the rows of block p that are not padding to the sums of its columns. */
static void add_block(const bsi_study_view *a, int32_t i, int32_t p, double *sums, double *sizes) {
  const int32_t bs = a->block_size;
  const int64_t first = (int64_t)i * bs;
  for (int32_t c = 0; c < bs; c++) {
    const int64_t at = ((int64_t)a->col_idx[p] * bs + c) * bs;
    for (int32_t r = 0; r < bs && first + r < a->rows; r++) {
      const double value = a->values[(int64_t)p * bs * bs + c * bs + r];
      sums[at + r] += value;
      sizes[at + r] += fabs(value);
    }
  }
}

static bisai_status columns(bisai_context *context, const bsi_study_view *a,
                            bsi_study_record *record) {
  const int bs = a->block_size;
  const size_t count = (size_t)a->block_rows * (size_t)(bs * bs);
  double *sums = bsi_allocate(context, 2 * count, sizeof *sums), *sizes = sums + count;
  if (!sums) return BISAI_OUT_OF_MEMORY;
  memset(sums, 0, 2 * count * sizeof *sums);
  for (int32_t i = 0; i < a->block_rows; i++)
    for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) add_block(a, i, p, sums, sizes);
  for (int64_t column = 0; column < a->rows; column++)
    bsi_study_take_out(bs, sums + column * bs, sizes + column * bs, record);
  bsi_release(context, sums);
  return BISAI_OK;
}

/* --- constants in the rows of a pressure --- */

static bool row_vanishes(const bsi_study_view *a, bsi_study_range range, int32_t i) {
  double sum = 0, size = 0;
  for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++)
    if (a->col_idx[p] >= range.first && a->col_idx[p] < range.end) {
      sum += a->values[p];
      size += fabs(a->values[p]);
    }
  return bsi_study_vanishes(sum, size);
}

static bisai_status pressure(bisai_context *context, const bsi_study_view *a, bsi_study_range range,
                             bool *right, bool *left) {
  const size_t count = (size_t)a->block_rows;
  double *sums = bsi_allocate(context, 2 * count, sizeof *sums), *sizes = sums + count;
  if (!sums) return BISAI_OUT_OF_MEMORY;
  memset(sums, 0, 2 * count * sizeof *sums);
  *right = *left = true;
  for (int32_t i = 0; *right && i < a->block_rows; i++) *right = row_vanishes(a, range, i);
  for (int32_t i = (int32_t)range.first; i < range.end; i++)
    for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) add_block(a, i, p, sums, sizes);
  for (size_t j = 0; *left && j < count; j++) *left = bsi_study_vanishes(sums[j], sizes[j]);
  bsi_release(context, sums);
  return BISAI_OK;
}

/* --- samples --- */

/* Compares block row i with the column of the same number. */
static void sample_row(const bsi_study_view *a, int32_t i, bsi_study_record *record) {
  const int bs = a->block_size;
  const int32_t begin = a->row_ptr[i];
  const double *here = bsi_study_block_at(bs, a, bsi_find_diagonal(a->row_ptr, a->col_idx, i));
  double sums[3 * BISAI_MAX_BLOCK_SIZE] = {0};
  const bsi_study_pairs pairs = {sums, sums + bs, sums + 2 * bs, 1};
  for (int32_t p = begin; p < a->row_ptr[i + 1]; p++)
    bsi_study_sample_block(bs, a, i, p, here, &pairs, record);
  for (int r = 0; r < bs; r++)
    if (pairs.largest[r] > 0.0)
      bsi_study_sample_end(pairs.difference[r], pairs.size[r],
                           bsi_study_strengths_of(bs, a, i, r, pairs.largest[r], begin, 1), record);
}

static void sample_part(void *work, bsi_part part) {
  const study_job *job = work;
  const bsi_range range = bsi_range_of(job->count, part);
  for (int64_t k = range.begin; k < range.end; k++)
    sample_row(job->a, bsi_study_sample(job->a->block_rows, job->count, (int32_t)k),
               &job->found[part.thread].record);
}

static bisai_status sample(bisai_context *context, const bsi_study_view *a, int32_t count,
                           bsi_study_record *record) {
  const int threads = threads_of(context, a);
  study_job job = {.a = a, .found = reserve(context, threads), .count = count};
  if (!job.found) return BISAI_OUT_OF_MEMORY;
  bsi_run(context, threads, BSI_SOME_PARTS, sample_part, &job);
  merge(job.found, threads, record);
  bsi_release(context, job.found);
  return BISAI_OK;
}

static bsi_study_inverse invert(const bsi_study_view *a, int32_t i, double *room) {
  const int bs = a->block_size;
  const double *block = bsi_study_block_at(bs, a, bsi_find_diagonal(a->row_ptr, a->col_idx, i));
  bsi_study_inverse result = {block, NULL};
  double condition;
  if (block && bsi_block_invert(bs, block, room, &condition) != BSI_BLOCK_SINGULAR)
    result.inverse = room;
  return result;
}

/* Adds the couplings of block p = (i, j), j ≠ i, in the matrix of each unknown. */
static void couple(const bsi_study_view *a, int32_t i, int32_t p, const bsi_study_inverse *here,
                   double *couplings) {
  const int bs = a->block_size;
  const int32_t j = a->col_idx[p],
                q = bsi_find_column(a->col_idx, a->row_ptr[j], a->row_ptr[j + 1], i);
  double room[BSI_MAX_BLOCK_VALUES];
  if (q < 0 || !here->diagonal) return;
  const bsi_study_inverse there = invert(a, j, room);
  if (!there.diagonal) return;
  for (int k = 0; k < bs; k++)
    couplings[k] += bsi_study_coupling(bs, here, &there, bsi_study_block_at(bs, a, p),
                                       bsi_study_block_at(bs, a, q), k);
}

/* Adds block row i to the sums of couplings and of reaches. One unknown has no others. */
static void measure_unknowns(const bsi_study_view *a, int32_t i, uint64_t *sums) {
  const int bs = a->block_size;
  if (bs < 2) return;
  double couplings[BISAI_MAX_BLOCK_SIZE] = {0};
  double own[BSI_MAX_BLOCK_VALUES];
  const bsi_study_inverse here = invert(a, i, own);
  for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++)
    if (a->col_idx[p] != i) couple(a, i, p, &here, couplings);
  for (int p = 0; p < bs; p++) {
    sums[2 * p] += bsi_study_units(couplings[p]);
    for (int l = 0; l < bs; l++) sums[2 * p + 1] += bsi_study_reach(bs, a, i, l, p, here.diagonal);
  }
}

static void unknowns_part(void *work, bsi_part part) {
  const study_job *job = work;
  const bsi_range range = bsi_range_of(job->count, part);
  for (int64_t k = range.begin; k < range.end; k++)
    measure_unknowns(job->a, bsi_study_sample(job->a->block_rows, job->count, (int32_t)k),
                     job->found[part.thread].sums);
}

static bisai_status unknowns(bisai_context *context, const bsi_study_view *a, int32_t count,
                             uint64_t *sums) {
  const int threads = threads_of(context, a);
  study_job job = {.a = a, .found = reserve(context, threads), .count = count};
  if (!job.found) return BISAI_OUT_OF_MEMORY;
  bsi_run(context, threads, BSI_SOME_PARTS, unknowns_part, &job);
  for (int k = 0; k < 2 * a->block_size; k++) {
    sums[k] = 0;
    for (int t = 0; t < threads; t++) sums[k] += job.found[t].sums[k];
  }
  bsi_release(context, job.found);
  return BISAI_OK;
}

/* --- fields --- */

static void add_field_row(const bsi_study_field_row *row, int field, bsi_study_fields_count *sums) {
  sums->common += row->common, sums->either += row->either;
  sums->outside += row->outside, sums->matched += row->matched;
  for (int g = 0; g < BSI_STUDY_FIELDS; g++)
    sums->coupled[field * BSI_STUDY_FIELDS + g] += row->coupled >> g & 1u;
}

/* Adds the sampled nodes begin, begin + step, … for m fields. */
static void add_field_nodes(const bsi_study_view *a, int m, int32_t begin, int32_t step,
                            bsi_study_fields_count *sums) {
  for (int32_t s = begin; s < bsi_study_sampled_nodes(a->block_rows, m); s += step)
    for (int f = 0; f < m; f++) {
      const bsi_study_field_row row =
          bsi_study_field_row_of(a->row_ptr, a->col_idx, a->block_rows, m, s, f);
      add_field_row(&row, f, sums);
    }
}

/* One thread: the samples take less time than a team needs to begin. Most m are excluded by the
 * first of the nodes, whose fields agree far less than those of m fields do. */
static bisai_status fields(bisai_context *context, const bsi_study_view *a,
                           bsi_study_fields_count *sums) {
  enum { PASSES = 16 };
  (void)context;
  for (int m = 2; m <= BSI_STUDY_FIELDS; m++) {
    sums[m] = (bsi_study_fields_count){0};
    for (int pass = 0; pass < PASSES; pass++) {
      add_field_nodes(a, m, pass, PASSES, &sums[m]);
      if (2 * sums[m].common < sums[m].either) break;
    }
  }
  return BISAI_OK;
}

const bsi_study_ops bsi_study_host = {.rows = rows,
                                      .inner = inner,
                                      .columns = columns,
                                      .pressure = pressure,
                                      .sample = sample,
                                      .unknowns = unknowns,
                                      .fields = fields};
