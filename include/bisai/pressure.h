/* SPDX-License-Identifier: BSD-3-Clause */
/** @file pressure.h
 *  The pressure matrix of CPR over several processes (bisai/precond_cpr.h). Each process has some
 *  block rows of A. bisai computes the weights and the pressure equations of these rows. The
 *  caller, for example bisai_petsc, moves data between processes and solves with the pressure
 *  matrix.
 *
 *  bisai_pressure_create() does what a process can do alone. bisai_pressure_compute() needs all of
 *  them, and allocates nothing, so that no process waits for one without memory. New values go
 *  through bisai_pressure_update(). All processes together have the pressure matrix that one
 *  process has, to the bit.
 *
 *  An application of CPR consists of bisai_pressure_gather(), the caller's first stage,
 *  bisai_pressure_subtract(), the second stage, and bisai_pressure_add(). If the first stage is a
 *  hierarchy over ranks (bisai/ranks.h), a bisai_pressure_stage does all of this on its backend.
 *
 *  Pressures are computed in host memory: a context with another backend is refused. */
#ifndef BISAI_PRESSURE_H
#define BISAI_PRESSURE_H

#include <bisai/ranks.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The pressure equations of the rows of one process. */
typedef struct bisai_pressure bisai_pressure;

/** Reserves the pressure equations of the own rows.
 *  @param rows      n block rows and n + g block columns in fp64: first the own rows in their
 *                   order, then g ghosts, the rows of other processes in whose columns they have
 *                   blocks, in any order. Read until the object is destroyed, or until an update
 *                   with another one has succeeded. n may be 0
 *  @param options   `pressure`, and `weights` or `storage` of the own rows, are read; these arrays
 *                   must live as long as the object
 *  @param pressure  out; unchanged on failure; free with bisai_pressure_destroy()
 *  @retval BISAI_MISSING_DIAGONAL  the message names the own block row
 *  @retval BISAI_NOT_FINITE  the matrix has such a value
 *  @retval BISAI_UNSUPPORTED  the context has another backend than the host, or the values are not
 *                             fp64
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_pressure_create(bisai_context *context, const bisai_bcsr *rows,
                                             const bisai_cpr_options *options,
                                             bisai_pressure **pressure);

/** Takes new values of the same pattern for bisai_pressure_compute() or bisai_pressure_keep(). The
 *  pressure stays the same unknown. Allocates nothing. Returns the errors of
 *  bisai_pressure_create(), and has changed nothing then.
 *  @retval BISAI_INVALID_ARGUMENT  also: `rows` has another pattern */
BISAI_API bisai_status bisai_pressure_update(bisai_pressure *pressure, const bisai_bcsr *rows);

/** Frees *pressure and sets it to NULL; accepts NULL and pointers to NULL. */
BISAI_API void bisai_pressure_destroy(bisai_pressure **pressure);

/** What all processes do together. All call it in the same order. */
typedef struct bisai_pressure_calls {
  /** passed to the functions */
  void *user;
  /** ghosts ← a value of each ghost, from one value of each own block row */
  bisai_status (*exchange)(void *user, const double *own, double *ghosts);
  /** mirrored ← for each own block (i, j) the value of block (j, i), which may belong to another
   *  process, or 0 if it is not stored. `values` has one value for each own block */
  bisai_status (*mirror)(void *user, const double *values, double *mirrored);
  /** values ← the sums over all processes */
  bisai_status (*add)(void *user, int count, int64_t *values);
} bisai_pressure_calls;

/** Finds the pressure, if it is BISAI_CPR_PRESSURE_AUTO and not known yet, and computes weights,
 *  equations and columns. All processes call it.
 *  @retval BISAI_CALLBACK_FAILED   a function failed
 *  @retval BISAI_INVALID_ARGUMENT  an argument is NULL */
BISAI_API bisai_status bisai_pressure_compute(bisai_pressure *pressure,
                                              const bisai_pressure_calls *calls);

/** Keeps the weights and equations, and takes the columns of new values:
 *  bisai_cpr_options::keep_pressure. */
BISAI_API void bisai_pressure_keep(bisai_pressure *pressure);

/** Returns the pressure matrix of the own rows: one value for each block of `rows`. */
BISAI_API const double *bisai_pressure_values(const bisai_pressure *pressure);

/** r ← the right-hand sides of the n own pressure equations, from the own n·bs values of v. */
BISAI_API void bisai_pressure_gather(const bisai_pressure *pressure, const double *v, double *r);

/** r ← v − A E z, where z has n + g pressures, and r and v have the own n·bs values. r may be v. */
BISAI_API void bisai_pressure_subtract(const bisai_pressure *pressure, const double *z,
                                       const double *v, double *r);

/** x ← x + E z, where z has n pressures. */
BISAI_API void bisai_pressure_add(const bisai_pressure *pressure, const double *z, double *x);

/** The first stage of CPR by a hierarchy over ranks, on its backend. */
typedef struct bisai_pressure_stage bisai_pressure_stage;

/** Makes a first stage. Local.
 *  @param pressure  has been computed; must live as long as the stage
 *  @param ranks     the hierarchy of the pressure matrix, with the rows and the ghosts of those of
 *                   `pressure`; its context may have another backend. Must live as long as the
 *                   stage
 *  @param stage     out; unchanged on failure; free with bisai_pressure_stage_destroy()
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_pressure_stage_create(const bisai_pressure *pressure,
                                                   bisai_ranks *ranks,
                                                   bisai_pressure_stage **stage);

/** Takes what bisai_pressure_compute() or bisai_pressure_keep() has computed again. Local;
 *  allocates nothing. */
BISAI_API bisai_status bisai_pressure_stage_update(bisai_pressure_stage *stage);

/** Corrects the pressures z for the own n·bs values v, by one cycle. All ranks call it.
 *  @param v     in host memory or in that of the backend
 *  @param rest  out: what the second stage gets, v − A E z in the memory of the backend until the
 *               next call or, with bisai_cpr_options::additive, v itself
 *  @retval BISAI_CALLBACK_FAILED  the transport failed */
BISAI_API bisai_status bisai_pressure_stage_begin(bisai_pressure_stage *stage, const double *v,
                                                  const double **rest);

/** x ← x + E z for the own n·bs values, in host memory or in that of the backend. Local. */
BISAI_API bisai_status bisai_pressure_stage_end(bisai_pressure_stage *stage, double *x);

/** Frees *stage and sets it to NULL; accepts NULL and pointers to NULL. */
BISAI_API void bisai_pressure_stage_destroy(bisai_pressure_stage **stage);

/** Returns the report. Rows are those of this process; `second` is AUTO. */
BISAI_API bisai_cpr_report bisai_pressure_report(const bisai_pressure *pressure);

/** Returns the options of a stage of CPR, as the preconditioner has them.
 *  @param given  options of CPR
 *  @param rows   the block rows of all processes
 *  @param stage  0: multigrid for the pressure matrix; 1: the second stage */
BISAI_API bisai_precond_options bisai_pressure_stage_options(const bisai_context *context,
                                                             const bisai_precond_options *given,
                                                             int64_t rows, int stage);

#ifdef __cplusplus
}
#endif
#endif
