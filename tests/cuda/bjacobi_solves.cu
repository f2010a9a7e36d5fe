/* SPDX-License-Identifier: BSD-3-Clause */
/* Inverses and decompositions of blocks of 1 … 32 rows on a device, against the blocks
 * themselves. */
#include <algorithm>
#include <cfloat>
#include <cstring>

#include "batches.cuh"

namespace {

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

/* Made twice, into memory full of NaN, and applied to several vectors, at once and one by one. */
void solves(bisai_context *device, const sparse &a, const std::vector<int> &sizes, bool natural,
            kind what) {
  const std::vector<int32_t> start = starts_of(sizes);
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

/* A device's values of the caller that begin where a value may, but not 16 bytes. */
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
  if (bisai_bcsr_create(device, &d, &matrix))
    return verdict(false, "unaligned blocks of %d rows: %s", m, bisai_context_error(device));
  bsi_bjacobi_options o = {};
  o.storage = BISAI_FP64;
  const matrix_on copied(device, a);
  jacobi_on right(device, copied.made, o), j(device, matrix, o);
  bool good = !right.status && !j.status;
  good = good && !bsi_bjacobi_update(device, copied.made, &right.made);
  good = good && !bsi_bjacobi_update(device, matrix, &j.made);
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

/* Calls test(sizes, kind) for batches of one size. */
template <typename F> void for_sizes(F test) {
  for (int m = 1; m <= 32; m++) {
    if (short_form() && m != 3 && m != 8 && m != 11 && m != 32) continue;
    for (const kind what : {RANDOM, PERMUTED, GRADED, SCALED})
      if (!short_form() || what == PERMUTED)
        test(std::vector<int>(static_cast<size_t>(short_form() ? 13 : 131), m), what);
  }
}

} // namespace

TEST(natural_blocks_are_solved_to_rounding) {
  const context_on device(BISAI_BACKEND_CUDA);
  for_sizes([&](const std::vector<int> &sizes, kind what) {
    solves(device, with_blocks(sizes, what, sizes[0]), sizes, true, what);
  });
}

TEST(given_blocks_are_solved_to_rounding) {
  const context_on device(BISAI_BACKEND_CUDA);
  for_sizes([&](const std::vector<int> &sizes, kind what) {
    solves(device, with_blocks(sizes, what), sizes, false, what);
  });
}

TEST(blocks_of_differing_sizes_are_solved_to_rounding) {
  const context_on device(BISAI_BACKEND_CUDA);
  for (const int most : {2, 4, 7, 10, 15, 16, 17, 24, 32})
    for (const int bs : {1, 3}) {
      if (short_form() && (most != 32 || bs != 3)) continue;
      std::vector<int> sizes = mixed(short_form() ? 40 : 700, most);
      sizes[0] = most;
      const int32_t rows = starts_of(sizes).back();
      if (rows % bs) /* the blocks of the matrix fit, those of the partition cross them */
        sizes.push_back(bs - rows % bs);
      if (sizes.back() > most) continue;
      solves(device, with_blocks(sizes, RANDOM, bs), sizes, false, RANDOM);
      solves(device, with_blocks(sizes, PERMUTED, bs), sizes, false, PERMUTED);
    }
}

/* There are so many that a warp solves with several, one after another. */
TEST(many_blocks_of_differing_sizes_are_solved_to_rounding) {
  const context_on device(BISAI_BACKEND_CUDA);
  const std::vector<int> sizes = mixed(short_form() ? 40 : 60000, 5);
  solves(device, with_blocks(sizes, RANDOM), sizes, false, RANDOM);
}

/* Other sizes cannot be borrowed from there (public.cu). */
TEST(unaligned_values_of_odd_sizes_are_inverted_like_aligned_ones) {
  const context_on device(BISAI_BACKEND_CUDA);
  for (const int m : {1, 3, 7, 11, 25}) unaligned(device, m);
}
