/* SPDX-License-Identifier: BSD-3-Clause */
/* How fast the iteration x ← x + M⁻¹(b − A x) converges. */
#ifndef BSI_ERROR_GROWTH_H
#define BSI_ERROR_GROWTH_H

#include "core/context/operator.h"

/* *factor ← an estimate of ρ(I − M⁻¹A), by power steps. Waits. */
bisai_status bsi_error_growth(bisai_context *context, const bisai_bcsr *a, bsi_operator m,
                              double *factor);

#endif
