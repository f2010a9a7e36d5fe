/* SPDX-License-Identifier: BSD-3-Clause */
/* The block arithmetic and the stored values that the host uses, run on a device and compared with
 * the host's results. */
#include "core/block/block_invert.h"
#include "core/block/values.h"
#include "device.cuh"

namespace {

enum { BLOCKS = 256, KINDS = 4 };

/* Dominant diagonal; the same with its columns rotated, so that pivots are off the diagonal; badly
 * scaled rows; a zero column. */
void fill_block(int bs, int kind, double *a) {
  for (int c = 0; c < bs; c++)
    for (int r = 0; r < bs; r++) {
      const bool strong = kind == 1 ? r == (c + 1) % bs : r == c;
      double value = (strong ? bs + 1.0 : 0.0) + next_random();
      if (kind == 1 && r == c && bs > 1) value = 0.0;
      if (kind == 2) value *= std::pow(10.0, -12.0 * r / bs);
      if (kind == 3 && c == bs / 2) value = 0.0;
      a[c * bs + r] = value;
    }
}

__global__ void invert(int bs, const double *blocks, double *inverses, double *conditions,
                       int *results) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= BLOCKS) return;
  const size_t at = static_cast<size_t>(i) * bs * bs;
  double condition;
  switch (bs) {
#define CASE(BS)                                                                                   \
  case BS: results[i] = bsi_block_invert(BS, blocks + at, inverses + at, &condition); break;
    CASE(1)
    CASE(2)
    CASE(3)
    CASE(4)
    CASE(5)
    CASE(6)
    CASE(7)
    CASE(8)
#undef CASE
  default: results[i] = bsi_block_invert(bs, blocks + at, inverses + at, &condition);
  }
  conditions[i] = condition;
}

/* Inverses agree to 64·bs·ε·κ₁ of their norm: both are that close to the exact one, and contraction
 * may differ. */
void inverses_agree(int bs) {
  const size_t values = static_cast<size_t>(bs) * bs;
  std::vector<double> blocks(BLOCKS * values), inverses(BLOCKS * values, NAN),
      conditions(BLOCKS, NAN);
  std::vector<int> results(BLOCKS, -1);
  for (int i = 0; i < BLOCKS; i++) fill_block(bs, i % KINDS, blocks.data() + i * values);
  device_array<double> d_blocks(blocks), d_inverses(inverses), d_conditions(conditions);
  device_array<int> d_results(results);
  invert<<<(BLOCKS + 63) / 64, 64>>>(bs, d_blocks.data, d_inverses.data, d_conditions.data,
                                     d_results.data);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  inverses = d_inverses.fetch();
  conditions = d_conditions.fetch();
  results = d_results.fetch();

  std::vector<double> expected(values), difference(values);
  for (int i = 0; i < BLOCKS; i++) {
    double condition;
    const int result =
        bsi_block_invert(bs, blocks.data() + i * values, expected.data(), &condition);
    bool good = results[i] == result && (result == BSI_BLOCK_SINGULAR) == (i % KINDS == 3);
    if (result != BSI_BLOCK_SINGULAR) {
      for (size_t v = 0; v < values; v++) difference[v] = inverses[i * values + v] - expected[v];
      const double bound = 64.0 * bs * 2.2e-16 * condition * bsi_block_norm1(bs, expected.data());
      good = good && bsi_block_norm1(bs, difference.data()) <= bound &&
             std::fabs(conditions[i] / condition - 1.0) < 1e-3;
    }
    verdict(good, "block %d of size %d: result %d, on the host %d, condition %g and %g", i, bs,
            results[i], result, conditions[i], condition);
  }
}

__global__ void narrow(int count, const double *x, bisai_value_type type, unsigned short *stored,
                       double *loaded, int *fits) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  fits[i] = bsi_value_store(type, x[i], stored, static_cast<size_t>(i));
  loaded[i] = bsi_value_load(type, stored, static_cast<size_t>(i));
}

/* Every representable value, its neighbours and the ties between two come out with the host's
 * bits. */
void narrow_values_have_the_bits(bisai_value_type type) {
  std::vector<double> x;
  for (unsigned bits = 0; bits < 0x10000u; bits++) {
    const unsigned short stored[2] = {static_cast<unsigned short>(bits),
                                      static_cast<unsigned short>(bits + 1)};
    if (!bsi_value_finite(type, stored, 0) || !bsi_value_finite(type, stored, 1)) continue;
    const double value = bsi_value_load(type, stored, 0), above = bsi_value_load(type, stored, 1);
    for (const double y : {value, 0.5 * (value + above), std::nextafter(value, above)})
      x.push_back(y);
  }
  for (const double y : {65519.999, 65520.0, 3.3961775292304957e38, 1e300, -1e300, 1e-320})
    x.push_back(y);
  const int count = static_cast<int>(x.size());
  std::vector<unsigned short> stored(x.size()), expected(x.size());
  std::vector<double> loaded(x.size(), NAN);
  std::vector<int> fits(x.size(), -1);
  device_array<double> d_x(x), d_loaded(loaded);
  device_array<unsigned short> d_stored(stored);
  device_array<int> d_fits(fits);
  narrow<<<(count + 255) / 256, 256>>>(count, d_x.data, type, d_stored.data, d_loaded.data,
                                       d_fits.data);
  CHECK(cudaGetLastError());
  stored = d_stored.fetch();
  loaded = d_loaded.fetch();
  fits = d_fits.fetch();
  bool good = true;
  for (size_t i = 0; i < x.size(); i++) {
    const bool fit = bsi_value_store(type, x[i], expected.data(), i);
    good = good && fits[i] == fit && stored[i] == expected[i];
    if (fit) good = good && loaded[i] == bsi_value_load(type, expected.data(), i);
  }
  verdict(good, "values of type %d", type);
}

} // namespace

TEST(inverses_agree_with_the_host) {
  for (int bs = 1; bs <= BISAI_MAX_BLOCK_SIZE; bs++)
    if (!left_out(bs)) inverses_agree(bs);
}

TEST(narrow_values_have_the_bits_of_the_host) {
  narrow_values_have_the_bits(BISAI_FP16);
  narrow_values_have_the_bits(BISAI_BF16);
}
