/* SPDX-License-Identifier: BSD-3-Clause */
/* The product at the bottom of a complete factorisation: eight rows times four columns, both packed
 * so that successive values are read. */
#ifndef BSI_LU_KERNEL_H
#define BSI_LU_KERNEL_H

/* The rows and the columns of a tile. */
enum { BSI_TILE_ROWS = 8, BSI_TILE_COLUMNS = 4 };

/* c ← a bᵀ: c(i, j) = Σ_k a[8k + i]·b[4k + j] in the order of k, column by column. */
typedef void bsi_tile_product(int depth, const double *a, const double *b, double *c);

/* Returns the fastest variant for this processor. */
bsi_tile_product *bsi_tile_product_choose(void);

#endif
