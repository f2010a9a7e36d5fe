/* SPDX-License-Identifier: BSD-3-Clause */
/* Patterns made on a device against the host's. */
#include <bisai/bisai.h>

#include "core/context/backend.h"
#include "device.cuh"
#include "pattern/pattern_impl.h"
#include "pattern/pattern_ops.h"

namespace {

std::vector<int32_t> fetch(const int32_t *from, size_t count) {
  std::vector<int32_t> to(count);
  if (count) CHECK(cudaMemcpy(to.data(), from, count * sizeof(int32_t), cudaMemcpyDefault));
  return to;
}

bool same(const int32_t *device, const int32_t *host, size_t count) {
  const std::vector<int32_t> got = fetch(device, count);
  for (size_t i = 0; i < count; i++)
    if (got[i] != host[i]) return false;
  return true;
}

/* A square structure with about `density`·n entries a row within `reach` of the diagonal, all of
 * whose diagonal is there. */
void make_structure(int32_t n, int32_t reach, double density, std::vector<int32_t> *ptr,
                    std::vector<int32_t> *idx) {
  *ptr = {0};
  idx->clear();
  for (int32_t i = 0; i < n; i++) {
    for (int32_t j = i > reach ? i - reach : 0; j < n && j <= i + reach; j++)
      if (j == i || 0.5 * (next_random() + 1.0) < density) idx->push_back(j);
    ptr->push_back(static_cast<int32_t>(idx->size()));
  }
}

void agrees_with_the_host(bisai_context *host, bisai_context *device, int32_t n, int32_t reach,
                          double density, int power) {
  std::vector<int32_t> ptr, idx;
  make_structure(n, reach, density, &ptr, &idx);
  const std::vector<double> values(idx.size() + 1, 1.0);
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.block_rows = desc.block_cols = n, desc.block_size = 1;
  desc.row_ptr = ptr.data(), desc.col_idx = idx.data(), desc.values = values.data();
  bisai_bcsr *matrix = nullptr;
  bool good = bisai_bcsr_create(host, &desc, &matrix) == BISAI_OK;
  const device_array<int32_t> d_ptr(ptr), d_idx(idx);
  for (const bisai_triangle triangle : {BISAI_LOWER, BISAI_UPPER}) {
    bisai_pattern *right = nullptr, got = {};
    good = good && !bisai_pattern_power(host, matrix, triangle, power, &right);
    bisai_bcsr a = {};
    a.block_rows = n, a.row_ptr = d_ptr.data, a.col_idx = d_idx.data;
    got.triangle = triangle, got.block_rows = n;
    good = good && !bsi_backend_cuda.pattern->power(device, &a, power, 0, &got) &&
           !bsi_backend_cuda.pattern->columns(device, &got);
    if (good) {
      const size_t rows = static_cast<size_t>(n) + 1, blocks = right->blocks;
      good = got.blocks == right->blocks && same(got.row_ptr, right->row_ptr, rows) &&
             same(got.col_idx, right->col_idx, blocks);
      if (n > 0)
        good = good && got.longest_column == right->longest_column &&
               same(got.col_ptr, right->col_ptr, rows) &&
               same(got.row_idx, right->row_idx, blocks) &&
               same(got.position, right->position, blocks);
    } else
      std::printf("%s\n", device->error);
    for (int32_t *array : {got.row_ptr, got.col_idx, got.col_ptr, got.row_idx, got.position})
      bsi_backend_cuda.memory->release(device, array);
    bisai_pattern_destroy(&right);
  }
  bisai_bcsr_destroy(&matrix);
  verdict(good, "S(|T|^%d) of %d block rows, density %g within %d", power, n, density, reach);
}

void limited_rows_agree(bisai_context *host, bisai_context *device, int32_t n, int32_t reach,
                        double density, int power, int32_t limit) {
  std::vector<int32_t> ptr, idx;
  make_structure(n, reach, density, &ptr, &idx);
  const device_array<int32_t> d_ptr(ptr), d_idx(idx);
  for (const bisai_triangle triangle : {BISAI_LOWER, BISAI_UPPER}) {
    bisai_bcsr a = {};
    bisai_pattern right = {}, got = {};
    a.block_rows = n, a.row_ptr = ptr.data(), a.col_idx = idx.data();
    right.triangle = got.triangle = triangle, right.block_rows = got.block_rows = n;
    bool good = bsi_backend_host.pattern->power(host, &a, power, limit, &right) == BISAI_OK;
    a.row_ptr = d_ptr.data, a.col_idx = d_idx.data;
    good = good && !bsi_backend_cuda.pattern->power(device, &a, power, limit, &got);
    good = good && got.blocks == right.blocks && got.cut.shortened == right.cut.shortened &&
           got.cut.blocks == right.cut.blocks &&
           same(got.row_ptr, right.row_ptr, static_cast<size_t>(n) + 1) &&
           same(got.col_idx, right.col_idx, right.blocks);
    verdict(good,
            "S(|T|^%d) of %d block rows, density %g within %d, at most %d: %d rows shortened, %d "
            "on the host",
            power, n, density, reach, limit, got.cut.shortened, right.cut.shortened);
    for (int32_t *array : {got.row_ptr, got.col_idx, got.col_ptr, got.row_idx, got.position})
      bsi_backend_cuda.memory->release(device, array);
    bsi_release(host, right.row_ptr);
    bsi_release(host, right.col_idx);
  }
}

} // namespace

