/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of the host backend, by room; core/backend_host.c puts them into its table. What
 * they compute: core/backend.h. */
#ifndef BSI_BACKEND_HOST_H
#define BSI_BACKEND_HOST_H

#include "core/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- core/vector_host.c --- */
bisai_status bsi_vector_set_host(bisai_context *context, int64_t n, double value, double *y);
bisai_status bsi_vector_copy_host(bisai_context *context, int64_t n, const double *x, double *y);
bisai_status bsi_vector_add_host(bisai_context *context, int64_t n, const double *x, double *y);
bisai_status bsi_vector_subtract_from_host(bisai_context *context, int64_t n, const double *b,
                                           double *y);
bisai_status bsi_dot_many_host(bisai_context *context, int64_t n, int count, const double *basis,
                               int64_t ld, const double *w, double *work, double *out);
bisai_status bsi_axpy_many_host(bisai_context *context, int64_t n, int count, const double *basis,
                                int64_t ld, const double *coefficients, double sign, double *w,
                                double *work, double *norm2);
bisai_status bsi_scale_by_norm_host(bisai_context *context, int64_t n, const double *norm2,
                                    const double *x, double *y);
bisai_status bsi_gmres_cancelled_host(bisai_context *context, int count, const double *h,
                                      const double *norm2, bool *cancelled);
bisai_status bsi_gmres_rotate_host(bisai_context *context, int m, int j, const double *h,
                                   const double *h2, const double *norm2, double *H,
                                   double *cosines, double *sines, double *g, double *status);
bisai_status bsi_gmres_start_host(bisai_context *context, int64_t n, const double *norm2, double *v,
                                  double *beta, double *seen);
bisai_status bsi_gmres_coefficients_host(bisai_context *context, int m, int k, const double *H,
                                         const double *g, double *y);

/* --- core/recurrence_host.c --- */
bisai_status bsi_recurrence_pass_host(bisai_context *context, const struct bsi_recurrence *r,
                                      bsi_pass pass, bool alone);
bisai_status bsi_recurrence_scalars_host(bisai_context *context, const struct bsi_recurrence *r,
                                         bsi_pass pass);
bisai_status bsi_shadow_vector_host(bisai_context *context, int64_t n, int c, double *y);

/* --- order/order.c --- */
bisai_status bsi_order_measure_host(bisai_context *context, const bisai_bcsr *matrix,
                                    struct bsi_order_shape *shape);

/* --- order/reordered_host.c --- */
bisai_status bsi_gather_host(bisai_context *context, int32_t n, int bs, const int32_t *permutation,
                             const double *scale, int32_t count, const double *x, int64_t ldx,
                             double *y, int64_t ldy);
bisai_status bsi_scatter_host(bisai_context *context, int32_t n, int bs, const int32_t *permutation,
                              const double *scale, int32_t count, const double *x, int64_t ldx,
                              double *y, int64_t ldy);
bisai_status bsi_equilibrate_host(bisai_context *context, const bisai_bcsr *a,
                                  struct bsi_equilibration *q);
bisai_status bsi_reorder_values_host(bisai_context *context, const bisai_bcsr *a,
                                     struct bsi_reordered *reordered);

/* --- factor/factor_host.c --- */
bisai_status bsi_factor_ilu_host(bisai_context *context, const bisai_bcsr *matrix,
                                 bisai_factors *factors, struct bsi_invert_stats *stats);

/* --- core/blocks_host.c --- */
bisai_status bsi_copy_blocks_host(bisai_context *context, bisai_value_type type, int bs,
                                  int32_t blocks, bisai_layout layout, const int32_t *order,
                                  const void *from, void *to);
bisai_status bsi_scatter_values_host(bisai_context *context, int64_t count, bool wide,
                                     const void *places, const double *from, double *to);
bisai_status bsi_find_not_finite_host(bisai_context *context, bisai_value_type type, int64_t count,
                                      const void *values, int64_t *index);
bisai_status bsi_find_empty_host(bisai_context *context, const bisai_bcsr *matrix, bool columns,
                                 double *marks, int64_t *index);

