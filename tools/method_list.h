/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads METHOD, and lists of them, from the command line. */
#ifndef TOOL_METHOD_LIST_H
#define TOOL_METHOD_LIST_H

#include "method.h"

typedef struct method_list {
  int count;
  /* malloc */
  method *items;
} method_list;

/* Both print a message that names `flag` and return false if the text is wrong. */
bool method_parse(const char *flag, const char *text, method *result);
/* Parses methods separated by commas and replaces *list. */
bool method_list_parse(const char *flag, const char *text, method_list *list);
/* Appends methods separated by commas, to be solved by CG. Returns false after a message. */
bool method_list_add_by_cg(const char *text, method_list *list);

void method_list_free(method_list *list);

#endif
