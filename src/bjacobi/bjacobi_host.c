/* The numbers of block-Jacobi on the host: every block is extracted, decomposed, rounded and stored by one thread. */
#include "core/backend_host.h"
#include "core/block_sizes.h"
#include "core/parallel.h"

#include "bjacobi/bjacobi.h"

#include <string.h>

enum { BLOCKS_PER_THREAD = 256 };

typedef bsi_block_result invert_function(double *a, double amount, const double *row, int32_t count, double *inverse,
                                         double *condition);

#define STAMP(BS)                                                                                                      \
  static bsi_block_result invert_##BS(double *a, double amount, const double *row, int32_t count, double *inverse,     \
                                      double *condition) {                                                             \
    return bsi_block_invert_shifted(BS, a, amount, row, count, inverse, condition);                                    \
  }
BSI_BLOCK_SIZES(STAMP)
#undef STAMP
#define ENTRY(BS) [BS] = invert_##BS,
static invert_function *const invert_functions[BSI_SPECIAL_SIZES + 1] = {NULL, BSI_BLOCK_SIZES(ENTRY)};
#undef ENTRY

/* The inverse of block `position` of block row i, from a copy that a shift may change. */
static bsi_block_result invert_row(const bisai_bcsr *a, int32_t i, int32_t position, double amount, double *inverse,
                                   double *condition) {
  const int bs = a->block_size;
  const size_t values = (size_t)(bs * bs);
  const double *blocks = a->values, *row = blocks + (size_t)a->row_ptr[i] * values;
  const int32_t count = a->row_ptr[i + 1] - a->row_ptr[i];
  double block[BSI_MAX_BLOCK_VALUES];
  if (position < 0)
    memset(block, 0, values * sizeof *block);
  else
    memcpy(block, blocks + (size_t)position * values, values * sizeof *block);
  return bs <= BSI_SPECIAL_SIZES ? invert_functions[bs](block, amount, row, count, inverse, condition)
                                 : bsi_block_invert_shifted(bs, block, amount, row, count, inverse, condition);
}

bisai_status bsi_invert_blocks_host(bisai_context *context, const bisai_bcsr *matrix, const int32_t *position,
                                    double shift_amount, double *inverses, bsi_invert_stats *stats) {
  const int32_t n = matrix->block_rows;
  const size_t values = bsi_block_offset(matrix, 1);
  const int threads = bsi_threads_for(context->threads, n, BLOCKS_PER_THREAD);
#pragma omp parallel num_threads(threads)
  {
    bsi_invert_stats mine = BSI_INVERT_STATS_NONE;
#pragma omp for schedule(static)
    for (int32_t i = 0; i < n; i++) {
      double condition;
      const bsi_block_result result =
          invert_row(matrix, i, position[i], shift_amount, inverses + (size_t)i * values, &condition);
      bsi_invert_stats_count(&mine, result, condition, i);
    }
#pragma omp critical(bsi_invert_stats)
    bsi_invert_stats_merge(stats, &mine);
  }
  return BISAI_OK;
}

static bool as_before(const bsi_bjacobi *jacobi) {
  return jacobi->natural && jacobi->options.form == BISAI_FORM_INVERSE && jacobi->options.storage == BISAI_FP64;
}

bisai_status bsi_bjacobi_find_host(bisai_context *context, const bisai_bcsr *matrix, int32_t most,
                                   bsi_partition *partition) {
  (void)matrix, (void)partition;
  return bsi_fail(context, BISAI_UNSUPPORTED, "blocks of at most %d rows: natural blocks alone are there", most);
}

bisai_status bsi_bjacobi_layout_host(bisai_context *context, bsi_bjacobi *jacobi) {
  (void)jacobi;
  return bsi_fail(context, BISAI_UNSUPPORTED, "blocks of several sizes: natural blocks alone are there");
}

bisai_status bsi_bjacobi_reserve_host(bisai_context *context, const bisai_bcsr *matrix, bsi_bjacobi *jacobi) {
  (void)matrix;
  if (as_before(jacobi)) return BISAI_OK;
  return bsi_fail(context, BISAI_UNSUPPORTED, "block-Jacobi: inverses of natural blocks in fp64 alone are there");
}

bisai_status bsi_bjacobi_values_host(bisai_context *context, const bisai_bcsr *matrix, bsi_bjacobi *jacobi) {
  jacobi->stats.formats[BISAI_FP64] = jacobi->partition.blocks;
  jacobi->stats.value_bytes = jacobi->values * jacobi->slot_bytes;
  return bsi_invert_blocks_host(context, matrix, jacobi->position, jacobi->options.shift_amount, jacobi->data,
                                &jacobi->stats.inversion);
}

bisai_status bsi_bjacobi_apply_host(bisai_context *context, const bsi_bjacobi *jacobi, int32_t count, const double *x,
                                    int64_t ldx, double *y, int64_t ldy) {
  return bsi_diagonal_product_host(context, jacobi->block_rows, jacobi->block_size, jacobi->data, count, x, ldx, y,
                                   ldy);
}
