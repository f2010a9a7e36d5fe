/* SPDX-License-Identifier: BSD-3-Clause */
/* What bisai/precond.h promises of updates that are refused and of updates that fail, for every
 * kind and every stage. */
#include "fixture.h"
#include "mesh.h"
#include "preconds.h"
#include "smoothers.h"
#include "systems.h"

enum { NX = 12, NY = 10, BS = 2, VALUES = BS * BS };

/* --- preconditioners --- */

/* Plain kinds; ISAI with more options; all smoothers; all second stages. */
enum { PLAIN = BISAI_PRECOND_KINDS, ISAI = 4, SECONDS = 6, VARIANTS = 64 };

static bisai_status copy(void *user, int64_t n, const double *v, double *z) {
  (void)user;
  test_synchronize();
  memcpy(z, v, (size_t)n * sizeof *z);
  return BISAI_OK;
}

static bisai_precond_options plain(int kind) {
  bisai_precond_options o = test_precond_options((bisai_precond_kind)kind);
  if (kind == BISAI_PRECOND_CALLBACK) o.callback.apply = copy;
  TEST_SET_OPTION(o, schur.from, NX * NY); /* half of the rows */
  return o;
}

static bisai_precond_options isai(int variant) {
  bisai_precond_options o = test_precond_options(BISAI_PRECOND_ISAI);
  o.isai.symmetric = variant != 1;
  o.isai.relax = variant == 2;
  if (variant == 3) o.factor.ordering = BISAI_ORDERING_RCM, o.factor.equilibrate = true;
  return o;
}

static bisai_precond_options multigrid(int variant) {
  bisai_precond_options o = with_smoother(variant % SMOOTHERS, variant % 4 == 1 ? 0 : 20);
  o.multigrid.nodes =
      variant < SMOOTHERS ? BISAI_AGGREGATION_UNIT_BLOCK : BISAI_AGGREGATION_UNIT_SCALAR;
  return o;
}

static bisai_precond_options cpr(int variant) {
  bisai_precond_options o = test_precond_options(BISAI_PRECOND_CPR);
  const int second = variant % SECONDS;
  o.cpr.second = second == 5 ? BISAI_CPR_SECOND_STAGE_ISAI : (bisai_cpr_second_stage)second;
  o.isai.symmetric = second == 5;
  o.cpr.keep_pressure = variant >= SECONDS;
  o.multigrid.coarsest = 20;
  return o;
}

/* Makes all preconditioners of `a`. Returns their number. */
static int make_all(const bisai_bcsr *a, bisai_precond **all) {
  int count = 0;
  bisai_precond_options o[VARIANTS];
  for (int k = 0; k < PLAIN; k++)
    if (k == BISAI_PRECOND_CALLBACK || test_has_kind(context, (bisai_precond_kind)k))
      o[count++] = plain(k);
  for (int k = 0; k < ISAI; k++) o[count++] = isai(k);
  for (int k = 0; k < 2 * SMOOTHERS; k++) o[count++] = multigrid(k);
  for (int k = 0; k < 2 * SECONDS; k++) o[count++] = cpr(k);
  for (int k = 0; k < count; k++) all[k] = test_precond_with(context, a, &o[k]);
  return count;
}

/* --- what updates promise --- */

/* How updates ended, for tests that would otherwise see one end only. */
typedef struct ends {
  int taken, refused, failed;
} ends;

/* Updates from `a` to b. If the status is one that changes nothing, bits and reports stay as they
 * were. After other failures nothing is applied until an update back to `a`. */
