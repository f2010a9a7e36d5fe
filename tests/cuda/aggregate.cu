/* SPDX-License-Identifier: BSD-3-Clause */
/* Strengths and aggregates on a device against the host's. */
#include <algorithm>

#include "core/block/block_invert.h"
#include "core/matrix/bcsr_impl.h"
#include "device.cuh"
#include "multigrid/aggregation/aggregation_ops.h"
#include "multigrid/aggregation/strength.h"
#include "multigrid/level/multigrid_ops.h"
#include "multigrid/transfers/transfer_ops.h"

namespace {

/* A matrix in host memory. */
struct blocks_of {
  int32_t n;
  int bs;
  std::vector<int32_t> ptr = {0}, idx;
  std::vector<double> values, inverse;

  blocks_of(int32_t rows, int size) : n(rows), bs(size) {}
  void end_row() {
    std::sort(idx.begin() + ptr.back(), idx.end());
    idx.erase(std::unique(idx.begin() + ptr.back(), idx.end()), idx.end());
    ptr.push_back(static_cast<int32_t>(idx.size()));
  }
  bisai_bcsr view() {
    bisai_bcsr a = {};
    a.block_rows = a.block_cols = n, a.block_size = bs;
    a.blocks = static_cast<int32_t>(idx.size());
    a.row_ptr = ptr.data(), a.col_idx = idx.data(), a.values = values.data();
    return a;
  }
  /* Random blocks of different sizes, and diagonal blocks that are not singular. */
  void fill() {
    const size_t size = static_cast<size_t>(bs) * bs;
    values = random_vector(idx.size() * size);
    inverse.assign(n * size, 0.0);
    for (int32_t i = 0; i < n; i++)
      for (int32_t p = ptr[i]; p < ptr[i + 1]; p++) {
        double *block = &values[p * size], condition;
        const double scale = idx[p] == i ? 1.0 : std::exp2(4.0 * next_random());
        for (size_t v = 0; v < size; v++) block[v] *= scale;
        if (idx[p] != i) continue;
        for (int r = 0; r < bs; r++) block[r * bs + r] += 4.0 * bs;
        bsi_block_invert(bs, block, &inverse[i * size], &condition);
      }
  }
};

int32_t below(int32_t n) {
  return std::min(n - 1, static_cast<int32_t>((next_random() + 1.0) / 2.0 * n));
}

/* Rows of 1 + `length` columns on average, mirrored ones on request. Every ninth row has the
 * diagonal block alone. */
blocks_of scattered(int32_t n, int bs, int length, bool mirrored) {
  std::vector<std::vector<int32_t>> columns(n);
  for (int32_t i = 0; i < n; i++) {
    columns[i].push_back(i);
    const int32_t many = below(2 * length + 1);
    for (int32_t k = 0; k < many && i % 9 != 8; k++) {
      const int32_t j = below(n);
      columns[i].push_back(j);
      if (mirrored && j % 9 != 8) columns[j].push_back(i);
    }
  }
  blocks_of a(n, bs);
  for (const std::vector<int32_t> &row : columns) {
    a.idx.insert(a.idx.end(), row.begin(), row.end());
    a.end_row();
  }
  a.fill();
  return a;
}

/* The points of a box, next to those that differ by at most 1 in each coordinate (`full`), or in
 * one coordinate alone. */
blocks_of mesh(int32_t nx, int32_t ny, int32_t nz, int bs, bool full) {
  blocks_of a(nx * ny * nz, bs);
  for (int32_t i = 0; i < a.n; i++) {
    const int32_t x = i % nx, y = i / nx % ny, z = i / nx / ny;
    for (int32_t k = 0; k < 27; k++) {
      const int32_t u = x + k % 3 - 1, v = y + k / 3 % 3 - 1, w = z + k / 9 - 1;
      const int apart = (u != x) + (v != y) + (w != z);
      if (u < 0 || v < 0 || w < 0 || u >= nx || v >= ny || w >= nz || (!full && apart > 1))
        continue;
      a.idx.push_back((w * ny + v) * nx + u);
    }
    a.end_row();
  }
  a.fill();
  return a;
}

/* Row 0 is next to all others, and they to row 0. */
blocks_of star(int32_t n) {
  blocks_of a(n, 1);
  for (int32_t i = 0; i < n; i++) {
    for (int32_t j = 0; j < n && i == 0; j++) a.idx.push_back(j);
    if (i > 0) a.idx.insert(a.idx.end(), {0, i});
    a.end_row();
  }
  a.fill();
  return a;
}

struct result {
  std::vector<float> strength;
  std::vector<int32_t> aggregate;
  int32_t count = -7, members = -7;
  bool good = false;
};

result on_host(blocks_of &a, double threshold) {
  const context_on host(BISAI_BACKEND_HOST);
  const bsi_strength_rule rule = {static_cast<float>(threshold), 0.01f};
  const bisai_bcsr view = a.view();
  result r;
  r.strength.assign(a.idx.size() + 1, NAN);
  r.aggregate.assign(a.n + 1, -7);
  r.good = !bsi_aggregation_host.weigh(host, &view, a.inverse.data(), &rule, r.strength.data()) &&
           !bsi_aggregation_host.aggregate(host, &view, r.strength.data(), r.aggregate.data(),
                                           nullptr, &r.count, &r.members);
  return r;
}

/* given: the strengths to take instead of those of the matrix, or NULL */
result on_device(bisai_context *device, blocks_of &a, double threshold,
                 const std::vector<float> *given = nullptr) {
  bisai_bcsr view = a.view();
  const bsi_strength_rule rule = {static_cast<float>(threshold), 0.01f};
  result r;
  const device_array<int32_t> ptr(a.ptr), idx(a.idx), aggregate(std::vector<int32_t>(a.n + 1, -7));
  const device_array<double> values(a.values), inverse(a.inverse);
  const device_array<float> strength(given ? *given : std::vector<float>(a.idx.size() + 1, NAN));
  view.row_ptr = ptr.data, view.col_idx = idx.data, view.values = values.data;
  r.good =
      (given || !bsi_aggregation_cuda.weigh(device, &view, inverse.data, &rule, strength.data)) &&
      !bsi_aggregation_cuda.aggregate(device, &view, strength.data, aggregate.data, nullptr,
                                      &r.count, &r.members);
  unsigned ticket = 1;
  CHECK(cudaMemcpy(&ticket, device->tickets, sizeof ticket, cudaMemcpyDefault));
  r.good = r.good && ticket == 0; /* others count on it */
  r.strength = strength.fetch();
  r.aggregate = aggregate.fetch();
  return r;
}

/* The position after the end keeps what it was filled with. */
bool same_strengths(const result &a, const result &b) {
  return std::equal(a.strength.begin(), a.strength.end() - 1, b.strength.begin()) &&
         std::isnan(b.strength.back());
}

void agrees_with_the_host(bisai_context *device, blocks_of a, double threshold) {
  const result expected = on_host(a, threshold), got = on_device(device, a, threshold),
               again = on_device(device, a, threshold);
  const bool good = expected.good && got.good && again.good && same_strengths(expected, got) &&
                    expected.aggregate == got.aggregate && expected.count == got.count &&
                    expected.members == got.members && again.members == got.members &&
                    got.aggregate == again.aggregate;
  verdict(good, "%d rows of blocks of %d, %zu blocks, threshold %g: %d aggregates of %d%s%s", a.n,
          a.bs, a.idx.size(), threshold, got.count, expected.count,
          same_strengths(expected, got) ? "" : ", other strengths", got.good ? "" : ", failure");
}

} // namespace

