/* SPDX-License-Identifier: BSD-3-Clause */
/* Block ILU(0) by bsrilu02 and exact solves by bsrsv2.
 *
 * cuSPARSE computes one matrix M with the pattern of A, which packs the scalar factors. M_ii holds
 * l_i u_i = D_i, the diagonal block of U, factored without pivoting. The blocks to the left of M_ii
 * are L_ij l_j, and the blocks to the right are l_i⁻¹ U_ij. L (with identity diagonal blocks) and U
 * are the factors of bisai. bsrsv2 solves with the scalar triangles of M. */
#include <new>
#include <vector>

#include "cusparse/cusparse_cuda.cuh"

#if defined(BISAI_HAVE_BSRILU02) && defined(BISAI_HAVE_BSRSV2)

using namespace bsi_cusparse;

namespace {

enum { THREADS = 128, SOLVES = 3 };

struct solve {
  bsrsv2Info_t info = nullptr;
  description triangle;
  ~solve() {
    if (info) cusparseDestroyBsrsv2Info(info);
  }
};

/* M: the blocks of the matrix, which bsrilu02 replaces by those of L and U. */
struct device_matrix {
  int32_t n = 0, blocks = 0, bs = 0;
  device_array<int32_t> row_ptr, col_idx;
  device_array<double> values;
};

} // namespace

struct bisai_cusparse_ilu {
  bisai_context *context = nullptr;
  device_matrix m;
  bool factored = false, prepared = false;
  /* L⁻¹ v */
  device_array<double> middle;
  device_array<char> buffer, solve_buffer;
  handle cusparse;
  description general;
  bsrilu02Info_t info = nullptr;
  solve solves[2];
  cusparseSolvePolicy_t policy = CUSPARSE_SOLVE_POLICY_USE_LEVEL;
  bisai_cusparse_ilu_report report = {};
  ~bisai_cusparse_ilu() {
    if (info) cusparseDestroyBsrilu02Info(info);
  }
};

