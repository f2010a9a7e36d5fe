/* bisai as a preconditioner type of PETSc: -pc_type bisai, on each process's own SeqBAIJ or SeqAIJ matrix.
 *
 * Written against petsc/private/pcimpl.h, which PETSc installs for this purpose, because a PCSHELL, the public way, has hooks neither
 * for options (-help, prefixes) nor for PCReset(). The structure behind it belongs to one version of PETSc: compile this for the one
 * that loads it. */
#include <math.h>

#include <petsc/private/pcimpl.h>

#include "petsc/petsc.h"

#if PETSC_VERSION_LT(3, 23, 0)
typedef PetscOptionItems *option_items;
#else
typedef PetscOptionItems option_items;
#endif

/* As bisai_precond_kind, bisai_value_type, bisai_form and bisai_ordering; the enumeration's name and prefix end PETSc's lists. */
static const char *const kinds[] = {"none",           "bjacobi", "ilu", "isai", "sweeps", "bisai_precond_kind",
                                    "BISAI_PRECOND_", NULL};
static const char *const storages[] = {
    "fp64", "fp32", "fp16", "bf16", "fp11_4", "fp11_20", "adaptive", "bisai_value_type", "BISAI_", NULL};
static const char *const forms[] = {"inverse", "gh", "ght", "lu", "bisai_form", "BISAI_FORM_", NULL};

static const char *const orderings[] = {"natural", "rcm", "nd", "colour", "bisai_ordering", "BISAI_ORDERING_", NULL};

enum { OPTIONS = 15 };

typedef struct pc_bisai {
  bisai_precond_options options;
  PetscInt threads;
  bisai_context *context;
  bisai_precond *precond; /* NULL: to be made */
} pc_bisai;

/* A failure of bisai as an error of PETSc, with its message. */
static PetscErrorCode raise(pc_bisai *m, bisai_status status) {
  const char *message = m->context ? bisai_context_error(m->context) : "";
  PetscErrorCode code = PETSC_ERR_LIB;
  if (status == BISAI_OUT_OF_MEMORY) code = PETSC_ERR_MEM;
  if (status == BISAI_UNSUPPORTED || status == BISAI_UNAVAILABLE) code = PETSC_ERR_SUP;
  if (status == BISAI_INVALID_ARGUMENT) code = PETSC_ERR_ARG_OUTOFRANGE;
  SETERRQ(PETSC_COMM_SELF, code, "bisai: %s", *message ? message : bisai_status_string(status));
}

