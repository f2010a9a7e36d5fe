/* SPDX-License-Identifier: BSD-3-Clause */
#include "mesh.h"

#include <math.h>
#include <string.h>

static void *room(size_t count, size_t size) {
  void *memory = calloc(count + 1, size);
  assert_non_null(memory);
  return memory;
}

static test_bcsr reserve(int32_t rows, int32_t bs, int32_t most_blocks) {
  return (test_bcsr){rows,
                     rows,
                     bs,
                     room((size_t)rows + 1, sizeof(int32_t)),
                     room((size_t)most_blocks, sizeof(int32_t)),
                     room((size_t)most_blocks * (size_t)(bs * bs), sizeof(double))};
}

/* Appends a block of zeros to the last row that has been begun, and returns it. */
static double *append(test_bcsr *a, int32_t row, int32_t column) {
  const int32_t p = a->row_ptr[row + 1]++;
  a->col_idx[p] = column;
  return a->values + (size_t)p * (size_t)(a->block_size * a->block_size);
}

static void begin_row(test_bcsr *a, int32_t row) { a->row_ptr[row + 1] = a->row_ptr[row]; }

/* block ← block + factor·K, where K is symmetric, full and definite: its diagonal dominates. */
static void add_multiple(int32_t bs, double factor, double *block) {
  for (int32_t c = 0; c < bs; c++)
    for (int32_t r = 0; r < bs; r++)
      block[c * bs + r] += factor * (r == c ? 1.0 + 0.1 * r : 0.4 / (bs * (1.0 + abs(r - c))));
}

static void set_identity(int32_t bs, double *block) {
  for (int32_t k = 0; k < bs * bs; k++) block[k] = k % (bs + 1) == 0 ? 1.0 : 0.0;
}

test_bcsr test_mesh_diffusion(int32_t nx, int32_t ny, int32_t bs, test_boundary boundary,
                              double wind) {
  static const int steps[][2] = {{-1, 0}, {0, -1}, {0, 0}, {0, 1}, {1, 0}};
  test_bcsr a = reserve(nx * ny, bs, 5 * nx * ny);
  for (int32_t i = 0; i < nx * ny; i++) {
    const int32_t x = i / ny, y = i % ny;
    double *diagonal = NULL, sum = boundary == TEST_ZERO_OUTSIDE ? 4.0 : 0.0;
    begin_row(&a, i);
    for (int s = 0; s < 5; s++) {
      const int32_t u = x + steps[s][0], v = y + steps[s][1];
      if (u < 0 || u >= nx || v < 0 || v >= ny) continue;
      double *block = append(&a, i, u * ny + v);
      if (s == 2) {
        diagonal = block;
        continue;
      }
      const double coupling = 1.0 - wind * (steps[s][0] + steps[s][1]);
      if (boundary != TEST_ZERO_OUTSIDE) sum += coupling;
      if (boundary != TEST_FIXED_FACE || (x > 0 && u > 0)) add_multiple(bs, -coupling, block);
    }
    if (boundary == TEST_FIXED_FACE && x == 0)
      set_identity(bs, diagonal);
    else
      add_multiple(bs, sum, diagonal);
  }
  return a;
}

test_bcsr test_mesh_lines(int32_t nx, int32_t ny, int32_t bs) {
  const int32_t lines = ny / bs;
  test_bcsr scalar = test_mesh_diffusion(nx, ny, 1, TEST_ZERO_OUTSIDE, 0.0),
            shape = test_mesh_diffusion(nx, lines, 1, TEST_FREE, 0.0),
            a = reserve(nx * lines, bs, 5 * nx * lines);
  memcpy(a.row_ptr, shape.row_ptr, ((size_t)a.block_rows + 1) * sizeof *a.row_ptr);
  memcpy(a.col_idx, shape.col_idx, (size_t)test_bcsr_blocks(&shape) * sizeof *a.col_idx);
  for (int32_t i = 0; i < scalar.block_rows; i++)
    for (int32_t p = scalar.row_ptr[i]; p < scalar.row_ptr[i + 1]; p++) {
      const int32_t j = scalar.col_idx[p];
      test_bcsr_block(&a, i / bs, j / bs)[(j % bs) * bs + i % bs] = scalar.values[p];
    }
  test_bcsr_free(&scalar);
  test_bcsr_free(&shape);
  return a;
}

/* block ← block − d dᵀ/dᵀd */
static void subtract_spring(const double *d, double sign, double *block) {
  const double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
  for (int c = 0; c < 3; c++)
    for (int r = 0; r < 3; r++) block[c * 3 + r] -= sign * d[r] * d[c] / square;
}

test_bcsr test_mesh_springs(int32_t nx, int32_t ny, int32_t nz, test_boundary boundary) {
  const int32_t nodes = nx * ny * nz;
  test_bcsr a = reserve(nodes, 3, 27 * nodes);
  for (int32_t i = 0; i < nodes; i++) {
    const int32_t x = i / (ny * nz), y = i / nz % ny, z = i % nz;
    double sum[9] = {0}, *diagonal = NULL;
    begin_row(&a, i);
    for (int32_t s = 0; s < 27; s++) {
      const int32_t u = x + s / 9 - 1, v = y + s / 3 % 3 - 1, w = z + s % 3 - 1;
      if (u < 0 || u >= nx || v < 0 || v >= ny || w < 0 || w >= nz) continue;
      double *block = append(&a, i, (u * ny + v) * nz + w);
      const double d[] = {u - x, v - y, w - z};
      if (s == 13) diagonal = block;
      if (s == 13) continue;
      subtract_spring(d, -1.0, sum);
      if (boundary != TEST_FIXED_FACE || (x > 0 && u > 0)) subtract_spring(d, 1.0, block);
    }
    if (boundary == TEST_FIXED_FACE && x == 0)
      set_identity(3, diagonal);
    else
      memcpy(diagonal, sum, sizeof sum);
  }
  return a;
}

