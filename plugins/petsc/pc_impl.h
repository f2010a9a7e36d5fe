/* SPDX-License-Identifier: BSD-3-Clause */
/* The preconditioner type "bisai" of PETSc, shared by its files: its data and its hooks. */
#ifndef BSI_PETSC_PC_IMPL_H
#define BSI_PETSC_PC_IMPL_H

#include <petsc/private/pcimpl.h>

#include "petsc/calls.h"
#include "petsc/pc_matrix.h"
#include "petsc/ranks/cpr.h"
#include "petsc/ranks/overlap.h"

/* Events of -log_view. */
typedef enum bsi_pc_event {
  BSI_PC_CONVERT,
  BSI_PC_ORDER,
  BSI_PC_FACTOR,
  BSI_PC_PATTERN,
  BSI_PC_VALUES,
  BSI_PC_APPLY,
  BSI_PC_APPLY_TRANSPOSE,
  BSI_PC_EVENTS
} bsi_pc_event;

/* The near-null space that multigrid was made with. */
typedef struct bsi_pc_null_space {
  /* the PETSc id of that of the Mat; 0: there was none */
  PetscObjectId id;
  /* the number of vectors that were given by the Mat or by the options */
  int count;
} bsi_pc_null_space;

/* What a solver of PETSc asks of its preconditioner. */
typedef enum bsi_pc_solver {
  /* nothing but that it is linear */
  BSI_PC_SOLVER_GENERAL,
  /* M is symmetric: CG, MINRES */
  BSI_PC_SOLVER_SYMMETRIC,
  /* M is nearly A, because nothing accelerates it: PREONLY, Richardson */
  BSI_PC_SOLVER_ONCE,
  /* M is cheap, for a few steps on a level of multigrid: Chebyshev, Richardson without norms */
  BSI_PC_SOLVER_SMOOTHER,
  /* M has a transpose: BICG */
  BSI_PC_SOLVER_TRANSPOSED
} bsi_pc_solver;

/* The state of -pc_bisai_type auto. */
typedef struct bsi_pc_choice {
  /* The matrix is read, and the preconditioner is made when the solver is known. The same on all
   * processes. */
  bool pending;
  /* a solve took far more iterations than the first one: new values get a new choice */
  bool worse;
  /* the solver around the PC computes norms of residuals */
  bool norms;
  /* the solver that the preconditioner is for; while the choice is pending, the last one known.
   * PETSc may set up a preconditioner for new values within a solve. */
  bsi_pc_solver solver;
  /* iterations of the first solve; 0: there was none */
  PetscInt first;
} bsi_pc_choice;

/* What -log_view counts. */
typedef struct bsi_pc_counts {
  /* of the matrix */
  int32_t block_size;
  int64_t blocks;
  /* floating-point operations of an application */
  PetscLogDouble flops;
} bsi_pc_counts;

/* Where each process works. */
typedef struct bsi_pc_place {
  PetscInt threads;
  /* with which the context was made */
  PetscInt made;
  /* the option -pc_bisai_backend */
  bisai_backend backend;
} bsi_pc_place;

/* Multigrid over several processes. */
typedef struct bsi_pc_ranks {
  /* the options -pc_bisai_mg_distributed, -pc_bisai_mg_gather, which may be PETSC_DECIDE, and
   * -pc_bisai_transport */
  PetscBool wanted;
  /* the preconditioner of each process is the second stage of CPR, for its own rows and for that
   * many layers of others around them: -pc_bisai_cpr_overlap */
  bool stage;
  PetscInt layers;
  bsi_overlap overlap;
  PetscInt gather;
  bisai_petsc_transport transport;
  /* multigrid, or the first stage of CPR; both NULL: each process has a preconditioner alone */
  bsi_ranks *hierarchy;
  bsi_ranks_cpr *cpr;
} bsi_pc_ranks;

/* What -ksp_type bisai needs of the context of its PC, and what ends with it. */
typedef struct bsi_pc_krylov {
  /* NULL: none */
  bisai_solver *solver;
  /* with which it was created */
  bisai_solver_options options;
  int64_t rows;
  /* the matrix of the system, unless the preconditioner has it */
  bsi_pc_matrix operator;
} bsi_pc_krylov;

typedef struct bsi_pc {
  /* of the caller */
  bisai_precond_options options;
  /* those with which the preconditioner was made: options.kind may be AUTO, and the solver may
   * need more */
  bisai_precond_options used;
  bsi_pc_choice choice;
  bsi_pc_place place;
  bisai_context *context;
  /* NULL before the first set-up and after a reset */
  bisai_precond *precond;
  /* the matrix that it was made or last updated with, which multigrid and the relaxation of
   * block-Jacobi read; other kinds keep no reference to the matrix of a Mat of type "bisai" */
  bsi_pc_matrix matrix;
  bsi_pc_null_space null_space;
  bsi_pc_ranks ranks;
  /* the reason why the last set-up failed numerically; "" if it succeeded */
  char failure[256];
  bsi_pc_counts counts;
  PetscLogEvent events[BSI_PC_EVENTS];
  /* all processes have applied M⁻ᵀ since the set-up */
  bool transpose_ready;
  /* of applications inside Richardson; NULL before the first */
  Vec correction;
  bsi_pc_krylov krylov;
} bsi_pc;

