/* SPDX-License-Identifier: BSD-3-Clause */
/* Block triangular preconditioners of saddle points A = [K G; D −C] (Benzi, Golub, Liesen 2005,
 * section 10). K̂ is the first stage, on K, and Ê the second one, on E = s (C + D H⁻¹ G) with
 * H = diag(K) and a sign s (schur/system.h). Ŝ⁻¹ is
 *
 *   lsc       −Ê⁻¹ (D H⁻¹ K H⁻¹ G) Ê⁻¹ − α s diag(E)⁻¹
 *   simple    −s Ê⁻¹
 *   diagonal  −s diag(E)⁻¹
 *
 * and an application to v = (f, g)
 *
 *   upper     p ← Ŝ⁻¹ g,               u ← K̂⁻¹ (f − G p)
 *   lower     u ← K̂⁻¹ f,               p ← Ŝ⁻¹ (g − D u)
 *   full      as lower, and then       u ← u − K̂⁻¹ G p */
#include "core/context/context_impl.h"
#include "core/context/words.h"
#include "precond/composed/stages.h"
#include "precond/precond_impl.h"
#include "schur/schur_ops.h"
#include "schur/system.h"

#include <stdio.h>

#include "apply/apply_ops.h"

BSI_DEFINE_WORDS(schur_stage, BISAI_SCHUR_STAGE_LIST, "unknown stage")
BSI_DEFINE_WORDS(schur_complement, BISAI_SCHUR_COMPLEMENT_LIST, "unknown Schur complement")
BSI_DEFINE_WORDS(schur_form, BISAI_SCHUR_FORM_LIST, "unknown form")

#define FIRST_STAGE "velocities"
#define SECOND_STAGE "Schur complement"

/* Cycles of multigrid on E. Two instead of one take mac 128² from 78 iterations to 43 with LSC. */
enum { CYCLES = 2 };

typedef struct schur_state {
  bsi_schur_system system;
  bisai_schur_complement complement;
  /* second: NULL for a diagonal Schur complement */
  bisai_precond *first, *second;
  /* the time of the system without that of the stages */
  struct {
    double reserve, take;
  } seconds;
} schur_state;

static schur_state *schur_of(const bisai_precond *m) { return m->state; }
static const bsi_schur_ops *ops_of(const bisai_precond *m) { return bsi_schur_ops_of(m->context); }

static const char *const not_given[] = {"auto", NULL};
static const char *const stage_words[] = BSI_OPTION_WORDS(BISAI_SCHUR_STAGE_LIST);
static const char *const complements[] = BSI_OPTION_WORDS(BISAI_SCHUR_COMPLEMENT_LIST);
static const char *const forms[] = BSI_OPTION_WORDS(BISAI_SCHUR_FORM_LIST);

