/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of the CUDA backend, by room. What they compute: core/backend.h. Pointers are
 * device memory; every call enqueues on the context's stream and returns. */
#ifndef BSI_BACKEND_CUDA_H
#define BSI_BACKEND_CUDA_H

#include "core/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reductions that may count in the context's tickets at the same time. */
enum { BSI_TICKETS = 64 };
/* Words of the context's first_fault. */
enum { BSI_FAULTS = 8 };

/* --- core/vector_cuda.cu --- */
bisai_status bsi_vector_set_cuda(bisai_context *context, int64_t n, double value, double *y);
bisai_status bsi_vector_copy_cuda(bisai_context *context, int64_t n, const double *x, double *y);
bisai_status bsi_vector_add_cuda(bisai_context *context, int64_t n, const double *x, double *y);
bisai_status bsi_vector_subtract_from_cuda(bisai_context *context, int64_t n, const double *b,
                                           double *y);
bisai_status bsi_dot_many_cuda(bisai_context *context, int64_t n, int count, const double *basis,
                               int64_t ld, const double *w, double *work, double *out);
bisai_status bsi_axpy_many_cuda(bisai_context *context, int64_t n, int count, const double *basis,
                                int64_t ld, const double *coefficients, double sign, double *w,
                                double *work, double *norm2);
bisai_status bsi_scale_by_norm_cuda(bisai_context *context, int64_t n, const double *norm2,
                                    const double *x, double *y);

/* --- order/reordered_cuda.cu --- */
bisai_status bsi_gather_cuda(bisai_context *context, int32_t n, int bs, const int32_t *permutation,
                             const double *scale, int32_t count, const double *x, int64_t ldx,
                             double *y, int64_t ldy);
bisai_status bsi_scatter_cuda(bisai_context *context, int32_t n, int bs, const int32_t *permutation,
                              const double *scale, int32_t count, const double *x, int64_t ldx,
                              double *y, int64_t ldy);
/* Waits at its end. The arrays of `equilibration` are the device's, col_most of n integers; its
 * other fields the host's. */
bisai_status bsi_equilibrate_cuda(bisai_context *context, const bisai_bcsr *a,
                                  struct bsi_equilibration *equilibration);
bisai_status bsi_reorder_values_cuda(bisai_context *context, const bisai_bcsr *a,
                                     struct bsi_reordered *reordered);

/* --- order/order_cuda.cu --- */
bisai_status bsi_order_measure_cuda(bisai_context *context, const bisai_bcsr *matrix,
                                    struct bsi_order_shape *shape);

/* --- bjacobi/bjacobi_cuda.cu --- */
/* Waits at its end for the statistics. */
bisai_status bsi_invert_blocks_cuda(bisai_context *context, const bisai_bcsr *matrix,
                                    const int32_t *position, double shift_amount, double *inverses,
                                    struct bsi_invert_stats *stats);
bisai_status bsi_find_diagonals_cuda(bisai_context *context, const bisai_bcsr *matrix,
                                     int32_t *position, int32_t *missing);
bisai_status bsi_compare_diagonals_cuda(bisai_context *context, const bisai_bcsr *matrix,
                                        const int32_t *position, int32_t *moved);
bisai_status bsi_bjacobi_find_cuda(bisai_context *context, const bisai_bcsr *matrix, int32_t most,
                                   struct bsi_partition *partition);
bisai_status bsi_bjacobi_layout_cuda(bisai_context *context, struct bsi_bjacobi *jacobi);
bisai_status bsi_bjacobi_reserve_cuda(bisai_context *context, const bisai_bcsr *matrix,
                                      struct bsi_bjacobi *jacobi);
/* bjacobi_values but for what was met, which it waits for: with this alone the benchmark times
 * kernels. */
bisai_status bsi_bjacobi_enqueue_cuda(bisai_context *context, const bisai_bcsr *matrix,
                                      struct bsi_bjacobi *jacobi);
