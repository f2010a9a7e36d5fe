/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice of a block size. The rule is documented at bisai_block_size_choose() in bisai/bcsr.h.
 *
 * For each size, one pass over the matrix collects the blocks of one block row at a time, and for
 * each block the pattern of its entries as bs² bits. */
#include <math.h>
#include <string.h>

#include "core/block/block_sizes.h"
#include "core/context/context_impl.h"
#include "core/csr/choose_block_size.h"
#include "core/csr/csr_desc.h"

enum {
  TABLE_BITS = 12,
  TABLE_SLOTS = 1 << TABLE_BITS,
  /* a fuller hash table is slow */
  MAX_PATTERNS = TABLE_SLOTS / 2
};

/* The thresholds of the rule. */
static const double max_singular = 0.01, max_bytes_ratio = 3, random_entropy = 1.0 / 3;

/* The blocks of one block row. */
typedef struct block_row {
  /* for each block column: its position in `column`, if column[position] is this block column */
  int32_t *slot;
  /* of each block: its block column */
  int32_t *column;
  /* of each block: bit r·bs + c for an entry in row r, column c */
  uint64_t *stored;
  /* of the diagonal block: entries that are not zero */
  uint64_t nonzero;
  /* the row has a diagonal block */
  bool diagonal;
  int32_t blocks;
} block_row;

/* The number of occurrences of a pattern. */
typedef struct pattern_count {
  uint64_t pattern;
  /* 0: the slot is free */
  int64_t times;
} pattern_count;

typedef struct study {
  const bisai_csr_desc *csr;
  block_row row;
  pattern_count *table;
  /* in the table */
  int32_t patterns;
  /* blocks whose patterns are not in the table, because it was full */
  int64_t others;
} study;

static int64_t blocks_along(int64_t n, int64_t bs) { return (n + bs - 1) / bs; }

static bool possible(const bisai_csr_desc *d, int bs) {
  if (blocks_along(d->rows, bs) * bs > INT32_MAX) return false;
  return d->pad || (d->rows % bs == 0 && d->cols % bs == 0);
}

static void add_entry(block_row *row, int32_t column, uint64_t bit) {
  int32_t *slot = row->slot + column;
  if (*slot < 0 || *slot >= row->blocks || row->column[*slot] != column) {
    *slot = row->blocks;
    row->column[row->blocks] = column;
    row->stored[row->blocks++] = 0;
  }
  row->stored[*slot] |= bit;
}

/* Collects the blocks of block row `at`. `bs` is a constant at every call. */
static inline void collect_row(const int bs, study *s, int32_t at) {
  const bisai_csr_desc *d = s->csr;
  s->row.blocks = 0;
  s->row.nonzero = 0;
  s->row.diagonal = false;
  for (int r = 0; r < bs; r++) {
    const int64_t i = (int64_t)at * bs + r;
    if (i >= d->rows) { /* padding: a row of the identity if the matrix is square */
      if (!d->pad) continue;
      add_entry(&s->row, at, UINT64_C(1) << (r * bs + r));
      s->row.nonzero |= UINT64_C(1) << (r * bs + r);
      s->row.diagonal = true;
      continue;
    }
    for (int32_t p = d->row_ptr[i]; p < d->row_ptr[i + 1]; p++) {
      const int32_t column = d->col_idx[p] / bs;
      const uint64_t bit = UINT64_C(1) << (r * bs + d->col_idx[p] % bs);
      add_entry(&s->row, column, bit);
      if (column != at) continue;
      s->row.diagonal = true;
      if (!d->values || d->values[p] != 0) s->row.nonzero |= bit;
    }
  }
}

#define COLLECT_ROW(bs)                                                                            \
  case bs: collect_row(bs, s, at); break;
static void collect(int size, study *s, int32_t at) {
  switch (size) { BSI_BLOCK_SIZES(COLLECT_ROW) }
}
#undef COLLECT_ROW

