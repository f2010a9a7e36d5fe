/* SPDX-License-Identifier: BSD-3-Clause */
/* One approximate inverse N of a triangular factor T. */
#ifndef BSI_ISAI_H
#define BSI_ISAI_H

#include "core/triangular.h"
#include "pattern/pattern_impl.h"

typedef struct bsi_isai {
  /* owned; N borrows its row form */
  bisai_pattern *pattern;
  /* N, values in the storage type */
  bisai_bcsr *inverse;
  /* host: for each thread, block_rows entries: where a block row stands in the small system, or
   * -1 */
  int32_t *slots;
  /* for each thread, the blocks of one column of N; NULL where the device needs no such memory */
  double *columns;
  /* columns at a time; on a device, groups of lanes */
  int threads;
} bsi_isai;

typedef enum bsi_isai_fault_kind {
  BSI_FAULT_NOT_FINITE,
  /* beyond the storage type */
  BSI_FAULT_OVERFLOW,
  /* a diagonal block all of whose values are too small for it */
  BSI_FAULT_UNDERFLOW
} bsi_isai_fault_kind;

/* The first block column that could not be stored. */
typedef struct bsi_isai_fault {
  /* column -1: none */
  int32_t column, row;
  bsi_isai_fault_kind kind;
} bsi_isai_fault;

/* Reserves N = ISAI(T) on `pattern`, which it takes over also when it fails. Values are unset. */
bisai_status bsi_isai_create(bisai_context *context, const bsi_triangular *t,
                             bisai_pattern *pattern, bisai_value_type storage, bsi_isai *isai);

/* Values for the present values of T; allocates nothing. */
bisai_status bsi_isai_update(bisai_context *context, const bsi_triangular *t, bsi_isai *isai);

void bsi_isai_destroy(bisai_context *context, bsi_isai *isai);

int64_t bsi_isai_memory(const bsi_isai *isai);

#endif
