/* SPDX-License-Identifier: BSD-3-Clause */
/* Multigrid of another library on a GPU: what the benchmark asks of each. */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include <stdbool.h>
#include <stdint.h>

struct bench_system;

/* A system with the scalar matrix of its entries that are not zero, on the host. */
typedef struct peer_system {
  const struct bench_system *system;
  /* of rows, and of blocks: the unknowns of a node follow each other */
  int32_t n, block_size;
  int32_t *row_ptr, *col_idx;
  double *values;
} peer_system;

/* One set-up and solve from x = 0. */
typedef struct peer_run {
  /* seconds */
  double setup, solve;
  int iterations;
  /* what the library's solver says */
  bool converged;
  /* bytes of the device's memory that the set-up takes and keeps, and the most that it takes */
  int64_t kept, peak;
  /* empty, or what the library says instead of a result */
  char refusal[160];
} peer_run;

/* A library with settings of its multigrid. Its solvers are CG for symmetric systems and
 * FGMRES(30) for others, with the tolerance of the system. */
typedef struct peer {
  const char *name;
  /* of the library */
  void (*version)(char text[64]);
  int settings;
  const char *(*setting)(int setting);
  /* whether a setting is meant for such a system */
  bool (*applies)(int setting, const struct bench_system *system);
  /* copies a system to the device */
  void *(*load)(const peer_system *system);
  void (*unload)(void *loaded);
  void (*run)(void *loaded, int setting, peer_run *run);
  /* x ← the solution of the last run, on the host */
  void (*solution)(void *loaded, double *x);
  /* ends the library, if it has begun. Nothing is loaded any more */
  void (*end)(void);
} peer;

#ifdef BENCH_HAVE_HYPRE
extern const peer peer_hypre;
#endif
#ifdef BENCH_HAVE_GAMG
extern const peer peer_gamg;
#endif

#endif
