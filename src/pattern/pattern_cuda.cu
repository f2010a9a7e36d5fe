/* S(|T|^k) on the device: a breadth-first search of k steps from every block row, once to count and once to write, a warp a row.
 *
 * What a row has reached is kept in a hash table in shared memory. The few rows that reach more than it holds are done again by a thread block
 * each, with one bit for every block row in global memory. Columns of the pattern come from a stable sort of its entries by column, so
 * that rows ascend in them and nothing depends on the order in which threads run. */
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "core/backend_cuda.h"
#include "core/bcsr.h"
#include "core/launch_cuda.cuh"
#include "pattern/pattern.h"

namespace {

enum {
  THREADS = 128,
  WARPS = THREADS / BSI_WARP,
  MOST = 256,          /* block columns of a row in shared memory … */
  TABLE = 1024,        /* … of which the table stays at most a third full */
  READERS = 4,         /* lanes that read a row of T together */
  LONG_THREADS = 1024, /* of a thread block that does a long row */
  LONG_BLOCKS = 64
};

struct search {
  int32_t n;
  bisai_triangle triangle;
  int power;
  int32_t limit;                    /* of a row's length, 0: none */
  unsigned long long *cut;          /* rows shortened and blocks left out; counted */
  const int32_t *row_ptr, *col_idx; /* of T */
  int64_t *lengths;                 /* of the rows found; counted */
  int32_t *long_rows, *long_count;  /* those that are too long for shared memory */
  const int32_t *found_ptr;         /* of the pattern; written */
  int32_t *found_col;
};

__device__ bool in_triangle(const search &s, int32_t row, int32_t column) {
  return s.triangle == BISAI_LOWER ? column < row : column > row;
}

/* Columns that a row found in the step that goes beyond the limit: [begin, end) of those found, in the order of steps. */
struct ring {
  int32_t begin, end;
};

__device__ void note_ring(const search &s, int32_t before, int32_t after, ring *g) {
  if (s.limit > 0 && after > s.limit && before <= s.limit) *g = {before, after};
}

/* What a row of `count` columns keeps; what it does not is counted. */
__device__ int32_t shorten(const search &s, int32_t count) {
  if (s.limit == 0 || count <= s.limit) return count;
  atomicAdd(s.cut, 1ull);
  atomicAdd(s.cut + 1, static_cast<unsigned long long>(count - s.limit));
  return s.limit;
}

/* How far from the diagonal, in its own triangle, a column is: the smaller the nearer. */
__device__ int32_t distance(const search &s, int32_t column) {
  return s.triangle == BISAI_LOWER ? s.n - 1 - column : column;
}

/* One row's search in shared memory. */
struct reached {
  int32_t count; /* may exceed MOST: then the row is too long */
  int32_t column[MOST];
  int32_t table[TABLE]; /* -1: free */
};

__device__ void insert(reached *r, int32_t column) {
  unsigned place = static_cast<unsigned>(column) * 2654435761u >> 22;
  static_assert(TABLE == 1 << (32 - 22), "the hash has as many values as the table");
  for (;; place = (place + 1) % TABLE) {
    const int32_t there = atomicCAS(&r->table[place], -1, column);
    if (there == column) return;
    if (there == -1) break;
  }
  const int32_t at = atomicAdd(&r->count, 1);
  if (at < MOST) r->column[at] = column;
}

__device__ void reach(const search &s, int32_t row, int lane, reached *r, ring *g) {
  for (int k = lane; k < TABLE; k += BSI_WARP) r->table[k] = -1;
  if (lane == 0) r->count = 0;
  __syncwarp();
  if (lane == 0) insert(r, row);
  __syncwarp();
  int32_t begin = 0, end = 1;
  for (int step = 0; step < s.power && begin < end; step++) {
    for (int32_t f = begin + lane / READERS; f < end; f += BSI_WARP / READERS) {
      const int32_t from = r->column[f], last = __ldg(s.row_ptr + from + 1);
      for (int32_t q = __ldg(s.row_ptr + from) + lane % READERS; q < last; q += READERS) {
        if (*static_cast<volatile int32_t *>(&r->count) > MOST) break;
        const int32_t column = __ldg(s.col_idx + q);
        if (in_triangle(s, from, column)) insert(r, column);
      }
    }
    __syncwarp();
    begin = end;
    end = r->count;
    if (end > MOST) return;
    note_ring(s, begin, end, g);
    __syncwarp();
  }
}

__global__ void __launch_bounds__(THREADS) count_rows(const search s) {
  __shared__ reached all[WARPS];
  const int lane = threadIdx.x % BSI_WARP, warp = threadIdx.x / BSI_WARP;
  const int32_t row = static_cast<int32_t>(blockIdx.x * WARPS + warp);
  if (row >= s.n) return;
  ring g = {};
  reach(s, row, lane, &all[warp], &g);
  if (lane != 0) return;
  const int32_t count = all[warp].count;
  if (count > MOST)
    s.long_rows[atomicAdd(s.long_count, 1)] = row; /* and its length is found there */
  else
    s.lengths[row] = shorten(s, count);
}

/* Of the columns in the ring those nearest to the diagonal are kept, and none behind it. */
__device__ void leave_out(const search &s, int lane, const ring &g, reached *r) {
  unsigned out = 0; /* a bit for each of the lane's columns */
  for (int32_t k = lane; k < r->count; k += BSI_WARP) {
    int32_t nearer = k >= g.end ? s.limit : k < g.begin ? -g.begin : 0;
    for (int32_t other = g.begin; k >= g.begin && k < g.end && other < g.end; other++)
      nearer += distance(s, r->column[other]) < distance(s, r->column[k]);
    if (nearer >= s.limit - g.begin) out |= 1u << k / BSI_WARP;
  }
  static_assert(MOST <= 32 * BSI_WARP, "a bit for each");
  __syncwarp();
  for (int32_t k = lane; k < r->count; k += BSI_WARP)
    if ((out >> k / BSI_WARP & 1u) != 0) r->column[k] = INT32_MAX;
  __syncwarp();
}

/* Every column goes where as many smaller ones are before it. */
__global__ void __launch_bounds__(THREADS) write_rows(const search s) {
  __shared__ reached all[WARPS];
  const int lane = threadIdx.x % BSI_WARP, warp = threadIdx.x / BSI_WARP;
  const int32_t row = static_cast<int32_t>(blockIdx.x * WARPS + warp);
  if (row >= s.n) return;
  const int32_t begin = s.found_ptr[row];
  if (s.found_ptr[row + 1] - begin > MOST) return;
  ring g = {};
  reached *r = &all[warp];
  reach(s, row, lane, r, &g);
  const int32_t count = r->count;
  if (count > MOST) return;
  if (s.limit > 0 && count > s.limit) leave_out(s, lane, g, r);
  for (int32_t k = lane; k < count; k += BSI_WARP) {
    const int32_t column = r->column[k];
    if (column == INT32_MAX) continue;
    int32_t before = 0;
    for (int32_t other = 0; other < count; other++) before += r->column[other] < column;
    s.found_col[begin + before] = column;
  }
}

/* As leave_out(), by a thread block: bits of the columns that are not kept are taken back. Which distance is too far is found by halving. */
__device__ void leave_bits_out(const search &s, const ring &g, int32_t count, const int32_t *list, unsigned *bits) {
  const int thread = threadIdx.x;
  int32_t near = 0, far = s.n; /* at most what may be kept is nearer than `near` */
  while (near < far) {
    const int32_t middle = near + (far - near + 1) / 2;
    int32_t nearer = 0;
    for (int32_t f = g.begin; f < g.end; f += LONG_THREADS)
      nearer += __syncthreads_count(f + thread < g.end && distance(s, list[f + thread]) < middle);
    if (nearer <= s.limit - g.begin)
      near = middle;
    else
      far = middle - 1;
  }
  for (int32_t f = g.begin + thread; f < count; f += LONG_THREADS)
    if (f >= g.end || distance(s, list[f]) >= near) atomicAnd(bits + list[f] / 32, ~(1u << list[f] % 32));
  __syncthreads();
}

/* Long rows: a bit for every block row that is reached, and a list of them for the next step. Thread blocks own `words` bits and n
 * entries of the list each; the bits are zero before and after. With WRITE the bits are read out in order. */
template <bool WRITE>
__global__ void __launch_bounds__(LONG_THREADS)
    do_long_rows(const search s, int32_t words, unsigned *bits, int32_t *list) {
  __shared__ int32_t count, of_thread[LONG_THREADS];
  bits += static_cast<int64_t>(blockIdx.x) * words;
  list += static_cast<int64_t>(blockIdx.x) * s.n;
  const int thread = threadIdx.x;
  for (int32_t k = blockIdx.x; k < *s.long_count; k += gridDim.x) {
    const int32_t row = s.long_rows[k];
    if (thread == 0) {
      list[0] = row;
      bits[row / 32] |= 1u << row % 32;
      count = 1;
    }
    __syncthreads();
    int32_t begin = 0, end = 1;
    ring g = {};
    for (int step = 0; step < s.power && begin < end; step++) {
      for (int32_t f = begin + thread / BSI_WARP; f < end; f += LONG_THREADS / BSI_WARP) {
        const int32_t from = list[f], last = s.row_ptr[from + 1];
        for (int32_t q = s.row_ptr[from] + thread % BSI_WARP; q < last; q += BSI_WARP) {
          const int32_t column = s.col_idx[q];
          const unsigned bit = 1u << column % 32;
          if (!in_triangle(s, from, column) || (atomicOr(bits + column / 32, bit) & bit) != 0) continue;
          list[atomicAdd(&count, 1)] = column;
        }
      }
      __syncthreads();
      begin = end;
      end = count;
      note_ring(s, begin, end, &g);
      __syncthreads();
    }
    if (WRITE && s.limit > 0 && end > s.limit) leave_bits_out(s, g, end, list, bits);
    if (!WRITE && thread == 0) s.lengths[row] = shorten(s, end);
    /* Each thread's words, then how many bits come before them. */
    const int32_t each = (words + LONG_THREADS - 1) / LONG_THREADS, first = min(thread * each, words),
                  last = min(first + each, words);
    int32_t mine = 0;
    for (int32_t w = first; w < last; w++) mine += __popc(bits[w]);
    of_thread[thread] = mine;
    __syncthreads();
    int32_t place = WRITE ? s.found_ptr[row] : 0;
    for (int t = 0; WRITE && mine > 0 && t < thread; t++) place += of_thread[t];
    for (int32_t w = first; w < last; w++) {
      for (unsigned left = bits[w]; WRITE && left != 0; left &= left - 1, place++) {
        s.found_col[place] = w * 32 + __ffs(static_cast<int>(left)) - 1;
      }
      bits[w] = 0;
    }
    __syncthreads();
  }
}

/* ends[i] is where row i ends; the first that no int32 holds is reported. */
__global__ void narrow(int32_t n, const int64_t *ends, int32_t *row_ptr, unsigned long long *first_fault) {
  const int32_t i = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  if (i == 0) row_ptr[0] = 0;
  row_ptr[i + 1] = static_cast<int32_t>(ends[i]);
  if (ends[i] > INT32_MAX) atomicMin(first_fault, static_cast<unsigned long long>(i));
}

__global__ void number(int32_t count, int32_t *index) {
  const int32_t i = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) index[i] = i;
}

