/* SPDX-License-Identifier: BSD-3-Clause */
/* What cuSPARSE does behind bisai's handles, on a device, against the host backend. */
#include <algorithm>
#include <cstring>

#include <bisai/cusparse.h>

#include "device.cuh"

namespace {

bisai_context *device, *host;

struct problem {
  int32_t n, bs;
  std::vector<int32_t> row_ptr{0}, col_idx;
  std::vector<double> values;
};

/* Up to five blocks a row, of which the diagonal ones dominate. */
problem make_problem(int32_t n, int32_t bs, int32_t reach) {
  problem p;
  p.n = n, p.bs = bs;
  for (int32_t i = 0; i < n; i++) {
    for (const int32_t j : {i - reach, i - 1, i, i + 1, i + reach}) {
      if (j < 0 || j >= n ||
          (!p.col_idx.empty() && static_cast<int32_t>(p.col_idx.size()) > p.row_ptr[i] &&
           p.col_idx.back() >= j))
        continue;
      p.col_idx.push_back(j);
      for (int32_t e = 0; e < bs * bs; e++)
        p.values.push_back(next_random() + (i == j && e % (bs + 1) == 0 ? 6.0 * bs : 0.0));
    }
    p.row_ptr.push_back(static_cast<int32_t>(p.col_idx.size()));
  }
  return p;
}

bisai_bcsr *make_matrix(bisai_context *context, const problem &p) {
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  bisai_bcsr *matrix = nullptr;
  desc.block_rows = desc.block_cols = p.n;
  desc.block_size = p.bs;
  desc.row_ptr = p.row_ptr.data(), desc.col_idx = p.col_idx.data(), desc.values = p.values.data();
  verdict(bisai_bcsr_create(context, &desc, &matrix) == BISAI_OK, "matrix: %s",
          bisai_context_error(context));
  return matrix;
}

template <typename T> std::vector<T> fetch(const T *from, size_t count) {
  std::vector<T> to(count);
  if (count) CHECK(cudaMemcpy(to.data(), from, count * sizeof(T), cudaMemcpyDefault));
  return to;
}

double difference(const std::vector<double> &a, const std::vector<double> &b) {
  double largest = 0.0, scale = 0.0;
  for (size_t i = 0; i < a.size(); i++) {
    if (std::isnan(a[i]) || std::isnan(b[i])) return INFINITY;
    largest = std::max(largest, std::fabs(a[i] - b[i]));
    scale = std::max(scale, std::fabs(b[i]));
  }
  return scale > 0.0 ? largest / scale : largest;
}

/* Blocks and values of a matrix equal another's, the values to 1e-12: the factorisations differ in
 * the order of their sums, and the blocks here are well conditioned. */
bool agree(const bisai_bcsr *a, const bisai_bcsr *b) {
  const int32_t *ptr[2], *idx[2];
  const void *values[2];
  bisai_bcsr_arrays(a, &ptr[0], &idx[0], &values[0]);
  bisai_bcsr_arrays(b, &ptr[1], &idx[1], &values[1]);
  const size_t n = static_cast<size_t>(bisai_bcsr_block_rows(b)),
               blocks = static_cast<size_t>(bisai_bcsr_blocks(b)),
               bs = static_cast<size_t>(bisai_bcsr_block_size(b));
  return bisai_bcsr_blocks(a) == bisai_bcsr_blocks(b) &&
         fetch(ptr[0], n + 1) == fetch(ptr[1], n + 1) &&
         fetch(idx[0], blocks) == fetch(idx[1], blocks) &&
         difference(fetch(static_cast<const double *>(values[0]), blocks * bs * bs),
                    fetch(static_cast<const double *>(values[1]), blocks * bs * bs)) <= 1e-12;
}

void factors_and_solves_agree(int32_t n, int32_t bs, int32_t reach) {
  problem p = make_problem(n, bs, reach);
  bisai_bcsr *a = make_matrix(device, p), *on_host = make_matrix(host, p);
  bisai_factors *expected = nullptr, *got = nullptr;
  bisai_cusparse_ilu *ilu = nullptr;
  const size_t rows = static_cast<size_t>(n) * bs;
  const std::vector<double> b = random_vector(rows);
  std::vector<double> x(rows);
  bool good = !bisai_factors_create(host, on_host, nullptr, &expected) &&
              !bisai_factors_solve(expected, BISAI_SCHEDULE_SERIAL, b.data(), x.data());
  good = good && !bisai_cusparse_ilu_create(device, a, &ilu);
  verdict(good, "ILU by cuSPARSE, %d block rows of size %d: %s", n, bs,
          bisai_context_error(device));
  const device_array<double> d_b(b), d_x(std::vector<double>(rows, NAN));
  good = good && bisai_cusparse_ilu_apply(ilu, static_cast<int64_t>(rows), d_b.data, d_x.data) ==
                     BISAI_NOT_READY;
  good = good && !bisai_cusparse_ilu_prepare(ilu);
  for (int round = 0; round < 3; round++) {
    good = good && !bisai_cusparse_ilu_apply(ilu, static_cast<int64_t>(rows), d_b.data, d_x.data);
    CHECK(cudaDeviceSynchronize());
    good = good && difference(d_x.fetch(), x) <= 1e-12;
  }
  verdict(good, "solves by cuSPARSE, %d block rows of size %d: %s", n, bs,
          bisai_context_error(device));
  good = good && !bisai_cusparse_ilu_factors(ilu, &got);
  CHECK(cudaDeviceSynchronize());
  good = good && agree(bisai_factors_lower(got), bisai_factors_lower(expected)) &&
         agree(bisai_factors_upper(got), bisai_factors_upper(expected));
  verdict(good, "L and U of cuSPARSE, %d block rows of size %d: %s", n, bs,
          bisai_context_error(device));
  for (double &value : p.values) value *= 2.0;
  for (double &value : x) value /= 2.0;
  good = good && !bisai_bcsr_update(a, p.values.data(), BISAI_COLUMN_MAJOR) &&
         !bisai_cusparse_ilu_update(ilu, a) &&
         !bisai_cusparse_ilu_apply(ilu, static_cast<int64_t>(rows), d_b.data, d_x.data);
  CHECK(cudaDeviceSynchronize());
  verdict(good && difference(d_x.fetch(), x) <= 1e-12, "update, %d block rows of size %d: %s", n,
          bs, bisai_context_error(device));
  bisai_cusparse_ilu_report report = {};
  report.struct_size = sizeof report;
  verdict(good && !bisai_cusparse_ilu_get_report(ilu, &report) && report.factor_seconds > 0.0 &&
              report.level_seconds > 0.0 && report.no_level_seconds > 0.0 &&
              report.blocks == bisai_bcsr_blocks(a),
          "report, %d block rows of size %d", n, bs);
  bisai_cusparse_ilu_destroy(&ilu);
  bisai_factors_destroy(&got);
  bisai_factors_destroy(&expected);
  bisai_bcsr_destroy(&a);
  bisai_bcsr_destroy(&on_host);
}

void products_agree(int32_t n, int32_t bs) {
  const problem p = make_problem(n, bs, 7);
  bisai_bcsr *a = make_matrix(device, p), *on_host = make_matrix(host, p);
  const size_t rows = static_cast<size_t>(n) * bs;
  const std::vector<double> x = random_vector(rows);
  std::vector<double> y(rows);
  bisai_bcsr_multiply(on_host, x.data(), y.data());
  const device_array<double> d_x(x);
  for (const bisai_cusparse_product_kind kind :
       {BISAI_CUSPARSE_AUTO, BISAI_CUSPARSE_BSRMV, BISAI_CUSPARSE_SPMV}) {
    const device_array<double> d_y(std::vector<double>(rows, NAN));
    bisai_cusparse_product *product = nullptr;
    const bisai_status status = bisai_cusparse_product_create(device, a, kind, &product);
    if (status == BISAI_UNAVAILABLE) {
      std::printf("product kind %d: %s\n", kind, bisai_context_error(device));
      continue;
    }
    bool good = !status && !bisai_cusparse_product_apply(product, static_cast<int64_t>(rows),
                                                         d_x.data, d_y.data);
    CHECK(cudaDeviceSynchronize());
    verdict(good && difference(d_y.fetch(), y) <= 1e-13,
            "product kind %d, %d block rows of size %d: %s", kind, n, bs,
            bisai_context_error(device));
    bisai_cusparse_product_destroy(&product);
  }
  bisai_bcsr_destroy(&a);
  bisai_bcsr_destroy(&on_host);
}

void patterns_agree(int32_t n, int32_t reach, int power, bisai_triangle triangle) {
  const problem p = make_problem(n, 1, reach);
  bisai_bcsr *a = make_matrix(device, p), *on_host = make_matrix(host, p);
  bisai_pattern *got = nullptr, *expected = nullptr;
  double seconds = -1.0;
  bool good = !bisai_pattern_power(host, on_host, triangle, power, &expected) &&
              !bisai_cusparse_pattern(device, a, triangle, power, &got, &seconds);
  if (good) {
    const int32_t *ptr[2], *idx[2];
    bisai_pattern_arrays(got, &ptr[0], &idx[0]);
    bisai_pattern_arrays(expected, &ptr[1], &idx[1]);
    const size_t blocks = static_cast<size_t>(bisai_pattern_blocks(expected));
    CHECK(cudaDeviceSynchronize());
    good = bisai_pattern_blocks(got) == bisai_pattern_blocks(expected) && seconds >= 0.0 &&
           fetch(ptr[0], static_cast<size_t>(n) + 1) == fetch(ptr[1], static_cast<size_t>(n) + 1) &&
           fetch(idx[0], blocks) == fetch(idx[1], blocks);
  }
  verdict(good, "pattern, %d rows, reach %d, power %d, triangle %d: %s", n, reach, power, triangle,
          bisai_context_error(device));
  bisai_pattern_destroy(&got);
  bisai_pattern_destroy(&expected);
  bisai_bcsr_destroy(&a);
  bisai_bcsr_destroy(&on_host);
}

/* Sets `device` and `host` for the length of a test. */
struct contexts {
  const context_on on_device{BISAI_BACKEND_CUDA}, on_host{BISAI_BACKEND_HOST};
  contexts() { device = on_device, host = on_host; }
};

} // namespace

