/* SPDX-License-Identifier: BSD-3-Clause */
/* The pseudo-inverse of a singular matrix A of n rows, on the host.
 *
 *   1. S = R A C with diagonal R and C of powers of two, so that the largest magnitude of every row
 *      and column is near 1 (Ruiz, RAL-TR-2001-034). R = C for a symmetric A.
 *   2. Gauss–Jordan elimination of P S Q = [S₁₁ S₁₂; S₂₁ S₂₂] ends where only rounding errors are
 *      left of S₂₂. The number of its pivots is the rank. It leaves
 *
 *          S₁₁⁻¹          S₁₁⁻¹ S₁₂
 *        −S₂₁ S₁₁⁻¹           0
 *
 *      in place. A pivot is the largest of its row and of its column (rook pivoting: Poole and
 *      Neal, J. Comput. Appl. Math. 123, 2000). It is nearly as good as the largest of all, and is
 *      found without the other values. The elimination of these can therefore wait for a panel of
 *      pivots (multigrid/coarse/dense_host.c).
 *   3. Q [−S₁₁⁻¹ S₁₂; I] spans the null space of S, and Pᵀ [−S₂₁ S₁₁⁻¹ I]ᵀ that of Sᵀ. With
 *      orthonormal bases V and W, S⁺ = (I − V Vᵀ) Q [S₁₁⁻¹ 0; 0 0] P (I − W Wᵀ).
 *
 * The result is C S⁺ R. It is a generalised inverse: A X A = A. */
#include "multigrid/coarse/pseudo_inverse.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/block/block_math.h"
#include "multigrid/coarse/dense.h"

enum { SCALINGS = 4 };

/* A pivot of at most this many `errors` ε times the largest is negligible. */
#define NEGLIGIBLE 16.0

/* The parts of the room of bsi_pseudo_invert(). Matrices are stored column by column. */
typedef struct pseudo {
  int64_t n;
  /* n²: A, then S, then S⁺, then the result */
  double *s;
  /* n²: what the elimination leaves of P S Q */
  double *x;
  /* n² each: workspace, then the null vectors of S and of Sᵀ, one a column */
  double *v, *w;
  /* n each: the diagonals of R and C */
  double *r, *c;
  /* n each: row i of x is row rows[i] of S, and column j of x is column cols[j] of S */
  int32_t *rows, *cols;
  int64_t rank;
} pseudo;

static pseudo pseudo_of(int64_t n, double *room) {
  const int64_t square = n * n;
  double *scales = room + 4 * square;
  int32_t *places = (int32_t *)(scales + 2 * n);
  return (pseudo){.n = n,
                  .s = room,
                  .x = room + square,
                  .v = room + 2 * square,
                  .w = room + 3 * square,
                  .r = scales,
                  .c = scales + n,
                  .rows = places,
                  .cols = places + n};
}

/* --- step 1 --- */

/* Returns a power of two near 1/√x, or 1 for 0. */
static double half_scale(double x) { return x > 0.0 ? ldexp(1.0, -(ilogb(x) / 2)) : 1.0; }

static void equilibrate(pseudo *p) {
  const int64_t n = p->n;
  double *of_rows = p->v, *of_cols = p->w;
  for (int64_t i = 0; i < n; i++) p->r[i] = p->c[i] = 1.0;
  for (int pass = 0; pass < SCALINGS; pass++) {
    memset(of_rows, 0, (size_t)n * sizeof *of_rows);
    memset(of_cols, 0, (size_t)n * sizeof *of_cols);
    for (int64_t j = 0; j < n; j++)
      for (int64_t i = 0; i < n; i++) {
        const double value = fabs(p->s[j * n + i]);
        of_rows[i] = fmax(of_rows[i], value);
        of_cols[j] = fmax(of_cols[j], value);
      }
    for (int64_t i = 0; i < n; i++) {
      of_rows[i] = half_scale(of_rows[i]);
      of_cols[i] = half_scale(of_cols[i]);
      p->r[i] *= of_rows[i];
      p->c[i] *= of_cols[i];
    }
    for (int64_t j = 0; j < n; j++)
      for (int64_t i = 0; i < n; i++) p->s[j * n + i] = p->s[j * n + i] * of_rows[i] * of_cols[j];
  }
}

