/* SPDX-License-Identifier: BSD-3-Clause */
/* Products with block matrices and solves with block triangles on a backend. */
#ifndef BSI_APPLY_OPS_H
#define BSI_APPLY_OPS_H

#include <bisai/factor.h>

#include "core/context/backend.h"
#include "core/context/context_impl.h"
#include "core/vector/typed_vector.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bsi_columns;    /* core/matrix/bcsr_impl.h */
struct bsi_row_list;   /* core/vector/row_list.h */
struct bsi_triangular; /* core/matrix/triangular.h */

/* Which operands of a product with one vector are in fp32. If one is, A is too. */
typedef struct bsi_narrow_operands {
  bool x, z, y;
} bsi_narrow_operands;

/* The operands of Y ← alpha·A X + beta·Z for `count` vectors, whose leading dimensions need not be
 * set for one vector. Z is not read if beta = 0 and may be Y. The caller reads `cached_bytes` of
 * other vectors again soon. If these and A exceed the cache of a device, the device reads A past
 * the cache. */
typedef struct bsi_product {
  int32_t count;
  double alpha, beta;
  const double *x, *z;
  double *y;
  int64_t ldx, ldz, ldy, cached_bytes;
  /* the rows of Y that are computed; NULL: all */
  const struct bsi_row_list *rows;
  bsi_narrow_operands narrow;
} bsi_product;

/* Returns the product for the vectors from v on: for `most` vectors, or one if fewer are left. */
static inline bsi_product bsi_product_part(const bsi_product *all, int32_t v, int32_t most) {
  bsi_product part = *all;
  part.count = all->count - v >= most ? most : 1;
  part.x += v * all->ldx;
  part.y += v * all->ldy;
  if (part.z) part.z += v * all->ldz;
  return part;
}

typedef struct bsi_product_ops {
  /* An implied unit diagonal is included. */
  bisai_status (*multiply)(bisai_context *, const bisai_bcsr *, const bsi_product *);
  /* Y ← D X for a block-diagonal D of n blocks of size bs. */
  bisai_status (*multiply_diagonal)(bisai_context *, int32_t n, int bs, const double *blocks,
                                    const bsi_product *);
  bsi_load_code *load;
} bsi_product_ops;

/* The product with Aᵀ for a square A, given with its blocks by columns. */
typedef bisai_status bsi_multiply_transposed(bisai_context *, const bisai_bcsr *,
                                             const struct bsi_columns *, const bsi_product *);

/* X ← T⁻¹ B by an exact solve. X may be B. */
typedef bisai_status bsi_solve_triangle(bisai_context *, const struct bsi_triangular *,
                                        bisai_schedule, int32_t count, const double *b, int64_t ldb,
                                        double *x, int64_t ldx);

/* G ← D⁻¹ T_off: the rows of T_off times the inverse diagonal blocks. *infinite_row ← the first row
 * with a value that is not finite, or −1. Waits. */
typedef bisai_status bsi_scale_off_diagonal(bisai_context *, const struct bsi_triangular *,
                                            bisai_bcsr *scaled, int32_t *infinite_row);

typedef struct bsi_apply_ops {
  const bsi_product_ops *products;
  bsi_multiply_transposed *multiply_transposed;
  bsi_solve_triangle *solve_triangle;
  bsi_scale_off_diagonal *scale_off_diagonal;
} bsi_apply_ops;

extern const bsi_product_ops bsi_products_host, bsi_products_cuda;
bsi_multiply_transposed bsi_multiply_transposed_host, bsi_multiply_transposed_cuda;
bsi_solve_triangle bsi_solve_triangle_host, bsi_solve_triangle_cuda;
bsi_scale_off_diagonal bsi_scale_off_diagonal_host, bsi_scale_off_diagonal_cuda;

/* y ← alpha·A x + beta·z for one vector, in these rows or, with NULL, in all. */
static inline bisai_status bsi_multiply_rows(bisai_context *context, const bisai_bcsr *a,
                                             const struct bsi_row_list *rows, double alpha,
                                             bsi_vector x, double beta, bsi_vector z,
                                             bsi_vector y) {
  const bsi_product product = {
      1, alpha, beta, (const double *)x.at,          (const double *)z.at, (double *)y.at, 0, 0,
      0, 0,     rows, {x.narrow, z.narrow, y.narrow}};
  return context->backend->apply->products->multiply(context, a, &product);
}

/* The same in fp64 and in all rows. */
static inline bisai_status bsi_multiply_vector(bisai_context *context, const bisai_bcsr *a,
                                               double alpha, const double *x, double beta,
                                               const double *z, double *y) {
  return bsi_multiply_rows(context, a, NULL, alpha, bsi_wide(x), beta, bsi_wide(z), bsi_wide(y));
}

#ifdef __cplusplus
}
#endif

#endif