bisai_status bsi_bjacobi_values_cuda(bisai_context *context, const bisai_bcsr *matrix,
                                     struct bsi_bjacobi *jacobi);
bisai_status bsi_bjacobi_apply_cuda(bisai_context *context, const struct bsi_bjacobi *jacobi,
                                    int32_t count, const double *x, int64_t ldx, double *y,
                                    int64_t ldy);

/* --- factor/factor_cuda.cu --- */
/* Waits at its end for the statistics. lower_levels.rows is the device's. */
bisai_status bsi_factor_ilu_cuda(bisai_context *context, const bisai_bcsr *matrix,
                                 bisai_factors *factors, struct bsi_invert_stats *stats);

/* --- factor/symbolic_cuda.cu --- */
bisai_status bsi_split_triangles_cuda(bisai_context *context, const bisai_bcsr *matrix,
                                      bisai_factors *factors, int32_t *missing);
bisai_status bsi_factors_fit_cuda(bisai_context *context, const bisai_factors *factors,
                                  const bisai_bcsr *matrix, bool *fit);
bisai_status bsi_find_levels_cuda(bisai_context *context, bisai_triangle triangle,
                                  const bisai_bcsr *t, struct bsi_levels *levels);

/* --- apply/sweeps_cuda.cu --- */
/* Waits at its end for the row. */
bisai_status bsi_scale_off_diagonal_cuda(bisai_context *context, const struct bsi_triangular *t,
                                         bisai_bcsr *scaled, int32_t *infinite_row);

/* --- core/gmres_cuda.cu --- */
enum { BSI_LOOKAHEAD_CUDA = 4, BSI_FUSED_COLUMNS_CUDA = 256 };
bisai_status bsi_gmres_step_cuda(bisai_context *context, const bsi_cycle *cycle, int j,
                                 bsi_passes passes);
bisai_status bsi_gmres_cancelled_cuda(bisai_context *context, int count, const double *h,
                                      const double *norm2, bool *cancelled);
bisai_status bsi_gmres_rotate_cuda(bisai_context *context, int m, int j, const double *h,
                                   const double *h2, const double *norm2, double *H,
                                   double *cosines, double *sines, double *g, double *status);
bisai_status bsi_gmres_start_cuda(bisai_context *context, int64_t n, const double *norm2, double *v,
                                  double *beta, double *seen);
bisai_status bsi_gmres_coefficients_cuda(bisai_context *context, int m, int k, const double *H,
                                         const double *g, double *y);

/* --- core/recurrence_cuda.cu --- */
bisai_status bsi_recurrence_pass_cuda(bisai_context *context, const struct bsi_recurrence *r,
                                      bsi_pass pass, bool alone);
bisai_status bsi_recurrence_scalars_cuda(bisai_context *context, const struct bsi_recurrence *r,
                                         bsi_pass pass);
bisai_status bsi_shadow_vector_cuda(bisai_context *context, int64_t n, int c, double *y);

/* --- core/device_cuda.cu --- */
const char *bsi_missing_cuda(int device);
bisai_status bsi_open_cuda(bisai_context *context, const bisai_context_options *options);
void bsi_close_cuda(bisai_context *context);

/* --- core/memory_cuda.cu: memory of the device, given and taken in the order of the stream --- */
bisai_status bsi_synchronize_cuda(bisai_context *context);
void *bsi_allocate_cuda(bisai_context *context, size_t count, size_t size);
void bsi_release_cuda(bisai_context *context, void *memory);
bisai_status bsi_upload_cuda(bisai_context *context, void *device, const void *host, size_t bytes);
bisai_status bsi_fetch_cuda(bisai_context *context, void *host, const void *device, size_t bytes);
/* Pinned host memory that the device writes to. */
double *bsi_allocate_shared_cuda(bisai_context *context, size_t count);
void bsi_release_shared_cuda(bisai_context *context, double *shared);
void bsi_expect_cuda(bisai_context *context, int count, double *shared);
bisai_status bsi_collect_cuda(bisai_context *context, int count, const double *shared,
                              double *values);
