/* SPDX-License-Identifier: BSD-3-Clause */
/* The formats of block-Jacobi: fixed ones hold what rounding makes of the values; adaptive ones are
 * those that the rule names, block by block and group by group, and keep the digits that they were
 * asked for. */
#include "fixture.h"

#include <float.h>
#include <math.h>

#include "bjacobi/bjacobi.h"
#include "bjacobi/bjacobi_ops.h"
#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"

enum { MOST = 32, FORMATS = 6 };

/* In the order of the paper: shorter first, of equal length the more accurate. */
typedef struct number_format {
  bisai_value_type type;
  /* exponents of normal numbers */
  int mantissa, lowest, highest;
  int bytes;
} number_format;

static const number_format list[FORMATS] = {
    {BISAI_FP16, 10, -14, 15, 2},        {BISAI_BF16, 7, -126, 127, 2},
    {BISAI_FP11_4, 4, -1022, 1023, 2},   {BISAI_FP32, 23, -126, 127, 4},
    {BISAI_FP11_20, 20, -1022, 1023, 4}, {BISAI_FP64, 52, -1022, 1023, 8}};

/* x to nearest even on the format's grid; infinite beyond its range. */
static double rounded(const number_format *f, double x) {
  int exponent;
  if (x == 0.0 || f->type == BISAI_FP64) return x;
  frexp(x, &exponent);
  const int step = (exponent - 1 > f->lowest ? exponent - 1 : f->lowest) - f->mantissa;
  const double value = ldexp(nearbyint(ldexp(x, -step)), step);
  const double largest = ldexp(2.0 - ldexp(1.0, -f->mantissa), f->highest);
  return fabs(value) > largest ? copysign((double)INFINITY, x) : value;
}

/* --- a matrix of dense blocks alone --- */

typedef struct blocks {
  int32_t count, rows;
  int32_t start[600];
  /* block after block, column-major */
  double *values;
  double *inverses;
} blocks;

static int64_t place_of(const blocks *b, int32_t block) {
  int64_t place = 0;
  for (int32_t i = 0; i < block; i++)
    place += (int64_t)(b->start[i + 1] - b->start[i]) * (b->start[i + 1] - b->start[i]);
  return place;
}

static int32_t size_of(const blocks *b, int32_t block) {
  return b->start[block + 1] - b->start[block];
}

/* scale·(random near the identity)·diag(1 … 1/condition) */
static void add_block(blocks *b, int32_t m, double scale, double condition, uint64_t seed) {
  const int64_t place = place_of(b, b->count);
  b->values = realloc(b->values, (size_t)(place + m * m) * sizeof *b->values);
  test_random random = test_random_seed(seed);
  for (int32_t c = 0; c < m; c++)
    for (int32_t r = 0; r < m; r++)
      b->values[place + c * m + r] =
          scale * pow(condition, m > 1 ? -(double)c / (m - 1) : 0.0) *
          ((r == c ? 1.0 : 0.0) + test_random_uniform(&random, -0.2, 0.2) / m);
  b->start[b->count + 1] = b->start[b->count] + m;
  b->rows = b->start[++b->count];
}

static bisai_bcsr *matrix_of(bisai_context *c, const blocks *b) {
  test_bcsr a = {b->rows, b->rows, 1, malloc(((size_t)b->rows + 1) * 4), NULL, NULL};
  const size_t stored = (size_t)place_of(b, b->count);
  a.col_idx = malloc(stored * 4);
  a.values = malloc(stored * 8);
  int32_t count = 0;
  a.row_ptr[0] = 0;
  for (int32_t i = 0; i < b->count; i++) {
    const int32_t m = size_of(b, i);
    const double *block = b->values + place_of(b, i);
    for (int32_t r = 0; r < m; r++) {
      for (int32_t k = 0; k < m; k++) {
        a.col_idx[count] = b->start[i] + k;
        a.values[count++] = block[k * m + r];
      }
      a.row_ptr[b->start[i] + r + 1] = count;
    }
  }
  return test_bcsr_take(c, a);
}

static void blocks_free(blocks *b) {
  free(b->values);
  free(b->inverses);
}

