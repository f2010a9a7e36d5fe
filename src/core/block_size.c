/* The block size that costs a product the fewest bytes: cost(bs) = (8·bs² + 4)·nnzb(bs), nnzb the number of bs × bs blocks that
 * hold an entry. One pass over the rows counts the blocks of all eight sizes: for each size and block column, the last block
 * row that had an entry there. */
#include <string.h>

#include "core/block_sizes.h"
#include "core/context.h"
#include "core/csr.h"

typedef struct counter {
  int32_t *last_row; /* by block column; -1: none yet */
  int32_t row;       /* block row of the current scalar row */
  int64_t blocks;
} counter;

static inline void count_entry(const int bs, counter *c, int32_t column) {
  int32_t *last = c->last_row + column / bs;
  c->blocks += *last != c->row;
  *last = c->row;
}

static int64_t blocks_along(int64_t n, int64_t bs) { return (n + bs - 1) / bs; }

static void count_blocks(const bisai_csr_desc *d, counter *counters) {
  for (int32_t i = 0; i < d->rows; i++) {
    for (int bs = 1; bs <= BSI_SPECIAL_SIZES; bs++) counters[bs].row = i / bs;
    for (int32_t p = d->row_ptr[i]; p < d->row_ptr[i + 1]; p++) {
      const int32_t column = d->col_idx[p];
#define COUNT_ENTRY(bs) count_entry(bs, &counters[bs], column);
      BSI_BLOCK_SIZES(COUNT_ENTRY)
#undef COUNT_ENTRY
    }
  }
}

/* Padding stores the last diagonal block whether it has entries or not. */
static void count_padding(const bisai_csr_desc *d, counter *counters) {
  for (int bs = 1; bs <= BSI_SPECIAL_SIZES; bs++)
    if (d->rows % bs != 0) counters[bs].blocks += counters[bs].last_row[d->rows / bs] != d->rows / bs;
}

static bool possible(const bisai_csr_desc *d, int bs) {
  if (blocks_along(d->rows, bs) * bs > INT32_MAX) return false;
  return d->pad || (d->rows % bs == 0 && d->cols % bs == 0);
}

bisai_status bsi_block_size_choose(bisai_context *context, const bisai_csr_desc *desc, int32_t *block_size) {
  size_t total = 0;
  for (int bs = 1; bs <= BSI_SPECIAL_SIZES; bs++) total += (size_t)blocks_along(desc->cols, bs);
  int32_t *marks = bsi_allocate(context, total, sizeof *marks);
  if (!marks) return BISAI_OUT_OF_MEMORY;
  memset(marks, 0xff, total * sizeof *marks); /* -1 */

  counter counters[BSI_SPECIAL_SIZES + 1];
  int32_t *next = marks;
  for (int bs = 1; bs <= BSI_SPECIAL_SIZES; bs++) {
    counters[bs] = (counter){.last_row = next};
    next += blocks_along(desc->cols, bs);
  }
  count_blocks(desc, counters);
  if (desc->pad) count_padding(desc, counters);

  int best = 1;
  int64_t lowest = INT64_MAX;
  for (int bs = 1; bs <= BSI_SPECIAL_SIZES; bs++) {
    const int64_t cost = (8 * bs * bs + 4) * counters[bs].blocks;
    if (!possible(desc, bs) || cost > lowest) continue;
    lowest = cost;
    best = bs;
  }
  bsi_release(context, marks);
  *block_size = best;
  return BISAI_OK;
}

bisai_status bisai_block_size_choose(bisai_context *context, const bisai_csr_desc *desc, int32_t *block_size) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  if (!desc || !block_size)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_block_size_choose: %s is NULL",
                    desc ? "block_size" : "desc");
  const bisai_status status = bsi_csr_check(context, desc);
  if (status) return status;
  bisai_csr_desc padded = *desc;
  padded.pad = desc->rows == desc->cols;
  return bsi_block_size_choose(context, &padded, block_size);
}
