/* SPDX-License-Identifier: BSD-3-Clause */
/* The coarse graph on the device: all operations of the small levels in one cooperative launch. The
 * thread blocks wait for each other after each operation.
 *
 * The matrices stay the same during the launch, and may be read through the L1 cache. The vectors
 * change, and are read from the L2 cache. The latency of loads bounds the time of a step. A warp
 * therefore takes a block row, or several warps do, and their lanes have all blocks of a short row
 * under way together. They read the blocks while they wait for the step before. */
#include <algorithm>

#include "gpu/barrier.cuh"
#include "multigrid/cycle/cycle_ops.h"
#include "multigrid/cycle/inner_steps.h"

namespace {

constexpr char what[] = "coarse levels of a cycle";

/* Threads of a block, and warps, a power of two. Columns of a lane that are under way together. The
 * rows of a thread block of a dense product. The rows, and the values, for which `run` takes
 * another thread block. */
enum {
  THREADS = 512,
  WARPS = THREADS / BSI_WARP,
  UNROLLED = 7,
  DENSE_ROWS = 8,
  ROWS_OF_BLOCK = 16,
  VALUES_OF_BLOCK = 2048
};

/* The scalar rows up to which a step is as fast here as in a launch of its own (docs/tuning.md,
 * "Multigrid and CPR"). */
constexpr int64_t GRAPH_ROWS = 4000;

/* The sums of the rows that several warps share. */
using shared_sums = double[WARPS][BSI_WARP];

/* The vectors of steps are in fp64. */
__device__ __forceinline__ double *doubles(const bsi_vector &v) {
  return static_cast<double *>(v.at);
}

/* The lanes of a block row: lane (r, s) has row r, and every apart-th column from column s on. A
 * team of warps of a thread block, a power of two, takes the row: few rows are long, and would
 * otherwise keep a warp busy while the others wait. All threads compute this before each step:
 * quotients by the height, at most the lanes of a warp, are products, which take less time. */
struct lanes {
  /* the lanes of a warp for a scalar row, and those of the team */
  int r, s, split, apart;
  /* warps of the team, the number of this warp in it, and the first block row of the team */
  int warps, member;
  int32_t i;
  /* the step has a product with m */
  bool product;
  /* 2³²/width, rounded up: dividing a column by the width is a multiplication */
  unsigned reciprocal;
  __device__ __forceinline__ explicit lanes(const bsi_operation &p)
      : product(p.kind == BSI_OPERATION_MULTIPLY || (p.kind == BSI_OPERATION_RELAX && p.x.at)) {
    const bsi_block_matrix &m = p.m;
    const int height = m.height > 0 ? m.height : 1, of_height = 0x10000 / height + 1;
    const int lane = threadIdx.x % BSI_WARP, warp = static_cast<int>(threadIdx.x) / BSI_WARP;
    const int width = m.values ? m.width : 1, all = static_cast<int>(gridDim.x) * WARPS;
    split = BSI_WARP * of_height >> 16;
    s = lane * of_height >> 16;
    r = lane - s * height;
    int doublings = 0;
#pragma unroll
    for (int d = 1; 1 << d <= WARPS; d++)
      doublings += product && m.rows << d <= all && m.rows * split << d <= m.blocks * width;
    warps = 1 << doublings;
    member = warp & (warps - 1);
    /* neighbouring rows go to different multiprocessors */
    i = static_cast<int32_t>((warp >> doublings) * gridDim.x + blockIdx.x);
    apart = split << doublings;
    reciprocal = width > 1 ? 0xffffffffu / static_cast<unsigned>(width) + 1u : 0u;
  }
  __device__ __forceinline__ bool working() const { return s < split; }
  /* The lanes that own the scalar rows of the team's block row. */
  __device__ __forceinline__ bool own() const { return s == 0 && member == 0; }
  /* The first column of this lane. */
  __device__ __forceinline__ int column() const { return member * split + s; }
  __device__ __forceinline__ int32_t step() const {
    return static_cast<int32_t>(gridDim.x) * (WARPS / warps);
  }
  /* Returns column/width for columns of less than 2²⁷. */
  __device__ __forceinline__ int block_of(int column) const {
    return reciprocal ? static_cast<int>(__umulhi(static_cast<unsigned>(column), reciprocal))
                      : column;
  }
  /* Adds up the values of lanes (r, 0) … (r, split − 1) in lane (r, 0). */
  __device__ __forceinline__ double add(double value, int height) const {
    for (int step = 1; step < split; step *= 2) {
      const double other = __shfl_down_sync(BSI_FULL_WARP, value, step * height);
      if (s + step < split) value += other;
    }
    return value;
  }
  /* The same over all warps of the team. All threads of the block call. */
  __device__ __forceinline__ double add_team(double value, int height, shared_sums &sums) const {
    value = add(value, height);
    if (warps == 1) return value;
    const int warp = static_cast<int>(threadIdx.x) / BSI_WARP;
    if (s == 0) sums[warp][r] = value;
    __syncthreads();
    if (!own()) return value;
    for (int w = 1; w < warps; w++) value += sums[warp + w][r];
    return value;
  }
};

/* UNROLLED columns of a lane: their values, and the places in x that these multiply, or −1. */
struct columns {
  int32_t place[UNROLLED];
  double a[UNROLLED];