static bsi_bjacobi_options options_of(const blocks *b, bisai_value_type storage) {
  return (bsi_bjacobi_options){.given_blocks = b->count,
                               .given_start = b->start,
                               .form = BISAI_FORM_INVERSE,
                               .storage = storage,
                               .digits = 2};
}

static bsi_bjacobi make(const bisai_bcsr *matrix, const bsi_bjacobi_options *options) {
  bsi_bjacobi jacobi;
  EXPECT_OK(context, bsi_bjacobi_create(context, matrix, options, &jacobi));
  EXPECT_OK(context, bsi_bjacobi_update(context, matrix, &jacobi));
  return jacobi;
}

static void apply(const bsi_bjacobi *jacobi, const double *v, double *z) {
  EXPECT_OK(context, context->backend->bjacobi->solve->apply(context, jacobi, 1, v, 0, z, 0));
  test_synchronize();
}

/* What is stored, block after block, widened: products with unit vectors round nothing. */
static double *stored_blocks(const blocks *b, const bsi_bjacobi *jacobi) {
  double *all = malloc((size_t)place_of(b, b->count) * sizeof *all);
  double *v = test_vector_in_place(b->rows, 1), *z = test_vector_in_place(b->rows, 2);
  for (int32_t c = 0; c < MOST; c++) {
    for (int32_t i = 0; i < b->count; i++)
      for (int32_t r = 0; r < size_of(b, i); r++) v[b->start[i] + r] = r == c ? 1.0 : 0.0;
    apply(jacobi, v, z);
    for (int32_t i = 0; i < b->count; i++) {
      const int32_t m = size_of(b, i);
      if (c < m) memcpy(all + place_of(b, i) + c * m, z + b->start[i], (size_t)m * sizeof *z);
    }
  }
  test_vector_free(v);
  test_vector_free(z);
  return all;
}

static double *stored_in(const blocks *b, const bisai_bcsr *matrix, bisai_value_type storage) {
  const bsi_bjacobi_options options = options_of(b, storage);
  bsi_bjacobi jacobi = make(matrix, &options);
  double *all = stored_blocks(b, &jacobi);
  bsi_bjacobi_destroy(context, &jacobi);
  return all;
}

/* --- the rule --- */

/* ‖D‖₁, and whether format f may hold the block: κ₁ u ≤ 10^−digits and ‖D‖₁‖E − Ẽ‖₁ ≤
 * 10^−digits. */
static bool may_have(const number_format *f, int32_t m, const double *d, const double *e,
                     int digits) {
  double error = 0.0;
  const double norm = test_dense_norm1(m, m, d), tolerance = 1.0 / pow(10.0, digits);
  if (f->type == BISAI_FP64) return true;
  for (int32_t c = 0; c < m; c++) {
    double sum = 0.0;
    for (int32_t r = 0; r < m; r++) sum += fabs(e[c * m + r] - rounded(f, e[c * m + r]));
    error = fmax(error, sum);
  }
  return norm * test_dense_norm1(m, m, e) * ldexp(1.0, -f->mantissa - 1) <= tolerance &&
         norm * error <= tolerance;
}

/* ‖I − D Ẽ‖₁ */
static double deviation(int32_t m, const double *d, const double *e) {
  double *product = test_dense_multiply(m, m, m, d, e);
  for (int32_t r = 0; r < m; r++) product[r * m + r] -= 1.0;
  const double norm = test_dense_norm1(m, m, product);
  free(product);
  return norm;
}

static bool admits(bisai_formats formats, bisai_value_type type) {
  switch (formats) {
  case BISAI_FORMATS_IEEE: return type == BISAI_FP16 || type == BISAI_FP32 || type == BISAI_FP64;
  case BISAI_FORMATS_TRUNCATED:
    return type == BISAI_FP11_4 || type == BISAI_FP11_20 || type == BISAI_FP64;
  default: return true;
  }
}

/* Every group has the first admitted format of the list that all its blocks may have, its values
 * are those rounded, and the digits are there. */
