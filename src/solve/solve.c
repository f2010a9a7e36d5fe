/* SPDX-License-Identifier: BSD-3-Clause */
/* Block incomplete sparse approximate inverses: for every block column j with rows J,
 *
 *   T(J, J) N(J, j) = I(J, j)
 *
 * is one small block triangular system (Ma et al. 2021, equations 6–9; line 38 of Algorithm 2
 * overwrites where equation 9 subtracts). Of a matrix that is not triangular it is a dense one
 * (equation 3). */
#include "core/context/context_impl.h"
#include "solve/isai.h"
#include "solve/solve_ops.h"

bisai_status bsi_isai_create(bisai_context *context, const bsi_triangular *t,
                             bsi_isai_systems systems, bisai_pattern *pattern,
                             bisai_value_type storage, bsi_isai *isai) {
  const bisai_bcsr *a = t->matrix;
  *isai = (bsi_isai){.systems = systems, .sign = 1.0, .pattern = pattern};
  bisai_status status = bsi_bcsr_reserve(
      context,
      &(bsi_bcsr_sizes){a->block_rows, a->block_rows, a->block_size, pattern->blocks, storage},
      pattern->row_ptr, pattern->col_idx, &isai->inverse);
  if (!status) status = context->backend->solve->reserve(context, t, isai);
  if (status) bsi_isai_destroy(context, isai);
  return status;
}

/* *sign ← the sign of the first value on the diagonal of A, which is that of all of a definite A.
 * Waits. */
static bisai_status find_sign(bisai_context *context, const bisai_bcsr *a, double *sign) {
  const bsi_memory_ops *memory = context->backend->memory;
  int32_t first_row[2] = {0, 0}, column = -1;
  double value = 1.0;
  if (a->block_rows == 0) return BISAI_OK;
  BSI_TRY(memory->fetch(context, first_row, a->row_ptr, sizeof first_row));
  if (first_row[1] > 0) BSI_TRY(memory->fetch(context, &column, a->col_idx, sizeof column));
  if (column == 0) BSI_TRY(memory->fetch(context, &value, a->values, sizeof value));
  *sign = value < 0.0 ? -1.0 : 1.0;
  return BISAI_OK;
}

bisai_status bsi_isai_update(bisai_context *context, const bsi_triangular *t, bsi_isai *isai) {
  bsi_isai_fault fault = {.column = -1};
  if (isai->systems == BSI_SYSTEMS_DEFINITE) BSI_TRY(find_sign(context, t->matrix, &isai->sign));
  BSI_TRY(context->backend->solve->values(context, t, isai, &fault));
  if (fault.column < 0) return BISAI_OK;
  const char *factor = isai->systems != BSI_SYSTEMS_TRIANGULAR ? "the inverse"
                       : t->triangle == BISAI_LOWER            ? "NL"
                                                               : "NU";
  const int32_t row = bsi_row_name(t->matrix, fault.row),
                column = bsi_row_name(t->matrix, fault.column);
  if (fault.kind == BSI_FAULT_SINGULAR)
    return bsi_fail(context, BISAI_SINGULAR_BLOCK,
                    isai->systems == BSI_SYSTEMS_DEFINITE
                        ? "the matrix is not definite, as the system of block column %d of its "
                          "inverse shows"
                        : "block column %d of the inverse: its system is singular",
                    column);
  if (fault.kind == BSI_FAULT_OVERFLOW)
    return bsi_fail(context, BISAI_OVERFLOW, "%s: block (%d, %d) does not fit its storage type",
                    factor, row, column);
  if (fault.kind == BSI_FAULT_UNDERFLOW)
    return bsi_fail(
        context, BISAI_OVERFLOW,
        "%s: block (%d, %d) is too small for its storage type and would be stored as zero", factor,
        row, column);
  return bsi_fail(context, BISAI_NOT_FINITE, "%s: block (%d, %d) is not finite", factor, row,
                  column);
}

void bsi_isai_destroy(bisai_context *context, bsi_isai *isai) {
  bisai_bcsr_destroy(&isai->inverse);
  bisai_pattern_destroy(&isai->pattern);
  context->backend->memory->release(context, isai->slots);
  context->backend->memory->release(context, isai->columns);
  *isai = (bsi_isai){0};
}

int64_t bsi_isai_memory(const bsi_isai *isai) {
  const int64_t slots = isai->slots ? 4 * (int64_t)isai->inverse->block_rows : 0;
  const int64_t column = isai->columns ? 8 * (int64_t)isai->room : 0;
  return bsi_bcsr_memory(isai->inverse) + bsi_pattern_memory(isai->pattern) +
         isai->threads * (slots + column);
}
