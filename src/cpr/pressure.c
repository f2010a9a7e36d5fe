/* SPDX-License-Identifier: BSD-3-Clause */
/* The pressure equations of the rows of one process. Entries (j, i) of other processes come by the
 * caller's functions, and sums are of integers: all processes together have the matrix of one. */
#include "cpr/pressure.h"

#include "core/context/context_impl.h"
#include "core/matrix/matrix_ops.h"
#include "cpr/cpr_ops.h"
#include "cpr/ellipticity.h"
#include "cpr/scales.h"

struct bisai_pressure {
  bisai_context *context;
  const bisai_bcsr *rows;
  bisai_cpr_options options;
  bsi_weighing weighing;
  int32_t *diagonal;
  /* bs values for each own row, and for each block one value of P, its mirrored one, its pair, and
   * bs values of the column of the pressure */
  double *weights, *values, *mirrored, *columns;
  int32_t *pairs;
  /* of the own rows and the ghosts: x of bsi_scaling, the next x, and a vector to exchange */
  int32_t *x, *next;
  double *shared;
  bisai_cpr_report report;
  bool known;
};

static const bsi_cpr_ops *ops_of(const bisai_pressure *p) { return p->context->backend->cpr; }

/* --- creation and updates --- */

static bisai_status check_rows(bisai_context *context, const bisai_bcsr *rows) {
  if (!context->backend->memory->is_host)
    return bsi_fail(context, BISAI_UNSUPPORTED,
                    "pressures of processes need a context of the host");
  if (rows->type != BISAI_FP64 || rows->unit_diagonal)
    return bsi_fail(context, BISAI_UNSUPPORTED,
                    "pressures of processes need values in fp64, with the diagonal blocks");
  if (rows->block_cols < rows->block_rows)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "%d block rows have %d block columns: they have those of their own rows",
                    rows->block_rows, rows->block_cols);
  return bsi_bcsr_check_finite(context, rows);
}

static bisai_status check_given(bisai_context *context, const bisai_bcsr *rows, const char *name,
                                const double *values, int64_t count) {
  for (int64_t k = 0; values && k < rows->block_rows * count; k++)
    if (!isfinite(values[k]))
      return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                      "%s: value %lld of block row %lld is not finite", name,
                      (long long)(k % count), (long long)(k / count));
  return BISAI_OK;
}

static bisai_status check_values(bisai_context *context, const bisai_bcsr *rows,
                                 const bisai_cpr_options *o) {
  const int64_t bs = rows->block_size;
  BSI_TRY(check_rows(context, rows));
  BSI_TRY(check_given(context, rows, "weights", o->weights, bs));
  return check_given(context, rows, "storage", o->storage, bs * bs);
}

static bisai_status check(bisai_context *context, const bisai_bcsr *rows,
                          const bisai_cpr_options *o, bisai_pressure **pressure) {
  if (!rows || !o || !pressure)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_pressure_create: %s is NULL",
                    !rows ? "rows"
                    : !o  ? "options"
                          : "pressure");
  if (o->pressure < BISAI_CPR_PRESSURE_AUTO || o->pressure >= rows->block_size)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "pressure %d: a block has the unknowns 0 … %d",
                    o->pressure, rows->block_size - 1);
  if (o->weights && o->storage)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "weights and storage: only one of them can be given");
  return check_values(context, rows, o);
}

static bisai_status reserve(bisai_pressure *p) {
  bisai_context *context = p->context;
  const size_t n = (size_t)p->rows->block_rows, all = (size_t)p->rows->block_cols,
               blocks = (size_t)p->rows->blocks, bs = (size_t)p->rows->block_size;
  int32_t missing = -1;
  p->diagonal = bsi_allocate(context, n, sizeof *p->diagonal);
  p->weights = bsi_allocate(context, n * bs, sizeof *p->weights);
  p->values = bsi_allocate(context, blocks, sizeof *p->values);
  p->mirrored = bsi_allocate(context, blocks, sizeof *p->mirrored);
  p->columns = bsi_allocate(context, blocks * bs, sizeof *p->columns);
  p->pairs = bsi_allocate(context, blocks, sizeof *p->pairs);
  p->x = bsi_allocate(context, all, sizeof *p->x);
  p->next = bsi_allocate(context, all, sizeof *p->next);
  p->shared = bsi_allocate(context, all, sizeof *p->shared);
  if (!p->diagonal || !p->weights || !p->values || !p->mirrored || !p->columns || !p->pairs ||
      !p->x || !p->next || !p->shared)
    return BISAI_OUT_OF_MEMORY;
  BSI_TRY(context->backend->matrix->structures->find_diagonals(context, p->rows, p->diagonal, NULL,
                                                               &missing));
  if (missing < 0) return BISAI_OK;
  return bsi_fail(context, BISAI_MISSING_DIAGONAL, "block row %d has no diagonal block",
                  bsi_row_name(p->rows, missing));
}

