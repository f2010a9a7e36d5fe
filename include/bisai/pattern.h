/* SPDX-License-Identifier: BSD-3-Clause */
/** @file pattern.h Sparsity patterns of approximate inverses: S(|T|^k) on the block graph, or the
 *  caller's own. Source: Ma et al. 2021, section 3.1; integers only, so that an entry that cancels
 *  numerically stays. */
#ifndef BISAI_PATTERN_H
#define BISAI_PATTERN_H

#include <bisai/bcsr.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A triangular block pattern with full diagonal. */
typedef struct bisai_pattern bisai_pattern;

/** Which triangle. */
typedef enum bisai_triangle { BISAI_LOWER = 0, BISAI_UPPER = 1 } bisai_triangle;

/** S(|T|^power), T the lower or upper triangle of a square `matrix` with the diagonal always
 *  counted as present. Bitwise repeatable for any number of threads.
 *  @param power    k ≥ 1
 *  @param pattern  out; untouched on failure; free with bisai_pattern_destroy()
 *  @retval BISAI_INVALID_ARGUMENT  not square, power < 1
 *  @retval BISAI_INDEX_OVERFLOW    more than 2³¹−1 blocks
 *  @retval BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_pattern_power(bisai_context *context, const bisai_bcsr *matrix,
                                           bisai_triangle triangle, int power,
                                           bisai_pattern **pattern);

/** A pattern given by the caller in host or, with a context on a device, device memory, copied:
 *  block row i has the columns col_idx[row_ptr[i]] … ascending.
 *  @retval BISAI_INVALID_STRUCTURE  not ascending, out of range, outside the triangle, duplicate
 *  @retval BISAI_MISSING_DIAGONAL   names the block row */
BISAI_API bisai_status bisai_pattern_create(bisai_context *context, bisai_triangle triangle,
                                            int32_t block_rows, const int32_t *row_ptr,
                                            const int32_t *col_idx, bisai_pattern **pattern);

/** Frees *pattern and sets it to NULL; accepts NULL and pointers to NULL. */
BISAI_API void bisai_pattern_destroy(bisai_pattern **pattern);

/** lower or upper */
BISAI_API bisai_triangle bisai_pattern_triangle(const bisai_pattern *pattern);
BISAI_API int32_t bisai_pattern_block_rows(const bisai_pattern *pattern); /**< of its matrix */
/** blocks, diagonal included */
BISAI_API int32_t bisai_pattern_blocks(const bisai_pattern *pattern);
/** blocks of the longest block column */
BISAI_API int32_t bisai_pattern_longest_column(const bisai_pattern *pattern);
/** Dependent steps of a triangular solve, counted when first asked for; -1 where there is no memory
 *  for that. */
BISAI_API int32_t bisai_pattern_levels(const bisai_pattern *pattern);

/** Copies row pointers (block_rows + 1) and columns (bisai_pattern_blocks()) into host memory of
 *  the caller; either may be NULL.
 *  @retval BISAI_INVALID_ARGUMENT  no pattern
 *  @retval BISAI_DEVICE_ERROR */
BISAI_API bisai_status bisai_pattern_fetch(const bisai_pattern *pattern, int32_t *row_ptr,
                                           int32_t *col_idx);

/** Row pointers and columns (ascending) in the backend's memory, owned by the pattern. */
BISAI_API void bisai_pattern_arrays(const bisai_pattern *pattern, const int32_t **row_ptr,
                                    const int32_t **col_idx);

#ifdef __cplusplus
}
#endif
#endif
