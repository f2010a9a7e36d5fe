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
  /* CASE_NONE: `file` is read */
  case_name made;
  /* as given; sizes = 1 or 3 */
  int sizes, size[3];
  const char *file;
  /* 0: not given; BLOCK_SIZE_AUTO */
  int block_size;
  /* none: convert alone */
  bool rhs_ones, rhs_none;
  /* a file, or NULL */
  const char *rhs;
  /* without any of these: the file beside the matrix, or NULL */
  char *beside;
  /* 0: the problem's own */
  double tolerance;
  bisai_method solver;
  /* cg:force */
  bool assume_symmetric;
  /* s of idr */
  int shadow_dimension;
  /* of gmres; 0 while parsing: not given */
  int restart;
  int max_iterations;
  bisai_ordering ordering;
  bool equilibrate;
  bisai_backend backend;
  /* 0: the library's choice */
  int threads;
  /* solve: one */
  method_list methods;
  /* of compare: times that each method is run after a warm-up; 0: once, cold */
  int repeat;
  /* they are the user's choice */
  bool methods_given;
  const char *json, *plots;
  /* of solve and convert */
  const char *output;
  /* of convert */
  bisai_format format;
  /* of convert: files beside the output are overwritten */
  bool force;
} options;

/* Parses the arguments of a subcommand (argv[0] is its name for messages). False: something was
 * wrong and has been said. --help and --usage print and exit. Free with options_free(). */
bool options_parse(command which, int argc, char **argv, options *o);
void options_free(options *o);

/* the methods are the program's choice of those that CG works with */
bool options_choose_for_cg(const options *o);

enum { OPTIONS_SOLVER = 24 };
const char *options_solver(const options *o, char name[OPTIONS_SOLVER]); /* "GMRES(30)" */

#endif
