/* SPDX-License-Identifier: BSD-3-Clause */
/* Products of sparse matrices and transfers between levels on a device against the host's. */
#include <algorithm>
#include <cstring>

#include "core/context/backend.h"
#include "device.cuh"
#include "multigrid/level/multigrid_ops.h"
#include "multigrid/spgemm/spgemm_ops.h"
#include "multigrid/transfers/transfer_ops.h"
#include "multigrid/unit/scalar_copy.h"

namespace {

const bsi_multigrid_ops &host_ops = *bsi_backend_host.multigrid,
                        &device_ops = *bsi_backend_cuda.multigrid;

template <typename T> std::vector<T> fetch(const T *from, size_t count) {
  std::vector<T> to(count);
  CHECK(cudaDeviceSynchronize());
  if (count) CHECK(cudaMemcpy(to.data(), from, count * sizeof(T), cudaMemcpyDefault));
  return to;
}

/* A matrix on both sides, whose arrays the contexts release. */
struct both {
  bisai_context *host_context, *device_context;
  bsi_block_matrix host = {}, device = {};
  both(bisai_context *on_host, bisai_context *on_device)
      : host_context(on_host), device_context(on_device) {}
  both(const both &) = delete;
  ~both() {
    bsi_block_matrix_destroy(host_context, &host);
    bsi_block_matrix_destroy(device_context, &device);
  }
  bool same_structure() const {
    const size_t rows = static_cast<size_t>(host.rows) + 1, blocks = host.blocks;
    if (host.rows != device.rows || host.cols != device.cols || host.height != device.height ||
        host.width != device.width || host.blocks != device.blocks)
      return false;
    const std::vector<int32_t> ptr = fetch(device.row_ptr, rows),
                               idx = fetch(device.col_idx, blocks);
    return std::equal(ptr.begin(), ptr.end(), host.row_ptr) &&
           std::equal(idx.begin(), idx.end(), host.col_idx);
  }
  /* Returns the largest difference of two values. */
  double apart() const {
    const size_t count = bsi_block_matrix_offset(&host, host.blocks);
    const std::vector<double> got = fetch(device.values, count);
    double largest = 0.0;
    for (size_t v = 0; v < count; v++) {
      const double difference = std::fabs(got[v] - host.values[v]);
      if (!(difference <= largest)) largest = difference;
    }
    return largest;
  }
  void upload(bisai_backend side, const std::vector<int32_t> &ptr, const std::vector<int32_t> &idx,
              const std::vector<double> &values) {
    const bool here = side == BISAI_BACKEND_HOST;
    bisai_context *context = here ? host_context : device_context;
    bsi_block_matrix *m = here ? &host : &device;
    const bsi_memory_ops *memory = context->backend->memory;
    m->row_ptr = static_cast<int32_t *>(memory->allocate(context, ptr.size(), sizeof(int32_t)));
    m->col_idx = static_cast<int32_t *>(memory->allocate(context, idx.size(), sizeof(int32_t)));
    memory->upload(context, m->row_ptr, ptr.data(), ptr.size() * sizeof(int32_t));
    memory->upload(context, m->col_idx, idx.data(), idx.size() * sizeof(int32_t));
    if (!values.empty()) {
      bsi_block_matrix_reserve_values(context, m);
      memory->upload(context, m->values, values.data(), values.size() * sizeof(double));
    }
    memory->synchronize(context);
  }
};

struct shape {
  int32_t rows, cols;
  int height, width;
  /* blocks of a row within `reach` of the diagonal, and of every `long_every`-th row (0: none) */
  int32_t length, reach, long_length, long_every;
  bool identity;
  /* every block is a multiple of the identity */
  bool multiples = false;
};

void fill(both *m, const shape &s) {
  std::vector<int32_t> ptr = {0}, idx;
  for (int32_t i = 0; i < s.rows; i++) {
    const bool is_long = s.long_every > 0 && i % s.long_every == s.long_every / 2;
    const int32_t centre = static_cast<int32_t>(static_cast<int64_t>(i) * s.cols / s.rows),
                  low = is_long ? 0 : std::max(0, centre - s.reach),
                  high = is_long ? s.cols : std::min(s.cols, centre + s.reach + 1);
    const double chance = (is_long ? s.long_length : s.length) / static_cast<double>(high - low);
    for (int32_t j = low; j < high && i % 7 != 5; j++)
      if (0.5 * (next_random() + 1.0) < chance) idx.push_back(j);
    ptr.push_back(static_cast<int32_t>(idx.size()));
  }
  const bsi_block_matrix m0 = {
      s.rows,  s.cols,  s.height, s.width, static_cast<int32_t>(idx.size()),
      nullptr, nullptr, nullptr};
  std::vector<double> values;
  if (!s.identity) values = random_vector(bsi_block_matrix_offset(&m0, m0.blocks));
  for (size_t v = 0; v < values.size() && s.multiples; v++)
    if (v % (s.height * s.width) % (s.height + 1) > 0)
      values[v] = 0.0;
    else if (v % (s.height * s.width) > 0)
      values[v] = values[v - s.height - 1];
  m->host = m->device = m0;
  m->host.multiples = m->device.multiples = s.multiples;
  m->upload(BISAI_BACKEND_HOST, ptr, idx, values);
  m->upload(BISAI_BACKEND_CUDA, ptr, idx, values);
}

/* Returns the most blocks of a row of a matrix in host memory. */
int32_t longest_of(const bsi_block_matrix &m) {
  int32_t longest = 0;
  for (int32_t i = 0; i < m.rows; i++) longest = std::max(longest, m.row_ptr[i + 1] - m.row_ptr[i]);
  return longest;
}

/* values ← those of the product, into which NaN were written before. */
bool compute(bisai_context *context, const bsi_multigrid_ops &ops, const bsi_block_matrix &a,
             const bsi_block_matrix &b, bsi_block_matrix *c, std::vector<double> *values) {
  values->assign(bsi_block_matrix_offset(c, c->blocks), NAN);
  const size_t bytes = values->size() * sizeof(double);
  context->backend->memory->upload(context, c->values, values->data(), bytes);
  context->backend->memory->synchronize(context);
  return !ops.spgemm->multiply_values(context, &a, &b, c) &&
         !context->backend->memory->fetch(context, values->data(), c->values, bytes);
}

/* Computes the product without slots, which kernels then search, and with them. Both have the same
 * bits. */
bool multiply(bisai_context *context, const bsi_multigrid_ops &ops, const bsi_block_matrix &a,
              const bsi_block_matrix &b, bsi_block_matrix *c) {
  std::vector<double> searched, found;
  const bool good = !ops.spgemm->multiply_structure(context, &a, &b, INT64_MAX, c) &&
                    !bsi_block_matrix_reserve_values(context, c) &&
                    compute(context, ops, a, b, c, &searched) &&
                    (!ops.spgemm->find_slots || !ops.spgemm->find_slots(context, &a, &b, c)) &&
                    compute(context, ops, a, b, c, &found);
  if (!good) std::printf("%s\n", context->error);
  return good && std::memcmp(searched.data(), found.data(), found.size() * sizeof(double)) == 0;
}

/* Unless `small_too`, no matrix counts as one for which the device has lanes enough. */
struct contexts {
  context_on device, host;
  explicit contexts(bool small_too = false) : device(BISAI_BACKEND_CUDA), host(BISAI_BACKEND_HOST) {
    if (!small_too) device.made->limits.processors = 0;
  }
};

void product_agrees(const contexts &on, const shape &left, const shape &right) {
  both a(on.host, on.device), b(on.host, on.device), c(on.host, on.device);
  fill(&a, left);
  fill(&b, right);
  const bool good = multiply(on.host, host_ops, a.host, b.host, &c.host) &&
                    multiply(on.device, device_ops, a.device, b.device, &c.device);
  const bool same = good && c.same_structure() && c.device.slots.longest == longest_of(c.host);
  const double apart = same ? c.apart() : INFINITY;
  /* sums of at most `inner` products of magnitude at most 1 */
  const double inner = static_cast<double>(a.host.width) *
                       std::max(left.length, left.long_every > 0 ? left.long_length : 0) * 3.0;
  verdict(same && apart <= 2.3e-16 * inner * inner,
          "%d×%d blocks of %d×%d times blocks of %d×%d: %d and %d blocks, apart %g", left.rows,
          left.cols, left.height, left.width, right.height, right.width, c.host.blocks,
          c.device.blocks, apart);
}

} // namespace

