/* SPDX-License-Identifier: BSD-3-Clause */
/* y ← A x by cuSPARSE: bsrmv, or SpMV on a BSR descriptor. */
#include <new>

#include "cusparse/cusparse_cuda.cuh"

#ifdef BISAI_HAVE_BSRMV
#define HAVE_BSRMV true
#else
#define HAVE_BSRMV false
#endif

using namespace bsi_cusparse;

struct bisai_cusparse_product {
  bisai_context *context = nullptr;
  int32_t rows = 0, cols = 0, blocks = 0, bs = 0;
  const int32_t *row_ptr = nullptr, *col_idx = nullptr;
  const double *values = nullptr;
  bool bsrmv = false;
  handle cusparse;
  description general;
  cusparseSpMatDescr_t matrix = nullptr;
  cusparseDnVecDescr_t x = nullptr, y = nullptr;
  device_array<char> buffer;
  ~bisai_cusparse_product() {
    if (matrix) cusparseDestroySpMat(matrix);
    if (x) cusparseDestroyDnVec(x);
    if (y) cusparseDestroyDnVec(y);
  }
};

namespace {

const double one = 1.0, zero = 0.0;

cusparseStatus_t describe_matrix(bisai_cusparse_product *p) {
  int32_t *row_ptr = const_cast<int32_t *>(p->row_ptr),
          *col_idx = const_cast<int32_t *>(p->col_idx);
  double *values = const_cast<double *>(p->values);
  if (p->bs == 1)
    return cusparseCreateCsr(&p->matrix, p->rows, p->cols, p->blocks, row_ptr, col_idx, values,
                             CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                             CUDA_R_64F);
#if CUSPARSE_VERSION >= 12100
  return cusparseCreateBsr(&p->matrix, p->rows, p->cols, p->blocks, p->bs, p->bs, row_ptr, col_idx,
                           values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                           CUDA_R_64F, CUSPARSE_ORDER_COL);
#else
  return CUSPARSE_STATUS_NOT_SUPPORTED;
#endif
}

/* The vectors x and y are placeholders: each application replaces them by the caller's vectors. The
 * analysis of SpMV reads only the matrix. */
void prepare_spmv(bisai_cusparse_product *p, calls &c) {
  const cudaStream_t stream = stream_of(p->context);
  const int64_t n = static_cast<int64_t>(p->rows) * p->bs,
                k = static_cast<int64_t>(p->cols) * p->bs;
  device_array<double> vectors;
  vectors.reserve(c, stream, static_cast<size_t>(n + k));
  c.run("a BSR matrix for cusparseSpMV", [&] { return describe_matrix(p); });
  c.run("cusparseCreateDnVec",
        [&] { return cusparseCreateDnVec(&p->x, k, vectors.get(), CUDA_R_64F); });
  c.run("cusparseCreateDnVec",
        [&] { return cusparseCreateDnVec(&p->y, n, vectors.get() + k, CUDA_R_64F); });
  size_t bytes = 0;
  c.run("cusparseSpMV_bufferSize", [&] {
    return cusparseSpMV_bufferSize(p->cusparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, p->matrix,
                                   p->x, &zero, p->y, CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT,
                                   &bytes);
  });
  p->buffer.reserve(c, stream, bytes);
  c.cuda("vectors", [&] {
    return cudaMemsetAsync(vectors.get(), 0, static_cast<size_t>(n + k) * sizeof(double), stream);
  });
  /* One product detects here whether cuSPARSE supports the matrix. */
  c.run("cusparseSpMV", [&] {
    return cusparseSpMV(p->cusparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, p->matrix, p->x, &zero,
                        p->y, CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT, p->buffer.get());
  });
  c.cuda("cusparseSpMV", [&] { return cudaStreamSynchronize(stream); });
}

} // namespace

bisai_status bisai_cusparse_product_create(bisai_context *context, const bisai_bcsr *matrix,
                                           bisai_cusparse_product_kind kind,
                                           bisai_cusparse_product **product) {
  const bisai_status status = check_context(context);
  if (status) return status;
  if (!matrix || !product)
    return fail(context, BISAI_INVALID_ARGUMENT, "%s is NULL", matrix ? "product" : "matrix");
  if (kind < BISAI_CUSPARSE_AUTO || kind > BISAI_CUSPARSE_SPMV)
    return fail(context, BISAI_INVALID_ARGUMENT, "unknown kind of product %d",
                static_cast<int>(kind));
  if (bisai_bcsr_value_type(matrix) != BISAI_FP64 || bisai_bcsr_unit_diagonal(matrix))
    return fail(context, BISAI_UNSUPPORTED,
                "cuSPARSE needs fp64 values and stored diagonal blocks");
  if (kind == BISAI_CUSPARSE_BSRMV && !HAVE_BSRMV)
    return fail(context, BISAI_UNAVAILABLE, "the cuSPARSE of this build has no bsrmv");
  bisai_cusparse_product *p = new (std::nothrow) bisai_cusparse_product;
  if (!p) return fail(context, BISAI_OUT_OF_MEMORY, "out of memory");
  const void *values;
  p->context = context;
  p->rows = bisai_bcsr_block_rows(matrix), p->cols = bisai_bcsr_block_cols(matrix);
  p->blocks = bisai_bcsr_blocks(matrix), p->bs = bisai_bcsr_block_size(matrix);
  bisai_bcsr_arrays(matrix, &p->row_ptr, &p->col_idx, &values);
  p->values = static_cast<const double *>(values);
  p->bsrmv = HAVE_BSRMV && kind != BISAI_CUSPARSE_SPMV && p->bs > 1;
  calls c(context);
  p->cusparse.create(c, stream_of(context));
  p->general.create(c);
  if (!p->bsrmv && p->blocks > 0) prepare_spmv(p, c);
  if (c.good())
    *product = p;
  else
    delete p;
  return c.status();
}

