/* SPDX-License-Identifier: BSD-3-Clause */
/* A backend's operations for constrained pressure residuals (Wallis 1983). Matrices are square, in
 * fp64, and store their diagonal blocks. `weights` has block_size values w_i for each block row i,
 * and unknown `pressure` of each block is the pressure. */
#ifndef BSI_CPR_OPS_H
#define BSI_CPR_OPS_H

#include "core/context/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bsi_weighing; /* cpr/weights.h */
struct bsi_weight_stats;
struct bsi_scaling; /* cpr/scales.h */
struct bsi_imbalance;

/* The steps of bsi_scales_apply(). */
typedef struct bsi_scales_ops {
  /* pairs ← 0, x_i ← −log₂ p_ii. */
  bisai_status (*begin)(bisai_context *, const struct bsi_scaling *);
  /* Finds the pairs by bsi_pair_find(), and their sums. Waits. */
  bisai_status (*pair)(bisai_context *, const struct bsi_scaling *, struct bsi_imbalance *);
  /* to ← x after a sweep from `from`, or from zero if that is NULL. */
  bisai_status (*sweep)(bisai_context *, const struct bsi_scaling *, double omega,
                        const int32_t *from, int32_t *to);
  /* Row i of P and its `bs` weights ← themselves times bsi_row_scale() of x_i. */
  bisai_status (*scale)(bisai_context *, const struct bsi_scaling *, int bs, double *weights);
} bsi_scales_ops;

typedef struct bsi_cpr_ops {
  /* Computes the weights and their statistics by the rules of cpr/weights.h. Waits, unless `stats`
   * is NULL. */
  bisai_status (*weigh)(bisai_context *, const struct bsi_weighing *, double *weights,
                        struct bsi_weight_stats *stats);
  /* Entry q = (i, j) of `values` ← w_iᵀ a, where a is column `pressure` of block A_ij; a row of
   * weights 0 becomes that of the identity. Column q of `columns` ← a, unless `columns` is NULL.
   * Either output may be NULL. */
  bisai_status (*reduce)(bisai_context *, const bisai_bcsr *a, const double *weights,
                         int32_t pressure, double *values, double *columns);
  /* *sum, in backend memory, ← Σ bsi_coupling_of_row() (cpr/ellipticity.h) of a matrix of blocks of
   * one value, whose diagonal entries are at `diagonal`. */
  bisai_status (*couple)(bisai_context *, const bisai_bcsr *p, const int32_t *diagonal,
                         int64_t *sum);
  /* *sum, in backend memory, ← Σ bsi_reach_of_equation() of all equations. */
  bisai_status (*reach)(bisai_context *, const bisai_bcsr *a, const int32_t *diagonal,
                        int32_t pressure, int64_t *sum);
  /* r_i ← w_iᵀ v_i for each of n block rows. */
  bisai_status (*gather)(bisai_context *, int32_t n, int bs, const double *weights, const double *v,
                         double *r);
  /* r_i ← v_i − Σ_j c_ij z_j, where c_ij are `columns` of bs values on the structure of p. */
  bisai_status (*subtract)(bisai_context *, const bisai_bcsr *p, int bs, const double *columns,
                           const double *z, const double *v, double *r);
  /* Value `pressure` of x_i ← itself + z_i for each of n block rows. */
  bisai_status (*add)(bisai_context *, int32_t n, int bs, int32_t pressure, const double *z,
                      double *x);
  const bsi_scales_ops *scales;
} bsi_cpr_ops;

extern const bsi_scales_ops bsi_scales_host, bsi_scales_cuda;
extern const bsi_cpr_ops bsi_cpr_host, bsi_cpr_cuda;

#ifdef __cplusplus
}
#endif

#endif
