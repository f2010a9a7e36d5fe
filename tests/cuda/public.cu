/* SPDX-License-Identifier: BSD-3-Clause */
/* The public interface on a device as a CFD code uses it: arrays that are already there, a stream
 * and an allocator of the caller's. */
#include <bisai/bisai.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "device.cuh"

namespace {

enum { SIDE = 24, ROWS = SIDE * SIDE, BS = 3, VALUES = BS * BS, SCALARS = ROWS * BS };

struct problem {
  std::vector<int32_t> row_ptr{0}, col_idx;
  /* column-major blocks */
  std::vector<double> values;
};

/* 5-point grid; off-diagonal blocks are random, diagonal ones dominate. */
problem grid() {
  problem p;
  for (int32_t i = 0; i < ROWS; i++) {
    const int32_t x = i % SIDE, y = i / SIDE;
    for (const int32_t j : {y > 0 ? i - SIDE : -1, x > 0 ? i - 1 : -1, i, x < SIDE - 1 ? i + 1 : -1,
                            y < SIDE - 1 ? i + SIDE : -1}) {
      if (j < 0) continue;
      p.col_idx.push_back(j);
      for (int e = 0; e < VALUES; e++)
        p.values.push_back(next_random() + (i == j && e % (BS + 1) == 0 ? 9.0 : 0.0));
    }
    p.row_ptr.push_back(static_cast<int32_t>(p.col_idx.size()));
  }
  return p;
}

/* The same with every row's blocks in descending order, row-major. */
problem turned(const problem &p) {
  problem q = p;
  for (int32_t i = 0; i < ROWS; i++)
    for (int32_t k = p.row_ptr[i]; k < p.row_ptr[i + 1]; k++) {
      const int32_t to = p.row_ptr[i] + p.row_ptr[i + 1] - 1 - k;
      q.col_idx[to] = p.col_idx[k];
      for (int e = 0; e < VALUES; e++)
        q.values[to * VALUES + e % BS * BS + e / BS] = p.values[k * VALUES + e];
    }
  return q;
}

bisai_bcsr_desc describe(const int32_t *row_ptr, const int32_t *col_idx, const double *values) {
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.block_rows = desc.block_cols = ROWS;
  desc.block_size = BS;
  desc.row_ptr = row_ptr, desc.col_idx = col_idx, desc.values = values;
  return desc;
}

bool good(bisai_context *context, bisai_status status, const char *what) {
  verdict(status == BISAI_OK, "%s: %s", what, bisai_context_error(context));
  return status == BISAI_OK;
}

bool close(const std::vector<double> &a, const std::vector<double> &b, double bound) {
  bool same = a.size() == b.size();
  for (size_t i = 0; same && i < a.size(); i++) same = std::fabs(a[i] - b[i]) <= bound;
  return same;
}

/* What the allocator of the caller has been asked for. */
struct account {
  cudaStream_t stream;
  int live = 0, calls = 0;
  bool right_stream = true;
};

void *take(void *user, size_t bytes, void *stream) {
  account *a = static_cast<account *>(user);
  void *memory = nullptr;
  a->right_stream = a->right_stream && stream == a->stream;
  a->calls++;
  if (cudaMallocAsync(&memory, bytes, static_cast<cudaStream_t>(stream)) != cudaSuccess)
    return nullptr;
  a->live++;
  return memory;
}

void give(void *user, void *memory, void *stream) {
  account *a = static_cast<account *>(user);
  a->right_stream = a->right_stream && stream == a->stream;
  a->live--;
  cudaFreeAsync(memory, static_cast<cudaStream_t>(stream));
}

using milliseconds = std::chrono::milliseconds;

/* Keeps a stream from going on until it is opened: while it is shut, nothing that was enqueued
 * after it has begun, however fast host and device are. One that nobody opens because a call waits
 * for the stream gives up in the end, so that a wrong test fails and does not hang. */
class gate {
public:
  gate(cudaStream_t stream, bool shut) : opened(!shut) {
    CHECK(cudaLaunchHostFunc(stream, hold, this));
  }
  gate(const gate &) = delete;
  void open() { opened = true; }

private:
  enum { PATIENCE = 20000, LOOK = 1 }; /* milliseconds */
  std::atomic<bool> opened;
  static void CUDART_CB hold(void *self) {
    const gate *own = static_cast<gate *>(self);
    for (int waited = 0; !own->opened && waited < PATIENCE; waited += LOOK)
      std::this_thread::sleep_for(milliseconds(LOOK));
  }
};

bool runs_beside_the_host() {
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  return properties.asyncEngineCount > 0;
}

void CUDART_CB linger(void *) { std::this_thread::sleep_for(milliseconds(10)); }

void fill_with_nan(const device_array<double> &x, cudaStream_t stream) {
  CHECK(cudaMemsetAsync(x.data, 0xff, x.count * sizeof(double), stream));
}

void copy(const device_array<double> &from, const device_array<double> &to, cudaStream_t stream) {
  CHECK(cudaMemcpyAsync(to.data, from.data, from.count * sizeof(double), cudaMemcpyDeviceToDevice,
                        stream));
}

bisai_precond *make_precond(bisai_context *context, const bisai_bcsr *matrix,
                            bisai_precond_kind kind) {
  bisai_precond_options options = bisai_precond_options_default();
  options.kind = kind;
  if (kind == BISAI_PRECOND_ISAI) options.isai.power = 2;
  bisai_precond *precond = nullptr;
  good(context, bisai_precond_create(context, matrix, &options, &precond), "precond");
  return precond;
}

/* On the host: A x, M⁻¹ x and the solution of A y = x. */
struct reference {
  std::vector<double> product, applied, solved;
  reference(const problem &p, const std::vector<double> &x, bisai_precond_kind kind)
      : product(SCALARS), applied(SCALARS), solved(SCALARS) {
    const context_on host(BISAI_BACKEND_HOST);
    const bisai_bcsr_desc desc = describe(p.row_ptr.data(), p.col_idx.data(), p.values.data());
    bisai_bcsr *matrix = nullptr;
    bisai_solver *solver = nullptr;
    good(host, bisai_bcsr_create(host, &desc, &matrix), "matrix on the host");
    bisai_precond *precond = make_precond(host, matrix, kind);
    good(host, bisai_bcsr_multiply(matrix, x.data(), product.data()), "product on the host");
    good(host, bisai_precond_apply(precond, x.data(), applied.data()), "application on the host");
    bisai_solver_options options = bisai_solver_options_default();
    options.tolerance = 1e-12;
    good(host, bisai_solver_create(host, SCALARS, &options, &solver), "solver on the host");
    good(host, bisai_solver_solve(solver, matrix, precond, x.data(), solved.data(), nullptr),
         "solve on the host");
    bisai_solver_destroy(&solver);
    bisai_precond_destroy(&precond);
    bisai_bcsr_destroy(&matrix);
  }
};

/* Products and applications return while the stream is held up, and read what the stream brings
 * before them. */
void is_enqueued(bisai_context *context, cudaStream_t stream, const bisai_bcsr *matrix,
                 bisai_precond *precond, const device_array<double> &from, const reference &right,
                 const char *what) {
  const std::vector<double> unset(SCALARS, NAN);
  const device_array<double> x(unset), product(unset), applied(unset);
  /* A kernel's first launch loads it, which may wait for the device: everything is done once
   * before. */
  copy(from, x, stream);
  bool all = !bisai_bcsr_multiply(matrix, x.data, product.data) &&
             !bisai_precond_apply(precond, x.data, applied.data);
  for (const device_array<double> *vector : {&x, &product, &applied})
    fill_with_nan(*vector, stream);
  all = all && !bisai_context_synchronize(context);

  /* compute-sanitizer may let every launch wait, and an emulated device always does */
  const bool asynchronous = !short_form() && runs_beside_the_host();
  gate shut(stream, asynchronous);
  copy(from, x, stream);
  all = all && !bisai_bcsr_multiply(matrix, x.data, product.data) &&
        !bisai_precond_apply(precond, x.data, applied.data);
  const bool waited = asynchronous && cudaStreamQuery(stream) != cudaErrorNotReady;
  cudaGetLastError(); /* not an error */
  shut.open();
  /* Also after a failure: the stream still looks at the gate. */
  all = !bisai_context_synchronize(context) && all;
  verdict(all && !waited, "%s: products and applications are enqueued%s: %s", what,
          waited ? ", but waited for" : "", bisai_context_error(context));
  verdict(close(product.fetch(), right.product, 1e-12), "%s: product", what);
  verdict(close(applied.fetch(), right.applied, 1e-12), "%s: application", what);
}

/* A right-hand side that the stream brings late is the one that is solved for. */
void is_solved(bisai_context *context, cudaStream_t stream, const bisai_bcsr *matrix,
               bisai_precond *precond, const device_array<double> &from, const reference &right,
               const char *what) {
  const std::vector<double> unset(SCALARS, NAN);
  const device_array<double> b(unset), solved(unset);
  bisai_solver_options options = bisai_solver_options_default();
  options.tolerance = 1e-12;
  bisai_solver *solver = nullptr;
  good(context, bisai_solver_create(context, SCALARS, &options, &solver), what);
  CHECK(cudaLaunchHostFunc(stream, linger, nullptr));
  copy(from, b, stream);
  good(context, bisai_solver_solve(solver, matrix, precond, b.data, solved.data, nullptr), what);
  verdict(close(solved.fetch(), right.solved, 1e-10), "%s: solution", what);
  std::vector<double> fetched(SCALARS, NAN); /* vectors in host memory do as well */
  good(context,
       bisai_solver_solve(solver, matrix, precond, from.fetch().data(), fetched.data(), nullptr),
       what);
  verdict(fetched == solved.fetch(), "%s: the solution does not depend on where the vectors are",
          what);
  bisai_solver_destroy(&solver);
}

/* The caller overwrites borrowed values in place and has the preconditioner made anew; those that
 * were copied are updated. */
void new_values(bisai_context *context, cudaStream_t stream, bisai_bcsr *copied,
                bisai_bcsr *borrowed, const device_array<double> &lent, const problem &p) {
  problem q = p;
  for (double &value : q.values) value *= 1.0 + 0.1 * next_random();
  const std::vector<double> x = random_vector(SCALARS);
  const reference right(q, x, BISAI_PRECOND_ISAI);
  const device_array<double> d_x(x), applied(std::vector<double>(SCALARS, NAN)), values(q.values);
  for (bisai_bcsr *matrix : {copied, borrowed}) {
    const bool mine = matrix == borrowed;
    bisai_precond *precond = make_precond(context, matrix, BISAI_PRECOND_ISAI);
    if (mine)
      CHECK(cudaMemcpyAsync(lent.data, values.data, values.count * sizeof(double),
                            cudaMemcpyDeviceToDevice, stream));
    else
      good(context, bisai_bcsr_update(matrix, values.data, BISAI_COLUMN_MAJOR),
           "new values from the device");
    good(context, bisai_precond_update(precond, matrix), "update");
    good(context, bisai_precond_apply(precond, d_x.data, applied.data),
         "application after an update");
    good(context, bisai_context_synchronize(context), "synchronize");
    verdict(close(applied.fetch(), right.applied, 1e-12), "new values, %s",
            mine ? "borrowed" : "copied");
    bisai_precond_destroy(&precond);
  }
}

/* CSR arrays with new values in device memory, which are the caller's again when the stream is
 * through. */
void new_csr_values(bisai_context *context) {
  const problem p = grid();
  bisai_csr_desc desc = bisai_csr_desc_default(); /* every block is a scalar of it */
  std::vector<double> values(p.col_idx.size());
  for (double &value : values) value = next_random();
  desc.rows = desc.cols = ROWS, desc.block_size = 5, desc.pad = true;
  desc.row_ptr = p.row_ptr.data(), desc.col_idx = p.col_idx.data(), desc.values = values.data();
  bisai_bcsr *updated = nullptr, *made = nullptr;
  if (!good(context, bisai_bcsr_from_csr(context, &desc, &updated), "matrix from CSR arrays"))
    return;
  for (double &value : values) value = next_random();
  good(context, bisai_bcsr_from_csr(context, &desc, &made), "matrix from CSR arrays");
  const size_t count = static_cast<size_t>(bisai_bcsr_blocks(made)) * 25;
  std::vector<double> expected(count, NAN), got(count, NAN);
  good(context, bisai_bcsr_fetch(made, nullptr, nullptr, expected.data()), "values");
  for (const bool on_device : {true, false}) {
    const device_array<double> lent(values);
    if (on_device) {
      desc.values = lent.data; /* the same pattern, so that nothing is compared */
      desc.row_ptr = desc.col_idx = nullptr;
    }
    good(context, bisai_bcsr_update_from_csr(updated, &desc), "new CSR values");
    good(context, bisai_bcsr_fetch(updated, nullptr, nullptr, got.data()), "values");
    verdict(got == expected, "new CSR values from %s memory", on_device ? "device" : "host");
    values[7] = NAN;
    const device_array<double> bad(values);
    desc.values = on_device ? bad.data : values.data();
    verdict(bisai_bcsr_update_from_csr(updated, &desc) == BISAI_NOT_FINITE,
            "a NaN among new CSR values");
    good(context, bisai_bcsr_fetch(updated, nullptr, nullptr, got.data()), "values");
    verdict(got == expected, "a NaN among new CSR values leaves the old ones");
    for (double &value : values) value = next_random();
    desc.row_ptr = p.row_ptr.data(), desc.col_idx = p.col_idx.data(), desc.values = values.data();
    bisai_bcsr_destroy(&made);
    good(context, bisai_bcsr_from_csr(context, &desc, &made), "matrix from CSR arrays");
    good(context, bisai_bcsr_fetch(made, nullptr, nullptr, expected.data()), "values");
  }
  bisai_bcsr_destroy(&updated);
  bisai_bcsr_destroy(&made);
}

/* A context on the device and two matrices there: one uses the caller's arrays, one is a copy of
 * unsorted row-major arrays. */
struct world {
  const problem p = grid(), q = turned(p);
  bool own_stream, own_allocator;
  cudaStream_t stream = nullptr;
  account kept{};
  bisai_context *context = nullptr;
  const device_array<int32_t> ptr{p.row_ptr}, idx{p.col_idx}, unsorted{q.col_idx};
  const device_array<double> values{p.values}, row_major{q.values};
  bisai_bcsr *borrowed = nullptr, *copied = nullptr;

