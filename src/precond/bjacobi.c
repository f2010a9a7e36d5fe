/* SPDX-License-Identifier: BSD-3-Clause */
/* Block-Jacobi: z = D⁻¹ v, D the diagonal blocks of A, of any sizes (bjacobi/bjacobi.h). With
 * relaxation: z = ω D⁻¹ v, then `relax` times z ← z + ω D⁻¹ (v − A z), the damped equation (1) of
 * Anzt et al. (2017). M⁻¹ is then p(D⁻¹A) D⁻¹ with a polynomial p, so that it is symmetric if A and
 * D are. */
#include "bjacobi/bjacobi.h"

#include <stdio.h>
#include <string.h>

#include "apply/apply_ops.h"
#include "bjacobi/bjacobi_ops.h"
#include "core/context/context_impl.h"
#include "core/context/words.h"
#include "core/vector/power.h"
#include "precond/precond_impl.h"

BSI_DEFINE_WORDS(form, BISAI_FORM_LIST, "unknown form")
BSI_DEFINE_WORDS(formats, BISAI_FORMATS_LIST, "unknown formats")
BSI_DEFINE_WORDS(blocks, BISAI_BLOCKS_LIST, "unknown blocks")
BSI_DEFINE_WORDS(extraction, BISAI_EXTRACTION_LIST, "unknown extraction")

enum { MOST_DIGITS = 15 };
/* Power steps of the estimate of ρ(I − ω D⁻¹A). */
enum { POWER_STEPS = 10 };
/* Relaxation keeps a residual and a step for each right-hand side. The estimate takes three
 * vectors. */
enum { RELAX_VECTORS = 2 };

typedef struct bjacobi_state {
  bsi_bjacobi jacobi;
  /* with relaxation: the caller's A */
  const bisai_bcsr *matrix;
  /* the estimate of ρ(I − ω D⁻¹A); 0 without relaxation */
  double radius;
  /* of M⁻ᵀ only: D⁻ᵀ as a matrix of scalars, which stands for `jacobi`, and Aᵀ, which is `matrix`;
   * owned */
  bisai_bcsr *inverse, *transposed;
} bjacobi_state;

static const char *const forms[] = BSI_OPTION_WORDS(BISAI_FORM_LIST);
static const char *const storages[] = BSI_OPTION_WORDS(BISAI_VALUE_TYPE_LIST);
static const char *const format_lists[] = BSI_OPTION_WORDS(BISAI_FORMATS_LIST);
static const char *const searches[] = BSI_OPTION_WORDS(BISAI_BLOCKS_LIST);
static const char *const extractions[] = BSI_OPTION_WORDS(BISAI_EXTRACTION_LIST);

