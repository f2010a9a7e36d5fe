/* SPDX-License-Identifier: BSD-3-Clause */
#include "json.h"

#include <stdio.h>
#include <stdlib.h>

#include "message.h"
#include "standard.h"
#include "target.h"

bool json_write(bisai_context *context, const char *path, char *text) {
  bool ok = text != NULL;
  if (!text)
    say("--json: %s: out of memory", path);
  else if (standard_is(path))
    fputs(text, stdout); /* the end of the program reports failures */
  else
    ok = target_write(context, (target){"--json", path}, text);
  free(text);
  return ok;
}

#ifdef BISAI_HAVE_JANSSON

#include <bisai/stages.h>
#include <bisai/version.h>

#include "choice.h"
#include "hierarchy.h"
#include "json_parts.h"
#include "keys.h"
#include "pressure.h"
#include "project.h"
#include "verdict.h"

static json_t *order(const run_result *r) {
  const bisai_precond_report *s = &r->setup;
  if (!run_has_levels(r)) return json_null();
  return OBJECT({"ordering", text(true, bisai_ordering_string(s->factor.ordering))},
                {"lower_levels", integer(true, s->factor.lower_levels)},
                {"upper_levels", integer(true, s->factor.upper_levels)},
                {"natural_bandwidth", integer(true, s->factor.natural_bandwidth)},
                {"bandwidth", integer(true, s->factor.bandwidth)},
                {"natural_profile", integer(true, s->factor.natural_profile)},
                {"profile", integer(true, s->factor.profile)},
                {"matching", text(true, bisai_matching_string(s->factor.matching))},
                {"moved_rows", integer(true, s->factor.moved_rows)},
                {"equilibrated", json_boolean(s->factor.equilibrated)},
                {"smallest_scale", number(true, s->factor.smallest_scale)},
                {"largest_scale", number(true, s->factor.largest_scale)},
                {"order_s", number(true, s->order_seconds)});
}

/* Adds a number that is not 0. On failure the object becomes NULL. */
static void count(json_t **object, const char *name, int64_t blocks) {
  if (blocks == 0 || json_object_set_new(*object, name, json_integer(blocks)) == 0) return;
  json_decref(*object);
  *object = NULL;
}

/* Returns the value of an option by its name in messages, or null if the section does not have
 * it. */
static json_t *option_of(const run_result *r, method_section section, const char *name) {
  double value = 0;
  const bisai_option *found = keys_option(&r->m, section, name, &value);
  if (!found) return json_null();
  const char *path = method_path(&r->m, found);
  const bool is_number = found->type == BISAI_OPTION_INTEGER || found->type == BISAI_OPTION_NUMBER;
  if (is_number && found->words && value == found->initial) return json_string(found->words[0]);
  switch (found->type) {
  case BISAI_OPTION_INTEGER: return json_integer((json_int_t)value);
  case BISAI_OPTION_WORD: return json_string(found->words[(int)value]);
  case BISAI_OPTION_FLAG: return json_boolean(value != 0);
  case BISAI_OPTION_VECTORS: return text(true, path ? path : found->words[0]);
  default: return json_real(value);
  }
}

static json_t *option(const run_result *r, const char *name) {
  return option_of(r, SECTION_OWN, name);
}

/* Returns the section with the options of block-Jacobi. */
static method_section section_of_diagonal(const method *m) {
  bisai_precond_kind first;
  if (!method_has_stages(m)) return SECTION_OWN;
  return bisai_precond_stage(&m->options, 0, &first) && first == BISAI_PRECOND_BJACOBI
             ? SECTION_FIRST
             : SECTION_SECOND;
}

