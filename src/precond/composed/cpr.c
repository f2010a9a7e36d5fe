/* SPDX-License-Identifier: BSD-3-Clause */
/* Constrained pressure residual, of two stages (Wallis 1983; Gries, Stüben, Brown, Chen, Collins
 * 2014). W has the weights w_i of the block rows i, and E the unit vectors e_p:
 *
 *   P = W A E              pressure matrix, blocks of one value on the pattern of A
 *   C = A E                columns of the pressures, bs values for each block of A
 *
 *   z ← P⁻¹ (W v)          first stage, one cycle of multigrid
 *   r ← v − C z            reads one column of each block of A; additive: r = v
 *   x ← M₂⁻¹ r + E z       second stage */
#include "core/context/context_impl.h"
#include "core/context/staging.h"
#include "core/context/words.h"
#include "core/matrix/matrix_ops.h"
#include "cpr/cpr_ops.h"
#include "cpr/ellipticity.h"
#include "cpr/scales.h"
#include "precond/composed/cpr_stages.h"
#include "precond/composed/stages.h"
#include "precond/precond_impl.h"

BSI_DEFINE_WORDS(weights, BISAI_WEIGHTS_LIST, "unknown weights")

typedef struct cpr_state {
  int32_t pressure;
  /* the positions of the diagonal blocks */
  int32_t *diagonal;
  double *weights, *columns;
  bsi_scaling scaling;
  bisai_bcsr *matrix;
  bisai_precond *first, *second;
  /* vectors of an application: two of a value for each block row, for the first stage, and the
   * residual */
  struct {
    double *right, *correction, *residual;
  } work;
  bsi_weight_stats stats;
  double ellipticity[BISAI_MAX_BLOCK_SIZE];
  /* the caller's weights and storage, from their check until they have been read */
  bsi_staged given[2];
  /* the time of the pressure matrix without that of the stages */
  struct {
    double reserve, reduce;
  } seconds;
  /* the last update left the first stage as it was */
  bool kept;
} cpr_state;

static cpr_state *cpr_of(const bisai_precond *m) { return m->state; }
static const bsi_cpr_ops *ops_of(const bisai_precond *m) { return m->context->backend->cpr; }

static const char *const pressures[] = {"auto", NULL};
static const char *const seconds[] = BSI_OPTION_WORDS(BISAI_CPR_SECOND_STAGE_LIST);
static const char *const quasi_impes[] = {"quasi-impes", NULL};

static const bisai_option table[] = {
    {BSI_PRECOND_OPTION(cpr.pressure), .name = "pressure", .key = "pressure", .placeholder = "I",
     .petsc = "cpr_pressure", .help = "place of the pressure in a block; auto: measured",
     .type = BISAI_OPTION_INTEGER, .initial = BISAI_CPR_PRESSURE_AUTO,
     .maximum = BISAI_MAX_BLOCK_SIZE - 1, .advised = BISAI_MAX_BLOCK_SIZE - 1, .words = pressures},
    {BSI_PRECOND_OPTION(cpr.second), .name = "second", .key = "second", .placeholder = "KIND",
     .petsc = "cpr_second", .help = "kind of the second stage; auto: ilu",
     .type = BISAI_OPTION_WORD, .maximum = BISAI_CPR_SECOND_STAGE_BJACOBI,
     .advised = BISAI_CPR_SECOND_STAGE_BJACOBI, .words = seconds},
    {BSI_PRECOND_OPTION(cpr.additive), .name = "additive", .key = "additive", .placeholder = "",
     .petsc = "cpr_additive", .help = "both stages see the same vector", .type = BISAI_OPTION_FLAG},
    {BSI_PRECOND_OPTION(cpr.keep_pressure), .name = "keep_pressure", .key = "keep",
     .placeholder = "", .petsc = "cpr_keep", .help = "updates keep the pressure matrix",
     .type = BISAI_OPTION_FLAG},
    {BSI_PRECOND_OPTION(cpr.weights), .name = "weights", .key = "weights", .placeholder = "FILE",
     .help = "weights of the pressure equations", .type = BISAI_OPTION_VECTORS,
     .words = quasi_impes},
    {BSI_PRECOND_OPTION(cpr.storage), .name = "storage", .key = "storage", .placeholder = "FILE",
     .help = "derivatives of the accumulation terms, for the weights", .type = BISAI_OPTION_VECTORS,
     .words = quasi_impes}};
static const bsi_option_list own_options = BSI_OPTION_LIST(table);

