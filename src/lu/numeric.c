/* SPDX-License-Identifier: BSD-3-Clause */
/* The values of complete factors, from the left: a panel takes the products of all supernodes that
 * change it, in the order of these, and is then factorised. Source: Ng and Peyton 1993, Block
 * sparse Cholesky algorithms on advanced uniprocessor computers (left-looking, for L and U here).
 *
 * One thread goes through the supernodes in their order. Several threads go level by level: they
 * share out the supernodes of a level or, where these are few, the rows of each. Both do the same
 * operations on each value. */
#include "core/threads/parallel.h"
#include "lu/lu_impl.h"

#include <math.h>
#include <string.h>

enum {
  /* the least values of panels for which a thread is woken */
  VALUES_PER_THREAD = 1 << 14,
  /* A level with fewer supernodes for each thread shares out rows. */
  NODES_PER_THREAD = 4,
  /* the least block rows of a part */
  ROWS_PER_PART = 16
};

/* --- values of the matrix --- */

/* Returns where in the panel of `node` the block of row `row` begins, which is in its front. */
static int64_t find_in_front(const bsi_lu *lu, const bsi_lu_node *node, int32_t row) {
  if (row < node->end) return (int64_t)(row - node->begin) * lu->bs;
  int32_t low = 0, high = node->below - 1;
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if (node->rows[middle] < row)
      low = middle + 1;
    else
      high = middle;
  }
  return node->width + (int64_t)low * lu->bs;
}

void bsi_lu_find_targets(bsi_lu *lu, const bsi_structure *matrix) {
  const bsi_lu_structure *t = &lu->structure;
  for (int32_t row = 0; row < lu->n; row++) {
    const int32_t i = t->tree.place[row];
    for (int32_t p = matrix->row_ptr[row]; p < matrix->row_ptr[row + 1]; p++) {
      const int32_t j = t->tree.place[matrix->col_idx[p]], s = t->of[i < j ? i : j];
      const bsi_lu_node node = bsi_lu_node_of(lu, s);
      const bool right = j >= node.end; /* a block of U right of the square */
      const int32_t column = (right ? i : j) - node.begin;
      lu->targets[p] = node.at + (int64_t)column * lu->bs * node.ld +
                       find_in_front(lu, &node, right ? j : i) + (right ? node.depth : 0);
    }
  }
}

typedef struct load_job {
  bsi_lu *lu;
  const bisai_bcsr *matrix;
  bsi_structure structure;
  const double *values;
} load_job;

static void clear_part(void *job, bsi_part part) {
  const bsi_lu *lu = ((const load_job *)job)->lu;
  const size_t size = lu->options.storage == BISAI_FP32 ? sizeof(float) : sizeof(double);
  const bsi_range range = bsi_range_of(lu->structure.value_ptr[lu->structure.nodes.count], part);
  memset((char *)lu->values + (size_t)range.begin * size, 0,
         (size_t)(range.end - range.begin) * size);
}

/* Puts a block into a panel; `across` and `down` are what a column and a row of it go on by. */
static void put_block(const bsi_lu *lu, const double *block, int64_t at, int64_t across,
                      int64_t down) {
  for (int c = 0; c < lu->bs; c++)
    for (int r = 0; r < lu->bs; r++, block++) {
      const int64_t to = at + c * across + r * down;
      if (lu->options.storage == BISAI_FP32)
        ((float *)lu->values)[to] = (float)*block;
      else
        ((double *)lu->values)[to] = *block;
    }
}

static void load_part(void *work, bsi_part part) {
  const load_job *job = work;
  const bsi_lu *lu = job->lu;
  const bsi_lu_structure *t = &lu->structure;
  const size_t size = (size_t)(lu->bs * lu->bs);
  const bsi_rows rows = bsi_rows_of(lu->n, job->structure.row_ptr, part);
  double *largest = bsi_partial(lu->context, part.thread);
  for (int32_t row = rows.begin; row < rows.end; row++) {
    const int32_t i = t->tree.place[row];
    for (int32_t p = job->structure.row_ptr[row]; p < job->structure.row_ptr[row + 1]; p++) {
      const int32_t j = t->tree.place[job->structure.col_idx[p]], s = t->of[i < j ? i : j];
      const double *block = job->values + (size_t)p * size;
      const int64_t ld =
          (int64_t)(t->nodes.begin[s + 1] - t->nodes.begin[s] + 2 * t->nodes.below[s]) * lu->bs;
      const bool right = j >= t->nodes.begin[s + 1];
      put_block(lu, block, lu->targets[p], right ? 1 : ld, right ? ld : 1);
      if (lu->options.shift > 0.0)
        for (size_t v = 0; v < size; v++) *largest = fmax(*largest, fabs(block[v]));
    }
  }
}