/* Turns a failure of bisai into an error of PETSc, with bisai's message and the place of the
 * call. */
#define BSI_PC_CALL(m, status)                                                                     \
  PetscCheck(!(status), PETSC_COMM_SELF, bsi_petsc_error(status), "bisai: %s",                     \
             bsi_petsc_message((m)->context, status))

/* Makes the preconditioner of this process from m->used. */
PetscErrorCode bsi_pc_create_precond(PC pc, bisai_status *status);

/* *distributed ← whether multigrid or the first stage of CPR is one hierarchy of all processes. */
PetscErrorCode bsi_pc_is_distributed(PC pc, bool *distributed);

/* Makes or updates the hierarchy of all processes. A numerical failure is one of the PC. */
PetscErrorCode bsi_pc_set_up_ranks(PC pc);

/* Discards it. */
PetscErrorCode bsi_pc_destroy_ranks(PC pc);

/* Returns the reason for values that have no preconditioner, or PC_NOERROR. Such values end the
 * solve with KSP_DIVERGED_PC_FAILED, as in PETSc's own factorisations. */
static inline PCFailedReason bsi_pc_reason_of(bisai_status status) {
  switch (status) {
  case BISAI_SINGULAR_BLOCK: return PC_FACTOR_NUMERIC_ZEROPIVOT;
  case BISAI_NOT_FINITE:
  case BISAI_OVERFLOW: return PC_FACTOR_OTHER;
  default: return PC_NOERROR;
  }
}

/* Ends a set-up on all processes: an error of one is an error of all. `own` and `status` are those
 * of this process. */
PetscErrorCode bsi_pc_settle(PC pc, PetscErrorCode own, bisai_status status);

/* *solver ← what a KSP asks of its preconditioner. *known ← false for the solver that estimates
 * eigenvalues for Chebyshev, which takes what Chebyshev takes. */
PetscErrorCode bsi_pc_solver_of(KSP ksp, bsi_pc_solver *solver, bool *known);

/* Chooses a preconditioner for a solver if none has been chosen, or if the solver cannot take it.
 * All processes call this. Does nothing unless -pc_bisai_type is auto. */
PetscErrorCode bsi_pc_choose(PC pc, bsi_pc_solver solver);

/* Discards all that was set up, also if the Mat stays the same. Options that change call this. The
 * context stays: its pool of memory serves the next set-up. */
PetscErrorCode bsi_pc_renew(PC pc);

PetscErrorCode bsi_pc_find_events(bsi_pc *m);
PetscErrorCode bsi_pc_begin(bsi_pc_event event, PC pc);
PetscErrorCode bsi_pc_end(bsi_pc_event event, PC pc);

/* Returns true if M is not symmetric even if the matrix is. */
static inline bool bsi_pc_never_symmetric(const bisai_precond_report *report) {
  if (report->kind == BISAI_PRECOND_MULTIGRID && !report->multigrid.symmetric) return false;
  return report->symmetry == BISAI_SYMMETRY_NONE;
}

/* Adds the times of the last set-up or update to the events, and finds the operations of an
 * application. */
PetscErrorCode bsi_pc_log_set_up(PC pc);

/* The hooks. */
PetscErrorCode bsi_pc_set_from_options(PC pc, bsi_petsc_option_items PetscOptionsObject);
PetscErrorCode bsi_pc_set_up(PC pc);
PetscErrorCode bsi_pc_presolve(PC pc, KSP ksp, Vec b, Vec x);
PetscErrorCode bsi_pc_postsolve(PC pc, KSP ksp, Vec b, Vec x);
PetscErrorCode bsi_pc_apply(PC pc, Vec v, Vec z);
PetscErrorCode bsi_pc_apply_transpose(PC pc, Vec v, Vec z);
PetscErrorCode bsi_pc_apply_many(PC pc, Mat v, Mat z);
PetscErrorCode bsi_pc_apply_richardson(PC pc, Vec b, Vec x, Vec w, PetscReal rtol, PetscReal abstol,
                                       PetscReal dtol, PetscInt steps, PetscBool zero,
                                       PetscInt *done, PCRichardsonConvergedReason *reason);
PetscErrorCode bsi_pc_view(PC pc, PetscViewer viewer);
PetscErrorCode bsi_pc_reset(PC pc);

#endif
