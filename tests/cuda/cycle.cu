/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of multigrid cycles on a device against the host's. */
#include "apply/apply_ops.h"
#include "core/matrix/bcsr_impl.h"
#include "device.cuh"
#include "multigrid/cycle/cycle_ops.h"
#include "multigrid/level/multigrid_ops.h"
#include "structure.cuh"

namespace {

const bsi_cycle_ops *host_ops() { return bsi_backend_host.multigrid->cycle; }
const bsi_cycle_ops *device_ops() { return bsi_backend_cuda.multigrid->cycle; }

/* A relaxation with beta = 0.7. */
bsi_operation relaxation_of(const bisai_bcsr &a, const double *inverse, double alpha,
                            const double *b, const double *x, const double *previous, double *y) {
  bsi_operation o = {};
  o.matrix = &a;
  o.inverse.wide = inverse;
  o.alpha = alpha, o.beta = 0.7;
  o.b = bsi_wide(b), o.x = bsi_wide(x), o.previous = bsi_wide(previous);
  o.y = bsi_wide(y);
  return o;
}

/* `previous`: the iterate before x is given, and its place is that of the result
 * T: the type of the values of A */
template <typename T>
void relaxation_agrees(int32_t rows, int bs, int32_t longest, double alpha, bool zero,
                       bool previous) {
  const context_on host(BISAI_BACKEND_HOST), device(BISAI_BACKEND_CUDA);
  structure s = make_structure(rows, rows, longest, true);
  const size_t n = static_cast<size_t>(rows) * bs;
  std::vector<double> values = random_vector(s.col_idx.size() * bs * bs),
                      inverse = random_vector(n * bs), b = random_vector(n), x = random_vector(n),
                      y = random_vector(n);
  if (!previous || alpha == 0.0) y.assign(n, NAN);
  device_array<int32_t> row_ptr(s.row_ptr), col_idx(s.col_idx);
  std::vector<T> stored(values.begin(), values.end());
  device_array<T> d_values(stored);
  device_array<double> d_inverse(inverse), d_b(b), d_x(x), d_y(y), again(y);
  bisai_bcsr a = {};
  a.block_rows = a.block_cols = rows, a.block_size = bs;
  a.blocks = static_cast<int32_t>(s.col_idx.size()),
  a.type = sizeof(T) == 4 ? BISAI_FP32 : BISAI_FP64;
  a.row_ptr = row_ptr.data, a.col_idx = col_idx.data, a.values = d_values.data;
  bool good = true;
  bisai_context *context = device;
  for (int way = 0; way < 2; way++) {
    /* many lanes for a row, and few */
    if (way == 1) context->limits.processors = 0;
    double *to = (way ? again : d_y).data;
    const bsi_operation on_device = relaxation_of(
        a, d_inverse.data, alpha, d_b.data, zero ? nullptr : d_x.data, previous ? to : nullptr, to);
    good &= device_ops()->relax(context, &on_device) == BISAI_OK;
  }
  CHECK(cudaDeviceSynchronize());
  a.row_ptr = s.row_ptr.data(), a.col_idx = s.col_idx.data(), a.values = stored.data();
  const bsi_operation on_host =
      relaxation_of(a, inverse.data(), alpha, b.data(), zero ? nullptr : x.data(),
                    previous ? y.data() : nullptr, y.data());
  host_ops()->relax(host, &on_host);
  const double most = std::fmax(apart(d_y.fetch(), y), apart(again.fetch(), y));
  verdict(good && most <= 4e-16 * bs * bs * (longest + 4) * 4.0,
          "%d rows of %d, up to %d blocks, alpha %g, x %s: apart %g", rows, bs, longest, alpha,
          zero ? "zero" : "given", most);
}

void product_agrees(int32_t rows, int32_t cols, int height, int width, int32_t longest,
                    bool identities, double beta) {
  const context_on host(BISAI_BACKEND_HOST), device(BISAI_BACKEND_CUDA);
  structure s = make_structure(rows, cols, longest, false);
  std::vector<double> values = random_vector(s.col_idx.size() * height * width),
                      x = random_vector(static_cast<size_t>(cols) * width),
                      y = random_vector(static_cast<size_t>(rows) * height);
  if (beta == 0.0) y.assign(y.size(), NAN);
  device_array<int32_t> row_ptr(s.row_ptr), col_idx(s.col_idx);
  device_array<double> d_values(values), d_x(x), d_y(y), again(y);
  bsi_block_matrix m = {rows,
                        cols,
                        height,
                        width,
                        static_cast<int32_t>(s.col_idx.size()),
                        row_ptr.data,
                        col_idx.data,
                        identities ? nullptr : d_values.data};
  bisai_context *context = device;
  bool good = device_ops()->multiply(context, &m, nullptr, bsi_wide(d_x.data), beta,
                                     bsi_wide(d_y.data)) == BISAI_OK;
  context->limits.processors = 0;
  good &= device_ops()->multiply(context, &m, nullptr, bsi_wide(d_x.data), beta,
                                 bsi_wide(again.data)) == BISAI_OK;
  CHECK(cudaDeviceSynchronize());
  m.row_ptr = s.row_ptr.data(), m.col_idx = s.col_idx.data();
  m.values = identities ? nullptr : values.data();
  host_ops()->multiply(host, &m, nullptr, bsi_wide(x.data()), beta, bsi_wide(y.data()));
  const double most = std::fmax(apart(d_y.fetch(), y), apart(again.fetch(), y));
  verdict(good && most <= 4e-16 * width * (longest + 4) * 2.0,
          "%d rows of %d × %d%s, up to %d blocks, beta %g: apart %g", rows, height, width,
          identities ? " (identities)" : "", longest, beta, most);
}

std::vector<double> widened(const std::vector<float> &v) { return {v.begin(), v.end()}; }

std::vector<float> singles(size_t count) {
  const std::vector<double> v = random_vector(count);
  return {v.begin(), v.end()};
}

bsi_vector narrow(const device_array<float> &v) { return {v.data, true}; }

/* A relaxation with A, D⁻¹ and x in fp32. b and y are in fp32 or, if they are the caller's, in
 * fp64. */
void narrow_relaxation_agrees(int32_t rows, int bs, int32_t longest, double alpha, bool zero,
                              bool callers) {
  const context_on host(BISAI_BACKEND_HOST), device(BISAI_BACKEND_CUDA);
  structure s = make_structure(rows, rows, longest, true);
  const size_t n = static_cast<size_t>(rows) * bs;
  std::vector<float> values = singles(s.col_idx.size() * bs * bs), inverse = singles(n * bs),
                     b = singles(n), x = singles(n), previous = singles(n);
  std::vector<double> wide_b = widened(b), y(n, NAN), wide_x = widened(x),
                      wide_previous = widened(previous), wide_inverse = widened(inverse);
  device_array<int32_t> row_ptr(s.row_ptr), col_idx(s.col_idx);
  device_array<float> d_values(values), d_inverse(inverse), d_b(b), d_x(x), d_previous(previous),
      d_y(std::vector<float>(n, NAN));
  device_array<double> d_wide_b(wide_b), d_wide_y(y);
  bisai_bcsr a = {};
  a.block_rows = a.block_cols = rows, a.block_size = bs;
  a.blocks = static_cast<int32_t>(s.col_idx.size()), a.type = BISAI_FP32;
  a.row_ptr = row_ptr.data, a.col_idx = col_idx.data, a.values = d_values.data;
  bsi_operation o = relaxation_of(a, nullptr, alpha, nullptr, nullptr, nullptr, nullptr);
  o.inverse.narrow = d_inverse.data;
  o.b = callers ? bsi_wide(d_wide_b.data) : narrow(d_b);
  o.y = callers ? bsi_wide(d_wide_y.data) : narrow(d_y);
  if (!zero) o.x = narrow(d_x), o.previous = narrow(d_previous);
  const bool good = device_ops()->relax(device, &o) == BISAI_OK;
  CHECK(cudaDeviceSynchronize());
  a.row_ptr = s.row_ptr.data(), a.col_idx = s.col_idx.data(), a.values = values.data();
  const bsi_operation on_host =
      relaxation_of(a, wide_inverse.data(), alpha, wide_b.data(), zero ? nullptr : wide_x.data(),
                    zero ? nullptr : wide_previous.data(), y.data());
  host_ops()->relax(host, &on_host);
  const double most = apart(callers ? d_wide_y.fetch() : widened(d_y.fetch()), y);
  verdict(good && most <= 2.4e-7 * bs * bs * (longest + 4) * 4.0,
          "%d rows of %d in fp32, up to %d blocks, alpha %g, x %s%s: apart %g", rows, bs, longest,
          alpha, zero ? "zero" : "given", callers ? ", b and y in fp64" : "", most);
}

/* y ← m x + beta·y with m and one or both vectors in fp32. Square blocks are those of a matrix. */
void narrow_product_agrees(int32_t rows, int32_t cols, int height, int width, int32_t longest,
                           double beta, bool narrow_x, bool narrow_y) {
  const context_on host(BISAI_BACKEND_HOST), device(BISAI_BACKEND_CUDA);
  structure s = make_structure(rows, cols, longest, false);
  std::vector<float> values = singles(s.col_idx.size() * height * width),
                     x = singles(static_cast<size_t>(cols) * width),
                     y = singles(static_cast<size_t>(rows) * height);
  std::vector<double> wide_values = widened(values), wide_x = widened(x), wide_y = widened(y);
  device_array<int32_t> row_ptr(s.row_ptr), col_idx(s.col_idx);
  device_array<float> d_values(values), d_x(x), d_y(y);
  device_array<double> d_wide_x(wide_x), d_wide_y(wide_y);
  const bsi_vector on_x = narrow_x ? narrow(d_x) : bsi_wide(d_wide_x.data),
                   on_y = narrow_y ? narrow(d_y) : bsi_wide(d_wide_y.data);
  const int32_t blocks = static_cast<int32_t>(s.col_idx.size());
  bsi_block_matrix m = {rows, cols, height, width, blocks, row_ptr.data, col_idx.data, nullptr};
  m.narrow = d_values.data;
  bisai_bcsr a = {};
  a.block_rows = rows, a.block_cols = cols, a.block_size = height, a.blocks = blocks;
  a.type = BISAI_FP32, a.row_ptr = m.row_ptr, a.col_idx = m.col_idx, a.values = d_values.data;
  const bool good =
      (height == width ? bsi_multiply_rows(device, &a, nullptr, 1.0, on_x, beta, on_y, on_y)
                       : device_ops()->multiply(device, &m, nullptr, on_x, beta, on_y)) == 0;
  CHECK(cudaDeviceSynchronize());
  m.row_ptr = s.row_ptr.data(), m.col_idx = s.col_idx.data();
  m.values = wide_values.data(), m.narrow = nullptr;
  host_ops()->multiply(host, &m, nullptr, bsi_wide(wide_x.data()), beta, bsi_wide(wide_y.data()));
  const double most = apart(narrow_y ? widened(d_y.fetch()) : d_wide_y.fetch(), wide_y);
  verdict(good && most <= 2.4e-7 * width * (longest + 4) * 2.0,
          "%d rows of %d × %d in fp32, up to %d blocks, beta %g, x in fp%d, y in fp%d: apart %g",
          rows, height, width, longest, beta, narrow_x ? 32 : 64, narrow_y ? 32 : 64, most);
}

void steps_agree(int64_t n, bool parallel) {
  const context_on host(BISAI_BACKEND_HOST), device(BISAI_BACKEND_CUDA);
  std::vector<double> c = random_vector(n), v = random_vector(n), c2 = random_vector(n),
                      v2 = random_vector(n), r = random_vector(n), work(BSI_K_WORK, NAN);
  if (parallel)
    for (int64_t i = 0; i < n; i++) v2[i] = 3.0 * v[i];
  device_array<double> d_c(c), d_v(v), d_c2(c2), d_v2(v2), d_r(r), d_work(work), again_c(c),
      again_r(r);
  bool good = true;
  for (int way = 0; way < 2; way++) {
    double *out = (way ? again_c : d_c).data, *rest = (way ? again_r : d_r).data;
    const bsi_operation first = {.n = n, .v = d_v.data, .y = bsi_wide(rest), .work = d_work.data},
                        second = {.n = n,
                                  .x = bsi_wide(d_c2.data),
                                  .b = bsi_wide(rest),
                                  .v = d_v.data,
                                  .v2 = d_v2.data,
                                  .y = bsi_wide(out),
                                  .work = d_work.data};
    /* the second time in the parts that ranks do */
    const bsi_k_part parts[2][2] = {{BSI_K_WHOLE, BSI_K_WHOLE}, {BSI_K_SUM, BSI_K_REST}};
    for (int part = 0; part <= way; part++)
      good &= !device_ops()->first_step(device, &first, parts[way][part]);
    for (int part = 0; part <= way; part++)
      good &= !device_ops()->second_step(device, &second, parts[way][part]);
  }
  CHECK(cudaDeviceSynchronize());
  const bsi_operation first = {.n = n, .v = v.data(), .y = bsi_wide(r.data()), .work = work.data()},
                      second = {.n = n,
                                .x = bsi_wide(c2.data()),
                                .b = bsi_wide(r.data()),
                                .v = v.data(),
                                .v2 = v2.data(),
                                .y = bsi_wide(c.data()),
                                .work = work.data()};
  host_ops()->first_step(host, &first, BSI_K_WHOLE);
  host_ops()->second_step(host, &second, BSI_K_WHOLE);
  const double most = std::fmax(apart(d_c.fetch(), c), apart(d_r.fetch(), r));
  good &= d_c.fetch() == again_c.fetch() && d_r.fetch() == again_r.fetch();
  verdict(good && most <= 1e-12, "two steps, %lld values%s: apart %g, or not the same bits again",
          static_cast<long long>(n), parallel ? ", parallel" : "", most);
}

} // namespace

