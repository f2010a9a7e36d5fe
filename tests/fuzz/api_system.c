/* SPDX-License-Identifier: BSD-3-Clause */
/* Random block systems: patterns with empty rows and columns, values of every scale, blocks that
 * are zero, singular or nearly so. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"

typedef enum shape { TRIDIAGONAL, RANDOM, FULL, DIAGONAL, ARROW, CYCLE, BAND, SHAPES } shape;
/* GROUNDED, NEUMANN: sums of elements. No byte chooses them, but the seed does. */
typedef enum spread {
  DOMINANT,
  UNIFORM,
  HALF_ZERO,
  INTEGERS,
  WIDE,
  SKEW,
  SPREADS,
  GROUNDED = SPREADS,
  NEUMANN
} spread;

/* What the entry (r, c) of the matrix is, as far as no single entry was changed. */
typedef struct recipe {
  shape shape;
  spread spread;
  bool symmetric;
  int32_t block_rows, block_size, reach;
  /* block row, block column, diagonal block; −1: none */
  int32_t empty_row, empty_col, missing;
  /* of RANDOM, of 16 */
  int density;
  int exponent, row_exponents, col_exponents;
  uint64_t seed, pattern_seed;
} recipe;

static bool is_stored(const recipe *r, int32_t i, int32_t j) {
  if (i == r->empty_row || j == r->empty_col) return false;
  if (i == j) return i != r->missing;
  const int32_t low = r->symmetric && j < i ? j : i, high = r->symmetric && j < i ? i : j,
                far = abs(i - j);
  switch (r->shape) {
  case RANDOM: return fuzz_noise(r->pattern_seed, low, high) < (r->density - 8) / 8.0;
  case FULL: return true;
  case ARROW: return i == 0 || j == 0;
  case CYCLE: return (i + 1) % r->block_rows == j || (r->symmetric && (j + 1) % r->block_rows == i);
  case BAND: return far == 1 || far == r->reach;
  case TRIDIAGONAL: return far == 1;
  case DIAGONAL:
  default: return false;
  }
}

static double spread_value(const recipe *r, uint64_t seed, int32_t row, int32_t col) {
  const bool swap = (r->symmetric || r->spread == SKEW) && col < row;
  const double x = swap ? fuzz_noise(seed, col, row) : fuzz_noise(seed, row, col);
  const double second = swap ? fuzz_noise(~seed, col, row) : fuzz_noise(~seed, row, col);
  switch (r->spread) {
  case HALF_ZERO: return second < 0 ? 0 : x;
  case INTEGERS: return floor(2.5 * x);
  case WIDE: return ldexp(x, (int)(500 * second));
  case SKEW: return row == col ? 0 : swap ? -x : x;
  default: return x;
  }
}

/* 2^e·x, never infinite, and without a negative zero, whose sign scalar CSR does not keep. */
static double scaled(double x, int exponent) {
  const double value = ldexp(x, exponent) + 0.0;
  return isfinite(value) ? value : copysign(DBL_MAX, x);
}

static int hashed_exponent(uint64_t seed, int32_t index, int most) {
  return most == 0 ? 0 : (int)(most * fuzz_noise(seed, index, 77));
}

/* An element: the matrix k (P D P + v vᵀ) of `count` unknowns, where P takes away the mean of a
 * vector, and D is diagonal and positive. The values of v add up to zero. */
typedef struct element {
  int32_t count;
  double k, d[2 * BISAI_MAX_BLOCK_SIZE], v[2 * BISAI_MAX_BLOCK_SIZE], d_mean;
} element;

static element make_element(uint64_t seed, int32_t number, int32_t count) {
  element e = {.count = count, .k = ldexp(1, (int)(10 * fuzz_noise(seed, number, -1)))};
  double mean = 0;
  for (int32_t a = 0; a < count; a++) {
    e.v[a] = fuzz_noise(seed, number, a);
    e.d[a] = 0.2 + fabs(fuzz_noise(~seed, number, a));
    mean += e.v[a] / count;
    e.d_mean += e.d[a] / count;
  }
  for (int32_t a = 0; a < count; a++) e.v[a] -= mean;
  return e;
}

