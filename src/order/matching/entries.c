/* SPDX-License-Identifier: BSD-3-Clause */
/* What a matching matches, and its weights: of an entry its magnitude, of a block |det|^(1/bs).
 *
 * The product of the determinants on the diagonal is the one measure of blocks of which the largest
 * choice does not depend on the scaling of rows and columns, as that of entries does not: a scaling
 * multiplies the product for every choice of blocks by the same number. Norms and singular values
 * of blocks lack that. The root makes the duals factors for scalar rows and columns. */
#include <math.h>

#include "core/threads/parallel.h"
#include "order/matching/entries.h"

/* the least number of values for which a thread is woken */
enum { GRAIN = 8192 };

typedef struct list_job {
  const bisai_bcsr *a;
  bsi_structure s;
  const double *values;
} list_job;

static bisai_status copy_structure(bsi_matching *m, const bisai_bcsr *a, const bsi_structure *s) {
  const size_t n = (size_t)a->block_rows, blocks = (size_t)a->blocks;
  m->n = a->block_rows;
  m->ptr = bsi_allocate(m->context, n + 1, sizeof *m->ptr);
  if (m->ptr) m->columns = bsi_allocate(m->context, blocks, sizeof *m->columns);
  if (!m->ptr || !m->columns) return BISAI_OUT_OF_MEMORY;
  for (size_t i = 0; i <= n; i++) m->ptr[i] = s->row_ptr[i];
  for (size_t p = 0; p < blocks; p++) m->columns[p] = s->col_idx[p];
  return BISAI_OK;
}

/* Lists the nonzeros of a scalar row, and counts its zeros. Without arrays it only counts. Returns
 * the number of nonzeros. */
static int32_t list_row(const list_job *job, bsi_matching *m, int32_t row, int32_t at) {
  const int32_t bs = job->a->block_size, i = row / bs;
  int32_t count = 0;
  for (int32_t p = job->s.row_ptr[i]; p < job->s.row_ptr[i + 1]; p++)
    for (int32_t c = 0; c < bs; c++) {
      const int32_t value = (p * bs + c) * bs + row % bs;
      if (job->values[value] == 0.0) continue;
      if (m->source) {
        m->columns[at + count] = job->s.col_idx[p] * bs + c;
        m->source[at + count] = value;
      }
      count++;
    }
  return count;
}

static bisai_status list_nonzeros(bsi_matching *m, const list_job *job) {
  const int64_t n = (int64_t)job->a->block_rows * job->a->block_size,
                values = (int64_t)bsi_block_offset(job->a, job->a->blocks);
  if (n > INT32_MAX || values > INT32_MAX)
    return bsi_fail(m->context, BISAI_INDEX_OVERFLOW,
                    "matching of entries: the matrix has %lld values, at most %d are possible",
                    (long long)values, INT32_MAX);
  m->n = (int32_t)n;
  m->ptr = bsi_allocate(m->context, (size_t)n + 1, sizeof *m->ptr);
  if (!m->ptr) return BISAI_OUT_OF_MEMORY;
  m->ptr[0] = 0;
  for (int32_t i = 0; i < m->n; i++) m->ptr[i + 1] = m->ptr[i] + list_row(job, m, i, 0);
  const size_t entries = (size_t)m->ptr[n];
  m->zero_count = (int32_t)values - m->ptr[n];
  m->columns = bsi_allocate(m->context, entries, sizeof *m->columns);
  if (m->columns) m->zeros = bsi_allocate(m->context, (size_t)m->zero_count, sizeof *m->zeros);
  if (m->zeros) m->source = bsi_allocate(m->context, entries, sizeof *m->source);
  if (!m->columns || !m->zeros || !m->source) return BISAI_OUT_OF_MEMORY;
  for (int32_t i = 0; i < m->n; i++) list_row(job, m, i, m->ptr[i]);
  for (int32_t v = 0, zero = 0; v < (int32_t)values; v++)
    if (job->values[v] == 0.0) m->zeros[zero++] = v;
  return BISAI_OK;
}

