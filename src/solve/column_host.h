/* SPDX-License-Identifier: BSD-3-Clause */
/* What one block column of N needs on the host: the workspace of a thread, and the store of a
 * block. */
#ifndef BSI_COLUMN_HOST_H
#define BSI_COLUMN_HOST_H

#include "core/block/block_math.h"
#include "core/block/values.h"
#include "solve/isai.h"

/* The workspace of a thread. Block `slots[i]` of `blocks` is the present column's in block row i;
 * -1: it has none there. `blocks` is N's own array if N is stored in fp64, otherwise holds one
 * column, and the system if it is dense. */
typedef struct bsi_isai_scratch {
  int32_t *slots;
  double *blocks;
  bsi_isai_fault fault;
} bsi_isai_scratch;

/* Stores one block of N in its type; in fp64 it is already there. *zero ← true if all its values
 * are stored as zero. Returns true if it fits. */
BSI_INLINE bool bsi_isai_narrow_block(const int bs, const double *x, bisai_bcsr *n,
                                      const size_t first, bool *zero) {
  bool fits = true;
  *zero = true;
  for (int v = 0; v < bs * bs; v++) {
    if (n->type != BISAI_FP64) fits &= bsi_value_store(n->type, x[v], n->values, first + (size_t)v);
    *zero &= bsi_value_load(n->type, n->values, first + (size_t)v) == 0.0;
  }
  return fits;
}

/* Stores one block into N. A block that is `vital` may not vanish. Keeps the first fault of the
 * thread. */
BSI_INLINE void bsi_isai_store_block(const int bs, const double *x, bisai_bcsr *n,
                                     const int32_t position, const int32_t row,
                                     const int32_t column, const bool vital,
                                     bsi_isai_scratch *own) {
  const bool finite = bsi_all_finite((size_t)(bs * bs), x);
  bool fits = finite, zero = false;
  if (finite && (n->type != BISAI_FP64 || vital))
    fits = bsi_isai_narrow_block(bs, x, n, (size_t)position * (size_t)(bs * bs), &zero);
  if ((fits && !(zero && vital)) || (own->fault.column >= 0 && own->fault.column <= column)) return;
  own->fault = (bsi_isai_fault){.column = column,
                                .row = row,
                                .kind = !finite ? BSI_FAULT_NOT_FINITE
                                        : !fits ? BSI_FAULT_OVERFLOW
                                                : BSI_FAULT_UNDERFLOW};
}

/* dense_host.c: the column of a dense system. */
void bsi_isai_solve_dense_column(const bsi_triangular *t, const bsi_isai *isai, int32_t j,
                                 bsi_isai_scratch *own);

#endif
