/* SPDX-License-Identifier: BSD-3-Clause */
/* A backend's operations on the structure and the values of matrices. */
#ifndef BSI_MATRIX_OPS_H
#define BSI_MATRIX_OPS_H

#include "core/context/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bsi_asymmetry; /* core/matrix/asymmetry.h */
struct bsi_structure; /* core/matrix/mirror.h */
struct bsi_study_ops; /* study/study_ops.h */

typedef struct bsi_block_ops {
  /* Block p of `to` ← block order[p] of `from` (NULL: p), transposed if `from` is row-major.
   * Without an order, `to` may be `from`. */
  bisai_status (*copy_blocks)(bisai_context *, bisai_value_type, int bs, int32_t blocks,
                              bisai_layout, const int32_t *order, const void *from, void *to);
  /* to[map(p)] ← from[p] for p < count; the map is one-to-one (core/matrix/entry_map.h). */
  bisai_status (*scatter_values)(bisai_context *, int64_t count, bool wide, const void *map,
                                 const double *from, double *to);
  /* *index ← the first of `count` values that is NaN or infinite, or −1. Waits. */
  bisai_status (*find_not_finite)(bisai_context *, bisai_value_type, int64_t count,
                                  const void *values, int64_t *index);
} bsi_block_ops;

typedef struct bsi_structure_ops {
  /* *index ← the first block row, or block column, that stores no block, or −1. `marks` has a
   * double for each block row or column. Waits. */
  bisai_status (*find_empty)(bisai_context *, const bisai_bcsr *, bool columns, double *marks,
                             int64_t *index);
  /* position[i] ← the place of the diagonal block of block row i among the matrix's blocks, −1 if
   * there is none. *missing ← the first such row, or −1. Waits, unless a record in backend memory
   * gets that row. */
  bisai_status (*find_diagonals)(bisai_context *, const bisai_bcsr *, int32_t *position,
                                 void *record, int32_t *missing);
  /* the bytes of such a record; 0: `record` is not used */
  size_t record_bytes;
  /* Returns the row of the copy of a record in host memory. */
  int32_t (*read_missing)(const void *record);
  /* *moved ← the first block row whose diagonal block is not at its position, or −1. Waits. */
  bisai_status (*compare_diagonals)(bisai_context *, const bisai_bcsr *, const int32_t *position,
                                    int32_t *moved);
  /* *same ← true if a and b, of `rows` rows and `blocks` blocks in backend memory, are the same.
   * Waits. */
  bisai_status (*compare)(bisai_context *, int32_t rows, int32_t blocks,
                          const struct bsi_structure *a, const struct bsi_structure *b, bool *same);
} bsi_structure_ops;

/* Compares a square matrix with its transpose: core/matrix/asymmetry.h. If the asymmetry is more
 * than `enough`, the measurement may end early, with any value above `enough`. Waits. */
typedef bisai_status bsi_measure_asymmetry(bisai_context *, const bisai_bcsr *, double enough,
                                           struct bsi_asymmetry *);

typedef struct bsi_matrix_ops {
  const bsi_block_ops *blocks;
  const bsi_structure_ops *structures;
  bsi_measure_asymmetry *measure_asymmetry;
  const struct bsi_study_ops *study;
} bsi_matrix_ops;

extern const bsi_block_ops bsi_blocks_host, bsi_blocks_cuda;
extern const bsi_structure_ops bsi_structures_host, bsi_structures_cuda;
bsi_measure_asymmetry bsi_measure_asymmetry_host, bsi_measure_asymmetry_cuda;

#ifdef __cplusplus
}
#endif

#endif
