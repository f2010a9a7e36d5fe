/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>

#include "io/formats/matrix_market.h"

void bsi_market_write_matrix(bsi_output *output, const bsi_scalar_rows *rows) {
  bsi_output_print(output, "%%%%MatrixMarket matrix coordinate real general\n%d %d %" PRId64 "\n",
                   rows->rows, rows->cols, rows->entries);
  for (int32_t row = 0; row < rows->rows && bsi_output_good(output); row++) {
    const int32_t length = bsi_scalar_row(rows, row);
    for (int32_t k = 0; k < length; k++)
      bsi_output_print(output, "%d %d %.17g\n", row + 1, rows->col[k] + 1, rows->value[k]);
  }
}

void bsi_market_write_vector(bsi_output *output, int64_t n, const double *values) {
  bsi_output_print(output, "%%%%MatrixMarket matrix array real general\n%" PRId64 " 1\n", n);
  for (int64_t i = 0; i < n && bsi_output_good(output); i++)
    bsi_output_print(output, "%.17g\n", values[i]);
}
