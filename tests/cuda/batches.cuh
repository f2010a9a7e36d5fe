/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices, contexts and block-Jacobi inverses for tests of batches of small blocks. */
#ifndef BISAI_TEST_BATCHES_H
#define BISAI_TEST_BATCHES_H

#include <bisai/bisai.h>

#include "bjacobi/bjacobi.h"
#include "bjacobi/bjacobi_ops.h"
#include "core/context/backend.h"
#include "core/context/context_impl.h"
#include "device.cuh"

/* A square matrix in host memory, block size 1 unless it is given. */
struct sparse {
  int32_t n = 0;
  int bs = 1;
  std::vector<int32_t> ptr = {0}, col;
  std::vector<double> values;
};

struct matrix_on {
  bisai_bcsr *made = nullptr;
  matrix_on(bisai_context *context, const sparse &a) {
    bisai_bcsr_desc d = bisai_bcsr_desc_default();
    d.block_rows = d.block_cols = a.n / a.bs, d.block_size = a.bs;
    d.row_ptr = a.ptr.data(), d.col_idx = a.col.data(), d.values = a.values.data();
    if (bisai_bcsr_create(context, &d, &made))
      verdict(false, "matrix: %s", bisai_context_error(context));
  }
  matrix_on(const matrix_on &) = delete;
  ~matrix_on() { bisai_bcsr_destroy(&made); }
};

struct jacobi_on {
  bisai_context *context;
  bsi_bjacobi made = {};
  bisai_status status;
  jacobi_on(bisai_context *on, const bisai_bcsr *a, const bsi_bjacobi_options &options)
      : context(on) {
    status = bsi_bjacobi_create(context, a, &options, &made);
    /* What is never written shows as NaN. */
    if (!status && context->backend->kind == BISAI_BACKEND_CUDA)
      CHECK(cudaMemset(made.data, 0xff, static_cast<size_t>(made.values * made.slot_bytes)));
  }
  jacobi_on(const jacobi_on &) = delete;
  ~jacobi_on() {
    if (made.data) bsi_bjacobi_destroy(context, &made);
  }
  template <typename T> std::vector<T> fetch(const void *from, size_t count) const {
    std::vector<T> to(count);
    if (count && from) context->backend->memory->fetch(context, to.data(), from, count * sizeof(T));
    return to;
  }
  std::vector<uint8_t> data() const {
    return fetch<uint8_t>(made.data, static_cast<size_t>(made.values * made.slot_bytes));
  }
};

/* A context on either backend. */
struct backends {
  const context_on host{BISAI_BACKEND_HOST}, device{BISAI_BACKEND_CUDA};
};

enum kind { RANDOM, PERMUTED, GRADED, SCALED, SPOILED, DEFICIENT, DOMINANT };

/* Dense diagonal blocks of the given sizes, and a few values beside them, as blocks of bs rows;
 * values of `kind`. */
sparse with_blocks(const std::vector<int> &sizes, kind what, int bs = 1);

/* Sizes between 1 and `most`. */
std::vector<int> mixed(size_t count, int most);

/* The first row of each block, and the number of rows. */
std::vector<int32_t> starts_of(const std::vector<int> &sizes);

constexpr bisai_form FORMS[] = {BISAI_FORM_INVERSE, BISAI_FORM_LU, BISAI_FORM_GAUSS_HUARD,
                                BISAI_FORM_GAUSS_HUARD_TRANSPOSED};

#endif
