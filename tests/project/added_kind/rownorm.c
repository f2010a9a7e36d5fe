/* SPDX-License-Identifier: BSD-3-Clause */
/* Scaling by rows: z_i = v_i / ‖a_i‖, a_i being row i of A, in the 1-norm or the 2-norm. */
#include <math.h>

#include "core/context/context_impl.h"
#include "precond/precond_impl.h"

/* The norms of the rows. */
typedef struct rownorm_state {
  double *norms;
} rownorm_state;

static rownorm_state *rownorm_of(const bisai_precond *m) { return m->state; }

static const bisai_option table[] = {
    {BSI_PRECOND_OPTION(rownorm.norm), .name = "norm", .key = "norm", .placeholder = "P",
     .petsc = "norm", .help = "1 or 2: which norm of a row", .type = BISAI_OPTION_INTEGER,
     .initial = 1, .minimum = 1, .maximum = 2, .advised = 2}};
static const bsi_option_list own_options = BSI_OPTION_LIST(table);

static bisai_status rownorm_check(bisai_context *context, const bisai_precond_options *o,
                                  const bisai_bcsr *matrix) {
  (void)o;
  if (bisai_context_backend(context) != BISAI_BACKEND_HOST ||
      bisai_bcsr_value_type(matrix) != BISAI_FP64)
    return bsi_fail(context, BISAI_UNSUPPORTED, "rownorm runs on the host, on fp64 values");
  return BISAI_OK;
}

static bisai_status rownorm_setup(bisai_precond *m, const bisai_bcsr *a) {
  (void)a;
  rownorm_of(m)->norms =
      bsi_allocate(m->context, (size_t)bsi_precond_size(m), sizeof *rownorm_of(m)->norms);
  return rownorm_of(m)->norms ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

static bisai_status rownorm_update(bisai_precond *m, const bisai_bcsr *a) {
  const int32_t *row_ptr, bs = m->block_size;
  const void *array;
  bisai_bcsr_arrays(a, &row_ptr, NULL, &array);
  const double *values = array;
  for (int32_t i = 0; i < m->block_rows * bs; i++) {
    double sum = 0.0;
    for (int64_t p = row_ptr[i / bs]; p < row_ptr[i / bs + 1]; p++)
      for (int32_t c = 0; c < bs; c++) {
        const double value = fabs(values[(p * bs + c) * bs + i % bs]);
        sum += m->options.rownorm.norm == 1 ? value : value * value;
      }
    if (sum == 0.0)
      return bsi_fail(m->context, BISAI_SINGULAR_BLOCK, "row %d has no values but zeros", i);
    rownorm_of(m)->norms[i] = m->options.rownorm.norm == 1 ? sum : sqrt(sum);
  }
  return BISAI_OK;
}

static bisai_status rownorm_apply(bisai_precond *m, const bsi_vectors *v) {
  for (int32_t c = 0; c < v->count; c++)
    for (int64_t i = 0; i < bsi_precond_size(m); i++)
      v->x[c * v->ldx + i] = v->b[c * v->ldb + i] / rownorm_of(m)->norms[i];
  return BISAI_OK;
}

static bisai_symmetry rownorm_symmetry(const bisai_precond *m) {
  (void)m;
  return BISAI_SYMMETRY_VALUES;
}

static void rownorm_describe(bisai_precond *m) {
  bsi_append(m, " norm=%d", m->options.rownorm.norm);
}

static void rownorm_report(const bisai_precond *m, bisai_precond_report *r) {
  r->memory_bytes += 8 * bsi_precond_size(m);
  r->apply_bytes = 24 * bsi_precond_size(m);
}

static void rownorm_destroy(bisai_precond *m) { bsi_release(m->context, rownorm_of(m)->norms); }

const bsi_precond_ops bsi_precond_rownorm = {.options = {&own_options},
                                             .state_size = sizeof(rownorm_state),
                                             .check = rownorm_check,
                                             .setup = rownorm_setup,
                                             .update = rownorm_update,
                                             .apply = rownorm_apply,
                                             .about.symmetry = rownorm_symmetry,
                                             .about.describe = rownorm_describe,
                                             .about.report = rownorm_report,
                                             .destroy = rownorm_destroy};
