/* SPDX-License-Identifier: BSD-3-Clause */
/* Block products on a GPU: fp64 with one and four vectors, narrower storage, and the two products
 * of cuSPARSE in the same run. */
#include <stdlib.h>

#include "products.h"

static bisai_status multiply(device_bench *b) {
  return bisai_bcsr_multiply(b->system.matrix, b->x, b->y);
}

static bisai_status multiply_four(device_bench *b) {
  const int64_t n = (int64_t)b->system.rows * b->system.bs;
  return bisai_bcsr_multiply_many(b->system.matrix, 4, b->x, n, b->y, n);
}

#ifdef BISAI_HAVE_CUSPARSE
static bisai_status multiply_cusparse(device_bench *b) {
  const int64_t n = (int64_t)b->system.rows * b->system.bs;
  return bisai_cusparse_product_apply(b->product, n, b->x, b->y);
}

static void measure_cusparse(device_bench *b, bisai_cusparse_product_kind kind, const char *name,
                             double bytes) {
  device_group g = {0};
  if (bisai_cusparse_product_create(b->context, b->system.matrix, kind, &b->product)) {
    printf("%-34s %s\n", name, bisai_context_error(b->context));
    return;
  }
  device_add_call(&g, name, bytes, b, multiply_cusparse, b->launches);
  device_measure(b, &g);
  bisai_cusparse_product_destroy(&b->product);
}
#endif

/* Makes values in another type. They are pseudo-random in −1 … 1, because the products' times do
 * not depend on them. */
static void *make_values(size_t count, bisai_value_type type) {
  const size_t width = type == BISAI_FP64 ? 8 : type == BISAI_FP32 ? 4 : 2;
  char *values = bench_allocate(count, width);
  uint64_t state = 20211121;
  for (size_t i = 0; i < count; i++) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const double value = (double)(state >> 11) * 0x1p-52 - 1;
    if (type == BISAI_FP64) ((double *)(void *)values)[i] = value;
    if (type == BISAI_FP32) ((float *)(void *)values)[i] = (float)value;
    if (type == BISAI_FP16) ((uint16_t *)(void *)values)[i] = bench_to_fp16(value);
    if (type == BISAI_BF16) ((uint16_t *)(void *)values)[i] = bench_to_bf16(value);
  }
  return values;
}

/* Stencils on a grid: 7 points in three dimensions. In two dimensions (nz = 1) 5 points, or with
 * `diagonals` the 7 points of a triangulation. */
typedef struct grid {
  const char *name;
  int32_t nx, ny, nz, bs;
  bool diagonals;
} grid;

static int32_t make_structure(const grid *g, int32_t *row_ptr, int32_t *col_idx) {
  static const int steps[9][3] = {{0, 0, -1}, {-1, -1, 0}, {0, -1, 0}, {-1, 0, 0}, {0, 0, 0},
                                  {1, 0, 0},  {0, 1, 0},   {1, 1, 0},  {0, 0, 1}};
  int32_t blocks = 0, row = 0;
  for (int32_t k = 0; k < g->nz; k++)
    for (int32_t j = 0; j < g->ny; j++)
      for (int32_t i = 0; i < g->nx; i++, row++) {
        row_ptr[row] = blocks;
        for (int s = 0; s < 9; s++) {
          const int32_t x = i + steps[s][0], y = j + steps[s][1], z = k + steps[s][2];
          const bool diagonal = steps[s][0] * steps[s][1] != 0;
          if (x < 0 || x >= g->nx || y < 0 || y >= g->ny || z < 0 || z >= g->nz ||
              (diagonal && !g->diagonals))
            continue;
          col_idx[blocks++] = (z * g->ny + y) * g->nx + x;
        }
      }
  row_ptr[row] = blocks;
  return blocks;
}

static void measure_grid(device_bench *b, const grid *g) {
  static const char *const names[] = {"block product, fp64", "block product, fp32",
                                      "block product, fp16", "block product, bf16"};
  const size_t rows = (size_t)g->nx * (size_t)g->ny * (size_t)g->nz;
  int32_t *row_ptr = bench_allocate(rows + 1, sizeof *row_ptr),
          *col_idx = bench_allocate(9 * rows, sizeof *col_idx);
  b->system.name = g->name;
  b->system.rows = (int32_t)rows, b->system.bs = g->bs,
  b->system.blocks = make_structure(g, row_ptr, col_idx);
  const size_t n = rows * (size_t)g->bs;
  double *host = make_values(4 * n, BISAI_FP64);
  b->x = bench_device_allocate(4 * n * sizeof(double));
  b->y = bench_device_allocate(4 * n * sizeof(double));
  bench_device_upload(b->x, host, 4 * n * sizeof(double));
  device_heading(b);
  for (int type = BISAI_FP64; type <= BISAI_BF16; type++) {
    void *values =
        make_values((size_t)b->system.blocks * (size_t)(g->bs * g->bs), (bisai_value_type)type);
    bisai_bcsr_desc desc = bisai_bcsr_desc_default();
    desc.block_rows = desc.block_cols = b->system.rows;
    desc.block_size = g->bs;
    desc.row_ptr = row_ptr, desc.col_idx = col_idx, desc.values = values;
    desc.value_type = (bisai_value_type)type;
    need(b->context, bisai_bcsr_create(b->context, &desc, &b->system.matrix), "matrix");
    const double width = type == BISAI_FP64 ? 8 : type == BISAI_FP32 ? 4 : 2;
    const double bytes = device_matrix_bytes(b, b->system.blocks, width);
    device_group all = {0};
    device_add_call(&all, names[type], bytes + 2 * device_vector_bytes(b), b, multiply,
                    b->launches);
    if (type == BISAI_FP64)
      device_add_call(&all, "block product, fp64, 4 vectors", bytes + 8 * device_vector_bytes(b), b,
                      multiply_four, b->launches);
    device_measure(b, &all);
#ifdef BISAI_HAVE_CUSPARSE
    if (type == BISAI_FP64 && g->bs > 1)
      measure_cusparse(b, BISAI_CUSPARSE_BSRMV, "cuSPARSE bsrmv",
                       bytes + 2 * device_vector_bytes(b));
    if (type == BISAI_FP64)
      measure_cusparse(b, BISAI_CUSPARSE_SPMV, "cuSPARSE SpMV", bytes + 2 * device_vector_bytes(b));
#endif
    bisai_bcsr_destroy(&b->system.matrix);
    free(values);
  }
  bench_device_release(b->x);
  bench_device_release(b->y);
  free(host);
  free(row_ptr);
  free(col_idx);
}

void device_measure_products(device_bench *b) {
  /* Matrices of docs/tuning.md, "Block product". */
  static const grid grids[] = {{"3-D 7-point, 37 x 148 x 58", 37, 148, 58, 4, false},
                               {"2-D 7-point, 318^2", 318, 318, 1, 5, true},
                               {"2-D 5-point, 300^2", 300, 300, 1, 3, false},
                               {"2-D 7-point, 125^2", 125, 125, 1, 4, true},
                               {"3-D 7-point, 100^3", 100, 100, 100, 2, false},
                               {"3-D 7-point, 100 x 100 x 20", 100, 100, 20, 6, false},
                               {"3-D 7-point, 100 x 100 x 20", 100, 100, 20, 7, false},
                               {"3-D 7-point, 100 x 100 x 20", 100, 100, 20, 8, false},
                               {"3-D 7-point, 100^3", 100, 100, 100, 1, false}};
  for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) measure_grid(b, &grids[i]);
}
