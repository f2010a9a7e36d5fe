/* SPDX-License-Identifier: BSD-3-Clause */
/* What -pc_view and -ksp_view show of the preconditioner type "bisai". */
#include "petsc/pc_impl.h"
#include "petsc/ranks/view.h"

/* Prints the levels of multigrid. */
static PetscErrorCode view_levels(const bisai_multigrid_report *g, PetscViewer viewer) {
  PetscFunctionBegin;
  for (int l = 0; l < g->levels; l++)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  level %d: %d block rows of size %d, %d blocks%s\n",
                                     l, g->rows[l], g->block_size[l], g->blocks[l],
                                     g->unsmoothed[l] ? ", transfers not smoothed" : ""));
  if (g->levels == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(
      viewer,
      "  complexity: %.2f of values, %.2f of rows; %s, coarsest level %s, ended by %s, %.1f MB\n",
      g->operator_complexity, g->grid_complexity,
      g->symmetric ? "symmetric matrix" : "nonsymmetric matrix",
      g->coarsest_inverted ? "inverted" : "smoothed", bisai_coarsening_end_string(g->ended_by),
      1e-6 * (double)g->hierarchy_bytes));
  if (g->coarsest_nullity > 0)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "  the coarsest matrix has a null space of dimension %d\n", g->coarsest_nullity));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints where the near-null space comes from. PETSc's own PCBJACOBI and PCASM do not give that of
 * the whole Mat to their blocks. */
static PetscErrorCode view_null_space(int count, PetscViewer viewer) {
  PetscFunctionBegin;
  if (count > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  near-null space: %d vectors\n", count));
  else
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "  near-null space: none on this matrix, constants are taken\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the pressure and the second stage of CPR. */
static PetscErrorCode view_cpr(const bisai_cpr_report *c, PetscViewer viewer) {
  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "  pressure: unknown %d of each block (%s), weights %s; second stage: %s\n",
      c->pressure, c->found ? "measured" : "given", bisai_weights_string(c->weights),
      bisai_cpr_second_stage_string(c->second)));
  if (c->excluded_rows > 0)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "  block rows without pressure correction: %lld, the first is %d\n",
        (long long)c->excluded_rows, c->first_excluded_row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the saddle point and the stages of SCHUR. */
static PetscErrorCode view_schur(const bisai_schur_report *s, PetscViewer viewer) {
  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "  saddle point: %d velocities, %d pressures (%s); %s for the velocities",
      s->velocities, s->pressures, s->found ? "found" : "given",
      bisai_schur_stage_string(s->first)));
  if (s->complement == BISAI_SCHUR_COMPLEMENT_DIAGONAL)
    PetscCall(PetscViewerASCIIPrintf(viewer, ", a diagonal Schur complement\n"));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, ", %s with %s for the Schur complement\n",
                                     bisai_schur_complement_string(s->complement),
                                     bisai_schur_stage_string(s->second)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints when M is symmetric, what was repaired, and the memory. */
static PetscErrorCode view_properties(const bisai_precond_report *r, PetscViewer viewer) {
  static const char *const symmetric[] = {"not symmetric", "symmetric if the matrix is",
                                          "symmetric if the matrix and its pattern are",
                                          "symmetric if the function is"};
  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  %s, %s; %.1f MB\n",
                                   r->nonlinear ? "not linear" : "linear", symmetric[r->symmetry],
                                   1e-6 * (double)r->memory_bytes));
  if (r->repairs > 0)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "  singular diagonal blocks repaired: %lld, the first in block row %d\n",
        (long long)r->repairs, r->first_repair_row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints how the preconditioner was chosen, and a METHOD that names it. */
static PetscErrorCode view_choice(const bsi_pc *m, const bisai_auto_report *r, PetscViewer viewer) {
  static const char *const solvers[] = {"", ", symmetric", ", nearly an inverse", " as a smoother",
                                        ", with a transpose"};
  PetscFunctionBegin;
  if (m->used.kind != BISAI_PRECOND_AUTO)
    PetscCall(
        PetscViewerASCIIPrintf(viewer, "  taken%s without a choice\n", solvers[m->choice.solver]));
  else if (r->chosen >= 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  chosen%s: %s, trial %d of %d\n",
                                     solvers[m->choice.solver], r->trials[r->chosen].method,
                                     r->chosen + 1, r->count));
  else
    PetscCall(
        PetscViewerASCIIPrintf(viewer, "  the best of %d trials, which all failed\n", r->count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode view_precond(const bsi_pc *m, PetscViewer viewer) {
  bisai_precond_report report = {.struct_size = sizeof report};
  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  %s\n", bisai_precond_describe(m->precond)));
  if (bisai_precond_get_report(m->precond, &report)) PetscFunctionReturn(PETSC_SUCCESS);
  if (m->options.kind == BISAI_PRECOND_AUTO) PetscCall(view_choice(m, &report.automatic, viewer));
  if (report.kind == BISAI_PRECOND_CPR) PetscCall(view_cpr(&report.cpr, viewer));
  if (report.kind == BISAI_PRECOND_SCHUR) PetscCall(view_schur(&report.schur, viewer));
  if (report.kind == BISAI_PRECOND_MULTIGRID)
    PetscCall(view_null_space(m->null_space.count, viewer));
  PetscCall(view_levels(&report.multigrid, viewer));
  PetscCall(view_properties(&report, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every process prints the reason why its set-up failed. That of one hierarchy of all processes has
 * one reason. */
static PetscErrorCode view_failures(PC pc, PetscViewer viewer, PetscMPIInt size, bool distributed) {
  const bsi_pc *m = pc->data;
  PetscMPIInt rank;
  PetscFunctionBegin;
  if (distributed && *m->failure)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  set-up failed: %s\n", m->failure));
  if (distributed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)pc), &rank));
  PetscCall(PetscViewerASCIIPushSynchronized(viewer));
  if (*m->failure && size > 1)
    PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "  [%d] set-up failed: %s\n", (int)rank,
                                                 m->failure));
  if (*m->failure && size == 1)
    PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "  set-up failed: %s\n", m->failure));
  PetscCall(PetscViewerFlush(viewer));
  PetscCall(PetscViewerASCIIPopSynchronized(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_pc_view(PC pc, PetscViewer viewer) {
  bsi_pc *m = pc->data;
  PetscBool text = PETSC_FALSE;
  PetscMPIInt size;
  bool distributed = false;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &text));
  if (!text) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  if (pc->pmat) PetscCall(bsi_pc_is_distributed(pc, &distributed));
  if (size > 1 && !distributed)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "  block-Jacobi: one block for each of %d processes; that of the first is\n",
        (int)size));
  PetscCall(view_failures(pc, viewer, size, distributed));
  if (m->choice.pending)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  auto: chosen at the first solve\n"));
  if (m->ranks.cpr) PetscCall(bsi_ranks_cpr_view(m->ranks.cpr, viewer));
  if (m->ranks.cpr)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "  second stage: one for each of %d processes; that of the first is\n", (int)size));
  if (!*m->failure && m->precond) PetscCall(view_precond(m, viewer));
  if (m->ranks.hierarchy) PetscCall(bsi_ranks_view(m->ranks.hierarchy, viewer));
  if (m->context)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  backend: %s\n",
                                     bisai_backend_string(bisai_context_backend(m->context))));
  if (m->context)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  threads of each process: %d\n",
                                     bisai_context_threads(m->context)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
