/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows scaled by inverse diagonal blocks on a device against the host's. */
#include <algorithm>
#include <cstring>

#include "apply/apply_ops.h"
#include "core/matrix/bcsr_impl.h"
#include "core/matrix/triangular.h"
#include "device.cuh"

namespace {

void agrees_with_the_host(bisai_context *device, bisai_triangle triangle, int32_t n, int bs,
                          bool unit, bool infinite) {
  const context_on host(BISAI_BACKEND_HOST);
  const size_t values = static_cast<size_t>(bs) * bs;
  std::vector<int32_t> ptr = {0}, idx, to_ptr = {0}, to_idx;
  for (int32_t i = 0; i < n; i++) {
    if (!unit && triangle == BISAI_UPPER) idx.push_back(i);
    for (int32_t k = 0; k < i % 40; k++) {
      const int32_t j = triangle == BISAI_LOWER ? i - i % 40 + k : i + 1 + k;
      if (j >= n) break;
      idx.push_back(j);
      to_idx.push_back(j);
    }
    if (!unit && triangle == BISAI_LOWER) idx.push_back(i);
    ptr.push_back(static_cast<int32_t>(idx.size()));
    to_ptr.push_back(static_cast<int32_t>(to_idx.size()));
  }
  std::vector<double> blocks = random_vector(idx.size() * values),
                      inverses = random_vector(n * values), expected(to_idx.size() * values + 1);
  if (infinite)
    for (int32_t i = n / 2; i < n; i++) inverses[i * values] = NAN;
  bisai_bcsr a = {}, scaled = {};
  a.block_rows = a.block_cols = n, a.block_size = bs, a.blocks = static_cast<int32_t>(idx.size());
  a.unit_diagonal = unit, a.row_ptr = ptr.data(), a.col_idx = idx.data(), a.values = blocks.data();
  scaled = a;
  scaled.row_ptr = to_ptr.data(), scaled.col_idx = to_idx.data(), scaled.values = expected.data();
  bsi_triangular t = {triangle, &a, unit ? nullptr : inverses.data(), nullptr};
  int32_t right, met = -2;
  bool good = bsi_backend_host.apply->scale_off_diagonal(host, &t, &scaled, &right) == BISAI_OK;

  const device_array<int32_t> d_ptr(ptr), d_idx(idx), d_to_ptr(to_ptr), d_to_idx(to_idx);
  const device_array<double> d_blocks(blocks), d_inverses(inverses),
      d_scaled(std::vector<double>(to_idx.size() * values, NAN));
  a.row_ptr = d_ptr.data, a.col_idx = d_idx.data, a.values = d_blocks.data;
  scaled.row_ptr = d_to_ptr.data, scaled.col_idx = d_to_idx.data, scaled.values = d_scaled.data;
  if (!unit) t.inverse_diagonal = d_inverses.data;
  good = good && !bsi_backend_cuda.apply->scale_off_diagonal(device, &t, &scaled, &met) &&
         met == right;
  const std::vector<double> got = d_scaled.fetch();
  for (size_t v = 0; v < got.size(); v++) /* bs products of values up to 1 */
    good = good && (std::isnan(expected[v]) ? std::isnan(got[v])
                                            : std::fabs(got[v] - expected[v]) <= 1e-14 * bs);
  verdict(good, "%s, %d block rows of size %d%s%s: first infinite row %d, expected %d",
          triangle == BISAI_LOWER ? "lower" : "upper", n, bs, unit ? ", unit diagonal" : "",
          infinite ? ", with NaN" : "", met, right);
}

/* Calls test(device, triangle, block rows, block size). */
template <typename F> void for_sizes(F test) {
  const context_on device(BISAI_BACKEND_CUDA);
  for (const bisai_triangle triangle : {BISAI_LOWER, BISAI_UPPER})
    for (const int bs : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 32})
      for (const int32_t n : {0, 1, 2, 33, 500})
        if (!left_out(bs) && !(short_form() && n > 33)) test(device, triangle, n, bs);
}

} // namespace

TEST(rows_are_scaled_as_on_the_host) {
  for_sizes([](bisai_context *device, bisai_triangle triangle, int32_t n, int bs) {
    agrees_with_the_host(device, triangle, n, bs, false, false);
  });
}

TEST(rows_of_a_unit_triangle_are_copied_as_on_the_host) {
  for_sizes([](bisai_context *device, bisai_triangle triangle, int32_t n, int bs) {
    agrees_with_the_host(device, triangle, n, bs, true, false);
  });
}

TEST(infinite_rows_are_named_as_on_the_host) {
  for_sizes([](bisai_context *device, bisai_triangle triangle, int32_t n, int bs) {
    agrees_with_the_host(device, triangle, n, bs, false, true);
  });
}
