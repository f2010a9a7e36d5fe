/* SPDX-License-Identifier: BSD-3-Clause */
/* Block-Jacobi on a device, blocks of 1 … 32 rows: where they are against the host's sequential
 * rule, numbers against the blocks themselves, what is met and chosen against the host. */
#include <algorithm>
#include <cfloat>
#include <cstring>

#include <bisai/bisai.h>

#include "bjacobi/bjacobi.h"
#include "bjacobi/bjacobi_ops.h"
#include "core/backend.h"
#include "core/context_impl.h"
#include "core/values.h"
#include "device.cuh"

namespace {

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
    if (bisai_bcsr_create(context, &d, &made) != BISAI_OK)
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

/* --- where blocks are --- */

/* Rows in runs of equal patterns, 1 … longest each, a few columns a row. */
sparse with_runs(int32_t n, int bs, int longest) {
  sparse a;
  a.n = n * bs, a.bs = bs;
  int left = 0;
  std::vector<int32_t> pattern;
  for (int32_t i = 0; i < n; i++) {
    if (left-- <= 0) {
      left = static_cast<int>((next_random() + 1.0) / 2.0 * longest);
      pattern = {i, (i + 7) % n, (i + 13) % n};
      if (i % 3 == 0) pattern.push_back((i + 29) % n);
      std::sort(pattern.begin(), pattern.end());
      pattern.erase(std::unique(pattern.begin(), pattern.end()), pattern.end());
    }
    a.col.insert(a.col.end(), pattern.begin(), pattern.end());
    a.ptr.push_back(static_cast<int32_t>(a.col.size()));
  }
  a.values.assign(a.col.size() * static_cast<size_t>(bs) * bs, 1.0);
  return a;
}

void blocks_are_the_sequential_ones(bisai_context *host, bisai_context *device, const sparse &a,
                                    int most) {
  const matrix_on there(host, a), here(device, a);
  bsi_partition expected = {}, found = {};
  const bool made =
      host->backend->bjacobi->partition->find(host, there.made, most, &expected) == BISAI_OK &&
      device->backend->bjacobi->partition->find(device, here.made, most, &found) == BISAI_OK;
  bool same = made && found.blocks == expected.blocks && found.largest == expected.largest &&
              found.uniform == expected.uniform && found.rows == expected.rows &&
              std::memcmp(found.count, expected.count, sizeof found.count) == 0 &&
              !found.start == !expected.start;
  if (same && found.start) {
    std::vector<int32_t> start(static_cast<size_t>(found.blocks) + 1);
    device->backend->memory->fetch(device, start.data(), found.start,
                                   start.size() * sizeof start[0]);
    same = std::memcmp(start.data(), expected.start, start.size() * sizeof start[0]) == 0;
  }
  verdict(
      same,
      "blocks of %d rows in blocks of %d, at most %d: %d of %d, largest %d of %d, uniform %d of %d",
      a.n, a.bs, most, found.blocks, expected.blocks, found.largest, expected.largest,
      found.uniform, expected.uniform);
  host->backend->memory->release(host, expected.start);
  device->backend->memory->release(device, found.start);
}

void finding(bisai_context *host, bisai_context *device) {
  for (const int32_t n : {0, 1, 2, 31, 33, 511, 512, 513, 1025, 5000})
    for (const int longest : {0, 3, 12, 100})
      for (const int most : {1, 2, 5, 16, 31, 32}) {
        if (short_form() &&
            (longest == 12 || most == 2 || most == 31 || n == 31 || n == 511 || n == 5000))
          continue;
        blocks_are_the_sequential_ones(host, device, with_runs(n, 1, longest), most);
        if (n > 0 && n < 600)
          blocks_are_the_sequential_ones(host, device, with_runs(n, 3, longest), most);
      }
  if (!short_form()) /* more chunks of rows than are chained at a time */
    for (const int longest : {0, 12})
      blocks_are_the_sequential_ones(host, device, with_runs(1100000, 1, longest), 32);
}

/* --- numbers --- */

enum kind { RANDOM, PERMUTED, GRADED, SCALED, SPOILED, DEFICIENT, DOMINANT };

/* Dense diagonal blocks of the given sizes, and a few values beside them, as blocks of bs rows;
 * values of `kind`. */
sparse with_blocks(const std::vector<int> &sizes, kind what, int bs = 1) {
  std::vector<int32_t> start = {0};
  for (const int m : sizes) start.push_back(start.back() + m);
  sparse a;
  a.n = start.back(), a.bs = bs;
  std::vector<std::vector<std::pair<int32_t, double>>> rows(static_cast<size_t>(a.n));
  for (size_t b = 0; b < sizes.size(); b++) {
    const int m = sizes[b], shift = 1 + static_cast<int>(b) % 5;
    for (int r = 0; r < m; r++)
      for (int c = 0; c < m; c++) {
        double v = next_random();
        if (what == PERMUTED) /* no pivot is on the diagonal */
          v = c == (r + shift) % m ? 3.0 + v : r == c ? 0.0 : 0.1 * v;
        if (what == GRADED) v = (v + (r == c ? 2.0 : 0.0)) * std::pow(10.0, -0.4 * (r + c));
        if (what == SCALED) v *= std::pow(2.0, (r * 37 + static_cast<int>(b) * 11) % 200 - 100);
        if (what == DOMINANT) v += r == c ? 4.0 * m : 0.0;
        const bool last = r == m - 1 || c == m - 1;
        if (what == SPOILED || what == DEFICIENT) v += r == c ? 4.0 * m : 0.0;
        if (what == SPOILED && b % 5 == 4 && b > 40)
          v = 0.0;
        else if (what == SPOILED && b % 7 == 6 && m > 1 && last)
          v = r == c ? 1e-30 : 0.0; /* regular, and without a digit */
        if (what == DEFICIENT && b % 7 == 6 && m > 1 && r == m - 1)
          v = rows[static_cast<size_t>(start[b])][static_cast<size_t>(c)].second;
        rows[static_cast<size_t>(start[b] + r)].push_back({start[b] + c, v});
      }
  }
  for (int32_t i = 0; i < a.n; i++) { /* outside of the blocks */
    auto &row = rows[static_cast<size_t>(i)];
    const int32_t first = row.front().first, last = row.back().first;
    if (first > 3) row.insert(row.begin(), {first - 2 - i % 2, 0.5});
    if (last + 4 < a.n && i % 3) row.push_back({last + 1 + i % 3, -0.25});
  }
  for (int32_t i = 0; i < a.n / bs; i++) {
    std::vector<int32_t> columns;
    for (int r = 0; r < bs; r++)
      for (const auto &entry : rows[static_cast<size_t>(i * bs + r)])
        columns.push_back(entry.first / bs);
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    const size_t values = static_cast<size_t>(bs) * bs, first = a.values.size();
    a.values.resize(first + columns.size() * values, 0.0);
    for (int r = 0; r < bs; r++)
      for (const auto &entry : rows[static_cast<size_t>(i * bs + r)]) {
        const size_t k =
            std::lower_bound(columns.begin(), columns.end(), entry.first / bs) - columns.begin();
        a.values[first + k * values + static_cast<size_t>(entry.first % bs * bs + r)] =
            entry.second;
      }
    a.col.insert(a.col.end(), columns.begin(), columns.end());
    a.ptr.push_back(static_cast<int32_t>(a.col.size()));
  }
  return a;
}

/* The dense block of rows from … from + m − 1. */
std::vector<double> block_of(const sparse &a, int32_t from, int m) {
  std::vector<double> d(static_cast<size_t>(m) * m, 0.0);
  for (int32_t row = from; row < from + m; row++)
    for (int32_t q = a.ptr[row / a.bs]; q < a.ptr[row / a.bs + 1]; q++)
      for (int c = 0; c < a.bs; c++) {
        const int32_t column = a.col[q] * a.bs + c;
        if (column >= from && column < from + m)
          d[static_cast<size_t>((column - from) * m + row - from)] =
              a.values[(static_cast<size_t>(q) * a.bs + static_cast<size_t>(c)) * a.bs +
                       static_cast<size_t>(row % a.bs)];
      }
  return d;
}

/* ‖D y − x‖∞ over ‖D‖∞ ‖y‖∞ + ‖x‖∞ of a block: backward stability keeps it at a small multiple of ε
 * for solves; inverses lose κ more. */
double residual(int m, const double *d, const double *y, const double *x) {
  double worst = 0.0, norm = 0.0, largest_y = 0.0, largest_x = 0.0;
  for (int r = 0; r < m; r++) {
    long double sum = -static_cast<long double>(x[r]);
    double row = 0.0;
    for (int c = 0; c < m; c++) {
      sum += static_cast<long double>(d[c * m + r]) * y[c];
      row += std::fabs(d[c * m + r]);
    }
    const double apart = std::fabs(static_cast<double>(sum));
    worst = std::isnan(apart) ? INFINITY : std::max(worst, apart);
    norm = std::max(norm, row);
    largest_y = std::max(largest_y, std::fabs(y[r]));
    largest_x = std::max(largest_x, std::fabs(x[r]));
  }
  return worst / (norm * largest_y + largest_x);
}

/* Σ|D⁻¹||D| is not known here: an inverse's product has residuals up to ε κ(D) in this measure. */
double allowed(bisai_form form, int m, double condition) {
  const double growth = 64.0 * m * DBL_EPSILON;
  return form == BISAI_FORM_INVERSE ? growth * std::max(condition, 1.0) : growth * 4.0;
}

const bisai_form FORMS[] = {BISAI_FORM_INVERSE, BISAI_FORM_LU, BISAI_FORM_GAUSS_HUARD,
                            BISAI_FORM_GAUSS_HUARD_TRANSPOSED};

/* Made twice, into memory full of NaN, and applied to several vectors, at once and one by one. */
void solves(bisai_context *device, const sparse &a, const std::vector<int> &sizes, bool natural,
            kind what) {
  std::vector<int32_t> start = {0};
  for (const int m : sizes) start.push_back(start.back() + m);
  const matrix_on here(device, a);
  for (const bisai_form form : FORMS) {
    std::vector<uint8_t> before;
    for (int how = BISAI_EXTRACTION_AUTO; how <= BISAI_EXTRACTION_MERGED_SHARED; how++) {
      if (natural && how > 0) break;
      bsi_bjacobi_options o = {};
      o.form = form, o.storage = BISAI_FP64;
      o.extraction = static_cast<bisai_extraction>(how);
      if (!natural)
        o.given_blocks = static_cast<int32_t>(sizes.size()), o.given_start = start.data();
      jacobi_on j(device, here.made, o);
      bool good = j.status == BISAI_OK;
      for (int again = 0; again < 2 && good; again++) {
        CHECK(cudaMemset(j.made.data, 0xff, static_cast<size_t>(j.made.values) * 8));
        good = bsi_bjacobi_update(device, here.made, &j.made) == BISAI_OK;
        const std::vector<uint8_t> now = j.data();
        /* neither runs nor ways of extraction differ */
        good = good && (before.empty() || now == before);
        before = now;
      }
      verdict(good, "%d blocks of %d … rows, kind %d, form %d, extraction %d: %s",
              static_cast<int>(sizes.size()), sizes[0], what, form, how,
              bisai_context_error(device));
      if (how > 0 || !good) continue;
      const int count = 13; /* eight, four and one at once */
      const size_t n = static_cast<size_t>(a.n), ld = n + 3;
      const std::vector<double> x = random_vector(ld * count);
      const device_array<double> d_x(x), d_y(std::vector<double>(ld * count, NAN));
      good = device->backend->bjacobi->solve->apply(device, &j.made, count, d_x.data,
                                                    static_cast<int64_t>(ld), d_y.data,
                                                    static_cast<int64_t>(ld)) == BISAI_OK;
      const std::vector<double> y = d_y.fetch();
      double worst = 0.0;
      for (size_t b = 0; b < sizes.size(); b++) {
        const std::vector<double> d = block_of(a, start[b], sizes[b]);
        /* Rows of very different scales need the scaling of the residual row by row: there only the
         * forms' sizes are compared. */
        for (int v = 0; v < count; v++) {
          const double over =
              residual(sizes[b], d.data(), &y[v * ld + static_cast<size_t>(start[b])],
                       &x[v * ld + static_cast<size_t>(start[b])]) /
              allowed(form, sizes[b], j.made.stats.inversion.largest_condition);
          worst = std::max(worst, std::isnan(over) ? INFINITY : over);
        }
      }
      for (int v = 0; v < count; v++)
        for (size_t i = n; i < ld; i++) good = good && std::isnan(y[v * ld + i]);
      for (int v = 0; v < count && good; v++)
        good = device->backend->bjacobi->solve->apply(device, &j.made, 1, d_x.data + v * ld, 0,
                                                      d_y.data + v * ld, 0) == BISAI_OK;
      good = good && std::memcmp(d_y.fetch().data(), y.data(), y.size() * sizeof(double)) == 0;
      verdict(good && worst <= 1.0,
              "%d blocks of %d … rows%s, kind %d, form %d: residual %g of what is allowed, "
              "condition %g",
              static_cast<int>(sizes.size()), sizes[0], natural ? ", natural" : "", what, form,
              worst, j.made.stats.inversion.largest_condition);
    }
  }
}

std::vector<int> mixed(size_t count, int most) {
  std::vector<int> sizes(count);
  for (int &m : sizes) m = 1 + static_cast<int>((next_random() + 1.0) / 2.0 * most) % most;
  return sizes;
}

/* A device's values of the caller that begin where a value may, not where 16 bytes do. */
void unaligned(bisai_context *device, int m) {
  const std::vector<int> sizes(37, m);
  const sparse a = with_blocks(sizes, PERMUTED, m);
  std::vector<double> shifted = {NAN};
  shifted.insert(shifted.end(), a.values.begin(), a.values.end());
  const device_array<int32_t> ptr(a.ptr), col(a.col);
  const device_array<double> values(shifted);
  bisai_bcsr_desc d = bisai_bcsr_desc_default();
  d.block_rows = d.block_cols = a.n / a.bs, d.block_size = a.bs;
  d.row_ptr = ptr.data, d.col_idx = col.data, d.values = values.data + 1;
  d.location = BISAI_DEVICE, d.ownership = BISAI_BORROW;
  bisai_bcsr *matrix = nullptr;
  if (bisai_bcsr_create(device, &d, &matrix) != BISAI_OK)
    return verdict(false, "unaligned blocks of %d rows: %s", m, bisai_context_error(device));
  bsi_bjacobi_options o = {};
  o.storage = BISAI_FP64;
  const matrix_on copied(device, a);
  jacobi_on right(device, copied.made, o), j(device, matrix, o);
  bool good = right.status == BISAI_OK && j.status == BISAI_OK;
  good = good && bsi_bjacobi_update(device, copied.made, &right.made) == BISAI_OK;
  good = good && bsi_bjacobi_update(device, matrix, &j.made) == BISAI_OK;
  double apart = 0.0, largest = 0.0;
  if (good) {
    const size_t count = static_cast<size_t>(right.made.values);
    const auto x = right.fetch<double>(right.made.data, count),
               y = j.fetch<double>(j.made.data, count);
    for (size_t k = 0; k < count; k++) {
      apart = std::fmax(apart, std::fabs(x[k] - y[k])),
      largest = std::fmax(largest, std::fabs(x[k]));
      good = good && std::isfinite(y[k]);
    }
  }
  verdict(good && apart <= 1e-10 * largest, "unaligned blocks of %d rows: %g apart; %s", m, apart,
          bisai_context_error(device));
  bisai_bcsr_destroy(&matrix);
}

void numbers(bisai_context *device) {
  for (const int m : {3, 4, 8, 16}) unaligned(device, m);
  for (int m = 1; m <= 32; m++) {
    if (short_form() && m != 3 && m != 8 && m != 11 && m != 32) continue;
    for (const kind what : {RANDOM, PERMUTED, GRADED, SCALED}) {
      if (short_form() && what != PERMUTED) continue;
      const std::vector<int> sizes(static_cast<size_t>(short_form() ? 13 : 131), m);
      solves(device, with_blocks(sizes, what, m), sizes, true, what);
      solves(device, with_blocks(sizes, what), sizes, false, what);
    }
  }
  for (const int most : {2, 4, 7, 10, 15, 16, 17, 24, 32})
    for (const int bs : {1, 3}) {
      if (short_form() && (most != 32 || bs != 3)) continue;
      std::vector<int> sizes = mixed(short_form() ? 40 : 700, most);
      sizes[0] = most;
      int32_t rows = 0;
      for (const int m : sizes) rows += m;
      if (rows % bs) /* the blocks of the matrix fit, those of the partition cross them */
        sizes.push_back(bs - rows % bs);
      if (sizes.back() > most) continue;
      solves(device, with_blocks(sizes, RANDOM, bs), sizes, false, RANDOM);
      solves(device, with_blocks(sizes, PERMUTED, bs), sizes, false, PERMUTED);
    }
}

/* --- what is met --- */

void meets(bisai_context *host, bisai_context *device, const std::vector<int> &sizes, bool natural,
           bisai_form form, double amount) {
  std::vector<int32_t> start = {0};
  for (const int m : sizes) start.push_back(start.back() + m);
  const sparse a = with_blocks(sizes, SPOILED, natural ? sizes[0] : 1);
  const matrix_on there(host, a), here(device, a);
  bsi_bjacobi_options o = {};
  o.form = form, o.shift_amount = amount, o.group_rows = 32;
  if (!natural) o.given_blocks = static_cast<int32_t>(sizes.size()), o.given_start = start.data();
  jacobi_on right(host, there.made, o), j(device, here.made, o);
  const bisai_status expected = bsi_bjacobi_update(host, there.made, &right.made);
  const bisai_status got = bsi_bjacobi_update(device, here.made, &j.made);
  const bsi_bjacobi_stats &s = j.made.stats, &t = right.made.stats;
  const bool message =
      std::strcmp(bisai_context_error(host), bisai_context_error(device)) == 0 || got == BISAI_OK;
  verdict(
      got == expected && message && s.inversion.singular_row == t.inversion.singular_row &&
          (got != BISAI_OK ||
           (s.inversion.repairs == t.inversion.repairs &&
            s.inversion.first_repair_row == t.inversion.first_repair_row &&
            s.near_singular == t.near_singular && s.near_singular_block == t.near_singular_block &&
            s.value_bytes == t.value_bytes && s.formats[BISAI_FP64] == t.formats[BISAI_FP64])),
      "%d blocks of %d … rows%s, form %d, shift %g: status %d/%d, singular %d/%d, repairs %d/%d "
      "from %d/%d, near %d/%d "
      "from %d/%d: %s / %s",
      static_cast<int>(sizes.size()), sizes[0], natural ? ", natural" : "", form, amount, got,
      expected, s.inversion.singular_row, t.inversion.singular_row,
      static_cast<int>(s.inversion.repairs), static_cast<int>(t.inversion.repairs),
      s.inversion.first_repair_row, t.inversion.first_repair_row, static_cast<int>(s.near_singular),
      static_cast<int>(t.near_singular), s.near_singular_block, t.near_singular_block,
      bisai_context_error(device), bisai_context_error(host));
}

/* A row that is there twice leaves a pivot of rounding errors, or none: each such block counts as
 * one or the other. */
void meets_deficient(bisai_context *device, const std::vector<int> &sizes, bool natural,
                     bisai_form form) {
  std::vector<int32_t> start = {0};
  int64_t deficient = 0;
  for (size_t b = 0; b < sizes.size(); b++) {
    start.push_back(start.back() + sizes[b]);
    deficient += b % 7 == 6 && sizes[b] > 1;
  }
  const matrix_on here(device, with_blocks(sizes, DEFICIENT, natural ? sizes[0] : 1));
  bsi_bjacobi_options o = {};
  o.form = form, o.shift_amount = 1e-3;
  if (!natural) o.given_blocks = static_cast<int32_t>(sizes.size()), o.given_start = start.data();
  jacobi_on j(device, here.made, o);
  const bool good = bsi_bjacobi_update(device, here.made, &j.made) == BISAI_OK;
  const bsi_bjacobi_stats &s = j.made.stats;
  verdict(good && s.inversion.repairs + s.near_singular == deficient,
          "%d blocks of %d … rows, form %d: %d repaired and %d near of %d",
          static_cast<int>(sizes.size()), sizes[0], form, static_cast<int>(s.inversion.repairs),
          static_cast<int>(s.near_singular), static_cast<int>(deficient));
}

/* --- formats --- */

void stores(bisai_context *host, bisai_context *device, const std::vector<int> &sizes,
            bool natural) {
  std::vector<int32_t> start = {0};
  for (const int m : sizes) start.push_back(start.back() + m);
  const sparse a = with_blocks(sizes, DOMINANT, natural ? sizes[0] : 1);
  const matrix_on there(host, a), here(device, a);
  bsi_bjacobi_options o = {};
  o.digits = 2;
  if (!natural) o.given_blocks = static_cast<int32_t>(sizes.size()), o.given_start = start.data();
  jacobi_on full(device, here.made, o);
  bool good =
      full.status == BISAI_OK && bsi_bjacobi_update(device, here.made, &full.made) == BISAI_OK;
  const std::vector<double> e =
      full.fetch<double>(full.made.data, static_cast<size_t>(full.made.values));
  const std::vector<int64_t> firsts = full.fetch<int64_t>(
      full.made.first_value, full.made.first_value ? static_cast<size_t>(full.made.groups) : 0);
  const auto first_of = [&](int32_t g) {
    const int64_t u = full.made.partition.uniform;
    return firsts.empty() ? g * full.made.per_group * u * u : firsts[static_cast<size_t>(g)];
  };
  for (const bisai_value_type type :
       {BISAI_FP32, BISAI_FP16, BISAI_BF16, BISAI_FP11_4, BISAI_FP11_20, BISAI_ADAPTIVE}) {
    o.storage = type;
    jacobi_on j(device, here.made, o);
    good = j.status == BISAI_OK && bsi_bjacobi_update(device, here.made, &j.made) == BISAI_OK;
    const std::vector<uint8_t> data = j.data();
    const std::vector<uint8_t> formats =
        j.fetch<uint8_t>(j.made.format, j.made.format ? static_cast<size_t>(j.made.groups) : 0);
    int64_t wrong = 0, looked = 0;
    for (size_t b = 0; b < sizes.size() && good; b++) {
      const int32_t g = static_cast<int32_t>(b) / j.made.per_group,
                    top = start[static_cast<size_t>(g) * j.made.per_group];
      const int32_t end =
          start[std::min(sizes.size(), static_cast<size_t>(g + 1) * j.made.per_group)];
      const bisai_value_type format =
          formats.empty() ? type : static_cast<bisai_value_type>(formats[static_cast<size_t>(g)]);
      for (int c = 0; c < sizes[b]; c++)
        for (int r = 0; r < sizes[b]; r++, looked++) {
          const int64_t at = static_cast<int64_t>(c) * (end - top) + start[b] - top + r;
          bool fits;
          const double rounded =
              bsi_value_round(format, e[static_cast<size_t>(first_of(g) + at)], &fits);
          wrong += rounded != bsi_value_load(format, data.data() + first_of(g) * j.made.slot_bytes,
                                             static_cast<size_t>(at));
        }
    }
    verdict(good && wrong == 0 && looked > 0,
            "%d blocks of %d … rows in format %d: %d of %d values differ: %s",
            static_cast<int>(sizes.size()), sizes[0], type, static_cast<int>(wrong),
            static_cast<int>(looked), bisai_context_error(device));
    o.group_rows = 32;
    jacobi_on right(host, there.made, o);
    o.group_rows = 0;
    good = good && bsi_bjacobi_update(host, there.made, &right.made) == BISAI_OK;
    good = good &&
           std::memcmp(right.made.stats.formats, j.made.stats.formats,
                       sizeof j.made.stats.formats) == 0 &&
           right.made.stats.value_bytes == j.made.stats.value_bytes;
    if (type == BISAI_ADAPTIVE)
      good = good && j.made.stats.formats[BISAI_FP64] < j.made.partition.blocks &&
             std::memcmp(formats.data(), right.made.format, formats.size()) == 0;
    verdict(good, "%d blocks of %d … rows: formats chosen for %d", static_cast<int>(sizes.size()),
            sizes[0], type);
    const std::vector<double> x = random_vector(static_cast<size_t>(a.n) * 13);
    std::vector<double> expected(x.size(), NAN);
    const device_array<double> d_x(x), d_y(expected);
    good = good &&
           host->backend->bjacobi->solve->apply(host, &right.made, 13, x.data(), a.n,
                                                expected.data(), a.n) == BISAI_OK &&
           device->backend->bjacobi->solve->apply(device, &j.made, 13, d_x.data, a.n, d_y.data,
                                                  a.n) == BISAI_OK;
    const std::vector<double> y = d_y.fetch();
    double apart = 0.0, largest = 0.0;
    for (size_t i = 0; i < y.size(); i++) {
      largest = std::max(largest, std::fabs(expected[i]));
      apart = std::max(apart, std::isnan(y[i]) ? INFINITY : std::fabs(y[i] - expected[i]));
    }
    /* A value on the border between two of the format may go the other way: a last digit of (11, 4)
     * is 2^-4, and there are few. */
    verdict(good &&
                apart <= (type == BISAI_ADAPTIVE ? 1e-2 : bsi_value_roundoff(type) * 2.0) * largest,
            "%d blocks of %d … rows applied in format %d: apart %g of %g",
            static_cast<int>(sizes.size()), sizes[0], type, apart, largest);
  }
}

/* --- blocks that are awkward --- */

/* Values of a dense block of rows from … from + m − 1; the pattern has them all. */
template <typename F> void overwrite(sparse *a, int32_t from, int m, F value) {
  for (int32_t row = from; row < from + m; row++)
    for (int32_t q = a->ptr[row / a->bs]; q < a->ptr[row / a->bs + 1]; q++)
      for (int c = 0; c < a->bs; c++) {
        const int32_t column = a->col[q] * a->bs + c;
        if (column >= from && column < from + m)
          a->values[(static_cast<size_t>(q) * a->bs + static_cast<size_t>(c)) * a->bs +
                    static_cast<size_t>(row % a->bs)] = value(row - from, column - from);
      }
}

/* The matrix without the diagonal blocks of the block rows that `gone` names. */
template <typename F> sparse without(const sparse &a, F gone) {
  sparse b;
  b.n = a.n, b.bs = a.bs;
  const size_t values = static_cast<size_t>(a.bs) * a.bs;
  for (int32_t i = 0; i < a.n / a.bs; i++) {
    for (int32_t q = a.ptr[i]; q < a.ptr[i + 1]; q++) {
      if (a.col[q] == i && gone(i)) continue;
      b.col.push_back(a.col[q]);
      b.values.insert(b.values.end(), a.values.begin() + static_cast<int64_t>(q * values),
                      a.values.begin() + static_cast<int64_t>((q + 1) * values));
    }
    b.ptr.push_back(static_cast<int32_t>(b.col.size()));
  }
  return b;
}

/* What is met, chosen and applied is the host's, and values do not differ between two updates. No
 * block is nearly singular, so that the results differ by little more than rounding errors, or
 * digits = 2. */
void agrees(bisai_context *host, bisai_context *device, const sparse &a,
            const std::vector<int> &sizes, bool natural, bsi_bjacobi_options o, const char *what) {
  std::vector<int32_t> start = {0};
  for (const int m : sizes) start.push_back(start.back() + m);
  if (!natural) o.given_blocks = static_cast<int32_t>(sizes.size()), o.given_start = start.data();
  o.group_rows = 32, o.digits = 2;
  const matrix_on there(host, a), here(device, a);
  jacobi_on right(host, there.made, o), j(device, here.made, o);
  const bisai_status expected =
      right.status ? right.status : bsi_bjacobi_update(host, there.made, &right.made);
  bisai_status got = j.status ? j.status : bsi_bjacobi_update(device, here.made, &j.made);
  const bsi_bjacobi_stats s = j.made.stats, &t = right.made.stats;
  bool good = got == expected && (got == BISAI_OK || std::strcmp(bisai_context_error(host),
                                                                 bisai_context_error(device)) == 0);
  good = good && s.inversion.singular_row == t.inversion.singular_row;
  double apart = 0.0, largest = 0.0;
  if (good && got == BISAI_OK) {
    const bsi_invert_stats &m = s.inversion, &n = t.inversion;
    good = m.repairs == n.repairs && m.first_repair_row == n.first_repair_row &&
           s.near_singular == t.near_singular && s.value_bytes == t.value_bytes &&
           std::memcmp(s.formats, t.formats, sizeof s.formats) == 0 &&
           std::fabs(m.largest_condition - n.largest_condition) <= 1e-8 * n.largest_condition &&
           (a.n == j.made.partition.blocks || m.largest_condition_row == n.largest_condition_row);
    const std::vector<uint8_t> before = j.data();
    CHECK(cudaMemset(j.made.data, 0xff, before.size()));
    good = good && bsi_bjacobi_update(device, here.made, &j.made) == BISAI_OK &&
           j.data() == before &&
           j.made.stats.inversion.largest_condition_row == m.largest_condition_row;
    const int count = 5;
    const std::vector<double> x = random_vector(static_cast<size_t>(a.n) * count);
    std::vector<double> z(x.size(), NAN);
    const device_array<double> d_x(x), d_z(z);
    good = good &&
           host->backend->bjacobi->solve->apply(host, &right.made, count, x.data(), a.n, z.data(),
                                                a.n) == BISAI_OK &&
           device->backend->bjacobi->solve->apply(device, &j.made, count, d_x.data, a.n, d_z.data,
                                                  a.n) == BISAI_OK;
    const std::vector<double> found = d_z.fetch();
    for (size_t i = 0; i < z.size(); i++) {
      largest = std::max(largest, std::fabs(z[i]));
      apart = std::max(apart, std::isnan(found[i]) ? INFINITY : std::fabs(found[i] - z[i]));
    }
    good = good && apart <= (o.storage == BISAI_ADAPTIVE ? 1e-2 : 1e-11) * largest;
  }
  verdict(good,
          "%s: %d blocks of %d … rows%s, form %d, storage %d, extraction %d, shift %g: status "
          "%d/%d, singular %d/%d, "
          "repairs %d/%d from %d/%d, condition %.17g/%.17g in %d/%d, apart %g of %g: %s / %s",
          what, static_cast<int>(sizes.size()), sizes[0], natural ? ", natural" : "", o.form,
          o.storage, o.extraction, o.shift_amount, got, expected, s.inversion.singular_row,
          t.inversion.singular_row, static_cast<int>(s.inversion.repairs),
          static_cast<int>(t.inversion.repairs), s.inversion.first_repair_row,
          t.inversion.first_repair_row, s.inversion.largest_condition,
          t.inversion.largest_condition, s.inversion.largest_condition_row,
          t.inversion.largest_condition_row, apart, largest, bisai_context_error(device),
          bisai_context_error(host));
}

/* Zeros in one place of every group, or in all; missing blocks there too where they are natural. */
void zeros(bisai_context *host, bisai_context *device, const std::vector<int> &sizes, bool natural,
           int every, int at, bisai_form form, bisai_value_type storage,
           bisai_extraction extraction, double amount) {
  sparse a = with_blocks(sizes, DOMINANT, natural ? sizes[0] : 1);
  int32_t from = 0;
  for (size_t b = 0; b < sizes.size(); from += sizes[b++])
    if (static_cast<int>(b) % every == at)
      overwrite(&a, from, sizes[b], [](int, int) { return 0.0; });
  bsi_bjacobi_options o = {};
  o.form = form, o.storage = storage, o.extraction = extraction, o.shift_amount = amount;
  agrees(host, device, a, sizes, natural, o, "zeros");
  if (natural)
    agrees(host, device, without(a, [&](int32_t i) { return i % every == at; }), sizes, natural, o,
           "missing");
}

/* Rows whose sum is infinite leave no shift to their block; others of its group are repaired all
 * the same, and it is the one that is refused. */
void hopeless(bisai_context *host, bisai_context *device, const std::vector<int> &sizes,
              bool natural, bisai_form form) {
  for (int victim = 1; victim < 18 && victim < static_cast<int>(sizes.size()); victim++) {
    if (sizes[static_cast<size_t>(victim)] < 2) continue;
    sparse a = with_blocks(sizes, DOMINANT, natural ? sizes[0] : 1);
    int32_t from = 0;
    for (int b = 0; b < static_cast<int>(sizes.size()); from += sizes[static_cast<size_t>(b++)])
      if (b == victim || b % 2 == 0)
        overwrite(&a, from, sizes[static_cast<size_t>(b)],
                  [&](int, int) { return b == victim ? 1e308 : 0.0; });
    bsi_bjacobi_options o = {};
    o.form = form, o.shift_amount = 0.01;
    agrees(host, device, a, sizes, natural, o, "hopeless");
  }
}

/* Many equal zeros, more than a repair takes at once: all have the same condition, and the first is
 * named. */
void all_zeros(bisai_context *host, bisai_context *device, int count, int m, bool natural,
               double amount) {
  const std::vector<int> sizes(static_cast<size_t>(count), m);
  sparse a = with_blocks(sizes, DOMINANT, natural ? m : 1);
  std::fill(a.values.begin(), a.values.end(), 0.0);
  bsi_bjacobi_options o = {};
  o.shift_amount = amount;
  if (!natural) o.extraction = BISAI_EXTRACTION_CACHED;
  agrees(host, device, a, sizes, natural, o, "all zeros");
}

/* Thread blocks that have no more shared memory than every device gives them. */
void short_of_memory(bisai_context *host, bisai_context *device) {
  const int has = device->limits.block_shared;
  device->limits.block_shared = 48 << 10;
  for (const int m : {4, 7, 8, 16, 24, 32}) {
    if (short_form() && m != 8 && m != 24) continue;
    zeros(host, device, std::vector<int>(41, m), true, 4, 2, BISAI_FORM_INVERSE, BISAI_FP64,
          BISAI_EXTRACTION_AUTO, 0.01);
  }
  device->limits.block_shared = has;
}

void awkward(bisai_context *host, bisai_context *device) {
  const bool few = short_form();
  short_of_memory(host, device);
  for (int m = 1; m <= 32; m++) /* one block, and a few */
    for (const int count : {1, 2, 3, 5, 7, 33}) {
      if (few && ((m != 4 && m != 7 && m != 12 && m != 16) || count % 2 == 0 || count == 3))
        continue;
      const std::vector<int> sizes(static_cast<size_t>(count), m);
      for (const bool natural : {true, false})
        zeros(host, device, sizes, natural, 4, 2, BISAI_FORM_INVERSE, BISAI_FP64,
              BISAI_EXTRACTION_AUTO, 0.01);
    }
  for (const int m : {4, 5, 6, 7, 8}) /* every way to fill the last warp */
    for (int count = 1; count <= 70 && !few; count++)
      zeros(host, device, std::vector<int>(static_cast<size_t>(count), m), true, 3, 1,
            BISAI_FORM_INVERSE, BISAI_FP64, BISAI_EXTRACTION_AUTO, 0.01);
  for (int bound = 3; bound <= 9; bound++) { /* every place of a group */
    std::vector<int> sizes = mixed(few ? 30 : 97, bound);
    sizes[0] = bound;
    const int per_group = 32 / bound;
    for (int at = 0; at < per_group; at++) {
      if (few && (bound != 9 || at != 1)) continue;
      for (const bisai_value_type storage : {BISAI_FP64, BISAI_ADAPTIVE})
        for (const bisai_extraction how : {BISAI_EXTRACTION_CACHED, BISAI_EXTRACTION_MERGED_CACHED,
                                           BISAI_EXTRACTION_MERGED_SHARED}) {
          zeros(host, device, sizes, false, per_group, at, BISAI_FORM_INVERSE, storage, how, 0.01);
          if (how == BISAI_EXTRACTION_CACHED)
            zeros(host, device, std::vector<int>(67, bound), true, per_group, at,
                  BISAI_FORM_INVERSE, storage, how, 0.01);
        }
    }
  }
  for (const bisai_form form : FORMS) { /* several groups a warp */
    std::vector<int> sizes = mixed(few ? 30 : 97, 6);
    sizes[5] = 31;
    zeros(host, device, sizes, false, 5, 3, form, BISAI_FP64, BISAI_EXTRACTION_AUTO, 0.01);
    if (form == BISAI_FORM_INVERSE)
      zeros(host, device, sizes, false, 5, 3, form, BISAI_ADAPTIVE, BISAI_EXTRACTION_AUTO, 0.01);
    hopeless(host, device, sizes, false, form);
    for (const int m : {2, 4, 8, 12}) {
      if (few && m != 8) continue;
      hopeless(host, device, std::vector<int>(20, m), true, form);
      hopeless(host, device, std::vector<int>(20, m), false, form);
    }
  }
  for (const double amount : {0.0, 0.01})
    for (const int m : {1, 4, 5, 8, 16, 20})
      for (const bool natural : {true, false}) {
        if (few && m != 8 && m != 16) continue;
        all_zeros(host, device,
                  few      ? 70
                  : m == 1 ? 100000
                  : m <= 8 ? 20000
                           : 3000,
                  m, natural, amount);
      }
}

void tests() {
  const context_on host(BISAI_BACKEND_HOST), device(BISAI_BACKEND_CUDA);
  finding(host, device);
  numbers(device);
  for (const bisai_form form : FORMS)
    for (const double amount : {0.0, 0.01}) {
      for (const int m : {1, 3, 5, 8, 11, 16, 20, 32}) {
        if (short_form() && m != 3 && m != 32) continue;
        const std::vector<int> sizes(short_form() ? 55 : 101, m);
        meets(host, device, sizes, true, form, amount);
        meets(host, device, sizes, false, form, amount);
      }
      if (amount > 0.0)
        for (const int m : {3, 8, 16, 32}) {
          if (short_form() && m != 8) continue;
          meets_deficient(device, std::vector<int>(101, m), true, form);
          meets_deficient(device, std::vector<int>(101, m), false, form);
        }
      meets(host, device, mixed(short_form() ? 55 : 150, 32), false, form, amount);
      if (!short_form()) meets(host, device, mixed(150, 9), false, form, amount);
    }
  for (const int m : {1, 4, 5, 8, 11, 16, 24, 32}) {
    if (short_form() && m != 5 && m != 32) continue;
    const std::vector<int> sizes(short_form() ? 19 : 83, m);
    stores(host, device, sizes, true);
    stores(host, device, sizes, false);
  }
  awkward(host, device);
  stores(host, device, mixed(short_form() ? 40 : 150, 32), false);
  if (!short_form()) stores(host, device, mixed(150, 9), false);
}

} // namespace

int main() { return run_on_device(tests); }
