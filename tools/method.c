/* SPDX-License-Identifier: BSD-3-Clause */
#include "method.h"

#include <string.h>

#include <bisai/precond.h>

const char *method_program_string(method_program program) {
  static const char *const programs[] = {[METHOD_PETSC] = "petsc",
                                         [METHOD_PETSC_ILU] = "petsc-ilu",
                                         [METHOD_CUSPARSE_ILU] = "cusparse-ilu"};
  return programs[program];
}

const char *method_kind(const method *m) {
  return m->program == METHOD_OF_LIBRARY ? bisai_precond_kind_string(m->options.kind)
                                         : method_program_string(m->program);
}

bool method_is(const method *m, bisai_precond_kind kind) {
  return m->program == METHOD_OF_LIBRARY && m->options.kind == kind;
}
bool method_is_exact(const method *m) {
  return m->program != METHOD_OF_LIBRARY || m->options.kind == BISAI_PRECOND_ILU;
}

bool method_has_stages(const method *m) { return method_is(m, BISAI_PRECOND_CPR); }

bool method_uses(const method *m, bisai_precond_kind kind) {
  const bisai_cpr_second_stage second = m->options.cpr.second;
  if (!method_has_stages(m)) return method_is(m, kind);
  return second == BISAI_CPR_SECOND_STAGE_AUTO
             ? kind == BISAI_PRECOND_ILU
             : strcmp(bisai_cpr_second_stage_string(second), bisai_precond_kind_string(kind)) == 0;
}

const char *method_path(const method *m, const bisai_option *option) {
  for (int i = 0; i < METHOD_FILES; i++)
    if (m->files[i].option == option) return m->files[i].path;
  return NULL;
}
