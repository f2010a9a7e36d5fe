/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices read from text in memory. */
#ifndef BISAI_TEST_TEXT_H
#define BISAI_TEST_TEXT_H

#include "folder_fixture.h"
#include "path_of.h"

static inline bisai_bcsr *read_text(const char *text, int32_t block_size) {
  bisai_read_options options = bisai_read_options_default();
  options.block_size = block_size;
  bisai_bcsr *matrix = NULL;
  EXPECT_OK(context,
            bisai_read_matrix(context, test_path_of(text, strlen(text)), &options, &matrix));
  return matrix;
}

#endif
