/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of a backend for multigrid. Each room of multigrid declares its own. */
#ifndef BSI_MULTIGRID_OPS_H
#define BSI_MULTIGRID_OPS_H

#include "core/context/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bsi_multigrid_ops {
  const struct bsi_spgemm_ops *spgemm;             /* multigrid/spgemm/spgemm_ops.h */
  const struct bsi_scalar_copy_ops *scalar_copy;   /* multigrid/unit/scalar_copy.h */
  const struct bsi_level_inversion_ops *inversion; /* multigrid/diagonal/diagonal_ops.h */
  const struct bsi_lanczos_ops *lanczos;           /* and this */
  const struct bsi_aggregation_ops *aggregation;   /* multigrid/aggregation/aggregation_ops.h */
  const struct bsi_transfer_ops *transfer;         /* multigrid/transfers/transfer_ops.h */
  const struct bsi_cycle_ops *cycle;               /* multigrid/cycle/cycle_ops.h */
  const struct bsi_fp32_copy_ops *fp32_copy;       /* and this */
  const struct bsi_fused_sweeps_ops *fused_sweeps; /* and this */
  const struct bsi_coarse_graph_ops *coarse_graph; /* and this */
  const struct bsi_dense_ops *dense;               /* multigrid/level/dense_ops.h */
} bsi_multigrid_ops;

#ifdef __cplusplus
}
#endif

#endif
