/* SPDX-License-Identifier: BSD-3-Clause */
#include "petsc/ranks/ranks.h"

#include "petsc/device.h"
#include "petsc/null_space.h"
#include "petsc/ranks/ranks_impl.h"

/* bisai_multigrid_options::complexity if it is open. */
#define COMPLEXITY 2.5
/* Coarsening ends if a level has more than this part of the rows of the finer one. */
#define SLOWEST_COARSENING (1.0 / 1.3)
/* A last level of at most that many scalar rows is gathered in any case: bisai inverts it there. */
enum { MOST_INVERTED = 1024 };

/* --- level 0 --- */

/* Takes an MPIAIJ of the host as the matrix of level 0. One of a GPU is what the matrix is made
 * from. */
static PetscErrorCode take_mat(bsi_ranks *ranks, Mat mat) {
  bsi_ranks_level *level = &ranks->levels[0];
  PetscBool aij = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(bsi_ranks_source_take(mat, &ranks->source));
  PetscCall(PetscObjectTypeCompare((PetscObject)ranks->source.mat, MATMPIAIJ, &aij));
  PetscCall(PetscObjectReference((PetscObject)ranks->source.mat));
  *(aij ? &level->matrix : &level->source) = ranks->source.mat;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* nodes=auto: the scalar rows of all processes vote. */
static PetscErrorCode choose_nodes(bsi_ranks *ranks, bsi_ranks_failure *failure) {
  const bisai_multigrid_options *o = &ranks->setup.options;
  const bsi_ranks_level *level = &ranks->levels[0];
  int64_t votes[2] = {0, 0};
  PetscFunctionBegin;
  ranks->scalar = o->nodes == BISAI_AGGREGATION_UNIT_SCALAR;
  if (o->nodes != BISAI_AGGREGATION_UNIT_AUTO || o->null_count > 0)
    PetscFunctionReturn(PETSC_SUCCESS);
  const bisai_status status =
      bisai_piece_vote(ranks->setup.context, level->rows.matrix, &votes[0], &votes[1]);
  PetscCall(bsi_ranks_agree(&ranks->setup, PETSC_SUCCESS, status, failure));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, votes, 2, MPI_INT64_T, MPI_SUM, ranks->setup.comm));
  ranks->scalar = votes[1] > votes[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads level 0 in the blocks of the Mat, or in scalar rows without zeros. */
static PetscErrorCode read_first(bsi_ranks *ranks, PetscInt block_size,
                                 bsi_ranks_failure *failure) {
  bsi_ranks_level *level = &ranks->levels[0];
  PetscFunctionBegin;
  PetscCall(bsi_ranks_level_read(&ranks->setup, block_size, false, level, failure));
  if (failure->status || block_size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(choose_nodes(ranks, failure));
  if (failure->status || !ranks->scalar) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(bsi_ranks_rows_destroy(&level->rows));
  PetscCall(PetscFree(level->transfers.row_column));
  if (level->source)
    PetscCall(MatDestroy(&level->matrix));
  else
    level->source = level->matrix;
  level->matrix = NULL;
  PetscCall(bsi_ranks_level_read(&ranks->setup, 1, true, level, failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- options --- */

/* Puts choices in the place of AUTO, as bisai does for one process. */
static void choose(bsi_ranks *ranks, PetscInt block_size) {
  bisai_multigrid_options *o = &ranks->setup.options;
  const bool symmetric = ranks->setup.symmetric, values = block_size == 1 || ranks->scalar;
  if (o->smoother == BISAI_SMOOTHER_AUTO)
    o->smoother = symmetric ? BISAI_SMOOTHER_CHEBYSHEV : BISAI_SMOOTHER_JACOBI;
  if (o->cycle == BISAI_CYCLE_AUTO)
    o->cycle = symmetric ? BISAI_CYCLE_V : values ? BISAI_CYCLE_VW : BISAI_CYCLE_W;
  if (o->complexity == 0.0) o->complexity = COMPLEXITY;
}

/* Refuses what needs all rows on one process. */
static PetscErrorCode check(const bsi_ranks *ranks) {
  const bisai_multigrid_options *o = &ranks->setup.options;
  PetscFunctionBegin;
  PetscCheck(o->cycle != BISAI_CYCLE_K, ranks->setup.comm, PETSC_ERR_SUP,
             "bisai: -pc_bisai_mg_cycle k needs a matrix on one process: take v, w or vw, or "
             "-pc_bisai_mg_distributed 0");
  PetscCheck(o->smoother == BISAI_SMOOTHER_AUTO || o->smoother == BISAI_SMOOTHER_JACOBI ||
                 o->smoother == BISAI_SMOOTHER_CHEBYSHEV,
             ranks->setup.comm, PETSC_ERR_SUP,
             "bisai: -pc_bisai_mg_smoother %s needs a matrix on one process: take jacobi or "
             "chebyshev, or -pc_bisai_mg_distributed 0",
             bisai_smoother_string(o->smoother));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- levels --- */

/* Returns the values of a matrix with this level's blocks. */
static double values_of(const bsi_ranks_level *level) {
  const double bs = (double)level->rows.block_size;
  return level->all_blocks * bs * bs;
}

static double all_values(const bsi_ranks *ranks, int count) {
  double values = 0;
  for (int l = 0; l < count; l++) values += values_of(&ranks->levels[l]);
  return values;
}

static double scalar_rows(const bsi_ranks_level *level) {
  return (double)level->all_rows * (double)level->rows.block_size;
}

/* The near-null-space vectors of the own rows of level l. `first` are those of level 0. */
static const double *vectors_of(const bsi_ranks *ranks, int l, const double *first) {
  return l == 0 ? first : bisai_piece_coarse_vectors(ranks->levels[l - 1].piece);
}

/* Gathers the last level. */
static PetscErrorCode gather(bsi_ranks *ranks, const double *vectors, bsi_ranks_failure *failure) {
  const int l = ranks->count;
  const bsi_ranks_level *last = &ranks->levels[l];
  const bisai_multigrid_above above = {.levels = l,
                                       .symmetric = ranks->setup.symmetric,
                                       .blocks = ranks->levels[0].all_blocks,
                                       .values = values_of(&ranks->levels[0]),
                                       .all_values = all_values(ranks, l)};
  bisai_precond_options *o = &ranks->gathered.options;
  PetscFunctionBegin;
  ranks->end = BSI_RANKS_GATHERED;
  *o = ranks->options;
  o->multigrid.null_count = ranks->setup.options.null_count;
  if (l > 0) {
    o->multigrid.cycle = ranks->setup.options.cycle;
    o->multigrid.smoother = ranks->setup.options.smoother;
    o->multigrid.nodes = BISAI_AGGREGATION_UNIT_BLOCK;
    o->multigrid.levels = ranks->setup.options.levels - l;
    o->multigrid.above = &above;
  }
  PetscCall(bsi_ranks_gather_create(&ranks->setup, last->matrix, last->rows.block_size,
                                    vectors_of(ranks, l, vectors), &ranks->gathered, failure));
  o->multigrid.above = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns true if the aggregates of a level are few enough for another level. */
static bool has_aggregates(const bsi_ranks_level *level) {
  const double coarse = (double)level->all_aggregates * (double)level->width;
  return level->all_aggregates > 0 && coarse <= SLOWEST_COARSENING * scalar_rows(level);
}

/* Makes the transfers of level l and the matrix of the next one. *more ← false if it is the last
 * one. */
static PetscErrorCode append(bsi_ranks *ranks, int l, const double *vectors, bool *more,
                             bsi_ranks_failure *failure) {
  bsi_ranks_level *level = &ranks->levels[l];
  Mat coarse = NULL;
  PetscFunctionBegin;
  *more = false;
  PetscCall(
      bsi_ranks_level_create(&ranks->setup, l, vectors_of(ranks, l, vectors), level, failure));
  if (failure->status || !has_aggregates(level) || l + 1 == ranks->setup.options.levels)
    PetscFunctionReturn(PETSC_SUCCESS);
  const double most =
      ranks->setup.options.complexity * values_of(&ranks->levels[0]) - all_values(ranks, l + 1);
  PetscCall(bsi_ranks_level_coarsen(&ranks->setup, most, level, &coarse, failure));
  if (failure->status || !coarse) PetscFunctionReturn(PETSC_SUCCESS);
  ranks->levels[l + 1].matrix = coarse;
  PetscCall(
      bsi_ranks_level_read(&ranks->setup, level->width, false, &ranks->levels[l + 1], failure));
  *more = !failure->status;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode make_levels(bsi_ranks *ranks, const double *vectors,
                                  bsi_ranks_failure *failure) {
  bool more = true;
  PetscFunctionBegin;
  ranks->end = BSI_RANKS_SMOOTHED;
  while (more && !failure->status) {
    const bsi_ranks_level *level = &ranks->levels[ranks->count];
    if (scalar_rows(level) <= (double)ranks->gather_rows) {
      PetscCall(gather(ranks, vectors, failure));
      break;
    }
    PetscCall(append(ranks, ranks->count, vectors, &more, failure));
    if (more) ranks->count++;
  }
  if (!failure->status && ranks->end == BSI_RANKS_SMOOTHED &&
      scalar_rows(&ranks->levels[ranks->count]) <= MOST_INVERTED)
    PetscCall(gather(ranks, vectors, failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The vectors of the options or of the Mat. The caller frees *own. */
static PetscErrorCode take_vectors(bsi_ranks *ranks, Mat mat, const double **vectors,
                                   double **own) {
  bisai_multigrid_options *o = &ranks->setup.options;
  PetscFunctionBegin;
  *own = NULL;
  *vectors = o->null_vectors;
  if (!o->null_vectors) {
    PetscCall(bsi_petsc_near_null_space(mat, &o->null_count, own));
    *vectors = *own;
  }
  o->null_vectors = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode fill(bsi_ranks *ranks, Mat mat, const double *vectors,
                           bsi_ranks_failure *failure) {
  PetscInt block_size;
  PetscFunctionBegin;
  PetscCall(MatGetBlockSize(mat, &block_size));
  PetscCall(take_mat(ranks, mat));
  PetscCall(read_first(ranks, block_size, failure));
  if (failure->status) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(bsi_ranks_mat_is_symmetric(ranks->levels[0].matrix, &ranks->setup.symmetric));
  choose(ranks, block_size);
  PetscCall(make_levels(ranks, vectors, failure));
  if (!failure->status) PetscCall(bsi_ranks_cycle_create(ranks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ranks_create(Mat mat, const bsi_ranks_options *options, bsi_ranks **result,
                                bsi_ranks_failure *failure) {
  const bisai_precond_options *o = options->precond;
  bisai_status status = BISAI_OK;
  const double *vectors;
  double *own;
  bsi_ranks *ranks;
  PetscFunctionBegin;
  *failure = (bsi_ranks_failure){BISAI_OK, ""};
  PetscCall(PetscNew(&ranks));
  ranks->options = *o;
  ranks->gather_rows = options->gather;
  ranks->setup =
      (bsi_ranks_setup){.comm = PetscObjectComm((PetscObject)mat),
                        .options = o->multigrid,
                        .shift_amount = o->shift == BISAI_SHIFT_NONE ? 0.0 : o->shift_amount};
  PetscCall(check(ranks));
  PetscCall(
      bsi_petsc_context(BISAI_BACKEND_HOST, options->threads, &ranks->setup.context, &status));
  PetscCall(bsi_ranks_agree(&ranks->setup, PETSC_SUCCESS, status, failure));
  PetscCall(take_vectors(ranks, mat, &vectors, &own));
  if (!failure->status) PetscCall(fill(ranks, mat, vectors, failure));
  PetscCall(PetscFree(own));
  if (failure->status)
    PetscCall(bsi_ranks_destroy(&ranks));
  else
    *result = ranks;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- updates --- */

/* Gives level 0 the values of the Mat. *kept ← false if it has other ones than a hierarchy can
 * take. */
static PetscErrorCode refresh(bsi_ranks *ranks, Mat mat, bool *kept) {
  bool symmetric;
  PetscFunctionBegin;
  PetscCall(bsi_ranks_source_refresh(mat, &ranks->source, kept));
  if (!*kept || !ranks->setup.symmetric || ranks->setup.options.unweighted)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(bsi_ranks_mat_is_symmetric(ranks->source.mat, &symmetric));
  *kept = symmetric;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ranks_update(bsi_ranks *ranks, Mat mat, bool *kept, bsi_ranks_failure *failure) {
  PetscFunctionBegin;
  *failure = (bsi_ranks_failure){BISAI_OK, ""};
  PetscCall(refresh(ranks, mat, kept));
  for (int l = 0; l <= ranks->count && *kept && !failure->status; l++) {
    Mat coarse = l < ranks->count ? ranks->levels[l + 1].matrix : NULL;
    PetscCall(bsi_ranks_level_update(&ranks->setup, &ranks->levels[l], coarse, kept, failure));
  }
  if (*kept && !failure->status && ranks->end == BSI_RANKS_GATHERED)
    PetscCall(bsi_ranks_gather_update(&ranks->setup, ranks->levels[ranks->count].matrix,
                                      &ranks->gathered, failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- use --- */

PetscErrorCode bsi_ranks_apply(bsi_ranks *ranks, const double *v, double *z) {
  PetscFunctionBegin;
  PetscCall(VecPlaceArray(ranks->v, v));
  PetscCall(VecPlaceArray(ranks->z, z));
  if (ranks->cycle)
    PetscCall(PCApply(ranks->cycle, ranks->v, ranks->z));
  else
    PetscCall(bsi_ranks_gather_apply(&ranks->gathered, ranks->v, ranks->z));
  PetscCall(VecResetArray(ranks->z));
  PetscCall(VecResetArray(ranks->v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ranks_destroy(bsi_ranks **result) {
  bsi_ranks *ranks = *result;
  PetscFunctionBegin;
  *result = NULL;
  if (!ranks) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCDestroy(&ranks->cycle));
  PetscCall(bsi_ranks_gather_destroy(&ranks->gathered));
  for (int l = BISAI_MULTIGRID_LEVELS - 1; l >= 0; l--)
    PetscCall(bsi_ranks_level_destroy(&ranks->levels[l]));
  PetscCall(MatDestroy(&ranks->source.mat));
  PetscCall(VecDestroy(&ranks->v));
  PetscCall(VecDestroy(&ranks->z));
  bisai_context_destroy(&ranks->setup.context);
  PetscCall(PetscFree(ranks));
  PetscFunctionReturn(PETSC_SUCCESS);
}
