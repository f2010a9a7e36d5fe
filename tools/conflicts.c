/* SPDX-License-Identifier: BSD-3-Clause */
#include "conflicts.h"

#include <string.h>

#include "cusparse_methods.h"
#include "label.h"
#include "message.h"
#include "numbering.h"
#include "standard.h"

static bool names_file(const method *m, const char *field) {
  for (int i = 0; i < METHOD_FILES; i++)
    if (m->files[i].option && strcmp(m->files[i].option->field, field) == 0) return true;
  return false;
}

static bool is_flexible(const bisai_solver_options *solver) {
  return solver->method == BISAI_CG ? solver->cg.flexible
                                    : solver->method == BISAI_GMRES && solver->gmres.flexible;
}

/* Returns why the method conflicts with the options or its own keys, or NULL. Nothing that the user
 * asks for is ignored silently. */
static const char *conflict(const options *o, const method *m) {
  bool petsc =
      m->program == METHOD_PETSC || m->program == METHOD_PETSC_ILU || m->factors == FACTORS_PETSC;
  bool cusparse = m->program == METHOD_CUSPARSE_ILU || m->factors == FACTORS_CUSPARSE;
  bool shift = m->options.shift != BISAI_SHIFT_NONE;
  bisai_factored_options f = m->options.factor;
  options_reorder(o, m, &f);
  if (method_is(m, BISAI_PRECOND_AUTO) && options_reorder_given(o))
    return "auto chooses the order, the matching and the scaling itself: no --ordering, no "
           "--matching, no --equilibrate, or name a METHOD";
  bool matches = f.matching != BISAI_MATCHING_NONE;
  bool reorders = f.ordering != BISAI_ORDERING_NATURAL || matches || f.equilibrate;
  if (m->program == METHOD_PETSC && o->solver.method != BISAI_GMRES &&
      o->solver.method != BISAI_CG && o->solver.method != BISAI_BICGSTAB)
    return "PETSc has no such solver: --solver gmres, cg or bicgstab";
  if (m->program == METHOD_PETSC && o->solver.gmres.orthogonalization != BISAI_CLASSICAL_SELECTIVE)
    return "PETSc makes the basis orthogonal in its own way: no orthogonalization= of --solver";
  if (petsc && reorders)
    return "PETSc factorises the matrix as it is: no --ordering, no --matching, no --equilibrate";
  if (petsc && shift) return "factors=petsc takes no shift";
  if ((cusparse || m->pattern == MAKER_CUSPARSE) && reorders)
    return "cuSPARSE takes the matrix as it is for factors and patterns: no --ordering, no "
           "--matching, no --equilibrate";
  if (cusparse && (m->options.factor.level > 0 || shift))
    return "bsrilu02 is ILU(0): factors=cusparse takes no level and no shift";
  if (method_uses(m, BISAI_PRECOND_BJACOBI) && m->options.bjacobi.storage == BISAI_ADAPTIVE &&
      m->options.bjacobi.form != BISAI_FORM_INVERSE)
    return "storage=adaptive needs form=inverse";
  if (method_uses(m, BISAI_PRECOND_BJACOBI) && m->options.bjacobi.storage != BISAI_ADAPTIVE) {
    if (m->options.bjacobi.digits != 2) return "digits needs storage=adaptive";
    if (m->options.bjacobi.formats != BISAI_FORMATS_ALL) return "formats needs storage=adaptive";
  }
  if (method_uses(m, BISAI_PRECOND_BJACOBI) && m->options.bjacobi.relax == 0 &&
      m->options.bjacobi.damping != 1.0)
    return "damping needs relax";
  if (m->options.multigrid.cycle == BISAI_CYCLE_K && !is_flexible(&o->solver))
    return "cycle=k is not linear: --solver gmres:flexible or cg:flexible";
  if (names_file(m, "cpr.weights") && names_file(m, "cpr.storage"))
    return "weights and storage: only one of them can be given";
  if (m->pattern == MAKER_CUSPARSE &&
      (m->options.isai.drop_tolerance > 0 || m->options.isai.column_limit > 0))
    return "pattern=cusparse takes no drop and no cap";
  if (numbering_asked(o) && numbering_is_named(m))
    return "from and to name rows, which --fields and --nodes number anew";
  if (method_is(m, BISAI_PRECOND_ISAI) && m->options.isai.of == BISAI_INVERSE_OF_MATRIX &&
      (petsc || cusparse_is_needed(m)))
    return "of=matrix has no factors and no NL and NU: no factors=, pattern= or apply=";
  if (m->options.isai.symmetric && matches)
    return "symmetric takes no matching, which permutes rows alone";
  if (m->options.isai.symmetric && m->apply == MAKER_CUSPARSE)
    return "symmetric takes no apply=cusparse, which multiplies by NL and NU";
  if (m->apply == MAKER_CUSPARSE &&
      (m->options.isai.relax > 0 || m->options.isai.storage != BISAI_FP64))
    return "apply=cusparse takes no relax and needs storage=fp64";
  return NULL;
}

/* Checks combinations of options. */
static bool check_pairs(const options *o) {
  if (o->input.file && o->input.made.name != CASE_NONE) {
    say("FILE and --case: give only one of them");
  } else if (!o->input.file && o->input.made.name == CASE_NONE) {
    say("give a FILE, or --case and --size");
  } else if (o->input.file && o->input.made.sizes != 0) {
    say("--size belongs to --case, not to a FILE");
  } else if (numbering_asked(o) && !o->input.file) {
    say("--fields and --nodes are for a FILE; the nodes of a case are known");
  } else if (o->input.fields && o->input.nodes) {
    say("--fields and --nodes: give only one of them");
  } else if (standard_is(o->input.nodes)) {
    say("--nodes: the nodes come from a file, not from standard input");
  } else if (o->output.write_null && (o->input.file || !made_has_null_space(&o->input.made))) {
    say("--write-null is for --case elasticity and shell only, which have near-null-space vectors "
        "of their own");
  } else if (standard_is(o->output.write_null)) {
    say("--write-null: the vectors go to a file, not to standard output");
  } else if (standard_is(o->input.project)) {
    say("--project: the vectors come from a file, not from standard input");
  } else if (o->restart > 0 && o->solver.method != BISAI_GMRES) {
    say("--restart is for --solver gmres only, not for %s", bisai_method_string(o->solver.method));
  } else if (standard_is(o->output.json) && standard_is(o->output.file)) {
    say("--output - and --json -: only one of them can go to standard output");
#ifndef BISAI_HAVE_JANSSON
  } else if (o->output.json) {
    say("--json: this build has no jansson, which is needed for JSON");
#endif
  } else {
    return o->input.file || made_check_sizes(&o->input.made);
  }
  return false;
}

bool conflicts_check(command which, const options *o) {
  if (!check_pairs(o)) return false;
  for (int i = 0; i < o->methods.count; i++) {
    const char *reason = conflict(o, &o->methods.items[i]);
    if (!reason) continue;
    char label[METHOD_LABEL];
    method_label(&o->methods.items[i], label);
    say("%s: %s: %s", which == COMMAND_SOLVE ? "--preconditioner" : "--methods", label, reason);
    return false;
  }
  return true;
}
