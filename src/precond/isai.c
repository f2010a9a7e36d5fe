/* SPDX-License-Identifier: BSD-3-Clause */
/* Block-ISAI: z = NU (NL v), approximate inverses of L and U (Ma et al. 2021, equations 6–9); of a
 * symmetric A z = NLᵀ (D⁻¹ (NL v)), D the diagonal blocks of U. Of the matrix itself z = N v
 * (equation 3), and z = N (Nᵀ v) with `symmetric`. */
#include "solve/isai.h"

#include <math.h>

#include "apply/apply_ops.h"
#include "core/block/values.h"
#include "core/context/context_impl.h"
#include "core/context/words.h"
#include "precond/precond_impl.h"

typedef struct isai_state {
  /* of L and, unless symmetric, of U; or the second one alone, of the matrix */
  bsi_isai inverses[2];
  /* what their patterns lack */
  bsi_pattern_losses losses[2];
  /* symmetric with relaxation: L's blocks by columns */
  bisai_pattern *lower_columns;
  /* of the matrix; NaN unless symmetric */
  double asymmetry;
  /* of the matrix itself: its stored blocks */
  int32_t blocks;
} isai_state;

static isai_state *isai_of(const bisai_precond *m) { return m->state; }

BSI_DEFINE_WORDS(inverse_of, BISAI_INVERSE_OF_LIST, "unknown inverse")

static const char *const storages[] = BSI_OPTION_WORDS(BISAI_VALUE_TYPE_LIST);
static const char *const sources[] = BSI_OPTION_WORDS(BISAI_INVERSE_OF_LIST);

static const bisai_option table[] = {
    {BSI_PRECOND_OPTION(isai.of), .name = "of", .key = "of", .placeholder = "T", .petsc = "of",
     .help = "inverses of the factors, or of the matrix", .type = BISAI_OPTION_WORD,
     .initial = BISAI_INVERSE_OF_FACTORS, .maximum = BISAI_INVERSE_OF_MATRIX,
     .advised = BISAI_INVERSE_OF_MATRIX, .words = sources},
    {BSI_PRECOND_OPTION(isai.power), .name = "power", .key = "k", .placeholder = "K", .petsc = "k",
     .help = "power of the pattern", .type = BISAI_OPTION_INTEGER, .use = BISAI_OPTION_SHOWN,
     .initial = 1, .minimum = 1, .maximum = INT32_MAX,
     .advised = INT32_MAX}, /* k ends by itself where the pattern is full */
    {BSI_PRECOND_OPTION(isai.symmetric), .name = "symmetric", .key = "symmetric", .placeholder = "",
     .petsc = "symmetric", .help = "M symmetric, of a symmetric matrix", .type = BISAI_OPTION_FLAG},
    {BSI_PRECOND_OPTION(isai.relax), .name = "relax", .key = "relax", .placeholder = "R",
     .petsc = "relax", .help = "relaxation sweeps", .type = BISAI_OPTION_INTEGER,
     .maximum = INT32_MAX, .advised = BSI_ADVISED_STEPS},
    {BSI_PRECOND_OPTION(isai.storage), .name = "storage", .key = "storage", .placeholder = "S",
     .petsc = "storage", .help = "storage of the inverses", .type = BISAI_OPTION_WORD,
     .initial = BISAI_FP64, .maximum = BISAI_ADAPTIVE, /* isai_check() says more */
     .advised = BISAI_MATRIX_TYPES - 1, .words = storages},
    {BSI_PRECOND_OPTION(isai.drop_tolerance), .name = "drop_tolerance", .key = "drop",
     .placeholder = "T", .petsc = "drop", .help = "drop smaller blocks before powering",
     .type = BISAI_OPTION_NUMBER, .maximum = INFINITY, .advised = BSI_ADVISED_RATIO},
    {BSI_PRECOND_OPTION(isai.column_limit), .name = "column_limit", .key = "cap",
     .placeholder = "C", .petsc = "cap", .help = "the most blocks of a column; 0: no limit",
     .type = BISAI_OPTION_INTEGER, .maximum = INT32_MAX, .advised = INT32_MAX},
    {BSI_PRECOND_OPTION(isai.lower_pattern), .name = "lower_pattern", .help = "the pattern of NL",
     .type = BISAI_OPTION_POINTER},
    {BSI_PRECOND_OPTION(isai.upper_pattern), .name = "upper_pattern", .help = "the pattern of NU",
     .type = BISAI_OPTION_POINTER},
    {BSI_PRECOND_OPTION(isai.whole_pattern), .name = "whole_pattern",
     .help = "the pattern of an inverse of the matrix", .type = BISAI_OPTION_POINTER}};