TEST(products_of_all_shapes_of_blocks_agree_with_the_host) {
  const contexts on;
  for (const int h : {1, 2, 3, 4, 5, 6, 7, 8, 9, 32})
    for (const int m : {1, 2, 3, 4, 5, 6, 7, 8, 9, 32})
      for (const int w : {1, 2, 3, 4, 5, 6, 7, 8, 9, 32}) {
        if (left_out(h) || left_out(m) || left_out(w)) continue;
        if (short_form() && h != m && m != w && w != h) continue;
        product_agrees(on, {50, 40, h, m, 4, 10, 0, 0, false}, {40, 60, m, w, 3, 10, 0, 0, false});
      }
}

TEST(small_products_agree_with_the_host) {
  const contexts on(true);
  const int32_t rows = short_form() ? 60 : 300;
  for (const int h : {1, 2, 3, 6, 9})
    for (const int m : {1, 3, 6})
      for (const int w : {1, 3, 6, 32}) {
        if (left_out(h) || left_out(m) || left_out(w)) continue;
        product_agrees(on, {rows, 200, h, m, 40, 100, 0, 0, false},
                       {200, 150, m, w, 9, 40, 100, 30, false});
      }
  for (const int m : {1, 3, 6}) {
    const shape identity = {200, 90, m, m, 1, 10, 0, 0, true};
    product_agrees(on, {300, 200, m, m, 5, 40, 0, 0, false}, identity);
    product_agrees(on, identity, {90, 300, m, m, 5, 40, 0, 0, false});
  }
}

