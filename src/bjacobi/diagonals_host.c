/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the diagonal blocks of a matrix are, on the host. */
#include "core/backend_host.h"
#include "core/bcsr.h"
#include "core/parallel.h"
#include "core/triangular.h"

enum { ROWS_PER_THREAD = 4096 };

/* Writes positions and returns the first row without a block; or the first one where they are other than expected. */
static int32_t look(const bisai_context *context, const bisai_bcsr *a, const int32_t *expected, int32_t *position) {
  const int threads = bsi_threads_for(context->threads, a->block_rows, ROWS_PER_THREAD);
  int32_t first = -1;
#pragma omp parallel num_threads(threads)
  {
    int32_t mine = -1;
#pragma omp for schedule(static)
    for (int32_t i = 0; i < a->block_rows; i++) {
      const int32_t at = bsi_find_diagonal(a->row_ptr, a->col_idx, i);
      if (position) position[i] = at;
      if (expected ? at != expected[i] : at < 0) bsi_keep_first(&mine, i);
    }
#pragma omp critical(bsi_diagonals)
    bsi_keep_first(&first, mine);
  }
  return first;
}

bisai_status bsi_find_diagonals_host(bisai_context *context, const bisai_bcsr *matrix, int32_t *position,
                                     int32_t *missing) {
  *missing = look(context, matrix, NULL, position);
  return BISAI_OK;
}

bisai_status bsi_compare_diagonals_host(bisai_context *context, const bisai_bcsr *matrix, const int32_t *position,
                                        int32_t *moved) {
  *moved = look(context, matrix, position, NULL);
  return BISAI_OK;
}
