/* SPDX-License-Identifier: BSD-3-Clause */
/* A hierarchy of a matrix, with a right-hand side and room for a solution. */
#ifndef BISAI_TEST_PROBLEM_H
#define BISAI_TEST_PROBLEM_H

#include "fixture.h"
#include "multigrid/hierarchy.h"

typedef struct problem {
  bisai_context *context;
  bisai_bcsr *matrix;
  bsi_hierarchy h;
  int64_t n;
  double *b, *x;
} problem;

/* Returns what most tests begin with: no copies in fp32, and many levels. */
static inline bsi_multigrid_setup setup_of(bisai_cycle cycle, bisai_smoother smoother) {
  bsi_multigrid_setup s = {.options = bisai_precond_options_default().multigrid};
  s.options.cycle = cycle;
  s.options.smoother = smoother;
  s.options.nodes = BISAI_AGGREGATION_UNIT_BLOCK;
  s.options.precision = BISAI_FP64;
  s.options.coarsest = 20;
  s.options.complexity = 10.0;
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

/* Does a cycle and returns a copy of the result. */
static inline double *cycle(problem *p) {
  double *result = malloc((size_t)p->n * sizeof *result);
  EXPECT_OK(p->context, bsi_hierarchy_cycle(&p->h, p->b, p->x));
  test_synchronize();
  memcpy(result, p->x, (size_t)p->n * sizeof *result);
  return result;
}

#endif