static const bisai_option table[] = {
    {BSI_PRECOND_OPTION(bjacobi.max_block), .name = "max_block", .key = "max", .placeholder = "N",
     .petsc = "max_block", .help = "the most rows of a block; 0: the matrix's blocks",
     .type = BISAI_OPTION_INTEGER, .maximum = BSI_BJACOBI_MAX_ROWS,
     .advised = BSI_BJACOBI_MAX_ROWS},
    {BSI_PRECOND_OPTION(bjacobi.blocks), .name = "blocks", .key = "blocks", .placeholder = "B",
     .petsc = "blocks", .help = "which rows a block has: of equal pattern or strongly coupled",
     .type = BISAI_OPTION_WORD, .initial = BISAI_BLOCKS_PATTERN, .maximum = BISAI_BLOCKS_STRENGTH,
     .advised = BISAI_BLOCKS_STRENGTH, .words = searches},
    {BSI_PRECOND_OPTION(bjacobi.form), .name = "form", .key = "form", .placeholder = "F",
     .petsc = "form", .help = "inverses or decompositions", .type = BISAI_OPTION_WORD,
     .initial = BISAI_FORM_INVERSE, .maximum = BISAI_FORM_LU, .advised = BISAI_FORM_LU,
     .words = forms},
    {BSI_PRECOND_OPTION(bjacobi.storage), .name = "storage", .key = "storage", .placeholder = "S",
     .petsc = "storage", .help = "storage of the inverses", .type = BISAI_OPTION_WORD,
     .initial = BISAI_FP64, .maximum = BISAI_ADAPTIVE, .advised = BISAI_ADAPTIVE,
     .words = storages},
    {BSI_PRECOND_OPTION(bjacobi.digits), .name = "digits", .key = "digits", .placeholder = "D",
     .petsc = "digits", .help = "digits that adaptive storage keeps", .type = BISAI_OPTION_INTEGER,
     .initial = 2, .minimum = 1, .maximum = MOST_DIGITS, .advised = MOST_DIGITS},
    {BSI_PRECOND_OPTION(bjacobi.formats), .name = "formats", .key = "formats", .placeholder = "L",
     .petsc = "formats", .help = "formats that adaptive storage chooses from",
     .type = BISAI_OPTION_WORD, .initial = BISAI_FORMATS_ALL, .maximum = BISAI_FORMATS_TRUNCATED,
     .advised = BISAI_FORMATS_TRUNCATED, .words = format_lists},
    {BSI_PRECOND_OPTION(bjacobi.extraction), .name = "extraction", .key = "extraction",
     .placeholder = "E", .help = "how a device reads diagonal blocks", .type = BISAI_OPTION_WORD,
     .initial = BISAI_EXTRACTION_AUTO, .maximum = BISAI_EXTRACTION_MERGED_SHARED,
     .advised = BISAI_EXTRACTION_MERGED_SHARED, .words = extractions},
    {BSI_PRECOND_OPTION(bjacobi.relax), .name = "relax", .key = "relax", .placeholder = "R",
     .petsc = "relax", .help = "relaxation sweeps on A", .type = BISAI_OPTION_INTEGER,
     .maximum = INT32_MAX, .advised = BSI_ADVISED_STEPS},
    {BSI_PRECOND_OPTION(bjacobi.damping), .name = "damping", .key = "damping", .placeholder = "W",
     .petsc = "damping", .help = "damping of the relaxation sweeps", .type = BISAI_OPTION_NUMBER,
     .initial = 1.0, .maximum = 2.0, .advised = 2.0, .open = true},
    {BSI_PRECOND_OPTION(bjacobi.block_ptr), .name = "block_ptr", .help = "where the blocks begin",
     .type = BISAI_OPTION_POINTER},
    {BSI_PRECOND_OPTION(bjacobi.block_count), .name = "block_count", .help = "blocks of block_ptr",
     .type = BISAI_OPTION_INTEGER, .minimum = INT32_MIN, /* check_blocks() says more */
     .maximum = INT32_MAX, .advised = INT32_MAX}};
static const bsi_option_list own_options = BSI_OPTION_LIST(table);

static bjacobi_state *state_of(const bisai_precond *m) { return m->state; }
static bsi_bjacobi *jacobi_of(const bisai_precond *m) { return &state_of(m)->jacobi; }
static bool relaxes(const bisai_precond *m) { return m->options.bjacobi.relax > 0; }
static bool groups_rows(const bisai_precond *m) {
  return m->options.bjacobi.blocks == BISAI_BLOCKS_STRENGTH;
}

/* The blocks that the caller gives. */
static bisai_status check_blocks(bisai_context *context, const bisai_bjacobi_options *o,
                                 int32_t rows) {
  if (!o->block_ptr)
    return o->block_count == 0 ? BISAI_OK
                               : bsi_fail(context, BISAI_INVALID_ARGUMENT,
                                          "block_count %d without block_ptr", o->block_count);
  if (o->max_block > 0)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "max_block %d: blocks are given by block_ptr or found, not both", o->max_block);
  if (o->block_count < 0)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "block_count %d: at least 0 is needed",
                    o->block_count);
  if (o->block_ptr[0] != 0)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "block_ptr[0] is %d, not 0", o->block_ptr[0]);
  for (int32_t b = 0; b < o->block_count; b++) {
    const int64_t size = (int64_t)o->block_ptr[b + 1] - o->block_ptr[b];
    if (size < 1 || size > BSI_BJACOBI_MAX_ROWS)
      return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                      "block_ptr[%d] is %d after %d: a block has 1 … %d rows, not %lld", b + 1,
                      o->block_ptr[b + 1], o->block_ptr[b], BSI_BJACOBI_MAX_ROWS, (long long)size);
  }
  if (o->block_ptr[o->block_count] != rows)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "block_ptr[%d] is %d, the matrix has %d scalar rows", o->block_count,
                    o->block_ptr[o->block_count], rows);
  return BISAI_OK;
}

static bisai_status bjacobi_check(bisai_context *context, const bisai_precond_options *options,
                                  const bisai_bcsr *matrix) {
  const bisai_bjacobi_options *o = &options->bjacobi;
  if (o->storage == BISAI_ADAPTIVE && o->form != BISAI_FORM_INVERSE)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "adaptive storage goes with the form inverse alone, not with %s",
                    bisai_form_string(o->form));
  if (o->blocks == BISAI_BLOCKS_STRENGTH && o->max_block < matrix->block_size)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "blocks=strength keeps the rows of a block of the matrix together: max_block is"
                    " %d, and at least %d is needed",
                    o->max_block, matrix->block_size);
  return check_blocks(context, o, matrix->block_rows * matrix->block_size);
}

