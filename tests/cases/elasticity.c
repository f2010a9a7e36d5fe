/* SPDX-License-Identifier: BSD-3-Clause */
/* The case `elasticity`: properties that any correct assembly has. */
#include <math.h>

#include "cases.h"
#include "definite.h"

static case_elasticity_options box(int32_t nx, int32_t ny, int32_t nz, double contrast,
                                   case_clamped clamped) {
  case_elasticity_options o = case_elasticity_options_default();
  o.nodes[0] = nx;
  o.nodes[1] = ny;
  o.nodes[2] = nz;
  o.contrast = contrast;
  o.clamped = clamped;
  return o;
}

static bisai_bcsr *make(bisai_context *context, const case_elasticity_options *o, double **rhs) {
  bisai_bcsr *matrix = NULL;
  EXPECT_OK(context, case_elasticity(context, o, 0, &matrix, rhs));
  return matrix;
}

static void every_form_is_symmetric_bit_by_bit(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  for (int form = CASE_CLAMPED_IDENTITY; form <= CASE_CLAMPED_NOWHERE; form++) {
    const case_elasticity_options o = box(6, 4, 7, 1000, (case_clamped)form);
    double *rhs = NULL;
    bisai_bcsr *matrix = make(context, &o, &rhs);
    test_expect_symmetric(matrix);
    free(rhs);
    bisai_bcsr_destroy(&matrix);
  }
  bisai_context_destroy(&context);
}

static void clamped_forms_are_positive_definite(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  for (int form = CASE_CLAMPED_IDENTITY; form <= CASE_CLAMPED_ELIMINATED; form++) {
    const case_elasticity_options o = box(5, 4, 5, 1000, (case_clamped)form);
    double *rhs = NULL;
    bisai_bcsr *matrix = make(context, &o, &rhs);
    assert_true(test_is_definite(matrix));
    free(rhs);
    bisai_bcsr_destroy(&matrix);
  }
  bisai_context_destroy(&context);
}

/* Each product sums 81 terms of at most the scale of the matrix, since |mode| ≤ 1. */
static void rigid_body_modes_are_in_the_null_space_of_the_free_cube(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const case_elasticity_options o = box(9, 6, 7, 1000, CASE_CLAMPED_NOWHERE);
  double *rhs = NULL, *modes = NULL;
  bisai_bcsr *matrix = make(context, &o, &rhs);
  const int64_t n = bisai_bcsr_rows(matrix);
  double *y = malloc((size_t)n * sizeof *y);
  assert_int_equal(BISAI_OK, case_elasticity_modes(&o, &modes));
  for (int m = 0; m < CASE_ELASTICITY_MODES; m++) {
    EXPECT_OK(context, bisai_bcsr_multiply(matrix, modes + m * n, y));
    assert_true(test_largest(n, y) <= 81 * 0x1p-53 * test_scale(matrix));
    assert_true(test_largest(n, modes + m * n) > 0.4);
  }
  free(y);
  free(modes);
  free(rhs);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

/* Independent motions have a Gram matrix with a positive determinant. */
static void rigid_body_modes_are_independent(void **state) {
  (void)state;
  const case_elasticity_options o = box(3, 4, 2, 1, CASE_CLAMPED_ELIMINATED);
  double *modes = NULL, gram[36];
  const int64_t n = 3 * 2 * 4 * 2;
  assert_int_equal(BISAI_OK, case_elasticity_modes(&o, &modes));
  for (int a = 0; a < 6; a++) {
    for (int b = 0; b < 6; b++) {
      gram[a * 6 + b] = 0;
      for (int64_t i = 0; i < n; i++) gram[a * 6 + b] += modes[a * n + i] * modes[b * n + i];
    }
  }
  assert_true(test_dense_condition1(6, gram) < 100);
  free(modes);
}

/* --- the patch test --- */

static const double gradient[3][3] = {{0.3, -1.1, 0.7}, {0.2, 0.9, -0.4}, {1.3, 0.5, -0.6}};

/* Returns the stress of the displacement u = gradient·x, with E = 1 and ν = 0.3. */
static void stress_of(double stress[3][3]) {
  const double lambda = 0.3 / (1.3 * 0.4), mu = 0.5 / 1.3;
  const double trace = gradient[0][0] + gradient[1][1] + gradient[2][2];
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++)
      stress[r][c] = mu * (gradient[r][c] + gradient[c][r]) + (r == c ? lambda * trace : 0);
  }
}

static double *linear_displacement(const case_elasticity_options *o) {
  double *u = malloc(3 * sizeof *u * (size_t)(o->nodes[0] * o->nodes[1] * o->nodes[2])), *at = u;
  for (int k = 0; k < o->nodes[2]; k++)
    for (int j = 0; j < o->nodes[1]; j++)
      for (int i = 0; i < o->nodes[0]; i++)
        for (int r = 0; r < 3; r++)
          *at++ = gradient[r][0] * i / (o->nodes[0] - 1) + gradient[r][1] * j / (o->nodes[1] - 1) +
                  gradient[r][2] * k / (o->nodes[2] - 1);
  return u;
}

