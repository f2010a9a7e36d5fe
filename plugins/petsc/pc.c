/* SPDX-License-Identifier: BSD-3-Clause */
/* bisai as a preconditioner type of PETSc: -pc_type bisai. It works on each process's own SeqBAIJ
 * or SeqAIJ matrix.
 *
 * The type uses petsc/private/pcimpl.h, which PETSc installs for this purpose. The public
 * alternative, PCSHELL, has no callbacks for options (-help, prefixes) and for PCReset(). The
 * private structure may change with each version of PETSc: compile this file for the version that
 * loads it. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include <petsc/private/pcimpl.h>

#include "petsc/calls.h"
#include "petsc/null_space.h"

#if PETSC_VERSION_LT(3, 23, 0)
typedef PetscOptionItems *option_items;
#else
typedef PetscOptionItems option_items;
#endif

/* upper bound of the number of words of an option */
enum { MOST_WORDS = 32 };

typedef struct pc_bisai {
  bisai_precond_options options;
  PetscInt threads;
  bisai_context *context;
  /* NULL before the first set-up and after a reset */
  bisai_precond *precond;
  /* multigrid: the matrix that it was made or last updated with, and reads */
  bisai_bcsr *matrix;
  /* multigrid: the PETSc id of the near-null space that it was made with; 0 if there was none */
  PetscObjectId null_space;
  /* the reason why the last set-up failed numerically; "" if it succeeded */
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

/* Turns a failure of bisai into an error of PETSc, with bisai's message and the place of the
 * call. */
#define CallBisai(m, status)                                                                       \
  PetscCheck(!(status), PETSC_COMM_SELF, code_of(status), "bisai: %s", message_of(m, status))

static PetscErrorCode PCReset_BISAI(PC pc) {
  pc_bisai *m = pc->data;
  PetscFunctionBegin;
  bisai_precond_destroy(&m->precond);
  bisai_bcsr_destroy(&m->matrix);
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

/* Converts a PetscInt, which may have 64 bits, into an int of 32 bits. */
static PetscErrorCode narrow(const char *name, PetscInt value, int *result) {
  const int64_t wide = value;
  PetscFunctionBegin;
  PetscCheck(wide >= INT32_MIN && wide <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "bisai: %s is %" PetscInt_FMT ", which exceeds 32 bits", name, value);
  *result = (int)wide;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the option of a kind that has this name in PETSc, or NULL. */
static const bisai_option *find_option(bisai_precond_kind kind, const char *name) {
  const bisai_option *option;
  for (int i = 0; (option = bisai_precond_kind_option(kind, i)); i++)
    if (option->petsc && strcmp(option->petsc, name) == 0) return option;
  return NULL;
}

static bool begins_with(const char *field, const char *prefix) {
  return strncmp(field, prefix, strlen(prefix)) == 0;
}

/* Returns true if the kind in use takes an option. cpr lists the options of all second stages, and
 * takes those of the one in use. */
static bool takes(const bisai_precond_options *o, const bisai_option *option) {
  bisai_precond_kind second = BISAI_PRECOND_ILU; /* of auto */
  if (!bisai_precond_kind_takes(o->kind, option->field)) return false;
  if (o->kind != BISAI_PRECOND_CPR || begins_with(option->field, "cpr.") ||
      begins_with(option->field, "multigrid."))
    return true;
  bisai_precond_kind_parse(bisai_second_string(o->cpr.second), &second);
  return bisai_precond_kind_takes(second, option->field);
}

/* Returns the option of the kind in use that has this name in PETSc, or NULL. */
static const bisai_option *find_taken(const bisai_precond_options *o, const char *name) {
  const bisai_option *option;
  for (int i = 0; (option = bisai_precond_kind_option(o->kind, i)); i++)
    if (option->petsc && strcmp(option->petsc, name) == 0 && takes(o, option)) return option;
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
static PetscErrorCode read_value(option_items PetscOptionsObject, const char *name,
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
    PetscCall(narrow(name, number, &integer));
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

/* Reads an option of `kind` and sets the option of the same name of the kind in use. Fails if the
 * option is given and the kind in use does not have it. */
static PetscErrorCode read_option(option_items PetscOptionsObject, bisai_precond_kind kind,
                                  const bisai_option *option, bisai_precond_options *o,
                                  PetscBool *found) {
  const bisai_option *taken = find_taken(o, option->petsc);
  const bool cpr = o->kind == BISAI_PRECOND_CPR;
  char name[64];
  PetscFunctionBegin;
  *found = PETSC_FALSE;
  /* read each name once */
  if (find_option(kind, option->petsc) != option) PetscFunctionReturn(PETSC_SUCCESS);
  for (int other = (int)kind + 1; other < BISAI_PRECOND_KINDS; other++)
    if (find_option((bisai_precond_kind)other, option->petsc)) PetscFunctionReturn(PETSC_SUCCESS);
  double value = taken ? bisai_option_get(taken, o) : option->initial;
  PetscCall(PetscSNPrintf(name, sizeof name, "-pc_bisai_%s", option->petsc));
  PetscCall(read_value(PetscOptionsObject, name, taken ? taken : option, &value, found));
  PetscCheck(taken || !*found, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "bisai: %s is not an option of -pc_bisai_type %s%s%s", name,
             bisai_precond_kind_string(o->kind), cpr ? " -pc_bisai_cpr_second " : "",
             cpr ? bisai_second_string(o->cpr.second) : "");
  if (taken) bisai_option_set(taken, value, o);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the options of all kinds. Options that the kind in use does not have are reset to their
 * defaults. cpr comes before the kinds of its stages, so that its second stage is known when their
 * options are read. */
static PetscErrorCode read_options(option_items PetscOptionsObject, bisai_precond_options *o,
                                   PetscBool *changed) {
  const bisai_option *option;
  PetscBool found;
  PetscFunctionBegin;
  for (int kind = BISAI_PRECOND_KINDS - 1; kind >= 0; kind--) {
    const bisai_precond_kind k = (bisai_precond_kind)kind;
    for (int i = 0; (option = bisai_precond_kind_option(k, i)); i++) {
      if (!takes(o, option)) bisai_option_set(option, option->initial, o);
      if (!option->petsc) continue;
      PetscCall(read_option(PetscOptionsObject, k, option, o, &found));
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
static PetscErrorCode read_kind(option_items PetscOptionsObject, bisai_precond_options *o,
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

static PetscErrorCode PCSetFromOptions_BISAI(PC pc, option_items PetscOptionsObject) {
  pc_bisai *m = pc->data;
  bisai_precond_options *o = &m->options;
  PetscEnum ordering = (PetscEnum)o->factor.ordering;
  PetscBool equilibrate = o->factor.equilibrate ? PETSC_TRUE : PETSC_FALSE, changed = PETSC_FALSE,
            found[4] = {PETSC_FALSE};
  const char *orderings[BISAI_ORDERING_GIVEN + 4] = {NULL};
  PetscFunctionBegin;
  list_orderings(orderings);
  PetscOptionsHeadBegin(PetscOptionsObject, "bisai options");
  PetscCall(read_kind(PetscOptionsObject, o, &found[0]));
  PetscCall(read_options(PetscOptionsObject, o, &changed));
  PetscCall(PetscOptionsInt("-pc_bisai_threads",
                            "Threads of each process; 0: all processors it may use", "", m->threads,
                            &m->threads, &found[1]));
  PetscCall(PetscOptionsEnum("-pc_bisai_ordering", "ilu, isai, sweeps: ordering of the block rows",
                             "", orderings, ordering, &ordering, &found[2]));
  PetscCall(PetscOptionsBool("-pc_bisai_equilibrate", "ilu, isai, sweeps: scale rows and columns",
                             "", equilibrate, &equilibrate, &found[3]));
  PetscOptionsHeadEnd();
  if (ordering == (PetscEnum)BISAI_ORDERING_GIVEN) ordering = (PetscEnum)BISAI_ORDERING_COLOUR;
  o->factor.ordering = (bisai_ordering)ordering;
  o->factor.equilibrate = equilibrate == PETSC_TRUE;
  for (int i = 0; i < 4; i++)
    if (found[i]) changed = PETSC_TRUE;
  if (changed) {
    /* The old options have become invalid: the set-up runs again, even for the same matrix. */
    PetscCall(PCReset_BISAI(pc));
    pc->setupcalled = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes a new preconditioner. Multigrid gets the near-null space of the Mat. */
static PetscErrorCode create(pc_bisai *m, Mat mat, const bisai_bcsr *matrix, bisai_status *status) {
  bisai_precond_options o = m->options;
  double *vectors = NULL;
  PetscFunctionBegin;
  if (o.kind == BISAI_PRECOND_MULTIGRID)
    PetscCall(bsi_petsc_near_null_space(mat, &o.multigrid.null_count, &vectors));
  o.multigrid.null_vectors = vectors;
  *status = bisai_precond_create(m->context, matrix, &o, &m->precond);
  PetscCall(PetscFree(vectors));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the id of the near-null space, or 0. */
static PetscErrorCode null_space_id(Mat mat, PetscObjectId *id) {
  MatNullSpace space = NULL;
  PetscFunctionBegin;
  *id = 0;
  PetscCall(MatGetNearNullSpace(mat, &space));
  if (space) PetscCall(PetscObjectGetId((PetscObject)space, id));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Updates the preconditioner if only values have changed, which keeps the patterns and the
 * workspace. Multigrid is made again for another near-null space. */
static PetscErrorCode update_or_create(pc_bisai *m, Mat mat, const bisai_bcsr *matrix,
                                       bisai_status *status) {
  PetscObjectId id;
  PetscFunctionBegin;
  PetscCall(null_space_id(mat, &id));
  if (m->options.kind == BISAI_PRECOND_MULTIGRID && id != m->null_space)
    bisai_precond_destroy(&m->precond);
  m->null_space = id;
  if (m->precond) {
    *status = bisai_precond_update(m->precond, matrix);
    if (*status != BISAI_INVALID_ARGUMENT) PetscFunctionReturn(PETSC_SUCCESS);
    bisai_precond_destroy(&m->precond); /* the pattern has changed */
  }
  PetscCall(create(m, mat, matrix, status));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Destroys the matrix, unless multigrid reads it. After a failed update multigrid reads the old
 * one. */
static void keep_or_destroy(pc_bisai *m, bisai_status status, bisai_bcsr **matrix) {
  if (status == BISAI_OK && m->options.kind == BISAI_PRECOND_MULTIGRID) {
    bisai_bcsr *old = m->matrix;
    m->matrix = *matrix;
    *matrix = old;
  }
  bisai_bcsr_destroy(matrix);
}

/* Returns the reason for values that have no preconditioner, or PC_NOERROR. Such values end the
 * solve with KSP_DIVERGED_PC_FAILED, as in PETSc's own factorisations. */
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
    how.backend = BISAI_BACKEND_HOST; /* a Mat has its arrays in host memory */
    PetscCall(narrow("-pc_bisai_threads", m->threads, &how.threads));
    status = bisai_context_create(&how, &m->context);
    PetscCheck(status != BISAI_INVALID_ARGUMENT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "bisai: -pc_bisai_threads is %d, outside 0 … 4096", how.threads);
    CallBisai(m, status);
  }
  status = bisai_petsc_from_mat(m->context, pc->pmat, &matrix);
  if (status == BISAI_OK) {
    const PetscErrorCode code = update_or_create(m, pc->pmat, matrix, &status);
    if (code) bisai_bcsr_destroy(&matrix);
    PetscCall(code);
  }
  keep_or_destroy(m, status, &matrix);
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
  /* as PETSc's own preconditioners do; the solver asks for the reason when it finds infinity */
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

/* Prints the levels of multigrid. */
static PetscErrorCode view_levels(const bisai_precond *precond, PetscViewer viewer) {
  bisai_precond_report report = {.struct_size = sizeof report};
  const bisai_multigrid_report *g = &report.multigrid;
  PetscFunctionBegin;
  if (bisai_precond_get_report(precond, &report) != BISAI_OK) PetscFunctionReturn(PETSC_SUCCESS);
  for (int l = 0; l < g->levels; l++)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  level %d: %d block rows of size %d, %d blocks\n", l,
                                     g->rows[l], g->block_size[l], g->blocks[l]));
  if (g->levels == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "  complexity: %.2f of values, %.2f of rows; %s, coarsest level %s, %.1f MB\n",
      g->operator_complexity, g->grid_complexity,
      g->symmetric ? "symmetric matrix" : "nonsymmetric matrix",
      g->coarsest_inverted ? "inverted" : "smoothed", 1e-6 * (double)g->hierarchy_bytes));
  if (g->coarsest_nullity > 0)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "  the coarsest matrix has a null space of dimension %d\n", g->coarsest_nullity));
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
    PetscCall(view_levels(m->precond, viewer));
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
  m->threads = 1; /* the processes of MPI share the processors */
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
