/* SPDX-License-Identifier: BSD-3-Clause */
/* The systems as scalar CSR arrays. */
#include <stdlib.h>

#include "api.h"

static bool is_dispensable(const fuzz_system *s, int64_t at) {
  for (int set = 0; set < FUZZ_VALUES; set++)
    if (s->values[set][at] != 0) return false;
  return true;
}

/* One entry of each block is kept: a block is there if one of its entries is. */
static bool is_kept(const fuzz_system *s, int32_t block, int32_t row, int32_t col) {
  const int32_t bs = s->block_size;
  return (row == 0 && col == bs - 1) || !is_dispensable(s, ((int64_t)block * bs + col) * bs + row);
}

static void swap_entries(fuzz_csr *csr, int32_t a, int32_t b) {
  const int32_t col = csr->col_idx[a];
  csr->col_idx[a] = csr->col_idx[b];
  csr->col_idx[b] = col;
  for (int set = 0; set < FUZZ_VALUES; set++) {
    const double value = csr->values[set][a];
    csr->values[set][a] = csr->values[set][b];
    csr->values[set][b] = value;
  }
}

fuzz_csr fuzz_csr_make(const fuzz_system *s, uint64_t seed) {
  const int32_t bs = s->block_size;
  const size_t most = (size_t)fuzz_system_scalars(s);
  fuzz_csr csr = {.row_ptr = fuzz_memory((size_t)s->rows + 1, sizeof *csr.row_ptr),
                  .col_idx = fuzz_memory(most, sizeof *csr.col_idx)};
  for (int set = 0; set < FUZZ_VALUES; set++) csr.values[set] = fuzz_vector((int64_t)most);
  int32_t count = 0;
  for (int32_t i = 0; i < s->block_rows; i++)
    for (int32_t k = 0; k < bs; k++) {
      const int32_t begin = count;
      for (int32_t p = s->row_ptr[i]; p < s->row_ptr[i + 1]; p++)
        for (int32_t l = 0; l < bs; l++) {
          if (!is_kept(s, p, k, l)) continue;
          csr.col_idx[count] = s->col_idx[p] * bs + l;
          for (int set = 0; set < FUZZ_VALUES; set++)
            csr.values[set][count] = s->values[set][((int64_t)p * bs + l) * bs + k];
          count++;
        }
      for (int32_t a = count - 1; a > begin && seed % 2 != 0; a--)
        swap_entries(&csr, a,
                     begin + (int32_t)(fuzz_mix(seed + (uint64_t)a) % (uint64_t)(a - begin + 1)));
      csr.row_ptr[i * bs + k + 1] = count;
    }
  return csr;
}

void fuzz_csr_free(fuzz_csr *csr) {
  free(csr->row_ptr);
  free(csr->col_idx);
  for (int set = 0; set < FUZZ_VALUES; set++) free(csr->values[set]);
}

bisai_csr_desc fuzz_csr_desc(const fuzz_system *system, const fuzz_csr *csr, int set) {
  bisai_csr_desc desc = bisai_csr_desc_default();
  desc.rows = desc.cols = system->rows;
  desc.row_ptr = csr->row_ptr;
  desc.col_idx = csr->col_idx;
  desc.values = csr->values[set];
  desc.block_size = system->block_size;
  return desc;
}
