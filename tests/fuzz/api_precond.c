/* SPDX-License-Identifier: BSD-3-Clause */
/* Preconditioners: the same for any number of threads, an update is a new set-up, and failures
 * leave what the header says. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"

/* What a set-up came to. */
typedef struct outcome {
  bisai_status status;
  char message[256];
  bisai_precond *precond;
} outcome;

static void note(outcome *o, const fuzz_world *world) {
  strncpy(o->message, o->status ? bisai_context_error(world->context) : "", sizeof o->message - 1);
}

/* The statuses that numbers may cause; everything else would be an argument that was wrong. */
static bool is_numerical(bisai_status status, const bisai_precond_options *options) {
  switch (status) {
  case BISAI_OK:
  case BISAI_MISSING_DIAGONAL:
  case BISAI_SINGULAR_BLOCK:
  case BISAI_OVERFLOW:
  case BISAI_NOT_FINITE: return true;
  case BISAI_NOT_SYMMETRIC: return options->isai.symmetric;
  case BISAI_UNSUPPORTED: /* there are no pressures, or no velocities */
  case BISAI_INVALID_STRUCTURE: return options->kind == BISAI_PRECOND_SCHUR;
  case BISAI_UNAVAILABLE:
    return options->factor.ordering == BISAI_ORDERING_ND || options->kind == BISAI_PRECOND_DIRECT;
  default: return false;
  }
}

/* Handles, and their workspace for small matrices, which the report leaves out. */
enum { HANDLE_BYTES = 64 * 1024 };

/* `seen`: the most bytes that a creation held at a time. The report leaves out what single
 * operations take for a moment: up to a fifth. */
static void expect_peak(const bisai_precond *precond, long long seen) {
  bisai_precond_report report = {.struct_size = sizeof report};
  fuzz_property(!bisai_precond_get_report(precond, &report), "a report is given");
  const long long reported = (long long)report.multigrid.peak_bytes;
  fuzz_property(report.kind != BISAI_PRECOND_MULTIGRID ||
                    (reported <= seen && 0.8 * (double)seen <= (double)(reported + HANDLE_BYTES)),
                "the most bytes that a creation holds are those of the report (%lld, reported "
                "%lld)",
                seen, reported);
}

static outcome set_up(fuzz_world *world, const bisai_bcsr *matrix,
                      const bisai_precond_options *options) {
  int untouched;
  bisai_precond *const before = (bisai_precond *)(void *)&untouched;
  outcome o = {.precond = before};
  const long long live = atomic_load(&world->live), bytes = atomic_load(&world->bytes);
  atomic_store(&world->peak, bytes);
  o.status = bisai_precond_create(world->context, matrix, options, &o.precond);
  note(&o, world);
  fuzz_counts.setups++;
  fuzz_counts.set_up += !o.status;
  fuzz_property(is_numerical(o.status, options),
                "a set-up with valid options fails for its numbers only (status %d: %s)",
                (int)o.status, o.message);
  if (!o.status) expect_peak(o.precond, atomic_load(&world->peak) - bytes);
  if (!o.status) return o;
  fuzz_property(o.precond == before, "the output is untouched where a set-up fails");
  fuzz_property(o.message[0], "a set-up that fails leaves a message (status %d)", (int)o.status);
  fuzz_property(atomic_load(&world->live) == live, "a set-up that fails leaves no memory");
  o.precond = NULL;
  return o;
}

/* --- reports --- */