bisai_status bisai_pressure_create(bisai_context *context, const bisai_bcsr *rows,
                                   const bisai_cpr_options *options, bisai_pressure **pressure) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  bisai_status status = check(context, rows, options, pressure);
  if (status) return status;
  bisai_pressure *p = bsi_allocate(context, 1, sizeof *p);
  if (!p) return BISAI_OUT_OF_MEMORY;
  *p = (bisai_pressure){.context = context, .rows = rows, .options = *options};
  p->known = options->pressure != BISAI_CPR_PRESSURE_AUTO;
  status = reserve(p);
  p->weighing = (bsi_weighing){.a = rows,
                               .diagonal = p->diagonal,
                               .given = options->weights,
                               .storage = options->storage,
                               .pressure = p->known ? options->pressure : 0};
  if (status)
    bisai_pressure_destroy(&p);
  else
    *pressure = p;
  return status;
}

bisai_status bisai_pressure_update(bisai_pressure *pressure, const bisai_bcsr *rows) {
  if (!pressure) return BISAI_INVALID_ARGUMENT;
  if (!rows)
    return bsi_fail(pressure->context, BISAI_INVALID_ARGUMENT,
                    "bisai_pressure_update: rows is NULL");
  BSI_TRY(check_values(pressure->context, rows, &pressure->options));
  if (rows != pressure->rows)
    BSI_TRY(bsi_bcsr_check_pattern(pressure->context, rows, pressure->rows));
  pressure->rows = pressure->weighing.a = rows;
  return BISAI_OK;
}

void bisai_pressure_destroy(bisai_pressure **pressure) {
  if (!pressure || !*pressure) return;
  bisai_pressure *p = *pressure;
  bisai_context *context = p->context;
  *pressure = NULL;
  bsi_release(context, p->diagonal);
  bsi_release(context, p->weights);
  bsi_release(context, p->values);
  bsi_release(context, p->mirrored);
  bsi_release(context, p->columns);
  bsi_release(context, p->pairs);
  bsi_release(context, p->x);
  bsi_release(context, p->next);
  bsi_release(context, p->shared);
  bsi_release(context, p);
}

/* --- values --- */

static bisai_status judge(const bisai_pressure *p, bisai_status status) {
  if (!status) return BISAI_OK;
  return bsi_fail(p->context, BISAI_CALLBACK_FAILED, "bisai_pressure_compute: a function failed");
}

/* The entries of the ghosts in p->shared ← those of other processes. */
static bisai_status exchange(const bisai_pressure *p, const bisai_pressure_calls *calls) {
  return judge(p, calls->exchange(calls->user, p->shared, p->shared + p->rows->block_rows));
}

/* The entries of the ghosts in x ← those of other processes. A double holds any integer of them. */
static bisai_status exchange_x(const bisai_pressure *p, const bisai_pressure_calls *calls,
                               int32_t *x) {
  const int32_t n = p->rows->block_rows;
  for (int32_t i = 0; i < n; i++) p->shared[i] = x[i];
  BSI_TRY(exchange(p, calls));
  for (int32_t j = n; j < p->rows->block_cols; j++) x[j] = (int32_t)p->shared[j];
  return BISAI_OK;
}

/* Computes weights and equations of an unknown, and their mirrored entries. */
static bisai_status weigh(bisai_pressure *p, const bisai_pressure_calls *calls) {
  bsi_weight_stats stats;
  BSI_TRY(ops_of(p)->weigh(p->context, &p->weighing, p->weights, &stats));
  BSI_TRY(ops_of(p)->reduce(p->context, p->rows, p->weights, p->weighing.pressure, p->values,
                            p->columns));
  p->report.singular_rows = stats.singular;
  p->report.first_singular_row = stats.first_singular;
  p->report.reversed_rows = stats.reversed;
  p->report.excluded_rows = stats.excluded;
  p->report.first_excluded_row = stats.first_excluded;
  return judge(p, calls->mirror(calls->user, p->values, p->mirrored));
}