static void expect_justified(const blocks *b, const bisai_bcsr *matrix, int digits,
                             bisai_formats formats, int32_t group_rows, int64_t counts[FORMATS]) {
  double *exact = stored_in(b, matrix, BISAI_FP64);
  bsi_bjacobi_options options = options_of(b, BISAI_ADAPTIVE);
  options.digits = digits;
  options.formats = formats;
  options.group_rows = group_rows;
  bsi_bjacobi jacobi = make(matrix, &options);
  double *stored = stored_blocks(b, &jacobi);
  int64_t found[FORMATS] = {0}, bytes = 0;
  for (int32_t g = 0; g < jacobi.groups; g++) {
    const int32_t begin = g * jacobi.per_group;
    const int32_t end = begin + jacobi.per_group < b->count ? begin + jacobi.per_group : b->count;
    const number_format *expected = NULL;
    for (int f = 0; f < FORMATS && !expected; f++) {
      bool all = admits(formats, list[f].type);
      for (int32_t i = begin; i < end; i++)
        all = all && may_have(&list[f], size_of(b, i), b->values + place_of(b, i),
                              exact + place_of(b, i), digits);
      if (all) expected = &list[f];
    }
    assert_int_equal(jacobi.format[g], expected->type);
    for (int32_t i = begin; i < end; i++) {
      const int32_t m = size_of(b, i);
      const double *d = b->values + place_of(b, i), *e = exact + place_of(b, i),
                   *s = stored + place_of(b, i);
      for (int32_t k = 0; k < m * m; k++) assert_true(s[k] == rounded(expected, e[k]));
      /* the inverse in fp64 has a residual of its own, of some m ε κ₁ */
      const double own =
          64.0 * m * DBL_EPSILON * test_dense_norm1(m, m, d) * test_dense_norm1(m, m, e);
      assert_true(deviation(m, d, s) <= pow(10.0, -digits) + own);
      found[expected->type]++;
      bytes += (int64_t)m * m * expected->bytes;
    }
  }
  assert_memory_equal(found, jacobi.stats.formats, sizeof found);
  assert_int_equal(jacobi.stats.value_bytes, bytes);
  if (counts) memcpy(counts, found, sizeof found);
  bsi_bjacobi_destroy(context, &jacobi);
  free(exact);
  free(stored);
}

/* --- tests --- */

static void fixed_formats_hold_the_rounded_inverses(void **state) {
  (void)state;
  blocks b = {0};
  for (int32_t i = 0; i < 96; i++)
    add_block(&b, 1 + (7 * i) % MOST, 1.0, 1.0 + i % 5, 10 + (uint64_t)i);
  bisai_bcsr *matrix = matrix_of(context, &b);
  double *exact = stored_in(&b, matrix, BISAI_FP64);
  for (int f = 0; f < FORMATS; f++) {
    double *stored = stored_in(&b, matrix, list[f].type);
    for (int64_t i = 0; i < place_of(&b, b.count); i++)
      assert_true(stored[i] == rounded(&list[f], exact[i]));
    free(stored);
  }
  free(exact);
  bisai_bcsr_destroy(&matrix);
  blocks_free(&b);
}

/* Narrow decompositions solve as well as their format: 64 m u κ₁. */
static void narrow_decompositions_have_the_accuracy_of_their_format(void **state) {
  (void)state;
  blocks b = {0};
  for (int32_t m = 1; m <= MOST; m++) add_block(&b, m, 2.0, 8.0, (uint64_t)m);
  bisai_bcsr *matrix = matrix_of(context, &b);
  double *v = test_vector_in_place(b.rows, 1), *z = test_vector_in_place(b.rows, 2);
  for (int form = BISAI_FORM_GAUSS_HUARD; form <= BISAI_FORM_LU; form++) {
    for (int f = 0; f < FORMATS; f++) {
      bsi_bjacobi_options options = options_of(&b, list[f].type);
      options.form = (bisai_form)form;
      bsi_bjacobi jacobi = make(matrix, &options);
      apply(&jacobi, v, z);
      for (int32_t i = 0; i < b.count; i++) {
        const int32_t m = size_of(&b, i);
        const double *d = b.values + place_of(&b, i);
        double *expected = test_dense_solve(m, d, v + b.start[i]);
        const double unit = ldexp(1.0, -list[f].mantissa - 1);
        EXPECT_CLOSE(m, expected, z + b.start[i],
                     64.0 * m * unit * test_dense_condition1(m, d) * test_norm2(m, expected));
        free(expected);
      }
      bsi_bjacobi_destroy(context, &jacobi);
    }
  }
  test_vector_free(v);
  test_vector_free(z);
  bisai_bcsr_destroy(&matrix);
  blocks_free(&b);
}