/* The row of each entry. */
__global__ void __launch_bounds__(THREADS) name_rows(int32_t n, const int32_t *row_ptr, int32_t *row_of) {
  const int32_t row = static_cast<int32_t>(blockIdx.x * WARPS + threadIdx.x / BSI_WARP);
  if (row >= n) return;
  for (int32_t q = row_ptr[row] + static_cast<int32_t>(threadIdx.x % BSI_WARP); q < row_ptr[row + 1]; q += BSI_WARP)
    row_of[q] = row;
}

/* From the entries sorted by column: the columns' beginnings, each entry's row, the longest column. */
__global__ void make_columns(int32_t n, int32_t count, const int32_t *sorted, const int32_t *position,
                             const int32_t *row_of, int32_t *col_ptr, int32_t *row_idx) {
  const int32_t t = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (t >= count) return;
  row_idx[t] = row_of[position[t]];
  for (int32_t j = (t == 0 ? -1 : sorted[t - 1]) + 1; j <= sorted[t]; j++) col_ptr[j] = t;
  if (t == count - 1)
    for (int32_t j = sorted[t] + 1; j <= n; j++) col_ptr[j] = count;
}

__global__ void find_longest(int32_t n, const int32_t *col_ptr, int32_t *longest) {
  const int32_t j = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  int32_t most = j < n ? col_ptr[j + 1] - col_ptr[j] : 0;
  for (int step = BSI_WARP / 2; step > 0; step /= 2) most = max(most, __shfl_xor_sync(BSI_EVERYONE, most, step));
  if (threadIdx.x % BSI_WARP == 0) atomicMax(longest, most);
}

