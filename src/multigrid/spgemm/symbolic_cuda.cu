/* SPDX-License-Identifier: BSD-3-Clause */
/* The structure of a product of sparse matrices on a device, row by row.
 *
 * A hash table in shared memory holds the columns that a row has found, and the place of a column
 * is the number of smaller ones. A few lanes have a small table. A single thread takes a short row,
 * and keeps its columns in order. They count the row and leave its columns in temporary memory,
 * from where they are copied when all rows have been counted. Rows that are too long for that come
 * into a list, and a warp with a larger table takes each of them.
 * The rows that are still longer take a thread block each, and one bit of global memory for every
 * column. These rows are searched twice: first to count and then to write. */
#include "multigrid/spgemm/rows_cuda.cuh"

namespace {

/* Messages of failures begin with it. */
constexpr char what[] = "structure of a product";

enum {
  THREADS = 128,
  /* thread blocks for the rows of a list, whose number the host does not know */
  LISTED_BLOCKS = 512,
  /* threads of a long row, and the most thread blocks, whose bits take memory */
  LONG_THREADS = 1024,
  LONG_BLOCKS = 128,
  /* the most rows that leave a device with lanes for the largest table */
  FEW_ROWS = 8192
};

/* --- tables --- */

/* The lanes of a row, the most columns that they hold, the bits of an index of the hash table, and
 * the lanes that copy a row. The table stays at most half full. Short rows have none. */
struct brief {
  enum { LANES = 1, MOST = 16, COPIERS = 4 };
};
struct few {
  enum { LANES = 8, MOST = 64, BITS = 7, COPIERS = 8 };
};
struct many {
  enum { LANES = BSI_WARP, MOST = 256, BITS = 10, COPIERS = BSI_WARP };
};
/* of the rows of the list */
struct listed {
  enum { LANES = BSI_WARP, MOST = 896, BITS = 11 };
};

struct product {
  int32_t rows;
  const int32_t *a_ptr, *a_col, *b_ptr, *b_col;
  /* lanes that read a row of B together, as a power of two */
  int readers;
  bsi_structure_report *report;
  /* of the rows of C, while they are counted */
  int64_t *lengths;
  /* the columns of the rows that the first table can hold, with room for MOST of each row */
  int32_t *columns;
  /* rows that the first table cannot hold, and that the large table cannot hold */
  int32_t *listed, *long_rows;
  /* C, while it is written */
  const int32_t *c_ptr;
  int32_t *c_col;
};

/* The columns that a row has found, in shared memory.
 *   SIZE: few, many or listed */
template <typename SIZE> struct found {
  enum { TABLE = 1 << SIZE::BITS };
  /* columns, -1: free */
  int32_t table[TABLE];
  int32_t column[SIZE::MOST];
  /* more than MOST if the row is too long */
  int32_t count;
};

/* Adds a column unless it has been found. */
template <typename SIZE> __device__ __forceinline__ void insert(found<SIZE> *f, int32_t column) {
  unsigned place = static_cast<unsigned>(column) * 2654435761u >> (32 - SIZE::BITS);
  for (;; place = (place + 1) % found<SIZE>::TABLE) {
    const int32_t there = atomicCAS(&f->table[place], -1, column);
    if (there == column) return;
    if (there == -1) break;
  }
  const int32_t at = atomicAdd(&f->count, 1);
  if (at < SIZE::MOST) f->column[at] = column;
}

/* Finds the columns of row i, by the lanes of `mask`. This lane is number `member` of them. A lane
 * stops soon after the row has become too long: the table has room for what the others add. */
template <typename SIZE>
__device__ __forceinline__ void find_columns(const product &s, int32_t i, int member, unsigned mask,
                                             found<SIZE> *f) {
  static_assert(static_cast<int>(SIZE::MOST) + static_cast<int>(SIZE::LANES) <
                    static_cast<int>(found<SIZE>::TABLE),
                "the table is never full");
  for (int k = member; k < found<SIZE>::TABLE; k += SIZE::LANES) f->table[k] = -1;
  if (member == 0) f->count = 0;
  __syncwarp(mask);
  const int32_t end = __ldg(s.a_ptr + i + 1);
  for (int32_t p = __ldg(s.a_ptr + i) + (member >> s.readers); p < end;
       p += SIZE::LANES >> s.readers) {
    const int32_t k = __ldg(s.a_col + p), last = __ldg(s.b_ptr + k + 1);
    for (int32_t q = __ldg(s.b_ptr + k) + (member & ((1 << s.readers) - 1)); q < last;
         q += 1 << s.readers) {
      if (*static_cast<volatile int32_t *>(&f->count) > SIZE::MOST) break;
      insert(f, __ldg(s.b_col + q));
    }
  }
  __syncwarp(mask);
}

/* Writes the `length` columns that have been found in ascending order. */
template <typename SIZE>
__device__ __forceinline__ void write_columns(const found<SIZE> *f, int32_t length, int member,
                                              int32_t *to) {
  for (int32_t k = member; k < length; k += SIZE::LANES) {
    const int32_t column = f->column[k];
    int32_t before = 0;
    for (int32_t other = 0; other < length; other++) before += f->column[other] < column;
    to[before] = column;
  }
}

/* Returns the first block of row i of A if it is the only one, otherwise -1. Its row of B is row i
 * of C. */
__device__ __forceinline__ int32_t only_block(const product &s, int32_t i) {
  const int32_t p = __ldg(s.a_ptr + i);
  return __ldg(s.a_ptr + i + 1) - p == 1 ? p : -1;
}

/* Sets the length of row i of C, or adds the row to the list if it is not held. */
__device__ __forceinline__ void close_search(const product &s, int32_t i, int32_t count,
                                             bool held) {
  s.lengths[i] = held ? count : 0; /* 0: counted later */
  if (!held) s.listed[atomicAdd(&s.report->listed, 1ull)] = i;
}

/* Returns true after setting the length of a row of C that is a row of B. */
__device__ __forceinline__ bool take_row_of_right(const product &s, int32_t i) {
  const int32_t only = only_block(s, i);
  if (only < 0) return false;
  const int32_t k = __ldg(s.a_col + only);
  s.lengths[i] = __ldg(s.b_ptr + k + 1) - __ldg(s.b_ptr + k);
  return true;
}

/* Counts the rows that the table can hold, and finds their columns. The others come into the list.
 *   SIZE: few or many */
template <typename SIZE> __global__ void __launch_bounds__(THREADS) search_rows(const product s) {
  constexpr int LANES = SIZE::LANES;
  __shared__ found<SIZE> all[THREADS / LANES];
  const int member = threadIdx.x % LANES, group = threadIdx.x / LANES;
  const unsigned mask = BSI_FULL_WARP >> (BSI_WARP - LANES)
                                             << threadIdx.x % BSI_WARP / LANES * LANES;
  const int64_t i = blockIdx.x * static_cast<int64_t>(THREADS / LANES) + group;
  bsi_wait_for_predecessor();
  if (i >= s.rows || take_row_of_right(s, static_cast<int32_t>(i))) return;
  found<SIZE> *f = &all[group];
  find_columns(s, static_cast<int32_t>(i), member, mask, f);
  const bool held = f->count <= SIZE::MOST;
  if (held) write_columns(f, f->count, member, s.columns + i * SIZE::MOST);
  if (member == 0) close_search(s, static_cast<int32_t>(i), f->count, held);
}

/* Adds the columns q … `end` − 1 of B to the `count` columns of a thread, which stay in order.
 * Returns how many they are, or more than MOST if there is no room. */
__device__ __forceinline__ int merge_columns(const product &s, int32_t q, int32_t end, int count,
                                             int32_t *columns) {
  int place = 0;
  for (; q < end && count <= brief::MOST; q++) {
    const int32_t column = __ldg(s.b_col + q);
    while (place < count && columns[place * THREADS] < column) place++;
    if (place < count && columns[place * THREADS] == column) continue;
    if (count++ == brief::MOST) break;
    for (int v = count - 1; v > place; v--) columns[v * THREADS] = columns[(v - 1) * THREADS];
    columns[place * THREADS] = column;
  }
  return count;
}

/* The same for short rows, each by a thread. */
__global__ void __launch_bounds__(THREADS) search_short_rows(const product s) {
  __shared__ int32_t all[brief::MOST][THREADS];
  const int64_t i = blockIdx.x * static_cast<int64_t>(THREADS) + threadIdx.x;
  int32_t *columns = &all[0][threadIdx.x];
  bsi_wait_for_predecessor();
  if (i >= s.rows || take_row_of_right(s, static_cast<int32_t>(i))) return;
  int count = 0;
  const int32_t end = __ldg(s.a_ptr + i + 1);
  for (int32_t p = __ldg(s.a_ptr + i); p < end; p++) {
    const int32_t k = __ldg(s.a_col + p);
    count = merge_columns(s, __ldg(s.b_ptr + k), __ldg(s.b_ptr + k + 1), count, columns);
  }
  const bool held = count <= brief::MOST;
  for (int v = 0; held && v < count; v++) s.columns[i * brief::MOST + v] = columns[v * THREADS];
  close_search(s, static_cast<int32_t>(i), count, held);
}

/* Copies the columns of the same rows into C. */
template <typename SIZE> __global__ void __launch_bounds__(THREADS) copy_rows(const product s) {
  constexpr int LANES = SIZE::COPIERS;
  const int member = threadIdx.x % LANES;
  const int64_t i = (blockIdx.x * static_cast<int64_t>(THREADS) + threadIdx.x) / LANES;
  bsi_wait_for_predecessor();
  if (i >= s.rows) return;
  const int32_t begin = __ldg(s.c_ptr + i), length = __ldg(s.c_ptr + i + 1) - begin,
                only = only_block(s, static_cast<int32_t>(i));
  if (only < 0 && length > SIZE::MOST) return;
  const int32_t *from =
      only >= 0 ? s.b_col + __ldg(s.b_ptr + __ldg(s.a_col + only)) : s.columns + i * SIZE::MOST;
  for (int32_t q = member; q < length; q += LANES) s.c_col[begin + q] = __ldg(from + q);
}

/* Counts or writes the rows of the list that search_rows() makes.
 *   WRITE: write the rows, which were counted before */
template <bool WRITE> __global__ void __launch_bounds__(THREADS) search_listed(const product s) {
  __shared__ found<listed> all[THREADS / BSI_WARP];
  const int lane = threadIdx.x % BSI_WARP, warp = threadIdx.x / BSI_WARP;
  found<listed> *f = &all[warp];
  bsi_wait_for_predecessor();
  const int64_t count = static_cast<int64_t>(s.report->listed);
  for (int64_t k = blockIdx.x * static_cast<int64_t>(THREADS / BSI_WARP) + warp; k < count;
       k += gridDim.x * static_cast<int64_t>(THREADS / BSI_WARP)) {
    const int32_t i = s.listed[k];
    if (WRITE && __ldg(s.c_ptr + i + 1) - __ldg(s.c_ptr + i) > listed::MOST) continue;
    find_columns(s, i, lane, BSI_FULL_WARP, f);
    const bool held = f->count <= listed::MOST;
    /* a row that is cut off has no place for all columns */
    if (WRITE && f->count == __ldg(s.c_ptr + i + 1) - __ldg(s.c_ptr + i))
      write_columns(f, f->count, lane, s.c_col + __ldg(s.c_ptr + i));
    if (!WRITE && lane == 0) s.lengths[i] = held ? f->count : 0; /* 0: counted later */
    if (!WRITE && lane == 0 && !held) s.long_rows[atomicAdd(&s.report->long_count, 1ull)] = i;
    __syncwarp();
  }
}

/* --- long rows --- */

/* A thread block takes a long row. Each thread block owns `words` words of bits, which are zero
 * before and after.
 *   WRITE: write the rows, which were counted before, in the order of the bits */
template <bool WRITE>
__global__ void __launch_bounds__(LONG_THREADS)
    search_long(const product s, int32_t count, int32_t words, unsigned *bits) {
  __shared__ int32_t of_thread[LONG_THREADS], total;
  const int thread = threadIdx.x, lane = thread % BSI_WARP;
  bits += static_cast<int64_t>(blockIdx.x) * words;
  const int32_t each = (words + LONG_THREADS - 1) / LONG_THREADS, first = min(thread * each, words),
                last = min(first + each, words);
  bsi_wait_for_predecessor();
  for (int32_t l = blockIdx.x; l < count; l += gridDim.x) {
    const int32_t i = s.long_rows[l], end = __ldg(s.a_ptr + i + 1);
    if (thread == 0) total = 0;
    for (int32_t p = __ldg(s.a_ptr + i) + thread / BSI_WARP; p < end;
         p += LONG_THREADS / BSI_WARP) {
      const int32_t k = __ldg(s.a_col + p), behind = __ldg(s.b_ptr + k + 1);
      for (int32_t q = __ldg(s.b_ptr + k) + lane; q < behind; q += BSI_WARP) {
        const int32_t column = __ldg(s.b_col + q);
        const unsigned bit = 1u << column % 32;
        if ((__ldcg(bits + column / 32) & bit) == 0) atomicOr(bits + column / 32, bit);
      }
    }
    __syncthreads();
    int32_t mine = 0;
    for (int32_t w = first; w < last; w++) mine += __popc(__ldcg(bits + w));
    of_thread[thread] = mine;
    if (!WRITE && mine > 0) atomicAdd(&total, mine);
    __syncthreads();
    if (!WRITE && thread == 0) s.lengths[i] = total;
    int32_t place = WRITE ? s.c_ptr[i] : 0;
    for (int t = 0; WRITE && mine > 0 && t < thread; t++) place += of_thread[t];
    for (int32_t w = first; w < last; w++) {
      for (unsigned left = __ldcg(bits + w); WRITE && left != 0; left &= left - 1, place++)
        s.c_col[place] = w * 32 + __ffs(static_cast<int>(left)) - 1;
      bits[w] = 0;
    }
    __syncthreads();
  }
}

/* --- launches --- */

/* Counts all rows but long ones, and finds the columns of those of at most SIZE::MOST. */
template <typename SIZE>
bisai_status search(bisai_context *context, bsi_temporary *memory, product *s,
                    void (*kernel)(product)) {
  s->columns = memory->reserve<int32_t>(static_cast<size_t>(s->rows) * SIZE::MOST);
  if (!memory->complete) return BISAI_OUT_OF_MEMORY;
  bsi_launch_early(context, kernel, bsi_grid(static_cast<int64_t>(s->rows) * SIZE::LANES, THREADS),
                   THREADS, 0, *s);
  bsi_launch_early(context, search_listed<false>, LISTED_BLOCKS, THREADS, 0, *s);
  return bsi_launched(context, what);
}

/* Writes the same rows. The list may be known to be empty. */
template <typename SIZE>
bisai_status write(bisai_context *context, const product &s, bool empty_list) {
  bsi_launch_early(context, copy_rows<SIZE>,
                   bsi_grid(static_cast<int64_t>(s.rows) * SIZE::COPIERS, THREADS), THREADS, 0, s);
  if (!empty_list) bsi_launch_early(context, search_listed<true>, LISTED_BLOCKS, THREADS, 0, s);
  return bsi_launched(context, what);
}

/* The ways of the first search. */
enum first_search { BRIEF, FEW, MANY };

/* Chooses the search for rows of about `products` products with rows of B of about `length` blocks.
 * Short rows of B overlap: products A P of meshes have rows of hardly more blocks than P. Few rows
 * have lanes enough for the largest table. */
first_search search_for(int32_t rows, double length, double products) {
  const bool many_rows = rows > FEW_ROWS;
  if (many_rows && (products <= 10.0 || (length <= 4.0 && products <= 40.0))) return BRIEF;
  return products <= (many_rows ? 400.0 : 10.0) ? FEW : MANY;
}

template <bool WRITE>
bisai_status search_long_rows(bisai_context *context, const product &s, int32_t count,
                              int32_t columns) {
  const int32_t words = (columns + 31) / 32, blocks = count < LONG_BLOCKS ? count : LONG_BLOCKS;
  const size_t all = static_cast<size_t>(blocks) * static_cast<size_t>(words);
  bsi_temporary memory(context);
  unsigned *bits = memory.reserve<unsigned>(all);
  if (!memory.complete) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(bsi_gpu_fill(context, what, bits, 0, all * sizeof *bits));
  bsi_launch_early(context, search_long<WRITE>, blocks, LONG_THREADS, 0, s, count, words, bits);
  return bsi_launched(context, what);
}

/* Returns the mean number of blocks of a row. */
double mean_length(const bsi_block_matrix *m) {
  return m->rows > 0 ? static_cast<double>(m->blocks) / m->rows : 0.0;
}

/* Returns the lanes that read a row of about `length` blocks together, as a power of two. */
int readers_of(first_search way, double length) {
  const int most = way == FEW ? 3 : 5;
  int readers = 0;
  while (readers < most && 1.5 * (1 << readers) < length) readers++;
  return readers;
}

/* A product that is counted and written. */
struct counting {
  bsi_temporary memory;
  first_search way;
  bsi_lengths lengths;
  product s;
  explicit counting(bisai_context *context) : memory(context), s{} {}
};

/* Reserves row_ptr of c and the temporary arrays, and enqueues the first count. The report has
 * begun. */
bisai_status count_rows(counting *of, const bsi_block_matrix *a, const bsi_block_matrix *b,
                        bsi_structure_report *report, int64_t most, bsi_block_matrix *c) {
  bisai_context *context = of->memory.context;
  const double length = mean_length(b);
  const size_t rows = static_cast<size_t>(a->rows);
  product &s = of->s;
  of->way = search_for(a->rows, length, length * mean_length(a));
  s.rows = c->rows = a->rows;
  c->cols = b->cols;
  c->height = a->height;
  c->width = b->width;
  s.a_ptr = a->row_ptr, s.a_col = a->col_idx;
  s.b_ptr = b->row_ptr, s.b_col = b->col_idx;
  s.readers = readers_of(of->way, length);
  s.c_ptr = c->row_ptr = bsi_reserve_indices(context, rows + 1);
  if (!c->row_ptr) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(bsi_lengths_reserve(&of->memory, s.rows, &of->lengths));
  s.report = of->lengths.report = report;
  of->lengths.most_blocks = most;
  s.lengths = of->lengths.of_rows;
  s.listed = of->memory.reserve<int32_t>(2 * rows);
  s.long_rows = s.listed + rows;
  if (!of->memory.complete) return BISAI_OUT_OF_MEMORY;
  if (s.rows > 0)
    BSI_TRY(of->way == BRIEF ? search<brief>(context, &of->memory, &s, search_short_rows)
            : of->way == FEW ? search<few>(context, &of->memory, &s, search_rows<few>)
                             : search<many>(context, &of->memory, &s, search_rows<many>));
  return bsi_lengths_add(context, &of->lengths, c->row_ptr);
}

/* Writes the rows that count_rows() has counted, which are not long. */
bisai_status write_rows(const counting &of, bool empty_list) {
  bisai_context *context = of.memory.context;
  return of.way == BRIEF ? write<brief>(context, of.s, empty_list)
         : of.way == FEW ? write<few>(context, of.s, empty_list)
                         : write<many>(context, of.s, empty_list);
}

} // namespace