TEST(factors_and_solves_agree_with_the_host) {
  const contexts both;
  for (const int32_t bs : {1, 2, 3, 4, 5, 8, 9, 16})
    for (const int32_t n : {1, 33, 700})
      if (!left_out(bs) && !(short_form() && n == 700)) factors_and_solves_agree(n, bs, 19);
}

TEST(products_agree_with_the_host) {
  const contexts both;
  for (const int32_t bs : {1, 2, 3, 4, 5, 8, 9, 16})
    for (const int32_t n : {1, 33, 700})
      if (!left_out(bs) && !(short_form() && n == 700)) products_agree(n, bs);
}

TEST(patterns_are_those_of_the_host) {
  const contexts both;
  for (const bisai_triangle triangle : {BISAI_LOWER, BISAI_UPPER})
    for (const int power : {1, 2, 3, 4, 9})
      for (const int32_t n : {1, 5, 100, 3000})
        if (!short_form() || (power == 2 && n <= 100)) patterns_agree(n, 31, power, triangle);
}

TEST(a_singular_block_is_named) {
  const contexts both;
  problem p = make_problem(10, 2, 3);
  for (int32_t q = p.row_ptr[6]; q < p.row_ptr[7]; q++)
    std::fill_n(p.values.begin() + q * 4, 4, 0.0);
  bisai_bcsr *a = make_matrix(device, p);
  bisai_cusparse_ilu *ilu = nullptr;
  verdict(bisai_cusparse_ilu_create(device, a, &ilu) == BISAI_SINGULAR_BLOCK && !ilu &&
              std::strstr(bisai_context_error(device), "block row 6"),
          "singular block: %s", bisai_context_error(device));
  bisai_bcsr_destroy(&a);
}

