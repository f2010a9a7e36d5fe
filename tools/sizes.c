/* SPDX-License-Identifier: BSD-3-Clause */
#include "sizes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "message.h"

enum { MOST_SUGGESTED = 3, MOST_BYTES = 3 /* times the bytes of the cheapest size */ };

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
  for (size_t i = 0; status == BISAI_OK && i < rows; ++i) {
    const int32_t end = row_ptr[i + 1];
    for (int32_t p = begin; p < end; ++p) {
      if (values[p] != 0) col_idx[kept++] = col_idx[p];
    }
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
  if (status == BISAI_OK) status = fetch_nonzeros(scalar, &csr);
  if (status == BISAI_OK) status = bisai_block_size_study(context, &csr, sizes, &chosen);
  free((int32_t *)csr.row_ptr);
  free((int32_t *)csr.col_idx);
  bisai_bcsr_destroy(&scalar);
  return status;
}

static bool may_be_the_blocks(const run_result *r) {
  static const char *const reasons[] = {"missing_diagonal", "singular_block", "stagnated",
                                        "max_iterations"};
  for (size_t i = 0; i < sizeof reasons / sizeof *reasons; ++i) {
    if (!method_is(&r->m, BISAI_PRECOND_NONE) && strcmp(r->reason, reasons[i]) == 0) return true;
  }
  return false;
}

static int compare_bytes(const void *a, const void *b) {
  int64_t x = ((const bisai_block_size_info *)a)->bytes,
          y = ((const bisai_block_size_info *)b)->bytes;
  return (x > y) - (x < y);
}

/* Returns true if a size may do better than one that has `singular` singular diagonal blocks.
 * `least` is the number of bytes of the cheapest size. */
static bool may_do_better(const bisai_block_size_info *s, int32_t singular, int64_t least) {
  return s->block_rows >= 2 && s->sound && s->bytes <= MOST_BYTES * least &&
         (singular == 0 || s->singular_diagonals < singular);
}

void sizes_suggest(bisai_context *context, const problem *p, int count, const run_result *results) {
  bisai_block_size_info sizes[BISAI_CHOSEN_SIZES];
  int32_t better[MOST_SUGGESTED];
  char text[256] = "";
  bool needed = false;
  for (int i = 0; i < count; ++i) {
    needed = needed || may_be_the_blocks(&results[i]);
  }
  if (!needed || study(context, p, sizes) != BISAI_OK) return;
  int32_t bs = bisai_bcsr_block_size(p->matrix),
          singular = bs <= BISAI_CHOSEN_SIZES ? sizes[bs - 1].singular_diagonals : 0;
  qsort(sizes, BISAI_CHOSEN_SIZES, sizeof *sizes, compare_bytes);
  int found = 0;
  for (int i = 0; i < BISAI_CHOSEN_SIZES && found < MOST_SUGGESTED; ++i) {
    if (sizes[i].block_size != bs && may_do_better(&sizes[i], singular, sizes[0].bytes))
      better[found++] = sizes[i].block_size;
  }
  if (found == 0) return;
  for (int i = 0; i < found; ++i) {
    size_t length = strlen(text);
    snprintf(text + length, sizeof text - length, "%s%" PRId32,
             i == 0          ? ""
             : i + 1 < found ? ", "
                             : " or ",
             better[i]);
  }
  if (singular > 0) {
    say("%s: %" PRId32 " diagonal block%s of size %" PRId32
        " cannot be inverted; a --block-size of %s may do better",
        p->name, singular, singular == 1 ? "" : "s", bs, text);
  } else {
    say("%s: a --block-size of %s instead of %" PRId32 " may do better (see bisai info)", p->name,
        text, bs);
  }
}
