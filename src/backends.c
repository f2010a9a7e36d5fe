/* SPDX-License-Identifier: BSD-3-Clause */
/* The backends, put together from the operations of all rooms. */
#include "apply/apply_ops.h"
#include "bjacobi/bjacobi_ops.h"
#include "core/context/context_impl.h"
#include "core/matrix/matrix_ops.h"
#include "cpr/cpr_ops.h"
#include "factor/factor_ops.h"
#include "krylov/passes/krylov_ops.h"
#include "multigrid/aggregation/aggregation_ops.h"
#include "multigrid/cycle/cycle_ops.h"
#include "multigrid/diagonal/diagonal_ops.h"
#include "multigrid/level/dense_ops.h"
#include "multigrid/level/multigrid_ops.h"
#include "multigrid/spgemm/spgemm_ops.h"
#include "multigrid/transfers/transfer_ops.h"
#include "multigrid/unit/scalar_copy.h"
#include "order/order_ops.h"
#include "pattern/pattern_ops.h"
#include "solve/solve_ops.h"
#include "study/study_ops.h"

/* clang-format off */
#define BACKEND(SIDE, GROUP_ROWS, LOOKAHEAD) \
  static const bsi_matrix_ops matrix_##SIDE = { \
      &bsi_blocks_##SIDE, &bsi_structures_##SIDE, bsi_measure_asymmetry_##SIDE, \
      &bsi_study_##SIDE}; \
  static const bsi_order_ops order_##SIDE = {&bsi_shape_##SIDE, &bsi_reordered_##SIDE}; \
  static const bsi_factor_ops factor_##SIDE = { \
      &bsi_symbolic_##SIDE, &bsi_ilu_##SIDE, &bsi_inversion_##SIDE}; \
  static const bsi_apply_ops apply_##SIDE = { \
      &bsi_products_##SIDE, bsi_multiply_transposed_##SIDE, bsi_solve_triangle_##SIDE, \
      bsi_scale_off_diagonal_##SIDE}; \
  static const bsi_bjacobi_ops bjacobi_##SIDE = { \
      GROUP_ROWS, &bsi_partition_##SIDE, &bsi_block_values_##SIDE, &bsi_block_solve_##SIDE}; \
  static const bsi_multigrid_ops multigrid_##SIDE = { \
      .spgemm = &bsi_spgemm_##SIDE, .scalar_copy = &bsi_scalar_copy_##SIDE, \
      .inversion = &bsi_level_inversion_##SIDE, .lanczos = &bsi_lanczos_##SIDE, \
      .aggregation = &bsi_aggregation_##SIDE, .transfer = &bsi_transfer_##SIDE, \
      .cycle = &bsi_cycle_##SIDE, .fp32_copy = &bsi_fp32_copy_##SIDE, \
      .fused_sweeps = &bsi_fused_sweeps_##SIDE, .coarse_graph = &bsi_coarse_graph_##SIDE, \
      .dense = &bsi_dense_##SIDE}; \
  static const bsi_krylov_ops krylov_##SIDE = { \
      LOOKAHEAD, &bsi_basis_##SIDE, &bsi_gmres_##SIDE, &bsi_recurrence_##SIDE};

#define OPERATIONS(SIDE) \
  .device = &bsi_device_##SIDE, .memory = &bsi_memory_##SIDE, .clock = &bsi_clock_##SIDE, \
  .vectors = &bsi_vectors_##SIDE, .matrix = &matrix_##SIDE, \
  .order = &order_##SIDE, .factor = &factor_##SIDE, \
  .pattern = &bsi_pattern_##SIDE, .solve = &bsi_solve_##SIDE, .apply = &apply_##SIDE, \
  .bjacobi = &bjacobi_##SIDE, .multigrid = &multigrid_##SIDE, .cpr = &bsi_cpr_##SIDE, \
  .krylov = &krylov_##SIDE
/* clang-format on */

BACKEND(host, 1, 0)

const bsi_backend bsi_backend_host = {.kind = BISAI_BACKEND_HOST, OPERATIONS(host)};

#ifdef BISAI_HAVE_CUDA
/* A group of block-Jacobi fills a warp. Four steps ahead hide the time of a launch. */
BACKEND(cuda, 32, 4)

const bsi_backend bsi_backend_cuda = {.kind = BISAI_BACKEND_CUDA, OPERATIONS(cuda)};
#endif

bisai_status bsi_backend_load(bisai_context *context) {
  const bsi_backend *b = context->backend;
  const bsi_multigrid_ops *m = b->multigrid;
  bsi_load_code *const parts[] = {b->apply->products->load, m->cycle->load,       m->spgemm->load,
                                  m->inversion->load,       m->aggregation->load, m->transfer->load,
                                  b->krylov->gmres->load};
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
    if (parts[k]) BSI_TRY(parts[k](context));
  return BISAI_OK;
}
