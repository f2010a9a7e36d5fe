/* SPDX-License-Identifier: BSD-3-Clause */
/* The l1 smoother: block-Jacobi with D_ii + diag(Σ |a_ij|), where the sum is over the entries of
 * the row outside of D (Baker, Falgout, Kolev, Yang 2011). Its ρ is at most 1 for a symmetric
 * definite A. */
#include "multigrid/smoothers/l1.h"

#include "multigrid/diagonal/diagonal_ops.h"
#include "multigrid/diagonal/null_rows.h"
#include "multigrid/level/level_errors.h"
#include "multigrid/smoothers/relaxation.h"
#include "multigrid/smoothers/smoothers.h"

/* The diagonal blocks, the row pointers of a matrix of them, and their inverses. */
typedef struct l1_state {
  double *blocks;
  int32_t *position;
  double *inverse;
} l1_state;

static l1_state *l1_of(const bsi_level *level) { return level->smoother.state; }

static bisai_status l1_update(bsi_hierarchy *h, bsi_level *level) {
  const l1_state *s = l1_of(level);
  bsi_invert_stats stats = BSI_INVERT_STATS_NONE;
  BSI_TRY(BSI_ON_BACKEND(h->context, bsi_l1_diagonal)(h->context, level->matrix, s->blocks,
                                                      s->position));
  bisai_bcsr view = *level->matrix;
  view.blocks = view.block_rows;
  view.row_ptr = s->position; /* one block in each row */
  view.values = s->blocks;
  BSI_TRY(bsi_ops_of(h)->inversion->invert(h->context, &view, s->position, bsi_shift_of(h, level),
                                           s->inverse, NULL,
                                           &(bsi_inversion_findings){.stats = &stats}));
  BSI_TRY(bsi_level_judge(h, level, "l1 smoother: ", &stats));
  return bsi_null_rows_drop(h, level, s->inverse);
}

static bisai_status l1_create(bsi_hierarchy *h, bsi_level *level) {
  l1_state *s = l1_of(level);
  const bisai_bcsr *a = level->matrix;
  const int64_t values = bsi_level_diagonal_values(level);
  s->blocks = bsi_hierarchy_reserve_vector(h, values);
  s->position = bsi_hierarchy_reserve(h, (int64_t)a->block_rows + 1, sizeof *s->position);
  s->inverse = bsi_hierarchy_reserve_vector(h, values);
  if (!s->blocks || !s->position || !s->inverse) return BISAI_OUT_OF_MEMORY;
  level->smoother.inverse = s->inverse;
  BSI_TRY(h->context->backend->memory->upload(h->context, s->position + a->block_rows,
                                              &a->block_rows, sizeof a->block_rows));
  return l1_update(h, level);
}

static bisai_status l1_smooth(bsi_hierarchy *h, bsi_level *level, int32_t count, bsi_vector b,
                              bsi_vector from, bsi_vector to) {
  const bsi_relaxations r = {count, 1, bsi_same_damping, &h->setup.options.damping};
  return bsi_relax(h, level, &r, b, from, to);
}

static int64_t l1_memory(const bsi_level *level) {
  return 2 * 8 * bsi_level_diagonal_values(level) + 4 * ((int64_t)level->matrix->block_rows + 1);
}

static void l1_destroy(bisai_context *context, bsi_level *level) {
  const l1_state *s = l1_of(level);
  context->backend->memory->release(context, s->blocks);
  context->backend->memory->release(context, s->position);
  context->backend->memory->release(context, s->inverse);
}

const bsi_smoother bsi_smoother_l1 = {.options = {"multigrid.damping"},
                                      .definite = true,
                                      .state_size = sizeof(l1_state),
                                      .create = l1_create,
                                      .update = l1_update,
                                      .smooth = l1_smooth,
                                      .memory = l1_memory,
                                      .destroy = l1_destroy};
