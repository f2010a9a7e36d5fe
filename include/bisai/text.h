/* SPDX-License-Identifier: BSD-3-Clause */
/** @file text.h
 *  Options as texts, and texts as options.
 *
 *  A text begins with the word of a kind of preconditioner or of a method, and keys with their
 *  values follow it: `isai:k=2:relax=1`, `mg:cycle=w`, `gmres:restart=60`. A flag is a key without
 *  a value. Kinds with stages have their own keys first, and then `first=KIND` and `second=KIND`,
 *  each with keys of that kind: `schur:complement=lsc:first=mg:cycle=w:second=ilu`. The keys are
 *  those of bisai_option::key. The program's METHOD and `--solver` and the PETSc option
 *  `-pc_bisai_method` are such texts. Numbers have a point in every locale.
 *
 *  bisai_options_text() writes options as C. */
#ifndef BISAI_TEXT_H
#define BISAI_TEXT_H

#include <bisai/krylov.h>
#include <bisai/precond.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  /** bytes of the longest text that is read, its end included */
  BISAI_TEXT_SIZE = 2048,
  /** sections of a text: the keys of the kind itself, those after `first=`, and those after
   *  `second=` */
  BISAI_TEXT_SECTIONS = 3
};

/** What is wrong with a text. */
typedef struct bisai_text_fault {
  /** where the faulty part begins, in bytes from 0 */
  int place;
  /** its bytes; 0 if something is missing at this place */
  int length;
  /** says what is wrong, and which words, keys or values there are */
  char message[512];
} bisai_text_fault;

/** What a caller adds to the texts of preconditioners, as the program adds names of files. Each
 *  member except struct_size may be NULL. */
typedef struct bisai_text_keys {
  /** sizeof(bisai_text_keys) */
  size_t struct_size;
  /** a word that is no kind. Texts that begin with it have the kind CALLBACK, and only further
   *  keys. The text of that kind begins with this word */
  const char *word;
  /** gives further keys, which follow the kind's own ones in the first section. Their offsets count
   *  in `user`, and each `index` from 0 is asked for until NULL is returned */
  const bisai_option *(*option)(void *user, const bisai_precond_options *options, int index);
  /** takes the value of an option of type VECTORS that is not its word, as the name of a file.
   *  Returns false if it cannot be one. NULL: only the word is possible */
  bool (*read)(void *user, const bisai_option *option, const char *name);
  /** returns the name that was taken, or NULL. NULL: vectors are not written */
  const char *(*name)(void *user, const bisai_option *option);
  /** is told each key that the text has */
  void (*given)(void *user, const bisai_option *option);
  /** what the functions above get */
  void *user;
  /** true: bisai_precond_options_text() also writes options whose use is SHOWN, even if they have
   *  their defaults */
  bool shown;
} bisai_text_keys;

/** Reads the options of a preconditioner. Options that the text does not have get their defaults,
 *  and pointers become NULL: set them after the call. Needs no context and no memory.
 *  @param options  out, with the struct_size of bisai_precond_options_default(); unchanged on
 *      failure
 *  @param keys     NULL: the text has the library's words and keys only. What the functions of
 *      `keys` have taken before a failure stays
 *  @param fault    out on failure unless NULL
 *  @retval BISAI_INVALID_ARGUMENT  the text is wrong, which `fault` describes, or a struct_size is
 *      unknown. Conflicts between options are found by bisai_precond_create() */
BISAI_API bisai_status bisai_precond_options_parse(const char *text, bisai_precond_options *options,
                                                   const bisai_text_keys *keys,
                                                   bisai_text_fault *fault);

/** Writes the shortest text from which bisai_precond_options_parse() reads these options: those of
 *  the kind and its stages that do not have their defaults. Numbers keep all their bits. Pointers
 *  have no text. A stage whose kind is chosen automatically is written by its kind if it has
 *  options.
 *  @param keys  NULL, or as for reading
 *  @param size  bytes of `text`. A longer text is cut, and always ends with a null byte
 *  @param text  out; NULL: the length is wanted only
 *  @returns  the length of the whole text without its null byte: it was cut if that is at least
 *      `size`. 0 with an empty text for an unknown kind, word or struct_size, and for a kind that
 *      needs code (bisai_precond_kind_needs_code()) */
