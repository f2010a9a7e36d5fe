/* SPDX-License-Identifier: BSD-3-Clause */
/* The work on the panel of a supernode: products are subtracted from it, its square is factorised
 * as P D = L U with row pivots inside the square, and its rows become A₂₁ U⁻¹ and (L⁻¹ P A₁₂)ᵀ.
 *
 * Every value is computed by the same operations in the same order, wherever a thread's part of the
 * rows begins: operands are padded to whole tiles. */
#include "lu/lu_impl.h"

#include <math.h>
#include <string.h>

/* A pivot on the diagonal is kept if it has this share of the largest magnitude in its column of
 * the square, so that pivots that a matching has found stay. Of 1, 0.1, 0.01 and 0, 0.1 needs the
 * fewest iterations on mhd3200a and hymls_cavity2d_32x32_Re1000_jac2. */
#define KEPT_PIVOT 0.1

/* --- packed operands --- */

/* out[k·tile + i] ← value (i, k) of `rows` rows, and zeros up to `tile`. */
#define PACK(type)                                                                                 \
  do {                                                                                             \
    const type *from = (const type *)lu->values + at;                                              \
    for (int k = 0; k < depth; k++, from += ld, out += tile) {                                     \
      for (int i = 0; i < rows; i++) out[i] = (double)from[i];                                     \
      for (int i = rows; i < tile; i++) out[i] = 0.0;                                              \
    }                                                                                              \
  } while (0)

BSI_INLINE void pack(const bsi_lu *lu, int64_t at, int64_t ld, int rows, const int tile, int depth,
                     double *out) {
  if (lu->options.storage == BISAI_FP32)
    PACK(float);
  else
    PACK(double);
}

static void pack_rows(const bsi_lu *lu, int64_t at, int64_t ld, int rows, int depth, double *out) {
  if (rows == BSI_TILE_ROWS)
    pack(lu, at, ld, BSI_TILE_ROWS, BSI_TILE_ROWS, depth, out);
  else
    pack(lu, at, ld, rows, BSI_TILE_ROWS, depth, out);
}

/* Packs `count` rows of a panel as the columns of a product. */
static void pack_columns(const bsi_lu *lu, int64_t at, int64_t ld, int count, int depth,
                         double *out) {
  for (int j = 0; j < count; j += BSI_TILE_COLUMNS, out += (size_t)depth * BSI_TILE_COLUMNS) {
    const int columns = count - j < BSI_TILE_COLUMNS ? count - j : BSI_TILE_COLUMNS;
    pack(lu, at + j, ld, columns, BSI_TILE_COLUMNS, depth, out);
  }
}

/* --- updates --- */

/* A product: rows of a source's panel times packed columns. */
typedef struct part {
  /* the first value of the rows, their leading dimension and depth */
  int64_t at, ld;
  int depth;
  /* the rows, and where in the panel that is changed they are */
  int rows;
  const int32_t *row_at;
  /* the columns, and where the first of them is */
  int columns;
  const int32_t *column_places;
} part;

#define SUBTRACT(type)                                                                             \
  do {                                                                                             \
    type *to = (type *)lu->values + column;                                                        \
    for (int i = 0; i < rows; i++) to[row_at[i]] -= (type)product[i];                              \
  } while (0)

/* Subtracts a tile of the product, whose column c is at `column_at[c]` of the panel. */
static void subtract_tile(const bsi_lu *lu, const double *product, int rows, const int32_t *row_at,
                          int columns, const int64_t *column_at) {
  for (int j = 0; j < columns; j++, product += BSI_TILE_ROWS) {
    const int64_t column = column_at[j];
    if (lu->options.storage == BISAI_FP32)
      SUBTRACT(float);
    else
      SUBTRACT(double);
  }
}

