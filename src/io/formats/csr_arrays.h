/* SPDX-License-Identifier: BSD-3-Clause */
/* A square scalar CSR matrix that is read from a file. */
#ifndef BSI_CSR_ARRAYS_H
#define BSI_CSR_ARRAYS_H

#include <stdint.h>

#include "core/context/context_impl.h"
#include "core/csr/csr.h"

typedef struct bsi_csr {
  /* the limit on all memory of the reading; `held` counts the arrays below */
  bsi_limit limit;
  /* the block size of the result; 0: not yet known */
  int32_t block_size;
  int32_t rows;
  int32_t *row_ptr, *col;
  double *value;
} bsi_csr;

/* Sets the number of rows. Fails if a matrix of so many rows exceeds the limit even without
 * entries. */
static inline bisai_status bsi_csr_set_rows(bisai_context *context, bsi_csr *csr, int64_t rows) {
  csr->rows = (int32_t)rows;
  return bsi_limit_check(context, &csr->limit, bsi_csr_least_bytes(rows, csr->block_size));
}

static inline void bsi_csr_free(bisai_context *context, bsi_csr *csr) {
  bsi_release(context, csr->row_ptr);
  bsi_release(context, csr->col);
  bsi_release(context, csr->value);
  *csr = (bsi_csr){0};
}

#endif
