/* SPDX-License-Identifier: BSD-3-Clause */
/* What a study measures in samples: mirror images, the ellipticity of unknowns, fields. The samples
 * of small matrices have all rows; those of large ones are compared with all rows. */
#include <math.h>

#include "fixture.h"
#include "flow.h"
#include "mesh.h"
#include "study/parts.h"

static bisai_matrix_study_report study(const bisai_bcsr *matrix) {
  bisai_matrix_study_report report = {.struct_size = sizeof report};
  EXPECT_OK(context, bisai_matrix_study(context, matrix, 0, NULL, &report));
  return report;
}

static bisai_matrix_study_report study_take(test_bcsr arrays) {
  bisai_bcsr *matrix = test_bcsr_take(context, arrays);
  const bisai_matrix_study_report report = study(matrix);
  bisai_bcsr_destroy(&matrix);
  return report;
}

/* --- ellipticity --- */

static void ellipticity_is_that_of_cpr(void **state) {
  (void)state;
  for (int bs = 2; bs <= 9; bs++) {
    test_bcsr arrays = bs % 2 ? test_flow(11, 11, bs, bs / 2, (uint64_t)bs)
                              : test_thermal_flow(11, 11, bs, 0.1, (uint64_t)bs);
    bisai_bcsr *matrix = test_bcsr_take(context, arrays);
    const bisai_matrix_study_report s = study(matrix);
    bisai_precond_options how = bisai_precond_options_default();
    bisai_precond *precond = NULL;
    how.kind = BISAI_PRECOND_CPR;
    EXPECT_OK(context, bisai_precond_create(context, matrix, &how, &precond));
    const bisai_precond_report report = test_report_of(context, precond);
    assert_int_equal(121, s.unknowns.sampled_rows);
    /* terms are rounded to 2⁻²⁰, and CPR's weights are scaled */
    EXPECT_CLOSE(bs, report.cpr.ellipticity, s.unknowns.ellipticity, 1e-5);
    assert_true(report.cpr.found);
    assert_int_equal(report.cpr.pressure, s.unknowns.first);
    assert_true(s.unknowns.second != s.unknowns.first);
    for (int p = 0; p < bs; p++)
      assert_true(p == s.unknowns.first ||
                  s.unknowns.ellipticity[p] <= s.unknowns.ellipticity[s.unknowns.second]);
    bisai_precond_destroy(&precond);
    bisai_bcsr_destroy(&matrix);
  }
}

/* --- mirror images --- */

static void a_sample_says_of_a_large_matrix_what_all_rows_say(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_random(test_shape_square(40000, 2, 5));
  int64_t blocks = 0, mirrored = 0;
  double one_sided = 0;
  int64_t rows = 0;
  for (int32_t i = 0; i < a.block_rows; i++) {
    double difference[2] = {0}, size[2] = {0};
    for (int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; p++) {
      if (a.col_idx[p] == i) continue;
      const double *here = a.values + 4 * (size_t)p, *there = test_bcsr_block(&a, a.col_idx[p], i);
      blocks++, mirrored += there != NULL;
      for (int r = 0; r < 2; r++) {
        difference[r] += fabs(here[3 * r] - (there ? there[3 * r] : 0));
        size[r] += fabs(here[3 * r]) + (there ? fabs(there[3 * r]) : 0);
      }
    }
    for (int r = 0; r < 2; r++)
      if (size[r] > 0) rows++, one_sided += difference[r] / size[r];
  }
  const bisai_matrix_study_report s = study_take(a);
  assert_true(s.symmetry.sampled_rows < 40000 / 4);
  /* shares of some thousand rows */
  EXPECT_NEAR((double)mirrored / (double)blocks, s.symmetry.mirrored_blocks, 0.01);
  EXPECT_NEAR(one_sided / (double)rows, s.symmetry.one_sided, 0.01);
  assert_false(s.symmetry.symmetric);
  assert_true(s.symmetry.asymmetry > BISAI_SYMMETRY_LIMIT);
}

/* What the choice of a method asks is the same in a brief study, but for samples. Small matrices
 * have no unknowns there. */
