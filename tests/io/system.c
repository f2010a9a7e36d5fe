/* SPDX-License-Identifier: BSD-3-Clause */
/* A matrix and its right-hand side out of one pass over a file, which may be a pipe. */
#include <sys/stat.h>

#include "bytes.h"
#include "folder_fixture.h"
#include "path_of.h"

#define REAL "%%MatrixMarket matrix coordinate real general\n"
#define ARRAY "%%MatrixMarket matrix array real general\n"

static const char matrix_text[] = REAL "3 3 3\n1 1 4\n2 2 5\n3 3 6\n";
static const double diagonal[] = {4, 5, 6}, rhs[] = {7, 8, 9};

static void print_petsc(test_text *text, int width, int64_t vector) {
  for (int k = 0; k < 4; k++) bytes_integer(text, width, k == 0 ? 1211216 : 3);
  for (int i = 0; i < 3; i++) bytes_integer(text, width, 1);
  for (int i = 0; i < 3; i++) bytes_integer(text, width, i);
  for (int i = 0; i < 3; i++) bytes_double(text, diagonal[i]);
  if (vector < 0) return;
  bytes_integer(text, width, 1211214);
  bytes_integer(text, width, vector);
  for (int i = 0; i < vector; i++) bytes_double(text, rhs[i % 3]);
}

typedef struct sample {
  const char *name;
  test_text text;
  int64_t columns;
} sample;

enum { SAMPLES = 8 };

static void make_samples(sample samples[SAMPLES]) {
  memset(samples, 0, SAMPLES * sizeof *samples);
  sample *s = samples;
  s->name = "text";
  test_print(&s++->text, "%s", matrix_text);
  s->name = "petsc";
  print_petsc(&s++->text, 4, -1);
  s->name = "petsc_and_vector";
  s->columns = 1;
  print_petsc(&s++->text, 4, 3);
  s->name = "petsc_and_vector_64";
  s->columns = 1;
  print_petsc(&s++->text, 8, 3);
  s->name = "archive";
  tar_text(&s->text, "A/notes.txt", "none");
  tar_text(&s->text, "A/A.mtx", matrix_text);
  tar_end(&s++->text);
  s->name = "archive_with_rhs";
  s->columns = 1;
  tar_text(&s->text, "A/A.mtx", matrix_text);
  tar_text(&s->text, "A/A_b.mtx", ARRAY "3 1\n7\n8\n9\n");
  tar_end(&s++->text);
  s->name = "archive_with_rhs_first";
  s->columns = 2;
  tar_text(&s->text, "A/A_b.mtx", ARRAY "3 2\n7\n8\n9\n1\n2\n3\n");
  tar_text(&s->text, "A/A.mtx", matrix_text);
  tar_end(&s++->text);
  s->name = "archive_named_otherwise";
  s->columns = 1;
  tar_text(&s->text, "C/C_b.mtx", ARRAY "3 1\n7\n8\n9\n");
  tar_text(&s->text, "C/C.mtx", matrix_text);
  tar_text(&s->text, "C/readme", "nothing");
  tar_end(&s++->text);
}

static void free_samples(sample samples[SAMPLES]) {
  for (int k = 0; k < SAMPLES; k++) free(samples[k].text.bytes);
}

static void expect_content(const sample *s, const bisai_system *system) {
  double *dense = test_dense(system->matrix);
  for (int i = 0; i < 9; i++) EXPECT_NEAR(i % 4 == 0 ? diagonal[i / 4] : 0.0, dense[i], 0.0);
  free(dense);
  assert_int_equal(system->rhs_columns, s->columns);
  assert_int_equal(system->rhs != NULL, s->columns > 0);
  assert_false(system->rhs_failed);
  if (system->rhs) assert_memory_equal(system->rhs, rhs, sizeof rhs);
}

static bisai_read_options scalar_blocks(void) {
  bisai_read_options options = bisai_read_options_default();
  options.block_size = 1;
  return options;
}