static bool match(const uint64_t *rows, int bs, int row, int *owner, uint64_t *visited) {
  for (int c = 0; c < bs; c++) {
    if (!(rows[row] >> c & 1) || (*visited >> c & 1)) continue;
    *visited |= UINT64_C(1) << c;
    if (owner[c] < 0 || match(rows, bs, owner[c], owner, visited)) {
      owner[c] = row;
      return true;
    }
  }
  return false;
}

/* Returns true if a block with this pattern is singular for all values, that is, if its rows cannot
 * be matched with its columns. */
static bool is_singular(uint64_t pattern, int bs) {
  uint64_t rows[BSI_SPECIAL_SIZES];
  int owner[BSI_SPECIAL_SIZES];
  for (int r = 0; r < bs; r++) {
    rows[r] = pattern >> (r * bs) & ((UINT64_C(1) << bs) - 1);
    owner[r] = -1;
  }
  for (int r = 0; r < bs; r++) {
    uint64_t visited = 0;
    if (!match(rows, bs, r, owner, &visited)) return true;
  }
  return false;
}

static void count_pattern(study *s, uint64_t pattern) {
  uint64_t at = (pattern * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - TABLE_BITS);
  while (s->table[at].times && s->table[at].pattern != pattern) at = (at + 1) % TABLE_SLOTS;
  if (!s->table[at].times) {
    if (s->patterns == MAX_PATTERNS) {
      s->others++;
      return;
    }
    s->patterns++;
    s->table[at].pattern = pattern;
  }
  s->table[at].times++;
}

/* Returns the entropy of a block's pattern in bits: Σ −p log₂ p over the patterns. Patterns beyond
 * the table count as all different. */
static double entropy_of(const study *s, int64_t blocks) {
  const double all = (double)blocks;
  double bits = blocks > 0 ? (double)s->others / all * log2(all) : 0;
  for (int at = 0; at < TABLE_SLOTS; at++) {
    const double share = (double)s->table[at].times / all;
    if (s->table[at].times > 0) bits -= share * log2(share);
  }
  return bits;
}

/* Returns the entropy of bs² independent entries of that density. */
static double entropy_at_random(int bs, double density) {
  if (density <= 0 || density >= 1) return 0;
  return -bs * bs * (density * log2(density) + (1 - density) * log2(1 - density));
}

static int entries_in(uint64_t pattern) {
  int entries = 0;
  for (; pattern; pattern &= pattern - 1) entries++;
  return entries;
}

/* Returns true if a block row has neither entries nor padding. A matrix may have 2³¹ such rows and
 * few others. */
static bool is_empty(const bisai_csr_desc *d, int bs, int32_t at) {
  const int64_t begin = (int64_t)at * bs, end = begin + bs;
  return end <= d->rows && d->row_ptr[begin] == d->row_ptr[end];
}

static void study_size(study *s, int bs, bisai_block_size_info *info) {
  const bisai_csr_desc *d = s->csr;
  const int32_t rows = (int32_t)blocks_along(d->rows, bs);
  int64_t entries = 0;
  *info = (bisai_block_size_info){.block_size = bs, .possible = possible(d, bs)};
  memset(s->table, 0, TABLE_SLOTS * sizeof *s->table);
  s->patterns = 0;
  s->others = 0;
  for (int32_t at = 0; at < rows; at++) {
    if (is_empty(d, bs, at)) {
      info->missing_diagonals += d->rows == d->cols;
      info->singular_diagonals += d->rows == d->cols;
      continue;
    }
    collect(bs, s, at);
    info->blocks += s->row.blocks;
    info->missing_diagonals += d->rows == d->cols && !s->row.diagonal;
    info->singular_diagonals += d->rows == d->cols && is_singular(s->row.nonzero, bs);
    for (int32_t q = 0; q < s->row.blocks; q++) {
      entries += entries_in(s->row.stored[q]);
      count_pattern(s, s->row.stored[q]);
    }
  }
  const double max_entropy = 1 + log2(bs);
  const double density = info->blocks > 0 ? (double)entries / ((double)info->blocks * bs * bs) : 0;
  info->block_rows = rows;
  info->bytes = (8 * bs * bs + 4) * info->blocks;
  info->sound = info->singular_diagonals <= 1 || info->singular_diagonals <= max_singular * rows;
  info->entropy = entropy_of(s, info->blocks);
  info->repeats = bs > 1 && info->blocks > 1 && info->entropy <= max_entropy &&
                  info->entropy <= random_entropy * entropy_at_random(bs, density);
}

