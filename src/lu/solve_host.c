/* SPDX-License-Identifier: BSD-3-Clause */
/* Solves with complete factors. Up the tree a supernode adds up what its children leave for its
 * front, solves with the L of its square, and leaves the products with its rows of L to its parent.
 * Down the tree it takes the solution of its rows, and solves with the U of its square.
 *
 * Substitution keeps residuals small even where U is almost singular, as in mhd3200a. Products with
 * the inverses of the squares do not.
 *
 * The transpose goes up with Uᵀ and down with Lᵀ. The rows of U are stored like the columns of L,
 * so that both are columns of a panel. The pivots of a square permute what it solves for last. */
#include "core/threads/parallel.h"
#include "lu/lu_impl.h"

#include <string.h>

/* the least values of panels for which a thread is woken */
enum { VALUES_PER_THREAD = 1 << 15 };

/* Sums of a product of two vectors that are added in a fixed order. */
enum { SUMS = 8 };

static inline double value_at(const bool single, const void *values, int64_t at) {
  return single ? (double)((const float *)values)[at] : ((const double *)values)[at];
}

/* y ← y + factor·column */
BSI_INLINE void add_column(const bool single, const void *values, int64_t at, int64_t n,
                           double factor, double *restrict y) {
  for (int64_t i = 0; i < n; i++) y[i] += value_at(single, values, at + i) * factor;
}

BSI_INLINE double multiply_column(const bool single, const void *values, int64_t at, int64_t n,
                                  const double *x) {
  double sums[SUMS] = {0.0}, rest = 0.0;
  int64_t i = 0;
  for (; i + SUMS <= n; i += SUMS)
    for (int k = 0; k < SUMS; k++) sums[k] += value_at(single, values, at + i + k) * x[i + k];
  for (; i < n; i++) rest += value_at(single, values, at + i) * x[i];
  for (int k = 0; k < SUMS; k++) rest += sums[k];
  return rest;
}

/* Adds what the children have left to the columns of a supernode and to what it leaves itself. */
static void add_children(const bsi_lu *lu, int32_t s, const bsi_lu_node *node, double *added) {
  const bsi_lu_structure *t = &lu->structure;
  const int bs = lu->bs;
  const int32_t columns = node->end - node->begin;
  double *own = lu->work.solution + (int64_t)node->begin * bs;
  for (int32_t c = t->child_ptr[s]; c < t->child_ptr[s + 1]; c++) {
    const int32_t child = t->children[c];
    for (int64_t p = t->row_ptr[child]; p < t->row_ptr[child + 1]; p++) {
      const int32_t place = t->place[p];
      double *to =
          place < columns ? own + (int64_t)place * bs : added + (int64_t)(place - columns) * bs;
      for (int i = 0; i < bs; i++) to[i] += lu->work.added[p * bs + i];
    }
  }
}

/* own ← L⁻¹ own of the square, in the order of its pivots. */
BSI_INLINE void solve_lower(const bool single, const bsi_lu *lu, const bsi_lu_node *node,
                            double *own) {
  const int32_t *pivot = lu->pivot + (int64_t)node->begin * lu->bs;
  double permuted[BSI_WIDEST_SUPERNODE];
  for (int k = 0; k < node->width; k++) permuted[k] = own[pivot[k]];
  memcpy(own, permuted, (size_t)node->width * sizeof *own);
  for (int k = 0; k < node->width; k++)
    add_column(single, lu->values, node->at + (int64_t)k * node->ld + k + 1, node->width - k - 1,
               -own[k], own + k + 1);
}

/* own ← U⁻¹ own of the square */
BSI_INLINE void solve_upper(const bool single, const bsi_lu *lu, const bsi_lu_node *node,
                            double *own) {
  for (int k = node->width; k-- > 0;) {
    const int64_t at = node->at + (int64_t)k * node->ld;
    own[k] /= value_at(single, lu->values, at + k);
    add_column(single, lu->values, at, k, -own[k], own);
  }
}

/* own ← U⁻ᵀ own of the square */
BSI_INLINE void solve_upper_transposed(const bool single, const bsi_lu *lu, const bsi_lu_node *node,
                                       double *own) {
  for (int k = 0; k < node->width; k++) {
    const int64_t at = node->at + (int64_t)k * node->ld;
    own[k] -= multiply_column(single, lu->values, at, k, own);
    own[k] /= value_at(single, lu->values, at + k);
  }
}

/* own ← L⁻ᵀ own of the square, back from the order of its pivots. */
BSI_INLINE void solve_lower_transposed(const bool single, const bsi_lu *lu, const bsi_lu_node *node,
                                       double *own) {
  const int32_t *pivot = lu->pivot + (int64_t)node->begin * lu->bs;
  double permuted[BSI_WIDEST_SUPERNODE];
  for (int k = node->width; k-- > 0;)
    own[k] -= multiply_column(single, lu->values, node->at + (int64_t)k * node->ld + k + 1,
                              node->width - k - 1, own + k + 1);
  memcpy(permuted, own, (size_t)node->width * sizeof *own);
  for (int k = 0; k < node->width; k++) own[pivot[k]] = permuted[k];
}

