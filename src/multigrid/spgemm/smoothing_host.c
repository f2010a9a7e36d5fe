/* SPDX-License-Identifier: BSD-3-Clause */
/* The smoothing of the blocks of a product on the host (bsi_smoothing). */
#include <string.h>

#include "core/block/block_math.h"
#include "core/block/block_sizes.h"
#include "core/threads/parallel.h"
#include "multigrid/spgemm/spgemm_ops.h"

/* the least number of values for which a thread is woken */
enum { VALUES_PER_THREAD = 16384 };

typedef struct smooth_job {
  /* T and P, or Tᵀ and R */
  const bsi_block_matrix *t;
  const double *inverse;
  double omega;
  bsi_block_matrix *p;
  void (*row)(const struct smooth_job *, int32_t);
} smooth_job;

/* to ← column `column` of block `own` of T − omega·sum. own < 0: T has no such block. */
BSI_INLINE void finish_column(const int h, const smooth_job *job, int32_t own, int column,
                              bsi_column *sum, double *to) {
  const double *values = job->t->values;
  bsi_column_scale(h, sum, -job->omega);
  if (own >= 0 && values)
    bsi_column_add(h, sum, values + bsi_block_matrix_offset(job->t, own) + column * h, 1.0);
  bsi_column_store(h, sum, to);
  if (own >= 0 && !values) to[column] += 1.0;
}

/* Block ← T_ij − omega·D_i⁻¹ block */
BSI_INLINE void smooth_block(const int bs, const smooth_job *job, int32_t i, int32_t own,
                             double *block) {
  const double *inverse = job->inverse + (size_t)i * (size_t)(bs * bs);
  for (int c = 0; c < job->p->width; c++) {
    bsi_column sum;
    bsi_column_clear(bs, &sum);
    bsi_column_add_product(bs, &sum, inverse, block + c * bs);
    finish_column(bs, job, own, c, &sum, block + c * bs);
  }
}

/* Block ← (Tᵀ)_ij − omega·block D_j⁻¹ */
BSI_INLINE void smooth_block_from_right(const int bs, const smooth_job *job, int32_t j, int32_t own,
                                        double *block) {
  const int h = job->p->height;
  const double *inverse = job->inverse + (size_t)j * (size_t)(bs * bs);
  double before[BSI_MAX_BLOCK_VALUES];
  memcpy(before, block, (size_t)(h * bs) * sizeof *before);
  for (int c = 0; c < bs; c++) {
    bsi_column sum;
    bsi_column_clear(h, &sum);
    for (int k = 0; k < bs; k++) bsi_column_add(h, &sum, before + k * h, inverse[c * bs + k]);
    finish_column(h, job, own, c, &sum, block + c * h);
  }
}

/* from_right: R, otherwise P */
BSI_INLINE void smooth_row(const int bs, const bool from_right, const smooth_job *job, int32_t i) {
  const bsi_block_matrix *t = job->t, *p = job->p;
  int32_t own = t->row_ptr[i];
  for (int32_t q = p->row_ptr[i]; q < p->row_ptr[i + 1]; q++) {
    double *block = p->values + bsi_block_matrix_offset(p, q);
    const bool both = own < t->row_ptr[i + 1] && t->col_idx[own] == p->col_idx[q];
    if (from_right)
      smooth_block_from_right(bs, job, p->col_idx[q], both ? own : -1, block);
    else
      smooth_block(bs, job, i, both ? own : -1, block);
    own += both;
  }
}

#define ROW(bs)                                                                                    \
  static void smooth_row_##bs(const smooth_job *job, int32_t i) { smooth_row(bs, false, job, i); } \
  static void smooth_row_from_right_##bs(const smooth_job *job, int32_t i) {                       \
    smooth_row(bs, true, job, i);                                                                  \
  }
BSI_BLOCK_SIZES(ROW)

static void smooth_row_any(const smooth_job *job, int32_t i) {
  smooth_row(job->p->height, false, job, i);
}

static void smooth_row_from_right_any(const smooth_job *job, int32_t i) {
  smooth_row(job->p->width, true, job, i);
}

static void smooth_part(void *data, bsi_part part) {
  const smooth_job *job = data;
  const bsi_rows rows = bsi_rows_of(job->p->rows, job->p->row_ptr, part);
  for (int32_t i = rows.begin; i < rows.end; i++) job->row(job, i);
}

bisai_status bsi_smooth_product_host(bisai_context *context, const bsi_smoothing *s,
                                     bsi_block_matrix *c) {
#define LEFT(bs) smooth_row_##bs,
#define RIGHT(bs) smooth_row_from_right_##bs,
  static void (*const left[])(const smooth_job *, int32_t) = {smooth_row_any,
                                                              BSI_BLOCK_SIZES(LEFT)};
  static void (*const right[])(const smooth_job *, int32_t) = {smooth_row_from_right_any,
                                                               BSI_BLOCK_SIZES(RIGHT)};
#undef LEFT
#undef RIGHT
  const int bs = s->from_right ? c->width : c->height, entry = bs <= BSI_SPECIAL_SIZES ? bs : 0;
  const int threads = bsi_threads_for(
      context->threads, (int64_t)bsi_block_matrix_offset(c, c->blocks), VALUES_PER_THREAD);
  bsi_run(context, threads, BSI_SOME_PARTS, smooth_part,
          &(smooth_job){s->t, s->inverse, s->omega, c, s->from_right ? right[entry] : left[entry]});
  return BISAI_OK;
}
