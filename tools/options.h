/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of the subcommands, parsed by argp. */
#ifndef TOOL_OPTIONS_H
#define TOOL_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <bisai/io.h>
#include <bisai/krylov.h>
#include <bisai/order.h>

#include "method.h"

typedef enum command { COMMAND_SOLVE, COMMAND_COMPARE, COMMAND_INFO, COMMAND_CONVERT } command;

typedef enum case_name { CASE_NONE, CASE_CAVITY, CASE_CONVDIFF } case_name;

enum { BLOCK_SIZE_AUTO = -1 };

typedef struct options {
  case_name made;     /* CASE_NONE: `file` is read */
  int sizes, size[3]; /* as given; sizes = 1 or 3 */
  const char *file;
  int block_size;          /* 0: not given; BLOCK_SIZE_AUTO */
  bool rhs_ones, rhs_none; /* none: convert alone */
  const char *rhs;         /* a file, or NULL */
  char *beside;            /* without any of these: the file beside the matrix, or NULL */
  double tolerance;        /* 0: the problem's own */
  bisai_method solver;
  bool assume_symmetric; /* cg:force */
  int shadow_dimension; /* s of idr */
  int restart;          /* of gmres; 0 while parsing: not given */
  int max_iterations;
  bisai_ordering ordering;
  bool equilibrate;
  bisai_backend backend;
  int threads;         /* 0: the library's choice */
  method_list methods; /* solve: one */
  int repeat;          /* of compare: times that each method is run after a warm-up; 0: once, cold */
  bool methods_given;  /* they are the user's choice */
  const char *json, *plots;
  const char *output;  /* of solve and convert */
  bisai_format format; /* of convert */
  bool force;          /* of convert: files beside the output are overwritten */
} options;

/* Parses the arguments of a subcommand (argv[0] is its name for messages). False: something was wrong and has been said.
 * --help and --usage print and exit. Free with options_free(). */
bool options_parse(command which, int argc, char **argv, options *o);
void options_free(options *o);

bool options_choose_for_cg(const options *o); /* the methods are the program's choice of those that CG works with */

const char *options_ordering(bisai_ordering ordering); /* "rcm" */

enum { OPTIONS_SOLVER = 24 };
const char *options_solver(const options *o, char name[OPTIONS_SOLVER]); /* "GMRES(30)" */

#endif
