/* SPDX-License-Identifier: BSD-3-Clause */
/* Dense inverses on a device against the host's, at the sizes at which panels and tiles change. */
#include "core/matrix/bcsr_impl.h"
#include "device.cuh"
#include "multigrid/level/dense_ops.h"
#include "multigrid/level/multigrid_ops.h"

namespace {

struct inverse_of {
  bisai_status status;
  std::vector<double> values;
  double smallest, largest;
};

inverse_of inverted(bisai_context *context, bool on_device, int32_t n, std::vector<double> values) {
  std::vector<int32_t> row_ptr, col_idx;
  for (int32_t i = 0; i <= n; i++) row_ptr.push_back(i * n);
  for (int32_t i = 0; i < n * n; i++) col_idx.push_back(i % n);
  const size_t count = static_cast<size_t>(n) * n;
  device_array<int32_t> d_row_ptr(row_ptr), d_col_idx(col_idx);
  device_array<double> d_values(values), d_work(std::vector<double>(count, NAN)), d_inverse(values);
  std::vector<double> work(count, NAN), inverse(count, NAN);
  bisai_bcsr a = {};
  a.block_rows = a.block_cols = n, a.block_size = 1, a.blocks = n * n, a.type = BISAI_FP64;
  a.row_ptr = on_device ? d_row_ptr.data : row_ptr.data();
  a.col_idx = on_device ? d_col_idx.data : col_idx.data();
  a.values = on_device ? d_values.data : values.data();
  inverse_of r = {BISAI_OK, {}, -1.0, -1.0};
  r.status = context->backend->multigrid->dense->invert(
      context, &a, on_device ? d_work.data : work.data(),
      on_device ? d_inverse.data : inverse.data(), &r.smallest, &r.largest);
  r.values = on_device ? d_inverse.fetch() : inverse;
  return r;
}

/* Random values, row by row, whose diagonal is not large, so that most pivots come from other
 * rows. */
std::vector<double> random_matrix(int32_t n) {
  std::vector<double> values = random_vector(static_cast<size_t>(n) * n);
  for (int32_t i = 0; i < n; i++) values[static_cast<size_t>(i) * n + (i + n / 2) % n] += 4.0;
  return values;
}

double norm_of(const std::vector<double> &x) {
  double most = 0.0;
  for (const double value : x) most = std::fmax(most, std::fabs(value));
  return most;
}

double distance(const std::vector<double> &x, const std::vector<double> &y) {
  double apart = 0.0;
  for (size_t i = 0; i < x.size(); i++) {
    const double difference = std::fabs(x[i] - y[i]);
    if (!(difference <= apart)) apart = difference;
  }
  return apart;
}

} // namespace

TEST(inverses_agree_with_the_host) {
  const context_on host(BISAI_BACKEND_HOST), device(BISAI_BACKEND_CUDA);
  for (const int32_t n : {1, 2, 31, 33, 71, 73, 96, 97, 128, 129, 511, 512, 513, 545, 1023, 1025}) {
    if (short_form() && n > 130) continue;
    const std::vector<double> values = random_matrix(n);
    const inverse_of expected = inverted(host, false, n, values),
                     got = inverted(device, true, n, values),
                     again = inverted(device, true, n, values);
    const double apart = distance(got.values, expected.values);
    /* the condition of these matrices is below 10⁵, and an inverse counts with errors of 10⁻¹⁰ */
    verdict(!got.status && apart <= 1e-8 * norm_of(expected.values) && got.values == again.values &&
                got.smallest > 0.0 && got.largest >= got.smallest,
            "%d rows: apart %g of %g; pivots %g … %g", n, apart, norm_of(expected.values),
            got.smallest, got.largest);
  }
}