static bisai_status cpr_check(bisai_context *context, const bisai_precond_options *options,
                              const bisai_bcsr *matrix) {
  const bisai_cpr_options *o = &options->cpr;
  if (matrix->type != BISAI_FP64)
    return bsi_fail(context, BISAI_UNSUPPORTED, "cpr needs a matrix stored in fp64");
  if (matrix->unit_diagonal)
    return bsi_fail(context, BISAI_UNSUPPORTED, "cpr needs stored diagonal blocks");
  if (o->pressure >= matrix->block_size)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "pressure %d: a block has the unknowns 0 … %d",
                    o->pressure, matrix->block_size - 1);
  if (o->weights && o->storage)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "weights and storage: only one of them can be given");
  return bsi_cpr_check_second(context, options);
}

/* --- the pressure matrix --- */

static void *reserve(const bisai_precond *m, int64_t count, size_t size) {
  return m->context->backend->memory->allocate(m->context, (size_t)count, size);
}

/* Refuses values of the caller's that are not finite. */
static bisai_status check_given(const bisai_precond *m, const char *name, int64_t columns,
                                const double *values) {
  int64_t index = -1;
  BSI_TRY(m->context->backend->matrix->blocks->find_not_finite(
      m->context, BISAI_FP64, bsi_precond_size(m) * columns, values, &index));
  if (index < 0) return BISAI_OK;
  return bsi_fail(m->context, BISAI_INVALID_ARGUMENT,
                  "%s: value %lld of block row %lld is not finite", name,
                  (long long)(index % (columns * m->block_size)),
                  (long long)(index / (columns * m->block_size)));
}

static void release_given(const bisai_precond *m) {
  for (int k = 0; k < 2; k++) bsi_stage_release(m->context, &cpr_of(m)->given[k]);
}

/* Makes the caller's arrays available in backend memory, and checks them. */
static bisai_status take_given(const bisai_precond *m) {
  const bisai_cpr_options *o = &m->options.cpr;
  const int64_t n = bsi_precond_size(m), bs = m->block_size;
  bsi_staged *given = cpr_of(m)->given;
  BSI_TRY(bsi_stage_input(m->context, n, 1, o->weights, n, &given[0]));
  BSI_TRY(bsi_stage_input(m->context, n * bs, 1, o->storage, n * bs, &given[1]));
  if (o->weights) BSI_TRY(check_given(m, "weights", 1, given[0].data));
  return o->storage ? check_given(m, "storage", bs, given[1].data) : BISAI_OK;
}

static bsi_weighing weighing_of(const bisai_precond *m, const bisai_bcsr *a) {
  const cpr_state *state = cpr_of(m);
  return (bsi_weighing){.a = a,
                        .diagonal = state->diagonal,
                        .given = state->given[0].data,
                        .storage = state->given[1].data,
                        .pressure = state->pressure};
}

/* Measures the pressure matrices of all unknowns, and chooses the most elliptic one. */
static bisai_status find_pressure(bisai_precond *m, const bisai_bcsr *a) {
  cpr_state *state = cpr_of(m);
  const bsi_weighing weighing = weighing_of(m, a);
  BSI_TRY(bsi_ellipticity_measure(m->context, &weighing, state->weights, state->matrix,
                                  state->ellipticity));
  for (int32_t p = 1; p < m->block_size; p++)
    if (state->ellipticity[p] > state->ellipticity[state->pressure]) state->pressure = p;
  return BISAI_OK;
}

/* Computes the weights, the pressure matrix and the columns, and scales the pressure equations. */
static bisai_status make_pressure(bisai_precond *m, const bisai_bcsr *a) {
  cpr_state *state = cpr_of(m);
  const bsi_weighing weighing = weighing_of(m, a);
  state->matrix->kept.measured = false;
  BSI_TRY(ops_of(m)->weigh(m->context, &weighing, state->weights, &state->stats));
  BSI_TRY(ops_of(m)->reduce(m->context, a, state->weights, state->pressure, state->matrix->values,
                            state->columns));
  return bsi_scales_apply(m->context, &state->scaling, m->block_size, state->weights);
}

