/* SPDX-License-Identifier: BSD-3-Clause */
/* Applying approximate inverses of one triangular factor. `work` has count·n doubles, vectors as in
 * the public calls. */
#ifndef BSI_APPLY_H
#define BSI_APPLY_H

#include "core/triangular.h"

/* Right-hand sides that one application takes together, and the workspace is made for. */
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
} bsi_vectors;

/* x ← N b, then `relax` times x ← x + N (b − T x) (Anzt, Huckle, Bräckle, Dongarra 2018, section
 * 4). */
bisai_status bsi_apply_inverse(bisai_context *context, const bisai_bcsr *inverse,
                               const bsi_triangular *t, int relax, const bsi_vectors *vectors);

/* x ← Nᵀ b, then `relax` times x ← x + Nᵀ (b − Tᵀ x): the transpose of what bsi_apply_inverse()
 * does. `columns` of T are asked for with relax > 0 only. */
bisai_status bsi_apply_transposed(bisai_context *context, const bisai_bcsr *inverse,
                                  const bsi_columns *inverse_columns, const bsi_triangular *t,
                                  const bsi_columns *columns, int relax,
                                  const bsi_vectors *vectors);

/* x ← D⁻¹ b, then `sweeps` times x ← D⁻¹ b − G x with G = D⁻¹ T_off. work has 2·count·n doubles
 * here. */
bisai_status bsi_apply_sweeps(bisai_context *context, const bisai_bcsr *scaled,
                              const bsi_triangular *t, int sweeps, const bsi_vectors *vectors);

/* G = D⁻¹ T_off on T's off-diagonal pattern, values unset. */
bisai_status bsi_sweeps_create(bisai_context *context, const bsi_triangular *t,
                               bisai_bcsr **scaled);

/* Its values; BISAI_NOT_FINITE names the block row. */
bisai_status bsi_sweeps_update(bisai_context *context, const bsi_triangular *t, bisai_bcsr *scaled);

#endif
