/* SPDX-License-Identifier: BSD-3-Clause */
/* METHOD of the command line: none | bjacobi[:max=N][:form=F][:storage=S][:digits=D][:extraction=E]
 * | ilu | isai[:k=K][:symmetric][:relax=R][:storage=fp64|fp32|fp16|bf16] | sweeps:n=N | petsc |
 * petsc-ilu | cusparse-ilu, and the keys of each. */
#ifndef TOOL_METHOD_H
#define TOOL_METHOD_H

#include <stdbool.h>
#include <stdint.h>

enum { METHOD_LABEL = 160 };

/* k ends by itself where the pattern is full. Steps far beyond use are slips of the keyboard that
 * would run for days. */
enum { METHOD_MAX_POWER = INT32_MAX, METHOD_MAX_STEPS = 100000, METHOD_MAX_RATIO = 1000000 };
/* Of bisai_precond_options. */
enum { METHOD_MAX_BLOCK = 32, METHOD_MAX_DIGITS = 15 };

/* The program's methods, which need not be preconditioners of the library. */
typedef enum method_name {
  METHOD_NONE,
  METHOD_BJACOBI,
  METHOD_ILU,
  METHOD_ISAI,
  METHOD_SWEEPS,
  METHOD_PETSC,
  METHOD_PETSC_ILU,
  METHOD_CUSPARSE_ILU
} method_name;

/* Who makes something: of factors, patterns, products. */
typedef enum method_factors { FACTORS_OWN, FACTORS_PETSC, FACTORS_CUSPARSE } method_factors;
typedef enum method_maker { MAKER_OWN, MAKER_CUSPARSE } method_maker;

/* What the keys set; those that the method does not take hold their defaults. The table of keys is
 * in method.c. */
typedef struct method {
  method_name name;
  int power, relax, sweeps;
  /* 0 or 1 */
  int symmetric;
  /* bisai_value_type */
  int storage;
  /* form: bisai_form, extraction: bisai_extraction */
  int max_block, form, digits, extraction;
  int level, cap;
  /* method_factors */
  int factors;
  /* method_maker */
  int pattern, apply;
  /* shift: the amount, 0 for none */
  double drop, shift;
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

bool method_is_exact(const method *m);               /* its triangular solves are exact */
bool method_takes(const method *m, const char *key); /* whether the method has this key */
const char *method_kind(const method *m);            /* "isai" */
const char *method_storage(const method *m);         /* "fp64" */
const char *method_form(const method *m);            /* "inverse" */
const char *method_extraction(const method *m);      /* "auto" */
const char *method_factors_of(const method *m);      /* "bisai" */
const char *method_pattern_of(const method *m);      /* "bisai" */
const char *method_apply_of(const method *m);        /* "bisai" */
/* "isai:k=2:relax=1": what is not the default, and k */
void method_label(const method *m, char label[METHOD_LABEL]);

#endif