static PetscErrorCode reset(PC pc) {
  pc_bisai *m = pc->data;
  PetscFunctionBegin;
  bisai_precond_destroy(&m->precond);
  bisai_context_destroy(&m->context);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode destroy(PC pc) {
  PetscFunctionBegin;
  PetscCall(reset(pc));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_from_options(PC pc, option_items PetscOptionsObject) {
  pc_bisai *m = pc->data;
  bisai_precond_options *o = &m->options;
  PetscEnum kind = (PetscEnum)o->kind, storage = (PetscEnum)o->storage, ordering = (PetscEnum)o->ordering,
            form = (PetscEnum)o->form;
  PetscInt most = o->max_block, digits = o->digits;
  PetscInt power = o->power, relax = o->relax, sweeps = o->sweeps, level = o->level, cap = o->column_limit;
  PetscReal shift = o->shift == BISAI_SHIFT_NONE ? 0.0 : o->shift_amount, drop = o->drop_tolerance;
  PetscBool equilibrate = o->equilibrate ? PETSC_TRUE : PETSC_FALSE, found[OPTIONS] = {PETSC_FALSE};
  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "bisai options");
  PetscCall(PetscOptionsEnum("-pc_bisai_type", "Preconditioner", "", kinds, kind, &kind, &found[0]));
  PetscCall(PetscOptionsInt("-pc_bisai_k", "isai: power of the pattern", "", power, &power, &found[1]));
  PetscCall(PetscOptionsInt("-pc_bisai_relax", "isai: relaxation sweeps", "", relax, &relax, &found[2]));
  PetscCall(PetscOptionsEnum("-pc_bisai_storage", "isai, bjacobi: storage of the inverses", "", storages, storage,
                             &storage, &found[3]));
  PetscCall(PetscOptionsInt("-pc_bisai_sweeps", "sweeps: their number on each factor", "", sweeps, &sweeps, &found[4]));
  PetscCall(PetscOptionsInt("-pc_bisai_threads", "Threads of each process; 0: OpenMP's choice", "", m->threads,
                            &m->threads, &found[5]));
  PetscCall(PetscOptionsInt("-pc_bisai_level", "ilu, isai, sweeps: level of fill", "", level, &level, &found[6]));
  PetscCall(PetscOptionsReal("-pc_bisai_shift", "Repairs singular diagonal blocks by this share of their row; 0: none",
                             "", shift, &shift, &found[7]));
  PetscCall(
      PetscOptionsReal("-pc_bisai_drop", "isai: drop smaller blocks before powering", "", drop, &drop, &found[8]));
  PetscCall(
      PetscOptionsInt("-pc_bisai_cap", "isai: the most blocks of a column; 0: no limit", "", cap, &cap, &found[9]));
  PetscCall(PetscOptionsEnum("-pc_bisai_ordering", "ilu, isai, sweeps: ordering of the block rows", "", orderings,
                             ordering, &ordering, &found[10]));
  PetscCall(PetscOptionsBool("-pc_bisai_equilibrate", "ilu, isai, sweeps: scale rows and columns", "", equilibrate,
                             &equilibrate, &found[11]));
  PetscCall(PetscOptionsInt("-pc_bisai_max_block", "bjacobi: the most rows of a block; 0: the matrix's blocks", "",
                            most, &most, &found[12]));
  PetscCall(
      PetscOptionsEnum("-pc_bisai_form", "bjacobi: inverses or decompositions", "", forms, form, &form, &found[13]));
  PetscCall(PetscOptionsInt("-pc_bisai_digits", "bjacobi: digits that adaptive storage keeps", "", digits, &digits,
                            &found[14]));
  PetscOptionsHeadEnd();
  o->max_block = (int32_t)most, o->form = (bisai_form)form, o->digits = (int)digits;
  o->kind = (bisai_precond_kind)kind;
  o->storage = (bisai_value_type)storage;
  o->power = (int)power, o->relax = (int)relax, o->sweeps = (int)sweeps, o->level = (int)level;
  o->shift = shift == 0.0 ? BISAI_SHIFT_NONE : BISAI_SHIFT_IN_BLOCKS;
  if (shift != 0.0) o->shift_amount = shift;
  o->drop_tolerance = drop, o->column_limit = (int32_t)cap;
  o->ordering = (bisai_ordering)ordering, o->equilibrate = equilibrate == PETSC_TRUE;
  for (int i = 0; i < OPTIONS; i++) {
    if (!found[i]) continue;
    PetscCall(reset(pc));          /* what was made with other options … */
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

/* Numbers for which there is no preconditioner end the solve with KSP_DIVERGED_PC_FAILED, as in PETSc's own factorisations. */
static PCFailedReason reason_of(bisai_status status) {
  switch (status) {
  case BISAI_SINGULAR_BLOCK: return PC_FACTOR_NUMERIC_ZEROPIVOT;
  case BISAI_NOT_FINITE:
  case BISAI_OVERFLOW: return PC_FACTOR_OTHER;
  default: return PC_NOERROR;
  }
}

static PetscErrorCode set_up(PC pc) {
  pc_bisai *m = pc->data;
  bisai_bcsr *matrix = NULL;
  bisai_status status = BISAI_OK;
  PetscFunctionBegin;
  pc->failedreason = PC_NOERROR;
  if (!m->context) {
    bisai_context_options how = bisai_context_options_default();
    how.backend = BISAI_BACKEND_HOST; /* where the arrays of a Mat are */
    how.backend = BISAI_BACKEND_HOST;
    how.threads = (int)m->threads;
    status = bisai_context_create(&how, &m->context);
    if (status) PetscCall(raise(m, status));
  }
  status = bisai_petsc_from_mat(m->context, pc->pmat, &matrix);
  if (status == BISAI_OK) status = update_or_create(m, matrix);
  bisai_bcsr_destroy(&matrix);
  if (status == BISAI_OK) PetscFunctionReturn(PETSC_SUCCESS);
  const PCFailedReason reason = reason_of(status);
  if (!reason || pc->erroriffailure) PetscCall(raise(m, status));
  PetscCall(PetscInfo(pc, "bisai: %s\n", bisai_context_error(m->context)));
  pc->failedreason = reason;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode apply(PC pc, Vec v, Vec z) {
  pc_bisai *m = pc->data;
  const PetscScalar *from;
  PetscScalar *to;
  PetscFunctionBegin;
  if (pc->failedreason) { /* what PETSc's own preconditioners do; the solver asks for the reason when it meets infinity */
    PetscCall(VecSet(z, INFINITY));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetArrayRead(v, &from));
  PetscCall(VecGetArrayWrite(z, &to));
  bisai_status status = bisai_precond_apply(m->precond, from, to);
  PetscCall(VecRestoreArrayWrite(z, &to));
  PetscCall(VecRestoreArrayRead(v, &from));
  if (status) PetscCall(raise(m, status));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode view(PC pc, PetscViewer viewer) {
  pc_bisai *m = pc->data;
  PetscBool text = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &text));
  if (text && m->precond) PetscCall(PetscViewerASCIIPrintf(viewer, "  %s\n", bisai_precond_describe(m->precond)));
  if (text && m->context)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  threads of each process: %d\n", bisai_context_threads(m->context)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode create(PC pc) {
  pc_bisai *m;
  PetscFunctionBegin;
  PetscCall(PetscNew(&m));
  m->options = bisai_precond_options_default();
  m->threads = 1; /* the processes of MPI share the cores */
  pc->data = m;
  pc->ops->setup = set_up;
  pc->ops->apply = apply;
  pc->ops->setfromoptions = set_from_options;
  pc->ops->view = view;
  pc->ops->reset = reset;
  pc->ops->destroy = destroy;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bisai_petsc_register(void) {
  PetscFunctionBegin;
  PetscCall(PCRegister("bisai", create));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscDLLibraryRegister_bisai_petsc(void) { return bisai_petsc_register(); }
