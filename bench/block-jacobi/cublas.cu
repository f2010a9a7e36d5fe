/* SPDX-License-Identifier: BSD-3-Clause */
#include "cublas.cuh"

#include <cublas_v2.h>

cublas_times time_cublas(const bench &b, int m, int64_t count, const double *blocks) {
  const int n = static_cast<int>(count);
  const size_t values = static_cast<size_t>(m) * m;
  cublasHandle_t handle;
  NEED(cublasCreate(&handle));
  NEED(cublasSetStream(handle, b.stream));
  on_device<double> work(values * n), inverses(values * n), x(static_cast<size_t>(m) * n);
  on_device<int> pivots(static_cast<size_t>(m) * n), info(n);
  std::vector<double *> from(n), at(n), to(n), vectors(n);
  for (int i = 0; i < n; i++) {
    from[i] = const_cast<double *>(blocks) + values * i;
    at[i] = work.data + values * i;
    to[i] = inverses.data + values * i;
    vectors[i] = x.data + static_cast<size_t>(m) * i;
  }
  const on_device<double *> d_from(from), d_at(at), d_to(to), d_vectors(vectors);
  const auto refresh = [&] {
    NEED(cudaMemcpyAsync(work.data, blocks, values * n * sizeof(double), cudaMemcpyDeviceToDevice,
                         b.stream));
  };
  const auto factor = [&] {
    NEED(cublasDgetrfBatched(handle, m, d_at.data, m, pivots.data, info.data, n));
  };
  fill_random(b, x.data, static_cast<int64_t>(m) * n);
  cublas_times t;
  t.matinv = seconds_of(b, [&] {
    NEED(cublasDmatinvBatched(handle, m, d_from.data, m, d_to.data, m, info.data, n));
  });
  t.getrf = seconds_of(b, factor, refresh);
  t.getri = seconds_of(b, [&] {
    NEED(cublasDgetriBatched(handle, m, d_at.data, m, pivots.data, d_to.data, m, info.data, n));
  });
  int host_info;
  t.getrs = seconds_of(b, [&] {
    NEED(cublasDgetrsBatched(handle, CUBLAS_OP_N, m, 1, d_at.data, m, pivots.data, d_vectors.data,
                             m, &host_info, n));
  });
  NEED(cublasDestroy(handle));
  return t;
}
