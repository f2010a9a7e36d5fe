/* SPDX-License-Identifier: BSD-3-Clause */
/* A backend's operations for the parts of a saddle point [K G; D −C]. Arrays are in backend
 * memory. */
#ifndef BSI_SCHUR_OPS_H
#define BSI_SCHUR_OPS_H

#include "core/context/context_impl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What becomes of a value v that is taken: v, 1/v, or 0 if v is zero and infinity otherwise. */
typedef enum bsi_taking { BSI_TAKE_VALUE, BSI_TAKE_INVERSE, BSI_TAKE_WHETHER_ZERO } bsi_taking;

/* The Schur complement E = sign·(C + D H⁻¹ G) on its structure. */
typedef struct bsi_complement {
  int32_t rows;
  double sign;
  const int32_t *row_ptr, *col_idx;
  double *values;
  /* the values of A, and where −C has its values among them; −1: nowhere */
  const double *a;
  const int64_t *map;
  const int32_t *d_ptr, *d_col, *g_ptr, *g_col;
  const double *d_values, *g_values;
  /* H⁻¹ */
  const double *h;
} bsi_complement;

typedef struct bsi_schur_ops {
  /* to_k ← value map[k] of `from`, or zero if map[k] < 0, as `how` says; k < count. */
  bisai_status (*take)(bisai_context *, bsi_taking how, int64_t count, const int64_t *map,
                       const double *from, double *to);
  /* The values of E. */
  bisai_status (*complement)(bisai_context *, const bsi_complement *);
  /* to_k ← from[rows[k]] for k < n. */
  bisai_status (*gather)(bisai_context *, int32_t n, const int32_t *rows, const double *from,
                         double *to);
  /* to[rows[k]] ← from_k for k < n. */
  bisai_status (*scatter)(bisai_context *, int32_t n, const int32_t *rows, const double *from,
                          double *to);
  /* y_k ← d_k x_k for k < n. y may be x. */
  bisai_status (*scale)(bisai_context *, int32_t n, const double *d, const double *x, double *y);
} bsi_schur_ops;

extern const bsi_schur_ops bsi_schur_host, bsi_schur_cuda;

static inline const bsi_schur_ops *bsi_schur_ops_of(const bisai_context *context) {
  return BSI_ON_BACKEND(context, &bsi_schur);
}

#ifdef __cplusplus
}
#endif

#endif
