/* SPDX-License-Identifier: BSD-3-Clause */
/* METHOD of the command line. It names a kind of the library with the keys of its options, which
 * the library describes, or a method of the program. */
#ifndef TOOL_METHOD_H
#define TOOL_METHOD_H

#include <stdbool.h>
#include <stdint.h>

#include <bisai/precond.h>

/* METHOD_TEXT is the size of a METHOD with its NUL. */
enum { METHOD_TEXT = 512, METHOD_LABEL = METHOD_TEXT + 128, METHOD_GRAMMAR = 2048 };

/* The methods of the program, which are not preconditioners of the library. */
typedef enum method_program {
  METHOD_OF_LIBRARY,
  METHOD_PETSC,
  METHOD_PETSC_ILU,
  METHOD_CUSPARSE_ILU
} method_program;

/* The sources of factors, patterns and products. */
typedef enum method_factors { FACTORS_OWN, FACTORS_PETSC, FACTORS_CUSPARSE } method_factors;
typedef enum method_maker { MAKER_OWN, MAKER_CUSPARSE } method_maker;

/* A method with the values of its keys. */
typedef struct method {
  method_program program;
  /* options of the kind; CALLBACK for methods of the program, and factor.level is PETSc's level */
  bisai_precond_options options;
  /* method_factors */
  int factors;
  /* method_maker */
  int pattern, apply;
  /* the file of null=FILE; "" if the key is not given */
  char null_file[METHOD_TEXT];
  /* the vectors of this file, owned by the list of methods; NULL before null_space_read() */
  double *null_vectors;
} method;

typedef struct method_list {
  int count;
  /* malloc */
  method *items;
} method_list;

/* Both print a message that names `flag` and return false if the text is wrong. */
bool method_parse(const char *flag, const char *text, method *result);
/* Parses methods separated by commas and replaces *list. */
bool method_list_parse(const char *flag, const char *text, method_list *list);

void method_list_free(method_list *list);

bool method_is(const method *m, bisai_precond_kind kind); /* a kind of the library */
bool method_is_exact(const method *m);                    /* its triangular solves are exact */
bool method_takes(const method *m, const char *key);      /* whether the method has this key */
/* Returns the name, in messages, of the option with this index among those that have keys. NULL:
 * after the last one. */
const char *method_option_name(const method *m, int index);
/* Returns the option of such a name and gives its value. NULL: the method does not have it. */
const bisai_option *method_option(const method *m, const char *name, double *value);
const char *method_kind(const method *m); /* "isai" */
/* Writes a label such as "isai:k=2:relax=1", with k and the keys that are not the default. */
void method_label(const method *m, char label[METHOD_LABEL]);
/* Writes "none | bjacobi[:max=N]… | …": all methods with the keys that no other method has. */
void method_grammar(char grammar[METHOD_GRAMMAR]);

#endif
