/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of approximate inverses on a device against the host's. */
#include <algorithm>
#include <cstring>

#include "core/block/values.h"
#include "device.cuh"
#include "solve/isai.h"
#include "solve/solve_ops.h"

namespace {

struct structure {
  std::vector<int32_t> ptr, idx, position;
};

/* Each row up to `length` columns of its triangle, the diagonal always. */
structure make_rows(bisai_triangle triangle, int32_t n, int32_t length, int32_t reach,
                    bool diagonal) {
  structure s;
  s.ptr.push_back(0);
  for (int32_t i = 0; i < n; i++) {
    std::vector<int32_t> row;
    if (diagonal) row.push_back(i);
    for (int32_t k = 1; k < length; k++) {
      const int32_t step = 1 + static_cast<int32_t>((next_random() + 1.0) * 0.5 * (reach - 1));
      const int32_t j = triangle == BISAI_LOWER ? i - step : i + step;
      if (j >= 0 && j < n) row.push_back(j);
    }
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    s.idx.insert(s.idx.end(), row.begin(), row.end());
    s.ptr.push_back(static_cast<int32_t>(s.idx.size()));
  }
  return s;
}

structure transpose(const structure &s) {
  const int32_t n = static_cast<int32_t>(s.ptr.size()) - 1;
  structure t;
  t.ptr.assign(n + 1, 0);
  t.idx.resize(s.idx.size());
  t.position.resize(s.idx.size());
  for (const int32_t j : s.idx) t.ptr[j + 1]++;
  for (int32_t j = 0; j < n; j++) t.ptr[j + 1] += t.ptr[j];
  std::vector<int32_t> next(t.ptr.begin(), t.ptr.end() - 1);
  for (int32_t i = 0; i < n; i++)
    for (int32_t q = s.ptr[i]; q < s.ptr[i + 1]; q++) {
      const int32_t to = next[s.idx[q]]++;
      t.idx[to] = i;
      t.position[to] = q;
    }
  return t;
}

/* What an inverse is of, and how it is stored. */
struct inverse_of {
  /* rows of the triangle, and of the pattern, are up to so many blocks long */
  int32_t n, length, pattern_length;
  bool unit;
  bisai_value_type type;
  /* multiplies an inverse diagonal block in the middle */
  double spoiled;
};

void agrees_with_the_host(bisai_context *host, bisai_context *context, bisai_triangle triangle,
                          int bs, const inverse_of &of) {
  const int32_t n = of.n, length = of.length, pattern_length = of.pattern_length;
  const bool unit = of.unit;
  const bisai_value_type type = of.type;
  const double spoiled = of.spoiled;
  const int values = bs * bs;
  structure t = make_rows(triangle, n, length, 30, !unit),
            rows = make_rows(triangle, n, pattern_length, 40, true), columns = transpose(rows);
  std::vector<double> t_values = random_vector(t.idx.size() * values),
                      inverses = random_vector(static_cast<size_t>(n) * values);
  for (double &value : t_values) value /= bs * length;
  for (double &value : inverses) value /= bs;
  for (int32_t i = 0; i < n; i++)
    for (int r = 0; r < bs; r++) inverses[static_cast<size_t>(i) * values + r * bs + r] += 1.0;
  if (spoiled != 1.0)
    for (int v = 0; v < values; v++) inverses[static_cast<size_t>(n / 2) * values + v] *= spoiled;
  std::vector<char> stored(rows.idx.size() * values * bsi_value_bytes(type), 0x7f),
      expected = stored;
  int32_t longest = 0;
  for (int32_t j = 0; j < n; j++) longest = std::max(longest, columns.ptr[j + 1] - columns.ptr[j]);

  bisai_bcsr a = {}, inverse = {};
  a.block_rows = a.block_cols = n, a.block_size = bs, a.blocks = static_cast<int32_t>(t.idx.size());
  a.unit_diagonal = unit, a.row_ptr = t.ptr.data(), a.col_idx = t.idx.data(),
  a.values = t_values.data();
  inverse.block_rows = inverse.block_cols = n, inverse.block_size = bs, inverse.type = type,
  inverse.values = expected.data();
  bsi_triangular view = {triangle, &a, unit ? nullptr : inverses.data(), nullptr};
  bisai_pattern pattern = {};
  pattern.block_rows = n, pattern.blocks = static_cast<int32_t>(rows.idx.size()),
  pattern.longest_column = longest;
  pattern.row_ptr = rows.ptr.data(), pattern.col_idx = rows.idx.data();
  pattern.col_ptr = columns.ptr.data(), pattern.row_idx = columns.idx.data(),
  pattern.position = columns.position.data();
  std::vector<int32_t> slots(n, -1);
  std::vector<double> scratch(static_cast<size_t>(longest + 1) * values);
  bsi_isai isai = {};
  isai.pattern = &pattern, isai.inverse = &inverse, isai.slots = slots.data(),
  isai.columns = scratch.data(), isai.threads = 1;
  bsi_isai_fault right = {-1, -1, BSI_FAULT_NOT_FINITE}, fault = right;
  bsi_backend_host.solve->values(host, &view, &isai, &right);

  const int at_once = 256;
  const device_array<int32_t> t_ptr(t.ptr), t_idx(t.idx), row_ptr(rows.ptr), col_idx(rows.idx),
      col_ptr(columns.ptr), row_idx(columns.idx), position(columns.position);
  const device_array<double> d_values(t_values), d_inverses(inverses),
      d_columns(std::vector<double>(static_cast<size_t>(at_once) * longest * values));
  const device_array<char> d_stored(stored);
  a.row_ptr = t_ptr.data, a.col_idx = t_idx.data, a.values = d_values.data;
  if (!unit) view.inverse_diagonal = d_inverses.data;
  pattern.row_ptr = row_ptr.data, pattern.col_idx = col_idx.data, pattern.col_ptr = col_ptr.data,
  pattern.row_idx = row_idx.data, pattern.position = position.data;
  inverse.values = d_stored.data, isai.columns = d_columns.data, isai.threads = at_once;
  bool good = bsi_backend_cuda.solve->values(context, &view, &isai, &fault) == BISAI_OK;
  good = good && fault.column == right.column && fault.row == right.row &&
         (right.column < 0 || fault.kind == right.kind);
  const std::vector<char> got = d_stored.fetch();
  const double close = type == BISAI_FP64   ? 1e-13
                       : type == BISAI_FP32 ? 1e-6
                       : type == BISAI_FP16 ? 2e-3
                                            : 2e-2;
  for (size_t v = 0; right.column < 0 && v < rows.idx.size() * values; v++) {
    const double x = bsi_value_load(type, got.data(), v),
                 y = bsi_value_load(type, expected.data(), v);
    good = good && std::fabs(x - y) <= close * std::max(1.0, std::fabs(y));
  }
  verdict(good, "%s, %d block columns up to %d long, blocks of size %d, type %d%s, spoiled by %g",
          triangle == BISAI_LOWER ? "lower" : "upper", n, longest, bs, type,
          unit ? ", unit diagonal" : "", spoiled);
}

/* Calls test(host, device, triangle, block size). */
template <typename F> void for_block_sizes(F test) {
  const context_on host(BISAI_BACKEND_HOST), device(BISAI_BACKEND_CUDA);
  for (const bisai_triangle triangle : {BISAI_LOWER, BISAI_UPPER})
    for (const int bs : {1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 32})
      if (!left_out(bs)) test(host, device, triangle, bs);
}

} // namespace