int32_t *bsi_reserve_indices(bisai_context *context, size_t count) {
  return static_cast<int32_t *>(
      context->backend->memory->allocate(context, count, sizeof(int32_t)));
}

/* What a structure that would be too large leaves: no row_ptr. */
static bisai_status leave_without_rows(bisai_context *context, bsi_block_matrix *c) {
  context->backend->memory->release(context, c->row_ptr);
  c->row_ptr = nullptr;
  return BISAI_OK;
}

bisai_status bsi_multiply_enqueued(bisai_context *context, const bsi_block_matrix *a,
                                   const bsi_block_matrix *b, int64_t most, bsi_enqueued *factors,
                                   bsi_block_matrix *c) {
  bsi_structure_report report;
  counting of(context);
  bsi_fetched other = {};
  if (factors) other = {factors->here, factors->there, factors->count * sizeof *factors->here};
  BSI_TRY(bsi_record_begin<bsi_structure_report>(context, what));
  BSI_TRY(count_rows(&of, a, b, bsi_record_of<bsi_structure_report>(context), INT64_MAX, c));
  BSI_TRY(bsi_lengths_fetch(context, "a product", most, &report, factors ? &other : nullptr));
  if (factors && !factors->whole()) return leave_without_rows(context, c);
  const int32_t long_rows = static_cast<int32_t>(report.long_count);
  bool too_large = report.total > static_cast<unsigned long long>(most);
  if (long_rows > 0 && !too_large) {
    BSI_TRY(search_long_rows<false>(context, of.s, long_rows, b->cols));
    BSI_TRY(bsi_lengths_add(context, &of.lengths, c->row_ptr));
    BSI_TRY(bsi_lengths_fetch(context, "a product", most, &report));
    too_large = report.total > static_cast<unsigned long long>(most);
  }
  if (too_large) return leave_without_rows(context, c);
  c->blocks = static_cast<int32_t>(report.total);
  c->slots.longest = static_cast<int32_t>(report.longest);
  of.s.c_col = c->col_idx = bsi_reserve_indices(context, static_cast<size_t>(c->blocks));
  if (!c->col_idx) return BISAI_OUT_OF_MEMORY;
  if (c->blocks == 0) return BISAI_OK;
  BSI_TRY(write_rows(of, report.listed == 0));
  return long_rows > 0 ? search_long_rows<true>(context, of.s, long_rows, b->cols) : BISAI_OK;
}

bisai_status bsi_multiply_structure(bisai_context *context, const bsi_block_matrix *a,
                                    const bsi_block_matrix *b, int64_t most, bsi_block_matrix *c) {
  return bsi_multiply_enqueued(context, a, b, most, nullptr, c);
}

bisai_status bsi_enqueue_structure(bisai_context *context, const bsi_block_matrix *a,
                                   const bsi_block_matrix *b, int32_t most,
                                   bsi_structure_report *report, bsi_block_matrix *c) {
  counting of(context);
  c->col_idx = bsi_reserve_indices(context, static_cast<size_t>(most));
  if (!c->col_idx) return BISAI_OUT_OF_MEMORY;
  of.s.c_col = c->col_idx;
  BSI_TRY(count_rows(&of, a, b, report, most, c));
  return a->rows > 0 ? write_rows(of, false) : BISAI_OK;
}
