/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "core/context/context_impl.h"
#include "io/formats/petsc_binary.h"

static void write_integer(bsi_output *output, int32_t value) {
  const uint32_t bits = (uint32_t)value;
  const unsigned char bytes[] = {(unsigned char)(bits >> 24), (unsigned char)(bits >> 16),
                                 (unsigned char)(bits >> 8), (unsigned char)bits};
  bsi_output_write(output, bytes, sizeof bytes);
}

static void write_double(bsi_output *output, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  unsigned char bytes[8];
  for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(bits >> (56 - 8 * i));
  bsi_output_write(output, bytes, sizeof bytes);
}

bisai_status bsi_petsc_write_matrix(bsi_output *output, const bsi_scalar_rows *rows) {
  if (rows->entries > INT32_MAX)
    return bsi_fail(rows->context, BISAI_INDEX_OVERFLOW, "more than %d entries", INT32_MAX);
  write_integer(output, BSI_PETSC_MATRIX);
  write_integer(output, rows->rows);
  write_integer(output, rows->cols);
  write_integer(output, (int32_t)rows->entries);
  for (int32_t row = 0; row < rows->rows; row++) write_integer(output, bsi_scalar_row(rows, row));
  for (int32_t row = 0; row < rows->rows && bsi_output_good(output); row++) {
    const int32_t length = bsi_scalar_row(rows, row);
    for (int32_t k = 0; k < length; k++) write_integer(output, rows->col[k]);
  }
  for (int32_t row = 0; row < rows->rows && bsi_output_good(output); row++) {
    const int32_t length = bsi_scalar_row(rows, row);
    for (int32_t k = 0; k < length; k++) write_double(output, rows->value[k]);
  }
  return BISAI_OK;
}

bisai_status bsi_petsc_write_vector(bsi_output *output, bisai_context *context, int64_t n,
                                    const double *values) {
  if (n > INT32_MAX)
    return bsi_fail(context, BISAI_INDEX_OVERFLOW, "more than %d values", INT32_MAX);
  write_integer(output, BSI_PETSC_VECTOR);
  write_integer(output, (int32_t)n);
  for (int64_t i = 0; i < n && bsi_output_good(output); i++) write_double(output, values[i]);
  return BISAI_OK;
}
