/* SPDX-License-Identifier: BSD-3-Clause */
/* Prefetches for reading a long array once. The hardware prefetchers follow a stream to the end of
 * its page, and keep too few lines in flight for one core to reach the memory bandwidth. Requests
 * for lines of several later pages in turn make them follow as many streams: with four streams, one
 * core reads 1.4 times as fast. Results do not depend on prefetches, and a prefetch never
 * faults. */
#ifndef BSI_PREFETCH_H
#define BSI_PREFETCH_H

#include <stddef.h>
#include <stdint.h>

enum { BSI_LINE_BITS = 6, BSI_PAGE_BITS = 12, BSI_STREAM_BITS = 2 };

/* Returns the line to prefetch when the line at `address` is read. Successive lines take one line
 * in turn from each page of the next 2^(page + stream) bytes. `step` is 1 if addresses ascend and
 * -1 if they descend. */
static inline uintptr_t bsi_line_ahead(uintptr_t address, const int step) {
  const uintptr_t line = address >> BSI_LINE_BITS, stream = line & ((1 << BSI_STREAM_BITS) - 1);
  const uintptr_t in_page =
      (line >> BSI_STREAM_BITS) & ((1 << (BSI_PAGE_BITS - BSI_LINE_BITS)) - 1);
  const uintptr_t chunk =
      (address >> (BSI_PAGE_BITS + BSI_STREAM_BITS)) + (uintptr_t)(intptr_t)step;
  return chunk << (BSI_PAGE_BITS + BSI_STREAM_BITS) | stream << BSI_PAGE_BITS |
         in_page << BSI_LINE_BITS;
}

/* Prefetches ahead of the bytes begin … end of an array. Call it for each range as it is read. A
 * line that two ranges share is prefetched twice. Avoiding this would make the trip count vary even
 * if all rows are alike, which costs more. */
static inline void bsi_prefetch_ahead(const void *array, size_t begin, size_t end, const int step) {
  for (uintptr_t address = (uintptr_t)array + begin; address < (uintptr_t)array + end;
       address += 1 << BSI_LINE_BITS)
    __builtin_prefetch((const void *)bsi_line_ahead(address, step));
}

/* The same for longer ranges in ascending order: the lines of all streams that the first of several
 * lines stands for. Each is prefetched by the range in which that first line begins. */
static inline void bsi_prefetch_far_ahead(const void *array, size_t begin, size_t end) {
  const uintptr_t group = (uintptr_t)1 << (BSI_LINE_BITS + BSI_STREAM_BITS);
  uintptr_t address = ((uintptr_t)array + begin + group - 1) / group * group;
  for (; address < (uintptr_t)array + end; address += group) {
    const uintptr_t line = bsi_line_ahead(address, 1);
    for (int s = 0; s < 1 << BSI_STREAM_BITS; s++)
      __builtin_prefetch((const void *)(line + ((uintptr_t)s << BSI_PAGE_BITS)));
  }
}

/* Prefetches the bytes begin … end themselves. */
static inline void bsi_prefetch(const void *array, size_t begin, size_t end) {
  for (uintptr_t line = (uintptr_t)array + begin; line < (uintptr_t)array + end;
       line += 1 << BSI_LINE_BITS)
    __builtin_prefetch((const void *)line);
}

#endif
