/* SPDX-License-Identifier: BSD-3-Clause */
/* What -pc_view and -ksp_view show of the preconditioner type "bisai". */
#include "petsc/pc.h"

/* Prints the levels of multigrid. */
static PetscErrorCode view_levels(const bisai_precond *precond, PetscViewer viewer) {
  bisai_precond_report report = {.struct_size = sizeof report};
  const bisai_multigrid_report *g = &report.multigrid;
  PetscFunctionBegin;
  if (bisai_precond_get_report(precond, &report) != BISAI_OK) PetscFunctionReturn(PETSC_SUCCESS);
  for (int l = 0; l < g->levels; l++)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  level %d: %d block rows of size %d, %d blocks%s\n",
                                     l, g->rows[l], g->block_size[l], g->blocks[l],
                                     g->unsmoothed[l] ? ", transfers not smoothed" : ""));
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

PetscErrorCode bsi_pc_view(PC pc, PetscViewer viewer) {
  bsi_pc *m = pc->data;
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
    PetscCall(PetscViewerASCIIPrintf(viewer, "  backend: %s\n",
                                     bisai_backend_string(bisai_context_backend(m->context))));
  if (m->context)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  threads of each process: %d\n",
                                     bisai_context_threads(m->context)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
