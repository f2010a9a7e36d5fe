/* SPDX-License-Identifier: BSD-3-Clause */
/* The pseudo-inverse of a singular matrix A of n rows, on the host.
 *
 *   1. S = R A C with diagonal R and C of powers of two, so that the largest magnitude of every row
 *      and column is near 1 (Ruiz, RAL-TR-2001-034). R = C for a symmetric A.
 *   2. P S Q = L U by elimination with complete pivoting. The rank is the number of pivots that are
 *      not negligible. Columns of V with S V = 0 and of W with Wᵀ S = 0 follow from U and L, and
 *      are made orthonormal.
 *   3. B = S + W Vᵀ is regular, and S⁺ = B⁻¹ − V Wᵀ = (I − V Vᵀ) B⁻¹ (I − W Wᵀ). The second form
 *      also removes what rounding errors of S leave in V and W.
 *
 * The result is C S⁺ R. It is a generalised inverse: A X A = A. */
#include "multigrid/pseudo.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/bcsr_impl.h"
#include "core/block_math.h"
#include "multigrid/multigrid_ops.h"

enum { SCALINGS = 4 };

/* A pivot of at most this many `errors` ε times the largest is negligible. */
#define NEGLIGIBLE 16.0

typedef struct pseudo {
  int64_t n;
  /* n² each: S, then B; L and U, then B⁻¹ */
  double *s, *x;
  double *work;
  /* null vectors, n·nullity each */
  double *v, *w;
  /* the diagonals of R and C */
  double *r, *c;
  /* P and Q: row rows[i] of S is row i of L U */
  int32_t *rows, *cols;
  int64_t rank;
} pseudo;

static pseudo pseudo_of(int64_t n, double *room) {
  const int64_t square = n * n;
  double *scales = room + 5 * square;
  int32_t *places = (int32_t *)(scales + 2 * n);
  return (pseudo){.n = n,
                  .s = room,
                  .x = room + square,
                  .work = room + 2 * square,
                  .v = room + 3 * square,
                  .w = room + 4 * square,
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
      for (int64_t i = 0; i < n; i++) p->s[j * n + i] *= of_rows[i] * of_cols[j];
  }
}

/* --- step 2 --- */

static void swap_columns(int64_t n, double *a, int64_t i, int64_t j) {
  for (int64_t k = 0; k < n && i != j; k++) {
    const double kept = a[i * n + k];
    a[i * n + k] = a[j * n + k];
    a[j * n + k] = kept;
  }
}

static void swap_rows(int64_t n, double *a, int64_t i, int64_t j) {
  for (int64_t k = 0; k < n && i != j; k++) {
    const double kept = a[k * n + i];
    a[k * n + i] = a[k * n + j];
    a[k * n + j] = kept;
  }
}

static void swap_places(int32_t *places, int64_t i, int64_t j) {
  const int32_t kept = places[i];
  places[i] = places[j];
  places[j] = kept;
}

/* Finds the largest magnitude in the rows and columns k …, the first of equal ones. */
static double find_pivot(const pseudo *p, int64_t k, int64_t *row, int64_t *column) {
  double largest = -1.0;
  for (int64_t j = k; j < p->n; j++)
    for (int64_t i = k; i < p->n; i++)
      if (fabs(p->x[j * p->n + i]) > largest) {
        largest = fabs(p->x[j * p->n + i]);
        *row = i;
        *column = j;
      }
  return largest;
}

/* x ← L below the diagonal, and U, of the rows and columns of the pivots. */
static void factorise(pseudo *p, double errors) {
  const int64_t n = p->n;
  double limit = 0.0;
  memcpy(p->x, p->s, (size_t)(n * n) * sizeof *p->x);
  for (int64_t k = 0; k < n; k++) p->rows[k] = p->cols[k] = (int32_t)k;
  for (p->rank = 0; p->rank < n; p->rank++) {
    const int64_t k = p->rank;
    int64_t row = k, column = k;
    const double pivot = find_pivot(p, k, &row, &column);
    if (k == 0) limit = NEGLIGIBLE * errors * DBL_EPSILON * pivot;
    if (pivot <= limit) return;
    swap_rows(n, p->x, k, row), swap_places(p->rows, k, row);
    swap_columns(n, p->x, k, column), swap_places(p->cols, k, column);
    double *restrict l = p->x + k * n;
    for (int64_t i = k + 1; i < n; i++) l[i] /= l[k];
    for (int64_t j = k + 1; j < n; j++) {
      double *restrict to = p->x + j * n;
      const double factor = to[k];
      for (int64_t i = k + 1; i < n && factor != 0.0; i++) to[i] -= l[i] * factor;
    }
  }
}

