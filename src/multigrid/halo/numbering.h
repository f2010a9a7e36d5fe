/* SPDX-License-Identifier: BSD-3-Clause */
/* The columns that a rank knows of a matrix over all ranks: first the own ones, then ghosts in the
 * order in which they were found. */
#ifndef BSI_NUMBERING_H
#define BSI_NUMBERING_H

#include "core/context/context_impl.h"

typedef struct bsi_numbering {
  bisai_context *context;
  /* the first own column among all, and the number of own ones */
  int64_t first;
  int32_t own;
  /* the ghosts, and for how many there is room */
  int32_t ghosts, capacity;
  int64_t *ghost;
  /* a hash table of 2^bits places: the number of a ghost, or −1 */
  int bits;
  int32_t *table;
} bsi_numbering;

/* Begins without ghosts. Nothing is allocated. */
bsi_numbering bsi_numbering_of(bisai_context *context, int64_t first, int32_t own);
/* *copy ← with room of its own. After a failure nothing is to be released. */
bisai_status bsi_numbering_copy(const bsi_numbering *n, bsi_numbering *copy);
/* *local ← the number of a column here. A column that is not known becomes a ghost. */
bisai_status bsi_numbering_find(bsi_numbering *n, int64_t column, int32_t *local);
void bsi_numbering_release(bsi_numbering *n);

/* Returns how many columns are known. */
static inline int32_t bsi_numbering_count(const bsi_numbering *n) { return n->own + n->ghosts; }

/* Returns the number among all of a column that is known here. */
static inline int64_t bsi_numbering_global(const bsi_numbering *n, int32_t local) {
  return local < n->own ? n->first + local : n->ghost[local - n->own];
}

#endif
