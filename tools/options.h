/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of the subcommands. */
#ifndef TOOL_OPTIONS_H
#define TOOL_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <bisai/io.h>
#include <bisai/krylov.h>
#include <bisai/order.h>

#include "facts.h"
#include "made.h"
#include "method_list.h"

typedef enum command { COMMAND_SOLVE, COMMAND_COMPARE, COMMAND_INFO, COMMAND_CONVERT } command;

enum { BLOCK_SIZE_AUTO = -1, FIELDS_AUTO = -1 };

/* The system, which is made or read. */
typedef struct input_options {
  /* CASE_NONE: `file` is read */
  made_case made;
  const char *file;
  /* 0 if not given, or BLOCK_SIZE_AUTO */
  int block_size;
  /* 0 if not given, or FIELDS_AUTO */
  int fields;
  /* "auto" or a file with the node of each row, or NULL */
  const char *nodes;
  /* rhs_none: convert only */
  bool rhs_ones, rhs_none;
  /* a file, or NULL */
  const char *rhs;
  /* "constants" or a file of vectors, or NULL */
  const char *project;
  /* the file beside the matrix, or NULL; only if --rhs is not given */
  char *beside;
} input_options;

/* What is written. */
typedef struct output_options {
  const char *json, *plots;
  /* solve and convert: the solution, or the matrix */
  const char *file;
  /* solve, compare and convert: the file for the case's near-null-space vectors, or NULL */
  const char *write_null;
  /* convert */
  bisai_format format;
  /* convert: files beside the output may be overwritten */
  bool force;
  /* info: the account of the memory of multigrid */
  bool memory;
} output_options;

typedef struct options {
  input_options input;
  output_options output;
  /* 0: the tolerance of the problem */
  double tolerance;
  /* all options except the tolerance and the monitor */
  bisai_solver_options solver;
  /* of --restart; 0: it is not given */
  int restart;
  bool solver_given;
  bisai_ordering ordering;
  bisai_matching matching;
  bool equilibrate;
  bisai_backend backend;
  /* 0: the library chooses */
  int threads;
  /* one method for solve */
  method_list methods;
  /* the user has chosen the methods */
  bool methods_given;
  /* compare: runs without hope end early */
  bool give_up;
  /* compare: the number of runs of each method after a warm-up; 0: one run without a warm-up */
  int repeat;
} options;

void options_free(options *o);

/* Sets what the library reorders for a method: keys of METHOD first, then the program's options. */
void options_reorder(const options *o, const method *m, bisai_factored_options *result);

/* Returns true if --ordering, --matching or --equilibrate changes what is factorised. */
bool options_reorder_given(const options *o);

/* Returns true if the library chooses the solver of the only method. */
bool options_choose_solver(const options *o);

/* Sets the methods if the user has not: the library chooses one for `solve`. CPR is for the case
 * with a pressure. Returns false after a message. */
bool options_choose_methods(command which, options *o);

/* Adds runs by CG to the methods of `compare`, if the matrix may be definite. Returns false after a
 * message. */
bool options_add_cg(options *o, const facts *f);

#endif
