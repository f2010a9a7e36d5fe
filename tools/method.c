/* SPDX-License-Identifier: BSD-3-Clause */
#include "method.h"

#include <string.h>

#include <bisai/precond.h>
#include <bisai/stages.h>

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
int method_level(const method *m) {
  return m->program == METHOD_OF_LIBRARY ? m->options.factor.level : m->level;
}
bool method_is_exact(const method *m) {
  return m->program != METHOD_OF_LIBRARY || m->options.kind == BISAI_PRECOND_ILU;
}

bool method_has_stages(const method *m) {
  bisai_precond_kind kind;
  return m->program == METHOD_OF_LIBRARY && bisai_precond_stage(&m->options, 0, &kind);
}

bool method_uses(const method *m, bisai_precond_kind kind) {
  bisai_precond_kind stage;
  if (!method_has_stages(m)) return method_is(m, kind);
  for (int32_t i = 0; bisai_precond_stage(&m->options, i, &stage); i++)
    if (stage == kind) return true;
  return false;
}

const char *method_path(const method *m, const bisai_option *option) {
  for (int i = 0; i < METHOD_FILES; i++)
    if (m->files[i].option == option) return m->files[i].path;
  return NULL;
}