/* Returns a hash of the distances of a row's entries from the diagonal. It is a sum, because
 * columns come in any order. */
static uint64_t hash_row(const bisai_csr_desc *d, int64_t i) {
  uint64_t hash = (uint64_t)(d->row_ptr[i + 1] - d->row_ptr[i]);
  for (int32_t p = d->row_ptr[i]; p < d->row_ptr[i + 1]; p++) {
    uint64_t mixed = (uint64_t)((int64_t)d->col_idx[p] - i) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 29) * UINT64_C(0x94d049bb133111eb);
    hash += mixed ^ mixed >> 32;
  }
  return hash;
}

/* alike[k] ← true if at least a fifth of the rows have their entries at the same distances from the
 * diagonal as the k-th row before them. */
static void compare_rows(const bisai_csr_desc *d, bool alike[BSI_SPECIAL_SIZES + 1]) {
  uint64_t before[BSI_SPECIAL_SIZES] = {0};
  int64_t times[BSI_SPECIAL_SIZES + 1] = {0};
  for (int64_t i = 0; i < d->rows; i++) {
    const uint64_t hash = hash_row(d, i);
    for (int k = 1; k <= BSI_SPECIAL_SIZES && k <= i; k++)
      times[k] += before[(i - k) % BSI_SPECIAL_SIZES] == hash;
    before[i % BSI_SPECIAL_SIZES] = hash;
  }
  for (int k = 1; k <= BSI_SPECIAL_SIZES; k++)
    alike[k] = d->rows > k && 5 * times[k] >= d->rows - k;
}

/* Returns true if rows repeat after a proper divisor of bs, so that they repeat after bs rows only
 * because of that. */
static bool repeats_sooner(const bool *alike, int bs) {
  for (int k = 1; k < bs; k++)
    if (bs % k == 0 && alike[k]) return true;
  return false;
}

/* Returns the size with the fewest bytes among the `wanted` ones, or 0 if there is none. Of equal
 * sizes it returns the largest. */
static int cheapest(const bisai_block_size_info *sizes, const bool *wanted) {
  int best = 0;
  for (int bs = 1; bs <= BSI_SPECIAL_SIZES; bs++)
    if (sizes[bs - 1].possible && wanted[bs] &&
        (!best || sizes[bs - 1].bytes <= sizes[best - 1].bytes))
      best = bs;
  return best;
}

bool bsi_is_nearly_empty(const bisai_csr_desc *d) {
  return d->rows > 1 << 20 && (int64_t)d->row_ptr[d->rows] * 2 * BSI_SPECIAL_SIZES < d->rows;
}

static int choose(const bisai_csr_desc *d, const bisai_block_size_info *sizes) {
  bool wanted[BSI_SPECIAL_SIZES + 1], alike[BSI_SPECIAL_SIZES + 1];
  if (bsi_is_nearly_empty(d)) return 1;
  memset(wanted, true, sizeof wanted);
  const int least = cheapest(sizes, wanted);
  const double limit = max_bytes_ratio * (double)sizes[least - 1].bytes;
  for (int bs = 1; bs <= BSI_SPECIAL_SIZES; bs++)
    wanted[bs] = sizes[bs - 1].sound && (double)sizes[bs - 1].bytes <= limit;
  if (!wanted[least]) {
    const int sound = cheapest(sizes, wanted);
    return sound ? sound : least;
  }
  if (least > 1) return least;
  compare_rows(d, alike);
  int best = least;
  for (int bs = 2; bs <= BSI_SPECIAL_SIZES; bs++) {
    const bisai_block_size_info *info = &sizes[bs - 1];
    if (!info->possible || !wanted[bs] || !info->repeats || repeats_sooner(alike, bs)) continue;
    if (best == least || info->entropy < sizes[best - 1].entropy) best = bs;
  }
  return best;
}