TEST(a_missing_diagonal_block_is_named) {
  const contexts both;
  problem p = make_problem(10, 2, 3);
  for (int32_t q = p.row_ptr[4]; q < p.row_ptr[5]; q++) {
    if (p.col_idx[q] != 4) continue;
    p.col_idx.erase(p.col_idx.begin() + q);
    p.values.erase(p.values.begin() + q * 4, p.values.begin() + q * 4 + 4);
    for (size_t i = 5; i < p.row_ptr.size(); i++) p.row_ptr[i]--;
    break;
  }
  bisai_bcsr *a = make_matrix(device, p);
  bisai_cusparse_ilu *ilu = nullptr;
  verdict(bisai_cusparse_ilu_create(device, a, &ilu) == BISAI_MISSING_DIAGONAL && !ilu &&
              std::strstr(bisai_context_error(device), "block row 4"),
          "missing diagonal: %s", bisai_context_error(device));
  bisai_bcsr_destroy(&a);
}

TEST(a_host_context_is_refused) {
  const contexts both;
  const problem p = make_problem(3, 2, 2);
  bisai_bcsr *a = make_matrix(host, p);
  bisai_cusparse_ilu *ilu = nullptr;
  bisai_cusparse_product *product = nullptr;
  bisai_pattern *pattern = nullptr;
  verdict(bisai_cusparse_ilu_create(host, a, &ilu) == BISAI_UNAVAILABLE, "ILU: %s",
          bisai_context_error(host));
  verdict(bisai_cusparse_product_create(host, a, BISAI_CUSPARSE_AUTO, &product) ==
              BISAI_UNAVAILABLE,
          "product: %s", bisai_context_error(host));
  verdict(bisai_cusparse_pattern(host, a, BISAI_LOWER, 1, &pattern, nullptr) == BISAI_UNAVAILABLE,
          "pattern: %s", bisai_context_error(host));
  bisai_bcsr_destroy(&a);
}
