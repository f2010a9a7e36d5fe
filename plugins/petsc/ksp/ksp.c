/* SPDX-License-Identifier: BSD-3-Clause */
/* bisai as a solver type of PETSc: -ksp_type bisai. As the preconditioner type, it uses a private
 * header of PETSc, petsc/private/kspimpl.h, which is made for types outside PETSc. */
#include "petsc/ksp/ksp.h"

#include <bisai/text.h>
#include <string.h>

#include "petsc/ksp/ksp_impl.h"
#include "petsc/ksp/method.h"

static PetscErrorCode set_restart(KSP ksp, PetscInt restart) {
  bsi_ksp *k = ksp->data;
  PetscFunctionBegin;
  PetscCheck(restart >= 1, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE,
             "bisai: the restart is %" PetscInt_FMT "; it must be at least 1", restart);
  PetscCall(bsi_petsc_narrow("-ksp_gmres_restart", restart, &k->options.gmres.restart));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_restart(KSP ksp, PetscInt *restart) {
  PetscFunctionBegin;
  *restart = ((bsi_ksp *)ksp->data)->options.gmres.restart;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the method as one text, which replaces the one so far. */
static PetscErrorCode read_method(KSP ksp, const char *text) {
  bsi_ksp *k = ksp->data;
  const bool automatic = strcmp(text, "auto") == 0;
  bisai_solver_options read = k->options;
  bisai_text_fault fault = {0};
  PetscFunctionBegin;
  const bisai_status status =
      automatic ? BISAI_OK : bisai_solver_options_parse(text, &read, &fault);
  PetscCheck(!status, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "bisai: -ksp_bisai_method %s: character %d: %s; or auto", text, fault.place + 1,
             fault.message);
  PetscCheck(read.gmres.side == BISAI_RIGHT, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "bisai: -ksp_bisai_method %s: side=left: -ksp_type bisai is preconditioned on the "
             "right",
             text);
  k->automatic = automatic;
  k->options = read;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ksp_set_from_options(KSP ksp, bsi_petsc_option_items PetscOptionsObject) {
  bsi_ksp *k = ksp->data;
  char text[BISAI_TEXT_SIZE] = "auto";
  PetscInt restart;
  PetscBool found;
  PetscFunctionBegin;
  if (!k->automatic) bisai_solver_options_text(&k->options, sizeof text, text);
  PetscOptionsHeadBegin(PetscOptionsObject, "bisai options");
  PetscCall(PetscOptionsString("-ksp_bisai_method",
                               "auto, gmres[:restart=M][:flexible][:fp64], cg[:flexible], bicgstab "
                               "or idr[:s=S]",
                               "", text, text, sizeof text, &found));
  if (found) PetscCall(read_method(ksp, text));
  PetscCall(PetscOptionsInt("-ksp_gmres_restart", "gmres: iterations of a cycle",
                            "KSPGMRESSetRestart", k->options.gmres.restart, &restart, &found));
  if (found) PetscCall(set_restart(ksp, restart));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ksp_view(KSP ksp, PetscViewer viewer) {
  const bsi_ksp *k = ksp->data;
  char text[BISAI_TEXT_SIZE] = "";
  PetscBool is_text = PETSC_FALSE, bisai = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &is_text));
  if (!is_text) PetscFunctionReturn(PETSC_SUCCESS);
  if (ksp->pc) PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, "bisai", &bisai));
  const bsi_pc_krylov *used = bisai ? &((bsi_pc *)ksp->pc->data)->krylov : NULL;
  const bool chosen = used && used->solver;
  const bisai_solver_options *o = chosen ? &used->options : &k->options;
  bisai_solver_options_text(o, sizeof text, text);
  if (k->automatic && !chosen)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  method: auto, chosen at the first solve\n"));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "  method: %s%s\n", text,
                                     k->automatic ? ", chosen by auto" : ""));
  if (o->method == BISAI_GMRES && (chosen || !k->automatic))
    PetscCall(PetscViewerASCIIPrintf(viewer, "  restart: %d\n", o->gmres.restart));
  if (*k->message)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  the last solve failed: %s\n", k->message));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The checks that need no matrix. PETSc's setup of the PC follows. */
