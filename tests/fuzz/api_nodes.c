/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices whose rows are not numbered by node. They have the blocks of the system, or its products
 * where rows are eliminated and where the library looks for the nodes. */
#include <math.h>
#include <stdlib.h>

#include "api.h"

typedef enum way_of_rows { BY_FIELDS, BY_NODES, BY_COMPONENTS, FOUND, WAYS } way_of_rows;

/* Row i of the caller is row from[i] of the system; to[from[i]] = i, and −1 for those that are
 * eliminated. */
typedef struct numbering {
  way_of_rows way;
  int32_t rows, *from, *to, *node, *component;
  fuzz_csr csr;
} numbering;

/* Every node keeps one row. */
static bool is_eliminated(const fuzz_system *s, const numbering *n, uint64_t seed, int32_t row) {
  if (n->way != BY_COMPONENTS && n->way != FOUND) return false;
  const int32_t node = row / s->block_size, kept = node % s->block_size;
  return seed % 2 == 1 && row % s->block_size != kept && fuzz_mix(seed + (uint64_t)row) % 4 == 0;
}

static void shuffle(int32_t count, uint64_t seed, int32_t *values) {
  for (int32_t i = count - 1; i > 0; i--) {
    const int32_t j = (int32_t)(fuzz_mix(seed + (uint64_t)i) % ((uint64_t)i + 1)), kept = values[i];
    values[i] = values[j];
    values[j] = kept;
  }
}

static void number_rows(const fuzz_system *s, uint64_t seed, numbering *n) {
  const int32_t bs = s->block_size;
  for (int32_t row = 0; row < s->rows; row++)
    if (!is_eliminated(s, n, seed, row)) n->from[n->rows++] = row;
  if (n->way != BY_FIELDS) shuffle(n->rows, ~seed, n->from);
  for (int32_t i = 0; i < n->rows; i++) {
    if (n->way == BY_FIELDS) n->from[i] = i % s->block_rows * bs + i / s->block_rows;
    n->to[n->from[i]] = i;
    n->node[i] = n->from[i] / bs;
    n->component[i] = n->from[i] % bs;
  }
}

static void number_entries(const fuzz_csr *by_node, numbering *n) {
  int32_t count = 0;
  for (int32_t i = 0; i < n->rows; i++) {
    for (int32_t p = by_node->row_ptr[n->from[i]]; p < by_node->row_ptr[n->from[i] + 1]; p++) {
      if (n->to[by_node->col_idx[p]] < 0) continue;
      n->csr.col_idx[count] = n->to[by_node->col_idx[p]];
      for (int set = 0; set < FUZZ_VALUES; set++)
        n->csr.values[set][count] = by_node->values[set][p];
      count++;
    }
    n->csr.row_ptr[i + 1] = count;
  }
}

static numbering numbering_make(const fuzz_system *s, way_of_rows way, uint64_t seed) {
  const size_t rows = (size_t)s->rows;
  numbering n = {.way = way,
                 .from = fuzz_memory(rows, sizeof *n.from),
                 .to = fuzz_memory(rows, sizeof *n.to),
                 .node = fuzz_memory(rows, sizeof *n.node),
                 .component = fuzz_memory(rows, sizeof *n.component)};
  fuzz_csr by_node = fuzz_csr_make(s, seed);
  const size_t entries = (size_t)by_node.row_ptr[s->rows];
  n.csr.row_ptr = fuzz_memory(rows + 1, sizeof *n.csr.row_ptr);
  n.csr.col_idx = fuzz_memory(entries, sizeof *n.csr.col_idx);
  for (int set = 0; set < FUZZ_VALUES; set++) n.csr.values[set] = fuzz_vector((int64_t)entries);
  for (size_t i = 0; i < rows; i++) n.to[i] = -1;
  number_rows(s, seed, &n);
  number_entries(&by_node, &n);
  fuzz_csr_free(&by_node);
  return n;
}

static void numbering_free(numbering *n) {
  free(n->from);
  free(n->to);
  free(n->node);
  free(n->component);
  fuzz_csr_free(&n->csr);
}

static bisai_csr_desc desc_of(const fuzz_system *s, const numbering *n, int set) {
  bisai_csr_desc desc = fuzz_csr_desc(s, &n->csr, set);
  desc.rows = desc.cols = n->rows;
  if (n->way == BY_FIELDS) desc.fields = s->block_size;
  if (n->way == BY_NODES || n->way == BY_COMPONENTS) desc.node = n->node;
  if (n->way == BY_COMPONENTS) desc.component = n->component;
  if (n->way != FOUND) return desc;
  desc.block_size = 0;
  desc.find_nodes = desc.pad = true;
  return desc;
}

