/* SPDX-License-Identifier: BSD-3-Clause */
/* The hierarchy of multigrid as text and as JSON. */
#ifndef TOOL_HIERARCHY_H
#define TOOL_HIERARCHY_H

#include <stdbool.h>
#include <stdio.h>

#include <bisai/precond.h>

/* Prints a line for each level of a matrix and two lines on all of them. Prints nothing if there
 * are no levels. */
void hierarchy_print(FILE *out, const char *matrix, const bisai_multigrid_report *g);

/* Prints the memory of the levels, array by array, and the most that the device held, if it is not
 * 0. Prints nothing if there are no levels. */
void hierarchy_print_memory(FILE *out, const bisai_multigrid_report *g, int64_t device_peak);

#ifdef BISAI_HAVE_JANSSON
#include <jansson.h>

/* Returns an object, null if there are no levels, or NULL without enough memory. */
json_t *hierarchy_json(const bisai_multigrid_report *g);
#endif

#endif