  world(bool stream_of_caller, bool allocator_of_caller)
      : own_stream(stream_of_caller), own_allocator(allocator_of_caller) {
    if (own_stream) CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    kept.stream = stream;
    bisai_context_options options = bisai_context_options_default();
    options.backend = BISAI_BACKEND_CUDA;
    options.stream = stream;
    if (own_allocator) options.device_allocator = {take, give, &kept};
    if (!good(nullptr, bisai_context_create(&options, &context), "context")) return;
    verdict(!own_stream || bisai_context_stream(context) == stream, "the stream is the caller's");
    if (!own_stream)
      stream = kept.stream = static_cast<cudaStream_t>(bisai_context_stream(context));
    bisai_bcsr_desc desc = describe(ptr.data, idx.data, values.data);
    desc.location = BISAI_DEVICE;
    desc.ownership = BISAI_BORROW;
    good(context, bisai_bcsr_create(context, &desc, &borrowed), "borrowed device arrays");
    desc = describe(ptr.data, unsorted.data, row_major.data);
    desc.location = BISAI_DEVICE;
    desc.layout = BISAI_ROW_MAJOR;
    good(context, bisai_bcsr_create(context, &desc, &copied), "unsorted row-major device arrays");
  }
  world(const world &) = delete;
  bool made() const { return borrowed && copied; }
  ~world() {
    bisai_bcsr_destroy(&borrowed);
    bisai_bcsr_destroy(&copied);
    bisai_context_destroy(&context);
    if (own_allocator)
      verdict(kept.live == 0 && kept.calls > 0 && (kept.right_stream || !own_stream),
              "the caller's allocator: %d of %d arrays left, stream %s", kept.live, kept.calls,
              kept.right_stream ? "right" : "wrong");
    if (own_stream) CHECK(cudaStreamDestroy(stream));
  }
};

/* Borrows the values of a row of blocks from each address in 32 bytes. Those that are accepted give
 * the product of a copy. */
void borrow_from_every_address(bisai_context *context, bisai_value_type type, size_t bytes,
                               int32_t bs) {
  const int32_t count = 50;
  const size_t block = bytes * static_cast<size_t>(bs * bs), length = static_cast<size_t>(bs);
  size_t alignment = 16;
  while (block % alignment) alignment /= 2;
  std::vector<int32_t> columns;
  for (int32_t j = 0; j < count; j++) columns.push_back(j);
  const device_array<int32_t> ptr({0, count}), idx(columns);
  /* 0x3f3f… is a number of every type */
  const device_array<unsigned char> room(std::vector<unsigned char>(32 + count * block, 0x3f));
  const device_array<double> x(std::vector<double>(count * length, 1.0)),
      y(std::vector<double>(length, NAN)), z(std::vector<double>(length, NAN));
  for (size_t offset = 0; offset < 32; offset += bytes) {
    bisai_bcsr_desc desc = describe(ptr.data, idx.data, nullptr);
    desc.block_rows = 1, desc.block_cols = count, desc.block_size = bs;
    desc.values = room.data + offset, desc.value_type = type, desc.location = BISAI_DEVICE;
    bisai_bcsr *copied = nullptr, *lent = nullptr;
    bool right =
        !bisai_bcsr_create(context, &desc, &copied) && !bisai_bcsr_multiply(copied, x.data, y.data);
    desc.ownership = BISAI_BORROW;
    const bisai_status status = bisai_bcsr_create(context, &desc, &lent);
    if (offset % alignment == 0)
      right = right && !bisai_bcsr_multiply(lent, x.data, z.data) &&
              !bisai_context_synchronize(context) && y.fetch() == z.fetch();
    else
      right = right && status == BISAI_UNSUPPORTED && !lent;
    verdict(right, "%s, blocks of %d rows, %d bytes further: status %d, %s",
            bisai_value_type_string(type), static_cast<int>(bs), static_cast<int>(offset),
            static_cast<int>(status), bisai_context_error(context));
    bisai_bcsr_destroy(&copied);
    bisai_bcsr_destroy(&lent);
  }
}

/* Calls test(world) with and without a stream and an allocator of the caller's. */
template <typename F> void for_worlds(F test) {
  for (const bool own_stream : {false, true})
    for (const bool own_allocator : {false, true}) {
      world w(own_stream, own_allocator);
      if (w.made()) test(w);
    }
}

/* Calls test(matrix, its preconditioner, x on the device, what the host makes of x, label). */
template <typename F> void for_preconditioners(const world &w, F test) {
  for (const bisai_precond_kind kind :
       {BISAI_PRECOND_ISAI, BISAI_PRECOND_BJACOBI, BISAI_PRECOND_ILU, BISAI_PRECOND_SWEEPS}) {
    const bisai_bcsr *matrix = kind == BISAI_PRECOND_ISAI ? w.borrowed : w.copied;
    const std::vector<double> x = random_vector(SCALARS);
    const reference right(w.p, x, kind);
    const device_array<double> from(x);
    bisai_precond *precond = make_precond(w.context, matrix, kind);
    test(matrix, precond, from, right, kind == BISAI_PRECOND_ISAI ? "borrowed, ISAI" : "copied");
    bisai_precond_destroy(&precond);
  }
}

} // namespace