static void subtract_part(const bsi_lu *lu, const bsi_lu_node *to, const part *p,
                          bsi_lu_scratch *scratch) {
  double product[BSI_TILE_ROWS * BSI_TILE_COLUMNS];
  for (int i = 0; i < p->rows; i += BSI_TILE_ROWS) {
    const int rows = p->rows - i < BSI_TILE_ROWS ? p->rows - i : BSI_TILE_ROWS;
    const double *columns = scratch->columns;
    pack_rows(lu, p->at + i, p->ld, rows, p->depth, scratch->rows);
    for (int j = 0; j < p->columns; j += BSI_TILE_COLUMNS) {
      int64_t column_at[BSI_TILE_COLUMNS];
      int count = 0;
      for (; count < BSI_TILE_COLUMNS && j + count < p->columns; count++) {
        const int c = j + count;
        column_at[count] =
            to->at + ((int64_t)p->column_places[c / lu->bs] * lu->bs + c % lu->bs) * to->ld;
      }
      lu->product(p->depth, scratch->rows, columns, product);
      subtract_tile(lu, product, rows, p->row_at + i, count, column_at);
      columns += (size_t)p->depth * BSI_TILE_COLUMNS;
    }
  }
}

/* Returns the first of the ascending rows first … last − 1 that is at least `row`, or last. */
static int32_t find_row(const int32_t *rows, int32_t first, int32_t last, int32_t row) {
  while (first < last) {
    const int32_t middle = first + (last - first) / 2;
    if (rows[middle] < row)
      first = middle + 1;
    else
      last = middle;
  }
  return first;
}

void bsi_lu_subtract(const bsi_lu *lu, const bsi_lu_node *to, const bsi_lu_update *update,
                     int32_t low, int32_t high, const int32_t *place, bsi_lu_scratch *scratch) {
  const int bs = lu->bs;
  const bsi_lu_node from = bsi_lu_node_of(lu, update->source);
  const int32_t first = find_row(from.rows, update->first, from.below, low),
                last = find_row(from.rows, first, from.below, high),
                first_right = first > update->last ? first : update->last;
  if (first >= last) return;
  for (int32_t r = first; r < last; r++)
    for (int i = 0; i < bs; i++)
      scratch->row_at[(r - first) * bs + i] = place[from.rows[r]] * bs + i;
  for (int32_t c = update->first; c < update->last; c++)
    scratch->column_places[c - update->first] = from.rows[c] - to->begin;
  const int64_t lower = from.at + from.width, upper = lower + from.depth;
  part p = {.at = lower + (int64_t)first * bs,
            .ld = from.ld,
            .depth = from.width,
            .rows = (last - first) * bs,
            .row_at = scratch->row_at,
            .columns = (update->last - update->first) * bs,
            .column_places = scratch->column_places};
  pack_columns(lu, upper + (int64_t)update->first * bs, from.ld, p.columns, p.depth,
               scratch->columns);
  subtract_part(lu, to, &p, scratch);
  if (first_right >= last) return;
  p.at = upper + (int64_t)first_right * bs;
  p.rows = (last - first_right) * bs;
  p.row_at = scratch->row_at + (first_right - first) * bs;
  for (int i = 0; i < p.rows; i++) scratch->row_at[(first_right - first) * bs + i] += to->depth;
  pack_columns(lu, lower + (int64_t)update->first * bs, from.ld, p.columns, p.depth,
               scratch->columns);
  subtract_part(lu, to, &p, scratch);
}

/* --- the square --- */

static void load_square(const bsi_lu *lu, const bsi_lu_node *node, double *square) {
  const int w = node->width;
  for (int k = 0; k < w; k++) {
    const int64_t at = node->at + (int64_t)k * node->ld;
    for (int i = 0; i < w; i++)
      square[(size_t)k * (size_t)w + (size_t)i] = lu->options.storage == BISAI_FP32
                                                      ? (double)((const float *)lu->values)[at + i]
                                                      : ((const double *)lu->values)[at + i];
  }
}

