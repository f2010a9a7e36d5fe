/* SPDX-License-Identifier: BSD-3-Clause */
/* The interface between the parts of the benchmark of multigrid. */
#ifndef BENCH_MULTIGRID_H
#define BENCH_MULTIGRID_H

#include "bench.h"

/* --- memory of the backend (multigrid_memory.c) --- */

/* Returns a copy of n values in the memory of the context's backend; NULL: zeros. */
double *vector_create(const bisai_context *context, size_t n, const double *host);
void vector_destroy(const bisai_context *context, double *vector);

/* Returns the bytes that a copy in the backend's memory reads and writes in a second, the best of a
 * few copies. */
double copy_rate_of(bisai_context *context);

/* Calls of the allocators of a context with the hooks of count_allocations(). */
typedef struct allocations {
  long host, device;
} allocations;

/* Makes the context of the options count allocations. `counts` outlives the context. */
void count_allocations(allocations *counts, bisai_context_options *options);

/* --- systems (multigrid_systems.c) --- */

typedef struct bench_system {
  /* "cavity:300" */
  char name[64];
  double tolerance;
  bool symmetric;
  /* the solver of multigrid, and the best method of one level */
  const char *solver, *one_level;
  bisai_bcsr *matrix;
  /* scalar rows */
  size_t n;
  /* on the host; null_vectors row by row, or NULL */
  double *rhs, *null_vectors;
  int null_count;
} bench_system;

/* Makes the system of NAME:SIZE. Ends the program if there is none. */
void system_create(bisai_context *context, const char *name, bench_system *system);
void system_destroy(bench_system *system);

/* A change of a system after which a good method takes as many iterations as before. */
typedef enum bench_change_kind {
  CHANGE_NONE,
  /* a random symmetric permutation of the block rows, by a seed */
  CHANGE_PERMUTE,
  /* A and b times 10^amount */
  CHANGE_SCALE,
  /* each block row of A and b times 10 or 1/10, at random by a seed */
  CHANGE_SCALE_ROWS
} bench_change_kind;

typedef struct bench_change {
  bench_change_kind kind;
  const char *name;
  /* the seed or the exponent */
  int amount;
} bench_change;

/* Makes a changed copy of a system. */
void system_change(bisai_context *context, const bench_system *from, const bench_change *change,
                   bench_system *to);

/* --- methods (multigrid_methods.c) --- */

enum { METHOD_TEXT = 128 };

/* METHOD[@SOLVER]: METHOD as for the program, SOLVER one of gmres, fgmres, cg, fcg, bicgstab,
 * idr. */
typedef struct bench_method {
  char name[METHOD_TEXT];
  bisai_precond_options options;
  bisai_solver_options solver;
  const char *solver_name;
} bench_method;

/* Reads a method for a system. Ends the program if the text has errors. */
bench_method method_of(const char *text, const bench_system *system);

/* --- the benchmark --- */

typedef struct multigrid_bench {
  bisai_context *context;
  /* bytes read and written in a second */
  double copy_rate;
  int rounds;
  /* no further round of a method begins after that many seconds */
  double most_seconds;
  FILE *json;
  bool comma;
} multigrid_bench;

/* Begins a record of the JSON file with the system and the method. The caller ends it with "}".
 * Returns false if there is no file. */
bool record_begin(multigrid_bench *b, const char *what, const bench_system *system,
                  const bench_method *method);

/* Completes the JSON file after a record. Further records may follow. A program that is stopped
 * leaves all that it has measured. */
void record_end(multigrid_bench *b);

/* Ends the program unless the status is BISAI_OK. */
void need(bisai_context *context, bisai_status status, const char *what);

/* Makes another matrix from the arrays of a matrix of the same backend. It has not measured any
 * property of them yet. */
bisai_bcsr *matrix_copy(bisai_context *context, const bisai_bcsr *matrix,
                        bisai_ownership ownership);

/* Times set-up, solve and update (multigrid_figures.c). */
void measure_all_in(multigrid_bench *b, const bench_system *system, const bench_method *method);

/* Counts iterations on changed systems (multigrid_robust.c). */
void measure_robust(multigrid_bench *b, const bench_system *system, const char *method);

/* Times the levels of a cycle (levels.c). */
void measure_levels(multigrid_bench *b, const bench_system *system, const bench_method *method);

#endif
