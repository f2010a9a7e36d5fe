/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of a block matrix A in blocks of one value, without zeros. Products with A are products
 * with a copy S if S has all nonzero values of A, and no others but zeros. */
#ifndef BSI_SCALAR_COPY_H
#define BSI_SCALAR_COPY_H

#include "core/block/block_math.h"
#include "core/context/backend.h"
#include "multigrid/spgemm/block_matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

/* *copy ← the nonzero values of A, and all diagonal entries. The caller owns *copy, also after a
 * failure. */
bisai_status bsi_scalar_copy_create(bisai_context *context, const bisai_bcsr *a, bisai_bcsr **copy);
/* Takes new values of A. Refuses a nonzero value that has no place in the copy. Allocates nothing.
 * */
bisai_status bsi_scalar_copy_update(bisai_context *context, const bisai_bcsr *a, bisai_bcsr *copy);

/* A backend's operations on copies. */
typedef struct bsi_scalar_copy_ops {
  /* c ← the numbers and row_ptr of a matrix that has the nonzero values of A as blocks of one
   * value, and all diagonal entries, which are 0 where A does not store the block. Reserves row_ptr
   * and col_idx. After a failure the caller destroys c. Waits. */
  bisai_status (*rows)(bisai_context *, const bisai_bcsr *a, bsi_block_matrix *c);
  /* col_idx and values of c, after rows(). */
  bisai_status (*fill)(bisai_context *, const bisai_bcsr *a, bsi_block_matrix *c);
  /* Values of c ← new values of A. *lost ← the first scalar row with a nonzero value that has no
   * place in c, or −1. Waits. */
  bisai_status (*values)(bisai_context *, const bisai_bcsr *a, bsi_block_matrix *c, int32_t *lost);
  /* *equal ← true if S, in blocks of one value, has the nonzero values of A, and no others but
   * zeros. Both are in fp64 and have the same scalar rows. Waits. */
  bisai_status (*equal)(bisai_context *, const bisai_bcsr *a, const bisai_bcsr *s, bool *equal);
} bsi_scalar_copy_ops;

extern const bsi_scalar_copy_ops bsi_scalar_copy_host, bsi_scalar_copy_cuda;

/* A in blocks of bs × bs, and S in single values. */
typedef struct bsi_scalar_pair {
  int bs;
  const int32_t *row_ptr, *col_idx, *s_ptr, *s_col;
  const double *values, *s_values;
} bsi_scalar_pair;

static inline bsi_scalar_pair bsi_scalar_pair_of(const bisai_bcsr *a, const bisai_bcsr *s) {
  const bsi_scalar_pair pair = {a->block_size,
                                a->row_ptr,
                                a->col_idx,
                                s->row_ptr,
                                s->col_idx,
                                (const double *)a->values,
                                (const double *)s->values};
  return pair;
}

/* Returns true if scalar row r of block row i of A has the values of row i·bs + r of S. A NaN
 * equals nothing. */
BSI_INLINE bool bsi_scalar_row_is_equal(const bsi_scalar_pair *of, const int32_t i, const int r) {
  const int bs = of->bs;
  const int32_t row = i * bs + r, end = of->s_ptr[row + 1];
  int32_t at = of->s_ptr[row];
  bool equal = true;
  for (int32_t p = of->row_ptr[i]; p < of->row_ptr[i + 1]; p++)
    for (int c = 0; c < bs; c++) {
      const double value =
          of->values[((size_t)p * (size_t)bs + (size_t)c) * (size_t)bs + (size_t)r];
      const bool there = at < end && of->s_col[at] == of->col_idx[p] * bs + c;
      equal = equal && value == (there ? of->s_values[at] : 0.0);
      if (there) at++;
    }
  return equal && at == end;
}

#ifdef __cplusplus
}
#endif

#endif