/* Returns min(1, K_i) of cpr/ellipticity.h. The diagonal entries are in p->shared. */
static int64_t coupling_of(const bisai_pressure *p, int32_t i) {
  double sum = 0.0;
  for (int32_t q = p->rows->row_ptr[i]; q < p->rows->row_ptr[i + 1]; q++) {
    if (q == p->diagonal[i]) continue;
    const double there = p->mirrored[q] / p->shared[p->rows->col_idx[q]];
    sum += sqrt(fabs(p->values[q] / p->shared[i]) * fabs(there));
  }
  return bsi_ellipticity_count(sum);
}

/* sums ← those of couplings and of reaches of an unknown, over the own rows. */
static bisai_status measure(bisai_pressure *p, const bisai_pressure_calls *calls, int64_t *sums) {
  const int32_t n = p->rows->block_rows;
  BSI_TRY(weigh(p, calls));
  for (int32_t i = 0; i < n; i++) p->shared[i] = p->values[p->diagonal[i]];
  BSI_TRY(exchange(p, calls));
  sums[0] = 0;
  for (int32_t i = 0; i < n; i++) sums[0] += coupling_of(p, i);
  return ops_of(p)->reach(p->context, p->rows, p->diagonal, p->weighing.pressure, &sums[1]);
}

/* Measures all unknowns, and takes the most elliptic one. */
static bisai_status find_pressure(bisai_pressure *p, const bisai_pressure_calls *calls) {
  const int bs = p->rows->block_size;
  int64_t sums[2 * BISAI_MAX_BLOCK_SIZE + 1] = {0};
  double *ellipticity = p->report.ellipticity;
  for (p->weighing.pressure = 0; p->weighing.pressure < bs; p->weighing.pressure++)
    BSI_TRY(measure(p, calls, sums + 2 * (ptrdiff_t)p->weighing.pressure));
  p->weighing.pressure = 0;
  sums[2 * (ptrdiff_t)bs] = p->rows->block_rows;
  BSI_TRY(judge(p, calls->add(calls->user, 2 * bs + 1, sums)));
  const double rows = BSI_ELLIPTICITY_ONE * (double)sums[2 * (ptrdiff_t)bs];
  for (int k = 0; k < bs && rows > 0.0; k++) {
    ellipticity[k] =
        ((double)sums[2 * (ptrdiff_t)k] / rows) * ((double)sums[2 * k + 1] / (rows * bs));
    if (ellipticity[k] > ellipticity[p->weighing.pressure]) p->weighing.pressure = k;
  }
  p->known = p->report.found = true;
  return BISAI_OK;
}

/* Finds the pairs of cpr/scales.h. Their sums count each pair from both sides. */
static void find_pairs(const bisai_pressure *p, bsi_imbalance *sums) {
  const int32_t n = p->rows->block_rows;
  for (int32_t i = 0; i < n; i++)
    for (int32_t q = p->rows->row_ptr[i]; q < p->rows->row_ptr[i + 1]; q++) {
      const int32_t j = p->rows->col_idx[q];
      p->pairs[q] =
          q == p->diagonal[i] ? 0 : bsi_pair_make(p->values[q], p->mirrored[q], -p->x[i] - p->x[j]);
      const int32_t ratio = bsi_pair_ratio(p->pairs[q]), size = ratio < 0 ? -ratio : ratio,
                    weight = bsi_pair_weight(p->pairs[q]);
      sums->sum += (int64_t)weight * (size < BSI_IMBALANCE_LIMIT ? size : BSI_IMBALANCE_LIMIT);
      sums->weight += weight;
    }
}

/* to ← x of the own rows after a sweep. */
static void sweep(const bisai_pressure *p, double omega, const int32_t *from, int32_t *to) {
  for (int32_t i = 0; i < p->rows->block_rows; i++) {
    int64_t sum = 0, weight = 0;
    for (int32_t q = p->rows->row_ptr[i]; q < p->rows->row_ptr[i + 1]; q++)
      bsi_sweep_add(p->pairs[q], from[p->rows->col_idx[q]] - from[i], &sum, &weight);
    to[i] = bsi_sweep_end(from[i], sum, weight, omega);
  }
}

