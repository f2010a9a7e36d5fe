/* SPDX-License-Identifier: BSD-3-Clause */
/* Vectors and reductions on a device against the host's. */
#include "core/context/backend.h"
#include "core/context/context_impl.h"
#include "device.cuh"
#include "krylov/passes/krylov_ops.h"

namespace {

bisai_context make_context(unsigned *tickets) {
  bisai_context context = {};
  context.backend = &bsi_backend_cuda;
  context.threads = 1;
  context.tickets = tickets;
  return context;
}

/* Every element to `bound`, NaN where NaN is. */
bool agree(const std::vector<double> &got, const std::vector<double> &expected, double bound) {
  bool good = true;
  for (size_t i = 0; i < got.size(); i++)
    good = good && (std::isnan(expected[i]) ? std::isnan(got[i])
                                            : std::fabs(got[i] - expected[i]) <= bound);
  return good;
}

void elements_agree(bisai_context *context, int64_t n) {
  const std::vector<double> x = random_vector(n);
  std::vector<double> y = random_vector(n);
  y.resize(n + 3, NAN);
  const device_array<double> d_x(x), d_y(y), norm2(std::vector<double>{5.0}),
      zero(std::vector<double>{0.0});
  bool good = bsi_backend_cuda.vectors->add(context, n, d_x.data, d_y.data) == BISAI_OK;
  bsi_backend_host.vectors->add(context, n, x.data(), y.data());
  good = good && agree(d_y.fetch(), y, 0.0);
  good = good && !bsi_backend_cuda.vectors->subtract_from(context, n, d_x.data, d_y.data);
  bsi_backend_host.vectors->subtract_from(context, n, x.data(), y.data());
  good = good && agree(d_y.fetch(), y, 0.0);
  good = good && !bsi_backend_cuda.vectors->combine(context, n, 0.5, d_x.data, -2.0, d_y.data);
  bsi_backend_host.vectors->combine(context, n, 0.5, x.data(), -2.0, y.data());
  good = good && agree(d_y.fetch(), y, 0.0);
  const double five = 5.0;
  good = good &&
         !bsi_backend_cuda.krylov->basis->scale_by_norm(context, n, norm2.data, d_y.data, d_y.data);
  bsi_backend_host.krylov->basis->scale_by_norm(context, n, &five, y.data(), y.data());
  good = good && agree(d_y.fetch(), y, 1e-15);
  good = good && !bsi_backend_cuda.vectors->copy(context, n, d_x.data, d_y.data);
  for (int64_t i = 0; i < n; i++) y[i] = x[i];
  good = good && agree(d_y.fetch(), y, 0.0);
  good = good &&
         !bsi_backend_cuda.krylov->basis->scale_by_norm(context, n, zero.data, d_x.data, d_y.data);
  for (int64_t i = 0; i < n; i++) y[i] = 0.0;
  good = good && agree(d_y.fetch(), y, 0.0);
  good = good && !bsi_backend_cuda.vectors->set(context, n, -2.5, d_y.data);
  for (int64_t i = 0; i < n; i++) y[i] = -2.5;
  verdict(good && agree(d_y.fetch(), y, 0.0), "%lld elements", static_cast<long long>(n));
}

/* Twice each, the second time with the first's tickets. */
void reductions_agree(bisai_context *context, int64_t n, int count) {
  const int64_t ld = n + 5;
  const std::vector<double> basis = random_vector(ld * count), w = random_vector(n),
                            coefficients = random_vector(count);
  std::vector<double> work(BSI_CHUNKS * (count + 1), NAN), out(count + 1, NAN), norm2(1, NAN),
      expected_w = w;
  const device_array<double> d_basis(basis), d_w(w), d_coefficients(coefficients), d_work(work),
      d_out(out), again(out), d_norm2(norm2), plain(w);
  const bsi_basis on_host = {n, count, basis.data(), ld, 0},
                  on_device = {n, count, d_basis.data, ld, 0};
  bool good = true;
  for (const device_array<double> *result : {&d_out, &again})
    good = good && !bsi_backend_cuda.krylov->basis->dot_many(context, on_device, d_w.data,
                                                             d_work.data, result->data);
  bsi_backend_host.krylov->basis->dot_many(context, on_host, w.data(), work.data(), out.data());
  const double bound = 1e-15 * (static_cast<double>(n) + 1.0);
  good = good && agree(d_out.fetch(), out, bound) && agree(again.fetch(), d_out.fetch(), 0.0);
  good =
      good && !bsi_backend_cuda.krylov->basis->axpy_many(context, on_device, d_coefficients.data,
                                                         -1.0, d_w.data, d_work.data, d_norm2.data);
  good = good && !bsi_backend_cuda.krylov->basis->axpy_many(context, on_device, d_coefficients.data,
                                                            -1.0, plain.data, nullptr, nullptr);
  bsi_backend_host.krylov->basis->axpy_many(context, on_host, coefficients.data(), -1.0,
                                            expected_w.data(), work.data(), norm2.data());
  const double close = 4e-16 * (count + 1) * (count + 1);
  good = good && agree(d_w.fetch(), expected_w, close) && agree(plain.fetch(), d_w.fetch(), 0.0);
  good = good && agree(d_norm2.fetch(), norm2, bound * (count + 1));
  verdict(good, "%d vectors of %lld elements", count, static_cast<long long>(n));
}

/* Calls test(context, number of elements) for sizes on both sides of every border. */
template <typename F> void for_sizes(F test) {
  const device_array<unsigned> tickets(std::vector<unsigned>(BSI_TICKETS, 0u));
  bisai_context context = make_context(tickets.data);
  for (const int64_t n : {0, 1, 31, 32, 33, 255, 256, 257, 1000, 65536, 65537, 300001})
    if (!short_form() || n <= 1 || n == 33 || n == 257 || n == 65537) test(&context, n);
}

} // namespace

