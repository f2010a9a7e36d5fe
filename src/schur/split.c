/* SPDX-License-Identifier: BSD-3-Clause */
#include "schur/split.h"

#include <string.h>

enum { VELOCITY = 0, PRESSURE = 1 };

/* Returns the diagonal entry of scalar row r of block row i, 0 if it is not stored. */
static double diagonal_of(const bsi_saddle *a, int32_t i, int r) {
  for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++)
    if (a->col_idx[p] == i) return a->values[bsi_saddle_index(a, p, r, r)];
  return 0.0;
}

/* Returns the first pressure to which scalar row r of block row i couples, or −1. */
static int32_t coupled_pressure(const bsi_saddle *a, const int32_t *kinds, int32_t i, int r) {
  const int32_t bs = a->block_size;
  for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++)
    for (int c = 0; c < bs; c++) {
      const int32_t column = a->col_idx[p] * bs + c;
      if (kinds[column] == PRESSURE && a->values[bsi_saddle_index(a, p, r, c)] != 0.0)
        return column;
    }
  return -1;
}

/* Returns the rows of block row i, without those of the padding. */
static int rows_of(const bsi_saddle *a, int32_t i) {
  const int32_t left = a->rows - i * a->block_size;
  return left < a->block_size ? left : a->block_size;
}

/* Counts the zeros, the positive and the negative entries of the diagonal. */
static void count_signs(const bsi_saddle *a, int32_t counts[3]) {
  counts[0] = counts[1] = counts[2] = 0;
  for (int32_t i = 0; i < a->block_rows; i++)
    for (int r = 0; r < rows_of(a, i); r++) {
      const double d = diagonal_of(a, i, r);
      counts[d > 0.0 ? 1 : d < 0.0 ? 2 : 0]++;
    }
}

/* The rows with a zero on the diagonal. A row that couples with an earlier one is no pressure. */
static bisai_status find_zeros(bisai_context *context, const bsi_saddle *a, int32_t *kinds) {
  const int32_t bs = a->block_size;
  for (int32_t i = 0; i < a->block_rows; i++)
    for (int r = 0; r < rows_of(a, i); r++) {
      if (diagonal_of(a, i, r) != 0.0) continue;
      const int32_t other = coupled_pressure(a, kinds, i, r);
      if (other >= 0)
        return bsi_fail(context, BISAI_UNSUPPORTED,
                        "rows %d and %d have zeros on the diagonal and couple with each other, so "
                        "that not both are pressures: name the pressures",
                        other, i * bs + r);
      kinds[i * bs + r] = PRESSURE;
    }
  return BISAI_OK;
}

static bisai_status find_pressures(bisai_context *context, const bsi_saddle *a, int32_t *kinds) {
  int32_t counts[3];
  count_signs(a, counts);
  if (counts[0] > 0) return find_zeros(context, a, kinds);
  const double sign = counts[1] < counts[2] ? 1.0 : -1.0;
  for (int32_t i = 0; i < a->block_rows; i++)
    for (int r = 0; r < rows_of(a, i); r++)
      if (sign * diagonal_of(a, i, r) > 0.0) kinds[i * a->block_size + r] = PRESSURE;
  return BISAI_OK;
}

static bool is_named(const bsi_split_choice *choice) {
  return choice->component >= 0 || choice->from >= 0 || choice->rows;
}

static void mark_named(const bsi_split_choice *choice, const bsi_saddle *a, int32_t *kinds) {
  for (int32_t k = 0; choice->rows && k < choice->count; k++) kinds[choice->rows[k]] = PRESSURE;
  for (int32_t k = choice->from; k >= 0 && k <= (choice->to < 0 ? a->rows - 1 : choice->to); k++)
    kinds[k] = PRESSURE;
  for (int32_t k = choice->component; k >= 0 && k < a->rows; k += a->block_size)
    kinds[k] = PRESSURE;
}

/* Returns the values of blocks of A between velocities that are not zero. */
static int64_t count_couplings(const bsi_saddle *a, const int32_t *kinds) {
  const int32_t bs = a->block_size;
  int64_t count = 0;
  for (int32_t p = 0; p < a->row_ptr[a->block_rows]; p++)
    for (int c = 0; c < bs; c++)
      for (int r = 0; r < bs; r++)
        count += kinds[r] == VELOCITY && kinds[c] == VELOCITY &&
                 a->values[bsi_saddle_index(a, p, r, c)] != 0.0;
  return count;
}

/* Returns the number of velocities of a block if they are at the same places in every block, and if
 * they are coupled there: more than halfway from a diagonal of values to full blocks. On
 * hymls_cavity3d_16_Re0, whose velocities are not coupled, blocks of three take twice the
 * iterations of single values. Otherwise returns 1. */
static int32_t velocity_size_of(const bsi_saddle *a, const int32_t *kinds) {
  const int32_t bs = a->block_size;
  int32_t size = 0;
  for (int32_t i = 1; i < a->block_rows; i++)
    if (memcmp(kinds, kinds + (int64_t)i * bs, (size_t)bs * sizeof *kinds) != 0) return 1;
  for (int r = 0; r < bs; r++) size += kinds[r] == VELOCITY;
  if (size < 2) return 1;
  const int64_t blocks = a->row_ptr[a->block_rows];
  return 2 * count_couplings(a, kinds) > blocks * size * (size + 1) ? size : 1;
}

static bisai_status refuse(bisai_context *context, const bsi_split *split) {
  if (split->pressures == 0)
    return bsi_fail(context, BISAI_UNSUPPORTED,
                    "no rows with a zero diagonal entry, and all entries have the same sign: name "
                    "the pressures by component, by from and to, or by rows");
  return bsi_fail(context, BISAI_UNSUPPORTED, "all %d rows are pressures: there are no velocities",
                  split->pressures);
}

bisai_status bsi_split_rows(bisai_context *context, const bsi_saddle *a,
                            const bsi_split_choice *choice, bsi_split *split) {
  const int32_t rows = a->block_rows * a->block_size;
  split->place = bsi_allocate(context, (size_t)rows, sizeof *split->place);
  if (!split->place) return BISAI_OUT_OF_MEMORY;
  memset(split->place, 0, (size_t)rows * sizeof *split->place);
  split->found = !is_named(choice);
  mark_named(choice, a, split->place);
  if (split->found) BSI_TRY(find_pressures(context, a, split->place));
  split->velocity_size = velocity_size_of(a, split->place);
  split->velocities = split->pressures = 0;
  for (int32_t k = 0; k < rows; k++)
    split->place[k] =
        split->place[k] == PRESSURE ? bsi_pressure_place(split->pressures++) : split->velocities++;
  return split->pressures > 0 && split->velocities > 0 ? BISAI_OK : refuse(context, split);
}
