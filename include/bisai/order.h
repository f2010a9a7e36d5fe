/* SPDX-License-Identifier: BSD-3-Clause */
/** @file order.h
 *  Orderings of the block rows and columns: permutations of the block graph of A + Aᵀ. Matchings:
 *  permutations of the rows alone, which bring large entries to the diagonal.
 *
 *  A permutation maps new rows to old rows: row i of P A Pᵀ is row permutation[i] of A. The
 *  ordering determines which blocks an incomplete factorisation drops, and thereby the number of
 *  iterations. It also determines the number of levels of a triangular solve, and the fill of the
 *  approximate inverses. A preconditioner applies the ordering of
 *  bisai_precond_options.factor.ordering internally: its input and output keep the order of A. */
#ifndef BISAI_ORDER_H
#define BISAI_ORDER_H

#include <bisai/bcsr.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The orderings. */
typedef enum bisai_ordering {
  /** the order of the matrix */
  BISAI_ORDERING_NATURAL = 0,
  /** reverse Cuthill–McKee from a pseudo-peripheral row of each connected component; gives a small
   *  bandwidth */
  BISAI_ORDERING_RCM = 1,
  /** nested dissection by METIS, if the build has it; gives little fill and few levels */
  BISAI_ORDERING_ND = 2,
  /** greedy multicolouring with the rows of each colour together; gives as few levels as there are
   *  colours */
  BISAI_ORDERING_COLOUR = 3,
  /** approximate minimum degree: the row with the fewest neighbours comes first, and its neighbours
   *  become neighbours of each other. Gives little fill, least where rows have few neighbours */
  BISAI_ORDERING_MD = 4,
  /** the caller's own permutation */
  BISAI_ORDERING_GIVEN = 5
} bisai_ordering;

/** The words of bisai_ordering: X(enumerator, word). */
#define BISAI_ORDERING_LIST(X)                                                                     \
  X(BISAI_ORDERING_NATURAL, "natural")                                                             \
  X(BISAI_ORDERING_RCM, "rcm")                                                                     \
  X(BISAI_ORDERING_ND, "nd")                                                                       \
  X(BISAI_ORDERING_COLOUR, "colour")                                                               \
  X(BISAI_ORDERING_MD, "md")                                                                       \
  X(BISAI_ORDERING_GIVEN, "given")

/** Returns "natural", "rcm", "nd", "colour", "md" or "given", and "unknown ordering" for other
 *  values. */
BISAI_API const char *bisai_ordering_string(bisai_ordering value);

/** Looks up a word of bisai_ordering_string().
 *  @param value  out; unchanged if the word is unknown
 *  @returns      false for an unknown word and for NULL */
BISAI_API bool bisai_ordering_parse(const char *word, bisai_ordering *value);

/** Computes an ordering. The result is the same in every run and for any number of threads.
 *  Sources: Cuthill and McKee 1969, George and Liu 1979 (starting row); Karypis and Kumar 1998
 *  (METIS_NodeND); Saad, Iterative Methods, 3.3.3 (greedy multicolouring, first fit in the order of
 *  the matrix); Amestoy, Davis and Duff 1996 (approximate minimum degree).
 *
 *  METIS allocates with malloc(), seeds and calls the C library's rand(), and installs its own
 *  handlers of SIGABRT and SIGTERM while it runs. Only one context runs METIS at a time. Nested
 *  dissection is repeatable if no other code calls rand() or METIS at the same time. It changes the
 *  next values of rand().
 *  @param matrix       square, of any value type; only its structure is read
 *  @param permutation  out; block_rows entries in host memory that map new rows to old rows;
 *                      unchanged on failure
 *  @retval BISAI_INVALID_ARGUMENT  the matrix is not square, the ordering is unknown, or it is
 *                                  BISAI_ORDERING_GIVEN
 *  @retval BISAI_UNAVAILABLE       the ordering is nested dissection and the build has no METIS
 *  @retval BISAI_INDEX_OVERFLOW    A + Aᵀ has more than 2³¹−1 blocks
 *  @retval BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_order_compute(bisai_context *context, const bisai_bcsr *matrix,
                                           bisai_ordering ordering, int32_t *permutation);

/** Checks that a permutation contains each of 0 … block_rows − 1 exactly once.
 *  @retval BISAI_INVALID_ARGUMENT  an entry is out of range or repeated; the message names the
 *                                  first such entry
 *  @retval BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_order_check(bisai_context *context, int32_t block_rows,
                                         const int32_t *permutation);

/** What a matching brings to the diagonal. */
typedef enum bisai_matching {
  /** nothing: rows stay where they are */
  BISAI_MATCHING_NONE = 0,
  /** scalar entries with the largest product of magnitudes */
  BISAI_MATCHING_ENTRIES = 1,
  /** blocks with the largest product of |det|. Among measures of blocks, the best choice by this
   *  one does not depend on the scaling of rows and columns */
  BISAI_MATCHING_BLOCKS = 2
} bisai_matching;

/** The words of bisai_matching: X(enumerator, word). */
#define BISAI_MATCHING_LIST(X)                                                                     \
  X(BISAI_MATCHING_NONE, "none")                                                                   \
  X(BISAI_MATCHING_ENTRIES, "entries")                                                             \
  X(BISAI_MATCHING_BLOCKS, "blocks")

/** Returns "none", "entries" or "blocks", and "unknown matching" for other values. */
BISAI_API const char *bisai_matching_string(bisai_matching value);

/** Looks up a word of bisai_matching_string().
 *  @param value  out; unchanged if the word is unknown
 *  @returns      false for an unknown word and for NULL */
BISAI_API bool bisai_matching_parse(const char *word, bisai_matching *value);

/** Computes the permutation of rows that makes the product of the weights w_jj on the diagonal
 *  largest, and the scaling that comes with it (Duff and Koster 2001, job 5, by shortest augmenting
 *  paths). Weights are magnitudes of entries, or |det|^(1/bs) of blocks. With m rows and e entries
 *  or blocks the search takes O(m·e·log m) steps at worst, and as a rule little more than O(e). It
 *  runs on the host, on one thread, and fetches the values of a matrix on a device. The result is
 *  the same in every run.
 *  @param matrix     square, fp64; it has m = block_rows·bs rows for ENTRIES, or m = block_rows for
 *                    BLOCKS
 *  @param matching   not NONE
 *  @param row_of     out; m entries in host memory: row j of the permuted matrix is row row_of[j];
 *                    unchanged on failure
 *  @param row_log    out unless NULL; m binary logarithms r in host memory; unchanged on failure
 *  @param col_log    out unless NULL; m binary logarithms s, likewise. w_ij·2^(r_i + s_j) is at
 *                    most 1, and it is 1 for i = row_of[j], up to rounding
 *  @retval BISAI_SINGULAR_BLOCK    no permutation has nonzeros (regular blocks) on the whole
 *                                  diagonal; the message names a row (block row)
 *  @retval BISAI_NOT_FINITE        a value is NaN or infinite; the message names the block
 *  @retval BISAI_UNSUPPORTED       the values are not fp64, or diagonal blocks are implied
 *  @retval BISAI_INDEX_OVERFLOW    ENTRIES: the blocks have more than 2³¹−1 values
 *  @retval BISAI_INVALID_ARGUMENT  a pointer is NULL, the matrix is not square, or the matching is
 *                                  unknown or NONE
 *  @retval BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_order_match(bisai_context *context, const bisai_bcsr *matrix,
                                         bisai_matching matching, int32_t *row_of, double *row_log,
                                         double *col_log);

#ifdef __cplusplus
}
#endif
#endif
