/* SPDX-License-Identifier: BSD-3-Clause */
/* What a study counts, compiled for both backends. All of it are sums of integers, maxima, minima
 * and sets of bits, which depend neither on the order of rows nor on the number of threads. */
#ifndef BSI_STUDY_RECORD_H
#define BSI_STUDY_RECORD_H

#include <stdint.h>
#include <string.h>

#include "core/block/block_math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Means are sums of shares in these units. */
#define BSI_STUDY_ONE 1048576.0

/* Sums that are at most this part of the sums of their magnitudes count as zero. Rounding causes
 * less, also in files with eleven digits. */
#define BSI_STUDY_ZERO 1e-10

enum {
  /* of scalar rows */
  BSI_STUDY_NONZEROS,
  BSI_STUDY_OPPOSITE, /* shares in units */
  BSI_STUDY_OPPOSITE_ROWS,
  /* of the diagonal */
  BSI_STUDY_POSITIVE,
  BSI_STUDY_NEGATIVE,
  BSI_STUDY_ZERO_DIAGONALS,
  BSI_STUDY_ZERO_ROWS,
  BSI_STUDY_SINGLE_ROWS,
  BSI_STUDY_PARTLY_SINGLE,
  BSI_STUDY_SADDLE_ROWS,
  BSI_STUDY_DOMINANT_ROWS,
  BSI_STUDY_DOMINANT_BLOCKS,
  BSI_STUDY_MISSING,
  BSI_STUDY_SINGULAR,
  BSI_STUDY_PROFILE,
  /* of the sample */
  BSI_STUDY_BLOCKS,
  BSI_STUDY_MIRRORED_BLOCKS,
  BSI_STUDY_ENTRIES,
  BSI_STUDY_MIRRORED_ENTRIES,
  BSI_STUDY_ONE_SIDED, /* shares in units */
  BSI_STUDY_WEAK,      /* shares in units */
  BSI_STUDY_COUPLED_ROWS,
  BSI_STUDY_SUMS
};

/* Maxima of magnitudes, as the bits of doubles, and of indices + 1. */
enum {
  BSI_STUDY_LARGEST_ROW,
  BSI_STUDY_LARGEST_DIAGONAL,
  BSI_STUDY_CONDITION,
  BSI_STUDY_ASYMMETRY,
  BSI_STUDY_BANDWIDTH, /* a distance, not an index + 1 */
  BSI_STUDY_LAST_SADDLE,
  BSI_STUDY_LAST_NEGATIVE,
  BSI_STUDY_MOST
};

/* Minima of magnitudes, as the bits of doubles, and of indices. */
enum {
  BSI_STUDY_SMALLEST_ROW,
  BSI_STUDY_SMALLEST_DIAGONAL,
  BSI_STUDY_FIRST_SADDLE,
  BSI_STUDY_FIRST_NEGATIVE,
  BSI_STUDY_FIRST_MISSING,
  BSI_STUDY_FIRST_SINGULAR,
  BSI_STUDY_FIRST_ZERO_ROW,
  BSI_STUDY_FIRST_SINGLE,
  BSI_STUDY_LEAST
};

/* Sets of components: bit c for component c. */
enum {
  /* constants in one component, and in all rows (bit 0), that A does not map to zero */
  BSI_STUDY_NOT_NULL,
  BSI_STUDY_NOT_ONES,
  /* components with entries */
  BSI_STUDY_SEEN,
  /* components with diagonal entries of a sign, or other than 0 */
  BSI_STUDY_HAS_POSITIVE,
  BSI_STUDY_HAS_NEGATIVE,
  BSI_STUDY_BITS
};

enum { BSI_STUDY_WORDS = BSI_STUDY_SUMS + BSI_STUDY_MOST + BSI_STUDY_LEAST + BSI_STUDY_BITS };

typedef struct bsi_study_record {
  uint64_t sums[BSI_STUDY_SUMS], most[BSI_STUDY_MOST], least[BSI_STUDY_LEAST];
  uint64_t bits[BSI_STUDY_BITS];
} bsi_study_record;

BSI_INLINE void bsi_study_clear(bsi_study_record *record) {
  for (int k = 0; k < BSI_STUDY_SUMS; k++) record->sums[k] = 0;
  for (int k = 0; k < BSI_STUDY_MOST; k++) record->most[k] = 0;
  for (int k = 0; k < BSI_STUDY_LEAST; k++) record->least[k] = UINT64_MAX;
  for (int k = 0; k < BSI_STUDY_BITS; k++) record->bits[k] = 0;
}

BSI_INLINE void bsi_study_merge(bsi_study_record *record, const bsi_study_record *other) {
  for (int k = 0; k < BSI_STUDY_SUMS; k++) record->sums[k] += other->sums[k];
  for (int k = 0; k < BSI_STUDY_MOST; k++)
    if (other->most[k] > record->most[k]) record->most[k] = other->most[k];
  for (int k = 0; k < BSI_STUDY_LEAST; k++)
    if (other->least[k] < record->least[k]) record->least[k] = other->least[k];
  for (int k = 0; k < BSI_STUDY_BITS; k++) record->bits[k] |= other->bits[k];
}

BSI_INLINE void bsi_study_most(bsi_study_record *record, int k, uint64_t value) {
  if (value > record->most[k]) record->most[k] = value;
}

BSI_INLINE void bsi_study_least(bsi_study_record *record, int k, uint64_t value) {
  if (value < record->least[k]) record->least[k] = value;
}

/* The bits of doubles from 0 on are in the order of their values. */
BSI_INLINE uint64_t bsi_study_bits(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* Returns a share from 0 to 1 in units. */
BSI_INLINE uint64_t bsi_study_units(double share) {
  return (uint64_t)rint(BSI_STUDY_ONE * (share < 1.0 ? share : 1.0));
}

#ifdef __cplusplus
}
#endif

#endif
