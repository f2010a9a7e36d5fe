/* SPDX-License-Identifier: BSD-3-Clause */
/* GMRES on a device against the host's: a step, its parts, and whole solves, whose operator is a
 * small matrix. */
#include "core/backend.h"
#include "core/context_impl.h"
#include "device.cuh"
#include "krylov/krylov_ops.h"
#include "krylov/rotation.h"

#include <bisai/krylov.h>

#include <cstring>
#include <string>

namespace {

/* A context on the device and one on the host with the same threads. */
struct contexts {
  const context_on device{BISAI_BACKEND_CUDA}, host{BISAI_BACKEND_HOST};
};

bool agree(const std::vector<double> &got, const std::vector<double> &expected, double bound) {
  bool good = got.size() == expected.size();
  for (size_t i = 0; good && i < got.size(); i++)
    good = std::isnan(expected[i]) ? std::isnan(got[i]) : std::fabs(got[i] - expected[i]) <= bound;
  return good;
}

bool same_bits(const std::vector<double> &a, const std::vector<double> &b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

/* --- one step --- */

/* count orthonormal vectors of n values by the host's Gram–Schmidt, and after them w, of which
 * `kept` is new. */
std::vector<double> make_basis(bisai_context *host, int64_t n, int64_t ld, int count, double kept) {
  std::vector<double> v(ld * (count + 1), 0.0), work(BSI_CHUNKS * (count + 1)), h(count + 1);
  for (int c = 0; c <= count; c++) {
    double *w = v.data() + c * ld, norm2 = 0.0;
    for (int64_t i = 0; i < n; i++) w[i] = next_random();
    for (int pass = 0; pass < 2; pass++) {
      bsi_backend_host.krylov->basis->dot_many(host, n, c, v.data(), ld, w, work.data(), h.data());
      bsi_backend_host.krylov->basis->axpy_many(host, n, c, v.data(), ld, h.data(), -1.0, w,
                                                work.data(), &norm2);
    }
    if (c < count)
      bsi_backend_host.krylov->basis->scale_by_norm(host, n, &norm2, w, w);
    else
      for (int64_t i = 0; i < n; i++) {
        w[i] *= kept;
        for (int b = 0; b < count; b++) w[i] += v[b * ld + i] / (b + 1.0);
      }
  }
  return v;
}

struct small_part {
  std::vector<double> H, cosines, sines, g, status;
  small_part(int m, int j)
      : H((m + 1) * m, 0.0), cosines(m), sines(m), g(m + 1), status(2 * m, NAN) {
    for (int i = 0; i < m; i++) {
      const double angle = next_random();
      cosines[i] = std::cos(angle), sines[i] = std::sin(angle);
    }
    g[j] = 0.7;
  }
};

/* Two runs on the device against the host's parts; `kept` < 0.1 asks for the second pass where it
 * is selective. */
void step_agrees_with_its_parts(contexts &on, int64_t n, int j, bsi_passes passes, double kept) {
  const int m = j + 3, count = j + 1;
  const int64_t ld = (n + 7) / 8 * 8;
  std::vector<double> basis = make_basis(on.host, n, ld, count, kept),
                      work(BSI_CHUNKS * (m + 1), NAN);
  small_part s(m, j);
  std::vector<std::vector<double>> first;
  std::vector<double> h(count), h2(count);
  bool good = true;
  for (int run = 0; run < 2; run++) {
    const device_array<double> d_basis(basis), d_work(work), H(s.H), cosines(s.cosines),
        sines(s.sines), g(s.g);
    double *status = bsi_backend_cuda.memory->allocate_shared(on.device, 2 * m);
    bsi_backend_cuda.memory->clear_shared(on.device, 2 * m, status);
    const bsi_cycle cycle = {n,          ld,     m,      d_basis.data, H.data, cosines.data,
                             sines.data, g.data, status, d_work.data};
    good = good && bsi_backend_cuda.krylov->gmres->step(on.device, &cycle, j, passes) == BISAI_OK;
    std::vector<double> seen(2, NAN);
    good = good && bsi_backend_cuda.memory->await_shared(on.device, 2, status + 2 * j,
                                                         seen.data()) == BISAI_OK;
    std::vector<std::vector<double>> results = {d_basis.fetch(), H.fetch(), cosines.fetch(),
                                                sines.fetch(),   g.fetch(), seen};
    if (run == 0) first = results;
    for (size_t r = 0; r < results.size(); r++) good = good && same_bits(results[r], first[r]);
    bsi_backend_cuda.memory->release_shared(on.device, status);
  }
  double norm2 = 0.0, *w = basis.data() + count * ld;
  bsi_backend_host.krylov->basis->dot_many(on.host, n, count, basis.data(), ld, w, work.data(),
                                           h.data());
  bsi_backend_host.krylov->basis->axpy_many(on.host, n, count, basis.data(), ld, h.data(), -1.0, w,
                                            work.data(), &norm2);
  const bool again = passes == BSI_PASSES_TWO ||
                     (passes == BSI_PASSES_SELECTIVE && bsi_cancelled(count, h.data(), norm2));
  if (again) {
    bsi_backend_host.krylov->basis->dot_many(on.host, n, count, basis.data(), ld, w, work.data(),
                                             h2.data());
    bsi_backend_host.krylov->basis->axpy_many(on.host, n, count, basis.data(), ld, h2.data(), -1.0,
                                              w, work.data(), &norm2);
  }
  bsi_backend_host.krylov->gmres->rotate(on.host, m, j, h.data(), again ? h2.data() : nullptr,
                                         &norm2, s.H.data(), s.cosines.data(), s.sines.data(),
                                         s.g.data(), s.status.data() + 2 * j);
  bsi_backend_host.krylov->basis->scale_by_norm(on.host, n, &norm2, w, w);
  /* Rounding of sums over vectors, against the norm of w, which is √n; over the share that is left
   * of it. */
  const double bound =
      1e-15 * (count + 10.0) * (1.0 + std::sqrt(static_cast<double>(n))) / std::fmin(1.0, kept);
  good = good && agree(first[0], basis, bound) && agree(first[1], s.H, bound) &&
         agree(first[2], s.cosines, bound) && agree(first[3], s.sines, bound) &&
         agree(first[4], s.g, bound);
  good = good && agree(first[5], {s.status[2 * j], s.status[2 * j + 1]}, bound);
  verdict(good, "step_agrees_with_its_parts, n = %lld, j = %d, passes %d, kept %g",
          static_cast<long long>(n), j, static_cast<int>(passes), kept);
}

void triangles_agree_with_the_host(contexts &on, int m, int k) {
  std::vector<double> H = random_vector(static_cast<size_t>(m + 1) * m), g = random_vector(m + 1),
                      y(m + 1, NAN);
  for (int i = 0; i < m; i++) H[i * (m + 1) + i] = i == 1 ? 0.0 : m + next_random();
  const device_array<double> d_H(H), d_g(g), d_y(y);
  bool good = bsi_backend_cuda.krylov->gmres->coefficients(on.device, m, k, d_H.data, d_g.data,
                                                           d_y.data) == BISAI_OK;
  bsi_backend_host.krylov->gmres->coefficients(on.host, m, k, H.data(), g.data(), y.data());
  verdict(good && agree(d_y.fetch(), y, 1e-13), "triangles_agree_with_the_host, %d of %d", k, m);
}

/* --- solves --- */

/* Rows of a band: a_i,i−1, a_i,i, a_i,i+1, with the corners that close it to a ring. */
struct band {
  int64_t n;
  std::vector<double> below, diagonal, above;
  bool ring = false;
  double *on_device = nullptr;
  contexts *on;
  int calls = 0, fails_at = -1;
  band(contexts *c, int64_t n_) : n(n_), below(n_, 0.0), diagonal(n_, 0.0), above(n_, 0.0), on(c) {}
  ~band() { cudaFree(on_device); }
};

bisai_status multiply_on_host(void *user, int64_t n, const double *x, double *y) {
  band *a = static_cast<band *>(user);
  if (a->calls++ == a->fails_at) return BISAI_IO_ERROR;
  for (int64_t i = 0; i < n; i++) {
    double sum = a->diagonal[i] * x[i];
    if (i > 0 || a->ring) sum += a->below[i] * x[(i + n - 1) % n];
    if (i < n - 1 || a->ring) sum += a->above[i] * x[(i + 1) % n];
    y[i] = sum;
  }
  return BISAI_OK;
}

__global__ void multiply_band(int64_t n, const double *a, bool ring, const double *x, double *y) {
  const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  double sum = a[n + i] * x[i];
  if (i > 0 || ring) sum += a[i] * x[(i + n - 1) % n];
  if (i < n - 1 || ring) sum += a[2 * n + i] * x[(i + 1) % n];
  y[i] = sum;
}

bisai_status multiply_on_device(void *user, int64_t n, const double *x, double *y) {
  band *a = static_cast<band *>(user);
  if (a->calls++ == a->fails_at) return BISAI_IO_ERROR;
  if (!a->on_device) {
    std::vector<double> all = a->below;
    all.insert(all.end(), a->diagonal.begin(), a->diagonal.end());
    all.insert(all.end(), a->above.begin(), a->above.end());
    CHECK(cudaMalloc(reinterpret_cast<void **>(&a->on_device), 3 * n * sizeof(double)));
    CHECK(cudaMemcpy(a->on_device, all.data(), 3 * n * sizeof(double), cudaMemcpyDefault));
  }
  multiply_band<<<static_cast<unsigned>((n + 127) / 128), 128>>>(n, a->on_device, a->ring, x, y);
  return BISAI_OK;
}

struct outcome {
  bisai_status status;
  bisai_solver_report report;
  std::vector<double> x, history;
  std::string message;
};

outcome solve(bisai_context *context, bool device, band &a, const std::vector<double> &b,
              const bisai_solver_options &options) {
  outcome o = {};
  o.report.struct_size = sizeof o.report;
  o.x.assign(a.n, 0.125);
  a.calls = 0;
  cudaFree(a.on_device);
  a.on_device = nullptr;
  bisai_solver *solver = nullptr;
  o.status = bisai_solver_create(context, a.n, &options, &solver);
  if (o.status) return o;
  if (device) {
    const device_array<double> d_b(b), d_x(o.x);
    o.status = bisai_solver_solve_operator(solver, multiply_on_device, &a, nullptr, d_b.data,
                                           d_x.data, &o.report);
    CHECK(cudaDeviceSynchronize());
    o.x = d_x.fetch();
  } else {
    o.status = bisai_solver_solve_operator(solver, multiply_on_host, &a, nullptr, b.data(),
                                           o.x.data(), &o.report);
  }
  if (o.report.history)
    o.history.assign(o.report.history, o.report.history + o.report.history_length);
  o.message = bisai_context_error(context);
  bisai_solver_destroy(&solver);
  return o;
}

/* The device's solve twice, the host's once: the same end, the same count, bits that repeat, values
 * that agree. */
void solves_agree(contexts &on, const char *name, band &a, const std::vector<double> &b,
                  const bisai_solver_options &options, bisai_reason reason, double bound = 1e-9) {
  const outcome host = solve(on.host, false, a, b, options),
                one = solve(on.device, true, a, b, options),
                two = solve(on.device, true, a, b, options);
  bool good = host.report.reason == reason && one.report.reason == reason &&
              one.status == host.status && one.report.iterations == host.report.iterations &&
              one.history.size() == host.history.size() &&
              one.report.applications == host.report.applications;
  good = good && same_bits(one.x, two.x) && same_bits(one.history, two.history);
  good = good && agree(one.x, host.x, bound) && agree(one.history, host.history, bound);
  verdict(good, "%s: device %s after %d (%s), host %s after %d, expected %s", name,
          bisai_reason_string(one.report.reason), one.report.iterations, one.message.c_str(),
          bisai_reason_string(host.report.reason), host.report.iterations,
          bisai_reason_string(reason));
}

band convection(contexts &on, int64_t n) {
  band a(&on, n);
  for (int64_t i = 0; i < n; i++)
    a.below[i] = -1.3, a.diagonal[i] = 2.1 + 0.1 * (i % 7), a.above[i] = -0.7;
  return a;
}

bisai_solver_options gmres(int restart, double tolerance) {
  bisai_solver_options options = bisai_solver_options_default();
  options.restart = restart;
  options.tolerance = tolerance;
  return options;
}

int stop_at_seven(void *user, int iteration, double relative) {
  (void)relative;
  ++*static_cast<int *>(user);
  return iteration == 7;
}

bisai_status leave_alone(void *user, double *values, int count) {
  (void)user, (void)values, (void)count;
  return BISAI_OK;
}

void solves_of_every_kind_agree(contexts &on) {
  for (const int64_t n : {1, 2, 7, 33, 400, 5001})
    for (const int restart : {1, 2, 5, 30}) {
      if (short_form() && (n != 33 || restart != 5)) continue;
      band a = convection(on, n);
      const std::vector<double> b = random_vector(n);
      for (const bisai_orthogonalization kind :
           {BISAI_CLASSICAL, BISAI_CLASSICAL_REFINED, BISAI_MODIFIED, BISAI_CLASSICAL_SELECTIVE}) {
        bisai_solver_options options = gmres(restart, 1e-10);
        if (short_form() && kind != BISAI_MODIFIED && kind != BISAI_CLASSICAL_SELECTIVE) continue;
        options.orthogonalization = kind;
        solves_agree(on, "solves_of_every_kind_agree", a, b, options, BISAI_REASON_CONVERGED);
        options.reduce = leave_alone;
        solves_agree(on, "solves_of_every_kind_agree, with a reduction hook", a, b, options,
                     BISAI_REASON_CONVERGED);
      }
      bisai_solver_options options = gmres(restart, 1e-10);
      options.use_initial_guess = true;
      solves_agree(on, "solves_of_every_kind_agree, initial guess", a, b, options,
                   BISAI_REASON_CONVERGED);
    }
}

void ends_are_the_hosts(contexts &on) {
  const int64_t n = 500;
  band a = convection(on, n);
  const std::vector<double> b = random_vector(n);
  solves_agree(on, "zero right-hand side", a, std::vector<double>(n, 0.0), gmres(30, 1e-8),
               BISAI_REASON_CONVERGED);
  for (const int most : {0, 1, 3, 9, 10, 11, 14}) {
    if (short_form() && most != 1 && most != 11) continue;
    bisai_solver_options options = gmres(10, 1e-14);
    options.max_iterations = most;
    solves_agree(on, "max_iterations in the middle of a cycle", a, b, options,
                 BISAI_REASON_MAX_ITERATIONS);
  }
  for (const double scale : {1e-200, 1e200}) {
    std::vector<double> c = b;
    for (double &value : c) value *= scale;
    solves_agree(on, "tiny and huge right-hand sides", a, c, gmres(30, 1e-8),
                 BISAI_REASON_CONVERGED, 1e-9 * scale + 1e-9);
  }
  band identity(&on, n);
  for (double &value : identity.diagonal) value = 2.0;
  solves_agree(on, "tolerance met in the first step", identity, b, gmres(30, 1e-8),
               BISAI_REASON_CONVERGED);
  for (int64_t i = 0; i < n; i++) identity.diagonal[i] = 1.0 + i % 3;
  solves_agree(on, "three steps are enough", identity, b, gmres(30, 1e-10), BISAI_REASON_CONVERGED);
  identity.diagonal[0] = 0.0;
  /* anything else leaves it to rounding when the space is exhausted */
  std::vector<double> kernel(n, 0.0);
  kernel[0] = 1.0;
  solves_agree(on, "singular matrix", identity, kernel, gmres(30, 1e-12), BISAI_REASON_BREAKDOWN);
  identity.diagonal[0] = NAN;
  solves_agree(on, "NaN in the matrix", identity, b, gmres(30, 1e-12), BISAI_REASON_NOT_FINITE);
  band shift(&on, 40);
  shift.ring = true;
  for (double &value : shift.below) value = 1.0;
  std::vector<double> e(40, 0.0);
  e[0] = 1.0;
  bisai_solver_options stalls = gmres(10, 1e-8);
  stalls.stagnation_cycles = 3;
  solves_agree(on, "a cyclic shift stagnates", shift, e, stalls, BISAI_REASON_STAGNATED);
  solves_agree(on, "a cyclic shift in one cycle", shift, e, gmres(40, 1e-8),
               BISAI_REASON_CONVERGED);
}

void monitors_and_failures_count_like_the_hosts(contexts &on) {
  const int64_t n = 500;
  band a = convection(on, n);
  const std::vector<double> b = random_vector(n);
  int calls = 0;
  bisai_solver_options options = gmres(30, 1e-12);
  options.monitor = stop_at_seven;
  options.monitor_user = &calls;
  solves_agree(on, "monitor stops", a, b, options, BISAI_REASON_STOPPED);
  verdict(calls == 3 * 8, "the monitor is called once an iteration: %d", calls);
  /* A call that would have come after the end does not fail the solve; one before does, with the
   * host's message. */
  const int needed = solve(on.host, false, a, b, gmres(30, 1e-4)).report.iterations;
  a.fails_at = needed + 2; /* the host multiplies needed + 1 times */
  solves_agree(on, "a failure beyond the end counts for nothing", a, b, gmres(30, 1e-4),
               BISAI_REASON_CONVERGED);
  for (const int at : {0, 1, 5, 12}) {
    if (short_form() && at != 5) continue;
    a.fails_at = at;
    const outcome host = solve(on.host, false, a, b, gmres(10, 1e-12)),
                  device = solve(on.device, true, a, b, gmres(10, 1e-12));
    verdict(device.status == host.status && device.message == host.message &&
                device.report.iterations == host.report.iterations &&
                device.report.reason == host.report.reason,
            "failure of call %d: %s, on the host %s", at, device.message.c_str(),
            host.message.c_str());
  }
}

void tests() {
  contexts on;
  for (const int64_t n :
       {1, 2, 3, 255, 1024, 1025, 70001, 135168, 135169, 270000, 540001, 1270432, 1351681, 1500003})
    for (const int j : {0, 6, 7, 8, 29})
      if (n > j + 1 && (n < 300000 || j == 8) &&
          (!short_form() || n == 2 || (n == 1025 && j == 8))) {
        step_agrees_with_its_parts(on, n, j, BSI_PASSES_ONE, 1.0);
        step_agrees_with_its_parts(on, n, j, BSI_PASSES_SELECTIVE, 1.0);
        step_agrees_with_its_parts(on, n, j, BSI_PASSES_SELECTIVE, 1e-3);
        if (n < 300000) step_agrees_with_its_parts(on, n, j, BSI_PASSES_TWO, 1.0);
      }
  step_agrees_with_its_parts(on, 1000, bsi_gmres_cuda.fused_columns - 1, BSI_PASSES_SELECTIVE,
                             1e-3);
  for (const int k : {0, 1, 2, 31, 33}) triangles_agree_with_the_host(on, 33, k);
  for (const int k : {64, 65, 200}) triangles_agree_with_the_host(on, 200, k);
  solves_of_every_kind_agree(on);
  ends_are_the_hosts(on);
  monitors_and_failures_count_like_the_hosts(on);
  std::vector<unsigned> left(BSI_TICKETS, 1u);
  CHECK(cudaMemcpy(left.data(), on.device.made->tickets, BSI_TICKETS * sizeof(unsigned),
                   cudaMemcpyDefault));
  bool zero = true;
  for (const unsigned ticket : left) zero = zero && ticket == 0;
  verdict(zero, "tickets are left as zeros");
}

} // namespace

int main() { return run_on_device(tests); }
