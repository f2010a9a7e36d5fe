/* SPDX-License-Identifier: BSD-3-Clause */
/* A backend's operations on products of sparse block matrices. Arrays are in backend memory. The
 * host waits for an operation only where its comment says so. */
#ifndef BSI_SPGEMM_OPS_H
#define BSI_SPGEMM_OPS_H

#include "core/context/backend.h"
#include "multigrid/spgemm/block_matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How the blocks of a product C are smoothed: to T_ij − omega·D_i⁻¹ C_ij or, from the right, to
 * T_ij − omega·C_ij D_j⁻¹ (bsi_transfer_ops). */
typedef struct bsi_smoothing {
  const bsi_block_matrix *t;
  const double *inverse;
  double omega;
  bool from_right;
} bsi_smoothing;

/* Smooths the blocks of a product c. */
typedef bisai_status bsi_smooth_product(bisai_context *, const bsi_smoothing *,
                                        bsi_block_matrix *c);
bsi_smooth_product bsi_smooth_product_host, bsi_smooth_product_cuda;

/* Products of sparse matrices. */
typedef struct bsi_spgemm_ops {
  /* c ← the structure of a·b and its numbers. Reserves row_ptr and col_idx, but no values. A device
   * also sets `longest`. The columns of a row of a may repeat and need not ascend. If the product
   * has more than `most` blocks, c->row_ptr is NULL and there are no arrays. 2³¹ blocks are refused
   * if `most` allows them. After a failure the caller destroys c. Waits. */
  bisai_status (*multiply_structure)(bisai_context *, const bsi_block_matrix *a,
                                     const bsi_block_matrix *b, int64_t most, bsi_block_matrix *c);
  /* Makes the slots of a product c whose structure multiply_structure() has made, so that
   * multiply_values() need not search. NULL: a product has no slots. May wait. */
  bisai_status (*find_slots)(bisai_context *, const bsi_block_matrix *a, const bsi_block_matrix *b,
                             bsi_block_matrix *c);
  /* Makes c->slots.upper of a halved product c whose structure is there, if values need it.
   * NULL: they never do. */
  bisai_status (*find_upper)(bisai_context *, const bsi_block_matrix *a, const bsi_block_matrix *b,
                             bsi_block_matrix *c);
  /* Returns the bytes that multiply_structure() takes for a moment, beside c. A device takes other
   * room, which is not counted, and returns 0. */
  int64_t (*structure_room)(const bisai_context *, const bsi_block_matrix *a,
                            const bsi_block_matrix *b, int64_t most);
  /* Values of c ← a·b, where c has the structure above. The terms of a block are added in the order
   * of the blocks of a. Of a halved product the blocks to the left of the diagonal may be the
   * transposes of those to its right. Reserves nothing. */
  bisai_status (*multiply_values)(bisai_context *, const bsi_block_matrix *a,
                                  const bsi_block_matrix *b, bsi_block_matrix *c);
  /* The same, with the blocks smoothed. */
  bisai_status (*multiply_smoothed)(bisai_context *, const bsi_block_matrix *a,
                                    const bsi_block_matrix *b, const bsi_smoothing *,
                                    bsi_block_matrix *c);
  bsi_load_code *load;
} bsi_spgemm_ops;

extern const bsi_spgemm_ops bsi_spgemm_host, bsi_spgemm_cuda;

#ifdef __cplusplus
}
#endif

#endif
