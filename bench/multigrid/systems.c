/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "systems.h"

static double *host_vector(size_t n) { return bench_allocate(n, sizeof(double)); }

/* --- Poisson --- */

/* −Δu = 1 in a cube of n³ points between walls where u = 0, times the square of the mesh width. */
static bisai_status poisson(bisai_context *context, int32_t n, bisai_bcsr **matrix, double **rhs) {
  const int32_t stride[3] = {n * n, n, 1};
  const size_t rows = (size_t)n * (size_t)n * (size_t)n;
  if (n > 600) bench_fail("poisson: at most 600 points in each direction");
  int32_t *row_ptr = bench_allocate(rows + 1, sizeof *row_ptr),
          *col_idx = bench_allocate(7 * rows, sizeof *col_idx), count = 0;
  double *values = host_vector(7 * rows);
  *rhs = host_vector(rows);
  for (int32_t row = 0; row < (int32_t)rows; row++) {
    row_ptr[row] = count;
    (*rhs)[row] = 1;
    for (int d = 0; d < 3; d++) {
      if (row / stride[d] % n == 0) continue;
      col_idx[count] = row - stride[d];
      values[count++] = -1;
    }
    col_idx[count] = row;
    values[count++] = 6;
    for (int d = 2; d >= 0; d--) {
      if (row / stride[d] % n == n - 1) continue;
      col_idx[count] = row + stride[d];
      values[count++] = -1;
    }
  }
  row_ptr[rows] = count;
  return bench_take_arrays(context, (int32_t)rows, 1, row_ptr, col_idx, values, matrix);
}

/* --- elasticity --- */

/* The rigid-body modes row by row. */
static void add_modes(const case_elasticity_options *o, bench_system *s) {
  double *modes;
  if (case_elasticity_modes(o, &modes)) bench_fail("%s: no modes", s->name);
  s->null_count = CASE_ELASTICITY_MODES;
  s->null_vectors = host_vector(CASE_ELASTICITY_MODES * s->n);
  for (size_t m = 0; m < CASE_ELASTICITY_MODES; m++)
    for (size_t i = 0; i < s->n; i++)
      s->null_vectors[i * CASE_ELASTICITY_MODES + m] = modes[m * s->n + i];
  free(modes);
}

static bisai_status elasticity(bisai_context *context, int32_t n, double contrast,
                               bench_system *s) {
  case_elasticity_options o = case_elasticity_options_default();
  o.nodes[0] = o.nodes[1] = o.nodes[2] = n;
  o.contrast = contrast;
  const bisai_status status = case_elasticity(context, &o, 0, &s->matrix, &s->rhs);
  s->n = 3 * (size_t)n * (size_t)n * (size_t)n;
  if (!status) add_modes(&o, s);
  return status;
}

/* --- reservoir --- */

static bisai_status reservoir(bisai_context *context, const int size[3], int components,
                              bench_system *s) {
  case_reservoir_options o = case_reservoir_options_default();
  for (int d = 0; d < 3; d++) o.cells[d] = size[d];
  o.components = components;
  return case_reservoir(context, &o, 0, &s->matrix, &s->rhs);
}

/* --- all of them --- */