static void expect_promise(bisai_precond *m, const bisai_bcsr *a, const bisai_bcsr *b, ends *e) {
  const size_t bytes = (size_t)bisai_precond_rows(m) * sizeof(double);
  const bisai_precond_report of_before = test_report_of(context, m);
  double *before = test_applied(context, m), *z = test_applied(context, m);
  const bisai_status status = bisai_precond_update(m, b);
  const bool refused = status == BISAI_INVALID_ARGUMENT || status == BISAI_UNSUPPORTED ||
                       status == BISAI_NOT_SYMMETRIC;
  if (refused) {
    const bisai_precond_report of_now = test_report_of(context, m);
    assert_memory_equal(&of_before, &of_now, sizeof of_now);
  } else {
    EXPECT_STATUS(context, status ? BISAI_NOT_READY : BISAI_OK, bisai_precond_apply(m, before, z));
    EXPECT_OK(context, bisai_precond_update(m, a));
  }
  double *after = test_applied(context, m);
  assert_memory_equal(before, after, bytes);
  *(refused ? &e->refused : status ? &e->failed : &e->taken) += 1;
  free(before), free(z), free(after);
}

/* Updates all preconditioners of symmetric diffusion. */
static ends expect_promises(const bisai_bcsr *b) {
  ends e = {0};
  bisai_precond *all[VARIANTS];
  bisai_bcsr *a = test_bcsr_take(context, test_mesh_diffusion(NX, NY, BS, TEST_ZERO_OUTSIDE, 0.0));
  const int count = make_all(a, all);
  for (int k = 0; k < count; k++) expect_promise(all[k], a, b, &e);
  for (int k = 0; k < count; k++) bisai_precond_destroy(&all[k]);
  bisai_bcsr_destroy(&a);
  return e;
}

static void values_that_lose_the_symmetry_are_taken_or_change_nothing(void **state) {
  (void)state;
  bisai_bcsr *b = test_bcsr_take(context, test_mesh_diffusion(NX, NY, BS, TEST_ZERO_OUTSIDE, 0.3));
  const ends e = expect_promises(b);
  /* symmetric ISAI, alone and in CPR, and multigrid */
  assert_int_equal(e.refused, 3 + 2 + 1 + 2 * SMOOTHERS);
  assert_int_equal(e.failed, 0);
  bisai_bcsr_destroy(&b);
}

static void other_patterns_and_types_are_taken_or_change_nothing(void **state) {
  (void)state;
  test_bcsr arrays = test_mesh_diffusion(NX, NY, BS, TEST_ZERO_OUTSIDE, 0.0);
  bisai_bcsr *a = test_bcsr_make(context, &arrays), *single = test_bcsr_single(context, &arrays);
  /* one block moves: as many blocks, and as many in each row */
  arrays.col_idx[arrays.row_ptr[NX * NY / 2 + 1] - 1]++;
  bisai_bcsr *moved = test_bcsr_take(context, arrays),
             *fewer = test_bcsr_take(context,
                                     test_mesh_diffusion(NX - 1, NY, BS, TEST_ZERO_OUTSIDE, 0.0));
  bisai_factors *factors = NULL;
  EXPECT_OK(context, bisai_factors_create(context, a, NULL, &factors));
  const bisai_bcsr *others[] = {single, moved, fewer, bisai_factors_lower(factors)};
  for (int k = 0; k < 4; k++) {
    const ends e = expect_promises(others[k]);
    assert_in_range(e.refused, PLAIN, VARIANTS);
  }
  bisai_factors_destroy(&factors);
  bisai_bcsr_destroy(&a);
  bisai_bcsr_destroy(&single);
  bisai_bcsr_destroy(&moved);
  bisai_bcsr_destroy(&fewer);
}

static void singular_blocks_fail_until_a_good_update(void **state) {
  (void)state;
  test_bcsr arrays = test_mesh_diffusion(NX, NY, BS, TEST_ZERO_OUTSIDE, 0.0);
  memset(test_bcsr_block(&arrays, 0, 0), 0, VALUES * sizeof(double));
  bisai_bcsr *b = test_bcsr_take(context, arrays);
  const ends e = expect_promises(b);
  assert_int_equal(e.refused, 0);
  assert_in_range(e.failed, PLAIN, VARIANTS);
  bisai_bcsr_destroy(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_that_lose_the_symmetry_are_taken_or_change_nothing),
      cmocka_unit_test(other_patterns_and_types_are_taken_or_change_nothing),
      cmocka_unit_test(singular_blocks_fail_until_a_good_update),
  };
  return cmocka_run_group_tests_name("refused", tests, setup, teardown);
}
