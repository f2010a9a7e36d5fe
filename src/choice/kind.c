/* SPDX-License-Identifier: BSD-3-Clause */
/* The kind AUTO: a preconditioner that is chosen by trials on a fixed vector, for a solver that is
 * the caller's. */
#include <math.h>
#include <stdio.h>

#include "choice/choose.h"
#include "core/context/context_impl.h"
#include "precond/application.h"
#include "precond/precond_impl.h"

/* The residual of the trials. A preconditioner that reduces it so far also reduces it further. */
#define TRIAL_TOLERANCE 1e-6

static const bisai_option table[] = {
    {BSI_PRECOND_OPTION(automatic.symmetric), .name = "symmetric", .key = "symmetric",
     .placeholder = "", .petsc = "auto_symmetric", .help = "only symmetric preconditioners, for CG",
     .type = BISAI_OPTION_FLAG},
    {BSI_PRECOND_OPTION(automatic.inverse), .name = "inverse", .key = "inverse", .placeholder = "",
     .petsc = "auto_inverse", .help = "complete factorisations first, for use without a solver",
     .type = BISAI_OPTION_FLAG},
    {BSI_PRECOND_OPTION(automatic.incomplete), .name = "incomplete", .key = "incomplete",
     .placeholder = "", .petsc = "auto_incomplete", .help = "no complete factorisation",
     .type = BISAI_OPTION_FLAG},
    {BSI_PRECOND_OPTION(automatic.work), .name = "work", .key = "work", .placeholder = "W",
     .petsc = "auto_work", .help = "the budget in attempts of ILU(2)", .type = BISAI_OPTION_NUMBER,
     .initial = 100, .maximum = 1e9, .advised = 1e6, .open = true},
    {BSI_PRECOND_OPTION(automatic.seconds), .name = "seconds", .key = "seconds", .placeholder = "S",
     .petsc = "auto_seconds", .help = "the budget in seconds; 0: none", .type = BISAI_OPTION_NUMBER,
     .maximum = 1e9, .advised = 1e6},
    {BSI_PRECOND_OPTION(automatic.memory), .name = "memory", .key = "memory", .placeholder = "M",
     .petsc = "auto_memory", .help = "the budget in bytes; 0: none", .type = BISAI_OPTION_NUMBER,
     .maximum = 1e18, .advised = 1e15}};
static const bsi_option_list own_options = BSI_OPTION_LIST(table);

typedef struct auto_state {
  bisai_precond *inner;
  bsi_choice choice;
} auto_state;

static auto_state *auto_of(const bisai_precond *m) { return m->state; }

static bisai_solver_options solver_of(const bisai_precond *m) {
  bisai_solver_options o = bisai_solver_options_default();
  o.tolerance = TRIAL_TOLERANCE;
  if (m->options.automatic.symmetric) o.method = BISAI_CG;
  /* The caller's solver may be one that takes rows of boundary values, which are not symmetric. */
  o.cg.assume_symmetric = m->options.automatic.symmetric;
  return o;
}

/* Takes the preconditioner of the winner, or makes that of the best trial again. */
static bisai_status take_best(bisai_precond *m, const bisai_bcsr *a) {
  auto_state *state = auto_of(m);
  bsi_trial *winner = bsi_choice_winner(&state->choice);
  if (winner) {
    state->inner = winner->precond;
    winner->precond = NULL;
    bsi_choice_release(&state->choice);
    return BISAI_OK;
  }
  const int best = bsi_choice_best(&state->choice);
  if (best >= 0)
    return bisai_precond_create(m->context, a, &state->choice.race.candidates.items[best].precond,
                                &state->inner);
  char text[200];
  bsi_choice_say(&state->choice, sizeof text, text);
  return bsi_fail(m->context, BISAI_SINGULAR_BLOCK, "auto: %s", text);
}

static bisai_status auto_setup(bisai_precond *m, const bisai_bcsr *a) {
  const bsi_backend *backend = m->context->backend;
  auto_state *state = auto_of(m);
  const int64_t n = bsi_precond_size(m);
  double *b = backend->memory->allocate(m->context, 2 * (size_t)n, sizeof *b);
  if (!b) return BISAI_OUT_OF_MEMORY;
  state->choice.race.winner = -1;
  state->choice.task = (bsi_task){.context = m->context,
                                  .matrix = a,
                                  .precond = m->options,
                                  .made = b,
                                  .solver = solver_of(m),
                                  .solver_given = true};
  bisai_status status = backend->vectors->start(m->context, n, b);
  if (!status) status = backend->vectors->set(m->context, n, 0, b + n);
  if (!status) status = bsi_choose(&state->choice, b, b + n);
  if (!status) status = take_best(m, a);
  backend->memory->release(m->context, b);
  m->options.multigrid.null_vectors = NULL; /* the caller's array may go */
  return status;
}

