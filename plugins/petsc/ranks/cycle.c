/* SPDX-License-Identifier: BSD-3-Clause */
/* The cycles over the levels of several processes, by PETSc's PCMG, which counts levels from the
 * coarsest. */
#include "petsc/ranks/ranks_impl.h"
#include "petsc/ranks/smoother.h"

/* Smoothings of a last level that is too large to be gathered: as many as bisai does there. */
enum { LAST_SMOOTHINGS = 8 };

static PetscErrorCode apply_gathered(PC pc, Vec b, Vec x) {
  bsi_ranks_gather *gather;
  PetscFunctionBegin;
  PetscCall(PCShellGetContext(pc, &gather));
  PetscCall(bsi_ranks_gather_apply(gather, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_last(bsi_ranks *ranks) {
  bsi_ranks_level *last = &ranks->levels[ranks->count];
  KSP ksp;
  PC pc;
  PetscFunctionBegin;
  PetscCall(PCMGGetCoarseSolve(ranks->cycle, &ksp));
  if (ranks->end == BSI_RANKS_SMOOTHED) {
    PetscCall(bsi_ranks_smoother_set(&ranks->setup, last, LAST_SMOOTHINGS, ksp));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KSPSetType(ksp, KSPPREONLY));
  PetscCall(KSPSetOperators(ksp, last->matrix, last->matrix));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(PCShellSetContext(pc, &ranks->gathered));
  PetscCall(PCShellSetName(pc, "gathered"));
  PetscCall(PCShellSetApply(pc, apply_gathered));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets level l of `count` + 1 levels, counted from the finest one. */
static PetscErrorCode set_level(bsi_ranks *ranks, int l) {
  const bisai_multigrid_options *o = &ranks->setup.options;
  bsi_ranks_level *level = &ranks->levels[l];
  const PetscInt number = ranks->count - l;
  KSP down, up;
  PetscFunctionBegin;
  PetscCall(PCMGSetInterpolation(ranks->cycle, number, level->transfers.prolongation));
  PetscCall(PCMGSetRestriction(ranks->cycle, number, level->transfers.restriction));
  PetscCall(PCMGGetSmoother(ranks->cycle, number, &down));
  PetscCall(bsi_ranks_smoother_set(&ranks->setup, level, o->pre, down));
  if (o->pre != o->post) {
    PetscCall(PCMGGetSmootherUp(ranks->cycle, number, &up));
    PetscCall(bsi_ranks_smoother_set(&ranks->setup, level, o->post, up));
  }
  /* VW: once from level 0 to level 1. PCMG visits its coarsest level once in any case */
  PetscCall(PCMGSetCycleTypeOnLevel(
      ranks->cycle, number,
      o->cycle == BISAI_CYCLE_W || (o->cycle == BISAI_CYCLE_VW && l > 0) ? PC_MG_CYCLE_W
                                                                         : PC_MG_CYCLE_V));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode make_vectors(bsi_ranks *ranks) {
  Mat first = ranks->levels[0].matrix;
  Vec *const vectors[] = {&ranks->v, &ranks->z};
  PetscInt n, bs;
  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(first, &n, NULL));
  PetscCall(MatGetBlockSize(first, &bs));
  for (int k = 0; k < 2; k++)
    PetscCall(VecCreateMPIWithArray(ranks->setup.comm, bs, n, PETSC_DETERMINE, NULL, vectors[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ranks_cycle_create(bsi_ranks *ranks) {
  Mat first = ranks->levels[0].matrix;
  PetscFunctionBegin;
  PetscCall(make_vectors(ranks));
  if (ranks->count == 0 && ranks->end == BSI_RANKS_GATHERED) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCCreate(ranks->setup.comm, &ranks->cycle));
  PetscCall(PCSetType(ranks->cycle, PCMG));
  PetscCall(PCSetOperators(ranks->cycle, first, first));
  PetscCall(PCMGSetLevels(ranks->cycle, ranks->count + 1, NULL));
  PetscCall(PCMGSetType(ranks->cycle, PC_MG_MULTIPLICATIVE));
  for (int l = 0; l < ranks->count; l++) PetscCall(set_level(ranks, l));
  PetscCall(set_last(ranks));
  PetscCall(PCSetUp(ranks->cycle));
  PetscFunctionReturn(PETSC_SUCCESS);
}