static const bsi_option_list own_options = BSI_OPTION_LIST(table);

static bool of_matrix(const bisai_precond_options *o) {
  return o->isai.of == BISAI_INVERSE_OF_MATRIX;
}
static bool of_factors(const bisai_precond_options *o) { return !of_matrix(o); }

static bisai_status check_pattern(bisai_context *context, const bisai_pattern *p,
                                  bisai_triangle triangle, int64_t n) {
  static const char *const names[] = {"lower_pattern", "upper_pattern", "whole_pattern"};
  if (!p) return BISAI_OK;
  const char *name = names[triangle];
  if (p->triangle != triangle)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "%s is a pattern of another triangle", name);
  if (p->block_rows != n)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "%s has %d block rows, the matrix %lld", name,
                    p->block_rows, (long long)n);
  return BISAI_OK;
}

static bisai_status check_stored(bisai_context *context, const bisai_bcsr *matrix) {
  if (matrix->type == BISAI_FP64 && !matrix->unit_diagonal) return BISAI_OK;
  return bsi_fail(context, BISAI_UNSUPPORTED,
                  matrix->unit_diagonal ? "isai of the matrix needs the diagonal blocks stored"
                                        : "isai of the matrix needs fp64 values");
}

/* Inverses of the matrix itself take no option that has no effect on them. */
static bisai_status check_of_matrix(bisai_context *context, const bisai_precond_options *options,
                                    const bisai_bcsr *matrix) {
  const bisai_isai_options *o = &options->isai;
  const bisai_factored_options *f = &options->factor;
  const char *idle = f->level > 0                           ? "level"
                     : f->least_pivot > 0.0                 ? "least_pivot"
                     : f->update_sweeps > 0                 ? "update_sweeps"
                     : f->factors                           ? "factors"
                     : f->matching != BISAI_MATCHING_NONE   ? "matching"
                     : options->shift != BISAI_SHIFT_NONE   ? "shift"
                     : o->relax > 0                         ? "relax"
                     : o->lower_pattern                     ? "lower_pattern"
                     : o->upper_pattern && !o->symmetric    ? "upper_pattern without symmetric"
                     : o->column_limit > 0 && !o->symmetric ? "column_limit without symmetric"
                     : o->whole_pattern && o->symmetric     ? "whole_pattern with symmetric"
                                                            : NULL;
  if (idle)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "isai of the matrix takes no %s", idle);
  BSI_TRY(check_stored(context, matrix));
  const bisai_status status =
      check_pattern(context, o->upper_pattern, BISAI_UPPER, matrix->block_rows);
  return status ? status
                : check_pattern(context, o->whole_pattern, BISAI_WHOLE, matrix->block_rows);
}

static bisai_status isai_check(bisai_context *context, const bisai_precond_options *options,
                               const bisai_bcsr *matrix) {
  const bisai_isai_options *o = &options->isai;
  const bisai_factors *given = options->factor.factors;
  if (!bsi_is_matrix_type(o->storage))
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "storage %s is block-Jacobi's alone",
                    bisai_value_type_string(o->storage));
  if (of_matrix(options)) return check_of_matrix(context, options, matrix);
  if (o->whole_pattern)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "whole_pattern: NL and NU are triangular");
  if (o->symmetric && o->upper_pattern)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "upper_pattern: symmetric isai has no NU");
  if (o->symmetric && given && !given->lower->unit_diagonal)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "symmetric isai needs factors whose L implies its diagonal blocks");
  if (o->symmetric && options->factor.matching != BISAI_MATCHING_NONE)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "symmetric isai takes no matching, which permutes rows alone");
  const int64_t rows = bsi_factored_rows(options, matrix);
  const bisai_status status = check_pattern(context, o->lower_pattern, BISAI_LOWER, rows);
  return status ? status : check_pattern(context, o->upper_pattern, BISAI_UPPER, rows);
}

