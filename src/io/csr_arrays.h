/* A square scalar CSR matrix on its way from a file. */
#ifndef BSI_CSR_ARRAYS_H
#define BSI_CSR_ARRAYS_H

#include <stdint.h>

#include "core/context.h"

typedef struct bsi_csr {
  int32_t rows;
  int32_t *row_ptr, *col;
  double *value;
} bsi_csr;

static inline void bsi_csr_free(bisai_context *context, bsi_csr *csr) {
  bsi_release(context, csr->row_ptr);
  bsi_release(context, csr->col);
  bsi_release(context, csr->value);
  *csr = (bsi_csr){0};
}

#endif