BSI_INLINE void go_up(const bool single, const bool transposed, const bsi_lu *lu, int32_t s) {
  const bsi_lu_node node = bsi_lu_node_of(lu, s);
  const int64_t first = node.at + node.width + (transposed ? node.depth : 0);
  double *own = lu->work.solution + (int64_t)node.begin * lu->bs;
  double *added = lu->work.added + lu->structure.row_ptr[s] * lu->bs;
  memset(added, 0, (size_t)node.depth * sizeof *added);
  add_children(lu, s, &node, added);
  if (transposed)
    solve_upper_transposed(single, lu, &node, own);
  else
    solve_lower(single, lu, &node, own);
  for (int k = 0; k < node.width; k++)
    add_column(single, lu->values, first + (int64_t)k * node.ld, node.depth, -own[k], added);
}

BSI_INLINE void go_down(const bool single, const bool transposed, const bsi_lu *lu, int32_t s) {
  const bsi_lu_node node = bsi_lu_node_of(lu, s);
  const int64_t first = node.at + node.width + (transposed ? 0 : node.depth);
  const int bs = lu->bs;
  double *own = lu->work.solution + (int64_t)node.begin * bs;
  double *below = lu->work.added + lu->structure.row_ptr[s] * bs;
  for (int32_t r = 0; r < node.below; r++)
    memcpy(below + (int64_t)r * bs, lu->work.solution + (int64_t)node.rows[r] * bs,
           (size_t)bs * sizeof *below);
  for (int k = 0; k < node.width; k++)
    own[k] -= multiply_column(single, lu->values, first + (int64_t)k * node.ld, node.depth, below);
  if (transposed)
    solve_lower_transposed(single, lu, &node, own);
  else
    solve_upper(single, lu, &node, own);
}

typedef struct solve_job {
  const bsi_lu *lu;
  const int32_t *nodes;
  int32_t count;
  bool up, transposed;
} solve_job;

BSI_INLINE void go_in(const bool single, const bool transposed, const bsi_lu *lu, bool up,
                      int32_t s) {
  if (up)
    go_up(single, transposed, lu, s);
  else
    go_down(single, transposed, lu, s);
}

static void go(const bsi_lu *lu, bool transposed, bool up, int32_t s) {
  const bool single = lu->options.storage == BISAI_FP32;
  if (single && transposed) go_in(true, true, lu, up, s);
  if (single && !transposed) go_in(true, false, lu, up, s);
  if (!single && transposed) go_in(false, true, lu, up, s);
  if (!single && !transposed) go_in(false, false, lu, up, s);
}

static void solve_part(void *work, bsi_part part) {
  const solve_job *job = work;
  const bsi_range range = bsi_range_of(job->count, part);
  for (int64_t p = range.begin; p < range.end; p++)
    go(job->lu, job->transposed, job->up, job->nodes[p]);
}

static void solve_level(const bsi_lu *lu, bool transposed, bool up, int32_t level) {
  const bsi_lu_structure *t = &lu->structure;
  const int32_t begin = t->level_ptr[level], count = t->level_ptr[level + 1] - begin;
  solve_job job = {lu, t->level_nodes + begin, count, up, transposed};
  int64_t values = 0;
  for (int32_t p = 0; p < count; p++)
    values += t->value_ptr[job.nodes[p] + 1] - t->value_ptr[job.nodes[p]];
  bsi_run(lu->context, bsi_threads_for(lu->context->threads, values, VALUES_PER_THREAD),
          BSI_SOME_PARTS, solve_part, &job);
}

static void solve_all(const bsi_lu *lu, bool transposed) {
  const bsi_lu_structure *t = &lu->structure;
  const int32_t count = t->nodes.count;
  if (bsi_threads_for(lu->context->threads, t->value_ptr[count], VALUES_PER_THREAD) == 1) {
    for (int32_t s = 0; s < count; s++) go(lu, transposed, true, s);
    for (int32_t s = count; s-- > 0;) go(lu, transposed, false, s);
    return;
  }
  for (int32_t level = 0; level < t->levels; level++) solve_level(lu, transposed, true, level);
  for (int32_t level = t->levels; level-- > 0;) solve_level(lu, transposed, false, level);
}

void bsi_lu_solve_vector(bsi_lu *lu, bool transposed, const double *b, double *x) {
  const int32_t *order = lu->structure.tree.order;
  const size_t bs = (size_t)lu->bs;
  double *solution = lu->work.solution;
  for (int32_t i = 0; i < lu->n; i++)
    memcpy(solution + (size_t)i * bs, b + (size_t)order[i] * bs, bs * sizeof *b);
  solve_all(lu, transposed);
  for (int32_t i = 0; i < lu->n; i++)
    memcpy(x + (size_t)order[i] * bs, solution + (size_t)i * bs, bs * sizeof *b);
}
