/* SPDX-License-Identifier: BSD-3-Clause */
/* A backend's operations for what a cycle does on a level. Matrices A are square and store their
 * diagonal blocks; A of a relaxation may be in fp32. `inverse` has the inverses D⁻¹ of the diagonal
 * blocks of A, or what a smoother takes for them, in the order of the block rows. Arrays are in
 * backend memory. The host waits for an operation only where its comment says so. */
#ifndef BSI_CYCLE_OPS_H
#define BSI_CYCLE_OPS_H

#include "core/context/backend.h"
#include "multigrid/level/operation.h"

#ifdef __cplusplus
extern "C" {
#endif

/* y ← m x + beta·y, in these rows or, with NULL, in all. y is not read if beta is 0. x and y are
 * in fp32 only if m is, or if m has no values. */
typedef bisai_status bsi_multiply_transfer(bisai_context *, const bsi_block_matrix *m,
                                           const struct bsi_row_list *rows, bsi_vector x,
                                           double beta, bsi_vector y);
bsi_multiply_transfer bsi_multiply_transfer_cuda;

/* What of a step of a K-cycle is done: all of it, or the sums of this rank, which are left at work
 * + BSI_K_SCALARS − BSI_K_SUMS, and then the rest with the sums of all ranks at that place. */
typedef enum bsi_k_part { BSI_K_WHOLE, BSI_K_SUM, BSI_K_REST } bsi_k_part;

/* Does the operation FIRST or SECOND, whatever its kind says. */
typedef bisai_status bsi_k_step(bisai_context *, const bsi_operation *, bsi_k_part);

/* The steps of a cycle. */
typedef struct bsi_cycle_ops {
  /* Does an operation of the kind RELAX, whatever its kind says. `previous` is not read if alpha is
   * 0. Without b, y ← beta·D⁻¹A x, and alpha is 0. y may be `previous`, but neither x nor b. */
  bisai_status (*relax)(bisai_context *, const bsi_operation *);
  bsi_multiply_transfer *multiply;
  bsi_k_step *first_step, *second_step;
  /* vectors may be in fp32 where values are */
  bool narrow_vectors;
  bsi_load_code *load;
} bsi_cycle_ops;

/* A copy to make: to[k] ← from[k] for k < count, rounded to fp32. `small`: small values need not
 * keep their digits (multigrid/cycle/fp32_values.h). */
typedef struct bsi_fp32_rounding {
  int64_t count;
  const double *from;
  float *to;
  bool small;
} bsi_fp32_rounding;

typedef struct bsi_fp32_copy_ops {
  /* bsi_multigrid_setup::least_copied of preconditioners */
  int64_t least_bytes;
  /* the bytes of a record; 0: `record` is always NULL */
  size_t record_bytes;
  /* Copies `arrays` arrays. Without a record, *fits ← true if fp32 represents all values with all
   * of its digits (multigrid/cycle/fp32_copy.h), and the host waits once. A record in backend
   * memory gets this result instead of *fits, and the host does not wait. */
  bisai_status (*copy)(bisai_context *, int arrays, const bsi_fp32_rounding *, void *record,
                       bool *fits);
  /* Reads the copy of a record in host memory. */
  bool (*fits)(const void *record);
  /* to[k] ← from[k] for k < count */
  bisai_status (*widen)(bisai_context *, int64_t count, const float *from, double *to);
} bsi_fp32_copy_ops;

/* Steps on one matrix. The functions are NULL if single steps are as fast. */
typedef struct bsi_fused_sweeps_ops {
  /* Does `count` steps, at most BSI_FUSED_SWEEPS. All are relaxations with a b, or residuals b − A
   * x, of the same square matrix. `bandwidth` is that of the matrix. The x of a step is the y of
   * the step before, and `previous` is the x of that step or NULL. Apart from this, no step writes
   * what another one reads or writes. */
  bisai_status (*run)(bisai_context *, bsi_bandwidth bandwidth, int32_t count,
                      const struct bsi_operation *steps);
  /* Returns the bandwidth of a matrix. */
  bsi_bandwidth (*bandwidth)(bisai_context *, const bisai_bcsr *a);
} bsi_fused_sweeps_ops;

/* The small coarse levels of a cycle. */
typedef struct bsi_coarse_graph_ops {
  /* The most scalar rows of these levels. 0 if single steps are as fast. */
  int64_t most_rows;
  /* Does `count` steps one after the other. The steps are in backend memory. `rows` and `values`
   * are the scalar rows and the values of the largest matrix. */
  bisai_status (*run)(bisai_context *, int64_t rows, int64_t values, int32_t count,
                      const struct bsi_operation *steps);
} bsi_coarse_graph_ops;

extern const bsi_cycle_ops bsi_cycle_host, bsi_cycle_cuda;
extern const bsi_fp32_copy_ops bsi_fp32_copy_host, bsi_fp32_copy_cuda;
extern const bsi_fused_sweeps_ops bsi_fused_sweeps_host, bsi_fused_sweeps_cuda;
extern const bsi_coarse_graph_ops bsi_coarse_graph_host, bsi_coarse_graph_cuda;

#ifdef __cplusplus
}
#endif

#endif
