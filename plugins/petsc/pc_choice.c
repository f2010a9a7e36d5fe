/* SPDX-License-Identifier: BSD-3-Clause */
/* -pc_bisai_type auto, the default: the preconditioner is chosen for the matrix and for the solver
 * around the PC. PETSc sets up a preconditioner before it tells it its solver, so the choice waits
 * for the first solve or application. Each process chooses for its own diagonal block: the choices
 * may differ, and block-Jacobi takes any. */
#include "petsc/pc_impl.h"

/* The shift that repairs singular diagonal blocks; it changes nothing where there are none. */
#define SHIFT 0.01
/* A solve that takes more than this multiple of the iterations of the first one asks for a new
 * choice, as in bisai_auto_solver. Solves that are shorter cost less than a choice. */
enum { GROWTH_OF_ITERATIONS = 2, SHORT_SOLVE = 20 };

/* ILU(0) smooths better than the other kinds of its price (bench/results/petsc-tutorials.md), and
 * ILU(1) is the strongest kind with a transpose that needs no choice. */
static bisai_precond_options ilu(int level) {
  bisai_precond_options o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_ILU;
  o.factor.level = level;
  o.shift = BISAI_SHIFT_IN_BLOCKS;
  o.shift_amount = SHIFT;
  return o;
}

static bisai_precond_options options_for(const bsi_pc *m, bsi_pc_solver solver) {
  bisai_precond_options o = m->options;
  switch (solver) {
  case BSI_PC_SOLVER_SMOOTHER: return ilu(0);
  case BSI_PC_SOLVER_TRANSPOSED: return ilu(1);
  case BSI_PC_SOLVER_SYMMETRIC: o.automatic.symmetric = true; return o;
  case BSI_PC_SOLVER_ONCE: o.automatic.inverse = true; return o;
  case BSI_PC_SOLVER_GENERAL: break;
  }
  return o;
}

/* Returns true if a solver takes what was chosen for another one. A smoother is too weak. */
static bool fits(bsi_pc_solver chosen, bsi_pc_solver solver) {
  return solver == chosen || (solver == BSI_PC_SOLVER_GENERAL && chosen != BSI_PC_SOLVER_SMOOTHER);
}

PetscErrorCode bsi_pc_choose(PC pc, bsi_pc_solver solver) {
  bsi_pc *m = pc->data;
  bisai_status status = BISAI_OK;
  PetscErrorCode own = PETSC_SUCCESS;
  PetscInt rows;
  PetscFunctionBegin;
  if (m->options.kind != BISAI_PRECOND_AUTO) PetscFunctionReturn(PETSC_SUCCESS);
  if (!m->choice.pending && fits(m->choice.solver, solver)) PetscFunctionReturn(PETSC_SUCCESS);
  /* Processes whose update succeeded keep theirs, which suits the same solver. */
  const bool keep = m->precond && fits(m->choice.solver, solver);
  PetscCall(PCSetFailedReason(pc, PC_NOERROR));
  *m->failure = '\0';
  PetscCall(MatGetLocalSize(pc->pmat, &rows, NULL));
  m->choice = (bsi_pc_choice){.solver = solver};
  if (rows > 0 && !keep) {
    m->transpose_ready = false;
    bisai_precond_destroy(&m->precond);
    m->used = options_for(m, solver);
    own = bsi_pc_create_precond(pc, &status);
  }
  PetscCall(bsi_pc_settle(pc, own, status));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values get a new choice if iterations have doubled. */
PetscErrorCode bsi_pc_postsolve(PC pc, KSP ksp, Vec b, Vec x) {
  bsi_pc *m = pc->data;
  KSPConvergedReason reason;
  PetscInt iterations;
  PetscFunctionBegin;
  (void)b, (void)x;
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  if (m->choice.first == 0 && reason > 0)
    m->choice.first = iterations;
  else if (m->choice.first > 0 && iterations > SHORT_SOLVE &&
           iterations > GROWTH_OF_ITERATIONS * m->choice.first)
    m->choice.worse = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}
