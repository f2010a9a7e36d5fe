/* SPDX-License-Identifier: BSD-3-Clause */
/* An approximate inverse N of a triangular factor T. */
#ifndef BSI_ISAI_H
#define BSI_ISAI_H

#include "core/matrix/triangular.h"
#include "pattern/pattern_impl.h"

typedef struct bsi_isai {
  /* the pattern of N, owned; N borrows its row form */
  bisai_pattern *pattern;
  /* N with values in the storage type */
  bisai_bcsr *inverse;
  /* on the host, block_rows entries for each thread: the position of a block row in the small
   * system, or -1 */
  int32_t *slots;
  /* for each thread, the blocks of one column of N; NULL: the device needs no such memory */
  double *columns;
  /* the number of columns at a time; on a device, of groups of lanes */
  int threads;
} bsi_isai;

typedef enum bsi_isai_fault_kind {
  BSI_FAULT_NOT_FINITE,
  /* too large for the storage type */
  BSI_FAULT_OVERFLOW,
  /* a diagonal block all of whose values are too small for the storage type */
  BSI_FAULT_UNDERFLOW
} bsi_isai_fault_kind;

/* The first block column with a block that cannot be stored. */
typedef struct bsi_isai_fault {
  /* column -1: none */
  int32_t column, row;
  bsi_isai_fault_kind kind;
} bsi_isai_fault;

/* Reserves N = ISAI(T) on `pattern`, and takes over the pattern even if it fails. Values are
 * unset. */
bisai_status bsi_isai_create(bisai_context *context, const bsi_triangular *t,
                             bisai_pattern *pattern, bisai_value_type storage, bsi_isai *isai);

/* Computes N from the present values of T. Allocates nothing. */
bisai_status bsi_isai_update(bisai_context *context, const bsi_triangular *t, bsi_isai *isai);

void bsi_isai_destroy(bisai_context *context, bsi_isai *isai);

int64_t bsi_isai_memory(const bsi_isai *isai);

#endif
