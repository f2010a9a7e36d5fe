/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations of a backend for block-Jacobi. */
#ifndef BSI_BJACOBI_OPS_H
#define BSI_BJACOBI_OPS_H

#include "core/context/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bsi_bjacobi; /* bjacobi/bjacobi.h */
struct bsi_partition;

typedef struct bsi_partition_ops {
  /* Finds a partition into blocks of at most `max_rows` scalar rows, 1 … 32, by agglomeration.
   * Consecutive scalar rows of equal pattern form a supervariable (stored zeros count). A
   * supervariable is cut, from its first row on, into pieces of max_rows rows and one of the rest.
   * Then a block takes the next piece as long as it has at most max_rows rows with it. Allocates
   * `start` unless the partition is uniform. Waits. */
  bisai_status (*find)(bisai_context *, const bisai_bcsr *, int32_t max_rows,
                       struct bsi_partition *);
  /* first_value and values of a partition that is not uniform; first_value is reserved. Waits. */
  bisai_status (*layout)(bisai_context *, struct bsi_bjacobi *);
} bsi_partition_ops;

typedef struct bsi_block_values_ops {
  /* Workspace of `compute`, for blocks for which everything else is reserved. */
  bisai_status (*reserve)(bisai_context *, const bisai_bcsr *, struct bsi_bjacobi *);
  /* Extracts, decomposes, rounds and stores all blocks. Allocates nothing. A device does not wait:
   * it may do something else before `collect`. */
  bisai_status (*compute)(bisai_context *, const bisai_bcsr *, struct bsi_bjacobi *);
  /* Adds what `compute` has found to the statistics. Waits. */
  bisai_status (*collect)(bisai_context *, struct bsi_bjacobi *);
} bsi_block_values_ops;

typedef struct bsi_block_solve_ops {
  /* y_b ← D_b⁻¹ x_b for every block b and `count` vectors; y is not x. */
  bisai_status (*apply)(bisai_context *, const struct bsi_bjacobi *, int32_t count, const double *x,
                        int64_t ldx, double *y, int64_t ldy);
} bsi_block_solve_ops;

typedef struct bsi_bjacobi_ops {
  /* A group has max(1, group_rows / rows of the largest block) blocks. */
  int group_rows;
  const bsi_partition_ops *partition;
  const bsi_block_values_ops *values;
  const bsi_block_solve_ops *solve;
} bsi_bjacobi_ops;

extern const bsi_partition_ops bsi_partition_host, bsi_partition_cuda;
extern const bsi_block_values_ops bsi_block_values_host, bsi_block_values_cuda;
extern const bsi_block_solve_ops bsi_block_solve_host, bsi_block_solve_cuda;

#ifdef __cplusplus
}
#endif

#endif