/* Adds the rows from `row` on and the columns from `col` on of an element to block (i, j). */
static void add_element(const fuzz_system *s, int32_t i, int32_t j, const element *e, int32_t row,
                        int32_t col, double *values) {
  const int32_t bs = s->block_size;
  int32_t p = s->row_ptr[i];
  while (s->col_idx[p] != j) p++;
  for (int32_t c = 0; c < bs; c++)
    for (int32_t r = 0; r < bs; r++) {
      const int32_t a = row + r, b = col + c;
      const double sum = (a == b ? e->d[a] : 0) - (e->d[a] + e->d[b]) / e->count +
                         e->d_mean / e->count + e->v[a] * e->v[b];
      values[((int64_t)p * bs + c) * bs + r] += e->k * sum;
    }
}

/* A sum of elements whose coefficients jump by 2^±10: one for the unknowns of both block rows of a
 * stored pair. The rows add up to zero up to rounding. GROUNDED: small values on the diagonal make
 * the matrix definite. */
static void fill_elements(const recipe *r, const fuzz_system *s, uint64_t seed, double *values) {
  const int32_t bs = s->block_size;
  memset(values, 0, (size_t)fuzz_system_scalars(s) * sizeof *values);
  for (int32_t i = 0; i < s->block_rows; i++)
    for (int32_t p = s->row_ptr[i]; p < s->row_ptr[i + 1]; p++) {
      const int32_t j = s->col_idx[p];
      if (j < i) continue;
      const element e = make_element(seed, p, j == i ? bs : 2 * bs);
      add_element(s, i, i, &e, 0, 0, values);
      if (j > i) {
        add_element(s, i, j, &e, 0, bs, values);
        add_element(s, j, i, &e, bs, 0, values);
        add_element(s, j, j, &e, bs, bs, values);
        continue;
      }
      for (int32_t k = 0; k < bs && r->spread == GROUNDED; k++)
        values[((int64_t)p * bs + k) * bs + k] +=
            ldexp(1, (int)(10 * fuzz_noise(seed, i * bs + k, 11)) - 8);
    }
}

static void fill_values(const recipe *r, const fuzz_system *s, uint64_t seed, double *values) {
  const int32_t bs = s->block_size;
  if (r->spread >= SPREADS) {
    fill_elements(r, s, seed, values);
    return;
  }
  for (int32_t i = 0; i < s->block_rows; i++) {
    for (int32_t k = 0; k < bs; k++) {
      const int32_t row = i * bs + k;
      for (int32_t p = s->row_ptr[i]; p < s->row_ptr[i + 1]; p++)
        for (int32_t l = 0; l < bs; l++) {
          const int32_t col = s->col_idx[p] * bs + l;
          const double x = spread_value(r, seed, row, col);
          const int exponent = r->exponent +
                               hashed_exponent(r->pattern_seed, row, r->row_exponents) +
                               hashed_exponent(r->pattern_seed, col, r->col_exponents);
          double *value = values + ((int64_t)p * bs + l) * bs + k;
          *value = scaled(x, exponent);
          if (row == col && r->spread == DOMINANT)
            *value = scaled(1 + (double)(s->row_ptr[i + 1] - s->row_ptr[i]) * bs, exponent);
        }
    }
  }
}

/* Changes single blocks and values to what methods find hard. */
static bool spoil(fuzz_choices *choices, const fuzz_system *s, double *values) {
  static const double special[] = {0,     5e-324,   DBL_MIN, DBL_MAX, -DBL_MAX, 1e-160,
                                   1e160, 0x1p-537, 0x1p511, 1,       -1,       0x1p-52};
  const int edits = fuzz_pick(choices, 8) - 3;
  const int32_t bs = s->block_size;
  bool spoiled = false;
  for (int edit = 0; edit < edits && s->blocks > 0; edit++) {
    const int32_t p = fuzz_pick(choices, 256) % s->blocks;
    double *block = values + (int64_t)p * bs * bs;
    const int how = fuzz_pick(choices, 5), a = fuzz_pick(choices, bs), b = fuzz_pick(choices, bs);
    const double factor = how == 2 ? 1 : 1 + ldexp(1, -fuzz_between(choices, 1, 52));
    for (int32_t c = 0; c < bs; c++) {
      if (how == 0) block[(int64_t)c * bs + a] = 0;
      if (how == 1)
        for (int32_t r = 0; r < bs; r++) block[(int64_t)c * bs + r] = 0;
      if (how == 2 || how == 3)
        block[(int64_t)c * bs + a] = scaled(factor * block[(int64_t)c * bs + b], 0);
    }
    if (how == 3) block[(int64_t)a * bs + a] = scaled(factor * block[(int64_t)a * bs + a], 0);
    if (how == 4)
      block[(int64_t)b * bs + a] =
          special[fuzz_pick(choices, (int)(sizeof special / sizeof special[0]))];
    spoiled = true;
  }
  return spoiled;
}