TEST(elements_agree_with_the_host) { for_sizes(elements_agree); }

TEST(reductions_agree_with_the_host) {
  for_sizes([](bisai_context *context, int64_t n) {
    for (const int count : {0, 1, 7, 8, 9, 31}) reductions_agree(context, n, count);
  });
}

TEST(reductions_of_more_vectors_than_tickets_agree_with_the_host) {
  const device_array<unsigned> tickets(std::vector<unsigned>(BSI_TICKETS, 0u));
  bisai_context context = make_context(tickets.data);
  reductions_agree(&context, 100, BSI_TICKETS * 8 + 3);
}

TEST(reductions_leave_tickets_as_zeros) {
  const device_array<unsigned> tickets(std::vector<unsigned>(BSI_TICKETS, 0u));
  bisai_context context = make_context(tickets.data);
  for (const int64_t n : {33, 1000, 65537})
    for (const int count : {1, 9}) reductions_agree(&context, n, count);
  reductions_agree(&context, 100, BSI_TICKETS * 8 + 3);
  const std::vector<unsigned> left = tickets.fetch();
  for (size_t i = 0; i < left.size(); i++) verdict(left[i] == 0, "ticket %zu: %u", i, left[i]);
}

TEST(norms_and_start_vectors_agree_with_the_host) {
  const context_on host(BISAI_BACKEND_HOST), device(BISAI_BACKEND_CUDA);
  const bsi_vector_ops &on_host = *bsi_backend_host.vectors, &on_device = *bsi_backend_cuda.vectors;
  for (const int64_t n : {0, 1, 33, 4096, 4097, 1000003})
    for (const double scale : {1.0, 1e-310, 1e-200, 1e200, 1e308}) {
      if (short_form() && n > 5000) continue;
      std::vector<double> x(n);
      double expected = -1.0, norm = -1.0, again = -1.0;
      on_host.start(host, n, x.data());
      device_array<double> d_x(std::vector<double>(n, NAN));
      bool good = on_device.start(device, n, d_x.data) == BISAI_OK;
      CHECK(cudaDeviceSynchronize());
      good &= d_x.fetch() == x;
      for (double &value : x) value *= scale;
      device_array<double> scaled(x);
      const double *const here[] = {x.data()}, *const there[] = {d_x.data, scaled.data};
      double norms[2] = {-1.0, -1.0}, start = -1.0;
      on_host.norms(host, 1, n, here, &expected);
      good &= !on_device.norms(device, 2, n, there, norms) &&
              !on_device.norms(device, 1, n, there, &start) &&
              !on_device.norms(device, 1, n, there + 1, &again) && norms[0] == start;
      norm = norms[1];
      const bool same =
          std::isinf(expected) ? std::isinf(norm) : std::fabs(norm - expected) <= 1e-13 * expected;
      verdict(good && same && norm == again, "norm of %lld values of %g: %g for %g",
              static_cast<long long>(n), scale, norm, expected);
      double largest = -1.0, on_both = -2.0;
      good = !on_host.largest(host, n, x.data(), &largest) &&
             !on_device.largest(device, n, scaled.data, &on_both);
      verdict(good && largest == on_both, "largest of %lld values of %g: %g for %g",
              static_cast<long long>(n), scale, on_both, largest);
    }
}