TEST(products_with_identities_agree_with_the_host) {
  const contexts on;
  for (const int m : {1, 2, 3, 4, 5, 6, 7, 8, 9, 32}) {
    if (left_out(m)) continue;
    const shape identity = {70, 90, m, m, 3, 10, 0, 0, true},
                right = {90, 60, m, m, 3, 10, 0, 0, true};
    for (const int other : {1, 3, m, 32}) {
      product_agrees(on, identity, {90, 60, m, other, 3, 10, 0, 0, false});
      product_agrees(on, {70, 90, other, m, 3, 10, 0, 0, false}, right);
    }
    product_agrees(on, identity, right);
  }
}

TEST(products_with_multiples_of_identities_agree_with_the_host) {
  const contexts some, small(true);
  for (const int m : {1, 2, 3, 4, 5, 6, 7, 8, 9, 32})
    for (const int other : {1, 3, m}) {
      if (left_out(m)) continue;
      const shape left = {70, 90, m, m, 3, 10, 40, 30, false, true},
                  right = {90, 60, m, other, 3, 10, 0, 0, false};
      product_agrees(some, left, right);
      product_agrees(small, left, right);
    }
}

/* Rows on both sides of what each table holds (16, 64, 256, 896 columns), and rows that are
 * longer. */
TEST(products_with_rows_of_all_lengths_agree_with_the_host) {
  const contexts on;
  const int32_t rows = short_form() ? 100 : 700;
  for (const int32_t left : {1, 3, 10, 60, 300})
    for (const int32_t right : {1, 3, 10, 60, 300}) {
      if (short_form() && (left == 3 || right == 3 || left * right > 3000)) continue;
      product_agrees(on, {rows, 1500, 1, 2, left, 700, 900, 60, false},
                     {1500, 900, 2, 1, right, 400, 800, 90, false});
    }
}

/* A thread searches a row of C if there are more than 8192 and rows of B are short. Rows of more
 * than 16 columns come into the list then. Other products take the table of 64 columns. */
TEST(products_of_short_rows_agree_with_the_host) {
  const contexts on;
  for (const int32_t left : {2, 6, 12})
    product_agrees(on, {9000, 4000, 1, 1, left, 40, 60, 50, false},
                   {4000, 4000, 1, 1, 3, 30, 20, 60, false});
  for (const int32_t left : {5, 12, 25})
    product_agrees(on, {9000, 4000, 1, 1, left, 40, 300, 700, false},
                   {4000, 4000, 1, 1, 8, 30, 900, 800, false});
}

