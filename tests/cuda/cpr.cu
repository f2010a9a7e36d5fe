/* SPDX-License-Identifier: BSD-3-Clause */
/* CPR on a device against the host's: its operations, and whole preconditioners. */
#include <algorithm>

#include <bisai/bisai.h>

#include "core/matrix/bcsr_impl.h"
#include "cpr/cpr_ops.h"
#include "cpr/scales.h"
#include "cpr/weights.h"
#include "device.cuh"
#include "structure.cuh"

namespace {

const bsi_cpr_ops *host_ops() { return bsi_backend_host.cpr; }
const bsi_cpr_ops *device_ops() { return bsi_backend_cuda.cpr; }

/* --- operations --- */

/* A matrix with diagonal blocks, on the host and on the device. */
struct cells {
  int32_t rows;
  int bs;
  structure s;
  std::vector<int32_t> place;
  std::vector<double> values;
  device_array<int32_t> row_ptr, col_idx, diagonal;
  device_array<double> d_values;
  cells(int32_t rows, int bs, int32_t longest)
      : rows(rows), bs(bs), s(make_structure(rows, rows, longest, true)), place(places()),
        values(block_values()), row_ptr(s.row_ptr), col_idx(s.col_idx), diagonal(place),
        d_values(values) {}

  bisai_bcsr on_host() const { return matrix(bs, s.row_ptr.data(), s.col_idx.data(), values); }
  bisai_bcsr on_device() const { return matrix(bs, row_ptr.data, col_idx.data, d_values.data); }
  /* The same structure with blocks of one value. */
  bisai_bcsr entries_on_host(const double *entries) const {
    return matrix(1, s.row_ptr.data(), s.col_idx.data(), entries);
  }
  bisai_bcsr entries_on_device(const double *entries) const {
    return matrix(1, row_ptr.data, col_idx.data, entries);
  }

private:
  std::vector<int32_t> places() const {
    std::vector<int32_t> p(rows);
    for (int32_t i = 0; i < rows; i++)
      for (int32_t q = s.row_ptr[i]; q < s.row_ptr[i + 1]; q++)
        if (s.col_idx[q] == i) p[i] = q;
    return p;
  }
  /* Most diagonal blocks are well conditioned. Some are negative, some are singular, and some of
   * these are zero. */
  std::vector<double> block_values() const {
    const size_t size = static_cast<size_t>(bs) * bs;
    std::vector<double> v = random_vector(s.col_idx.size() * size);
    for (int32_t i = 0; i < rows; i++) {
      double *block = v.data() + place[i] * size;
      for (int k = 0; k < bs; k++) block[k * (bs + 1)] += i % 7 == 3 ? -2.0 * bs : 2.0 * bs;
      for (size_t e = 0; e < size; e++)
        if (i % 11 == 5 || i % 13 == 6) block[e] = i % 11 == 5 ? 0.0 : 1.0;
    }
    return v;
  }
  bisai_bcsr matrix(int size, const int32_t *ptr, const int32_t *idx,
                    const std::vector<double> &v) const {
    return matrix(size, ptr, idx, v.data());
  }
  bisai_bcsr matrix(int size, const int32_t *ptr, const int32_t *idx, const double *v) const {
    bisai_bcsr a = {};
    a.block_rows = a.block_cols = rows, a.block_size = size;
    a.blocks = static_cast<int32_t>(s.col_idx.size()), a.type = BISAI_FP64;
    a.row_ptr = const_cast<int32_t *>(ptr), a.col_idx = const_cast<int32_t *>(idx);
    a.values = const_cast<double *>(v);
    return a;
  }
};

/* Calls f for small and large matrices, with rows of one block and of many. */
template <typename F> void for_all_cells(F f) {
  for (const int bs : {1, 2, 3, 4, 5, 6, 7, 8, 9, 17, 32})
    for (const int32_t rows : {1, 3, 33, 129, 1001})
      for (const int32_t longest : {0, 7, 70})
        if (!left_out(bs) && (!short_form() || rows == 33) && (rows <= 129 || bs <= 4))
          f(cells(rows, bs, longest));
}

bool same(const bsi_weight_stats &a, const bsi_weight_stats &b) {
  return a.singular == b.singular && a.reversed == b.reversed && a.excluded == b.excluded &&
         a.first_singular == b.first_singular && a.first_excluded == b.first_excluded;
}

enum source { FROM_DIAGONAL, FROM_STORAGE, GIVEN };

void weights_agree(const cells &c, int32_t pressure, source from) {
  const context_on host(BISAI_BACKEND_HOST), device(BISAI_BACKEND_CUDA);
  const size_t n = static_cast<size_t>(c.rows) * c.bs;
  std::vector<double> given = random_vector(n), storage = random_vector(n * c.bs), w(n, NAN);
  for (int32_t i = 0; i < c.rows; i++)
    for (int k = 0; k < c.bs; k++) {
      if (i % 9 == 4) given[i * c.bs + k] = 0.0;
      storage[(static_cast<size_t>(i) * c.bs + k) * c.bs + k] += 2.0 * c.bs;
    }
  device_array<double> d_given(given), d_storage(storage), d_w(w);
  const bisai_bcsr a = c.on_host(), d_a = c.on_device();
  bsi_weight_stats expected = {}, found = {};
  const bool stored = from == FROM_STORAGE, ready = from == GIVEN;
  const bsi_weighing weighing = {&a, c.place.data(), ready ? given.data() : nullptr,
                                 stored ? storage.data() : nullptr, pressure},
                     d_weighing = {&d_a, c.diagonal.data, ready ? d_given.data : nullptr,
                                   stored ? d_storage.data : nullptr, pressure};
  const bool good = device_ops()->weigh(device, &d_weighing, d_w.data, &found) == BISAI_OK;
  host_ops()->weigh(host, &weighing, w.data(), &expected);
  const double most = apart(d_w.fetch(), w);
  verdict(good && most <= 1e-12 && same(found, expected),
          "%d rows of %d, pressure %d, source %d: apart %g; singular %lld (%d) for %lld (%d), "
          "reversed %lld for %lld, excluded %lld (%d) for %lld (%d)",
          c.rows, c.bs, pressure, from, most, static_cast<long long>(found.singular),
          found.first_singular, static_cast<long long>(expected.singular), expected.first_singular,
          static_cast<long long>(found.reversed), static_cast<long long>(expected.reversed),
          static_cast<long long>(found.excluded), found.first_excluded,
          static_cast<long long>(expected.excluded), expected.first_excluded);
}

void pressure_matrix_agrees(const cells &c, int32_t pressure) {
  const context_on host(BISAI_BACKEND_HOST), device(BISAI_BACKEND_CUDA);
  const size_t n = static_cast<size_t>(c.rows) * c.bs, blocks = c.s.col_idx.size();
  std::vector<double> w = random_vector(n), values(blocks, NAN), columns(blocks * c.bs, NAN);
  for (int32_t i = 4; i < c.rows; i += 9)
    for (int k = 0; k < c.bs; k++) w[i * c.bs + k] = 0.0;
  device_array<double> d_w(w), both(values), one(values), both_columns(columns),
      one_columns(columns);
  const bisai_bcsr a = c.on_host(), d_a = c.on_device();
  const bool good =
      !device_ops()->reduce(device, &d_a, d_w.data, pressure, both.data, both_columns.data) &&
      !device_ops()->reduce(device, &d_a, d_w.data, pressure, one.data, nullptr) &&
      !device_ops()->reduce(device, &d_a, d_w.data, pressure, nullptr, one_columns.data);
  CHECK(cudaDeviceSynchronize());
  host_ops()->reduce(host, &a, w.data(), pressure, values.data(), columns.data());
  const double most = apart(both.fetch(), values);
  verdict(good && most <= 4e-16 * (3.0 * c.bs + 3.0) * c.bs && both.fetch() == one.fetch() &&
              both_columns.fetch() == columns && one_columns.fetch() == columns,
          "%d rows of %d, pressure %d: apart %g, or other columns", c.rows, c.bs, pressure, most);
}

void steps_agree(const cells &c, int32_t pressure) {
  const context_on host(BISAI_BACKEND_HOST), device(BISAI_BACKEND_CUDA);
  const size_t n = static_cast<size_t>(c.rows) * c.bs, blocks = c.s.col_idx.size();
  int64_t longest = 0;
  for (int32_t i = 0; i < c.rows; i++)
    longest = std::max<int64_t>(longest, c.s.row_ptr[i + 1] - c.s.row_ptr[i]);
  std::vector<double> w = random_vector(n), v = random_vector(n), z = random_vector(c.rows),
                      x = random_vector(n), columns = random_vector(blocks * c.bs),
                      right(c.rows, NAN), rest(n, NAN);
  device_array<double> d_w(w), d_v(v), d_z(z), d_x(x), d_columns(columns), d_right(right),
      d_rest(rest), again(rest);
  const bisai_bcsr p = c.entries_on_host(nullptr), d_p = c.entries_on_device(nullptr);
  bool good = !device_ops()->gather(device, c.rows, c.bs, d_w.data, d_v.data, d_right.data) &&
              !device_ops()->add(device, c.rows, c.bs, pressure, d_z.data, d_x.data);
  for (double *out : {d_rest.data, again.data})
    good &= device_ops()->subtract(device, &d_p, c.bs, d_columns.data, d_z.data, d_v.data, out) ==
            BISAI_OK;
  CHECK(cudaDeviceSynchronize());
  host_ops()->gather(host, c.rows, c.bs, w.data(), v.data(), right.data());
  host_ops()->subtract(host, &p, c.bs, columns.data(), z.data(), v.data(), rest.data());
  host_ops()->add(host, c.rows, c.bs, pressure, z.data(), x.data());
  const double sums = apart(d_right.fetch(), right), residual = apart(d_rest.fetch(), rest);
  verdict(good && sums <= 4e-16 * c.bs * c.bs && residual <= 4e-16 * (longest + 1) * longest &&
              d_x.fetch() == x && d_rest.fetch() == again.fetch(),
          "%d rows of %d, pressure %d: sums apart %g, residuals %g, or other bits", c.rows, c.bs,
          pressure, sums, residual);
}

/* Entries of any sign, whose rows have powers of two up to `largest` as factors. */
std::vector<double> scaled_entries(const cells &c, int largest) {
  std::vector<double> entries = random_vector(c.s.col_idx.size());
  for (int32_t i = 0; i < c.rows; i++)
    for (int32_t q = c.s.row_ptr[i]; q < c.s.row_ptr[i + 1]; q++) {
      if (q == c.place[i]) entries[q] = 4.0 + entries[q];
      entries[q] = std::ldexp(entries[q], i * 7919 % (2 * largest + 1) - largest);
    }
  return entries;
}

void scales_agree(const cells &c, int largest) {
  const context_on host(BISAI_BACKEND_HOST), device(BISAI_BACKEND_CUDA);
  std::vector<double> values = scaled_entries(c, largest),
                      w = random_vector(static_cast<size_t>(c.rows) * 3);
  device_array<double> d_values(values), d_w(w);
  const bisai_bcsr p = c.entries_on_host(values.data()), d_p = c.entries_on_device(d_values.data);
  bsi_scaling s = {}, d_s = {};
  const bool good = !bsi_scaling_create(host, &p, c.place.data(), &s) &&
                    !bsi_scaling_create(device, &d_p, c.diagonal.data, &d_s) &&
                    !bsi_scales_apply(host, &s, 3, w.data()) &&
                    !bsi_scales_apply(device, &d_s, 3, d_w.data);
  CHECK(cudaDeviceSynchronize());
  verdict(good && d_values.fetch() == values && d_w.fetch() == w,
          "%d rows, factors up to 2^%d: other bits, or a failure", c.rows, largest);
  bsi_scaling_destroy(host, &s);
  bsi_scaling_destroy(device, &d_s);
}

/* --- preconditioners --- */

/* A grid of cells with a pressure, which couples all neighbours, and two other unknowns, which flow
 * in the direction of ascending numbers. */
struct reservoir {
  enum {
    SIDE = 24,
    LAYERS = 6,
    CELLS = SIDE * SIDE * LAYERS,
    BS = 3,
    SIZE = BS * BS,
    PRESSURE = 1
  };
  std::vector<int32_t> row_ptr{0}, col_idx;
  std::vector<double> values, b;
  size_t scalars() const { return static_cast<size_t>(CELLS) * BS; }

