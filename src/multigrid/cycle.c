/* SPDX-License-Identifier: BSD-3-Clause */
/* The cycles V, VW, W and K. */
#include "multigrid/cycle.h"

#include "multigrid/cycle/coarse_graph.h"
#include "multigrid/cycle/cycle_ops.h"
#include "multigrid/cycle/operations.h"
#include "multigrid/halo/split.h"
#include "multigrid/level/smoother.h"
#include "multigrid/smoothers/smoothers.h"

/* There is no vector. */
static const bsi_vector NONE = {NULL, false};

static bisai_status cycle(bsi_hierarchy *h, int l, bsi_vector b, bsi_vector from, bsi_vector x);

/* y ← A x */
static bisai_status multiply(bsi_hierarchy *h, const bsi_level *level, bsi_vector x, bsi_vector y) {
  return bsi_operation_do(
      h, level,
      &(bsi_operation){.kind = BSI_OPERATION_MULTIPLY,
                       .matrix = bsi_cycle_matrix(level),
                       .ranks = {level->halo, level->splits ? &level->splits->matrix : NULL, NULL},
                       .alpha = 1.0,
                       .x = x,
                       .y = y});
}

/* y ← b − A x */
static bisai_status residual(bsi_hierarchy *h, const bsi_level *level, bsi_vector b, bsi_vector x,
                             bsi_vector y) {
  return bsi_operation_do(
      h, level,
      &(bsi_operation){.kind = BSI_OPERATION_MULTIPLY,
                       .matrix = bsi_cycle_matrix(level),
                       .ranks = {level->halo, level->splits ? &level->splits->matrix : NULL, NULL},
                       .alpha = -1.0,
                       .beta = 1.0,
                       .x = x,
                       .b = b,
                       .y = y});
}

/* y ← R x */
static bisai_status restrict_vector(bsi_hierarchy *h, const bsi_level *level, bsi_vector x,
                                    bsi_vector y) {
  return bsi_operation_do(
      h, level,
      &(bsi_operation){
          .kind = BSI_OPERATION_MULTIPLY,
          .matrix = level->fp32.in_use ? level->fp32.restriction : NULL,
          .m = bsi_cycle_restriction(level),
          .ranks = {level->halo, level->splits ? &level->splits->restriction : NULL, NULL},
          .alpha = 1.0,
          .x = x,
          .b = y,
          .y = y});
}

/* y ← y + P x, where x is a vector of the next level */
static bisai_status add_prolonged(bsi_hierarchy *h, const bsi_level *level, bsi_vector x,
                                  bsi_vector y) {
  return bsi_operation_do(
      h, level,
      &(bsi_operation){
          .kind = BSI_OPERATION_MULTIPLY,
          .matrix = level->fp32.in_use ? level->fp32.prolongation : NULL,
          .m = bsi_cycle_prolongation(level),
          .ranks = {level[1].halo, level->splits ? &level->splits->prolongation : NULL, NULL},
          .alpha = 1.0,
          .beta = 1.0,
          .x = x,
          .b = y,
          .y = y});
}

/* x ← A⁻¹b, up to the error of smoothing if there is no inverse. */
static bisai_status solve_coarsest(bsi_hierarchy *h, bsi_level *level, bsi_vector b, bsi_vector x) {
  if (h->coarse.gathered.ops)
    return h->coarse.gathered.ops->apply(h->coarse.gathered.self, b.at, x.at);
  if (!h->coarse.inverse) return bsi_smooth(h, level, BSI_COARSEST_SMOOTHINGS, b, NONE, x);
  return bsi_operation_do(h, level,
                          &(bsi_operation){.kind = BSI_OPERATION_DENSE,
                                           .n = bsi_level_rows(level),
                                           .inverse = {h->coarse.inverse, NULL},
                                           .x = b,
                                           .y = x});
}

/* solution ← the combination of two corrections with the least residual (Notay and Vassilevski
 * 2008, Algorithm 3.2, without its test of the first residual). */
