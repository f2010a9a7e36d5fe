/* SPDX-License-Identifier: BSD-3-Clause */
#include "magma.cuh"

#include <cmath>

#ifdef BENCH_HAVE_MAGMA

#include "magma_internal.cuh"

extern "C" magma_int_t magma_dgetrf_batched_smallsq_noshfl(magma_int_t n, double **blocks,
                                                           magma_int_t ld, magma_int_t **pivots,
                                                           magma_int_t *info, magma_int_t count,
                                                           magma_queue_t queue);

namespace {

/* Ends the program unless x of L U x = P A 1 consists of ones. The random blocks have κ of some
 * thousands: 1e-8 is far above their rounding. */
void check(int m, const std::vector<double> &a, const std::vector<double> &lu,
           const std::vector<int> &pivots) {
  std::vector<double> x(m, 0.0);
  for (int c = 0; c < m; c++)
    for (int r = 0; r < m; r++) x[r] += a[c * m + r];
  for (int k = 0; k < m; k++) std::swap(x[k], x[pivots[k] - 1]);
  for (int c = 0; c < m; c++)
    for (int r = c + 1; r < m; r++) x[r] -= lu[c * m + r] * x[c];
  for (int c = m - 1; c >= 0; c--) {
    x[c] /= lu[c * m + c];
    for (int r = 0; r < c; r++) x[r] -= lu[c * m + r] * x[c];
  }
  for (int r = 0; r < m; r++)
    if (!(std::fabs(x[r] - 1.0) < 1e-8)) {
      std::fprintf(stderr, "MAGMA: entry %d of the solution is %g, not 1\n", r, x[r]);
      std::exit(1);
    }
}

} // namespace

double time_magma(const bench &b, int m, int64_t count, const double *blocks) {
  const int n = static_cast<int>(count);
  const size_t values = static_cast<size_t>(m) * m;
  on_device<double> work(values * n);
  on_device<int> pivots(static_cast<size_t>(m) * n), info(n);
  std::vector<double *> at(n);
  std::vector<int *> pivots_at(n);
  for (int i = 0; i < n; i++) {
    at[i] = work.data + values * i;
    pivots_at[i] = pivots.data + static_cast<size_t>(m) * i;
  }
  const on_device<double *> d_at(at);
  const on_device<int *> d_pivots(pivots_at);
  magma_queue queue = {b.stream};
  const double seconds = seconds_of(
      b,
      [&] {
        NEED(magma_dgetrf_batched_smallsq_noshfl(m, d_at.data, m, d_pivots.data, info.data, n,
                                                 &queue));
      },
      [&] {
        NEED(cudaMemcpyAsync(work.data, blocks, values * n * sizeof(double),
                             cudaMemcpyDeviceToDevice, b.stream));
      });
  std::vector<double> a(values), lu(values);
  std::vector<int> found(m);
  for (const int block : {0, n - 1}) {
    NEED(cudaMemcpy(a.data(), blocks + values * block, values * sizeof(double),
                    cudaMemcpyDeviceToHost));
    NEED(cudaMemcpy(lu.data(), at[block], values * sizeof(double), cudaMemcpyDeviceToHost));
    NEED(cudaMemcpy(found.data(), pivots_at[block], m * sizeof(int), cudaMemcpyDeviceToHost));
    check(m, a, lu, found);
  }
  return seconds;
}

#else

double time_magma(const bench &, int, int64_t, const double *) { return NAN; }

#endif
