/* The numbers of block-Jacobi on a device: a warp extracts the blocks of a group (or of several groups of one small block each), decomposes
 * them in registers, chooses their format and stores them. For *_cuda.cu only.
 *
 * On its way a block is in shared memory, in a tile that has the layout of its group but for an odd distance between columns, so that
 * lanes read rows and columns without conflicts. Extraction (Anzt, Dongarra, Flegar, Quintana-Ortí 2017, section 3.3) is by a thread a row or by all
 * lanes of the sub-warp row after row; rows being sorted, both begin where the block does. */
#ifndef BSI_NUMBERS_CUDA_CUH
#define BSI_NUMBERS_CUDA_CUH

#include "bjacobi/adaptive.h"
#include "bjacobi/bjacobi.h"
#include "bjacobi/eliminate_cuda.cuh"

enum { BSI_NUMBERS_WARPS = 4, BSI_NUMBERS_THREADS = BSI_NUMBERS_WARPS * BSI_WARP };

/* Where blocks come from. */
enum bsi_from { BSI_FROM_BLOCKS, BSI_FROM_ROWS, BSI_FROM_ROWS_SHARED, BSI_FROM_DENSE };

/* What was met, in device memory, zeros at first. First blocks are the largest of their complements, so that 0 is none. */
struct bsi_numbers_met {
  unsigned long long singular, repaired, near_singular, overflow; /* first blocks */
  unsigned long long repairs, near_singulars;                     /* how many */
  unsigned long long formats[BSI_FORMATS], values[BSI_FORMATS];   /* ADAPTIVE: blocks and values */
  double condition;                                               /* the largest */
  unsigned long long condition_block;                             /* the first that has it */
};

/* The largest condition of what a thread block did, and the first block that has it. */
struct bsi_numbers_best {
  double condition;
  unsigned long long block;
};

struct bsi_numbers {
  /* blocks */
  int32_t rows, blocks, uniform, per_group;
  const int32_t *start;
  const int64_t *first_value;
  /* of this launch: groups order[from + i], or from + i, for i < count; lanes of a sub-warp */
  const int32_t *order;
  int32_t from, count;
  const int32_t *count_there; /* instead of count, unless NULL */
  int lanes;
  /* the matrix */
  int source; /* bsi_from */
  int32_t block_size;
  const int32_t *row_ptr, *col_idx, *position;
  const double *matrix;
  double *dense; /* blocks extracted before, in the layout of the groups */
  double amount; /* of shifts */
  /* what is made */
  bisai_form form;
  int storage; /* bisai_value_type, or ADAPTIVE */
  double tolerance;
  uint8_t *format, *pivots;
  char *data;
  int slot_bytes;
  bsi_numbers_met *met;
  bsi_numbers_best *best; /* a place for each thread block */
  /* Kernels without repairs list the groups that need some, unless NULL. */
  int32_t *list, *listed;
};

/* One lane's part: its block, and where that is. */
struct bsi_lane {
  bsi_sub_warp w;
  int32_t block, start; /* start: its first scalar row */
  int64_t first;        /* the first value of its group */
  int32_t height;       /* of its group */
  int32_t in_group;     /* the lane's row of its group */
  int tile, lead;       /* the lane's row in column 0 of the tile, and from a column to the next */
  bool leader;          /* the first lane of a block */
  bool group_leader;    /* … of a group */
};

static __device__ __forceinline__ int32_t bsi_start_of(const bsi_numbers &p, int64_t block) {
  if (block >= p.blocks) return p.rows;
  return p.uniform ? static_cast<int32_t>(block) * p.uniform : __ldg(p.start + block);
}

/* Doubles of a warp's tile where blocks have at most M rows. */
template <int M> constexpr int bsi_tile_values = 32 * (M + 1);

/* Groups that a warp takes at once. */
static __host__ __device__ __forceinline__ int bsi_groups_a_warp(const bsi_numbers &p) {
  return p.per_group > 1 ? 1 : BSI_WARP / p.lanes;
}

