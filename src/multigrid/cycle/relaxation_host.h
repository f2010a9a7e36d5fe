/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of a relaxation on the host, which single steps and chains of steps share. */
#ifndef BSI_RELAXATION_HOST_H
#define BSI_RELAXATION_HOST_H

#include "core/matrix/bcsr_impl.h"
#include "multigrid/level/operation.h"

/* The arguments of bsi_cycle_ops::relax, whose vectors are in fp64. There may be no inverses here:
 * y ← b − A x then. */
typedef struct bsi_relaxation {
  const bisai_bcsr *a;
  bsi_inverse inverse;
  double alpha, beta;
  const double *b, *x, *previous;
  double *y;
  /* A and D⁻¹ are in the cache, and need no prefetching */
  bool cached;
  /* the rows of y that are computed; NULL: all */
  const struct bsi_row_list *rows;
} bsi_relaxation;

static inline bsi_relaxation bsi_relaxation_of(const bsi_operation *o) {
  return (bsi_relaxation){o->matrix, o->inverse,     o->alpha, o->beta, o->b.at,
                          o->x.at,   o->previous.at, o->y.at,  false,   o->ranks.rows};
}

/* Computes the block rows begin … end − 1 of y. */
void bsi_relax_rows(const bsi_relaxation *j, int32_t begin, int32_t end);

#endif
