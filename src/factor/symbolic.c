/* SPDX-License-Identifier: BSD-3-Clause */
/* The pattern of block ILU(k) by levels of fill: lev_ij = 0 where A_ij is stored, otherwise
 *
 *   lev_ij = min over p < min(i, j) of lev_ip + lev_pj + 1,   kept where ≤ k.
 *
 * Source: Saad, Iterative Methods, 10.3.3. Row i is a sorted linked list. Row p of U is merged into
 * it when column p is reached. The work is proportional to the number of fill-in operations. */
#include "factor/symbolic.h"

#include "core/context/context_impl.h"
#include "factor/factor_ops.h"

#include <math.h>
#include <string.h>

/* The blocks of a factor that have been found so far, row after row. */
typedef struct found {
  int32_t *row_ptr, *col_idx, *level;
  int32_t count, room;
} found;

typedef struct symbolic {
  bisai_context *context;
  const bisai_bcsr *a;
  /* the structure of `a` in host memory */
  bsi_structure of;
  int level;
  bool add_diagonal;
  /* the most blocks of L and of U, the visits so far, and the most of them */
  int32_t max_blocks;
  double visits, max_visits;
  /* the present row as a linked list: next[n] is its first column, n its end */
  int32_t *next;
  /* the level of each of its columns */
  int32_t *row_level;
  /* the lengths of its halves */
  int32_t lower_length, upper_length;
  /* the blocks in the longest row so far, of both halves */
  int32_t longest;
  found lower, upper;
} symbolic;

/* Inserts column j after column `before`. */
static void insert(symbolic *s, int32_t i, int32_t before, int32_t j, int32_t level) {
  s->next[j] = s->next[before];
  s->next[before] = j;
  s->row_level[j] = level;
  if (j < i)
    s->lower_length++;
  else
    s->upper_length++;
}

/* Loads row i of A. Its diagonal block counts as fill if A does not store it. */
static bisai_status load_row(symbolic *s, int32_t i) {
  const int32_t *columns = s->of.col_idx, end = s->of.row_ptr[i + 1];
  int32_t p = s->of.row_ptr[i], last = s->a->block_rows;
  s->next[last] = s->a->block_rows;
  s->lower_length = s->upper_length = 0;
  for (; p < end && columns[p] < i; last = columns[p++]) insert(s, i, last, columns[p], 0);
  const bool stored = p < end && columns[p] == i;
  if (!stored && !s->add_diagonal)
    return bsi_fail(s->context, BISAI_MISSING_DIAGONAL, "block row %d has no diagonal block",
                    bsi_row_name(s->a, i));
  insert(s, i, last, i, stored ? 0 : 1);
  last = i;
  for (p += stored; p < end; last = columns[p++]) insert(s, i, last, columns[p], 0);
  return BISAI_OK;
}

/* Merges the rows of U by which row i is eliminated. Their columns ascend, so that each merge is
 * one pass over the list. */
static void fill_row(symbolic *s, int32_t i) {
  const found *u = &s->upper;
  for (int32_t p = s->next[s->a->block_rows]; p < i; p = s->next[p]) {
    if (s->row_level[p] >= s->level) continue;
    const int32_t longest = s->level - s->row_level[p] - 1;
    int32_t before = p;
    s->visits += u->row_ptr[p + 1] - u->row_ptr[p];
    for (int32_t q = u->row_ptr[p] + 1; q < u->row_ptr[p + 1]; q++) {
      if (u->level[q] > longest) continue;
      const int32_t j = u->col_idx[q], level = s->row_level[p] + u->level[q] + 1;
      while (s->next[before] < j) before = s->next[before];
      if (s->next[before] != j)
        insert(s, i, before, j, level);
      else if (level < s->row_level[j])
        s->row_level[j] = level;
      before = j;
    }
  }
}

