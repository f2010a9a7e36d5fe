/* SPDX-License-Identifier: BSD-3-Clause */
/* Options as the texts that give them. */
#ifndef BSI_CHOICE_TEXT_H
#define BSI_CHOICE_TEXT_H

#include <bisai/krylov.h>
#include <bisai/precond.h>

/* text ← the shortest METHOD with these options, as "ilu:level=2:shift=0.01". Pointers have no
 * text. */
void bsi_method_text(const bisai_precond_options *options, size_t size, char *text);

/* text ← the options of the program for a solver, as "idr:s=8" or "gmres --restart 60". */
void bsi_solver_text(const bisai_solver_options *options, size_t size, char *text);

#endif