/* Measures the matrix where it has to be symmetric; factors made of it here, where its pattern has
 * to be, too. */
static bisai_status isai_check_values(bisai_precond *m, const bisai_bcsr *matrix) {
  bool mirrored = true;
  double asymmetry = NAN;
  if (!m->options.isai.symmetric) {
    isai_of(m)->asymmetry = NAN;
    return BISAI_OK;
  }
  m->order.symmetric_scaling = true;
  const bisai_status status = bsi_bcsr_asymmetry(m->context, matrix, &asymmetry, &mirrored);
  if (status) return status;
  if (asymmetry > BISAI_SYMMETRY_LIMIT)
    return bsi_fail(m->context, BISAI_NOT_SYMMETRIC,
                    "symmetric isai needs a symmetric matrix, and the asymmetry of this one is "
                    "%.1e: isai without it takes it",
                    asymmetry);
  if (!mirrored && !m->options.factor.factors)
    return bsi_fail(m->context, BISAI_NOT_SYMMETRIC,
                    "symmetric isai needs a stored block (j, i) for each stored block (i, j), "
                    "which this matrix lacks");
  isai_of(m)->asymmetry = asymmetry;
  return BISAI_OK;
}

/* The inverses: NL alone, or NL and NU, or that of the matrix alone, which has the place of NU. */
static int first_inverse(const bisai_precond *m) {
  return of_matrix(&m->options) ? BISAI_UPPER : BISAI_LOWER;
}
static int end_of_inverses(const bisai_precond *m) {
  return m->options.isai.symmetric && !of_matrix(&m->options) ? BISAI_UPPER : BISAI_UPPER + 1;
}

/* Of what an inverse is. */
static bsi_triangular source_of(const bisai_precond *m, int t, const bisai_bcsr *a) {
  if (!of_matrix(&m->options)) return *bsi_triangular_of(m, (bisai_triangle)t);
  return (bsi_triangular){.triangle = BISAI_UPPER, .matrix = a};
}

static bsi_isai_systems systems_of(const bisai_precond *m) {
  if (!of_matrix(&m->options)) return BSI_SYSTEMS_TRIANGULAR;
  return m->options.isai.symmetric ? BSI_SYSTEMS_DEFINITE : BSI_SYSTEMS_GENERAL;
}

/* L's blocks by columns. */
static bisai_status list_lower_columns(bisai_precond *m) {
  const bisai_bcsr *l = m->factors->lower;
  bsi_structure s;
  bisai_status status = bsi_bcsr_structure(l, &s);
  if (status) return status;
  bisai_pattern *p = bsi_pattern_reserve(m->context, BISAI_LOWER, l->block_rows);
  if (!p) return BISAI_OUT_OF_MEMORY;
  status = bsi_pattern_set_rows(p, s.row_ptr, s.col_idx);
  return bsi_pattern_finish(p, status, &isai_of(m)->lower_columns);
}

/* The pattern of inverse number t. */
static bisai_status make_pattern(bisai_precond *m, int t, const bisai_bcsr *a,
                                 bisai_pattern **pattern) {
  const bisai_isai_options *o = &m->options.isai;
  const bool whole = systems_of(m) == BSI_SYSTEMS_GENERAL;
  const bisai_pattern *given = whole              ? o->whole_pattern
                               : t == BISAI_LOWER ? o->lower_pattern
                                                  : o->upper_pattern;
  const bsi_triangular source = source_of(m, t, a);
  if (given) return bsi_pattern_copy(m->context, given, pattern);
  return bsi_pattern_reduced(m->context, source.matrix, whole ? BISAI_WHOLE : source.triangle,
                             o->power, o->drop_tolerance, o->column_limit, pattern,
                             &isai_of(m)->losses[t]);
}