static const bisai_option table[] = {
    {BSI_PRECOND_OPTION(schur.component), .name = "component", .key = "component",
     .placeholder = "I", .petsc = "schur_component",
     .help = "place of the pressure in a block; auto: found", .type = BISAI_OPTION_INTEGER,
     .initial = BISAI_SCHUR_NOT_GIVEN, .maximum = BISAI_MAX_BLOCK_SIZE - 1,
     .advised = BISAI_MAX_BLOCK_SIZE - 1, .words = not_given},
    {BSI_PRECOND_OPTION(schur.from), .name = "from", .key = "from", .placeholder = "ROW",
     .petsc = "schur_from", .help = "first row of the pressures, from 0; auto: found",
     .type = BISAI_OPTION_INTEGER, .initial = BISAI_SCHUR_NOT_GIVEN, .maximum = INT32_MAX - 1,
     .advised = INT32_MAX - 1, .words = not_given},
    {BSI_PRECOND_OPTION(schur.to), .name = "to", .key = "to", .placeholder = "ROW",
     .petsc = "schur_to", .help = "last row of the pressures; auto: that of the matrix",
     .type = BISAI_OPTION_INTEGER, .initial = BISAI_SCHUR_NOT_GIVEN, .maximum = INT32_MAX - 1,
     .advised = INT32_MAX - 1, .words = not_given},
    {BSI_PRECOND_OPTION(schur.rows), .name = "rows", .help = "rows of the pressures",
     .type = BISAI_OPTION_POINTER},
    {BSI_PRECOND_OPTION(schur.row_count), .name = "row_count", .help = "number of these rows",
     .type = BISAI_OPTION_INTEGER, .minimum = INT32_MIN, /* check_rows() says more */
     .maximum = INT32_MAX, .advised = INT32_MAX},
    {BSI_PRECOND_OPTION(schur.complement), .name = "complement", .key = "complement",
     .placeholder = "C", .petsc = "schur_complement", .help = "how its inverse is approximated",
     .type = BISAI_OPTION_WORD, .maximum = BISAI_SCHUR_COMPLEMENT_DIAGONAL,
     .advised = BISAI_SCHUR_COMPLEMENT_DIAGONAL, .words = complements},
    {BSI_PRECOND_OPTION(schur.form), .name = "factorisation", .key = "form", .placeholder = "F",
     .petsc = "schur_form", .help = "which blocks of the factorisation are taken",
     .type = BISAI_OPTION_WORD, .maximum = BISAI_SCHUR_FORM_FULL, .advised = BISAI_SCHUR_FORM_FULL,
     .words = forms},
    {BSI_PRECOND_OPTION(schur.first), .name = "first", .key = "first", .placeholder = "KIND",
     .petsc = "schur_first", .help = "kind for the velocities; auto: mg", .type = BISAI_OPTION_WORD,
     .maximum = BISAI_SCHUR_STAGE_DIRECT, .advised = BISAI_SCHUR_STAGE_DIRECT,
     .words = stage_words},
    {BSI_PRECOND_OPTION(schur.second), .name = "second", .key = "second", .placeholder = "KIND",
     .petsc = "schur_second", .help = "kind for the Schur complement; auto: mg",
     .type = BISAI_OPTION_WORD, .maximum = BISAI_SCHUR_STAGE_DIRECT,
     .advised = BISAI_SCHUR_STAGE_DIRECT, .words = stage_words}};
static const bsi_option_list own_options = BSI_OPTION_LIST(table);

/* --- options --- */

static bisai_precond_kind kind_of(bisai_schur_stage stage) {
  switch (stage) {
  case BISAI_SCHUR_STAGE_ILU: return BISAI_PRECOND_ILU;
  case BISAI_SCHUR_STAGE_ISAI: return BISAI_PRECOND_ISAI;
  case BISAI_SCHUR_STAGE_SWEEPS: return BISAI_PRECOND_SWEEPS;
  case BISAI_SCHUR_STAGE_BJACOBI: return BISAI_PRECOND_BJACOBI;
  case BISAI_SCHUR_STAGE_LU: return BISAI_PRECOND_LU;
  case BISAI_SCHUR_STAGE_DIRECT: return BISAI_PRECOND_DIRECT;
  default: return BISAI_PRECOND_MULTIGRID;
  }
}

static bisai_precond_kind stage_kind(const bisai_precond_options *o, int32_t stage) {
  return kind_of(stage == 0 ? o->schur.first : o->schur.second);
}

/* Returns the options of a stage: those of its kind. */
static bisai_precond_options stage_options(const bisai_precond *m, int32_t stage) {
  bisai_precond_options o = m->options;
  const bisai_precond_options initial = bisai_precond_options_default();
  const bisai_option *option;
  o.kind = stage_kind(&m->options, stage);
  for (int i = 0; (option = bisai_precond_kind_option(BISAI_PRECOND_SCHUR, i)); i++)
    if (!bisai_precond_kind_takes(o.kind, option->field))
      bisai_option_set(option, option->initial, &o);
  /* E is singular if a constant pressure has no effect. */
  if (stage == 1 && o.kind != BISAI_PRECOND_MULTIGRID && o.shift == BISAI_SHIFT_NONE) {
    o.shift = BISAI_SHIFT_IN_BLOCKS;
    o.shift_amount = initial.shift_amount;
  }
  return o;
}

static bisai_status check_rows(bisai_context *context, const bisai_schur_options *o, int32_t rows) {
  if (!o->rows)
    return o->row_count == 0 ? BISAI_OK
                             : bsi_fail(context, BISAI_INVALID_ARGUMENT,
                                        "row_count %d without rows", o->row_count);
  if (o->row_count < 1)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "row_count %d: at least 1 is needed",
                    o->row_count);
  for (int32_t k = 0; k < o->row_count; k++)
    if (o->rows[k] < 0 || o->rows[k] >= rows || (k > 0 && o->rows[k] <= o->rows[k - 1]))
      return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                      "rows[%d] is %d: the rows are 0 … %d and ascend", k, o->rows[k], rows - 1);
  return BISAI_OK;
}

