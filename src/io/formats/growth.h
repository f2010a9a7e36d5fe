/* SPDX-License-Identifier: BSD-3-Clause */
/* Growth of arrays whose final length a file announces, perhaps wrongly. */
#ifndef BSI_GROWTH_H
#define BSI_GROWTH_H

#include <stdint.h>

enum { BSI_FIRST_CAPACITY = 1 << 16 };

/* Returns the next capacity of a full array of `capacity` elements whose announced final length is
 * `total`. Capacities are total/2^k: the first is at most max(believed, BSI_FIRST_CAPACITY), and
 * each further one is twice the one before. Therefore a wrong total costs at most twice the
 * elements that exist. */
static inline int64_t bsi_next_capacity(int64_t capacity, int64_t total, int64_t believed) {
  const int64_t first = believed > BSI_FIRST_CAPACITY ? believed : BSI_FIRST_CAPACITY;
  int64_t next = total;
  while (next > first && next - next / 2 > capacity) next -= next / 2;
  return next;
}

#endif