/* A thread computes a short row of C if there are more than 65536. */
TEST(products_of_short_rows_of_single_values_agree_with_the_host) {
  const contexts on;
  for (const bool left : {false, true})
    for (const bool right : {false, true})
      for (const int32_t length : {1, 3})
        product_agrees(on, {70000, 9000, 1, 1, length, 20, 0, 0, left},
                       {9000, 3000, 1, 1, 2, 10, 0, 0, right});
}

/* Four lanes take a row of single values times identities if there are more than 16384 rows, and
 * keep 8 or 16 of its values in registers. The rest takes further passes. */
TEST(products_of_long_rows_with_identities_agree_with_the_host) {
  const contexts on;
  for (const int32_t length : {3, 15, 30})
    for (const int32_t reach : {20, 60})
      for (const int32_t row : {1, 2})
        product_agrees(on, {17000, 9000, 1, 1, length, reach, 60, 700, false},
                       {9000, 2000, 1, 1, row, 5, 0, 0, true});
}

/* One thread block adds up the lengths of at most 8192 rows. */
TEST(products_of_many_rows_agree_with_the_host) {
  if (short_form()) SKIP("large");
  const contexts on;
  for (const int32_t rows : {1, 2, 1023, 1024, 1025, 8191, 8192, 8193, 40000})
    for (const int32_t every : {0, 500})
      product_agrees(on, {rows, 9000, 3, 3, 4, 20, 2000, every, false},
                     {9000, 3000, 3, 6, 3, 20, 1500, every, false});
}

TEST(products_without_blocks_agree_with_the_host) {
  const contexts on;
  for (const int32_t rows : {0, 5})
    for (const int32_t inner : {0, 4})
      for (const int32_t cols : {0, 3})
        product_agrees(on, {rows, inner, 2, 3, 0, 0, 0, 0, false},
                       {inner, cols, 3, 2, 0, 0, 0, 0, false});
}

TEST(very_long_rows_agree_with_the_host) {
  if (short_form()) SKIP("large");
  const contexts on;
  product_agrees(on, {30000, 30000, 2, 2, 5, 10, 30000, 10000, false},
                 {30000, 30000, 2, 2, 5, 10, 30000, 15000, false});
}

/* Computes the values of c again, and returns them. */
std::vector<double> values_of(bisai_context *context, const both &a, const both &b, both *c) {
  const size_t count = bsi_block_matrix_offset(&c->device, c->device.blocks);
  const std::vector<double> nan(count, NAN);
  bsi_backend_cuda.memory->upload(context, c->device.values, nan.data(), count * sizeof(double));
  bsi_backend_cuda.memory->synchronize(context);
  if (device_ops.spgemm->multiply_values(context, &a.device, &b.device, &c->device)) return nan;
  return fetch(c->device.values, count);
}

/* Without the length of the longest row, no row is kept in shared memory. With many processors, a
 * warp takes each block. */
void product_has_the_same_bits_by_rows_and_by_blocks(const contexts &on, const shape &left,
                                                     const shape &right) {
  both a(on.host, on.device), b(on.host, on.device), c(on.host, on.device);
  bisai_context *context = on.device;
  fill(&a, left);
  fill(&b, right);
  const bool good = multiply(context, device_ops, a.device, b.device, &c.device);
  const size_t count = good ? bsi_block_matrix_offset(&c.device, c.device.blocks) : 0;
  const std::vector<double> by_rows = fetch(c.device.values, count);
  c.device.slots.longest = 0;
  const std::vector<double> by_blocks = values_of(context, a, b, &c);
  context->limits.processors = 1 << 16;
  const std::vector<double> by_warps = values_of(context, a, b, &c);
  context->limits.processors = 0;
  verdict(good && count > 0 &&
              std::memcmp(by_rows.data(), by_blocks.data(), count * sizeof(double)) == 0 &&
              std::memcmp(by_rows.data(), by_warps.data(), count * sizeof(double)) == 0,
          "blocks of %d×%d times %d×%d: %zu values", left.height, left.width, right.height,
          right.width, count);
}

