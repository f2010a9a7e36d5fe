/* SPDX-License-Identifier: BSD-3-Clause */
/* What bisai.f90 calls: objects that count who uses them, and calls without structs, whose layout
 * only a C compiler knows. A NULL object is one that was not created. */
#ifndef BISAI_FORTRAN_GLUE_H
#define BISAI_FORTRAN_GLUE_H

#include <bisai/bisai.h>

typedef struct bisai_f_object bisai_f_object;

/* Another variable refers to the object, or one no longer does. An object keeps alive what it was
 * made of, so that the order does not matter. */
void bisai_f_share(bisai_f_object *object);
void bisai_f_release(bisai_f_object *object);

/* Records a message in the object's context, and returns `status`. */
int bisai_f_fail(const bisai_f_object *object, int status, const char *message);
/* Copies the last message of the object's context, without a null byte. Returns its length. */
int bisai_f_message(const bisai_f_object *object, int size, char *text);
/* The text of a status likewise. */
int bisai_f_status(int status, int size, char *text);

int bisai_f_context(const char *backend, int threads, bisai_f_object **context);

/* row_ptr and col_idx count from 1. */
int bisai_f_bcsr(bisai_f_object *context, int32_t block_rows, int32_t block_cols,
                 int32_t block_size, const int32_t *row_ptr, const int32_t *col_idx,
                 const double *values, bisai_f_object **matrix);
/* block_size and fields: 0 if the library chooses; node: NULL or counts from 1. */
int bisai_f_csr(bisai_f_object *context, int32_t rows, const int32_t *row_ptr,
                const int32_t *col_idx, const double *values, int32_t block_size, int32_t fields,
                const int32_t *node, bisai_f_object **matrix);
/* The number of values has been compared with bisai_f_entries(). */
int bisai_f_update_matrix(const bisai_f_object *matrix, const double *values);
int bisai_f_multiply(bisai_f_object *matrix, const double *x, double *y);
/* The length of the caller's vectors; 0 for NULL. */
int64_t bisai_f_rows(const bisai_f_object *object);
int64_t bisai_f_columns(const bisai_f_object *matrix);
/* The number of values that an update takes. */
int64_t bisai_f_entries(const bisai_f_object *matrix);
int32_t bisai_f_block_size(const bisai_f_object *matrix);

/* null_vectors: null_count values for each row, row by row. */
int bisai_f_precond(bisai_f_object *matrix, const char *text, const double *null_vectors,
                    int32_t null_count, bisai_f_object **precond);
int bisai_f_update_precond(bisai_f_object *precond, bisai_f_object *matrix);
int bisai_f_apply(bisai_f_object *precond, const double *v, double *z);

/* As type(bisai_report) of bisai.f90, with lengths of the texts. */
typedef struct bisai_f_report {
  int32_t iterations, levels;
  double relative_residual, setup_seconds, solve_seconds, memory_bytes;
  int32_t preconditioner_length, solver_length, reason_length;
  char preconditioner[BISAI_TEXT_SIZE], solver[BISAI_TEXT_SIZE], reason[512];
} bisai_f_report;

/* What the preconditioner is and what it cost. */
int bisai_f_precond_report(const bisai_f_object *precond, bisai_f_report *report);

int bisai_f_solver(bisai_f_object *matrix, const char *text, double tolerance, int max_iterations,
                   int guess, bisai_f_object **solver);
/* precond: NULL if there is none. */
int bisai_f_solve(bisai_f_object *solver, bisai_f_object *matrix, bisai_f_object *precond,
                  const double *b, double *x, bisai_f_report *report);

/* What bisai_f_solve_once() is told. */
typedef struct bisai_f_choice {
  double tolerance;
  int max_iterations, guess;
  int32_t null_count;
  const double *null_vectors;
} bisai_f_choice;

/* solver: "" if it is chosen. */
int bisai_f_solve_once(bisai_f_object *matrix, const double *b, double *x, const char *precond,
                       const char *solver, const bisai_f_choice *choice, bisai_f_report *report);

#endif
