/* SPDX-License-Identifier: BSD-3-Clause */
/* Set-up and applications of inverses that are stored block by block, as before Flegar et al.
 * (2020), section 4.2: column-major or row-major. The library's blocks are interleaved instead. A
 * sub-warp takes a block here as there, so that only the places of values differ. */
#include "bjacobi/factorize/eliminate_cuda.cuh"
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

/* Inverts blocks of M rows, a power of two, and stores the inverses in either order. A lane has a
 * column, as in the paper: it inverts the transposed block, whose rows are in the lanes. Stores of
 * an inverse by rows are then side by side, and those by columns are not. */
template <bisai_value_type FORMAT, int M, bool BY_ROWS>
__global__ void __launch_bounds__(THREADS)
    invert_blocks(int64_t blocks, const double *from, void *to) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x, block = i / M;
  const int lane = threadIdx.x % BSI_WARP, own = lane % M;
  const bool there = block < blocks;
  const bsi_sub_warp w = {.lanes = M,
                          .row = own,
                          .base = lane - own,
                          .m = there ? M : 0,
                          .max_rows = M,
                          .mask = BSI_FULL_WARP >> (BSI_WARP - M) << (lane - own)};
  double a[1][M];
#pragma unroll
  for (int r = 0; r < M; r++) a[0][r] = there ? from[block * M * M + own * M + r] : 0.0;
  const bsi_inverted<1> e = bsi_sub_gauss_jordan<M, 1, M, true>(w, a);
#pragma unroll
  for (int k = 0; k < M; k++) {
    const int row = bsi_sub_pivot_of<1>(w, e, k), column = e.step[0];
    const int at = BY_ROWS ? row * M + column : column * M + row;
    if (there) bsi_value_store(FORMAT, a[0][k], to, static_cast<size_t>(block * M * M + at));
  }
}

/* Ends the program if the last block times its inverse is not the identity, up to the rounding of
 * the format: the sums of rows of well-conditioned blocks are below 4 m. */
template <bisai_value_type FORMAT>
void check_inverse(const double *blocks, const on_device<char> &inverses, int m, bool by_rows,
                   int64_t count) {
  const size_t size = static_cast<size_t>(m) * m, bytes = bsi_value_bytes(FORMAT);
  std::vector<double> block(size);
  std::vector<char> inverse(size * bytes);
  NEED(cudaMemcpy(block.data(), blocks + (count - 1) * size, size * sizeof(double),
                  cudaMemcpyDeviceToHost));
  NEED(cudaMemcpy(inverse.data(), inverses.data + (count - 1) * size * bytes, inverse.size(),
                  cudaMemcpyDeviceToHost));
  for (int r = 0; r < m; r++)
    for (int c = 0; c < m; c++) {
      double sum = r == c ? -1.0 : 0.0;
      for (int k = 0; k < m; k++)
        sum += block[static_cast<size_t>(k * m + r)] *
               bsi_value_load(FORMAT, inverse.data(),
                              static_cast<size_t>(by_rows ? k * m + c : c * m + k));
      if (std::fabs(sum) <= 8.0 * m * bsi_value_roundoff(FORMAT)) continue;
      std::fprintf(stderr, "layouts: %d rows: a block and its inverse give %g\n", m, sum);
      std::exit(1);
    }
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
  const double setup_rows = seconds_of(b, [&] {
    invert_blocks<FORMAT, M, true><<<grid, THREADS, 0, b.stream>>>(count, blocks, stored.data);
  });
  check_inverse<FORMAT>(blocks, stored, M, true, count);
  const double setup_columns = seconds_of(b, [&] {
    invert_blocks<FORMAT, M, false><<<grid, THREADS, 0, b.stream>>>(count, blocks, stored.data);
  });
  check_inverse<FORMAT>(blocks, stored, M, false, count);
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
          {"setup_by_rows", setup_rows},
          {"setup_by_columns", setup_columns},
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