/* Reserves the matrix P with the structure of A, and everything for an application. */
static bisai_status reserve_pressure(bisai_precond *m, const bisai_bcsr *a) {
  cpr_state *state = cpr_of(m);
  const bsi_backend *backend = m->context->backend;
  const int32_t n = a->block_rows;
  int32_t missing = -1;
  BSI_TRY(bsi_bcsr_reserve(m->context, &(bsi_bcsr_sizes){n, n, 1, a->blocks, BISAI_FP64}, NULL,
                           NULL, &state->matrix));
  state->matrix->rows = n;
  state->matrix->kept.updated_only = true; /* make_pressure() says when the values change */
  BSI_TRY(backend->memory->copy(m->context, state->matrix->row_ptr, a->row_ptr,
                                ((size_t)n + 1) * sizeof *a->row_ptr));
  BSI_TRY(backend->memory->copy(m->context, state->matrix->col_idx, a->col_idx,
                                (size_t)a->blocks * sizeof *a->col_idx));
  state->diagonal = reserve(m, n, sizeof *state->diagonal);
  state->weights = reserve(m, bsi_precond_size(m), sizeof *state->weights);
  state->columns = reserve(m, (int64_t)a->blocks * a->block_size, sizeof *state->columns);
  state->work.right = reserve(m, n, sizeof *state->work.right);
  state->work.correction = reserve(m, n, sizeof *state->work.correction);
  state->work.residual = reserve(m, bsi_precond_size(m), sizeof *state->work.residual);
  if (!state->diagonal || !state->weights || !state->columns || !state->work.right ||
      !state->work.correction || !state->work.residual)
    return BISAI_OUT_OF_MEMORY;
  BSI_TRY(bsi_scaling_create(m->context, state->matrix, state->diagonal, &state->scaling));
  BSI_TRY(
      backend->matrix->structures->find_diagonals(m->context, a, state->diagonal, NULL, &missing));
  if (missing < 0) return BISAI_OK;
  return bsi_fail(m->context, BISAI_MISSING_DIAGONAL, "block row %d has no diagonal block",
                  bsi_row_name(a, missing));
}

/* --- creation and updates --- */

#define FIRST_STAGE "pressure matrix"
#define SECOND_STAGE "second stage"

static bisai_status cpr_setup(bisai_precond *m, const bisai_bcsr *a) {
  cpr_state *state = cpr_of(m);
  const bisai_precond_options first = bsi_cpr_first_options(m),
                              second = bsi_cpr_second_options(&m->options);
  const double start = bsi_now();
  BSI_TRY(reserve_pressure(m, a));
  const double reserved = bsi_now();
  if (m->options.cpr.pressure == BISAI_CPR_PRESSURE_AUTO)
    BSI_TRY(find_pressure(m, a));
  else
    state->pressure = m->options.cpr.pressure;
  BSI_TRY(make_pressure(m, a));
  release_given(m);
  state->seconds.reserve = reserved - start;
  state->seconds.reduce = bsi_now() - reserved;
  BSI_TRY(bsi_fail_at(m->context,
                      bisai_precond_create(m->context, state->matrix, &first, &state->first),
                      FIRST_STAGE));
  m->options.multigrid.null_vectors = NULL; /* the caller's arrays may go */
  BSI_TRY(bsi_fail_at(m->context, bisai_precond_create(m->context, a, &second, &state->second),
                      SECOND_STAGE));
  m->options.factor.permutation = NULL;
  m->options.bjacobi.block_ptr = NULL;
  return BISAI_OK;
}

/* Brings the pressure matrix, if it is not kept, and the columns up to date. */
static bisai_status update_pressure(bisai_precond *m, const bisai_bcsr *a) {
  cpr_state *state = cpr_of(m);
  const double start = bsi_now();
  const bisai_status status = state->kept ? ops_of(m)->reduce(m->context, a, state->weights,
                                                              state->pressure, NULL, state->columns)
                                          : make_pressure(m, a);
  release_given(m);
  state->seconds.reserve = 0.0;
  state->seconds.reduce = bsi_now() - start;
  return status;
}

/* Checks the values for the second stage too, so that nothing has changed if it refuses them. The
 * first stage refuses no pressure matrix: it is `unweighted`. */
static bisai_status cpr_check_values(bisai_precond *m, const bisai_bcsr *a) {
  cpr_state *state = cpr_of(m);
  if (state->second)
    BSI_TRY(bsi_fail_at(m->context, bsi_precond_check_values(state->second, a), SECOND_STAGE));
  if (m->options.cpr.keep_pressure && state->matrix) return BISAI_OK;
  const bisai_status status = take_given(m);
  if (status) release_given(m);
  return status;
}

/* cpr_check_update() has compared the pattern for both stages. */
static bisai_status cpr_update(bisai_precond *m, const bisai_bcsr *a) {
  cpr_state *state = cpr_of(m);
  state->kept = m->options.cpr.keep_pressure;
  BSI_TRY(update_pressure(m, a));
  if (!state->kept)
    BSI_TRY(bsi_fail_at(m->context, bsi_precond_update_inside(state->first, state->matrix),
                        FIRST_STAGE));
  return bsi_fail_at(m->context, bsi_precond_take_values(state->second, a), SECOND_STAGE);
}

