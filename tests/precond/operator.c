/* SPDX-License-Identifier: BSD-3-Clause */
/* Which matrix a solver takes for its products: A, or a smaller copy of multigrid that has the same
 * values. */
#include <math.h>

#include "core/matrix/bcsr_impl.h"
#include "fixture.h"
#include "mesh.h"
#include "precond/application.h"

enum { NX = 12, NY = 16, BS = 4, N = NX * NY };

static bisai_precond *make(const bisai_bcsr *a, bisai_aggregation_unit nodes) {
  bisai_precond_options o = bisai_precond_options_default();
  bisai_precond *m = NULL;
  o.kind = BISAI_PRECOND_MULTIGRID;
  o.multigrid.nodes = nodes;
  o.multigrid.coarsest = 20;
  EXPECT_OK(context, bisai_precond_create(context, a, &o, &m));
  return m;
}

static const bisai_bcsr *operator_of(const bisai_precond *m, const bisai_bcsr *a) {
  const bisai_bcsr *same = NULL;
  EXPECT_OK(context, bsi_precond_operator(context, m, a, &same));
  return same;
}

static void update(bisai_bcsr *a, const test_bcsr *arrays) {
  EXPECT_OK(context, bisai_bcsr_update(a, arrays->values, BISAI_COLUMN_MAJOR));
}

static void a_copy_without_zeros_takes_the_place_of_blocks(void **state) {
  (void)state;
  test_bcsr arrays = test_mesh_lines(NX, NY, BS);
  bisai_bcsr *a = test_bcsr_make(context, &arrays);
  bisai_precond *m = make(a, BISAI_AGGREGATION_UNIT_SCALAR);
  const bisai_bcsr *same = operator_of(m, a);
  assert_int_equal(same->block_size, 1);
  assert_true(bsi_bcsr_product_bytes(same) < bsi_bcsr_product_bytes(a));
  double *x = test_vector_in_place(N, 1), *y = test_vector_in_place(N, 2),
         *z = test_vector_in_place(N, 3);
  EXPECT_OK(context, bisai_bcsr_multiply(a, x, y));
  EXPECT_OK(context, bisai_bcsr_multiply(same, x, z));
  EXPECT_CLOSE(N, y, z, 1e-14 * test_norm2(N, y)); /* sums of five values */
  test_vector_free(x), test_vector_free(y), test_vector_free(z);
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&a);
  test_bcsr_free(&arrays);
}

static void a_copy_of_other_values_is_not_taken(void **state) {
  (void)state;
  static const double others[] = {2.0, 0.0, NAN};
  for (int k = 0; k < 3; k++) {
    test_bcsr arrays = test_mesh_lines(NX, NY, BS);
    bisai_bcsr *a = test_bcsr_make(context, &arrays);
    bisai_precond *m = make(a, BISAI_AGGREGATION_UNIT_SCALAR);
    /* the last diagonal value */
    double *value = test_bcsr_block(&arrays, NX * NY / BS - 1, NX * NY / BS - 1) + BS * BS - 1;
    const double before = *value;
    *value = others[k] * before;
    if (isfinite(*value)) update(a, &arrays);
    /* updates refuse what is not finite, and owners of the values do not */
    test_synchronize();
    if (!isfinite(*value)) ((double *)a->values)[bsi_block_offset(a, a->blocks) - 1] = *value;
    assert_ptr_equal(operator_of(m, a), a);
    *value = before;
    update(a, &arrays);
    assert_ptr_not_equal(operator_of(m, a), a);
    bisai_precond_destroy(&m);
    bisai_bcsr_destroy(&a);
    test_bcsr_free(&arrays);
  }
}

static void a_value_without_a_place_in_the_copy_is_seen(void **state) {
  (void)state;
  test_bcsr arrays = test_mesh_lines(NX, NY, BS);
  bisai_bcsr *a = test_bcsr_make(context, &arrays);
  bisai_precond *m = make(a, BISAI_AGGREGATION_UNIT_SCALAR);
  double *value = test_bcsr_block(&arrays, 0, 0) + BS - 1; /* row 3, column 0 */
  assert_true(*value == 0.0);
  *value = 1e-300;
  update(a, &arrays);
  assert_ptr_equal(operator_of(m, a), a);
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&a);
  test_bcsr_free(&arrays);
}