TEST(relaxations_agree_with_the_host) {
  for (const int bs : {1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 17, 32})
    for (const int32_t rows : {1, 3, 11, 33, 129, 400})
      for (const int32_t longest : {3, 8, 40, 80})
        if (!left_out(bs) && (!short_form() || rows == 33)) {
          relaxation_agrees<double>(rows, bs, longest, 0.0, true, true);
          relaxation_agrees<double>(rows, bs, longest, 0.0, false, true);
          relaxation_agrees<double>(rows, bs, longest, 0.4, false, false);
          relaxation_agrees<double>(rows, bs, longest, 0.4, false, true);
          relaxation_agrees<float>(rows, bs, longest, 0.4, false, true);
        }
}

TEST(relaxations_in_fp32_agree_with_the_host) {
  for (const int bs : {1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 17, 32})
    for (const int32_t rows : {3, 33, 400})
      for (const int32_t longest : {3, 40})
        if (!left_out(bs) && (!short_form() || rows == 33))
          for (const bool callers : {false, true}) {
            narrow_relaxation_agrees(rows, bs, longest, 0.0, true, callers);
            narrow_relaxation_agrees(rows, bs, longest, 0.0, false, callers);
            narrow_relaxation_agrees(rows, bs, longest, 0.4, false, callers);
          }
}