static bisai_status cpr_check_update(const bisai_precond *m, const bisai_bcsr *a) {
  if (a->type != BISAI_FP64 || a->unit_diagonal)
    return bsi_fail(m->context, BISAI_UNSUPPORTED,
                    "cpr needs a matrix stored in fp64, with its diagonal blocks");
  if (!m->options.cpr.keep_pressure) BSI_TRY(bsi_multigrid_check_updates(cpr_of(m)->first));
  return bsi_bcsr_check_pattern(m->context, a, cpr_of(m)->matrix);
}

/* --- application --- */

static bisai_status apply_to_one(bisai_precond *m, const double *v, double *x,
                                 int64_t cached_bytes) {
  cpr_state *state = cpr_of(m);
  const int32_t n = m->block_rows;
  const int bs = m->block_size;
  const double *rest = v;
  BSI_TRY(ops_of(m)->gather(m->context, n, bs, state->weights, v, state->work.right));
  BSI_TRY(bsi_precond_apply_inside(state->first, 1, state->work.right, n, state->work.correction, n,
                                   0, false));
  if (!m->options.cpr.additive) {
    BSI_TRY(ops_of(m)->subtract(m->context, state->matrix, bs, state->columns,
                                state->work.correction, v, state->work.residual));
    rest = state->work.residual;
  }
  const int64_t rows = bsi_precond_size(m);
  BSI_TRY(bsi_precond_apply_inside(state->second, 1, rest, rows, x, rows, cached_bytes, false));
  return ops_of(m)->add(m->context, n, bs, state->pressure, state->work.correction, x);
}

static bisai_status cpr_apply(bisai_precond *m, const bsi_vectors *v) {
  BSI_TRY(bsi_stage_check_ready(cpr_of(m)->second, SECOND_STAGE));
  for (int32_t c = 0; c < v->count; c++)
    BSI_TRY(apply_to_one(m, v->b + c * v->ldb, v->x + c * v->ldx, v->cached_bytes));
  return BISAI_OK;
}

static bisai_symmetry cpr_symmetry(const bisai_precond *m) {
  (void)m;
  return BISAI_SYMMETRY_NONE;
}

static bool cpr_nonlinear(const bisai_precond *m) { return cpr_of(m)->first->report.nonlinear; }

/* --- report --- */

static void report_own(const bisai_precond *m, bisai_cpr_report *r) {
  const cpr_state *state = cpr_of(m);
  const bisai_cpr_options *o = &m->options.cpr;
  r->pressure = state->pressure;
  r->found = o->pressure == BISAI_CPR_PRESSURE_AUTO;
  for (int p = 0; p < m->block_size; p++) r->ellipticity[p] = state->ellipticity[p];
  r->second = o->second == BISAI_CPR_SECOND_STAGE_AUTO ? BISAI_CPR_SECOND_STAGE_ILU : o->second;
  r->weights = o->weights   ? BISAI_WEIGHTS_GIVEN
               : o->storage ? BISAI_WEIGHTS_TRUE_IMPES
                            : BISAI_WEIGHTS_QUASI_IMPES;
  r->singular_rows = state->stats.singular;
  r->first_singular_row = state->stats.first_singular;
  r->reversed_rows = state->stats.reversed;
  r->excluded_rows = state->stats.excluded;
  r->first_excluded_row = state->stats.first_excluded;
}

/* The bytes that the pressure matrix and the vectors take. */
static int64_t own_memory(const bisai_precond *m) {
  const int64_t n = m->block_rows, rows = bsi_precond_size(m);
  return bsi_bcsr_memory(cpr_of(m)->matrix) +
         8 * ((int64_t)cpr_of(m)->matrix->blocks * m->block_size + 2 * rows + 2 * n) + 4 * n +
         bsi_scaling_memory(&cpr_of(m)->scaling);
}

/* The bytes of `gather`, `subtract` and `add`. */
static int64_t own_bytes(const bisai_precond *m) {
  const int64_t n = m->block_rows, rows = bsi_precond_size(m), blocks = cpr_of(m)->matrix->blocks;
  const int64_t subtracted =
      m->options.cpr.additive ? 0 : 8 * (blocks * m->block_size + 2 * rows + n) + 4 * (blocks + n);
  return 8 * (2 * rows + n) + subtracted + 8 * (2 * rows + n);
}

