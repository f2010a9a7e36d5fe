/* SPDX-License-Identifier: BSD-3-Clause */
/* Levels of multigrid over several processes. What a process does alone, bisai does
 * (bisai/piece.h). A failure there becomes that of all before the next step that needs all of
 * them. */
#include "petsc/ranks/level.h"

#include "petsc/ranks/null_rows.h"

PetscErrorCode bsi_ranks_agree(const bsi_ranks_setup *setup, PetscErrorCode own,
                               bisai_status status, bsi_ranks_failure *failure) {
  char message[BSI_PETSC_MESSAGE] = "bisai: the set-up failed on another process";
  PetscMPIInt rank;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(setup->comm, &rank));
  /* a failure of bisai is a negative code */
  PetscErrorCode code = own ? own : (PetscErrorCode)(-(int)status);
  if (!own && status)
    PetscCall(PetscSNPrintf(message, sizeof message, "process %d, counting its own rows: %s",
                            (int)rank, bsi_petsc_message(setup->context, status)));
  PetscCall(bsi_petsc_agree(setup->comm, &code, message));
  PetscCall(own);
  PetscCheck((int)code <= 0, setup->comm, code, "%s", message);
  failure->status = (bisai_status)(-(int)code);
  if (failure->status) PetscCall(PetscStrncpy(failure->message, message, sizeof failure->message));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- creation --- */

/* The number of each block column of the rows. */
static PetscErrorCode number_rows(bsi_ranks_level *level) {
  const bsi_ranks_rows *rows = &level->rows;
  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)(rows->n + rows->ghosts), &level->transfers.row_column));
  for (PetscInt i = 0; i < rows->n; i++) level->transfers.row_column[i] = rows->first + i;
  for (PetscInt j = 0; j < rows->ghosts; j++)
    level->transfers.row_column[rows->n + j] = rows->ghost[j];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The own rows of A. */
static bsi_ranks_blocks rows_of(const bsi_ranks_level *level) {
  const bsi_ranks_rows *rows = &level->rows;
  const int bs = (int)rows->block_size;
  return (bsi_ranks_blocks){{(int32_t)rows->n, (int32_t)(rows->n + rows->ghosts), bs, bs,
                             rows->row_ptr, rows->col_idx, rows->values},
                            level->transfers.row_column,
                            rows->n};
}