namespace {

bool is_usable(const bisai_cusparse_ilu *ilu) { return ilu->m.n > 0; }

/* Fails with the block row of the first zero pivot of an analysis or a factorisation. Waits for the
 * stream. */
void check_pivot(bisai_cusparse_ilu *ilu, calls &c, bisai_status kind) {
  if (!c.good()) return;
  int row = -1;
  if (cusparseXbsrilu02_zeroPivot(ilu->cusparse, ilu->info, &row) != CUSPARSE_STATUS_ZERO_PIVOT)
    return;
  c.set(kind == BISAI_MISSING_DIAGONAL
            ? fail(ilu->context, kind, "block row %d: the diagonal block is missing", row)
            : fail(ilu->context, kind,
                   "block row %d: bsrilu02 found a zero pivot (it does not pivot)", row));
}

void analyse(bisai_cusparse_ilu *ilu, calls &c) {
  int bytes = 0;
  c.run("cusparseCreateBsrilu02Info", [&] { return cusparseCreateBsrilu02Info(&ilu->info); });
  c.run("cusparseDbsrilu02_bufferSize", [&] {
    return cusparseDbsrilu02_bufferSize(ilu->cusparse, CUSPARSE_DIRECTION_COLUMN, ilu->m.n,
                                        ilu->m.blocks, ilu->general, ilu->m.values.get(),
                                        ilu->m.row_ptr.get(), ilu->m.col_idx.get(), ilu->m.bs,
                                        ilu->info, &bytes);
  });
  ilu->buffer.reserve(c, stream_of(ilu->context), static_cast<size_t>(bytes));
  ilu->report.analysis_seconds = seconds_of(stream_of(ilu->context), [&] {
    c.run("cusparseDbsrilu02_analysis", [&] {
      return cusparseDbsrilu02_analysis(
          ilu->cusparse, CUSPARSE_DIRECTION_COLUMN, ilu->m.n, ilu->m.blocks, ilu->general,
          ilu->m.values.get(), ilu->m.row_ptr.get(), ilu->m.col_idx.get(), ilu->m.bs, ilu->info,
          CUSPARSE_SOLVE_POLICY_USE_LEVEL, ilu->buffer.get());
    });
  });
  check_pivot(ilu, c, BISAI_MISSING_DIAGONAL);
}

void factor(bisai_cusparse_ilu *ilu, const double *values, calls &c) {
  const size_t count = static_cast<size_t>(ilu->m.blocks) * ilu->m.bs * ilu->m.bs;
  ilu->factored = false;
  c.cuda("copy of the values", [&] {
    return cudaMemcpyAsync(ilu->m.values.get(), values, count * sizeof(double), cudaMemcpyDefault,
                           stream_of(ilu->context));
  });
  ilu->report.factor_seconds = seconds_of(stream_of(ilu->context), [&] {
    c.run("cusparseDbsrilu02", [&] {
      return cusparseDbsrilu02(ilu->cusparse, CUSPARSE_DIRECTION_COLUMN, ilu->m.n, ilu->m.blocks,
                               ilu->general, ilu->m.values.get(), ilu->m.row_ptr.get(),
                               ilu->m.col_idx.get(), ilu->m.bs, ilu->info,
                               CUSPARSE_SOLVE_POLICY_USE_LEVEL, ilu->buffer.get());
    });
  });
  c.cuda("cusparseDbsrilu02", [&] { return cudaStreamSynchronize(stream_of(ilu->context)); });
  check_pivot(ilu, c, BISAI_SINGULAR_BLOCK);
  ilu->factored = c.good();
}

void copy_structure(bisai_cusparse_ilu *ilu, const bisai_bcsr *matrix, calls &c) {
  const cudaStream_t stream = stream_of(ilu->context);
  const int32_t *row_ptr, *col_idx;
  bisai_bcsr_arrays(matrix, &row_ptr, &col_idx, nullptr);
  const size_t rows = static_cast<size_t>(ilu->m.n) + 1,
               blocks = static_cast<size_t>(ilu->m.blocks);
  ilu->m.row_ptr.reserve(c, stream, rows);
  ilu->m.col_idx.reserve(c, stream, blocks);
  ilu->m.values.reserve(c, stream,
                        blocks * static_cast<size_t>(ilu->m.bs) * static_cast<size_t>(ilu->m.bs));
  c.cuda("copy of the structure", [&] {
    return cudaMemcpyAsync(ilu->m.row_ptr.get(), row_ptr, rows * sizeof(int32_t), cudaMemcpyDefault,
                           stream);
  });
  c.cuda("copy of the structure", [&] {
    return cudaMemcpyAsync(ilu->m.col_idx.get(), col_idx, blocks * sizeof(int32_t),
                           cudaMemcpyDefault, stream);
  });
}

bisai_status check_matrix(bisai_context *context, const bisai_bcsr *matrix) {
  if (bisai_bcsr_block_rows(matrix) != bisai_bcsr_block_cols(matrix))
    return fail(context, BISAI_INVALID_ARGUMENT, "the matrix is not square: %d × %d blocks",
                bisai_bcsr_block_rows(matrix), bisai_bcsr_block_cols(matrix));
  if (bisai_bcsr_value_type(matrix) != BISAI_FP64 || bisai_bcsr_unit_diagonal(matrix))
    return fail(context, BISAI_UNSUPPORTED,
                "bsrilu02 needs fp64 values and stored diagonal blocks");
  return BISAI_OK;
}

/* --- L and U out of M --- */

struct packed {
  int32_t n, bs;
  /* place: the index of a block in L, or −1 − its index in U */
  const int32_t *row_ptr, *col_idx, *diagonal, *place;
  const double *values;
  double *lower, *upper;
};

/* Each thread computes one scalar row or column of the blocks of a block row: rows of L_ij = M_ij
 * l_j⁻¹ and columns of U_ij = l_i M_ij. */
__global__ void unpack(packed p) {
  const int64_t thread = blockIdx.x * static_cast<int64_t>(THREADS) + threadIdx.x, bs = p.bs;
  const int64_t i = thread / bs;
  const int k = static_cast<int>(thread % bs);
  if (i >= p.n) return;
  for (int32_t q = p.row_ptr[i]; q < p.row_ptr[i + 1]; q++) {
    const double *m = p.values + q * bs * bs;
    const int32_t j = p.col_idx[q], place = p.place[q];
    if (j < i) {
      const double *l = p.values + p.diagonal[j] * bs * bs;
      double *row = p.lower + place * bs * bs + k;
      for (int64_t c = bs - 1; c >= 0; c--) {
        double value = m[c * bs + k];
        for (int64_t t = c + 1; t < bs; t++) value -= row[t * bs] * l[c * bs + t];
        row[c * bs] = value;
      }
    } else {
      const double *l = p.values + p.diagonal[i] * bs * bs;
      double *column = p.upper + (-1 - place) * bs * bs + k * bs;
      /* the packed diagonal block is upper triangular here */
      const int64_t last = j == i ? k : bs - 1;
      for (int64_t r = 0; r < bs; r++) {
        double value = r <= last ? m[k * bs + r] : 0.0;
        for (int64_t t = 0; t < r && t <= last; t++) value += l[t * bs + r] * m[k * bs + t];
        column[r] = value;
      }
    }
  }
}

/* The structures of L and U, and the place of each block of M. */
struct split {
  std::vector<int32_t> lower_ptr, lower_col, upper_ptr, upper_col, diagonal, place;
  split(int32_t n, const std::vector<int32_t> &row_ptr, const std::vector<int32_t> &col_idx)
      : lower_ptr(1, 0), upper_ptr(1, 0), diagonal(static_cast<size_t>(n)), place(col_idx.size()) {
    for (int32_t i = 0; i < n; i++) {
      for (int32_t q = row_ptr[i]; q < row_ptr[i + 1]; q++) {
        const int32_t j = col_idx[q];
        if (j == i) diagonal[i] = q;
        place[q] = j < i ? static_cast<int32_t>(lower_col.size())
                         : -1 - static_cast<int32_t>(upper_col.size());
        (j < i ? lower_col : upper_col).push_back(j);
      }
      lower_ptr.push_back(static_cast<int32_t>(lower_col.size()));
      upper_ptr.push_back(static_cast<int32_t>(upper_col.size()));
    }
  }
};

template <typename T>
void upload(calls &c, cudaStream_t stream, device_array<T> &to, const std::vector<T> &from) {
  to.reserve(c, stream, from.size());
  c.cuda("copy to the device", [&] {
    return cudaMemcpyAsync(to.get(), from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice,
                           stream);
  });
}

/* Creates a matrix of bisai from copies of arrays on the device. */
bisai_bcsr *make_matrix(const bisai_cusparse_ilu *ilu, calls &c,
                        const device_array<int32_t> &row_ptr, const device_array<int32_t> &col_idx,
                        const device_array<double> &values) {
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  bisai_bcsr *matrix = nullptr;
  desc.block_rows = desc.block_cols = ilu->m.n;
  desc.block_size = ilu->m.bs;
  desc.row_ptr = row_ptr.get(), desc.col_idx = col_idx.get(), desc.values = values.get();
  desc.location = BISAI_DEVICE;
  if (c.good()) c.set(bisai_bcsr_create(ilu->context, &desc, &matrix));
  return matrix;
}

void make_factors(const bisai_cusparse_ilu *ilu, calls &c, bisai_factors **factors) {
  const cudaStream_t stream = stream_of(ilu->context);
  std::vector<int32_t> row_ptr(static_cast<size_t>(ilu->m.n) + 1),
      col_idx(static_cast<size_t>(ilu->m.blocks));
  c.cuda("copy from the device", [&] {
    return cudaMemcpyAsync(row_ptr.data(), ilu->m.row_ptr.get(), row_ptr.size() * sizeof(int32_t),
                           cudaMemcpyDeviceToHost, stream);
  });
  c.cuda("copy from the device", [&] {
    return cudaMemcpyAsync(col_idx.data(), ilu->m.col_idx.get(), col_idx.size() * sizeof(int32_t),
                           cudaMemcpyDeviceToHost, stream);
  });
  c.cuda("copy from the device", [&] { return cudaStreamSynchronize(stream); });
  if (!c.good()) return;
  const split s(ilu->m.n, row_ptr, col_idx);
  const size_t values = static_cast<size_t>(ilu->m.bs) * static_cast<size_t>(ilu->m.bs);
  device_array<int32_t> lower_ptr, lower_col, upper_ptr, upper_col, diagonal, place;
  device_array<double> lower, upper;
  upload(c, stream, lower_ptr, s.lower_ptr);
  upload(c, stream, lower_col, s.lower_col);
  upload(c, stream, upper_ptr, s.upper_ptr);
  upload(c, stream, upper_col, s.upper_col);
  upload(c, stream, diagonal, s.diagonal);
  upload(c, stream, place, s.place);
  lower.reserve(c, stream, s.lower_col.size() * values);
  upper.reserve(c, stream, s.upper_col.size() * values);
  if (!c.good()) return;
  const packed p = {ilu->m.n,       ilu->m.bs,   ilu->m.row_ptr.get(), ilu->m.col_idx.get(),
                    diagonal.get(), place.get(), ilu->m.values.get(),  lower.get(),
                    upper.get()};
  const int64_t threads = static_cast<int64_t>(ilu->m.n) * ilu->m.bs;
  unpack<<<static_cast<unsigned>((threads + THREADS - 1) / THREADS), THREADS, 0, stream>>>(p);
  c.cuda("L and U of bsrilu02", [] { return cudaGetLastError(); });
  bisai_bcsr *l = make_matrix(ilu, c, lower_ptr, lower_col, lower);
  bisai_bcsr *u = make_matrix(ilu, c, upper_ptr, upper_col, upper);
  if (c.good()) c.set(bisai_factors_from_matrices(ilu->context, l, u, factors));
  bisai_bcsr_destroy(&l);
  bisai_bcsr_destroy(&u);
}

/* --- solves --- */

void solve_with(const bisai_cusparse_ilu *ilu, calls &c, int of, cusparseSolvePolicy_t policy,
                const double *b, double *x) {
  static const double one = 1.0;
  const solve &s = ilu->solves[of];
  c.run("cusparseDbsrsv2_solve", [&] {
    return cusparseDbsrsv2_solve(
        ilu->cusparse, CUSPARSE_DIRECTION_COLUMN, CUSPARSE_OPERATION_NON_TRANSPOSE, ilu->m.n,
        ilu->m.blocks, &one, s.triangle, ilu->m.values.get(), ilu->m.row_ptr.get(),
        ilu->m.col_idx.get(), ilu->m.bs, s.info, b, x, policy, ilu->solve_buffer.get());
  });
}

void apply(const bisai_cusparse_ilu *ilu, calls &c, cusparseSolvePolicy_t policy, const double *v,
           double *z) {
  solve_with(ilu, c, BISAI_LOWER, policy, v, ilu->middle.get());
  solve_with(ilu, c, BISAI_UPPER, policy, ilu->middle.get(), z);
}

/* Both triangles use one buffer, as in NVIDIA's example: the info object keeps the result of an
 * analysis. */
void analyse_solves(bisai_cusparse_ilu *ilu, calls &c) {
  const cudaStream_t stream = stream_of(ilu->context);
  int most = 0;
  for (int of = BISAI_LOWER; of <= BISAI_UPPER; of++) {
    solve &s = ilu->solves[of];
    int bytes = 0;
    s.triangle.triangle(c, static_cast<bisai_triangle>(of));
    c.run("cusparseCreateBsrsv2Info", [&] { return cusparseCreateBsrsv2Info(&s.info); });
    c.run("cusparseDbsrsv2_bufferSize", [&] {
      return cusparseDbsrsv2_bufferSize(ilu->cusparse, CUSPARSE_DIRECTION_COLUMN,
                                        CUSPARSE_OPERATION_NON_TRANSPOSE, ilu->m.n, ilu->m.blocks,
                                        s.triangle, ilu->m.values.get(), ilu->m.row_ptr.get(),
                                        ilu->m.col_idx.get(), ilu->m.bs, s.info, &bytes);
    });
    most = bytes > most ? bytes : most;
  }
  ilu->solve_buffer.reserve(c, stream, static_cast<size_t>(most));
  ilu->report.solve_analysis_seconds = seconds_of(stream, [&] {
    for (int of = BISAI_LOWER; of <= BISAI_UPPER; of++)
      c.run("cusparseDbsrsv2_analysis", [&] {
        return cusparseDbsrsv2_analysis(
            ilu->cusparse, CUSPARSE_DIRECTION_COLUMN, CUSPARSE_OPERATION_NON_TRANSPOSE, ilu->m.n,
            ilu->m.blocks, ilu->solves[of].triangle, ilu->m.values.get(), ilu->m.row_ptr.get(),
            ilu->m.col_idx.get(), ilu->m.bs, ilu->solves[of].info, CUSPARSE_SOLVE_POLICY_USE_LEVEL,
            ilu->solve_buffer.get());
      });
  });
}

/* Returns the shortest time of several applications with this policy. */
double measure(bisai_cusparse_ilu *ilu, calls &c, cusparseSolvePolicy_t policy, const double *v,
               double *z) {
  double best = 0.0;
  for (int round = 0; round <= SOLVES && c.good(); round++) {
    const double seconds =
        seconds_of(stream_of(ilu->context), [&] { apply(ilu, c, policy, v, z); });
    if (round == 1 || (round > 1 && seconds < best)) best = seconds;
  }
  return best;
}

} // namespace

