/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of a cycle. A step is done at once, or waits for others on the same matrix, so that a
 * chain of them is done together. The steps of the small coarse levels, the tail, are recorded at
 * set-up, so that a backend does all of them in one launch. */
#ifndef BSI_CYCLE_OPERATIONS_H
#define BSI_CYCLE_OPERATIONS_H

#include "multigrid/multigrid_ops.h"
#include "multigrid/spgemm/block_matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a step does with the members of bsi_step. It reads no others. */
typedef enum bsi_step_kind {
  /* y ← 0 */
  BSI_STEP_SET,
  /* y ← x + alpha·(x − previous) + beta·D⁻¹(b − A x), where D⁻¹ is `inverse`. Arrays may be NULL as
   * for bsi_cycle_ops::relax */
  BSI_STEP_RELAX,
  /* y ← alpha·A x + beta·b, where b may be y */
  BSI_STEP_MULTIPLY,
  /* y ← E x, where E is `inverse`, a dense matrix of n rows */
  BSI_STEP_DENSE,
  /* bsi_cycle_ops::first_step with v = v, r = y */
  BSI_STEP_FIRST,
  /* bsi_cycle_ops::second_step with c = y, v = v, c2 = x, v2 = v2, r = b */
  BSI_STEP_SECOND
} bsi_step_kind;

/* A step, which owns nothing. All arrays are in backend memory. */
typedef struct bsi_step {
  bsi_step_kind kind;
  /* the values of a vector; not of RELAX and MULTIPLY */
  int64_t n;
  /* A of RELAX and MULTIPLY is `matrix`. A product without a `matrix` takes m, and has alpha 1. A
   * step that is recorded has m for each A, because a device does not see `matrix` */
  const bisai_bcsr *matrix;
  bsi_sparse m;
  double alpha, beta;
  /* of RELAX and DENSE */
  const double *inverse;
  /* vectors that are read */
  const double *x, *previous, *b, *v, *v2;
  /* the vector that is written */
  double *y;
  /* of FIRST and SECOND: the scalars of a K-cycle (BSI_K_WORK) */
  double *work;
} bsi_step;

/* Does a step at once. */
bisai_status bsi_step_run(bisai_context *context, const bsi_step *step);

/* Steps on one matrix that wait, to be done together (bsi_chain_ops). */
typedef struct bsi_chain {
  int32_t count;
  /* of the matrix */
  bsi_reach reach;
  bsi_step steps[BSI_CHAIN_STEPS];
} bsi_chain;

/* The recorded steps of levels[level] and of the coarser levels (bsi_tail_ops). */
typedef struct bsi_tail {
  /* 0: there is no tail */
  int level;
  /* steps are recorded instead of being done */
  bool recording;
  /* the number of steps, and of those for which there is room */
  int32_t count, capacity;
  /* the steps in host memory, and their copy in backend memory */
  bsi_step *steps, *there;
} bsi_tail;

#ifdef __cplusplus
}
#endif

#endif
