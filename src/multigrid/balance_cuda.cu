/* SPDX-License-Identifier: BSD-3-Clause */
/* Weighted restrictions on a GPU: one thread for each block. */
#include "gpu/for_each.cuh"
#include "multigrid/balance.h"
#include "multigrid/multigrid_ops.h"

static bisai_status balance(bisai_context *context, const bsi_balance *b, bsi_sparse *members) {
  const bsi_balance weights = *b;
  const bsi_sparse m = *members;
  return bsi_for_each(context, "weighted restriction", m.blocks, [=] __device__(int64_t q) {
    bsi_balance_block(&weights, m.height, static_cast<int32_t>(q), m.col_idx[q],
                      m.values + q * m.height * m.width);
  });
}

const bsi_balance_ops bsi_balance_cuda = {.balance = balance};
