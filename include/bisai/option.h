/* SPDX-License-Identifier: BSD-3-Clause */
/** @file option.h
 *  Descriptions of options: what a field of an options struct is called, which values it takes, and
 *  how it is written in METHOD and among PETSc's options. METHOD is the text of a preconditioner,
 *  for example isai:k=2:relax=1 (bisai/text.h). A label is METHOD as the program prints it. */
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
  /** a double, with an enumeration at bisai_option::switch_offset that is 1 if the amount is used
   *  and 0 if not. bisai_option_get() returns 0 if it is not used */
  BISAI_OPTION_AMOUNT = 4,
  /** a pointer. bisai_option_get() returns 0 for NULL and 1 for any other pointer */
  BISAI_OPTION_POINTER = 5,
  /** a pointer to vectors; bisai_option_get() is as for POINTER. METHOD has the name of a file with
   *  the vectors, or the only word of bisai_option::words, which stands for NULL */
  BISAI_OPTION_VECTORS = 6
} bisai_option_type;

/** How METHOD treats an option. */
typedef enum bisai_option_use {
  /** METHOD may omit it, and labels omit it if it has the default value */
  BISAI_OPTION_OPTIONAL = 0,
  /** METHOD may omit it, but labels always show it; they show a flag only if it is set */
  BISAI_OPTION_SHOWN = 1,
  /** METHOD must give it */
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
  /** the symbol for the value in the help on METHOD. For a WORD the help lists the words instead,
   *  and for VECTORS it lists the word too. NULL: the help does not list the key with the kind */
  const char *placeholder;
  /** its PETSc option without "-pc_bisai_"; NULL: PETSc does not have it */
  const char *petsc;
  /** one line of help */
  const char *help;
  /** how the value is stored */
  bisai_option_type type;
  /** how METHOD treats it */
  bisai_option_use use;
  /** offset of the field in the options struct, in bytes */
  size_t offset;
  /** offset of the enumeration of an AMOUNT, in bytes; 0 for other types */
  size_t switch_offset;
  /** the default value */
  double initial;
  /** the smallest value. Flags, pointers and vectors do not use `minimum`, `maximum` and
   *  `advised` */
  double minimum;
  /** the largest value */
  double maximum;
  /** The largest value that bisai_option_parse() takes. A greater value is most likely a typing
   *  error, or needs further data that a text cannot give. */
  double advised;
  /** true: the value must lie between `minimum` and `maximum` (or `advised`), and must not be equal
   *  to them */
  bool open;
  /** the words of a WORD, ordered by their numbers from 0 to `maximum`; the word of VECTORS; the
   *  word of an INTEGER or a NUMBER for the default value, which is then out of its range. NULL
   *  follows the last. For a WORD, the names of the enumerators in C follow in the same order, and
   *  a second NULL. Other options, and numbers without a word, have NULL */
  const char *const *words;
} bisai_option;

/** Returns the value of an option.
 *  @param options  the options struct that has the field */
BISAI_API double bisai_option_get(const bisai_option *option, const void *options);

/** Sets an option to a value that bisai_option_get() or bisai_option_parse() has returned. Pointers
 *  are set to NULL, whatever the value is. Ranges are not checked: bisai_precond_create() does
 *  that. */
BISAI_API void bisai_option_set(const bisai_option *option, double value, void *options);

/** Reads the value of an option from a text. Integers are decimal, or the word for the default.
 *  Numbers are as for strtod(), without infinity and NaN and with a point in every locale, or the
 *  word for the default. The text of a flag is empty. A pointer has no text, and vectors have their
 *  word only.
 *  @param value  out; unchanged if false is returned
 *  @returns      true if the text is a value from `minimum` to `advised`, or between them if the
 *                range is open */
BISAI_API bool bisai_option_parse(const bisai_option *option, const char *text, double *value);

#ifdef __cplusplus
}
#endif
#endif