static bisai_status check_pressures(bisai_context *context, const bisai_schur_options *o,
                                    const bisai_bcsr *matrix) {
  if ((o->component >= 0) + (o->from >= 0) + (o->rows != NULL) > 1)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "component, from and rows: only one of them can be given");
  if (o->component >= matrix->block_size)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "component %d: a block has the unknowns 0 … %d", o->component,
                    matrix->block_size - 1);
  if (o->to >= 0 && o->from < 0)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "to %d without from", o->to);
  if (o->from >= matrix->rows || o->to >= matrix->rows || (o->to >= 0 && o->to < o->from))
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "from %d to %d: the rows are 0 … %d", o->from,
                    o->to, matrix->rows - 1);
  return check_rows(context, o, matrix->rows);
}

static bisai_status schur_check(bisai_context *context, const bisai_precond_options *options,
                                const bisai_bcsr *matrix) {
  const bisai_option *option;
  char title[64];
  if (matrix->type != BISAI_FP64)
    return bsi_fail(context, BISAI_UNSUPPORTED, "schur needs a matrix stored in fp64");
  if (matrix->unit_diagonal)
    return bsi_fail(context, BISAI_UNSUPPORTED, "schur needs stored diagonal blocks");
  for (int i = 0; (option = bisai_precond_kind_option(BISAI_PRECOND_SCHUR, i)); i++)
    if ((option->type == BISAI_OPTION_POINTER || option->type == BISAI_OPTION_VECTORS) &&
        option->offset != offsetof(bisai_precond_options, schur.rows) &&
        bisai_option_get(option, options) != 0.0)
      return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                      "schur does not take %s: its stages have other rows than the matrix",
                      option->field);
  if (options->factor.ordering == BISAI_ORDERING_GIVEN)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "schur takes no given permutation: its stages have other rows than the matrix");
  if (options->isai.symmetric)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "schur does not take isai.symmetric: it is not symmetric itself");
  BSI_TRY(check_pressures(context, &options->schur, matrix));
  snprintf(title, sizeof title, "schur with the stages %s and %s",
           bisai_precond_kind_string(stage_kind(options, 0)),
           bisai_precond_kind_string(stage_kind(options, 1)));
  return bsi_stages_check(context, options, title);
}

/* --- creation and updates --- */

/* With `unweighted`, multigrid takes all values of updates. For a symmetric matrix, which others
 * could follow, it changes no transfers. */
static bisai_status create_stages(bisai_precond *m) {
  schur_state *state = schur_of(m);
  bisai_precond_options first = stage_options(m, 0), second = stage_options(m, 1);
  bool symmetric = false;
  if (first.kind == BISAI_PRECOND_MULTIGRID)
    BSI_TRY(bsi_bcsr_is_symmetric(m->context, state->system.k, &symmetric, NULL));
  first.multigrid.unweighted |= symmetric;
  second.multigrid.unweighted = second.kind == BISAI_PRECOND_MULTIGRID;
  BSI_TRY(bsi_fail_at(m->context,
                      bisai_precond_create(m->context, state->system.k, &first, &state->first),
                      FIRST_STAGE));
  if (state->complement == BISAI_SCHUR_COMPLEMENT_DIAGONAL) return BISAI_OK;
  return bsi_fail_at(m->context,
                     bisai_precond_create(m->context, state->system.e, &second, &state->second),
                     SECOND_STAGE);
}

static bisai_status choose_complement(bisai_precond *m) {
  schur_state *state = schur_of(m);
  bool steady = false;
  state->complement = m->options.schur.complement;
  if (state->complement != BISAI_SCHUR_COMPLEMENT_AUTO) return BISAI_OK;
  BSI_TRY(bsi_schur_system_is_steady(m->context, &state->system, &steady));
  state->complement = steady ? BISAI_SCHUR_COMPLEMENT_DIAGONAL : BISAI_SCHUR_COMPLEMENT_LSC;
  return BISAI_OK;
}

