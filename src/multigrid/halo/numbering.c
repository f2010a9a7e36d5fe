/* SPDX-License-Identifier: BSD-3-Clause */
#include "multigrid/halo/numbering.h"

#include <string.h>

enum { FIRST_BITS = 8 };

bsi_numbering bsi_numbering_of(bisai_context *context, int64_t first, int32_t own) {
  return (bsi_numbering){.context = context, .first = first, .own = own};
}

void bsi_numbering_release(bsi_numbering *n) {
  bsi_release(n->context, n->ghost);
  bsi_release(n->context, n->table);
  *n = (bsi_numbering){0};
}

bisai_status bsi_numbering_copy(const bsi_numbering *n, bsi_numbering *copy) {
  bsi_numbering made = *n;
  *copy = made;
  if (!n->table) return BISAI_OK;
  const size_t places = (size_t)1 << n->bits;
  *copy = (bsi_numbering){0};
  made.ghost = bsi_allocate(n->context, (size_t)n->capacity, sizeof *made.ghost);
  made.table = bsi_allocate(n->context, places, sizeof *made.table);
  if (!made.ghost || !made.table) {
    bsi_release(n->context, made.ghost);
    bsi_release(n->context, made.table);
    return BISAI_OUT_OF_MEMORY;
  }
  memcpy(made.ghost, n->ghost, (size_t)n->ghosts * sizeof *made.ghost);
  memcpy(made.table, n->table, places * sizeof *made.table);
  *copy = made;
  return BISAI_OK;
}

/* Returns where the table has a column, or the free place for it. */
static size_t place_of(const bsi_numbering *n, int64_t column) {
  const size_t mask = ((size_t)1 << n->bits) - 1;
  size_t at = (size_t)((uint64_t)column * UINT64_C(0x9e3779b97f4a7c15) >> (64 - n->bits));
  while (n->table[at] >= 0 && n->ghost[n->table[at]] != column) at = (at + 1) & mask;
  return at;
}

/* Makes room for twice as many ghosts. The table stays at most half full. */
static bisai_status grow(bsi_numbering *n) {
  bsi_numbering larger = *n;
  larger.bits = n->table ? n->bits + 1 : FIRST_BITS;
  larger.capacity = (int32_t)1 << (larger.bits - 1);
  const size_t places = (size_t)1 << larger.bits;
  larger.ghost = bsi_allocate(n->context, (size_t)larger.capacity, sizeof *larger.ghost);
  larger.table = bsi_allocate(n->context, places, sizeof *larger.table);
  if (!larger.ghost || !larger.table) {
    bsi_release(n->context, larger.ghost);
    bsi_release(n->context, larger.table);
    return BISAI_OUT_OF_MEMORY;
  }
  memset(larger.table, 0xff, places * sizeof *larger.table);
  for (int32_t k = 0; k < n->ghosts; k++) {
    larger.ghost[k] = n->ghost[k];
    larger.table[place_of(&larger, n->ghost[k])] = k;
  }
  bsi_release(n->context, n->ghost);
  bsi_release(n->context, n->table);
  *n = larger;
  return BISAI_OK;
}

bisai_status bsi_numbering_find(bsi_numbering *n, int64_t column, int32_t *local) {
  if (column >= n->first && column < n->first + n->own) {
    *local = (int32_t)(column - n->first);
    return BISAI_OK;
  }
  if (n->ghosts == n->capacity) {
    if (n->bits == 30 || n->own > INT32_MAX - 2 * (n->capacity + (1 << FIRST_BITS)))
      return bsi_fail(n->context, BISAI_INDEX_OVERFLOW, "a rank has more than 2^31 columns");
    BSI_TRY(grow(n));
  }
  const size_t at = place_of(n, column);
  if (n->table[at] < 0) {
    n->ghost[n->ghosts] = column;
    n->table[at] = n->ghosts++;
  }
  *local = n->own + n->table[at];
  return BISAI_OK;
}
