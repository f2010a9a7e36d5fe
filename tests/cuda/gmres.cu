/* SPDX-License-Identifier: BSD-3-Clause */
/* GMRES on a device against the host's: a step, its parts, and whole solves, whose operator is a
 * small matrix. */
#include "core/context/backend.h"
#include "core/context/context_impl.h"
#include "device.cuh"
#include "krylov/passes/krylov_ops.h"
#include "krylov/passes/rotation.h"

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

/* --- one step, its parts --- */

/* count orthonormal vectors of n values by the host's Gram–Schmidt, and after them w, of which
 * `kept` is new. */
std::vector<double> make_basis(bisai_context *host, int64_t n, int64_t ld, int count, double kept) {
  std::vector<double> v(ld * (count + 1), 0.0), work(BSI_CHUNKS * (count + 1)), h(count + 1);
  for (int c = 0; c <= count; c++) {
    double *w = v.data() + c * ld, norm2 = 0.0;
    for (int64_t i = 0; i < n; i++) w[i] = next_random();
    for (int pass = 0; pass < 2; pass++) {
      const bsi_basis before = {n, c, v.data(), ld, 0};
      bsi_backend_host.krylov->basis->dot_many(host, before, w, work.data(), h.data());
      bsi_backend_host.krylov->basis->axpy_many(host, before, h.data(), -1.0, w, work.data(),
                                                &norm2);
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
    good = good && !bsi_backend_cuda.krylov->gmres->step(on.device, &cycle, j, passes);
    std::vector<double> seen(2, NAN);
    good =
        good && !bsi_backend_cuda.memory->await_shared(on.device, 2, status + 2 * j, seen.data());
    std::vector<std::vector<double>> results = {d_basis.fetch(), H.fetch(), cosines.fetch(),
                                                sines.fetch(),   g.fetch(), seen};
    if (run == 0) first = results;
    for (size_t r = 0; r < results.size(); r++) good = good && same_bits(results[r], first[r]);
    bsi_backend_cuda.memory->release_shared(on.device, status);
  }
  double norm2 = 0.0, *w = basis.data() + count * ld;
  const bsi_basis before = {n, count, basis.data(), ld, 0};
  bsi_backend_host.krylov->basis->dot_many(on.host, before, w, work.data(), h.data());
  bsi_backend_host.krylov->basis->axpy_many(on.host, before, h.data(), -1.0, w, work.data(),
                                            &norm2);
  const bool again = passes == BSI_PASSES_TWO ||
                     (passes == BSI_PASSES_SELECTIVE && bsi_cancelled(count, h.data(), norm2));
  if (again) {
    bsi_backend_host.krylov->basis->dot_many(on.host, before, w, work.data(), h2.data());
    bsi_backend_host.krylov->basis->axpy_many(on.host, before, h2.data(), -1.0, w, work.data(),
                                              &norm2);
  }
  const bsi_cycle on_host = {n,
                             ld,
                             m,
                             basis.data(),
                             s.H.data(),
                             s.cosines.data(),
                             s.sines.data(),
                             s.g.data(),
                             s.status.data(),
                             work.data()};
  bsi_backend_host.krylov->gmres->rotate(on.host, &on_host, j, h.data(),
                                         again ? h2.data() : nullptr, &norm2);
  bsi_backend_host.krylov->basis->scale_by_norm(on.host, n, &norm2, w, w);
  /* Rounding of sums over vectors, against the norm of w, which is √n; over the share that is left
   * of it. */
  const double bound =
      1e-15 * (count + 10.0) * (1.0 + std::sqrt(static_cast<double>(n))) / std::fmin(1.0, kept);
  good = good && agree(first[0], basis, bound) && agree(first[1], s.H, bound) &&
         agree(first[2], s.cosines, bound) && agree(first[3], s.sines, bound) &&
         agree(first[4], s.g, bound);
  good = good && agree(first[5], {s.status[2 * j], s.status[2 * j + 1]}, bound);
  verdict(good, "n = %lld, j = %d, passes %d, kept %g", static_cast<long long>(n), j,
          static_cast<int>(passes), kept);
}

void triangle_agrees_with_the_host(contexts &on, int m, int k) {
  std::vector<double> H = random_vector(static_cast<size_t>(m + 1) * m), g = random_vector(m + 1),
                      y(m + 1, NAN);
  for (int i = 0; i < m; i++) H[i * (m + 1) + i] = i == 1 ? 0.0 : m + next_random();
  const device_array<double> d_H(H), d_g(g), d_y(y);
  bool good = bsi_backend_cuda.krylov->gmres->coefficients(on.device, m, k, d_H.data, d_g.data,
                                                           d_y.data) == BISAI_OK;
  bsi_backend_host.krylov->gmres->coefficients(on.host, m, k, H.data(), g.data(), y.data());
  verdict(good && agree(d_y.fetch(), y, 1e-13), "%d of %d columns", k, m);
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
  options.gmres.restart = restart;
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

/* Calls test(system, right-hand side, restart length) for systems of several sizes. */
template <typename F> void for_systems(contexts &on, F test) {
  for (const int64_t n : {1, 2, 7, 33, 400, 5001})
    for (const int restart : {1, 2, 5, 30}) {
      if (short_form() && (n != 33 || restart != 5)) continue;
      band a = convection(on, n);
      const std::vector<double> b = random_vector(n);
      test(a, b, restart);
    }
}

/* A system of 500 unknowns and its right-hand side, on both backends. */
struct problem {
  contexts on;
  band a = convection(on, 500);
  const std::vector<double> b = random_vector(500);
};

/* 500 diagonal entries. */
template <typename F> band diagonal(contexts &on, F value) {
  band a(&on, 500);
  for (int64_t i = 0; i < 500; i++) a.diagonal[i] = value(i);
  return a;
}

/* Takes the first unit vector to the second one and so on, and the last one to the first. */
band cyclic_shift(contexts &on) {
  band a(&on, 40);
  a.ring = true;
  for (double &value : a.below) value = 1.0;
  return a;
}

std::vector<double> first_unit_vector(int64_t n) {
  std::vector<double> e(n, 0.0);
  e[0] = 1.0;
  return e;
}

} // namespace

/* --- one step --- */

TEST(steps_agree_with_their_parts) {
  contexts on;
  for (const int64_t n : {1, 2, 3, 255, 1024, 1025, 70001, 135168, 135169, 270000})
    for (const int j : {0, 6, 7, 8, 29})
      if (n > j + 1 && (!short_form() || n == 2 || (n == 1025 && j == 8))) {
        step_agrees_with_its_parts(on, n, j, BSI_PASSES_ONE, 1.0);
        step_agrees_with_its_parts(on, n, j, BSI_PASSES_SELECTIVE, 1.0);
        step_agrees_with_its_parts(on, n, j, BSI_PASSES_SELECTIVE, 1e-3);
        step_agrees_with_its_parts(on, n, j, BSI_PASSES_TWO, 1.0);
      }
}

TEST(steps_on_long_vectors_agree_with_their_parts) {
  if (short_form()) SKIP("large");
  contexts on;
  for (const int64_t n : {540001, 1270432, 1351681, 1500003}) {
    step_agrees_with_its_parts(on, n, 8, BSI_PASSES_ONE, 1.0);
    step_agrees_with_its_parts(on, n, 8, BSI_PASSES_SELECTIVE, 1.0);
    step_agrees_with_its_parts(on, n, 8, BSI_PASSES_SELECTIVE, 1e-3);
  }
}

TEST(a_step_with_the_most_columns_of_one_launch_agrees_with_its_parts) {
  contexts on;
  step_agrees_with_its_parts(on, 1000, bsi_gmres_cuda.fused_columns - 1, BSI_PASSES_SELECTIVE,
                             1e-3);
}

TEST(triangles_agree_with_the_host) {
  contexts on;
  for (const int k : {0, 1, 2, 31, 33}) triangle_agrees_with_the_host(on, 33, k);
  for (const int k : {64, 65, 200}) triangle_agrees_with_the_host(on, 200, k);
}

/* --- solves --- */

TEST(solves_of_every_kind_agree_with_the_host) {
  contexts on;
  for_systems(on, [&](band &a, const std::vector<double> &b, int restart) {
    for (const bisai_orthogonalization kind :
         {BISAI_CLASSICAL, BISAI_CLASSICAL_REFINED, BISAI_MODIFIED, BISAI_CLASSICAL_SELECTIVE}) {
      if (short_form() && kind != BISAI_MODIFIED && kind != BISAI_CLASSICAL_SELECTIVE) continue;
      bisai_solver_options options = gmres(restart, 1e-10);
      options.gmres.orthogonalization = kind;
      solves_agree(on, "without a reduction hook", a, b, options, BISAI_REASON_CONVERGED);
      options.reduce = leave_alone;
      solves_agree(on, "with a reduction hook", a, b, options, BISAI_REASON_CONVERGED);
    }
  });
}

TEST(solves_with_an_initial_guess_agree_with_the_host) {
  contexts on;
  for_systems(on, [&](band &a, const std::vector<double> &b, int restart) {
    bisai_solver_options options = gmres(restart, 1e-10);
    options.use_initial_guess = true;
    solves_agree(on, "initial guess", a, b, options, BISAI_REASON_CONVERGED);
  });
}

TEST(a_zero_right_hand_side_ends_as_on_the_host) {
  problem p;
  solves_agree(p.on, "b = 0", p.a, std::vector<double>(500, 0.0), gmres(30, 1e-8),
               BISAI_REASON_CONVERGED);
}

TEST(the_limit_of_iterations_in_a_cycle_ends_as_on_the_host) {
  problem p;
  for (const int most : {0, 1, 3, 9, 10, 11, 14}) {
    if (short_form() && most != 1 && most != 11) continue;
    bisai_solver_options options = gmres(10, 1e-14);
    options.max_iterations = most;
    solves_agree(p.on, "limit", p.a, p.b, options, BISAI_REASON_MAX_ITERATIONS);
  }
}

TEST(tiny_and_huge_right_hand_sides_are_solved_as_on_the_host) {
  problem p;
  for (const double scale : {1e-200, 1e200}) {
    std::vector<double> c = p.b;
    for (double &value : c) value *= scale;
    solves_agree(p.on, scale < 1.0 ? "tiny" : "huge", p.a, c, gmres(30, 1e-8),
                 BISAI_REASON_CONVERGED, 1e-9 * scale + 1e-9);
  }
}

TEST(few_eigenvalues_need_as_few_steps_as_on_the_host) {
  contexts on;
  const std::vector<double> b = random_vector(500);
  band one = diagonal(on, [](int64_t) { return 2.0; }),
       three = diagonal(on, [](int64_t i) { return 1.0 + i % 3; });
  solves_agree(on, "one eigenvalue", one, b, gmres(30, 1e-8), BISAI_REASON_CONVERGED);
  solves_agree(on, "three eigenvalues", three, b, gmres(30, 1e-10), BISAI_REASON_CONVERGED);
}

/* The right-hand side is in the kernel: another one leaves it to rounding when the space is
 * exhausted. */
TEST(a_singular_matrix_breaks_down_as_on_the_host) {
  contexts on;
  band a = diagonal(on, [](int64_t i) { return i == 0 ? 0.0 : 1.0 + i % 3; });
  solves_agree(on, "singular", a, first_unit_vector(500), gmres(30, 1e-12), BISAI_REASON_BREAKDOWN);
}

TEST(a_nan_in_the_matrix_is_not_finite_as_on_the_host) {
  contexts on;
  band a = diagonal(on, [](int64_t i) { return i == 0 ? NAN : 1.0 + i % 3; });
  solves_agree(on, "NaN", a, random_vector(500), gmres(30, 1e-12), BISAI_REASON_NOT_FINITE);
}

TEST(a_cyclic_shift_stagnates_or_is_solved_in_one_cycle_as_on_the_host) {
  contexts on;
  band a = cyclic_shift(on);
  bisai_solver_options stalls = gmres(10, 1e-8);
  stalls.stagnation_cycles = 3;
  solves_agree(on, "stagnates", a, first_unit_vector(40), stalls, BISAI_REASON_STAGNATED);
  solves_agree(on, "one cycle", a, first_unit_vector(40), gmres(40, 1e-8), BISAI_REASON_CONVERGED);
}

TEST(a_monitor_stops_the_solve_as_on_the_host) {
  problem p;
  int calls = 0;
  bisai_solver_options options = gmres(30, 1e-12);
  options.monitor = stop_at_seven;
  options.monitor_user = &calls;
  solves_agree(p.on, "monitor", p.a, p.b, options, BISAI_REASON_STOPPED);
  verdict(calls == 3 * 8, "the monitor is called once an iteration: %d calls", calls);
}

TEST(a_failing_product_after_the_end_counts_for_nothing) {
  problem p;
  const int needed = solve(p.on.host, false, p.a, p.b, gmres(30, 1e-4)).report.iterations;
  p.a.fails_at = needed + 2; /* the host multiplies needed + 1 times */
  solves_agree(p.on, "failure after the end", p.a, p.b, gmres(30, 1e-4), BISAI_REASON_CONVERGED);
}

TEST(a_failing_product_ends_the_solve_as_on_the_host) {
  problem p;
  for (const int at : {0, 1, 5, 12}) {
    if (short_form() && at != 5) continue;
    p.a.fails_at = at;
    const outcome host = solve(p.on.host, false, p.a, p.b, gmres(10, 1e-12)),
                  device = solve(p.on.device, true, p.a, p.b, gmres(10, 1e-12));
    verdict(device.status == host.status && device.message == host.message &&
                device.report.iterations == host.report.iterations &&
                device.report.reason == host.report.reason,
            "failure of call %d: %s, on the host %s", at, device.message.c_str(),
            host.message.c_str());
  }
}

TEST(solves_leave_tickets_as_zeros) {
  problem p;
  step_agrees_with_its_parts(p.on, 70001, 8, BSI_PASSES_SELECTIVE, 1e-3);
  solves_agree(p.on, "solve", p.a, p.b, gmres(30, 1e-10), BISAI_REASON_CONVERGED);
  std::vector<unsigned> left(BSI_TICKETS, 1u);
  CHECK(cudaMemcpy(left.data(), p.on.device.made->tickets, BSI_TICKETS * sizeof(unsigned),
                   cudaMemcpyDefault));
  for (size_t i = 0; i < left.size(); i++) verdict(left[i] == 0, "ticket %zu: %u", i, left[i]);
}
