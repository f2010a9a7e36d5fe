/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of the host backend: OpenMP where the build has it, one thread otherwise. Work is cut by index, never by who comes first,
 * so that results do not depend on the number of threads. */
#ifndef BSI_PARALLEL_H
#define BSI_PARALLEL_H

#include <stdint.h>

#ifdef _OPENMP
#include <omp.h>
#else
static inline int omp_get_thread_num(void) { return 0; }
static inline int omp_get_num_threads(void) { return 1; }
static inline int omp_get_max_threads(void) { return 1; }
static inline int omp_get_num_procs(void) { return 1; }
#endif

/* Where part `part` of `parts` of n items begins. */
static inline int64_t bsi_share(int64_t n, int part, int parts) {
  return n / parts * part + (n % parts) * part / parts;
}

/* The same for rows, weighing a row by its blocks and itself. */
static inline int32_t bsi_share_rows(int32_t n, const int32_t *row_ptr, int part, int parts) {
  const int64_t goal = bsi_share((int64_t)row_ptr[n] + n, part, parts);
  int32_t low = 0, high = n;
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if ((int64_t)row_ptr[middle] + middle < goal)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Threads worth waking for `work` units of which one thread should have at least `grain`. */
static inline int bsi_threads_for(int threads, int64_t work, int64_t grain) {
  const int64_t useful = work / grain;
  return useful < 1 ? 1 : useful < threads ? (int)useful : threads;
}

#endif
