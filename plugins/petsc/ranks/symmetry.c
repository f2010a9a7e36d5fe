/* SPDX-License-Identifier: BSD-3-Clause */
/* Own blocks are compared with the mirrored ones here. Blocks in columns of ghosts go to the owners
 * of these, which compare them with their own: a transpose of the whole matrix takes ten times as
 * long. */
#include "petsc/ranks/symmetry.h"

#include <math.h>

/* Returns value (r, c) of block q, or 0 if there is no block. */
static double value_of(const bsi_ranks_rows *rows, int32_t q, PetscInt r, PetscInt c) {
  const PetscInt bs = rows->block_size;
  return q < 0 ? 0.0 : rows->values[(size_t)q * (size_t)(bs * bs) + (size_t)(c * bs + r)];
}

/* Returns the place of block (i, j) of the own rows, or −1. */
static int32_t place_of(const bsi_ranks_rows *rows, int32_t i, int32_t j) {
  int32_t low = rows->row_ptr[i], high = rows->row_ptr[i + 1];
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if (rows->col_idx[middle] < j)
      low = middle + 1;
    else
      high = middle;
  }
  return low < rows->row_ptr[i + 1] && rows->col_idx[low] == j ? low : -1;
}

/* Returns true if x and the mirrored y differ, given their diagonal entries. */
static bool is_other(double x, double y, double here, double there) {
  const double size = fmax(fmax(fabs(x), fabs(y)), sqrt(fabs(here)) * sqrt(fabs(there)));
  return x != y && !(fabs(x - y) <= BISAI_SYMMETRY_LIMIT * size);
}

/* Returns true if block q = (i, j) of own rows differs from the mirrored one. Of two blocks the one
 * in the upper triangle is compared. */
static bool differs(const bsi_ranks_rows *rows, int32_t i, int32_t q) {
  const int32_t j = rows->col_idx[q], mirror = place_of(rows, j, i);
  if (j < i && mirror >= 0) return false;
  const int32_t at = place_of(rows, i, i), there = place_of(rows, j, j);
  for (PetscInt c = 0; c < rows->block_size; c++)
    for (PetscInt r = 0; r < rows->block_size; r++)
      if (is_other(value_of(rows, q, r, c), value_of(rows, mirror, c, r), value_of(rows, at, r, r),
                   value_of(rows, there, c, c)))
        return true;
  return false;
}

static bool own_blocks_differ(const bsi_ranks_rows *rows) {
  for (int32_t i = 0; i < (int32_t)rows->n; i++)
    for (int32_t q = rows->row_ptr[i]; q < rows->row_ptr[i + 1]; q++)
      if (rows->col_idx[q] < rows->n && differs(rows, i, q)) return true;
  return false;
}

/* --- blocks in columns of ghosts --- */

/* A block that travels: its row and its column in the whole matrix, its values, and the diagonal of
 * its row. */
static PetscInt length_of(const bsi_ranks_rows *rows) {
  return 2 + rows->block_size * rows->block_size + rows->block_size;
}

static void pack(const bsi_ranks_rows *rows, int32_t i, int32_t q, double *to) {
  const PetscInt bs = rows->block_size;
  const int32_t diagonal = place_of(rows, i, i);
  *to++ = (double)(rows->first + i);
  *to++ = (double)rows->ghost[rows->col_idx[q] - rows->n];
  for (PetscInt c = 0; c < bs; c++)
    for (PetscInt r = 0; r < bs; r++) *to++ = value_of(rows, q, r, c);
  for (PetscInt r = 0; r < bs; r++) *to++ = value_of(rows, diagonal, r, r);
}