/* Returns the row of the pivot of column k of the square: row k if its magnitude is large enough,
 * or the row of the largest one. A NaN is the largest. */
static int find_pivot(int w, const double *column, int k) {
  int pivot = k;
  for (int i = k + 1; i < w; i++)
    if (!(fabs(column[i]) <= fabs(column[pivot]))) pivot = i;
  return fabs(column[k]) >= KEPT_PIVOT * fabs(column[pivot]) ? k : pivot;
}

/* Returns the pivot to work with, and counts what is wrong with it. */
static double accept_pivot(double pivot, double threshold, int64_t column, bsi_lu_found *found) {
  const double size = fabs(pivot);
  if (!isfinite(pivot)) {
    if (found->infinite < 0 || column < found->infinite) found->infinite = column;
    return 1.0;
  }
  if (size < threshold) {
    found->raised++;
    if (found->first_raised < 0 || column < found->first_raised) found->first_raised = column;
    return copysign(threshold, pivot);
  }
  if (size == 0.0) {
    if (found->singular < 0 || column < found->singular) found->singular = column;
    return 1.0;
  }
  if (size < found->smallest) found->smallest = size;
  if (size > found->largest) found->largest = size;
  return pivot;
}

static void swap_rows(int w, double *square, int a, int b) {
  for (int j = 0; j < w; j++, square += w) {
    const double value = square[a];
    square[a] = square[b];
    square[b] = value;
  }
}

/* Packs the triangles: column j of U as column j of a product, and row j of L likewise. */
static void pack_triangles(int w, const double *square, bsi_lu_scratch *scratch) {
  double *lower = scratch->lower, *upper = scratch->upper;
  for (int j = 0; j < w; j += BSI_TILE_COLUMNS)
    for (int k = 0; k < w; k++)
      for (int c = 0; c < BSI_TILE_COLUMNS; c++) {
        const bool inside = j + c < w;
        *upper++ = inside ? square[(size_t)(j + c) * (size_t)w + (size_t)k] : 0.0;
        *lower++ = inside ? square[(size_t)k * (size_t)w + (size_t)(j + c)] : 0.0;
      }
}

void bsi_lu_factor_square(const bsi_lu *lu, int32_t s, double threshold, bsi_lu_scratch *scratch,
                          bsi_lu_found *found) {
  const bsi_lu_node node = bsi_lu_node_of(lu, s);
  const int w = node.width;
  const int64_t first = (int64_t)node.begin * lu->bs;
  int32_t *pivot = lu->pivot + first;
  double *square = scratch->square;
  load_square(lu, &node, square);
  for (int k = 0; k < w; k++) pivot[k] = k;
  for (int k = 0; k < w; k++) {
    double *column = square + (size_t)k * (size_t)w;
    const int row = find_pivot(w, column, k);
    if (row != k) {
      const int32_t swapped = pivot[k];
      pivot[k] = pivot[row];
      pivot[row] = swapped;
      swap_rows(w, square, k, row);
    }
    column[k] = accept_pivot(column[k], threshold, first + k, found);
    const double inverse = 1.0 / column[k];
    scratch->inverse_pivots[k] = inverse;
    for (int i = k + 1; i < w; i++) column[i] *= inverse;
    for (int j = k + 1; j < w; j++) {
      double *to = square + (size_t)j * (size_t)w;
      const double factor = to[k];
      for (int i = k + 1; i < w; i++) to[i] -= column[i] * factor;
    }
  }
  pack_triangles(w, square, scratch);
}

/* X ← X T⁻¹ for eight packed rows, where T is packed by columns and has the inverse diagonal
 * `inverse`. */