  reservoir() {
    const int32_t strides[] = {1, SIDE, SIDE * SIDE}, sides[] = {SIDE, SIDE, LAYERS};
    std::vector<double> permeability = random_vector(CELLS);
    for (int32_t i = 0; i < CELLS; i++) {
      const size_t begin = col_idx.size();
      std::vector<int32_t> cells{i};
      for (int d = 0; d < 3; d++) {
        if (i / strides[d] % sides[d] > 0) cells.push_back(i - strides[d]);
        if (i / strides[d] % sides[d] + 1 < sides[d]) cells.push_back(i + strides[d]);
      }
      std::sort(cells.begin(), cells.end());
      for (const int32_t j : cells) col_idx.push_back(j);
      values.resize(col_idx.size() * SIZE);
      double *diagonal = nullptr;
      for (size_t q = begin; q < col_idx.size(); q++)
        if (col_idx[q] == i) diagonal = &values[q * SIZE];
      for (int k = 0; k < BS; k++) diagonal[k * BS + k] = k == PRESSURE ? 0.01 : 1.0;
      for (size_t q = begin; q < col_idx.size(); q++) {
        const int32_t j = col_idx[q];
        const double t = std::exp(2.0 * (permeability[i] + permeability[j]));
        for (int r = 0; r < BS && j != i; r++) {
          const double share = (r + 1.0) / BS;
          values[q * SIZE + PRESSURE * BS + r] = -share * t;
          diagonal[PRESSURE * BS + r] += share * t;
          for (int k = 0; k < BS; k++)
            if (k != PRESSURE && j < i) {
              const double flow = k == r ? 0.3 : 0.1;
              values[q * SIZE + k * BS + r] = -flow;
              diagonal[k * BS + r] += flow;
            }
        }
      }
      row_ptr.push_back(static_cast<int32_t>(col_idx.size()));
    }
    b = random_vector(scalars());
  }
};

struct outcome {
  int iterations = -1, after_update = -1;
  bool converged = false;
  bisai_cpr_report report;
  std::vector<double> z, x;
};

bool done(bisai_context *context, bisai_status status, const char *what) {
  verdict(status == BISAI_OK, "%s: %s", what, bisai_context_error(context));
  return status == BISAI_OK;
}

int solve(bisai_context *context, const bisai_bcsr *a, bisai_precond *m, const reservoir &r,
          outcome *o) {
  bisai_solver_options how = bisai_solver_options_default();
  how.tolerance = 1e-10;
  how.gmres.flexible = true;
  bisai_solver *solver;
  if (!done(context, bisai_solver_create(context, r.scalars(), &how, &solver), "solver")) return -1;
  bisai_solver_report report = {};
  report.struct_size = sizeof report;
  o->x.assign(r.scalars(), 0.0);
  done(context, bisai_solver_solve(solver, a, m, r.b.data(), o->x.data(), &report), "solve");
  o->converged = report.reason == BISAI_REASON_CONVERGED;
  bisai_solver_destroy(&solver);
  return report.iterations;
}

/* Sets up, applies, solves, updates with other values and solves again. The vectors are in host
 * memory. */
outcome outcome_of(bisai_context *context, const reservoir &r,
                   const bisai_precond_options &options) {
  outcome o;
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.block_rows = desc.block_cols = reservoir::CELLS;
  desc.block_size = reservoir::BS;
  desc.row_ptr = r.row_ptr.data(), desc.col_idx = r.col_idx.data(), desc.values = r.values.data();
  bisai_bcsr *a = nullptr;
  bisai_precond *m = nullptr;
  if (done(context, bisai_bcsr_create(context, &desc, &a), "matrix") &&
      done(context, bisai_precond_create(context, a, &options, &m), "set-up")) {
    o.z.assign(r.scalars(), NAN);
    done(context, bisai_precond_apply(m, r.b.data(), o.z.data()), "application");
    o.iterations = solve(context, a, m, r, &o);
    std::vector<double> values = r.values;
    for (int32_t i = 0; i < reservoir::CELLS; i++)
      for (int32_t k = r.row_ptr[i] * reservoir::SIZE; k < r.row_ptr[i + 1] * reservoir::SIZE; k++)
        values[k] *= 1.0 + 0.1 * (i % 3);
    done(context, bisai_bcsr_update(a, values.data(), BISAI_COLUMN_MAJOR), "new values");
    done(context, bisai_precond_update(m, a), "update");
    const bool before = o.converged;
    o.after_update = solve(context, a, m, r, &o);
    o.converged = o.converged && before;
    bisai_precond_report report = {};
    report.struct_size = sizeof report;
    done(context, bisai_precond_get_report(m, &report), "report");
    o.report = report.cpr;
  }
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&a);
  return o;
}