static bisai_status isai_setup(bisai_precond *m, const bisai_bcsr *a) {
  const double start = bsi_now();
  bisai_pattern *patterns[2] = {NULL, NULL};
  bisai_status status = BISAI_OK;
  for (int t = first_inverse(m); t < end_of_inverses(m) && !status; t++)
    status = make_pattern(m, t, a, &patterns[t]);
  if (!status && m->options.isai.symmetric && m->options.isai.relax > 0)
    status = list_lower_columns(m);
  m->report.pattern_seconds = bsi_now() - start;
  for (int t = first_inverse(m); t < end_of_inverses(m) && !status; t++) {
    const bsi_triangular source = source_of(m, t, a);
    status = bsi_isai_create(m->context, &source, systems_of(m), patterns[t],
                             m->options.isai.storage, &isai_of(m)->inverses[t]);
    patterns[t] = NULL;
  }
  isai_of(m)->blocks = a->blocks;
  if (of_matrix(&m->options)) m->work.vectors = m->options.isai.symmetric ? 1 : 0;
  bisai_pattern_destroy(&patterns[BISAI_LOWER]);
  bisai_pattern_destroy(&patterns[BISAI_UPPER]);
  return status;
}

static bisai_status isai_update(bisai_precond *m, const bisai_bcsr *a) {
  bisai_status status = BISAI_OK;
  for (int t = first_inverse(m); t < end_of_inverses(m) && !status; t++) {
    const bsi_triangular source = source_of(m, t, a);
    status = bsi_isai_update(m->context, &source, &isai_of(m)->inverses[t]);
  }
  return status;
}

/* Of the matrix itself: the systems are gathered anew, so that the blocks need not be where they
 * were. */
static bisai_status isai_check_update(const bisai_precond *m, const bisai_bcsr *a) {
  BSI_TRY(check_stored(m->context, a));
  if (a->blocks == isai_of(m)->blocks) return BISAI_OK;
  return bsi_fail(m->context, BISAI_INVALID_ARGUMENT, "the pattern changed: %d blocks, expected %d",
                  a->blocks, isai_of(m)->blocks);
}

static bsi_columns columns_of(const bisai_pattern *p) {
  return (bsi_columns){p->col_ptr, p->row_idx, p->position};
}

/* The second half of NLᵀ (D⁻¹ (NL v)); v->work holds NL v. */
static bisai_status apply_rest_of_symmetric(bisai_precond *m, const bsi_vectors *v) {
  const int64_t n = bsi_precond_size(m);
  double *scaled = v->work + n * v->count;
  const bsi_vectors upper = {v->count, scaled, n, v->x, v->ldx, v->work, v->cached_bytes, false};
  const bsi_columns columns = columns_of(isai_of(m)->inverses[BISAI_LOWER].pattern);
  const bisai_status status = m->context->backend->apply->products->multiply_diagonal(
      m->context, m->block_rows, m->block_size, m->factors->upper_inverse,
      &(bsi_product){.count = v->count, .x = v->work, .y = scaled, .ldx = n, .ldy = n});
  if (status) return status;
  const bsi_columns of_factor =
      isai_of(m)->lower_columns ? columns_of(isai_of(m)->lower_columns) : (bsi_columns){0};
  return bsi_apply_transposed(m->context, isai_of(m)->inverses[BISAI_LOWER].inverse, &columns,
                              bsi_triangular_of(m, BISAI_LOWER), &of_factor, m->options.isai.relax,
                              &upper);
}

/* N v, or ±N (Nᵀ v). */
static bisai_status apply_of_matrix(bisai_precond *m, const bsi_vectors *v) {
  const int64_t n = bsi_precond_size(m);
  const bsi_isai *isai = &isai_of(m)->inverses[BISAI_UPPER];
  if (!m->options.isai.symmetric) return bsi_apply_inverse(m->context, isai->inverse, NULL, 0, v);
  const bsi_vectors first = bsi_first_half(v, n);
  const bsi_product second = {.count = v->count,
                              .alpha = isai->sign,
                              .x = v->work,
                              .y = v->x,
                              .ldx = n,
                              .ldy = v->ldx,
                              .cached_bytes = v->cached_bytes};
  const bsi_columns columns = columns_of(isai->pattern);
  const bisai_status status =
      bsi_apply_transposed(m->context, isai->inverse, &columns, NULL, NULL, 0, &first);
  return status
             ? status
             : m->context->backend->apply->products->multiply(m->context, isai->inverse, &second);
}