static recipe choose(fuzz_choices *choices) {
  static const int block_sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 9, 11, 16, 17, 32};
  static const int exponents[] = {0, 0, 0, 0, 27, -27, 500, -500, -997, 1000, -1045, -1022};
  recipe r = {.empty_row = -1, .empty_col = -1, .missing = -1};
  r.shape = (shape)fuzz_pick(choices, SHAPES);
  r.block_size = block_sizes[fuzz_pick(choices, 16)];
  r.block_rows = fuzz_rarely(choices, 40) ? 0 : fuzz_between(choices, 1, r.block_size > 8 ? 5 : 12);
  r.spread = (spread)fuzz_pick(choices, SPREADS);
  r.symmetric = fuzz_rarely(choices, 3);
  r.density = fuzz_between(choices, 1, 15);
  r.reach = fuzz_between(choices, 2, 6);
  const bool large = fuzz_rarely(choices, 64);
  if (large) {
    r.shape = BAND;
    r.block_size = 1 + r.block_size % 5;
    r.block_rows = 40 * fuzz_between(choices, 10, 80) / r.block_size;
    if (FUZZ_HUGE && fuzz_rarely(choices, 8)) r.block_rows += 100000 / r.block_size;
    r.reach = 20;
  }
  if (fuzz_rarely(choices, 3)) r.exponent = exponents[fuzz_pick(choices, 12)];
  if (fuzz_rarely(choices, 8)) r.row_exponents = 8 * fuzz_between(choices, 1, 40);
  if (fuzz_rarely(choices, 8)) r.col_exponents = 8 * fuzz_between(choices, 1, 40);
  if (r.block_rows > 0 && fuzz_rarely(choices, 8))
    r.empty_row = fuzz_pick(choices, 256) % r.block_rows;
  if (r.block_rows > 0 && fuzz_rarely(choices, 8))
    r.empty_col = fuzz_pick(choices, 256) % r.block_rows;
  if (r.block_rows > 0 && fuzz_rarely(choices, 8))
    r.missing = fuzz_pick(choices, 256) % r.block_rows;
  if (r.symmetric) r.col_exponents = r.row_exponents;
  if (r.symmetric) r.empty_col = r.empty_row;
  r.seed = fuzz_seed(choices);
  r.pattern_seed = r.seed + (UINT64_C(1) << 32);
  if (r.seed % 4 != 3) return r;
  r.spread = r.seed % 16 == 15 ? NEUMANN : GROUNDED;
  r.symmetric = true;
  r.exponent = r.row_exponents = r.col_exponents = 0;
  r.empty_row = r.empty_col = r.missing = -1;
  if (r.seed % 64 / 16 == 3 && !large) { /* a mesh */
    r.shape = BAND;
    r.block_size = 1 + r.block_size % 4;
    r.block_rows *= 12;
  }
  return r;
}

/* The second values are the first times numbers near 1, which leave a symmetric matrix
 * symmetric. */
static void disturb(const recipe *r, const fuzz_system *s) {
  const int32_t bs = s->block_size;
  for (int32_t i = 0; i < s->block_rows; i++)
    for (int32_t p = s->row_ptr[i]; p < s->row_ptr[i + 1]; p++)
      for (int32_t at = 0; at < bs * bs; at++) {
        const int64_t value = (int64_t)p * bs * bs + at, row = i * bs + at % bs,
                      col = s->col_idx[p] * bs + at / bs;
        const bool swap = r->symmetric && col < row;
        const double factor = 1 + 0.1 * fuzz_noise(r->seed + 1, swap ? col : row, swap ? row : col);
        s->values[FUZZ_SECOND][value] = scaled(s->values[FUZZ_FIRST][value] * factor, 0);
      }
}

/* The second set of values: the first disturbed, others of the same kind, or of another kind. */
static void fill_second(fuzz_choices *choices, recipe *r, fuzz_system *s) {
  const int how = fuzz_pick(choices, 3);
  double *values = s->values[FUZZ_SECOND];
  if (how == 2) r->spread = (spread)fuzz_pick(choices, SPREADS);
  if (how > 0) fill_values(r, s, r->seed + (UINT64_C(1) << 33), values);
  if (how == 0) disturb(r, s);
  s->dominant[FUZZ_SECOND] = how == 0 ? s->dominant[FUZZ_FIRST] : r->spread == DOMINANT;
}

