/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocations that fail, on the way from the context to the solution: the call says so, publishes
 * nothing and keeps nothing, and what was made before goes on as if nothing had been. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"

/* What a whole solution makes. */
typedef struct chain {
  const fuzz_system *system;
  /* NULL: by BCSR arrays */
  const fuzz_csr *csr;
  fuzz_precond *choice;
  bisai_solver_options solver_options;
  fuzz_world world;
  bisai_bcsr *matrix;
  bisai_precond *precond;
  bisai_solver *solver;
  const double *b;
  double *x;
} chain;

enum { MAKE_CONTEXT, MAKE_MATRIX, MAKE_PRECOND, MAKE_SOLVER, SOLVE, UPDATE, STEPS };

static const char *const step_names[] = {"a context", "a matrix", "a preconditioner",
                                         "a solver",  "a solve",  "an update"};

static bisai_status make_matrix(chain *c) {
  if (c->csr) {
    bisai_csr_desc desc = fuzz_csr_desc(c->system, c->csr, FUZZ_FIRST);
    return bisai_bcsr_from_csr(c->world.context, &desc, &c->matrix);
  }
  bisai_bcsr_desc desc = fuzz_system_desc(c->system, FUZZ_FIRST);
  return bisai_bcsr_create(c->world.context, &desc, &c->matrix);
}

static bisai_status take_step(chain *c, int step) {
  bisai_context_options options = bisai_context_options_default();
  switch (step) {
  case MAKE_CONTEXT:
    options.backend = BISAI_BACKEND_HOST;
    options.threads = 2;
    options.allocator = fuzz_allocator(&c->world);
    return bisai_context_create(&options, &c->world.context);
  case MAKE_MATRIX: return make_matrix(c);
  case MAKE_PRECOND:
    return bisai_precond_create(c->world.context, c->matrix, &c->choice->options, &c->precond);
  case MAKE_SOLVER:
    return bisai_solver_create(c->world.context, c->system->rows, &c->solver_options, &c->solver);
  case SOLVE:
    for (int32_t i = 0; i < c->system->rows; i++) c->x[i] = NAN;
    return bisai_solver_solve(c->solver, c->matrix, c->precond, c->b, c->x, NULL);
  case UPDATE:
  default: return c->precond ? bisai_precond_update(c->precond, c->matrix) : BISAI_OK;
  }
}

/* Whether the step published what it makes, and takes note of its absence. */
static bool is_made(const chain *c, int step) {
  return step == MAKE_CONTEXT   ? c->world.context != NULL
         : step == MAKE_MATRIX  ? c->matrix != NULL
         : step == MAKE_PRECOND ? c->precond != NULL
                                : c->solver != NULL;
}

/* Takes the step until its allocations succeed; what the failures left is checked. Returns the
 * step's own status. */
static bisai_status insist(chain *c, int step) {
  const long long live = atomic_load(&c->world.live), failing = c->world.fail_at;
  bisai_status status = take_step(c, step);
  const bool struck = failing > 0 && atomic_load(&c->world.calls) >= failing;
  fuzz_property((status == BISAI_OUT_OF_MEMORY) == struck,
                "%s says that memory is out if an allocation failed, and only then (status %d)",
                step_names[step], (int)status);
  if (!struck) return status;
  fuzz_counts.faults++;
  fuzz_property(step < SOLVE ||
                    (step == UPDATE && fuzz_update_allocates(&c->choice->options, true)),
                "%s allocates nothing", step_names[step]);
  fuzz_property(step >= SOLVE || !is_made(c, step),
                "%s is not published where an allocation failed", step_names[step]);
  fuzz_property(atomic_load(&c->world.live) == live, "%s that failed keeps no memory",
                step_names[step]);
  if (step > MAKE_CONTEXT)
    fuzz_property(*bisai_context_error(c->world.context),
                  "%s that ran out of memory leaves a message", step_names[step]);
  c->world.fail_at = 0;
  status = take_step(c, step);
  fuzz_property(status != BISAI_OUT_OF_MEMORY, "%s can be made once there is memory again",
                step_names[step]);
  return status;
}

/* Returns the status of every step, the first failure being the last; x as it came out. */
static void run_chain(chain *c, long long fail_at, bool fail_after, bisai_status statuses[STEPS]) {
  memset(&c->world, 0, sizeof c->world);
  c->world.fail_at = fail_at;
  c->world.fail_after = fail_after;
  for (int step = 0; step < STEPS; step++) statuses[step] = BISAI_OK;
  for (int step = 0; step < STEPS; step++) {
    statuses[step] = insist(c, step);
    /* A set-up that its numbers fail leaves the solver without a preconditioner; a solve need not
     * converge. */
    if (statuses[step] && step < MAKE_PRECOND) break;
  }
  bisai_solver_destroy(&c->solver);
  bisai_precond_destroy(&c->precond);
  bisai_bcsr_destroy(&c->matrix);
}

void fuzz_fault_properties(fuzz_choices *choices, const fuzz_system *s) {
  fuzz_precond choice;
  fuzz_csr csr = fuzz_csr_make(s, fuzz_seed(choices));
  fuzz_precond_make(choices, s, &choice);
  double *b = fuzz_vector(s->rows), *x = fuzz_vector(s->rows), *expected = fuzz_vector(s->rows);
  for (int32_t i = 0; i < s->rows; i++) b[i] = fuzz_noise(1, i, 6);
  chain c = {.system = s,
             .choice = &choice,
             .b = b,
             .x = expected,
             .solver_options = fuzz_solver_options(choices, s)};
  if (fuzz_rarely(choices, 2)) c.csr = &csr;
  bisai_status reference[STEPS], statuses[STEPS];
  fuzz_scene(SCENE_SOLVE, "all allocations succeed; solver %d", (int)c.solver_options.method);
  run_chain(&c, 0, false, reference);
  const long long calls = atomic_load(&c.world.calls);
  fuzz_world_close(&c.world);
  c.x = x;
  for (int k = 0; k < (s->large ? 1 : 6) && calls > 0; k++) {
    const long long fail_at = 1 + (fuzz_pick(choices, 256) * 256 + fuzz_pick(choices, 256)) % calls;
    const bool after = fuzz_rarely(choices, 2);
    fuzz_scene(SCENE_SOLVE, "allocation %lld of %lld fails%s; solver %d", fail_at, calls,
               after ? ", and all later ones" : "", (int)c.solver_options.method);
    run_chain(&c, fail_at, after, statuses);
    fuzz_world_close(&c.world);
    fuzz_property(memcmp(statuses, reference, sizeof statuses) == 0,
                  "after an allocation that failed everything ends as without");
    fuzz_property(reference[MAKE_MATRIX] || fuzz_same(s->rows, x, expected),
                  "after an allocation that failed x has the same bits");
  }
  free(b);
  free(x);
  free(expected);
  fuzz_csr_free(&csr);
  fuzz_precond_free(&choice);
}