static bisai_status schur_setup(bisai_precond *m, const bisai_bcsr *a) {
  const bisai_schur_options *o = &m->options.schur;
  const bsi_split_choice choice = {o->component, o->from, o->to, o->rows, o->row_count};
  schur_state *state = schur_of(m);
  const double start = bsi_now();
  BSI_TRY(bsi_schur_system_create(m->context, a, &choice, &state->system));
  m->options.schur.rows = NULL; /* the caller's array may go */
  m->options.schur.row_count = 0;
  const double reserved = bsi_now();
  BSI_TRY(bsi_schur_system_update(m->context, a, &state->system));
  BSI_TRY(choose_complement(m));
  state->seconds.reserve = reserved - start;
  state->seconds.take = bsi_now() - reserved;
  return create_stages(m);
}

static bisai_status schur_check_values(bisai_precond *m, const bisai_bcsr *a) {
  const bsi_schur_system *system = &schur_of(m)->system;
  return system->e ? bsi_schur_system_check_values(m->context, a, system) : BISAI_OK;
}

static bisai_status schur_update(bisai_precond *m, const bisai_bcsr *a) {
  schur_state *state = schur_of(m);
  const double start = bsi_now();
  BSI_TRY(bsi_schur_system_update(m->context, a, &state->system));
  state->seconds.reserve = 0.0;
  state->seconds.take = bsi_now() - start;
  BSI_TRY(bsi_fail_at(m->context, bsi_precond_update_inside(state->first, state->system.k),
                      FIRST_STAGE));
  if (!state->second) return BISAI_OK;
  return bsi_fail_at(m->context, bsi_precond_update_inside(state->second, state->system.e),
                     SECOND_STAGE);
}

static bisai_status schur_check_update(const bisai_precond *m, const bisai_bcsr *a) {
  if (a->type != BISAI_FP64 || a->unit_diagonal)
    return bsi_fail(m->context, BISAI_UNSUPPORTED,
                    "schur needs a matrix stored in fp64, with its diagonal blocks");
  BSI_TRY(bsi_multigrid_check_updates(schur_of(m)->first));
  BSI_TRY(bsi_multigrid_check_updates(schur_of(m)->second));
  return bsi_schur_system_check_pattern(m->context, a, &schur_of(m)->system);
}

/* --- application --- */

static bisai_status apply_stage(bisai_precond *stage, const double *v, double *z) {
  const int64_t n = bsi_precond_size(stage);
  return bsi_precond_apply_inside(stage, 1, v, n, z, n, 0, false);
}

/* z ← Ê⁻¹ r, without change of r. Uses the longest vector and the vector 3 of the pressures. */
static bisai_status solve_e(bisai_precond *m, const double *r, double *z) {
  const schur_state *state = schur_of(m);
  const bsi_schur_system *s = &state->system;
  double *rest = s->work.pressures[3], *step = s->work.longest;
  BSI_TRY(apply_stage(state->second, r, z));
  for (int k = 1; k < CYCLES && state->second->options.kind == BISAI_PRECOND_MULTIGRID; k++) {
    BSI_TRY(bsi_multiply_vector(m->context, s->e, -1.0, z, 1.0, r, rest));
    BSI_TRY(apply_stage(state->second, rest, step));
    BSI_TRY(m->context->backend->vectors->add(m->context, s->pressures, step, z));
  }
  return BISAI_OK;
}

/* z ← Ŝ⁻¹ r. Uses the vector 2 of the pressures, too, and those 2 and 3 of the velocities. */
static bisai_status solve_complement(bisai_precond *m, const double *r, double *z) {
  const schur_state *state = schur_of(m);
  const bsi_schur_system *s = &state->system;
  const bsi_vector_ops *vectors = m->context->backend->vectors;
  double *t = s->work.pressures[2];
  if (state->complement == BISAI_SCHUR_COMPLEMENT_DIAGONAL) {
    BSI_TRY(ops_of(m)->scale(m->context, s->pressures, s->inverse.e, r, t));
    return vectors->combine(m->context, s->pressures, -s->sign, t, 0.0, z);
  }
  BSI_TRY(solve_e(m, r, t));
  if (state->complement == BISAI_SCHUR_COMPLEMENT_SIMPLE)
    return vectors->combine(m->context, s->pressures, -s->sign, t, 0.0, z);
  BSI_TRY(bsi_schur_multiply(m->context, s, true, t, z));
  BSI_TRY(solve_e(m, z, t));
  if (s->alpha == 0.0) return vectors->combine(m->context, s->pressures, -1.0, t, 0.0, z);
  BSI_TRY(ops_of(m)->scale(m->context, s->pressures, s->inverse.e, r, z));
  return vectors->combine(m->context, s->pressures, -1.0, t, -s->sign * s->alpha, z);
}

