#include "core/backend_cuda.h"

#include "core/triangular.h"

/* A solution in place goes through the vector that the factors keep for that; rows wait for values and not for levels, whatever the
 * schedule. */
static bisai_status triangular_solve(bisai_context *context, const bsi_triangular *t, bisai_schedule schedule,
                                     int32_t count, const double *b, int64_t ldb, double *x, int64_t ldx) {
  (void)schedule;
  return bsi_triangular_solve_cuda(context, t, count, b, ldb, x, ldx, t->spare);
}

const bsi_backend bsi_backend_cuda = {
    .kind = BISAI_BACKEND_CUDA,
    .lookahead = BSI_LOOKAHEAD_CUDA,
    .fused_columns = BSI_FUSED_COLUMNS_CUDA,
    .missing = bsi_missing_cuda,
    .open = bsi_open_cuda,
    .close = bsi_close_cuda,
    .synchronize = bsi_synchronize_cuda,
    .allocate = bsi_allocate_cuda,
    .release = bsi_release_cuda,
    .upload = bsi_upload_cuda,
    .fetch = bsi_fetch_cuda,
    .copy = bsi_copy_cuda,
    .reaches = bsi_reaches_cuda,
    .copy_blocks = bsi_copy_blocks_cuda,
    .find_not_finite = bsi_find_not_finite_cuda,
    .allocate_shared = bsi_allocate_shared_cuda,
    .release_shared = bsi_release_shared_cuda,
    .expect = bsi_expect_cuda,
    .collect = bsi_collect_cuda,
    .clock_open = bsi_clock_open_cuda,
    .clock_close = bsi_clock_close_cuda,
    .clock_start = bsi_clock_start_cuda,
    .clock_stop = bsi_clock_stop_cuda,
    .clock_read = bsi_clock_read_cuda,
    .vector_set = bsi_vector_set_cuda,
    .vector_copy = bsi_vector_copy_cuda,
    .vector_add = bsi_vector_add_cuda,
    .vector_subtract_from = bsi_vector_subtract_from_cuda,
    .gather = bsi_gather_cuda,
    .scatter = bsi_scatter_cuda,
    .dot_many = bsi_dot_many_cuda,
    .axpy_many = bsi_axpy_many_cuda,
    .scale_by_norm = bsi_scale_by_norm_cuda,
    .gmres_step = bsi_gmres_step_cuda,
    .gmres_cancelled = bsi_gmres_cancelled_cuda,
    .gmres_rotate = bsi_gmres_rotate_cuda,
    .gmres_coefficients = bsi_gmres_coefficients_cuda,
    .product = bsi_product_cuda,
    .diagonal_product = bsi_diagonal_product_cuda,
    .triangular_solve = triangular_solve,
    .equilibrate = bsi_equilibrate_cuda,
    .reorder_values = bsi_reorder_values_cuda,
    .invert_blocks = bsi_invert_blocks_cuda,
    .bjacobi_find = bsi_bjacobi_find_cuda,
    .bjacobi_layout = bsi_bjacobi_layout_cuda,
    .bjacobi_reserve = bsi_bjacobi_reserve_cuda,
    .bjacobi_values = bsi_bjacobi_values_cuda,
    .bjacobi_apply = bsi_bjacobi_apply_cuda,
    .factor_ilu = bsi_factor_ilu_cuda,
    .scale_off_diagonal = bsi_scale_off_diagonal_cuda,
    .pattern_power = bsi_pattern_power_cuda,
    .pattern_columns = bsi_pattern_columns_cuda,
    .isai_reserve = bsi_isai_reserve_cuda,
    .isai_values = bsi_isai_values_cuda,
};
