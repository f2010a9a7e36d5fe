/* SPDX-License-Identifier: BSD-3-Clause */
/* A hierarchy of a matrix, with a right-hand side and room for a solution. */
#ifndef BISAI_TEST_PROBLEM_H
#define BISAI_TEST_PROBLEM_H

#include "core/context/context_impl.h"
#include "fixture.h"
#include "multigrid/cycle.h"
#include "multigrid/cycle/coarse_graph.h"
#include "multigrid/cycle/cycle_ops.h"
#include "multigrid/cycle/operations.h"
#include "multigrid/hierarchy.h"
#include "multigrid/level/memory.h"
#include "precond/operator.h"

typedef struct problem {
  bisai_context *context;
  bisai_bcsr *matrix;
  bsi_hierarchy h;
  int64_t n;
  double *b, *x;
} problem;

/* Returns what most tests begin with: no copies in fp32, many levels, and all arrays to look at. */
static inline bsi_multigrid_setup setup_of(bisai_cycle cycle, bisai_smoother smoother) {
  bsi_multigrid_setup s = {.options = bisai_precond_options_default().multigrid};
  s.options.cycle = cycle;
  s.options.smoother = smoother;
  s.options.nodes = BISAI_AGGREGATION_UNIT_BLOCK;
  s.options.precision = BISAI_FP64;
  s.options.coarsest = 20;
  s.options.complexity = 10.0;
  s.options.update = BISAI_MULTIGRID_UPDATE_FAST;
  return s;
}

/* Frees the arrays. */
static inline problem make_problem(bisai_context *c, test_bcsr arrays,
                                   const bsi_multigrid_setup *setup) {
  problem p = {.context = c, .n = (int64_t)arrays.block_rows * arrays.block_size};
  p.matrix = test_bcsr_take(c, arrays);
  EXPECT_OK(c, bsi_hierarchy_create(c, p.matrix, setup, &p.h));
  p.b = test_vector_in_place(p.n, 4);
  p.x = test_vector_in_place(p.n, 5);
  return p;
}

static inline void free_problem(problem *p) {
  bsi_hierarchy_destroy(p->context, &p->h);
  bisai_bcsr_destroy(&p->matrix);
  test_vector_free(p->b);
  test_vector_free(p->x);
}

static inline bisai_status run_one_by_one(bisai_context *c, int64_t rows, int64_t values,
                                          int32_t count, const bsi_operation *operations) {
  (void)rows, (void)values;
  for (int32_t k = 0; k < count; k++) BSI_TRY(bsi_operation_run(c, &operations[k]));
  return BISAI_OK;
}

/* Records the operations of the small levels also on the host, which needs no graph. */
static inline bisai_status test_graph_create(bsi_hierarchy *h, int64_t most_rows) {
  static const bsi_coarse_graph_ops one_by_one = {.run = run_one_by_one};
  static bsi_multigrid_ops ops;
  static bsi_backend backend;
  if (!bsi_ops_of(h)->coarse_graph->run) {
    ops = *bsi_ops_of(h);
    ops.coarse_graph = &one_by_one;
    backend = *h->context->backend;
    backend.multigrid = &ops;
    h->context->backend = &backend;
  }
  return bsi_coarse_graph_create(h, most_rows, bsi_hierarchy_correct);
}

/* Does a cycle and returns a copy of the result. */
static inline double *result_of(problem *p, bisai_status status) {
  double *result = malloc((size_t)p->n * sizeof *result);
  EXPECT_OK(p->context, status);
  test_synchronize();
  memcpy(result, p->x, (size_t)p->n * sizeof *result);
  return result;
}

static inline double *cycle(problem *p) {
  return result_of(p, bsi_hierarchy_cycle(&p->h, p->b, p->x));
}

static inline double *cycle_in_fp32(problem *p) {
  return result_of(p, bsi_hierarchy_cycle_in_fp32(&p->h, p->b, p->x));
}

#endif