  __device__ __forceinline__ void load(const bsi_block_matrix &m, const lanes &at, int32_t first,
                                       int length, int t) {
    const int width = m.values ? m.width : 1;
    const double *values = m.values + static_cast<int64_t>(first) * width * m.height + at.r;
#pragma unroll
    for (int u = 0; u < UNROLLED; u++) {
      const int column = t + u * at.apart;
      place[u] = -1;
      if (column >= length) continue;
      const int q = at.block_of(column);
      place[u] = __ldg(m.col_idx + first + q) * m.width + (m.values ? column - q * width : at.r);
      a[u] = m.values ? __ldg(values + static_cast<int64_t>(column) * m.height) : 1.0;
    }
  }
  __device__ __forceinline__ double product(const double *x) const {
    double factor[UNROLLED], sum = 0.0;
#pragma unroll
    for (int u = 0; u < UNROLLED; u++)
      if (place[u] >= 0) factor[u] = __ldcg(x + place[u]);
#pragma unroll
    for (int u = 0; u < UNROLLED; u++)
      if (place[u] >= 0) sum += a[u] * factor[u];
    return sum;
  }
};

/* What a lane reads of the matrix for its block row i. The matrices stay the same during the
 * launch: the lanes read what they need first while they wait for the step before. */
struct matrix_row {
  int32_t first;
  int length;
  columns begin;
  /* column s of D⁻¹ */
  double inverse;

  __device__ __forceinline__ void load(const bsi_operation &p, const lanes &at, int32_t i) {
    const int bs = p.m.height;
    first = 0, length = 0, inverse = 0.0;
#pragma unroll
    for (int u = 0; u < UNROLLED; u++) begin.place[u] = -1;
    if (i >= p.m.rows || !at.working()) return;
    if (p.kind == BSI_OPERATION_RELAX && at.s < bs)
      inverse = __ldg(p.inverse.wide + (static_cast<int64_t>(i) * bs + at.s) * bs + at.r);
    if (!at.product) return;
    first = __ldg(p.m.row_ptr + i);
    length = (__ldg(p.m.row_ptr + i + 1) - first) * (p.m.values ? p.m.width : 1);
    begin.load(p.m, at, first, length, at.column());
  }
  /* Returns the part of (m x)_r that belongs to the columns of this lane. */
  __device__ __forceinline__ double product(const bsi_block_matrix &m, const lanes &at,
                                            const double *x) const {
    double sum = begin.product(x);
    for (int t = at.column() + UNROLLED * at.apart; t < length; t += UNROLLED * at.apart) {
      columns more;
      more.load(m, at, first, length, t);
      sum += more.product(x);
    }
    return sum;
  }
};

/* Calls f(i) for the block rows of a team, of the first of which `row` has been read. Teams of
 * several warps have one row at most, and all their warps call f, without a row with i = rows. */
template <typename F>
__device__ __forceinline__ void for_rows(const bsi_operation &p, const lanes &at, matrix_row &row,
                                         F f) {
  int32_t i = at.i;
  if (at.warps == 1 && i >= p.m.rows) return;
  do {
    if (i != at.i) row.load(p, at, i);
    f(min(i, p.m.rows));
    i += at.step();
  } while (i < p.m.rows);
}

/* Calls f(i) for the values of a thread. */
template <typename F> __device__ __forceinline__ void for_values(int64_t n, F f) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * THREADS;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(THREADS) + threadIdx.x; i < n; i += stride)
    f(i);
}

