/* SPDX-License-Identifier: BSD-3-Clause */
/* The cases that the program makes (cases/cases.h), as --case and --size name them. */
#ifndef TOOL_MADE_H
#define TOOL_MADE_H

#include <stdbool.h>

#include "cases.h"

typedef enum case_name {
  CASE_NONE,
  CASE_CAVITY,
  CASE_CONVDIFF,
  CASE_ELASTICITY,
  CASE_REACTION,
  CASE_RESERVOIR,
  CASE_ATMOSPHERE,
  CASE_EULER,
  CASE_SHELL
} case_name;

typedef struct made_case {
  /* CASE_NONE: a file is read */
  case_name name;
  /* of --case, as given */
  const char *text;
  /* as given; `sizes` of them, 1 or 3 */
  int sizes, size[3];
  /* without the nodes */
  case_elasticity_options elasticity;
  /* without the cells */
  case_reservoir_options reservoir;
  /* without the nodes */
  case_euler_options euler;
  case_shell_options shell;
} made_case;

/* The text of --help for --case. */
#define MADE_HELP                                                                                  \
  "Make a system: cavity, convdiff, elasticity[:contrast=C][:clamped=identity|eliminated], "       \
  "reaction, reservoir[:components=2|3][:step=DAYS], atmosphere, euler[:cfl=C] or "                \
  "shell[:step=SECONDS]"

/* Both print a message and return false if the text is wrong. */
bool made_parse(const char *text, made_case *m);
bool made_parse_size(const char *text, made_case *m);

/* Returns true if the sizes are as many as the case takes. Otherwise prints a message. */
bool made_check_sizes(const made_case *m);

/* The block size of the case, and its tolerance. */
int made_block_size(const made_case *m);
double made_tolerance(const made_case *m);

/* Returns why the case cannot be made, or NULL. */
const char *made_refusal(const made_case *m);

/* Makes the matrix and the right-hand side; see cases.h. */
bisai_status made_make(bisai_context *context, const made_case *m, int block_size,
                       bisai_bcsr **matrix, double **rhs);

/* Returns true if the case has near-null-space vectors of its own. */
bool made_has_null_space(const made_case *m);

/* Makes them, `count` vectors of as many values as the matrix has rows without padding, one after
 * the other. The caller frees them with free(). */
bisai_status made_null_space(const made_case *m, int *count, double **vectors);

#endif