fuzz_system fuzz_system_make(fuzz_choices *choices) {
  recipe r = choose(choices);
  fuzz_system s = {
      .block_rows = r.block_rows, .block_size = r.block_size, .rows = r.block_rows * r.block_size};
  const int32_t n = r.block_rows, reach = n <= 16 ? n : r.reach;
  s.large = n > 16;
  s.row_ptr = fuzz_memory((size_t)n + 1, sizeof *s.row_ptr);
  s.col_idx = fuzz_memory((size_t)n * (size_t)(2 * reach + 1), sizeof *s.col_idx);
  for (int32_t i = 0; i < n; i++) {
    for (int32_t j = i > reach ? i - reach : 0; j < n && j <= i + reach; j++)
      if (is_stored(&r, i, j)) s.col_idx[s.blocks++] = j;
    s.row_ptr[i + 1] = s.blocks;
  }
  const bool ordinary = r.exponent == 0 && r.row_exponents == 0 && r.col_exponents == 0 &&
                        r.missing < 0 && r.empty_col < 0 && r.empty_row < 0;
  for (int set = 0; set < FUZZ_VALUES; set++)
    s.values[set] = fuzz_memory((size_t)fuzz_system_scalars(&s), sizeof(double));
  fuzz_scene(SCENE_SYSTEM,
             "system: %d block rows of %d, %d blocks, shape %d, spread %d%s, scaled by 2^%d, rows "
             "by up to 2^±%d, "
             "columns 2^±%d, "
             "empty row %d, empty column %d, missing diagonal block %d",
             (int)n, (int)r.block_size, (int)s.blocks, (int)r.shape, (int)r.spread,
             r.symmetric ? ", symmetric" : "", r.exponent, r.row_exponents, r.col_exponents,
             (int)r.empty_row, (int)r.empty_col, (int)r.missing);
  fill_values(&r, &s, r.seed, s.values[FUZZ_FIRST]);
  s.dominant[FUZZ_FIRST] = r.spread == DOMINANT;
  s.definite = r.spread == GROUNDED, s.neumann = r.spread == NEUMANN;
  if (spoil(choices, &s, s.values[FUZZ_FIRST]))
    s.dominant[FUZZ_FIRST] = s.definite = s.neumann = false;
  fill_second(choices, &r, &s);
  if (spoil(choices, &s, s.values[FUZZ_SECOND])) s.dominant[FUZZ_SECOND] = false;
  for (int set = 0; set < FUZZ_VALUES; set++) s.dominant[set] = s.dominant[set] && ordinary;
  return s;
}

void fuzz_system_free(fuzz_system *system) {
  free(system->row_ptr);
  free(system->col_idx);
  for (int set = 0; set < FUZZ_VALUES; set++) free(system->values[set]);
}

int64_t fuzz_system_scalars(const fuzz_system *system) {
  return (int64_t)system->blocks * system->block_size * system->block_size;
}

bisai_bcsr_desc fuzz_system_desc(const fuzz_system *system, int set) {
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.block_rows = desc.block_cols = system->block_rows;
  desc.block_size = system->block_size;
  desc.row_ptr = system->row_ptr;
  desc.col_idx = system->col_idx;
  desc.values = system->values[set];
  return desc;
}

void fuzz_system_multiply(const fuzz_system *system, int set, const double *x, long double *ax,
                          long double *magnitude) {
  const int32_t bs = system->block_size;
  _Static_assert(LDBL_MAX_EXP > 4 * DBL_MAX_EXP, "long double has more range than double");
  for (int32_t i = 0; i < system->block_rows; i++)
    for (int32_t k = 0; k < bs; k++) {
      long double sum = 0, size = 0;
      for (int32_t p = system->row_ptr[i]; p < system->row_ptr[i + 1]; p++)
        for (int32_t l = 0; l < bs; l++) {
          const long double value = system->values[set][((int64_t)p * bs + l) * bs + k];
          const long double term = value * (long double)x[system->col_idx[p] * bs + l];
          sum += term;
          size += fabsl(term);
        }
      ax[i * bs + k] = sum;
      magnitude[i * bs + k] = size;
    }
}
