/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations of the small coarse levels, recorded at set-up and done together. */
#ifndef BSI_COARSE_GRAPH_H
#define BSI_COARSE_GRAPH_H

#include "multigrid/level/hierarchy_impl.h"

/* Does a visit to level l (bsi_hierarchy_correct()). */
typedef bisai_status bsi_level_visit(bsi_hierarchy *, int l);

/* Makes the graph of the levels with at most `most_rows` scalar rows. `visit` is recorded. After a
 * failure bsi_coarse_graph_destroy() releases what was made. */
bisai_status bsi_coarse_graph_create(bsi_hierarchy *h, int64_t most_rows, bsi_level_visit *visit);
/* Records the operations again after an update. Allocates nothing. */
bisai_status bsi_coarse_graph_update(bsi_hierarchy *h, bsi_level_visit *visit);
/* Does the recorded operations, which are those of a visit to the first level of the graph. */
bisai_status bsi_coarse_graph_run(bsi_hierarchy *h);
/* Releases the recorded operations: single ones take their place. Accepts a struct of zeros. */
void bsi_coarse_graph_destroy(bisai_context *context, bsi_coarse_graph *graph);

#endif
