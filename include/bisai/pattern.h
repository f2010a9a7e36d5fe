/* SPDX-License-Identifier: BSD-3-Clause */
/** @file pattern.h
 *  Sparsity patterns of approximate inverses: the pattern S(|T|^k) of the k-th power of a block
 *  triangular matrix T, or of a whole one, or the caller's own. Source: Ma et al. 2021, section
 *  3.1. Patterns are computed from the structure alone: blocks that cancel numerically are kept. */
#ifndef BISAI_PATTERN_H
#define BISAI_PATTERN_H

#include <bisai/bcsr.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A block pattern with a full diagonal, of a triangle or of a whole matrix. */
typedef struct bisai_pattern bisai_pattern;

/** The triangles of a matrix. BISAI_WHOLE stands for all of it: only patterns may be that. */
typedef enum bisai_triangle { BISAI_LOWER = 0, BISAI_UPPER = 1, BISAI_WHOLE = 2 } bisai_triangle;

/** Computes S(|T|^power) for the lower or upper triangle T of a square `matrix`, or for all of it.
 *  The diagonal of T always counts as present. Bitwise repeatable for any number of threads.
 *  @param power    k ≥ 1
 *  @param pattern  out; unchanged on failure; free with bisai_pattern_destroy()
 *  @retval BISAI_INVALID_ARGUMENT  the matrix is not square, or power < 1
 *  @retval BISAI_INDEX_OVERFLOW    the pattern has more than 2³¹−1 blocks
 *  @retval BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_pattern_power(bisai_context *context, const bisai_bcsr *matrix,
                                           bisai_triangle triangle, int power,
                                           bisai_pattern **pattern);

/** Creates a pattern from a copy of the caller's arrays. Block row i has the columns
 *  col_idx[row_ptr[i]] … col_idx[row_ptr[i+1]-1], in ascending order. The arrays are in host
 *  memory, or in device memory if the context has a device.
 *  @retval BISAI_INVALID_STRUCTURE  the columns are not ascending, or a column is duplicate, out of
 *                                   range or outside the triangle
 *  @retval BISAI_MISSING_DIAGONAL   a diagonal block is missing; the message names the block row
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_OUT_OF_MEMORY, BISAI_DEVICE_ERROR */
BISAI_API bisai_status bisai_pattern_create(bisai_context *context, bisai_triangle triangle,
                                            int32_t block_rows, const int32_t *row_ptr,
                                            const int32_t *col_idx, bisai_pattern **pattern);

/** Frees *pattern and sets it to NULL; accepts NULL and pointers to NULL. */
BISAI_API void bisai_pattern_destroy(bisai_pattern **pattern);

/** Returns the triangle: lower, upper or whole. */
BISAI_API bisai_triangle bisai_pattern_triangle(const bisai_pattern *pattern);
/** Returns the number of block rows of its matrix. */
BISAI_API int32_t bisai_pattern_block_rows(const bisai_pattern *pattern);
/** Returns the number of blocks, diagonal included. */
BISAI_API int32_t bisai_pattern_blocks(const bisai_pattern *pattern);
/** Returns the number of blocks in the longest block column. */
BISAI_API int32_t bisai_pattern_longest_column(const bisai_pattern *pattern);
/** Returns the number of dependent steps (levels) of a triangular solve. The first call counts
 *  them. Returns -1 if there is not enough memory for counting, or if the pattern is whole. */
BISAI_API int32_t bisai_pattern_levels(const bisai_pattern *pattern);

/** Copies the pattern into the caller's host memory.
 *  @param row_ptr  block_rows + 1 entries, or NULL
 *  @param col_idx  bisai_pattern_blocks() entries, or NULL
 *  @retval BISAI_INVALID_ARGUMENT  the pattern is NULL
 *  @retval BISAI_DEVICE_ERROR */
BISAI_API bisai_status bisai_pattern_fetch(const bisai_pattern *pattern, int32_t *row_ptr,
                                           int32_t *col_idx);

/** Returns the row pointers and the ascending columns, in memory of the backend. The pattern owns
 *  the arrays. */
BISAI_API void bisai_pattern_arrays(const bisai_pattern *pattern, const int32_t **row_ptr,
                                    const int32_t **col_idx);

#ifdef __cplusplus
}
#endif
#endif