/* A block for each format, by condition and by range. */
static void each_format_has_its_blocks(void **state) {
  (void)state;
  static const struct {
    double scale, condition;
    int digits;
    bisai_value_type expected;
  } cases[] = {
      {1.0, 4.0, 1, BISAI_FP16},      {1e-10, 4.0, 1, BISAI_BF16},   {1e10, 4.0, 1, BISAI_BF16},
      {1e-60, 1.0, 1, BISAI_FP11_4},  {1e60, 1.0, 1, BISAI_FP11_4},  {1.0, 1e4, 1, BISAI_FP32},
      {1e-60, 1e3, 1, BISAI_FP11_20}, {1e60, 1e3, 1, BISAI_FP11_20}, {1.0, 1e8, 1, BISAI_FP64},
      {1.0, 4.0, 2, BISAI_FP16},      {1e-10, 4.0, 2, BISAI_FP32},   {1e-60, 1.0, 2, BISAI_FP11_20},
      {1.0, 4.0, 3, BISAI_FP32},      {1.0, 4.0, 12, BISAI_FP64}};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    for (int32_t m = 2; m <= MOST; m += 10) {
      blocks b = {0};
      int64_t counts[FORMATS];
      for (int32_t i = 0; i < 3 * MOST; i++)
        add_block(&b, m, cases[k].scale, cases[k].condition, (uint64_t)i);
      bisai_bcsr *matrix = matrix_of(context, &b);
      expect_justified(&b, matrix, cases[k].digits, BISAI_FORMATS_ALL, 0, counts);
      if (counts[cases[k].expected] != b.count)
        fail_msg("case %zu, %d rows: %lld of %d blocks in format %d", k, m,
                 (long long)counts[cases[k].expected], b.count, (int)cases[k].expected);
      bisai_bcsr_destroy(&matrix);
      blocks_free(&b);
    }
  }
}

/* Neighbouring blocks of one size allow different formats, and the last group is smaller. */
static void groups_of_one_size_differ_in_format(void **state) {
  (void)state;
  static const double conditions[] = {1.0, 1e4, 1.0, 1e8};
  for (int32_t m = 1; m <= MOST; m++) {
    const int32_t per_group = test_on_device() ? MOST / m : 1;
    blocks b = {0};
    for (int32_t i = 0; i < 13 * per_group + (per_group + 1) / 2; i++)
      add_block(&b, m, 1.0, m > 1 ? conditions[i / per_group % 4] : 1.0, (uint64_t)i);
    bisai_bcsr *matrix = matrix_of(context, &b);
    for (int formats = BISAI_FORMATS_ALL; formats <= BISAI_FORMATS_TRUNCATED; formats++) {
      int64_t counts[FORMATS];
      expect_justified(&b, matrix, 1, (bisai_formats)formats, 0, counts);
      int used = 0;
      for (int f = 0; f < FORMATS; f++) used += counts[f] > 0;
      assert_int_equal(used, m == 1 ? 1 : 3);
      for (int f = 0; f < FORMATS; f++)
        assert_true(counts[f] == 0 || admits((bisai_formats)formats, (bisai_value_type)f));
    }
    bisai_bcsr_destroy(&matrix);
    blocks_free(&b);
  }
}

/* Perfectly conditioned, but zero in fp16: what κ₁ alone would allow is singular. */
static void blocks_that_would_vanish_take_a_wider_range(void **state) {
  (void)state;
  for (int32_t m = 1; m <= MOST; m += 7) {
    blocks b = {0};
    int64_t counts[FORMATS];
    for (int32_t i = 0; i < MOST; i++) add_block(&b, m, 0x1p30, 1.0, (uint64_t)i);
    bisai_bcsr *matrix = matrix_of(context, &b);
    expect_justified(&b, matrix, 1, BISAI_FORMATS_ALL, 0, counts);
    assert_int_equal(counts[BISAI_BF16], b.count);
    bisai_bcsr_destroy(&matrix);
    blocks_free(&b);
  }
}