bisai_status bisai_cusparse_ilu_create(bisai_context *context, const bisai_bcsr *matrix,
                                       bisai_cusparse_ilu **ilu) {
  bisai_status status = check_context(context);
  if (status) return status;
  if (!matrix || !ilu)
    return fail(context, BISAI_INVALID_ARGUMENT, "%s is NULL", matrix ? "ilu" : "matrix");
  status = check_matrix(context, matrix);
  if (status) return status;
  bisai_cusparse_ilu *made = new (std::nothrow) bisai_cusparse_ilu;
  if (!made) return fail(context, BISAI_OUT_OF_MEMORY, "out of memory");
  const void *values;
  bisai_bcsr_arrays(matrix, nullptr, nullptr, &values);
  made->context = context;
  made->m.n = bisai_bcsr_block_rows(matrix), made->m.blocks = bisai_bcsr_blocks(matrix),
  made->m.bs = bisai_bcsr_block_size(matrix);
  made->report.struct_size = sizeof made->report;
  made->report.blocks = made->m.blocks;
  calls c(context);
  made->cusparse.create(c, stream_of(context));
  made->general.create(c);
  copy_structure(made, matrix, c);
  if (c.good() && is_usable(made) && made->m.blocks == 0)
    c.set(fail(context, BISAI_MISSING_DIAGONAL, "block row 0: the diagonal block is missing"));
  if (is_usable(made)) {
    analyse(made, c);
    factor(made, static_cast<const double *>(values), c);
  }
  made->factored = c.good();
  if (c.good())
    *ilu = made;
  else
    bisai_cusparse_ilu_destroy(&made);
  return c.status();
}

