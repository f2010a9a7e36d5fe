/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorts integers on the host without memory of its own. */
#ifndef BSI_SORT_H
#define BSI_SORT_H

#include <stdint.h>

enum { BSI_MAX_INSERTION_SORT = 24 };

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

#endif
