/* SPDX-License-Identifier: BSD-3-Clause */
/** @file option.h
 *  Descriptions of options: what a field of an options struct is called, which values it takes, and
 *  how it is written in METHOD of the program and among PETSc's options. */
#ifndef BISAI_OPTION_H
#define BISAI_OPTION_H

#include <stdbool.h>
#include <stddef.h>

#include <bisai/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How the value of an option is stored. */
typedef enum bisai_option_type {
  /** an int32_t */
  BISAI_OPTION_INTEGER = 0,
  /** a double */
  BISAI_OPTION_NUMBER = 1,
  /** an enumeration, whose words are bisai_option::words */
  BISAI_OPTION_WORD = 2,
  /** a bool */
  BISAI_OPTION_FLAG = 3,
  /** a double, and an enumeration at bisai_option::switch_offset that switches it on (1) and off
   *  (0); as one value, 0 is off */
  BISAI_OPTION_AMOUNT = 4,
  /** a pointer; as a value, 0 is NULL and 1 anything else */
  BISAI_OPTION_POINTER = 5
} bisai_option_type;

/** How METHOD treats an option. */
typedef enum bisai_option_use {
  /** may be left out; labels leave the default out too */
  BISAI_OPTION_OPTIONAL = 0,
  /** may be left out, but labels show it always */
  BISAI_OPTION_SHOWN = 1,
  /** must be given */
  BISAI_OPTION_NEEDED = 2
} bisai_option_use;

/** A description of an option. Values of every type are passed as a double, which holds each of
 *  them exactly: an enumerator is its number, a flag is 0 or 1. */
typedef struct bisai_option {
  /** the field in the options struct, as in "isai.power" */
  const char *field;
  /** its name in messages, as in "power" */
  const char *name;
  /** its key in METHOD, as in isai:k=2; NULL: METHOD does not have it */
  const char *key;
  /** what stands for the value in the help on METHOD; words stand for themselves; NULL: the help
   *  does not list the key with the kind */
  const char *placeholder;
  /** its PETSc option without "-pc_bisai_"; NULL: PETSc does not have it */
  const char *petsc;
  /** one line of help */
  const char *help;
  /** how the value is stored */
  bisai_option_type type;
  /** how METHOD treats it */
  bisai_option_use use;
  /** of the field in the options struct, in bytes */
  size_t offset;
  /** of the enumeration of an AMOUNT; otherwise 0 */
  size_t switch_offset;
  /** the default */
  double initial;
  /** the smallest value; not for flags and pointers, like the two below */
  double minimum;
  /** the largest value */
  double maximum;
  /** The largest value that bisai_option_parse() takes. Typing a greater one is most likely a slip
   *  of the keyboard, or it needs data beside it. */
  double advised;
  /** of a WORD: its words in the order of their numbers, from 0 to `maximum`, then NULL */
  const char *const *words;
} bisai_option;

/** The value of an option.
 *  @param options  the struct in which bisai_option::offset counts */
BISAI_API double bisai_option_get(const bisai_option *option, const void *options);

/** Sets an option to a value that bisai_option_get() or bisai_option_parse() has returned. Pointers
 *  are set to NULL, whatever the value is. Ranges are not checked: bisai_precond_create() does
 *  that. */
BISAI_API void bisai_option_set(const bisai_option *option, double value, void *options);

/** The value that a text stands for. Integers are written in decimal, numbers as strtod() takes
 *  them (without infinity and NaN), a flag as the empty text; a pointer cannot be written.
 *  @param value  out; untouched where false is returned
 *  @returns      whether the text is a value from `minimum` to `advised` */
BISAI_API bool bisai_option_parse(const bisai_option *option, const char *text, double *value);

#ifdef __cplusplus
}
#endif
#endif
