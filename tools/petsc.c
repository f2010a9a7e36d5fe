#include "petsc.h"

bool petsc_is_needed(const method *m) { return m->name == METHOD_PETSC_ILU || m->factors == FACTORS_PETSC; }

#ifdef BISAI_HAVE_PETSC

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <bisai/petsc.h>

#include "message.h"
#include "progress.h"

struct petsc_parts {
  bisai_context *context;
  bisai_petsc_ilu *ilu;
  bisai_factors *factors;
  bisai_petsc_solver *solver;
  double seconds;
  char text[96];
};

/* What is used of libbisai_petsc. A shared one is loaded at the first use: PETSc and MPI come with a hundred libraries, which would make
 * every start of the program ten times slower. */
#define FUNCTIONS(X)                                                                                                   \
  X(start)                                                                                                             \
  X(stop) X(ilu_create) X(ilu_destroy) X(ilu_apply) X(ilu_factors) X(ilu_seconds) X(ilu_blocks) X(solver_create)       \
      X(solver_destroy) X(solver_solve) X(solver_seconds)

static struct {
#define POINTER(name) __typeof__(bisai_petsc_##name) *name;
  FUNCTIONS(POINTER)
#undef POINTER
} petsc;

#ifdef BISAI_PETSC_LIBRARY

static bisai_status load(bisai_context *context) {
  if (petsc.start) return BISAI_OK;
  /* Global, because the modules that MPI loads expect its symbols. */
  void *library = dlopen(BISAI_PETSC_LIBRARY, RTLD_NOW | RTLD_GLOBAL);
  if (!library) return bisai_context_fail(context, BISAI_UNAVAILABLE, dlerror());
  bool all = true;
#define POINTER(name) all &= (*(void **)(void *)&petsc.name = dlsym(library, "bisai_petsc_" #name)) != NULL;
  FUNCTIONS(POINTER)
#undef POINTER
  if (all) return BISAI_OK;
  petsc.start = NULL;
  return bisai_context_fail(context, BISAI_UNAVAILABLE, BISAI_PETSC_LIBRARY " is of another version of bisai");
}

#else

static bisai_status load(bisai_context *context) {
  (void)context;
#define POINTER(name) petsc.name = bisai_petsc_##name;
  FUNCTIONS(POINTER)
#undef POINTER
  return BISAI_OK;
}

#endif

static bool started;

static bisai_status start(bisai_context *context) {
  /* Open MPI would start a daemon beside a program of one process, which needs ssh and may refuse to run as root. */
  setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  bool now = false;
  bisai_status status = load(context);
  if (status != BISAI_OK) return status;
  status = petsc.start(context, &now);
  started |= now;
  return status;
}

/* Nothing that was asked for is left out silently. */
static bisai_status begin(bisai_context *context, const options *o, const method *m, petsc_parts **parts) {
  if (o->ordering != BISAI_ORDERING_NATURAL || o->equilibrate)
    return bisai_context_fail(context, BISAI_UNSUPPORTED,
                              "the factors of PETSc are those of the matrix as it is: no --ordering, no --equilibrate");
  if (m->shift > 0) return bisai_context_fail(context, BISAI_UNSUPPORTED, "factors=petsc takes no shift");
  bisai_status status = start(context);
  if (status != BISAI_OK) return status;
  petsc_parts *made = calloc(1, sizeof *made);
  if (!made) return bisai_context_fail(context, BISAI_OUT_OF_MEMORY, NULL);
  made->context = context;
  *parts = made;
  return BISAI_OK;
}

/* Takes the parts apart again where a step has failed. */
static bisai_status end(bisai_status status, petsc_parts **parts) {
  if (status != BISAI_OK) petsc_free(parts);
  return status;
}

