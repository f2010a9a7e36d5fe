# SPDX-License-Identifier: BSD-3-Clause
"""Writes _bisai.c, the extension module: python3 bindings.py OUTPUT.

The C compiler finds sizes, offsets and numbers in the headers of bisai ("..." stands for what the
package does not use), so that only the names below must agree with them. cffi releases the GIL
around each call.
"""
import sys

import cffi

DECLARATIONS = """
typedef enum { BISAI_OK, ... } bisai_status;
typedef enum { BISAI_BACKEND_AUTO, BISAI_BACKEND_HOST, BISAI_BACKEND_CUDA, ... } bisai_backend;
typedef enum { BISAI_COLUMN_MAJOR, BISAI_ROW_MAJOR, ... } bisai_layout;
typedef enum { BISAI_HOST, BISAI_DEVICE, ... } bisai_location;
typedef int... bisai_precond_kind;
typedef int... bisai_symmetry;
typedef int... bisai_method;
typedef int... bisai_reason;
#define BISAI_PRECOND_AUTO ...
#define BISAI_SYMMETRY_NONE ...
#define BISAI_TEXT_SIZE ...
typedef struct bisai_context bisai_context;
typedef struct bisai_bcsr bisai_bcsr;
typedef struct bisai_precond bisai_precond;
typedef struct bisai_solver bisai_solver;

const char *bisai_version(void);
const char *bisai_status_string(bisai_status status);
const char *bisai_reason_string(bisai_reason value);
const char *bisai_symmetry_string(bisai_symmetry value);
const char *bisai_precond_kind_string(bisai_precond_kind value);

typedef struct { size_t struct_size; bisai_backend backend; int threads, device;
  void *stream; ...; }
  bisai_context_options;
bisai_context_options bisai_context_options_default(void);
bool bisai_backend_parse(const char *word, bisai_backend *value);
bisai_status bisai_context_create(const bisai_context_options *options, bisai_context **context);
void bisai_context_destroy(bisai_context **context);
const char *bisai_context_error(const bisai_context *context);
const char *bisai_context_device(const bisai_context *context);
int bisai_context_threads(const bisai_context *context);
bisai_backend bisai_context_backend(const bisai_context *context);
void *bisai_context_stream(const bisai_context *context);
bisai_status bisai_context_synchronize(bisai_context *context);
typedef struct { size_t struct_size; int64_t used_bytes, most_used_bytes, pool_bytes; ...; }
  bisai_device_memory;
bisai_status bisai_context_device_memory(bisai_context *, bool restart, bisai_device_memory *);
bisai_status bisai_context_trim(bisai_context *context);
const char *bisai_backend_missing(bisai_backend backend, int device);

typedef struct { size_t struct_size; int32_t block_rows, block_cols, block_size;
  const int32_t *row_ptr, *col_idx; const void *values; bisai_layout layout;
  bisai_location location; ...; } bisai_bcsr_desc;
typedef struct { size_t struct_size; int32_t rows, cols; const int32_t *row_ptr, *col_idx;
  const double *values; int32_t block_size; bool pad; int32_t fields; const int32_t *node;
  bool find_nodes; ...; } bisai_csr_desc;
bisai_bcsr_desc bisai_bcsr_desc_default(void);
bisai_csr_desc bisai_csr_desc_default(void);
bisai_status bisai_bcsr_create(bisai_context *, const bisai_bcsr_desc *, bisai_bcsr **);
bisai_status bisai_bcsr_from_csr(bisai_context *, const bisai_csr_desc *, bisai_bcsr **);
bisai_status bisai_bcsr_update(bisai_bcsr *matrix, const void *values, bisai_layout layout);
bisai_status bisai_bcsr_update_from_csr(bisai_bcsr *matrix, const bisai_csr_desc *desc);
void bisai_bcsr_destroy(bisai_bcsr **matrix);
int32_t bisai_bcsr_block_rows(const bisai_bcsr *matrix);
int32_t bisai_bcsr_block_cols(const bisai_bcsr *matrix);
int32_t bisai_bcsr_block_size(const bisai_bcsr *matrix);
int32_t bisai_bcsr_blocks(const bisai_bcsr *matrix);
int32_t bisai_bcsr_rows(const bisai_bcsr *matrix);
int32_t bisai_bcsr_padding(const bisai_bcsr *matrix);
bisai_status bisai_bcsr_places(const bisai_bcsr *matrix, int32_t *place);
void bisai_bcsr_arrays(const bisai_bcsr *matrix, const int32_t **row_ptr, const int32_t **col_idx,
  const void **values);
bisai_status bisai_bcsr_fetch(const bisai_bcsr *, int32_t *row_ptr, int32_t *col_idx, void *values);
bisai_status bisai_bcsr_to_blocks(const bisai_bcsr *, int32_t width, const double *x, double *z);
bisai_status bisai_bcsr_from_blocks(const bisai_bcsr *, int32_t width, const double *z, double *x);
bisai_status bisai_bcsr_multiply(const bisai_bcsr *matrix, const double *x, double *y);
bisai_status bisai_bcsr_asymmetry(const bisai_bcsr *matrix, double *asymmetry, bool *mirrored);

typedef struct { const double *null_vectors; int32_t null_count; ...; } bisai_multigrid_options;
typedef struct { size_t struct_size; bisai_precond_kind kind; bisai_multigrid_options multigrid;
  ...; } bisai_precond_options;
typedef struct { int32_t levels; ...; } bisai_multigrid_report;
typedef struct { size_t struct_size; bisai_precond_kind kind; double setup_seconds;
  int64_t memory_bytes, apply_bytes, repairs; double largest_condition; bisai_symmetry symmetry;
  bool nonlinear; bisai_multigrid_report multigrid; ...; } bisai_precond_report;
bisai_precond_options bisai_precond_options_default(void);
bool bisai_precond_options_take(const bisai_precond_options *options, const char *field);
bisai_status bisai_precond_create(bisai_context *, const bisai_bcsr *,
  const bisai_precond_options *, bisai_precond **);
bisai_status bisai_precond_update(bisai_precond *precond, const bisai_bcsr *matrix);
bisai_status bisai_precond_apply_many(bisai_precond *, int32_t count, const double *v, int64_t ldv,
  double *z, int64_t ldz);
bisai_status bisai_precond_apply_transpose(bisai_precond *precond, const double *v, double *z);
bisai_status bisai_precond_get_report(const bisai_precond *, bisai_precond_report *);
const char *bisai_precond_describe(const bisai_precond *precond);
void bisai_precond_destroy(bisai_precond **precond);

typedef struct { size_t struct_size; bisai_method method; double tolerance; int max_iterations;
  bool use_initial_guess; int (*monitor)(void *, int, double); void *monitor_user; ...; }
  bisai_solver_options;
typedef struct { size_t struct_size; bisai_reason reason; int iterations, applications;
  double relative_residual, solve_seconds; const double *history; int history_length; ...; }
  bisai_solver_report;
bisai_solver_options bisai_solver_options_default(void);
bisai_status bisai_solver_create(bisai_context *, int64_t n, const bisai_solver_options *,
  bisai_solver **);
bisai_status bisai_solver_solve(bisai_solver *, const bisai_bcsr *, bisai_precond *,
  const double *b, double *x, bisai_solver_report *);
void bisai_solver_destroy(bisai_solver **solver);

typedef struct { size_t struct_size; bisai_precond_options precond; bisai_solver_options solver;
  bool solver_given; ...; } bisai_solve_options;
typedef struct { size_t struct_size; bisai_precond_options precond_options;
  bisai_solver_options solver_options; bisai_precond_report precond; bisai_solver_report solver;
  double seconds; char reason[320]; ...; } bisai_solve_report;
bisai_solve_options bisai_solve_options_default(void);
bisai_status bisai_solve(bisai_context *, const bisai_bcsr *, const double *b, double *x,
  const bisai_solve_options *, bisai_solve_report *);

typedef struct { ...; } bisai_study_constants;
typedef struct { bisai_study_constants right, left; ...; } bisai_study_null;
typedef struct { size_t struct_size; bisai_study_null null; ...; } bisai_matrix_study_report;
bisai_status bisai_matrix_study(bisai_context *, const bisai_bcsr *, int64_t rows,
  const double *rhs, bisai_matrix_study_report *);
int32_t bisai_study_constants_vectors(const bisai_study_constants *, int32_t block_size,
  int64_t rows, double *vectors);
bisai_status bisai_project(bisai_context *, int64_t n, int32_t count, const double *vectors,
  int64_t ld, double *x);

typedef struct { int place, length; char message[...]; } bisai_text_fault;
typedef struct bisai_text_keys bisai_text_keys;
bisai_status bisai_precond_options_parse(const char *text, bisai_precond_options *options,
  const bisai_text_keys *keys, bisai_text_fault *fault);
size_t bisai_precond_options_text(const bisai_precond_options *, const bisai_text_keys *,
  size_t size, char *text);
bisai_status bisai_solver_options_parse(const char *text, bisai_solver_options *options,
  bisai_text_fault *fault);
size_t bisai_solver_options_text(const bisai_solver_options *options, size_t size, char *text);

typedef struct { size_t struct_size; int32_t block_size; ...; } bisai_read_options;
typedef struct { size_t struct_size; bisai_bcsr *matrix; double *rhs; ...; } bisai_system;
typedef struct { size_t struct_size; const double *rhs; ...; } bisai_write_options;
bisai_read_options bisai_read_options_default(void);
bisai_write_options bisai_write_options_default(void);
bisai_status bisai_read_system(bisai_context *, const char *path, const bisai_read_options *,
  bisai_system *);
void bisai_system_clear(bisai_context *context, bisai_system *system);
bisai_status bisai_write_matrix(bisai_context *, const char *path, const bisai_bcsr *,
  const bisai_write_options *);

extern "Python" int bisai_python_monitor(void *user, int iteration, double relative_residual);
"""


def main() -> None:
    ffi = cffi.FFI()
    ffi.set_source("bisai._bisai", "#include <bisai/bisai.h>\n")
    ffi.cdef(DECLARATIONS)
    ffi.emit_c_code(sys.argv[1])


if __name__ == "__main__":
    main()
