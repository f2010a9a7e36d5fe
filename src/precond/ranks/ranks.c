/* SPDX-License-Identifier: BSD-3-Clause */
/* Multigrid over several ranks (multigrid/ranks/rank_levels.h): options, checks and staging. */
#include <bisai/ranks.h>

#include <math.h>
#include <string.h>

#include "core/context/staging.h"
#include "core/matrix/bcsr_impl.h"
#include "multigrid/halo/agreement.h"
#include "multigrid/unit/votes.h"
#include "precond/multigrid_setup.h"
#include "precond/precond_impl.h"
#include "precond/ranks/ranks_impl.h"

/* bisai_ranks_options::gather if the caller leaves it open. On two H200, the cavity of 2000² nodes
 * took 81 ms with the limit of the host, and 69 ms with 40,000 rows. */
enum { GATHER = 10000, GATHER_ON_DEVICE = 50000 };

/* bisai_ranks_options::overlap if the caller leaves it open, and the least bytes of ghosts if the
 * transport enqueues. On two H200, FGMRES took on the cavity of 2000² nodes, with 48 kB of ghosts,
 * 59.4 ms with overlap by NCCL and 53.3 without; on convection–diffusion of 250³, with 500 kB, 49.3
 * and 50.3. By MPI it took 62.8 and 65.5, 54.6 and 67.6. */
enum { OVERLAP = 0, OVERLAP_ON_DEVICE = 4000000, ENQUEUED = 200000 };

bisai_ranks_options bisai_ranks_options_default(void) {
  return (bisai_ranks_options){.struct_size = sizeof(bisai_ranks_options),
                               .multigrid = bisai_precond_options_default().multigrid,
                               .gather = -1,
                               .overlap = -1};
}

/* Refuses what a rank cannot do with its rows. */
static bisai_status check_multigrid(bisai_context *context, const bisai_multigrid_options *o,
                                    int block_size) {
  if (o->smoother != BISAI_SMOOTHER_AUTO && o->smoother != BISAI_SMOOTHER_JACOBI &&
      o->smoother != BISAI_SMOOTHER_CHEBYSHEV)
    return bsi_fail(context, BISAI_UNSUPPORTED,
                    "the smoother %s needs a matrix on one process: take jacobi or chebyshev",
                    bisai_smoother_string(o->smoother));
  if (o->nodes == BISAI_AGGREGATION_UNIT_SCALAR && block_size > 1)
    return bsi_fail(context, BISAI_UNSUPPORTED,
                    "nodes scalar: give the ranks a matrix with blocks of one value");
  if (o->pre == 0 && o->post == 0)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "pre and post are 0: a cycle that never smooths is singular");
  return BISAI_OK;
}

static bisai_status check(bisai_context *context, const bisai_ranks_rows *rows,
                          const bisai_ranks_options *o) {
  const bisai_bcsr *a = rows ? rows->matrix : NULL;
  if (!a) return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_ranks_create: rows are NULL");
  BSI_TRY(bsi_check_struct(context, "options", o->struct_size, sizeof *o));
  if (a->context != context)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "the rows are those of another context");
  if (a->type != BISAI_FP64 || a->unit_diagonal)
    return bsi_fail(context, BISAI_UNSUPPORTED,
                    "ranks need values in fp64, with the diagonal blocks");
  if (a->block_cols < a->block_rows || (a->block_cols > a->block_rows && !rows->ghosts))
    return bsi_fail(
        context, BISAI_INVALID_ARGUMENT,
        "%d block rows and %d block columns: the own rows come first, and ghosts are %s",
        a->block_rows, a->block_cols, rows->ghosts ? "given" : "NULL");
  if (!(o->shift_amount >= 0.0 && isfinite(o->shift_amount)) || o->gather < -1 || o->overlap < -1)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "shift_amount is %g, gather is %lld, overlap is %lld", o->shift_amount,
                    (long long)o->gather, (long long)o->overlap);
  if (o->products_only) return BISAI_OK;
  if (o->multigrid.null_count > 0 && !o->multigrid.null_vectors && a->block_rows > 0)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "null_count is %d, null_vectors is NULL",
                    o->multigrid.null_count);
  bisai_precond_options all = bisai_precond_options_default();
  all.kind = BISAI_PRECOND_MULTIGRID;
  all.multigrid = o->multigrid;
  BSI_TRY(bsi_precond_ranges_check(context, &all));
  return check_multigrid(context, &o->multigrid, a->block_size);
}

