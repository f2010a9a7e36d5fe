/* SPDX-License-Identifier: BSD-3-Clause */
/* Products with block matrices and solves with block triangles on a backend. `count` vectors X, Y,
 * Z have the leading dimensions ldx, ldy, ldz. */
#ifndef BSI_APPLY_OPS_H
#define BSI_APPLY_OPS_H

#include <bisai/factor.h>

#include "core/context/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bsi_columns;    /* core/matrix/bcsr_impl.h */
struct bsi_triangular; /* core/matrix/triangular.h */

typedef struct bsi_product_ops {
  /* Y ← alpha·A X + beta·Z. Z is not read if beta = 0 and may be Y. An implied unit diagonal is
   * included. The caller reads `cached_bytes` of other vectors again soon. If these and A exceed
   * the cache of a device, the device reads A past the cache. */
  bisai_status (*multiply)(bisai_context *, const bisai_bcsr *, int32_t count, double alpha,
                           const double *x, int64_t ldx, double beta, const double *z, int64_t ldz,
                           double *y, int64_t ldy, int64_t cached_bytes);
  /* Y ← D X for a block-diagonal D of n blocks of size bs. */
  bisai_status (*multiply_diagonal)(bisai_context *, int32_t n, int bs, const double *blocks,
                                    int32_t count, const double *x, int64_t ldx, double *y,
                                    int64_t ldy);
} bsi_product_ops;

typedef struct bsi_transposed_ops {
  /* Y ← alpha·Aᵀ X + beta·Z for a square A, given with its blocks by columns. Otherwise as
   * above. */
  bisai_status (*multiply)(bisai_context *, const bisai_bcsr *, const struct bsi_columns *,
                           int32_t count, double alpha, const double *x, int64_t ldx, double beta,
                           const double *z, int64_t ldz, double *y, int64_t ldy,
                           int64_t cached_bytes);
} bsi_transposed_ops;

typedef struct bsi_trisolve_ops {
  /* X ← T⁻¹ B by an exact solve. X may be B. */
  bisai_status (*solve)(bisai_context *, const struct bsi_triangular *, bisai_schedule,
                        int32_t count, const double *b, int64_t ldb, double *x, int64_t ldx);
} bsi_trisolve_ops;

typedef struct bsi_sweep_ops {
  /* G ← D⁻¹ T_off: the rows of T_off times the inverse diagonal blocks. *infinite_row ← the first
   * row with a value that is not finite, or −1. Waits. */
  bisai_status (*scale_off_diagonal)(bisai_context *, const struct bsi_triangular *,
                                     bisai_bcsr *scaled, int32_t *infinite_row);
} bsi_sweep_ops;

typedef struct bsi_apply_ops {
  const bsi_product_ops *products;
  const bsi_transposed_ops *transposed;
  const bsi_trisolve_ops *triangular;
  const bsi_sweep_ops *sweeps;
} bsi_apply_ops;

extern const bsi_product_ops bsi_products_host, bsi_products_cuda;
extern const bsi_transposed_ops bsi_transposed_host, bsi_transposed_cuda;
extern const bsi_trisolve_ops bsi_triangular_host, bsi_triangular_cuda;
extern const bsi_sweep_ops bsi_sweeps_host, bsi_sweeps_cuda;

#ifdef __cplusplus
}
#endif

#endif
