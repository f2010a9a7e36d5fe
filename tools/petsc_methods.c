/* SPDX-License-Identifier: BSD-3-Clause */
#include "petsc_methods.h"

bool petsc_is_needed(const method *m) {
  return m->program == METHOD_PETSC_ILU || m->factors == FACTORS_PETSC;
}

#ifdef BISAI_HAVE_PETSC

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <bisai/petsc.h>

#include "message.h"
#include "progress.h"

struct petsc_parts {
  bisai_context *context;
  /* the context of PETSc: the same, or on a GPU a separate one with a copy of the matrix */
  bisai_context *host;
  /* the copy, fetched from the device */
  bisai_bcsr *copied;
  /* z = v; copies vectors between device and host */
  bisai_precond *copies;
  /* vectors on the host */
  double *v, *z;
  bisai_petsc_ilu *ilu;
  bisai_factors *factors;
  bisai_petsc_solver *solver;
  double seconds;
  char text[96];
};

/* The functions of libbisai_petsc that are used. A shared library is loaded at the first use. PETSc
 * and MPI load a hundred libraries, and loading them at every start would make the start ten times
 * slower. */
#define FUNCTIONS(X)                                                                               \
  X(start)                                                                                         \
  X(stop)                                                                                          \
  X(ilu_create)                                                                                    \
  X(ilu_destroy)                                                                                   \
  X(ilu_apply)                                                                                     \
  X(ilu_factors)                                                                                   \
  X(ilu_seconds) X(ilu_blocks) X(solver_create) X(solver_destroy) X(solver_solve) X(solver_seconds)

static struct {
#define POINTER(name) __typeof__(bisai_petsc_##name) *name;
  FUNCTIONS(POINTER)
#undef POINTER
} petsc;

#ifdef BISAI_PETSC_LIBRARY