bisai_status bsi_copy_cuda(bisai_context *context, void *to, const void *from, size_t bytes);
bool bsi_reaches_cuda(const bisai_context *context, const void *array);

/* --- core/blocks_cuda.cu --- */
bisai_status bsi_copy_blocks_cuda(bisai_context *context, bisai_value_type type, int bs,
                                  int32_t blocks, bisai_layout layout, const int32_t *order,
                                  const void *from, void *to);
bisai_status bsi_scatter_values_cuda(bisai_context *context, int64_t count, bool wide,
                                     const void *places, const double *from, double *to);
bisai_status bsi_find_not_finite_cuda(bisai_context *context, bisai_value_type type, int64_t count,
                                      const void *values, int64_t *index);
bisai_status bsi_find_empty_cuda(bisai_context *context, const bisai_bcsr *matrix, bool columns,
                                 double *marks, int64_t *index);

/* --- core/asymmetry_cuda.cu --- */
bisai_status bsi_asymmetry_cuda(bisai_context *context, const bisai_bcsr *matrix,
                                struct bsi_asymmetry *asymmetry);

/* --- core/clock_cuda.cu --- */
bisai_status bsi_clock_open_cuda(bisai_context *context, bsi_clock *clock);
void bsi_clock_close_cuda(bisai_context *context, bsi_clock *clock);
bisai_status bsi_clock_start_cuda(bisai_context *context, bsi_clock *clock);
bisai_status bsi_clock_stop_cuda(bisai_context *context, bsi_clock *clock);
bisai_status bsi_clock_read_cuda(bisai_context *context, const bsi_clock *clock, double *seconds);

/* --- pattern/pattern_cuda.cu --- */
/* Waits. */
bisai_status bsi_pattern_power_cuda(bisai_context *context, const bisai_bcsr *matrix, int power,
                                    int32_t row_limit, bisai_pattern *pattern);
bisai_status bsi_pattern_columns_cuda(bisai_context *context, bisai_pattern *pattern);

/* --- solve/solve_cuda.cu --- */
bisai_status bsi_isai_reserve_cuda(bisai_context *context, const struct bsi_triangular *t,
                                   struct bsi_isai *isai);
/* Waits for the first fault. Columns longer than bsi_isai_shared_blocks() need isai->columns for
 * isai->threads of them at once. */
bisai_status bsi_isai_values_cuda(bisai_context *context, const struct bsi_triangular *t,
                                  struct bsi_isai *isai, struct bsi_isai_fault *fault);
int32_t bsi_isai_shared_blocks(int block_size);

/* --- apply/spmv_cuda.cu --- */
bisai_status bsi_product_cuda(bisai_context *context, const bisai_bcsr *a, int32_t count,
                              double alpha, const double *x, int64_t ldx, double beta,
                              const double *z, int64_t ldz, double *y, int64_t ldy);
bisai_status bsi_diagonal_product_cuda(bisai_context *context, int32_t n, int bs,
                                       const double *blocks, int32_t count, const double *x,
                                       int64_t ldx, double *y, int64_t ldy);

/* --- apply/transposed_cuda.cu --- */
bisai_status bsi_transposed_product_cuda(bisai_context *context, const bisai_bcsr *a,
                                         const struct bsi_columns *columns, int32_t count,
                                         double alpha, const double *x, int64_t ldx, double beta,
                                         const double *z, int64_t ldz, double *y, int64_t ldy);

/* --- apply/trisolve_cuda.cu --- */
/* `spare` is a vector for solutions in place. */
bisai_status bsi_triangular_solve_cuda(bisai_context *context, const struct bsi_triangular *t,
                                       int32_t count, const double *b, int64_t ldb, double *x,
                                       int64_t ldx, double *spare);

#ifdef __cplusplus
}
#endif
#endif
