/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of a cycle. A cycle does each step at once. The steps of the small coarse levels, the
 * tail, are also recorded, so that a backend does all of them in one launch. */
#ifndef BSI_STEPS_H
#define BSI_STEPS_H

#include "multigrid/multigrid_ops.h"
#include "multigrid/sparse.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum bsi_step_kind {
  /* y ← 0, n values */
  BSI_STEP_SET,
  /* bsi_cycle_ops::relax for the matrix m */
  BSI_STEP_RELAX,
  /* y ← alpha·m x + beta·b; b may be y */
  BSI_STEP_MULTIPLY,
  /* y ← inverse·x, a dense inverse of n rows */
  BSI_STEP_DENSE,
  /* bsi_cycle_ops::first_step for v and the residual y */
  BSI_STEP_FIRST,
  /* bsi_cycle_ops::second_step for y and v, x and v2, and the residual b */
  BSI_STEP_SECOND
} bsi_step_kind;

typedef struct bsi_step {
  bsi_step_kind kind;
  int64_t n;
  /* m is `matrix`, or `matrix` is NULL and alpha is 1 */
  const bisai_bcsr *matrix;
  bsi_sparse m;
  double alpha, beta;
  const double *inverse, *x, *previous, *b, *v, *v2;
  double *y, *work;
} bsi_step;

/* Does a step at once. */
bisai_status bsi_step_run(bisai_context *context, const bsi_step *step);

/* Steps that wait, to be done together. */
typedef struct bsi_chain {
  int32_t count;
  bsi_reach reach;
  bsi_step steps[BSI_CHAIN_STEPS];
} bsi_chain;

/* The recorded steps of levels[level] and the coarser ones. */
typedef struct bsi_tail {
  /* 0: there is no tail */
  int level;
  bool recording;
  int32_t count, capacity;
  /* in host memory, and in backend memory */
  bsi_step *steps, *there;
} bsi_tail;

#ifdef __cplusplus
}
#endif

#endif
