/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of the benchmark of batches: matrices of dense diagonal blocks, cuBLAS on the same blocks,
 * times and output. */
#ifndef BENCH_BATCHES_CUH
#define BENCH_BATCHES_CUH

#include <algorithm>
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
#include "core/backend.h"
#include "core/bcsr_impl.h"
#include "core/context_impl.h"

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
  /* bytes read and written a second */
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

/* Seconds of a call, the median of b.rounds by events; `before` is not in it. */
double seconds_of(const bench &b, const std::function<void()> &call,
                  const std::function<void()> &before = {});

/* count values, uniform in −1 … 1, no two calls alike. */
void fill_random(const bench &b, double *values, int64_t count);

/* Makes `count` blocks of m rows well-conditioned. */
void raise_diagonal(const bench &b, int m, int64_t count, double *values);

/* {"section": …, key: value, …}, and the same in words. */
struct field {
  const char *name;
  double value;
};
void report(bench &b, const char *section, const char *what, std::initializer_list<field> fields);

/* A matrix of dense diagonal blocks of random values, blocks[k] rows each; uniform ones are natural
 * blocks of a BCSR matrix, others CSR. */
struct block_matrix {
  bisai_bcsr *matrix = nullptr;
  std::vector<int32_t> start;
  int uniform;
  int64_t values;
  block_matrix(const bench &b, const std::vector<int32_t> &sizes);
  block_matrix(const block_matrix &) = delete;
  ~block_matrix() { bisai_bcsr_destroy(&matrix); }
};

/* Block-Jacobi of it, or of any matrix. */
struct jacobi {
  const bench &b;
  const bisai_bcsr *matrix;
  bsi_bjacobi made;
  jacobi(const bench &bench, const bisai_bcsr *of, const bsi_bjacobi_options &options);
  jacobi(const jacobi &) = delete;
  ~jacobi() { bsi_bjacobi_destroy(b.context, &made); }
  void update() { NEED(bsi_bjacobi_update(b.context, matrix, &made)); }
  void enqueue() { NEED(bsi_bjacobi_enqueue(b.context, matrix, &made)); }
  void apply(int count, const double *x, int64_t ldx, double *y) {
    NEED(b.context->backend->bjacobi->solve->apply(b.context, &made, count, x, ldx, y, ldx));
  }
};

/* cuBLAS on count blocks of m rows at `blocks`; seconds, NAN where it has none. */
struct cublas_times {
  double matinv, getrf, getri, getrs;
};
cublas_times time_cublas(const bench &b, int m, int64_t count, const double *blocks);

#endif