bisai_status bisai_cusparse_ilu_update(bisai_cusparse_ilu *ilu, const bisai_bcsr *matrix) {
  if (!ilu) return BISAI_INVALID_ARGUMENT;
  ilu->factored = false;
  if (!matrix) return fail(ilu->context, BISAI_INVALID_ARGUMENT, "matrix is NULL");
  const bisai_status status = check_matrix(ilu->context, matrix);
  if (status) return status;
  if (bisai_bcsr_block_rows(matrix) != ilu->m.n || bisai_bcsr_blocks(matrix) != ilu->m.blocks ||
      bisai_bcsr_block_size(matrix) != ilu->m.bs)
    return fail(ilu->context, BISAI_INVALID_ARGUMENT, "the pattern changed");
  const void *values;
  bisai_bcsr_arrays(matrix, nullptr, nullptr, &values);
  calls c(ilu->context);
  if (is_usable(ilu)) factor(ilu, static_cast<const double *>(values), c);
  ilu->factored = c.good();
  return c.status();
}

void bisai_cusparse_ilu_destroy(bisai_cusparse_ilu **ilu) {
  if (!ilu || !*ilu) return;
  delete *ilu;
  *ilu = nullptr;
}

bisai_status bisai_cusparse_ilu_factors(const bisai_cusparse_ilu *ilu, bisai_factors **factors) {
  if (!ilu) return BISAI_INVALID_ARGUMENT;
  if (!factors) return fail(ilu->context, BISAI_INVALID_ARGUMENT, "factors is NULL");
  if (!ilu->factored) return fail(ilu->context, BISAI_NOT_READY, "the last factorisation failed");
  calls c(ilu->context);
  make_factors(ilu, c, factors);
  return c.status();
}

