/* SPDX-License-Identifier: BSD-3-Clause */
/* Random structures of sparse matrices, and comparisons of results. */
#ifndef BISAI_TEST_STRUCTURE_H
#define BISAI_TEST_STRUCTURE_H

#include <cmath>
#include <cstdint>
#include <vector>

#include "runner.h"

struct structure {
  std::vector<int32_t> row_ptr = {0}, col_idx;
};

/* Rows of 0 … longest blocks, or with their diagonal block and more. */
inline structure make_structure(int32_t rows, int32_t cols, int32_t longest, bool diagonal) {
  structure s;
  for (int32_t i = 0; i < rows; i++) {
    const int32_t wanted = static_cast<int32_t>((next_random() + 1.0) * 0.5 * (longest + 1));
    for (int32_t j = 0; j < cols; j++)
      if ((diagonal && i == j) || (next_random() + 1.0) * 0.5 * cols < wanted)
        s.col_idx.push_back(j);
    s.row_ptr.push_back(static_cast<int32_t>(s.col_idx.size()));
  }
  return s;
}

inline double apart(const std::vector<double> &a, const std::vector<double> &b) {
  double most = 0.0;
  for (size_t i = 0; i < a.size(); i++) {
    const double difference = std::fabs(a[i] - b[i]);
    if (!(difference <= most)) most = difference;
  }
  return most;
}

#endif