static int64_t gather_of(const bisai_context *context, const bisai_ranks_options *o) {
  if (o->gather >= 0) return o->gather;
  return context->backend->memory->is_host ? GATHER : GATHER_ON_DEVICE;
}

static int64_t overlap_of(const bisai_context *context, const bisai_ranks_options *o) {
  if (o->overlap >= 0) return o->overlap;
  return context->backend->memory->is_host ? OVERLAP : OVERLAP_ON_DEVICE;
}

/* Returns the set-up of all levels. */
static bsi_multigrid_setup setup_of(const bisai_context *context, const bisai_ranks_rows *rows,
                                    const bisai_ranks_options *o) {
  static const double none = 0.0; /* the vectors of a rank without rows */
  const int bs = rows->matrix->block_size;
  bisai_multigrid_options given = o->multigrid;
  if (given.null_count > 0 && !given.null_vectors) given.null_vectors = &none;
  bisai_multigrid_options chosen = bsi_multigrid_choose(&given, rows->symmetric, bs);
  chosen.nodes = BISAI_AGGREGATION_UNIT_BLOCK;
  chosen.cycle = bsi_multigrid_cycle(&chosen, rows->symmetric, bs);
  return bsi_multigrid_setup_of(context, &given, &chosen, rows->symmetric, o->shift_amount);
}

bisai_status bisai_ranks_create(bisai_context *context, const bisai_ranks_rows *rows,
                                const bisai_transport *transport,
                                const bisai_ranks_options *options, bisai_ranks **ranks) {
  const bisai_ranks_options defaults = bisai_ranks_options_default();
  const bisai_ranks_options *o = options ? options : &defaults;
  bisai_ranks *r = NULL;
  if (!context) return BISAI_INVALID_ARGUMENT;
  if (!transport || !ranks || !transport->exchange || !transport->reduce || transport->ranks < 1 ||
      transport->rank < 0 || transport->rank >= transport->ranks)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "bisai_ranks_create: `ranks` or the transport is NULL or incomplete");
  bisai_status status = check(context, rows, o);
  if (!status) r = bsi_allocate(context, 1, sizeof *r);
  if (!status && !r) status = BISAI_OUT_OF_MEMORY;
  status = bsi_agree(context, transport, status);
  if (!status && r) {
    bsi_multigrid_setup setup = {.options = o->multigrid};
    if (!o->products_only) setup = setup_of(context, rows, o);
    setup.least_overlapped = overlap_of(context, o);
    setup.least_exchanged = o->overlap < 0 && transport->enqueue_exchange ? ENQUEUED : 0;
    r->context = context;
    status = o->products_only
                 ? bsi_rank_products_create(context, rows, transport, &setup, &r->levels)
                 : bsi_rank_levels_create(context, rows, transport, &setup, gather_of(context, o),
                                          &r->levels);
    if (status) bsi_rank_levels_destroy(&r->levels);
  }
  if (status)
    bsi_release(context, r);
  else
    *ranks = r;
  return status;
}

bisai_status bisai_ranks_update(bisai_ranks *ranks, const bisai_bcsr *matrix) {
  if (!ranks) return BISAI_INVALID_ARGUMENT;
  const bisai_status status = matrix ? BISAI_OK
                                     : bsi_fail(ranks->context, BISAI_INVALID_ARGUMENT,
                                                "bisai_ranks_update: matrix is NULL");
  BSI_TRY(bsi_agree(ranks->context, &ranks->levels.transport, status));
  return bsi_rank_levels_update(&ranks->levels, matrix);
}

static bisai_status check_vectors(const bisai_ranks *ranks, const double *v, const double *z) {
  return (v && z) || bsi_level_rows(&ranks->levels.h.levels[0]) == 0
             ? BISAI_OK
             : bsi_fail(ranks->context, BISAI_INVALID_ARGUMENT, "a vector of ranks is NULL");
}

static bisai_status check_levels(const bisai_ranks *ranks, const char *function) {
  return ranks->levels.products_only ? bsi_fail(ranks->context, BISAI_UNSUPPORTED,
                                                "%s: the options were products_only", function)
                                     : BISAI_OK;
}

bisai_status bisai_ranks_apply(bisai_ranks *ranks, const double *v, double *z) {
  if (!ranks) return BISAI_INVALID_ARGUMENT;
  BSI_TRY(check_levels(ranks, "bisai_ranks_apply"));
  BSI_TRY(check_vectors(ranks, v, z));
  return bsi_rank_levels_apply(&ranks->levels, v, z);
}

