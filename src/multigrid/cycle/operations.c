/* SPDX-License-Identifier: BSD-3-Clause */
/* Doing and fusing the operations of a cycle. */
#include "multigrid/cycle/operations.h"

#include "apply/apply_ops.h"
#include "multigrid/cycle/cycle_ops.h"
#include "multigrid/halo/agreement.h"
#include "multigrid/halo/halo.h"
#include "multigrid/halo/split.h"
#include "multigrid/level/dense_ops.h"

/* Does a step of a K-cycle, on one rank or on several. */
static bisai_status k_step(bisai_context *context, bsi_k_step *step, int sums,
                           const bsi_operation *s) {
  if (!s->ranks.halo) return step(context, s, BSI_K_WHOLE);
  BSI_TRY(step(context, s, BSI_K_SUM));
  BSI_TRY(bsi_sum_in_place(context, s->ranks.halo->transport, sums,
                           s->work + BSI_K_SCALARS - BSI_K_SUMS));
  return step(context, s, BSI_K_REST);
}

/* Zeros of both types have the same bits. A work vector has room for doubles. */
static bisai_status set_zero(bisai_context *context, const bsi_operation *s) {
  const int64_t doubles = s->y.narrow ? (s->n + 1) / 2 : s->n;
  return context->backend->vectors->set(context, doubles, 0.0, s->y.at);
}

/* Does an operation whose x has its ghosts. */
static bisai_status run(bisai_context *context, const bsi_operation *s) {
  const bsi_backend *backend = context->backend;
  const bsi_cycle_ops *ops = backend->multigrid->cycle;
  switch (s->kind) {
  case BSI_OPERATION_SET: return set_zero(context, s);
  case BSI_OPERATION_RELAX: return ops->relax(context, s);
  case BSI_OPERATION_MULTIPLY:
    if (!s->matrix) return ops->multiply(context, &s->m, s->ranks.rows, s->x, s->beta, s->y);
    return bsi_multiply_rows(context, s->matrix, s->ranks.rows, s->alpha, s->x, s->beta, s->b,
                             s->y);
  case BSI_OPERATION_DENSE:
    return backend->multigrid->dense->multiply(context, (int32_t)s->n, s->inverse.wide, s->x.at,
                                               s->y.at);
  case BSI_OPERATION_FIRST: return k_step(context, ops->first_step, 2, s);
  case BSI_OPERATION_SECOND: return k_step(context, ops->second_step, 3, s);
  }
  return BISAI_OK;
}

static bisai_status run_rows(bisai_context *context, const bsi_operation *s, bsi_row_list rows) {
  bsi_operation some = *s;
  some.ranks.rows = &rows;
  return run(context, &some);
}

/* Does the inner rows while the ghosts come. An exchange that has begun is ended in any case. */
static bisai_status overlap(bisai_context *context, const bsi_operation *s, int32_t width) {
  double *x = s->x.at;
  BSI_TRY(bsi_halo_begin(s->ranks.halo, width, x));
  const bisai_status inner = run_rows(context, s, bsi_inner_rows(s->ranks.split)),
                     end = bsi_halo_end(s->ranks.halo, width,
                                        x + (int64_t)s->ranks.halo->rows * width);
  if (inner || end) return inner ? inner : end;
  return run_rows(context, s, bsi_border_rows(s->ranks.split));
}

/* The rows of x have as many values as blocks have columns. */
bisai_status bsi_operation_run(bisai_context *context, const bsi_operation *s) {
  const bool product = s->kind == BSI_OPERATION_RELAX || s->kind == BSI_OPERATION_MULTIPLY;
  if (!s->ranks.halo || !s->x.at || !product) return run(context, s);
  const int32_t width = s->matrix ? s->matrix->block_size : s->m.width;
  if (s->ranks.split && s->ranks.split->order) return overlap(context, s, width);
  BSI_TRY(bsi_halo_complete(s->ranks.halo, width, s->x.at));
  return run(context, s);
}

/* Returns true if an operation may be the first of fused sweeps. */
static bool may_be_fused(const bsi_operation *s) {
  return !s->ranks.halo && s->matrix && s->b.at && s->matrix->block_rows == s->matrix->block_cols &&
         (s->kind == BSI_OPERATION_RELAX || (s->alpha == -1.0 && s->beta == 1.0));
}

/* Returns true if an operation may follow those that wait (bsi_fused_sweeps_ops::run). */
static bool joins(const bsi_fused_sweeps *c, const bsi_operation *s) {
  const bsi_operation *last = &c->steps[c->count - 1];
  if (c->count == BSI_FUSED_SWEEPS || !may_be_fused(s) || s->matrix != last->matrix ||
      s->x.at != last->y.at || (s->previous.at && s->previous.at != last->x.at))
    return false;
  for (int32_t k = 0; k < c->count; k++) {
    const bsi_operation *other = &c->steps[k];
    if (s->y.at == other->y.at || s->y.at == other->x.at || s->y.at == other->previous.at ||
        s->y.at == other->b.at || s->b.at == other->y.at)
      return false;
  }
  return s->y.at != s->b.at;
}

bisai_status bsi_operations_end(bsi_hierarchy *h) {
  bsi_fused_sweeps *c = &h->fused;
  const int32_t count = c->count;
  c->count = 0;
  if (count == 0) return BISAI_OK;
  return bsi_ops_of(h)->fused_sweeps->run(h->context, c->bandwidth, count, c->steps);
}

/* Does an operation that is not recorded, or lets it wait. */
static bisai_status do_or_wait(bsi_hierarchy *h, const bsi_level *level,
                               const bsi_operation *operation) {
  bsi_fused_sweeps *c = &h->fused;
  if (!bsi_ops_of(h)->fused_sweeps->run) return bsi_operation_run(h->context, operation);
  if (c->count > 0 && !joins(c, operation)) BSI_TRY(bsi_operations_end(h));
  if (!may_be_fused(operation)) return bsi_operation_run(h->context, operation);
  c->bandwidth = level->bandwidth;
  c->steps[c->count++] = *operation;
  return BISAI_OK;
}

bisai_status bsi_operation_do(bsi_hierarchy *h, const bsi_level *level,
                              const bsi_operation *operation) {
  bsi_coarse_graph *graph = &h->graph;
  if (!graph->recording) return do_or_wait(h, level, operation);
  if (graph->count < graph->capacity) {
    graph->steps[graph->count] = *operation;
    if (operation->matrix) graph->steps[graph->count].m = bsi_block_matrix_of(operation->matrix);
  }
  graph->count++;
  return BISAI_OK;
}
