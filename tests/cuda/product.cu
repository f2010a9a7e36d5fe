/* SPDX-License-Identifier: BSD-3-Clause */
/* Block products on a device against the host's. */
#include "apply/apply_ops.h"
#include "core/block/values.h"
#include "core/matrix/bcsr_impl.h"
#include "device.cuh"

namespace {

/* Whether a kernel may begin before the one in front of it has ended. */
bool can_launch_early() {
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  return device.major >= 9;
}

struct problem {
  std::vector<int32_t> row_ptr, col_idx;
  std::vector<char> values;
};

/* Rows of 0 … longest blocks in no regular order. */
problem make_matrix(int32_t rows, int32_t cols, int bs, int32_t longest, bisai_value_type type) {
  problem m;
  m.row_ptr.push_back(0);
  for (int32_t i = 0; i < rows; i++) {
    int32_t length =
        cols == 0 ? 0 : static_cast<int32_t>((next_random() + 1.0) * 0.5 * (longest + 1));
    if (length > cols) length = cols;
    int32_t column = 0;
    for (int32_t k = 0; k < length; k++) {
      const int32_t room = cols - column - (length - k);
      column += static_cast<int32_t>((next_random() + 1.0) * 0.5 * (room + 1) / (length - k));
      m.col_idx.push_back(column++);
    }
    m.row_ptr.push_back(static_cast<int32_t>(m.col_idx.size()));
  }
  const size_t count = m.col_idx.size() * bs * bs;
  m.values.resize(count * bsi_value_bytes(type));
  for (size_t i = 0; i < count; i++) bsi_value_store(type, next_random(), m.values.data(), i);
  return m;
}

/* z ← beta z + alpha A x of `count` vectors. */
struct product_of {
  int32_t rows, cols, longest;
  int count;
  double alpha, beta;
  bool unit;
};

void agrees_with_the_host(int bs, bisai_value_type type, const product_of &of) {
  const int32_t rows = of.rows, cols = of.cols, longest = of.longest;
  const int count = of.count;
  const double alpha = of.alpha, beta = of.beta;
  const bool unit = of.unit;
  problem m = make_matrix(rows, cols, bs, longest, type);
  bisai_context context = {};
  context.backend = &bsi_backend_host;
  context.threads = 1;
  const int64_t n = static_cast<int64_t>(rows) * bs, k = static_cast<int64_t>(cols) * bs,
                ldx = k + 3, ldy = n + 5, ldz = n + 1;
  std::vector<double> x = random_vector(ldx * count), z = random_vector(ldz * count),
                      y(ldy * count, NAN);
  if (beta == 0.0) z.assign(z.size(), NAN);
  std::vector<double> expected = y;
  bisai_bcsr a = {};
  a.block_rows = rows, a.block_cols = cols, a.block_size = bs,
  a.blocks = static_cast<int32_t>(m.col_idx.size());
  a.type = type, a.unit_diagonal = unit;
  a.row_ptr = m.row_ptr.data(), a.col_idx = m.col_idx.data(), a.values = m.values.data();
  bsi_product product = {count, alpha, beta, x.data(), z.data(), expected.data(), ldx, ldz, ldy, 0};
  bsi_backend_host.apply->products->multiply(&context, &a, &product);

  device_array<int32_t> row_ptr(m.row_ptr), col_idx(m.col_idx);
  device_array<char> values(m.values);
  device_array<double> d_x(x), d_z(z), d_y(y), again(y);
  a.row_ptr = row_ptr.data, a.col_idx = col_idx.data, a.values = values.data;
  product.x = d_x.data;
  product.z = beta == 0.0 ? nullptr : d_z.data;
  static const bool can_launch = can_launch_early();
  bool good = true;
  for (device_array<double> *out : {&d_y, &again}) {
    context.limits.early_launches = can_launch && out == &again;
    context.limits.cache = out == &again ? 0 : 1 << 30; /* blocks that pass once, and others */
    product.y = out->data;
    good = good && !bsi_backend_cuda.apply->products->multiply(&context, &a, &product);
  }
  CHECK(cudaDeviceSynchronize());
  const std::vector<double> got = d_y.fetch(), second = again.fetch();
  const double bound = 4e-16 * (longest * bs + 4) * (std::fabs(alpha) + std::fabs(beta)) * 2.0;
  for (int64_t v = 0; v < count; v++)
    for (int64_t i = 0; i < ldy; i++) {
      const double value = got[v * ldy + i], right = expected[v * ldy + i];
      good = good && (i < n ? std::fabs(value - right) <= bound && value == second[v * ldy + i]
                            : std::isnan(value));
    }
  verdict(
      good,
      "product, %d × %d blocks of size %d, rows up to %d, type %d, %d vectors, alpha %g, beta %g%s",
      rows, cols, bs, longest, type, count, alpha, beta, unit ? ", unit diagonal" : "");
}

void diagonal_agrees_with_the_host(int32_t n, int bs, int count) {
  bisai_context context = {};
  context.threads = 1;
  const int64_t rows = static_cast<int64_t>(n) * bs;
  std::vector<double> blocks = random_vector(rows * bs), x = random_vector(rows * count),
                      y(rows * count, NAN), expected = y;
  bsi_product product = {};
  product.count = count;
  product.x = x.data();
  product.y = expected.data();
  product.ldx = product.ldy = rows;
  bsi_backend_host.apply->products->multiply_diagonal(&context, n, bs, blocks.data(), &product);
  device_array<double> d_blocks(blocks), d_x(x), d_y(y);
  product.x = d_x.data;
  product.y = d_y.data;
  bool good = !bsi_backend_cuda.apply->products->multiply_diagonal(&context, n, bs, d_blocks.data,
                                                                   &product);
  CHECK(cudaDeviceSynchronize());
  const std::vector<double> got = d_y.fetch();
  for (size_t i = 0; i < got.size(); i++)
    good = good && std::fabs(got[i] - expected[i]) <= 4e-16 * bs;
  verdict(good, "%d diagonal blocks of size %d, %d vectors", n, bs, count);
}

/* Calls test(block size, type of the values). */
template <typename F> void for_block_sizes(F test) {
  for (const int bs : {1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 17, 32})
    for (const bisai_value_type type : {BISAI_FP64, BISAI_FP32, BISAI_FP16, BISAI_BF16})
      if (!left_out(bs)) test(bs, type);
}

} // namespace

