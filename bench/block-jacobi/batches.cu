/* SPDX-License-Identifier: BSD-3-Clause */
#include "batches.cuh"

#include <cmath>

namespace {

/* Makes the diagonal of blocks of m rows larger than the sum of the rest of each row. */
__global__ void raise(int64_t rows, int m, double *values) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < rows) values[i / m * m * m + i % m * (m + 1)] += 2.0 * m;
}

__global__ void fill(int64_t count, unsigned long long seed, double *values) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  /* splitmix64 */
  unsigned long long z = seed + static_cast<unsigned long long>(i) * 0x9e3779b97f4a7c15ull;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ z >> 27) * 0x94d049bb133111ebull;
  z ^= z >> 31;
  values[i] = static_cast<double>(z >> 11) / 9007199254740992.0 * 2.0 - 1.0;
}

} // namespace

timing timing_of(const bench &b, const std::function<void()> &call,
                 const std::function<void()> &before) {
  cudaEvent_t from, to;
  NEED(cudaEventCreate(&from));
  NEED(cudaEventCreate(&to));
  std::vector<double> times;
  for (int i = 0; i < b.rounds + 2; i++) {
    if (before) before();
    NEED(cudaEventRecord(from, b.stream));
    call();
    NEED(cudaEventRecord(to, b.stream));
    NEED(cudaEventSynchronize(to));
    float milliseconds;
    NEED(cudaEventElapsedTime(&milliseconds, from, to));
    if (i >= 2) times.push_back(1e-3 * milliseconds);
  }
  NEED(cudaEventDestroy(from));
  NEED(cudaEventDestroy(to));
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times[0]};
}

double seconds_of(const bench &b, const std::function<void()> &call,
                  const std::function<void()> &before) {
  return timing_of(b, call, before).median;
}

csr tridiagonal_of(int32_t n) {
  csr a;
  for (int32_t i = 0; i < n; i++) {
    for (int32_t c = std::max(i - 1, 0); c <= std::min(i + 1, n - 1); c++) a.col.push_back(c);
    a.end_row();
  }
  return a;
}

csr arrow_of(int32_t n, int32_t full) {
  csr a;
  for (int32_t i = 0; i < n; i++) {
    for (int32_t c = 0; i == full && c < n; c++) a.col.push_back(c);
    if (i != full) a.col.insert(a.col.end(), {std::min(i, full), std::max(i, full)});
    a.end_row();
  }
  return a;
}

bisai_bcsr *upload(const bench &b, const csr &a, int32_t n) {
  std::vector<double> values(a.col.size());
  for (int32_t i = 0; i < n; i++)
    for (int32_t q = a.ptr[i]; q < a.ptr[i + 1]; q++)
      values[q] = a.col[q] == i ? 64.0 : 1.0 / (1 + (a.col[q] * 7 + i) % 13);
  bisai_bcsr_desc d = bisai_bcsr_desc_default();
  d.block_rows = d.block_cols = n, d.block_size = 1;
  d.row_ptr = a.ptr.data(), d.col_idx = a.col.data(), d.values = values.data();
  bisai_bcsr *matrix = nullptr;
  NEED(bisai_bcsr_create(b.context, &d, &matrix));
  return matrix;
}

void for_files(const bench &b, const std::vector<std::string> &files,
               const std::function<void(const bisai_bcsr *, const std::string &)> &f) {
  bisai_read_options read = bisai_read_options_default();
  read.block_size = 1;
  for (const std::string &file : files) {
    bisai_bcsr *matrix = nullptr;
    if (bisai_read_matrix(b.context, file.c_str(), &read, &matrix)) {
      std::fprintf(stderr, "%s: %s\n", file.c_str(), bisai_context_error(b.context));
      continue;
    }
    f(matrix, file.substr(file.rfind('/') + 1));
    bisai_bcsr_destroy(&matrix);
  }
}

void fill_random(const bench &b, double *values, int64_t count) {
  static unsigned long long seed = 1;
  if (count == 0) return;
  fill<<<static_cast<unsigned>((count + 255) / 256), 256, 0, b.stream>>>(count, seed++ << 40,
                                                                         values);
  NEED(cudaStreamSynchronize(b.stream));
}

void raise_diagonal(const bench &b, int m, int64_t count, double *values) {
  raise<<<static_cast<unsigned>((count * m + 255) / 256), 256, 0, b.stream>>>(count * m, m, values);
  NEED(cudaStreamSynchronize(b.stream));
}

void report(bench &b, const char *section, const char *what, std::initializer_list<field> fields) {
  std::printf("%-10s %-24s", section, what);
  if (b.json)
    std::fprintf(b.json, "%s\n  {\"section\": \"%s\", \"what\": \"%s\"", b.comma ? "," : "",
                 section, what);
  for (const field &f : fields) {
    std::printf(" %s %.6g", f.name, f.value);
    if (b.json && std::isfinite(f.value)) std::fprintf(b.json, ", \"%s\": %.9g", f.name, f.value);
  }
  std::printf("\n");
  std::fflush(stdout);
  if (b.json) std::fputs("}", b.json);
  b.comma = true;
}

block_matrix::block_matrix(const bench &b, const std::vector<int32_t> &sizes)
    : start(1, 0), uniform(sizes[0]), values(0) {
  for (const int32_t m : sizes) {
    start.push_back(start.back() + m);
    values += static_cast<int64_t>(m) * m;
    if (m != uniform) uniform = 0;
  }
  std::vector<int32_t> ptr = {0}, col;
  bisai_bcsr_desc d = bisai_bcsr_desc_default();
  d.block_size = uniform ? uniform : 1;
  d.block_rows = d.block_cols = start.back() / d.block_size;
  if (uniform) {
    for (int32_t i = 0; i < d.block_rows; i++) col.push_back(i), ptr.push_back(i + 1);
  } else {
    col.reserve(static_cast<size_t>(values));
    for (size_t k = 0; k < sizes.size(); k++)
      for (int32_t r = start[k]; r < start[k + 1]; r++) {
        for (int32_t c = start[k]; c < start[k + 1]; c++) col.push_back(c);
        ptr.push_back(static_cast<int32_t>(col.size()));
      }
  }
  const on_device<int32_t> d_ptr(ptr), d_col(col);
  on_device<double> d_values(static_cast<size_t>(values));
  fill_random(b, d_values.data, values);
  d.row_ptr = d_ptr.data, d.col_idx = d_col.data, d.values = d_values.data;
  d.location = BISAI_DEVICE;
  NEED(bisai_bcsr_create(b.context, &d, &matrix));
  NEED(cudaStreamSynchronize(b.stream));
}

jacobi::jacobi(const bench &bench, const bisai_bcsr *of, const bsi_bjacobi_options &options)
    : b(bench), matrix(of) {
  if (!bsi_bjacobi_create(b.context, matrix, &options, &made)) return;
  std::fprintf(stderr, "%s\n", bisai_context_error(b.context));
  std::exit(1);
}