static bisai_status make_room(symbolic *s, int32_t i, const char *name, int32_t length, found *t) {
  if (length > s->max_blocks - t->count)
    return bsi_fail(s->context, BISAI_INDEX_OVERFLOW,
                    "block row %d: %s of ILU(%d) has more than %d blocks", bsi_row_name(s->a, i),
                    name, s->level, s->max_blocks);
  if (length <= t->room - t->count) return BISAI_OK;
  const int64_t more = t->room > 0 ? t->room : s->a->blocks / 2,
                wanted = (int64_t)t->count + length + more;
  const int32_t room = wanted < s->max_blocks ? (int32_t)wanted : s->max_blocks;
  int32_t *col_idx = bsi_allocate(s->context, (size_t)room, sizeof *col_idx);
  int32_t *level = col_idx ? bsi_allocate(s->context, (size_t)room, sizeof *level) : NULL;
  if (!level) {
    bsi_release(s->context, col_idx);
    return BISAI_OUT_OF_MEMORY;
  }
  if (t->count > 0) {
    memcpy(col_idx, t->col_idx, (size_t)t->count * sizeof *col_idx);
    memcpy(level, t->level, (size_t)t->count * sizeof *level);
  }
  bsi_release(s->context, t->col_idx);
  bsi_release(s->context, t->level);
  t->col_idx = col_idx;
  t->level = level;
  t->room = room;
  return BISAI_OK;
}

static void append(const symbolic *s, int32_t j, found *t) {
  t->col_idx[t->count] = j;
  t->level[t->count++] = s->row_level[j];
}

static bisai_status find_blocks(symbolic *s) {
  const int32_t n = s->a->block_rows;
  s->lower.row_ptr[0] = s->upper.row_ptr[0] = 0;
  for (int32_t i = 0; i < n; i++) {
    BSI_TRY(load_row(s, i));
    fill_row(s, i);
    if (s->visits > s->max_visits)
      return bsi_fail(s->context, BISAI_INDEX_OVERFLOW,
                      "block row %d: ILU(%d) takes more than %.3g steps to find its blocks",
                      bsi_row_name(s->a, i), s->level, s->max_visits);
    BSI_TRY(make_room(s, i, "L", s->lower_length, &s->lower));
    BSI_TRY(make_room(s, i, "U", s->upper_length, &s->upper));
    for (int32_t j = s->next[n]; j < n; j = s->next[j]) append(s, j, j < i ? &s->lower : &s->upper);
    if (s->lower_length + s->upper_length > s->longest)
      s->longest = s->lower_length + s->upper_length;
    s->lower.row_ptr[i + 1] = s->lower.count;
    s->upper.row_ptr[i + 1] = s->upper.count;
  }
  return BISAI_OK;
}

/* Makes the marks of a factor's fill in backend memory. Without fill there are none. */
static bisai_status mark_fill(bisai_context *context, const found *t, uint8_t **fill) {
  int32_t p = 0;
  while (p < t->count && t->level[p] == 0) p++;
  if (p == t->count) return BISAI_OK;
  const bsi_backend *backend = context->backend;
  const size_t bytes = bsi_fill_bytes(t->count);
  *fill = backend->memory->allocate(context, bytes, sizeof **fill);
  uint8_t *marks = *fill ? bsi_allocate(context, bytes, sizeof *marks) : NULL;
  if (!marks) return BISAI_OUT_OF_MEMORY;
  memset(marks, 0, bytes);
  for (; p < t->count; p++)
    if (t->level[p] > 0) marks[p / 8] |= (uint8_t)(1u << p % 8);
  const bisai_status status = backend->memory->upload(context, *fill, marks, bytes);
  bsi_release(context, marks);
  return status;
}

/* Makes the factor with its final arrays. */
static bisai_status create_factor(const symbolic *s, const found *t, bisai_bcsr **factor,
                                  uint8_t **fill) {
  const int32_t n = s->a->block_rows;
  BSI_TRY(bsi_bcsr_reserve(s->context,
                           &(bsi_bcsr_sizes){n, n, s->a->block_size, t->count, BISAI_FP64}, NULL,
                           NULL, factor));
  BSI_TRY(bsi_bcsr_set_structure(*factor, t->row_ptr, t->col_idx));
  return mark_fill(s->context, t, fill);
}

