/* SPDX-License-Identifier: BSD-3-Clause */
/* Orthonormal near-null-space vectors of aggregates on a device. A warp takes an aggregate, and
 * each lane keeps to its own scalar rows. Its values are in registers if they are few and the
 * compiler knows the number of vectors. Otherwise they lie where the blocks of T are. Both ways
 * have the same bits. */
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

/* A power of two in two factors, because it may be smaller than the least number. */
struct power_of_two {
  double first, second;
  __device__ __forceinline__ explicit power_of_two(int exponent)
      : first(scalbn(1.0, exponent / 2)), second(scalbn(1.0, exponent - exponent / 2)) {}
};

__device__ __forceinline__ double operator*(double value, const power_of_two &power) {
  return value * power.first * power.second;
}

/* The columns of an aggregate in T. */
struct columns_in_memory {
  /* not known to the compiler */
  static constexpr int WIDTH = 0;
  aggregate_rows g;

  __device__ __forceinline__ double dot(int a, int b) const {
    const int h = g.s->height;
    double sum = 0.0;
    for_each_row(g, [&](int64_t, const double *t) { sum += t[a * h] * t[b * h]; });
    return bsi_warp_sum(sum);
  }
  /* Returns the largest magnitude of vector c. */
  __device__ __forceinline__ double largest(int c) const {
    const spaces &s = *g.s;
    double most = 0.0;
    for_each_row(g, [&](int64_t fine, const double *) {
      most = fmax(most, fabs(__ldg(s.vectors + fine * s.width + c)));
    });
    return bsi_warp_max_magnitude(most);
  }
  /* Column c ← vector c times a power */
  __device__ __forceinline__ void take(int c, const power_of_two &power) {
    const spaces &s = *g.s;
    for_each_row(g, [&](int64_t fine, double *t) {
      t[c * s.height] = __ldg(s.vectors + fine * s.width + c) * power;
    });
  }
  /* Column b ← column b − factor·column a */
  __device__ __forceinline__ void subtract(int a, double factor, int b) {
    const int h = g.s->height;
    for_each_row(g, [&](int64_t, double *t) { t[b * h] -= factor * t[a * h]; });
  }
  /* Column c ← scale·column c, which is zero for a scale of zero. */
  __device__ __forceinline__ void scale(int c, double scale) {
    const int h = g.s->height;
    for_each_row(g, [&](int64_t, double *t) { t[c * h] = scale == 0.0 ? 0.0 : scale * t[c * h]; });
  }
  __device__ __forceinline__ void store() {}
};

/* The same columns in registers.
 *   COLUMNS: their number
 *   ROWS: the most rows of a lane */
template <int COLUMNS, int ROWS> struct columns_in_registers {
  static constexpr int WIDTH = COLUMNS;
  aggregate_rows g;
  double value[ROWS][COLUMNS];

  __device__ __forceinline__ explicit columns_in_registers(const aggregate_rows &rows) : g(rows) {
    const spaces &s = *g.s;
    for_own([&](int u, int64_t i, int r, bool own) {
#pragma unroll
      for (int c = 0; c < COLUMNS; c++)
        value[u][c] = own ? __ldg(s.vectors + (i * s.height + r) * COLUMNS + c) : 0.0;
    });
  }
  /* Calls f(u, i, r, own) for each row u of the lane: scalar row r of block row i, or none. */
  template <typename F> __device__ __forceinline__ void for_own(F f) const {
    const int count = static_cast<int>(g.count), height = g.s->height;
#pragma unroll
    for (int u = 0; u < ROWS; u++) {
      const int k = g.lane + u * BSI_WARP, node = k / height;
      const bool own = k < count;
      f(u, static_cast<int64_t>(own ? __ldg(g.members + node) : 0), k - node * height, own);
    }
  }
  __device__ __forceinline__ double dot(int a, int b) const {
    double sum = 0.0;
#pragma unroll
    for (int u = 0; u < ROWS; u++) sum += value[u][a] * value[u][b];
    return bsi_warp_sum(sum);
  }
  __device__ __forceinline__ double largest(int c) const {
    double most = 0.0;
#pragma unroll
    for (int u = 0; u < ROWS; u++) most = fmax(most, fabs(value[u][c]));
    return bsi_warp_max_magnitude(most);
  }
  __device__ __forceinline__ void take(int c, const power_of_two &power) {
#pragma unroll
    for (int u = 0; u < ROWS; u++) value[u][c] = value[u][c] * power;
  }
  __device__ __forceinline__ void subtract(int a, double factor, int b) {
#pragma unroll
    for (int u = 0; u < ROWS; u++) value[u][b] -= factor * value[u][a];
  }
  __device__ __forceinline__ void scale(int c, double scale) {
#pragma unroll
    for (int u = 0; u < ROWS; u++) value[u][c] = scale == 0.0 ? 0.0 : scale * value[u][c];
  }
  __device__ __forceinline__ void store() {
    const spaces &s = *g.s;
    for_own([&](int u, int64_t i, int r, bool own) {
      if (!own) return;
      double *t = s.values + static_cast<int64_t>(__ldg(s.t_ptr + i)) * s.height * COLUMNS + r;
#pragma unroll
      for (int c = 0; c < COLUMNS; c++) t[c * s.height] = value[u][c];
    });
  }
};

