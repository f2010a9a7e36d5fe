/* SPDX-License-Identifier: BSD-3-Clause */
/* The blocks of whole matrices on the host: copies, new values, the search for values that are not
 * finite. */
#include <string.h>

#include "core/block/block_math.h"
#include "core/block/values.h"
#include "core/context/context_impl.h"
#include "core/matrix/entry_map.h"
#include "core/matrix/matrix_ops.h"
#include "core/threads/parallel.h"

/* The largest block of the widest values. */
enum { BLOCK_BYTES = BSI_MAX_BLOCK_VALUES * (int)sizeof(double) };

/* The least number of values for which a thread is woken. */
enum { GRAIN = 32768 };

/* The values that are searched at once for one that is not finite. */
enum { CHUNK = 1024 };

static void transpose(int bs, size_t size, const char *from, char *to) {
  char block[BLOCK_BYTES];
  const size_t n = (size_t)bs;
  memcpy(block, from, n * n * size);
  for (size_t r = 0; r < n; r++)
    for (size_t c = 0; c < n; c++)
      memcpy(to + (c * n + r) * size, block + (r * n + c) * size, size);
}

static bisai_status copy_blocks(bisai_context *context, bisai_value_type type, int bs,
                                int32_t blocks, bisai_layout layout, const int32_t *order,
                                const void *from, void *to) {
  (void)context;
  const size_t size = bsi_value_bytes(type), bytes = (size_t)(bs * bs) * size;
  const bool turn = layout == BISAI_ROW_MAJOR && bs > 1;
  if (!turn && !order) {
    if (blocks > 0 && from != to) memcpy(to, from, (size_t)blocks * bytes);
    return BISAI_OK;
  }
  for (int32_t p = 0; p < blocks; p++) {
    const char *in = (const char *)from + (size_t)(order ? order[p] : p) * bytes;
    char *out = (char *)to + (size_t)p * bytes;
    if (turn)
      transpose(bs, size, in, out);
    else
      memcpy(out, in, bytes);
  }
  return BISAI_OK;
}

typedef struct scatter_job {
  int64_t count;
  bool wide;
  const void *map;
  const double *from;
  double *to;
} scatter_job;

static void scatter_part(void *job, bsi_part part) {
  const scatter_job *s = job;
  const bsi_range range = bsi_range_of(s->count, part);
  for (int64_t p = range.begin; p < range.end; p++)
    s->to[bsi_entry_map_at(s->wide, s->map, p)] = s->from[p];
}

static bisai_status scatter_values(bisai_context *context, int64_t count, bool wide,
                                   const void *map, const double *from, double *to) {
  bsi_run(context, bsi_threads_for(context->threads, count, GRAIN), BSI_SOME_PARTS, scatter_part,
          &(scatter_job){count, wide, map, from, to});
  return BISAI_OK;
}

static bisai_status find_not_finite(bisai_context *context, bisai_value_type type, int64_t count,
                                    const void *values, int64_t *index) {
  (void)context;
  int64_t v = 0;
  *index = -1;
  if (type == BISAI_FP64)
    while (count - v >= CHUNK && bsi_all_finite(CHUNK, (const double *)values + v)) v += CHUNK;
  for (; v < count; v++)
    if (!bsi_value_finite(type, values, (size_t)v)) {
      *index = v;
      break;
    }
  return BISAI_OK;
}

const bsi_block_ops bsi_blocks_host = {.copy_blocks = copy_blocks,
                                       .scatter_values = scatter_values,
                                       .find_not_finite = find_not_finite};