TEST(products_of_transfers_agree_with_the_host) {
  for (const int height : {1, 2, 3, 4, 6, 8, 11, 17, 32})
    for (const int width : {1, 2, 3, 5, 6, 12, 32})
      for (const int32_t longest : {2, 9, 70}) {
        if (short_form() && (height > 6 || width > 6)) continue;
        product_agrees(97, 113, height, width, longest, false, 0.0);
        product_agrees(97, 113, height, width, longest, false, 1.0);
        if (height == width) product_agrees(97, 113, height, width, longest, true, 0.5);
      }
}

TEST(products_of_transfers_in_fp32_agree_with_the_host) {
  for (const int height : {1, 2, 3, 6, 8, 11})
    for (const int width : {1, 2, 3, 6, 11})
      for (const int32_t longest : {2, 9, 70}) {
        if (left_out(height) || (short_form() && longest == 9)) continue;
        narrow_product_agrees(97, 113, height, width, longest, 0.0, true, false);
        narrow_product_agrees(97, 113, height, width, longest, 1.0, true, true);
        narrow_product_agrees(97, 113, height, width, longest, 1.0, false, true);
      }
}

TEST(steps_of_k_cycles_agree_with_the_host) {
  for (const int64_t n : {1, 31, 1024, 4096, 4097, 100000, 1000003}) {
    if (short_form() && n > 5000) continue;
    steps_agree(n, true);
    if (n > 1) steps_agree(n, false);
  }
}