PetscErrorCode bsi_ranks_level_read(const bsi_ranks_setup *setup, PetscInt block_size,
                                    bool drop_zeros, bsi_ranks_level *level,
                                    bsi_ranks_failure *failure) {
  bisai_status status = BISAI_OK;
  double blocks = 0;
  PetscFunctionBegin;
  Mat from = level->source ? level->source : level->matrix;
  const PetscErrorCode own =
      bsi_ranks_rows_read(from, block_size, drop_zeros, setup->context, &level->rows, &status);
  PetscCall(bsi_ranks_agree(setup, own, status, failure));
  if (failure->status) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(bsi_ranks_rows_connect(from, &level->rows));
  PetscCall(number_rows(level));
  const bsi_ranks_blocks blocks_of = rows_of(level);
  if (level->source) PetscCall(bsi_ranks_mat_create(setup->comm, &blocks_of, &level->matrix));
  blocks = level->rows.row_ptr[level->rows.n];
  PetscCallMPI(MPI_Allreduce(&blocks, &level->all_blocks, 1, MPI_DOUBLE, MPI_SUM, setup->comm));
  PetscCallMPI(MPI_Allreduce(&level->rows.n, &level->all_rows, 1, MPIU_INT, MPI_SUM, setup->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode make_vectors(const bsi_ranks_setup *setup, bsi_ranks_level *level) {
  const PetscInt bs = level->rows.block_size, n = level->rows.n * bs;
  Vec *const vectors[] = {&level->x, &level->y};
  PetscFunctionBegin;
  for (int k = 0; k < 2; k++)
    PetscCall(VecCreateMPIWithArray(setup->comm, bs, n, PETSC_DETERMINE, NULL, vectors[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ranks_level_multiply(const bsi_ranks_level *level, const double *x, double *y) {
  PetscFunctionBegin;
  PetscCall(VecPlaceArray(level->x, x));
  PetscCall(VecPlaceArray(level->y, y));
  PetscCall(MatMult(level->matrix, level->x, level->y));
  PetscCall(VecResetArray(level->y));
  PetscCall(VecResetArray(level->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the callbacks of an estimate need. */
typedef struct estimate {
  const bsi_ranks_setup *setup;
  const bsi_ranks_level *level;
  PetscErrorCode code;
} estimate;

static bisai_status multiply(void *user, const double *x, double *y) {
  estimate *e = user;
  e->code = bsi_ranks_level_multiply(e->level, x, y);
  return e->code ? BISAI_EXTERNAL_ERROR : BISAI_OK;
}

static bisai_status add(void *user, int count, double *values) {
  const estimate *e = user;
  const int code = MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_SUM, e->setup->comm);
  return code == MPI_SUCCESS ? BISAI_OK : BISAI_EXTERNAL_ERROR;
}

static PetscErrorCode estimate_radius(const bsi_ranks_setup *setup, bsi_ranks_level *level,
                                      bsi_ranks_failure *failure) {
  estimate e = {setup, level, PETSC_SUCCESS};
  const bisai_piece_calls calls = {&e, multiply, add};
  PetscFunctionBegin;
  const bisai_status status =
      bisai_piece_radius(level->piece, setup->options.smoother, &calls, &level->radius);
  PetscCall(bsi_ranks_agree(setup, e.code, status, failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode find_largest(const bsi_ranks_setup *setup, bsi_ranks_level *level) {
  double largest;
  PetscFunctionBegin;
  largest = bisai_piece_largest_inverse(level->piece);
  PetscCallMPI(
      MPI_Allreduce(&largest, &level->largest_inverse, 1, MPI_DOUBLE, MPI_MAX, setup->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ranks_level_create(const bsi_ranks_setup *setup, int number,
                                      const double *vectors, bsi_ranks_level *level,
                                      bsi_ranks_failure *failure) {
  const double none = 0.0; /* an array of a process without rows */
  bisai_piece_options o = bisai_piece_options_default();
  PetscInt count;
  PetscFunctionBegin;
  o.level = number;
  o.symmetric = setup->symmetric;
  o.unweighted = setup->options.unweighted;
  o.strength = setup->options.strength;
  o.shift_amount = setup->shift_amount;
  o.first_row = level->rows.first * level->rows.block_size;
  o.null_count = setup->options.null_count;
  if (o.null_count > 0) o.null_vectors = vectors ? vectors : &none;
  const bisai_status status =
      bisai_piece_create(setup->context, level->rows.matrix, &o, &level->piece);
  PetscCall(bsi_ranks_agree(setup, PETSC_SUCCESS, status, failure));
  if (failure->status) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(make_vectors(setup, level));
  PetscCall(find_largest(setup, level));
  bisai_piece_aggregates(level->piece, &level->count, &level->width);
  count = level->count;
  PetscCallMPI(MPI_Allreduce(&count, &level->all_aggregates, 1, MPIU_INT, MPI_SUM, setup->comm));
  PetscCall(estimate_radius(setup, level, failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- transfers --- */

/* aggregate ← the aggregates of the ghosts in the numbers of all processes, or −1. */
static PetscErrorCode exchange_aggregates(const bsi_ranks_level *level, PetscInt first,
                                          PetscInt *aggregate) {
  const bsi_ranks_rows *rows = &level->rows;
  int32_t count, width;
  const int32_t *of = bisai_piece_aggregates(level->piece, &count, &width);
  PetscInt *own;
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(rows->n, &own));
  for (PetscInt i = 0; i < rows->n; i++) own[i] = of[i] < 0 ? -1 : first + of[i];
  PetscCall(PetscSFBcastBegin(rows->halo, MPIU_INT, own, aggregate, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(rows->halo, MPIU_INT, own, aggregate, MPI_REPLACE));
  PetscCall(PetscFree(own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers the columns of P: the own aggregates, then those of ghosts, ascending. `of` receives the
 * column of each ghost. *columns ← their number. */
static PetscErrorCode number_columns(bsi_ranks_level *level, PetscInt first,
                                     const PetscInt *aggregate, int32_t *of, int32_t *columns) {
  const PetscInt ghosts = level->rows.ghosts, own = level->count;
  PetscInt distinct = 0, place;
  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)(own + ghosts), &level->transfers.aggregate_column));
  for (PetscInt k = 0; k < own; k++) level->transfers.aggregate_column[k] = first + k;
  PetscInt *others = level->transfers.aggregate_column + own;
  for (PetscInt j = 0; j < ghosts; j++)
    if (aggregate[j] >= 0) others[distinct++] = aggregate[j];
  PetscCall(PetscSortRemoveDupsInt(&distinct, others));
  for (PetscInt j = 0; j < ghosts; j++) {
    of[j] = -1;
    if (aggregate[j] < 0) continue;
    PetscCall(PetscFindInt(aggregate[j], distinct, others, &place));
    of[j] = (int32_t)(own + place);
  }
  *columns = (int32_t)(own + distinct);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *ghosts ← the blocks of T of the ghosts, if T has near-null-space vectors. */
static PetscErrorCode exchange_tentative(const bsi_ranks_level *level, double **ghosts) {
  const bsi_ranks_rows *rows = &level->rows;
  const PetscInt values = rows->block_size * level->width;
  double *own;
  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)(rows->ghosts * values), ghosts));
  PetscCall(PetscMalloc1((size_t)(rows->n * values), &own));
  bisai_piece_get_tentative(level->piece, own);
  PetscCall(bsi_ranks_rows_exchange(rows, values, own, *ghosts));
  PetscCall(PetscFree(own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives the piece what it must know of its ghosts. */
static PetscErrorCode connect(const bsi_ranks_setup *setup, bsi_ranks_level *level,
                              bsi_ranks_failure *failure) {
  const PetscInt ghosts = level->rows.ghosts;
  PetscInt first = 0, count = level->count, *aggregate;
  bisai_piece_ghosts of = {.columns = 0};
  int32_t *column;
  double *tentative = NULL;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Exscan(&count, &first, 1, MPIU_INT, MPI_SUM, setup->comm));
  PetscCall(PetscMalloc2(ghosts, &aggregate, ghosts, &column));
  PetscCall(exchange_aggregates(level, first, aggregate));
  PetscCall(number_columns(level, first, aggregate, column, &of.columns));
  if (setup->options.null_count > 0) PetscCall(exchange_tentative(level, &tentative));
  of.aggregate = column;
  of.tentative = tentative;
  const bisai_status status = bisai_piece_connect(level->piece, &of);
  PetscCall(PetscFree(tentative));
  PetscCall(PetscFree2(aggregate, column));
  PetscCall(bsi_ranks_agree(setup, PETSC_SUCCESS, status, failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *size ← bisai_piece_first_size() of the first process with rows. */
static PetscErrorCode find_first_size(const bsi_ranks_setup *setup, const bsi_ranks_level *level,
                                      double *size) {
  PetscMPIInt rank, first;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(setup->comm, &rank));
  const PetscMPIInt own = level->rows.n > 0 ? rank : INT32_MAX;
  PetscCallMPI(MPI_Allreduce(&own, &first, 1, MPI_INT, MPI_MIN, setup->comm));
  *size = bisai_piece_first_size(level->piece);
  if (first < INT32_MAX) PetscCallMPI(MPI_Bcast(size, 1, MPI_DOUBLE, first, setup->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the values of the own rows of P and R. */
static PetscErrorCode compute(const bsi_ranks_setup *setup, const bsi_ranks_level *level,
                              bsi_ranks_failure *failure) {
  const bsi_ranks_rows *rows = &level->rows;
  const PetscInt values = rows->block_size * rows->block_size;
  double *ghosts = NULL, first_size = 1.0;
  PetscFunctionBegin;
  if (!setup->symmetric && !setup->options.unweighted) {
    PetscCall(PetscMalloc1((size_t)(rows->ghosts * values), &ghosts));
    PetscCall(bsi_ranks_rows_exchange(rows, values, bisai_piece_inverse(level->piece), ghosts));
    PetscCall(find_first_size(setup, level, &first_size));
  }
  const bisai_status status = bisai_piece_compute(level->piece, first_size, ghosts);
  PetscCall(PetscFree(ghosts));
  PetscCall(bsi_ranks_agree(setup, PETSC_SUCCESS, status, failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The own rows of P, or of T in its place. */
static bsi_ranks_blocks prolongation_of(const bsi_ranks_level *level) {
  const bool smoothed = level->transfers.smoothing != BSI_RANKS_NEITHER;
  return (bsi_ranks_blocks){
      bisai_piece_get(level->piece, smoothed ? BISAI_PIECE_PROLONGATION : BISAI_PIECE_TENTATIVE),
      level->transfers.aggregate_column, level->count};
}

/* The own rows of R, or of Tᵀ in its place. */
static bsi_ranks_blocks restriction_of(const bsi_ranks_level *level) {
  const bool smoothed = level->transfers.smoothing == BSI_RANKS_BOTH;
  return (bsi_ranks_blocks){bisai_piece_get(level->piece, smoothed
                                                              ? BISAI_PIECE_RESTRICTION
                                                              : BISAI_PIECE_TENTATIVE_TRANSPOSED),
                            level->transfers.row_column, level->rows.n};
}

static bool is_transposed(const bsi_ranks_setup *setup) {
  return setup->symmetric || setup->options.unweighted;
}

/* Makes P and R as level->transfers.smoothing says, or writes their values. */
static PetscErrorCode make_transfers(const bsi_ranks_setup *setup, bsi_ranks_level *level) {
  const bool first = !level->transfers.prolongation;
  const bsi_ranks_blocks p = prolongation_of(level), r = restriction_of(level);
  PetscFunctionBegin;
  if (first)
    PetscCall(bsi_ranks_mat_create(setup->comm, &p, &level->transfers.prolongation));
  else if (level->transfers.smoothing != BSI_RANKS_NEITHER)
    PetscCall(bsi_ranks_mat_fill(&p, level->transfers.prolongation));
  if (is_transposed(setup))
    PetscCall(MatTranspose(level->transfers.prolongation,
                           first ? MAT_INITIAL_MATRIX : MAT_REUSE_MATRIX,
                           &level->transfers.restriction));
  else if (first)
    PetscCall(bsi_ranks_mat_create(setup->comm, &r, &level->transfers.restriction));
  else
    PetscCall(bsi_ranks_mat_fill(&r, level->transfers.restriction));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes A P and R A P. */
static PetscErrorCode multiply_all(bsi_ranks_level *level, MatReuse reuse, Mat *coarse) {
  PetscFunctionBegin;
  PetscCall(MatMatMult(level->matrix, level->transfers.prolongation, reuse, PETSC_DEFAULT,
                       &level->transfers.product));
  PetscCall(MatMatMult(level->transfers.restriction, level->transfers.product, reuse, PETSC_DEFAULT,
                       coarse));
  if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatSetBlockSize(*coarse, level->width));
  const bsi_ranks_operators operators = {level->matrix, level->transfers.prolongation,
                                         level->piece};
  PetscCall(bsi_ranks_replace_null_rows(&operators, *coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode drop_transfers(bsi_ranks_level *level, Mat *coarse) {
  PetscFunctionBegin;
  PetscCall(MatDestroy(coarse));
  PetscCall(MatDestroy(&level->transfers.product));
  PetscCall(MatDestroy(&level->transfers.restriction));
  PetscCall(MatDestroy(&level->transfers.prolongation));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ranks_level_coarsen(const bsi_ranks_setup *setup, double most,
                                       bsi_ranks_level *level, Mat *coarse,
                                       bsi_ranks_failure *failure) {
  MatInfo info;
  PetscFunctionBegin;
  *coarse = NULL;
  PetscCall(connect(setup, level, failure));
  if (failure->status) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(compute(setup, level, failure));
  if (failure->status) PetscFunctionReturn(PETSC_SUCCESS);
  for (int s = BSI_RANKS_BOTH; s <= BSI_RANKS_NEITHER && !*coarse; s++) {
    if (s == BSI_RANKS_PROLONGATION && is_transposed(setup)) continue;
    level->transfers.smoothing = (bsi_ranks_smoothing)s;
    PetscCall(make_transfers(setup, level));
    PetscCall(multiply_all(level, MAT_INITIAL_MATRIX, coarse));
    PetscCall(MatGetInfo(*coarse, MAT_GLOBAL_SUM, &info));
    if (info.nz_used > most) PetscCall(drop_transfers(level, coarse));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- updates --- */

static PetscErrorCode take_values(const bsi_ranks_setup *setup, bsi_ranks_level *level, bool *same,
                                  bsi_ranks_failure *failure) {
  int all = 1;
  bisai_status status = BISAI_OK;
  PetscFunctionBegin;
  const bsi_ranks_blocks blocks = rows_of(level);
  Mat from = level->source ? level->source : level->matrix;
  const PetscErrorCode own = bsi_ranks_rows_update(from, &level->rows, same);
  PetscCall(bsi_ranks_agree(setup, own, BISAI_OK, failure));
  const int here = *same;
  PetscCallMPI(MPI_Allreduce(&here, &all, 1, MPI_INT, MPI_MIN, setup->comm));
  *same = all != 0;
  if (!*same) PetscFunctionReturn(PETSC_SUCCESS);
  if (level->source) PetscCall(bsi_ranks_mat_fill(&blocks, level->matrix));
  if (level->piece) status = bisai_piece_update(level->piece, level->rows.matrix);
  PetscCall(bsi_ranks_agree(setup, PETSC_SUCCESS, status, failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ranks_level_update(const bsi_ranks_setup *setup, bsi_ranks_level *level,
                                      Mat coarse, bool *same, bsi_ranks_failure *failure) {
  const bool keep = setup->options.keep_transfers;
  PetscFunctionBegin;
  PetscCall(take_values(setup, level, same, failure));
  if (!*same || failure->status || !level->piece) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(find_largest(setup, level));
  if (!keep) PetscCall(estimate_radius(setup, level, failure));
  if (failure->status || !coarse) PetscFunctionReturn(PETSC_SUCCESS);
  if (!keep) PetscCall(compute(setup, level, failure));
  if (failure->status) PetscFunctionReturn(PETSC_SUCCESS);
  if (!keep) PetscCall(make_transfers(setup, level));
  PetscCall(multiply_all(level, MAT_REUSE_MATRIX, &coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ranks_level_destroy(bsi_ranks_level *level) {
  Mat none = NULL;
  PetscFunctionBegin;
  PetscCall(drop_transfers(level, &none));
  bisai_piece_destroy(&level->piece);
  PetscCall(bsi_ranks_rows_destroy(&level->rows));
  PetscCall(MatDestroy(&level->matrix));
  PetscCall(MatDestroy(&level->source));
  PetscCall(VecDestroy(&level->x));
  PetscCall(VecDestroy(&level->y));
  PetscCall(PetscFree(level->transfers.aggregate_column));
  PetscCall(PetscFree(level->transfers.row_column));
  *level = (bsi_ranks_level){.matrix = NULL};
  PetscFunctionReturn(PETSC_SUCCESS);
}
