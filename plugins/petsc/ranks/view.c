/* SPDX-License-Identifier: BSD-3-Clause */
/* What -pc_view shows of levels over several processes. */
#include "petsc/ranks/view.h"
#include "petsc/ranks/ranks_impl.h"

static const char *describe_transfers(const bsi_ranks *ranks, int l) {
  if (l == ranks->count || ranks->levels[l].transfers.smoothing == BSI_RANKS_BOTH) return "";
  return ranks->levels[l].transfers.smoothing == BSI_RANKS_PROLONGATION
             ? ", restriction not smoothed"
             : ", transfers not smoothed";
}

/* Prints the levels below, which the first process has. */
static PetscErrorCode view_gathered(const bsi_ranks *ranks, PetscViewer viewer) {
  bisai_precond_report report = {.struct_size = sizeof report};
  PetscFunctionBegin;
  if (!ranks->gathered.precond || bisai_precond_get_report(ranks->gathered.precond, &report))
    PetscFunctionReturn(PETSC_SUCCESS);
  for (int l = 0; l < report.multigrid.levels; l++)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "  level %d: %d block rows of size %d, %d blocks, on the first process%s\n",
        l + ranks->count, report.multigrid.rows[l], report.multigrid.block_size[l],
        report.multigrid.blocks[l],
        report.multigrid.unsmoothed[l] ? ", transfers not smoothed" : ""));
  if (report.multigrid.coarsest_nullity > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "  the coarsest matrix has a null space of dimension %d\n",
                                     report.multigrid.coarsest_nullity));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ranks_view(const bsi_ranks *ranks, PetscViewer viewer) {
  const int own = ranks->count + (ranks->end == BSI_RANKS_SMOOTHED);
  const bisai_multigrid_options *o = &ranks->setup.options;
  PetscMPIInt size;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(ranks->setup.comm, &size));
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "  mg over %d processes: cycle=%s smoother=%s, %s matrix, %d levels on all of them\n",
      (int)size, bisai_cycle_string(o->cycle), bisai_smoother_string(o->smoother),
      ranks->setup.symmetric ? "symmetric" : "nonsymmetric", own));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  near-null space: %d vectors\n", o->null_count));
  for (int l = 0; l < own; l++)
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "  level %d: %" PetscInt_FMT
                                     " block rows of size %" PetscInt_FMT
                                     ", %.0f blocks, on all processes%s\n",
                                     l, ranks->levels[l].all_rows, ranks->levels[l].rows.block_size,
                                     ranks->levels[l].all_blocks, describe_transfers(ranks, l)));
  PetscCall(view_gathered(ranks, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
