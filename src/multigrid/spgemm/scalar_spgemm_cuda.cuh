/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel for values of products of single values with identities, A T, if rows of A are long.
 * For multigrid/spgemm/spgemm_cuda.cu only, as multigrid/spgemm/numeric_cuda.cuh.
 *
 * A few lanes take a row of C. Each has some values of it in registers, and their columns. The
 * lanes load values of the row of A together and pass them around, and each lane compares the
 * columns to which they belong with its own. This is faster than a thread that goes through the
 * row. For products with other matrices multiply_rows is faster, because most comparisons would be
 * in vain. */
#ifndef BSI_SCALAR_SPGEMM_CUDA_CUH
#define BSI_SCALAR_SPGEMM_CUDA_CUH

#include "multigrid/spgemm/product_cuda.cuh"

namespace {

/* The lanes of a row. */
enum { SINGLE_LANES = 4 };

/* Adds the values of row i of A to the values that a lane has.
 *   OWN: the values of a lane */
template <int OWN>
__device__ __forceinline__ void add_singles(const product &s, int64_t i, int member, unsigned mask,
                                            const int32_t (&columns)[OWN], double (&sums)[OWN]) {
  const int32_t last = __ldg(s.a.ptr + i + 1);
  for (int32_t base = __ldg(s.a.ptr + i); base < last; base += SINGLE_LANES) {
    int32_t begin = 0, end = 0;
    double left = 0.0;
    if (member < last - base) {
      const int32_t k = __ldg(s.a.col + base + member);
      begin = __ldg(s.b.ptr + k);
      end = __ldg(s.b.ptr + k + 1);
      left = __ldg(s.a.values + base + member);
    }
    const int values = min(static_cast<int>(SINGLE_LANES), last - base);
    for (int n = 0; n < values; n++) {
      const double value = __shfl_sync(mask, left, n, SINGLE_LANES);
      const int32_t stop = __shfl_sync(mask, end, n, SINGLE_LANES);
      for (int32_t q = __shfl_sync(mask, begin, n, SINGLE_LANES); q < stop; q++) {
        const int32_t j = __ldg(s.b.col + q);
#pragma unroll
        for (int u = 0; u < OWN; u++)
          if (columns[u] == j) sums[u] += value;
      }
    }
  }
}

/* Rows of more than SINGLE_LANES·OWN values take several passes.
 *   OWN: the values of a lane */
template <int OWN> __global__ void __launch_bounds__(BLOCK_THREADS) multiply_singles(product s) {
  const int member = static_cast<int>(threadIdx.x) % SINGLE_LANES;
  const unsigned mask = BSI_FULL_WARP >> (BSI_WARP - SINGLE_LANES)
                                             << (threadIdx.x % BSI_WARP - member);
  const int64_t i = (blockIdx.x * static_cast<int64_t>(BLOCK_THREADS) + threadIdx.x) / SINGLE_LANES;
  bsi_wait_for_predecessor();
  if (i >= s.rows) return;
  const int32_t end = __ldg(s.c.ptr + i + 1);
  for (int32_t first = __ldg(s.c.ptr + i); first < end; first += SINGLE_LANES * OWN) {
    const int32_t at = first + member;
    int32_t columns[OWN];
    double sums[OWN] = {};
#pragma unroll
    for (int u = 0; u < OWN; u++)
      columns[u] = at + u * SINGLE_LANES < end ? __ldg(s.c.col + at + u * SINGLE_LANES) : -1;
    add_singles<OWN>(s, i, member, mask, columns, sums);
#pragma unroll
    for (int u = 0; u < OWN; u++)
      if (at + u * SINGLE_LANES < end) s.c.values[at + u * SINGLE_LANES] = sums[u];
  }
}

} // namespace

#endif
