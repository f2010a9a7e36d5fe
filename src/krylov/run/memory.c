/* SPDX-License-Identifier: BSD-3-Clause */
/* The backend memory that a solver reserves. */
#include "krylov/run/memory.h"
#include "core/context/backend.h"

double *bsi_reserve(bisai_solver *solver, size_t count, size_t size) {
  double *memory = solver->context->backend->memory->allocate(solver->context, count, size);
  if (memory) solver->memory_bytes += (int64_t)(count * size);
  return memory;
}

double *bsi_reserve_vectors(bisai_solver *solver, size_t count) {
  double *vectors = bsi_reserve(solver, (size_t)solver->ld, count * sizeof(double));
  for (size_t c = 0; vectors && c < count; c++)
    solver->context->backend->vectors->set(solver->context, solver->ld, 0,
                                           vectors + c * (size_t)solver->ld);
  return vectors;
}
