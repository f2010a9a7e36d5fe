/* SPDX-License-Identifier: BSD-3-Clause */
/* Block ILU on a device against the host's: ILU(0) and ILU(k), repairs, fallbacks, what is counted
 * and which rows are named. */
#include <algorithm>
#include <cstring>

#include "core/matrix/triangular.h"
#include "device.cuh"
extern "C" {
#include "factor/factor_ops.h"
#include "factor/symbolic.h"
}

namespace {

struct matrix {
  std::vector<int32_t> ptr, idx;
  std::vector<double> values;
  bisai_bcsr view = {};
};

/* Up to `length` blocks on each side of the diagonal within `reach`; every tenth row has the
 * diagonal alone. */
void make_matrix(int32_t n, int bs, int32_t length, int32_t reach, bool dense_row, matrix *a) {
  a->ptr = {0};
  for (int32_t i = 0; i < n; i++) {
    std::vector<int32_t> row = {i};
    for (int32_t k = 0; k < 2 * length && i % 10 != 9; k++) {
      const int32_t j = i + static_cast<int32_t>(next_random() * reach);
      if (j >= 0 && j < n) row.push_back(j);
    }
    if (dense_row && i == n / 2)
      for (int32_t j = 0; j < n; j++) row.push_back(j);
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    a->idx.insert(a->idx.end(), row.begin(), row.end());
    a->ptr.push_back(static_cast<int32_t>(a->idx.size()));
  }
  const size_t values = static_cast<size_t>(bs) * bs;
  a->values = random_vector(a->idx.size() * values);
  for (int32_t i = 0; i < n; i++)
    for (int32_t p = a->ptr[i]; p < a->ptr[i + 1]; p++)
      for (size_t v = 0; v < values; v++) {
        double *value = &a->values[p * values + v];
        *value /= bs * (a->ptr[i + 1] - a->ptr[i]);
        if (a->idx[p] == i && v % (bs + 1) == 0) *value += 1.0;
      }
  a->view.block_rows = a->view.block_cols = n, a->view.block_size = bs;
  a->view.blocks = static_cast<int32_t>(a->idx.size());
  a->view.row_ptr = a->ptr.data(), a->view.col_idx = a->idx.data(),
  a->view.values = a->values.data();
}

double *diagonal_of(matrix *a, int32_t i) {
  const int32_t p = static_cast<int32_t>(
      std::find(a->idx.begin() + a->ptr[i], a->idx.begin() + a->ptr[i + 1], i) - a->idx.begin());
  return &a->values[static_cast<size_t>(p) * a->view.block_size * a->view.block_size];
}

enum spoil { NOTHING, SINGULAR, NEARLY_SINGULAR, INFINITE_VALUE, ABSENT_BITS };

/* Rows without blocks before their diagonal get another one there. */
void spoil_rows(spoil how, matrix *a) {
  const int bs = a->view.block_size;
  for (int32_t i = 9; i < a->view.block_rows; i += 20) {
    double *d = diagonal_of(a, i);
    if (how == SINGULAR) std::fill(d, d + bs * bs, 0.0);
    if (how == NEARLY_SINGULAR && bs > 1) {
      for (int r = 0; r < bs; r++) d[bs + r] = d[r];
      d[bs + 1] += 1e-9;
    }
    if (how == INFINITE_VALUE && i > 20) d[0] = INFINITY;
    if (how == ABSENT_BITS && i > 20) std::memset(d, 0xff, sizeof *d);
  }
}

double distance(const std::vector<double> &x, const double *y) {
  double above = 0.0, below = 0.0;
  for (size_t i = 0; i < x.size(); i++) {
    above += (x[i] - y[i]) * (x[i] - y[i]);
    below += y[i] * y[i];
  }
  return below == 0.0 ? std::sqrt(above) : std::sqrt(above / below);
}

std::vector<int32_t> copy(const int32_t *from, int64_t count) {
  return std::vector<int32_t>(from, from + count);
}
std::vector<uint8_t> copy_fill(const uint8_t *from, int32_t blocks) {
  return from ? std::vector<uint8_t>(from, from + bsi_fill_bytes(blocks)) : std::vector<uint8_t>();
}

struct outcome {
  std::vector<double> lower, upper, inverse;
  bsi_invert_stats stats;
};

outcome factorise(bisai_context *device, const matrix &a, const bisai_factors &f) {
  const int32_t n = a.view.block_rows, bs = a.view.block_size;
  const device_array<int32_t> a_ptr(a.ptr), a_idx(a.idx), l_ptr(copy(f.lower->row_ptr, n + 1)),
      l_idx(copy(f.lower->col_idx, f.lower->blocks)), u_ptr(copy(f.upper->row_ptr, n + 1)),
      u_idx(copy(f.upper->col_idx, f.upper->blocks)), order(copy(f.lower_levels.rows, n));
  const device_array<uint8_t> l_fill(copy_fill(f.ilu.lower_fill, f.lower->blocks)),
      u_fill(copy_fill(f.ilu.upper_fill, f.upper->blocks));
  const size_t values = static_cast<size_t>(bs) * bs;
  const device_array<double> d_a(a.values), d_l(std::vector<double>(f.lower->blocks * values, NAN)),
      d_u(std::vector<double>(f.upper->blocks * values, NAN)),
      d_inverse(std::vector<double>(n * values, NAN));
  bisai_bcsr on_device = a.view, lower = *f.lower, upper = *f.upper;
  on_device.row_ptr = a_ptr.data, on_device.col_idx = a_idx.data, on_device.values = d_a.data;
  on_device.context = lower.context = upper.context = device;
  lower.row_ptr = l_ptr.data, lower.col_idx = l_idx.data, lower.values = d_l.data;
  upper.row_ptr = u_ptr.data, upper.col_idx = u_idx.data, upper.values = d_u.data;
  bisai_factors g = f;
  g.lower = &lower, g.upper = &upper, g.upper_inverse = d_inverse.data;
  g.ilu.lower_fill = f.ilu.lower_fill ? l_fill.data : nullptr,
  g.ilu.upper_fill = f.ilu.upper_fill ? u_fill.data : nullptr;
  g.lower_levels.rows = order.data;
  outcome o;
  o.stats = BSI_INVERT_STATS_NONE;
  const bisai_status status =
      bsi_backend_cuda.factor->ilu->factorise(device, &on_device, &g, &o.stats);
  if (status) std::printf("%s\n", device->error);
  o.lower = d_l.fetch(), o.upper = d_u.fetch(), o.inverse = d_inverse.fetch();
  return o;
}

bool same_bits(const std::vector<double> &x, const std::vector<double> &y) {
  return x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(double)) == 0;
}