static void cpr_report(const bisai_precond *m, bisai_precond_report *r) {
  const cpr_state *state = cpr_of(m);
  const bisai_precond_report *first = &cpr_of(m)->first->report,
                             *second = &cpr_of(m)->second->report;
  report_own(m, &r->cpr);
  r->multigrid = first->multigrid;
  r->factor = second->factor;
  r->isai = second->isai;
  r->bjacobi = second->bjacobi;
  r->order_seconds = second->order_seconds;
  r->factor_seconds = second->factor_seconds;
  r->pattern_seconds = state->seconds.reserve + second->pattern_seconds;
  r->values_seconds = state->seconds.reduce + second->values_seconds;
  if (!state->kept) {
    r->pattern_seconds += first->pattern_seconds;
    r->values_seconds += first->values_seconds;
  }
  r->fallbacks = second->fallbacks;
  r->repairs = second->repairs;
  r->first_repair_row = second->first_repair_row;
  r->largest_condition = second->largest_condition;
  r->largest_condition_row = second->largest_condition_row;
  r->memory_bytes += first->memory_bytes + second->memory_bytes + own_memory(m);
  r->apply_bytes = first->apply_bytes + second->apply_bytes + own_bytes(m);
}

static void describe_pressure(bisai_precond *m) {
  const bisai_cpr_report *r = &m->report.cpr;
  double next = 0.0;
  bsi_append(m, " pressure=%d", r->pressure);
  if (!r->found) return;
  for (int p = 0; p < m->block_size; p++)
    if (p != r->pressure && r->ellipticity[p] > next) next = r->ellipticity[p];
  bsi_append(m, " (ellipticity %.2g; others at most %.2g)", r->ellipticity[r->pressure], next);
}

/* Appends ", 3 rows reversed" and the first one, unless it is −1. */
static void describe_rows(bisai_precond *m, const char *what, int64_t count, int32_t first) {
  if (count == 0) return;
  bsi_append(m, ", %lld row%s %s", (long long)count, count == 1 ? "" : "s", what);
  if (first >= 0) bsi_append(m, ", first block row %d", first);
}

static void cpr_describe(bisai_precond *m) {
  const bisai_cpr_report *r = &m->report.cpr;
  describe_pressure(m);
  bsi_append(m, " weights=%s%s", bisai_weights_string(r->weights),
             m->options.cpr.additive ? " additive" : "");
  describe_rows(m, "without weights", r->singular_rows, r->first_singular_row);
  describe_rows(m, "reversed", r->reversed_rows, -1);
  describe_rows(m, "without pressure correction", r->excluded_rows, r->first_excluded_row);
  bsi_append(m, "; %s; %s", bisai_precond_describe(cpr_of(m)->first),
             bisai_precond_describe(cpr_of(m)->second));
}

static void cpr_destroy(bisai_precond *m) {
  cpr_state *state = cpr_of(m);
  const bsi_memory_ops *memory = m->context->backend->memory;
  release_given(m);
  bisai_precond_destroy(&state->first);
  bisai_precond_destroy(&state->second);
  bisai_bcsr_destroy(&state->matrix);
  memory->release(m->context, state->diagonal);
  memory->release(m->context, state->weights);
  memory->release(m->context, state->columns);
  memory->release(m->context, state->work.right);
  memory->release(m->context, state->work.correction);
  memory->release(m->context, state->work.residual);
  bsi_scaling_destroy(m->context, &state->scaling);
}

static const bisai_precond_kind kinds[] = {BISAI_PRECOND_MULTIGRID, BISAI_PRECOND_ISAI,
                                           BISAI_PRECOND_ILU,       BISAI_PRECOND_SWEEPS,
                                           BISAI_PRECOND_BJACOBI,   BISAI_PRECOND_NONE};

static const bsi_precond_stages stages = {kinds, bsi_cpr_stage_kind, {NULL, "cpr.second"}};

const bsi_precond_ops bsi_precond_cpr = {.options = {&own_options},
                                         .stages = &stages,
                                         .state_size = sizeof(cpr_state),
                                         .check = cpr_check,
                                         .check_values = cpr_check_values,
                                         .setup = cpr_setup,
                                         .setup_has_values = true,
                                         .update = cpr_update,
                                         .check_update = cpr_check_update,
                                         .apply = cpr_apply,
                                         .about.symmetry = cpr_symmetry,
                                         .about.nonlinear = cpr_nonlinear,
                                         .about.describe = cpr_describe,
                                         .about.report = cpr_report,
                                         .destroy = cpr_destroy};