/* Lane k has the factor of column k, for at most 32 columns. */
static_assert(static_cast<int>(BISAI_MAX_BLOCK_SIZE) <= static_cast<int>(BSI_WARP),
              "a lane for each factor");

/* Makes the columns orthonormal, and writes the triangular factor. Each vector is divided by a
 * power of two first, which brings its largest magnitude between 1 and 2, so that squares neither
 * overflow nor vanish. */
template <typename Columns>
__device__ __forceinline__ void orthonormalise(Columns columns, double *factors) {
  constexpr int UNROLLED = Columns::WIDTH > 0 ? Columns::WIDTH : 1;
  const spaces &s = *columns.g.s;
  const int lane = columns.g.lane, w = Columns::WIDTH > 0 ? Columns::WIDTH : s.width;
  int64_t left = columns.g.count;
#pragma unroll UNROLLED
  for (int c = 0; c < w; c++) {
    const double largest = columns.largest(c);
    const int exponent = largest > 0.0 ? ilogb(largest) : 0;
    columns.take(c, power_of_two(-exponent));
    const double before = sqrt(columns.dot(c, c));
    double mine = 0.0;
#pragma unroll UNROLLED
    for (int pass = 0; pass < 2; pass++)
#pragma unroll UNROLLED
      for (int k = 0; k < c; k++) {
        const double factor = columns.dot(k, c);
        columns.subtract(k, factor, c);
        if (lane == k) mine += factor;
      }
    const double norm = sqrt(columns.dot(c, c));
    const bool independent = left > 0 && norm > s.tolerance * before;
    left -= independent;
    columns.scale(c, independent ? 1.0 / norm : 0.0);
    if (lane == c && independent) mine = norm;
    if (lane < w) factors[lane * w + c] = scalbn(mine, exponent);
  }
  columns.store();
}

/* COLUMNS, ROWS: those of columns_in_registers; 0: all columns are in memory */
template <int COLUMNS, int ROWS>
__global__ void __launch_bounds__(BLOCK_THREADS) orthonormalise_aggregates(const spaces s) {
  bsi_wait_for_predecessor();
  const int64_t j = (blockIdx.x * static_cast<int64_t>(BLOCK_THREADS) + threadIdx.x) / BSI_WARP;
  if (j >= s.aggregates) return;
  const int32_t begin = __ldg(s.member_ptr + j), end = __ldg(s.member_ptr + j + 1);
  const aggregate_rows g = {&s, s.members + begin, static_cast<int64_t>(end - begin) * s.height,
                            static_cast<int>(threadIdx.x) % BSI_WARP};
  double *factors = s.coarse + j * s.width * s.width;
  if constexpr (COLUMNS > 0) {
    if (g.count <= static_cast<int64_t>(ROWS) * BSI_WARP) {
      orthonormalise(columns_in_registers<COLUMNS, ROWS>(g), factors);
      return;
    }
  }
  orthonormalise(columns_in_memory{g}, factors);
}

/* Most aggregates have at most that many times the rows of the mean one. */
constexpr double LARGER = 1.5;

/* Returns the kernel for rigid-body modes in the plane and in space, and for others.
 *   rows: the rows of a lane in most aggregates */
template <int COLUMNS> void (*kernel_of(double rows))(spaces) {
  if (rows <= 2.0) return orthonormalise_aggregates<COLUMNS, 2>;
  return rows <= 4.0 ? orthonormalise_aggregates<COLUMNS, 4>
                     : orthonormalise_aggregates<COLUMNS, 8>;
}

} // namespace

bisai_status bsi_orthonormalise(bisai_context *context, const bsi_block_matrix *members,
                                const double *vectors, double tolerance, bsi_block_matrix *t,
                                double *coarse) {
  if (t->cols == 0) return BISAI_OK;
  const spaces s = {t->cols,    t->height, t->width,  members->row_ptr, members->col_idx,
                    t->row_ptr, vectors,   tolerance, t->values,        coarse};
  const double rows = LARGER * t->rows * t->height / (static_cast<double>(t->cols) * BSI_WARP);
  void (*const kernel)(spaces) = t->width == 3   ? kernel_of<3>(rows)
                                 : t->width == 6 ? kernel_of<6>(rows)
                                                 : orthonormalise_aggregates<0, 0>;
  bsi_launch_early(context, kernel,
                   bsi_grid(static_cast<int64_t>(t->cols) * BSI_WARP, BLOCK_THREADS), BLOCK_THREADS,
                   0, s);
  return bsi_launched(context, what);
}
