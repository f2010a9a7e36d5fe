/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of the preconditioner type "bisai": -pc_bisai_*. */
#include <string.h>

#include <bisai/stages.h>
#include <bisai/text.h>

#include "petsc/device.h"
#include "petsc/pc_impl.h"

/* upper bound of the number of words of an option */
enum { MOST_WORDS = 32 };

/* Returns the option of a kind that has this name in PETSc, or NULL. */
static const bisai_option *find_option(bisai_precond_kind kind, const char *name) {
  const bisai_option *option;
  for (int i = 0; (option = bisai_precond_kind_option(kind, i)); i++)
    if (option->petsc && strcmp(option->petsc, name) == 0) return option;
  return NULL;
}

/* Returns the option of the kind in use that has this name in PETSc, or NULL. */
static const bisai_option *find_taken(const bisai_precond_options *o, const char *name) {
  const bisai_option *option;
  for (int i = 0; (option = bisai_precond_kind_option(o->kind, i)); i++)
    if (option->petsc && strcmp(option->petsc, name) == 0 &&
        bisai_precond_options_take(o, option->field))
      return option;
  return NULL;
}

/* Writes the kinds that have an option of this name, and its help: "ilu, isai, sweeps, cpr: level
 * of fill". */
static PetscErrorCode describe_option(const bisai_option *option, char *text, size_t size) {
  PetscFunctionBegin;
  *text = '\0';
  for (int kind = 0; kind < BISAI_PRECOND_KINDS; kind++) {
    if (!find_option((bisai_precond_kind)kind, option->petsc)) continue;
    if (*text) PetscCall(PetscStrlcat(text, ", ", size));
    PetscCall(PetscStrlcat(text, bisai_precond_kind_string((bisai_precond_kind)kind), size));
  }
  PetscCall(PetscStrlcat(text, ": ", size));
  PetscCall(PetscStrlcat(text, option->help, size));
  if (option->words && option->type == BISAI_OPTION_INTEGER)
    PetscCall(PetscStrlcat(text, " (-1: auto)", size));
  if (option->words && option->type == BISAI_OPTION_NUMBER)
    PetscCall(PetscStrlcat(text, " (0: auto)", size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads one option of PETSc. *value holds the default, and receives the given value. */
static PetscErrorCode read_value(bsi_petsc_option_items PetscOptionsObject, const char *name,
                                 const bisai_option *option, double *value, PetscBool *found) {
  const char *words[MOST_WORDS + 3] = {NULL};
  char text[128];
  PetscInt number = (PetscInt)*value;
  PetscEnum word = (PetscEnum)*value;
  PetscReal real = *value;
  PetscBool flag = *value != 0.0 ? PETSC_TRUE : PETSC_FALSE;
  int integer;
  PetscFunctionBegin;
  PetscCall(describe_option(option, text, sizeof text));
  switch (option->type) {
  case BISAI_OPTION_INTEGER:
    PetscCall(PetscOptionsInt(name, text, "", number, &number, found));
    PetscCall(bsi_petsc_narrow(name, number, &integer));
    *value = integer;
    break;
  case BISAI_OPTION_WORD:
    for (int i = 0; i < MOST_WORDS && option->words[i]; i++)
      words[i] = option->words[i], words[i + 1] = option->name, words[i + 2] = "";
    PetscCall(PetscOptionsEnum(name, text, "", words, word, &word, found));
    *value = word;
    break;
  case BISAI_OPTION_NUMBER:
  case BISAI_OPTION_AMOUNT:
    PetscCall(PetscOptionsReal(name, text, "", real, &real, found));
    *value = real;
    break;
  case BISAI_OPTION_FLAG:
    PetscCall(PetscOptionsBool(name, text, "", flag, &flag, found));
    *value = flag == PETSC_TRUE;
    break;
  case BISAI_OPTION_POINTER:
  case BISAI_OPTION_VECTORS: break; /* not options of PETSc */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the kind whose options are read at a place: the one in use first, so that its stages are
 * known when their options are read, and then from the last kind to the first. */
static bisai_precond_kind kind_at(const bisai_precond_options *o, int place) {
  const int kind = BISAI_PRECOND_KINDS - place;
  if (place == 0) return o->kind;
  return (bisai_precond_kind)(kind > (int)o->kind ? kind : kind - 1);
}

/* Writes " -pc_bisai_cpr_second ilu" for each stage that can be chosen. */
static PetscErrorCode describe_stages(const bisai_precond_options *o, char *text, size_t size) {
  const bisai_option *stage;
  char part[64];
  PetscFunctionBegin;
  *text = '\0';
  for (int32_t i = 0; i < BISAI_PRECOND_STAGES; i++) {
    if (!(stage = bisai_precond_stage_option(o->kind, i))) continue;
    PetscCall(PetscSNPrintf(part, sizeof part, " -pc_bisai_%s %s", stage->petsc,
                            stage->words[(int)bisai_option_get(stage, o)]));
    PetscCall(PetscStrlcat(text, part, size));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads an option of the kind at a place and sets the option of the same name of the kind in use.
 * Fails if the option is given and the kind in use does not have it. */
static PetscErrorCode read_option(bsi_petsc_option_items PetscOptionsObject, int place,
                                  const bisai_option *option, bisai_precond_options *o,
                                  PetscBool *found) {
  const bisai_option *taken = find_taken(o, option->petsc);
  char name[64], stages[128];
  PetscFunctionBegin;
  *found = PETSC_FALSE;
  /* read each name once */
  if (find_option(kind_at(o, place), option->petsc) != option) PetscFunctionReturn(PETSC_SUCCESS);
  for (int earlier = 0; earlier < place; earlier++)
    if (find_option(kind_at(o, earlier), option->petsc)) PetscFunctionReturn(PETSC_SUCCESS);
  double value = taken ? bisai_option_get(taken, o) : option->initial;
  PetscCall(PetscSNPrintf(name, sizeof name, "-pc_bisai_%s", option->petsc));
  PetscCall(read_value(PetscOptionsObject, name, taken ? taken : option, &value, found));
  PetscCall(describe_stages(o, stages, sizeof stages));
  PetscCheck(taken || !*found, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "bisai: %s is not an option of -pc_bisai_type %s%s", name,
             bisai_precond_kind_string(o->kind), stages);
  if (taken) bisai_option_set(taken, value, o);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the options of all kinds. Options that the kind in use does not have are reset to their
 * defaults. */
static PetscErrorCode read_options(bsi_petsc_option_items PetscOptionsObject,
                                   bisai_precond_options *o, PetscBool *changed) {
  const bisai_option *option;
  PetscBool found;
  PetscFunctionBegin;
  for (int place = 0; place < BISAI_PRECOND_KINDS; place++) {
    for (int i = 0; (option = bisai_precond_kind_option(kind_at(o, place), i)); i++) {
      if (!bisai_precond_options_take(o, option->field))
        bisai_option_set(option, option->initial, o);
      if (!option->petsc) continue;
      PetscCall(read_option(PetscOptionsObject, place, option, o, &found));
      if (found) *changed = PETSC_TRUE;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lists the orderings. The last one, GIVEN, is not an option; its position holds "color", another
 * spelling of COLOUR. */
static void list_orderings(const char **orderings) {
  int count = 0;
  for (; count < BISAI_ORDERING_GIVEN; count++)
    orderings[count] = bisai_ordering_string((bisai_ordering)count);
  orderings[count] = "color";
  orderings[count + 1] = "bisai_ordering", orderings[count + 2] = "BISAI_ORDERING_";
}

/* Reads the kind of the preconditioner. */
static PetscErrorCode read_kind(bsi_petsc_option_items PetscOptionsObject, bisai_precond_options *o,
                                PetscBool *found) {
  bisai_precond_kind kinds[BISAI_PRECOND_KINDS];
  const char *words[BISAI_PRECOND_KINDS + 3] = {NULL};
  PetscEnum chosen = (PetscEnum)0;
  int count = 0;
  PetscFunctionBegin;
  for (int kind = 0; kind < BISAI_PRECOND_KINDS; kind++) {
    if (bisai_precond_kind_needs_code((bisai_precond_kind)kind)) continue;
    if ((int)o->kind == kind) chosen = (PetscEnum)count;
    kinds[count] = (bisai_precond_kind)kind;
    words[count++] = bisai_precond_kind_string((bisai_precond_kind)kind);
  }
  words[count] = "bisai_precond_kind", words[count + 1] = "BISAI_PRECOND_";
  PetscCall(
      PetscOptionsEnum("-pc_bisai_type", "Preconditioner", "", words, chosen, &chosen, found));
  o->kind = kinds[chosen];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads kind and options as one text, which replaces those so far. */
static PetscErrorCode read_method(bsi_petsc_option_items PetscOptionsObject,
                                  bisai_precond_options *o, PetscBool *found) {
  char text[BISAI_TEXT_SIZE] = "";
  bisai_text_fault fault = {0};
  PetscFunctionBegin;
  PetscCall(PetscOptionsString("-pc_bisai_method",
                               "Preconditioner with its options, as mg:cycle=w; options of their "
                               "own change it",
                               "", text, text, sizeof text, found));
  PetscCheck(!*found || !bisai_precond_options_parse(text, o, NULL, &fault), PETSC_COMM_SELF,
             PETSC_ERR_ARG_WRONG, "bisai: -pc_bisai_method %s: character %d: %s", text,
             fault.place + 1, fault.message);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads how processes reach each other. */
static PetscErrorCode read_transport(bsi_petsc_option_items PetscOptionsObject,
                                     bisai_petsc_transport *transport, PetscBool *found) {
  static const char *const words[] = {
      "auto", "mpi", "nccl", "bisai_petsc_transport", "BISAI_PETSC_TRANSPORT_", NULL};
  PetscEnum chosen = (PetscEnum)*transport;
  PetscFunctionBegin;
  PetscCall(PetscOptionsEnum("-pc_bisai_transport",
                             "mg: how processes reach each other; auto: by NCCL if each has a GPU",
                             "", words, chosen, &chosen, found));
  *transport = (bisai_petsc_transport)chosen;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_pc_set_from_options(PC pc, bsi_petsc_option_items PetscOptionsObject) {
  bsi_pc *m = pc->data;
  bisai_precond_options *o = &m->options;
  PetscEnum ordering;
  PetscBool equilibrate, changed = PETSC_FALSE, found[10] = {PETSC_FALSE};
  bsi_pc_ranks *ranks = &m->ranks;
  PetscEnum backend = (PetscEnum)m->place.backend;
  const char *orderings[BISAI_ORDERING_GIVEN + 4] = {NULL}, *backends[BSI_PETSC_BACKENDS + 3];
  PetscFunctionBegin;
  list_orderings(orderings);
  bsi_petsc_list_backends(backends);
  PetscOptionsHeadBegin(PetscOptionsObject, "bisai options");
  PetscCall(read_method(PetscOptionsObject, o, &found[7]));
  ordering = (PetscEnum)o->factor.ordering;
  equilibrate = o->factor.equilibrate ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(read_kind(PetscOptionsObject, o, &found[0]));
  PetscCall(read_options(PetscOptionsObject, o, &changed));
  PetscCall(PetscOptionsInt("-pc_bisai_threads",
                            "Threads of each process; 0: all processors it may use", "",
                            m->place.threads, &m->place.threads, &found[1]));
  PetscCall(PetscOptionsEnum("-pc_bisai_backend",
                             "Where the preconditioner works; auto: where the Mat has its values",
                             "", backends, backend, &backend, &found[4]));
  PetscCall(PetscOptionsEnum("-pc_bisai_ordering", "ilu, isai, sweeps: ordering of the block rows",
                             "", orderings, ordering, &ordering, &found[2]));
  PetscCall(PetscOptionsBool("-pc_bisai_equilibrate", "ilu, isai, sweeps: scale rows and columns",
                             "", equilibrate, &equilibrate, &found[3]));
  PetscCall(PetscOptionsBool("-pc_bisai_mg_distributed",
                             "mg: one hierarchy of all processes, instead of one of each", "",
                             ranks->wanted, &ranks->wanted, &found[5]));
  PetscCall(PetscOptionsInt("-pc_bisai_mg_gather",
                            "mg: the most scalar rows of a level that goes to the first process",
                            "", ranks->gather, &ranks->gather, &found[6]));
  PetscCall(read_transport(PetscOptionsObject, &ranks->transport, &found[8]));
  PetscCall(PetscOptionsInt("-pc_bisai_cpr_overlap",
                            "cpr: layers of other processes' rows in the second stage", "",
                            ranks->layers, &ranks->layers, &found[9]));
  PetscOptionsHeadEnd();
  PetscCheck(!found[6] || ranks->gather >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "bisai: -pc_bisai_mg_gather is %" PetscInt_FMT "; it must be at least 0",
             ranks->gather);
  PetscCheck(ranks->layers >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "bisai: -pc_bisai_cpr_overlap is %" PetscInt_FMT "; it must be at least 0",
             ranks->layers);
  if (ordering == (PetscEnum)BISAI_ORDERING_GIVEN) ordering = (PetscEnum)BISAI_ORDERING_COLOUR;
  o->factor.ordering = (bisai_ordering)ordering;
  o->factor.equilibrate = equilibrate == PETSC_TRUE;
  m->place.backend = (bisai_backend)backend;
  for (int i = 0; i < 10; i++)
    if (found[i]) changed = PETSC_TRUE;
  if (changed) {
    /* The old options have become invalid: the set-up runs again, even for the same matrix. */
    PetscCall(bsi_pc_renew(pc));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
