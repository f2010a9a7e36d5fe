/* SPDX-License-Identifier: BSD-3-Clause */
#include "precond/operator.h"

#include "precond/precond_impl.h"

static bisai_status update(void *self, const bisai_bcsr *matrix) {
  return bsi_precond_update_inside(self, matrix);
}

static bisai_status apply(void *self, const double *v, double *z) {
  const int64_t n = bsi_precond_size(self);
  return bsi_precond_apply_inside(self, 1, v, n, z, n, 0);
}

static bsi_operator_cost cost(const void *self) {
  const bisai_precond *m = self;
  const int64_t memory = m->report.memory_bytes;
  return (bsi_operator_cost){memory, m->factors ? m->factors->ilu.peak_bytes : memory,
                             m->report.apply_bytes};
}

static void destroy(void *self) {
  bisai_precond *m = self;
  bisai_precond_destroy(&m);
}

bsi_operator bsi_precond_as_operator(bisai_precond *m) {
  static const bsi_operator_ops ops = {update, apply, cost, destroy};
  return (bsi_operator){&ops, m};
}

bisai_status bsi_precond_operator_create(bisai_context *context, const bisai_bcsr *matrix,
                                         const bisai_precond_options *options, bsi_operator *made) {
  bisai_precond *m = NULL;
  const bisai_status status = bisai_precond_create(context, matrix, options, &m);
  if (!status) *made = bsi_precond_as_operator(m);
  return status;
}