/* --- core/asymmetry.c --- */
bisai_status bsi_asymmetry_host(bisai_context *context, const bisai_bcsr *matrix,
                                struct bsi_asymmetry *asymmetry);

/* --- pattern/pattern_host.c --- */
bisai_status bsi_pattern_columns_host(bisai_context *context, bisai_pattern *pattern);
bisai_status bsi_pattern_power_host(bisai_context *context, const bisai_bcsr *matrix, int power,
                                    int32_t row_limit, bisai_pattern *pattern);

/* --- factor/symbolic_host.c, core/triangular.c --- */
bisai_status bsi_split_triangles_host(bisai_context *context, const bisai_bcsr *matrix,
                                      bisai_factors *factors, int32_t *missing);
bisai_status bsi_factors_fit_host(bisai_context *context, const bisai_factors *factors,
                                  const bisai_bcsr *matrix, bool *fit);
bisai_status bsi_find_levels_host(bisai_context *context, bisai_triangle triangle,
                                  const bisai_bcsr *t, struct bsi_levels *levels);

/* --- solve/solve_host.c --- */
bisai_status bsi_isai_reserve_host(bisai_context *context, const struct bsi_triangular *t,
                                   struct bsi_isai *isai);
bisai_status bsi_isai_values_host(bisai_context *context, const struct bsi_triangular *t,
                                  struct bsi_isai *isai, struct bsi_isai_fault *fault);

/* --- apply/spmv_host.c --- */
bisai_status bsi_product_host(bisai_context *context, const bisai_bcsr *a, int32_t count,
                              double alpha, const double *x, int64_t ldx, double beta,
                              const double *z, int64_t ldz, double *y, int64_t ldy);
bisai_status bsi_diagonal_product_host(bisai_context *context, int32_t n, int bs,
                                       const double *blocks, int32_t count, const double *x,
                                       int64_t ldx, double *y, int64_t ldy);

/* --- apply/transposed_host.c --- */
bisai_status bsi_transposed_product_host(bisai_context *context, const bisai_bcsr *a,
                                         const struct bsi_columns *columns, int32_t count,
                                         double alpha, const double *x, int64_t ldx, double beta,
                                         const double *z, int64_t ldz, double *y, int64_t ldy);

/* --- apply/sweeps_host.c --- */
bisai_status bsi_scale_off_diagonal_host(bisai_context *context, const struct bsi_triangular *t,
                                         bisai_bcsr *scaled, int32_t *infinite_row);

/* --- apply/trisolve_host.c --- */
bisai_status bsi_triangular_solve_host(bisai_context *context, const struct bsi_triangular *t,
                                       bisai_schedule schedule, int32_t count, const double *b,
                                       int64_t ldb, double *x, int64_t ldx);

/* --- bjacobi/bjacobi_host.c --- */
bisai_status bsi_invert_blocks_host(bisai_context *context, const bisai_bcsr *matrix,
                                    const int32_t *position, double shift_amount, double *inverses,
                                    struct bsi_invert_stats *stats);
bisai_status bsi_find_diagonals_host(bisai_context *context, const bisai_bcsr *matrix,
                                     int32_t *position, int32_t *missing);
bisai_status bsi_compare_diagonals_host(bisai_context *context, const bisai_bcsr *matrix,
                                        const int32_t *position, int32_t *moved);
bisai_status bsi_bjacobi_find_host(bisai_context *context, const bisai_bcsr *matrix, int32_t most,
                                   struct bsi_partition *partition);
bisai_status bsi_bjacobi_layout_host(bisai_context *context, struct bsi_bjacobi *jacobi);
bisai_status bsi_bjacobi_reserve_host(bisai_context *context, const bisai_bcsr *matrix,
                                      struct bsi_bjacobi *jacobi);
bisai_status bsi_bjacobi_values_host(bisai_context *context, const bisai_bcsr *matrix,
                                     struct bsi_bjacobi *jacobi);
bisai_status bsi_bjacobi_apply_host(bisai_context *context, const struct bsi_bjacobi *jacobi,
                                    int32_t count, const double *x, int64_t ldx, double *y,
                                    int64_t ldy);

#ifdef __cplusplus
}
#endif

#endif