TEST(products_by_rows_and_by_blocks_have_the_same_bits) {
  const contexts on;
  const int32_t rows = short_form() ? 100 : 300;
  for (const int bs : {1, 2, 3, 4, 5, 6, 7, 8})
    for (const int w : {1, 3, 6, bs, 32})
      for (const int32_t length : {1, 4, 20}) {
        if (left_out(bs) || left_out(w) || (short_form() && length == 4)) continue;
        const shape a = {rows, 200, bs, bs, 6, 20, 40, 60, false},
                    b = {200, 150, bs, w, length, 20, 60, 30, false};
        shape identity = {rows, 200, bs, bs, 6, 20, 40, 60, true};
        product_has_the_same_bits_by_rows_and_by_blocks(on, a, b);
        product_has_the_same_bits_by_rows_and_by_blocks(on, identity, b);
        identity = {200, 150, bs, bs, length, 20, 60, 30, true};
        product_has_the_same_bits_by_rows_and_by_blocks(on, a, identity);
      }
  product_has_the_same_bits_by_rows_and_by_blocks(on, {300, 200, 6, 3, 6, 20, 40, 60, false},
                                                  {200, 150, 3, 6, 4, 20, 60, 30, false});
  product_has_the_same_bits_by_rows_and_by_blocks(on, {300, 200, 3, 2, 6, 20, 40, 60, false},
                                                  {200, 150, 2, 3, 4, 20, 60, 30, false});
  if (short_form()) return; /* and no product of many rows */
  product_has_the_same_bits_by_rows_and_by_blocks(on, {70000, 9000, 1, 1, 3, 20, 0, 0, false},
                                                  {9000, 3000, 1, 1, 2, 10, 0, 0, false});
}

TEST(repeated_products_have_the_same_bits) {
  const contexts on;
  both a(on.host, on.device), b(on.host, on.device);
  fill(&a, {3000, 3000, 3, 3, 9, 20, 900, 300, false});
  fill(&b, {3000, 700, 3, 6, 4, 20, 300, 200, false});
  std::vector<double> first;
  bool good = true, same = true;
  for (int k = 0; k < 5 && good; k++) {
    bsi_block_matrix c = {};
    good = multiply(on.device, device_ops, a.device, b.device, &c);
    const std::vector<double> got =
        fetch(c.values, good ? bsi_block_matrix_offset(&c, c.blocks) : 0);
    if (k == 0) first = got;
    same = same && got.size() == first.size() &&
           std::memcmp(got.data(), first.data(), got.size() * sizeof(double)) == 0;
    bsi_block_matrix_destroy(on.device, &c);
  }
  verdict(good && same, "%zu values", first.size());
}

TEST(transposes_agree_with_the_host) {
  const contexts on;
  for (const shape &s :
       {shape{1, 1, 1, 1, 1, 1, 0, 0, false}, shape{300, 7, 3, 6, 3, 3, 0, 0, false},
        shape{7, 300, 6, 3, 9, 30, 300, 3, false}, shape{20000, 3000, 2, 3, 3, 9, 3000, 900, false},
        shape{5000, 5000, 1, 1, 9, 9, 0, 0, false}, shape{400, 90, 32, 9, 2, 9, 0, 0, false},
        shape{0, 9, 2, 2, 0, 0, 0, 0, false}, shape{9, 0, 2, 2, 0, 0, 0, 0, false}}) {
    both m(on.host, on.device), turned(on.host, on.device);
    fill(&m, s);
    const std::vector<int32_t> ptr(static_cast<size_t>(s.cols) + 1, -1), idx(m.host.blocks, -1);
    const std::vector<double> values(bsi_block_matrix_offset(&m.host, m.host.blocks), NAN);
    turned.host = turned.device = {s.cols,        s.rows,  s.width, s.height,
                                   m.host.blocks, nullptr, nullptr, nullptr};
    turned.upload(BISAI_BACKEND_HOST, ptr, idx, values);
    turned.upload(BISAI_BACKEND_CUDA, ptr, idx, values);
    std::vector<int32_t> expected(m.host.blocks);
    const device_array<int32_t> position(idx);
    const bool good =
        !host_ops.transfer->transpose(on.host, &m.host, &turned.host, expected.data()) &&
        !device_ops.transfer->transpose(on.device, &m.device, &turned.device, position.data) &&
        !host_ops.transfer->transpose_values(on.host, &m.host, expected.data(), &turned.host) &&
        !device_ops.transfer->transpose_values(on.device, &m.device, position.data, &turned.device);
    verdict(good && turned.same_structure() && position.fetch() == expected &&
                turned.apart() == 0.0,
            "%d×%d blocks of %d×%d", s.rows, s.cols, s.height, s.width);
  }
}

