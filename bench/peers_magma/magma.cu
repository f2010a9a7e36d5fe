/* SPDX-License-Identifier: BSD-3-Clause */
#include "magma.cuh"

#include <cmath>

#ifdef BENCH_HAVE_MAGMA

#include "magma_internal.cuh"

extern "C" magma_int_t magma_dgetrf_batched_smallsq_noshfl(magma_int_t n, double **blocks,
                                                           magma_int_t ld, magma_int_t **pivots,
                                                           magma_int_t *info, magma_int_t count,
                                                           magma_queue_t queue);
extern "C" magma_int_t magma_dgetri_outofplace_batched(magma_int_t n, double **factors,
                                                       magma_int_t ld, magma_int_t **pivots,
                                                       double **inverses, magma_int_t ld_inverse,
                                                       magma_int_t *info, magma_int_t count,
                                                       magma_queue_t queue);

namespace {

/* Ends the program unless A X 1 consists of ones, for an inverse X of A. The random blocks have κ
 * of some thousands: 1e-8 is far above their rounding. */
void check(int m, const std::vector<double> &a, const std::vector<double> &x) {
  std::vector<double> sum(m, 0.0), ones(m, 0.0);
  for (int c = 0; c < m; c++)
    for (int r = 0; r < m; r++) sum[r] += x[c * m + r];
  for (int c = 0; c < m; c++)
    for (int r = 0; r < m; r++) ones[r] += a[c * m + r] * sum[c];
  for (int r = 0; r < m; r++)
    if (!(std::fabs(ones[r] - 1.0) < 1e-8)) {
      std::fprintf(stderr, "MAGMA: entry %d of the product with the inverse is %g, not 1\n", r,
                   ones[r]);
      std::exit(1);
    }
}

} // namespace

magma_times time_magma(const bench &b, int m, int64_t count, const double *blocks) {
  const int n = static_cast<int>(count);
  const size_t values = static_cast<size_t>(m) * m;
  on_device<double> work(values * n), inverses(values * n);
  on_device<int> pivots(static_cast<size_t>(m) * n), info(n);
  std::vector<double *> at(n), to(n);
  std::vector<int *> pivots_at(n);
  for (int i = 0; i < n; i++) {
    at[i] = work.data + values * i;
    to[i] = inverses.data + values * i;
    pivots_at[i] = pivots.data + static_cast<size_t>(m) * i;
  }
  const on_device<double *> d_at(at), d_to(to);
  const on_device<int *> d_pivots(pivots_at);
  magma_queue queue = {b.stream};
  magma_times t;
  t.getrf = seconds_of(
      b,
      [&] {
        NEED(magma_dgetrf_batched_smallsq_noshfl(m, d_at.data, m, d_pivots.data, info.data, n,
                                                 &queue));
      },
      [&] {
        NEED(cudaMemcpyAsync(work.data, blocks, values * n * sizeof(double),
                             cudaMemcpyDeviceToDevice, b.stream));
      });
  t.getri = seconds_of(b, [&] {
    NEED(magma_dgetri_outofplace_batched(m, d_at.data, m, d_pivots.data, d_to.data, m, info.data, n,
                                         &queue));
  });
  std::vector<double> a(values), inverse(values);
  for (const int block : {0, n - 1}) {
    NEED(cudaMemcpy(a.data(), blocks + values * block, values * sizeof(double),
                    cudaMemcpyDeviceToHost));
    NEED(cudaMemcpy(inverse.data(), to[block], values * sizeof(double), cudaMemcpyDeviceToHost));
    check(m, a, inverse);
  }
  return t;
}

#else

magma_times time_magma(const bench &, int, int64_t, const double *) { return {NAN, NAN}; }

#endif