double norm_of(const std::vector<double> &x) {
  double most = 0.0;
  for (const double value : x) most = std::fmax(most, std::fabs(value));
  return most;
}

bisai_precond_options cpr_options() {
  bisai_precond_options o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_CPR;
  return o;
}

void preconditioner_agrees(const reservoir &r, const bisai_precond_options &options,
                           const char *name) {
  const context_on host(BISAI_BACKEND_HOST), device(BISAI_BACKEND_CUDA);
  const outcome expected = outcome_of(host, r, options), got = outcome_of(device, r, options),
                again = outcome_of(device, r, options);
  const bisai_cpr_report &e = expected.report, &g = got.report;
  bool good = e.pressure == reservoir::PRESSURE && g.pressure == e.pressure && g.found == e.found &&
              g.weights == e.weights && g.singular_rows == e.singular_rows &&
              g.reversed_rows == e.reversed_rows && g.excluded_rows == e.excluded_rows;
  for (int k = 0; k < reservoir::BS; k++)
    good &= std::fabs(g.ellipticity[k] - e.ellipticity[k]) <= 1e-5;
  const double most = apart(got.x, expected.x) / norm_of(expected.x);
  verdict(good && expected.converged && got.converged && got.z == again.z && got.x == again.x &&
              std::abs(got.iterations - expected.iterations) <= 1 &&
              std::abs(got.after_update - expected.after_update) <= 1 && most <= 1e-5,
          "%s: %d and %d iterations for %d and %d, pressure %d for %d, solutions apart %g, or not "
          "the same bits again",
          name, got.iterations, got.after_update, expected.iterations, expected.after_update,
          g.pressure, e.pressure, most);
}