static void solve_tile(const bsi_lu *lu, int w, const double *triangle, const double *inverse,
                       double *x) {
  double product[BSI_TILE_ROWS * BSI_TILE_COLUMNS];
  for (int first = 0; first < w; first += BSI_TILE_COLUMNS) {
    const double *t = triangle + (size_t)first * (size_t)w;
    lu->product(first, x, t, product);
    for (int j = first; j < first + BSI_TILE_COLUMNS && j < w; j++) {
      double *to = x + j * BSI_TILE_ROWS;
      const double *sum = product + (j - first) * BSI_TILE_ROWS;
      for (int i = 0; i < BSI_TILE_ROWS; i++) to[i] -= sum[i];
      for (int k = first; k < j; k++) {
        const double factor = t[k * BSI_TILE_COLUMNS + j - first];
        for (int i = 0; i < BSI_TILE_ROWS; i++) to[i] -= x[k * BSI_TILE_ROWS + i] * factor;
      }
      for (int i = 0; i < BSI_TILE_ROWS; i++) to[i] *= inverse[j];
    }
  }
}

/* --- rows --- */

#define LOAD(type)                                                                                 \
  do {                                                                                             \
    const type *from = (const type *)lu->values + at;                                              \
    for (int k = 0; k < w; k++)                                                                    \
      for (int i = 0; i < BSI_TILE_ROWS; i++)                                                      \
        tile[k * BSI_TILE_ROWS + i] =                                                              \
            i < rows ? (double)from[(int64_t)(pivot ? pivot[k] : k) * ld + i] : 0.0;               \
  } while (0)
#define STORE(type)                                                                                \
  do {                                                                                             \
    type *to = (type *)lu->values + at;                                                            \
    for (int k = 0; k < w; k++, to += ld)                                                          \
      for (int i = 0; i < rows; i++) to[i] = (type)tile[k * BSI_TILE_ROWS + i];                    \
  } while (0)

/* Solves for up to eight rows of a panel from value `at` on. With `pivot` their columns are
 * permuted first. */
static void solve_some_rows(const bsi_lu *lu, int64_t at, int64_t ld, int rows,
                            const bsi_lu_scratch *triangles, const int32_t *pivot, int w,
                            double *tile) {
  const bool single = lu->options.storage == BISAI_FP32;
  if (single)
    LOAD(float);
  else
    LOAD(double);
  if (pivot)
    solve_tile(lu, w, triangles->lower, triangles->ones, tile);
  else
    solve_tile(lu, w, triangles->upper, triangles->inverse_pivots, tile);
  if (single)
    STORE(float);
  else
    STORE(double);
}

void bsi_lu_solve_rows(const bsi_lu *lu, int32_t s, const bsi_lu_scratch *triangles, int32_t first,
                       int32_t last, double *tile) {
  const bsi_lu_node node = bsi_lu_node_of(lu, s);
  const int32_t *pivot = lu->pivot + (int64_t)node.begin * lu->bs;
  const int64_t lower = node.at + node.width, upper = lower + node.depth,
                end = (int64_t)last * lu->bs;
  for (int64_t i = (int64_t)first * lu->bs; i < end; i += BSI_TILE_ROWS) {
    const int rows = end - i < BSI_TILE_ROWS ? (int)(end - i) : BSI_TILE_ROWS;
    solve_some_rows(lu, lower + i, node.ld, rows, triangles, NULL, node.width, tile);
    solve_some_rows(lu, upper + i, node.ld, rows, triangles, pivot, node.width, tile);
  }
}

void bsi_lu_store_square(const bsi_lu *lu, int32_t s, const bsi_lu_scratch *triangles) {
  const bsi_lu_node node = bsi_lu_node_of(lu, s);
  const double *from = triangles->square;
  for (int k = 0; k < node.width; k++) {
    const int64_t at = node.at + (int64_t)k * node.ld;
    for (int i = 0; i < node.width; i++, from++) {
      if (lu->options.storage == BISAI_FP32)
        ((float *)lu->values)[at + i] = (float)*from;
      else
        ((double *)lu->values)[at + i] = *from;
    }
  }
}
