/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices with their strengths and aggregates. */
#ifndef BISAI_TEST_GRAPH_H
#define BISAI_TEST_GRAPH_H

#include "support.h"

#include <math.h>

#include "core/block/block_invert.h"
#include "core/matrix/bcsr_impl.h"
#include "multigrid/aggregation/aggregate.h"
#include "multigrid/aggregation/aggregation_ops.h"
#include "multigrid/level/multigrid_ops.h"

typedef struct graph {
  bisai_context *context;
  bisai_bcsr *matrix;
  /* backend memory, which the tests read too */
  float *strength;
  int32_t *aggregate;
  int32_t count, members;
} graph;

static inline void *room(bisai_context *c, int32_t count, size_t size) {
  void *memory = c->backend->memory->allocate(c, (size_t)count + 1, size);
  assert_non_null(memory);
  test_synchronize();
  return memory;
}

static inline graph graph_of(bisai_context *c, const test_bcsr *a) {
  graph g = {.context = c, .matrix = test_bcsr_make(c, a)};
  g.strength = room(c, g.matrix->blocks, sizeof *g.strength);
  g.aggregate = room(c, g.matrix->block_rows, sizeof *g.aggregate);
  return g;
}

static inline void graph_free(graph *g) {
  g->context->backend->memory->release(g->context, g->strength);
  g->context->backend->memory->release(g->context, g->aggregate);
  bisai_bcsr_destroy(&g->matrix);
}

/* Inverses of the diagonal blocks, in backend memory. */
static inline double *inverses_of(bisai_context *c, const test_bcsr *a) {
  const int bs = a->block_size, size = bs * bs;
  double *inverse = room(c, a->block_rows * size, sizeof *inverse), condition;
  for (int32_t i = 0; i < a->block_rows; i++)
    assert_int_not_equal(bsi_block_invert(bs, test_bcsr_block(a, i, i),
                                          inverse + (size_t)i * (size_t)size, &condition),
                         BSI_BLOCK_SINGULAR);
  return inverse;
}

/* The rule of the tests. */
#define TEST_LEAST_RETURN 0.01f
#define test_rule(threshold) ((bsi_strength_rule){threshold, TEST_LEAST_RETURN})

static inline void weigh(graph *g, const test_bcsr *a, double threshold) {
  double *inverse = inverses_of(g->context, a);
  EXPECT_OK(g->context,
            g->context->backend->multigrid->aggregation->weigh(
                g->context, g->matrix, inverse, &test_rule((float)threshold), g->strength));
  g->context->backend->memory->release(g->context, inverse);
}

static inline void aggregate(graph *g) {
  for (int32_t i = 0; i < g->matrix->block_rows; i++) g->aggregate[i] = -7;
  g->count = g->members = -7;
  EXPECT_OK(g->context,
            g->context->backend->multigrid->aggregation->aggregate(
                g->context, g->matrix, g->strength, g->aggregate, NULL, &g->count, &g->members));
  int32_t members = 0;
  test_synchronize();
  for (int32_t i = 0; i < g->matrix->block_rows; i++) members += g->aggregate[i] >= 0;
  assert_int_equal(g->members, members);
}

/* Five points on nx × ny: −1 along x and −epsilon along y, in blocks of multiples of I. The rows of
 * the first line are identities if `clamped`. */
static inline test_bcsr diffusion(int32_t nx, int32_t ny, int32_t bs, double epsilon,
                                  bool clamped) {
  test_bcsr a = test_bcsr_grid(nx, ny, bs, 1);
  for (int32_t i = 0; i < a.block_rows; i++)
    for (int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; p++) {
      const int32_t j = a.col_idx[p];
      const bool fixed = clamped && i < nx;
      const double value = i == j            ? fixed ? 1.0 : 2.0 + 2.0 * epsilon
                           : fixed           ? 0.0
                           : abs(j - i) == 1 ? -1.0
                                             : -epsilon;
      for (int k = 0; k < bs * bs; k++)
        a.values[(size_t)p * (size_t)(bs * bs) + (size_t)k] = k % (bs + 1) == 0 ? value : 0.0;
    }
  return a;
}

#endif
