/* SPDX-License-Identifier: BSD-3-Clause */
#include "glue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef union handle {
  bisai_context *context;
  bisai_bcsr *matrix;
  bisai_precond *precond;
  bisai_solver *solver;
} handle;

typedef enum object_kind { CONTEXT, MATRIX, PRECOND, SOLVER } object_kind;

struct bisai_f_object {
  object_kind kind;
  int references;
  handle handle;
  /* what this object was made of; NULL for a context */
  bisai_f_object *parent;
  /* lengths of the caller's vectors */
  int64_t rows, columns;
  /* values that an update takes; false: it takes none, because columns were not sorted */
  int64_t entries;
  bool updates, csr;
  /* vectors in the order of the blocks, if it differs from the caller's; otherwise NULL */
  double *from, *to;
};

static bisai_context *context_of(const bisai_f_object *object) {
  while (object && object->kind != CONTEXT) object = object->parent;
  return object ? object->handle.context : NULL;
}

void bisai_f_share(bisai_f_object *object) {
  if (object) object->references++;
}

void bisai_f_release(bisai_f_object *object) {
  while (object && --object->references == 0) {
    bisai_f_object *parent = object->parent;
    switch (object->kind) {
    case CONTEXT: bisai_context_destroy(&object->handle.context); break;
    case MATRIX: bisai_bcsr_destroy(&object->handle.matrix); break;
    case PRECOND: bisai_precond_destroy(&object->handle.precond); break;
    case SOLVER: bisai_solver_destroy(&object->handle.solver); break;
    }
    free(object->from);
    free(object->to);
    free(object);
    object = parent;
  }
}

/* An object without a handle, which keeps its parent alive. */
static bisai_f_object *begin(object_kind kind, bisai_f_object *parent) {
  bisai_f_object *object = calloc(1, sizeof *object);
  if (!object) return NULL;
  object->kind = kind;
  object->references = 1;
  object->parent = parent;
  bisai_f_share(parent);
  return object;
}

/* Publishes an object, or releases it after a failure. */
static int finish(int status, bisai_f_object *made, bisai_f_object **object) {
  if (status)
    bisai_f_release(made);
  else
    *object = made;
  return status;
}

int bisai_f_fail(const bisai_f_object *object, int status, const char *message) {
  return (int)bisai_context_fail(context_of(object), (bisai_status)status, message);
}

static int copy_text(const char *from, int size, char *text) {
  const size_t length = strlen(from), most = size > 0 ? (size_t)size : 0;
  if (most > 0) memcpy(text, from, length < most ? length : most);
  return (int)(length < most ? length : most);
}

int bisai_f_message(const bisai_f_object *object, int size, char *text) {
  const bisai_context *context = context_of(object);
  return copy_text(context ? bisai_context_error(context) : "the object was not created", size,
                   text);
}

int bisai_f_status(int status, int size, char *text) {
  return copy_text(bisai_status_string((bisai_status)status), size, text);
}

int bisai_f_context(const char *backend, int threads, bisai_f_object **context) {
  bisai_context_options options = bisai_context_options_default();
  options.threads = threads;
  if (!bisai_backend_parse(backend, &options.backend)) return BISAI_INVALID_ARGUMENT;
  bisai_f_object *made = begin(CONTEXT, NULL);
  if (!made) return BISAI_OUT_OF_MEMORY;
  return finish(bisai_context_create(&options, &made->handle.context), made, context);
}

static bool are_sorted(int32_t rows, const int32_t *row_ptr, const int32_t *col_idx) {
  for (int32_t i = 0; i < rows; i++)
    for (int32_t p = row_ptr[i]; p < row_ptr[i + 1] - 1; p++)
      if (col_idx[p - 1] > col_idx[p]) return false;
  return true;
}

int bisai_f_bcsr(bisai_f_object *context, int32_t block_rows, int32_t block_cols,
                 int32_t block_size, const int32_t *row_ptr, const int32_t *col_idx,
                 const double *values, bisai_f_object **matrix) {
  bisai_f_object *made = begin(MATRIX, context);
  if (!made) return BISAI_OUT_OF_MEMORY;
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.block_rows = block_rows;
  desc.block_cols = block_cols;
  desc.block_size = block_size;
  desc.row_ptr = row_ptr;
  desc.col_idx = col_idx;
  desc.values = values;
  desc.index_base = 1;
  const int status = (int)bisai_bcsr_create(context_of(context), &desc, &made->handle.matrix);
  if (!status) {
    made->rows = (int64_t)block_rows * block_size;
    made->columns = (int64_t)block_cols * block_size;
    made->entries = (int64_t)bisai_bcsr_blocks(made->handle.matrix) * block_size * block_size;
    made->updates = are_sorted(block_rows, row_ptr, col_idx);
  }
  return finish(status, made, matrix);
}

