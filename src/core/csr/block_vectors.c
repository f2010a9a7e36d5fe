/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/csr/block_vectors.h"

#include <string.h>

#include "core/context/context_impl.h"
#include "core/context/staging.h"
#include "core/matrix/bcsr_impl.h"

static int64_t block_values(const bisai_bcsr *a, int32_t width) {
  return (int64_t)a->block_rows * a->block_size * width;
}

/* The places of any matrix: those that it keeps, or that rows are where they were. */
static bsi_places places_of(const bisai_bcsr *a) {
  return a->kept.places.host ? a->kept.places : (bsi_places){.rows = a->rows};
}

static bisai_status check(const bisai_bcsr *a, int32_t width, const double *from,
                          const double *to) {
  if (!from || !to) return bsi_fail(a->context, BISAI_INVALID_ARGUMENT, "a vector is NULL");
  if (width >= 1) return BISAI_OK;
  return bsi_fail(a->context, BISAI_INVALID_ARGUMENT, "the width of vectors is %d, at least 1",
                  width);
}

bisai_status bsi_bcsr_to_blocks(bisai_context *context, const bisai_bcsr *matrix, int32_t width,
                                const double *x, double *blocks) {
  const bsi_places places = places_of(matrix);
  BSI_TRY(context->backend->vectors->set(context, block_values(matrix, width), 0.0, blocks));
  return BSI_ON_BACKEND(context, bsi_move_rows)(context, &places, width, false, x, blocks);
}

static bisai_status from_blocks(const bisai_bcsr *matrix, int32_t width, const double *blocks,
                                double *x) {
  const bsi_places places = places_of(matrix);
  return BSI_ON_BACKEND(matrix->context, bsi_move_rows)(matrix->context, &places, width, true,
                                                        blocks, x);
}

/* Moves the caller's vectors to the blocks, or with `back` from the blocks. */
static bisai_status move(const bisai_bcsr *a, int32_t width, bool back, const double *from,
                         double *to) {
  bisai_context *context = a->context;
  const int64_t rows = (int64_t)a->rows * width, all = block_values(a, width);
  bsi_staged in = {0}, out;
  bisai_status status = check(a, width, from, to);
  if (!status)
    status = bsi_stage_input(context, back ? all : rows, 1, from, back ? all : rows, &in);
  if (!status)
    status = bsi_stage_output(context, back ? rows : all, 1, false, to, back ? rows : all, &out);
  if (!status)
    status = bsi_stage_return(context,
                              back ? from_blocks(a, width, in.data, out.data)
                                   : bsi_bcsr_to_blocks(context, a, width, in.data, out.data),
                              &out);
  bsi_stage_release(context, &in);
  return status;
}

bisai_status bisai_bcsr_to_blocks(const bisai_bcsr *matrix, int32_t width, const double *x,
                                  double *blocks) {
  return matrix ? move(matrix, width, false, x, blocks) : BISAI_INVALID_ARGUMENT;
}

bisai_status bisai_bcsr_from_blocks(const bisai_bcsr *matrix, int32_t width, const double *blocks,
                                    double *x) {
  return matrix ? move(matrix, width, true, blocks, x) : BISAI_INVALID_ARGUMENT;
}

bisai_status bisai_bcsr_places(const bisai_bcsr *matrix, int32_t *place) {
  if (!matrix) return BISAI_INVALID_ARGUMENT;
  if (!place)
    return bsi_fail(matrix->context, BISAI_INVALID_ARGUMENT, "bisai_bcsr_places: place is NULL");
  const int32_t *kept = matrix->kept.places.host;
  for (int32_t i = 0; i < matrix->rows; i++) place[i] = kept ? kept[i] : i;
  return BISAI_OK;
}

bool bsi_has_inner_padding(const bisai_bcsr *matrix) {
  return matrix->kept.places.host && matrix->rows < matrix->block_rows * matrix->block_size;
}

bisai_status bsi_component_vectors(const bisai_bcsr *matrix, double **vectors, int32_t *count) {
  const bsi_places *places = &matrix->kept.places;
  const int32_t bs = matrix->block_size;
  const size_t all = (size_t)matrix->block_rows * (size_t)bs;
  int32_t column[BISAI_MAX_BLOCK_SIZE], columns = 0;
  for (int32_t c = 0; c < bs; c++) column[c] = -1;
  for (int32_t i = 0; i < places->rows; i++) column[places->host[i] % bs] = 0;
  for (int32_t c = 0; c < bs; c++)
    if (column[c] == 0) column[c] = columns++;
  *vectors = bsi_allocate(matrix->context, all * (size_t)columns, sizeof **vectors);
  if (!*vectors) return BISAI_OUT_OF_MEMORY;
  memset(*vectors, 0, all * (size_t)columns * sizeof **vectors);
  for (int32_t i = 0; i < places->rows; i++)
    (*vectors)[(int64_t)places->host[i] * columns + column[places->host[i] % bs]] = 1.0;
  *count = columns;
  return BISAI_OK;
}
