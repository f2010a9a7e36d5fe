/* SPDX-License-Identifier: BSD-3-Clause */
/* Doing the operations of a cycle. */
#ifndef BSI_CYCLE_OPERATIONS_H
#define BSI_CYCLE_OPERATIONS_H

#include "multigrid/level/hierarchy_impl.h"

/* Does an operation at once. */
bisai_status bsi_operation_run(bisai_context *context, const bsi_operation *s);
/* Does an operation of a level, or records it if the coarse graph is being recorded. A relaxation
 * or a residual may wait for others on the same matrix, at most until bsi_operations_end(). */
bisai_status bsi_operation_do(bsi_hierarchy *h, const bsi_level *level,
                              const bsi_operation *operation);
/* Does the operations that wait. */
bisai_status bsi_operations_end(bsi_hierarchy *h);

#endif
