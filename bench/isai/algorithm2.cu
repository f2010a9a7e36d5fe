/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the library's kernel for the values of NL and NU with Algorithm 2 of Ma et al. (2021),
 * which is built here as the paper describes it: a warp takes a block column and eliminates to the
 * right, ⌊32/bs²⌋ blocks at a time, with right-hand sides in global memory and cofactors for the
 * diagonal blocks. Its slips are corrected, and NU is solved likewise from the last row up
 * (docs/decisions/block-isai.md). Blocks of 3, 4 and 5. Results are compared too. */
#include "block-jacobi/batches.cuh"

#include <cmath>
#include <cstring>

extern "C" {
#include "cases.h"
#include "factor/factor_impl.h"
#include "solve/isai.h"
}

namespace {

constexpr int WARP = 32, WARPS = 4;

/* A triangular matrix with all of its diagonal blocks, and the column form of the inverse. */
struct systems {
  const int32_t *row_ptr, *col_idx;
  const double *values;
  const int32_t *col_ptr, *row_idx;
  int32_t columns;
};

/* Returns the determinant of the N × N matrix whose entry (i, j) is at(i, j). */
template <int N> struct determinant {
  template <class At> static __device__ double of(const At &at) {
    double sum = 0.0;
#pragma unroll
    for (int k = 0; k < N; k++) {
      const double minor =
          determinant<N - 1>::of([&](int i, int j) { return at(i + 1, j < k ? j : j + 1); });
      sum += (k % 2 == 0 ? 1.0 : -1.0) * at(0, k) * minor;
    }
    return sum;
  }
};
template <> struct determinant<1> {
  template <class At> static __device__ double of(const At &at) { return at(0, 0); }
};

/* Equation (10): the adjoint's element (r, c). Cyclic minors of odd order have a sign. */
template <int BS> __device__ double adjoint(const double *block, int r, int c) {
  const double minor = determinant<BS - 1>::of(
      [&](int i, int j) { return block[(c + 1 + i) % BS + (r + 1 + j) % BS * BS]; });
  return BS % 2 == 0 && (r + c) % 2 == 1 ? -minor : minor;
}

/* The shared memory of a warp. */
template <int SQUARE> struct warp_memory {
  double loaded[WARP], inverted[SQUARE], solution[SQUARE];
};

/* Lines 17 to 24: a block of the solution from its right-hand side, by the inverse of the diagonal
 * block. The first bs² lanes have an element each. */
template <int BS, class memory>
__device__ void solve_block(const double *diagonal, const double *right, unsigned lanes, int lane,
                            memory *m, double *inverse) {
  const int r = lane % BS, c = lane / BS % BS;
  const bool first = lane < BS * BS;
  if (first) {
    m->solution[lane] = diagonal[lane];
    m->loaded[lane] = right[lane];
  }
  __syncwarp(lanes);
  if (first) m->inverted[lane] = adjoint<BS>(m->solution, r, c);
  __syncwarp(lanes);
  double det = 0.0, value = 0.0;
  for (int t = 0; t < BS; t++) det += m->solution[t * BS] * m->inverted[t];
  for (int t = 0; t < BS; t++) value += m->inverted[r + t * BS] * m->loaded[c * BS + t];
  __syncwarp(lanes);
  if (first) m->solution[lane] = inverse[lane] = value / det;
  __syncwarp(lanes);
}

/* Lines 31 to 37: returns the block (row, column) of the factor, or -1. */
template <bool LOWER> __device__ int find_block(const systems &s, int row, int column) {
  const int step = LOWER ? -1 : 1;
  int q = LOWER ? s.row_ptr[row + 1] - 1 : s.row_ptr[row];
  const int end = LOWER ? s.row_ptr[row] - 1 : s.row_ptr[row + 1];
  while (q != end && s.col_idx[q] != column) q += step;
  return q != end ? q : -1;
}

/* Algorithm 2. `right` has the identity in the diagonal blocks and zero elsewhere. */
template <int BS, bool LOWER>
__global__ void solve_columns(const systems s, double *right, double *inverse) {
  constexpr int SQUARE = BS * BS, AT_A_TIME = WARP / SQUARE;
  constexpr unsigned LANES = AT_A_TIME * SQUARE == WARP ? ~0u : (1u << AT_A_TIME * SQUARE) - 1;
  __shared__ warp_memory<SQUARE> memory[WARPS];
  const int column = static_cast<int>((threadIdx.x + blockIdx.x * blockDim.x) / WARP);
  const int lane = static_cast<int>(threadIdx.x % WARP);
  if (column >= s.columns || lane >= AT_A_TIME * SQUARE) return;
  warp_memory<SQUARE> *const m = memory + threadIdx.x / WARP;
  const int place = lane % SQUARE, r = place % BS, c = place / BS;
  const int begin = s.col_ptr[column], end = s.col_ptr[column + 1], step = LOWER ? 1 : -1;
  for (int k = 0; k < end - begin; k++) {
    const int entry = LOWER ? begin + k : end - 1 - k, row = s.row_idx[entry];
    const size_t diagonal = LOWER ? s.row_ptr[row + 1] - 1 : s.row_ptr[row];
    const size_t at_entry = static_cast<size_t>(entry) * SQUARE;
    solve_block<BS>(s.values + diagonal * SQUARE, right + at_entry, LANES, lane, m,
                    inverse + at_entry);
    for (int next = k + 1; next < end - begin; next += AT_A_TIME) {
      const int mine = next + lane / SQUARE;
      const bool there = mine < end - begin;
      const int at = there ? entry + step * (mine - k) : entry;
      const int q = there ? find_block<LOWER>(s, s.row_idx[at], row) : -1;
      m->loaded[lane] = q >= 0 ? s.values[static_cast<size_t>(q) * SQUARE + place] : 0.0;
      __syncwarp(LANES);
      double sum = 0.0;
      for (int t = 0; t < BS; t++)
        sum += m->loaded[lane - place + t * BS + r] * m->solution[t + c * BS];
      if (there) right[static_cast<size_t>(at) * SQUARE + place] -= sum;
      __syncwarp(LANES);
    }
  }
}

/* Makes the right-hand sides: the identity in the diagonal block of each column. */
__global__ void set_identities(const systems s, int bs, bool lower, double *right) {
  const int column = static_cast<int>(threadIdx.x + blockIdx.x * blockDim.x);
  if (column >= s.columns) return;
  const size_t entry = lower ? s.col_ptr[column] : s.col_ptr[column + 1] - 1;
  for (int i = 0; i < bs; i++) right[entry * bs * bs + i * (bs + 1)] = 1.0;
}

template <bool LOWER>
void launch(const bench &b, int bs, const systems &s, double *right, double *inverse) {
  const unsigned blocks = static_cast<unsigned>((s.columns + WARPS - 1) / WARPS);
  const unsigned threads = WARPS * WARP;
  if (bs == 3) solve_columns<3, LOWER><<<blocks, threads, 0, b.stream>>>(s, right, inverse);
  if (bs == 4) solve_columns<4, LOWER><<<blocks, threads, 0, b.stream>>>(s, right, inverse);
  if (bs == 5) solve_columns<5, LOWER><<<blocks, threads, 0, b.stream>>>(s, right, inverse);
  NEED(cudaGetLastError());
}

/* A factor as the paper stores it: the identity of L is stored, and rows end (U: begin) with their
 * diagonal blocks. */
struct stored_factor {
  std::vector<int32_t> row_ptr, col_idx;
  std::vector<double> values;
  stored_factor(const bisai_bcsr *t, bisai_triangle triangle) {
    const int32_t n = bisai_bcsr_block_rows(t), bs = bisai_bcsr_block_size(t);
    const size_t square = static_cast<size_t>(bs) * bs;
    std::vector<int32_t> ptr(static_cast<size_t>(n) + 1), col(bisai_bcsr_blocks(t));
    std::vector<double> from(col.size() * square);
    NEED(bisai_bcsr_fetch(t, ptr.data(), col.data(), from.data()));
    row_ptr.push_back(0);
    for (int32_t i = 0; i < n; i++) {
      const int32_t end = ptr[i + 1];
      for (int32_t q = ptr[i]; q < end; q++) {
        col_idx.push_back(col[q]);
        values.insert(values.end(), from.begin() + q * square, from.begin() + (q + 1) * square);
      }
      if (triangle == BISAI_LOWER && (end == ptr[i] || col[end - 1] != i)) {
        col_idx.push_back(i);
        for (size_t v = 0; v < square; v++) values.push_back(v % (bs + 1) == 0 ? 1.0 : 0.0);
      }
      row_ptr.push_back(static_cast<int32_t>(col_idx.size()));
    }
  }
};

/* Returns the largest difference of blocks, over the largest value. */
double difference(const bisai_pattern *p, const bisai_bcsr *ours, const double *theirs, int bs) {
  const size_t square = static_cast<size_t>(bs) * bs, count = static_cast<size_t>(p->blocks);
  std::vector<int32_t> position(count), ptr(static_cast<size_t>(p->block_rows) + 1), col(count);
  std::vector<double> mine(count * square), other(count * square);
  NEED(cudaMemcpy(position.data(), p->position, count * sizeof(int32_t), cudaMemcpyDeviceToHost));
  NEED(cudaMemcpy(other.data(), theirs, other.size() * sizeof(double), cudaMemcpyDeviceToHost));
  NEED(bisai_bcsr_fetch(ours, ptr.data(), col.data(), mine.data()));
  double most = 0.0, size = 0.0;
  for (size_t e = 0; e < count; e++)
    for (size_t v = 0; v < square; v++) {
      const double value = mine[static_cast<size_t>(position[e]) * square + v];
      most = std::max(most, std::fabs(value - other[e * square + v]));
      size = std::max(size, std::fabs(value));
    }
  return most / size;
}

/* The seconds of NL or NU. */
struct times {
  double ours, theirs, right;
};

times compare_factor(bench &b, const bsi_triangular *t, const bisai_bcsr *matrix, int power) {
  const bisai_triangle triangle = t->triangle;
  const int bs = bisai_bcsr_block_size(matrix);
  bisai_pattern *pattern = nullptr;
  NEED(bisai_pattern_power(b.context, matrix, triangle, power, &pattern));
  const stored_factor stored(matrix, triangle);
  const on_device<int32_t> row_ptr(stored.row_ptr), col_idx(stored.col_idx);
  const on_device<double> values(stored.values);
  const size_t count = static_cast<size_t>(pattern->blocks) * bs * bs;
  on_device<double> right(count), inverse(count);
  const systems s = {row_ptr.data,     col_idx.data,     values.data,
                     pattern->col_ptr, pattern->row_idx, pattern->block_rows};
  const bool lower = triangle == BISAI_LOWER;
  const auto prepare = [&] {
    NEED(cudaMemsetAsync(right.data, 0, count * sizeof(double), b.stream));
    set_identities<<<static_cast<unsigned>((s.columns + 255) / 256), 256, 0, b.stream>>>(
        s, bs, lower, right.data);
  };
  const auto solve = [&] {
    if (lower)
      launch<true>(b, bs, s, right.data, inverse.data);
    else
      launch<false>(b, bs, s, right.data, inverse.data);
  };
  times found;
  found.right = seconds_of(b, prepare);
  found.theirs = seconds_of(b, solve, prepare);
  bsi_isai ours;
  NEED(bsi_isai_create(b.context, t, BSI_SYSTEMS_TRIANGULAR, pattern, BISAI_FP64, &ours));
  found.ours = seconds_of(b, [&] { NEED(bsi_isai_update(b.context, t, &ours)); });
  const double apart = difference(ours.pattern, ours.inverse, inverse.data, bs);
  if (!(apart < 1e-10)) {
    std::fprintf(stderr, "the two kernels differ by %g\n", apart);
    std::exit(1);
  }
  bsi_isai_destroy(b.context, &ours);
  return found;
}

void compare_kernels(bench &b, const char *name, bisai_bcsr *matrix) {
  const bisai_factor_options how = bisai_factor_options_default();
  bisai_factors *factors = nullptr;
  NEED(bisai_factors_create(b.context, matrix, &how, &factors));
  for (int power = 1; power <= 3; power++) {
    const times l = compare_factor(b, &factors->lower_solve, bisai_factors_lower(factors), power);
    const times u = compare_factor(b, &factors->upper_solve, bisai_factors_upper(factors), power);
    report(b, "algorithm2", name,
           {{"size", 1.0 * bisai_bcsr_block_size(matrix)},
            {"rows", 1.0 * bisai_bcsr_block_rows(matrix)},
            {"power", 1.0 * power},
            {"seconds", l.ours + u.ours},
            {"theirs", l.theirs + u.theirs},
            {"right", l.right + u.right}});
  }
  bisai_factors_destroy(&factors);
  bisai_bcsr_destroy(&matrix);
}

const char usage[] = "usage: bench_algorithm2 [--scale N] [--rounds N] [--json FILE]\n"
                     "  --scale N  divides the sides of the grids, default 1\n";

} // namespace

