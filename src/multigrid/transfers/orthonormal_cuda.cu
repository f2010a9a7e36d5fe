/* SPDX-License-Identifier: BSD-3-Clause */
/* Orthonormal near-null-space vectors of aggregates on a device. A warp takes an aggregate. The
 * vectors lie where the blocks of T are, and each lane keeps to its own scalar rows. */
#include "multigrid/spgemm/rows_cuda.cuh"

namespace {

/* Messages of failures begin with it. */
constexpr char what[] = "near-null-space vectors";

struct spaces {
  int32_t aggregates;
  int height, width;
  const int32_t *member_ptr, *members, *t_ptr;
  const double *vectors;
  double tolerance;
  double *values, *coarse;
};

/* The scalar rows of an aggregate, and the first one of this lane. */
struct aggregate_rows {
  const spaces *s;
  const int32_t *members;
  int64_t count;
  int lane;
};

/* Calls f(fine, t) for each scalar row of the lane: `fine` is the row among those of the level, and
 * t points to its value in the first column of T. */
template <typename F> __device__ __forceinline__ void for_each_row(const aggregate_rows &g, F f) {
  const spaces &s = *g.s;
  for (int64_t k = g.lane; k < g.count; k += BSI_WARP) {
    const int64_t node = k / s.height;
    const int r = static_cast<int>(k - node * s.height);
    const int32_t i = __ldg(g.members + node);
    f(static_cast<int64_t>(i) * s.height + r,
      s.values + static_cast<int64_t>(__ldg(s.t_ptr + i)) * s.height * s.width + r);
  }
}

__device__ __forceinline__ double dot(const aggregate_rows &g, int a, int b) {
  const int h = g.s->height;
  double sum = 0.0;
  for_each_row(g, [&](int64_t, const double *t) { sum += t[a * h] * t[b * h]; });
  return bsi_warp_sum(sum);
}

/* Copies vector c into column c of T, divided by a power of two that brings the largest magnitude
 * between 1 and 2, so that squares neither overflow nor vanish. Returns the exponent. */
__device__ __forceinline__ int load_column(const aggregate_rows &g, int c) {
  const spaces &s = *g.s;
  double largest = 0.0;
  for_each_row(g, [&](int64_t fine, const double *) {
    largest = fmax(largest, fabs(__ldg(s.vectors + fine * s.width + c)));
  });
  largest = bsi_warp_max_magnitude(largest);
  const int exponent = largest > 0.0 ? ilogb(largest) : 0;
  for_each_row(g, [&](int64_t fine, double *t) {
    t[c * s.height] = scalbn(__ldg(s.vectors + fine * s.width + c), -exponent);
  });
  return exponent;
}

/* Column b ← column b − factor·column a */
__device__ __forceinline__ void subtract(const aggregate_rows &g, int a, double factor, int b) {
  const int h = g.s->height;
  for_each_row(g, [&](int64_t, double *t) { t[b * h] -= factor * t[a * h]; });
}

/* Lane k has the factor of column k, for at most 32 columns. */
static_assert(static_cast<int>(BISAI_MAX_BLOCK_SIZE) <= static_cast<int>(BSI_WARP),
              "a lane for each factor");

__global__ void __launch_bounds__(BLOCK_THREADS) orthonormalise_aggregates(const spaces s) {
  bsi_wait_for_predecessor();
  const int64_t j = (blockIdx.x * static_cast<int64_t>(BLOCK_THREADS) + threadIdx.x) / BSI_WARP;
  if (j >= s.aggregates) return;
  const int lane = threadIdx.x % BSI_WARP, w = s.width;
  const int32_t begin = __ldg(s.member_ptr + j), end = __ldg(s.member_ptr + j + 1);
  const aggregate_rows g = {&s, s.members + begin, static_cast<int64_t>(end - begin) * s.height,
                            lane};
  double *factors = s.coarse + j * w * w;
  int64_t left = g.count;
  for (int c = 0; c < w; c++) {
    const int exponent = load_column(g, c);
    const double before = sqrt(dot(g, c, c));
    double mine = 0.0;
    for (int pass = 0; pass < 2; pass++)
      for (int k = 0; k < c; k++) {
        const double factor = dot(g, k, c);
        subtract(g, k, factor, c);
        if (lane == k) mine += factor;
      }
    const double norm = sqrt(dot(g, c, c));
    const bool independent = left > 0 && norm > s.tolerance * before;
    const double scale = independent ? 1.0 / norm : 0.0;
    left -= independent;
    for_each_row(g, [&](int64_t, double *t) {
      t[c * s.height] = independent ? scale * t[c * s.height] : 0.0;
    });
    if (lane == c && independent) mine = norm;
    if (lane < w) factors[lane * w + c] = scalbn(mine, exponent);
  }
}

} // namespace

bisai_status bsi_orthonormalise(bisai_context *context, const bsi_block_matrix *members,
                                const double *vectors, double tolerance, bsi_block_matrix *t,
                                double *coarse) {
  if (t->cols == 0) return BISAI_OK;
  const spaces s = {t->cols,    t->height, t->width,  members->row_ptr, members->col_idx,
                    t->row_ptr, vectors,   tolerance, t->values,        coarse};
  bsi_launch_early(context, orthonormalise_aggregates,
                   bsi_grid(static_cast<int64_t>(t->cols) * BSI_WARP, BLOCK_THREADS), BLOCK_THREADS,
                   0, s);
  return bsi_launched(context, what);
}
