/* SPDX-License-Identifier: BSD-3-Clause */
/* An approximate inverse N of a triangular factor T, or of a matrix itself. */
#ifndef BSI_ISAI_H
#define BSI_ISAI_H

#include "core/matrix/triangular.h"
#include "pattern/pattern_impl.h"

/* The small systems whose solutions are the columns of N. */
typedef enum bsi_isai_systems {
  /* T(J, J) N(J, j) = I(J, j) of a triangular T */
  BSI_SYSTEMS_TRIANGULAR,
  /* the same of any matrix: dense systems, solved by elimination with row pivoting */
  BSI_SYSTEMS_GENERAL,
  /* of a symmetric definite A, with an upper pattern: C Cᵀ = ±A(J, J) by Cholesky, and
   * Cᵀ N(J, j) = I(J, j), so that Nᵀ (±A) N has identities on its diagonal (FSPAI: Kolotilina and
   * Yeremin 1993, Huckle 2003) */
  BSI_SYSTEMS_DEFINITE
} bsi_isai_systems;

typedef struct bsi_isai {
  bsi_isai_systems systems;
  /* of definite systems: 1, or -1 if the matrix is negative definite; otherwise 1 */
  double sign;
  /* the pattern of N, owned; N borrows its row form */
  bisai_pattern *pattern;
  /* N with values in the storage type */
  bisai_bcsr *inverse;
  /* on the host, block_rows entries for each thread: the position of a block row in the small
   * system, or -1 */
  int32_t *slots;
  /* for each thread, `room` values: the blocks of one column of N, and the system if it is dense;
   * NULL: the device needs no such memory */
  double *columns;
  size_t room;
  /* the number of columns at a time; on a device, of groups of lanes */
  int threads;
} bsi_isai;

typedef enum bsi_isai_fault_kind {
  BSI_FAULT_NOT_FINITE,
  /* too large for the storage type */
  BSI_FAULT_OVERFLOW,
  /* a diagonal block all of whose values are too small for the storage type */
  BSI_FAULT_UNDERFLOW,
  /* a pivot of a dense system is zero, or that of a definite one is not positive */
  BSI_FAULT_SINGULAR
} bsi_isai_fault_kind;

/* The first block column with a block that cannot be stored. */
typedef struct bsi_isai_fault {
  /* column -1: none */
  int32_t column, row;
  bsi_isai_fault_kind kind;
} bsi_isai_fault;

/* Reserves N = ISAI(T) on `pattern`, and takes over the pattern even if it fails. Values are
 * unset. Dense systems need nothing of T but its matrix. */
bisai_status bsi_isai_create(bisai_context *context, const bsi_triangular *t,
                             bsi_isai_systems systems, bisai_pattern *pattern,
                             bisai_value_type storage, bsi_isai *isai);

/* Computes N from the present values of T. Allocates nothing. */
bisai_status bsi_isai_update(bisai_context *context, const bsi_triangular *t, bsi_isai *isai);

void bsi_isai_destroy(bisai_context *context, bsi_isai *isai);

int64_t bsi_isai_memory(const bsi_isai *isai);

#endif