static bisai_status combine_two(bsi_hierarchy *h, int l) {
  bsi_level *level = &h->levels[l];
  const int64_t n = bsi_level_rows(level);
  const bsi_vector b = bsi_wide(level->work.b), solution = bsi_wide(level->work.solution),
                   second = bsi_wide(level->work.second);
  BSI_TRY(cycle(h, l, b, NONE, solution));
  BSI_TRY(multiply(h, level, solution, bsi_wide(level->work.image)));
  BSI_TRY(bsi_operation_do(h, level,
                           &(bsi_operation){.kind = BSI_OPERATION_FIRST,
                                            .n = n,
                                            .v = level->work.image,
                                            .y = b,
                                            .ranks.halo = level->halo,
                                            .work = level->work.scalars}));
  BSI_TRY(cycle(h, l, b, NONE, second));
  BSI_TRY(multiply(h, level, second, bsi_wide(level->work.second_image)));
  return bsi_operation_do(h, level,
                          &(bsi_operation){.kind = BSI_OPERATION_SECOND,
                                           .n = n,
                                           .y = solution,
                                           .v = level->work.image,
                                           .x = second,
                                           .v2 = level->work.second_image,
                                           .b = b,
                                           .ranks.halo = level->halo,
                                           .work = level->work.scalars});
}

/* solution ← the correction of two cycles. The second one begins with the result of the first. This
 * gives what a correction of the residual gives, without the residual and the sum. */
static bisai_status cycle_twice(bsi_hierarchy *h, int l) {
  bsi_level *level = &h->levels[l];
  const bool smooths = h->setup.options.pre > 0 || h->setup.options.post > 0;
  const bsi_vector b = bsi_work_vector(level, level->work.b),
                   solution = bsi_work_vector(level, level->work.solution),
                   between = smooths ? bsi_work_vector(level, level->work.second) : solution;
  BSI_TRY(cycle(h, l, b, NONE, between));
  return cycle(h, l, b, between, solution);
}

/* solution ← the correction, by single steps on this level. */
static bisai_status correct(bsi_hierarchy *h, int l) {
  const bsi_level *level = &h->levels[l];
  if (!bsi_level_corrects_twice(h, l))
    return cycle(h, l, bsi_work_vector(level, level->work.b), NONE,
                 bsi_work_vector(level, level->work.solution));
  return h->setup.options.cycle == BISAI_CYCLE_K ? combine_two(h, l) : cycle_twice(h, l);
}

bisai_status bsi_hierarchy_correct(bsi_hierarchy *h, int l) {
  if (l == h->graph.level && !h->graph.recording) {
    BSI_TRY(bsi_operations_end(h));
    return bsi_coarse_graph_run(h);
  }
  BSI_TRY(correct(h, l));
  return bsi_operations_end(h);
}

/* Returns the array for the iterate between the two smoothings. A smoothing that does nothing stays
 * in its array. One that does something reads one array and writes to another. */
static bsi_vector vector_between(const bsi_hierarchy *h, const bsi_level *level, bsi_vector from,
                                 bsi_vector x) {
  if (from.at && h->setup.options.pre == 0) return from;
  return h->setup.options.post == 0 ? x : bsi_work_vector(level, level->work.x);
}

/* x ← one cycle for A x = b from `from`, which changes, or, if there is none, from zero. x is
 * another array than `from` unless nothing is smoothed. */
static bisai_status cycle(bsi_hierarchy *h, int l, bsi_vector b, bsi_vector from, bsi_vector x) {
  bsi_level *level = &h->levels[l];
  if (l == h->count - 1) return solve_coarsest(h, level, b, x);
  bsi_level *coarse = &h->levels[l + 1];
  const int32_t pre = h->setup.options.pre, post = h->setup.options.post;
  const bsi_vector between = vector_between(h, level, from, x),
                   rest = bsi_work_vector(level, level->work.residual),
                   coarse_b = bsi_work_vector(coarse, coarse->work.b);
  if (between.at != from.at) BSI_TRY(bsi_smooth(h, level, pre, b, from, between));
  const bool has_residual = from.at || pre > 0; /* b is the residual of zero */
  if (has_residual) BSI_TRY(residual(h, level, b, between, rest));
  BSI_TRY(restrict_vector(h, level, has_residual ? rest : b, coarse_b));
  BSI_TRY(bsi_hierarchy_correct(h, l + 1));
  BSI_TRY(add_prolonged(h, level, bsi_work_vector(coarse, coarse->work.solution), between));
  return between.at == x.at ? BISAI_OK : bsi_smooth(h, level, post, b, between, x);
}

