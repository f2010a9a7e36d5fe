/* SPDX-License-Identifier: BSD-3-Clause */
/* The values of block-Jacobi on a device: the workspace of a set-up, its launches, one for each
 * class of sizes, and its statistics. */
#include <algorithm>
#include <cstring>

#include "bjacobi/bjacobi_ops.h"
#include "bjacobi/factorize/kernel_cuda.cuh"
#include "core/block/block_sizes.h"
#include "core/context/context_impl.h"
#include "gpu/sort.cuh"

namespace {

constexpr int THREADS = 256;

constexpr int CLASSES = BSI_BJACOBI_CLASSES;

/* An upper bound of the warps of a multiprocessor in the kernel of a separate extraction. There are
 * fewer if their tiles fill the shared memory. */
constexpr int EXTRACTION_WARPS = 32;

/* The host does not know how many groups are listed for repair. The launch has warps for so many
 * groups at most, and the warps take what is left one after the other. */
constexpr int32_t REPAIR_GROUPS = 1024;

/* The head of the workspace, whose arrays are aligned to 256 bytes. */
struct workspace {
  /* Set-ups use them in turn. Each clears the record of the next one, which then need not wait for
   * zeros. */
  bsi_values_record record[2];
  /* the number of groups in each class */
  int32_t count[CLASSES];
  /* The list of groups to repair follows, then the order of the groups if their sizes differ, then
   * dense blocks if they are extracted before. */
};

constexpr size_t aligned(size_t bytes) { return (bytes + 255) / 256 * 256; }

/* The bytes at which the parts of the workspace begin; `all`: their end. */
struct layout {
  size_t repair_list, order, dense, all;
};

bool extracts_before(const bsi_bjacobi *jacobi) {
  const bisai_extraction how = jacobi->options.extraction;
  return !jacobi->natural && (how == BISAI_EXTRACTION_CACHED || how == BISAI_EXTRACTION_SHARED);
}

/* Blocks that are extracted before lie where the inverses will be, unless these are narrower. */
bool extracts_to_workspace(const bsi_bjacobi *jacobi) {
  return extracts_before(jacobi) && jacobi->slot_bytes < 8;
}

layout layout_of(const bsi_bjacobi *jacobi) {
  const size_t groups = aligned(sizeof(int32_t) * static_cast<size_t>(jacobi->groups)),
               values = sizeof(double) * static_cast<size_t>(jacobi->values);
  layout at;
  at.repair_list = aligned(sizeof(workspace));
  at.order = at.repair_list + (jacobi->options.shift_amount > 0.0 ? groups : 0);
  at.dense = at.order + (jacobi->partition.uniform ? 0 : groups);
  at.all = at.dense + (extracts_to_workspace(jacobi) ? values : 0);
  return at;
}

/* --- groups by class --- */

__global__ void __launch_bounds__(THREADS)
    list_groups(int32_t groups, int32_t blocks, int32_t per_group, const int32_t *start,
                uint8_t *key, int32_t *group, int32_t *count) {
  __shared__ int32_t counts[CLASSES];
  if (threadIdx.x < CLASSES) counts[threadIdx.x] = 0;
  __syncthreads();
  const int32_t g = static_cast<int32_t>(blockIdx.x * THREADS + threadIdx.x);
  if (g < groups) {
    int32_t max_rows = 0;
    for (int32_t b = g * per_group; b < blocks && b < (g + 1) * per_group; b++)
      max_rows = max(max_rows, start[b + 1] - start[b]);
    key[g] = static_cast<uint8_t>(bsi_bjacobi_class(max_rows));
    group[g] = g;
    atomicAdd(counts + bsi_bjacobi_class(max_rows), 1);
  }
  __syncthreads();
  if (threadIdx.x < CLASSES) atomicAdd(count + threadIdx.x, counts[threadIdx.x]);
}

/* order ← the groups by class, ascending in each. count, zeros before, ← the groups of each
 * class. */
bisai_status sort_groups(bisai_context *context, const bsi_bjacobi *jacobi, int32_t *order,
                         int32_t *count) {
  const char *what = "block-Jacobi's groups";
  const bsi_partition *p = &jacobi->partition;
  const int32_t n = jacobi->groups;
  size_t sort_bytes = 0;
  uint8_t *key = nullptr;
  int32_t *group = nullptr;
  bisai_status status = bsi_gpu_sort_pairs(context, what, nullptr, &sort_bytes, key, key, group,
                                           order, n, bsi_bits_below(CLASSES));
  if (status) return status;
  const size_t keys = aligned(static_cast<size_t>(n)),
               groups = aligned(static_cast<size_t>(n) * sizeof(int32_t));
  char *memory = static_cast<char *>(
      context->backend->memory->allocate(context, 2 * keys + groups + sort_bytes, 1));
  if (!memory) return BISAI_OUT_OF_MEMORY;
  key = reinterpret_cast<uint8_t *>(memory);
  group = reinterpret_cast<int32_t *>(memory + 2 * keys);
  list_groups<<<bsi_grid(n, THREADS), THREADS, 0, bsi_stream_of(context)>>>(
      n, p->blocks, jacobi->per_group, p->start, key, group, count);
  status = bsi_launched(context, what);
  if (!status)
    status = bsi_gpu_sort_pairs(context, what, memory + 2 * keys + groups, &sort_bytes, key,
                                key + keys, group, order, n, bsi_bits_below(CLASSES));
  context->backend->memory->release(context, memory);
  return status;
}

/* --- extraction by kernels of its own --- */

__global__ void __launch_bounds__(BSI_VALUES_THREADS)
    extract(const __grid_constant__ bsi_values_job p) {
  extern __shared__ double tiles[];
  const int warp = threadIdx.x / BSI_WARP;
  double *tile = tiles + warp * bsi_tile_values<BSI_BJACOBI_MAX_ROWS, 1>;
  const int32_t groups_per_warp = bsi_groups_per_warp(p),
                units = p.launch.count / groups_per_warp + (p.launch.count % groups_per_warp > 0);
  for (int32_t unit = static_cast<int32_t>(blockIdx.x * BSI_VALUES_WARPS) + warp; unit < units;
       unit += static_cast<int32_t>(gridDim.x * BSI_VALUES_WARPS)) {
    const bsi_lane l = bsi_lane_of<BSI_BJACOBI_MAX_ROWS, 1>(p, unit, p.launch.count);
    bsi_extract<false>(p, l, tile);
    double *to = p.dense + l.first + l.in_group + l.w.row;
    for (int c = 0; c < l.w.m && l.w.row < l.w.m; c++)
      to[static_cast<int64_t>(c) * l.height] = tile[l.tile + l.w.row + c * l.ld];
    __syncwarp();
  }
}

/* --- launches --- */

/* AUTO is MERGED_CACHED, which is the fastest or nearly so on tridiagonal, arrow and real matrices.
 * Rows are sorted and read from the block on, so that a dense row costs no more than another. */
int source_of(const bsi_bjacobi *jacobi) {
  switch (jacobi->options.extraction) {
  case BISAI_EXTRACTION_CACHED:
  case BISAI_EXTRACTION_MERGED_CACHED: return BSI_FROM_ROWS;
  case BISAI_EXTRACTION_SHARED:
  case BISAI_EXTRACTION_MERGED_SHARED: return BSI_FROM_ROWS_SHARED;
  default: return BSI_FROM_ROWS;
  }
}

bsi_values_job job_of(const bisai_bcsr *matrix, const bsi_bjacobi *jacobi) {
  const bsi_partition *b = &jacobi->partition;
  const bsi_bjacobi_options *o = &jacobi->options;
  const layout at = layout_of(jacobi);
  char *memory = static_cast<char *>(jacobi->workspace.memory);
  workspace *head = reinterpret_cast<workspace *>(memory);
  return {
      .partition = {.rows = b->rows,
                    .blocks = b->blocks,
                    .uniform = b->uniform,
                    .per_group = jacobi->per_group,
                    .start = b->start,
                    .first_value = jacobi->first_value},
      .launch = {.order = jacobi->workspace.order},
      .source = jacobi->natural ? BSI_FROM_BLOCKS : source_of(jacobi),
      .matrix = {.block_size = matrix->block_size,
                 .row_ptr = matrix->row_ptr,
                 .col_idx = matrix->col_idx,
                 .position = jacobi->matrix.position,
                 .values = static_cast<const double *>(matrix->values)},
      .dense =
          static_cast<double *>(extracts_to_workspace(jacobi) ? memory + at.dense : jacobi->data),
      .shift_amount = o->shift_amount,
      .result = {.form = o->form,
                 .storage = o->storage,
                 .tolerance =
                     o->storage == BISAI_ADAPTIVE ? bsi_adaptive_tolerance(o->digits) : 0.0,
                 .admitted = bsi_adaptive_mask(o->formats),
                 .format = jacobi->format,
                 .pivots = jacobi->pivots,
                 .data = static_cast<char *>(jacobi->data),
                 .slot_bytes = jacobi->slot_bytes},
      .record = &head->record[jacobi->workspace.turn],
      .next_record = &head->record[1 - jacobi->workspace.turn],
      .repair_list =
          o->shift_amount > 0.0 ? reinterpret_cast<int32_t *>(memory + at.repair_list) : nullptr,
  };
}

/* Returns true if the blocks lie side by side and stay in fp64: the plain kernels do nothing
 * else. */
bool is_plain(const bsi_bjacobi *jacobi) {
  const bsi_bjacobi_options *o = &jacobi->options;
  return o->form == BISAI_FORM_INVERSE && o->storage == BISAI_FP64 &&
         (jacobi->natural || extracts_before(jacobi));
}

/* Returns true for natural blocks of one size in groups as large as fit a warp. */
bool is_uniform(const bsi_values_job &p) {
  return p.source == BSI_FROM_BLOCKS && p.partition.uniform > 0 &&
         p.partition.per_group == BSI_WARP / p.partition.uniform;
}

/* Enqueues `count` groups from index `from` of the order on, of blocks of at most max_rows rows. */
void enqueue(bisai_context *context, const bsi_bjacobi *jacobi, bsi_values_job p, int max_rows,
             int32_t from, int32_t count) {
  p.launch.from = from;
  p.launch.count = count;
  p.launch.largest = jacobi->per_group > 1 ? jacobi->partition.largest : max_rows;
  if (extracts_before(jacobi)) {
    p.launch.lanes = p.launch.largest;
    bsi_launch_resident(context, extract, EXTRACTION_WARPS,
                        sizeof(double) * bsi_tile_values<BSI_BJACOBI_MAX_ROWS, 1>, bsi_units(p), p);
    p.source = BSI_FROM_DENSE;
  }
  if (p.result.form != BISAI_FORM_INVERSE) return bsi_enqueue_decompositions(context, max_rows, p);
  if (!is_plain(jacobi)) return bsi_enqueue_inverses(context, max_rows, p);
  const bool done = is_uniform(p) && (p.partition.uniform <= BSI_SPECIAL_SIZES
                                          ? bsi_enqueue_small_inverses(context, p)
                                          : bsi_enqueue_uniform_inverses(context, p));
  if (!done) bsi_enqueue_plain_inverses(context, max_rows, p);
}

/* Enqueues the groups of each class, the largest first. Classes are independent of each other: the
 * first thread blocks of one run beside the last ones of another. */
void enqueue_classes(bisai_context *context, const bsi_bjacobi *jacobi, bsi_values_job p) {
  int32_t end = jacobi->groups;
  for (int k = CLASSES - 1; k >= 0; end -= jacobi->workspace.class_groups[k--]) {
    const int32_t count = jacobi->workspace.class_groups[k];
    if (count == 0) continue;
    enqueue(context, jacobi, p, std::min(4 * (k + 1), jacobi->partition.largest), end - count,
            count);
    p.launch.beside = !extracts_before(jacobi);
  }
}

/* Enqueues the groups that plain kernels have listed once more, with repairs. */
void repair(bisai_context *context, const bsi_bjacobi *jacobi, bsi_values_job p) {
  p.launch.order = p.repair_list;
  p.launch.beside = false;
  p.launch.device_count = &p.record->repair_groups;
  p.launch.from = 0;
  p.launch.count = std::min(jacobi->groups, REPAIR_GROUPS);
  p.launch.largest = jacobi->partition.largest;
  bsi_enqueue_inverses(context, jacobi->partition.largest, p);
}

/* Returns the first block of a record's field, −1 for none. */
int32_t first_of(unsigned long long complement) {
  return complement == 0 ? -1 : static_cast<int32_t>(~complement);
}

void count_recorded_formats(const bsi_values_record &record, bsi_bjacobi_stats *stats) {
  for (int f = 0; f < BSI_FORMATS; f++) {
    stats->formats[f] = static_cast<int64_t>(record.formats[f]);
    stats->value_bytes +=
        static_cast<int64_t>(record.values[f] * bsi_value_bytes(static_cast<bisai_value_type>(f)));
  }
}

/* Kernels do not count the formats of a fixed storage. */
void count_fixed_format(const bsi_bjacobi *jacobi, bsi_bjacobi_stats *stats) {
  const bisai_value_type storage = jacobi->options.storage;
  stats->formats[storage] = jacobi->partition.blocks;
  for (int m = 1; m <= BSI_BJACOBI_MAX_ROWS; m++)
    stats->value_bytes += static_cast<int64_t>(jacobi->partition.count[m]) * m * m *
                          static_cast<int64_t>(bsi_value_bytes(storage));
}

/* The record as statistics. */
void fill_stats(const bsi_bjacobi *jacobi, const bsi_values_record &record,
                bsi_bjacobi_stats *stats) {
  bsi_invert_stats *inversion = &stats->inversion;
  inversion->singular_row = first_of(record.first_singular);
  inversion->first_repair_row = first_of(record.first_repaired);
  inversion->repairs = static_cast<int64_t>(record.repairs);
  std::memcpy(&inversion->largest_condition, &record.condition, sizeof record.condition);
  inversion->largest_condition_row =
      record.condition > 0 ? static_cast<int32_t>(~record.condition_block & 0x7fffffffu) : -1;
  if (record.first_singular != 0) {
    inversion->largest_condition = INFINITY;
    inversion->largest_condition_row = inversion->singular_row;
  }
  stats->near_singular = static_cast<int64_t>(record.near_singulars);
  stats->near_singular_block = first_of(record.first_near_singular);
  stats->overflow_block = first_of(record.first_overflow);
  if (jacobi->options.storage == BISAI_ADAPTIVE)
    count_recorded_formats(record, stats);
  else
    count_fixed_format(jacobi, stats);
}

} // namespace