TEST(near_null_vectors_agree_with_the_host) {
  const contexts on;
  for (const int h : {1, 2, 3, 6})
    for (const int w : {1, 3, 6, 32})
      for (const int32_t size : {4, 40, 1500}) {
        if (short_form() && (h == 2 || w == 3 || size == 40)) continue;
        const int32_t n = 3000, count = n / size;
        std::vector<int32_t> aggregate(n);
        int32_t in_aggregates = 0;
        for (int32_t i = 0; i < n; i++) {
          aggregate[i] = size > 4 && i % 11 == 3 ? -1 : i % count;
          in_aggregates += aggregate[i] >= 0;
        }
        const int32_t known = size == 1500 ? -1 : in_aggregates;
        both t(on.host, on.device), members(on.host, on.device);
        t.host = t.device = {n, count, h, w, 0, nullptr, nullptr, nullptr};
        const device_array<int32_t> there(aggregate);
        bool good = !host_ops.transfer->list(on.host, aggregate.data(), known, &t.host) &&
                    !device_ops.transfer->list(on.device, there.data, known, &t.device) &&
                    t.same_structure();
        const std::vector<int32_t> ptr(static_cast<size_t>(count) + 1), idx(t.host.blocks);
        members.host = members.device = {count, n, w, h, t.host.blocks, nullptr, nullptr, nullptr};
        members.upload(BISAI_BACKEND_HOST, ptr, idx, {});
        members.upload(BISAI_BACKEND_CUDA, ptr, idx, {});
        std::vector<int32_t> position(t.host.blocks);
        const device_array<int32_t> positions(position);
        /* every third vector depends on the one before it */
        std::vector<double> vectors = random_vector(static_cast<size_t>(n) * h * w);
        for (size_t v = 2; v < vectors.size(); v++)
          if (v % w % 3 == 2) vectors[v] = -3.0 * vectors[v - 1];
        std::vector<double> coarse(static_cast<size_t>(count) * w * w, NAN);
        const device_array<double> basis(vectors), factors(coarse);
        good = good && !bsi_block_matrix_reserve_values(on.host, &t.host) &&
               !bsi_block_matrix_reserve_values(on.device, &t.device) &&
               !host_ops.transfer->transpose(on.host, &t.host, &members.host, position.data()) &&
               !device_ops.transfer->transpose(on.device, &t.device, &members.device,
                                               positions.data) &&
               !host_ops.transfer->orthonormalise(on.host, &members.host, vectors.data(), 1e-10,
                                                  &t.host, coarse.data()) &&
               !device_ops.transfer->orthonormalise(on.device, &members.device, basis.data, 1e-10,
                                                    &t.device, factors.data);
        double apart = good ? t.apart() : INFINITY;
        const std::vector<double> got = factors.fetch();
        for (size_t v = 0; v < coarse.size(); v++)
          if (!(std::fabs(got[v] - coarse[v]) <= apart)) apart = std::fabs(got[v] - coarse[v]);
        /* Random vectors in nearly square aggregates are ill-conditioned. */
        verdict(good && apart <= 1e-9, "%d vectors of %d in aggregates of about %d: apart %g", w, h,
                size, apart);
      }
}

