/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of preconditioners compare: results to the bit, refusals, updates with creation,
 * and allocations that fail. */
#ifndef BISAI_TEST_PRECONDS_H
#define BISAI_TEST_PRECONDS_H

#include "support.h"

/* Returns M⁻¹v of a random v, which is always the same; free() it. */
double *test_applied(bisai_context *context, bisai_precond *m);

/* Returns true if both give the same bits. */
bool test_same_bits(bisai_context *context, bisai_precond *m, bisai_precond *other);
/* Fails unless they do, and have the same description and levels. */
void test_expect_equal(bisai_context *context, bisai_precond *expected, bisai_precond *got);

/* --- refusals --- */

/* Fails unless creation fails with this status, and `part` is in the message. */
void test_expect_refused(bisai_context *context, const bisai_bcsr *a,
                         const bisai_precond_options *o, bisai_status status, const char *part);
/* The same for an update that changes nothing. */
void test_expect_update_refused(bisai_context *context, bisai_precond *m, const bisai_bcsr *a,
                                bisai_status status, const char *part);
/* The same for an update after which the preconditioner is not ready. */
void test_expect_update_failed(bisai_context *context, bisai_precond *m, const bisai_bcsr *a,
                               bisai_status status, const char *part);

/* --- updates --- */

/* Fails unless an update from `a` to b gives what creation with b gives, and `a` something else.
 * Returns the report after the update. */
bisai_precond_report test_expect_update_as_creation(bisai_context *context, const bisai_bcsr *a,
                                                    const bisai_bcsr *b,
                                                    const bisai_precond_options *o);
/* Fails unless an update from `a` to b gives something else than before, and an update back to `a`
 * what creation gave. */
void test_expect_taken_back(bisai_context *context, const bisai_bcsr *a, const bisai_bcsr *b,
                            const bisai_precond_options *o);

/* --- memory --- */

/* Fails unless updates to b and back to `a` and applications allocate nothing, and all is released
 * in the end. With the options as given, the first update may make what multigrid did not keep;
 * with `update` FAST it may not. */
void test_expect_no_allocations(const test_bcsr *a, const test_bcsr *b,
                                const bisai_precond_options *o);
/* Creates a preconditioner while the first allocation fails, then while the second one does, and so
 * on until all succeed; then again while all later ones fail too. Fails unless each failure is told
 * and leaves nothing behind, and unless there are more than `least` allocations. */
void test_expect_failing_allocations_survived(const test_bcsr *a, const bisai_precond_options *o,
                                              long long least);

#endif
