/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over vectors on the CPU.
 *
 * A reduction over 0 … n-1 splits the range into at most BSI_CHUNKS chunks that depend on n alone.
 * Threads share out whole chunks, and the sums of the chunks are added up in order. Therefore the
 * bits do not depend on the number of threads. */
#ifndef BSI_CHUNKS_HOST_H
#define BSI_CHUNKS_HOST_H

#include "core/block/column.h"
#include "core/context/backend.h"
#include "core/threads/parallel.h"

enum {
  /* vectors that share one pass over a tile of w */
  BSI_CHUNK_GROUP = 4,
  /* doubles */
  BSI_CHUNK_TILE = 1024,
  BSI_SHORTEST_CHUNK = 256,
  /* the least number of values for which a thread is woken */
  BSI_CHUNK_GRAIN = 32768
};

BSI_INLINE int64_t bsi_chunk_length(int64_t n) {
  int64_t length = (n + BSI_CHUNKS - 1) / BSI_CHUNKS;
  length = (length + 7) / 8 * 8;
  return length > BSI_SHORTEST_CHUNK ? length : BSI_SHORTEST_CHUNK;
}

BSI_INLINE int64_t bsi_chunks_of(int64_t n) {
  const int64_t length = bsi_chunk_length(n);
  return (n + length - 1) / length;
}

BSI_INLINE int64_t bsi_smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* sums[g] += basis_g · w for g < group; `group` is a constant at every call. A pair maps to one
 * SSE2 instruction. Compilers keep arrays of lanes in scalar registers instead. */
BSI_INLINE void bsi_dot_group(int group, int64_t n, const double *basis, int64_t ld,
                              const double *w, double *sums) {
  bsi_pair even[BSI_CHUNK_GROUP] = {{0, 0}}, odd[BSI_CHUNK_GROUP] = {{0, 0}};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const bsi_pair w0 = *(const bsi_pair *)(w + i), w1 = *(const bsi_pair *)(w + i + 2);
    for (int g = 0; g < group; g++) {
      even[g] += *(const bsi_pair *)(basis + g * ld + i) * w0;
      odd[g] += *(const bsi_pair *)(basis + g * ld + i + 2) * w1;
    }
  }
  for (int g = 0; g < group; g++) {
    const bsi_pair both = even[g] + odd[g];
    double sum = both[0] + both[1];
    for (int64_t rest = i; rest < n; rest++) sum += basis[g * ld + rest] * w[rest];
    sums[g] += sum;
  }
}

/* Adds the sums of the values begin … end − 1 of a job. */
typedef void bsi_add_sums(const void *job, int64_t begin, int64_t end, double *sums);

/* Chunk k of n values leaves `count` sums at partials + k·count, for the chunks of a part. */
BSI_INLINE void bsi_sum_chunks(bsi_part part, int64_t n, int count, bsi_add_sums *add,
                               const void *job, double *partials) {
  const int64_t length = bsi_chunk_length(n);
  const bsi_range range = bsi_range_of(bsi_chunks_of(n), part);
  for (int64_t chunk = range.begin; chunk < range.end; chunk++) {
    const int64_t end = bsi_smaller((chunk + 1) * length, n);
    double *sums = partials + chunk * count;
    for (int c = 0; c < count; c++) sums[c] = 0;
    for (int64_t i = chunk * length; i < end; i += BSI_CHUNK_TILE)
      add(job, i, bsi_smaller(i + BSI_CHUNK_TILE, end), sums);
  }
}

/* out[c] ← Σ work[chunk·count + c] over the chunks, in order. */
BSI_INLINE void bsi_add_chunks(int64_t chunks, int count, const double *work, double *out) {
  for (int c = 0; c < count; c++) out[c] = 0;
  for (int64_t chunk = 0; chunk < chunks; chunk++)
    for (int c = 0; c < count; c++) out[c] += work[chunk * count + c];
}

#endif