/* Finds the scales of all rows: p->x. */
static bisai_status find_scales(bisai_pressure *p, const bisai_pressure_calls *calls) {
  bsi_imbalance sums = {0};
  for (int32_t i = 0; i < p->rows->block_rows; i++) p->x[i] = -bsi_log2(p->values[p->diagonal[i]]);
  BSI_TRY(exchange_x(p, calls, p->x));
  find_pairs(p, &sums);
  int64_t all[] = {sums.sum, sums.weight};
  BSI_TRY(judge(p, calls->add(calls->user, 2, all)));
  const bsi_sweeps sweeps = bsi_sweeps_for(&(bsi_imbalance){all[0], all[1]});
  for (int32_t j = 0; j < p->rows->block_cols && sweeps.from_zero; j++) p->x[j] = 0;
  for (int k = 0; k < sweeps.count; k++) { /* an even number */
    int32_t *to = k % 2 ? p->x : p->next;
    sweep(p, bsi_sweeps_omega(&sweeps, k), k % 2 ? p->next : p->x, to);
    BSI_TRY(exchange_x(p, calls, to));
  }
  return BISAI_OK;
}

static void scale(const bisai_pressure *p) {
  const int bs = p->rows->block_size;
  for (int32_t i = 0; i < p->rows->block_rows; i++) {
    if (p->x[i] == 0) continue;
    const double factor = bsi_row_scale(p->x[i], p->values[p->diagonal[i]]);
    for (int32_t q = p->rows->row_ptr[i]; q < p->rows->row_ptr[i + 1]; q++) p->values[q] *= factor;
    for (int k = 0; k < bs; k++) p->weights[(int64_t)i * bs + k] *= factor;
  }
}

bisai_status bisai_pressure_compute(bisai_pressure *pressure, const bisai_pressure_calls *calls) {
  if (!pressure) return BISAI_INVALID_ARGUMENT;
  if (!calls || !calls->exchange || !calls->mirror || !calls->add)
    return bsi_fail(pressure->context, BISAI_INVALID_ARGUMENT,
                    "bisai_pressure_compute: a function is NULL");
  if (!pressure->known) BSI_TRY(find_pressure(pressure, calls));
  BSI_TRY(weigh(pressure, calls));
  BSI_TRY(find_scales(pressure, calls));
  scale(pressure);
  return BISAI_OK;
}

void bisai_pressure_keep(bisai_pressure *pressure) {
  ops_of(pressure)->reduce(pressure->context, pressure->rows, pressure->weights,
                           pressure->weighing.pressure, NULL, pressure->columns);
}

/* --- use --- */

bsi_pressure_arrays bsi_pressure_arrays_of(const bisai_pressure *pressure) {
  return (bsi_pressure_arrays){pressure->rows, pressure->weights, pressure->columns,
                               pressure->weighing.pressure, pressure->options.additive};
}

const double *bisai_pressure_values(const bisai_pressure *pressure) { return pressure->values; }

void bisai_pressure_gather(const bisai_pressure *pressure, const double *v, double *r) {
  const bisai_bcsr *a = pressure->rows;
  ops_of(pressure)->gather(pressure->context, a->block_rows, a->block_size, pressure->weights, v,
                           r);
}

void bisai_pressure_subtract(const bisai_pressure *pressure, const double *z, const double *v,
                             double *r) {
  const bisai_bcsr *a = pressure->rows;
  ops_of(pressure)->subtract(pressure->context, a, a->block_size, pressure->columns, z, v, r);
}

void bisai_pressure_add(const bisai_pressure *pressure, const double *z, double *x) {
  const bisai_bcsr *a = pressure->rows;
  ops_of(pressure)->add(pressure->context, a->block_rows, a->block_size,
                        pressure->weighing.pressure, z, x);
}

bisai_cpr_report bisai_pressure_report(const bisai_pressure *pressure) {
  bisai_cpr_report r = pressure->report;
  r.pressure = pressure->weighing.pressure;
  r.weights = pressure->options.weights   ? BISAI_WEIGHTS_GIVEN
              : pressure->options.storage ? BISAI_WEIGHTS_TRUE_IMPES
                                          : BISAI_WEIGHTS_QUASI_IMPES;
  return r;
}