/* x ← the combination of two corrections of level 0. */
static bisai_status combine_first(bsi_hierarchy *h, const double *b, double *x) {
  const bsi_memory_ops *memory = h->context->backend->memory;
  const bsi_level_work *work = &h->levels[0].work;
  const size_t bytes = (size_t)bsi_level_rows(&h->levels[0]) * sizeof *b;
  BSI_TRY(memory->copy(h->context, work->b, b, bytes));
  BSI_TRY(combine_two(h, 0));
  BSI_TRY(bsi_operations_end(h));
  return memory->copy(h->context, x, work->solution, bytes);
}

/* x ← the correction of level 0, if it is a coarse one that cycles correct twice. */
static bisai_status correct_first(bsi_hierarchy *h, const double *b, double *x) {
  if (h->setup.options.cycle == BISAI_CYCLE_K) return combine_first(h, b, x);
  const bool smooths = h->setup.options.pre > 0 || h->setup.options.post > 0;
  const bsi_vector between = bsi_wide(smooths ? h->levels[0].work.second : x);
  BSI_TRY(cycle(h, 0, bsi_wide(b), NONE, between));
  return cycle(h, 0, bsi_wide(b), between, bsi_wide(x));
}

bisai_status bsi_hierarchy_cycle(bsi_hierarchy *h, const double *b, double *x) {
  h->fused.count = 0; /* a cycle that failed may have left steps */
  BSI_TRY(bsi_level_corrects_twice(h, 0) ? correct_first(h, b, x)
                                         : cycle(h, 0, bsi_wide(b), NONE, bsi_wide(x)));
  return bsi_operations_end(h);
}

/* A level below one in fp64 has fp64 too, so that no product of values in fp64 has an x in fp32. K,
 * ranks, levels that continue those of ranks and the inverse of the coarsest level have fp64. On
 * level 0 b and x are the caller's, in fp64: a cycle without a smoothing on either side works in
 * them, and the last of three relaxations would write over the vector of the first. */
int bsi_narrow_levels(const bsi_hierarchy *h) {
  const bisai_multigrid_options *o = &h->setup.options;
  const bsi_level *first = &h->levels[0];
  const int64_t degree = bsi_smoother_degree(h, first);
  int levels = 0;
  if (!bsi_ops_of(h)->cycle->narrow_vectors || o->cycle == BISAI_CYCLE_K || h->setup.transport ||
      h->setup.above.levels > 0 || bsi_smoother_is_nested(first) || o->pre == 0 || o->post == 0 ||
      degree * o->post > 2 || h->count == 1)
    return 0;
  while (levels < h->count && h->levels[levels].fp32.in_use &&
         !(levels == h->count - 1 && h->coarse.inverse))
    levels++;
  return levels;
}

bisai_status bsi_hierarchy_cycle_in_fp32(bsi_hierarchy *h, const double *b, double *x) {
  const int levels = bsi_narrow_levels(h);
  for (int l = 0; l < levels; l++) h->levels[l].work.narrow = true;
  const bisai_status status = bsi_hierarchy_cycle(h, b, x);
  for (int l = 0; l < levels; l++) h->levels[l].work.narrow = false;
  return status;
}

static bisai_status apply(void *self, const double *b, double *x) {
  return bsi_hierarchy_cycle(self, b, x);
}

bsi_operator bsi_hierarchy_operator(bsi_hierarchy *h) {
  static const bsi_operator_ops ops = {.apply = apply};
  return (bsi_operator){&ops, h};
}
