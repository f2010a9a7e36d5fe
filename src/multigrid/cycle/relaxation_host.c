/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of cycles on the host. Rows are shared out by their blocks, and sums by chunks
 * (core/vector/chunks_host.h). */
#include "multigrid/cycle/relaxation_host.h"
#include "core/block/block_sizes.h"
#include "core/context/context_impl.h"
#include "core/matrix/block_row.h"
#include "core/threads/parallel.h"
#include "core/vector/chunks_host.h"
#include "core/vector/row_runs.h"
#include "multigrid/cycle/cycle_ops.h"
#include "multigrid/cycle/inner_steps.h"
#include "multigrid/spgemm/square.h"

enum { BYTES_PER_THREAD = 1 << 18 };

/* --- relaxation --- */

/* The terms of a relaxation: all; all but `previous`; x is zero; D⁻¹A x alone; b − A x alone. */
typedef enum relax_kind { WITH_ALL, WITHOUT_PREVIOUS, FROM_ZERO, PRODUCT, RESIDUAL } relax_kind;

static relax_kind kind_of(const bsi_relaxation *j) {
  if (!j->inverse.wide && !j->inverse.narrow) return RESIDUAL;
  if (!j->b) return PRODUCT;
  if (!j->x) return FROM_ZERO;
  return j->alpha != 0.0 && j->previous ? WITH_ALL : WITHOUT_PREVIOUS;
}

/* step ← step + D_i⁻¹ residual. The block is at `block`. */
BSI_INLINE void add_inverse_product(const int bs, const bsi_relaxation *j, const int64_t block,
                                    const double *residual, bsi_column *step) {
  if (!j->inverse.narrow) {
    bsi_column_add_product(bs, step, j->inverse.wide + block, residual);
    return;
  }
  for (int c = 0; c < bs; c++) {
    bsi_column column;
    bsi_column_widen(bs, BISAI_FP32, &column, j->inverse.narrow, (size_t)(block + c * bs));
    bsi_column_add_scaled(bs, step, &column, residual[c]);
  }
}

/* Row i of y. The blocks of the row are begin … end − 1. */
BSI_INLINE void relax_row(const int bs, const bisai_value_type type, const relax_kind kind,
                          const bsi_relaxation *j, const int32_t i, const int64_t begin,
                          const int64_t end) {
  const int64_t row = (int64_t)i * bs;
  double residual[BISAI_MAX_BLOCK_SIZE];
  bsi_column sum, step;
  if (kind == FROM_ZERO)
    bsi_column_clear(bs, &sum);
  else
    bsi_row_multiply(bs, type, 1, j->a, (bsi_range){begin, end}, j->x, 0, &sum);
  if (kind != PRODUCT) {
    bsi_column_scale(bs, &sum, -1.0);
    bsi_column_add(bs, &sum, j->b + row, 1.0);
  }
  bsi_column_store(bs, &sum, kind == RESIDUAL ? j->y + row : residual);
  if (kind == RESIDUAL) return;
  bsi_column_clear(bs, &step);
  add_inverse_product(bs, j, row * bs, residual, &step);
  bsi_column_scale(bs, &step, j->beta);
  if (kind == WITH_ALL) bsi_column_add(bs, &step, j->previous + row, -j->alpha);
  if (kind == WITH_ALL || kind == WITHOUT_PREVIOUS)
    bsi_column_add(bs, &step, j->x + row, 1.0 + j->alpha);
  bsi_column_store(bs, &step, j->y + row);
}

/* The fields of the job are copied, because the compiler would read them again after each value
 * that it stores. For the same reason the end of a row is kept as the begin of the next one. */
