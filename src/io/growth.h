/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays whose final length a file announces and need not have. */
#ifndef BSI_GROWTH_H
#define BSI_GROWTH_H

#include <stdint.h>

enum { BSI_FIRST_CAPACITY = 1 << 16 };

/* The next capacity of a full array of `capacity` elements that is to hold `total` in the end. No
 * more than `believed` are taken for granted at first; then it is total/2^k, so that a wrong total
 * costs at most twice what is there. */
static inline int64_t bsi_next_capacity(int64_t capacity, int64_t total, int64_t believed) {
  const int64_t first = believed > BSI_FIRST_CAPACITY ? believed : BSI_FIRST_CAPACITY;
  int64_t next = total;
  while (next > first && next - next / 2 > capacity) next -= next / 2;
  return next;
}

#endif