/* Puts the values of the matrix into the panels. Returns their largest magnitude if there is a
 * shift. */
static double load(bsi_lu *lu, load_job *job) {
  bisai_context *context = lu->context;
  const int threads = bsi_threads_for(
      context->threads, lu->structure.value_ptr[lu->structure.nodes.count], VALUES_PER_THREAD);
  bsi_run(context, threads, BSI_SOME_PARTS, clear_part, job);
  for (int thread = 0; thread < context->threads; thread++)
    *(double *)bsi_partial(context, thread) = 0.0;
  bsi_run(context, threads, BSI_SOME_PARTS, load_part, job);
  double largest = 0.0;
  for (int thread = 0; thread < context->threads; thread++)
    largest = fmax(largest, *(double *)bsi_partial(context, thread));
  return largest;
}

/* --- factors --- */

typedef struct factor_job {
  bsi_lu *lu;
  /* the least magnitude of pivots */
  double threshold;
  /* the supernodes of a level, or one supernode */
  const int32_t *nodes;
  int32_t count;
} factor_job;

/* The block rows of a front from place `first` on have numbers from this one on. */
static int32_t row_at(const bsi_lu_node *node, int32_t first) {
  const int32_t columns = node->end - node->begin;
  if (first < columns) return node->begin + first;
  return first - columns < node->below ? node->rows[first - columns] : INT32_MAX;
}

static void find_places(const bsi_lu_node *node, int32_t *place) {
  for (int32_t j = node->begin; j < node->end; j++) place[j] = j - node->begin;
  for (int32_t r = 0; r < node->below; r++) place[node->rows[r]] = node->end - node->begin + r;
}

static void subtract_updates(const bsi_lu *lu, int32_t s, int32_t low, int32_t high,
                             const int32_t *place, bsi_lu_scratch *scratch) {
  const bsi_lu_structure *t = &lu->structure;
  const bsi_lu_node node = bsi_lu_node_of(lu, s);
  for (int64_t u = t->update_ptr[s]; u < t->update_ptr[s + 1]; u++)
    bsi_lu_subtract(lu, &node, &t->updates[u], low, high, place, scratch);
}

/* One thread does all of a supernode. */
static void factor_alone(const factor_job *job, int32_t s, int thread) {
  const bsi_lu *lu = job->lu;
  const bsi_lu_node node = bsi_lu_node_of(lu, s);
  bsi_lu_scratch *scratch = &lu->work.threads[thread];
  find_places(&node, scratch->place);
  subtract_updates(lu, s, node.begin, INT32_MAX, scratch->place, scratch);
  bsi_lu_factor_square(lu, s, job->threshold, scratch, bsi_partial(lu->context, thread));
  bsi_lu_solve_rows(lu, s, scratch, 0, node.below, scratch->rows);
  bsi_lu_store_square(lu, s, scratch);
}

static void factor_nodes_part(void *work, bsi_part part) {
  const factor_job *job = work;
  const bsi_range range = bsi_range_of(job->count, part);
  for (int64_t p = range.begin; p < range.end; p++) factor_alone(job, job->nodes[p], part.thread);
}

static void subtract_part(void *work, bsi_part part) {
  const factor_job *job = work;
  const bsi_lu *lu = job->lu;
  const bsi_lu_node node = bsi_lu_node_of(lu, *job->nodes);
  const bsi_range range = bsi_range_of(node.end - node.begin + node.below, part);
  if (range.begin < range.end)
    subtract_updates(lu, *job->nodes, row_at(&node, (int32_t)range.begin),
                     row_at(&node, (int32_t)range.end), lu->work.threads[0].place,
                     &lu->work.threads[part.thread]);
}

/* The first thread's scratch has the triangles. */
static void solve_part(void *work, bsi_part part) {
  const factor_job *job = work;
  const bsi_lu *lu = job->lu;
  const bsi_range range = bsi_range_of(lu->structure.nodes.below[*job->nodes], part);
  double *tile = lu->work.threads[part.thread].rows;
  bsi_lu_solve_rows(lu, *job->nodes, &lu->work.threads[0], (int32_t)range.begin, (int32_t)range.end,
                    tile);
  if (part.index == 0) bsi_lu_store_square(lu, *job->nodes, &lu->work.threads[0]);
}

