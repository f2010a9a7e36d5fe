/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel of a step of GMRES: Gram–Schmidt with its decision about a second pass, the new basis
 * vector, and the rotations. For krylov/passes/gmres_cuda.cu only.
 *
 * The bytes of the basis and the waits for sums bound Gram–Schmidt. One launch therefore holds at
 * most as many thread blocks as the device has multiprocessors, and they wait for each other when
 * they need a sum over all of them. w stays in registers, unless it is longer than all registers
 * together. The last vectors of V stay in shared memory. The others are read once from memory and
 * once more from the L2 cache if it is large enough; the second time backwards, so that the last to
 * come is the first to be read. Every block adds up the partial sums by itself in the same order:
 * all blocks get the same bits, and decide alike about a second pass. */
#ifndef BSI_GMRES_STEP_CUDA_CUH
#define BSI_GMRES_STEP_CUDA_CUH

#include "gpu/barrier.cuh"
#include "krylov/passes/krylov_ops.h"
#include "krylov/passes/rotation.h"

namespace {

/* Threads of a block, of which a multiprocessor has one. */
constexpr int THREADS = 512, WARPS = THREADS / BSI_WARP;

/* Basis vectors whose values a thread loads at once: sums_of_warp() takes eight sums. */
constexpr int GROUP = BSI_BASIS_GROUP;

/* The shared memory of a thread block: arrays for `count` columns, then each thread's pairs of the
 * basis vectors that are kept there. */
struct scratch {
  double *of_warp, *h, *h2, *column, *cosines, *sines;
  double2 *kept;
  int stride;
  __device__ scratch(double *memory, int count) : stride((count + GROUP - 1) / GROUP * GROUP) {
    of_warp = memory;
    h = of_warp + WARPS * stride;
    h2 = h + stride;
    cosines = h2 + stride;
    sines = cosines + stride;
    column = sines + stride;
    kept = reinterpret_cast<double2 *>(column + stride + 2);
  }
  static constexpr size_t bytes(int count) {
    return ((WARPS + 5) * static_cast<size_t>((count + GROUP - 1) / GROUP * GROUP) + 2) *
           sizeof(double);
  }
};

/* Lanes 4·s … 4·s + 3 get the sum of sums[s] over the warp. Each exchange halves the number of sums
 * that a lane has. */
__device__ __forceinline__ double sums_of_warp(double (&sums)[GROUP]) {
  const int lane = threadIdx.x % BSI_WARP;
#pragma unroll
  for (int half = GROUP / 2; half > 0; half /= 2) {
    const bool upper = lane & (half * 4);
#pragma unroll
    for (int s = 0; s < half; s++) {
      const double send = upper ? sums[s] : sums[s + half], keep = upper ? sums[s + half] : sums[s];
      sums[s] = keep + __shfl_xor_sync(BSI_FULL_WARP, send, half * 4);
    }
  }
  double sum = sums[0];
  sum += __shfl_xor_sync(BSI_FULL_WARP, sum, 2);
  sum += __shfl_xor_sync(BSI_FULL_WARP, sum, 1);
  return sum;
}

/* sums[c] ← the sum of partial sums c < count over the grid's blocks. A warp adds up a sum. All
 * threads call, and then see the sums. */
__device__ void add_blocks(int count, const double *partials, double *sums) {
  const int lane = threadIdx.x % BSI_WARP;
  for (int c = threadIdx.x / BSI_WARP; c < count; c += WARPS) {
    double sum = 0.0;
    for (int b = lane; b < static_cast<int>(gridDim.x); b += BSI_WARP)
      sum += __ldcg(partials + c * static_cast<int>(gridDim.x) + b);
    sum = bsi_warp_sum(sum);
    if (lane == 0) sums[c] = sum;
  }
  __syncthreads();
}

/* A thread's share of a vector of n values: the pairs from, from + apart, … Pair p has values 2·p
 * and 2·p + 1; the number of pairs is rounded up. A tile has `tile` pairs. */
struct share {
  int64_t n, pairs, from, apart, tile;
  __device__ share(int64_t n_, int per_tile)
      : n(n_), pairs((n_ + 1) / 2), from(blockIdx.x * static_cast<int64_t>(THREADS) + threadIdx.x),
        apart(static_cast<int64_t>(gridDim.x) * THREADS), tile(apart * per_tile) {}
};

/* Values of a vector in registers.
 * PAIRS: the pairs of values of a thread. */
template <int PAIRS> struct part_of_vector {
  double2 values[PAIRS];

  __device__ __forceinline__ void load(const share &s, int64_t first, const double *w) {
#pragma unroll
    for (int p = 0; p < PAIRS; p++) {
      const int64_t pair = first + p * s.apart;
      values[p] =
          pair < s.pairs ? reinterpret_cast<const double2 *>(w)[pair] : make_double2(0.0, 0.0);
    }
  }
  /* Stores scale·values, and a zero in the last pair if n is odd. */
  __device__ __forceinline__ void store(const share &s, int64_t first, double scale,
                                        double *w) const {
#pragma unroll
    for (int p = 0; p < PAIRS; p++) {
      const int64_t pair = first + p * s.apart;
      if (pair < s.pairs)
        reinterpret_cast<double2 *>(w)[pair] =
            make_double2(scale * values[p].x, 2 * pair + 1 < s.n ? scale * values[p].y : 0.0);
    }
  }
  /* The same, rounded to fp32, in both types. */
  __device__ __forceinline__ void store_rounded(const share &s, int64_t first, double scale,
                                                float *narrow, double *wide) const {
#pragma unroll
    for (int p = 0; p < PAIRS; p++) {
      const int64_t pair = first + p * s.apart;
      if (pair >= s.pairs) continue;
      const float2 v =
          make_float2(static_cast<float>(scale * values[p].x),
                      2 * pair + 1 < s.n ? static_cast<float>(scale * values[p].y) : 0.0f);
      reinterpret_cast<float2 *>(narrow)[pair] = v;
      reinterpret_cast<double2 *>(wide)[pair] = make_double2(v.x, v.y);
    }
  }
};

/* One thread's part of a step.
 * PAIRS: the pairs of values of w that it has in registers.
 * TILED: w is longer than all registers and passes through them tile by tile. */
template <int PAIRS, bool TILED> struct worker {
  const bsi_cycle &cycle;
  /* basis vectors, the first of those in fp32, and the first of those that shared memory keeps */
  const int count, first_narrow, first_kept;
  const share mine;
  double *w;
  scratch shared;
  unsigned *ticket;
  part_of_vector<PAIRS> part;

  __device__ worker(const bsi_cycle &c, int j, int kept, double *memory, unsigned *ticket_)
      : cycle(c), count(j + 1), first_narrow(j + 1 - c.narrow), first_kept(j + 1 - kept),
        mine(c.n, PAIRS), w(c.next ? c.w : c.basis + (j + 1) * c.ld), shared(memory, j + 1),
        ticket(ticket_) {
    if (!TILED) part.load(mine, mine.from, w);
  }

  /* Loads the thread's pair p of the tile at `first`, of GROUP basis vectors from c on. */
  __device__ __forceinline__ void load_group(int c, int64_t first, int p,
                                             double2 (&v)[GROUP]) const {
    const int64_t pair = first + p * mine.apart;
    const double *vectors = cycle.basis + c * cycle.ld;
    if (c >= first_narrow) {
      float2 narrow[GROUP];
#pragma unroll
      for (int g = 0; g < GROUP; g++)
        narrow[g] = c + g < count && pair < mine.pairs
                        ? reinterpret_cast<const float2 *>(vectors + g * cycle.ld)[pair]
                        : make_float2(0.0f, 0.0f);
#pragma unroll
      for (int g = 0; g < GROUP; g++) v[g] = make_double2(narrow[g].x, narrow[g].y);
      return;
    }
#pragma unroll
    for (int g = 0; g < GROUP; g++)
      v[g] = c + g < count && pair < mine.pairs
                 ? reinterpret_cast<const double2 *>(vectors + g * cycle.ld)[pair]
                 : make_double2(0.0, 0.0);
  }
  /* Loads a pair of basis vector c. */
  __device__ __forceinline__ double2 load_pair(int c, int64_t pair) const {
    const double *vector = cycle.basis + c * cycle.ld;
    if (c < first_narrow) return reinterpret_cast<const double2 *>(vector)[pair];
    const float2 v = reinterpret_cast<const float2 *>(vector)[pair];
    return make_double2(v.x, v.y);
  }

  /* Pair p of basis vector c in shared memory. */
  __device__ __forceinline__ double2 &kept(int c, int p) const {
    return shared.kept[((c - first_kept) * PAIRS + p) * THREADS + threadIdx.x];
  }
  __device__ __forceinline__ void keep_group(int c, int p, const double2 (&v)[GROUP]) const {
#pragma unroll
    for (int g = 0; g < GROUP; g++)
      if (c + g >= first_kept && c + g < count) kept(c + g, p) = v[g];
  }
  /* Loads as load_group() does, from shared memory if the vector is kept there. */
  __device__ __forceinline__ void load_again(int c, int64_t first, int p,
                                             double2 (&v)[GROUP]) const {
    const int64_t pair = first + p * mine.apart;
#pragma unroll
    for (int g = 0; g < GROUP; g++) {
      v[g] = make_double2(0.0, 0.0);
      if (c + g >= first_kept && c + g < count)
        v[g] = kept(c + g, p);
      else if (c + g < count && pair < mine.pairs)
        v[g] = load_pair(c + g, pair);
    }
  }

  /* h ← Vᵀw over all blocks */
  __device__ void products(double *h) {
    const int lane = threadIdx.x % BSI_WARP, warp = threadIdx.x / BSI_WARP;
    for (int64_t first = mine.from;
         first - mine.from == 0 || (TILED && first - mine.from < mine.pairs); first += mine.tile) {
      if (TILED) part.load(mine, first, w);
      for (int c = 0; c < count; c += GROUP) {
        double sums[GROUP] = {};
#pragma unroll
        for (int p = 0; p < PAIRS; p++) {
          double2 v[GROUP];
          load_group(c, first, p, v);
          if (!TILED && c + GROUP > first_kept) keep_group(c, p, v);
#pragma unroll
          for (int g = 0; g < GROUP; g++)
            sums[g] += v[g].x * part.values[p].x + v[g].y * part.values[p].y;
        }
        const double sum = sums_of_warp(sums);
        double *place = shared.of_warp + warp * shared.stride + c + lane / 4;
        if (lane % 4 == 0) *place = first == mine.from ? sum : *place + sum;
      }
    }
    __syncthreads();
    for (int c = threadIdx.x; c < count; c += THREADS) {
      double sum = 0.0;
      for (int i = 0; i < WARPS; i++) sum += shared.of_warp[i * shared.stride + c];
      cycle.work[c * static_cast<int>(gridDim.x) + blockIdx.x] = sum;
    }
    bsi_wait_for_all(ticket, false, [] {});
    add_blocks(count, cycle.work, h);
  }

  /* w ← w − V h. Returns ‖w‖² over all blocks. */
  template <typename Meanwhile>
  __device__ __forceinline__ double subtract(const double *h, Meanwhile meanwhile) {
    double square = 0.0;
    for (int64_t first = mine.from;
         first - mine.from == 0 || (TILED && first - mine.from < mine.pairs); first += mine.tile) {
      if (TILED) part.load(mine, first, w);
      for (int c = (count - 1) / GROUP * GROUP; c >= 0; c -= GROUP) {
#pragma unroll
        for (int p = 0; p < PAIRS; p++) {
          double2 v[GROUP];
          if (!TILED && c + GROUP > first_kept)
            load_again(c, first, p, v);
          else
            load_group(c, first, p, v);
#pragma unroll
          for (int g = 0; g < GROUP; g++)
            if (c + g < count) {
              part.values[p].x -= h[c + g] * v[g].x;
              part.values[p].y -= h[c + g] * v[g].y;
            }
        }
      }
#pragma unroll
      for (int p = 0; p < PAIRS; p++)
        square += part.values[p].x * part.values[p].x + part.values[p].y * part.values[p].y;
      if (TILED) part.store(mine, first, 1.0, w);
    }
    __shared__ double of_warp[WARPS], total;
    square = bsi_warp_sum(square);
    if (threadIdx.x % BSI_WARP == 0) of_warp[threadIdx.x / BSI_WARP] = square;
    __syncthreads();
    double *partials = cycle.work + count * static_cast<int>(gridDim.x);
    if (threadIdx.x == 0) {
      double sum = 0.0;
      for (int i = 0; i < WARPS; i++) sum += of_warp[i];
      partials[blockIdx.x] = sum;
    }
    bsi_wait_for_all(ticket, true, meanwhile);
    add_blocks(1, partials, &total);
    const double result = total;
    __syncthreads();
    return result;
  }

  /* Writes the values times a factor to vector j + 1. */
  __device__ __forceinline__ void store_next(int64_t first, double factor) const {
    double *next = cycle.basis + count * cycle.ld;
    if (cycle.next)
      part.store_rounded(mine, first, factor, reinterpret_cast<float *>(next), cycle.next);
    else
      part.store(mine, first, factor, next);
  }
  /* Writes w/‖w‖, or zeros if ‖w‖ is 0. */
  __device__ void scale(double norm2) {
    const double factor = norm2 == 0.0 ? 0.0 : 1.0 / sqrt(norm2);
    if (!TILED) store_next(mine.from, factor);
    for (int64_t first = mine.from; TILED && first - mine.from < mine.pairs; first += mine.tile) {
      part.load(mine, first, w);
      store_next(first, factor);
    }
  }

  /* Applies the earlier rotations to the new column. One thread calls, in the block whose shared
   * memory has them. */
  __device__ __forceinline__ void rotate_earlier(int j) const {
    bsi_rotate_earlier(j, shared.h, shared.cosines, shared.sines, shared.column);
  }
  /* Makes rotation j and writes the column. All threads of that block call. */
  __device__ void rotate(int j, double norm2) {
    if (threadIdx.x == 0) {
      bsi_rotate_last(j, shared.column, bsi_column_norm2(j, shared.h, norm2), norm2, shared.cosines,
                      shared.sines, cycle.rhs, cycle.status + 2 * j);
      cycle.cosines[j] = shared.cosines[j];
      cycle.sines[j] = shared.sines[j];
    }
    __syncthreads();
    double *column = cycle.hessenberg + j * (cycle.m + static_cast<int64_t>(1));
    for (int i = threadIdx.x; i <= j + 1; i += THREADS) column[i] = shared.column[i];
  }
};

/* Step j of a cycle. `kept` basis vectors stay in shared memory. Template parameters: as those of
 * worker. */
template <int PAIRS, bool TILED>
__global__ void __launch_bounds__(THREADS, 1)
    step(bsi_cycle cycle, int j, int kept, bsi_passes passes, unsigned *ticket) {
  extern __shared__ double memory[];
  worker<PAIRS, TILED> me(cycle, j, kept, memory, ticket);
  const bool rotates = blockIdx.x == gridDim.x - 1; /* the last block has the fewest values */
  for (int i = threadIdx.x; rotates && i < j; i += THREADS) {
    me.shared.cosines[i] = cycle.cosines[i];
    me.shared.sines[i] = cycle.sines[i];
  }
  const auto rotate_earlier = [&] {
    if (rotates) me.rotate_earlier(j);
  };
  me.products(me.shared.h);
  double norm2 = me.subtract(me.shared.h, rotate_earlier);
  const bool again = passes == BSI_PASSES_TWO ||
                     (passes == BSI_PASSES_SELECTIVE && bsi_cancelled(j + 1, me.shared.h, norm2));
  if (again) {
    me.products(me.shared.h2);
    norm2 = me.subtract(me.shared.h2, [&] {
      for (int i = 0; i <= j; i++) me.shared.h[i] += me.shared.h2[i];
      rotate_earlier();
    });
  }
  me.scale(norm2);
  if (rotates) me.rotate(j, norm2);
}

} // namespace

#endif
