/* SPDX-License-Identifier: BSD-3-Clause */
/* A backend's operations for aggregation. Matrices A are in fp64 and store their diagonal blocks.
 * Columns beyond the rows are those of ghosts (multigrid/aggregation/border.h). `inverse` has the
 * inverses D⁻¹ of the diagonal blocks of A. Arrays are in backend memory. The host waits for an
 * operation only where its comment says so. */
#ifndef BSI_AGGREGATION_OPS_H
#define BSI_AGGREGATION_OPS_H

#include "core/context/backend.h"
#include "multigrid/spgemm/block_matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bsi_strength_rule; /* multigrid/aggregation/strength.h */

/* Aggregation of block rows. multigrid/aggregation/aggregate.h states the rule, which both backends
 * follow to the same result. */
/* The columns of the filtered A T, one for each block of A. */
typedef struct bsi_filtered {
  /* the column of P to which the block contributes (multigrid/aggregation/filter.h), or that of the
   * empty row of the identity if there is none */
  int32_t *column;
  /* 1 if the block is weak, from which `column` can be made again. NULL: not wanted */
  uint8_t *weak;
} bsi_filtered;

/* Makes `filtered`, and the structure of an identity of identity->cols rows with an empty row
 * below. The caller has reserved the arrays. A with the columns of `filtered`, times this identity,
 * is the filtered A T. */
typedef bisai_status bsi_filter(bisai_context *, const bisai_bcsr *a, const double *inverse,
                                double threshold, const int32_t *aggregate,
                                const bsi_filtered *filtered, bsi_block_matrix *identity);
/* Makes filtered->column from filtered->weak and T, of an A without ghosts. */
typedef bisai_status bsi_filter_again(bisai_context *, const bisai_bcsr *a,
                                      const bsi_block_matrix *t, const bsi_filtered *filtered);
bsi_filter bsi_filter_host, bsi_filter_cuda;
bsi_filter_again bsi_filter_again_host, bsi_filter_again_cuda;

typedef struct bsi_aggregation_ops {
  /* strength[p] ← the coupling of i and j for block p = (i, j) if i ≠ j and it is strong; minus the
   * coupling if row i has no strong one and follows row j; otherwise 0, as for ghosts
   * (multigrid/aggregation/strength.h). */
  bisai_status (*weigh)(bisai_context *, const bisai_bcsr *a, const double *inverse,
                        const struct bsi_strength_rule *, float *strength);
  /* aggregate[i] ← the aggregate of block row i, from 0, or −1 for a row that stays out.
   * *count ← the number of aggregates, *members ← the number of block rows in them. Waits, unless
   * a record in backend memory gets these numbers. */
  bisai_status (*aggregate)(bisai_context *, const bisai_bcsr *a, const float *strength,
                            int32_t *aggregate, void *record, int32_t *count, int32_t *members);
  /* the bytes of such a record; 0: `record` is not used */
  size_t record_bytes;
  /* Reads the copy of a record in host memory. */
  void (*read)(const void *record, int32_t *count, int32_t *members);
  bsi_filter *filter;
  bsi_filter_again *filter_again;
  bsi_load_code *load;
} bsi_aggregation_ops;

extern const bsi_aggregation_ops bsi_aggregation_host, bsi_aggregation_cuda;

#ifdef __cplusplus
}
#endif

#endif