BISAI_API size_t bisai_precond_options_text(const bisai_precond_options *options,
                                            const bisai_text_keys *keys, size_t size, char *text);

/** Sets up a preconditioner with the options of a text.
 *  @param text  for example "mg:cycle=w"
 *  @retval BISAI_INVALID_ARGUMENT  the text is wrong; the message has the text, the number of the
 *      faulty character, from 1, and what is wrong. Otherwise as of bisai_precond_create(), whose
 *      errors follow */
BISAI_API bisai_status bisai_precond_create_text(bisai_context *context, const bisai_bcsr *matrix,
                                                 const char *text, bisai_precond **precond);

/** Reads the method of a solver and the method's own options, as `gmres:restart=60`. Options of
 *  methods that the text does not have get their defaults. What all methods share (tolerance,
 *  iterations, stagnation, initial guess, monitor, sum) is not part of a text and does not change.
 *  @param options  in and out, with the struct_size of bisai_solver_options_default(); unchanged on
 *      failure
 *  @param fault    out on failure unless NULL
 *  @retval BISAI_INVALID_ARGUMENT  as of bisai_precond_options_parse() */
BISAI_API bisai_status bisai_solver_options_parse(const char *text, bisai_solver_options *options,
                                                  bisai_text_fault *fault);

/** Writes the shortest text from which bisai_solver_options_parse() reads the method and its
 *  options. Parameters and result are as of bisai_precond_options_text(). */
BISAI_API size_t bisai_solver_options_text(const bisai_solver_options *options, size_t size,
                                           char *text);

/** Creates a solver with the method of a text and the default tolerance.
 *  @retval BISAI_INVALID_ARGUMENT  as of bisai_precond_create_text(). Otherwise as of
 *      bisai_solver_create(), whose errors follow */
BISAI_API bisai_status bisai_solver_create_text(bisai_context *context, int64_t n, const char *text,
                                                bisai_solver **solver);

/** Describes a section of the texts of options.
 *  @param section  0: the kind's own keys; 1: those after `first=`; 2: those after `second=`
 *  @param head     out: "first" or "second", and NULL for section 0
 *  @param word     out: the word of the section's kind, which for a stage may be "auto"
 *  @returns        false, with both unchanged, for a section that the kind does not have */
BISAI_API bool bisai_precond_text_section(const bisai_precond_options *options, int section,
                                          const char **head, const char **word);

/** Describes a key of a section. A stage whose kind is chosen automatically has no keys. Options
 *  that both stages take are keys of the first one.
 *  @param index  from 0, in the order in which texts are written
 *  @returns      a description, whose offsets count in bisai_precond_options; NULL after the last
 *      key, and for a section that the kind does not have */
BISAI_API const bisai_option *bisai_precond_text_option(const bisai_precond_options *options,
                                                        int section, int index);

/** Writes the C statements that make options, one a line, for example
 *
 *      bisai_precond_options p = bisai_precond_options_default();
 *      p.kind = BISAI_PRECOND_ILU;
 *      p.factor.level = 1;
 *      bisai_solver_options s = bisai_solver_options_default();
 *      s.method = BISAI_GMRES;
 *
 *  Options with their defaults are left out, and so are options that the kind or the method does
 *  not take, the monitor and `reduce`. A pointer of `precond` that is not NULL is set to a variable
 *  that has the name of the pointer, as in `p.multigrid.null_vectors = null_vectors;`, which the
 *  caller declares.
 *  @param precond  for example bisai_solve_report::precond_options; NULL: no statements for it
 *  @param solver   for example bisai_solve_report::solver_options; NULL: no statements for it
 *  @param size     bytes of `text`. A longer text is cut, and always ends with a null byte
 *  @param text     out; NULL: the length is wanted only
 *  @returns  the length of the whole text without its null byte: it was cut if that is at least
 *      `size`. 0 with an empty text for an unknown kind, method or struct_size */
BISAI_API size_t bisai_options_text(const bisai_precond_options *precond,
                                    const bisai_solver_options *solver, size_t size, char *text);

#ifdef __cplusplus
}
#endif
#endif