static void a_brief_study_finds_what_a_whole_one_finds(void **state) {
  (void)state;
  test_bcsr systems[] = {test_flow(28, 28, 3, 1, 7), test_bcsr_grid(70, 70, 1, 5),
                         test_mesh_diffusion(90, 60, 2, TEST_ZERO_OUTSIDE, 0.3),
                         test_bcsr_definite(3000, 2, 3)};
  for (size_t k = 0; k < sizeof systems / sizeof *systems; k++) {
    bisai_bcsr *matrix = test_bcsr_take(context, systems[k]);
    const bisai_matrix_study_report whole = study(matrix);
    bisai_matrix_study_report brief;
    EXPECT_OK(context, bsi_study_briefly(context, matrix, &brief));
    assert_memory_equal(&whole.entries, &brief.entries, sizeof whole.entries);
    assert_memory_equal(&whole.saddle, &brief.saddle, sizeof whole.saddle);
    assert_memory_equal(&whole.null, &brief.null, sizeof whole.null);
    assert_int_equal(whole.symmetry.symmetric, brief.symmetry.symmetric);
    assert_int_equal(whole.diagonal.zero, brief.diagonal.zero);
    assert_int_equal(whole.diagonal.positive, brief.diagonal.positive);
    assert_int_equal(whole.diagonal.negative, brief.diagonal.negative);
    EXPECT_NEAR(whole.couplings.opposite, brief.couplings.opposite, 0);
    EXPECT_NEAR(whole.couplings.dominant_rows, brief.couplings.dominant_rows, 0);
    EXPECT_NEAR(whole.symmetry.one_sided, brief.symmetry.one_sided, 0.04);
    if (!whole.symmetry.symmetric) {
      assert_int_equal(whole.unknowns.first, brief.unknowns.first);
      EXPECT_CLOSE(bisai_bcsr_block_size(matrix), whole.unknowns.ellipticity,
                   brief.unknowns.ellipticity, 0.2);
    }
    bisai_bcsr_destroy(&matrix);
  }
}

static void weak_couplings_tell_anisotropy(void **state) {
  (void)state;
  test_bcsr a = test_mesh_diffusion(30, 30, 1, TEST_FREE, 0);
  assert_true(study_take(a).couplings.weak == 0);
  a = test_mesh_diffusion(30, 30, 1, TEST_FREE, 0);
  for (int32_t i = 0; i < a.block_rows; i++)
    for (int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; p++)
      if (a.col_idx[p] == i + 1 || a.col_idx[p] == i - 1) a.values[p] *= 1e-3;
  /* half of the couplings, and more or fewer at the sides */
  EXPECT_NEAR(0.5, study_take(a).couplings.weak, 0.05);
}

/* --- fields --- */

/* The scalar matrix of the same entries; unknown r of node i is row r·nodes + i, or order[i·bs + r]
 * of them. Takes the arrays. */
static bisai_bcsr *scalar_matrix(test_bcsr a, const int32_t *order) {
  const int bs = a.block_size;
  const int32_t n = a.block_rows * bs;
  int32_t *place = malloc((size_t)n * sizeof *place), *old = malloc((size_t)n * sizeof *old);
  for (int32_t k = 0; k < n; k++) place[k] = order ? order[k] : k % bs * a.block_rows + k / bs;
  for (int32_t k = 0; k < n; k++) old[place[k]] = k;
  bisai_csr_desc csr = bisai_csr_desc_default();
  const size_t most = (size_t)test_bcsr_blocks(&a) * (size_t)(bs * bs);
  int32_t *row_ptr = calloc((size_t)n + 1, sizeof *row_ptr), stored = 0,
          *col_idx = malloc((most + 1) * sizeof *col_idx);
  double *values = malloc((most + 1) * sizeof *values);
  for (int32_t row = 0; row < n; row++) {
    const int32_t i = old[row] / bs, r = old[row] % bs;
    for (int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; p++)
      for (int c = 0; c < bs; c++) {
        col_idx[stored] = place[a.col_idx[p] * bs + c];
        values[stored++] = a.values[((size_t)p * (size_t)bs + (size_t)c) * (size_t)bs + (size_t)r];
      }
    row_ptr[row + 1] = stored;
  }
  csr.rows = csr.cols = n, csr.block_size = 1;
  csr.row_ptr = row_ptr, csr.col_idx = col_idx, csr.values = values;
  bisai_bcsr *matrix = NULL;
  EXPECT_OK(context, bisai_bcsr_from_csr(context, &csr, &matrix));
  free(place), free(old), free(row_ptr), free(col_idx), free(values);
  test_bcsr_free(&a);
  return matrix;
}