/* fp16 ends at 65504. From 65520 on, rounding makes infinity, which is not as near as 2^16. */
static void values_just_beyond_fp16_take_a_wider_range(void **state) {
  (void)state;
  static const struct {
    double inverse;
    bisai_value_type expected;
  } cases[] = {{65504.0, BISAI_FP16}, {65519.0, BISAI_FP16}, {65521.0, BISAI_BF16},
               {65530.0, BISAI_BF16}, {65535.0, BISAI_BF16}, {65537.0, BISAI_BF16}};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    for (int32_t m = 1; m <= MOST; m += 7) {
      blocks b = {0};
      int64_t counts[FORMATS];
      for (int32_t i = 0; i < MOST; i++) {
        add_block(&b, m, 0.0, 1.0, 0);
        double *d = b.values + place_of(&b, i);
        for (int32_t r = 0; r < m; r++) d[r * m + r] = (i % 2 == 0 ? 1.0 : -1.0) / cases[k].inverse;
      }
      bisai_bcsr *matrix = matrix_of(context, &b);
      expect_justified(&b, matrix, 1, BISAI_FORMATS_ALL, 0, counts);
      assert_int_equal(counts[cases[k].expected], b.count);
      bisai_bcsr_destroy(&matrix);
      blocks_free(&b);
    }
  }
}

static void every_blocks_format_is_the_first_that_its_group_may_have(void **state) {
  (void)state;
  static const int digits[] = {1, 2, 3, 6, 10, 15};
  static const int32_t sizes[] = {1, 3, 4, 5, 8, 16, 32}; /* then sizes up to 9, and up to 32 */
  for (int s = 0; s < 9; s++) {
    blocks b = {0};
    test_random random = test_random_seed((uint64_t)s);
    for (int32_t i = 0; i < 300; i++) {
      const int32_t m = s < 7 ? sizes[s] : test_random_integer(&random, 1, s == 7 ? 9 : 32);
      const double scale = pow(10.0, i % 3 == 0 ? test_random_uniform(&random, -12.0, 12.0) : 0.0);
      add_block(&b, m, scale, pow(10.0, test_random_uniform(&random, 0.0, 12.0)), (uint64_t)i);
    }
    bisai_bcsr *matrix = matrix_of(context, &b);
    for (size_t d = 0; d < sizeof digits / sizeof digits[0]; d++) {
      expect_justified(&b, matrix, digits[d], BISAI_FORMATS_ALL, 0, NULL);
      if (!test_on_device()) expect_justified(&b, matrix, digits[d], BISAI_FORMATS_ALL, MOST, NULL);
    }
    bisai_bcsr_destroy(&matrix);
    blocks_free(&b);
  }
}

/* Storage in groups changes nothing but places. */
static void groups_of_blocks_hold_what_single_ones_do(void **state) {
  (void)state;
  if (test_on_device()) skip();
  for (int s = 0; s < 4; s++) {
    static const int32_t sizes[] = {1, 4, 5};
    blocks b = {0};
    for (int32_t i = 0; i < 101; i++)
      add_block(&b, s < 3 ? sizes[s] : 1 + (5 * i) % 13, 1.0, 10.0, (uint64_t)i);
    if (s == 2) add_block(&b, 3, 1.0, 10.0, 1); /* the last one is smaller */
    bisai_bcsr *matrix = matrix_of(context, &b);
    double *v = test_random_vector(b.rows, 1), *one = test_random_vector(b.rows, 2),
           *many = test_random_vector(b.rows, 3);
    for (int form = BISAI_FORM_INVERSE; form <= BISAI_FORM_LU; form++) {
      for (int f = 0; f < FORMATS; f++) {
        bsi_bjacobi_options options = options_of(&b, list[f].type);
        options.form = (bisai_form)form;
        options.group_rows = 1;
        bsi_bjacobi single = make(matrix, &options);
        options.group_rows = MOST;
        bsi_bjacobi grouped = make(matrix, &options);
        assert_int_equal(single.per_group, 1);
        assert_int_equal(grouped.per_group, MOST / (s < 3 ? sizes[s] : 13));
        if (s < 2) assert_int_equal(grouped.values, single.values); /* no padding */
        assert_int_equal(grouped.stats.value_bytes, single.stats.value_bytes);
        apply(&single, v, one);
        apply(&grouped, v, many);
        assert_memory_equal(one, many, (size_t)b.rows * sizeof *one);
        bsi_bjacobi_destroy(context, &single);
        bsi_bjacobi_destroy(context, &grouped);
      }
    }
    free(v);
    free(one);
    free(many);
    bisai_bcsr_destroy(&matrix);
    blocks_free(&b);
  }
}