/* Reserves the vectors of a matrix whose rows are not those of its blocks. */
static int reserve_vectors(bisai_f_object *matrix) {
  const bisai_bcsr *a = matrix->handle.matrix;
  const int64_t held = (int64_t)bisai_bcsr_block_rows(a) * bisai_bcsr_block_size(a);
  int32_t *place = malloc(sizeof *place * (size_t)(matrix->rows + 1));
  if (!place) return BISAI_OUT_OF_MEMORY;
  int status = (int)bisai_bcsr_places(a, place);
  bool moves = held != matrix->rows;
  for (int64_t i = 0; i < matrix->rows && !status && !moves; i++) moves = place[i] != i;
  free(place);
  if (status || !moves) return status;
  matrix->from = calloc((size_t)held, sizeof *matrix->from);
  matrix->to = calloc((size_t)held, sizeof *matrix->to);
  return matrix->from && matrix->to ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

/* A copy of node that counts from 0; NULL for NULL. */
static int copy_nodes(int32_t rows, const int32_t *node, int32_t **copy) {
  *copy = NULL;
  if (!node) return BISAI_OK;
  *copy = malloc(sizeof **copy * ((size_t)rows + 1));
  if (!*copy) return BISAI_OUT_OF_MEMORY;
  for (int32_t i = 0; i < rows; i++) (*copy)[i] = node[i] < 1 ? -1 : node[i] - 1;
  return BISAI_OK;
}

int bisai_f_csr(bisai_f_object *context, int32_t rows, const int32_t *row_ptr,
                const int32_t *col_idx, const double *values, int32_t block_size, int32_t fields,
                const int32_t *node, bisai_f_object **matrix) {
  bisai_f_object *made = begin(MATRIX, context);
  if (!made) return BISAI_OUT_OF_MEMORY;
  int32_t *nodes = NULL;
  int status = copy_nodes(rows, node, &nodes);
  bisai_csr_desc desc = bisai_csr_desc_default();
  desc.rows = desc.cols = rows;
  desc.row_ptr = row_ptr;
  desc.col_idx = col_idx;
  desc.values = values;
  desc.block_size = block_size;
  desc.fields = fields;
  desc.node = nodes;
  desc.pad = true;
  desc.find_nodes = block_size == 0 && fields == 0 && !nodes;
  desc.index_base = 1;
  if (!status) status = (int)bisai_bcsr_from_csr(context_of(context), &desc, &made->handle.matrix);
  if (!status) {
    made->rows = made->columns = rows;
    made->entries = row_ptr[rows] - 1;
    made->updates = made->csr = true;
    status = reserve_vectors(made);
  }
  free(nodes);
  return finish(status, made, matrix);
}

int bisai_f_update_matrix(const bisai_f_object *matrix, const double *values) {
  if (!matrix->updates)
    return bisai_f_fail(matrix, BISAI_INVALID_ARGUMENT,
                        "the columns of a row were not sorted when the matrix was created: an "
                        "update would put blocks in other places");
  if (!matrix->csr)
    return (int)bisai_bcsr_update(matrix->handle.matrix, values, BISAI_COLUMN_MAJOR);
  bisai_csr_desc desc = bisai_csr_desc_default();
  desc.rows = desc.cols = (int32_t)matrix->rows;
  desc.values = values;
  return (int)bisai_bcsr_update_from_csr(matrix->handle.matrix, &desc);
}

int64_t bisai_f_rows(const bisai_f_object *object) { return object ? object->rows : 0; }

int64_t bisai_f_columns(const bisai_f_object *matrix) { return matrix ? matrix->columns : 0; }

int64_t bisai_f_entries(const bisai_f_object *matrix) { return matrix ? matrix->entries : 0; }

int32_t bisai_f_block_size(const bisai_f_object *matrix) {
  return matrix ? bisai_bcsr_block_size(matrix->handle.matrix) : 0;
}

/* *held ← v in the order of the blocks, in `memory` unless v has that order itself. */
static int to_blocks(const bisai_f_object *matrix, const double *v, double *memory,
                     const double **held) {
  *held = memory ? memory : v;
  return memory ? (int)bisai_bcsr_to_blocks(matrix->handle.matrix, 1, v, memory) : BISAI_OK;
}

/* Keeps the status of what was computed before. */
static int from_blocks(const bisai_f_object *matrix, int status, const double *held, double *x) {
  if (held == x) return status;
  const int moved = (int)bisai_bcsr_from_blocks(matrix->handle.matrix, 1, held, x);
  return status ? status : moved;
}

int bisai_f_multiply(bisai_f_object *matrix, const double *x, double *y) {
  const double *from = NULL;
  double *to = matrix->to ? matrix->to : y;
  int status = to_blocks(matrix, x, matrix->from, &from);
  if (!status) status = (int)bisai_bcsr_multiply(matrix->handle.matrix, from, to);
  return from_blocks(matrix, status, to, y);
}

/* Records what is wrong with a text. */
static int fail_text(const bisai_f_object *object, const char *text,
                     const bisai_text_fault *fault) {
  char message[700];
  snprintf(message, sizeof message, "'%.100s', character %d: %s", text, fault->place + 1,
           fault->message);
  return bisai_f_fail(object, BISAI_INVALID_ARGUMENT, message);
}

static int parse_precond(const bisai_f_object *object, const char *text,
                         bisai_precond_options *options) {
  bisai_text_fault fault = {0};
  return bisai_precond_options_parse(text, options, NULL, &fault) ? fail_text(object, text, &fault)
                                                                  : BISAI_OK;
}

static int parse_solver(const bisai_f_object *object, const char *text,
                        bisai_solver_options *options) {
  bisai_text_fault fault = {0};
  return bisai_solver_options_parse(text, options, &fault) ? fail_text(object, text, &fault)
                                                           : BISAI_OK;
}

/* *held ← the vectors in the order of the blocks, to be freed; NULL if they have it. */
static int take_vectors(const bisai_f_object *matrix, const double *vectors, int32_t count,
                        bisai_multigrid_options *options, double **held) {
  const bisai_bcsr *a = matrix->handle.matrix;
  *held = NULL;
  options->null_vectors = vectors;
  options->null_count = count;
  if (!vectors || !matrix->from) return BISAI_OK;
  const size_t rows = (size_t)bisai_bcsr_block_rows(a) * (size_t)bisai_bcsr_block_size(a);
  *held = malloc(sizeof **held * rows * (size_t)count);
  if (!*held) return BISAI_OUT_OF_MEMORY;
  options->null_vectors = *held;
  return (int)bisai_bcsr_to_blocks(a, count, vectors, *held);
}

int bisai_f_precond(bisai_f_object *matrix, const char *text, const double *null_vectors,
                    int32_t null_count, bisai_f_object **precond) {
  bisai_f_object *made = begin(PRECOND, matrix);
  if (!made) return BISAI_OUT_OF_MEMORY;
  double *held = NULL;
  bisai_precond_options options = bisai_precond_options_default();
  int status = parse_precond(matrix, text, &options);
  if (!status) status = take_vectors(matrix, null_vectors, null_count, &options.multigrid, &held);
  if (!status)
    status = (int)bisai_precond_create(context_of(matrix), matrix->handle.matrix, &options,
                                       &made->handle.precond);
  made->rows = matrix->rows;
  free(held);
  return finish(status, made, precond);
}

/* A preconditioner keeps the matrix that it may read. */
int bisai_f_update_precond(bisai_f_object *precond, bisai_f_object *matrix) {
  if (context_of(precond) != context_of(matrix))
    return bisai_f_fail(precond, BISAI_INVALID_ARGUMENT, "the matrix is of another context");
  const int status = (int)bisai_precond_update(precond->handle.precond, matrix->handle.matrix);
  if (!status) {
    bisai_f_share(matrix);
    bisai_f_release(precond->parent);
    precond->parent = matrix;
  }
  return status;
}

int bisai_f_apply(bisai_f_object *precond, const double *v, double *z) {
  bisai_f_object *matrix = precond->parent;
  const double *from = NULL;
  double *to = matrix->to ? matrix->to : z;
  int status = to_blocks(matrix, v, matrix->from, &from);
  if (!status) status = (int)bisai_precond_apply(precond->handle.precond, from, to);
  return from_blocks(matrix, status, to, z);
}

static void set_reason(const char *reason, bisai_f_report *report) {
  report->reason_length = copy_text(reason, (int)sizeof report->reason, report->reason);
}

static void set_texts(const bisai_precond_options *precond, const bisai_solver_options *solver,
                      bisai_f_report *report) {
  if (precond) {
    bisai_precond_options_text(precond, NULL, BISAI_TEXT_SIZE, report->preconditioner);
    report->preconditioner_length = (int32_t)strlen(report->preconditioner);
  }
  if (solver) {
    bisai_solver_options_text(solver, BISAI_TEXT_SIZE, report->solver);
    report->solver_length = (int32_t)strlen(report->solver);
  }
}

int bisai_f_precond_report(const bisai_f_object *precond, bisai_f_report *report) {
  bisai_precond_report r = {.struct_size = sizeof r};
  const int status = (int)bisai_precond_get_report(precond->handle.precond, &r);
  if (status) return status;
  const char *text = bisai_precond_describe(precond->handle.precond);
  report->preconditioner_length = copy_text(text, BISAI_TEXT_SIZE, report->preconditioner);
  report->levels = r.multigrid.levels;
  report->setup_seconds = r.setup_seconds;
  report->memory_bytes = (double)r.memory_bytes;
  return BISAI_OK;
}

int bisai_f_solver(bisai_f_object *matrix, const char *text, double tolerance, int max_iterations,
                   int guess, bisai_f_object **solver) {
  bisai_f_object *made = begin(SOLVER, matrix);
  if (!made) return BISAI_OUT_OF_MEMORY;
  const bisai_bcsr *a = matrix->handle.matrix;
  bisai_solver_options options = bisai_solver_options_default();
  int status = parse_solver(matrix, text, &options);
  options.tolerance = tolerance;
  options.max_iterations = max_iterations;
  options.use_initial_guess = guess != 0;
  const int64_t held = (int64_t)bisai_bcsr_block_rows(a) * bisai_bcsr_block_size(a);
  if (!status)
    status = (int)bisai_solver_create(context_of(matrix), held, &options, &made->handle.solver);
  made->rows = matrix->rows;
  return finish(status, made, solver);
}

int bisai_f_solve(bisai_f_object *solver, bisai_f_object *matrix, bisai_f_object *precond,
                  const double *b, double *x, bisai_f_report *report) {
  bisai_solver_report r = {.struct_size = sizeof r};
  const double *from = NULL, *start = NULL;
  if (context_of(solver) != context_of(matrix) ||
      (precond && context_of(precond) != context_of(matrix)))
    return bisai_f_fail(solver, BISAI_INVALID_ARGUMENT, "the objects are of different contexts");
  int status = to_blocks(matrix, b, matrix->from, &from);
  if (!status) status = to_blocks(matrix, x, matrix->to, &start);
  if (status) return status;
  double *to = matrix->to ? matrix->to : x;
  status = (int)bisai_solver_solve(solver->handle.solver, matrix->handle.matrix,
                                   precond ? precond->handle.precond : NULL, from, to, &r);
  report->iterations = r.iterations;
  report->relative_residual = r.relative_residual;
  report->solve_seconds = r.solve_seconds;
  report->memory_bytes = (double)r.memory_bytes;
  set_reason(bisai_reason_string(r.reason), report);
  return from_blocks(matrix, status, to, x);
}

int bisai_f_solve_once(bisai_f_object *matrix, const double *b, double *x, const char *precond,
                       const char *solver, const bisai_f_choice *choice, bisai_f_report *report) {
  bisai_solve_report r = {.struct_size = sizeof r};
  bisai_solve_options options = bisai_solve_options_default();
  const double *from = NULL, *start = NULL;
  double *held = NULL, *to = matrix->to ? matrix->to : x;
  options.solver_given = solver[0] != '\0';
  int status = parse_precond(matrix, precond, &options.precond);
  if (!status && options.solver_given) status = parse_solver(matrix, solver, &options.solver);
  options.solver.tolerance = choice->tolerance;
  options.solver.max_iterations = choice->max_iterations;
  options.solver.use_initial_guess = choice->guess != 0;
  if (!status)
    status = take_vectors(matrix, choice->null_vectors, choice->null_count,
                          &options.precond.multigrid, &held);
  if (!status) status = to_blocks(matrix, b, matrix->from, &from);
  if (!status) status = to_blocks(matrix, x, matrix->to, &start);
  if (!status) {
    status = (int)bisai_solve(context_of(matrix), matrix->handle.matrix, from, to, &options, &r);
    report->iterations = r.solver.iterations;
    report->levels = r.precond.multigrid.levels;
    report->relative_residual = r.solver.relative_residual;
    report->solve_seconds = r.solver.solve_seconds;
    report->setup_seconds = r.seconds - r.solver.solve_seconds;
    report->memory_bytes = (double)r.precond.memory_bytes;
    set_texts(&r.precond_options, &r.solver_options, report);
    set_reason(r.reason, report);
    status = from_blocks(matrix, status, to, x);
  }
  free(held);
  return status;
}
