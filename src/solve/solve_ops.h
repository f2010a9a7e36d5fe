/* SPDX-License-Identifier: BSD-3-Clause */
/* A backend's operations for the values of approximate inverses. */
#ifndef BSI_SOLVE_OPS_H
#define BSI_SOLVE_OPS_H

#include "core/context/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bsi_triangular; /* core/matrix/triangular.h */
struct bsi_isai;       /* solve/isai.h */
struct bsi_isai_fault;

typedef struct bsi_solve_ops {
  /* Reserves the workspace of `values` for an N that has its pattern. */
  bisai_status (*reserve)(bisai_context *, const struct bsi_triangular *, struct bsi_isai *);
  /* Computes N on its pattern from T by the systems of bsi_isai_systems, one for every block column
   * j. On a device, those that are too large for shared memory use isai->columns, for isai->threads
   * of them at once. Waits for the first fault. */
  bisai_status (*values)(bisai_context *, const struct bsi_triangular *, struct bsi_isai *,
                         struct bsi_isai_fault *);
} bsi_solve_ops;

extern const bsi_solve_ops bsi_solve_host, bsi_solve_cuda;

/* dense_cuda.cu: the same for dense systems. */
bisai_status bsi_isai_reserve_dense(bisai_context *, const struct bsi_triangular *,
                                    struct bsi_isai *);
bisai_status bsi_isai_dense_values(bisai_context *, const struct bsi_triangular *,
                                   struct bsi_isai *, struct bsi_isai_fault *);

/* CUDA: returns the largest number of blocks of a column that are solved in shared memory. */
int32_t bsi_isai_shared_blocks(int block_size);

#ifdef __cplusplus
}
#endif

#endif