static bisai_status apply_upper(bisai_precond *m) {
  const schur_state *state = schur_of(m);
  const bsi_schur_system *s = &state->system;
  double *const *u = s->work.velocities, *const *p = s->work.pressures;
  BSI_TRY(solve_complement(m, p[0], p[1]));
  BSI_TRY(bsi_multiply_vector(m->context, s->g, -1.0, p[1], 1.0, u[0], u[0]));
  return apply_stage(state->first, u[0], u[1]);
}

static bisai_status apply_lower(bisai_precond *m) {
  const schur_state *state = schur_of(m);
  const bsi_schur_system *s = &state->system;
  double *const *u = s->work.velocities, *const *p = s->work.pressures;
  BSI_TRY(apply_stage(state->first, u[0], u[1]));
  BSI_TRY(bsi_multiply_vector(m->context, s->d, -1.0, u[1], 1.0, p[0], p[0]));
  BSI_TRY(solve_complement(m, p[0], p[1]));
  if (m->options.schur.form == BISAI_SCHUR_FORM_LOWER) return BISAI_OK;
  BSI_TRY(bsi_multiply_vector(m->context, s->g, -1.0, p[1], 0.0, NULL, u[0]));
  BSI_TRY(apply_stage(state->first, u[0], u[2]));
  return m->context->backend->vectors->add(m->context, s->velocities, u[2], u[1]);
}

static bisai_status apply_to_one(bisai_precond *m, const double *v, double *x) {
  const bsi_schur_system *s = &schur_of(m)->system;
  double *const *u = s->work.velocities, *const *p = s->work.pressures;
  BSI_TRY(ops_of(m)->gather(m->context, s->velocities, s->rows.velocities, v, u[0]));
  BSI_TRY(ops_of(m)->gather(m->context, s->pressures, s->rows.pressures, v, p[0]));
  BSI_TRY(m->options.schur.form == BISAI_SCHUR_FORM_UPPER ? apply_upper(m) : apply_lower(m));
  BSI_TRY(ops_of(m)->scatter(m->context, s->velocities, s->rows.velocities, u[1], x));
  return ops_of(m)->scatter(m->context, s->pressures, s->rows.pressures, p[1], x);
}

static bisai_status schur_apply(bisai_precond *m, const bsi_vectors *v) {
  for (int32_t c = 0; c < v->count; c++)
    BSI_TRY(apply_to_one(m, v->b + c * v->ldb, v->x + c * v->ldx));
  return BISAI_OK;
}

static bisai_symmetry schur_symmetry(const bisai_precond *m) {
  (void)m;
  return BISAI_SYMMETRY_NONE;
}

static bool schur_nonlinear(const bisai_precond *m) {
  const schur_state *state = schur_of(m);
  return state->first->report.nonlinear || (state->second && state->second->report.nonlinear);
}

/* --- report --- */

static bisai_schur_stage stage_of(bisai_schur_stage given) {
  return given == BISAI_SCHUR_STAGE_AUTO ? BISAI_SCHUR_STAGE_MULTIGRID : given;
}

static void report_own(const bisai_precond *m, bisai_schur_report *r) {
  const bsi_schur_system *s = &schur_of(m)->system;
  const bisai_schur_options *o = &m->options.schur;
  r->velocities = s->velocities;
  r->pressures = s->pressures;
  r->velocity_size = s->k->block_size;
  r->found = s->found;
  r->stabilised = s->stabilised;
  r->first = stage_of(o->first);
  r->second = stage_of(o->second);
  r->complement = schur_of(m)->complement;
  r->form = o->form;
  r->complement_entries = s->e->blocks;
  r->alpha = s->alpha;
}

/* The bytes of an application beside those of the stages. */
static int64_t own_bytes(const bisai_precond *m) {
  const bsi_schur_system *s = &schur_of(m)->system;
  const int64_t g = bsi_bcsr_product_bytes(s->g), d = bsi_bcsr_product_bytes(s->d);
  const int64_t vectors = 40 * ((int64_t)s->velocities + s->pressures);
  const int64_t lsc = schur_of(m)->complement == BISAI_SCHUR_COMPLEMENT_LSC
                          ? g + d + bsi_bcsr_product_bytes(s->k)
                          : 0;
  switch (m->options.schur.form) {
  case BISAI_SCHUR_FORM_UPPER: return vectors + lsc + g;
  case BISAI_SCHUR_FORM_LOWER: return vectors + lsc + d;
  default: return vectors + lsc + g + d;
  }
}