static __device__ __forceinline__ bsi_lane bsi_lane_of(const bsi_numbers &p, int32_t unit, int32_t count) {
  bsi_lane l;
  const int lane = threadIdx.x % BSI_WARP, sub = lane / p.lanes, together = bsi_groups_a_warp(p);
  const int32_t i = unit * together + sub / p.per_group;
  const bool there = sub < together * p.per_group && i < count;
  l.w.lanes = p.lanes;
  l.w.row = lane - sub * p.lanes;
  l.w.base = sub * p.lanes;
  l.w.m = 0;
  l.block = 0, l.start = 0, l.first = 0, l.height = 0, l.in_group = 0, l.tile = lane, l.lead = 0;
  if (there) {
    const int32_t group = p.order ? __ldg(p.order + p.from + i) : p.from + i;
    const int64_t begin = static_cast<int64_t>(group) * p.per_group;
    const int32_t block = static_cast<int32_t>(begin) + sub % p.per_group, top = bsi_start_of(p, begin);
    l.block = block;
    l.start = bsi_start_of(p, block);
    l.w.m = bsi_start_of(p, static_cast<int64_t>(block) + 1) - l.start;
    l.height = p.per_group == 1 ? l.w.m : bsi_start_of(p, begin + p.per_group) - top;
    l.first = p.first_value ? __ldg(p.first_value + group) : begin * p.uniform * p.uniform;
    l.in_group = l.start - top + l.w.row;
    l.lead = l.height | 1;
    l.tile = (p.per_group == 1 ? sub * p.lanes * (p.lanes + 1) : 0) + l.in_group;
  }
  l.leader = l.w.m > 0 && l.w.row == 0;
  l.group_leader = l.leader && (p.per_group == 1 || sub == 0);
  l.w.mask = __ballot_sync(BSI_EVERYONE, l.w.row < l.w.m);
  l.w.mask &= p.lanes == BSI_WARP ? BSI_EVERYONE : ((1u << p.lanes) - 1u) << l.w.base;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  l.w.most = __reduce_max_sync(BSI_EVERYONE, l.w.m);
#else
  l.w.most = l.w.m;
  for (int step = 16; step > 0; step /= 2) l.w.most = max(l.w.most, __shfl_xor_sync(BSI_EVERYONE, l.w.most, step));
#endif
  return l;
}