__device__ __forceinline__ void relax(const bsi_operation &p, const lanes &at, matrix_row &row,
                                      shared_sums &sums) {
  const int bs = p.m.height;
  for_rows(p, at, row, [&](int32_t i) {
    const bool there = i < p.m.rows, own = there && at.own();
    const int64_t scalar = static_cast<int64_t>(i) * bs + at.r;
    const double b = own ? __ldcg(doubles(p.b) + scalar) : 0.0,
                 x = own && p.x.at ? __ldcg(doubles(p.x) + scalar) : 0.0,
                 previous = own && p.alpha != 0.0 && p.previous.at
                                ? __ldcg(doubles(p.previous) + scalar)
                                : 0.0;
    double product = 0.0;
    if (at.product) product = at.add_team(row.product(p.m, at, doubles(p.x)), bs, sums);
    if (!there || at.member > 0) return;
    const double residual = b - product;
    double sum = 0.0;
    for (int first = 0; first < bs; first += at.split) {
      const int c = first + at.s;
      const double value = __shfl_sync(BSI_FULL_WARP, residual, c < bs ? c : 0);
      if (at.working() && c < bs)
        sum +=
            (first == 0 ? row.inverse
                        : __ldg(p.inverse.wide + (static_cast<int64_t>(i) * bs + c) * bs + at.r)) *
            value;
    }
    sum = p.beta * at.add(sum, bs);
    if (!own) return;
    if (p.alpha != 0.0) sum += p.alpha * (x - previous);
    doubles(p.y)[scalar] = x + sum;
  });
}

__device__ __forceinline__ void multiply(const bsi_operation &p, const lanes &at, matrix_row &row,
                                         shared_sums &sums) {
  for_rows(p, at, row, [&](int32_t i) {
    const bool own = i < p.m.rows && at.own();
    const int64_t scalar = static_cast<int64_t>(i) * p.m.height + at.r;
    const double b = own && p.beta != 0.0 ? __ldcg(doubles(p.b) + scalar) : 0.0,
                 sum = p.alpha * at.add_team(row.product(p.m, at, doubles(p.x)), p.m.height, sums);
    if (own) doubles(p.y)[scalar] = p.beta == 0.0 ? sum : sum + p.beta * b;
  });
}

/* The threads of a row share out its columns. */
__device__ __forceinline__ void multiply_dense(const bsi_operation &p) {
  __shared__ double sums[WARPS][DENSE_ROWS];
  const int n = static_cast<int>(p.n), r = threadIdx.x % DENSE_ROWS;
  constexpr int STEP = THREADS / DENSE_ROWS, COLUMNS = 8;
  for (int row0 = static_cast<int>(blockIdx.x) * DENSE_ROWS; row0 < n;
       row0 += static_cast<int>(gridDim.x) * DENSE_ROWS) {
    double sum = 0.0;
    if (row0 + r < n) {
      const double *values = p.inverse.wide + row0 + r;
      for (int c = threadIdx.x / DENSE_ROWS; c < n; c += COLUMNS * STEP) {
        double a[COLUMNS] = {}, factor[COLUMNS] = {};
#pragma unroll
        for (int u = 0; u < COLUMNS; u++)
          if (c + u * STEP < n) {
            a[u] = __ldg(values + static_cast<int64_t>(c + u * STEP) * n);
            factor[u] = __ldcg(doubles(p.x) + c + u * STEP);
          }
#pragma unroll
        for (int u = 0; u < COLUMNS; u++) sum += a[u] * factor[u];
      }
    }
#pragma unroll
    for (int lanes = BSI_WARP / 2; lanes >= DENSE_ROWS; lanes /= 2)
      sum += __shfl_down_sync(BSI_FULL_WARP, sum, lanes);
    if (threadIdx.x % BSI_WARP < DENSE_ROWS) sums[threadIdx.x / BSI_WARP][r] = sum;
    __syncthreads();
    if (threadIdx.x < DENSE_ROWS && row0 + r < n) {
      double total = 0.0;
      for (int w = 0; w < WARPS; w++) total += sums[w][r];
      doubles(p.y)[row0 + r] = total;
    }
    __syncthreads();
  }
}

