/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations of a cycle. An operation is done at once, or waits for others on the same matrix,
 * so that sweeps are fused. The operations of the small coarse levels are recorded at set-up, as a
 * graph that a backend runs in one launch. */
#ifndef BSI_OPERATION_H
#define BSI_OPERATION_H

#include "core/context/backend.h"
#include "core/vector/typed_vector.h"
#include "multigrid/spgemm/block_matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The scalars and partial sums of a K-cycle step: BSI_K_WORK doubles in backend memory. */
enum { BSI_K_SUMS = 3, BSI_K_SCALARS = 8, BSI_K_WORK = BSI_K_SCALARS + BSI_K_SUMS * BSI_CHUNKS };

/* What an operation does with the members of bsi_operation. It reads no others. */
typedef enum bsi_operation_kind {
  /* y ← 0 */
  BSI_OPERATION_SET,
  /* y ← x + alpha·(x − previous) + beta·D⁻¹(b − A x), where D⁻¹ is `inverse`. NULL stands for zero
   * in the place of x, with alpha 0, and of `previous` (bsi_cycle_ops::relax) */
  BSI_OPERATION_RELAX,
  /* y ← alpha·A x + beta·b, where b may be y */
  BSI_OPERATION_MULTIPLY,
  /* y ← E x, where E is `inverse`, a dense matrix of n rows */
  BSI_OPERATION_DENSE,
  /* The first step of flexible GCR, with r = y: r ← r − v (v·r)/(v·v). Leaves scalars in `work` for
   * the second step. multigrid/cycle/inner_steps.h has the equations of both steps */
  BSI_OPERATION_FIRST,
  /* The second step, with c = y, c2 = x, v2 = A c2, and r = b, which the first step left: with the
   * c and v of the first step, c becomes the combination of c and c2 of least residual. A sum that
   * is zero or not finite drops its direction, and so does a v2 that is a multiple of v but for
   * rounding errors */
  BSI_OPERATION_SECOND
} bsi_operation_kind;

/* The inverses D⁻¹ or E in fp64 and in fp32. The latter are read if they are there: those of RELAX
 * alone, and of no step that is recorded. */
typedef struct bsi_inverse {
  const double *wide;
  const float *narrow;
} bsi_inverse;

/* What several ranks do in an operation. Zeros: there is one. */
typedef struct bsi_of_ranks {
  /* x gets its ghosts before RELAX and MULTIPLY read it, and the sums of FIRST and SECOND are those
   * of all ranks (multigrid/halo) */
  struct bsi_halo *halo;
  /* rows that need no ghosts are done while these come; NULL: none */
  const struct bsi_split *split;
  /* the rows of y that RELAX and MULTIPLY compute; NULL: all */
  const struct bsi_row_list *rows;
} bsi_of_ranks;

/* A step, which owns nothing. All arrays are in backend memory. */
typedef struct bsi_operation {
  bsi_operation_kind kind;
  /* the values of a vector; not of RELAX and MULTIPLY */
  int64_t n;
  /* A of RELAX and MULTIPLY is `matrix`. A product without a `matrix` takes m, and has alpha 1. A
   * step that is recorded has m for each A, because a device does not see `matrix` */
  const bisai_bcsr *matrix;
  bsi_block_matrix m;
  double alpha, beta;
  /* of RELAX and DENSE */
  bsi_inverse inverse;
  /* vectors that are read. Those of an operation without a `matrix` in fp32, of DENSE, FIRST,
   * SECOND and of steps that are recorded are in fp64; `previous` is as x */
  bsi_vector x, previous, b;
  const double *v, *v2;
  /* the vector that is written */
  bsi_vector y;
  bsi_of_ranks ranks;
  /* of FIRST and SECOND: the scalars of a K-cycle (BSI_K_WORK) */
  double *work;
} bsi_operation;

/* The most steps that are done together. */
enum { BSI_FUSED_SWEEPS = 4 };

/* The most that the columns of the blocks of a row lie below and above the row. */
typedef struct bsi_bandwidth {
  int32_t below, above;
} bsi_bandwidth;

/* Steps on one matrix that wait, to be done together (bsi_fused_sweeps_ops). */
typedef struct bsi_fused_sweeps {
  int32_t count;
  /* of the matrix */
  bsi_bandwidth bandwidth;
  bsi_operation steps[BSI_FUSED_SWEEPS];
} bsi_fused_sweeps;

/* The recorded steps of levels[level] and of the coarser levels (bsi_coarse_graph_ops). */
typedef struct bsi_coarse_graph {
  /* 0: there is no graph */
  int level;
  /* steps are recorded instead of being done */
  bool recording;
  /* the number of steps, and of those for which there is room */
  int32_t count, capacity;
  /* the steps in host memory, and their copy in backend memory */
  bsi_operation *steps, *there;
} bsi_coarse_graph;

#ifdef __cplusplus
}
#endif

#endif