/* The force that the stress exerts on a node: stress·normal times the node's share of each face of
 * the cube that it lies on. */
static void traction(const case_elasticity_options *o, const int at[3], double force[3]) {
  double stress[3][3], length[3]; /* of the part of each direction that belongs to the node */
  stress_of(stress);
  memset(force, 0, 3 * sizeof *force);
  for (int d = 0; d < 3; d++) {
    const int last = o->nodes[d] - 1;
    length[d] = (at[d] == 0 || at[d] == last ? 0.5 : 1) / last;
  }
  for (int d = 0; d < 3; d++) {
    const int last = o->nodes[d] - 1, normal = (at[d] == last) - (at[d] == 0);
    for (int r = 0; r < 3; r++)
      force[r] += normal * stress[r][d] * length[(d + 1) % 3] * length[(d + 2) % 3];
  }
}

/* A linear displacement has a constant stress. The nodal forces are then zero inside and those of
 * the stress on the faces, up to rounding of values of about 1. */
static void linear_displacements_are_reproduced(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const case_elasticity_options o = box(5, 4, 6, 1, CASE_CLAMPED_NOWHERE);
  double *rhs = NULL, *u = linear_displacement(&o), force[3 * 5 * 4 * 6], *f = force;
  bisai_bcsr *matrix = make(context, &o, &rhs);
  EXPECT_OK(context, bisai_bcsr_multiply(matrix, u, force));
  for (int k = 0; k < 6; k++)
    for (int j = 0; j < 4; j++)
      for (int i = 0; i < 5; i++, f += 3) {
        double expected[3];
        traction(&o, (int[3]){i, j, k}, expected);
        EXPECT_CLOSE(3, expected, f, 1e-14);
      }
  free(u);
  free(rhs);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

/* With 8 elements in a direction, the midpoints lie at ±1, 3, 5 and 7 sixteenths of the centre. The
 * ball of radius 4/16 holds those of (1, 1, 1) and (1, 1, 3), but not those of (1, 3, 3):
 * 8 + 24 elements of 512. uᵀA u is stress : gradient times the sum of E over the volume. */
static void the_inclusion_is_the_ball_in_the_middle(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const case_elasticity_options o = box(9, 9, 9, 1000, CASE_CLAMPED_NOWHERE);
  double *rhs = NULL, *u = linear_displacement(&o), stress[3][3], density = 0, energy = 0;
  bisai_bcsr *matrix = make(context, &o, &rhs);
  const int64_t n = bisai_bcsr_rows(matrix);
  double *y = malloc((size_t)n * sizeof *y);
  EXPECT_OK(context, bisai_bcsr_multiply(matrix, u, y));
  for (int64_t i = 0; i < n; i++) energy += u[i] * y[i];
  stress_of(stress);
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) density += stress[r][c] * gradient[r][c];
  /* sums of 2187 terms of at most 1000 */
  EXPECT_NEAR(density * (480 + 32 * 1000) / 512, energy, 1e-10 * energy);
  free(y);
  free(u);
  free(rhs);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

/* Two elements in x have their midpoints 1/4 from the centre, with one element in y and z. */
static void midpoints_on_the_sphere_belong_to_the_inclusion(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const case_elasticity_options o = box(3, 2, 2, 7, CASE_CLAMPED_NOWHERE),
                                soft = box(3, 2, 2, 1, CASE_CLAMPED_NOWHERE);
  double *rhs = NULL, *other = NULL;
  bisai_bcsr *matrix = make(context, &o, &rhs), *plain = make(context, &soft, &other);
  EXPECT_NEAR(7 * test_scale(plain), test_scale(matrix), 1e-15);
  free(rhs);
  free(other);
  bisai_bcsr_destroy(&matrix);
  bisai_bcsr_destroy(&plain);
  bisai_context_destroy(&context);
}

/* --- the clamped face and the load --- */

typedef struct arrays {
  const int32_t *row_ptr, *col_idx;
  const double *values;
} arrays;

static arrays arrays_of(const bisai_bcsr *matrix) {
  arrays a;
  const void *values;
  bisai_bcsr_arrays(matrix, &a.row_ptr, &a.col_idx, &values);
  a.values = values;
  return a;
}

/* Fails unless the row of the eliminated matrix is that of the matrix with identity rows. A node of
 * nx in a line has number (row / (nx − 1))·nx + row mod (nx − 1) + 1 there. */
static void expect_same_row(const arrays *kept, int32_t at, const arrays *small, int32_t row,
                            int32_t nx) {
  const int32_t begin = small->row_ptr[row], count = small->row_ptr[row + 1] - begin;
  assert_int_equal(count, kept->row_ptr[at + 1] - kept->row_ptr[at]);
  for (int32_t p = 0; p < count; p++) {
    const int32_t column = small->col_idx[begin + p];
    assert_int_equal(column / (nx - 1) * nx + column % (nx - 1) + 1,
                     kept->col_idx[kept->row_ptr[at] + p]);
  }
  EXPECT_CLOSE(9 * count, kept->values + 9 * kept->row_ptr[at], small->values + 9 * begin, 0);
}

static void identity_rows_surround_the_eliminated_system(void **state) {
  (void)state;
  static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, zero[3] = {0};
  enum { NX = 5, NY = 4, NZ = 3 };
  bisai_context *context = test_context(1);
  const case_elasticity_options full = box(NX, NY, NZ, 1000, CASE_CLAMPED_IDENTITY),
                                part = box(NX, NY, NZ, 1000, CASE_CLAMPED_ELIMINATED);
  double *b = NULL, *c = NULL;
  bisai_bcsr *matrix = make(context, &full, &b), *eliminated = make(context, &part, &c);
  const arrays kept = arrays_of(matrix), small = arrays_of(eliminated);
  assert_int_equal(NX * NY * NZ, bisai_bcsr_block_rows(matrix));
  assert_int_equal((NX - 1) * NY * NZ, bisai_bcsr_block_rows(eliminated));
  assert_int_equal((3 * NX - 5) * (3 * NY - 2) * (3 * NZ - 2), bisai_bcsr_blocks(eliminated));
  assert_int_equal(bisai_bcsr_blocks(eliminated) + NY * NZ, bisai_bcsr_blocks(matrix));
  for (int32_t at = 0, row = 0; at < NX * NY * NZ; at++) {
    if (at % NX > 0) {
      expect_same_row(&kept, at, &small, row, NX);
      EXPECT_CLOSE(3, b + 3 * at, c + 3 * row, 0);
      row++;
      continue;
    }
    assert_int_equal(1, kept.row_ptr[at + 1] - kept.row_ptr[at]);
    assert_int_equal(at, kept.col_idx[kept.row_ptr[at]]);
    EXPECT_CLOSE(9, identity, kept.values + 9 * kept.row_ptr[at], 0);
    EXPECT_CLOSE(3, zero, b + 3 * at, 0);
  }
  free(b);
  free(c);
  bisai_bcsr_destroy(&matrix);
  bisai_bcsr_destroy(&eliminated);
  bisai_context_destroy(&context);
}

static void the_load_is_a_force_of_one_downwards(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const case_elasticity_options o = box(4, 6, 5, 1000, CASE_CLAMPED_NOWHERE);
  double *rhs = NULL, sum[3] = {0}, moment[2] = {0};
  bisai_bcsr *matrix = make(context, &o, &rhs);
  for (int row = 0; row < 4 * 6 * 5; row++) {
    for (int r = 0; r < 3; r++) sum[r] += rhs[3 * row + r];
    moment[0] += rhs[3 * row + 2] * (row % 4 / 3.0 - 0.5);
    moment[1] += rhs[3 * row + 2] * (row / 4 % 6 / 5.0 - 0.5);
  }
  /* rounding of 120 terms; a uniform force acts in the centre */
  EXPECT_CLOSE(3, ((double[]){0, 0, -1}), sum, 1e-14);
  EXPECT_CLOSE(2, ((double[]){0, 0}), moment, 1e-14);
  free(rhs);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

static void sizes_and_contrasts_out_of_range_are_refused(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const case_elasticity_options refused[] = {
      box(1, 4, 4, 1, CASE_CLAMPED_IDENTITY),       box(4, 4, 1, 1, CASE_CLAMPED_IDENTITY),
      box(431, 431, 431, 1, CASE_CLAMPED_IDENTITY), box(INT32_MAX, 2, 2, 1, CASE_CLAMPED_IDENTITY),
      box(4, 4, 4, 0, CASE_CLAMPED_IDENTITY),       box(4, 4, 4, NAN, CASE_CLAMPED_IDENTITY),
      box(4, 4, 4, INFINITY, CASE_CLAMPED_IDENTITY)};
  const case_elasticity_options most = box(430, 430, 430, 1, CASE_CLAMPED_IDENTITY);
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    bisai_bcsr *matrix = NULL;
    double *rhs = NULL;
    assert_non_null(case_elasticity_refusal(&refused[i]));
    assert_int_equal(BISAI_INVALID_ARGUMENT,
                     case_elasticity(context, &refused[i], 0, &matrix, &rhs));
    assert_int_equal(BISAI_INVALID_ARGUMENT, case_elasticity_modes(&refused[i], &rhs));
    assert_null(matrix);
    assert_null(rhs);
  }
  assert_null(case_elasticity_refusal(&most));
  bisai_context_destroy(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_form_is_symmetric_bit_by_bit),
      cmocka_unit_test(clamped_forms_are_positive_definite),
      cmocka_unit_test(rigid_body_modes_are_in_the_null_space_of_the_free_cube),
      cmocka_unit_test(rigid_body_modes_are_independent),
      cmocka_unit_test(linear_displacements_are_reproduced),
      cmocka_unit_test(the_inclusion_is_the_ball_in_the_middle),
      cmocka_unit_test(midpoints_on_the_sphere_belong_to_the_inclusion),
      cmocka_unit_test(identity_rows_surround_the_eliminated_system),
      cmocka_unit_test(the_load_is_a_force_of_one_downwards),
      cmocka_unit_test(sizes_and_contrasts_out_of_range_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
