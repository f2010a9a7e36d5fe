/* SPDX-License-Identifier: BSD-3-Clause */
#include "petsc/mat_values.h"

void bsi_mat_release(bsi_mat_values **values) {
  bsi_mat_values *v = *values;
  *values = NULL;
  if (!v || --v->references > 0) return;
  bisai_bcsr_destroy(&v->transposed);
  bisai_bcsr_destroy(&v->copy.matrix);
  bisai_context_destroy(&v->context);
  (void)PetscFree(v);
}
