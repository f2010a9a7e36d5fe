/* SPDX-License-Identifier: BSD-3-Clause */
/* Applications of inverses that are stored block by block, as before Flegar et al. (2020), section
 * 4.2: column-major or row-major. The library's blocks are interleaved instead. A sub-warp takes a
 * block here as there, so that only the places of values differ. */
#include "core/block/values.h"
#include "gpu/warp.cuh"
#include "layouts.cuh"

#include <cmath>

namespace {

constexpr int THREADS = 128;

/* y_b ← E_b x_b. FORMAT: of the values. M: the rows of a block, a power of two. BY_ROWS: blocks are
 * row-major, and a lane has a column. The sums of a row are then reduced over the lanes. */
template <bisai_value_type FORMAT, int M, bool BY_ROWS>
__global__ void __launch_bounds__(THREADS)
    apply_blocks(int64_t rows, const void *values, const double *x, double *y) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  const int lane = threadIdx.x % BSI_WARP, own = lane % M;
  const bool mine = i < rows;
  const size_t at = static_cast<size_t>(mine ? i / M * M * M + own : 0);
  const double mine_x = mine ? x[i] : 0.0;
  double e[M], sum = 0.0;
#pragma unroll
  for (int k = 0; k < M; k++)
    e[k] = bsi_value_load(FORMAT, values, at + static_cast<size_t>(k * M));
#pragma unroll
  for (int k = 0; k < M; k++) {
    if constexpr (BY_ROWS) {
      double part = e[k] * mine_x;
#pragma unroll
      for (int apart = M / 2; apart > 0; apart /= 2)
        part += __shfl_xor_sync(BSI_FULL_WARP, part, apart);
      if (own == k) sum = part;
    } else {
      sum = fma(e[k], __shfl_sync(BSI_FULL_WARP, mine_x, lane - own + k), sum);
    }
  }
  if (mine) y[i] = sum;
}

template <bisai_value_type FORMAT>
__global__ void narrow(int64_t count, const double *from, void *to) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  if (i < count) bsi_value_store(FORMAT, from[i], to, static_cast<size_t>(i));
}

/* Ends the program if the first row of the last block is not what the host computes. */
template <bisai_value_type FORMAT>
void check(const on_device<char> &values, int m, bool by_rows, int64_t n,
           const on_device<double> &x, const on_device<double> &y) {
  std::vector<char> block(static_cast<size_t>(m) * m * bsi_value_bytes(FORMAT));
  std::vector<double> part(m);
  double found, expected = 0.0, norm = 0.0;
  NEED(cudaMemcpy(block.data(), values.data + (n - m) * m * bsi_value_bytes(FORMAT), block.size(),
                  cudaMemcpyDeviceToHost));
  NEED(cudaMemcpy(part.data(), x.data + n - m, m * sizeof(double), cudaMemcpyDeviceToHost));
  NEED(cudaMemcpy(&found, y.data + n - m, sizeof found, cudaMemcpyDeviceToHost));
  for (int c = 0; c < m; c++) {
    const double product =
        bsi_value_load(FORMAT, block.data(), static_cast<size_t>(by_rows ? c : c * m)) * part[c];
    expected += product, norm += std::fabs(product);
  }
  if (!(std::fabs(found - expected) <= 1e-14 * norm)) {
    std::fprintf(stderr, "layouts: %d rows: %g instead of %g\n", m, found, expected);
    std::exit(1);
  }
}

template <bisai_value_type FORMAT, int M> void measure(bench &b, int64_t count) {
  const int64_t n = count * M, values = n * M;
  const block_matrix batch(b, std::vector<int32_t>(count, M));
  double *const blocks = const_cast<double *>(static_cast<const double *>(batch.matrix->values));
  raise_diagonal(b, M, count, blocks);
  on_device<char> stored(static_cast<size_t>(values) * bsi_value_bytes(FORMAT));
  on_device<double> x(n), y(n);
  fill_random(b, x.data, n);
  const unsigned grid = static_cast<unsigned>((n + THREADS - 1) / THREADS);
  narrow<FORMAT><<<static_cast<unsigned>((values + THREADS - 1) / THREADS), THREADS, 0, b.stream>>>(
      values, blocks, stored.data);
  const double rows = seconds_of(b, [&] {
    apply_blocks<FORMAT, M, true><<<grid, THREADS, 0, b.stream>>>(n, stored.data, x.data, y.data);
  });
  check<FORMAT>(stored, M, true, n, x, y);
  const double columns = seconds_of(b, [&] {
    apply_blocks<FORMAT, M, false><<<grid, THREADS, 0, b.stream>>>(n, stored.data, x.data, y.data);
  });
  check<FORMAT>(stored, M, false, n, x, y);
  bsi_bjacobi_options o = {};
  o.storage = FORMAT, o.digits = 2;
  jacobi interleaved(b, batch.matrix, o);
  const double setup = seconds_of(b, [&] { interleaved.update(); });
  const double applied = seconds_of(b, [&] { interleaved.apply(1, x.data, n, y.data); });
  o.group_rows = M; /* groups of one block */
  jacobi single(b, batch.matrix, o);
  const double setup_single = seconds_of(b, [&] { single.update(); });
  report(b, "layouts", bisai_value_type_string(FORMAT),
         {{"size", 1.0 * M},
          {"blocks", 1.0 * count},
          {"floor", (1.0 * values * bsi_value_bytes(FORMAT) + 16.0 * n) / b.copy_rate},
          {"by_rows", rows},
          {"by_columns", columns},
          {"interleaved", applied},
          {"setup", setup},
          {"setup_block_by_block", setup_single}});
}

} // namespace

void measure_layouts(bench &b, double bytes) {
  for (const double batch : {50000.0, 0.0}) {
    const auto count = [&](int m) {
      return static_cast<int64_t>(batch > 0 ? batch : bytes / (8.0 * m * m));
    };
    measure<BISAI_FP64, 2>(b, count(2)), measure<BISAI_FP16, 2>(b, count(2));
    measure<BISAI_FP64, 4>(b, count(4)), measure<BISAI_FP16, 4>(b, count(4));
    measure<BISAI_FP64, 8>(b, count(8)), measure<BISAI_FP16, 8>(b, count(8));
    measure<BISAI_FP64, 16>(b, count(16)), measure<BISAI_FP16, 16>(b, count(16));
    measure<BISAI_FP64, 32>(b, count(32)), measure<BISAI_FP16, 32>(b, count(32));
  }
}
