/* SPDX-License-Identifier: BSD-3-Clause */
/* METHOD of the command line. It names a kind of the library with the keys of its options, which
 * the library describes, or a method of the program. */
#ifndef TOOL_METHOD_H
#define TOOL_METHOD_H

#include <stdbool.h>
#include <stdint.h>

#include <bisai/precond.h>

/* METHOD_TEXT is the size of a METHOD with its NUL. */
enum { METHOD_TEXT = 512, METHOD_LABEL = METHOD_TEXT + 128 };

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

/* The parts of a METHOD. Those of cpr and schur have their own keys, then "first=KIND" and
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
  /* options of the kind; CALLBACK for methods of the program */
  bisai_precond_options options;
  /* of PETSc's ILU */
  int32_t level;
  /* method_factors */
  int factors;
  /* method_maker */
  int pattern, apply;
  /* METHOD has the key: that of the program does not apply */
  bool ordering_given, matching_given;
  /* solved by CG, whatever the solver of the others is; only the program chooses this */
  bool by_cg;
  /* files without an option follow those with one */
  method_file files[METHOD_FILES];
} method;

bool method_is(const method *m, bisai_precond_kind kind); /* a kind of the library */
bool method_has_stages(const method *m);                  /* first= and second= */
/* Returns true if the method is of this kind, or one of its stages is. */
bool method_uses(const method *m, bisai_precond_kind kind);
int method_level(const method *m);     /* of block ILU */
bool method_is_exact(const method *m); /* its triangular solves are exact */
/* Returns the file of an option. NULL: there is none. */
const char *method_path(const method *m, const bisai_option *option);
const char *method_kind(const method *m);                  /* "isai" */
const char *method_program_string(method_program program); /* "petsc"; not of OF_LIBRARY */

#endif
