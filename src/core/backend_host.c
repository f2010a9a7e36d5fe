/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/backend_host.h"

#include <stdio.h>
#include <string.h>

#include "core/context.h"

static const char *missing(int device) {
  (void)device;
  return NULL;
}

/* Names the processor. */
static bisai_status open(bisai_context *context, const bisai_context_options *options) {
  (void)options;
  snprintf(context->device, sizeof context->device, "CPU");
  FILE *file = fopen("/proc/cpuinfo", "r");
  if (!file) return BISAI_OK;
  char line[256];
  while (fgets(line, sizeof line, file)) {
    const char *colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) != 0 || !colon) continue;
    const char *name = colon + 1 + strspn(colon + 1, " \t");
    snprintf(context->device, sizeof context->device, "%.*s", (int)strcspn(name, "\n"), name);
    break;
  }
  fclose(file);
  return BISAI_OK;
}

static void close(bisai_context *context) { (void)context; }

static bisai_status synchronize(bisai_context *context) {
  (void)context;
  return BISAI_OK;
}

static bool reaches(const bisai_context *context, const void *array) {
  (void)context;
  (void)array;
  return true;
}

static bisai_status copy(bisai_context *context, void *to, const void *from, size_t bytes) {
  (void)context;
  if (bytes > 0) memcpy(to, from, bytes);
  return BISAI_OK;
}

static double *allocate_shared(bisai_context *context, size_t count) {
  return bsi_allocate(context, count, sizeof(double));
}

static void release_shared(bisai_context *context, double *shared) { bsi_release(context, shared); }

static void expect(bisai_context *context, int count, double *shared) {
  (void)context;
  (void)count;
  (void)shared;
}

static bisai_status collect(bisai_context *context, int count, const double *shared,
                            double *values) {
  return copy(context, values, shared, (size_t)count * sizeof(double));
}

static bisai_status clock_open(bisai_context *context, bsi_clock *clock) {
  (void)context;
  (void)clock;
  return BISAI_OK;
}

static void clock_close(bisai_context *context, bsi_clock *clock) {
  (void)context;
  (void)clock;
}

static bisai_status clock_start(bisai_context *context, bsi_clock *clock) {
  (void)context;
  clock->seconds = -bsi_now();
  return BISAI_OK;
}

static bisai_status clock_stop(bisai_context *context, bsi_clock *clock) {
  (void)context;
  clock->seconds += bsi_now();
  return BISAI_OK;
}

static bisai_status clock_read(bisai_context *context, const bsi_clock *clock, double *seconds) {
  (void)context;
  *seconds = clock->seconds;
  return BISAI_OK;
}

const bsi_backend bsi_backend_host = {
    .kind = BISAI_BACKEND_HOST,
    .missing = missing,
    .open = open,
    .close = close,
    .synchronize = synchronize,
    .allocate = bsi_allocate,
    .release = bsi_release,
    .upload = copy,
    .fetch = copy,
    .allocate_shared = allocate_shared,
    .release_shared = release_shared,
    .expect = expect,
    .collect = collect,
    .copy = copy,
    .reaches = reaches,
    .copy_blocks = bsi_copy_blocks_host,
    .scatter_values = bsi_scatter_values_host,
    .find_not_finite = bsi_find_not_finite_host,
    .find_empty = bsi_find_empty_host,
    .asymmetry = bsi_asymmetry_host,
    .clock_open = clock_open,
    .clock_close = clock_close,
    .clock_start = clock_start,
    .clock_stop = clock_stop,
    .clock_read = clock_read,
    .vector_set = bsi_vector_set_host,
    .vector_copy = bsi_vector_copy_host,
    .vector_add = bsi_vector_add_host,
    .vector_subtract_from = bsi_vector_subtract_from_host,
    .gather = bsi_gather_host,
    .scatter = bsi_scatter_host,
    .dot_many = bsi_dot_many_host,
    .axpy_many = bsi_axpy_many_host,
    .scale_by_norm = bsi_scale_by_norm_host,
    .gmres_cancelled = bsi_gmres_cancelled_host,
    .gmres_rotate = bsi_gmres_rotate_host,
    .gmres_start = bsi_gmres_start_host,
    .gmres_coefficients = bsi_gmres_coefficients_host,
    .recurrence_pass = bsi_recurrence_pass_host,
    .recurrence_scalars = bsi_recurrence_scalars_host,
    .shadow_vector = bsi_shadow_vector_host,
    .product = bsi_product_host,
    .transposed_product = bsi_transposed_product_host,
    .diagonal_product = bsi_diagonal_product_host,
    .triangular_solve = bsi_triangular_solve_host,
    .order_measure = bsi_order_measure_host,
    .equilibrate = bsi_equilibrate_host,
    .reorder_values = bsi_reorder_values_host,
    .invert_blocks = bsi_invert_blocks_host,
    .find_diagonals = bsi_find_diagonals_host,
    .compare_diagonals = bsi_compare_diagonals_host,
    .bjacobi_find = bsi_bjacobi_find_host,
    .bjacobi_layout = bsi_bjacobi_layout_host,
    .bjacobi_reserve = bsi_bjacobi_reserve_host,
    .bjacobi_values = bsi_bjacobi_values_host,
    .bjacobi_apply = bsi_bjacobi_apply_host,
    .split_triangles = bsi_split_triangles_host,
    .factors_fit = bsi_factors_fit_host,
    .find_levels = bsi_find_levels_host,
    .factor_ilu = bsi_factor_ilu_host,
    .pattern_power = bsi_pattern_power_host,
    .scale_off_diagonal = bsi_scale_off_diagonal_host,
    .pattern_columns = bsi_pattern_columns_host,
    .isai_reserve = bsi_isai_reserve_host,
    .isai_values = bsi_isai_values_host,
};