/* Column m of V: U₁₁ y = −U₁₂ e_m above 1 in row m, and of W: L₁₁ᵀ z = −L₂₁ᵀ e_m. */
static void find_null_vectors(pseudo *p, int64_t m) {
  const int64_t n = p->n, r = p->rank;
  double *y = p->work, *z = p->work + n, *v = p->v + m * n, *w = p->w + m * n;
  for (int64_t i = 0; i < r; i++) {
    y[i] = -p->x[(r + m) * n + i];
    z[i] = -p->x[i * n + r + m];
  }
  for (int64_t j = r - 1; j >= 0; j--) {
    const double *u = p->x + j * n;
    y[j] /= u[j];
    for (int64_t i = 0; i < j; i++) y[i] -= u[i] * y[j];
    for (int64_t i = j + 1; i < r; i++) z[j] -= u[i] * z[i];
  }
  memset(v, 0, (size_t)n * sizeof *v);
  memset(w, 0, (size_t)n * sizeof *w);
  for (int64_t i = 0; i < r; i++) {
    v[p->cols[i]] = y[i];
    w[p->rows[i]] = z[i];
  }
  v[p->cols[r + m]] = w[p->rows[r + m]] = 1.0;
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

/* --- step 3 --- */

/* x ← s⁻¹ */
static bisai_status invert(bisai_context *context, pseudo *p) {
  int32_t row_ptr[] = {0, 1}, col_idx[] = {0};
  bisai_bcsr one_block = {0};
  double smallest, largest;
  one_block.block_rows = one_block.block_cols = one_block.blocks = 1;
  one_block.block_size = (int32_t)p->n;
  one_block.type = BISAI_FP64;
  one_block.row_ptr = row_ptr;
  one_block.col_idx = col_idx;
  one_block.values = p->s;
  BSI_TRY(bsi_dense_host.invert(context, &one_block, p->work, p->x, &smallest, &largest));
  if (smallest > 0.0) return BISAI_OK;
  return bsi_fail(context, BISAI_SINGULAR_BLOCK,
                  "multigrid: the coarsest matrix is singular, and so is its regular part");
}

/* x ← (I − V Vᵀ) x (I − W Wᵀ) */
static void project(pseudo *p) {
  const int64_t n = p->n;
  for (int64_t m = 0; m < n - p->rank; m++) {
    const double *v = p->v + m * n, *w = p->w + m * n;
    double *image = p->work;
    memset(image, 0, (size_t)n * sizeof *image);
    for (int64_t j = 0; j < n; j++) add(n, w[j], p->x + j * n, image);
    for (int64_t j = 0; j < n; j++) {
      add(n, -w[j], image, p->x + j * n);
      add(n, -dot(n, v, p->x + j * n), v, p->x + j * n);
    }
  }
}

bisai_status bsi_pseudo_invert(bisai_context *context, int64_t n, double errors, double *room,
                               double **inverse, int32_t *nullity) {
  pseudo p = pseudo_of(n, room);
  if (!bsi_all_finite((size_t)(n * n), p.s))
    return bsi_fail(context, BISAI_SINGULAR_BLOCK,
                    "multigrid: the coarsest matrix has NaN or infinity");
  equilibrate(&p);
  factorise(&p, errors);
  for (int64_t m = 0; m < n - p.rank; m++) find_null_vectors(&p, m);
  orthonormalise(n, n - p.rank, p.v);
  orthonormalise(n, n - p.rank, p.w);
  for (int64_t m = 0; m < n - p.rank; m++)
    for (int64_t j = 0; j < n; j++) add(n, p.v[m * n + j], p.w + m * n, p.s + j * n);
  BSI_TRY(invert(context, &p));
  project(&p);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < n; i++) p.x[j * n + i] *= p.c[i] * p.r[j];
  *inverse = p.x;
  *nullity = (int32_t)(n - p.rank);
  return BISAI_OK;
}