/* |y − A x| ≤ (entries + 2) ε |A||x| + what vanishes, for x = 0 in the rows that are eliminated. */
static void expect_rows(const fuzz_system *s, int set, const numbering *n, const double *x,
                        const double *y) {
  double *all = fuzz_vector(s->rows);
  long double *ax = fuzz_memory((size_t)s->rows, sizeof *ax),
              *size = fuzz_memory((size_t)s->rows, sizeof *size);
  for (int32_t row = 0; row < s->rows; row++) all[row] = n->to[row] < 0 ? 0 : x[n->to[row]];
  fuzz_system_multiply(s, set, all, ax, size);
  for (int32_t i = 0; i < n->rows; i++) {
    const int32_t row = n->from[i], node = row / s->block_size;
    const long double entries = (s->row_ptr[node + 1] - s->row_ptr[node]) * s->block_size;
    const long double bound = (entries + 2) * (0x1p-52L * size[row] + 0x1p-1074L);
    if (size[row] > 0x1p1023L) continue; /* may overflow on the way */
    if (!fuzz_property(fabsl(ax[row] - y[i]) <= bound,
                       "a product by nodes is right to rounding (row %d: %.17g instead of %.17Lg)",
                       (int)i, y[i], ax[row]))
      break;
  }
  free(all);
  free(ax);
  free(size);
}

static void expect_products(const fuzz_system *s, int set, const numbering *n,
                            const bisai_bcsr *matrix, const char *what) {
  const int64_t all = (int64_t)bisai_bcsr_block_rows(matrix) * bisai_bcsr_block_size(matrix);
  double *x = fuzz_vector(n->rows), *y = fuzz_vector(n->rows), *blocks = fuzz_vector(2 * all);
  for (int32_t i = 0; i < n->rows; i++) x[i] = fuzz_noise(3, i, 1);
  fuzz_property(bisai_bcsr_rows(matrix) == n->rows && bisai_bcsr_padding(matrix) == all - n->rows,
                "%s: padding fills the blocks up", what);
  bisai_status status = bisai_bcsr_to_blocks(matrix, 1, x, blocks);
  if (!status) status = bisai_bcsr_from_blocks(matrix, 1, blocks, y);
  fuzz_property(!status && fuzz_same(n->rows, x, y),
                "%s: vectors move to the blocks and back (status %d)", what, (int)status);
  if (!status) status = bisai_bcsr_multiply(matrix, blocks, blocks + all);
  if (!status) status = bisai_bcsr_from_blocks(matrix, 1, blocks + all, y);
  if (fuzz_property(!status, "%s: a product succeeds (status %d)", what, (int)status))
    expect_rows(s, set, n, x, y);
  if (n->rows == s->rows && (n->way == BY_FIELDS || n->way == BY_COMPONENTS))
    fuzz_matrix_content(s, set, matrix);
  free(x);
  free(y);
  free(blocks);
}

static void expect_update(const fuzz_system *s, int set, const numbering *n, bisai_status expected,
                          fuzz_world *world, bisai_bcsr *matrix, const char *what) {
  const bisai_csr_desc desc = desc_of(s, n, expected || set == FUZZ_SECOND ? FUZZ_SECOND : set);
  const long long calls = atomic_load(&world->calls);
  const bisai_status status = bisai_bcsr_update_from_csr(matrix, &desc);
  fuzz_property(status == expected, "%s ends with status %d (it got %d: %s)", what, (int)expected,
                (int)status, bisai_context_error(world->context));
  fuzz_property(atomic_load(&world->calls) == calls, "%s allocates nothing", what);
  expect_products(s, set, n, matrix, what);
}

void fuzz_node_properties(fuzz_choices *choices, const fuzz_system *s, fuzz_world *world) {
  static const char *const ways[] = {"fields", "nodes", "nodes and components", "nodes found"};
  const way_of_rows chosen = (way_of_rows)fuzz_pick(choices, WAYS);
  numbering n = numbering_make(s, chosen, fuzz_seed(choices));
  const bisai_csr_desc desc = desc_of(s, &n, FUZZ_FIRST);
  bisai_bcsr *matrix = NULL;
  const bisai_status status = bisai_bcsr_from_csr(world->context, &desc, &matrix);
  if (fuzz_property(!status && matrix, "a matrix can be made by %s (status %d: %s)", ways[chosen],
                    (int)status, bisai_context_error(world->context))) {
    expect_products(s, FUZZ_FIRST, &n, matrix, ways[chosen]);
    expect_update(s, FUZZ_SECOND, &n, BISAI_OK, world, matrix, "an update by nodes");
    expect_update(s, FUZZ_FIRST, &n, BISAI_OK, world, matrix, "an update back by nodes");
    const int32_t entries = n.csr.row_ptr[n.rows];
    if (entries > 0) {
      const int64_t at = (int64_t)fuzz_pick(choices, 256) * 8191 % entries;
      n.csr.values[FUZZ_SECOND][at] = fuzz_not_finite(choices);
      expect_update(s, FUZZ_FIRST, &n, BISAI_NOT_FINITE, world, matrix,
                    "an update by nodes with NaN or infinity");
    }
  }
  bisai_bcsr_destroy(&matrix);
  numbering_free(&n);
}