/* What a fixed format cannot hold is refused by its block, not stored as infinity or as nothing. */
static void values_that_do_not_fit_are_refused_by_block(void **state) {
  (void)state;
  static const struct {
    bisai_value_type storage;
    double scale;
    bool fits;
  } cases[] = {
      {BISAI_FP16, 1e-5, false}, {BISAI_FP16, 1e-4, true},    {BISAI_FP16, 1e9, false},
      {BISAI_FP16, 1e6, true},   {BISAI_BF16, 1e-5, true},    {BISAI_BF16, 1e-39, false},
      {BISAI_BF16, 1e42, false}, {BISAI_FP32, 1e-39, false},  {BISAI_FP32, 1e46, false},
      {BISAI_FP32, 1e30, true},  {BISAI_FP11_4, 1e200, true}, {BISAI_FP11_20, 1e-200, true}};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    blocks b = {0};
    for (int32_t i = 0; i < 40; i++)
      add_block(&b, 1 + i % 8, i == 23 ? cases[k].scale : 1.0, 1.5, (uint64_t)i);
    bisai_bcsr *matrix = matrix_of(context, &b);
    const bsi_bjacobi_options options = options_of(&b, cases[k].storage);
    bsi_bjacobi jacobi;
    EXPECT_OK(context, bsi_bjacobi_create(context, matrix, &options, &jacobi));
    EXPECT_STATUS(context, cases[k].fits ? BISAI_OK : BISAI_OVERFLOW,
                  bsi_bjacobi_update(context, matrix, &jacobi));
    if (!cases[k].fits)
      EXPECT_MESSAGE(context, "block 23 (rows 100 … 107): the inverse does not fit its storage");
    bsi_bjacobi_destroy(context, &jacobi);
    bisai_bcsr_destroy(&matrix);
    blocks_free(&b);
  }
}

/* A matrix row that is large beside the others makes a column of the inverse that vanishes, a
 * column makes a row: diag(1, 1e12) is no diag(1, 0). */
static void blocks_that_would_be_stored_as_singular_are_refused(void **state) {
  (void)state;
  for (int32_t m = 2; m <= MOST; m += m < 8 ? 1 : 8) {
    for (int where = 0; where < 3 * m; where++) {
      const int32_t line = where / 3;
      blocks b = {0};
      for (int32_t i = 0; i < 5; i++) add_block(&b, m, 1.0, 1.5, (uint64_t)i);
      double *d = b.values + place_of(&b, 3);
      for (int32_t c = 0; c < m; c++)
        for (int32_t r = 0; r < m; r++) {
          if (where % 3 == 0) d[c * m + r] = r != c ? 0.0 : r == line ? 1e12 : 1.0;
          if (where % 3 == 1 && r == line) d[c * m + r] *= 0x1p40;
          if (where % 3 == 2 && c == line) d[c * m + r] *= 0x1p40;
        }
      bisai_bcsr *matrix = matrix_of(context, &b);
      for (int format = 0; format < FORMATS; format++) {
        const bsi_bjacobi_options options = options_of(&b, list[format].type);
        const bool fits = list[format].type != BISAI_FP16;
        bsi_bjacobi jacobi;
        EXPECT_OK(context, bsi_bjacobi_create(context, matrix, &options, &jacobi));
        EXPECT_STATUS(context, fits ? BISAI_OK : BISAI_OVERFLOW,
                      bsi_bjacobi_update(context, matrix, &jacobi));
        char message[96];
        snprintf(message, sizeof message,
                 "block 3 (rows %d … %d): the inverse does not fit its storage", 3 * m, 4 * m - 1);
        if (!fits) EXPECT_MESSAGE(context, message);
        bsi_bjacobi_destroy(context, &jacobi);
      }
      bisai_bcsr_destroy(&matrix);
      blocks_free(&b);
    }
  }
}

