/* SPDX-License-Identifier: BSD-3-Clause */
/* The product of a tile, once for every processor and once for AVX2 with fused multiply-adds, which
 * is several times as fast. Which one runs depends on the processor alone. */
#include "lu/kernel.h"

#include "core/block/column.h"

/* A column of the tile. The sums are variables of their own, so that they stay in registers. */
BSI_INLINE void one_column(int depth, const double *a, const double *b, double *c) {
  bsi_pair sum0 = {0}, sum1 = {0}, sum2 = {0}, sum3 = {0};
  for (int k = 0; k < depth; k++, a += BSI_TILE_ROWS, b += BSI_TILE_COLUMNS) {
    const bsi_pair factor = {b[0], b[0]};
    sum0 += *(const bsi_pair *)a * factor;
    sum1 += *(const bsi_pair *)(a + 2) * factor;
    sum2 += *(const bsi_pair *)(a + 4) * factor;
    sum3 += *(const bsi_pair *)(a + 6) * factor;
  }
  *(bsi_pair *)c = sum0;
  *(bsi_pair *)(c + 2) = sum1;
  *(bsi_pair *)(c + 4) = sum2;
  *(bsi_pair *)(c + 6) = sum3;
}

static void tile_product_any(int depth, const double *a, const double *b, double *c) {
  for (int j = 0; j < BSI_TILE_COLUMNS; j++) one_column(depth, a, b + j, c + j * BSI_TILE_ROWS);
}

#if defined(__x86_64__) && defined(__GNUC__)
/* All four columns: their sums take half of the registers. */
__attribute__((target("avx2,fma"))) static void tile_product_avx2(int depth, const double *a,
                                                                  const double *b, double *c) {
  bsi_quad low0 = {0}, high0 = {0}, low1 = {0}, high1 = {0};
  bsi_quad low2 = {0}, high2 = {0}, low3 = {0}, high3 = {0};
  for (int k = 0; k < depth; k++, a += BSI_TILE_ROWS, b += BSI_TILE_COLUMNS) {
    const bsi_quad low = *(const bsi_quad *)a, high = *(const bsi_quad *)(a + 4);
    low0 += low * b[0];
    high0 += high * b[0];
    low1 += low * b[1];
    high1 += high * b[1];
    low2 += low * b[2];
    high2 += high * b[2];
    low3 += low * b[3];
    high3 += high * b[3];
  }
  *(bsi_quad *)c = low0;
  *(bsi_quad *)(c + 4) = high0;
  *(bsi_quad *)(c + 8) = low1;
  *(bsi_quad *)(c + 12) = high1;
  *(bsi_quad *)(c + 16) = low2;
  *(bsi_quad *)(c + 20) = high2;
  *(bsi_quad *)(c + 24) = low3;
  *(bsi_quad *)(c + 28) = high3;
}

bsi_tile_product *bsi_tile_product_choose(void) {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? tile_product_avx2
                                                                         : tile_product_any;
}
#else
bsi_tile_product *bsi_tile_product_choose(void) { return tile_product_any; }
#endif