static bisai_status bjacobi_reserve(bisai_context *context, const bisai_bcsr *,
                                    bsi_bjacobi *jacobi) {
  if (jacobi->per_group * jacobi->partition.largest > BSI_WARP)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "groups of %d rows: a device takes at most %d",
                    jacobi->per_group * jacobi->partition.largest, BSI_WARP);
  const layout at = layout_of(jacobi);
  char *const memory = static_cast<char *>(context->backend->memory->allocate(context, at.all, 1));
  jacobi->workspace.memory = memory;
  if (!memory) return BISAI_OUT_OF_MEMORY;
  jacobi->workspace.bytes = static_cast<int64_t>(at.all);
  BSI_TRY(bsi_gpu_fill(context, "block-Jacobi's groups", memory, 0, sizeof(workspace)));
  if (jacobi->partition.uniform || jacobi->groups == 0) return BISAI_OK;
  int32_t *count = reinterpret_cast<workspace *>(memory)->count;
  jacobi->workspace.order = reinterpret_cast<int32_t *>(memory + at.order);
  BSI_TRY(sort_groups(context, jacobi, jacobi->workspace.order, count));
  return context->backend->memory->fetch(context, jacobi->workspace.class_groups, count,
                                         sizeof jacobi->workspace.class_groups);
}

