/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of methods and their options. */
#ifndef BSI_METHODS_H
#define BSI_METHODS_H

#include "krylov/run/method.h"

/* The table of a method, or NULL for an unknown one. */
const bsi_method *bsi_method_of(bisai_method method);

/* Refuses unknown methods and options out of range. */
bisai_status bsi_solver_options_check(bisai_context *context, const bisai_solver_options *o);

#endif
