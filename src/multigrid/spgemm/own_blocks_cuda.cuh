/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel for values of products whose blocks are large, and the other half of a halved
 * product. For multigrid/spgemm/spgemm_cuda.cu only, as multigrid/spgemm/numeric_cuda.cuh, which
 * describes the first of them.
 *
 * What lanes load into registers bounds products of blocks: with a column for each lane, every one
 * loads all values of the block of A for it. */
#ifndef BSI_OWN_BLOCKS_CUDA_CUH
#define BSI_OWN_BLOCKS_CUDA_CUH

#include "multigrid/spgemm/product_cuda.cuh"

namespace {

/* The columns of a block of C that a thread has. */
enum { OWN_COLUMNS = 3 };

/* Returns the position of column j in the row of B that block p of A multiplies, or -1 if there is
 * none or no block p. */
__device__ __forceinline__ int32_t factor_at(const product &s, int32_t p, int32_t end, int32_t j) {
  if (p >= end) return -1;
  const int32_t k = __ldg(s.a.col + p);
  return bsi_find_column(bsi_read_only<int32_t>{s.b.col}, __ldg(s.b.ptr + k),
                         __ldg(s.b.ptr + k + 1), j);
}

/* sums ← sums + A_p times columns `column` … of B_q. */
template <int H, int M>
__device__ __forceinline__ void add_columns_of(const product &s, int32_t p, int32_t q, int column,
                                               double (&sums)[OWN_COLUMNS][H]) {
  const double *right = s.b.values + (static_cast<int64_t>(q) * s.width + column) * M;
  double a[H * M], b[M];
  load_cached(s.a.values + static_cast<int64_t>(p) * (H * M), a);
#pragma unroll
  for (int c = 0; c < OWN_COLUMNS; c++) {
    load_cached(right + c * M, b);
    add_columns<H, M>(a, b, sums[c]);
  }
}

/* A thread takes OWN_COLUMNS columns of a block of C. The next block of B is searched before the
 * products with this one, because of the latency.
 *   H, M: the height and the width of the blocks of A */
template <int H, int M>
__global__ void __launch_bounds__(BLOCK_THREADS) multiply_own_blocks(const product s) {
  bsi_wait_for_predecessor();
  const int32_t *ptr = s.upper ? s.upper : s.c.ptr;
  const lanes_of_blocks l =
      block_of_lane(s.rows, ptr, s.upper ? __ldg(ptr + s.rows) : s.blocks, s.width / OWN_COLUMNS);
  if (l.position < 0 || !l.working) return;
  /* the blocks of a row end with those to the right of the diagonal */
  const int32_t position = l.position + __ldg(s.c.ptr + l.row + 1) - __ldg(ptr + l.row + 1),
                j = __ldg(s.c.col + position), end = __ldg(s.a.ptr + l.row + 1);
  const int column = l.member * OWN_COLUMNS;
  double sums[OWN_COLUMNS][H] = {};
  int32_t p = __ldg(s.a.ptr + l.row), q = factor_at(s, p, end, j);
  for (; p < end; p++) {
    const int32_t next = factor_at(s, p + 1, end, j);
    if (q >= 0) add_columns_of<H, M>(s, p, q, column, sums);
    q = next;
  }
  double *to = s.c.values + (static_cast<int64_t>(position) * s.width + column) * H;
#pragma unroll
  for (int c = 0; c < OWN_COLUMNS; c++) store_in_pairs(sums[c], to + c * H);
}

/* Block (i, j) of C ← the transpose of block (j, i), for j < i. A block without a partner is zero
 * up to rounding, and becomes zero. A warp takes a row.
 *   H: the rows and the columns of a block */
template <int H> __global__ void __launch_bounds__(BLOCK_THREADS) mirror_blocks(const product s) {
  constexpr int VALUES = H * H;
  const int64_t i = (blockIdx.x * static_cast<int64_t>(BLOCK_THREADS) + threadIdx.x) / BSI_WARP;
  const int lane = threadIdx.x % BSI_WARP;
  bsi_wait_for_predecessor();
  if (i >= s.rows) return;
  const int32_t end = __ldg(s.c.ptr + i + 1) - (__ldg(s.upper + i + 1) - __ldg(s.upper + i));
  for (int32_t first = __ldg(s.c.ptr + i); first < end; first += BSI_WARP) {
    const int blocks = min(static_cast<int>(BSI_WARP), end - first);
    int32_t partner = -1;
    if (lane < blocks) {
      const int32_t j = __ldg(s.c.col + first + lane);
      partner = bsi_find_column(bsi_read_only<int32_t>{s.c.col}, __ldg(s.c.ptr + j),
                                __ldg(s.c.ptr + j + 1), static_cast<int32_t>(i));
    }
    double *to = s.c.values + static_cast<int64_t>(first) * VALUES;
    for (int start = 0; start < blocks * VALUES; start += BSI_WARP) {
      const int v = start + lane, block = min(v / VALUES, BSI_WARP - 1), value = v % VALUES;
      const int32_t from = __shfl_sync(BSI_FULL_WARP, partner, block);
      if (v >= blocks * VALUES) continue;
      const int64_t at = static_cast<int64_t>(from) * VALUES + value % H * H + value / H;
      to[v] = from < 0 ? 0.0 : s.c.values[at];
    }
  }
}

} // namespace

#endif