bisai_status bsi_matching_list(bsi_matching *m, const bisai_bcsr *a, const double *values) {
  list_job job = {.a = a, .values = values};
  BSI_TRY(bsi_bcsr_structure(a, &job.s));
  if (m->unit == BISAI_MATCHING_ENTRIES && a->block_size > 1)
    BSI_TRY(list_nonzeros(m, &job));
  else
    BSI_TRY(copy_structure(m, a, &job.s));
  m->cost = bsi_allocate(m->context, (size_t)m->ptr[m->n], sizeof *m->cost);
  return m->cost ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

/* --- weights --- */

/* Returns the largest magnitude of rows k … bs − 1 in column k, and moves its row to row k. */
static double find_pivot(double *lu, int bs, int k) {
  int pivot = k;
  for (int r = k + 1; r < bs; r++)
    if (fabs(lu[k * bs + r]) > fabs(lu[k * bs + pivot])) pivot = r;
  for (int c = k; c < bs && pivot != k; c++) {
    const double moved = lu[c * bs + k];
    lu[c * bs + k] = lu[c * bs + pivot];
    lu[c * bs + pivot] = moved;
  }
  return fabs(lu[k * bs + k]);
}

/* Returns log₂ |det|^(1/bs) of a block, by elimination with row pivots. */
static double weigh_block(const double *block, int bs) {
  double lu[BISAI_MAX_BLOCK_SIZE * BISAI_MAX_BLOCK_SIZE] = {0.0}, sum = 0.0;
  for (int v = 0; v < bs * bs; v++) lu[v] = block[v];
  for (int k = 0; k < bs; k++) {
    const double pivot = find_pivot(lu, bs, k);
    if (pivot == 0.0) return -INFINITY;
    sum += log2(pivot);
    for (int c = k + 1; c < bs; c++) {
      const double factor = lu[c * bs + k] / lu[k * bs + k];
      for (int r = k + 1; r < bs; r++) lu[c * bs + r] -= factor * lu[k * bs + r];
    }
  }
  return sum / bs;
}

typedef struct weigh_job {
  bsi_matching *m;
  const double *values;
  int32_t block_size;
} weigh_job;

/* log₂ of the weight of an entry; −INFINITY: zero, singular or not finite. */
static double weigh(const weigh_job *job, int32_t entry) {
  const bsi_matching *m = job->m;
  const int bs = m->unit == BISAI_MATCHING_BLOCKS ? job->block_size : 1;
  const double *block = job->values + (int64_t)(m->source ? m->source[entry] : entry) * bs * bs;
  const double weight = bs > 1 ? weigh_block(block, bs) : log2(fabs(*block));
  return isfinite(weight) ? weight : -INFINITY;
}

static void weigh_part(void *work, bsi_part part) {
  const weigh_job *job = work;
  bsi_matching *m = job->m;
  const bsi_rows rows = bsi_rows_of(m->n, m->ptr, part);
  for (int32_t i = rows.begin; i < rows.end; i++) {
    double most = -INFINITY;
    for (int32_t p = m->ptr[i]; p < m->ptr[i + 1]; p++) {
      m->cost[p] = weigh(job, p);
      most = fmax(most, m->cost[p]);
    }
    for (int32_t p = m->ptr[i]; p < m->ptr[i + 1]; p++)
      m->cost[p] = isinf(m->cost[p]) ? INFINITY : most - m->cost[p];
    m->work.row_max[i] = most;
  }
}

void bsi_matching_weigh(bsi_matching *m, const bisai_bcsr *a, const double *values) {
  weigh_job job = {m, values, a->block_size};
  const int64_t work = (int64_t)bsi_block_offset(a, a->blocks);
  bsi_run(m->context, bsi_threads_for(m->context->threads, work, GRAIN), BSI_SOME_PARTS, weigh_part,
          &job);
}

int64_t bsi_matching_memory(const bsi_matching *m) {
  if (!m->ptr) return 0;
  const int64_t n = m->n, entries = m->ptr[n];
  return 4 * (n + 1) + entries * (m->source ? 16 : 12) + 4 * (int64_t)m->zero_count + 64 * n;
}
