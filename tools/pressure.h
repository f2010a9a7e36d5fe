/* SPDX-License-Identifier: BSD-3-Clause */
/* The pressure of cpr as text and as JSON. */
#ifndef TOOL_PRESSURE_H
#define TOOL_PRESSURE_H

#include <stdio.h>

#include <bisai/precond.h>

/* Prints a line on the pressure and its weights. */
void pressure_print(FILE *out, const bisai_cpr_report *r, int block_size);

/* Prints a line for each kind of block rows that have no weights of their own, after the prefix. */
void pressure_print_rows(FILE *out, const char *prefix, const char *colon,
                         const bisai_cpr_report *r);

#ifdef BISAI_HAVE_JANSSON
#include <jansson.h>

/* Returns an object, or NULL without enough memory. */
json_t *pressure_json(const bisai_cpr_report *r, int block_size);
#endif

#endif
