/* SPDX-License-Identifier: BSD-3-Clause */
/* Exact triangular solves on a device against the host's. */
#include <algorithm>

#include "apply/apply_ops.h"
#include "core/matrix/triangular.h"
#include "device.cuh"

namespace {

/* Each row up to `length` off-diagonal columns of its triangle within `reach`; a negative reach is
 * the width of a mesh whose rows have their neighbours on the line, on the line before and up to
 * `length` more far away. */
void make_rows(bisai_triangle triangle, int32_t n, int32_t length, int32_t reach, bool diagonal,
               std::vector<int32_t> *ptr, std::vector<int32_t> *idx) {
  *ptr = {0};
  for (int32_t i = 0; i < n; i++) {
    std::vector<int32_t> row;
    if (diagonal) row.push_back(i);
    const int32_t sign = triangle == BISAI_LOWER ? -1 : 1, width = -reach,
                  place = triangle == BISAI_LOWER ? i : n - 1 - i;
    if (reach < 0 && place % width > 0) row.push_back(i + sign);
    if (reach < 0 && place >= width) row.push_back(i + sign * width);
    for (int32_t k = 0; reach < 0 && k < std::min(length, width) && place >= 3 * width; k++)
      row.push_back(i + sign * (2 * width + k));
    for (int32_t k = 0; reach > 0 && k < length; k++) {
      const int32_t step = 1 + static_cast<int32_t>((next_random() + 1.0) * 0.5 * (reach - 1)),
                    j = triangle == BISAI_LOWER ? i - step : i + step;
      if (j >= 0 && j < n) row.push_back(j);
    }
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    idx->insert(idx->end(), row.begin(), row.end());
    ptr->push_back(static_cast<int32_t>(idx->size()));
  }
}

void agrees_with_the_host(bisai_context *device, bisai_triangle triangle, int32_t n, int bs,
                          int32_t length, int32_t reach, bool unit, bool in_place) {
  const context_on host(BISAI_BACKEND_HOST);
  std::vector<int32_t> ptr, idx;
  make_rows(triangle, n, length, reach, !unit, &ptr, &idx);
  const size_t values = static_cast<size_t>(bs) * bs, rows = static_cast<size_t>(n) * bs;
  std::vector<double> blocks = random_vector(idx.size() * values),
                      inverses = random_vector(n * values), b = random_vector(2 * rows);
  for (double &value : blocks) value /= bs * (length + 2);
  for (double &value : inverses) value /= bs;
  bisai_bcsr a = {};
  a.block_rows = a.block_cols = n, a.block_size = bs, a.blocks = static_cast<int32_t>(idx.size()),
  a.unit_diagonal = unit;
  a.row_ptr = ptr.data(), a.col_idx = idx.data(), a.values = blocks.data();
  bsi_levels levels = {};
  bool good = bsi_levels_create(host, triangle, n, ptr.data(), idx.data(), &levels) == BISAI_OK;
  bsi_triangular t = {triangle, &a, unit ? nullptr : inverses.data(), &levels};
  std::vector<double> expected(2 * rows);
  bsi_backend_host.apply->solve_triangle(host, &t, BISAI_SCHEDULE_SERIAL, 2, b.data(),
                                         static_cast<int64_t>(rows), expected.data(),
                                         static_cast<int64_t>(rows));

  const device_array<int32_t> d_ptr(ptr), d_idx(idx),
      order(std::vector<int32_t>(levels.rows, levels.rows + n));
  const device_array<double> d_blocks(blocks), d_inverses(inverses), d_b(b),
      d_x(std::vector<double>(2 * rows, NAN)), again(b), spare(std::vector<double>(rows, NAN));
  bsi_levels on_device = levels;
  on_device.rows = order.data;
  a.row_ptr = d_ptr.data, a.col_idx = d_idx.data, a.values = d_blocks.data;
  t.levels = &on_device;
  t.spare = spare.data;
  if (!unit) t.inverse_diagonal = d_inverses.data;
  const double *from = in_place ? again.data : d_b.data;
  double *to = in_place ? again.data : d_x.data;
  good = good && !bsi_backend_cuda.apply->solve_triangle(device, &t, BISAI_SCHEDULE_AUTO, 2, from,
                                                         static_cast<int64_t>(rows), to,
                                                         static_cast<int64_t>(rows));
  const std::vector<double> got = in_place ? again.fetch() : d_x.fetch();
  double largest = 1.0;
  for (const double value : expected) largest = std::max(largest, std::fabs(value));
  for (size_t i = 0; i < got.size(); i++)
    good = good && std::fabs(got[i] - expected[i]) <= 1e-13 * largest;
  bsi_levels_destroy(host, &levels);
  verdict(good, "%s, %d block rows of size %d, %d blocks within %d%s%s",
          triangle == BISAI_LOWER ? "lower" : "upper", n, bs, length, reach,
          unit ? ", unit diagonal" : "", in_place ? ", in place" : "");
}

/* Calls test(device, triangle, block rows, block size). */
template <typename F> void for_sizes(F test) {
  const context_on device(BISAI_BACKEND_CUDA);
  for (const bisai_triangle triangle : {BISAI_LOWER, BISAI_UPPER})
    for (const int bs : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 32})
      for (const int32_t n : {0, 1, 2, 33, short_form() ? 70 : 1000})
        if (!left_out(bs)) test(device, triangle, n, bs);
}

} // namespace

TEST(solves_with_unit_triangles_agree_with_the_host) {
  for_sizes([](bisai_context *device, bisai_triangle triangle, int32_t n, int bs) {
    agrees_with_the_host(device, triangle, n, bs, 3, 50, true, false);
  });
}

TEST(solves_in_place_agree_with_the_host) {
  for_sizes([](bisai_context *device, bisai_triangle triangle, int32_t n, int bs) {
    agrees_with_the_host(device, triangle, n, bs, 30, 100, false, true);
  });
}

TEST(solves_with_as_many_levels_as_rows_agree_with_the_host) {
  for_sizes([](bisai_context *device, bisai_triangle triangle, int32_t n, int bs) {
    agrees_with_the_host(device, triangle, n, bs, 1, 1, false, false);
  });
}

TEST(solves_on_meshes_agree_with_the_host) {
  if (short_form()) SKIP("large");
  const context_on device(BISAI_BACKEND_CUDA);
  for (const int bs : {1, 2, 3, 4, 5, 8})
    for (const int32_t width : {8, 37, 100, 300})
      for (const int32_t lines : {1, 7, 33, 100}) {
        agrees_with_the_host(device, BISAI_LOWER, width * lines, bs, 0, -width, true, false);
        agrees_with_the_host(device, BISAI_UPPER, width * lines - 5, bs, 0, -width, false, true);
        agrees_with_the_host(device, BISAI_UPPER, width * lines, bs, 20, -width, false, false);
      }
}

TEST(large_solves_agree_with_the_host) {
  if (short_form()) SKIP("large");
  const context_on device(BISAI_BACKEND_CUDA);
  agrees_with_the_host(device, BISAI_LOWER, 100000, 3, 3, 300, true, false);
  agrees_with_the_host(device, BISAI_UPPER, 100000, 3, 3, 300, false, true);
}
