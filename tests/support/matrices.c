/* Real matrices from the folder that $BISAI_MATRICES names. */
#include "support.h"

bool test_matrix_path(const char *name, char *path, size_t size) {
  const char *folder = getenv("BISAI_MATRICES");
  if (folder == NULL) {
    return false;
  }
  int length = snprintf(path, size, "%s/%s.mtx.xz", folder, name);
  if (length < 0 || (size_t)length >= size) {
    return false;
  }
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    return false;
  }
  fclose(file);
  return true;
}

bisai_bcsr *test_matrix_read(bisai_context *context, const char *name, int32_t block_size) {
  char path[4096];
  if (!test_matrix_path(name, path, sizeof path)) {
    print_message("skipped: no %s.mtx.xz under $BISAI_MATRICES\n", name);
    skip();
  }
  bisai_read_options options = bisai_read_options_default();
  options.block_size = block_size;
  bisai_bcsr *matrix = NULL;
  bisai_status status = bisai_read_matrix(context, path, &options, &matrix);
  if (status == BISAI_UNAVAILABLE) {
    print_message("skipped: %s: %s\n", name, bisai_context_error(context));
    skip();
  }
  EXPECT_OK(context, status);
  return matrix;
}
