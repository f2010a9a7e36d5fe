/* SPDX-License-Identifier: BSD-3-Clause */
/* Real matrices from the folder that $BISAI_MATRICES names. */
#include "support.h"

enum { SKIPPED = 77 };

static bool skipped;

bool test_matrix_path(const char *name, char *path, size_t size) {
  const char *folder = getenv("BISAI_MATRICES");
  if (folder == NULL) return false;
  int length = snprintf(path, size, "%s/%s.mtx.xz", folder, name);
  if (length < 0 || (size_t)length >= size) return false;
  FILE *file = fopen(path, "rb");
  if (file == NULL) return false;
  fclose(file);
  return true;
}

void test_matrix_skip(const char *name, const char *why) {
  print_message("skipped: %s.mtx.xz: %s\n", name, why);
  skipped = true;
  skip();
}

bool test_wants_real(int argc, char **argv) { return argc > 1 && strcmp(argv[1], "real") == 0; }

int test_real_matrices(int failed) { return failed == 0 && skipped ? SKIPPED : failed; }

bisai_bcsr *test_matrix_read(bisai_context *context, const char *name, int32_t block_size) {
  char path[4096];
  if (!test_matrix_path(name, path, sizeof path))
    test_matrix_skip(name, "not under $BISAI_MATRICES");
  bisai_read_options options = bisai_read_options_default();
  options.block_size = block_size;
  bisai_bcsr *matrix = NULL;
  bisai_status status = bisai_read_matrix(context, path, &options, &matrix);
  if (status == BISAI_UNAVAILABLE) test_matrix_skip(name, bisai_context_error(context));
  EXPECT_OK(context, status);
  return matrix;
}
