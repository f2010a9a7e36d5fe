/* SPDX-License-Identifier: BSD-3-Clause */
#include "multigrid/smoothers/relaxation.h"

#include "multigrid/cycle/operations.h"
#include "multigrid/halo/split.h"

void bsi_same_damping(void *user, int32_t k, double *alpha, double *beta) {
  (void)k;
  *alpha = 0.0;
  *beta = *(const double *)user;
}

bisai_status bsi_relax(bsi_hierarchy *h, bsi_level *level, const bsi_relaxations *r, bsi_vector b,
                       bsi_vector from, bsi_vector to) {
  const int32_t steps = r->count * r->degree;
  bsi_vector x = from, previous = {NULL, false};
  for (int32_t k = 0; k < steps; k++) {
    double alpha = 0.0, beta = 0.0;
    r->coefficients(r->user, k % r->degree, &alpha, &beta);
    const bsi_vector y = bsi_iterate_of(level, k, steps, to);
    BSI_TRY(bsi_operation_do(
        h, level,
        &(bsi_operation){
            .kind = BSI_OPERATION_RELAX,
            .matrix = bsi_cycle_matrix(level),
            .inverse = {level->smoother.inverse, bsi_cycle_inverse(level)},
            .ranks = {level->halo, level->splits ? &level->splits->matrix : NULL, NULL},
            .alpha = alpha,
            .beta = beta,
            .b = b,
            .x = x,
            .previous = previous,
            .y = y}));
    previous = x;
    x = y;
  }
  return BISAI_OK;
}