/* The sums of a K-cycle step. Each thread block leaves a partial sum of each, waits, and adds up
 * those of all blocks in the same order. */
struct k_sums {
  double of_warp[BSI_K_SUMS][WARPS], total[BSI_K_SUMS], scalars[BSI_K_SCALARS];

  /* total ← the sums of `mine` over all threads. All threads call, and may read `total` then. */
  template <int COUNT>
  __device__ __forceinline__ void add(const double (&mine)[COUNT], double *work, unsigned *ticket,
                                      bool odd) {
    const int lane = threadIdx.x % BSI_WARP, warp = threadIdx.x / BSI_WARP;
    double *partials = work + BSI_K_SCALARS;
#pragma unroll
    for (int s = 0; s < COUNT; s++) {
      const double sum = bsi_warp_sum(mine[s]);
      if (lane == 0) of_warp[s][warp] = sum;
    }
    __syncthreads();
    if (threadIdx.x < COUNT) {
      double sum = 0.0;
      for (int w = 0; w < WARPS; w++) sum += of_warp[threadIdx.x][w];
      partials[threadIdx.x * BSI_CHUNKS + blockIdx.x] = sum;
    }
    bsi_wait_for_all(ticket, odd, [] {});
    if (warp < COUNT) {
      double sum = 0.0;
      for (int b = lane; b < static_cast<int>(gridDim.x); b += BSI_WARP)
        sum += __ldcg(partials + warp * BSI_CHUNKS + b);
      sum = bsi_warp_sum(sum);
      if (lane == 0) total[warp] = sum;
    }
    __syncthreads();
  }
};

__device__ __forceinline__ void first_step(const bsi_operation &p, k_sums &k, unsigned *ticket,
                                           bool odd) {
  double sums[2] = {};
  for_values(p.n, [&](int64_t i) {
    const double v = __ldcg(p.v + i);
    sums[0] += v * __ldcg(doubles(p.y) + i);
    sums[1] += v * v;
  });
  k.add(sums, p.work, ticket, odd);
  if (threadIdx.x == 0) {
    bsi_k_first(k.total, k.scalars);
    if (blockIdx.x == 0) {
      p.work[BSI_K_STEP] = k.scalars[BSI_K_STEP];
      p.work[BSI_K_SQUARE] = k.scalars[BSI_K_SQUARE];
    }
  }
  __syncthreads();
  const double step = k.scalars[BSI_K_STEP];
  if (step != 0.0)
    for_values(p.n, [&](int64_t i) {
      doubles(p.y)[i] = __ldcg(doubles(p.y) + i) - step * __ldcg(p.v + i);
    });
}

__device__ __forceinline__ void second_step(const bsi_operation &p, k_sums &k, unsigned *ticket,
                                            bool odd) {
  double sums[3] = {};
  for_values(p.n, [&](int64_t i) {
    const double v2 = __ldcg(p.v2 + i);
    sums[0] += v2 * __ldcg(p.v + i);
    sums[1] += v2 * v2;
    sums[2] += v2 * __ldcg(doubles(p.b) + i);
  });
  k.add(sums, p.work, ticket, odd);
  if (threadIdx.x == 0) {
    k.scalars[BSI_K_STEP] = __ldcg(p.work + BSI_K_STEP);
    k.scalars[BSI_K_SQUARE] = __ldcg(p.work + BSI_K_SQUARE);
    bsi_k_second(k.total, k.scalars);
  }
  __syncthreads();
  const double a = k.scalars[BSI_K_OLD], b = k.scalars[BSI_K_NEW];
  for_values(p.n, [&](int64_t i) {
    doubles(p.y)[i] = bsi_k_combine(a, __ldcg(doubles(p.y) + i), b, __ldcg(doubles(p.x) + i));
  });
}