static bisai_status auto_check_update(const bisai_precond *m, const bisai_bcsr *a) {
  const bisai_precond *inner = auto_of(m)->inner;
  if (inner->factors) return bsi_factored_check_update(inner, a);
  return inner->ops->check_update ? inner->ops->check_update(inner, a) : BISAI_OK;
}

static bisai_status auto_check_values(bisai_precond *m, const bisai_bcsr *a) {
  return auto_of(m)->inner ? bsi_precond_check_values(auto_of(m)->inner, a) : BISAI_OK;
}

static bisai_status auto_update(bisai_precond *m, const bisai_bcsr *a) {
  return bsi_precond_take_values(auto_of(m)->inner, a);
}

static bisai_status auto_apply(bisai_precond *m, const bsi_vectors *v) {
  return bsi_precond_apply_inside(auto_of(m)->inner, v->count, v->b, v->ldb, v->x, v->ldx,
                                  v->cached_bytes, v->flexible);
}

static bisai_status auto_apply_transpose(bisai_precond *m, const bsi_vectors *v) {
  return bsi_precond_transpose_inside(auto_of(m)->inner, v->b, v->x);
}

static const bisai_bcsr *auto_rounded(const bisai_precond *m, const bisai_bcsr *a) {
  const bisai_precond *inner = auto_of(m)->inner;
  return inner->ops->about.rounded ? inner->ops->about.rounded(inner, a) : NULL;
}

static bisai_status auto_smaller_copy(const bisai_precond *m, const bisai_bcsr *a,
                                      const bisai_bcsr **copy) {
  const bisai_precond *inner = auto_of(m)->inner;
  *copy = a;
  return inner->ops->about.smaller_copy ? inner->ops->about.smaller_copy(inner, a, copy) : BISAI_OK;
}

static bisai_symmetry auto_symmetry(const bisai_precond *m) {
  return auto_of(m)->inner->report.symmetry;
}

static void auto_say_indefinite(const bisai_precond *m, size_t size, char *text) {
  const bisai_precond *inner = auto_of(m)->inner;
  if (inner->ops->about.say_indefinite) inner->ops->about.say_indefinite(inner, size, text);
}

static void auto_describe(bisai_precond *m) {
  bsi_append(m, ": %s", bisai_precond_describe(auto_of(m)->inner));
}

static void auto_report(const bisai_precond *m, bisai_precond_report *r) {
  const auto_state *state = auto_of(m);
  const bisai_precond_report own = *r;
  *r = state->inner->report;
  r->kind = own.kind;
  r->memory_bytes += own.memory_bytes;
  r->setup_seconds = own.setup_seconds;
  bsi_choice_report(&state->choice, &r->automatic);
}

static void auto_destroy(bisai_precond *m) { bisai_precond_destroy(&auto_of(m)->inner); }

static bisai_status auto_check(bisai_context *context, const bisai_precond_options *o,
                               const bisai_bcsr *a) {
  const int64_t rows = (int64_t)a->block_rows * a->block_size;
  BSI_TRY(bsi_choice_check(context, &o->automatic));
  return bsi_null_vectors_check(context, &o->multigrid, rows);
}

const bsi_precond_ops bsi_precond_automatic = {.options = {&own_options, &bsi_null_options},
                                               .state_size = sizeof(auto_state),
                                               .check = auto_check,
                                               .setup = auto_setup,
                                               .setup_has_values = true,
                                               .check_values = auto_check_values,
                                               .check_update = auto_check_update,
                                               .update = auto_update,
                                               .apply = auto_apply,
                                               .transpose.apply = auto_apply_transpose,
                                               .about.symmetry = auto_symmetry,
                                               .about.smaller_copy = auto_smaller_copy,
                                               .about.rounded = auto_rounded,
                                               .about.say_indefinite = auto_say_indefinite,
                                               .about.describe = auto_describe,
                                               .about.report = auto_report,
                                               .destroy = auto_destroy};