/* [[1, ½], [½, 10⁹]]: of a decomposition in fp16 all rows and columns are left, but no second
 * pivot. */
static void pivots_that_vanish_are_refused(void **state) {
  (void)state;
  blocks b = {0};
  for (int32_t i = 0; i < 5; i++) add_block(&b, 2, 1.0, 1.5, (uint64_t)i);
  const double d[] = {1.0, 0.5, 0.5, 1e9};
  memcpy(b.values + place_of(&b, 3), d, sizeof d);
  bisai_bcsr *matrix = matrix_of(context, &b);
  for (int form = BISAI_FORM_INVERSE; form <= BISAI_FORM_LU; form++)
    for (int format = 0; format < FORMATS; format++) {
      bsi_bjacobi_options options = options_of(&b, list[format].type);
      options.form = (bisai_form)form;
      bsi_bjacobi jacobi;
      EXPECT_OK(context, bsi_bjacobi_create(context, matrix, &options, &jacobi));
      EXPECT_STATUS(context, list[format].type == BISAI_FP16 ? BISAI_OVERFLOW : BISAI_OK,
                    bsi_bjacobi_update(context, matrix, &jacobi));
      bsi_bjacobi_destroy(context, &jacobi);
    }
  bisai_bcsr_destroy(&matrix);
  blocks_free(&b);
}

/* Of every row and column of the inverse one value is large enough, which it need not be on the
 * diagonal. */
static void blocks_of_which_something_is_left_everywhere_are_stored(void **state) {
  (void)state;
  for (int32_t m = 2; m <= MOST; m += 5) {
    blocks b = {0};
    for (int32_t i = 0; i < 3; i++) add_block(&b, m, 1.0, 1.5, (uint64_t)i);
    double *d = b.values + place_of(&b, 1);
    for (int32_t c = 0; c < m; c++)
      for (int32_t r = 0; r < m; r++)
        d[c * m + r] = r == (c + 1) % m ? 0x1p24 : 0.0; /* the inverse has 2⁻²⁴: fp16's least */
    bisai_bcsr *matrix = matrix_of(context, &b);
    const bsi_bjacobi_options options = options_of(&b, BISAI_FP16);
    bsi_bjacobi jacobi = make(matrix, &options);
    double *v = test_vector_in_place(b.rows, 1), *z = test_vector_in_place(b.rows, 2);
    apply(&jacobi, v, z);
    for (int32_t r = 0; r < m; r++) EXPECT_NEAR(v[m + (r + 1) % m] * 0x1p-24, z[m + r], 0);
    test_vector_free(v);
    test_vector_free(z);
    bsi_bjacobi_destroy(context, &jacobi);
    bisai_bcsr_destroy(&matrix);
    blocks_free(&b);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocks_that_would_be_stored_as_singular_are_refused),
      cmocka_unit_test(pivots_that_vanish_are_refused),
      cmocka_unit_test(blocks_of_which_something_is_left_everywhere_are_stored),
      cmocka_unit_test(fixed_formats_hold_the_rounded_inverses),
      cmocka_unit_test(narrow_decompositions_have_the_accuracy_of_their_format),
      cmocka_unit_test(each_format_has_its_blocks),
      cmocka_unit_test(groups_of_one_size_differ_in_format),
      cmocka_unit_test(blocks_that_would_vanish_take_a_wider_range),
      cmocka_unit_test(values_just_beyond_fp16_take_a_wider_range),
      cmocka_unit_test(every_blocks_format_is_the_first_that_its_group_may_have),
      cmocka_unit_test(groups_of_blocks_hold_what_single_ones_do),
      cmocka_unit_test(values_that_do_not_fit_are_refused_by_block),
  };
  return cmocka_run_group_tests_name("bjacobi_formats", tests, setup, teardown);
}
