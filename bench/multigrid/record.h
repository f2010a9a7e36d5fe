/* SPDX-License-Identifier: BSD-3-Clause */
/* The run of the benchmark of multigrid, and its records in a JSON file. */
#ifndef BENCH_RECORD_H
#define BENCH_RECORD_H

#include "methods.h"

typedef struct multigrid_bench {
  bisai_context *context;
  /* bytes read and written in a second */
  double copy_rate;
  int rounds;
  /* no further round of a method begins after that many seconds */
  double most_seconds;
  bench_json json;
} multigrid_bench;

/* Begins a record of the JSON file with the system and the method. The caller ends it with "}".
 * Returns the file, or NULL if there is none. */
FILE *record_begin(multigrid_bench *b, const char *what, const bench_system *system,
                   const bench_method *method);

#endif
