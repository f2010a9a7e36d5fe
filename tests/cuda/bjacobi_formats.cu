/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks in narrow formats on a device: every value of inverses, the choice of formats, and
 * applications of inverses and of decompositions, against the host. */
#include <algorithm>
#include <cstring>

#include "core/block/values.h"

#include "batches.cuh"

namespace {

void stores(bisai_context *host, bisai_context *device, const std::vector<int> &sizes,
            bool natural) {
  const std::vector<int32_t> start = starts_of(sizes);
  const sparse a = with_blocks(sizes, DOMINANT, natural ? sizes[0] : 1);
  const matrix_on there(host, a), here(device, a);
  bsi_bjacobi_options o = {};
  o.digits = 2;
  if (!natural) o.given_blocks = static_cast<int32_t>(sizes.size()), o.given_start = start.data();
  jacobi_on full(device, here.made, o);
  bool good = !full.status && !bsi_bjacobi_update(device, here.made, &full.made);
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
    good = !j.status && !bsi_bjacobi_update(device, here.made, &j.made);
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
    good = good && !bsi_bjacobi_update(host, there.made, &right.made);
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
    good =
        good &&
        !host->backend->bjacobi->solve->apply(host, &right.made, 13, x.data(), a.n, expected.data(),
                                              a.n) &&
        !device->backend->bjacobi->solve->apply(device, &j.made, 13, d_x.data, a.n, d_y.data, a.n);
    const std::vector<double> y = d_y.fetch();
    for (size_t v = 0; v < 13 && good; v++)
      good = device->backend->bjacobi->solve->apply(
                 device, &j.made, 1, d_x.data + v * static_cast<size_t>(a.n), 0,
                 d_y.data + v * static_cast<size_t>(a.n), 0) == BISAI_OK;
    verdict(good && std::memcmp(d_y.fetch().data(), y.data(), y.size() * sizeof(double)) == 0,
            "%d blocks of %d … rows in format %d: one vector is applied as one of many",
            static_cast<int>(sizes.size()), sizes[0], type);
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

/* Both backends solve with the device's decompositions, whose layout is that of groups of 32 rows
 * on the host. */
void solves(bisai_context *host, bisai_context *device, const std::vector<int> &sizes) {
  const std::vector<int32_t> start = starts_of(sizes);
  const sparse a = with_blocks(sizes, DOMINANT);
  const matrix_on there(host, a), here(device, a);
  bsi_bjacobi_options o = {};
  o.given_blocks = static_cast<int32_t>(sizes.size()), o.given_start = start.data();
  for (const bisai_form form : FORMS)
    for (const bisai_value_type type :
         {BISAI_FP32, BISAI_FP16, BISAI_BF16, BISAI_FP11_4, BISAI_FP11_20}) {
      if (form == BISAI_FORM_INVERSE) continue;
      o.form = form, o.storage = type, o.group_rows = 0;
      jacobi_on j(device, here.made, o);
      o.group_rows = 32;
      jacobi_on right(host, there.made, o);
      bool good = !j.status && !right.status && !bsi_bjacobi_update(device, here.made, &j.made);
      const std::vector<uint8_t> data = j.data(),
                                 pivots = j.fetch<uint8_t>(j.made.pivots, good ? a.n : 0);
      if (good) {
        std::memcpy(right.made.data, data.data(), data.size());
        std::memcpy(right.made.pivots, pivots.data(), pivots.size());
      }
      const size_t n = static_cast<size_t>(a.n), count = 5; /* four and one at once */
      const std::vector<double> x = random_vector(n * count);
      std::vector<double> expected(x.size(), NAN);
      const device_array<double> d_x(x), d_y(expected);
      good = good &&
             !host->backend->bjacobi->solve->apply(host, &right.made, count, x.data(), a.n,
                                                   expected.data(), a.n) &&
             !device->backend->bjacobi->solve->apply(device, &j.made, count, d_x.data, a.n,
                                                     d_y.data, a.n);
      const std::vector<double> y = d_y.fetch();
      double apart = 0.0, largest = 0.0;
      for (size_t i = 0; i < y.size(); i++) {
        largest = std::max(largest, std::fabs(expected[i]));
        apart = std::max(apart, std::isnan(y[i]) ? INFINITY : std::fabs(y[i] - expected[i]));
      }
      /* The values are the same, and the blocks are well-conditioned. */
      verdict(good && largest > 0.0 && apart <= 1e-12 * largest,
              "%d blocks of %d … rows, form %d in format %d: apart %g of %g",
              static_cast<int>(sizes.size()), sizes[0], form, type, apart, largest);
    }
}

} // namespace

TEST(values_are_rounded_as_on_the_host) {
  const backends on;
  for (int m = 1; m <= 32; m++) {
    if (short_form() && m != 5 && m != 9 && m != 17 && m != 30) continue;
    const std::vector<int> sizes(short_form() ? 19 : 163, m);
    stores(on.host, on.device, sizes, true);
    stores(on.host, on.device, sizes, false);
  }
}

TEST(values_of_blocks_of_differing_sizes_are_rounded_as_on_the_host) {
  const backends on;
  stores(on.host, on.device, mixed(short_form() ? 40 : 150, 32), false);
  if (!short_form()) stores(on.host, on.device, mixed(150, 9), false);
}

TEST(narrow_decompositions_are_solved_with_as_on_the_host) {
  const backends on;
  for (int m = 1; m <= 32; m++)
    if (!short_form() || m == 5 || m == 30)
      solves(on.host, on.device, std::vector<int>(short_form() ? 19 : 67, m));
  for (const int most : {9, 32}) solves(on.host, on.device, mixed(short_form() ? 40 : 300, most));
}