/* Returns the options and the blocks of block-Jacobi. */
static json_t *diagonal(const run_result *r) {
  const bisai_precond_report *s = &r->setup;
  const method_section section = section_of_diagonal(&r->m);
  if (!method_uses(&r->m, BISAI_PRECOND_BJACOBI)) return json_null();
  json_t *sizes = json_object(), *stored = json_object();
  for (int rows = 1;
       r->set_up && rows < (int)(sizeof s->bjacobi.by_size / sizeof *s->bjacobi.by_size); rows++) {
    char name[16];
    snprintf(name, sizeof name, "%d", rows);
    count(&sizes, name, s->bjacobi.by_size[rows]);
  }
  for (int f = 0; r->set_up && f < BISAI_VALUE_TYPES; f++)
    count(&stored, bisai_value_type_string((bisai_value_type)f), s->bjacobi.by_format[f]);
  return OBJECT(
      {"max_block", option_of(r, section, "max_block")},
      {"found_by", option_of(r, section, "blocks")}, {"form", option_of(r, section, "form")},
      {"digits",
       integer(r->m.options.bjacobi.storage == BISAI_ADAPTIVE, r->m.options.bjacobi.digits)},
      {"formats", r->m.options.bjacobi.storage == BISAI_ADAPTIVE ? option_of(r, section, "formats")
                                                                 : json_null()},
      {"extraction", option_of(r, section, "extraction")},
      {"damping", option_of(r, section, "damping")},
      {"blocks", integer(r->set_up, s->bjacobi.blocks)},
      {"largest", integer(r->set_up, s->bjacobi.largest_block)}, {"by_size", sizes},
      {"by_format", stored}, {"bytes", integer(r->set_up, s->bjacobi.value_bytes)},
      {"near_singular", integer(r->set_up, s->bjacobi.near_singular)},
      {"near_singular_block",
       integer(r->set_up && s->bjacobi.near_singular > 0, s->bjacobi.near_singular_block)},
      {"relax_radius",
       number(r->set_up && r->m.options.bjacobi.relax > 0, s->bjacobi.relax_radius)},
      {"find_s", number(r->set_up && section == SECTION_OWN, s->pattern_seconds)});
}

/* Returns the JSON key of an option by its name in messages. */
static const char *json_key(const char *name) {
  static const char *const others[][2] = {{"drop_tolerance", "drop"}, {"column_limit", "cap"},
                                          {"least_pivot", "pivots"},  {"update_sweeps", "updates"},
                                          {"pattern", "patterns"},    {"apply", "products"}};
  for (size_t k = 0; k < sizeof others / sizeof *others; k++)
    if (strcmp(name, others[k][0]) == 0) return others[k][1];
  return name;
}

/* Adds the options of a section that have no other place in the object. */
static json_t *add_options(const run_result *r, method_section section, json_t *result) {
  /* in "diagonal", and in "order" */
  static const char *const others[] = {"max_block", "blocks",     "form",    "digits",
                                       "formats",   "extraction", "damping", "ordering",
                                       "matching",  "equilibrate"};
  const char *name;
  for (int i = 0; result && (name = keys_name(&r->m, section, i)); i++) {
    bool there = json_object_get(result, json_key(name)) != NULL;
    for (size_t k = 0; k < sizeof others / sizeof *others && section == SECTION_OWN; k++)
      there |= strcmp(name, others[k]) == 0;
    if (there || json_object_set_new(result, json_key(name), option_of(r, section, name)) == 0)
      continue;
    json_decref(result);
    result = NULL;
  }
  return result;
}

/* Returns what schur found. */
static json_t *saddle(const bisai_schur_report *s) {
  return OBJECT({"velocities", integer(true, s->velocities)},
                {"pressures", integer(true, s->pressures)},
                {"velocity_size", integer(true, s->velocity_size)},
                {"found", json_boolean(s->found)}, {"stabilised", json_boolean(s->stabilised)},
                {"entries", integer(true, s->complement_entries)},
                {"alpha", number(s->stabilised, s->alpha)});
}

static json_t *stage(const run_result *r, method_section section) {
  return add_options(r, section, OBJECT({"method", text(true, keys_stage_word(&r->m, section))}));
}

/* Adds the stages of cpr or schur, each with its kind and its options. */
static json_t *add_stages(const run_result *r, json_t *result) {
  bool ok = result != NULL;
  if (!method_has_stages(&r->m)) return result;
  for (int s = SECTION_FIRST; s < METHOD_SECTIONS && ok; s++)
    ok = json_object_set_new(result, keys_head(&r->m, (method_section)s),
                             stage(r, (method_section)s)) == 0;
  if (ok) return result;
  json_decref(result);
  return NULL;
}

