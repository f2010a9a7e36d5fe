/* SPDX-License-Identifier: BSD-3-Clause */
/* Files between bisai and PETSc itself, both ways: every block size, the same values to the last
 * bit, the block size from FILE.info. */
#include "folder_fixture.h"
#include "petsc_fixture.h"

#include <petscmat.h>

enum { BLOCK_ROWS = 19 };

static void check(PetscErrorCode code) { assert_int_equal(code, 0); }

static void expect_same(const bisai_bcsr *a, const bisai_bcsr *b) {
  double *dense_a = test_dense(a), *dense_b = test_dense(b);
  const size_t n = (size_t)bisai_bcsr_rows(a);
  assert_int_equal(bisai_bcsr_rows(a), bisai_bcsr_rows(b));
  assert_int_equal(bisai_bcsr_block_size(a), bisai_bcsr_block_size(b));
  assert_int_equal(bisai_bcsr_blocks(a), bisai_bcsr_blocks(b));
  assert_memory_equal(dense_a, dense_b, n * n * sizeof *dense_a);
  free(dense_a);
  free(dense_b);
}

static void petsc_loads_what_bisai_writes(void **state) {
  (void)state;
  for (int32_t bs = 1; bs <= 9; bs++) {
    for (int compressed = 0; compressed < 2; compressed++) {
      bisai_bcsr *matrix = test_bcsr_take(
          context, test_bcsr_random(test_shape_square(BLOCK_ROWS, bs, 40 + (uint64_t)bs)));
      const PetscInt n = bisai_bcsr_rows(matrix);
      double *rhs = test_random_vector(n, 9);
      bisai_write_options options = bisai_write_options_default();
      options.rhs = rhs;
      const char *path = test_path(compressed ? "A.petsc.gz" : "A.petsc");
      const bisai_status status = bisai_write_matrix(context, path, matrix, &options);
      if (status != BISAI_UNAVAILABLE) {
        EXPECT_OK(context, status);
        PetscViewer viewer;
        Mat loaded;
        Vec b;
        check(PetscViewerBinaryOpen(PETSC_COMM_SELF, path, FILE_MODE_READ, &viewer));
        check(MatCreate(PETSC_COMM_SELF, &loaded));
        check(MatSetType(loaded, MATSEQBAIJ));
        check(MatLoad(loaded, viewer));
        check(VecCreate(PETSC_COMM_SELF, &b));
        check(VecLoad(b, viewer));
        check(PetscViewerDestroy(&viewer));
        bisai_bcsr *back = NULL;
        EXPECT_OK(context, bisai_petsc_from_mat(context, loaded, &back));
        expect_same(matrix, back);
        PetscInt length;
        const PetscScalar *values;
        check(VecGetSize(b, &length));
        assert_int_equal(length, n);
        check(VecGetArrayRead(b, &values));
        assert_memory_equal(values, rhs, (size_t)n * sizeof *rhs);
        check(VecRestoreArrayRead(b, &values));
        check(VecDestroy(&b));
        check(MatDestroy(&loaded));
        bisai_bcsr_destroy(&back);
      }
      free(rhs);
      bisai_bcsr_destroy(&matrix);
    }
  }
}

static void bisai_reads_what_petsc_writes(void **state) {
  (void)state;
  static const MatType types[] = {MATSEQBAIJ, MATSEQAIJ};
  for (int32_t bs = 1; bs <= 9; bs++) {
    for (int type = 0; type < 2; type++) {
      bisai_bcsr *matrix = test_bcsr_take(
          context, test_bcsr_random(test_shape_square(BLOCK_ROWS, bs, 60 + (uint64_t)bs)));
      const PetscInt n = bisai_bcsr_rows(matrix);
      double *rhs = test_random_vector(n, 9), *got = malloc((size_t)n * sizeof *got);
      const char *path = test_path("B");
      Mat mat, converted;
      Vec b;
      PetscViewer viewer;
      EXPECT_OK(context, bisai_petsc_to_mat(context, matrix, &mat));
      check(MatConvert(mat, types[type], MAT_INITIAL_MATRIX, &converted));
      check(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, n, rhs, &b));
      check(PetscViewerBinaryOpen(PETSC_COMM_SELF, path, FILE_MODE_WRITE, &viewer));
      check(MatView(converted, viewer));
      check(VecView(b, viewer));
      check(PetscViewerDestroy(&viewer));
      check(VecDestroy(&b));
      check(MatDestroy(&converted));
      check(MatDestroy(&mat));
      bisai_read_options options = bisai_read_options_default();
      options.block_size = bs == 1 ? 1 : 0; /* FILE.info says the others */
      bisai_bcsr *read = NULL;
      EXPECT_OK(context, bisai_read_matrix(context, path, &options, &read));
      expect_same(matrix, read);
      int64_t columns = 0;
      EXPECT_OK(context, bisai_read_rhs(context, path, n, got, &columns));
      assert_int_equal(columns, 1);
      assert_memory_equal(rhs, got, (size_t)n * sizeof *got);
      free(rhs);
      free(got);
      bisai_bcsr_destroy(&read);
      bisai_bcsr_destroy(&matrix);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(petsc_loads_what_bisai_writes),
      cmocka_unit_test(bisai_reads_what_petsc_writes),
  };
  bisai_context *starter = test_context(1);
  int failed = !test_petsc_start(starter);
  if (!failed) failed = cmocka_run_group_tests(tests, setup, teardown);
  failed |= !test_petsc_stop(starter);
  bisai_context_destroy(&starter);
  return failed;
}