static void free_found(bisai_context *context, found *t) {
  bsi_release(context, t->row_ptr);
  bsi_release(context, t->col_idx);
  bsi_release(context, t->level);
  *t = (found){0};
}

static int64_t bytes_of(const found *t, int32_t block_rows) {
  return t->row_ptr ? 4 * ((int64_t)block_rows + 1) + 8 * (int64_t)t->room : 0;
}

/* f->ilu.peak_bytes ← the bytes that are held now, if they are more. */
static void note_peak(const symbolic *s, bisai_factors *f) {
  const int32_t n = s->a->block_rows;
  const int64_t bytes = bytes_of(&s->lower, n) + bytes_of(&s->upper, n) +
                        (f->lower ? bsi_bcsr_memory(f->lower) : 0) +
                        (f->upper ? bsi_bcsr_memory(f->upper) : 0);
  if (bytes > f->ilu.peak_bytes) f->ilu.peak_bytes = bytes;
}

/* Makes L and U of the blocks that have been found. What is known of L is released before U is
 * made. */
static bisai_status create_factors(symbolic *s, bisai_factors *f) {
  BSI_TRY(create_factor(s, &s->lower, &f->lower, &f->ilu.lower_fill));
  note_peak(s, f);
  free_found(s->context, &s->lower);
  BSI_TRY(create_factor(s, &s->upper, &f->upper, &f->ilu.upper_fill));
  note_peak(s, f);
  return BISAI_OK;
}

static bisai_status find_structure(bisai_context *context, const bisai_bcsr *a, int level,
                                   bool add_diagonal, const bsi_fill_limit *limit,
                                   bisai_factors *f) {
  const size_t n = (size_t)a->block_rows;
  symbolic s = {.context = context,
                .a = a,
                .level = level < a->block_rows ? level : a->block_rows,
                .add_diagonal = add_diagonal,
                .max_blocks = limit ? limit->blocks : INT32_MAX,
                .max_visits = limit ? limit->visits : INFINITY};
  bisai_status status = bsi_bcsr_structure(a, &s.of);
  if (status) return status;
  status = BISAI_OUT_OF_MEMORY;
  s.next = bsi_allocate(context, n + 1, sizeof *s.next);
  s.row_level = bsi_allocate(context, n, sizeof *s.row_level);
  s.lower.row_ptr = bsi_allocate(context, n + 1, sizeof *s.lower.row_ptr);
  s.upper.row_ptr = bsi_allocate(context, n + 1, sizeof *s.upper.row_ptr);
  if (s.next && s.row_level && s.lower.row_ptr && s.upper.row_ptr) status = find_blocks(&s);
  if (!status) status = create_factors(&s, f);
  f->ilu.longest_row = s.longest;
  bsi_release(context, s.next);
  bsi_release(context, s.row_level);
  free_found(context, &s.lower);
  free_found(context, &s.upper);
  return status;
}

bisai_status bsi_factors_reserve(bisai_context *context, const bisai_bcsr *a, int level,
                                 bool add_diagonal, const bsi_fill_limit *limit, bisai_factors *f) {
  int32_t missing = 0;
  if (a->unit_diagonal)
    return bsi_fail(context, BISAI_UNSUPPORTED,
                    "the matrix implies its diagonal blocks: block ILU needs them stored");
  if (level == 0 && (!limit || a->blocks <= limit->blocks))
    BSI_TRY(context->backend->factor->symbolic->split_triangles(context, a, f, &missing));
  /* A missing diagonal block is fill, or an error that find_structure() reports. */
  if (!f->upper) BSI_TRY(find_structure(context, a, level, add_diagonal, limit, f));
  f->lower->unit_diagonal = true;
  f->ilu.matrix_blocks = a->blocks;
  return BISAI_OK;
}