int main(int argc, char **argv) {
  int scale = 1;
  bench b = {};
  b.rounds = 9;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--scale") == 0)
      scale = std::max(1, std::atoi(argv[i + 1]));
    else if (std::strcmp(argv[i], "--rounds") == 0)
      b.rounds = std::atoi(argv[i + 1]);
    else if (std::strcmp(argv[i], "--json") == 0 && (b.json = std::fopen(argv[i + 1], "w")))
      std::fputs("{\"results\": [", b.json);
    else
      return std::fputs(usage, stderr), 2;
  }
  bisai_context_options options = bisai_context_options_default();
  options.backend = BISAI_BACKEND_CUDA;
  NEED(bisai_context_create(&options, &b.context));
  b.stream = static_cast<cudaStream_t>(b.context->stream);
  bisai_bcsr *matrix = nullptr;
  double *rhs = nullptr;
  const auto made = [&](bisai_status status, const char *name) {
    NEED(status);
    std::free(rhs);
    compare_kernels(b, name, matrix);
  };
  made(case_cavity(b.context, 300 / scale, 0, &matrix, &rhs), "cavity");
  made(case_atmosphere(b.context, 148 / scale, 148 / scale, 58 / scale, 0, &matrix, &rhs),
       "atmosphere");
  case_shell_options shell = case_shell_options_default();
  shell.nodes[0] = shell.nodes[1] = 317 / scale, shell.step = 2.1e-5;
  made(case_shell(b.context, &shell, 0, &matrix, &rhs), "shell");
  case_euler_options euler = case_euler_options_default();
  euler.nodes = 102 / scale;
  made(case_euler(b.context, &euler, 0, &matrix, &rhs), "euler");
  if (b.json) {
    std::fputs("]}\n", b.json);
    std::fclose(b.json);
  }
  bisai_context_destroy(&b.context);
}