TEST(powers_agree_with_the_host) {
  const context_on device(BISAI_BACKEND_CUDA), host(BISAI_BACKEND_HOST);
  for (const int32_t n : {0, 1, 2, 31, 32, 33, 127, 1000})
    for (const int power : {1, 2, 3, 7}) {
      if (short_form() && (n == 2 || n == 31 || n == 32 || n == 1000 || power == 7)) continue;
      agrees_with_the_host(host, device, n, 5, 0.3, power);
      agrees_with_the_host(host, device, n, 40, 0.05, power);
    }
}

TEST(powers_of_a_diagonal_agree_with_the_host) {
  const context_on device(BISAI_BACKEND_CUDA), host(BISAI_BACKEND_HOST);
  for (const int power : {1, 2, 4, INT32_MAX})
    if (!short_form() || power == 2) agrees_with_the_host(host, device, 500, 0, 0.0, power);
}

/* Rows on both sides of what shared memory holds, and rows that are long from the first step on. */
TEST(powers_with_long_rows_agree_with_the_host) {
  const context_on device(BISAI_BACKEND_CUDA), host(BISAI_BACKEND_HOST);
  for (const int power : {1, 2, 4, INT32_MAX}) {
    if (short_form() && power != 2) continue;
    agrees_with_the_host(host, device, 3000, 400, 0.01, power);
    agrees_with_the_host(host, device, 1500, 1500, 0.3, power);
  }
}

/* Rows of 256, 257 and 258 blocks: beyond 256 another kernel makes them. */
TEST(high_powers_agree_with_the_host) {
  if (short_form()) SKIP("large");
  const context_on device(BISAI_BACKEND_CUDA), host(BISAI_BACKEND_HOST);
  for (const int power : {255, 256, 257}) agrees_with_the_host(host, device, 20000, 1, 1.0, power);
}

TEST(limited_rows_agree_with_the_host) {
  const context_on device(BISAI_BACKEND_CUDA), host(BISAI_BACKEND_HOST);
  if (short_form()) {
    limited_rows_agree(host, device, 500, 20, 0.3, 2, 7);
    limited_rows_agree(host, device, 1500, 1500, 0.3, 1, 300);
    return;
  }
  for (const int32_t limit : {1, 2, 7, 40, 300, 5000})
    for (const int power : {1, 2, 3}) {
      limited_rows_agree(host, device, 1, 5, 0.3, power, limit);
      limited_rows_agree(host, device, 500, 20, 0.3, power, limit);
      limited_rows_agree(host, device, 3000, 400, 0.02, power, limit);
      limited_rows_agree(host, device, 1500, 1500, 0.3, power, limit);
    }
}