void bisai_cusparse_product_destroy(bisai_cusparse_product **product) {
  if (!product || !*product) return;
  delete *product;
  *product = nullptr;
}

bisai_status bisai_cusparse_product_apply(void *product, int64_t n, const double *x, double *y) {
  if (!product) return BISAI_INVALID_ARGUMENT;
  const bisai_cusparse_product *p = static_cast<const bisai_cusparse_product *>(product);
  const int64_t rows = static_cast<int64_t>(p->rows) * p->bs;
  if (n != rows || (rows > 0 && (!x || !y)))
    return fail(p->context, BISAI_INVALID_ARGUMENT, "the vectors have %lld values; %lld are needed",
                static_cast<long long>(n), static_cast<long long>(rows));
  calls c(p->context);
  if (p->blocks == 0) {
    c.cuda("product", [&] {
      return cudaMemsetAsync(y, 0, static_cast<size_t>(rows) * sizeof(double),
                             stream_of(p->context));
    });
    return c.status();
  }
#ifdef BISAI_HAVE_BSRMV
  if (p->bsrmv) {
    c.run("cusparseDbsrmv", [&] {
      return cusparseDbsrmv(p->cusparse, CUSPARSE_DIRECTION_COLUMN,
                            CUSPARSE_OPERATION_NON_TRANSPOSE, p->rows, p->cols, p->blocks, &one,
                            p->general, p->values, p->row_ptr, p->col_idx, p->bs, x, &zero, y);
    });
    return c.status();
  }
#endif
  c.run("cusparseDnVecSetValues",
        [&] { return cusparseDnVecSetValues(p->x, const_cast<double *>(x)); });
  c.run("cusparseDnVecSetValues", [&] { return cusparseDnVecSetValues(p->y, y); });
  c.run("cusparseSpMV", [&] {
    return cusparseSpMV(p->cusparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, p->matrix, p->x, &zero,
                        p->y, CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT, p->buffer.get());
  });
  return c.status();
}

struct bisai_cusparse_isai {
  bisai_context *context = nullptr;
  bisai_cusparse_product *lower = nullptr, *upper = nullptr;
  device_array<double> middle;
  ~bisai_cusparse_isai() {
    bisai_cusparse_product_destroy(&lower);
    bisai_cusparse_product_destroy(&upper);
  }
};

bisai_status bisai_cusparse_isai_create(bisai_context *context, const bisai_precond *precond,
                                        bisai_cusparse_product_kind kind,
                                        bisai_cusparse_isai **isai) {
  const bisai_status status = check_context(context);
  if (status) return status;
  if (!precond || !isai)
    return fail(context, BISAI_INVALID_ARGUMENT, "%s is NULL", precond ? "isai" : "precond");
  const bisai_bcsr *lower = bisai_precond_lower_inverse(precond),
                   *upper = bisai_precond_upper_inverse(precond);
  if (!lower || !upper)
    return fail(context, BISAI_INVALID_ARGUMENT,
                "the preconditioner is not ISAI of factors: it has no NL and NU");
  bisai_cusparse_isai *made = new (std::nothrow) bisai_cusparse_isai;
  if (!made) return fail(context, BISAI_OUT_OF_MEMORY, "out of memory");
  calls c(context);
  made->context = context;
  c.set(bisai_cusparse_product_create(context, lower, kind, &made->lower));
  if (c.good()) c.set(bisai_cusparse_product_create(context, upper, kind, &made->upper));
  made->middle.reserve(c, stream_of(context), static_cast<size_t>(bisai_precond_rows(precond)));
  if (c.good())
    *isai = made;
  else
    delete made;
  return c.status();
}

void bisai_cusparse_isai_destroy(bisai_cusparse_isai **isai) {
  if (!isai || !*isai) return;
  delete *isai;
  *isai = nullptr;
}

bisai_status bisai_cusparse_isai_apply(void *isai, int64_t n, const double *v, double *z) {
  if (!isai) return BISAI_INVALID_ARGUMENT;
  const bisai_cusparse_isai *made = static_cast<const bisai_cusparse_isai *>(isai);
  const bisai_status status = bisai_cusparse_product_apply(made->lower, n, v, made->middle.get());
  return status ? status : bisai_cusparse_product_apply(made->upper, n, made->middle.get(), z);
}
