/* SPDX-License-Identifier: BSD-3-Clause */
/* The interface between the parts of the benchmark of batches: matrices of dense diagonal blocks,
 * timings and output. */
#ifndef BENCH_BATCHES_CUH
#define BENCH_BATCHES_CUH

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include <bisai/bisai.h>

#include "bjacobi/bjacobi.h"
#include "bjacobi/bjacobi_ops.h"
#include "core/context/backend.h"
#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"

#define NEED(call)                                                                                 \
  do {                                                                                             \
    const int code = static_cast<int>(call);                                                       \
    if (code != 0) {                                                                               \
      std::fprintf(stderr, "%s:%d: code %d of %s\n", __FILE__, __LINE__, code, #call);             \
      std::exit(1);                                                                                \
    }                                                                                              \
  } while (0)

struct bench {
  bisai_context *context;
  cudaStream_t stream;
  /* bytes read and written in a second */
  double copy_rate;
  int rounds;
  FILE *json;
  bool comma;
};

/* Memory on the device. */
template <typename T> struct on_device {
  T *data = nullptr;
  explicit on_device(size_t count) {
    NEED(cudaMalloc(reinterpret_cast<void **>(&data), (count + 1) * sizeof(T)));
  }
  explicit on_device(const std::vector<T> &from) : on_device(from.size()) {
    NEED(cudaMemcpy(data, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  on_device(const on_device &) = delete;
  ~on_device() { cudaFree(data); }
};

/* Seconds of a call. */
struct timing {
  double median, least;
};

/* Times a call b.rounds times by events, after two calls that do not count. The time of `before` is
 * not included. */
timing timing_of(const bench &b, const std::function<void()> &call,
                 const std::function<void()> &before = {});

/* Returns the median of timing_of(). */
double seconds_of(const bench &b, const std::function<void()> &call,
                  const std::function<void()> &before = {});

/* Writes `count` random values, uniform in −1 … 1. Every call gives different values. */
void fill_random(const bench &b, double *values, int64_t count);

/* Makes `count` blocks of m rows well-conditioned. */
void raise_diagonal(const bench &b, int m, int64_t count, double *values);

/* Prints a line of figures, and writes it to the JSON as {"section": …, key: value, …}. */
struct field {
  const char *name;
  double value;
};
void report(bench &b, const char *section, const char *what, std::initializer_list<field> fields);

/* Collects the structure of a CSR matrix row by row; upload() adds values and a dominant
 * diagonal. */
struct csr {
  std::vector<int32_t> ptr = {0}, col;
  void end_row() { ptr.push_back(static_cast<int32_t>(col.size())); }
};
bisai_bcsr *upload(const bench &b, const csr &a, int32_t n);
csr tridiagonal_of(int32_t n);
/* The diagonal, and a full row and column. */
csr arrow_of(int32_t n, int32_t full);

/* Calls f(matrix, name of the file) for each file that can be read, in blocks of one value. */
void for_files(const bench &b, const std::vector<std::string> &files,
               const std::function<void(const bisai_bcsr *, const std::string &)> &f);

/* A matrix of dense diagonal blocks of random values, with sizes[k] rows in block k. If all sizes
 * are equal, the matrix is a BCSR matrix of these blocks, otherwise a CSR matrix. */
struct block_matrix {
  bisai_bcsr *matrix = nullptr;
  std::vector<int32_t> start;
  int uniform;
  int64_t values;
  block_matrix(const bench &b, const std::vector<int32_t> &sizes);
  block_matrix(const block_matrix &) = delete;
  ~block_matrix() { bisai_bcsr_destroy(&matrix); }
};

/* Block-Jacobi of a block_matrix or of any other matrix. */
struct jacobi {
  const bench &b;
  const bisai_bcsr *matrix;
  bsi_bjacobi made;
  jacobi(const bench &bench, const bisai_bcsr *of, const bsi_bjacobi_options &options);
  jacobi(const jacobi &) = delete;
  ~jacobi() { bsi_bjacobi_destroy(b.context, &made); }
  void update() { NEED(bsi_bjacobi_update(b.context, matrix, &made)); }
  /* an update that does not wait for its findings */
  void enqueue() { NEED(b.context->backend->bjacobi->values->compute(b.context, matrix, &made)); }
  void apply(int count, const double *x, int64_t ldx, double *y) {
    NEED(b.context->backend->bjacobi->solve->apply(b.context, &made, count, x, ldx, y, ldx));
  }
};

#endif