/* The factor that relaxations read, or NULL: a transpose without relaxations has no factors. */
static const bsi_triangular *factor_of(const bisai_precond *m, bisai_triangle triangle) {
  return m->factors ? bsi_triangular_of(m, triangle) : NULL;
}

static bisai_status isai_apply(bisai_precond *m, const bsi_vectors *v) {
  if (of_matrix(&m->options)) return apply_of_matrix(m, v);
  const int64_t n = bsi_precond_size(m);
  const bsi_vectors lower = bsi_first_half(v, n), upper = bsi_second_half(v, n);
  const bisai_status status =
      bsi_apply_inverse(m->context, isai_of(m)->inverses[BISAI_LOWER].inverse,
                        factor_of(m, BISAI_LOWER), m->options.isai.relax, &lower);
  if (status) return status;
  if (m->options.isai.symmetric) return apply_rest_of_symmetric(m, v);
  return bsi_apply_inverse(m->context, isai_of(m)->inverses[BISAI_UPPER].inverse,
                           factor_of(m, BISAI_UPPER), m->options.isai.relax, &upper);
}

static bool isai_is_own(const bisai_precond *m) { return m->options.isai.symmetric; }

/* (NU NL)ᵀ = NLᵀ NUᵀ: NUᵀ is the lower inverse, of Uᵀ, and NLᵀ the upper one. That of the matrix
 * itself is Nᵀ. */
static bisai_status isai_transpose(const bisai_precond *m, bisai_precond *t) {
  if (m->options.isai.relax > 0) BSI_TRY(bsi_factored_transpose(m, t));
  if (of_matrix(&m->options))
    return bsi_bcsr_transpose(isai_of(m)->inverses[BISAI_UPPER].inverse,
                              &isai_of(t)->inverses[BISAI_UPPER].inverse);
  BSI_TRY(bsi_bcsr_transpose(isai_of(m)->inverses[BISAI_UPPER].inverse,
                             &isai_of(t)->inverses[BISAI_LOWER].inverse));
  return bsi_bcsr_transpose(isai_of(m)->inverses[BISAI_LOWER].inverse,
                            &isai_of(t)->inverses[BISAI_UPPER].inverse);
}

/* NU is made by columns, from U NU = I; NLᵀ is not that, as its columns are NL's rows. */
static bisai_symmetry isai_symmetry(const bisai_precond *m) {
  if (systems_of(m) == BSI_SYSTEMS_DEFINITE) return BISAI_SYMMETRY_VALUES;
  return m->options.isai.symmetric ? bsi_factored_symmetry(m) : BISAI_SYMMETRY_NONE;
}

/* What the transposed half reads, and D⁻¹. */
static int64_t symmetric_bytes(const bisai_precond *m) {
  const bisai_bcsr *n = isai_of(m)->inverses[BISAI_LOWER].inverse, *l = m->factors->lower;
  const int64_t relax = m->options.isai.relax, positions = 4 * (int64_t)n->blocks;
  const int64_t diagonal =
      8 * (int64_t)bsi_block_offset(n, n->block_rows) + 16 * bsi_precond_size(m);
  return (bsi_bcsr_product_bytes(n) + positions) * (1 + relax) +
         (bsi_bcsr_product_bytes(l) + 4 * (int64_t)l->blocks) * relax + diagonal;
}

static void isai_report(const bisai_precond *m, bisai_precond_report *r) {
  r->isai.asymmetry = isai_of(m)->asymmetry;
  r->isai.dropped_lower = isai_of(m)->losses[BISAI_LOWER].dropped;
  r->isai.dropped_upper = isai_of(m)->losses[BISAI_UPPER].dropped;
  if (systems_of(m) == BSI_SYSTEMS_DEFINITE) {
    const bisai_bcsr *n = isai_of(m)->inverses[BISAI_UPPER].inverse;
    r->apply_bytes += bsi_bcsr_product_bytes(n) + 4 * (int64_t)n->blocks;
  } else if (m->options.isai.symmetric) {
    r->apply_bytes += symmetric_bytes(m);
  }
  if (isai_of(m)->lower_columns) r->memory_bytes += bsi_pattern_memory(isai_of(m)->lower_columns);
  for (int t = first_inverse(m); t < end_of_inverses(m); t++) {
    const bsi_isai *isai = &isai_of(m)->inverses[t];
    const int64_t factor_bytes =
        m->options.isai.relax > 0
            ? bsi_bcsr_product_bytes(bsi_triangular_of(m, (bisai_triangle)t)->matrix)
            : 0;
    r->isai.blocks += isai->pattern->blocks;
    if (isai->pattern->longest_column > r->isai.longest_column)
      r->isai.longest_column = isai->pattern->longest_column;
    r->isai.shortened_columns += isai_of(m)->losses[t].cut.shortened;
    r->isai.cut_blocks += isai_of(m)->losses[t].cut.blocks;
    r->memory_bytes += bsi_isai_memory(isai);
    r->apply_bytes += bsi_bcsr_product_bytes(isai->inverse) * (1 + (int64_t)m->options.isai.relax) +
                      factor_bytes * m->options.isai.relax;
  }
}