/* The sum of a measurement, twice on the device, is that of the host. H, D: the measurements. */
template <typename H, typename D>
void sums_agree(const cells &c, const char *what, H on_host, D on_device) {
  const context_on host(BISAI_BACKEND_HOST), device(BISAI_BACKEND_CUDA);
  device_array<int64_t> sums(std::vector<int64_t>{-1, -1});
  int64_t expected = -1;
  bool good = on_host(host, &expected) == BISAI_OK;
  for (int k = 0; k < 2; k++) good &= on_device(device, sums.data + k) == BISAI_OK;
  CHECK(cudaDeviceSynchronize());
  const std::vector<int64_t> got = sums.fetch();
  verdict(good && got[0] == expected && got[1] == expected,
          "%s of %d rows of size %d: %lld and %lld for %lld", what, c.rows, c.bs,
          static_cast<long long>(got[0]), static_cast<long long>(got[1]),
          static_cast<long long>(expected));
}

} // namespace

TEST(weights_agree_with_the_host) {
  for_all_cells([](const cells &c) {
    for (const source from : {FROM_DIAGONAL, FROM_STORAGE, GIVEN}) {
      weights_agree(c, 0, from);
      if (c.bs > 1) weights_agree(c, c.bs - 1, from);
    }
  });
}

TEST(pressure_matrices_agree_with_the_host) {
  for_all_cells([](const cells &c) {
    pressure_matrix_agrees(c, 0);
    if (c.bs > 1) pressure_matrix_agrees(c, c.bs / 2);
  });
}