static const struct {
  const char *word;
  double tolerance;
  bool symmetric;
  const char *solver, *one_level;
} kinds[] = {{"cavity", 1e-5, false, "fgmres", "isai:k=3:storage=fp16@gmres"},
             {"convdiff", 1e-8, false, "fgmres", "isai:k=1@bicgstab"},
             {"elasticity", 1e-8, true, "cg", "isai:k=1:symmetric@cg"},
             {"inclusion", 1e-8, true, "cg", "isai:k=1:symmetric@cg"},
             {"poisson", 1e-8, true, "cg", "isai:k=1:symmetric@cg"},
             {"reaction", 1e-8, true, "cg", "isai:k=1:symmetric@cg"},
             {"reservoir", 1e-6, false, "gmres", "isai:relax=1@bicgstab"},
             {"reservoir3", 1e-6, false, "gmres", "isai:relax=1@bicgstab"}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static bisai_status make(bisai_context *context, int kind, const int size[3], bench_system *s) {
  switch (kind) {
  case 0: return case_cavity(context, size[0], 0, &s->matrix, &s->rhs);
  case 1: return case_convdiff(context, size[0], size[1], size[2], 0, &s->matrix, &s->rhs);
  case 2: return elasticity(context, size[0], 1, s);
  case 3: return elasticity(context, size[0], 1e3, s);
  case 4: return poisson(context, size[0], &s->matrix, &s->rhs);
  case 5: return case_reaction(context, size[0], 0, &s->matrix, &s->rhs);
  default: return reservoir(context, size, kind == 6 ? 2 : 3, s);
  }
}

/* Reads FILE.mtx, and b from FILE_b.mtx. */
static void read_files(bisai_context *context, const char *path, bench_system *s) {
  const char *file = strrchr(path, '/');
  const int stem = (int)(strlen(path) - strlen(".mtx"));
  char *rhs = bench_allocate(strlen(path) + sizeof "_b", 1);
  *s = (bench_system){.tolerance = 1e-8, .solver = "gmres", .one_level = "isai:relax=1@gmres"};
  snprintf(s->name, sizeof s->name, "%s", file ? file + 1 : path);
  sprintf(rhs, "%.*s_b.mtx", stem, path);
  need(context, bisai_read_matrix(context, path, NULL, &s->matrix), path);
  s->n = (size_t)bisai_bcsr_rows(s->matrix);
  s->rhs = host_vector(s->n);
  need(context, bisai_read_vector(context, rhs, (int64_t)s->n, s->rhs), rhs);
  free(rhs);
}

void system_create(bisai_context *context, const char *name, bench_system *s) {
  int kind = 0, size[3] = {0};
  const size_t word = strcspn(name, ":"), length = strlen(name);
  if (length > 4 && strcmp(name + length - 4, ".mtx") == 0) {
    read_files(context, name, s);
    return;
  }
  while (kind < KINDS &&
         (strlen(kinds[kind].word) != word || strncmp(kinds[kind].word, name, word)))
    kind++;
  const int sizes = name[word] ? sscanf(name + word + 1, "%dx%dx%d", size, size + 1, size + 2) : 0;
  if (kind == KINDS || (sizes != 1 && sizes != 3)) bench_fail("'%s' is not a system", name);
  if (sizes == 1) size[1] = size[2] = size[0];
  *s = (bench_system){.tolerance = kinds[kind].tolerance,
                      .symmetric = kinds[kind].symmetric,
                      .solver = kinds[kind].solver,
                      .one_level = kinds[kind].one_level};
  snprintf(s->name, sizeof s->name, "%s", name);
  need(context, make(context, kind, size, s), name);
  s->n = (size_t)bisai_bcsr_block_rows(s->matrix) * (size_t)bisai_bcsr_block_size(s->matrix);
}

void system_destroy(bench_system *s) {
  bisai_bcsr_destroy(&s->matrix);
  free(s->rhs);
  free(s->null_vectors);
}

/* --- changed copies --- */

/* Returns the next number of SplitMix64. */
static uint64_t next_random(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

/* Returns the old block row of each new one. */
static int32_t *permutation_of(int32_t rows, const bench_change *change) {
  int32_t *old = bench_allocate((size_t)rows + 1, sizeof *old);
  uint64_t state = (uint64_t)change->amount;
  for (int32_t i = 0; i < rows; i++) old[i] = i;
  if (change->kind != CHANGE_PERMUTE) return old;
  for (int32_t i = rows - 1; i > 0; i--) {
    const int32_t j = (int32_t)(next_random(&state) % ((uint64_t)i + 1)), other = old[j];
    old[j] = old[i];
    old[i] = other;
  }
  return old;
}

/* Returns a factor for each block row. */
static double *factors_of(int32_t rows, const bench_change *change) {
  double *factor = host_vector((size_t)rows + 1);
  uint64_t state = (uint64_t)change->amount;
  for (int32_t i = 0; i < rows; i++)
    factor[i] = change->kind == CHANGE_SCALE        ? pow(10, change->amount)
                : change->kind != CHANGE_SCALE_ROWS ? 1
                : next_random(&state) & 1           ? 10
                                                    : 0.1;
  return factor;
}

static void copy_rows(const double *from, size_t width, int32_t rows, const int32_t *old,
                      const double *factor, double *to) {
  for (int32_t i = 0; i < rows; i++)
    for (size_t c = 0; c < width; c++)
      to[(size_t)i * width + c] = (factor ? factor[i] : 1) * from[(size_t)old[i] * width + c];
}

/* The arrays of a matrix on the host. */
typedef struct arrays {
  int32_t *row_ptr, *col_idx;
  double *values;
} arrays;

static arrays arrays_create(const bisai_bcsr *m) {
  const size_t bs = (size_t)bisai_bcsr_block_size(m), blocks = (size_t)bisai_bcsr_blocks(m);
  return (arrays){bench_allocate((size_t)bisai_bcsr_block_rows(m) + 1, sizeof(int32_t)),
                  bench_allocate(blocks, sizeof(int32_t)), host_vector(blocks * bs * bs)};
}

static void change_arrays(const arrays *from, int32_t rows, size_t square, const int32_t *old,
                          const double *factor, const arrays *to) {
  int32_t *new_of = bench_allocate((size_t)rows + 1, sizeof *new_of), count = 0;
  for (int32_t i = 0; i < rows; i++) new_of[old[i]] = i;
  for (int32_t i = 0; i < rows; i++) {
    to->row_ptr[i] = count;
    for (int32_t p = from->row_ptr[old[i]]; p < from->row_ptr[old[i] + 1]; p++, count++) {
      to->col_idx[count] = new_of[from->col_idx[p]];
      for (size_t v = 0; v < square; v++)
        to->values[(size_t)count * square + v] = factor[i] * from->values[(size_t)p * square + v];
    }
  }
  to->row_ptr[rows] = count;
  free(new_of);
}

void system_change(bisai_context *context, const bench_system *from, const bench_change *change,
                   bench_system *to) {
  const int32_t rows = bisai_bcsr_block_rows(from->matrix),
                bs = bisai_bcsr_block_size(from->matrix);
  const arrays before = arrays_create(from->matrix), after = arrays_create(from->matrix);
  int32_t *old = permutation_of(rows, change);
  double *factor = factors_of(rows, change);
  need(context, bisai_bcsr_fetch(from->matrix, before.row_ptr, before.col_idx, before.values),
       "fetch");
  change_arrays(&before, rows, (size_t)(bs * bs), old, factor, &after);
  *to = *from;
  to->rhs = host_vector(from->n);
  copy_rows(from->rhs, (size_t)bs, rows, old, factor, to->rhs);
  if (from->null_vectors) {
    const size_t width = (size_t)(bs * from->null_count);
    to->null_vectors = host_vector(width * (size_t)rows);
    copy_rows(from->null_vectors, width, rows, old, NULL, to->null_vectors);
  }
  need(
      context,
      bench_take_arrays(context, rows, bs, after.row_ptr, after.col_idx, after.values, &to->matrix),
      "changed matrix");
  free(before.row_ptr);
  free(before.col_idx);
  free(before.values);
  free(old);
  free(factor);
}
