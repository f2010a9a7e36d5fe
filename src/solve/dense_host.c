/* SPDX-License-Identifier: BSD-3-Clause */
/* The small dense systems on the host: A(J, J) is gathered column by column, A(J, J) = S, and
 *
 *   general:  S X = I(J, j)                 by elimination with row pivoting
 *   definite: ±S = C Cᵀ, Cᵀ X = I(J, j)     by Cholesky; j is the last of J
 *
 * X are the blocks of N in column j. The values of A below the diagonal are those that Cholesky
 * reads. */
#include "core/context/context_impl.h"
#include "solve/column_host.h"

#include <math.h>

/* A system of m rows with `count` right-hand sides: s is m × m and x is m × count, column-major. */
typedef struct dense_system {
  int32_t m, count;
  double *s, *x;
} dense_system;

static void subtract_multiple(int32_t begin, int32_t end, double factor, const double *from,
                              double *into) {
  for (int32_t i = begin; i < end; i++) into[i] -= factor * from[i];
}

static void swap_rows(int32_t m, int32_t columns, int32_t one, int32_t other, double *a) {
  for (int32_t c = 0; c < columns; c++) {
    const double value = a[(size_t)c * (size_t)m + (size_t)one];
    a[(size_t)c * (size_t)m + (size_t)one] = a[(size_t)c * (size_t)m + (size_t)other];
    a[(size_t)c * (size_t)m + (size_t)other] = value;
  }
}

/* x ← s⁻¹ x. Returns false if a pivot is zero or NaN. */
static bool eliminate(const dense_system *d) {
  const size_t m = (size_t)d->m;
  for (int32_t k = 0; k < d->m; k++) {
    double *column = d->s + (size_t)k * m;
    int32_t pivot = k;
    for (int32_t r = k + 1; r < d->m; r++)
      if (fabs(column[r]) > fabs(column[pivot])) pivot = r;
    if (!(fabs(column[pivot]) > 0.0)) return false;
    if (pivot != k) {
      swap_rows(d->m, d->m, k, pivot, d->s);
      swap_rows(d->m, d->count, k, pivot, d->x);
    }
    for (int32_t r = k + 1; r < d->m; r++) column[r] /= column[k];
    for (int32_t c = k + 1; c < d->m; c++)
      subtract_multiple(k + 1, d->m, d->s[(size_t)c * m + (size_t)k], column, d->s + (size_t)c * m);
    for (int32_t c = 0; c < d->count; c++)
      subtract_multiple(k + 1, d->m, d->x[(size_t)c * m + (size_t)k], column, d->x + (size_t)c * m);
  }
  for (int32_t c = 0; c < d->count; c++) {
    double *x = d->x + (size_t)c * m;
    for (int32_t k = d->m - 1; k >= 0; k--) {
      x[k] /= d->s[(size_t)k * m + (size_t)k];
      subtract_multiple(0, k, x[k], d->s + (size_t)k * m, x);
    }
  }
  return true;
}

/* s ← C in its lower triangle, x ← C⁻ᵀ x. Returns false if a pivot is not positive. */
static bool solve_definite(const dense_system *d) {
  const size_t m = (size_t)d->m;
  for (int32_t k = 0; k < d->m; k++) {
    double *column = d->s + (size_t)k * m;
    if (!(column[k] > 0.0)) return false;
    const double root = sqrt(column[k]);
    for (int32_t r = k; r < d->m; r++) column[r] /= root;
    for (int32_t c = k + 1; c < d->m; c++)
      subtract_multiple(c, d->m, column[c], column, d->s + (size_t)c * m);
  }
  for (int32_t c = 0; c < d->count; c++) {
    double *x = d->x + (size_t)c * m;
    for (int32_t k = d->m - 1; k >= 0; k--) {
      const double *column = d->s + (size_t)k * m;
      double sum = x[k];
      for (int32_t r = k + 1; r < d->m; r++) sum -= column[r] * x[r];
      x[k] = sum / column[k];
    }
  }
  return true;
}

/* s ← sign·A(J, J), x ← I(J, j) */
static void gather(const bisai_bcsr *a, double sign, const int32_t *rows, int32_t length, int32_t j,
                   const int32_t *slots, const dense_system *d) {
  const int bs = a->block_size;
  const size_t m = (size_t)d->m;
  for (size_t v = 0; v < m * m; v++) d->s[v] = 0.0;
  for (size_t v = 0; v < m * (size_t)bs; v++) d->x[v] = 0.0;
  for (int32_t row = 0; row < length; row++)
    for (int32_t q = a->row_ptr[rows[row]]; q < a->row_ptr[rows[row] + 1]; q++) {
      const int32_t slot = slots[a->col_idx[q]];
      if (slot < 0) continue;
      const double *block = (const double *)a->values + bsi_block_offset(a, q);
      double *place = d->s + (size_t)slot * (size_t)bs * m + (size_t)row * (size_t)bs;
      for (int c = 0; c < bs; c++)
        for (int r = 0; r < bs; r++) place[(size_t)c * m + (size_t)r] = sign * block[c * bs + r];
    }
  for (int c = 0; c < bs; c++)
    d->x[(size_t)c * m + (size_t)slots[j] * (size_t)bs + (size_t)c] = 1.0;
}

/* Stores block s of x into column j. */
static void store(const dense_system *d, const bsi_isai *isai, int32_t s, int32_t j,
                  bsi_isai_scratch *own) {
  bisai_bcsr *n = isai->inverse;
  const int bs = n->block_size;
  const int32_t at = isai->pattern->col_ptr[j] + s, row = isai->pattern->row_idx[at],
                position = isai->pattern->position[at];
  double block[BSI_MAX_BLOCK_VALUES];
  const double *own_rows = d->x + (size_t)s * (size_t)bs;
  for (int v = 0; v < bs * bs; v++)
    block[v] = own_rows[(size_t)(v / bs) * (size_t)d->m + (size_t)(v % bs)];
  if (n->type == BISAI_FP64)
    bsi_block_copy(bs, block, (double *)n->values + bsi_block_offset(n, position));
  bsi_isai_store_block(bs, block, n, position, row, j,
                       isai->systems == BSI_SYSTEMS_DEFINITE && row == j, own);
}

void bsi_isai_solve_dense_column(const bsi_triangular *t, const bsi_isai *isai, int32_t j,
                                 bsi_isai_scratch *own) {
  const bisai_pattern *p = isai->pattern;
  const bisai_bcsr *a = t->matrix;
  const int32_t begin = p->col_ptr[j], length = p->col_ptr[j + 1] - begin;
  const int32_t *rows = p->row_idx + begin;
  const int32_t m = length * a->block_size;
  const dense_system d = {m, a->block_size, own->blocks, own->blocks + (size_t)m * (size_t)m};
  for (int32_t s = 0; s < length; s++) own->slots[rows[s]] = s;
  gather(a, isai->sign, rows, length, j, own->slots, &d);
  for (int32_t s = 0; s < length; s++) own->slots[rows[s]] = -1;
  const bool regular = isai->systems == BSI_SYSTEMS_DEFINITE ? solve_definite(&d) : eliminate(&d);
  if (!regular) {
    if (own->fault.column < 0 || own->fault.column > j)
      own->fault = (bsi_isai_fault){.column = j, .row = j, .kind = BSI_FAULT_SINGULAR};
    return;
  }
  for (int32_t s = 0; s < length; s++) store(&d, isai, s, j, own);
}