/* The threads share out the rows of a supernode. */
static void factor_together(factor_job *job, int threads) {
  bsi_lu *lu = job->lu;
  const bsi_lu_node node = bsi_lu_node_of(lu, *job->nodes);
  find_places(&node, lu->work.threads[0].place);
  bsi_run(lu->context, threads, BSI_SOME_PARTS, subtract_part, job);
  bsi_lu_factor_square(lu, *job->nodes, job->threshold, &lu->work.threads[0],
                       bsi_partial(lu->context, 0));
  bsi_run(lu->context, threads, BSI_SOME_PARTS, solve_part, job);
}

static void factor_level(factor_job *job, const int32_t *nodes, int32_t count) {
  bsi_lu *lu = job->lu;
  const int most = lu->context->threads;
  int64_t values = 0;
  for (int32_t p = 0; p < count; p++)
    values += lu->structure.value_ptr[nodes[p] + 1] - lu->structure.value_ptr[nodes[p]];
  const int threads = bsi_threads_for(most, values, VALUES_PER_THREAD);
  job->nodes = nodes;
  job->count = count;
  if (threads == 1 || count >= NODES_PER_THREAD * threads) {
    bsi_run(lu->context, threads, BSI_MANY_PARTS, factor_nodes_part, job);
    return;
  }
  for (int32_t p = 0; p < count; p++) {
    job->nodes = nodes + p;
    const int64_t rows = lu->structure.nodes.below[nodes[p]];
    factor_together(job, bsi_threads_for(most, rows, ROWS_PER_PART));
  }
}

static void clear_found(bisai_context *context) {
  for (int thread = 0; thread < context->threads; thread++)
    *(bsi_lu_found *)bsi_partial(context, thread) =
        (bsi_lu_found){.singular = -1, .infinite = -1, .first_raised = -1, .smallest = INFINITY};
}

static void take_first(int64_t *first, int64_t other) {
  if (other >= 0 && (*first < 0 || other < *first)) *first = other;
}

static bsi_lu_found sum_found(bisai_context *context) {
  bsi_lu_found sum = *(const bsi_lu_found *)bsi_partial(context, 0);
  for (int thread = 1; thread < context->threads; thread++) {
    const bsi_lu_found *f = bsi_partial(context, thread);
    take_first(&sum.singular, f->singular);
    take_first(&sum.infinite, f->infinite);
    take_first(&sum.first_raised, f->first_raised);
    sum.raised += f->raised;
    sum.smallest = fmin(sum.smallest, f->smallest);
    sum.largest = fmax(sum.largest, f->largest);
  }
  return sum;
}

/* Returns the caller's number of the block row of a scalar column. */
static int32_t name_row(const bsi_lu *lu, const bisai_bcsr *matrix, int64_t column) {
  return column < 0 ? -1 : bsi_row_name(matrix, lu->structure.tree.order[column / lu->bs]);
}

static bisai_status judge(bsi_lu *lu, const bisai_bcsr *matrix, const bsi_lu_found *found) {
  lu->pivots = (bsi_lu_pivots){.smallest = found->largest > 0.0 ? found->smallest : 0.0,
                               .largest = found->largest,
                               .raised = found->raised,
                               .first_raised_row = name_row(lu, matrix, found->first_raised)};
  if (found->infinite >= 0 && (found->singular < 0 || found->infinite < found->singular))
    return bsi_fail(lu->context, BISAI_NOT_FINITE, "block row %d: the factors overflow",
                    name_row(lu, matrix, found->infinite));
  if (found->singular >= 0)
    return bsi_fail(lu->context, BISAI_SINGULAR_BLOCK,
                    "block row %d: a pivot is zero, and a shift would raise it",
                    name_row(lu, matrix, found->singular));
  return BISAI_OK;
}

bisai_status bsi_lu_compute(bsi_lu *lu, const bisai_bcsr *matrix) {
  bisai_context *context = lu->context;
  const bsi_lu_structure *t = &lu->structure;
  load_job from = {.lu = lu, .matrix = matrix, .values = matrix->values};
  BSI_TRY(bsi_bcsr_structure(matrix, &from.structure));
  if (lu->work.matrix) {
    BSI_TRY(
        context->backend->memory->fetch(context, lu->work.matrix, matrix->values,
                                        bsi_block_offset(matrix, matrix->blocks) * sizeof(double)));
    from.values = lu->work.matrix;
  }
  factor_job job = {.lu = lu, .threshold = lu->options.shift * load(lu, &from)};
  clear_found(context);
  if (context->threads == 1) {
    for (int32_t s = 0; s < t->nodes.count; s++) factor_alone(&job, s, 0);
  } else {
    for (int32_t level = 0; level < t->levels; level++)
      factor_level(&job, t->level_nodes + t->level_ptr[level],
                   t->level_ptr[level + 1] - t->level_ptr[level]);
  }
  const bsi_lu_found found = sum_found(context);
  return judge(lu, matrix, &found);
}