bisai_status device_failure(bisai_context *context, cudaError_t error) {
  return bsi_fail(context, BISAI_DEVICE_ERROR, "pattern: %s", cudaGetErrorString(error));
}

/* Arrays that are given back when the function that reserved them ends. */
struct temporary {
  bisai_context *context;
  void *array[8] = {};
  int count = 0;
  bool complete = true;
  explicit temporary(bisai_context *c) : context(c) {}
  ~temporary() {
    for (int i = 0; i < count; i++) context->backend->release(context, array[i]);
  }
  template <typename T> T *reserve(size_t length) {
    void *memory = context->backend->allocate(context, length, sizeof(T));
    complete = complete && memory;
    return static_cast<T *>(array[count++] = memory);
  }
};

template <bool WRITE> bisai_status long_rows(bisai_context *context, const search &s, int32_t count) {
  const int32_t words = (s.n + 31) / 32, blocks = count < LONG_BLOCKS ? count : LONG_BLOCKS;
  temporary memory(context);
  unsigned *bits = memory.reserve<unsigned>(static_cast<size_t>(blocks) * words);
  int32_t *list = memory.reserve<int32_t>(static_cast<size_t>(blocks) * s.n);
  if (!memory.complete) return BISAI_OUT_OF_MEMORY;
  const cudaStream_t stream = bsi_stream_of(context);
  const cudaError_t error = cudaMemsetAsync(bits, 0, static_cast<size_t>(blocks) * words * sizeof *bits, stream);
  if (error != cudaSuccess) return device_failure(context, error);
  do_long_rows<WRITE><<<blocks, LONG_THREADS, 0, stream>>>(s, words, bits, list);
  return bsi_launched(context, "pattern, long rows");
}

