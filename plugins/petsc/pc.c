/* SPDX-License-Identifier: BSD-3-Clause */
/* bisai as a preconditioner type of PETSc: -pc_type bisai, on each process's own SeqBAIJ or SeqAIJ
 * matrix.
 *
 * Written against petsc/private/pcimpl.h, which PETSc installs for this purpose, because a PCSHELL,
 * the public way, has hooks neither for options (-help, prefixes) nor for PCReset(). The structure
 * behind it belongs to one version of PETSc: compile this for the one that loads it. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include <petsc/private/pcimpl.h>

#include "petsc/calls.h"

#if PETSC_VERSION_LT(3, 23, 0)
typedef PetscOptionItems *option_items;
#else
typedef PetscOptionItems option_items;
#endif

/* Words for PETSc, whose lists end with the name of the enumeration and the prefix of its
 * enumerators. */
#define WORD_OF(enumerator, word) word,
#define TYPE_WORD(enumerator, word, bytes, mantissa) word,
static const char *const storages[] = {BISAI_VALUE_TYPE_LIST(TYPE_WORD) "bisai_value_type",
                                       "BISAI_", NULL};
static const char *const forms[] = {BISAI_FORM_LIST(WORD_OF) "bisai_form", "BISAI_FORM_", NULL};

typedef struct pc_bisai {
  bisai_precond_options options;
  PetscInt threads;
  bisai_context *context;
  /* NULL: to be made */
  bisai_precond *precond;
  /* why the last set-up failed for its numbers */
  char failure[256];
} pc_bisai;

static PetscErrorCode code_of(bisai_status status) {
  if (status == BISAI_OUT_OF_MEMORY) return PETSC_ERR_MEM;
  if (status == BISAI_UNSUPPORTED || status == BISAI_UNAVAILABLE) return PETSC_ERR_SUP;
  if (status == BISAI_INVALID_ARGUMENT) return PETSC_ERR_ARG_OUTOFRANGE;
  if (status == BISAI_NOT_SYMMETRIC) return PETSC_ERR_ARG_INCOMP;
  return PETSC_ERR_LIB;
}

static const char *message_of(const pc_bisai *m, bisai_status status) {
  const char *message = bisai_context_error(m->context);
  return *message ? message : bisai_status_string(status);
}

/* A failure of bisai as an error of PETSc, with its message, where it happened. */
#define CallBisai(m, status)                                                                       \
  PetscCheck(!(status), PETSC_COMM_SELF, code_of(status), "bisai: %s", message_of(m, status))

