/* SPDX-License-Identifier: BSD-3-Clause */
/* The long rows of S(|T|^k) on a device: those that reach more block rows than a hash table
 * holds. */
#include "gpu/temporary.cuh"
#include "pattern/search_cuda.cuh"

namespace {

/* Threads of a thread block, and the most thread blocks, whose bits and lists take memory. Not
 * measured. */
enum { LONG_THREADS = 1024, LONG_BLOCKS = 64 };

/* Clears the bits of the columns that the row does not keep: all behind the ring, and those of the
 * ring that are too far from the diagonal. A bisection finds which distance is too far. */
__device__ void leave_bits_out(const bsi_search &s, const bsi_ring &g, int32_t count,
                               const int32_t *list, unsigned *bits) {
  const int thread = threadIdx.x;
  int32_t near = 0, far = s.n; /* no more columns than may be kept are nearer than `near` */
  while (near < far) {
    const int32_t middle = near + (far - near + 1) / 2;
    int32_t nearer = 0;
    for (int32_t f = g.begin; f < g.end; f += LONG_THREADS)
      nearer +=
          __syncthreads_count(f + thread < g.end && bsi_distance(s, list[f + thread]) < middle);
    if (nearer <= s.limit - g.begin)
      near = middle;
    else
      far = middle - 1;
  }
  for (int32_t f = g.begin + thread; f < count; f += LONG_THREADS)
    if (f >= g.end || bsi_distance(s, list[f]) >= near)
      atomicAnd(bits + list[f] / 32, ~(1u << list[f] % 32));
  __syncthreads();
}

/* A thread block takes a long row. A bit stands for every block row that is reached, and a list has
 * them for the next step. Each thread block owns `words` words of bits, which are zero before and
 * after, and n entries of the list.
 *   WRITE: write the rows in the order of the bits */
template <bool WRITE>
__global__ void __launch_bounds__(LONG_THREADS)
    do_long_rows(const bsi_search s, int32_t words, unsigned *bits, int32_t *list) {
  __shared__ int32_t count, of_thread[LONG_THREADS];
  bits += static_cast<int64_t>(blockIdx.x) * words;
  list += static_cast<int64_t>(blockIdx.x) * s.n;
  const int thread = threadIdx.x;
  for (int32_t k = blockIdx.x; k < static_cast<int32_t>(s.report->long_count); k += gridDim.x) {
    const int32_t row = s.long_rows[k];
    if (thread == 0) {
      list[0] = row;
      bits[row / 32] |= 1u << row % 32;
      count = 1;
    }
    __syncthreads();
    int32_t begin = 0, end = 1;
    bsi_ring g = {};
    for (int step = 0; step < s.power && begin < end; step++) {
      for (int32_t f = begin + thread / BSI_WARP; f < end; f += LONG_THREADS / BSI_WARP) {
        const int32_t from = list[f], last = s.row_ptr[from + 1];
        for (int32_t q = s.row_ptr[from] + thread % BSI_WARP; q < last; q += BSI_WARP) {
          const int32_t column = s.col_idx[q];
          const unsigned bit = 1u << column % 32;
          if (!bsi_in_triangle(s, from, column) || (atomicOr(bits + column / 32, bit) & bit) != 0)
            continue;
          list[atomicAdd(&count, 1)] = column;
        }
      }
      __syncthreads();
      begin = end;
      end = count;
      bsi_note_ring(s, begin, end, &g);
      __syncthreads();
    }
    if (WRITE && s.limit > 0 && end > s.limit) leave_bits_out(s, g, end, list, bits);
    if (!WRITE && thread == 0) s.lengths[row] = bsi_shorten(s, end);
    /* The words of each thread, then the number of bits before them. */
    const int32_t each = (words + LONG_THREADS - 1) / LONG_THREADS,
                  first = min(thread * each, words), last = min(first + each, words);
    int32_t mine = 0;
    for (int32_t w = first; w < last; w++) mine += __popc(bits[w]);
    of_thread[thread] = mine;
    __syncthreads();
    int32_t place = WRITE ? s.found_ptr[row] : 0;
    for (int t = 0; WRITE && mine > 0 && t < thread; t++) place += of_thread[t];
    for (int32_t w = first; w < last; w++) {
      for (unsigned left = bits[w]; WRITE && left != 0; left &= left - 1, place++)
        s.found_col[place] = w * 32 + __ffs(static_cast<int>(left)) - 1;
      bits[w] = 0;
    }
    __syncthreads();
  }
}

/* WRITE: as in do_long_rows() */
template <bool WRITE>
bisai_status long_rows(bisai_context *context, const bsi_search &s, int32_t count) {
  const int32_t words = (s.n + 31) / 32, blocks = count < LONG_BLOCKS ? count : LONG_BLOCKS;
  bsi_temporary memory(context);
  unsigned *bits = memory.reserve<unsigned>(static_cast<size_t>(blocks) * words);
  int32_t *list = memory.reserve<int32_t>(static_cast<size_t>(blocks) * s.n);
  if (!memory.complete) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(bsi_gpu_fill(context, "pattern", bits, 0,
                       static_cast<size_t>(blocks) * words * sizeof *bits));
  do_long_rows<WRITE><<<blocks, LONG_THREADS, 0, bsi_stream_of(context)>>>(s, words, bits, list);
  return bsi_launched(context, "pattern, long rows");
}

} // namespace

bisai_status bsi_pattern_count_long_rows(bisai_context *context, const bsi_search &s,
                                         int32_t count) {
  return long_rows<false>(context, s, count);
}

bisai_status bsi_pattern_write_long_rows(bisai_context *context, const bsi_search &s,
                                         int32_t count) {
  return long_rows<true>(context, s, count);
}