/* p->row_ptr and p->blocks from the rows' lengths. Waits. */
bisai_status add_lengths(bisai_context *context, const int64_t *lengths, int power, bisai_pattern *p) {
  const cudaStream_t stream = bsi_stream_of(context);
  const int32_t n = p->block_rows;
  temporary memory(context);
  size_t bytes = 0;
  int64_t *ends = memory.reserve<int64_t>(n), total = 0;
  cudaError_t error = cub::DeviceScan::InclusiveSum(nullptr, bytes, lengths, ends, n, stream);
  char *room = memory.reserve<char>(bytes);
  if (!memory.complete) return BISAI_OUT_OF_MEMORY;
  if (error == cudaSuccess) error = cub::DeviceScan::InclusiveSum(room, bytes, lengths, ends, n, stream);
  if (error == cudaSuccess) error = cudaMemsetAsync(context->first_fault, 0xff, sizeof *context->first_fault, stream);
  if (error != cudaSuccess) return device_failure(context, error);
  narrow<<<bsi_grid(n, 256), 256, 0, stream>>>(n, ends, p->row_ptr, context->first_fault);
  bisai_status status = bsi_launched(context, "pattern, row pointers");
  if (!status) status = context->backend->fetch(context, &total, ends + n - 1, sizeof total);
  if (status || total <= INT32_MAX) {
    p->blocks = static_cast<int32_t>(total);
    return status;
  }
  unsigned long long row = 0;
  status = context->backend->fetch(context, &row, context->first_fault, sizeof row);
  return status ? status
                : bsi_fail(context, BISAI_INDEX_OVERFLOW, "block row %lld: S(|T|^%d) has more than %d blocks",
                           static_cast<long long>(row), power, INT32_MAX);
}

bisai_status reserve_columns(bisai_context *context, bisai_pattern *p) {
  const bsi_backend *backend = context->backend;
  const size_t blocks = static_cast<size_t>(p->blocks);
  p->col_ptr =
      static_cast<int32_t *>(backend->allocate(context, static_cast<size_t>(p->block_rows) + 1, sizeof(int32_t)));
  p->row_idx = static_cast<int32_t *>(backend->allocate(context, blocks, sizeof(int32_t)));
  p->position = static_cast<int32_t *>(backend->allocate(context, blocks, sizeof(int32_t)));
  return p->col_ptr && p->row_idx && p->position ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

/* The column form: a stable sort of the entries by column. Waits for the longest column. */
bisai_status sort_columns(bisai_context *context, bisai_pattern *p) {
  const cudaStream_t stream = bsi_stream_of(context);
  const int32_t n = p->block_rows, count = p->blocks;
  int bits = 1;
  while (bits < 31 && n > 1 << bits) bits++;
  temporary memory(context);
  int32_t *index = memory.reserve<int32_t>(count), *sorted = memory.reserve<int32_t>(count),
          *row_of = memory.reserve<int32_t>(count), *longest = memory.reserve<int32_t>(1);
  size_t bytes = 0;
  cudaError_t error =
      cub::DeviceRadixSort::SortPairs(nullptr, bytes, p->col_idx, sorted, index, p->position, count, 0, bits, stream);
  char *room = memory.reserve<char>(bytes);
  if (!memory.complete) return BISAI_OUT_OF_MEMORY;
  number<<<bsi_grid(count, 256), 256, 0, stream>>>(count, index);
  name_rows<<<bsi_grid(n, WARPS), THREADS, 0, stream>>>(n, p->row_ptr, row_of);
  if (error == cudaSuccess)
    error =
        cub::DeviceRadixSort::SortPairs(room, bytes, p->col_idx, sorted, index, p->position, count, 0, bits, stream);
  if (error == cudaSuccess) error = cudaMemsetAsync(longest, 0, sizeof *longest, stream);
  if (error != cudaSuccess) return device_failure(context, error);
  make_columns<<<bsi_grid(count, 256), 256, 0, stream>>>(n, count, sorted, p->position, row_of, p->col_ptr, p->row_idx);
  find_longest<<<bsi_grid(n, 256), 256, 0, stream>>>(n, p->col_ptr, longest);
  const bisai_status status = bsi_launched(context, "pattern, columns");
  return status ? status : context->backend->fetch(context, &p->longest_column, longest, sizeof *longest);
}

} // namespace

