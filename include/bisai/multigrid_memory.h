/* SPDX-License-Identifier: BSD-3-Clause */
/** @file multigrid_memory.h
 *  The account of the memory of multigrid: the arrays of a level and their readers. */
#ifndef BISAI_MULTIGRID_MEMORY_H
#define BISAI_MULTIGRID_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include <bisai/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The parts of the memory of a level. A is its matrix, P and R are the transfers to the next
 *  level, and D are the diagonal blocks of A. Level 0 has no matrix of its own, unless it is a
 *  scalar copy. Arrays of the whole hierarchy count on the level that reads them. */
typedef enum bisai_multigrid_part {
  /** A in fp64: its values, and its indices, which fp32 shares */
  BISAI_MULTIGRID_PART_MATRIX = 0,
  BISAI_MULTIGRID_PART_MATRIX_INDICES = 1,
  /** A in fp32 */
  BISAI_MULTIGRID_PART_MATRIX_FP32 = 2,
  /** D⁻¹ */
  BISAI_MULTIGRID_PART_DIAGONAL = 3,
  /** what the smoother has beside D⁻¹ */
  BISAI_MULTIGRID_PART_SMOOTHER = 4,
  /** P and R in fp64: their values, and their indices, which fp32 shares */
  BISAI_MULTIGRID_PART_TRANSFERS = 5,
  BISAI_MULTIGRID_PART_TRANSFER_INDICES = 6,
  /** P and R in fp32 */
  BISAI_MULTIGRID_PART_TRANSFERS_FP32 = 7,
  /** the tentative prolongation T and its transpose, which are P and R where these are not
   *  smoothed */
  BISAI_MULTIGRID_PART_TENTATIVE = 8,
  /** places of transposed and of diagonal blocks */
  BISAI_MULTIGRID_PART_PLACES = 9,
  /** where the blocks of A go in A T */
  BISAI_MULTIGRID_PART_FILTER = 10,
  /** A P */
  BISAI_MULTIGRID_PART_PRODUCT = 11,
  /** of a device: where in its row each product of two blocks is added */
  BISAI_MULTIGRID_PART_SLOTS = 12,
  /** work vectors */
  BISAI_MULTIGRID_PART_VECTORS = 13,
  /** the inverse of the coarsest matrix */
  BISAI_MULTIGRID_PART_COARSEST = 14,
  /** of a device: the recorded steps of the small levels */
  BISAI_MULTIGRID_PART_GRAPH = 15,
  /** marks, records and workspace of inversions and estimates */
  BISAI_MULTIGRID_PART_RECORDS = 16
} bisai_multigrid_part;

/** The number of these parts. */
enum { BISAI_MULTIGRID_PARTS = 17 };

/** The words of bisai_multigrid_part: X(enumerator, word). */
#define BISAI_MULTIGRID_PART_LIST(X)                                                               \
  X(BISAI_MULTIGRID_PART_MATRIX, "matrix")                                                         \
  X(BISAI_MULTIGRID_PART_MATRIX_INDICES, "matrix_indices")                                         \
  X(BISAI_MULTIGRID_PART_MATRIX_FP32, "matrix_fp32")                                               \
  X(BISAI_MULTIGRID_PART_DIAGONAL, "diagonal")                                                     \
  X(BISAI_MULTIGRID_PART_SMOOTHER, "smoother")                                                     \
  X(BISAI_MULTIGRID_PART_TRANSFERS, "transfers")                                                   \
  X(BISAI_MULTIGRID_PART_TRANSFER_INDICES, "transfer_indices")                                     \
  X(BISAI_MULTIGRID_PART_TRANSFERS_FP32, "transfers_fp32")                                         \
  X(BISAI_MULTIGRID_PART_TENTATIVE, "tentative")                                                   \
  X(BISAI_MULTIGRID_PART_PLACES, "places")                                                         \
  X(BISAI_MULTIGRID_PART_FILTER, "filter")                                                         \
  X(BISAI_MULTIGRID_PART_PRODUCT, "product")                                                       \
  X(BISAI_MULTIGRID_PART_SLOTS, "slots")                                                           \
  X(BISAI_MULTIGRID_PART_VECTORS, "vectors")                                                       \
  X(BISAI_MULTIGRID_PART_COARSEST, "coarsest")                                                     \
  X(BISAI_MULTIGRID_PART_GRAPH, "graph")                                                           \
  X(BISAI_MULTIGRID_PART_RECORDS, "records")

/** Returns the word of the list, for example "matrix_fp32", and "unknown part" for other values. */
BISAI_API const char *bisai_multigrid_part_string(bisai_multigrid_part value);

/** Looks up a word of bisai_multigrid_part_string().
 *  @param value  out; unchanged if the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_multigrid_part_parse(const char *word, bisai_multigrid_part *value);

/** The memory of a level. */
typedef struct bisai_multigrid_memory {
  /** the bytes of each part */
  int64_t bytes[BISAI_MULTIGRID_PARTS];
  /** how often a cycle reads it; 0: it serves creation and updates only. D⁻¹ and the smoother count
   *  as often as A, and the work vectors once for each visit of the level */
  int64_t reads[BISAI_MULTIGRID_PARTS];
} bisai_multigrid_memory;

#ifdef __cplusplus
}
#endif

#endif