static bisai_status bjacobi_values(bisai_context *context, const bisai_bcsr *matrix,
                                   bsi_bjacobi *jacobi) {
  if (jacobi->groups == 0) return BISAI_OK;
  jacobi->workspace.turn = 1 - jacobi->workspace.turn;
  const bsi_values_job p = job_of(matrix, jacobi);
  const int32_t largest = jacobi->partition.largest;
  if (jacobi->partition.uniform)
    enqueue(context, jacobi, p, largest, 0, jacobi->groups);
  else
    enqueue_classes(context, jacobi, p);
  if (p.repair_list && is_plain(jacobi)) repair(context, jacobi, p);
  const bisai_status status = bsi_launched(context, "block-Jacobi's values");
  if (status) /* the next set-up needs a clear record */
    bsi_gpu_fill(context, "block-Jacobi's values", jacobi->workspace.memory, 0,
                 sizeof(workspace::record));
  return status;
}

static bisai_status bjacobi_collect(bisai_context *context, bsi_bjacobi *jacobi) {
  const workspace *memory = static_cast<workspace *>(jacobi->workspace.memory);
  bsi_values_record record;
  BSI_TRY(context->backend->memory->fetch(context, &record, &memory->record[jacobi->workspace.turn],
                                          sizeof record));
  fill_stats(jacobi, record, &jacobi->stats);
  return BISAI_OK;
}

const bsi_block_values_ops bsi_block_values_cuda = {
    .reserve = bjacobi_reserve, .compute = bjacobi_values, .collect = bjacobi_collect};
