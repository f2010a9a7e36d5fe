/* SPDX-License-Identifier: BSD-3-Clause */
/* The application of approximate inverses of one triangular factor. `work` has count·n doubles.
 * Vectors are as in the public calls. */
#ifndef BSI_APPLY_H
#define BSI_APPLY_H

#include "core/matrix/triangular.h"

/* The right-hand sides of one application, for which the workspace is made. */
enum { BSI_VECTORS_AT_ONCE = 4 };

/* The vectors of one application: `count` right-hand sides b and results x with their leading
 * dimensions. */
typedef struct bsi_vectors {
  int32_t count;
  const double *b;
  int64_t ldb;
  double *x;
  int64_t ldx;
  /* leading dimension n */
  double *work;
  /* of other vectors that the caller reads again soon: bsi_product_ops::multiply */
  int64_t cached_bytes;
  /* b has norm 1, and x may have rounding errors of fp32 that differ from one b to another, as
   * flexible methods bear */
  bool flexible;
} bsi_vectors;

/* x ← N b, then `relax` times x ← x + N (b − T x) (Anzt, Huckle, Bräckle, Dongarra 2018, section
 * 4). */
bisai_status bsi_apply_inverse(bisai_context *context, const bisai_bcsr *inverse,
                               const bsi_triangular *t, int relax, const bsi_vectors *vectors);

/* x ← Nᵀ b, then `relax` times x ← x + Nᵀ (b − Tᵀ x): the transpose of bsi_apply_inverse().
 * `columns` of T are needed only with relax > 0. */
bisai_status bsi_apply_transposed(bisai_context *context, const bisai_bcsr *inverse,
                                  const bsi_columns *inverse_columns, const bsi_triangular *t,
                                  const bsi_columns *columns, int relax,
                                  const bsi_vectors *vectors);

/* x ← D⁻¹ b, then `sweeps` times x ← D⁻¹ b − G x with G = D⁻¹ T_off. Here `work` has 2·count·n
 * doubles. */
bisai_status bsi_apply_sweeps(bisai_context *context, const bisai_bcsr *scaled,
                              const bsi_triangular *t, int sweeps, const bsi_vectors *vectors);

/* Makes G = D⁻¹ T_off on the off-diagonal pattern of T. Values are unset. */
bisai_status bsi_sweeps_create(bisai_context *context, const bsi_triangular *t,
                               bisai_bcsr **scaled);

/* Computes the values of G. The message of BISAI_NOT_FINITE names the block row. */
bisai_status bsi_sweeps_update(bisai_context *context, const bsi_triangular *t, bisai_bcsr *scaled);

#endif