/* Returns true if the step has waited for all thread blocks once. */
__device__ __forceinline__ bool run_step(const bsi_operation &p, const lanes &at, matrix_row &row,
                                         shared_sums &sums, k_sums &k, unsigned *ticket, bool odd) {
  switch (p.kind) {
  case BSI_OPERATION_SET: for_values(p.n, [&](int64_t i) { doubles(p.y)[i] = 0.0; }); return false;
  case BSI_OPERATION_RELAX: relax(p, at, row, sums); return false;
  case BSI_OPERATION_MULTIPLY: multiply(p, at, row, sums); return false;
  case BSI_OPERATION_DENSE: multiply_dense(p); return false;
  case BSI_OPERATION_FIRST: first_step(p, k, ticket, odd); return true;
  case BSI_OPERATION_SECOND: second_step(p, k, ticket, odd); return true;
  }
  return false;
}

/* The words of a step. */
constexpr size_t STEP_WORDS = sizeof(bsi_operation) / sizeof(unsigned long long);
static_assert(sizeof(bsi_operation) % sizeof(unsigned long long) == 0 &&
                  STEP_WORDS <= static_cast<size_t>(THREADS),
              "a thread copies a word of a step");

__global__ void __launch_bounds__(THREADS, 1)
    run_steps(int32_t count, const bsi_operation *steps, unsigned *ticket) {
  alignas(bsi_operation) __shared__ unsigned long long step[2][STEP_WORDS];
  __shared__ shared_sums sums;
  __shared__ k_sums k;
  /* the last warps copy steps, because the first one polls the ticket */
  const int copied = static_cast<int>(threadIdx.x) - (THREADS - static_cast<int>(STEP_WORDS));
  const auto word_of = [&](int32_t s) {
    return copied >= 0 && s < count
               ? __ldg(reinterpret_cast<const unsigned long long *>(steps + s) + copied)
               : 0;
  };
  bool odd = false;
  if (copied >= 0) step[0][copied] = word_of(0);
  __syncthreads();
  for (int32_t s = 0; s < count; s++) {
    const bsi_operation &now = reinterpret_cast<const bsi_operation &>(step[s % 2]);
    const unsigned long long next = word_of(s + 1);
    const lanes at(now);
    matrix_row row;
    row.load(now, at, at.i);
    /* no thread reads the step before any more */
    if (copied >= 0) step[(s + 1) % 2][copied] = next;
    if (s > 0) {
      bsi_await(ticket, odd);
      odd = !odd;
    }
    if (run_step(now, at, row, sums, k, ticket, odd)) odd = !odd;
    if (s + 1 < count) bsi_arrive(ticket);
  }
  if (odd) bsi_arrive(ticket); /* an even number of waits leaves the ticket as it was */
}

} // namespace

/* Small levels need few thread blocks, which wait for each other for a shorter time. Few long rows
 * need as many as a small level with so many values. */
static bisai_status run(bisai_context *context, int64_t rows, int64_t values, int32_t count,
                        const bsi_operation *steps) {
  const int64_t wanted =
                    std::max((rows + ROWS_OF_BLOCK - 1) / ROWS_OF_BLOCK, values / VALUES_OF_BLOCK),
                most = std::min(context->limits.processors, static_cast<int>(BSI_CHUNKS)),
                blocks = std::max<int64_t>(1, std::min(wanted, most));
  BSI_TRY(bsi_launch_together(context, what, run_steps, dim3(static_cast<unsigned>(blocks)),
                              dim3(THREADS), 0, count, steps, context->tickets));
  return bsi_launched(context, what);
}

const bsi_coarse_graph_ops bsi_coarse_graph_cuda = {.most_rows = GRAPH_ROWS, .run = run};