TEST(borrowed_values_are_used_in_place) {
  for_worlds([](const world &w) {
    const void *used = nullptr;
    bisai_bcsr_arrays(w.borrowed, nullptr, nullptr, &used);
    verdict(used == w.values.data, "values at %p, the caller's at %p", used,
            static_cast<const void *>(w.values.data));
  });
}

TEST(values_are_borrowed_where_words_of_their_blocks_may_begin) {
  const context_on device(BISAI_BACKEND_CUDA);
  for (const int32_t bs : {1, 2, 3, 4, 5, 6, 7, 8, 12}) {
#define BORROW(type, word, bytes, mantissa) borrow_from_every_address(device, type, bytes, bs);
    BISAI_MATRIX_TYPE_LIST(BORROW)
#undef BORROW
  }
}

TEST(products_and_applications_are_enqueued) {
  for_worlds([](const world &w) {
    for_preconditioners(w, [&](const bisai_bcsr *matrix, bisai_precond *precond,
                               const device_array<double> &from, const reference &right,
                               const char *what) {
      is_enqueued(w.context, w.stream, matrix, precond, from, right, what);
    });
  });
}

TEST(solves_take_a_right_hand_side_that_the_stream_brings_late) {
  for_worlds([](const world &w) {
    for_preconditioners(w, [&](const bisai_bcsr *matrix, bisai_precond *precond,
                               const device_array<double> &from, const reference &right,
                               const char *what) {
      is_solved(w.context, w.stream, matrix, precond, from, right, what);
    });
  });
}

