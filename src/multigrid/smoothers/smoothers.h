/* SPDX-License-Identifier: BSD-3-Clause */
/* The smoothers of multigrid by name. */
#ifndef BSI_SMOOTHERS_H
#define BSI_SMOOTHERS_H

#include "multigrid/level/smoother.h"

/* bsi_smoother_jacobi, … */
#define BSI_DECLARE_SMOOTHER(enumerator, word, name) extern const bsi_smoother bsi_smoother_##name;
BISAI_SMOOTHER_LIST(BSI_DECLARE_SMOOTHER)
#undef BSI_DECLARE_SMOOTHER

/* Returns the table of a smoother. The enumerator is in range. */
const bsi_smoother *bsi_smoother_of(bisai_smoother smoother);

/* Makes what the smoother of a level needs beyond D⁻¹. After a failure bsi_smoother_destroy()
 * releases what was made. */
bisai_status bsi_smoother_create(bsi_hierarchy *h, bsi_level *level);
/* Takes new values of the level's matrix. Allocates nothing. */
bisai_status bsi_smoother_update(bsi_hierarchy *h, bsi_level *level);
void bsi_smoother_destroy(bisai_context *context, bsi_level *level);
/* to ← `count` applications of the smoother, as bsi_smoother::smooth does. */
bisai_status bsi_smooth(bsi_hierarchy *h, bsi_level *level, int32_t count, bsi_vector b,
                        bsi_vector from, bsi_vector to);

#endif