TEST(smoothed_transfers_agree_with_the_host) {
  const contexts on;
  for (const int bs : {1, 2, 3, 4, 5, 6, 7, 8, 9, 32})
    for (const int w : {1, 3, 6, bs})
      for (const bool identity : {false, true}) {
        if (left_out(bs) || (identity && w != bs)) continue;
        for (const bool restriction : {false, true}) {
          both t(on.host, on.device), p(on.host, on.device);
          const int h = restriction ? w : bs, width = restriction ? bs : w;
          fill(&t, {500, 400, h, width, 2, 6, 0, 0, identity});
          fill(&p, {500, 400, h, width, 20, 6, 0, 0, false}); /* all blocks, those of T too */
          const std::vector<double> inverse = random_vector(static_cast<size_t>(500) * bs * bs);
          const device_array<double> there(inverse);
          const bsi_smoothing on_host = {&t.host, inverse.data(), 0.6, restriction},
                              on_device = {&t.device, there.data, 0.6, restriction};
          const bool good = !bsi_smooth_product_host(on.host, &on_host, &p.host) &&
                            !bsi_smooth_product_cuda(on.device, &on_device, &p.device);
          const double apart = good ? p.apart() : INFINITY;
          verdict(good && apart <= 2.3e-16 * bs * bs, "%s, blocks of %d×%d: apart %g",
                  restriction ? "R" : "P", h, width, apart);
        }
      }
}

/* Smooths a product on both sides, with a T that has two of three blocks of the product. */
void smoothed_product_agrees(const contexts &on, const shape &left, const shape &right,
                             bool from_right, bool identity) {
  both a(on.host, on.device), b(on.host, on.device), c(on.host, on.device), t(on.host, on.device);
  fill(&a, left);
  fill(&b, right);
  bool good = multiply(on.host, host_ops, a.host, b.host, &c.host) &&
              multiply(on.device, device_ops, a.device, b.device, &c.device);
  std::vector<int32_t> ptr = {0}, idx;
  for (int32_t i = 0; good && i < c.host.rows; i++) {
    for (int32_t q = c.host.row_ptr[i]; q < c.host.row_ptr[i + 1]; q++)
      if (q % 3 != 1) idx.push_back(c.host.col_idx[q]);
    ptr.push_back(static_cast<int32_t>(idx.size()));
  }
  t.host = t.device = {
      c.host.rows, c.host.cols, c.host.height, c.host.width, static_cast<int32_t>(idx.size()),
      nullptr,     nullptr,     nullptr};
  const std::vector<double> values = random_vector(bsi_block_matrix_offset(&t.host, t.host.blocks));
  t.upload(BISAI_BACKEND_HOST, ptr, idx, identity ? std::vector<double>{} : values);
  t.upload(BISAI_BACKEND_CUDA, ptr, idx, identity ? std::vector<double>{} : values);
  const int bs = from_right ? right.width : left.height;
  const std::vector<double> inverse =
      random_vector(static_cast<size_t>(from_right ? right.cols : left.rows) * bs * bs);
  const device_array<double> there(inverse);
  const bsi_smoothing on_host = {&t.host, inverse.data(), 0.6, from_right},
                      on_device = {&t.device, there.data, 0.6, from_right};
  good =
      good && !host_ops.spgemm->multiply_smoothed(on.host, &a.host, &b.host, &on_host, &c.host) &&
      !device_ops.spgemm->multiply_smoothed(on.device, &a.device, &b.device, &on_device, &c.device);
  const double apart = good ? c.apart() : INFINITY,
               terms = 3.0 * left.length * left.width * bs; /* of magnitude at most 1 */
  verdict(good && apart <= 2.3e-16 * terms * terms,
          "%s, %d rows, blocks of %d×%d times %d×%d%s: apart %g", from_right ? "R" : "P", left.rows,
          left.height, left.width, right.height, right.width, identity ? ", T of identities" : "",
          apart);
}

/* By a thread for each column of a row, by lanes for a row, and by lanes for a block. */
TEST(smoothed_products_agree_with_the_host) {
  const contexts on;
  for (const int bs : {1, 2, 3, 4, 5, 6, 9})
    for (const int w : {1, 3, 6, bs})
      for (const bool identity : {false, true})
        for (const int32_t length : {4, 20}) {
          if (left_out(bs) || (identity && w != bs)) continue;
          const int32_t rows = length == 4 && w == bs ? 70000 / bs : 900;
          smoothed_product_agrees(on, {rows, 800, bs, bs, length, 40, 0, 0, false},
                                  {800, 300, bs, w, 1, 1, 0, 0, identity}, false, identity);
          smoothed_product_agrees(on, {300, 800, w, bs, length, 40, 0, 0, identity},
                                  {800, 800, bs, bs, 5, 10, 0, 0, false}, true, identity);
        }
}
