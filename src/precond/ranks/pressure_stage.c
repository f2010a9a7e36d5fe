/* SPDX-License-Identifier: BSD-3-Clause */
/* The first stage of CPR over ranks, on the backend of the hierarchy of the pressures. */
#include "core/context/staging.h"
#include "core/matrix/bcsr_impl.h"
#include "cpr/cpr_ops.h"
#include "cpr/pressure.h"
#include "precond/ranks/ranks_impl.h"

struct bisai_pressure_stage {
  bisai_context *context;
  const bisai_pressure *pressure;
  bisai_ranks *ranks;
  /* the structure of the own rows, and copies of weights and columns; on the host, the arrays of
   * the pressure itself */
  bisai_bcsr rows;
  double *weights, *columns;
  /* the right-hand sides of the own pressure equations, corrections of own rows and ghosts, and
   * what they leave of a vector */
  double *right, *correction, *rest;
};

static const bsi_memory_ops *memory_of(const bisai_pressure_stage *s) {
  return s->context->backend->memory;
}

static const bsi_cpr_ops *ops_of(const bisai_pressure_stage *s) { return s->context->backend->cpr; }

/* Copies the structure, and reserves the values. */
static bisai_status copy_structure(bisai_pressure_stage *s, const bsi_pressure_arrays *a) {
  const bsi_memory_ops *memory = memory_of(s);
  const size_t n = (size_t)a->rows->block_rows, blocks = (size_t)a->rows->blocks,
               bs = (size_t)a->rows->block_size, size = sizeof(int32_t);
  s->rows.row_ptr = memory->allocate(s->context, n + 1, size);
  s->rows.col_idx = memory->allocate(s->context, blocks, size);
  s->weights = memory->allocate(s->context, n * bs, sizeof *s->weights);
  s->columns = memory->allocate(s->context, blocks * bs, sizeof *s->columns);
  if (!s->rows.row_ptr || !s->rows.col_idx || !s->weights || !s->columns)
    return BISAI_OUT_OF_MEMORY;
  BSI_TRY(memory->upload(s->context, s->rows.row_ptr, a->rows->row_ptr, (n + 1) * size));
  if (blocks > 0)
    BSI_TRY(memory->upload(s->context, s->rows.col_idx, a->rows->col_idx, blocks * size));
  return memory->synchronize(s->context);
}

static bisai_status reserve(bisai_pressure_stage *s) {
  const bsi_memory_ops *memory = memory_of(s);
  const bsi_pressure_arrays a = bsi_pressure_arrays_of(s->pressure);
  const bsi_halo *halo = &s->ranks->levels.levels[0].halo;
  const size_t n = (size_t)a.rows->block_rows;
  s->rows.block_rows = a.rows->block_rows;
  s->rows.block_cols = a.rows->block_cols;
  s->rows.block_size = 1;
  s->rows.blocks = a.rows->blocks;
  s->right = memory->allocate(s->context, n, sizeof *s->right);
  s->correction = memory->allocate(s->context, n + (size_t)halo->ghosts, sizeof *s->correction);
  s->rest = memory->allocate(s->context, n * (size_t)a.rows->block_size, sizeof *s->rest);
  if (!s->right || !s->correction || !s->rest) return BISAI_OUT_OF_MEMORY;
  return memory->is_host ? BISAI_OK : copy_structure(s, &a);
}

bisai_status bisai_pressure_stage_create(const bisai_pressure *pressure, bisai_ranks *ranks,
                                         bisai_pressure_stage **stage) {
  if (!ranks) return BISAI_INVALID_ARGUMENT;
  if (!pressure || !stage)
    return bsi_fail(ranks->context, BISAI_INVALID_ARGUMENT,
                    "bisai_pressure_stage_create: an argument is NULL");
  const bisai_bcsr *rows = bsi_pressure_arrays_of(pressure).rows, *level = &ranks->levels.first;
  if (level->block_size != 1 || level->block_rows != rows->block_rows ||
      level->block_cols < rows->block_cols)
    return bsi_fail(ranks->context, BISAI_INVALID_ARGUMENT,
                    "bisai_pressure_stage_create: the hierarchy has %d rows of blocks of %d and %d "
                    "columns, the pressures have %d and %d",
                    level->block_rows, level->block_size, level->block_cols, rows->block_rows,
                    rows->block_cols);
  bisai_pressure_stage *s = bsi_allocate(ranks->context, 1, sizeof *s);
  if (!s) return BISAI_OUT_OF_MEMORY;
  *s = (bisai_pressure_stage){.context = ranks->context, .pressure = pressure, .ranks = ranks};
  bisai_status status = reserve(s);
  if (!status) status = bisai_pressure_stage_update(s);
  if (status)
    bisai_pressure_stage_destroy(&s);
  else
    *stage = s;
  return status;
}