bisai_status petsc_prepare(bisai_context *context, const problem *p, const options *o, const method *m,
                           bisai_precond_options *setup, petsc_parts **parts) {
  bisai_status status = begin(context, o, m, parts);
  if (status != BISAI_OK) return status;
  petsc_parts *made = *parts;
  double start_time = progress_now();
  status = petsc.ilu_create(context, p->matrix, m->level, &made->ilu);
  if (status == BISAI_OK && m->name == METHOD_PETSC_ILU) {
    setup->kind = BISAI_PRECOND_CALLBACK;
    setup->apply = petsc.ilu_apply;
    setup->user = made->ilu;
  } else if (status == BISAI_OK) {
    status = petsc.ilu_factors(made->ilu, &made->factors);
    setup->factors = made->factors;
  }
  made->seconds = progress_now() - start_time;
  snprintf(made->text, sizeof made->text, "block ILU(%d) of PETSc %d.%d.%d", m->level, PETSC_VERSION_MAJOR,
           PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR);
  return end(status, parts);
}

void petsc_complete(const petsc_parts *parts, bisai_precond_report *report) {
  if (parts->ilu) {
    report->factor_seconds = petsc.ilu_seconds(parts->ilu);
    report->factor_blocks = petsc.ilu_blocks(parts->ilu);
  } else {
    *report =
        (bisai_precond_report){.struct_size = sizeof *report, .largest_condition_row = -1, .first_repair_row = -1};
    report->factor_seconds = petsc.solver_seconds(parts->solver);
  }
  report->setup_seconds += parts->seconds;
}

bisai_status petsc_create(bisai_context *context, const problem *p, const options *o, const method *m,
                          petsc_parts **parts) {
  bisai_solver_options how = bisai_solver_options_default();
  how.restart = o->restart;
  how.tolerance = p->tolerance;
  how.max_iterations = o->max_iterations;
  bisai_status status = begin(context, o, m, parts);
  if (status != BISAI_OK) return status;
  petsc_parts *made = *parts;
  double start_time = progress_now();
  status = petsc.solver_create(context, p->matrix, m->level, &how, &made->solver);
  made->seconds = progress_now() - start_time;
  snprintf(made->text, sizeof made->text, "PETSc %d.%d.%d: KSPGMRES, PCILU with %d level%s, SeqBAIJ",
           PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR, m->level, plural(m->level));
  return end(status, parts);
}

bisai_status petsc_solve(petsc_parts *parts, const problem *p, double *x, bisai_solver_report *report) {
  return petsc.solver_solve(parts->solver, p->rhs, x, report);
}

const char *petsc_describe(const petsc_parts *parts) { return parts->text; }

void petsc_free(petsc_parts **parts) {
  if (!*parts) return;
  bisai_factors_destroy(&(*parts)->factors);
  petsc.ilu_destroy(&(*parts)->ilu);
  petsc.solver_destroy(&(*parts)->solver);
  free(*parts);
  *parts = NULL;
}

void petsc_end(bisai_context *context) {
  if (started && petsc.stop(context) != BISAI_OK) say("%s", bisai_context_error(context));
  started = false;
}

#else

static bisai_status refuse(bisai_context *context) {
  return bisai_context_fail(context, BISAI_UNAVAILABLE, "this build has no PETSc");
}

bisai_status petsc_prepare(bisai_context *context, const problem *p, const options *o, const method *m,
                           bisai_precond_options *setup, petsc_parts **parts) {
  (void)p, (void)o, (void)m, (void)setup, (void)parts;
  return refuse(context);
}

void petsc_complete(const petsc_parts *parts, bisai_precond_report *report) { (void)parts, (void)report; }

bisai_status petsc_create(bisai_context *context, const problem *p, const options *o, const method *m,
                          petsc_parts **parts) {
  (void)p, (void)o, (void)m, (void)parts;
  return refuse(context);
}

bisai_status petsc_solve(petsc_parts *parts, const problem *p, double *x, bisai_solver_report *report) {
  (void)parts, (void)p, (void)x, (void)report;
  return BISAI_UNAVAILABLE;
}

const char *petsc_describe(const petsc_parts *parts) {
  (void)parts;
  return "";
}

void petsc_free(petsc_parts **parts) { (void)parts; }

void petsc_end(bisai_context *context) { (void)context; }

#endif
