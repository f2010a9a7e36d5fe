/* The small block triangular systems on the host, one block column at a time, columns shared out over the threads.
 *
 * The system is never stored: `slots` tells for a block row of T where it stands in J, so that a row of T is read once and used where it
 * hits J. A lower system is solved from its top, an upper one from its bottom; both begin at row j itself, whose right-hand side is I. */
#include "core/backend_host.h"
#include "core/block_sizes.h"
#include "core/parallel.h"
#include "core/values.h"
#include "solve/isai.h"

enum { COLUMNS_AT_ONCE = 64 };

typedef struct scratch {
  int32_t *slots;
  double *blocks;
  bsi_isai_fault fault;
} scratch;

/* x ← the block of N in row `row` of column j, the others of the column that it depends on being in scratch.blocks. */
BSI_INLINE void solve_block(const int bs, const bsi_triangular *t, const int32_t row, const int32_t j,
                            const scratch *own, double *x) {
  const bisai_bcsr *a = t->matrix;
  const size_t values = (size_t)(bs * bs);
  double rest[BSI_MAX_BLOCK_VALUES];
  if (row == j)
    bsi_block_identity(bs, rest);
  else
    for (int v = 0; v < bs * bs; v++) rest[v] = 0.0;
  for (int32_t q = a->row_ptr[row]; q < a->row_ptr[row + 1]; q++) {
    const int32_t column = a->col_idx[q], slot = own->slots[column];
    if (slot < 0 || column == row) continue;
    bsi_block_multiply_subtract(bs, (const double *)a->values + (size_t)q * values, own->blocks + (size_t)slot * values,
                                rest);
  }
  if (t->inverse_diagonal)
    bsi_block_multiply(bs, t->inverse_diagonal + (size_t)row * values, rest, x);
  else
    bsi_block_copy(bs, rest, x);
}

/* Narrows one block into N; keeps the first fault of the thread. */
BSI_INLINE void store_block(const int bs, const double *x, bisai_bcsr *n, const int32_t position, const int32_t row,
                            const int32_t column, scratch *own) {
  const size_t first = (size_t)position * (size_t)(bs * bs);
  bool finite = true, fits = true, vanishes = row == column;
  for (int v = 0; v < bs * bs; v++) {
    finite &= isfinite(x[v]) != 0;
    fits &= bsi_value_store(n->type, finite ? x[v] : 0.0, n->values, first + (size_t)v);
    vanishes &= bsi_value_load(n->type, n->values, first + (size_t)v) == 0.0;
  }
  if ((finite && fits && !vanishes) || (own->fault.column >= 0 && own->fault.column <= column)) return;
  own->fault = (bsi_isai_fault){.column = column,
                                .row = row,
                                .kind = !finite ? BSI_NOT_FINITE
                                        : !fits ? BSI_OVERFLOWS
                                                : BSI_VANISHES};
}

BSI_INLINE void solve_column(const int bs, const bsi_triangular *t, const bsi_isai *isai, const int32_t j,
                             scratch *own) {
  const bisai_pattern *p = isai->pattern;
  const int32_t begin = p->col_ptr[j], length = p->col_ptr[j + 1] - begin;
  const int32_t *rows = p->row_idx + begin, *positions = p->position + begin;
  for (int32_t s = 0; s < length; s++) own->slots[rows[s]] = s;
  for (int32_t step = 0; step < length; step++) {
    const int32_t s = t->triangle == BISAI_LOWER ? step : length - 1 - step;
    double *x = own->blocks + (size_t)s * (size_t)(bs * bs);
    solve_block(bs, t, rows[s], j, own, x);
    store_block(bs, x, isai->inverse, positions[s], rows[s], j, own);
  }
  for (int32_t s = 0; s < length; s++) own->slots[rows[s]] = -1;
}

typedef void column_function(const bsi_triangular *, const bsi_isai *, int32_t, scratch *);

static void solve_column_any(const bsi_triangular *t, const bsi_isai *isai, int32_t j, scratch *own) {
  solve_column(t->matrix->block_size, t, isai, j, own);
}
#define STAMP(BS)                                                                                                      \
  static void solve_column_##BS(const bsi_triangular *t, const bsi_isai *isai, int32_t j, scratch *own) {              \
    solve_column(BS, t, isai, j, own);                                                                                 \
  }
BSI_BLOCK_SIZES(STAMP)
#undef STAMP
#define ENTRY(BS) [BS] = solve_column_##BS,
static column_function *const column_functions[BSI_SPECIAL_SIZES + 1] = {solve_column_any, BSI_BLOCK_SIZES(ENTRY)};
#undef ENTRY

bisai_status bsi_isai_values_host(bisai_context *context, const bsi_triangular *t, bsi_isai *isai,
                                  bsi_isai_fault *fault) {
  const bisai_bcsr *a = t->matrix;
  const int32_t n = a->block_rows;
  column_function *column = column_functions[a->block_size <= BSI_SPECIAL_SIZES ? a->block_size : 0];
  (void)context; /* without OpenMP */
#pragma omp parallel num_threads(isai->threads)
  {
    const size_t part = (size_t)omp_get_thread_num();
    scratch own = {.slots = isai->slots + part * (size_t)n,
                   .blocks = isai->columns + part * bsi_block_offset(a, isai->pattern->longest_column),
                   .fault = {.column = -1}};
#pragma omp for schedule(dynamic, COLUMNS_AT_ONCE)
    for (int32_t j = 0; j < n; j++) column(t, isai, j, &own);
#pragma omp critical(bsi_isai_fault)
    if (own.fault.column >= 0 && (fault->column < 0 || own.fault.column < fault->column)) *fault = own.fault;
  }
  return BISAI_OK;
}