bisai_status bsi_pattern_power_cuda(bisai_context *context, const bisai_bcsr *matrix, int power, int32_t row_limit,
                                    bisai_pattern *p) {
  const int32_t n = matrix->block_rows;
  const cudaStream_t stream = bsi_stream_of(context);
  temporary memory(context);
  search s = {n,
              p->triangle,
              power,
              row_limit,
              context->first_fault + 1,
              matrix->row_ptr,
              matrix->col_idx,
              memory.reserve<int64_t>(n),
              memory.reserve<int32_t>(n),
              memory.reserve<int32_t>(1),
              nullptr,
              nullptr};
  p->row_ptr = static_cast<int32_t *>(context->backend->allocate(context, static_cast<size_t>(n) + 1, sizeof(int32_t)));
  if (!memory.complete || !p->row_ptr) return BISAI_OUT_OF_MEMORY;
  cudaError_t error = cudaMemsetAsync(s.long_count, 0, sizeof *s.long_count, stream);
  if (error == cudaSuccess) error = cudaMemsetAsync(s.cut, 0, 2 * sizeof *s.cut, stream);
  if (error == cudaSuccess && n == 0) error = cudaMemsetAsync(p->row_ptr, 0, sizeof *p->row_ptr, stream);
  if (error != cudaSuccess) return device_failure(context, error);
  if (n == 0) {
    p->col_idx = static_cast<int32_t *>(context->backend->allocate(context, 0, sizeof(int32_t)));
    return p->col_idx ? BISAI_OK : BISAI_OUT_OF_MEMORY;
  }
  count_rows<<<bsi_grid(n, WARPS), THREADS, 0, stream>>>(s);
  bisai_status status = bsi_launched(context, "pattern, lengths of rows");
  int32_t too_long = 0;
  if (!status) status = context->backend->fetch(context, &too_long, s.long_count, sizeof too_long);
  if (!status && too_long > 0) status = long_rows<false>(context, s, too_long);
  if (!status) status = add_lengths(context, s.lengths, power, p);
  if (!status && row_limit > 0) {
    unsigned long long cut[2];
    status = context->backend->fetch(context, cut, s.cut, sizeof cut);
    p->cut = {static_cast<int32_t>(cut[0]), static_cast<int64_t>(cut[1])};
  }
  if (status) return status;
  p->col_idx = static_cast<int32_t *>(context->backend->allocate(context, p->blocks, sizeof(int32_t)));
  s.found_ptr = p->row_ptr;
  s.found_col = p->col_idx;
  if (!p->col_idx) return BISAI_OUT_OF_MEMORY;
  write_rows<<<bsi_grid(n, WARPS), THREADS, 0, stream>>>(s);
  status = bsi_launched(context, "pattern, rows");
  if (!status && too_long > 0) status = long_rows<true>(context, s, too_long);
  return status;
}

bisai_status bsi_pattern_columns_cuda(bisai_context *context, bisai_pattern *p) {
  const bisai_status status = reserve_columns(context, p);
  if (status || p->blocks > 0) return status ? status : sort_columns(context, p);
  const cudaError_t error = cudaMemsetAsync(p->col_ptr, 0, (static_cast<size_t>(p->block_rows) + 1) * sizeof(int32_t),
                                            bsi_stream_of(context));
  return error == cudaSuccess ? BISAI_OK : device_failure(context, error);
}
