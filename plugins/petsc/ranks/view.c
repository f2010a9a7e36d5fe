/* SPDX-License-Identifier: BSD-3-Clause */
/* What -pc_view shows of levels over several processes. */
#include "petsc/ranks/view.h"
#include "petsc/ranks/ranks_impl.h"

PetscErrorCode bsi_ranks_view(const bsi_ranks *ranks, PetscViewer viewer) {
  bisai_ranks_report r = {.struct_size = sizeof r};
  PetscFunctionBegin;
  PetscCheck(!bisai_ranks_get_report(ranks->levels, &r), PETSC_COMM_SELF, PETSC_ERR_LIB,
             "bisai: no report");
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "  mg over %d processes: cycle=%s smoother=%s, %s matrix, %d levels on all of them\n",
      ranks->table.ranks, bisai_cycle_string(r.cycle), bisai_smoother_string(r.smoother),
      ranks->symmetric ? "symmetric" : "nonsymmetric", r.levels));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  vectors between processes: by %s%s\n",
                                   ranks->transport.nccl ? "NCCL" : "MPI, because ",
                                   ranks->transport.why));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  near-null space: %d vectors\n",
                                   ranks->options.multigrid.null_count));
  for (int l = 0; l < r.levels + r.gathered; l++)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "  level %d: %lld block rows of size %d, %lld blocks, on %s%s\n", l,
        (long long)r.rows[l], (int)r.block_size[l], (long long)r.blocks[l],
        l < r.levels ? "all processes" : "the first process",
        r.unsmoothed[l] ? ", transfers not smoothed" : ""));
  if (r.nullity > 0)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "  the coarsest matrix has a null space of dimension %d\n", (int)r.nullity));
  PetscFunctionReturn(PETSC_SUCCESS);
}