BSI_INLINE void relax_rows(const int bs, const bisai_value_type type, const relax_kind kind,
                           const bsi_relaxation *job, const int32_t begin, const int32_t end) {
  const bisai_bcsr matrix = *job->a;
  bsi_relaxation copy = *job;
  copy.a = &matrix;
  const void *inverse = copy.inverse.narrow ? (const void *)copy.inverse.narrow : copy.inverse.wide;
  const size_t row_bytes =
      (size_t)(bs * bs) * (copy.inverse.narrow ? sizeof(float) : sizeof(double));
  int64_t q = matrix.row_ptr[begin];
  const int32_t ahead = copy.cached ? end - begin : bsi_rows_ahead(&matrix);
  for (int32_t first = begin; first < end; first += ahead) {
    const int32_t last = end - first < ahead ? end : first + ahead;
    if (!copy.cached && kind != FROM_ZERO) bsi_prefetch_rows(bs, type, &matrix, first, last);
    if (!copy.cached && kind != RESIDUAL)
      bsi_prefetch_far_ahead(inverse, (size_t)first * row_bytes, (size_t)last * row_bytes);
    for (int32_t i = first; i < last; i++) {
      const int64_t next = matrix.row_ptr[i + 1];
      relax_row(bs, type, kind, &copy, i, q, next);
      q = next;
    }
  }
}

BSI_INLINE void relax_kinds(const int bs, const bisai_value_type type, const bsi_relaxation *j,
                            const int32_t begin, const int32_t end) {
  switch (kind_of(j)) {
  case WITH_ALL: relax_rows(bs, type, WITH_ALL, j, begin, end); break;
  case WITHOUT_PREVIOUS: relax_rows(bs, type, WITHOUT_PREVIOUS, j, begin, end); break;
  case FROM_ZERO: relax_rows(bs, type, FROM_ZERO, j, begin, end); break;
  case PRODUCT: relax_rows(bs, type, PRODUCT, j, begin, end); break;
  case RESIDUAL: relax_rows(bs, type, RESIDUAL, j, begin, end); break;
  }
}

typedef void relax_function(const bsi_relaxation *, int32_t begin, int32_t end);

static void relax_rows_any(const bsi_relaxation *j, int32_t begin, int32_t end) {
  relax_kinds(j->a->block_size, BISAI_FP64, j, begin, end);
}
static void relax_narrow_any(const bsi_relaxation *j, int32_t begin, int32_t end) {
  relax_kinds(j->a->block_size, BISAI_FP32, j, begin, end);
}
#define STAMP(BS)                                                                                  \
  static void relax_rows_##BS(const bsi_relaxation *j, int32_t begin, int32_t end) {               \
    relax_kinds(BS, BISAI_FP64, j, begin, end);                                                    \
  }                                                                                                \
  static void relax_narrow_##BS(const bsi_relaxation *j, int32_t begin, int32_t end) {             \
    relax_kinds(BS, BISAI_FP32, j, begin, end);                                                    \
  }
BSI_BLOCK_SIZES(STAMP)
#undef STAMP
#define ENTRY(BS) [BS] = {relax_rows_##BS, relax_narrow_##BS},
static relax_function *const relax_functions[BSI_SPECIAL_SIZES + 1][2] = {
    {relax_rows_any, relax_narrow_any}, BSI_BLOCK_SIZES(ENTRY)};
#undef ENTRY

void bsi_relax_rows(const bsi_relaxation *j, int32_t begin, int32_t end) {
  const int size = j->a->block_size <= BSI_SPECIAL_SIZES ? j->a->block_size : 0;
  relax_functions[size][j->a->type == BISAI_FP32](j, begin, end);
}

static void relax_part(void *job, bsi_part part) {
  const bsi_relaxation *j = job;
  bsi_row_runs runs = bsi_row_runs_of(j->rows, j->a->block_rows, j->a->row_ptr, part);
  while (bsi_next_run(&runs)) bsi_relax_rows(j, runs.rows.begin, runs.rows.end);
}