static bisai_study_fields fields_take(bisai_bcsr *matrix) {
  const bisai_matrix_study_report s = study(matrix);
  bisai_bcsr_destroy(&matrix);
  return s.fields;
}

static void unknowns_stored_field_by_field_are_found(void **state) {
  (void)state;
  for (int m = 2; m <= 8; m++) {
    const bisai_study_fields f =
        fields_take(scalar_matrix(test_mesh_diffusion(23, 17, m, TEST_FREE, 0.1), NULL));
    assert_int_equal(m, f.count);
    assert_true(f.agreement == 1);
  }
  const bisai_study_fields f =
      fields_take(scalar_matrix(test_mesh_springs(6, 7, 8, TEST_FIXED_FACE), NULL));
  assert_int_equal(3, f.count);
}

static void other_orders_have_no_fields(void **state) {
  (void)state;
  int32_t *random = test_random_permutation(24 * 24 * 3, 7);
  int32_t nodes[24 * 24 * 3];
  for (int32_t k = 0; k < 24 * 24 * 3; k++) nodes[k] = k;
  test_bcsr mesh = test_mesh_diffusion(24, 24, 3, TEST_FREE, 0);
  assert_int_equal(1, fields_take(scalar_matrix(mesh, random)).count);
  mesh = test_mesh_diffusion(24, 24, 3, TEST_FREE, 0);
  assert_int_equal(1, fields_take(scalar_matrix(mesh, nodes)).count);
  /* grids, whose parts are alike; eight and four lines */
  assert_int_equal(1, fields_take(scalar_matrix(test_bcsr_grid(48, 48, 1, 3), NULL)).count);
  assert_int_equal(1, fields_take(scalar_matrix(test_bcsr_grid(480, 1, 1, 3), NULL)).count);
  assert_int_equal(1, study_take(test_bcsr_grid(24, 4, 3, 3)).fields.count);
  free(random);
}

static void layers_of_a_grid_are_no_fields(void **state) {
  (void)state;
  for (int32_t lines = 3; lines <= 8; lines++)
    assert_int_equal(1, fields_take(scalar_matrix(test_bcsr_grid(40, lines, 1, 3), NULL)).count);
}

/* --- real matrices --- */

static void fields_of_real_matrices_are_those_of_their_makers(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int count;
  } cases[] = {
      {"teko_szdMat", 3},  {"teko_szdMat_interleaved", 1}, {"orsreg_1", 1},
      {"bcsstk16", 1},     {"opm_spe1_thermal_s65", 1},    {"hymls_cavity2d_32x32_Re1000", 1},
      {"teko_modified", 1}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
    assert_int_equal(cases[k].count,
                     fields_take(test_matrix_read(context, cases[k].name, 1)).count);
}

static void pressures_of_a_real_cavity_are_found(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_matrix_read(context, "hymls_cavity2d_32x32_Re1000", 3);
  const bisai_matrix_study_report s = study(matrix);
  bisai_bcsr_destroy(&matrix);
  assert_int_equal(1024, s.saddle.rows);
  assert_int_equal(2, s.saddle.first_row);
  assert_int_equal(3071, s.saddle.last_row);
  assert_true(s.saddle.zero_block && s.saddle.components == 4);
  assert_false(s.symmetry.symmetric);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ellipticity_is_that_of_cpr),
      cmocka_unit_test(a_sample_says_of_a_large_matrix_what_all_rows_say),
      cmocka_unit_test(a_brief_study_finds_what_a_whole_one_finds),
      cmocka_unit_test(weak_couplings_tell_anisotropy),
      cmocka_unit_test(unknowns_stored_field_by_field_are_found),
      cmocka_unit_test(other_orders_have_no_fields),
      cmocka_unit_test(layers_of_a_grid_are_no_fields),
  };
  const struct CMUnitTest real[] = {
      cmocka_unit_test(fields_of_real_matrices_are_those_of_their_makers),
      cmocka_unit_test(pressures_of_a_real_cavity_are_found),
  };
  if (test_wants_real(argc, argv))
    return test_real_matrices(
        cmocka_run_group_tests_name("study of real matrices", real, setup, teardown));
  return cmocka_run_group_tests_name("samples of a study", tests, setup, teardown);
}
