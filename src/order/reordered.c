/* SPDX-License-Identifier: BSD-3-Clause */
/* B = P Q Dr A Dc Pᵀ. Its structure and the source of each block are computed once, its values at
 * every update. */
#include "order/reordered.h"

#include <math.h>

#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"
#include "order/matching/matching.h"
#include "order/order_ops.h"

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

/* Reserves Dr and Dc of a matching, one array. */
static bisai_status create_scales(bisai_context *context, const bisai_bcsr *a, bsi_reordered *r) {
  const bsi_memory_ops *memory = context->backend->memory;
  const size_t n = (size_t)a->block_rows * (size_t)a->block_size;
  bsi_equilibration *e = &r->equilibration;
  e->row_scale = memory->allocate(context, 2 * n, sizeof *e->row_scale);
  if (!e->row_scale) return BISAI_OUT_OF_MEMORY;
  e->col_scale = e->row_scale + n;
  if (memory->is_host) return BISAI_OK;
  r->host_scale = bsi_allocate(context, 2 * n, sizeof *r->host_scale);
  return r->host_scale ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

static bisai_status find_matching(bisai_context *context, const bisai_bcsr *a,
                                  bisai_matching matching, bsi_reordered *r) {
  if (matching == BISAI_MATCHING_NONE) return BISAI_OK;
  BSI_TRY(bsi_matching_create(context, a, matching, &r->matching));
  r->matched = true;
  return bsi_matching_solve(&r->matching, a);
}

bisai_status bsi_reordered_create(bisai_context *context, const bisai_bcsr *a,
                                  const bsi_reordering *how, bsi_reordered *reordered) {
  bsi_reordered made = {.matching.context = context};
  bisai_status status = check_matrix(context, a);
  if (!status) status = find_matching(context, a, how->matching, &made);
  if (!status) status = bsi_reordered_structure(context, a, how, &made.matching, &made);
  if (!status && how->equilibrate) {
    bsi_matching_destroy(&made.matching);
    status = create_equilibration(context, a, &made.equilibration);
  } else if (!status && made.matched) {
    status = create_scales(context, a, &made);
  }
  if (status)
    bsi_reordered_destroy(context, &made);
  else
    *reordered = made;
  return status;
}

static bisai_status check_pattern(bisai_context *context, const bisai_bcsr *a,
                                  const bsi_reordered *r) {
  bsi_structure of_a, of_b;
  BSI_TRY(bsi_bcsr_structure(a, &of_a));
  BSI_TRY(bsi_bcsr_structure(r->matrix, &of_b));
  if (bsi_reordered_same_pattern(context, r, &of_b, a, &of_a)) return BISAI_OK;
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

/* Dr and Dc of a matching: powers of two that are nearest to those of the duals. */
static bisai_status scale_by_duals(bisai_context *context, const bisai_bcsr *a, bsi_reordered *r) {
  bsi_equilibration *e = &r->equilibration;
  const bsi_matching *m = &r->matching;
  const int64_t n = (int64_t)a->block_rows * a->block_size, each = m->n > 0 ? n / m->n : 1;
  double *scale = r->host_scale ? r->host_scale : e->row_scale;
  if (!r->matched) BSI_TRY(bsi_matching_solve(&r->matching, a));
  r->matched = false;
  e->smallest = n > 0 ? INFINITY : 1.0;
  e->largest = n > 0 ? 0.0 : 1.0;
  for (int64_t k = 0; k < 2 * n; k++) {
    const double dual = k < n ? m->row_log[k / each] : m->col_log[(k - n) / each];
    const double exponent =
        fmax(-BSI_LARGEST_EXPONENT, fmin(BSI_LARGEST_EXPONENT, floor(dual + 0.5)));
    scale[k] = ldexp(1.0, (int)exponent);
    e->smallest = fmin(e->smallest, scale[k]);
    e->largest = fmax(e->largest, scale[k]);
  }
  return r->host_scale ? context->backend->memory->upload(context, e->row_scale, scale,
                                                          2 * (size_t)n * sizeof *scale)
                       : BISAI_OK;
}

/* Returns the block row that has block `block`. */
static int32_t row_of_block(const bsi_structure *a, int32_t rows, int64_t block) {
  int32_t low = 0, high = rows;
  while (high - low > 1) {
    const int32_t middle = low + (high - low) / 2;
    if (a->row_ptr[middle] <= block)
      low = middle;
    else
      high = middle;
  }
  return low;
}

static bisai_status check_zeros(bisai_context *context, const bisai_bcsr *a,
                                const bsi_reordered *r) {
  bsi_structure s;
  int32_t first = -1, value = 0;
  if (r->zero_count == 0) return BISAI_OK;
  BSI_TRY(context->backend->order->reordered->find_nonzero(context, a, r, &first));
  if (first < 0) return BISAI_OK;
  BSI_TRY(context->backend->memory->fetch(context, &value, r->zeros + first, sizeof value));
  BSI_TRY(bsi_bcsr_structure(a, &s));
  return bsi_fail(context, BISAI_INVALID_STRUCTURE,
                  "block row %d has a nonzero where creation left out a zero: the matching of "
                  "entries needs a new preconditioner",
                  row_of_block(&s, a->block_rows, value / (r->unit * r->unit)));
}

bisai_status bsi_reordered_check(bisai_context *context, const bisai_bcsr *a,
                                 const bsi_reordered *r) {
  BSI_TRY(check_matrix(context, a));
  return check_pattern(context, a, r);
}

bisai_status bsi_reordered_update(bisai_context *context, const bisai_bcsr *a, bsi_reordered *r) {
  BSI_TRY(check_zeros(context, a, r));
  if (r->equilibration.exponents)
    BSI_TRY(equilibrate(context, a, &r->equilibration));
  else if (r->equilibration.row_scale)
    BSI_TRY(scale_by_duals(context, a, r));
  return context->backend->order->reordered->values(context, a, r);
}

/* Moves `count` vectors x to y. */
static bsi_move move_of(const bsi_reordered *r, bsi_side side, int32_t count, const double *x,
                        int64_t ldx, double *y, int64_t ldy) {
  const bool rows = side == BSI_ROWS;
  return (bsi_move){.bs = r->matrix->block_size,
                    .n = r->matrix->block_rows,
                    .permutation = rows ? r->maps.rows : r->maps.columns,
                    .scale = rows ? r->equilibration.row_scale : r->equilibration.col_scale,
                    .count = count,
                    .x = x,
                    .ldx = ldx,
                    .y = y,
                    .ldy = ldy};
}

bisai_status bsi_reordered_enter(const bsi_reordered *r, bsi_side side, int32_t count,
                                 const double *x, int64_t ldx, double *y, int64_t ldy) {
  bisai_context *context = r->matrix->context;
  const bsi_move move = move_of(r, side, count, x, ldx, y, ldy);
  return context->backend->order->reordered->move(context, &move);
}

bisai_status bsi_reordered_leave(const bsi_reordered *r, bsi_side side, int32_t count,
                                 const double *x, int64_t ldx, double *y, int64_t ldy) {
  bisai_context *context = r->matrix->context;
  bsi_move move = move_of(r, side, count, x, ldx, y, ldy);
  move.scatter = true;
  return context->backend->order->reordered->move(context, &move);
}

/* Releases maps that share arrays with others, or with each other, once. */
static void destroy_maps(bisai_context *context, const bsi_reordered *r) {
  const bsi_memory_ops *memory = context->backend->memory;
  if (r->host.columns != r->maps.columns) {
    if (r->host.rows != r->host.columns) bsi_release(context, r->host.rows);
    bsi_release(context, r->host.columns);
  }
  if (r->host.source != r->maps.source) bsi_release(context, r->host.source);
  if (r->maps.rows != r->maps.columns) memory->release(context, r->maps.rows);
  memory->release(context, r->maps.columns);
  memory->release(context, r->maps.source);
}

void bsi_reordered_destroy(bisai_context *context, bsi_reordered *reordered) {
  bisai_bcsr_destroy(&reordered->matrix);
  destroy_maps(context, reordered);
  context->backend->memory->release(context, reordered->zeros);
  bsi_release(context, reordered->row_names);
  bsi_release(context, reordered->host_scale);
  destroy_equilibration(context, &reordered->equilibration);
  if (reordered->matching.context) bsi_matching_destroy(&reordered->matching);
  *reordered = (bsi_reordered){0};
}

static int64_t maps_memory(const bsi_reordered *r) {
  const bisai_bcsr *b = r->matrix;
  const int64_t rows = b->block_rows, orders = r->maps.rows == r->maps.columns ? 1 : 2;
  return (r->maps.columns ? 4 * (orders * rows + b->blocks) : 0) + (r->row_names ? 4 * rows : 0) +
         4 * (int64_t)r->zero_count;
}

int64_t bsi_reordered_memory(const bsi_reordered *reordered) {
  const bisai_bcsr *b = reordered->matrix;
  const int64_t n = (int64_t)b->block_rows * b->block_size;
  const int64_t values = (int64_t)bsi_block_offset(b, b->blocks) + reordered->zero_count;
  int64_t bytes = bsi_bcsr_memory(b) + maps_memory(reordered);
  if (reordered->equilibration.exponents)
    bytes += 32 * n + 2 * values;
  else if (reordered->equilibration.row_scale)
    bytes += 16 * n + bsi_matching_memory(&reordered->matching);
  return bytes;
}

int64_t bsi_reordered_bytes(const bsi_reordered *reordered) {
  const int64_t rows = reordered->matrix->block_rows, n = rows * reordered->matrix->block_size;
  return 2 * (16 * n + (reordered->maps.columns ? 4 * rows : 0) +
              (reordered->equilibration.row_scale ? 8 * n : 0));
}