static bool same_number(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static void expect_same_levels(const bisai_multigrid_report *x, const bisai_multigrid_report *y,
                               const char *what) {
  bool same = x->levels == y->levels && x->ended_by == y->ended_by &&
              x->coarsest_inverted == y->coarsest_inverted &&
              x->coarsest_nullity == y->coarsest_nullity && x->symmetric == y->symmetric;
  for (int32_t level = 0; level < x->levels && same; level++)
    same = x->rows[level] == y->rows[level] && x->blocks[level] == y->blocks[level] &&
           same_number(x->radius[level], y->radius[level]);
  fuzz_property(same, "%s: the same levels in the report (%d, nullity %d; %d, nullity %d)", what,
                (int)x->levels, (int)x->coarsest_nullity, (int)y->levels, (int)y->coarsest_nullity);
}

static void expect_same_report(const bisai_precond *a, const bisai_precond *b, const char *what) {
  bisai_precond_report x = {.struct_size = sizeof x}, y = {.struct_size = sizeof y};
  fuzz_property(!bisai_precond_get_report(a, &x) && !bisai_precond_get_report(b, &y),
                "a report is given");
  fuzz_property(strcmp(bisai_precond_describe(a), bisai_precond_describe(b)) == 0,
                "%s: the same description (%s, %s)", what, bisai_precond_describe(a),
                bisai_precond_describe(b));
  fuzz_property(x.factor.blocks == y.factor.blocks && x.isai.blocks == y.isai.blocks &&
                    x.isai.longest_column == y.isai.longest_column &&
                    x.factor.lower_levels == y.factor.lower_levels &&
                    x.factor.upper_levels == y.factor.upper_levels &&
                    x.factor.bandwidth == y.factor.bandwidth &&
                    x.factor.profile == y.factor.profile && x.bjacobi.blocks == y.bjacobi.blocks &&
                    x.isai.dropped_lower == y.isai.dropped_lower &&
                    x.isai.dropped_upper == y.isai.dropped_upper &&
                    x.isai.shortened_columns == y.isai.shortened_columns,
                "%s: the same structure in the report", what);
  fuzz_property(x.fallbacks == y.fallbacks && x.repairs == y.repairs &&
                    x.first_repair_row == y.first_repair_row &&
                    same_number(x.largest_condition, y.largest_condition) &&
                    x.largest_condition_row == y.largest_condition_row &&
                    x.bjacobi.near_singular == y.bjacobi.near_singular &&
                    x.bjacobi.near_singular_block == y.bjacobi.near_singular_block &&
                    same_number(x.bjacobi.relax_radius, y.bjacobi.relax_radius) &&
                    x.factor.smallest_scale == y.factor.smallest_scale &&
                    x.factor.largest_scale == y.factor.largest_scale &&
                    x.bjacobi.value_bytes == y.bjacobi.value_bytes &&
                    memcmp(x.bjacobi.by_format, y.bjacobi.by_format, sizeof x.bjacobi.by_format) ==
                        0,
                "%s: the same numbers in the report (fallbacks %lld, %lld; repairs %lld, %lld; "
                "condition %g in %d, %g in %d)",
                what, (long long)x.fallbacks, (long long)y.fallbacks, (long long)x.repairs,
                (long long)y.repairs, x.largest_condition, (int)x.largest_condition_row,
                y.largest_condition, (int)y.largest_condition_row);
  expect_same_levels(&x.multigrid, &y.multigrid, what);
}

static void expect_same_apply(bisai_precond *a, bisai_precond *b, int64_t n, const double *v,
                              const char *what) {
  double *x = fuzz_vector(n), *y = fuzz_vector(n);
  const bisai_status first = bisai_precond_apply(a, v, x), second = bisai_precond_apply(b, v, y);
  fuzz_property(!first && !second, "an application succeeds (status %d, %d)", (int)first,
                (int)second);
  int64_t at = 0;
  while (at < n && fuzz_same(1, x + at, y + at)) at++;
  fuzz_property(at == n, "%s: an application gives the same bits (row %lld: %.17g, %.17g)", what,
                (long long)at, at < n ? x[at] : 0, at < n ? y[at] : 0);
  free(x);
  free(y);
}

/* On two numbers of threads. */
static void expect_same_transpose(bisai_precond *const m[2], int64_t n, const double *v) {
  double *x = fuzz_vector(n), *y = fuzz_vector(n);
  const bisai_status first = bisai_precond_apply_transpose(m[0], v, x),
                     second = bisai_precond_apply_transpose(m[1], v, y);
  fuzz_property(first == second && (first || fuzz_same(n, x, y)),
                "a transposed application gives the same bits or the same refusal (status %d, %d)",
                (int)first, (int)second);
  free(x);
  free(y);
}

static void expect_many(bisai_precond *precond, int64_t n, const double *v) {
  enum { MANY = 5 };
  const int64_t ld = n + 1;
  double *x = fuzz_vector(MANY * ld), *y = fuzz_vector(MANY * ld), *z = fuzz_vector(n);
  for (int64_t i = 0; i < n; i++)
    for (int64_t c = 0; c < MANY; c++) x[c * ld + i] = c == 0 ? v[i] : fuzz_noise(9, i, c);
  bisai_status status = bisai_precond_apply_many(precond, MANY, x, ld, y, ld);
  for (int64_t c = 0; c < MANY && !status; c++) {
    status = bisai_precond_apply(precond, x + c * ld, z);
    fuzz_property(fuzz_same(n, z, y + c * ld),
                  "an application to several vectors has the bits of single ones (vector %lld)",
                  (long long)c);
  }
  fuzz_property(!status, "an application to several vectors succeeds (status %d)", (int)status);
  free(x);
  free(y);
  free(z);
}

/* Estimates of the growth of errors change nothing. */
static void expect_factor(bisai_precond *precond, const bisai_bcsr *matrix, int64_t n,
                          const double *v) {
  double *before = fuzz_vector(n), *after = fuzz_vector(n), factor = -1.0;
  bisai_status status = bisai_precond_apply(precond, v, before);
  if (!status) status = bisai_precond_error_factor(precond, matrix, &factor);
  if (!status) status = bisai_precond_apply(precond, v, after);
  fuzz_property(!status && factor >= 0.0, "an estimate of errors succeeds (status %d, %g)",
                (int)status, factor);
  fuzz_property(fuzz_same(n, before, after), "an estimate of errors changes no application");
  free(before);
  free(after);
}

/* --- what a set-up promises --- */

/* With all the fill there is and no pivot that LU has raised, L U = A, and inverses on full
 * patterns are inverses: for dominant matrices to rounding, which 1e-9 exceeds a thousandfold. */
static void expect_inverse(const fuzz_system *s, const bisai_bcsr *matrix, bisai_precond *precond,
                           const bisai_precond_options *o, const double *v) {
  const bool exact = (o->kind == BISAI_PRECOND_ILU && o->factor.level >= s->block_rows) ||
                     (o->kind == BISAI_PRECOND_LU && o->lu.storage == BISAI_FP64) ||
                     (o->kind == BISAI_PRECOND_ISAI && o->factor.level >= s->block_rows &&
                      o->isai.power >= s->block_rows && o->isai.storage == 0 &&
                      o->isai.drop_tolerance == 0 && o->isai.column_limit == 0);
  bisai_precond_report report = {.struct_size = sizeof report};
  fuzz_property(!bisai_precond_get_report(precond, &report), "a report is given");
  const bool raised = o->kind == BISAI_PRECOND_LU && report.repairs > 0;
  const bool kept = o->factor.matching == BISAI_MATCHING_NONE && o->factor.least_pivot == 0;
  if (!exact || !kept || raised || !s->dominant[FUZZ_FIRST]) return;
  double *image = fuzz_vector(s->rows), *back = fuzz_vector(s->rows), worst = 0;
  const bool fine =
      !bisai_bcsr_multiply(matrix, v, image) && !bisai_precond_apply(precond, image, back);
  for (int32_t i = 0; i < s->rows; i++) worst = fmax(worst, fabs(back[i] - v[i]));
  fuzz_property(fine && worst <= 1e-9,
                "a complete factorisation of a dominant matrix inverts it (off by %g)", worst);
  free(image);
  free(back);
}

/* v·M⁻¹w = w·M⁻¹v where M is said to be symmetric: for dominant matrices to rounding, which 1e-9
 * exceeds a thousandfold. Narrow inverses of blocks round what differs in the last bit to values
 * that differ. */
static void expect_symmetric(const fuzz_system *s, bisai_precond *precond,
                             const bisai_precond_options *o, const double *v) {
  bisai_precond_report report = {.struct_size = sizeof report};
  const fuzz_symmetry a = fuzz_symmetry_of(s, FUZZ_FIRST);
  fuzz_property(!bisai_precond_get_report(precond, &report), "a report is given");
  const bool said = report.symmetry == BISAI_SYMMETRY_VALUES ||
                    (report.symmetry == BISAI_SYMMETRY_PATTERN && a.mirrored);
  if (!said || report.nonlinear || a.asymmetry > 0 || !s->dominant[FUZZ_FIRST] ||
      (o->kind == BISAI_PRECOND_BJACOBI && o->bjacobi.storage != BISAI_FP64))
    return;
  double *w = fuzz_vector(s->rows), *image = fuzz_vector(2 * (int64_t)s->rows), vw = 0, wv = 0,
         size = 0;
  for (int32_t i = 0; i < s->rows; i++) w[i] = fuzz_noise(5, i, 8);
  const bool fine =
      !bisai_precond_apply(precond, v, image) && !bisai_precond_apply(precond, w, image + s->rows);
  for (int32_t i = 0; i < s->rows; i++) {
    vw += v[i] * image[s->rows + i];
    wv += w[i] * image[i];
    size += fabs(v[i] * image[s->rows + i]) + fabs(w[i] * image[i]);
  }
  fuzz_property(fine && fabs(vw - wv) <= 1e-9 * size,
                "a preconditioner that is said to be symmetric is (%.17g, %.17g)", vw, wv);
  free(w);
  free(image);
}

/* The same factors and patterns, made by the caller and handed over, give the same M⁻¹. */
static void expect_same_from_parts(const fuzz_system *s, fuzz_world *world,
                                   const bisai_bcsr *matrix, bisai_precond *precond,
                                   const bisai_precond_options *o, const double *v) {
  const bool factored = o->kind == BISAI_PRECOND_ILU || o->kind == BISAI_PRECOND_ISAI ||
                        o->kind == BISAI_PRECOND_SWEEPS;
  if (!factored || o->isai.of == BISAI_INVERSE_OF_MATRIX ||
      o->factor.ordering != BISAI_ORDERING_NATURAL || o->factor.equilibrate || o->factor.matching)
    return;
  bisai_factor_options factor_options = bisai_factor_options_default();
  factor_options.level = o->factor.level;
  factor_options.shift = o->shift;
  factor_options.shift_amount = o->shift_amount;
  factor_options.least_pivot = o->factor.least_pivot;
  bisai_precond_options parts = *o;
  parts.factor.level = 0;
  parts.factor.least_pivot = 0;
  parts.shift = BISAI_SHIFT_NONE;
  bisai_factors *factors = NULL;
  bisai_pattern *lower = NULL, *upper = NULL;
  bisai_status status = bisai_factors_create(world->context, matrix, &factor_options, &factors);
  if (!status && o->kind == BISAI_PRECOND_ISAI && o->isai.drop_tolerance == 0 &&
      o->isai.column_limit == 0) {
    status = bisai_pattern_power(world->context, bisai_factors_lower(factors), BISAI_LOWER,
                                 o->isai.power, &lower);
    if (!status && !o->isai.symmetric)
      status = bisai_pattern_power(world->context, bisai_factors_upper(factors), BISAI_UPPER,
                                   o->isai.power, &upper);
  }
  parts.factor.factors = factors;
  parts.isai.lower_pattern = lower;
  parts.isai.upper_pattern = upper;
  bisai_precond *other = NULL;
  if (!status) status = bisai_precond_create(world->context, matrix, &parts, &other);
  if (fuzz_property(
          !status,
          "factors and patterns that make a preconditioner can be made one by one (status %d: %s)",
          (int)status, bisai_context_error(world->context)))
    expect_same_apply(other, precond, s->rows, v, "from the caller's factors and patterns");
  bisai_precond_destroy(&other);
  bisai_pattern_destroy(&lower);
  bisai_pattern_destroy(&upper);
  bisai_factors_destroy(&factors);
}

/* M⁻¹ of the second values by an update is that of a new set-up; the first values then give the
 * first M⁻¹ again. */
static void expect_updates(const fuzz_system *s, fuzz_world *world, bisai_precond *precond,
                           bisai_precond *original, const bisai_bcsr *first,
                           const bisai_bcsr *second, const bisai_precond_options *options,
                           const double *v) {
  double *z = fuzz_vector(s->rows);
  long long calls = atomic_load(&world->calls);
  outcome updated = {.status = bisai_precond_update(precond, first)};
  note(&updated, world);
  if (fuzz_update_allocates(options, true)) calls = atomic_load(&world->calls);
  if (fuzz_property(!updated.status, "an update with the old values succeeds (status %d: %s)",
                    (int)updated.status, updated.message))
    expect_same_apply(precond, original, s->rows, v, "updated with the old values");
  updated.status = bisai_precond_update(precond, second);
  note(&updated, world);
  fuzz_property(fuzz_update_allocates(options, false) || atomic_load(&world->calls) == calls,
                "updates and applications allocate nothing");
  fuzz_counts.updates++;
  const fuzz_symmetry symmetry = fuzz_symmetry_of(s, FUZZ_SECOND);
  fuzz_property(
      updated.status != BISAI_NOT_SYMMETRIC || symmetry.asymmetry > 0 || !symmetry.mirrored,
      "an update with a symmetric matrix is not refused as nonsymmetric (%s)", updated.message);
  outcome fresh = set_up(world, second, options);
  /* Thresholds are taken of the first values: the pattern may be another. */
  const bool comparable =
      options->kind != BISAI_PRECOND_CPR && /* the levels are those of the first values too */
      options->kind != BISAI_PRECOND_MULTIGRID &&
      options->kind != BISAI_PRECOND_SCHUR && /* and the pressures that are found */
      options->kind != BISAI_PRECOND_AUTO &&  /* so is the choice, and the matching */
      options->factor.matching == BISAI_MATCHING_NONE &&
      (options->kind != BISAI_PRECOND_ISAI || options->isai.drop_tolerance == 0);
  fuzz_property(!comparable || updated.status == fresh.status,
                "an update ends as a new set-up does (status %d: %s; %d: %s)", (int)updated.status,
                updated.message, (int)fresh.status, fresh.message);
  fuzz_property(!comparable || !updated.status || strcmp(updated.message, fresh.message) == 0,
                "an update fails with the message of a new set-up (%s; %s)", updated.message,
                fresh.message);
  if (!updated.status && !fresh.status && comparable) {
    expect_same_apply(precond, fresh.precond, s->rows, v, "updated, and set up anew");
    expect_same_report(precond, fresh.precond, "updated, and set up anew");
  }
  /* A value where there was a zero: schur refuses it, and what a matching has permuted fails. The
   * choice may have taken either. */
  const bool new_value = updated.status == BISAI_INVALID_STRUCTURE,
             failed = new_value && options->kind == BISAI_PRECOND_AUTO &&
                      bisai_precond_apply(precond, v, z) == BISAI_NOT_READY,
             may_be_schur =
                 options->kind == BISAI_PRECOND_SCHUR || options->kind == BISAI_PRECOND_AUTO,
             refused =
                 updated.status == BISAI_NOT_SYMMETRIC || (new_value && may_be_schur && !failed);
  if (refused) expect_same_apply(precond, original, s->rows, v, "after an update that was refused");
  if (updated.status && !refused) {
    const bisai_status applied = bisai_precond_apply(precond, v, z);
    fuzz_property(applied == BISAI_NOT_READY,
                  "after an update that failed an application says so (status %d; %s)",
                  (int)applied, updated.message);
  }
  bisai_precond_destroy(&fresh.precond);
  calls = atomic_load(&world->calls);
  updated.status = bisai_precond_update(precond, first);
  note(&updated, world);
  fuzz_property(fuzz_update_allocates(options, false) || atomic_load(&world->calls) == calls,
                "updates allocate nothing");
  if (fuzz_property(!updated.status, "an update back succeeds (status %d: %s)", (int)updated.status,
                    updated.message)) {
    expect_same_apply(precond, original, s->rows, v, "updated there and back");
    expect_same_report(precond, original, "updated there and back");
  }
  free(z);
}

/* --- updates that are refused --- */

/* Offers a matrix to a preconditioner, and checks that a refusal leaves it as it was. Returns the
 * status. */
static bisai_status offer(fuzz_world *world, const bisai_bcsr_desc *desc, bisai_precond *precond,
                          bisai_precond *original, const bisai_bcsr *first, const double *v,
                          const char *what) {
  const int64_t n = bisai_precond_rows(precond);
  bisai_bcsr *matrix = NULL;
  bisai_status status = bisai_bcsr_create(world->context, desc, &matrix);
  if (!fuzz_property(!status, "%s: the matrix can be made (status %d)", what, (int)status))
    return status;
  status = bisai_precond_update(precond, matrix);
  if (status == BISAI_INVALID_ARGUMENT || status == BISAI_UNSUPPORTED ||
      status == BISAI_NOT_SYMMETRIC)
    expect_same_apply(precond, original, n, v, what);
  const bisai_status back = bisai_precond_update(precond, first);
  fuzz_property(!back, "%s: the old values are taken again (status %d: %s)", what, (int)back,
                bisai_context_error(world->context));
  if (!back) expect_same_apply(precond, original, n, v, what);
  bisai_bcsr_destroy(&matrix);
  return status;
}

/* A block less, and values in fp32. */
static void expect_refused_update(const fuzz_system *s, fuzz_world *world, bisai_precond *precond,
                                  bisai_precond *original, const bisai_bcsr *first,
                                  const double *v) {
  fuzz_system fewer = *s;
  int32_t *row_ptr = fuzz_memory((size_t)s->block_rows + 1, sizeof *row_ptr);
  memcpy(row_ptr, s->row_ptr, ((size_t)s->block_rows + 1) * sizeof *row_ptr);
  for (int32_t i = s->block_rows; row_ptr[i] == s->blocks; i--) row_ptr[i]--;
  fewer.row_ptr = row_ptr;
  bisai_bcsr_desc desc = fuzz_system_desc(&fewer, FUZZ_SECOND);
  bisai_status status =
      offer(world, &desc, precond, original, first, v, "an update with a block less");
  bisai_precond_report report = {.struct_size = sizeof report};
  fuzz_property(!bisai_precond_get_report(precond, &report), "a report is given");
  /* a matrix that mg has split takes every pattern that has no other nonzero values */
  fuzz_property(status == BISAI_INVALID_ARGUMENT ||
                    report.multigrid.nodes == BISAI_AGGREGATION_UNIT_SCALAR,
                "an update with a block less is refused (status %d)", (int)status);
  free(row_ptr);
  float *narrow = fuzz_memory((size_t)fuzz_system_scalars(s), sizeof *narrow);
  for (int64_t k = 0; k < fuzz_system_scalars(s); k++) narrow[k] = (float)(1 + k % 7);
  desc = fuzz_system_desc(s, FUZZ_SECOND);
  desc.values = narrow;
  desc.value_type = BISAI_FP32;
  status = offer(world, &desc, precond, original, first, v, "an update in fp32");
  fuzz_property(status == BISAI_UNSUPPORTED, "an update in fp32 is refused (status %d)",
                (int)status);
  free(narrow);
}

/* The first values, but for one beside the diagonal. */
static void expect_bent_update(fuzz_choices *choices, const fuzz_system *s, fuzz_world *world,
                               bisai_precond *precond, bisai_precond *original,
                               const bisai_precond_options *o, const bisai_bcsr *first,
                               const double *v) {
  const int32_t bs = s->block_size;
  const int64_t at = (int64_t)fuzz_pick(choices, 256) * 8191 % fuzz_system_scalars(s);
  int32_t row = 0;
  while (s->row_ptr[row + 1] <= at / (bs * bs)) row++;
  if (s->col_idx[at / (bs * bs)] == row && at % bs == at / bs % bs) return;
  fuzz_system bent = *s;
  double *values = bent.values[FUZZ_SECOND] = fuzz_vector(fuzz_system_scalars(s));
  memcpy(values, s->values[FUZZ_FIRST], (size_t)fuzz_system_scalars(s) * sizeof *values);
  values[at] = values[at] == 0 ? 1 : values[at] / 2;
  bisai_precond_report report = {.struct_size = sizeof report};
  fuzz_property(!bisai_precond_get_report(precond, &report), "a report is given");
  const bool needs =
                 (o->isai.symmetric) || (o->kind == BISAI_PRECOND_MULTIGRID &&
                                         report.multigrid.symmetric && !o->multigrid.unweighted),
             symmetric = fuzz_symmetry_of(&bent, FUZZ_SECOND).symmetric;
  const bisai_bcsr_desc desc = fuzz_system_desc(&bent, FUZZ_SECOND);
  const bisai_status status =
      offer(world, &desc, precond, original, first, v, "an update with another value");
  fuzz_property((status == BISAI_NOT_SYMMETRIC) == (needs && !symmetric),
                "an update that is not symmetric is refused where M needs it, and only there "
                "(status %d)",
                (int)status);
  free(values);
}

void fuzz_precond_properties(fuzz_choices *choices, const fuzz_system *s,
                             bisai_bcsr *const first[2], bisai_bcsr *second, fuzz_world worlds[2]) {
  fuzz_precond choice;
  fuzz_precond_make(choices, s, &choice);
  double *v = fuzz_vector(s->rows);
  const uint64_t seed = fuzz_seed(choices);
  for (int32_t i = 0; i < s->rows; i++) v[i] = fuzz_noise(seed, i, 2);
  outcome made[2];
  for (int w = 0; w < 2; w++) made[w] = set_up(&worlds[w], first[w], &choice.options);
  fuzz_property(made[0].status == made[1].status && strcmp(made[0].message, made[1].message) == 0,
                "a set-up ends alike for any number of threads (status %d: %s; %d: %s)",
                (int)made[0].status, made[0].message, (int)made[1].status, made[1].message);
  const fuzz_symmetry a = choice.options.isai.symmetric
                              ? fuzz_symmetry_of(s, FUZZ_FIRST)
                              : (fuzz_symmetry){.symmetric = true, .mirrored = true};
  const bool refused = made[0].status == BISAI_NOT_SYMMETRIC,
             refuses = !(a.symmetric && a.mirrored),
             first_stage = choice.options.kind == BISAI_PRECOND_CPR; /* may fail before */
  fuzz_property(refused == refuses || (first_stage && refuses && made[0].status),
                "symmetric isai is refused where the matrix is not symmetric, and only there "
                "(status %d, asymmetry %g)",
                (int)made[0].status, a.asymmetry);
  if (made[0].precond && made[1].precond) {
    bisai_precond *const preconds[2] = {made[0].precond, made[1].precond};
    expect_same_report(preconds[0], preconds[1], "another number of threads");
    expect_same_apply(preconds[0], preconds[1], s->rows, v, "another number of threads");
    expect_same_transpose(preconds, s->rows, v);
    expect_many(preconds[0], s->rows, v);
    expect_factor(preconds[0], first[0], s->rows, v);
    expect_inverse(s, first[0], preconds[0], &choice.options, v);
    expect_symmetric(s, preconds[0], &choice.options, v);
    fuzz_solve_properties(choices, s, first, &choice, preconds, worlds);
    fuzz_scene(SCENE_SOLVE, "updates");
    if (fuzz_rarely(choices, 3))
      expect_same_from_parts(s, &worlds[0], first[0], preconds[0], &choice.options, v);
    expect_updates(s, &worlds[0], preconds[0], preconds[1], first[0], second, &choice.options, v);
    const bool reads = choice.options.kind != BISAI_PRECOND_NONE &&
                       choice.options.kind != BISAI_PRECOND_CALLBACK && s->blocks > 0;
    /* what is refused after a choice is up to the chosen kind, as none, which refuses nothing */
    if (reads && choice.options.kind != BISAI_PRECOND_AUTO) {
      expect_refused_update(s, &worlds[0], preconds[0], preconds[1], first[0], v);
      expect_bent_update(choices, s, &worlds[0], preconds[0], preconds[1], &choice.options,
                         first[0], v);
    }
  }
  for (int w = 0; w < 2; w++) bisai_precond_destroy(&made[w].precond);
  free(v);
  fuzz_precond_free(&choice);
}