bisai_status bisai_ranks_apply_transpose(bisai_ranks *ranks, const double *v, double *z) {
  if (!ranks) return BISAI_INVALID_ARGUMENT;
  const bsi_multigrid_setup *setup = &ranks->levels.h.setup;
  BSI_TRY(check_levels(ranks, "bisai_ranks_apply_transpose"));
  if (setup->options.cycle == BISAI_CYCLE_K)
    return bsi_fail(ranks->context, BISAI_UNSUPPORTED,
                    "the cycle k is not linear: it has no transpose");
  BSI_TRY(check_vectors(ranks, v, z));
  /* updates with `unweighted` need not be symmetric */
  const bool is_own =
      setup->symmetric && setup->options.pre == setup->options.post && !setup->options.unweighted;
  return is_own ? bsi_rank_levels_apply(&ranks->levels, v, z)
                : bsi_rank_levels_apply_transpose(&ranks->levels, v, z);
}

bisai_status bisai_ranks_multiply(bisai_ranks *ranks, const double *x, double *y) {
  if (!ranks) return BISAI_INVALID_ARGUMENT;
  bisai_context *context = ranks->context;
  const int64_t n = bsi_level_rows(&ranks->levels.h.levels[0]);
  bsi_staged in = {0}, out = {0};
  bisai_status status = check_vectors(ranks, x, y);
  if (!status) status = bsi_stage_input(context, n, 1, x, n, &in);
  if (!status) status = bsi_stage_output(context, n, 1, false, y, n, &out);
  if (!status) status = bsi_rank_levels_multiply(&ranks->levels, in.data, out.data);
  status = bsi_stage_return(context, status, &out);
  bsi_stage_release(context, &in);
  return status;
}

bisai_status bisai_ranks_sum(bisai_ranks *ranks, double *values, int count) {
  if (!ranks) return BISAI_INVALID_ARGUMENT;
  return bsi_sum_in_place(ranks->context, &ranks->levels.transport, count, values);
}

void bisai_ranks_destroy(bisai_ranks **ranks) {
  if (!ranks || !*ranks) return;
  bisai_context *context = (*ranks)->context;
  bsi_rank_levels_destroy(&(*ranks)->levels);
  bsi_release(context, *ranks);
  *ranks = NULL;
}

bisai_status bisai_ranks_get_report(const bisai_ranks *ranks, bisai_ranks_report *report) {
  if (!ranks) return BISAI_INVALID_ARGUMENT;
  const bsi_rank_hierarchy *r = &ranks->levels;
  if (!report)
    return bsi_fail(ranks->context, BISAI_INVALID_ARGUMENT, "bisai_ranks_get_report: NULL");
  BSI_TRY(bsi_check_report(ranks->context, "report", report->struct_size, sizeof *report));
  const int own = r->h.count - (r->h.coarse.gathered.ops != NULL);
  *report = (bisai_ranks_report){.struct_size = sizeof *report,
                                 .levels = own,
                                 .gathered = r->gathered.below.count,
                                 .nullity = r->gathered.below.coarse.nullity,
                                 .cycle = r->h.setup.options.cycle,
                                 .smoother = r->h.setup.options.smoother,
                                 .exchanges = bsi_rank_levels_exchanges(r),
                                 .memory_bytes = bsi_rank_levels_memory(r)};
  for (int l = 0; l < own; l++) {
    report->rows[l] = (int64_t)r->levels[l].all_rows;
    report->blocks[l] = (int64_t)r->levels[l].all_blocks;
    report->block_size[l] = r->h.levels[l].matrix->block_size;
    report->unsmoothed[l] = l + 1 < r->h.count && !r->h.levels[l].transfers.prolongation.row_ptr;
  }
  for (int l = 0; l < report->gathered; l++) {
    const bsi_level *level = &r->gathered.below.levels[l];
    report->rows[own + l] = level->matrix->block_rows;
    report->blocks[own + l] = level->matrix->blocks;
    report->block_size[own + l] = level->matrix->block_size;
    report->unsmoothed[own + l] =
        l + 1 < report->gathered && !level->transfers.prolongation.row_ptr;
  }
  return BISAI_OK;
}

bisai_status bisai_ranks_vote(bisai_context *context, const bisai_bcsr *matrix, int64_t *components,
                              int64_t *points) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  if (!matrix || !components || !points || matrix->type != BISAI_FP64 ||
      matrix->block_cols < matrix->block_rows)
    return bsi_fail(
        context, BISAI_INVALID_ARGUMENT,
        "bisai_ranks_vote: an argument is NULL, or the matrix has not the rows of a rank");
  return BSI_ON_BACKEND(context, bsi_count_votes)(context, matrix, components, points);
}