static bisai_status relax(bisai_context *context, const bsi_operation *o) {
  const int64_t bytes = bsi_bcsr_product_bytes(o->matrix);
  bsi_relaxation job = bsi_relaxation_of(o);
  bsi_run(context, bsi_threads_for(context->threads, bytes, BYTES_PER_THREAD), BSI_SOME_PARTS,
          relax_part, &job);
  return BISAI_OK;
}

/* --- products --- */

typedef struct product {
  const bsi_block_matrix *m;
  const bsi_row_list *rows;
  const double *x;
  double beta, *y;
} product;

/* The blocks are rectangular or identities. */
BSI_INLINE void multiply_rows(const int height, const product *p, const int32_t begin,
                              const int32_t end) {
  const bsi_block_matrix *m = p->m;
  for (int32_t i = begin; i < end; i++) {
    double *y = p->y + (int64_t)i * height;
    bsi_column sum;
    bsi_column_clear(height, &sum);
    for (int32_t q = m->row_ptr[i]; q < m->row_ptr[i + 1]; q++) {
      const double *x = p->x + (int64_t)m->col_idx[q] * m->width;
      if (!m->values && !m->narrow) {
        bsi_column_add(height, &sum, x, 1.0);
        continue;
      }
      const size_t block = bsi_block_matrix_offset(m, q);
      for (int c = 0; c < m->width; c++) {
        const size_t at = block + (size_t)(c * height);
        double wide[BISAI_MAX_BLOCK_SIZE];
        for (int r = 0; r < height && m->narrow; r++) wide[r] = m->narrow[at + (size_t)r];
        bsi_column_add(height, &sum, m->narrow ? wide : m->values + at, x[c]);
      }
    }
    if (p->beta != 0.0) bsi_column_add(height, &sum, y, p->beta);
    bsi_column_store(height, &sum, y);
  }
}

typedef void multiply_function(const product *, int32_t begin, int32_t end);

static void multiply_rows_any(const product *p, int32_t begin, int32_t end) {
  multiply_rows(p->m->height, p, begin, end);
}
#define STAMP(BS)                                                                                  \
  static void multiply_rows_##BS(const product *p, int32_t begin, int32_t end) {                   \
    multiply_rows(BS, p, begin, end);                                                              \
  }
BSI_BLOCK_SIZES(STAMP)
#undef STAMP
#define ENTRY(BS) [BS] = multiply_rows_##BS,
static multiply_function *const multiply_functions[BSI_SPECIAL_SIZES + 1] = {
    multiply_rows_any, BSI_BLOCK_SIZES(ENTRY)};
#undef ENTRY

static void multiply_part(void *job, bsi_part part) {
  const product *p = job;
  const bsi_block_matrix *m = p->m;
  multiply_function *function = multiply_functions[m->height <= BSI_SPECIAL_SIZES ? m->height : 0];
  bsi_row_runs runs = bsi_row_runs_of(p->rows, m->rows, m->row_ptr, part);
  while (bsi_next_run(&runs)) function(p, runs.rows.begin, runs.rows.end);
}

static bisai_status multiply(bisai_context *context, const bsi_block_matrix *m,
                             const bsi_row_list *rows, bsi_vector x, double beta, bsi_vector y) {
  if (bsi_is_square(m)) return bsi_square_multiply(context, m, rows, x, beta, y);
  const int64_t bytes = bsi_block_matrix_memory(m) + 8 * (int64_t)m->rows * m->height;
  bsi_run(context, bsi_threads_for(context->threads, bytes, BYTES_PER_THREAD), BSI_SOME_PARTS,
          multiply_part, &(product){m, rows, x.at, beta, y.at});
  return BISAI_OK;
}

/* --- K-cycles --- */

/* Operands of an operation on n values. Chunk k leaves `count` sums at partials + k·count. */
typedef struct vectors {
  int64_t n;
  int count;
  const double *v, *c2, *v2;
  double *c, *r, *partials;
  const double *scalars;
} vectors;