/* The solver of a run: the library may have chosen it, or the program chose CG by itself. */
static bisai_method solver_of(const run_result *r, bisai_method given) {
  if (r->choice.count > 0 && r->choice.chosen >= 0) return r->choice.solver.method;
  return r->m.by_cg ? BISAI_CG : given;
}

static json_t *run(const run_result *r, bisai_method solver, int block_size) {
  const bool pressure = r->set_up && method_is(&r->m, BISAI_PRECOND_CPR),
             repairs = method_has_stages(&r->m) || keys_take(&r->m, "shift");
  json_t *result = OBJECT(
      {"method", text(true, method_kind(&r->m))}, {"power", option(r, "power")},
      {"relax", option(r, "relax")}, {"sweeps", option(r, "sweeps")},
      {"storage", option(r, "storage")}, {"converged", json_boolean(r->converged)},
      {"iterations", integer(r->solved, r->solve.iterations)},
      {"relative_residual", number(r->solved, r->residual)},
      {"factor_s", number(run_has_factor(r), r->setup.factor_seconds)},
      {"pattern_s", number(run_has_structure(r), r->setup.pattern_seconds)},
      {"values_s", number(run_has_values(r), r->setup.values_seconds)},
      {"setup_s", number(r->set_up, r->setup.setup_seconds)},
      {"apply30_s", number(run_has_apply(r), r->solve.apply30_seconds)},
      {"solve_s", number(r->solved, r->solve.solve_seconds)},
      {"blocks", integer(run_has_pattern(r), r->setup.isai.blocks)},
      {"reason", text(true, r->reason)}, {"level", option(r, "level")},
      {"shift", option(r, "shift")}, {"pivots", option(r, "least_pivot")},
      {"updates", option(r, "update_sweeps")}, {"drop", option(r, "drop_tolerance")},
      {"cap", option(r, "column_limit")},
      {"repairs", integer(r->set_up && repairs, r->setup.repairs)},
      {"first_repair_row", integer(r->set_up && r->setup.repairs > 0, r->setup.first_repair_row)},
      {"dropped_lower", integer(run_has_pattern(r), r->setup.isai.dropped_lower)},
      {"dropped_upper", integer(run_has_pattern(r), r->setup.isai.dropped_upper)},
      {"shortened_columns", integer(run_has_pattern(r), r->setup.isai.shortened_columns)},
      {"cut_blocks", integer(run_has_pattern(r), r->setup.isai.cut_blocks)},
      {"factor_blocks", integer(run_has_levels(r), r->setup.factor.blocks)}, {"order", order(r)},
      {"factors", option(r, "factors")}, {"patterns", option(r, "pattern")},
      {"products", option(r, "apply")},
      {"analysis_s", number(r->set_up, r->repeats.analysis_seconds)}, {"diagonal", diagonal(r)},
      {"hierarchy", hierarchy_json(&r->setup.multigrid)},
      {"cpr", pressure ? pressure_json(&r->setup.cpr, block_size) : json_null()},
      {"schur",
       r->set_up && method_is(&r->m, BISAI_PRECOND_SCHUR) ? saddle(&r->setup.schur) : json_null()},
      {"restarts", integer(r->solved && r->m.program != METHOD_PETSC, r->solve.restarts)},
      {"breakdown",
       text(r->solved && r->solve.breakdown, bisai_breakdown_string(r->solve.breakdown))},
      {"memory_bytes", integer(run_has_memory(r), r->setup.memory_bytes)},
      {"total_s", number(r->solved, run_total(r))},
      {"repeats", integer(r->repeats.runs > 0, r->repeats.runs)},
      {"least_total_s", number(r->repeats.runs > 0, r->repeats.least_seconds)},
      {"symmetric", option(r, "symmetric")}, {"note", text(r->texts.note != NULL, r->texts.note)},
      {"solver", text(true, bisai_method_string(solver_of(r, solver)))},
      {"error", number(r->solved, r->error)}, {"choice", choice_json(r)}, {"of", option(r, "of")});
  return add_stages(r, add_options(r, SECTION_OWN, result));
}

static json_t *label(const run_result *r) { return text(r != NULL, r ? r->label : ""); }