/* Groups the rows of A, and sets the matrix in their order and the starts of the blocks. */
static bisai_status group_rows(bisai_precond *m, const bisai_bcsr **a, bsi_groups *groups) {
  const int32_t bs = (*a)->block_size;
  BSI_TRY(bsi_order_strength(m->context, *a, m->options.bjacobi.max_block / bs, groups));
  const bsi_reordering how = {.ordering = BISAI_ORDERING_GIVEN, .permutation = groups->permutation};
  BSI_TRY(bsi_reordered_create(m->context, *a, &how, &m->order.reordered));
  for (int32_t k = 0; k <= groups->count; k++) groups->start[k] *= bs;
  *a = m->order.reordered.matrix;
  return BISAI_OK;
}

static bisai_status bjacobi_setup(bisai_precond *m, const bisai_bcsr *a) {
  const bisai_bjacobi_options *o = &m->options.bjacobi;
  bsi_bjacobi_options how = {
      .shift_amount = m->options.shift == BISAI_SHIFT_IN_BLOCKS ? m->options.shift_amount : 0.0,
      .max_rows = o->max_block,
      .given_blocks = o->block_count,
      .given_start = o->block_ptr,
      .form = o->form,
      .storage = o->storage,
      .digits = o->digits,
      .formats = o->formats,
      .extraction = o->extraction};
  const double start = bsi_now();
  bsi_groups groups = {0};
  bisai_status status = groups_rows(m) ? group_rows(m, &a, &groups) : BISAI_OK;
  if (groups_rows(m)) {
    how.max_rows = 0;
    how.given_blocks = groups.count;
    how.given_start = groups.start;
  }
  if (!status) status = bsi_bjacobi_create(m->context, a, &how, jacobi_of(m));
  bsi_groups_release(m->context, &groups);
  m->report.pattern_seconds = bsi_now() - start;
  if (!jacobi_of(m)->natural) m->repair_place = "block";
  m->options.bjacobi.block_ptr = NULL; /* the caller's array may go */
  if (relaxes(m)) m->work.vectors = RELAX_VECTORS;
  return status;
}

/* --- relaxation --- */

/* Y ← D⁻¹ X */
static bisai_status solve_blocks(const bisai_precond *m, int32_t count, const double *x,
                                 int64_t ldx, double *y, int64_t ldy) {
  if (state_of(m)->inverse)
    return m->context->backend->apply->products->multiply(
        m->context, state_of(m)->inverse,
        &(bsi_product){.count = count, .alpha = 1.0, .x = x, .y = y, .ldx = ldx, .ldy = ldy});
  return m->context->backend->bjacobi->solve->apply(m->context, jacobi_of(m), count, x, ldx, y,
                                                    ldy);
}

/* X ← damping·step + beta·X */
static bisai_status add_steps(const bisai_precond *m, const bsi_vectors *v, double beta,
                              const double *step) {
  const int64_t n = bsi_precond_size(m);
  for (int32_t c = 0; c < v->count; c++)
    BSI_TRY(m->context->backend->vectors->combine(m->context, n, m->options.bjacobi.damping,
                                                  step + c * n, beta, v->x + c * v->ldx));
  return BISAI_OK;
}

static bisai_status apply_relaxed(const bisai_precond *m, const bsi_vectors *v) {
  const int64_t n = bsi_precond_size(m);
  double *residual = v->work, *step = v->work + n * v->count;
  const bsi_product to_b = {.count = v->count,
                            .alpha = -1.0,
                            .beta = 1.0,
                            .x = v->x,
                            .z = v->b,
                            .y = residual,
                            .ldx = v->ldx,
                            .ldz = v->ldb,
                            .ldy = n,
                            .cached_bytes = v->cached_bytes};
  BSI_TRY(solve_blocks(m, v->count, v->b, v->ldb, step, n));
  BSI_TRY(add_steps(m, v, 0.0, step));
  for (int32_t sweep = 0; sweep < m->options.bjacobi.relax; sweep++) {
    BSI_TRY(m->context->backend->apply->products->multiply(m->context, state_of(m)->matrix, &to_b));
    BSI_TRY(solve_blocks(m, v->count, residual, n, step, n));
    BSI_TRY(add_steps(m, v, 1.0, step));
  }
  return BISAI_OK;
}

