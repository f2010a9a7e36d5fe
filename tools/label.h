/* SPDX-License-Identifier: BSD-3-Clause */
/* METHOD as the program writes it: labels of methods, and the help on METHOD. */
#ifndef TOOL_LABEL_H
#define TOOL_LABEL_H

#include "method.h"

enum { METHOD_GRAMMAR = 4096 };

/* Writes a label such as "isai:k=2:relax=1", with k and the keys that are not the default. Parsing
 * it gives the same method. A method by CG ends with " (cg)", which is not parsed. */
void method_label(const method *m, char label[METHOD_LABEL]);
/* Writes "none | bjacobi[:max=N]… | …": all methods with the keys that no other method has. */
void method_grammar(char grammar[METHOD_GRAMMAR]);
/* Writes a line for each key of a kind: its values, meaning, range and default. */
void method_key_help(bisai_precond_kind kind, char help[METHOD_GRAMMAR]);

#endif
