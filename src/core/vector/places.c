/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/vector/places.h"

#include <string.h>

#include "core/threads/parallel.h"

/* The least number of values for which a thread is woken. */
enum { GRAIN = 32768 };

bisai_status bsi_places_upload(bisai_context *context, bsi_places *places) {
  const bsi_memory_ops *memory = context->backend->memory;
  const size_t rows = (size_t)places->rows, size = sizeof *places->host;
  places->backend = places->host;
  if (memory->is_host) return BISAI_OK;
  places->backend = memory->allocate(context, rows, size);
  if (!places->backend) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(memory->upload(context, places->backend, places->host, rows * size));
  return memory->synchronize(context);
}

void bsi_places_release(bisai_context *context, bsi_places *places) {
  if (places->backend != places->host) context->backend->memory->release(context, places->backend);
  bsi_release(context, places->host);
  *places = (bsi_places){0};
}

typedef struct move_job {
  const int32_t *place;
  int64_t rows;
  size_t width;
  bool back;
  const double *from;
  double *to;
} move_job;

static void move_part(void *job, bsi_part part) {
  const move_job *m = job;
  const bsi_range range = bsi_range_of(m->rows, part);
  for (int64_t i = range.begin; i < range.end; i++) {
    const size_t here = (size_t)i * m->width,
                 there = m->place ? (size_t)m->place[i] * m->width : here;
    memcpy(m->to + (m->back ? here : there), m->from + (m->back ? there : here),
           m->width * sizeof *m->to);
  }
}

bisai_status bsi_move_rows_host(bisai_context *context, const bsi_places *places, int32_t width,
                                bool back, const double *from, double *to) {
  const int threads = bsi_threads_for(context->threads, (int64_t)places->rows * width, GRAIN);
  bsi_run(context, threads, BSI_SOME_PARTS, move_part,
          &(move_job){places->backend, places->rows, (size_t)width, back, from, to});
  return BISAI_OK;
}