/* y ← x − ω D⁻¹A x: the change of the error in a sweep. */
static bisai_status change_error(void *user, const double *x, double *y) {
  const bisai_precond *m = user;
  const int64_t n = bsi_precond_size(m);
  double *product = m->work.values + 2 * n;
  BSI_TRY(bsi_multiply_vector(m->context, state_of(m)->matrix, 1.0, x, 0.0, NULL, product));
  BSI_TRY(solve_blocks(m, 1, product, n, y, n));
  return m->context->backend->vectors->combine(m->context, n, 1.0, x, -m->options.bjacobi.damping,
                                               y);
}

/* Estimates ρ(I − ω D⁻¹A). It is 0 if A is block diagonal, and infinite if the errors overflow. */
static bisai_status estimate_radius(bisai_precond *m) {
  const int64_t n = bsi_precond_size(m);
  double norms[2] = {0.0, 0.0};
  BSI_TRY(bsi_power_norms(m->context, n, POWER_STEPS, change_error, m, m->work.values,
                          m->work.values + n, norms));
  state_of(m)->radius = bsi_power_growth(norms);
  return BISAI_OK;
}

static bisai_status bjacobi_update(bisai_precond *m, const bisai_bcsr *a) {
  if (groups_rows(m)) {
    BSI_TRY(bsi_reordered_update(m->context, a, &m->order.reordered));
    a = m->order.reordered.matrix;
  }
  BSI_TRY(bsi_bjacobi_update(m->context, a, jacobi_of(m)));
  if (!relaxes(m)) return BISAI_OK;
  state_of(m)->matrix = a;
  return estimate_radius(m);
}

static bisai_status bjacobi_check_update(const bisai_precond *m, const bisai_bcsr *a) {
  if (groups_rows(m)) return bsi_reordered_check(m->context, a, &m->order.reordered);
  return bsi_bjacobi_check(m->context, a, jacobi_of(m));
}

static bisai_status bjacobi_apply(bisai_precond *m, const bsi_vectors *v) {
  return relaxes(m) ? apply_relaxed(m, v) : solve_blocks(m, v->count, v->b, v->ldb, v->x, v->ldx);
}

static bisai_status bjacobi_transpose(const bisai_precond *m, bisai_precond *t) {
  BSI_TRY(bsi_bjacobi_transpose(m->context, jacobi_of(m), &state_of(t)->inverse));
  if (!relaxes(m)) return BISAI_OK;
  t->work.vectors = RELAX_VECTORS;
  BSI_TRY(bsi_bcsr_transpose(state_of(m)->matrix, &state_of(t)->transposed));
  state_of(t)->matrix = state_of(t)->transposed;
  return BISAI_OK;
}

/* Inverses of symmetric blocks are symmetric, also value by value in a narrow format; L and U
 * rounded by themselves are no longer those of a symmetric block. */
static bisai_symmetry bjacobi_symmetry(const bisai_precond *m) {
  const bool rounded =
      m->options.bjacobi.form != BISAI_FORM_INVERSE && m->options.bjacobi.storage != BISAI_FP64;
  return rounded ? BISAI_SYMMETRY_NONE : BISAI_SYMMETRY_VALUES;
}

static void bjacobi_report(const bisai_precond *m, bisai_precond_report *r) {
  const bsi_partition *p = &jacobi_of(m)->partition;
  const bsi_bjacobi_stats *stats = &jacobi_of(m)->stats;
  bsi_report_inversion(&stats->inversion, r);
  r->bjacobi.blocks = p->blocks;
  r->bjacobi.largest_block = p->largest;
  memcpy(r->bjacobi.by_size, p->count, sizeof r->bjacobi.by_size);
  memcpy(r->bjacobi.by_format, stats->formats, sizeof r->bjacobi.by_format);
  r->bjacobi.value_bytes = stats->value_bytes;
  r->bjacobi.near_singular = stats->near_singular;
  r->bjacobi.near_singular_block = stats->near_singular_block;
  r->memory_bytes += bsi_bjacobi_memory(jacobi_of(m));
  if (groups_rows(m)) r->memory_bytes += bsi_reordered_memory(&m->order.reordered);
  r->bjacobi.relax_radius = state_of(m)->radius;
  const int64_t sweeps = m->options.bjacobi.relax;
  r->apply_bytes =
      (stats->value_bytes + bsi_bjacobi_index_bytes(jacobi_of(m)) + 16 * bsi_precond_size(m)) *
      (1 + sweeps);
  if (relaxes(m)) r->apply_bytes += sweeps * bsi_bcsr_product_bytes(state_of(m)->matrix);
  if (groups_rows(m)) r->apply_bytes += bsi_reordered_bytes(&m->order.reordered);
}

