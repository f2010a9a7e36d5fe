/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/matrix/asymmetry.h"

#include "core/context/context_impl.h"
#include "core/matrix/matrix_ops.h"
#include "core/threads/parallel.h"

enum { BLOCKS_PER_THREAD = 4096 };

typedef struct asymmetry_job {
  bisai_context *context;
  const bisai_bcsr *matrix;
  bsi_square a;
  double enough;
} asymmetry_job;

/* The partial result of a thread is the asymmetry of its rows. */
static void asymmetry_part(void *job, bsi_part part) {
  const asymmetry_job *j = job;
  const bsi_square *a = &j->a;
  bsi_asymmetry *partial = bsi_partial(j->context, part.thread);
  const bsi_rows rows = bsi_rows_of(j->matrix->block_rows, a->row_ptr, part);
  for (int32_t i = rows.begin; i < rows.end && partial->largest <= j->enough; i++)
    for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
      const double of_block = bsi_asymmetry_of_block(a, i, p, &partial->mirrored);
      if (of_block > partial->largest) partial->largest = of_block;
    }
}

bisai_status bsi_measure_asymmetry_host(bisai_context *context, const bisai_bcsr *matrix,
                                        double enough, bsi_asymmetry *asymmetry) {
  const int threads = bsi_threads_for(context->threads, matrix->blocks, BLOCKS_PER_THREAD);
  for (int t = 0; t < threads; t++)
    *(bsi_asymmetry *)bsi_partial(context, t) = (bsi_asymmetry){0.0, true};
  bsi_run(context, threads, BSI_SOME_PARTS, asymmetry_part,
          &(asymmetry_job){context, matrix, bsi_square_of(matrix), enough});
  *asymmetry = (bsi_asymmetry){0.0, true};
  for (int t = 0; t < threads; t++) {
    const bsi_asymmetry *partial = bsi_partial(context, t);
    if (partial->largest > asymmetry->largest) asymmetry->largest = partial->largest;
    asymmetry->mirrored = asymmetry->mirrored && partial->mirrored;
  }
  return BISAI_OK;
}

/* Returns true if a result is kept. Threads that share a matrix, each with a context of its own,
 * may measure it at the same time. They keep the same bits. */
static bool is_kept(const bisai_bcsr *matrix, bsi_asymmetry *measured) {
  if (!__atomic_load_n(&matrix->kept.measured, __ATOMIC_ACQUIRE)) return false;
  __atomic_load(&matrix->kept.asymmetry, &measured->largest, __ATOMIC_RELAXED);
  measured->mirrored = __atomic_load_n(&matrix->kept.mirrored, __ATOMIC_RELAXED);
  return true;
}

static void keep(const bisai_bcsr *matrix, bsi_asymmetry measured) {
  /* the matrix stays logically const */
  bsi_bcsr_kept *kept = (bsi_bcsr_kept *)(uintptr_t)&matrix->kept;
  if (!matrix->kept.updated_only) return;
  __atomic_store(&kept->asymmetry, &measured.largest, __ATOMIC_RELAXED);
  __atomic_store_n(&kept->mirrored, measured.mirrored, __ATOMIC_RELAXED);
  __atomic_store_n(&kept->measured, true, __ATOMIC_RELEASE);
}

/* Measures, or takes the result that is kept. An early end is not kept. */
static bisai_status measure(bisai_context *context, const bisai_bcsr *matrix, double enough,
                            bsi_asymmetry *measured) {
  if (matrix->block_rows != matrix->block_cols)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "the matrix is not square: %d × %d blocks",
                    matrix->block_rows, matrix->block_cols);
  if (is_kept(matrix, measured)) return BISAI_OK;
  BSI_TRY(context->backend->matrix->measure_asymmetry(context, matrix, enough, measured));
  if (measured->largest <= enough) keep(matrix, *measured);
  return BISAI_OK;
}

bisai_status bsi_bcsr_is_symmetric(bisai_context *context, const bisai_bcsr *matrix,
                                   bool *symmetric, double *asymmetry) {
  bsi_asymmetry measured;
  BSI_TRY(measure(context, matrix, BISAI_SYMMETRY_LIMIT, &measured));
  *symmetric = measured.mirrored && measured.largest <= BISAI_SYMMETRY_LIMIT;
  if (asymmetry) *asymmetry = measured.largest;
  return BISAI_OK;
}

bisai_status bsi_bcsr_asymmetry(bisai_context *context, const bisai_bcsr *matrix, double *asymmetry,
                                bool *mirrored) {
  bsi_asymmetry measured;
  BSI_TRY(measure(context, matrix, INFINITY, &measured));
  *asymmetry = measured.largest;
  if (mirrored) *mirrored = measured.mirrored;
  return BISAI_OK;
}

bisai_status bsi_bcsr_asymmetry_within(bisai_context *context, const bisai_bcsr *matrix,
                                       double enough, double *asymmetry) {
  bsi_asymmetry measured;
  BSI_TRY(measure(context, matrix, enough, &measured));
  *asymmetry = measured.largest;
  return BISAI_OK;
}

void bsi_bcsr_call_symmetric(bisai_bcsr *matrix) {
  matrix->kept.asymmetry = 0.0;
  matrix->kept.mirrored = matrix->kept.measured = true;
}

bisai_status bisai_bcsr_asymmetry(const bisai_bcsr *matrix, double *asymmetry, bool *mirrored) {
  if (!matrix) return BISAI_INVALID_ARGUMENT;
  if (!asymmetry)
    return bsi_fail(matrix->context, BISAI_INVALID_ARGUMENT,
                    "bisai_bcsr_asymmetry: asymmetry is NULL");
  return bsi_bcsr_asymmetry(matrix->context, matrix, asymmetry, mirrored);
}
