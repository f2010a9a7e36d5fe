/* SPDX-License-Identifier: BSD-3-Clause */
/* One approximate inverse N of a triangular factor T. */
#ifndef BSI_ISAI_H
#define BSI_ISAI_H

#include "core/triangular.h"
#include "pattern/pattern.h"

typedef struct bsi_isai {
  bisai_pattern *pattern; /* owned; N borrows its row form */
  bisai_bcsr *inverse;    /* N, values in the storage type */
  int32_t *slots;  /* host: for each thread, block_rows entries: where a block row stands in the small system, or -1 */
  double *columns; /* for each thread, the blocks of one column of N; NULL where the device needs no such memory */
  int threads;     /* columns at a time; on a device, groups of lanes */
} bsi_isai;

typedef enum bsi_isai_fault_kind {
  BSI_NOT_FINITE,
  BSI_OVERFLOWS, /* beyond the storage type */
  BSI_VANISHES   /* a diagonal block all of whose values are too small for it */
} bsi_isai_fault_kind;

/* The first block column that could not be stored. */
typedef struct bsi_isai_fault {
  int32_t column, row; /* column -1: none */
  bsi_isai_fault_kind kind;
} bsi_isai_fault;

/* Reserves N = ISAI(T) on `pattern`, which it takes over also when it fails. Values are unset. */
bisai_status bsi_isai_create(bisai_context *context, const bsi_triangular *t, bisai_pattern *pattern,
                             bisai_value_type storage, bsi_isai *isai);

/* Values for the present values of T; allocates nothing. */
bisai_status bsi_isai_update(bisai_context *context, const bsi_triangular *t, bsi_isai *isai);

void bsi_isai_destroy(bisai_context *context, bsi_isai *isai);

int64_t bsi_isai_memory(const bsi_isai *isai);

#endif