static bisai_status load(bisai_context *context) {
  if (petsc.start) return BISAI_OK;
  /* RTLD_GLOBAL, because the modules that MPI loads expect its symbols. */
  void *library = dlopen(BISAI_PETSC_LIBRARY, RTLD_NOW | RTLD_GLOBAL);
  if (!library) return bisai_context_fail(context, BISAI_UNAVAILABLE, dlerror());
  bool all = true;
#define POINTER(name)                                                                              \
  all &= (*(void **)(void *)&petsc.name = dlsym(library, "bisai_petsc_" #name)) != NULL;
  FUNCTIONS(POINTER)
#undef POINTER
  if (all) return BISAI_OK;
  petsc.start = NULL;
  return bisai_context_fail(context, BISAI_UNAVAILABLE,
                            BISAI_PETSC_LIBRARY " is of another version of bisai");
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
  /* For a program of one process, Open MPI would start a daemon, which needs ssh and may refuse to
   * run as root. */
  setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  bool now = false;
  bisai_status status = load(context);
  if (status) return status;
  status = petsc.start(context, &now);
  started |= now;
  return status;
}

/* Frees the parts if a step has failed. */
static bisai_status end(bisai_status status, petsc_parts **parts) {
  if (status) petsc_free(parts);
  return status;
}

/* Copies the matrix of a device into a context of the host. */
static bisai_status fetch_matrix(petsc_parts *parts, const bisai_bcsr *from) {
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.block_rows = bisai_bcsr_block_rows(from), desc.block_cols = bisai_bcsr_block_cols(from);
  desc.block_size = bisai_bcsr_block_size(from);
  const size_t blocks = (size_t)bisai_bcsr_blocks(from), bs = (size_t)desc.block_size;
  int32_t *row_ptr = malloc(((size_t)desc.block_rows + 1) * sizeof *row_ptr);
  int32_t *col_idx = malloc((blocks + 1) * sizeof *col_idx);
  double *values = malloc((blocks * bs * bs + 1) * sizeof *values);
  bisai_status status = row_ptr && col_idx && values
                            ? bisai_bcsr_fetch(from, row_ptr, col_idx, values)
                            : bisai_context_fail(parts->context, BISAI_OUT_OF_MEMORY, NULL);
  if (!status) {
    desc.row_ptr = row_ptr, desc.col_idx = col_idx, desc.values = values;
    status = bisai_bcsr_create(parts->host, &desc, &parts->copied);
    if (status) bisai_context_fail(parts->context, status, bisai_context_error(parts->host));
  }
  free(row_ptr);
  free(col_idx);
  free(values);
  return status;
}

/* Makes everything that PETSc needs in host memory. */
static bisai_status go_to_host(petsc_parts *parts, const problem *p, const options *o) {
  bisai_context_options how = bisai_context_options_default();
  how.backend = BISAI_BACKEND_HOST;
  how.threads = o->threads;
  parts->host = NULL;
  bisai_status status = bisai_context_create(&how, &parts->host);
  if (status) return bisai_context_fail(parts->context, status, NULL);
  status = fetch_matrix(parts, p->matrix);
  if (status) return status;
  const size_t n = (size_t)p->unknowns;
  parts->v = malloc(n * sizeof *parts->v);
  parts->z = malloc(n * sizeof *parts->z);
  if (!parts->v || !parts->z) return bisai_context_fail(parts->context, BISAI_OUT_OF_MEMORY, NULL);
  bisai_precond_options none = bisai_precond_options_default();
  none.kind = BISAI_PRECOND_NONE;
  return bisai_precond_create(parts->context, p->matrix, &none, &parts->copies);
}

/* Applies PETSc's triangular solves to vectors of the device by copying them to the host and
 * back. */
static bisai_status apply_on_host(void *user, int64_t n, const double *v, double *z) {
  petsc_parts *parts = user;
  bisai_status status = bisai_precond_apply(parts->copies, v, parts->v);
  if (!status) status = petsc.ilu_apply(parts->ilu, n, parts->v, parts->z);
  return !status ? bisai_precond_apply(parts->copies, parts->z, z) : status;
}

static bisai_status begin(bisai_context *context, const problem *p, const options *o,
                          petsc_parts **parts) {
  bisai_status status = start(context);
  if (status) return status;
  petsc_parts *made = calloc(1, sizeof *made);
  if (!made) return bisai_context_fail(context, BISAI_OUT_OF_MEMORY, NULL);
  made->context = made->host = context;
  *parts = made;
  return bisai_context_backend(context) == BISAI_BACKEND_CUDA ? end(go_to_host(made, p, o), parts)
                                                              : BISAI_OK;
}

static const bisai_bcsr *matrix_of(const petsc_parts *parts, const problem *p) {
  return parts->copied ? parts->copied : p->matrix;
}

/* Copies the message of a failure on the host into the main context. */
static bisai_status told(const petsc_parts *parts, bisai_status status) {
  if (!status || parts->host == parts->context) return status;
  return bisai_context_fail(parts->context, status, bisai_context_error(parts->host));
}

/* Copies a matrix of the host into the context of the parts. */
static bisai_status upload(const petsc_parts *parts, const bisai_bcsr *from, bisai_bcsr **to) {
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.block_rows = bisai_bcsr_block_rows(from), desc.block_cols = bisai_bcsr_block_cols(from);
  desc.block_size = bisai_bcsr_block_size(from);
  bisai_bcsr_arrays(from, &desc.row_ptr, &desc.col_idx, &desc.values);
  return bisai_bcsr_create(parts->context, &desc, to);
}

static bisai_status make_factors(petsc_parts *parts) {
  bisai_factors *factors = NULL;
  bisai_status status = told(parts, petsc.ilu_factors(parts->ilu, &factors));
  if (status || parts->host == parts->context) {
    parts->factors = factors;
    return status;
  }
  bisai_bcsr *lower = NULL, *upper = NULL;
  status = upload(parts, bisai_factors_lower(factors), &lower);
  if (!status) status = upload(parts, bisai_factors_upper(factors), &upper);
  if (!status) status = bisai_factors_from_matrices(parts->context, lower, upper, &parts->factors);
  bisai_bcsr_destroy(&lower);
  bisai_bcsr_destroy(&upper);
  bisai_factors_destroy(&factors);
  return status;
}

bisai_status petsc_prepare(bisai_context *context, const problem *p, const options *o,
                           const method *m, bisai_precond_options *setup, petsc_parts **parts) {
  bisai_status status = begin(context, p, o, parts);
  if (status) return status;
  petsc_parts *made = *parts;
  double start_time = progress_now();
  status =
      told(made, petsc.ilu_create(made->host, matrix_of(made, p), method_level(m), &made->ilu));
  if (!status && m->program == METHOD_PETSC_ILU) {
    setup->kind = BISAI_PRECOND_CALLBACK;
    setup->callback.apply = made->copies ? apply_on_host : petsc.ilu_apply;
    setup->callback.user = made->copies ? (void *)made : made->ilu;
  } else if (!status) {
    status = make_factors(made);
    setup->factor.factors = made->factors;
  }
  made->seconds = progress_now() - start_time;
  snprintf(made->text, sizeof made->text, "block ILU(%d) of PETSc %d.%d.%d", method_level(m),
           PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR);
  return end(status, parts);
}

void petsc_complete(const petsc_parts *parts, bisai_precond_report *report) {
  if (parts->ilu) {
    report->factor_seconds = petsc.ilu_seconds(parts->ilu);
    report->factor.blocks = petsc.ilu_blocks(parts->ilu);
  } else {
    *report = (bisai_precond_report){
        .struct_size = sizeof *report, .largest_condition_row = -1, .first_repair_row = -1};
    report->factor_seconds = petsc.solver_seconds(parts->solver);
  }
  report->setup_seconds += parts->seconds;
}

bisai_status petsc_create(bisai_context *context, const problem *p, const options *o,
                          const method *m, bisai_monitor monitor, void *user, petsc_parts **parts) {
  bisai_solver_options how = o->solver;
  how.tolerance = p->tolerance;
  how.monitor = monitor;
  how.monitor_user = user;
  bisai_status status = begin(context, p, o, parts);
  if (status) return status;
  petsc_parts *made = *parts;
  double start_time = progress_now();
  status = told(made, petsc.solver_create(made->host, matrix_of(made, p), method_level(m), &how,
                                          &made->solver));
  made->seconds = progress_now() - start_time;
  snprintf(made->text, sizeof made->text, "PETSc %d.%d.%d: KSP%s, PCILU with %d level%s, SeqBAIJ",
           PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR,
           o->solver.method == BISAI_CG         ? "CG"
           : o->solver.method == BISAI_BICGSTAB ? "BCGS"
                                                : "GMRES",
           method_level(m), plural(method_level(m)));
  return end(status, parts);
}

bisai_status petsc_solve(petsc_parts *parts, const problem *p, double *x,
                         bisai_solver_report *report) {
  return told(parts, petsc.solver_solve(parts->solver, p->rhs, x, report));
}

const char *petsc_describe(const petsc_parts *parts) { return parts->text; }

void petsc_free(petsc_parts **parts) {
  if (!*parts) return;
  bisai_factors_destroy(&(*parts)->factors);
  petsc.ilu_destroy(&(*parts)->ilu);
  petsc.solver_destroy(&(*parts)->solver);
  bisai_precond_destroy(&(*parts)->copies);
  bisai_bcsr_destroy(&(*parts)->copied);
  if ((*parts)->host != (*parts)->context) bisai_context_destroy(&(*parts)->host);
  free((*parts)->v);
  free((*parts)->z);
  free(*parts);
  *parts = NULL;
}

void petsc_end(bisai_context *context) {
  if (started && petsc.stop(context)) say("%s", bisai_context_error(context));
  started = false;
}

#else

static bisai_status refuse(bisai_context *context) {
  return bisai_context_fail(context, BISAI_UNAVAILABLE, "this build has no PETSc");
}

bisai_status petsc_prepare(bisai_context *context, const problem *p, const options *o,
                           const method *m, bisai_precond_options *setup, petsc_parts **parts) {
  (void)p, (void)o, (void)m, (void)setup, (void)parts;
  return refuse(context);
}

void petsc_complete(const petsc_parts *parts, bisai_precond_report *report) {
  (void)parts, (void)report;
}

bisai_status petsc_create(bisai_context *context, const problem *p, const options *o,
                          const method *m, bisai_monitor monitor, void *user, petsc_parts **parts) {
  (void)p, (void)o, (void)m, (void)monitor, (void)user, (void)parts;
  return refuse(context);
}

bisai_status petsc_solve(petsc_parts *parts, const problem *p, double *x,
                         bisai_solver_report *report) {
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
