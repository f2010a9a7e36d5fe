/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrix of bisai that a Mat of type "bisai" shares with preconditioners. */
#ifndef BSI_PETSC_MAT_VALUES_H
#define BSI_PETSC_MAT_VALUES_H

#include "petsc/mat_read.h"

/* The matrix of a Mat of type "bisai" and its context. The Mat shares it with the preconditioners
 * that read it in their applications. New values of the Mat are written to it while only the Mat
 * and the preconditioner that takes these values have it. Otherwise, and for a new pattern, the Mat
 * gets another one. */
typedef struct bsi_mat_values {
  int references;
  bisai_context *context;
  bsi_petsc_copy copy;
  /* the transpose, made when it is first used; NULL: none */
  bisai_bcsr *transposed;
} bsi_mat_values;

/* Gives a reference back and sets it to NULL; accepts NULL. */
void bsi_mat_release(bsi_mat_values **values);

#endif