bisai_status bisai_cusparse_ilu_prepare(bisai_cusparse_ilu *ilu) {
  if (!ilu) return BISAI_INVALID_ARGUMENT;
  if (!ilu->factored) return fail(ilu->context, BISAI_NOT_READY, "the last factorisation failed");
  if (ilu->prepared) return BISAI_OK;
  const cudaStream_t stream = stream_of(ilu->context);
  const size_t count = static_cast<size_t>(ilu->m.n) * static_cast<size_t>(ilu->m.bs);
  calls c(ilu->context);
  device_array<double> vectors;
  ilu->middle.reserve(c, stream, count);
  vectors.reserve(c, stream, 2 * count);
  if (is_usable(ilu)) {
    analyse_solves(ilu, c);
    c.cuda("vectors",
           [&] { return cudaMemsetAsync(vectors.get(), 0, count * sizeof(double), stream); });
    ilu->report.level_seconds =
        measure(ilu, c, CUSPARSE_SOLVE_POLICY_USE_LEVEL, vectors.get(), vectors.get() + count);
    ilu->report.no_level_seconds =
        measure(ilu, c, CUSPARSE_SOLVE_POLICY_NO_LEVEL, vectors.get(), vectors.get() + count);
  }
  ilu->report.by_levels = ilu->report.level_seconds <= ilu->report.no_level_seconds;
  ilu->policy =
      ilu->report.by_levels ? CUSPARSE_SOLVE_POLICY_USE_LEVEL : CUSPARSE_SOLVE_POLICY_NO_LEVEL;
  c.cuda("bsrsv2", [&] { return cudaStreamSynchronize(stream); });
  ilu->prepared = c.good();
  return c.status();
}