static void bjacobi_destroy(bisai_precond *m) {
  bsi_bjacobi_destroy(m->context, jacobi_of(m));
  bisai_bcsr_destroy(&state_of(m)->inverse);
  bisai_bcsr_destroy(&state_of(m)->transposed);
}

static void bjacobi_describe(bisai_precond *m) {
  const bisai_bjacobi_options *o = &m->options.bjacobi;
  const bisai_bjacobi_report *r = &m->report.bjacobi;
  const bool natural = jacobi_of(m)->natural;
  if (o->max_block > 0) bsi_append(m, " max=%d", o->max_block);
  if (!natural && o->max_block == 0) bsi_append(m, " blocks=given");
  if (groups_rows(m)) bsi_append(m, " blocks=strength");
  if (o->form != BISAI_FORM_INVERSE) bsi_append(m, " form=%s", bisai_form_string(o->form));
  if (o->storage != BISAI_FP64) bsi_append(m, " storage=%s", bisai_value_type_string(o->storage));
  if (o->storage == BISAI_ADAPTIVE) bsi_append(m, " digits=%d", o->digits);
  if (o->formats != BISAI_FORMATS_ALL)
    bsi_append(m, " formats=%s", bisai_formats_string(o->formats));
  if (relaxes(m)) bsi_append(m, " relax=%d", o->relax);
  if (relaxes(m) && o->damping != 1.0) bsi_append(m, " damping=%g", o->damping);
  bsi_describe_factors(m);
  if (!natural) bsi_append(m, ", %d blocks of up to %d rows", r->blocks, r->largest_block);
  if (o->storage == BISAI_ADAPTIVE)
    for (int f = 0; f < BISAI_VALUE_TYPES; f++)
      if (r->by_format[f] > 0)
        bsi_append(m, ", %lld in %s", (long long)r->by_format[f],
                   bisai_value_type_string((bisai_value_type)f));
  if (r->near_singular > 0)
    bsi_append(m, ", %lld nearly singular, first block %d", (long long)r->near_singular,
               r->near_singular_block);
  if (r->relax_radius >= 1.0)
    bsi_append(m, ", relaxation diverges: a sweep multiplies errors by about %.2g",
               r->relax_radius);
}

/* Let a sweep multiply the error of an eigenvector of D⁻¹A by g < 1. M⁻¹ takes (1 − g^(relax + 1))
 * times a positive multiple of it, which is negative for odd `relax` and g < −1 only. */
static void bjacobi_say_indefinite(const bisai_precond *m, size_t size, char *text) {
  const bool sweeps = m->options.bjacobi.relax % 2 == 1;
  snprintf(text, size, "%s",
           sweeps
               ? "; an odd number of sweeps that diverge is not definite: take an even relax or a "
                 "smaller damping"
               : "; the diagonal blocks are not definite, and so the matrix is not");
}

const bsi_precond_ops bsi_precond_bjacobi = {.options = {&own_options, &bsi_shift_options},
                                             .state_size = sizeof(bjacobi_state),
                                             .check = bjacobi_check,
                                             .setup = bjacobi_setup,
                                             .update = bjacobi_update,
                                             .check_update = bjacobi_check_update,
                                             .apply = bjacobi_apply,
                                             .transpose.make = bjacobi_transpose,
                                             .about.symmetry = bjacobi_symmetry,
                                             .about.say_indefinite = bjacobi_say_indefinite,
                                             .about.describe = bjacobi_describe,
                                             .about.report = bjacobi_report,
                                             .destroy = bjacobi_destroy};

bisai_status bisai_precond_get_blocks(const bisai_precond *precond, int32_t *block_ptr) {
  if (!precond) return BISAI_INVALID_ARGUMENT;
  if (precond->options.kind != BISAI_PRECOND_BJACOBI)
    return bsi_fail(precond->context, BISAI_INVALID_ARGUMENT, "%s has no blocks of its own",
                    bisai_precond_kind_string(precond->options.kind));
  if (!block_ptr)
    return bsi_fail(precond->context, BISAI_INVALID_ARGUMENT,
                    "bisai_precond_get_blocks: block_ptr is NULL");
  return bsi_partition_fetch(precond->context, &jacobi_of(precond)->partition, block_ptr);
}
