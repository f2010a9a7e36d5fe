/* SPDX-License-Identifier: BSD-3-Clause */
/* --fields and --nodes: files whose rows are not numbered by node. Right-hand sides, solutions and
 * other vectors of files keep the file's numbering. */
#ifndef TOOL_NUMBERING_H
#define TOOL_NUMBERING_H

#include <bisai/bcsr.h>

#include "options.h"

/* The nodes that are read or found, in host memory. */
typedef struct numbering {
  int32_t *node, *component;
} numbering;

/* Sets --fields and --nodes. Both print a message and return false if the text is wrong. */
bool numbering_parse_fields(const char *flag, const char *text, input_options *input);
bool numbering_parse_nodes(const char *text, input_options *input);

/* Returns true if the options give or ask for fields or nodes. */
bool numbering_asked(const options *o);

/* Returns the file of --nodes, or NULL. */
const char *numbering_file(const options *o);

/* Returns true if the method has rows of the matrix among its keys. */
bool numbering_is_named(const method *m);

/* Returns true if nodes may be looked for in a file: nothing says which rows make a block, and no
 * method names rows. */
bool numbering_is_free(const options *o);

/* Returns true if the rows of the matrix are not those of its blocks. Without memory for the answer
 * it prints a message, and *ok is false. */
bool numbering_is_own(const char *name, const bisai_bcsr *matrix, bool *ok);

/* Returns true if bisai_csr_find_nodes() finds nodes in a matrix in blocks of one value, and false
 * also without memory. */
bool numbering_has_nodes(bisai_context *context, const char *name, const bisai_bcsr *scalar);

/* Says how many nodes there are, and how much padding. */
void numbering_say(const char *name, const bisai_bcsr *matrix);

/* Gives the fields or nodes of the options to the arrays of `scalar`, a matrix in blocks of one
 * value. Prints a message and returns false on failure. The caller frees the numbering. */
bool numbering_find(bisai_context *context, const options *o, const char *name,
                    const bisai_bcsr *scalar, bisai_csr_desc *csr, numbering *n);
void numbering_free(numbering *n);

/* Makes a matrix that was read in blocks of one value again, with a block row for each node. Prints
 * a message and returns false on failure. */
bool numbering_apply(bisai_context *context, const options *o, const char *name,
                     bisai_bcsr **matrix);

/* Returns b, which is in the order of the blocks, in the order in which bisai_write_matrix() writes
 * the rows. NULL: there is not enough memory. The caller frees it. */
double *numbering_written(const bisai_bcsr *matrix, const double *b);

#endif