bisai_status bisai_cusparse_ilu_apply(void *ilu, int64_t n, const double *v, double *z) {
  if (!ilu) return BISAI_INVALID_ARGUMENT;
  const bisai_cusparse_ilu *made = static_cast<const bisai_cusparse_ilu *>(ilu);
  const int64_t rows = static_cast<int64_t>(made->m.n) * made->m.bs;
  if (!made->factored || !made->prepared)
    return fail(made->context, BISAI_NOT_READY, "%s",
                made->factored ? "the solves are not prepared" : "the last factorisation failed");
  if (n != rows || (rows > 0 && (!v || !z)))
    return fail(made->context, BISAI_INVALID_ARGUMENT,
                "the vectors have %lld values; %lld are needed", static_cast<long long>(n),
                static_cast<long long>(rows));
  calls c(made->context);
  if (rows > 0) apply(made, c, made->policy, v, z);
  return c.status();
}

bisai_status bisai_cusparse_ilu_get_report(const bisai_cusparse_ilu *ilu,
                                           bisai_cusparse_ilu_report *report) {
  if (!ilu) return BISAI_INVALID_ARGUMENT;
  if (!report || report->struct_size != sizeof *report)
    return fail(ilu->context, BISAI_INVALID_ARGUMENT, "the report has an unknown struct_size");
  *report = ilu->report;
  return BISAI_OK;
}

#else

namespace {
bisai_status absent(bisai_context *context) {
  return bsi_cusparse::fail(context, BISAI_UNAVAILABLE,
                            "the cuSPARSE of this build has no bsrilu02 and no bsrsv2");
}
} // namespace

bisai_status bisai_cusparse_ilu_create(bisai_context *context, const bisai_bcsr *,
                                       bisai_cusparse_ilu **) {
  return absent(context);
}
bisai_status bisai_cusparse_ilu_update(bisai_cusparse_ilu *, const bisai_bcsr *) {
  return BISAI_UNAVAILABLE;
}
void bisai_cusparse_ilu_destroy(bisai_cusparse_ilu **) {}
bisai_status bisai_cusparse_ilu_factors(const bisai_cusparse_ilu *, bisai_factors **) {
  return BISAI_UNAVAILABLE;
}
bisai_status bisai_cusparse_ilu_prepare(bisai_cusparse_ilu *) { return BISAI_UNAVAILABLE; }
bisai_status bisai_cusparse_ilu_apply(void *, int64_t, const double *, double *) {
  return BISAI_UNAVAILABLE;
}
bisai_status bisai_cusparse_ilu_get_report(const bisai_cusparse_ilu *,
                                           bisai_cusparse_ilu_report *) {
  return BISAI_UNAVAILABLE;
}

#endif