TEST(steps_between_vectors_and_pressures_agree_with_the_host) {
  for_all_cells([](const cells &c) { steps_agree(c, c.bs - 1); });
}

TEST(couplings_are_those_of_the_host_to_the_bit) {
  for (const int32_t rows : {0, 1, 31, 33, 129, 3001})
    for (const int32_t longest : {0, 7, 40}) {
      if (short_form() && rows > 129) continue;
      cells c(rows, 1, longest);
      std::vector<double> entries = random_vector(c.s.col_idx.size());
      for (int32_t i = 0; i < rows; i++) entries[c.place[i]] = 4.0 + entries[c.place[i]] * 3.0;
      device_array<double> d_entries(entries);
      const bisai_bcsr p = c.entries_on_host(entries.data()),
                       d_p = c.entries_on_device(d_entries.data);
      sums_agree(
          c, "couplings",
          [&](bisai_context *host, int64_t *sum) {
            return host_ops()->couple(host, &p, c.place.data(), sum);
          },
          [&](bisai_context *device, int64_t *sum) {
            return device_ops()->couple(device, &d_p, c.diagonal.data, sum);
          });
    }
}

TEST(reaches_are_those_of_the_host_to_the_bit) {
  for_all_cells([](const cells &c) {
    const bisai_bcsr a = c.on_host(), d_a = c.on_device();
    for (const int32_t pressure : {0, c.bs - 1})
      sums_agree(
          c, "reaches",
          [&](bisai_context *host, int64_t *sum) {
            return host_ops()->reach(host, &a, c.place.data(), pressure, sum);
          },
          [&](bisai_context *device, int64_t *sum) {
            return device_ops()->reach(device, &d_a, c.diagonal.data, pressure, sum);
          });
  });
}

