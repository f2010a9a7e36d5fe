/* SPDX-License-Identifier: BSD-3-Clause */
/* The threads of a context, which share out the parts of a loop.
 *
 * A run cuts a loop into parts by index. Thread t owns parts t·each … t·each + each − 1. After
 * these it steals parts of other threads that have not been begun. Therefore a thread that the
 * machine does not schedule delays a run only if it is in the middle of a part. The calling thread
 * is thread 0. The parts of a thread come in any order. What a part computes must not depend on the
 * thread that does it, so that results do not depend on the number of threads.
 *
 * Threads start when the first run needs them. After a run they spin for microseconds, because the
 * next run may follow soon, and then sleep. They end with the context. A child process of fork()
 * has no such threads, so that new ones are started there. */
#ifndef BSI_TEAM_H
#define BSI_TEAM_H

#include <stddef.h>
#include <stdint.h>

#include <bisai/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bsi_team bsi_team;

enum {
  BSI_MAX_THREADS = 4096,
  /* bytes of memory for the partial result of a thread */
  BSI_PARTIAL_BYTES = 192
};

/* Part `index` of `count`. Calls at the same time have different values of `thread`. */
typedef struct bsi_part {
  int index, count, thread;
} bsi_part;

typedef void bsi_work(void *job, bsi_part part);

/* The number of parts of each thread, as a power of two. Few parts suit loops whose parts have a
 * cost of their own, many parts suit loops whose parts differ in length. */
/* the exponents */
typedef enum bsi_parts { BSI_ONE_PART = 0, BSI_SOME_PARTS = 2, BSI_MANY_PARTS = 4 } bsi_parts;

/* Makes a team of `threads` threads in memory of bsi_team_bytes(threads) bytes, aligned to 64.
 * Starts no thread. */
size_t bsi_team_bytes(int threads);
bisai_status bsi_team_open(void *memory, int threads, bsi_team **team);
/* Ends the threads and waits for them. Accepts NULL. */
void bsi_team_close(bsi_team *team);

/* Calls work(job, part) once for every part, on at most `threads` threads: bsi_run(). */
void bsi_team_run(bsi_team *team, int threads, bsi_parts parts, bsi_work *work, void *job);

/* Returns the memory of a thread: bsi_partial(). */
void *bsi_team_partial(bsi_team *team, int thread);

/* *first ← the smaller of two indices. -1 means none. */
static inline void bsi_min_index(int32_t *first, int32_t other) {
  if (other >= 0 && (*first < 0 || other < *first)) *first = other;
}

#ifdef __cplusplus
}
#endif

#endif
