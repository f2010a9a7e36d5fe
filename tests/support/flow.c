/* SPDX-License-Identifier: BSD-3-Clause */
#include "flow.h"

#include <math.h>

static void *room(size_t count, size_t size) {
  void *memory = calloc(count + 1, size);
  assert_non_null(memory);
  return memory;
}

/* The structure of five points, with values of zero. */
static test_bcsr five_points(int32_t nx, int32_t ny, int32_t bs) {
  const int32_t n = nx * ny;
  test_bcsr a = {n,
                 n,
                 bs,
                 room((size_t)n + 1, sizeof(int32_t)),
                 room((size_t)n * 5, sizeof(int32_t)),
                 room((size_t)n * 5 * (size_t)(bs * bs), sizeof(double))};
  int32_t blocks = 0;
  for (int32_t i = 0; i < n; i++) {
    const int32_t x = i / ny, y = i % ny;
    if (x > 0) a.col_idx[blocks++] = i - ny;
    if (y > 0) a.col_idx[blocks++] = i - 1;
    a.col_idx[blocks++] = i;
    if (y < ny - 1) a.col_idx[blocks++] = i + 1;
    if (x < nx - 1) a.col_idx[blocks++] = i + ny;
    a.row_ptr[i + 1] = blocks;
  }
  return a;
}

/* The flow between cells i < j, from i to j. Equation r is that of phase r. Phase p fills what the
 * others leave, so that its saturation is minus the sum of theirs. */
static void add_flow(test_bcsr *a, int32_t p, int32_t i, int32_t j, test_random *random) {
  const int32_t bs = a->block_size;
  double *ii = test_bcsr_block(a, i, i), *ij = test_bcsr_block(a, i, j),
         *ji = test_bcsr_block(a, j, i), *jj = test_bcsr_block(a, j, j);
  const double transmissibility = test_random_uniform(random, 0.5, 3.0);
  for (int32_t r = 0; r < bs; r++) {
    const int32_t place = p * bs + r;
    const double mobility = transmissibility * test_random_uniform(random, 0.3, 1.0);
    ii[place] += mobility, jj[place] += mobility;
    ij[place] -= mobility, ji[place] -= mobility;
  }
  for (int32_t c = 0; c < bs; c++) {
    if (c == p) continue;
    const double velocity = test_random_uniform(random, 0.1, 1.0);
    ii[c * bs + c] += velocity, ji[c * bs + c] -= velocity;
    ii[c * bs + p] -= velocity, ji[c * bs + p] += velocity;
  }
}

/* What the cell stores. */
static void add_accumulation(test_bcsr *a, int32_t p, int32_t i) {
  const int32_t bs = a->block_size;
  double *block = test_bcsr_block(a, i, i);
  for (int32_t c = 0; c < bs; c++) {
    block[p * bs + c] += 0.02;
    if (c == p) continue;
    block[c * bs + c] += 1.0;
    block[c * bs + p] -= 1.0;
  }
}

/* Multiplies the block row by a random matrix near the identity. */
static void mix(test_bcsr *a, int32_t i, test_random *random) {
  const int32_t bs = a->block_size;
  double *m = room((size_t)(bs * bs), sizeof *m);
  for (int32_t k = 0; k < bs * bs; k++)
    m[k] = (k % (bs + 1) == 0) + test_random_uniform(random, -0.4, 0.4) / bs;
  for (int32_t q = a->row_ptr[i]; q < a->row_ptr[i + 1]; q++) {
    double *block = a->values + (size_t)q * (size_t)(bs * bs),
           *mixed = test_dense_multiply(bs, bs, bs, m, block);
    memcpy(block, mixed, (size_t)(bs * bs) * sizeof *block);
    free(mixed);
  }
  free(m);
}

test_bcsr test_flow(int32_t nx, int32_t ny, int32_t bs, int32_t pressure, uint64_t seed) {
  test_bcsr a = five_points(nx, ny, bs);
  test_random random = test_random_seed(seed);
  for (int32_t i = 0; i < a.block_rows; i++) {
    add_accumulation(&a, pressure, i);
    for (int32_t q = a.row_ptr[i]; q < a.row_ptr[i + 1]; q++)
      if (a.col_idx[q] > i) add_flow(&a, pressure, i, a.col_idx[q], &random);
  }
  for (int32_t i = 0; i < a.block_rows; i++) mix(&a, i, &random);
  return a;
}

