/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a device finds the blocks of block-Jacobi, against the host's sequential rule. */
#include <algorithm>
#include <cstring>

#include "batches.cuh"

namespace {

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
  const bool made = !host->backend->bjacobi->partition->find(host, there.made, most, &expected) &&
                    !device->backend->bjacobi->partition->find(device, here.made, most, &found);
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

} // namespace

TEST(blocks_are_those_of_the_sequential_rule) {
  const backends on;
  for (const int32_t n : {0, 1, 2, 31, 33, 511, 512, 513, 1025, 5000})
    for (const int longest : {0, 3, 12, 100})
      for (const int most : {1, 2, 5, 16, 31, 32}) {
        if (short_form() &&
            (longest == 12 || most == 2 || most == 31 || n == 31 || n == 511 || n == 5000))
          continue;
        blocks_are_the_sequential_ones(on.host, on.device, with_runs(n, 1, longest), most);
      }
}

TEST(blocks_of_a_block_matrix_are_those_of_the_sequential_rule) {
  const backends on;
  for (const int32_t n : {1, 2, 31, 33, 511, 512, 513})
    for (const int longest : {0, 3, 12, 100})
      for (const int most : {1, 2, 5, 16, 31, 32}) {
        if (short_form() && (longest == 12 || most == 2 || most == 31 || n == 31 || n == 511))
          continue;
        blocks_are_the_sequential_ones(on.host, on.device, with_runs(n, 3, longest), most);
      }
}

/* More chunks of rows than are chained at a time. */
TEST(blocks_of_many_rows_are_those_of_the_sequential_rule) {
  if (short_form()) SKIP("large");
  const backends on;
  for (const int longest : {0, 12})
    blocks_are_the_sequential_ones(on.host, on.device, with_runs(1100000, 1, longest), 32);
}
