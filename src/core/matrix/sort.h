/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorts integers on the host without memory of its own. */
#ifndef BSI_SORT_H
#define BSI_SORT_H

#include <stdint.h>

enum { BSI_MAX_INSERTION_SORT = 24 };

/* Words of the set of bsi_sort_distinct(), and for each number. */
enum { BSI_SORT_WORDS = 512, BSI_SORT_SPARSEST = 16 };

/* A root below count / 2 has a child, whose index is below `count` and thus cannot overflow. */
static inline void bsi_sift(int32_t *heap, int32_t root, int32_t count) {
  for (int32_t child; root < count / 2; root = child) {
    child = 2 * root + 1;
    if (child + 1 < count && heap[child + 1] > heap[child]) child++;
    if (heap[root] >= heap[child]) return;
    const int32_t swap = heap[root];
    heap[root] = heap[child];
    heap[child] = swap;
  }
}

/* Sorts ascending, by insertion if there are few numbers, otherwise by a heap. */
static inline void bsi_sort(int32_t *v, int32_t count) {
  if (count <= BSI_MAX_INSERTION_SORT) {
    for (int32_t i = 1; i < count; i++) {
      const int32_t value = v[i];
      int32_t k = i;
      for (; k > 0 && v[k - 1] > value; k--) v[k] = v[k - 1];
      v[k] = value;
    }
    return;
  }
  for (int32_t root = count / 2 - 1; root >= 0; root--) bsi_sift(v, root, count);
  for (int32_t end = count - 1; end > 0; end--) {
    const int32_t swap = v[0];
    v[0] = v[end];
    v[end] = swap;
    bsi_sift(v, 0, end);
  }
}

/* The same for numbers that differ. If they lie close together, they are put into a set of bits and
 * read from it. */
static inline void bsi_sort_distinct(int32_t *v, int32_t count) {
  if (count <= BSI_MAX_INSERTION_SORT) {
    bsi_sort(v, count);
    return;
  }
  int32_t least = v[0], most = v[0];
  for (int32_t i = 1; i < count; i++) {
    least = v[i] < least ? v[i] : least;
    most = v[i] > most ? v[i] : most;
  }
  const int64_t words = ((int64_t)most - least) / 64 + 1;
  uint64_t set[BSI_SORT_WORDS];
  if (words > BSI_SORT_WORDS || words > (int64_t)BSI_SORT_SPARSEST * count) {
    bsi_sort(v, count);
    return;
  }
  for (int64_t w = 0; w < words; w++) set[w] = 0;
  for (int32_t i = 0; i < count; i++) {
    const uint32_t at = (uint32_t)(v[i] - least);
    set[at / 64] |= UINT64_C(1) << at % 64;
  }
  for (int64_t w = 0; w < words; w++)
    for (uint64_t bits = set[w]; bits != 0; bits &= bits - 1)
      *v++ = least + (int32_t)(w * 64) + __builtin_ctzll(bits);
}

#endif
