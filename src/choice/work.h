/* SPDX-License-Identifier: BSD-3-Clause */
/* The model of work: what set-ups and iterations cost on a backend, in seconds.
 *
 * Everything is counted: values, blocks, bytes, levels, kernels. The rates are nominal ones of one
 * thread of a host and of a GPU, so that the same system has the same work everywhere. They were
 * fitted to runs of 40 settings on the systems of bench/results/auto.md. */
#ifndef BSI_WORK_H
#define BSI_WORK_H

#include "choice/candidate.h"

/* Finds what fill and triangular solves depend on: the pairs and the levels of the task. */
bisai_status bsi_work_measure(bsi_task *task);

/* Sets what a candidate is expected to need: setup, step, memory. */
void bsi_work_predict(const bsi_task *task, bsi_candidate *candidate);

/* Returns the expected blocks of the factors with these options, and the visits of blocks that find
 * them. */
double bsi_work_fill(const bsi_task *task, const bisai_precond_options *options, double *visits);

/* Returns the bytes that a trial of a candidate is expected to hold: preconditioner, solver, x. */
double bsi_work_memory(const bsi_task *task, const bsi_candidate *candidate);

/* Gives a complete factorisation the work of so many operations as a guess, and the hurdle of its
 * prediction. */
void bsi_work_guess_lu(const bsi_task *task, double flops, bsi_candidate *candidate);

/* Raises the guesses to what the graph of A lets expect. */
bisai_status bsi_work_estimate_lu(const bsi_task *task, bsi_candidates *list);

/* Predicts a complete factorisation by its ordering and its structure, and gives the candidate the
 * ordering. An ordering that cannot make it cheaper than `alternative`, the work of the other
 * candidates, is not searched. `permutation` has block_rows entries. */
bisai_status bsi_work_predict_lu(const bsi_task *task, double alternative, int32_t *permutation,
                                 bsi_candidate *candidate);

/* Gives the prediction of one complete factorisation to another one with the same solver. */
void bsi_work_share_lu(const bsi_task *task, const bsi_candidate *from, const int32_t *permutation,
                       bsi_candidate *to);

/* Returns the work of a set-up that was made. */
double bsi_work_of_setup(const bsi_task *task, const bsi_candidate *candidate,
                         const bisai_precond *precond);

/* Returns the work of an iteration with a preconditioner that was made. */
double bsi_work_of_step(const bsi_task *task, const bisai_solver_options *solver,
                        const bisai_precond *precond);

#endif
