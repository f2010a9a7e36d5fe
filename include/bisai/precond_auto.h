/* SPDX-License-Identifier: BSD-3-Clause */
/** @file precond_auto.h
 *  Options and report of the automatic choice.
 *
 *  The choice ranks candidates by a model of their work, tries them one after the other on the
 *  system, and leaves a trial when the decrease of its residual predicts that another candidate is
 *  cheaper. Work is counted, not measured: it is the number of bytes that set-ups and iterations
 *  move, as the model of the backend counts them, divided by a nominal rate, and is given in
 *  seconds. The choice is therefore the same in every run and for any number of threads. */
#ifndef BISAI_PRECOND_AUTO_H
#define BISAI_PRECOND_AUTO_H

#include <bisai/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Options of the automatic choice. */
typedef struct bisai_auto_options {
  /** true: only symmetric preconditioners, which CG takes. For a symmetric matrix whose diagonal
   *  has one sign. Default false */
  bool symmetric;
  /** true: M is applied once or in Richardson's iteration, which nothing accelerates. Complete
   *  factorisations come first, unless they are expected to cost 100 solves by other kinds. Default
   *  false */
  bool inverse;
  /** true: the choice ends with the candidates that its list has for the matrix, and does not take
   *  a complete factorisation. Default false */
  bool incomplete;
  /** the choice ends when its work exceeds this multiple of the work of an ILU(2) attempt, which is
   *  its set-up and 200 iterations; above 0, default 100. After the first trial, a candidate whose
   *  set-up is expected to exceed what is left is not begun, and factors with far more fill than
   *  expected are given up */
  double work;
  /** the choice begins no other trial after that many seconds, and ends the one that runs; 0: no
   *  limit, default. With a limit the choice depends on the machine */
  double seconds;
  /** bytes that preconditioners and solvers of the trials may hold together; 0: no limit,
   *  default. Candidates that are expected to need more are left out, trials that wait end for
   *  others, and a trial ends if its set-up holds more. During its set-up it may need more */
  double memory;
} bisai_auto_options;

enum {
  /** characters of a METHOD, its end included */
  BISAI_METHOD_TEXT = 192,
  /** characters of the name of a solver, its end included */
  BISAI_SOLVER_TEXT = 48
};

/** One trial. */
typedef struct bisai_trial {
  /** the preconditioner, as in METHOD */
  char method[BISAI_METHOD_TEXT];
  /** the solver, as in --solver: "gmres:restart=60" */
  char solver[BISAI_SOLVER_TEXT];
  /** BISAI_OK: it solved the system. BISAI_STOPPED: it was left, or left out for its work.
   *  BISAI_OUT_OF_MEMORY: automatic.memory was too small. Otherwise why it failed */
  bisai_status status;
  /** why it was left, or the message of its failure */
  char why[256];
  /** iterations */
  int iterations;
  /** ‖b − A x‖₂/‖b‖₂ when it ended; 1 if the set-up failed */
  double relative_residual;
  /** seconds of set-up and solve */
  double setup_seconds, solve_seconds;
  /** counted work, in seconds of the model */
  double work;
} bisai_trial;

/** What the choice reports. */
typedef struct bisai_auto_report {
  /** the trials in the order of their begin, and candidates that were left out; the preconditioner
   *  or the solver owns them */
  const bisai_trial *trials;
  /** their number */
  int count;
  /** the index of the chosen trial; −1: none */
  int chosen;
  /** seconds in the study of the matrix, and in all trials but the chosen one */
  double study_seconds, lost_seconds;
} bisai_auto_report;

#ifdef __cplusplus
}
#endif
#endif