TEST(inverses_of_unit_triangles_agree_with_the_host) {
  for_block_sizes([](bisai_context *host, bisai_context *device, bisai_triangle triangle, int bs) {
    for (const int32_t n : {1, 2, 10, 31, 100, 333})
      if (!short_form() || n == 1 || n == 31)
        agrees_with_the_host(host, device, triangle, bs, {n, 3, 3, true, BISAI_FP64, 1.0});
  });
}

TEST(inverses_of_general_triangles_agree_with_the_host) {
  for_block_sizes([](bisai_context *host, bisai_context *device, bisai_triangle triangle, int bs) {
    for (const int32_t n : {1, 2, 10, 31, 100, 333})
      if (!short_form() || n == 1 || n == 31)
        agrees_with_the_host(host, device, triangle, bs, {n, 20, 12, false, BISAI_FP64, 1.0});
  });
}

TEST(long_columns_agree_with_the_host) {
  for_block_sizes([](bisai_context *host, bisai_context *device, bisai_triangle triangle, int bs) {
    agrees_with_the_host(host, device, triangle, bs,
                         {short_form() ? 70 : 300, 40, 60, false, BISAI_FP64, 1.0});
  });
}

TEST(narrow_values_agree_with_the_host) {
  for_block_sizes([](bisai_context *host, bisai_context *device, bisai_triangle triangle, int bs) {
    for (const bisai_value_type type : {BISAI_FP32, BISAI_FP16, BISAI_BF16})
      agrees_with_the_host(host, device, triangle, bs, {77, 5, 8, false, type, 1.0});
  });
}

TEST(infinite_values_are_named_as_on_the_host) {
  for_block_sizes([](bisai_context *host, bisai_context *device, bisai_triangle triangle, int bs) {
    agrees_with_the_host(host, device, triangle, bs, {77, 5, 8, false, BISAI_FP64, INFINITY});
  });
}

TEST(values_that_the_storage_cannot_hold_are_named_as_on_the_host) {
  for_block_sizes([](bisai_context *host, bisai_context *device, bisai_triangle triangle, int bs) {
    for (const double scale : {1e6, 1e-12}) /* overflow; a diagonal block that vanishes */
      agrees_with_the_host(host, device, triangle, bs, {77, 5, 8, false, BISAI_FP16, scale});
  });
}
