/* SPDX-License-Identifier: BSD-3-Clause */
/* Inverses of diagonal blocks on a device against the host's. */
#include <algorithm>
#include <cstring>

#include "core/matrix/bcsr_impl.h"
#include "core/matrix/triangular.h"
#include "device.cuh"
#include "factor/factor_ops.h"

namespace {

/* Rows of one to three blocks; every fifth diagonal block is singular, every seventh nearly so,
 * every eleventh missing where repaired. */
void agrees_with_the_host(bisai_context *device, int32_t n, int bs, bool spoiled, double amount) {
  const context_on host(BISAI_BACKEND_HOST);
  const size_t values = static_cast<size_t>(bs) * bs;
  std::vector<int32_t> ptr = {0}, idx, position;
  for (int32_t i = 0; i < n; i++) {
    const bool missing = spoiled && amount > 0.0 && i % 11 == 10;
    if (i > 0 && i % 3 > 0) idx.push_back(i - 1);
    position.push_back(missing ? -1 : static_cast<int32_t>(idx.size()));
    if (!missing) idx.push_back(i);
    if (i + 1 < n && i % 3 > 1) idx.push_back(i + 1);
    ptr.push_back(static_cast<int32_t>(idx.size()));
  }
  std::vector<double> blocks = random_vector(idx.size() * values), expected(n * values + 1);
  for (int32_t i = 0; i < n; i++) {
    double *d = &blocks[std::max(position[i], 0) * values];
    if (position[i] < 0) continue;
    for (int r = 0; r < bs; r++) d[r * bs + r] += 2.0 * bs;
    if (spoiled && i % 5 == 4 && (amount > 0.0 || i > 60)) std::fill(d, d + values, 0.0);
    if (spoiled && i % 7 == 6 && bs > 1) {
      for (int r = 0; r < bs; r++) d[bs + r] = d[r];
      d[bs + 1] += 1e-9;
    }
  }
  bisai_bcsr a = {};
  a.block_rows = a.block_cols = n, a.block_size = bs, a.blocks = static_cast<int32_t>(idx.size());
  a.row_ptr = ptr.data(), a.col_idx = idx.data(), a.values = blocks.data();
  bsi_invert_stats right = BSI_INVERT_STATS_NONE, met = right, met_again = right;
  bool good = bsi_backend_host.factor->inversion->invert(host, &a, position.data(), amount,
                                                         expected.data(), &right) == BISAI_OK;

  const device_array<int32_t> d_ptr(ptr), d_idx(idx), d_position(position);
  const device_array<double> d_blocks(blocks), d_inverses(std::vector<double>(n * values, NAN)),
      d_again(std::vector<double>(n * values, NAN));
  a.row_ptr = d_ptr.data, a.col_idx = d_idx.data, a.values = d_blocks.data;
  good = good &&
         !bsi_backend_cuda.factor->inversion->invert(device, &a, d_position.data, amount,
                                                     d_inverses.data, &met) &&
         !bsi_backend_cuda.factor->inversion->invert(device, &a, d_position.data, amount,
                                                     d_again.data, &met_again);
  const std::vector<double> got = d_inverses.fetch(), again = d_again.fetch();
  double worst = 0.0;
  for (int32_t i = 0; i < n; i++) {
    const bool singular = spoiled && amount == 0.0 && i % 5 == 4 && i > 60;
    double norm = 0.0, apart = 0.0;
    for (size_t v = i * values; v < (i + 1) * values && !singular; v++) {
      norm = std::max(norm, std::fabs(expected[v]));
      apart = std::max(apart, std::isnan(got[v]) ? INFINITY : std::fabs(got[v] - expected[v]));
    }
    if (!singular) worst = std::max(worst, apart / norm);
  }
  /* Elimination and cofactors round alike but for contracted products: ε κ₁, κ₁ up to 10¹¹ where
   * spoiled. */
  const double close = spoiled ? 1e-4 : 1e-12;
  good = good && worst <= close &&
         std::memcmp(got.data(), again.data(), got.size() * sizeof(double)) == 0 &&
         met.singular_row == right.singular_row && met.infinite_row == -1 &&
         met.fallbacks == right.fallbacks && met.repairs == right.repairs &&
         met.first_repair_row == right.first_repair_row &&
         met.largest_condition_row == right.largest_condition_row &&
         (met.largest_condition == right.largest_condition ||
          std::fabs(met.largest_condition - right.largest_condition) <=
              close * right.largest_condition) &&
         met_again.largest_condition_row == met.largest_condition_row;
  verdict(good,
          "%d blocks of size %d%s, shift %g: apart %.2g; singular %d/%d, fallbacks %d/%d, repairs "
          "%d/%d from %d/%d, "
          "condition "
          "%.17g/%.17g in %d/%d",
          n, bs, spoiled ? ", spoiled" : "", amount, worst, met.singular_row, right.singular_row,
          static_cast<int>(met.fallbacks), static_cast<int>(right.fallbacks),
          static_cast<int>(met.repairs), static_cast<int>(right.repairs), met.first_repair_row,
          right.first_repair_row, met.largest_condition, right.largest_condition,
          met.largest_condition_row, right.largest_condition_row);
}

void of_every_size(bool spoiled, double amount) {
  const context_on device(BISAI_BACKEND_CUDA);
  for (const int bs : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 32})
    for (const int32_t n : {0, 1, 31, 33, 100, 10000})
      if (!left_out(bs) && (n < 1000 || (bs <= 8 && !short_form())))
        agrees_with_the_host(device, n, bs, spoiled, amount);
}

} // namespace

TEST(inverses_agree_with_the_host) { of_every_size(false, 0.0); }

TEST(singular_and_nearly_singular_blocks_are_reported_as_on_the_host) { of_every_size(true, 0.0); }

TEST(singular_and_missing_blocks_are_repaired_as_on_the_host) { of_every_size(true, 0.01); }