bisai_status bisai_pressure_stage_update(bisai_pressure_stage *stage) {
  if (!stage) return BISAI_INVALID_ARGUMENT;
  const bsi_memory_ops *memory = memory_of(stage);
  const bsi_pressure_arrays a = bsi_pressure_arrays_of(stage->pressure);
  const size_t bs = (size_t)a.rows->block_size,
               weights = (size_t)a.rows->block_rows * bs * sizeof *a.weights,
               columns = (size_t)a.rows->blocks * bs * sizeof *a.columns;
  if (memory->is_host) return BISAI_OK;
  if (weights > 0) BSI_TRY(memory->upload(stage->context, stage->weights, a.weights, weights));
  if (columns > 0) BSI_TRY(memory->upload(stage->context, stage->columns, a.columns, columns));
  return memory->synchronize(stage->context);
}

/* *rest ← v − A E z, where z is one cycle for the pressure equations of v. */
static bisai_status correct(bisai_pressure_stage *s, const bsi_pressure_arrays *a,
                            const double *v) {
  const bool host = memory_of(s)->is_host;
  const int bs = a->rows->block_size;
  BSI_TRY(ops_of(s)->gather(s->context, a->rows->block_rows, bs, host ? a->weights : s->weights, v,
                            s->right));
  BSI_TRY(bsi_rank_levels_apply(&s->ranks->levels, s->right, s->correction));
  if (a->additive) return BISAI_OK;
  BSI_TRY(bsi_halo_complete(&s->ranks->levels.levels[0].halo, 1, s->correction));
  return ops_of(s)->subtract(s->context, host ? a->rows : &s->rows, bs,
                             host ? a->columns : s->columns, s->correction, v, s->rest);
}

bisai_status bisai_pressure_stage_begin(bisai_pressure_stage *stage, const double *v,
                                        const double **rest) {
  if (!stage) return BISAI_INVALID_ARGUMENT;
  const bsi_pressure_arrays a = bsi_pressure_arrays_of(stage->pressure);
  const int64_t n = (int64_t)a.rows->block_rows * a.rows->block_size;
  bsi_staged in = {0};
  bisai_status status = rest && (v || n == 0)
                            ? BISAI_OK
                            : bsi_fail(stage->context, BISAI_INVALID_ARGUMENT,
                                       "bisai_pressure_stage_begin: an argument is NULL");
  if (!status) status = bsi_stage_input(stage->context, n, 1, v, n, &in);
  if (!status) status = correct(stage, &a, in.data);
  bsi_stage_release(stage->context, &in);
  if (!status) *rest = a.additive ? v : stage->rest;
  return status;
}

bisai_status bisai_pressure_stage_end(bisai_pressure_stage *stage, double *x) {
  if (!stage) return BISAI_INVALID_ARGUMENT;
  const bsi_pressure_arrays a = bsi_pressure_arrays_of(stage->pressure);
  const int64_t n = (int64_t)a.rows->block_rows * a.rows->block_size;
  bsi_staged out = {0};
  bisai_status status = x || n == 0 ? BISAI_OK
                                    : bsi_fail(stage->context, BISAI_INVALID_ARGUMENT,
                                               "bisai_pressure_stage_end: x is NULL");
  if (!status) status = bsi_stage_output(stage->context, n, 1, true, x, n, &out);
  if (!status)
    status = ops_of(stage)->add(stage->context, a.rows->block_rows, a.rows->block_size, a.pressure,
                                stage->correction, out.data);
  return bsi_stage_return(stage->context, status, &out);
}

void bisai_pressure_stage_destroy(bisai_pressure_stage **stage) {
  if (!stage || !*stage) return;
  bisai_pressure_stage *s = *stage;
  bisai_context *context = s->context;
  double *arrays[] = {s->weights, s->columns, s->right, s->correction, s->rest};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
    memory_of(s)->release(context, arrays[k]);
  memory_of(s)->release(context, s->rows.row_ptr);
  memory_of(s)->release(context, s->rows.col_idx);
  bsi_release(context, s);
  *stage = NULL;
}
