/* SPDX-License-Identifier: BSD-3-Clause */
/* Equilibration, values of the reordered matrix, and vectors into its order and back, on a device
 * against the host's: every bit, as nothing is rounded but the product of a value and two powers of
 * two. */
#include <algorithm>
#include <cstring>

#include "core/matrix/bcsr_impl.h"
#include "device.cuh"
#include "order/order_ops.h"
#include "order/reordered.h"

namespace {

enum zeros { NONE, A_ROW, A_COLUMN };

template <typename T> bool same_bits(const std::vector<T> &x, const std::vector<T> &y) {
  return x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0;
}

std::vector<int32_t> random_permutation(int32_t n) {
  std::vector<int32_t> p(n);
  for (int32_t i = 0; i < n; i++) p[i] = i;
  for (int32_t i = n - 1; i > 0; i--)
    std::swap(p[i], p[static_cast<int32_t>((next_random() + 1.0) * 0.5 * i)]);
  return p;
}

void agrees_with_the_host(bisai_context *device, int32_t n, int bs, bool permuted,
                          bool equilibrated, zeros empty) {
  bisai_context host = {};
  host.backend = &bsi_backend_host;
  host.threads = 1;
  const size_t values = static_cast<size_t>(bs) * bs, rows = static_cast<size_t>(n) * bs;
  std::vector<int32_t> ptr = {0}, idx;
  for (int32_t i = 0; i < n; i++) {
    for (int32_t k = -(i % 7); k <= i % 5; k++)
      if (i + k >= 0 && i + k < n) idx.push_back(i + k);
    ptr.push_back(static_cast<int32_t>(idx.size()));
  }
  std::vector<double> blocks = random_vector(idx.size() * values);
  for (double &value : blocks)
    value = value < -0.8 ? 0.0 : std::ldexp(value, static_cast<int>(next_random() * 400));
  for (int32_t i = 0; i < n; i++)
    for (int32_t p = ptr[i]; p < ptr[i + 1]; p++)
      if ((empty == A_ROW && i == n / 2) || (empty == A_COLUMN && idx[p] == n / 3))
        std::fill(&blocks[p * values], &blocks[p * values] + values, 0.0);
  bisai_bcsr a = {}, b = {};
  a.block_rows = a.block_cols = n, a.block_size = bs, a.blocks = static_cast<int32_t>(idx.size());
  a.row_ptr = ptr.data(), a.col_idx = idx.data(), a.values = blocks.data();
  b = a;

  /* B's structure; as test material its columns need not ascend. */
  const std::vector<int32_t> permutation = random_permutation(n);
  std::vector<int32_t> b_ptr = {0}, source;
  for (int32_t i = 0; i < n; i++) {
    const int32_t old = permuted ? permutation[i] : i;
    for (int32_t p = ptr[old]; p < ptr[old + 1]; p++) source.push_back(p);
    b_ptr.push_back(static_cast<int32_t>(source.size()));
  }
  std::vector<double> expected(blocks.size() + 1), scales(2 * rows + 1);
  std::vector<int32_t> integers(4 * rows + 1);
  std::vector<int16_t> exponents(blocks.size() + 1);
  bsi_reordered r = {};
  r.matrix = &b;
  b.row_ptr = b_ptr.data(), b.values = expected.data();
  std::vector<int32_t> to = permutation;
  r.unit = 1;
  if (permuted) r.maps = {to.data(), to.data(), source.data()};
  bsi_equilibration *q = &r.equilibration;
  q->row_scale = scales.data(), q->col_scale = scales.data() + rows;
  q->row_exponent = integers.data(), q->col_exponent = q->row_exponent + rows,
  q->row_max = q->col_exponent + rows, q->col_max = q->row_max + rows,
  q->exponents = exponents.data();
  bool good = bsi_backend_host.order->reordered->equilibrate(&host, &a, q) == BISAI_OK;
  const bsi_equilibration right = *q;
  if (!equilibrated) q->row_scale = nullptr;
  good = good && !bsi_backend_host.order->reordered->values(&host, &a, &r);

  const device_array<int32_t> d_ptr(ptr), d_idx(idx), d_b_ptr(b_ptr), d_source(source),
      d_permutation(permutation), d_integers(std::vector<int32_t>(4 * rows, -99));
  const device_array<int16_t> d_exponents(std::vector<int16_t>(blocks.size(), 7));
  const device_array<double> d_blocks(blocks), d_b(std::vector<double>(blocks.size(), NAN)),
      d_scales(std::vector<double>(2 * rows, NAN));
  a.row_ptr = d_ptr.data, a.col_idx = d_idx.data, a.values = d_blocks.data;
  b.row_ptr = d_b_ptr.data, b.col_idx = d_idx.data, b.values = d_b.data;
  if (permuted) r.maps = {d_permutation.data, d_permutation.data, d_source.data};
  q->row_scale = d_scales.data, q->col_scale = d_scales.data + rows;
  q->row_exponent = d_integers.data, q->col_exponent = q->row_exponent + rows,
  q->row_max = q->col_exponent + rows, q->col_max = q->row_max + rows,
  q->exponents = d_exponents.data;
  good = good && !bsi_backend_cuda.order->reordered->equilibrate(device, &a, q) &&
         q->zero_row == right.zero_row && q->zero_col == right.zero_col;
  if (right.zero_row < 0 && right.zero_col < 0) {
    scales.pop_back(), expected.pop_back();
    good = good && q->smallest == right.smallest && q->largest == right.largest &&
           same_bits(d_scales.fetch(), scales);
    if (!equilibrated) q->row_scale = nullptr;
    good = good && !bsi_backend_cuda.order->reordered->values(device, &a, &r) &&
           same_bits(d_b.fetch(), expected);
  }
  verdict(good, "%d block rows of size %d%s%s, zeros %d: zero row %d/%d, column %d/%d", n, bs,
          permuted ? ", permuted" : "", equilibrated ? ", equilibrated" : "",
          static_cast<int>(empty), q->zero_row, right.zero_row, q->zero_col, right.zero_col);
}

void vectors_move(bisai_context *device, int32_t n, int bs, bool permuted, bool scaled,
                  int32_t count) {
  bisai_context host = {};
  host.backend = &bsi_backend_host;
  host.threads = 1;
  const size_t rows = static_cast<size_t>(n) * bs, ld = rows + 3;
  const std::vector<int32_t> permutation = random_permutation(n);
  const std::vector<double> scale = random_vector(rows), x = random_vector(ld * count);
  const device_array<int32_t> d_permutation(permutation);
  const device_array<double> d_scale(scale), d_x(x);
  for (const bool scatter : {false, true}) {
    std::vector<double> expected(ld * count, -5.0);
    const device_array<double> d_y(expected);
    bsi_move move = {.scatter = scatter,
                     .bs = bs,
                     .n = n,
                     .permutation = permuted ? permutation.data() : nullptr,
                     .scale = scaled ? scale.data() : nullptr,
                     .count = count,
                     .x = x.data(),
                     .ldx = static_cast<int64_t>(ld),
                     .y = expected.data(),
                     .ldy = static_cast<int64_t>(ld)};
    bool good = !bsi_reordered_host.move(&host, &move);
    if (permuted) move.permutation = d_permutation.data;
    if (scaled) move.scale = d_scale.data;
    move.x = d_x.data;
    move.y = d_y.data;
    good = good && !bsi_reordered_cuda.move(device, &move);
    verdict(good && same_bits(d_y.fetch(), expected), "%s, %d vectors of %d blocks of %d%s%s",
            scatter ? "scatter" : "gather", count, n, bs, permuted ? ", permuted" : "",
            scaled ? ", scaled" : "");
  }
}

/* Calls test(device, block rows, block size, permuted). */
template <typename F> void for_sizes(F test) {
  const context_on device(BISAI_BACKEND_CUDA);
  for (const int bs : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 32})
    for (const int32_t n : {0, 1, 2, 33, 700})
      for (const bool permuted : {false, true})
        if (!left_out(bs) && !(short_form() && (n == 2 || n == 700))) test(device, n, bs, permuted);
}

} // namespace

TEST(reordered_values_have_the_bits_of_the_host) {
  for_sizes([](bisai_context *device, int32_t n, int bs, bool permuted) {
    agrees_with_the_host(device, n, bs, permuted, false, NONE);
  });
}

TEST(equilibrated_values_have_the_bits_of_the_host) {
  for_sizes([](bisai_context *device, int32_t n, int bs, bool permuted) {
    agrees_with_the_host(device, n, bs, permuted, true, NONE);
  });
}

TEST(zero_rows_and_columns_are_named_as_on_the_host) {
  for_sizes([](bisai_context *device, int32_t n, int bs, bool permuted) {
    agrees_with_the_host(device, n, bs, permuted, true, A_ROW);
    agrees_with_the_host(device, n, bs, permuted, true, A_COLUMN);
  });
}

TEST(vectors_move_as_on_the_host) {
  for_sizes([](bisai_context *device, int32_t n, int bs, bool permuted) {
    for (const bool scaled : {false, true})
      for (const int32_t count : {1, 3}) vectors_move(device, n, bs, permuted, scaled, count);
  });
}