/* The heat that flows between cells i < j, and the masses of the phases, whose pressure is unknown
 * 0. Phase r has equation r, and saturation c, which phase 0 fills up, belongs to phase c. */
static void add_thermal_flow(test_bcsr *a, double conduction, int32_t i, int32_t j,
                             test_random *random) {
  const int32_t bs = a->block_size, t = bs - 1;
  double *ii = test_bcsr_block(a, i, i), *ij = test_bcsr_block(a, i, j),
         *ji = test_bcsr_block(a, j, i), *jj = test_bcsr_block(a, j, j), all = 0.0;
  const double transmissibility = test_random_uniform(random, 0.5, 3.0),
               heat = conduction * test_random_uniform(random, 0.5, 2.0);
  for (int32_t r = 0; r < t; r++) {
    const double mobility = transmissibility * test_random_uniform(random, 0.3, 1.0);
    ii[r] += mobility, jj[r] += mobility;
    ij[r] -= mobility, ji[r] -= mobility;
    all += mobility;
  }
  ii[t] += all, jj[t] += all; /* the heat that the phases carry */
  ij[t] -= all, ji[t] -= all;
  for (int32_t c = 1; c < bs; c++) {
    const double velocity = test_random_uniform(random, 0.1, 1.0);
    ii[c * bs + c] += velocity, ji[c * bs + c] -= velocity;
    if (c < t) ii[c * bs] -= velocity, ji[c * bs] += velocity;
  }
  ii[t * bs + t] += heat, jj[t * bs + t] += heat;
  ij[t * bs + t] -= heat, ji[t * bs + t] -= heat;
}

static void add_thermal_accumulation(test_bcsr *a, int32_t i) {
  const int32_t bs = a->block_size, t = bs - 1;
  double *block = test_bcsr_block(a, i, i);
  for (int32_t r = 0; r < bs; r++) block[r] += r < t ? 0.3 : 0.05;
  for (int32_t c = 1; c < t; c++) {
    block[c * bs + c] += 1.0;
    block[c * bs] -= 1.0;
    block[c * bs + t] += 0.2;
  }
  for (int32_t r = 0; r < t; r++) block[t * bs + r] -= 0.1; /* hot fluids are lighter */
  block[t * bs + t] += 1.0;
}

test_bcsr test_thermal_flow(int32_t nx, int32_t ny, int32_t bs, double conduction, uint64_t seed) {
  test_bcsr a = five_points(nx, ny, bs);
  test_random random = test_random_seed(seed);
  for (int32_t i = 0; i < a.block_rows; i++) {
    add_thermal_accumulation(&a, i);
    for (int32_t q = a.row_ptr[i]; q < a.row_ptr[i + 1]; q++)
      if (a.col_idx[q] > i) add_thermal_flow(&a, conduction, i, a.col_idx[q], &random);
  }
  for (int32_t i = 0; i < a.block_rows; i++)
    for (int32_t r = 0; r < bs; r++) {
      const double factor = ldexp(1.0, (int)test_random_uniform(&random, -20.0, 20.0));
      for (int32_t v = a.row_ptr[i] * bs; v < a.row_ptr[i + 1] * bs; v++)
        a.values[v * bs + r] *= factor;
    }
  return a;
}

test_bcsr test_flow_reordered(const test_bcsr *a, const int32_t *order) {
  const int32_t n = a->block_rows, bs = a->block_size;
  const size_t blocks = (size_t)a->row_ptr[n], area = (size_t)(bs * bs);
  test_bcsr b = {n,
                 a->block_cols,
                 bs,
                 room((size_t)n + 1, sizeof(int32_t)),
                 room(blocks, sizeof(int32_t)),
                 room(blocks * area, sizeof(double))};
  memcpy(b.row_ptr, a->row_ptr, ((size_t)n + 1) * sizeof *b.row_ptr);
  memcpy(b.col_idx, a->col_idx, blocks * sizeof *b.col_idx);
  for (size_t q = 0; q < blocks; q++)
    for (int32_t c = 0; c < bs; c++)
      memcpy(b.values + q * area + (size_t)(c * bs), a->values + q * area + (size_t)(order[c] * bs),
             (size_t)bs * sizeof(double));
  return b;
}
