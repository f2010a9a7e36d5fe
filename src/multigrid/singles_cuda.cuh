/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel for values of products of matrices of single values whose rows are not long. For
 * multigrid/sparse_cuda.cu only, as multigrid/products_cuda.cuh.
 *
 * A few lanes take a row of C. Each has some values of it in registers, and their columns. The
 * lanes load entries of a row of B together and pass them around, and each lane compares the
 * columns of these entries with its own. There is no search and no shared memory, whose banks the
 * lanes of several rows would wait for. Terms are added in the order of the blocks, as everywhere. */
#ifndef BSI_SINGLES_CUDA_CUH
#define BSI_SINGLES_CUDA_CUH

#include "multigrid/products_cuda.cuh"

namespace {

/* Adds the products of row i to the values that a lane has.
 *   LANES: the lanes of a row
 *   OWN: the values of a lane
 *   A, B: the matrices have values; otherwise they are identities */
template <int LANES, int OWN, bool A, bool B>
__device__ __forceinline__ void add_singles(const product &s, int64_t i, int member, unsigned mask,
                                            const int32_t (&columns)[OWN], double (&sums)[OWN]) {
  const int32_t last = __ldg(s.a_ptr + i + 1);
  for (int32_t base = __ldg(s.a_ptr + i); base < last; base += LANES) {
    int32_t begin = 0, end = 0;
    double left = 1.0;
    if (member < last - base) {
      const int32_t k = __ldg(s.a_col + base + member);
      begin = __ldg(s.b_ptr + k);
      end = __ldg(s.b_ptr + k + 1);
      if (A) left = __ldg(s.a + base + member);
    }
    const int blocks = min(LANES, last - base);
    for (int n = 0; n < blocks; n++) {
      const int32_t stop = __shfl_sync(mask, end, n, LANES);
      const double factor = A ? __shfl_sync(mask, left, n, LANES) : 1.0;
      for (int32_t q = __shfl_sync(mask, begin, n, LANES); q < stop; q += LANES) {
        const int few = min(LANES, stop - q);
        const int32_t mine = member < few ? __ldg(s.b_col + q + member) : -1;
        const double right = B && member < few ? __ldg(s.b + q + member) : 1.0;
#pragma unroll
        for (int t = 0; t < LANES; t++) {
          if (LANES > LEAST_LANES && t >= few) break;
          const int32_t j = __shfl_sync(mask, mine, t, LANES);
          const double value = B ? __shfl_sync(mask, right, t, LANES) : 1.0;
#pragma unroll
          for (int u = 0; u < OWN; u++)
            if (columns[u] == j) sums[u] += A && B ? factor * value : A ? factor : value;
        }
      }
    }
  }
}

/* Rows of more than LANES·OWN values take several passes. Template parameters: those of
 * add_singles(). */
template <int LANES, int OWN, bool A, bool B>
__global__ void __launch_bounds__(BLOCK_THREADS) multiply_singles(const product s) {
  const int member = static_cast<int>(threadIdx.x) % LANES;
  const unsigned mask = BSI_FULL_WARP >> (BSI_WARP - LANES)
                                             << (threadIdx.x % BSI_WARP / LANES * LANES);
  const int64_t i = (blockIdx.x * static_cast<int64_t>(BLOCK_THREADS) + threadIdx.x) / LANES;
  bsi_wait_for_predecessor();
  if (i >= s.rows) return;
  const int32_t end = __ldg(s.c_ptr + i + 1);
  for (int32_t at = __ldg(s.c_ptr + i) + member; at - member < end; at += LANES * OWN) {
    int32_t columns[OWN];
    double sums[OWN] = {};
#pragma unroll
    for (int u = 0; u < OWN; u++)
      columns[u] = at + u * LANES < end ? __ldg(s.c_col + at + u * LANES) : -2;
    add_singles<LANES, OWN, A, B>(s, i, member, mask, columns, sums);
#pragma unroll
    for (int u = 0; u < OWN; u++)
      if (at + u * LANES < end) s.c[at + u * LANES] = sums[u];
  }
}

template <int LANES, int OWN> void (*singles(const product &s))(product) {
  return s.a && s.b ? multiply_singles<LANES, OWN, true, true>
         : s.a      ? multiply_singles<LANES, OWN, true, false>
                    : multiply_singles<LANES, OWN, false, true>;
}

/* Returns the kernel for rows of mostly at most that many values, and sets the lanes and the window.
 *   length: the mean number of values of a row of B */
void (*singles_for(product *s, double values, double length))(product) {
  const bool few = length <= LEAST_LANES && values <= 4 * LEAST_LANES;
  s->lanes = few ? LEAST_LANES : MOST_LANES;
  s->window = few ? (values <= 2 * LEAST_LANES ? 2 : 4) * LEAST_LANES
                  : (values <= 4 * MOST_LANES ? 4 : 6) * MOST_LANES;
  switch (s->window) {
  case 2 * LEAST_LANES: return singles<LEAST_LANES, 2>(*s);
  case 4 * LEAST_LANES: return singles<LEAST_LANES, 4>(*s);
  case 4 * MOST_LANES: return singles<MOST_LANES, 4>(*s);
  default: return singles<MOST_LANES, 6>(*s);
  }
}

} // namespace

#endif
