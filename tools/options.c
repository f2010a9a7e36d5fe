/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>

#include "keys.h"

bool options_add_cg(options *o, const facts *f) {
  return !facts_may_be_definite(f) || method_list_add_by_cg("bjacobi,ilu,mg", &o->methods);
}

bool options_reorder_given(const options *o) {
  return o->ordering != BISAI_ORDERING_NATURAL || o->matching != BISAI_MATCHING_NONE ||
         o->equilibrate;
}

bool options_choose_solver(const options *o) {
  return o->methods.count == 1 && method_is(&o->methods.items[0], BISAI_PRECOND_AUTO) &&
         !o->solver_given && o->restart == 0;
}

bool options_choose_methods(command which, options *o) {
  const bool cg = o->solver.method == BISAI_CG;
  const char *isai = cg ? "isai:k=1:symmetric,isai:k=2:symmetric,isai:k=3:symmetric"
                        : "isai:k=1,isai:k=2,isai:k=3";
  char list[METHOD_TEXT] = "auto";
  if (o->methods_given) return true;
  if (which == COMMAND_COMPARE)
    snprintf(list, sizeof list, "none,bjacobi,ilu,%s,mg%s%s", isai,
             o->input.made.name == CASE_RESERVOIR && !cg ? ",cpr" : "",
             options_reorder_given(o) ? "" : ",auto");
  return method_list_parse("--methods", list, &o->methods);
}

/* The second stage `auto` is ilu, and has no keys. */
static bool takes_matching(const method *m) {
  double value = 0;
  const method_section section = method_has_stages(m) ? SECTION_SECOND : SECTION_OWN;
  return method_uses(m, BISAI_PRECOND_ILU) || keys_option(m, section, "matching", &value) != NULL;
}

void options_reorder(const options *o, const method *m, bisai_factored_options *result) {
  if (!m->ordering_given) result->ordering = o->ordering;
  if (!m->matching_given && takes_matching(m)) result->matching = o->matching;
  result->equilibrate |= o->equilibrate;
}

void options_free(options *o) {
  method_list_free(&o->methods);
  free(o->input.beside);
}