void agrees_with_the_host(bisai_context *device, int32_t n, int bs, int32_t length, int level,
                          bool dense_row, spoil how, double shift_amount) {
  const context_on host(BISAI_BACKEND_HOST);
  matrix a;
  make_matrix(n, bs, length, 40, dense_row, &a);
  spoil_rows(how, &a);
  bisai_factors f = {};
  f.context = host, a.view.context = host;
  f.repair.amount = shift_amount;
  bool good =
      !bsi_factors_reserve(host, &a.view, level, false, nullptr, &f) &&
      !bsi_levels_create(host, BISAI_LOWER, n, f.lower->row_ptr, f.lower->col_idx, &f.lower_levels);
  std::vector<double> inverse(static_cast<size_t>(n) * bs * bs + 1);
  f.upper_inverse = inverse.data();
  bsi_invert_stats right = BSI_INVERT_STATS_NONE;
  good = good && !bsi_backend_host.factor->ilu->factorise(host, &a.view, &f, &right);

  const outcome first = factorise(device, a, f), again = factorise(device, a, f);
  const bsi_invert_stats &met = first.stats;
  const bool broken = right.singular_row >= 0 || right.infinite_row >= 0;
  const double close = 1e-12 * std::max(1.0, right.largest_condition / 1e3);
  double apart = 0.0;
  if (!broken) {
    apart = std::max({distance(first.lower, static_cast<const double *>(f.lower->values)),
                      distance(first.upper, static_cast<const double *>(f.upper->values)),
                      distance(first.inverse, inverse.data())});
    good = good && apart <= close && met.fallbacks == right.fallbacks &&
           met.repairs == right.repairs && met.first_repair_row == right.first_repair_row &&
           std::fabs(met.largest_condition - right.largest_condition) <=
               close * right.largest_condition * right.largest_condition &&
           met.largest_condition_row == right.largest_condition_row;
  }
  good = good && met.singular_row == right.singular_row && met.infinite_row == right.infinite_row;
  good = good && same_bits(first.lower, again.lower) && same_bits(first.upper, again.upper) &&
         same_bits(first.inverse, again.inverse) &&
         met.largest_condition_row == again.stats.largest_condition_row;
  verdict(good,
          "%d block rows of size %d, %d blocks a side, ILU(%d)%s, spoiled %d, shift %g: apart "
          "%.2g; singular %d/%d, "
          "infinite %d/%d, "
          "fallbacks %d/%d, repairs %d/%d from %d/%d, condition %g/%g in %d/%d",
          n, bs, length, level, dense_row ? ", a dense row" : "", static_cast<int>(how),
          shift_amount, apart, met.singular_row, right.singular_row, met.infinite_row,
          right.infinite_row, static_cast<int>(met.fallbacks), static_cast<int>(right.fallbacks),
          static_cast<int>(met.repairs), static_cast<int>(right.repairs), met.first_repair_row,
          right.first_repair_row, met.largest_condition, right.largest_condition,
          met.largest_condition_row, right.largest_condition_row);
  f.upper_inverse = nullptr;
  bsi_levels_destroy(host, &f.lower_levels);
  bisai_bcsr_destroy(&f.lower);
  bisai_bcsr_destroy(&f.upper);
  bsi_release(host, f.ilu.lower_fill);
  bsi_release(host, f.ilu.upper_fill);
}