TEST(scales_are_those_of_the_host_to_the_bit) {
  for (const int32_t rows : {0, 1, 31, 33, 129, 3001})
    for (const int32_t longest : {0, 7, 40})
      for (const int largest : {0, 10})
        if (!short_form() || rows <= 129) scales_agree(cells(rows, 1, longest), largest);
}

TEST(preconditioners_of_scaled_cells_agree_with_the_host) {
  reservoir r;
  for (int32_t i = 0; i < reservoir::CELLS; i++) {
    const int power = i * 7919 % 21 - 10;
    for (int32_t k = r.row_ptr[i] * reservoir::SIZE; k < r.row_ptr[i + 1] * reservoir::SIZE; k++)
      r.values[k] = std::ldexp(r.values[k], power);
    for (int k = 0; k < reservoir::BS; k++)
      r.b[i * reservoir::BS + k] = std::ldexp(r.b[i * reservoir::BS + k], power);
  }
  preconditioner_agrees(r, cpr_options(), "scaled cells");
}

TEST(preconditioners_agree_with_the_host) {
  const reservoir r;
  bisai_precond_options o = cpr_options();
  preconditioner_agrees(r, o, "pressure found");
  o.cpr.pressure = reservoir::PRESSURE;
  preconditioner_agrees(r, o, "pressure given");
  if (short_form()) return;
  o.cpr.keep_pressure = true;
  preconditioner_agrees(r, o, "pressure matrix kept");
  o.cpr.keep_pressure = false, o.cpr.additive = true;
  preconditioner_agrees(r, o, "additive");
  o.cpr.additive = false, o.cpr.second = BISAI_CPR_SECOND_STAGE_ILU;
  preconditioner_agrees(r, o, "second stage ilu");
}

TEST(weights_and_storage_may_lie_on_either_side) {
  const context_on device(BISAI_BACKEND_CUDA);
  const reservoir r;
  std::vector<double> weights(r.scalars(), 1.0),
      storage = random_vector(r.scalars() * reservoir::BS);
  for (size_t k = 0; k < r.scalars(); k++) storage[k * reservoir::BS + k % reservoir::BS] += 6.0;
  device_array<double> d_weights(weights), d_storage(storage);
  for (const bool given : {true, false}) {
    bisai_precond_options o = cpr_options();
    o.cpr.pressure = reservoir::PRESSURE;
    (given ? o.cpr.weights : o.cpr.storage) = given ? weights.data() : storage.data();
    const outcome host = outcome_of(device, r, o);
    (given ? o.cpr.weights : o.cpr.storage) = given ? d_weights.data : d_storage.data;
    const outcome there = outcome_of(device, r, o);
    verdict(host.z == there.z && host.x == there.x && host.iterations == there.iterations &&
                host.report.weights == (given ? BISAI_WEIGHTS_GIVEN : BISAI_WEIGHTS_TRUE_IMPES),
            "%s: %d iterations from host memory, %d from device memory",
            given ? "weights" : "storage", host.iterations, there.iterations);
  }
}
