/* Inside of a pattern: by rows, as products want it, and by columns, as the small systems do. */
#ifndef BSI_PATTERN_H
#define BSI_PATTERN_H

#include <bisai/pattern.h>

#include "core/context.h"

struct bisai_pattern {
  bisai_context *context;
  bisai_triangle triangle;
  int32_t block_rows, blocks, longest_column, levels;
  int32_t *row_ptr, *col_idx; /* BCSR, columns ascending */
  int32_t *col_ptr, *row_idx; /* block column j: rows row_idx[col_ptr[j]] … ascending */
  int32_t *position;          /* where the entry of the column form lies in the row form */
};

int64_t bsi_pattern_memory(const bisai_pattern *pattern);

#endif
