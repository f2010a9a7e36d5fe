/* SPDX-License-Identifier: BSD-3-Clause */
/* The aggregates of the own rows of a piece.
 *
 * They are those that the blocks between own rows give, with two changes at the border. A coupling
 * that is weak beside that of one of its rows to a ghost is not strong: rows at the border would
 * otherwise be aggregated across the strong couplings of the matrix. And a row that has then nobody
 * to join, but is coupled to ghosts, is an aggregate of its own: if it stayed out, constants were
 * not in the coarse space there. Without this, a cut inside the grid lines of an anisotropic
 * diffusion took 23 iterations instead of 15.
 *
 * The coupling to a ghost counts as the weight of its block in the own row
 * (multigrid/aggregation/strength.h), because the other process has the mirrored block. */
#include <string.h>

#include "core/context/context_impl.h"
#include "multigrid/aggregation/aggregation_ops.h"
#include "multigrid/aggregation/strength.h"
#include "multigrid/piece/piece_impl.h"

/* What the aggregates are made from, and for each own row its largest coupling to a ghost and the
 * sum of these couplings, in units of BSI_COUPLING_UNIT. */
typedef struct border {
  bisai_bcsr *own;
  float *strength, *largest;
  int64_t *sum;
} border;

/* *own ← the blocks in the columns of the own rows. */
static bisai_status take_own_columns(const bisai_piece *p, bisai_bcsr **own) {
  const bisai_bcsr *a = p->rows;
  const int32_t n = a->block_rows;
  const size_t size = (size_t)(a->block_size * a->block_size);
  int32_t blocks = 0;
  for (int32_t k = 0; k < a->blocks; k++) blocks += a->col_idx[k] < n;
  BSI_TRY(bsi_bcsr_reserve(p->context, &(bsi_bcsr_sizes){n, n, a->block_size, blocks, BISAI_FP64},
                           NULL, NULL, own));
  int32_t to = 0;
  for (int32_t i = 0; i < n; i++) {
    (*own)->row_ptr[i] = to;
    for (int32_t k = a->row_ptr[i]; k < a->row_ptr[i + 1]; k++) {
      if (a->col_idx[k] >= n) continue;
      memcpy((double *)(*own)->values + (size_t)to * size,
             (const double *)a->values + (size_t)k * size, size * sizeof(double));
      (*own)->col_idx[to++] = a->col_idx[k];
    }
  }
  (*own)->row_ptr[n] = to;
  return BISAI_OK;
}

static void weigh_ghosts(const bisai_piece *p, border *b) {
  const bisai_bcsr *a = p->rows;
  const double *values = a->values;
  for (int32_t i = 0; i < a->block_rows; i++) {
    b->largest[i] = 0.0f;
    b->sum[i] = 0;
    for (int32_t k = a->row_ptr[i]; k < a->row_ptr[i + 1]; k++) {
      if (a->col_idx[k] < a->block_rows) continue;
      const float weight = bsi_weight(a->block_size, p->inverse + bsi_block_offset(a, i),
                                      values + bsi_block_offset(a, k));
      if (weight > b->largest[i]) b->largest[i] = weight;
      b->sum[i] += bsi_coupling_units(weight);
    }
  }
}

/* Drops couplings that are weak beside those to ghosts. A negative strength is that of a row that
 * follows another one. */
static void drop_weak(const bisai_piece *p, border *b) {
  const float threshold = (float)p->options.strength;
  for (int32_t i = 0; i < b->own->block_rows; i++)
    for (int32_t k = b->own->row_ptr[i]; k < b->own->row_ptr[i + 1]; k++) {
      const float coupling = b->strength[k], there = b->largest[b->own->col_idx[k]];
      const bool follows = coupling < 0.0f, weak_here = coupling < threshold * b->largest[i];
      if (follows ? -coupling < threshold * b->largest[i]
                  : weak_here || coupling < threshold * there)
        b->strength[k] = 0.0f;
    }
}

/* Gives rows without an aggregate that are coupled to ghosts one of their own, and lets others
 * follow those that they would have followed. */
static void add_single_rows(bisai_piece *p, const border *b) {
  bool changed = true;
  for (int32_t i = 0; i < b->own->block_rows; i++)
    if (p->aggregate[i] < 0 && b->sum[i] > BSI_LEAST_SUM) p->aggregate[i] = p->count++;
  while (changed) { /* chains of followers end: strength.h */
    changed = false;
    for (int32_t i = 0; i < b->own->block_rows; i++)
      for (int32_t k = b->own->row_ptr[i]; k < b->own->row_ptr[i + 1]; k++) {
        const int32_t other = p->aggregate[b->own->col_idx[k]];
        if (p->aggregate[i] >= 0 || b->strength[k] >= 0.0f || other < 0) continue;
        p->aggregate[i] = other;
        changed = true;
      }
  }
}

static bisai_status aggregate(bisai_piece *p, border *b) {
  const bsi_aggregation_ops *ops = p->context->backend->multigrid->aggregation;
  const bsi_strength_rule rule = bsi_strength_rule_of(p->options.strength, p->options.symmetric);
  const size_t n = (size_t)bsi_piece_rows(p);
  BSI_TRY(take_own_columns(p, &b->own));
  b->strength = bsi_allocate(p->context, (size_t)b->own->blocks, sizeof *b->strength);
  b->largest = bsi_allocate(p->context, n, sizeof *b->largest);
  b->sum = bsi_allocate(p->context, n, sizeof *b->sum);
  if (!b->strength || !b->largest || !b->sum) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(ops->weigh(p->context, b->own, p->inverse, &rule, b->strength));
  weigh_ghosts(p, b);
  drop_weak(p, b);
  BSI_TRY(ops->aggregate(p->context, b->own, b->strength, p->aggregate, &p->count));
  add_single_rows(p, b);
  return BISAI_OK;
}

bisai_status bsi_piece_aggregate(bisai_piece *p) {
  border b = {.own = NULL};
  const bisai_status status = aggregate(p, &b);
  bsi_release(p->context, b.strength);
  bsi_release(p->context, b.largest);
  bsi_release(p->context, b.sum);
  bisai_bcsr_destroy(&b.own);
  return status;
}
