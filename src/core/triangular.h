/* SPDX-License-Identifier: BSD-3-Clause */
/* One triangular factor as solves see it, and its level schedule. */
#ifndef BSI_TRIANGULAR_H
#define BSI_TRIANGULAR_H

#include <bisai/factor.h>
#include <bisai/pattern.h>

#include "core/bcsr_impl.h"
#include "core/block_math.h"
#include "core/team.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows of a triangular matrix grouped so that those of a level depend on earlier levels only. */
typedef struct bsi_levels {
  int32_t count;
  /* count + 1, host memory; NULL where the rows are elsewhere */
  int32_t *ptr;
  /* ascending within a level; backend memory */
  int32_t *rows;
} bsi_levels;

typedef struct bsi_triangular {
  bisai_triangle triangle;
  /* diagonal blocks stored, or implied identities */
  const bisai_bcsr *matrix;
  /* block_rows·bs², NULL where the identity is implied */
  const double *inverse_diagonal;
  const bsi_levels *levels;
  /* backend memory: a vector for solutions in place, where the backend needs one */
  double *spare;
} bsi_triangular;

/* What the inversion of many diagonal blocks met. */
typedef struct bsi_invert_stats {
  /* the first singular one, -1: none */
  int32_t singular_row;
  /* the first row of L or U with a value that is not finite, -1: none */
  int32_t infinite_row;
  int64_t fallbacks, repairs;
  /* -1: none */
  int32_t first_repair_row;
  double largest_condition;
  int32_t largest_condition_row;
} bsi_invert_stats;

/* How many levels there are, without the lists of their rows. */
bisai_status bsi_levels_count(bisai_context *context, bisai_triangle triangle, int32_t n,
                              const int32_t *row_ptr, const int32_t *col_idx, int32_t *count);
/* From a structure in host memory, like the count. */
bisai_status bsi_levels_create(bisai_context *context, bisai_triangle triangle, int32_t n,
                               const int32_t *row_ptr, const int32_t *col_idx, bsi_levels *levels);
void bsi_levels_destroy(bisai_context *context, bsi_levels *levels);

/* Whether to go by levels; AUTO: with threads enough to make up for rows that lie anywhere, which
 * one thread reads 1.5 to 3.5 times as slowly as one after the other, and where a level, of `bytes`
 * of them all together, takes longer than a barrier. */
bool bsi_levels_pay(const bsi_levels *levels, int threads, bisai_schedule schedule, int64_t bytes);

/* Threads for one level, of `bytes` of them all together: the caller alone where a level is done
 * before others have heard of it. */
int bsi_level_threads(const bsi_levels *levels, int32_t level, int threads, int64_t bytes);

/* Counts the inversion of one block into the statistics; rows may come in any order. */
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

/* Adds what another thread met; the outcome does not depend on the order. */
void bsi_invert_stats_merge(bsi_invert_stats *into, const bsi_invert_stats *from);

/* The same where the notes of `threads` threads are such statistics: before a run, and after it. */
void bsi_invert_stats_clear_partials(bisai_context *context, int threads);
void bsi_invert_stats_merge_partials(bisai_context *context, int threads, bsi_invert_stats *into);

/* BISAI_SINGULAR_BLOCK and "WHERE" + "block row 7: the diagonal block is singular",
 * BISAI_NOT_FINITE where a row overflowed first, or BISAI_OK. */
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