static double dot(int64_t n, const double *x, const double *y) {
  double sum = 0.0;
  for (int64_t i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}

/* y ← y + factor·x */
static void add(int64_t n, double factor, const double *restrict x, double *restrict y) {
  for (int64_t i = 0; i < n; i++) y[i] += factor * x[i];
}

/* --- step 2 --- */

static void swap_columns(pseudo *p, int64_t i, int64_t j) {
  double *x = p->x + i * p->n, *y = p->x + j * p->n;
  const int32_t place = p->cols[i];
  p->cols[i] = p->cols[j];
  p->cols[j] = place;
  for (int64_t k = 0; k < p->n && i != j; k++) {
    const double kept = x[k];
    x[k] = y[k];
    y[k] = kept;
  }
}

static void swap_rows(pseudo *p, int64_t i, int64_t j) {
  const int32_t place = p->rows[i];
  p->rows[i] = p->rows[j];
  p->rows[j] = place;
  for (double *x = p->x; x < p->x + p->n * p->n && i != j; x += p->n) {
    const double kept = x[i];
    x[i] = x[j];
    x[j] = kept;
  }
}

/* to ← column j outside of the panel, after the elimination of the panel. */
static void look_at_column(const bsi_elimination *e, int64_t j, double *to) {
  const double *column = e->a + j * e->n;
  memcpy(to, column, (size_t)e->n * sizeof *to);
  memset(to + e->first, 0, (size_t)e->count * sizeof *to);
  for (int64_t k = e->first; k < e->first + e->count; k++)
    add(e->n, column[k], e->a + k * e->n, to);
}

/* to[j] ← the value of row i below the panel in the column j behind the panel, for every such j. */
static void look_at_row(const bsi_elimination *e, int64_t i, double *to) {
  double w[BSI_PANEL];
  for (int k = 0; k < e->count; k++) w[k] = e->a[(e->first + k) * e->n + i];
  for (int64_t j = e->first + e->count; j < e->n; j++) {
    const double *column = e->a + j * e->n;
    to[j] = column[i] + dot(e->count, w, column + e->first);
  }
}

/* Finds a pivot among the rows and columns behind the panel. The search begins in the first column.
 * Returns the magnitude of the pivot. */
static double find_pivot(const bsi_elimination *e, double *look, int64_t *row, int64_t *column) {
  const int64_t k = e->first + e->count, rest = e->n - k;
  double largest = 0.0;
  *row = *column = k;
  while (true) {
    look_at_column(e, *column, look);
    const int64_t i = k + bsi_place_of_largest(rest, look + k);
    if (!(fabs(look[i]) > largest)) return largest;
    largest = fabs(look[i]);
    *row = i;
    look_at_row(e, i, look);
    const int64_t j = k + bsi_place_of_largest(rest, look + k);
    if (!(fabs(look[j]) > largest)) return largest;
    largest = fabs(look[j]);
    *column = j;
  }
}

/* Appends a column to the panel. */
static void take_pivot(pseudo *p, bsi_elimination *e, int64_t row, int64_t column) {
  const int64_t k = e->first + e->count;
  swap_rows(p, k, row);
  swap_columns(p, k, column);
  look_at_column(e, k, p->w);
  memcpy(p->x + k * p->n, p->w, (size_t)p->n * sizeof *p->w);
  e->count++;
  bsi_eliminate_column(e, k);
}

static void end_panel(bisai_context *context, bsi_elimination *e) {
  if (e->count > 0) bsi_eliminate_others(context, e);
  e->first += e->count;
  e->count = 0;
}

/* Returns the largest magnitude in the rows and columns k …. */
static double largest_from(const pseudo *p, int64_t k) {
  double largest = 0.0;
  for (int64_t j = k; j < p->n; j++)
    for (int64_t i = k; i < p->n; i++) largest = fmax(largest, fabs(p->x[j * p->n + i]));
  return largest;
}

static void eliminate(bisai_context *context, pseudo *p, double errors) {
  const int64_t n = p->n;
  bsi_elimination e = {.n = n, .a = p->x, .packed = p->v};
  int64_t end = n; /* the columns end … are negligible, at least until later pivots */
  memcpy(p->x, p->s, (size_t)(n * n) * sizeof *p->x);
  for (int64_t k = 0; k < n; k++) p->rows[k] = p->cols[k] = (int32_t)k;
  const double limit = NEGLIGIBLE * errors * DBL_EPSILON * largest_from(p, 0);
  while (e.first + e.count < n) {
    int64_t row, column;
    if (e.first + e.count == end) {
      end_panel(context, &e);
      if (largest_from(p, end) <= limit) break;
      end = n;
    }
    if (find_pivot(&e, p->w, &row, &column) <= limit) {
      swap_columns(p, e.first + e.count, --end);
      continue;
    }
    take_pivot(p, &e, row, column);
    if (e.count == BSI_PANEL) end_panel(context, &e);
  }
  end_panel(context, &e);
  p->rank = e.first;
}

/* --- step 3 --- */

/* s ← the inverse of the regular part. The rest is 0. */
static void gather_inverse(pseudo *p) {
  const int64_t n = p->n;
  memset(p->s, 0, (size_t)(n * n) * sizeof *p->s);
  for (int64_t j = 0; j < p->rank; j++)
    for (int64_t i = 0; i < p->rank; i++) p->s[p->rows[j] * n + p->cols[i]] = p->x[j * n + i];
}

static void gather_null_vectors(pseudo *p) {
  const int64_t n = p->n, r = p->rank;
  for (int64_t m = 0; m < n - r; m++) {
    double *v = p->v + m * n, *w = p->w + m * n;
    memset(v, 0, (size_t)n * sizeof *v);
    memset(w, 0, (size_t)n * sizeof *w);
    for (int64_t i = 0; i < r; i++) {
      v[p->cols[i]] = -p->x[(r + m) * n + i];
      w[p->rows[i]] = p->x[i * n + r + m];
    }
    v[p->cols[r + m]] = w[p->rows[r + m]] = 1.0;
  }
}

/* Modified Gram–Schmidt with a second pass. The columns are independent: each has a 1 where the
 * others have zeros. */
static void orthonormalise(int64_t n, int64_t count, double *q) {
  for (int64_t m = 0; m < count; m++) {
    double *x = q + m * n;
    for (int pass = 0; pass < 2; pass++)
      for (int64_t k = 0; k < m; k++) add(n, -dot(n, q + k * n, x), q + k * n, x);
    const double norm = sqrt(dot(n, x, x));
    for (int64_t i = 0; i < n; i++) x[i] /= norm;
  }
}

/* s ← (I − V Vᵀ) s (I − W Wᵀ) */
static void project(pseudo *p) {
  const int64_t n = p->n;
  for (int64_t m = 0; m < n - p->rank; m++) {
    const double *v = p->v + m * n, *w = p->w + m * n;
    double *image = p->x;
    memset(image, 0, (size_t)n * sizeof *image);
    for (int64_t j = 0; j < n; j++) add(n, w[j], p->s + j * n, image);
    for (int64_t j = 0; j < n; j++) {
      add(n, -w[j], image, p->s + j * n);
      add(n, -dot(n, v, p->s + j * n), v, p->s + j * n);
    }
  }
}

const char *bsi_pseudo_invert(bisai_context *context, int64_t n, double errors, double *room,
                              double **inverse, int32_t *nullity) {
  pseudo p = pseudo_of(n, room);
  if (!bsi_all_finite((size_t)(n * n), p.s)) return "the coarsest matrix";
  equilibrate(&p);
  eliminate(context, &p, errors);
  gather_inverse(&p);
  gather_null_vectors(&p);
  orthonormalise(n, n - p.rank, p.v);
  orthonormalise(n, n - p.rank, p.w);
  project(&p);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < n; i++) p.s[j * n + i] = p.s[j * n + i] * p.c[i] * p.r[j];
  if (!bsi_all_finite((size_t)(n * n), p.s)) return "the pseudo-inverse of the coarsest matrix";
  *inverse = p.s;
  *nullity = (int32_t)(n - p.rank);
  return NULL;
}