static PetscErrorCode set_up(KSP ksp) {
  MPI_Comm comm = PetscObjectComm((PetscObject)ksp);
  PetscMPIInt size;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCheck(size == 1, comm, PETSC_ERR_SUP,
             "bisai: -ksp_type bisai works on one process, and there are %d: take -ksp_type fgmres",
             (int)size);
  PetscCall(bsi_ksp_check_estimates(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The x of PETSc's solvers with preconditioning on the right is M x; that of bisai is x. */
static PetscErrorCode build_solution(KSP ksp, Vec into, Vec *solution) {
  PetscFunctionBegin;
  PetscCheck(!((bsi_ksp *)ksp->data)->solving, PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP,
             "bisai: -ksp_type bisai has x at the end of a solve only: monitors and convergence "
             "tests that read it, as -ksp_monitor_true_residual, need -ksp_type fgmres");
  if (into) PetscCall(VecCopy(ksp->vec_sol, into));
  if (solution) *solution = into ? into : ksp->vec_sol;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode destroy(KSP ksp) {
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPGMRESSetRestart_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPGMRESGetRestart_C", NULL));
  PetscCall(KSPDestroyDefault(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode create(KSP ksp) {
  bsi_ksp *k;
  PetscFunctionBegin;
  PetscCall(PetscNew(&k));
  k->options = bisai_solver_options_default();
  k->automatic = true;
  ksp->data = k;
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_RIGHT, 3));
  ksp->ops->setup = set_up;
  ksp->ops->solve = bsi_ksp_solve;
  ksp->ops->setfromoptions = bsi_ksp_set_from_options;
  ksp->ops->view = bsi_ksp_view;
  ksp->ops->buildsolution = build_solution;
  ksp->ops->buildresidual = KSPBuildResidualDefault;
  ksp->ops->destroy = destroy;
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPGMRESSetRestart_C", set_restart));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPGMRESGetRestart_C", get_restart));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ksp_register(void) {
  PetscFunctionBegin;
  PetscCall(KSPRegister(BSI_KSP_TYPE, create));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes a solver for no rows, which judges the options. What the KSP gives is not judged. */
static bisai_status judge(bisai_context *context, const bisai_solver_options *options) {
  const bisai_solver_options defaults = bisai_solver_options_default();
  bisai_solver_options o = *options;
  bisai_solver *solver = NULL;
  o.tolerance = defaults.tolerance;
  o.max_iterations = 1;
  const bisai_status status = bisai_solver_create(context, 0, &o, &solver);
  bisai_solver_destroy(&solver);
  return status;
}

static PetscErrorCode check_options(KSP ksp, const bisai_solver_options *options) {
  char message[BSI_PETSC_MESSAGE] = "";
  bisai_context_options host = bisai_context_options_default();
  bisai_context *context = NULL;
  PetscFunctionBegin;
  host.backend = BISAI_BACKEND_HOST;
  host.threads = 1;
  bisai_status status = bisai_context_create(&host, &context);
  if (!status) status = judge(context, options);
  if (status)
    PetscCall(PetscSNPrintf(message, sizeof message, "%s", bsi_petsc_message(context, status)));
  bisai_context_destroy(&context);
  PetscCheck(!status, PetscObjectComm((PetscObject)ksp), bsi_petsc_error(status), "bisai: %s",
             message);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bisai_petsc_ksp_set_options(KSP ksp, const bisai_solver_options *options) {
  bool ours;
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscCall(bsi_ksp_is_ours(ksp, &ours));
  PetscCheck(ours, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_WRONG,
             "bisai: the KSP has type %s; call KSPSetType(ksp, \"bisai\") first",
             ((PetscObject)ksp)->type_name ? ((PetscObject)ksp)->type_name : "none");
  PetscCheck(!options || options->struct_size == sizeof *options, PetscObjectComm((PetscObject)ksp),
             PETSC_ERR_ARG_WRONG,
             "bisai: options.struct_size is wrong: start from bisai_solver_options_default()");
  PetscCheck(!options || (options->gmres.side == BISAI_RIGHT && !options->reduce),
             PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_WRONG,
             "bisai: -ksp_type bisai is preconditioned on the right, and has no sum over "
             "processes");
  if (options) PetscCall(check_options(ksp, options));
  bsi_ksp *k = ksp->data;
  k->automatic = !options;
  k->options = options ? *options : bisai_solver_options_default();
  PetscFunctionReturn(PETSC_SUCCESS);
}
