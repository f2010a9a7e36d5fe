/* SPDX-License-Identifier: BSD-3-Clause */
#include "sizes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cases.h"
#include "message.h"

/* Times the bytes of the cheapest size: a size that is proposed has at most MOST_BYTES, and one
 * that is poorly filled more than POOR_BYTES. */
enum { MOST_BYTES = 3, POOR_BYTES = 2 };

/* Gives the nonzero entries of a matrix in blocks of size 1. */
static bisai_status fetch_nonzeros(const bisai_bcsr *scalar, bisai_csr_desc *csr) {
  size_t rows = (size_t)bisai_bcsr_block_rows(scalar), entries = (size_t)bisai_bcsr_blocks(scalar);
  int32_t *row_ptr = malloc((rows + 1) * sizeof *row_ptr),
          *col_idx = malloc((entries + 1) * sizeof *col_idx);
  double *values = malloc((entries + 1) * sizeof *values);
  bisai_status status = row_ptr && col_idx && values
                            ? bisai_bcsr_fetch(scalar, row_ptr, col_idx, values)
                            : BISAI_OUT_OF_MEMORY;
  int32_t kept = 0, begin = 0;
  for (size_t i = 0; !status && i < rows; i++) {
    const int32_t end = row_ptr[i + 1];
    for (int32_t p = begin; p < end; p++)
      if (values[p] != 0) col_idx[kept++] = col_idx[p];
    begin = end;
    row_ptr[i + 1] = kept;
  }
  free(values);
  csr->rows = csr->cols = (int32_t)rows;
  csr->row_ptr = row_ptr;
  csr->col_idx = col_idx;
  return status;
}

static bisai_status study(bisai_context *context, const problem *p,
                          bisai_block_size_info sizes[BISAI_CHOSEN_SIZES]) {
  bisai_bcsr *scalar = NULL;
  bisai_csr_desc csr = bisai_csr_desc_default();
  int32_t chosen;
  bisai_status status = case_reblock(context, p->matrix, 1, &scalar);
  if (!status) status = fetch_nonzeros(scalar, &csr);
  if (!status) status = bisai_block_size_study(context, &csr, sizes, &chosen);
  free((int32_t *)csr.row_ptr);
  free((int32_t *)csr.col_idx);
  bisai_bcsr_destroy(&scalar);
  return status;
}

/* Returns the cheapest size whose blocks are sound, with at most `singular` singular diagonal
 * blocks. NULL: there is none, or it has less than two block rows. */
static const bisai_block_size_info *cheapest(const bisai_block_size_info *sizes, int32_t singular) {
  const bisai_block_size_info *best = NULL;
  for (int i = 0; i < BISAI_CHOSEN_SIZES; i++) {
    const bisai_block_size_info *s = &sizes[i];
    if (s->possible && s->sound && s->singular_diagonals <= singular && s->block_rows >= 2 &&
        (!best || s->bytes < best->bytes))
      best = s;
  }
  return best;
}

bool sizes_suggest(bisai_context *context, const problem *p) {
  bisai_block_size_info sizes[BISAI_CHOSEN_SIZES];
  const int32_t bs = bisai_bcsr_block_size(p->matrix);
  if (bs > BISAI_CHOSEN_SIZES || study(context, p, sizes)) return false;
  const bisai_block_size_info *present = &sizes[bs - 1];
  const bisai_block_size_info *regular = cheapest(sizes, 0), *small = cheapest(sizes, INT32_MAX);
  if (present->singular_diagonals > 0 && regular && regular->bytes <= MOST_BYTES * small->bytes) {
    say("%s: %" PRId32 " diagonal block%s of size %" PRId32
        " cannot be inverted: try --block-size %" PRId32 ", which has none",
        p->name, present->singular_diagonals, plural(present->singular_diagonals), bs,
        regular->block_size);
    return true;
  }
  if (present->singular_diagonals == 0 && small && present->bytes > POOR_BYTES * small->bytes) {
    say("%s: blocks of size %" PRId32 " store %.1f times the bytes of blocks of size %" PRId32
        ": try --block-size %" PRId32,
        p->name, bs, (double)present->bytes / (double)small->bytes, small->block_size,
        small->block_size);
    return true;
  }
  return false;
}
