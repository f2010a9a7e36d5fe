/* SPDX-License-Identifier: BSD-3-Clause */
/* The slots where the block products of C = A B are added, on a device: those of a row of A follow
 * each other in the order of its blocks, and those of a block in the order of the row of B.
 * multiply_structure() finds them once, so that no product of an update searches. And how many
 * blocks of a halved C are on the diagonal and to its right. */
#include "multigrid/spgemm/rows_cuda.cuh"

namespace {

/* Messages of failures begin with it. */
constexpr char what[] = "slots of products";

/* the most slots that a byte names */
enum { MOST_PLACES = 256 };

/* Rows of so many lanes have their columns in shared memory. */
enum { LEAST_LANES = 4 };
static_assert(BLOCK_THREADS / LEAST_LANES * MOST_PLACES * sizeof(int32_t) <= 48 * 1024,
              "every device has that much shared memory");

struct placing {
  int32_t rows;
  const int32_t *a_ptr, *a_col, *b_ptr, *b_col, *c_ptr, *c_col, *before;
  /* of a row, a power of two, and the most blocks of a row of C */
  int lanes, longest;
  int64_t *lengths;
  uint8_t *slots;
};

/* A thread counts the products of a row. */
__global__ void __launch_bounds__(BSI_FOR_EACH_THREADS) count_products(const placing s) {
  const int64_t i = blockIdx.x * static_cast<int64_t>(BSI_FOR_EACH_THREADS) + threadIdx.x;
  bsi_wait_for_predecessor();
  if (i >= s.rows) return;
  const int32_t end = __ldg(s.a_ptr + i + 1);
  int64_t count = 0;
  for (int32_t p = __ldg(s.a_ptr + i); p < end; p++) {
    const int32_t k = __ldg(s.a_col + p);
    count += __ldg(s.b_ptr + k + 1) - __ldg(s.b_ptr + k);
  }
  s.lengths[i] = count;
}

/* The lanes of a row of A share each row of B. */
__global__ void __launch_bounds__(BLOCK_THREADS) find_slots(const placing s) {
  extern __shared__ int32_t shared[];
  const int64_t thread = blockIdx.x * static_cast<int64_t>(BLOCK_THREADS) + threadIdx.x,
                i = thread / s.lanes;
  const int member = static_cast<int>(thread % s.lanes);
  bsi_wait_for_predecessor();
  if (i >= s.rows) return;
  const int32_t first = __ldg(s.c_ptr + i), count = __ldg(s.c_ptr + i + 1) - first,
                end = __ldg(s.a_ptr + i + 1);
  int32_t *columns = shared + threadIdx.x / s.lanes * s.longest;
  for (int32_t v = member; v < count; v += s.lanes) columns[v] = __ldg(s.c_col + first + v);
  __syncwarp(BSI_FULL_WARP >> (BSI_WARP - s.lanes) << threadIdx.x % BSI_WARP / s.lanes * s.lanes);
  int64_t at = __ldg(s.before + i);
  for (int32_t p = __ldg(s.a_ptr + i); p < end; p++) {
    const int32_t k = __ldg(s.a_col + p), begin = __ldg(s.b_ptr + k),
                  length = __ldg(s.b_ptr + k + 1) - begin;
    for (int32_t n = member; n < length; n += s.lanes) {
      const int32_t j = __ldg(s.b_col + begin + n);
      s.slots[at + n] = static_cast<uint8_t>(bsi_find_column(columns, 0, count, j));
    }
    at += length;
  }
}

/* A thread counts the blocks of a row of C on the diagonal and to its right. */
__global__ void __launch_bounds__(BSI_FOR_EACH_THREADS)
    count_upper(int32_t rows, const int32_t *ptr, const int32_t *col, int64_t *lengths) {
  const int64_t i = blockIdx.x * static_cast<int64_t>(BSI_FOR_EACH_THREADS) + threadIdx.x;
  bsi_wait_for_predecessor();
  if (i >= rows) return;
  const int32_t end = __ldg(ptr + i + 1);
  lengths[i] = end - bsi_lower_bound(bsi_read_only<int32_t>{col}, __ldg(ptr + i), end,
                                     static_cast<int32_t>(i));
}

/* Returns the lanes for rows of B of about that many blocks. */
int lanes_for(double length) {
  int lanes = LEAST_LANES;
  while (lanes < BSI_WARP && lanes < length) lanes *= 2;
  return lanes;
}

} // namespace

/* What too many products leave: kernels search. */
static bisai_status leave_without_slots(bisai_context *context, bsi_block_matrix *c) {
  context->backend->memory->release(context, c->slots.before);
  c->slots.before = nullptr;
  return BISAI_OK;
}

bisai_status bsi_find_product_slots(bisai_context *context, const bsi_block_matrix *a,
                                    const bsi_block_matrix *b, bsi_block_matrix *c) {
  placing s = {.rows = c->rows,
               .a_ptr = a->row_ptr,
               .a_col = a->col_idx,
               .b_ptr = b->row_ptr,
               .b_col = b->col_idx,
               .c_ptr = c->row_ptr,
               .c_col = c->col_idx,
               .lanes = lanes_for(static_cast<double>(b->blocks) / b->rows),
               .longest = c->slots.longest};
  bsi_structure_report report;
  bsi_lengths lengths;
  bsi_temporary memory(context);
  if (c->slots.longest > MOST_PLACES) return BISAI_OK;
  s.before = c->slots.before = bsi_reserve_indices(context, static_cast<size_t>(c->rows) + 1);
  if (!s.before) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(bsi_lengths_reserve(&memory, c->rows, &lengths));
  s.lengths = lengths.of_rows;
  BSI_TRY(bsi_record_begin<bsi_structure_report>(context, what));
  bsi_launch_early(context, count_products, bsi_grid(s.rows, BSI_FOR_EACH_THREADS),
                   BSI_FOR_EACH_THREADS, 0, s);
  BSI_TRY(bsi_lengths_add(context, &lengths, c->slots.before));
  BSI_TRY(bsi_lengths_fetch(context, "a list of products", INT32_MAX, &report));
  if (report.overflows) return leave_without_slots(context, c);
  c->slots.count = static_cast<int64_t>(report.total);
  s.slots = c->slots.of = static_cast<uint8_t *>(context->backend->memory->allocate(
      context, static_cast<size_t>(c->slots.count), sizeof *c->slots.of));
  if (!s.slots) return BISAI_OUT_OF_MEMORY;
  bsi_launch_early(context, find_slots,
                   bsi_grid(static_cast<int64_t>(s.rows) * s.lanes, BLOCK_THREADS), BLOCK_THREADS,
                   sizeof(int32_t) * (BLOCK_THREADS / s.lanes) * s.longest, s);
  return bsi_launched(context, what);
}

bisai_status bsi_find_upper(bisai_context *context, bsi_block_matrix *c) {
  bsi_lengths lengths;
  bsi_temporary memory(context);
  c->slots.upper = bsi_reserve_indices(context, static_cast<size_t>(c->rows) + 1);
  if (!c->slots.upper) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(bsi_lengths_reserve(&memory, c->rows, &lengths));
  BSI_TRY(bsi_record_begin<bsi_structure_report>(context, what));
  bsi_launch_early(context, count_upper, bsi_grid(c->rows, BSI_FOR_EACH_THREADS),
                   BSI_FOR_EACH_THREADS, 0, c->rows, c->row_ptr, c->col_idx, lengths.of_rows);
  return bsi_lengths_add(context, &lengths, c->slots.upper);
}