/* Returns the verdict of a comparison of two methods or more. */
static json_t *conclusion(const problem *p, int count, const run_result *results) {
  const verdict v = verdict_of(p, count, results);
  if (count < 2) return json_null();
  return OBJECT({"fastest", label(v.fastest)}, {"fastest_solve", label(v.fastest_solve)},
                {"pays_after", integer(v.fastest != NULL, v.pays_after)},
                {"least_memory", label(v.least_memory)}, {"why", text(*v.why != '\0', v.why)});
}

static json_t *option_value(const bisai_option *option, const bisai_solver_options *how) {
  double value = bisai_option_get(option, how);
  switch (option->type) {
  case BISAI_OPTION_FLAG: return json_boolean(value != 0);
  case BISAI_OPTION_INTEGER: return json_integer((json_int_t)value);
  case BISAI_OPTION_WORD: return json_string(option->words[(int)value]);
  default: return json_real(value);
  }
}

/* Adds the options that --solver takes, each under its name. Options that the method does not have
 * are null. */
static bool add_solver_options(json_t *all, const bisai_solver_options *how) {
  bool ok = true;
  for (int m = 0; m < BISAI_METHODS; m++) {
    const bisai_option *option;
    for (int i = 0; (option = bisai_method_option((bisai_method)m, i)); i++) {
      if (!option->key) continue;
      if (how->method == (bisai_method)m)
        ok &= json_object_set_new(all, option->name, option_value(option, how)) == 0;
      else if (!json_object_get(all, option->name))
        ok &= json_object_set_new(all, option->name, json_null()) == 0;
    }
  }
  return ok;
}

static json_t *document(bisai_context *context, const problem *p, const options *o, int count,
                        const run_result *results) {
  json_t *runs = json_array();
  for (int i = 0; i < count; i++) {
    if (json_array_append_new(
            runs, run(&results[i], o->solver.method, bisai_bcsr_block_size(p->matrix))) != 0) {
      json_decref(runs);
      runs = NULL;
    }
  }
  double asymmetry = 0;
  bool measured = bisai_bcsr_asymmetry(p->matrix, &asymmetry, NULL) == BISAI_OK;
  json_t *matrix = OBJECT({"name", text(true, p->name)},
                          {"block_rows", integer(true, bisai_bcsr_block_rows(p->matrix))},
                          {"block_size", integer(true, bisai_bcsr_block_size(p->matrix))},
                          {"blocks", integer(true, bisai_bcsr_blocks(p->matrix))},
                          {"asymmetry", number(measured, asymmetry)});
  json_t *all = OBJECT(
      {"version", text(true, bisai_version())},
      {"backend", text(true, bisai_backend_string(bisai_context_backend(context)))},
      {"device", text(true, bisai_context_device(context))}, {"matrix", matrix},
      {"rhs", text(true, problem_rhs_name(p->rhs_from))},
      {"rhs_file", text(p->rhs_file != NULL, p->rhs_file)},
      {"rhs_columns", integer(p->rhs_from == RHS_OWN, p->rhs_columns)},
      {"solution", text(p->known.x != NULL, problem_solution_name(p->known.what))},
      {"project", project_json(p)}, {"tolerance", number(true, p->tolerance)},
      {"solver",
       text(true, options_choose_solver(o) ? "auto" : bisai_method_string(o->solver.method))});
  bool ok = add_solver_options(all, &o->solver);
  const member rest[] = {
      {"restart", integer(o->solver.method == BISAI_GMRES && !options_choose_solver(o),
                          o->solver.gmres.restart)},
      {"runs", runs},
      {"verdict", conclusion(p, count, results)}};
  for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
    ok &= json_object_set_new(all, rest[i].key, rest[i].value) == 0;
  if (ok) return all;
  json_decref(all);
  return NULL;
}

char *json_text(bisai_context *context, const problem *p, const options *o, int count,
                const run_result *results) {
  return text_of_document(document(context, p, o, count, results));
}

#else

/* arguments_parse() has refused --json. */
char *json_text(bisai_context *context, const problem *p, const options *o, int count,
                const run_result *results) {
  (void)context, (void)p, (void)o, (void)count, (void)results;
  return NULL;
}

#endif