/* Returns a number in [0, 1) for element (x, y). */
static double element_number(int32_t x, int32_t y, uint32_t seed) {
  uint32_t h = ((uint32_t)x * 0x9e3779b9u) ^ ((uint32_t)y * 0x85ebca6bu) ^ (seed * 0xc2b2ae35u);
  for (int round = 0; round < 3; round++) h = (h ^ (h >> 15)) * 0x2c1b3c6du;
  return (h >> 8) * 0x1p-24;
}

/* Returns the entry of the matrix of element (x, y) for two of its corners, of which (dx, dy) tells
 * in which directions they differ. */
static double element_entry(int32_t x, int32_t y, bool dx, bool dy, double jump) {
  const double k = pow(10.0, jump * (2.0 * element_number(x, y, 1) - 1.0));
  const double aspect = pow(4.0, 2.0 * element_number(x, y, 2) - 1.0);
  return k / 6.0 *
         (aspect * (dx ? -1.0 : 1.0) * (dy ? 1.0 : 2.0) +
          (dy ? -1.0 : 1.0) * (dx ? 1.0 : 2.0) / aspect);
}

/* Returns the sum of the entries of the elements that have the nodes (x, y) and (u, v). */
static double node_entry(int32_t nx, int32_t ny, int32_t x, int32_t y, int32_t u, int32_t v,
                         double jump) {
  double sum = 0.0;
  for (int32_t ex = x - 1; ex <= x; ex++)
    for (int32_t ey = y - 1; ey <= y; ey++)
      if (ex >= 0 && ey >= 0 && ex < nx - 1 && ey < ny - 1 && u - ex >= 0 && u - ex <= 1 &&
          v - ey >= 0 && v - ey <= 1)
        sum += element_entry(ex, ey, u != x, v != y, jump);
  return sum;
}

test_bcsr test_mesh_elements(int32_t nx, int32_t ny, int32_t bs, double jump, bool dirichlet) {
  test_bcsr a = reserve(nx * ny, bs, 9 * nx * ny);
  for (int32_t i = 0; i < nx * ny; i++) {
    const int32_t x = i / ny, y = i % ny;
    begin_row(&a, i);
    for (int32_t s = 0; s < 9; s++) {
      const int32_t u = x + s / 3 - 1, v = y + s % 3 - 1;
      if (u < 0 || u >= nx || v < 0 || v >= ny) continue;
      double entry = node_entry(nx, ny, x, y, u, v, jump);
      if (s == 4 && dirichlet && x == 0) entry += 1e-3 * pow(10.0, jump);
      add_multiple(bs, entry, append(&a, i, u * ny + v));
    }
  }
  return a;
}

double *test_mesh_modes(int32_t nx, int32_t ny, int32_t nz) {
  double *modes = room((size_t)nx * (size_t)ny * (size_t)nz * 18, sizeof *modes);
  for (int32_t i = 0; i < nx * ny * nz; i++) {
    const double x = i / (ny * nz), y = i / nz % ny, z = i % nz;
    const double rows[18] = {1, 0, 0, 0, z, -y, 0, 1, 0, -z, 0, x, 0, 0, 1, y, -x, 0};
    memcpy(modes + (size_t)i * 18, rows, sizeof rows);
  }
  return modes;
}

test_bcsr test_mesh_beside(test_bcsr first, test_bcsr second) {
  const int32_t bs = first.block_size, blocks = test_bcsr_blocks(&first);
  const size_t size = (size_t)(bs * bs);
  test_bcsr a =
      reserve(first.block_rows + second.block_rows, bs, blocks + test_bcsr_blocks(&second));
  for (int32_t i = 0; i <= first.block_rows; i++) a.row_ptr[i] = first.row_ptr[i];
  for (int32_t i = 1; i <= second.block_rows; i++)
    a.row_ptr[first.block_rows + i] = blocks + second.row_ptr[i];
  memcpy(a.col_idx, first.col_idx, (size_t)blocks * sizeof *a.col_idx);
  memcpy(a.values, first.values, (size_t)blocks * size * sizeof *a.values);
  for (int32_t p = 0; p < test_bcsr_blocks(&second); p++)
    a.col_idx[blocks + p] = first.block_rows + second.col_idx[p];
  memcpy(a.values + (size_t)blocks * size, second.values,
         (size_t)test_bcsr_blocks(&second) * size * sizeof *a.values);
  test_bcsr_free(&first);
  test_bcsr_free(&second);
  return a;
}

test_bcsr test_mesh_without_mirrors(test_bcsr a) {
  const size_t size = (size_t)(a.block_size * a.block_size);
  int32_t to = 0, from = 0;
  for (int32_t i = 0; i < a.block_rows; i++) {
    for (; from < a.row_ptr[i + 1]; from++) {
      if (a.col_idx[from] > i && i % 3 == 0) continue;
      memmove(a.values + (size_t)to * size, a.values + (size_t)from * size, size * sizeof(double));
      a.col_idx[to++] = a.col_idx[from];
    }
    from = a.row_ptr[i + 1];
    a.row_ptr[i + 1] = to;
  }
  return a;
}
