/* SPDX-License-Identifier: BSD-3-Clause */
/* METHOD of the command line: the library's kinds with the keys of their options, as the library
 * describes them, and the program's own methods and keys. */
#ifndef TOOL_METHOD_H
#define TOOL_METHOD_H

#include <stdbool.h>
#include <stdint.h>

#include <bisai/precond.h>

enum { METHOD_LABEL = 160, METHOD_GRAMMAR = 1024 };

/* The program's own methods, which are not preconditioners of the library. */
typedef enum method_program {
  METHOD_OF_LIBRARY,
  METHOD_PETSC,
  METHOD_PETSC_ILU,
  METHOD_CUSPARSE_ILU
} method_program;

/* Who makes something: of factors, patterns, products. */
typedef enum method_factors { FACTORS_OWN, FACTORS_PETSC, FACTORS_CUSPARSE } method_factors;
typedef enum method_maker { MAKER_OWN, MAKER_CUSPARSE } method_maker;

/* What the keys set. */
typedef struct method {
  method_program program;
  /* the kind, for methods of the program CALLBACK; PETSc's level is factor.level */
  bisai_precond_options options;
  /* method_factors */
  int factors;
  /* method_maker */
  int pattern, apply;
} method;

typedef struct method_list {
  int count;
  /* malloc */
  method *items;
} method_list;

/* Both say what is wrong, naming `flag`, and return false. */
bool method_parse(const char *flag, const char *text, method *result);
/* separated by commas; replaces *list */
bool method_list_parse(const char *flag, const char *text, method_list *list);

void method_list_free(method_list *list);

bool method_is(const method *m, bisai_precond_kind kind); /* the library's kind */
bool method_is_exact(const method *m);                    /* its triangular solves are exact */
bool method_takes(const method *m, const char *key);      /* whether the method has this key */
/* The names in messages of the options that have keys; NULL behind the last. */
const char *method_option_name(const method *m, int index);
/* The option of such a name and its value; NULL where the method does not have it. */
const bisai_option *method_option(const method *m, const char *name, double *value);
const char *method_kind(const method *m); /* "isai" */
/* "isai:k=2:relax=1": what is not the default, and k */
void method_label(const method *m, char label[METHOD_LABEL]);
/* "none | bjacobi[:max=N]… | …": all methods with the keys that are theirs alone */
void method_grammar(char grammar[METHOD_GRAMMAR]);

#endif