TEST(aggregates_of_random_matrices_are_those_of_the_host) {
  const context_on device(BISAI_BACKEND_CUDA);
  for (const int bs : {1, 2, 3, 4, 5, 6, 7, 8, 9, 17, 32}) {
    if (left_out(bs)) continue;
    for (const int32_t n : {0, 1, 2, 33, 700}) {
      if (n == 700 && (bs > 9 || short_form())) continue;
      for (const int length : {1, 5, 20})
        for (const bool mirrored : {false, true})
          agrees_with_the_host(device, scattered(n, bs, length, mirrored),
                               length == 5 ? 0.0 : 0.25);
    }
  }
}

/* The lanes that share a row range from one to 32, and one thread block or many take the rows. */
TEST(aggregates_of_short_and_long_rows_are_those_of_the_host) {
  const context_on device(BISAI_BACKEND_CUDA);
  for (const int32_t n : {900, 5000, 20000})
    for (const int length : {1, 3, 10, 30, 80}) {
      if (n * length > 1000000 || (short_form() && n > 900)) continue;
      agrees_with_the_host(device, scattered(n, 1, length, true), 0.25);
      agrees_with_the_host(device, scattered(n, 2, length, false), 0.0);
    }
}

TEST(aggregates_of_meshes_are_those_of_the_host) {
  if (short_form()) SKIP("large");
  const context_on device(BISAI_BACKEND_CUDA);
  agrees_with_the_host(device, mesh(100000, 1, 1, 1, false), 0.25);
  agrees_with_the_host(device, mesh(320, 313, 1, 1, false), 0.25);
  agrees_with_the_host(device, mesh(317, 316, 1, 3, false), 0.25);
  agrees_with_the_host(device, mesh(317, 316, 1, 2, true), 0.0);
  agrees_with_the_host(device, mesh(47, 46, 47, 1, false), 0.25);
  agrees_with_the_host(device, mesh(47, 46, 47, 3, true), 0.25);
}

TEST(aggregates_of_a_star_are_those_of_the_host) {
  const context_on device(BISAI_BACKEND_CUDA);
  for (const int32_t n : {1, 2, 1000, 30000}) agrees_with_the_host(device, star(n), 0.0);
}

/* Edges that lead one way, many equal strengths, and chains of followers. */
TEST(aggregates_of_directed_graphs_are_those_of_the_host) {
  const context_on device(BISAI_BACKEND_CUDA);
  for (const int32_t n : {40, 3000, 50000})
    for (const int length : {1, 4, 15}) {
      if (short_form() && n > 40) continue;
      blocks_of a = scattered(n, 1, length, false);
      const context_on host(BISAI_BACKEND_HOST);
      const bisai_bcsr view = a.view();
      std::vector<float> strength(a.idx.size() + 1);
      for (float &s : strength) s = 0.5f * static_cast<float>(below(4));
      /* followers of later rows */
      for (int32_t i = 0; i < n; i += 3)
        for (int32_t p = a.ptr[i]; p < a.ptr[i + 1]; p++)
          strength[p] = a.idx[p] > i ? -strength[p] : 0.0f;
      std::vector<int32_t> expected(n + 1, -7);
      int32_t count = -7, members = -7;
      const bool good =
          bsi_aggregation_host.aggregate(host, &view, strength.data(), expected.data(), nullptr,
                                         &count, &members) == BISAI_OK;
      const result got = on_device(device, a, 0.0, &strength);
      verdict(good && got.good && got.aggregate == expected && got.count == count &&
                  got.members == members,
              "%d rows of %d: %d aggregates of %d", n, length, got.count, count);
    }
}