/* Adds what a stage says of its diagonal blocks; the first stage that repairs is named. */
static void report_stage(const bisai_precond *stage, int32_t times, bisai_precond_report *r) {
  const bisai_precond_report *s = &stage->report;
  r->order_seconds += s->order_seconds;
  r->factor_seconds += s->factor_seconds;
  r->pattern_seconds += s->pattern_seconds;
  r->values_seconds += s->values_seconds;
  r->fallbacks += s->fallbacks;
  if (r->repairs == 0) r->first_repair_row = s->first_repair_row;
  r->repairs += s->repairs;
  if (s->largest_condition > r->largest_condition) {
    r->largest_condition = s->largest_condition;
    r->largest_condition_row = s->largest_condition_row;
  }
  r->memory_bytes += s->memory_bytes;
  r->apply_bytes += times * s->apply_bytes;
}

/* The members of the kinds have the report of the first stage. */
static void schur_report(const bisai_precond *m, bisai_precond_report *r) {
  const schur_state *state = schur_of(m);
  const bisai_precond_report *first = &state->first->report;
  const bool full = m->options.schur.form == BISAI_SCHUR_FORM_FULL,
             lsc = state->complement == BISAI_SCHUR_COMPLEMENT_LSC,
             repeats = state->second && state->second->options.kind == BISAI_PRECOND_MULTIGRID;
  report_own(m, &r->schur);
  r->multigrid = first->multigrid;
  r->factor = first->factor;
  r->isai = first->isai;
  r->bjacobi = first->bjacobi;
  r->order_seconds = r->factor_seconds = 0.0;
  r->pattern_seconds = state->seconds.reserve;
  r->values_seconds = state->seconds.take;
  r->memory_bytes += bsi_schur_system_memory(&state->system);
  r->apply_bytes = own_bytes(m);
  report_stage(state->first, full ? 2 : 1, r);
  if (state->second) report_stage(state->second, (lsc ? 2 : 1) * (repeats ? CYCLES : 1), r);
}

static void schur_describe(bisai_precond *m) {
  const schur_state *state = schur_of(m);
  const bisai_schur_report *r = &m->report.schur;
  bsi_append(m, " %s %s, %d velocities in blocks of %d, %d pressures (%s)",
             bisai_schur_form_string(r->form), bisai_schur_complement_string(r->complement),
             r->velocities, r->velocity_size, r->pressures, r->found ? "found" : "given");
  if (r->stabilised) bsi_append(m, ", stabilised");
  bsi_append(m, "; %s", bisai_precond_describe(state->first));
  if (state->second) bsi_append(m, "; %s", bisai_precond_describe(state->second));
}

static void schur_destroy(bisai_precond *m) {
  schur_state *state = schur_of(m);
  bisai_precond_destroy(&state->first);
  bisai_precond_destroy(&state->second);
  bsi_schur_system_destroy(m->context, &state->system);
}

static const bisai_precond_kind kinds[] = {
    BISAI_PRECOND_MULTIGRID, BISAI_PRECOND_ILU, BISAI_PRECOND_ISAI,   BISAI_PRECOND_SWEEPS,
    BISAI_PRECOND_BJACOBI,   BISAI_PRECOND_LU,  BISAI_PRECOND_DIRECT, BISAI_PRECOND_NONE};

static const bsi_precond_stages stages = {kinds, stage_kind, {"schur.first", "schur.second"}};

const bsi_precond_ops bsi_precond_schur = {.options = {&own_options},
                                           .stages = &stages,
                                           .state_size = sizeof(schur_state),
                                           .check = schur_check,
                                           .check_values = schur_check_values,
                                           .setup = schur_setup,
                                           .setup_has_values = true,
                                           .update = schur_update,
                                           .check_update = schur_check_update,
                                           .apply = schur_apply,
                                           .about.symmetry = schur_symmetry,
                                           .about.nonlinear = schur_nonlinear,
                                           .about.describe = schur_describe,
                                           .about.report = schur_report,
                                           .destroy = schur_destroy};