/* As a file, and as a pipe which `cat` writes to once. */
static void one_pass_gives_matrix_and_right_hand_side(void **state) {
  (void)state;
  sample samples[SAMPLES];
  make_samples(samples);
  const bisai_read_options options = scalar_blocks();
  for (int k = 0; k < SAMPLES; k++) {
    const char *file = test_file("A.tar", samples[k].text.bytes, samples[k].text.length),
               *pipe = test_path("pipe");
    char command[4096];
    snprintf(command, sizeof command,
             "rm -f %s; mkfifo %s && { timeout 60 sh -c 'cat %s > %s' > /dev/null 2>&1 & }", pipe,
             pipe, file, pipe);
    assert_int_equal(system(command), 0);
    for (int through_pipe = 0; through_pipe < 2; through_pipe++) {
      bisai_system read = {.struct_size = sizeof read};
      const bisai_status status =
          bisai_read_system(context, through_pipe ? pipe : file, &options, &read);
      if (status == BISAI_UNAVAILABLE) continue;
      EXPECT_OK(context, status);
      expect_content(&samples[k], &read);
      bisai_system_clear(context, &read);
      assert_null(read.matrix);
      assert_null(read.rhs);
    }
  }
  free_samples(samples);
}

static void a_right_hand_side_that_fails_is_told_from_the_matrix(void **state) {
  (void)state;
  const bisai_read_options options = scalar_blocks();
  bisai_system read = {.struct_size = sizeof read};
  test_text text = {0};
  print_petsc(&text, 4, 2);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_read_system(context, test_path_of(text.bytes, text.length), &options, &read));
  EXPECT_MESSAGE(context, "a vector of 2 values; 3 are needed");
  assert_true(read.rhs_failed);
  assert_null(read.matrix);
  assert_null(read.rhs);

  text.length = 0;
  print_petsc(&text, 4, 3);
  EXPECT_STATUS(
      context, BISAI_PARSE_ERROR,
      bisai_read_system(context, test_path_of(text.bytes, text.length - 1), &options, &read));
  /* of the file, not of the vector */
  EXPECT_MESSAGE(context, "byte 72: 24 bytes must follow, and the file has 23");
  assert_true(read.rhs_failed);

  text.bytes[3] ^= 1;
  EXPECT_STATUS(context, BISAI_PARSE_ERROR,
                bisai_read_system(context, test_path_of(text.bytes, text.length), &options, &read));
  assert_false(read.rhs_failed);
  free(text.bytes);
}

static void failing_allocations_leave_nothing(void **state) {
  (void)state;
  sample samples[SAMPLES];
  make_samples(samples);
  const bisai_read_options options = scalar_blocks();
  for (int k = 0; k < SAMPLES; k++) {
    bisai_status status = BISAI_OUT_OF_MEMORY;
    for (long long fail_at = 2; status == BISAI_OUT_OF_MEMORY && fail_at < 100; fail_at++) {
      test_allocator allocator;
      test_allocator_reset(&allocator, fail_at);
      bisai_context *own = test_context_on(&allocator, 1);
      bisai_system read = {.struct_size = sizeof read};
      status = bisai_read_system(own, test_path_of(samples[k].text.bytes, samples[k].text.length),
                                 &options, &read);
      if (status) {
        assert_null(read.matrix);
        assert_null(read.rhs);
        assert_int_equal(atomic_load(&allocator.live_blocks), 1);
      }
      bisai_system_clear(own, &read);
      bisai_context_destroy(&own);
      assert_int_equal(atomic_load(&allocator.live_blocks), 0);
    }
    assert_true(!status || status == BISAI_UNAVAILABLE);
  }
  free_samples(samples);
}

static void arguments_are_checked(void **state) {
  (void)state;
  const char *path = test_file("A.mtx", matrix_text, strlen(matrix_text));
  bisai_system read = {.struct_size = sizeof read - 1};
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_read_system(context, path, NULL, &read));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_read_system(context, NULL, NULL, &read));
  EXPECT_MESSAGE(context, "bisai_read_system: path is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_read_system(context, path, NULL, NULL));
  EXPECT_MESSAGE(context, "bisai_read_system: system is NULL");
  assert_int_equal(bisai_read_system(NULL, path, NULL, &read), BISAI_INVALID_ARGUMENT);
  read.struct_size = sizeof read;
  bisai_read_options options = bisai_read_options_default();
  options.block_size = 33;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_read_system(context, path, &options, &read));
  EXPECT_STATUS(context, BISAI_IO_ERROR, bisai_read_system(context, "no/such.mtx", NULL, &read));
  assert_null(read.matrix);
  bisai_system_clear(context, NULL);
  bisai_system_clear(NULL, &read);
  EXPECT_OK(context, bisai_read_system(context, path, NULL, &read));
  bisai_system_clear(context, &read);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_pass_gives_matrix_and_right_hand_side),
      cmocka_unit_test(a_right_hand_side_that_fails_is_told_from_the_matrix),
      cmocka_unit_test(failing_allocations_leave_nothing),
      cmocka_unit_test(arguments_are_checked),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
