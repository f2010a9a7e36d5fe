/* SPDX-License-Identifier: BSD-3-Clause */
/* A backend's operations for block ILU. */
#ifndef BSI_FACTOR_OPS_H
#define BSI_FACTOR_OPS_H

#include <bisai/factor.h>
#include <bisai/pattern.h>

#include "core/context/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bsi_invert_stats; /* core/matrix/triangular.h */
struct bsi_levels;

/* The structure of the factors. */
typedef struct bsi_symbolic_ops {
  /* f->lower, f->upper, f->ilu.longest_row ← the structure of ILU(0). *missing ← the first block
   * row without a diagonal block, or −1; if there is one, nothing is made. Waits. */
  bisai_status (*split_triangles)(bisai_context *, const bisai_bcsr *matrix, bisai_factors *f,
                                  int32_t *missing);
  /* *fit ← true if the matrix has the pattern from which the factors were made. Waits. */
  bisai_status (*fit)(bisai_context *, const bisai_factors *, const bisai_bcsr *matrix, bool *fit);
  /* Makes the level schedule of a triangular matrix; on a device without levels->ptr. Waits. */
  bisai_status (*find_levels)(bisai_context *, bisai_triangle, const bisai_bcsr *,
                              struct bsi_levels *);
} bsi_symbolic_ops;

/* The values of the factors. */
typedef struct bsi_ilu_ops {
  /* Computes L, U and the inverse diagonal blocks of U on the structure of the factors. Waits for
   * the statistics on a device. */
  bisai_status (*factorise)(bisai_context *, const bisai_bcsr *matrix, bisai_factors *,
                            struct bsi_invert_stats *);
  /* Does the same in one sweep: every row meets rows of f->sweep.upper and inverses of
   * f->sweep.inverse instead of those that are computed at the same time. */
  bisai_status (*sweep)(bisai_context *, const bisai_bcsr *matrix, bisai_factors *,
                        struct bsi_invert_stats *);
} bsi_ilu_ops;

/* The inverses of a caller's diagonal blocks. */
typedef struct bsi_inversion_ops {
  /* inverses ← inverses of the matrix's blocks position[i], one in each block row i. With
   * shift_amount > 0 singular blocks are repaired first, and position[i] = −1 stands for a zero
   * block. Waits for the statistics on a device. */
  bisai_status (*invert)(bisai_context *, const bisai_bcsr *matrix, const int32_t *position,
                         double shift_amount, double *inverses, struct bsi_invert_stats *);
} bsi_inversion_ops;

typedef struct bsi_factor_ops {
  const bsi_symbolic_ops *symbolic;
  const bsi_ilu_ops *ilu;
  const bsi_inversion_ops *inversion;
} bsi_factor_ops;

extern const bsi_symbolic_ops bsi_symbolic_host, bsi_symbolic_cuda;
extern const bsi_ilu_ops bsi_ilu_host, bsi_ilu_cuda;
extern const bsi_inversion_ops bsi_inversion_host, bsi_inversion_cuda;

#ifdef __cplusplus
}
#endif

#endif
