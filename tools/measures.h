/* SPDX-License-Identifier: BSD-3-Clause */
/* What the study of a matrix measures, as text and as JSON. */
#ifndef TOOL_MEASURES_H
#define TOOL_MEASURES_H

#include <stdio.h>

#include <bisai/study.h>

/* Prints a line for each subject. Subjects of which there is nothing to say have no line. */
void measures_print(FILE *out, const bisai_matrix_study_report *s, int block_size);

#ifdef BISAI_HAVE_JANSSON
#include <jansson.h>

/* Returns an object, or NULL without enough memory. */
json_t *measures_json(const bisai_matrix_study_report *s, int block_size);
#endif

#endif
