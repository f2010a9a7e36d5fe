/* SPDX-License-Identifier: BSD-3-Clause */
/* METHOD of the command line. It names a kind of the library with the keys of its options, which
 * the library describes, or a method of the program. */
#ifndef TOOL_METHOD_H
#define TOOL_METHOD_H

#include <stdbool.h>
#include <stdint.h>

#include <bisai/precond.h>

/* METHOD_TEXT is the size of a METHOD with its NUL. */
enum { METHOD_TEXT = 512, METHOD_LABEL = METHOD_TEXT + 128, METHOD_GRAMMAR = 4096 };

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

/* The parts of a METHOD. That of cpr has its own keys, then "first=mg" with keys of mg, and
 * "second=KIND" with keys of KIND. Other methods have only keys of their own. */
typedef enum method_section { SECTION_OWN, SECTION_FIRST, SECTION_SECOND } method_section;
enum { METHOD_SECTIONS = 3 };

/* A file that METHOD names, with values of an option. */
typedef struct method_file {
  /* NULL: there is no file */
  const bisai_option *option;
  char path[METHOD_TEXT];
  /* the values, owned by the list of methods; NULL before files_read() */
  double *values;
} method_file;
/* of null=, weights= and storage= */
enum { METHOD_FILES = 3 };

/* A method with the values of its keys. */
typedef struct method {
  method_program program;
  /* options of the kind; CALLBACK for methods of the program, and factor.level is PETSc's level */
  bisai_precond_options options;
  /* method_factors */
  int factors;
  /* method_maker */
  int pattern, apply;
  /* solved by CG, whatever the solver of the others is; only the program chooses this */
  bool by_cg;
  /* files without an option follow those with one */
  method_file files[METHOD_FILES];
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
/* Appends methods separated by commas, to be solved by CG. Returns false after a message. */
bool method_list_add_by_cg(const char *text, method_list *list);

void method_list_free(method_list *list);

bool method_is(const method *m, bisai_precond_kind kind); /* a kind of the library */
bool method_has_stages(const method *m);                  /* first= and second= */
/* Returns true if the method is of this kind, or its second stage is. */
bool method_uses(const method *m, bisai_precond_kind kind);
bool method_is_exact(const method *m);               /* its triangular solves are exact */
bool method_takes(const method *m, const char *key); /* has this key, outside of stages */
/* Returns the name, in messages, of the option with this index among those of a section. NULL:
 * after the last one. */
const char *method_option_name(const method *m, method_section section, int index);
/* Returns the option of such a name and gives its value. NULL: the section does not have it. */
const bisai_option *method_option(const method *m, method_section section, const char *name,
                                  double *value);
/* Returns the file of an option. NULL: there is none. */
const char *method_path(const method *m, const bisai_option *option);
const char *method_kind(const method *m); /* "isai" */
/* Writes a label such as "isai:k=2:relax=1", with k and the keys that are not the default. Parsing
 * it gives the same method. A method by CG ends with " (cg)", which is not parsed. */
void method_label(const method *m, char label[METHOD_LABEL]);
/* Writes "none | bjacobi[:max=N]… | …": all methods with the keys that no other method has. */
void method_grammar(char grammar[METHOD_GRAMMAR]);
/* Writes a line for each key of a kind: its values, meaning, range and default. */
void method_key_help(bisai_precond_kind kind, char help[METHOD_GRAMMAR]);

#endif