TEST(inverses_of_diffusion_agree_with_the_host) {
  const context_on host(BISAI_BACKEND_HOST), device(BISAI_BACKEND_CUDA);
  for (const int32_t n : {3, 32, 33, 64, 65, 357, 512, 513, 721, 1056}) {
    if (short_form() && n > 130) continue;
    std::vector<double> values(static_cast<size_t>(n) * n, 0.0);
    for (int32_t i = 0; i < n; i++)
      for (const int32_t apart : {-19, -1, 0, 1, 19})
        if (i + apart >= 0 && i + apart < n)
          values[static_cast<size_t>(i) * n + i + apart] = apart == 0 ? 4.01 : -1.0;
    const inverse_of expected = inverted(host, false, n, values),
                     got = inverted(device, true, n, values);
    const double apart = distance(got.values, expected.values);
    /* the condition is below 10³ */
    verdict(!got.status && apart <= 1e-12 * norm_of(expected.values) && got.smallest > 1.0 &&
                got.largest < 4.02,
            "%d rows: apart %g of %g; pivots %g … %g", n, apart, norm_of(expected.values),
            got.smallest, got.largest);
  }
}

TEST(pivots_far_from_the_diagonal_are_found) {
  const context_on host(BISAI_BACKEND_HOST), device(BISAI_BACKEND_CUDA);
  for (const int32_t n : {66, 100, 357, 1000}) {
    if (short_form() && n > 130) continue;
    /* the tiles of the diagonal are small, and a growth of 10¹² would leave four digits */
    std::vector<double> values = random_matrix(n);
    for (int32_t i = 0; i < n; i++)
      for (int32_t j = 0; j < n; j++)
        values[static_cast<size_t>(i) * n + j] *= i / 32 == j / 32 ? 1e-12 : 1.0;
    const inverse_of expected = inverted(host, false, n, values),
                     got = inverted(device, true, n, values);
    const double apart = distance(got.values, expected.values);
    /* the pivots are those of the host */
    verdict(!got.status && apart <= 1e-9 * norm_of(expected.values) &&
                std::fabs(got.smallest - expected.smallest) <= 1e-9 * expected.largest &&
                std::fabs(got.largest - expected.largest) <= 1e-9 * expected.largest,
            "%d rows: apart %g of %g; pivots %g … %g for %g … %g", n, apart,
            norm_of(expected.values), got.smallest, got.largest, expected.smallest,
            expected.largest);
  }
}

TEST(singular_matrices_end_the_elimination) {
  const context_on device(BISAI_BACKEND_CUDA);
  for (const int32_t n : {1, 40, 72, 73, 200, 600})
    for (const double value : {0.0, static_cast<double>(NAN), static_cast<double>(INFINITY)})
      for (const int32_t column : {0, n / 2, n - 1}) {
        std::vector<double> values = random_matrix(n);
        for (int32_t i = 0; i < n; i++) values[static_cast<size_t>(i) * n + column] = value;
        const inverse_of r = inverted(device, true, n, values);
        verdict(!r.status && r.smallest == 0.0, "%d rows, column %d is %g: %g", n, column, value,
                r.smallest);
      }
}

TEST(matrices_that_are_too_large_are_refused) {
  const context_on device(BISAI_BACKEND_CUDA);
  bisai_bcsr a = {};
  a.block_rows = a.block_cols = 2049, a.block_size = 1;
  double smallest, largest;
  verdict(bsi_backend_cuda.multigrid->dense->invert(device, &a, nullptr, nullptr, &smallest,
                                                    &largest) == BISAI_UNSUPPORTED,
          "2,049 rows are not refused");
}

TEST(products_with_dense_inverses_agree_with_the_host) {
  const context_on host(BISAI_BACKEND_HOST), device(BISAI_BACKEND_CUDA);
  for (const int32_t n : {1, 15, 16, 17, 100, 128, 129, 512, 1000, 2048}) {
    const std::vector<double> values = random_vector(static_cast<size_t>(n) * n),
                              x = random_vector(n), start(n, NAN);
    std::vector<double> y = start;
    device_array<double> d_values(values), d_x(x), d_y(start);
    const bool good = bsi_backend_cuda.multigrid->dense->multiply(device, n, d_values.data,
                                                                  d_x.data, d_y.data) == BISAI_OK;
    CHECK(cudaDeviceSynchronize());
    bsi_backend_host.multigrid->dense->multiply(host, n, values.data(), x.data(), y.data());
    const std::vector<double> got = d_y.fetch();
    double apart = 0.0;
    for (int32_t i = 0; i < n; i++)
      if (!(std::fabs(got[i] - y[i]) <= apart)) apart = std::fabs(got[i] - y[i]);
    verdict(good && apart <= 4e-16 * n, "%d rows: apart %g", n, apart);
  }
}
