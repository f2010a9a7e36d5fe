/* SPDX-License-Identifier: BSD-3-Clause */
/* The arrays that updates need and cycles do not.
 *
 *   fast  They are kept. An update allocates nothing.
 *   lean  They are released after creation and after each update, and made again for an update: the
 *         structure of A P, Tᵀ, places of blocks, and in fp64 what cycles read in fp32. There are
 *         no slots of products: kernels search.
 *   auto  As lean until the first update, and as fast from then on.
 *   none  They are released after creation, T and the filter of A T too. There are no updates.
 *
 * With kept transfers, P and R stay in fp64, because updates read what creation computed. */
#ifndef BSI_UPDATES_H
#define BSI_UPDATES_H

#include "multigrid/level/hierarchy_impl.h"

/* Releases what only the Galerkin product of a level has needed. */
void bsi_updates_release_product(const bsi_hierarchy *h, bsi_level *level);
/* Releases in fp64 what cycles of a level read in fp32. A smoother that is a preconditioner may
 * read its matrix. */
void bsi_updates_release_wide(const bsi_hierarchy *h, bsi_level *level);
/* Releases what the hierarchy is to do without. */
void bsi_updates_release(bsi_hierarchy *h);
/* Makes again what bsi_updates_release() has released. After a failure nothing is made. */
bisai_status bsi_updates_renew(bsi_hierarchy *h);

#endif