TEST(products_agree_with_the_host) {
  for_block_sizes([](int bs, bisai_value_type type) {
    for (const int32_t rows : {1, 3, 10, 11, 31, 33, 64, 65, 129, 400})
      if (!short_form() || rows == 3 || rows == 65 || rows == 129)
        agrees_with_the_host(bs, type, {rows, rows + 7, 9, 1, 1.0, 0.0, false});
  });
}

TEST(products_with_several_vectors_and_a_unit_diagonal_agree_with_the_host) {
  for_block_sizes([](int bs, bisai_value_type type) {
    for (const int count : {1, 3, 4, 9})
      agrees_with_the_host(bs, type, {77, 77, 40, count, -1.5, 0.5, true});
  });
}

TEST(products_with_long_rows_agree_with_the_host) {
  for_block_sizes([](int bs, bisai_value_type type) {
    agrees_with_the_host(bs, type, {50, 300, 290, 1, 1.0, 1.0, false});
  });
}

TEST(products_of_matrices_without_rows_or_columns_agree_with_the_host) {
  for_block_sizes([](int bs, bisai_value_type type) {
    agrees_with_the_host(bs, type, {50, 0, 3, 2, 1.0, 0.0, false});
    agrees_with_the_host(bs, type, {0, 5, 3, 1, 1.0, 0.0, false});
  });
}

TEST(diagonal_products_agree_with_the_host) {
  for (const int bs : {1, 2, 3, 5, 8, 16, 32})
    for (const int32_t n : {0, 1, 33, 1000}) diagonal_agrees_with_the_host(n, bs, 3);
}
