/* SPDX-License-Identifier: BSD-3-Clause */
/** @file order.h
 *  Orderings of the block rows and columns: permutations of the block graph of A + Aᵀ.
 *
 *  A permutation goes from new to old: row i of P A Pᵀ is row permutation[i] of A. What an ordering
 *  changes is which blocks an incomplete factorisation drops (iterations), how many rows a
 *  triangular solve can take at once (levels) and how large the approximate inverses become (fill).
 *  bisai_precond_options.ordering applies one and undoes it inside the preconditioner. */
#ifndef BISAI_ORDER_H
#define BISAI_ORDER_H

#include <bisai/bcsr.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The orderings. */
typedef enum bisai_ordering {
  /** as the matrix comes */
  BISAI_ORDERING_NATURAL = 0,
  /** reverse Cuthill–McKee from a pseudo-peripheral row of each connected component: small
   *  bandwidth */
  BISAI_ORDERING_RCM = 1,
  /** nested dissection by METIS, where the build has it: little fill, few levels */
  BISAI_ORDERING_ND = 2,
  /** greedy multicolouring, the rows of a colour together: as few levels as colours */
  BISAI_ORDERING_COLOUR = 3,
  /** the caller's own permutation */
  BISAI_ORDERING_GIVEN = 4
} bisai_ordering;

/** The words of bisai_ordering: X(enumerator, word). */
#define BISAI_ORDERING_LIST(X)                                                                     \
  X(BISAI_ORDERING_NATURAL, "natural")                                                             \
  X(BISAI_ORDERING_RCM, "rcm")                                                                     \
  X(BISAI_ORDERING_ND, "nd")                                                                       \
  X(BISAI_ORDERING_COLOUR, "colour")                                                               \
  X(BISAI_ORDERING_GIVEN, "given")

/** "natural", "rcm", "nd", "colour", "given"; "unknown ordering" for other values. */
BISAI_API const char *bisai_ordering_string(bisai_ordering value);

/** Looks up a word of bisai_ordering_string().
 *  @param value  out; untouched where the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_ordering_parse(const char *word, bisai_ordering *value);

/** Computes an ordering. The same for every run and any number of threads. METIS allocates by
 *  malloc(), seeds and draws from the C library's rand() and handles SIGABRT and SIGTERM itself
 *  while it runs, one context at a time: nested dissection is repeatable as long as nothing but
 *  bisai calls rand() or METIS meanwhile, and changes what rand() returns next. Sources: Cuthill
 *  and McKee 1969, George and Liu 1979 (the starting row); Karypis and Kumar 1998 (METIS_NodeND);
 *  Saad, Iterative Methods, 3.3.3 (greedy multicolouring, first fit in the matrix's own order).
 *  @param matrix       square; of any value type, only its structure is read
 *  @param permutation  out: block_rows entries in host memory, new to old; untouched on failure
 *  @retval BISAI_INVALID_ARGUMENT  not square, unknown ordering, BISAI_ORDERING_GIVEN (there is
 *    nothing to compute)
 *  @retval BISAI_UNAVAILABLE       nested dissection in a build without METIS
 *  @retval BISAI_INDEX_OVERFLOW    A + Aᵀ has more than 2³¹−1 blocks
 *  @retval BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_order_compute(bisai_context *context, const bisai_bcsr *matrix,
                                           bisai_ordering ordering, int32_t *permutation);

/** Checks that a permutation holds each of 0 … block_rows − 1 once.
 *  @retval BISAI_INVALID_ARGUMENT  the message names the first entry out of range or repeated
 *  @retval BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_order_check(bisai_context *context, int32_t block_rows,
                                         const int32_t *permutation);

#ifdef __cplusplus
}
#endif
#endif
