/* SPDX-License-Identifier: BSD-3-Clause */
/* Preconditioners as operators for the rooms below (core/context/operator.h). */
#ifndef BSI_PRECOND_OPERATOR_H
#define BSI_PRECOND_OPERATOR_H

#include "core/context/operator.h"

/* Makes a preconditioner of a matrix. */
bsi_operator_create bsi_precond_operator_create;
/* Returns a preconditioner as an operator. The caller keeps its ownership. */
bsi_operator bsi_precond_as_operator(bisai_precond *m);

#endif