/* The first block of block row i that reaches scalar column `column`. */
static __device__ __forceinline__ int32_t bsi_first_reaching(const bsi_numbers &p, int32_t i, int32_t column) {
  const int32_t wanted = column / p.block_size;
  int32_t low = __ldg(p.row_ptr + i), high = __ldg(p.row_ptr + i + 1);
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if (__ldg(p.col_idx + middle) < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Rows of the blocks into the tile, a thread a row. */
static __device__ __forceinline__ void bsi_extract_row(const bsi_numbers &p, const bsi_lane &l, double *tile) {
  if (l.w.row >= l.w.m) return;
  const int32_t row = l.start + l.w.row, i = row / p.block_size, r = row - i * p.block_size, end = l.start + l.w.m;
  const int32_t last = __ldg(p.row_ptr + i + 1);
#pragma unroll 1
  for (int c = 0; c < l.w.m; c++) tile[l.tile + c * l.lead] = 0.0;
#pragma unroll 1
  for (int32_t q = bsi_first_reaching(p, i, l.start); q < last; q++) {
    const int32_t left = __ldg(p.col_idx + q) * p.block_size;
    if (left >= end) break;
    const double *values = p.matrix + static_cast<int64_t>(q) * p.block_size * p.block_size + r;
#pragma unroll 1
    for (int c = 0; c < p.block_size; c++)
      if (left + c >= l.start && left + c < end)
        tile[l.tile + (left + c - l.start) * l.lead] = __ldg(values + c * p.block_size);
  }
}

/* The same by all lanes of the sub-warp, row after row. */
static __device__ __forceinline__ void bsi_extract_rows(const bsi_numbers &p, const bsi_lane &l, double *tile) {
  const int32_t own = l.start + l.w.row, end = l.start + l.w.m;
  int32_t low = 0, high = 0;
  if (l.w.row < l.w.m) {
    low = bsi_first_reaching(p, own / p.block_size, l.start);
    high = __ldg(p.row_ptr + own / p.block_size + 1);
#pragma unroll 1
    for (int c = 0; c < l.w.m; c++) tile[l.tile + c * l.lead] = 0.0;
  }
  __syncwarp();
#pragma unroll 1
  for (int k = 0; k < l.w.most; k++) {
    const int32_t from = __shfl_sync(BSI_EVERYONE, low, l.w.base + k),
                  to = __shfl_sync(BSI_EVERYONE, high, l.w.base + k);
    if (k >= l.w.m || l.w.row >= l.w.m) continue;
    const int32_t row = l.start + k, r = row % p.block_size;
    for (int64_t t = l.w.row;; t += l.w.m) {
      const int64_t q = from + t / p.block_size;
      if (q >= to) break;
      const int32_t column = __ldg(p.col_idx + q) * p.block_size + static_cast<int32_t>(t % p.block_size);
      if (column >= end) break;
      if (column >= l.start)
        tile[l.tile - l.w.row + k + (column - l.start) * l.lead] =
            __ldg(p.matrix + (q * p.block_size + t % p.block_size) * p.block_size + r);
    }
  }
}

/* ‖row‖∞ of the block's rows of the matrix, in every lane of it. Only for blocks that are to be shifted. */
static __device__ double bsi_rows_norm(const bsi_numbers &p, const bsi_lane &l) {
  double sum = 0.0;
  if (l.w.row < l.w.m) {
    const int32_t row = l.start + l.w.row, i = row / p.block_size, r = row - i * p.block_size;
    const double *values = p.matrix + static_cast<int64_t>(p.row_ptr[i]) * p.block_size * p.block_size + r;
    const int64_t count = static_cast<int64_t>(p.row_ptr[i + 1] - p.row_ptr[i]) * p.block_size;
#pragma unroll 1
    for (int64_t c = 0; c < count; c++) sum += fabs(values[c * p.block_size]);
  }
  double norm = 0.0; /* as on the host, a sum that is NaN does not count */
#pragma unroll 1
  for (int k = 0; k < l.w.most; k++) norm = fmax(norm, __shfl_sync(BSI_EVERYONE, sum, (l.w.base + k) % BSI_WARP));
  return norm;
}

/* The next shift, or 0 where there is none left: bsi_block_shift(). */
static __device__ __forceinline__ double bsi_next_shift(double amount, double norm, double shift) {
  const double more = shift > 0.0 ? 9.0 * shift : fmax(amount * (norm == 0.0 ? 1.0 : norm), DBL_MIN);
  return isfinite(more) ? shift + more : 0.0;
}

/* Rows of the lane's block where EXACT says that they are known. */
template <int M, bool EXACT> static __device__ __forceinline__ int bsi_rows(const bsi_lane &l) {
  return EXACT ? M : l.w.m;
}

/* Blocks that lie side by side: the lane's row a, and the tile, with `shift` on the lane's diagonal value. */
template <int M, bool EXACT>
static __device__ __forceinline__ void bsi_load_plain(const bsi_numbers &p, const bsi_lane &l, double *tile,
                                                      double (&a)[M], double shift = 0.0) {
  const bool mine = l.w.row < l.w.m;
  const double *from = p.dense + l.first + l.in_group;
  int32_t step = l.height;
  bool there = mine;
  if (p.source == BSI_FROM_BLOCKS) {
    const int32_t position = mine ? __ldg(p.position + l.block) : -1;
    there = position >= 0;
    from = p.matrix + static_cast<int64_t>(position) * bsi_rows<M, EXACT>(l) * bsi_rows<M, EXACT>(l) + l.w.row;
    step = bsi_rows<M, EXACT>(l);
  }
#pragma unroll
  for (int c = 0; c < M; c++, from += step) a[c] = there && c < bsi_rows<M, EXACT>(l) ? *from : 0.0;
  if (shift > 0.0) {
#pragma unroll
    for (int c = 0; c < M; c++)
      if (c == l.w.row) a[c] += shift;
  }
  int at = l.tile;
#pragma unroll
  for (int c = 0; c < M; c++, at += l.lead)
    if (mine && c < bsi_rows<M, EXACT>(l)) tile[at] = a[c];
  __syncwarp();
}

/* Prefetches the natural blocks of a unit, of M rows. */
template <int M> static __device__ __forceinline__ void bsi_ask_for(const bsi_numbers &p, int32_t unit) {
  constexpr int lines = (M * M * 8 + 127) / 128; /* of a block */
  for (int k = threadIdx.x % BSI_WARP; k < p.per_group * lines; k += BSI_WARP) {
    const int64_t block = static_cast<int64_t>(unit) * p.per_group + k / lines;
    const int32_t position = block < p.blocks ? __ldg(p.position + block) : -1;
    if (position >= 0) bsi_prefetch(p.matrix + static_cast<int64_t>(position) * M * M + k % lines * 16);
  }
}

/* The same from wherever the blocks are. */
template <int M>
static __device__ __forceinline__ void bsi_load_blocks(const bsi_numbers &p, const bsi_lane &l, double shift,
                                                       double *tile, double (&a)[M]) {
  const bool mine = l.w.row < l.w.m;
  if (p.source == BSI_FROM_BLOCKS || p.source == BSI_FROM_DENSE) {
    bsi_load_plain<M, false>(p, l, tile, a, shift);
    return;
  }
  if (p.source == BSI_FROM_ROWS)
    bsi_extract_row(p, l, tile);
  else
    bsi_extract_rows(p, l, tile);
  __syncwarp();
  if (shift > 0.0 && mine) tile[l.tile + l.w.row * l.lead] += shift;
  __syncwarp();
  int at = l.tile;
#pragma unroll
  for (int c = 0; c < M; c++, at += l.lead) a[c] = mine && c < l.w.m ? tile[at] : 0.0;
}

/* The sum of magnitudes of the lane's column of its block. */
template <int M, bool EXACT>
static __device__ __forceinline__ double bsi_column_sum(const bsi_lane &l, const double *tile) {
  const double *column = tile + l.tile - l.w.row + l.w.row * l.lead;
  double sum = 0.0;
  if (l.w.row < l.w.m)
#pragma unroll(EXACT ? M : 4)
    for (int r = 0; r < bsi_rows<M, EXACT>(l); r++) sum += fabs(column[r]);
  return sum;
}

/* Decomposes what the tile holds and leaves the result there; true in all lanes of a block that is singular. */
template <int M, int LANES, bisai_form FORM, bool EXACT>
static __device__ __forceinline__ bool bsi_decompose(const bsi_numbers &p, const bsi_lane &l, double norm, double *tile,
                                                     double (&a)[M], bsi_eliminated *e, double *condition) {
  const bool mine = l.w.row < l.w.m;
  double *block = tile + l.tile - l.w.row;
  if constexpr (FORM == BISAI_FORM_INVERSE) {
    *e = bsi_sub_gauss_jordan<M, LANES, EXACT>(l.w, a);
    __syncwarp(); /* the norm was read */
#pragma unroll
    for (int q = 0; q < M; q++) {
      const int c = EXACT ? q : q - (M - l.w.most);
      if (c < 0) continue;
      const int column = __shfl_sync(BSI_EVERYONE, e->pivot, l.w.base + c);
      if (mine && c < bsi_rows<M, EXACT>(l)) block[column * l.lead + e->step] = a[q];
    }
    __syncwarp();
    const double inverse_norm = bsi_sub_largest<LANES>(l.w, bsi_column_sum<M, EXACT>(l, tile));
    *condition = norm * inverse_norm;
    e->singular |= !isfinite(inverse_norm);
  } else {
    if constexpr (FORM == BISAI_FORM_LU) {
      *e = bsi_sub_lu<M, LANES>(l.w, a);
    } else {
#pragma unroll
      for (int r = 0; r < M; r++) a[r] = mine && r < l.w.m ? block[l.w.row * l.lead + r] : 0.0;
      *e = bsi_sub_gauss_huard<M, LANES>(l.w, a);
    }
    __syncwarp();
    double sum = 0.0;
#pragma unroll
    for (int q = 0; q < M; q++) {
      if (!mine || q >= l.w.m) continue;
      sum += fabs(a[q]);
      int r = e->step, c = q;
      if (FORM != BISAI_FORM_LU) r = q, c = e->step;
      if (p.form == BISAI_FORM_GAUSS_HUARD_TRANSPOSED && r > c) {
        const int turned = l.w.m - 1 - c;
        c = l.w.m - 1 - r, r = turned;
      }
      block[c * l.lead + r] = a[q];
    }
    e->singular |= !isfinite(sum);
    *condition = 0.0;
    __syncwarp();
  }
  return (__ballot_sync(BSI_EVERYONE, mine && e->singular) & l.w.mask) != 0;
}

/* ‖E − Ẽ‖₁'s part of the lane's column. */
static __device__ __forceinline__ double bsi_column_error(const bsi_lane &l, const double *tile,
                                                          bisai_value_type format) {
  const double *column = tile + l.tile - l.w.row + l.w.row * l.lead;
  double sum = 0.0;
  if (l.w.row < l.w.m)
#pragma unroll 1
    for (int r = 0; r < l.w.m; r++) {
      bool fits;
      sum += fabs(column[r] - bsi_value_round(format, column[r], &fits));
    }
  return sum;
}

/* The format of the lane's group. */
template <int LANES>
static __device__ bisai_value_type bsi_choose_format(const bsi_numbers &p, const bsi_lane &l, double norm,
                                                     double condition, const double *tile) {
  unsigned mask = 1u << (BSI_ADAPTIVE_FORMATS - 1);
#pragma unroll
  for (int k = 0; k < BSI_ADAPTIVE_FORMATS - 1; k++) {
    const bool wanted = l.w.m > 0 && bsi_adaptive_allows(bsi_adaptive_format(k), condition, p.tolerance);
    if (!__any_sync(BSI_EVERYONE, wanted)) continue;
    const double error = fabs(bsi_sub_largest<LANES>(l.w, bsi_column_error(l, tile, bsi_adaptive_format(k))));
    if (wanted && bsi_adaptive_keeps(norm, error, p.tolerance)) mask |= 1u << k;
  }
  if (l.w.m == 0) mask = ~0u;
  if (p.per_group > 1)
    for (int step = BSI_WARP / 2; step > 0; step /= 2) mask &= __shfl_xor_sync(BSI_EVERYONE, mask, step);
  return bsi_adaptive_first(mask);
}

/* Whether the lane's column fits the format, and whether something of it is left. */
static __device__ __forceinline__ void bsi_look_at_column(const bsi_lane &l, const double *tile,
                                                          bisai_value_type format, bool *fits, bool *left) {
  const double *column = tile + l.tile - l.w.row + l.w.row * l.lead;
  *fits = true, *left = false;
#pragma unroll 1
  for (int r = 0; r < l.w.m && l.w.row < l.w.m; r++) {
    bool one;
    *left |= bsi_value_round(format, column[r], &one) != 0.0;
    *fits &= one;
  }
}

template <bisai_value_type FORMAT, int M = 0>
static __device__ __forceinline__ void bsi_store_as(const bsi_numbers &p, const bsi_lane &l, const double *tile) {
  if (l.w.row >= l.w.m) return;
  char *to = p.data + l.first * p.slot_bytes;
  size_t at = static_cast<size_t>(l.in_group);
#pragma unroll(M > 0 ? M : FORMAT == BISAI_FP64 ? 4 : 1)
  for (int c = 0; c < (M > 0 ? M : l.w.m); c++, at += static_cast<size_t>(l.height))
    bsi_value_store(FORMAT, tile[l.tile + c * l.lead], to, at);
}

static __device__ __forceinline__ void bsi_store_blocks(const bsi_numbers &p, const bsi_lane &l, const double *tile,
                                                        bisai_value_type format) {
  switch (format) {
  case BISAI_FP32: return bsi_store_as<BISAI_FP32>(p, l, tile);
  case BISAI_FP16: return bsi_store_as<BISAI_FP16>(p, l, tile);
  case BISAI_BF16: return bsi_store_as<BISAI_BF16>(p, l, tile);
  case BISAI_FP11_4: return bsi_store_as<BISAI_FP11_4>(p, l, tile);
  case BISAI_FP11_20: return bsi_store_as<BISAI_FP11_20>(p, l, tile);
  default: return bsi_store_as<BISAI_FP64>(p, l, tile);
  }
}

template <bisai_form FORM>
static __device__ __forceinline__ void bsi_count(const bsi_numbers &p, int m, int32_t number, double norm,
                                                 double smallest, double condition, bool repaired) {
  const unsigned long long block = static_cast<unsigned long long>(number);
  const bool near =
      FORM == BISAI_FORM_INVERSE ? bsi_near_singular(m, condition) : bsi_near_singular_pivot(m, norm, smallest);
  if (near) {
    atomicMax(&p.met->near_singular, ~block);
    atomicAdd(&p.met->near_singulars, 1ull);
  }
  if (repaired) {
    atomicMax(&p.met->repaired, ~block);
    atomicAdd(&p.met->repairs, 1ull);
  }
}

/* Formats, in shared memory until the thread block is done. */
struct bsi_numbers_formats {
  unsigned blocks[BSI_FORMATS];
  unsigned long long values[BSI_FORMATS];
};

/* The chosen format, and what it does to the values. */
template <int LANES>
static __device__ __forceinline__ bisai_value_type bsi_settle_format(const bsi_numbers &p, const bsi_lane &l,
                                                                     double norm, double condition, const double *tile,
                                                                     bsi_numbers_formats *formats) {
  if (p.storage == BISAI_FP64) return BISAI_FP64;
  if (p.storage != BISAI_ADAPTIVE) {
    const bisai_value_type format = static_cast<bisai_value_type>(p.storage);
    bool fits, left;
    bsi_look_at_column(l, tile, format, &fits, &left);
    const unsigned misfits = __ballot_sync(BSI_EVERYONE, !fits) & l.w.mask;
    const unsigned lefts = __ballot_sync(BSI_EVERYONE, left) & l.w.mask;
    if (l.leader && (misfits != 0 || lefts == 0))
      atomicMax(&p.met->overflow, ~static_cast<unsigned long long>(l.block));
    return format;
  }
  const bisai_value_type format = bsi_choose_format<LANES>(p, l, norm, condition, tile);
  if (l.leader) {
    atomicAdd(&formats->blocks[format], 1u);
    atomicAdd(&formats->values[format], static_cast<unsigned long long>(l.w.m) * l.w.m);
  }
  return format;
}

/* The better of two: the larger condition, of equals the first block. */
static __device__ __forceinline__ bsi_numbers_best bsi_better(const bsi_numbers_best &a, const bsi_numbers_best &b) {
  return b.condition > a.condition || (b.condition == a.condition && b.block < a.block) ? b : a;
}

/* best[0] ← the best of a thread block's; all threads call, and it is there for thread 0. */
template <int THREADS> static __device__ __forceinline__ void bsi_find_best(bsi_numbers_best *best) {
  for (int step = THREADS / 2; step > 0; step /= 2) {
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < step)
      best[threadIdx.x] = bsi_better(best[threadIdx.x], best[threadIdx.x + step]);
  }
}

/* Thread blocks that a multiprocessor is to hold. */
template <int M, bool PLAIN>
constexpr int bsi_numbers_resident = PLAIN     ? (M <= 16 ? 6 : 4)
                                     : M <= 8  ? 8
                                     : M <= 20 ? 5
                                               : 4;

/* M: most rows of a block, LANES: those of a sub-warp, 0: p.lanes. PLAIN: blocks lie side by side and stay in fp64, and what is
 * singular is repaired by another launch: less to keep in registers. EXACT: PLAIN, and all have M rows. */
template <int M, int LANES, bisai_form FORM, bool PLAIN, bool EXACT>
__global__ void __launch_bounds__(BSI_NUMBERS_THREADS, bsi_numbers_resident<M, PLAIN>)
    bsi_make_numbers(const __grid_constant__ bsi_numbers p) {
  extern __shared__ double tiles[];
  __shared__ bsi_numbers_formats formats;
  __shared__ bsi_numbers_best best[BSI_NUMBERS_THREADS];
  const int warp = threadIdx.x / BSI_WARP;
  double *tile = tiles + warp * bsi_tile_values<M>;
  best[threadIdx.x] = {0.0, ~0ull};
  if (!PLAIN && threadIdx.x < BSI_FORMATS) formats.blocks[threadIdx.x] = 0u, formats.values[threadIdx.x] = 0ull;
  __syncthreads();
  const int together = bsi_groups_a_warp(p);
  const int32_t count = !PLAIN && p.count_there ? *p.count_there : p.count;
  const int32_t units = count / together + (count % together > 0);
  for (int32_t unit = static_cast<int32_t>(blockIdx.x * BSI_NUMBERS_WARPS) + warp; unit < units;
       unit += static_cast<int32_t>(gridDim.x * BSI_NUMBERS_WARPS)) {
    const bsi_lane l = bsi_lane_of(p, unit, count);
    double a[M], shift = 0.0, norm, condition;
    bsi_eliminated e;
    bool singular;
    if constexpr (PLAIN) {
      bsi_load_plain<M, EXACT>(p, l, tile, a);
      if constexpr (EXACT) bsi_ask_for<M>(p, unit + static_cast<int32_t>(gridDim.x * BSI_NUMBERS_WARPS));
      norm = bsi_sub_largest<LANES>(l.w, bsi_column_sum<M, EXACT>(l, tile));
      singular = bsi_decompose<M, LANES, FORM, EXACT>(p, l, norm, tile, a, &e, &condition);
    } else {
      double rows_norm = 0.0;
      for (;;) {
        bsi_load_blocks<M>(p, l, shift, tile, a);
        norm = bsi_sub_largest<LANES>(l.w, bsi_column_sum<M, EXACT>(l, tile));
        singular = bsi_decompose<M, LANES, FORM, EXACT>(p, l, norm, tile, a, &e, &condition);
        if (p.amount == 0.0 || !__any_sync(BSI_EVERYONE, singular)) break;
        if (__any_sync(BSI_EVERYONE, singular && shift == 0.0)) {
          const double found = bsi_rows_norm(p, l);
          if (shift == 0.0) rows_norm = found;
        }
        const double next = singular ? bsi_next_shift(p.amount, rows_norm, shift) : shift;
        if (__any_sync(BSI_EVERYONE, singular && next == 0.0)) break;
        shift = next;
        __syncwarp(); /* the tile was read */
      }
    }
    const bool spoiled = p.per_group > 1 ? __any_sync(BSI_EVERYONE, singular) != 0 : singular; /* the group */
    if (PLAIN && p.list && spoiled) {
      if (l.group_leader) p.list[atomicAdd(p.listed, 1)] = l.block / p.per_group;
    } else if (l.leader) {
      if (singular)
        atomicMax(&p.met->singular, ~static_cast<unsigned long long>(l.block));
      else
        bsi_count<FORM>(p, l.w.m, l.block, norm, e.smallest, condition, shift > 0.0);
      if (condition > best[threadIdx.x].condition)
        best[threadIdx.x] = {condition, static_cast<unsigned long long>(l.block)};
    }
    if (FORM != BISAI_FORM_INVERSE && l.w.row < l.w.m) p.pivots[l.start + l.w.row] = static_cast<uint8_t>(e.pivot);
    if constexpr (PLAIN) {
      bsi_store_as<BISAI_FP64, EXACT ? M : 0>(p, l, tile);
    } else {
      const bisai_value_type format = bsi_settle_format<LANES>(p, l, norm, condition, tile, &formats);
      if (p.format && l.group_leader) p.format[l.block / p.per_group] = static_cast<uint8_t>(format);
      bsi_store_blocks(p, l, tile, format);
    }
    __syncwarp();
  }
  if (FORM == BISAI_FORM_INVERSE) {
    bsi_find_best<BSI_NUMBERS_THREADS>(best);
    if (threadIdx.x == 0) p.best[blockIdx.x] = best[0];
  }
  if (PLAIN || p.storage != BISAI_ADAPTIVE) return;
  __syncthreads();
  if (threadIdx.x < BSI_FORMATS && formats.blocks[threadIdx.x] > 0) {
    atomicAdd(&p.met->formats[threadIdx.x], static_cast<unsigned long long>(formats.blocks[threadIdx.x]));
    atomicAdd(&p.met->values[threadIdx.x], formats.values[threadIdx.x]);
  }
}

/* Thread blocks of one launch at most. */
enum { BSI_NUMBERS_MOST_BLOCKS = 132 * 16 };

/* Enqueue the decomposition of p's groups, of blocks of at most `most` rows. Return the thread blocks taken, which is how many places of
 * p.best are written by INVERSE. Plain ones are of blocks that lie side by side and stay in fp64; small ones of at most 8 rows besides, all of
 * one size, natural. */
int bsi_enqueue_inverses(cudaStream_t stream, int most, const bsi_numbers &p);
int bsi_enqueue_plain_inverses(cudaStream_t stream, int most, const bsi_numbers &p);
int bsi_enqueue_small_inverses(cudaStream_t stream, const bsi_numbers &p);
int bsi_enqueue_decompositions(cudaStream_t stream, int most, const bsi_numbers &p);

/* As many thread blocks as are resident together, so that all are busy to the end; fewer where there is no work for them. */
template <typename... Parameters>
static inline unsigned bsi_resident_grid(void (*kernel)(Parameters...), int threads, size_t bytes, unsigned wanted) {
  int device = 0, processors = 0, each = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, bytes);
  unsigned grid = static_cast<unsigned>(processors * each);
  if (grid == 0 || grid > BSI_NUMBERS_MOST_BLOCKS) grid = BSI_NUMBERS_MOST_BLOCKS;
  return wanted < grid ? wanted : grid;
}

template <int M, int LANES, bisai_form FORM, bool PLAIN, bool EXACT = false>
static inline int bsi_enqueue_numbers(cudaStream_t stream, const bsi_numbers &p) {
  const int together = bsi_groups_a_warp(p);
  const size_t bytes = sizeof(double) * BSI_NUMBERS_WARPS * bsi_tile_values<M>;
  const unsigned wanted = bsi_grid((static_cast<int64_t>(p.count) + together - 1) / together, BSI_NUMBERS_WARPS);
  const auto kernel = bsi_make_numbers<M, LANES, FORM, PLAIN, EXACT>;
  const unsigned grid = bsi_resident_grid(kernel, BSI_NUMBERS_THREADS, bytes, wanted);
  kernel<<<grid, BSI_NUMBERS_THREADS, bytes, stream>>>(p);
  return static_cast<int>(grid);
}

#endif