/* *other ← true if a block that has come differs from the mirrored one of the own rows. */
static PetscErrorCode compare(const bsi_ranks_rows *rows, const double *come, bool *other) {
  const PetscInt bs = rows->block_size;
  const int32_t i = (int32_t)((PetscInt)come[1] - rows->first);
  const double *values = come + 2, *diagonal = values + bs * bs;
  PetscInt ghost = -1;
  PetscFunctionBegin;
  PetscCall(PetscFindInt((PetscInt)come[0], rows->ghosts, rows->ghost, &ghost));
  const int32_t q = ghost < 0 ? -1 : place_of(rows, i, (int32_t)(rows->n + ghost)),
                at = place_of(rows, i, i);
  for (PetscInt c = 0; c < bs; c++)
    for (PetscInt r = 0; r < bs; r++)
      *other = *other || is_other(values[c * bs + r], value_of(rows, q, c, r), diagonal[r],
                                  value_of(rows, at, c, c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Blocks of all ranks, sorted by where they go or from where they come. */
typedef struct border {
  PetscMPIInt *count, *begin;
  double *blocks;
} border;

static PetscErrorCode make_room(PetscMPIInt ranks, PetscInt length, border *b) {
  PetscFunctionBegin;
  b->begin[0] = 0;
  for (PetscMPIInt k = 0; k < ranks; k++) b->begin[k + 1] = b->begin[k] + b->count[k];
  PetscCall(PetscMalloc1((size_t)b->begin[ranks] * (size_t)length, &b->blocks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* owner[k] ← the rank of ghost k. Both ascend. */
static PetscErrorCode find_owners(MPI_Comm comm, PetscMPIInt ranks, const bsi_ranks_rows *rows,
                                  PetscMPIInt *owner) {
  PetscInt *first;
  PetscMPIInt rank = 0;
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(ranks, &first));
  PetscCallMPI(MPI_Allgather(&rows->first, 1, MPIU_INT, first, 1, MPIU_INT, comm));
  for (PetscInt k = 0; k < rows->ghosts; k++) {
    while (rank + 1 < ranks && first[rank + 1] <= rows->ghost[k]) rank++;
    owner[k] = rank;
  }
  PetscCall(PetscFree(first));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts the blocks for each rank, and packs them. */
static PetscErrorCode fill(PetscMPIInt ranks, const bsi_ranks_rows *rows, const PetscMPIInt *owner,
                           border *out) {
  const PetscInt length = length_of(rows);
  PetscFunctionBegin;
  for (int turn = 0; turn < 2; turn++) {
    for (PetscMPIInt k = 0; k < ranks; k++) out->count[k] = 0;
    for (int32_t i = 0; i < (int32_t)rows->n; i++)
      for (int32_t q = rows->row_ptr[i]; q < rows->row_ptr[i + 1]; q++) {
        const PetscInt ghost = rows->col_idx[q] - rows->n;
        if (ghost < 0) continue;
        const PetscMPIInt at = out->count[owner[ghost]]++;
        if (turn == 1)
          pack(rows, i, q, out->blocks + (size_t)(out->begin[owner[ghost]] + at) * (size_t)length);
      }
    if (turn == 0) PetscCall(make_room(ranks, length, out));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sends all blocks, and receives those of others. */
static PetscErrorCode exchange(MPI_Comm comm, PetscMPIInt ranks, PetscInt length, const border *out,
                               border *in) {
  MPI_Request *requests;
  MPI_Datatype block;
  PetscMPIInt values, started = 0;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Alltoall(out->count, 1, MPI_INT, in->count, 1, MPI_INT, comm));
  PetscCall(make_room(ranks, length, in));
  PetscCall(PetscMPIIntCast(length, &values));
  PetscCallMPI(MPI_Type_contiguous(values, MPI_DOUBLE, &block));
  PetscCallMPI(MPI_Type_commit(&block));
  PetscCall(PetscMalloc1(2 * (size_t)ranks, &requests));
  for (PetscMPIInt k = 0; k < ranks; k++) {
    if (in->count[k] > 0)
      PetscCallMPI(MPI_Irecv(in->blocks + (size_t)in->begin[k] * (size_t)length, in->count[k],
                             block, k, 0, comm, &requests[started++]));
    if (out->count[k] > 0)
      PetscCallMPI(MPI_Isend(out->blocks + (size_t)out->begin[k] * (size_t)length, out->count[k],
                             block, k, 0, comm, &requests[started++]));
  }
  PetscCallMPI(MPI_Waitall(started, requests, MPI_STATUSES_IGNORE));
  PetscCall(PetscFree(requests));
  PetscCallMPI(MPI_Type_free(&block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ghost_blocks_differ(MPI_Comm comm, const bsi_ranks_rows *rows, bool *other) {
  const PetscInt length = length_of(rows);
  border out = {.blocks = NULL}, in = {.blocks = NULL};
  PetscMPIInt ranks, *owner;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  const size_t counts = (size_t)ranks + 1;
  PetscCall(PetscMalloc5(counts, &out.count, counts, &out.begin, counts, &in.count, counts,
                         &in.begin, rows->ghosts, &owner));
  PetscCall(find_owners(comm, ranks, rows, owner));
  PetscCall(fill(ranks, rows, owner, &out));
  PetscCall(exchange(comm, ranks, length, &out, &in));
  for (PetscMPIInt k = 0; k < in.begin[ranks] && !*other; k++)
    PetscCall(compare(rows, in.blocks + (size_t)k * (size_t)length, other));
  PetscCall(PetscFree(out.blocks));
  PetscCall(PetscFree(in.blocks));
  PetscCall(PetscFree5(out.count, out.begin, in.count, in.begin, owner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The own blocks end most comparisons. */
PetscErrorCode bsi_ranks_rows_are_symmetric(MPI_Comm comm, const bsi_ranks_rows *rows,
                                            bool *symmetric) {
  bool other = own_blocks_differ(rows);
  int any = other;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, comm));
  if (!any) PetscCall(ghost_blocks_differ(comm, rows, &other));
  if (!any) {
    any = other;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, comm));
  }
  *symmetric = !any;
  PetscFunctionReturn(PETSC_SUCCESS);
}
