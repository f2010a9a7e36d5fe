/* SPDX-License-Identifier: BSD-3-Clause */
/* A triangular factor with its level schedule, for solves. */
#ifndef BSI_TRIANGULAR_H
#define BSI_TRIANGULAR_H

#include <bisai/factor.h>
#include <bisai/pattern.h>

#include "core/block/block_invert.h"
#include "core/matrix/bcsr_impl.h"
#include "core/threads/team.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The rows of a triangular matrix by levels. The rows of a level depend on earlier levels only. */
typedef struct bsi_levels {
  int32_t count;
  /* count + 1 level pointers in host memory; NULL if the backend has memory of its own */
  int32_t *ptr;
  /* the rows, ascending within a level; backend memory */
  int32_t *rows;
} bsi_levels;

typedef struct bsi_triangular {
  bisai_triangle triangle;
  /* with diagonal blocks stored, or an implied identity */
  const bisai_bcsr *matrix;
  /* block_rows·bs² values; NULL: the identity is implied */
  const double *inverse_diagonal;
  const bsi_levels *levels;
  /* a vector in backend memory for solutions in place; NULL if the backend does not need one */
  double *spare;
} bsi_triangular;

/* Statistics of the inversion of many diagonal blocks. */
typedef struct bsi_invert_stats {
  /* the first row with a singular block, -1: none */
  int32_t singular_row;
  /* the first row of L or U with a value that is not finite, -1: none */
  int32_t infinite_row;
  int64_t fallbacks, repairs;
  /* -1: none */
  int32_t first_repair_row;
  double largest_condition;
  int32_t largest_condition_row;
} bsi_invert_stats;

/* Counts the levels without listing their rows. */
bisai_status bsi_levels_count(bisai_context *context, bisai_triangle triangle, int32_t n,
                              const int32_t *row_ptr, const int32_t *col_idx, int32_t *count);
/* Makes a level schedule from a structure in host memory. */
bisai_status bsi_levels_create(bisai_context *context, bisai_triangle triangle, int32_t n,
                               const int32_t *row_ptr, const int32_t *col_idx, bsi_levels *levels);
void bsi_levels_destroy(bisai_context *context, bsi_levels *levels);

/* Returns true if a solve should go by levels. AUTO: there are enough threads to compensate for the
 * scattered rows, which one thread reads 1.5 to 3.5 times as slowly as consecutive rows, and a
 * level takes longer than a barrier. `bytes` is the size of all levels. */
bool bsi_levels_pay(const bsi_levels *levels, int threads, bisai_schedule schedule, int64_t bytes);

/* Returns the number of threads for one level. The caller alone does a level that is done before
 * other threads wake up. `bytes` is the size of all levels. */
int bsi_level_threads(const bsi_levels *levels, int32_t level, int threads, int64_t bytes);

/* Adds the inversion of one block to the statistics. Rows may come in any order. */
static inline void bsi_invert_stats_count(bsi_invert_stats *stats, bsi_block_result result,
                                          double condition, int32_t row) {
  if (result == BSI_BLOCK_SINGULAR) bsi_min_index(&stats->singular_row, row);
  if (result == BSI_BLOCK_FALLBACK) stats->fallbacks++;
  if (result == BSI_BLOCK_REPAIRED) {
    stats->repairs++;
    bsi_min_index(&stats->first_repair_row, row);
  }
  if (condition > stats->largest_condition ||
      (condition == stats->largest_condition && row < stats->largest_condition_row)) {
    stats->largest_condition = condition;
    stats->largest_condition_row = row;
  }
}

/* Adds the statistics of another thread. The result does not depend on the order. */
void bsi_invert_stats_merge(bsi_invert_stats *into, const bsi_invert_stats *from);

/* The partial results of `threads` threads are such statistics: initialises them before a run, and
 * adds them up after it. */
void bsi_invert_stats_clear_partials(bisai_context *context, int threads);
void bsi_invert_stats_merge_partials(bisai_context *context, int threads, bsi_invert_stats *into);

/* Returns BISAI_OK, BISAI_SINGULAR_BLOCK with the message "WHERE" + "block row 7: the diagonal
 * block is singular", or BISAI_NOT_FINITE if a row overflowed before that. */
bisai_status bsi_invert_stats_judge(bisai_context *context, const char *where,
                                    const bisai_bcsr *matrix, const bsi_invert_stats *stats);

#define BSI_INVERT_STATS_NONE                                                                      \
  ((bsi_invert_stats){.singular_row = -1,                                                          \
                      .infinite_row = -1,                                                          \
                      .first_repair_row = -1,                                                      \
                      .largest_condition_row = -1})

#ifdef __cplusplus
}
#endif

#endif
