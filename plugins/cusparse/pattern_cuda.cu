/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes S(|T|^k) by k − 1 symbolic products S ← S·T of SpGEMM (cusparseSpGEMMreuse_…). The block
 * graph is a scalar CSR matrix whose values are not used. */
#include <climits>
#include <memory>
#include <vector>

#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_sort.cuh>

#include "cusparse/cusparse_cuda.cuh"

using namespace bsi_cusparse;

namespace {

enum { THREADS = 256 };

unsigned grid(int64_t work) { return static_cast<unsigned>((work + THREADS - 1) / THREADS); }

/* A CSR structure on the device and its descriptor. */
struct structure {
  int32_t n = 0, count = 0;
  device_array<int32_t> row_ptr, col_idx;
  device_array<float> values;
  cusparseSpMatDescr_t matrix = nullptr;
  ~structure() {
    if (matrix) cusparseDestroySpMat(matrix);
  }
  void describe(calls &c) {
    c.run("cusparseCreateCsr", [&] {
      return cusparseCreateCsr(&matrix, n, n, count, row_ptr.get(), col_idx.get(), values.get(),
                               CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                               CUDA_R_32F);
    });
  }
};

/* Copies row i of the triangle with its diagonal; columns = NULL: only counts its entries. */
__global__ void take_triangle(int32_t n, bool lower, const int32_t *from_ptr,
                              const int32_t *from_col, const int32_t *row_ptr, int32_t *lengths,
                              int32_t *columns) {
  const int32_t i = static_cast<int32_t>(blockIdx.x * THREADS + threadIdx.x);
  if (i >= n) return;
  int32_t count = 0;
  const int32_t begin = columns ? row_ptr[i] : 0;
  const auto put = [&](int32_t j) {
    if (columns) columns[begin + count] = j;
    count++;
  };
  if (!lower) put(i);
  for (int32_t q = from_ptr[i]; q < from_ptr[i + 1]; q++)
    if (lower ? from_col[q] < i : from_col[q] > i) put(from_col[q]);
  if (lower) put(i);
  if (!columns) lengths[i] = count;
}

__global__ void find_unsorted(int32_t n, const int32_t *row_ptr, const int32_t *col_idx,
                              int32_t *unsorted) {
  const int32_t i = static_cast<int32_t>(blockIdx.x * THREADS + threadIdx.x);
  if (i >= n) return;
  for (int32_t q = row_ptr[i] + 1; q < row_ptr[i + 1]; q++)
    if (col_idx[q] <= col_idx[q - 1]) *unsorted = 1;
}

void make_triangle(calls &c, cudaStream_t stream, const bisai_bcsr *matrix, bisai_triangle triangle,
                   structure *t) {
  const int32_t *from_ptr, *from_col;
  bisai_bcsr_arrays(matrix, &from_ptr, &from_col, nullptr);
  device_array<int32_t> lengths;
  device_array<char> room;
  size_t bytes = 0;
  const bool lower = triangle == BISAI_LOWER;
  t->row_ptr.reserve(c, stream, static_cast<size_t>(t->n) + 1);
  lengths.reserve(c, stream, static_cast<size_t>(t->n));
  c.cuda("scan", [&] {
    return cub::DeviceScan::InclusiveSum(nullptr, bytes, lengths.get(), t->row_ptr.get() + 1, t->n,
                                         stream);
  });
  room.reserve(c, stream, bytes);
  if (!c.good()) return;
  take_triangle<<<grid(t->n), THREADS, 0, stream>>>(t->n, lower, from_ptr, from_col, nullptr,
                                                    lengths.get(), nullptr);
  c.cuda("triangle", [&] { return cudaMemsetAsync(t->row_ptr.get(), 0, sizeof(int32_t), stream); });
  c.cuda("scan", [&] {
    return cub::DeviceScan::InclusiveSum(room.get(), bytes, lengths.get(), t->row_ptr.get() + 1,
                                         t->n, stream);
  });
  c.cuda("triangle", [&] {
    return cudaMemcpyAsync(&t->count, t->row_ptr.get() + t->n, sizeof t->count,
                           cudaMemcpyDeviceToHost, stream);
  });
  c.cuda("triangle", [&] { return cudaStreamSynchronize(stream); });
  t->col_idx.reserve(c, stream, static_cast<size_t>(t->count));
  t->values.reserve(c, stream, static_cast<size_t>(t->count));
  if (!c.good()) return;
  take_triangle<<<grid(t->n), THREADS, 0, stream>>>(t->n, lower, from_ptr, from_col,
                                                    t->row_ptr.get(), nullptr, t->col_idx.get());
  c.cuda("triangle", [&] { return cudaGetLastError(); });
  t->describe(c);
}

/* product ← the structure of a·b. */
void multiply(bisai_context *context, calls &c, cudaStream_t stream, cusparseHandle_t h,
              const structure &a, const structure &b, structure *product) {
  const cusparseOperation_t as_it_is = CUSPARSE_OPERATION_NON_TRANSPOSE;
  const cusparseSpGEMMAlg_t way = CUSPARSE_SPGEMM_DEFAULT;
  cusparseSpGEMMDescr_t work = nullptr;
  device_array<char> rooms[5];
  size_t bytes[5] = {};
  int64_t rows = 0, cols = 0, count = 0;
  product->n = a.n;
  product->row_ptr.reserve(c, stream, static_cast<size_t>(a.n) + 1);
  c.run("cusparseCreateCsr", [&] {
    return cusparseCreateCsr(&product->matrix, a.n, a.n, 0, product->row_ptr.get(), nullptr,
                             nullptr, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                             CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
  });
  c.run("cusparseSpGEMM_createDescr", [&] { return cusparseSpGEMM_createDescr(&work); });
  for (const bool enough : {false, true}) {
    if (enough) rooms[0].reserve(c, stream, bytes[0]);
    c.run("cusparseSpGEMMreuse_workEstimation", [&] {
      return cusparseSpGEMMreuse_workEstimation(h, as_it_is, as_it_is, a.matrix, b.matrix,
                                                product->matrix, way, work, &bytes[0],
                                                rooms[0].get());
    });
  }
  for (const bool enough : {false, true}) {
    for (int i = 1; i <= 3 && enough; i++) rooms[i].reserve(c, stream, bytes[i]);
    c.run("cusparseSpGEMMreuse_nnz", [&] {
      return cusparseSpGEMMreuse_nnz(h, as_it_is, as_it_is, a.matrix, b.matrix, product->matrix,
                                     way, work, &bytes[1], rooms[1].get(), &bytes[2],
                                     rooms[2].get(), &bytes[3], rooms[3].get());
    });
  }
  c.run("cusparseSpMatGetSize",
        [&] { return cusparseSpMatGetSize(product->matrix, &rows, &cols, &count); });
  if (c.good() && count > INT32_MAX)
    c.set(fail(context, BISAI_INDEX_OVERFLOW, "a power of the pattern has more than %d blocks",
               INT32_MAX));
  product->count = static_cast<int32_t>(c.good() ? count : 0);
  product->col_idx.reserve(c, stream, static_cast<size_t>(product->count));
  product->values.reserve(c, stream, static_cast<size_t>(product->count));
  c.run("cusparseCsrSetPointers", [&] {
    return cusparseCsrSetPointers(product->matrix, product->row_ptr.get(), product->col_idx.get(),
                                  product->values.get());
  });
  for (const bool enough : {false, true}) {
    if (enough) rooms[4].reserve(c, stream, bytes[4]);
    c.run("cusparseSpGEMMreuse_copy", [&] {
      return cusparseSpGEMMreuse_copy(h, as_it_is, as_it_is, a.matrix, b.matrix, product->matrix,
                                      way, work, &bytes[4], rooms[4].get());
    });
  }
  if (work) cusparseSpGEMM_destroyDescr(work);
}

/* Sorts the columns of every row. SpGEMM does not guarantee an order. */
void sort_rows(calls &c, cudaStream_t stream, structure *s) {
  device_array<int32_t> unsorted, sorted;
  device_array<char> room;
  int32_t any = 0;
  size_t bytes = 0;
  unsorted.reserve(c, stream, 1);
  c.cuda("sort", [&] { return cudaMemsetAsync(unsorted.get(), 0, sizeof(int32_t), stream); });
  if (!c.good()) return;
  find_unsorted<<<grid(s->n), THREADS, 0, stream>>>(s->n, s->row_ptr.get(), s->col_idx.get(),
                                                    unsorted.get());
  c.cuda("sort", [&] {
    return cudaMemcpyAsync(&any, unsorted.get(), sizeof any, cudaMemcpyDeviceToHost, stream);
  });
  c.cuda("sort", [&] { return cudaStreamSynchronize(stream); });
  if (!c.good() || !any) return;
  sorted.reserve(c, stream, static_cast<size_t>(s->count));
  const auto sort = [&] {
    return cub::DeviceSegmentedSort::SortKeys(room.get(), bytes, s->col_idx.get(), sorted.get(),
                                              s->count, s->n, s->row_ptr.get(),
                                              s->row_ptr.get() + 1, stream);
  };
  c.cuda("sort", sort);
  room.reserve(c, stream, bytes);
  c.cuda("sort", sort);
  c.cuda("sort", [&] {
    return cudaMemcpyAsync(s->col_idx.get(), sorted.get(),
                           static_cast<size_t>(s->count) * sizeof(int32_t),
                           cudaMemcpyDeviceToDevice, stream);
  });
}

void publish(bisai_context *context, calls &c, bisai_triangle triangle, const structure &s,
             bisai_pattern **pattern) {
  const cudaStream_t stream = stream_of(context);
  std::vector<int32_t> row_ptr(static_cast<size_t>(s.n) + 1), col_idx(static_cast<size_t>(s.count));
  c.cuda("copy from the device", [&] {
    return cudaMemcpyAsync(row_ptr.data(), s.row_ptr.get(), row_ptr.size() * sizeof(int32_t),
                           cudaMemcpyDeviceToHost, stream);
  });
  c.cuda("copy from the device", [&] {
    return cudaMemcpyAsync(col_idx.data(), s.col_idx.get(), col_idx.size() * sizeof(int32_t),
                           cudaMemcpyDeviceToHost, stream);
  });
  c.cuda("copy from the device", [&] { return cudaStreamSynchronize(stream); });
  if (c.good())
    c.set(bisai_pattern_create(context, triangle, s.n, row_ptr.data(), col_idx.data(), pattern));
}

} // namespace

bisai_status bisai_cusparse_pattern(bisai_context *context, const bisai_bcsr *matrix,
                                    bisai_triangle triangle, int power, bisai_pattern **pattern,
                                    double *seconds) {
  const bisai_status status = check_context(context);
  if (status) return status;
  if (!matrix || !pattern)
    return fail(context, BISAI_INVALID_ARGUMENT, "%s is NULL", matrix ? "pattern" : "matrix");
  if (triangle != BISAI_LOWER && triangle != BISAI_UPPER)
    return fail(context, BISAI_INVALID_ARGUMENT, "unknown triangle %d", static_cast<int>(triangle));
  if (power < 1)
    return fail(context, BISAI_INVALID_ARGUMENT, "power %d: at least 1 is needed", power);
  if (bisai_bcsr_block_rows(matrix) != bisai_bcsr_block_cols(matrix))
    return fail(context, BISAI_INVALID_ARGUMENT, "the matrix is not square: %d × %d blocks",
                bisai_bcsr_block_rows(matrix), bisai_bcsr_block_cols(matrix));
  const cudaStream_t stream = stream_of(context);
  const int32_t n = bisai_bcsr_block_rows(matrix);
  static const int32_t none[] = {0};
  if (n == 0) {
    if (seconds) *seconds = 0.0;
    return bisai_pattern_create(context, triangle, 0, none, none, pattern);
  }
  calls c(context);
  handle h;
  structure t;
  std::unique_ptr<structure> last;
  h.create(c, stream);
  t.n = n;
  const double spent = seconds_of(stream, [&] {
    make_triangle(c, stream, matrix, triangle, &t);
    /* The loop ends early if a power adds no block. */
    for (int32_t k = 2, before = 0;
         k <= power && c.good() && (last ? last->count : t.count) != before; k++) {
      before = last ? last->count : t.count;
      std::unique_ptr<structure> next(new structure);
      multiply(context, c, stream, h, last ? *last : t, t, next.get());
      last = std::move(next);
    }
    if (last && c.good()) sort_rows(c, stream, last.get());
  });
  publish(context, c, triangle, last ? *last : t, pattern);
  if (c.good() && seconds) *seconds = spent;
  return c.status();
}