static void an_update_renews_the_copy(void **state) {
  (void)state;
  test_bcsr arrays = test_mesh_lines(NX, NY, BS);
  bisai_bcsr *a = test_bcsr_make(context, &arrays);
  bisai_precond *m = make(a, BISAI_AGGREGATION_UNIT_SCALAR);
  const int64_t values = (int64_t)bsi_block_offset(a, a->blocks);
  for (int64_t k = 0; k < values; k++) arrays.values[k] *= 3.0;
  update(a, &arrays);
  assert_ptr_equal(operator_of(m, a), a);
  EXPECT_OK(context, bisai_precond_update(m, a));
  assert_ptr_not_equal(operator_of(m, a), a);
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&a);
  test_bcsr_free(&arrays);
}

static void other_preconditioners_and_contexts_take_the_matrix(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, test_mesh_lines(NX, NY, BS)),
             *full = test_bcsr_take(context, test_bcsr_grid(NX, NY, 2, 1));
  bisai_precond_options o = bisai_precond_options_default();
  bisai_precond *blocks = make(a, BISAI_AGGREGATION_UNIT_BLOCK),
                *scalar = make(a, BISAI_AGGREGATION_UNIT_SCALAR),
                *of_full = make(full, BISAI_AGGREGATION_UNIT_SCALAR), *bjacobi = NULL;
  o.kind = BISAI_PRECOND_BJACOBI;
  EXPECT_OK(context, bisai_precond_create(context, a, &o, &bjacobi));
  assert_ptr_equal(operator_of(blocks, a), a);
  assert_ptr_equal(operator_of(bjacobi, a), a);
  assert_ptr_equal(operator_of(of_full, full), full); /* blocks without zeros take fewer bytes */
  bisai_context *other = test_context(1);
  const bisai_bcsr *same = NULL;
  EXPECT_OK(other, bsi_precond_operator(other, scalar, a, &same));
  assert_ptr_equal(same, a);
  bisai_context_destroy(&other);
  bisai_precond_destroy(&blocks), bisai_precond_destroy(&scalar);
  bisai_precond_destroy(&of_full), bisai_precond_destroy(&bjacobi);
  bisai_bcsr_destroy(&a), bisai_bcsr_destroy(&full);
}

/* The copy belongs to the values of creation. The solver must not take it for the new values. */
static void a_solve_after_new_values_is_one_of_the_new_values(void **state) {
  (void)state;
  test_bcsr arrays = test_mesh_lines(NX, NY, BS);
  bisai_bcsr *a = test_bcsr_make(context, &arrays);
  bisai_precond *m = make(a, BISAI_AGGREGATION_UNIT_SCALAR);
  bisai_solver_options o = bisai_solver_options_default();
  bisai_solver *solver = NULL;
  o.tolerance = 1e-10;
  EXPECT_OK(context, bisai_solver_create(context, N, &o, &solver));
  double *b = test_vector_in_place(N, 1), *x = test_vector_in_place(N, 2);
  for (int k = 0; k < 2; k++) {
    bisai_solver_report r = {.struct_size = sizeof r};
    EXPECT_OK(context, bisai_solver_solve(solver, a, m, b, x, &r));
    assert_true(r.relative_residual <= 1e-10);
    test_bcsr_block(&arrays, 5, 5)[0] *= 1.5;
    update(a, &arrays);
  }
  test_vector_free(b), test_vector_free(x);
  bisai_solver_destroy(&solver);
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&a);
  test_bcsr_free(&arrays);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_copy_without_zeros_takes_the_place_of_blocks),
      cmocka_unit_test(a_copy_of_other_values_is_not_taken),
      cmocka_unit_test(a_value_without_a_place_in_the_copy_is_seen),
      cmocka_unit_test(an_update_renews_the_copy),
      cmocka_unit_test(other_preconditioners_and_contexts_take_the_matrix),
      cmocka_unit_test(a_solve_after_new_values_is_one_of_the_new_values)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