static void isai_destroy(bisai_precond *m) {
  bsi_isai_destroy(m->context, &isai_of(m)->inverses[BISAI_LOWER]);
  bsi_isai_destroy(m->context, &isai_of(m)->inverses[BISAI_UPPER]);
  bisai_pattern_destroy(&isai_of(m)->lower_columns);
}

static void isai_describe(bisai_precond *m) {
  const bisai_isai_options *o = &m->options.isai;
  const bisai_isai_report *r = &m->report.isai;
  if (of_matrix(&m->options)) bsi_append(m, " of=matrix");
  if (o->whole_pattern || (of_matrix(&m->options) && o->upper_pattern) ||
      (o->lower_pattern && (o->upper_pattern || o->symmetric)))
    bsi_append(m, " patterns=given");
  else
    bsi_append(m, " k=%d", o->power);
  if (o->symmetric) bsi_append(m, " symmetric");
  if (o->drop_tolerance > 0.0) bsi_append(m, " drop=%g", o->drop_tolerance);
  if (o->column_limit > 0) bsi_append(m, " cap=%d", o->column_limit);
  if (!of_matrix(&m->options)) bsi_append(m, " relax=%d", o->relax);
  bsi_append(m, " storage=%s", bisai_value_type_string(o->storage));
  bsi_describe_factors(m);
  bsi_append(m, ", %lld blocks", (long long)r->blocks);
  if (r->dropped_upper > 0 && of_matrix(&m->options))
    bsi_append(m, ", %lld blocks of A dropped", (long long)r->dropped_upper);
  else if (r->dropped_lower + r->dropped_upper > 0)
    bsi_append(m, ", %lld blocks of L and %lld of U dropped", (long long)r->dropped_lower,
               (long long)r->dropped_upper);
  if (r->shortened_columns > 0)
    bsi_append(m, ", %d columns shortened by %lld blocks", r->shortened_columns,
               (long long)r->cut_blocks);
}

/* N Nᵀ is definite whatever the matrix. */
static void isai_say_indefinite(const bisai_precond *m, size_t size, char *text) {
  if (!of_matrix(&m->options)) bsi_factored_say_indefinite(m, size, text);
}

const bsi_precond_ops bsi_precond_isai = {
    .options = {&own_options, &bsi_factored_options, &bsi_shift_options, &bsi_order_options},
    .state_size = sizeof(isai_state),
    .takes_factors = of_factors,
    .vectors = 2,
    .check = isai_check,
    .check_values = isai_check_values,
    .setup = isai_setup,
    .update = isai_update,
    .check_update = isai_check_update,
    .apply = isai_apply,
    .transpose = {.is_own = isai_is_own, .make = isai_transpose},
    .about.symmetry = isai_symmetry,
    .about.say_indefinite = isai_say_indefinite,
    .about.describe = isai_describe,
    .about.report = isai_report,
    .destroy = isai_destroy};

static const bisai_bcsr *inverse_of(const bisai_precond *m, bisai_triangle triangle) {
  return m && m->ops == &bsi_precond_isai ? isai_of(m)->inverses[triangle].inverse : NULL;
}

const bisai_bcsr *bisai_precond_lower_inverse(const bisai_precond *precond) {
  return inverse_of(precond, BISAI_LOWER);
}

const bisai_bcsr *bisai_precond_upper_inverse(const bisai_precond *precond) {
  return inverse_of(precond, BISAI_UPPER);
}