static PetscErrorCode PCReset_BISAI(PC pc) {
  pc_bisai *m = pc->data;
  PetscFunctionBegin;
  bisai_precond_destroy(&m->precond);
  bisai_context_destroy(&m->context);
  *m->failure = '\0';
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_BISAI(PC pc) {
  PetscFunctionBegin;
  PetscCall(PCReset_BISAI(pc));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* stored as int, double, an enumeration, bool */
typedef enum option_type { INTEGER, REAL, WORD, FLAG } option_type;

typedef struct pc_option {
  /* of bisai_precond_options */
  const char *name, *text, *field;
  option_type type;
  size_t offset;
  const char *const *words;
} pc_option;

#define OPTION(name, text, type, field, words)                                                     \
  { "-pc_bisai_" name, text, #field, type, offsetof(bisai_precond_options, field), words }

static const pc_option choices[] = {
    OPTION("k", "isai: power of the pattern", INTEGER, power, NULL),
    OPTION("relax", "isai: relaxation sweeps", INTEGER, relax, NULL),
    OPTION("storage", "isai, bjacobi: storage of the inverses", WORD, storage, storages),
    OPTION("sweeps", "sweeps: their number on each factor", INTEGER, sweeps, NULL),
    OPTION("level", "ilu, isai, sweeps: level of fill", INTEGER, level, NULL),
    OPTION("drop", "isai: drop smaller blocks before powering", REAL, drop_tolerance, NULL),
    OPTION("cap", "isai: the most blocks of a column; 0: no limit", INTEGER, column_limit, NULL),
    OPTION("max_block", "bjacobi: the most rows of a block; 0: the matrix's blocks", INTEGER,
           max_block, NULL),
    OPTION("form", "bjacobi: inverses or decompositions", WORD, form, forms),
    OPTION("digits", "bjacobi: digits that adaptive storage keeps", INTEGER, digits, NULL),
    OPTION("symmetric", "isai: M symmetric, of a symmetric matrix", FLAG, symmetric, NULL),
};
enum { CHOICES = sizeof choices / sizeof *choices };

/* The library's integers have 32 bits, PETSc's may have 64. */
static PetscErrorCode narrow(const char *name, PetscInt value, int *result) {
  const int64_t wide = value;
  PetscFunctionBegin;
  PetscCheck(wide >= INT32_MIN && wide <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "bisai: %s is %" PetscInt_FMT ", which has more than 32 bits", name, value);
  *result = (int)wide;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An option that the kind does not take is refused where it is given, and otherwise forgotten. */
static PetscErrorCode read_choice(option_items PetscOptionsObject, const pc_option *choice,
                                  bisai_precond_options *o, PetscBool *found) {
  const bisai_precond_options defaults = bisai_precond_options_default();
  void *place = (char *)o + choice->offset;
  const void *initial = (const char *)&defaults + choice->offset;
  int integer;
  PetscInt number;
  PetscEnum word;
  PetscReal real;
  PetscBool flag;
  bool *set = place;
  PetscFunctionBegin;
  *found = PETSC_FALSE;
  switch (choice->type) {
  case INTEGER:
    memcpy(&integer, place, sizeof integer);
    number = integer;
    PetscCall(PetscOptionsInt(choice->name, choice->text, "", number, &number, found));
    PetscCall(narrow(choice->name, number, &integer));
    memcpy(place, &integer, sizeof integer);
    break;
  case WORD:
    memcpy(&word, place, sizeof word);
    PetscCall(PetscOptionsEnum(choice->name, choice->text, "", choice->words, word, &word, found));
    memcpy(place, &word, sizeof word);
    break;
  case REAL:
    memcpy(&real, place, sizeof real);
    PetscCall(PetscOptionsReal(choice->name, choice->text, "", real, &real, found));
    memcpy(place, &real, sizeof real);
    break;
  case FLAG:
    flag = *set ? PETSC_TRUE : PETSC_FALSE;
    PetscCall(PetscOptionsBool(choice->name, choice->text, "", flag, &flag, found));
    *set = flag == PETSC_TRUE;
    break;
  }
  if (bisai_precond_kind_takes(o->kind, choice->field)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(!*found, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "bisai: %s is not an option of -pc_bisai_type %s", choice->name,
             bisai_precond_kind_string(o->kind));
  memcpy(place, initial,
         choice->type == REAL   ? sizeof real
         : choice->type == FLAG ? sizeof *set
                                : sizeof integer);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode read_shift(option_items PetscOptionsObject, bisai_precond_options *o,
                                 PetscBool *found) {
  PetscReal shift = o->shift == BISAI_SHIFT_NONE ? 0.0 : o->shift_amount;
  PetscFunctionBegin;
  PetscCall(PetscOptionsReal("-pc_bisai_shift",
                             "Repairs singular diagonal blocks by this share of their row; 0: none",
                             "", shift, &shift, found));
  if (!bisai_precond_kind_takes(o->kind, "shift")) {
    PetscCheck(!*found, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
               "bisai: -pc_bisai_shift is not an option of -pc_bisai_type %s",
               bisai_precond_kind_string(o->kind));
    shift = 0.0;
  }
  o->shift = shift == 0.0 ? BISAI_SHIFT_NONE : BISAI_SHIFT_IN_BLOCKS;
  if (shift != 0.0) o->shift_amount = shift;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* CALLBACK, the last, is no option. */
static void list_kinds(const char **kinds) {
  int count = 0;
  for (; count < BISAI_PRECOND_CALLBACK; count++)
    kinds[count] = bisai_precond_kind_string((bisai_precond_kind)count);
  kinds[count] = "bisai_precond_kind", kinds[count + 1] = "BISAI_PRECOND_";
}

/* GIVEN, the last, is no option: in its place stands another spelling of COLOUR. */
static void list_orderings(const char **orderings) {
  int count = 0;
  for (; count < BISAI_ORDERING_GIVEN; count++)
    orderings[count] = bisai_ordering_string((bisai_ordering)count);
  orderings[count] = "color";
  orderings[count + 1] = "bisai_ordering", orderings[count + 2] = "BISAI_ORDERING_";
}

static PetscErrorCode PCSetFromOptions_BISAI(PC pc, option_items PetscOptionsObject) {
  pc_bisai *m = pc->data;
  bisai_precond_options *o = &m->options;
  PetscEnum kind = (PetscEnum)o->kind, ordering = (PetscEnum)o->ordering;
  PetscBool equilibrate = o->equilibrate ? PETSC_TRUE : PETSC_FALSE, changed = PETSC_FALSE,
            found[5] = {PETSC_FALSE};
  const char *kinds[BISAI_PRECOND_CALLBACK + 3] = {NULL};
  const char *orderings[BISAI_ORDERING_GIVEN + 4] = {NULL};
  PetscFunctionBegin;
  list_kinds(kinds);
  list_orderings(orderings);
  PetscOptionsHeadBegin(PetscOptionsObject, "bisai options");
  PetscCall(
      PetscOptionsEnum("-pc_bisai_type", "Preconditioner", "", kinds, kind, &kind, &found[0]));
  o->kind = (bisai_precond_kind)kind;
  for (int i = 0; i < CHOICES; i++) {
    PetscBool given;
    PetscCall(read_choice(PetscOptionsObject, &choices[i], o, &given));
    if (given) changed = PETSC_TRUE;
  }
  PetscCall(read_shift(PetscOptionsObject, o, &found[1]));
  PetscCall(PetscOptionsInt("-pc_bisai_threads", "Threads of each process; 0: all that it may use",
                            "", m->threads, &m->threads, &found[2]));
  PetscCall(PetscOptionsEnum("-pc_bisai_ordering", "ilu, isai, sweeps: ordering of the block rows",
                             "", orderings, ordering, &ordering, &found[3]));
  PetscCall(PetscOptionsBool("-pc_bisai_equilibrate", "ilu, isai, sweeps: scale rows and columns",
                             "", equilibrate, &equilibrate, &found[4]));
  PetscOptionsHeadEnd();
  if (ordering == (PetscEnum)BISAI_ORDERING_GIVEN) ordering = (PetscEnum)BISAI_ORDERING_COLOUR;
  o->ordering = (bisai_ordering)ordering, o->equilibrate = equilibrate == PETSC_TRUE;
  for (int i = 0; i < 5; i++)
    if (found[i]) changed = PETSC_TRUE;
  if (changed) {
    PetscCall(PCReset_BISAI(pc));  /* what was made with other options … */
    pc->setupcalled = PETSC_FALSE; /* … is to be made again, also for the same matrix */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps the pattern and its workspace where only values have changed. */
static bisai_status update_or_create(pc_bisai *m, const bisai_bcsr *matrix) {
  if (m->precond) {
    bisai_status status = bisai_precond_update(m->precond, matrix);
    if (status != BISAI_INVALID_ARGUMENT) return status;
    bisai_precond_destroy(&m->precond); /* another pattern */
  }
  return bisai_precond_create(m->context, matrix, &m->options, &m->precond);
}

/* Numbers for which there is no preconditioner end the solve with KSP_DIVERGED_PC_FAILED, as in
 * PETSc's own factorisations. */
static PCFailedReason reason_of(bisai_status status) {
  switch (status) {
  case BISAI_SINGULAR_BLOCK: return PC_FACTOR_NUMERIC_ZEROPIVOT;
  case BISAI_NOT_FINITE:
  case BISAI_OVERFLOW: return PC_FACTOR_OTHER;
  default: return PC_NOERROR;
  }
}

static PetscErrorCode PCSetUp_BISAI(PC pc) {
  pc_bisai *m = pc->data;
  bisai_bcsr *matrix = NULL;
  bisai_status status = BISAI_OK;
  PetscFunctionBegin;
  pc->failedreason = PC_NOERROR;
  *m->failure = '\0';
  if (!m->context) {
    bisai_context_options how = bisai_context_options_default();
    how.backend = BISAI_BACKEND_HOST; /* where the arrays of a Mat are */
    PetscCall(narrow("-pc_bisai_threads", m->threads, &how.threads));
    status = bisai_context_create(&how, &m->context);
    PetscCheck(status != BISAI_INVALID_ARGUMENT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "bisai: -pc_bisai_threads is %d, outside 0 … 4096", how.threads);
    CallBisai(m, status);
  }
  status = bisai_petsc_from_mat(m->context, pc->pmat, &matrix);
  if (status == BISAI_OK) status = update_or_create(m, matrix);
  bisai_bcsr_destroy(&matrix);
  const PCFailedReason reason = reason_of(status);
  if (!reason || pc->erroriffailure) CallBisai(m, status);
  if (reason) {
    PetscCall(PetscStrncpy(m->failure, message_of(m, status), sizeof m->failure));
    PetscCall(PetscInfo(pc, "bisai: %s\n", m->failure));
    pc->failedreason = reason;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_BISAI(PC pc, Vec v, Vec z) {
  pc_bisai *m = pc->data;
  const PetscScalar *from;
  PetscScalar *to;
  PetscFunctionBegin;
  /* what PETSc's own preconditioners do; the solver asks for the reason when it meets infinity */
  if (pc->failedreason) {
    PetscCall(VecSet(z, INFINITY));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetArrayRead(v, &from));
  PetscCall(VecGetArrayWrite(z, &to));
  bisai_status status = bisai_precond_apply(m->precond, from, to);
  PetscCall(VecRestoreArrayWrite(z, &to));
  PetscCall(VecRestoreArrayRead(v, &from));
  CallBisai(m, status);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCView_BISAI(PC pc, PetscViewer viewer) {
  pc_bisai *m = pc->data;
  PetscBool text = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &text));
  if (!text) PetscFunctionReturn(PETSC_SUCCESS);
  if (*m->failure) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  set-up failed: %s\n", m->failure));
  } else if (m->precond) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  %s\n", bisai_precond_describe(m->precond)));
  }
  if (m->context)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  threads of each process: %d\n",
                                     bisai_context_threads(m->context)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCCreate_BISAI(PC pc) {
  pc_bisai *m;
  PetscFunctionBegin;
  PetscCall(PetscNew(&m));
  m->options = bisai_precond_options_default();
  m->threads = 1; /* the processes of MPI share the cores */
  pc->data = m;
  pc->ops->setup = PCSetUp_BISAI;
  pc->ops->apply = PCApply_BISAI;
  pc->ops->setfromoptions = PCSetFromOptions_BISAI;
  pc->ops->view = PCView_BISAI;
  pc->ops->reset = PCReset_BISAI;
  pc->ops->destroy = PCDestroy_BISAI;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bisai_petsc_register(void) {
  PetscFunctionBegin;
  PetscCall(PCRegister("bisai", PCCreate_BISAI));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscDLLibraryRegister_bisai_petsc(void) { return bisai_petsc_register(); }