static int64_t larger_size(const bisai_csr_desc *d) {
  return d->cols > d->rows ? d->cols : d->rows;
}

/* Returns an upper bound of the number of blocks in a block row. */
static int64_t longest_row(const bisai_csr_desc *d) {
  int64_t longest = 0;
  for (int64_t i = 0; i < d->rows; i += BSI_SPECIAL_SIZES) {
    const int64_t end = i + BSI_SPECIAL_SIZES < d->rows ? i + BSI_SPECIAL_SIZES : d->rows;
    const int64_t length = d->row_ptr[end] - d->row_ptr[i];
    if (length > longest) longest = length;
  }
  /* A block row of another size can overlap two groups of eight rows, and the padding adds a
   * diagonal block. */
  const int64_t limit = larger_size(d) + 1;
  return 2 * longest + 1 < limit ? 2 * longest + 1 : limit;
}

int64_t bsi_block_size_bytes(const bisai_csr_desc *desc) {
  return (larger_size(desc) + 1) * (int64_t)sizeof(int32_t) +
         longest_row(desc) * (int64_t)(sizeof(int32_t) + sizeof(uint64_t)) +
         TABLE_SLOTS * (int64_t)sizeof(pattern_count);
}

bisai_status bsi_block_size_study(bisai_context *context, const bisai_csr_desc *desc,
                                  bisai_block_size_info sizes[BISAI_CHOSEN_SIZES],
                                  int32_t *block_size) {
  const int64_t columns = larger_size(desc), longest = longest_row(desc);
  study s = {.csr = desc};
  s.row.slot = bsi_allocate(context, (size_t)columns + 1, sizeof *s.row.slot);
  s.row.column = bsi_allocate(context, (size_t)longest, sizeof *s.row.column);
  s.row.stored = bsi_allocate(context, (size_t)longest, sizeof *s.row.stored);
  s.table = bsi_allocate(context, TABLE_SLOTS, sizeof *s.table);
  const bool reserved = s.row.slot && s.row.column && s.row.stored && s.table;
  if (reserved) {
    memset(s.row.slot, 0, ((size_t)columns + 1) * sizeof *s.row.slot);
    for (int bs = 1; bs <= BSI_SPECIAL_SIZES; bs++) study_size(&s, bs, &sizes[bs - 1]);
    *block_size = choose(desc, sizes);
  }
  bsi_release(context, s.row.slot);
  bsi_release(context, s.row.column);
  bsi_release(context, s.row.stored);
  bsi_release(context, s.table);
  return reserved ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

bisai_status bisai_block_size_study(bisai_context *context, const bisai_csr_desc *desc,
                                    bisai_block_size_info sizes[BISAI_CHOSEN_SIZES],
                                    int32_t *block_size) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  if (!desc || !sizes || !block_size)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_block_size_study: %s is NULL",
                    !desc    ? "desc"
                    : !sizes ? "sizes"
                             : "block_size");
  bisai_csr_desc padded;
  bsi_index_copies copies;
  bisai_status status = bsi_csr_from_zero(context, desc, &padded, &copies);
  padded.pad = desc->rows == desc->cols;
  if (!status) status = bsi_csr_check(context, &padded);
  if (!status) status = bsi_block_size_study(context, &padded, sizes, block_size);
  bsi_index_copies_release(context, &copies);
  return status;
}

bisai_status bisai_block_size_choose(bisai_context *context, const bisai_csr_desc *desc,
                                     int32_t *block_size) {
  bisai_block_size_info sizes[BISAI_CHOSEN_SIZES];
  if (!context) return BISAI_INVALID_ARGUMENT;
  if (!desc || !block_size)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_block_size_choose: %s is NULL",
                    desc ? "block_size" : "desc");
  return bisai_block_size_study(context, desc, sizes, block_size);
}