/* Shares out n values of `count` vectors over the threads. */
static void run(bisai_context *context, int count, bsi_work *work, vectors *job) {
  bsi_run(context, bsi_threads_for(context->threads, count * job->n, BSI_CHUNK_GRAIN),
          BSI_SOME_PARTS, work, job);
}

static void add_first(const void *job, int64_t begin, int64_t end, double *sums) {
  const vectors *j = job;
  bsi_dot_group(1, end - begin, j->v + begin, 0, j->r + begin, sums);
  bsi_dot_group(1, end - begin, j->v + begin, 0, j->v + begin, sums + 1);
}

static void add_second(const void *job, int64_t begin, int64_t end, double *sums) {
  const vectors *j = job;
  bsi_dot_group(1, end - begin, j->v2 + begin, 0, j->v + begin, sums);
  bsi_dot_group(1, end - begin, j->v2 + begin, 0, j->v2 + begin, sums + 1);
  bsi_dot_group(1, end - begin, j->v2 + begin, 0, j->r + begin, sums + 2);
}

static void sum_first_part(void *job, bsi_part part) {
  const vectors *j = job;
  bsi_sum_chunks(part, j->n, j->count, add_first, j, j->partials);
}

static void sum_second_part(void *job, bsi_part part) {
  const vectors *j = job;
  bsi_sum_chunks(part, j->n, j->count, add_second, j, j->partials);
}

static void subtract_part(void *job, bsi_part part) {
  const vectors *j = job;
  const bsi_range range = bsi_range_of(j->n, part);
  const double step = j->scalars[BSI_K_STEP];
  for (int64_t i = range.begin; i < range.end; i++) j->r[i] -= step * j->v[i];
}

static void combine_part(void *job, bsi_part part) {
  const vectors *j = job;
  const bsi_range range = bsi_range_of(j->n, part);
  const double a = j->scalars[BSI_K_OLD], b = j->scalars[BSI_K_NEW];
  for (int64_t i = range.begin; i < range.end; i++)
    j->c[i] = bsi_k_combine(a, j->c[i], b, j->c2[i]);
}

/* Does the sums of a step, and leaves them where several ranks add them up. */
static void sum_up(bisai_context *context, bsi_work *work, vectors *job, double *scalars) {
  run(context, job->count, work, job);
  bsi_add_chunks(bsi_chunks_of(job->n), job->count, job->partials,
                 scalars + BSI_K_SCALARS - BSI_K_SUMS);
}

static bisai_status first_step(bisai_context *context, const bsi_operation *o, bsi_k_part part) {
  vectors job = {.n = o->n,
                 .count = 2,
                 .v = o->v,
                 .r = o->y.at,
                 .partials = o->work + BSI_K_SCALARS,
                 .scalars = o->work};
  if (part != BSI_K_REST) sum_up(context, sum_first_part, &job, o->work);
  if (part == BSI_K_SUM) return BISAI_OK;
  bsi_k_first(o->work + BSI_K_SCALARS - BSI_K_SUMS, o->work);
  if (o->work[BSI_K_STEP] != 0.0) run(context, 2, subtract_part, &job);
  return BISAI_OK;
}

static bisai_status second_step(bisai_context *context, const bsi_operation *o, bsi_k_part part) {
  vectors job = {.n = o->n,
                 .count = 3,
                 .v = o->v,
                 .c2 = o->x.at,
                 .v2 = o->v2,
                 .c = o->y.at,
                 .r = o->b.at,
                 .partials = o->work + BSI_K_SCALARS,
                 .scalars = o->work};
  if (part != BSI_K_REST) sum_up(context, sum_second_part, &job, o->work);
  if (part == BSI_K_SUM) return BISAI_OK;
  bsi_k_second(o->work + BSI_K_SCALARS - BSI_K_SUMS, o->work);
  run(context, 2, combine_part, &job);
  return BISAI_OK;
}

const bsi_cycle_ops bsi_cycle_host = {
    .relax = relax, .multiply = multiply, .first_step = first_step, .second_step = second_step};