/* Calls test(device, block size, block rows of a larger matrix). */
template <typename F> void for_block_sizes(F test) {
  const context_on device(BISAI_BACKEND_CUDA);
  for (const int bs : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 32})
    if (!left_out(bs)) test(device, bs, short_form() ? 60 : bs > 8 ? 200 : 1000);
}

} // namespace

TEST(factors_agree_with_the_host) {
  for_block_sizes([](bisai_context *device, int bs, int32_t most) {
    for (const int32_t n : {0, 1, 2, 33, most})
      for (const int level : {0, 2})
        agrees_with_the_host(device, n, bs, 2, level, false, NOTHING, 0.0);
    agrees_with_the_host(device, most / 2, bs, 20, 0, false, NOTHING, 0.0);
  });
}

/* Many blocks of the row match, and for large blocks it is too long for shared memory. */
TEST(a_dense_row_agrees_with_the_host) {
  for_block_sizes([](bisai_context *device, int bs, int32_t most) {
    agrees_with_the_host(device, most, bs, 3, 0, true, NOTHING, 0.0);
  });
}

TEST(large_matrices_agree_with_the_host) {
  if (short_form()) SKIP("large");
  const context_on device(BISAI_BACKEND_CUDA);
  agrees_with_the_host(device, 20000, 3, 3, 0, false, NOTHING, 0.0);
  agrees_with_the_host(device, 20000, 1, 3, 0, false, NOTHING, 0.0);
  agrees_with_the_host(device, 8000, 1, 2, 0, true, NOTHING, 0.0);
}

TEST(nearly_singular_blocks_agree_with_the_host) {
  for_block_sizes([](bisai_context *device, int bs, int32_t most) {
    agrees_with_the_host(device, most / 2, bs, 20, 1, false, NEARLY_SINGULAR, 0.0);
  });
}

TEST(singular_blocks_are_named_as_on_the_host) {
  for_block_sizes([](bisai_context *device, int bs, int32_t most) {
    agrees_with_the_host(device, std::min(most, 300), bs, 3, 0, false, SINGULAR, 0.0);
  });
}

TEST(singular_blocks_are_shifted_as_on_the_host) {
  for_block_sizes([](bisai_context *device, int bs, int32_t most) {
    agrees_with_the_host(device, std::min(most, 300), bs, 3, 0, false, SINGULAR, 0.01);
    agrees_with_the_host(device, most, bs, 3, 1, true, SINGULAR, 0.01);
  });
}

TEST(infinite_values_are_named_as_on_the_host) {
  for_block_sizes([](bisai_context *device, int bs, int32_t most) {
    agrees_with_the_host(device, std::min(most, 300), bs, 3, 1, false, INFINITE_VALUE, 0.0);
  });
}

/* The bits by which rows that wait for a value tell that it is not there yet. */
TEST(values_with_the_bits_of_an_absent_one_are_named_as_on_the_host) {
  for_block_sizes([](bisai_context *device, int bs, int32_t most) {
    agrees_with_the_host(device, std::min(most, 300), bs, 3, 1, false, ABSENT_BITS, 0.0);
  });
}
