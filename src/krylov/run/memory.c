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
  const bsi_backend *backend = solver->context->backend;
  const int64_t padding = backend->memory->is_host ? 0 : solver->ld - solver->n;
  double *vectors = bsi_reserve(solver, (size_t)solver->ld, count * sizeof(double));
  for (size_t c = 0; vectors && padding > 0 && c < count; c++)
    backend->vectors->set(solver->context, padding, 0,
                          vectors + c * (size_t)solver->ld + solver->n);
  return vectors;
}