TEST(new_values_are_used_after_an_update) {
  for_worlds(
      [](const world &w) { new_values(w.context, w.stream, w.copied, w.borrowed, w.values, w.p); });
}

TEST(new_csr_values_are_used_and_not_kept) {
  for_worlds([](const world &w) { new_csr_values(w.context); });
}

TEST(a_nan_in_device_memory_is_named_by_its_block) {
  for_worlds([](const world &w) {
    std::vector<double> values = w.p.values;
    values[(w.p.row_ptr[7] + 1) * VALUES + 2] = NAN;
    const device_array<double> d_values(values);
    bisai_bcsr_desc desc = describe(w.ptr.data, w.idx.data, d_values.data);
    desc.location = BISAI_DEVICE;
    bisai_bcsr *matrix = nullptr;
    const bisai_status status = bisai_bcsr_create(w.context, &desc, &matrix);
    char wanted[64];
    std::snprintf(wanted, sizeof wanted, "block (7, %d)", w.p.col_idx[w.p.row_ptr[7] + 1]);
    verdict(status == BISAI_NOT_FINITE && !matrix &&
                std::string(bisai_context_error(w.context)).find(wanted) != std::string::npos,
            "NaN in device memory: %s, expected %s", bisai_context_error(w.context), wanted);
  });
}
