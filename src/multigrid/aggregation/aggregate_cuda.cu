/* SPDX-License-Identifier: BSD-3-Clause */
/* Aggregates on the device: one cooperative launch. Its thread blocks wait for each other after
 * each pass over the rows, so that the host does not wait for the number of undecided rows. A pass
 * writes only what belongs to its row and reads nothing of other rows that it writes. */
#include <algorithm>

#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"
#include "gpu/barrier.cuh"
#include "gpu/lanes.cuh"
#include "gpu/record.cuh"
#include "gpu/temporary.cuh"
#include "multigrid/aggregation/aggregate.h"
#include "multigrid/aggregation/aggregation_ops.h"
#include "multigrid/aggregation/strength_cuda.cuh"

namespace {

constexpr const char *WHAT = "aggregation";

/* Threads of a thread block of the cooperative launch. Not measured, like the constants below. */
constexpr int GROUPING_THREADS = 512, WARPS = GROUPING_THREADS / BSI_WARP;

/* Rows and blocks that one thread block takes alone: its threads wait for each other in less time
 * than thread blocks do. */
constexpr int64_t OF_ONE_BLOCK = 8192;

/* Blocks of a row for each of the lanes that share it. */
constexpr int BLOCKS_OF_LANE = 8;

/* A record that the kernel writes whole, so that it needs no beginning. */
struct report {
  unsigned long long aggregates, members;
  /* 1 if a round has left an undecided row; rounds take turns with the two words */
  unsigned long long undecided[2];
};

/* Arrays in device memory. */
struct grouping {
  sharing s;
  const int32_t *row_ptr, *col_idx;
  const float *strength;
  /* rows: bsi_candidate */
  uint8_t *state;
  /* rows: the largest value within one step. It stays once it is 0 or BSI_REACHED. At the end the
   * number of the aggregate of each root. */
  uint32_t *reach;
  /* rows: the root of the aggregate of each row, or what stands for it (aggregate.h) */
  int32_t *root;
  int32_t *aggregate;
  /* the number of roots among the rows of each thread block */
  int32_t *roots;
  /* two lists of rows of each thread block, of at most `most` rows */
  int32_t *lists;
  int64_t most;
  report *found;
  unsigned *ticket;
};

/* The rows of a thread block that a round takes. No list: all rows. */
struct open_rows {
  int32_t *list, count;
};

/* The waits of the thread blocks for each other. */
struct meeting {
  unsigned *ticket;
  bool odd = false;
  __device__ explicit meeting(unsigned *t) : ticket(t) {}
  __device__ void wait() {
    if (gridDim.x == 1) {
      __syncthreads();
      return;
    }
    bsi_wait_for_all(ticket, odd, [] {});
    odd = !odd;
  }
  /* An even number of waits leaves the ticket as it was. */
  __device__ void end() {
    if (odd) wait();
  }
};

/* Calls pass(part) for all rows. The lanes of a warp call together. */
template <typename Pass> __device__ __forceinline__ void over_rows(const grouping &g, Pass pass) {
  const int64_t thread = static_cast<int64_t>(blockIdx.x) * GROUPING_THREADS + threadIdx.x,
                apart = static_cast<int64_t>(gridDim.x) * GROUPING_THREADS / g.s.lanes;
  const int within = threadIdx.x % BSI_WARP / g.s.lanes;
  for (int64_t first = (thread - threadIdx.x % BSI_WARP) / g.s.lanes; first < g.s.rows;
       first += apart) {
    const part_of_row part = part_of(g.s, g.row_ptr, first + within);
    pass(part);
  }
}

/* Calls pass(part) for the rows of the list of a thread block, or for all rows. */
template <typename Pass>
__device__ __forceinline__ void over_open_rows(const grouping &g, const open_rows &open,
                                               Pass pass) {
  if (!open.list) {
    over_rows(g, pass);
    return;
  }
  const int32_t groups = GROUPING_THREADS / g.s.lanes,
                own = static_cast<int32_t>(threadIdx.x) / g.s.lanes,
                within = static_cast<int32_t>(threadIdx.x) % BSI_WARP / g.s.lanes;
  for (int32_t at = own; at - within < open.count; at += groups) {
    /* a group beyond the last row takes none */
    const int64_t i = at < open.count ? open.list[at] : static_cast<int64_t>(g.s.rows);
    const part_of_row part = part_of(g.s, g.row_ptr, i);
    pass(part);
  }
}

/* Calls visit(j, strength) for each edge of the lane's part of a row. */
template <typename Visit>
__device__ __forceinline__ void over_edges(const grouping &g, const part_of_row &part,
                                           Visit visit) {
  for (int32_t p = part.begin; p < part.end; p += TOGETHER * g.s.lanes) {
    float strength[TOGETHER];
    int32_t j[TOGETHER];
#pragma unroll
    for (int t = 0; t < TOGETHER; t++) {
      const int32_t at = p + t * g.s.lanes;
      strength[t] = at < part.end ? __ldg(g.strength + at) : 0.0f;
      j[t] = at < part.end ? __ldg(g.col_idx + at) : 0;
    }
#pragma unroll
    for (int t = 0; t < TOGETHER; t++)
      if (strength[t] > 0.0f) visit(j[t], strength[t]);
  }
}

/* Begins step 1. */
__device__ void enter(const grouping &g) {
  over_rows(g, [&](const part_of_row &part) {
    int some = 0;
    unsigned long long best = 0;
    int32_t root = BSI_STAYS_OUT;
    for (int32_t p = part.begin; p < part.end; p += g.s.lanes) {
      const float strength = __ldg(g.strength + p);
      some |= strength > 0.0f;
      if (!(strength < 0.0f)) continue;
      const int32_t j = __ldg(g.col_idx + p);
      const unsigned long long preference = bsi_preference(-strength, j);
      if (preference <= best) continue;
      best = preference;
      root = BSI_FOLLOWS - j;
    }
    some = largest_of_lanes(g.s, some);
    const unsigned long long of_row = largest_of_lanes(g.s, best);
    /* one lane alone has the best row to follow, because all keys differ */
    if (some || of_row == 0 ? g.s.member() > 0 : best != of_row) return;
    if (!part.inside) return;
    g.root[part.row] = some ? BSI_NO_ROOT_YET : root;
    g.state[part.row] = some ? BSI_UNDECIDED : BSI_NOT_ROOT;
    g.reach[part.row] = some ? bsi_aggregation_key(part.row) : 0;
  });
}

/* The first half of a round: reach[i] ← the largest value within one step. *next ← the rows whose
 * value may still change, among which are all undecided ones. */
__device__ void look_around(const grouping &g, const open_rows &now, open_rows *next) {
  __shared__ int32_t count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  over_open_rows(g, now, [&](const part_of_row &part) {
    const uint32_t before = part.inside ? g.reach[part.row] : 0;
    const bool open = before != 0 && before != BSI_REACHED;
    uint32_t largest = open ? bsi_candidate_value(g.state[part.row], part.row) : 0;
    if (open)
      over_edges(g, part, [&](int32_t j, float) {
        largest = max(largest, bsi_candidate_value(g.state[j], j));
      });
    largest = largest_of_lanes(g.s, largest);
    if (!open || g.s.member() > 0) return;
    g.reach[part.row] = largest;
    if (largest != 0 && largest != BSI_REACHED) next->list[atomicAdd(&count, 1)] = part.row;
  });
  __syncthreads();
  next->count = count;
}

/* The second half. Returns true if a row of the thread stays undecided. */
__device__ bool decide(const grouping &g, const open_rows &now) {
  bool left = false;
  over_open_rows(g, now, [&](const part_of_row &part) {
    const bool open = part.inside && g.state[part.row] == BSI_UNDECIDED;
    uint32_t largest = open ? g.reach[part.row] : 0;
    if (open) over_edges(g, part, [&](int32_t j, float) { largest = max(largest, g.reach[j]); });
    largest = largest_of_lanes(g.s, largest);
    /* all lanes of the row have read the state */
    if (!open || g.s.member() > 0) return;
    const uint8_t state = bsi_candidate_decide(largest, part.row);
    g.state[part.row] = state;
    left = left || state == BSI_UNDECIDED;
  });
  return left;
}

/* Rounds until no row is undecided. In each round, thread blocks that have undecided rows write 1
 * to a word of `undecided` before the second wait. The round clears the other word after the first
 * wait, when all have read that word. The first round takes all rows. Later ones take a list, which
 * is a thread block's own, of those of its rows that are open. */
__device__ void find_roots(const grouping &g, meeting *all) {
  int32_t *lists = g.lists + blockIdx.x * (2 * g.most);
  open_rows now = {nullptr, 0}, next = {lists, 0};
  bool left = true;
  for (unsigned round = 0; left; round++) {
    volatile unsigned long long *word = g.found->undecided + round % 2,
                                *other = g.found->undecided + (round + 1) % 2;
    look_around(g, now, &next);
    all->wait();
    if (blockIdx.x == 0 && threadIdx.x == 0) *other = 0;
    const int mine = __syncthreads_or(decide(g, now));
    if (mine && threadIdx.x == 0) *word = 1;
    all->wait();
    left = *word != 0;
    now = next;
    next = {now.list == lists ? lists + g.most : lists, 0};
  }
}

/* Step 2. */
__device__ void join_roots(const grouping &g) {
  over_rows(g, [&](const part_of_row &part) {
    const bool open = part.inside && g.root[part.row] == BSI_NO_ROOT_YET,
               is_root = open && g.state[part.row] == BSI_ROOT;
    unsigned long long best = 0;
    int32_t root = BSI_NO_ROOT_YET;
    if (open && !is_root)
      over_edges(g, part, [&](int32_t j, float strength) {
        const unsigned long long preference = bsi_preference(strength, j);
        if (g.state[j] != BSI_ROOT || preference <= best) return;
        best = preference;
        root = j;
      });
    /* All lanes of the row have read its root before one of them writes it. One lane alone has the
     * best neighbour, because all keys differ. */
    const bool mine = largest_of_lanes(g.s, best) == best && best > 0;
    if (is_root ? g.s.member() == 0 : mine) g.root[part.row] = is_root ? part.row : root;
  });
}

/* reach[i] ← the number of roots before row i, for each root i. Each thread block takes the rows of
 * a part. */
__device__ void number_roots(const grouping &g, meeting *all) {
  __shared__ int32_t of_warp[WARPS];
  __shared__ int32_t before_block;
  const int lane = threadIdx.x % BSI_WARP, warp = threadIdx.x / BSI_WARP;
  const int64_t share = (g.s.rows - 1) / gridDim.x + 1, begin = blockIdx.x * share,
                end = min(begin + share, static_cast<int64_t>(g.s.rows));
  int32_t count = 0;
  for (int64_t at = begin; at < end; at += GROUPING_THREADS) {
    const int64_t i = at + threadIdx.x;
    count += __syncthreads_count(i < end && g.root[i] == i);
  }
  if (threadIdx.x == 0) g.roots[blockIdx.x] = count;
  all->wait();
  if (warp == 0) {
    int32_t sum = 0;
    for (unsigned b = lane; b < blockIdx.x; b += BSI_WARP) sum += g.roots[b];
    sum = bsi_warp_sum(sum);
    if (lane == 0) before_block = sum;
    if (lane == 0 && blockIdx.x == gridDim.x - 1)
      g.found->aggregates = static_cast<unsigned long long>(sum + count);
  }
  __syncthreads();
  int32_t next = before_block;
  for (int64_t at = begin; at < end; at += GROUPING_THREADS) {
    const int64_t i = at + threadIdx.x;
    const bool is_root = i < end && g.root[i] == i;
    const unsigned roots = __ballot_sync(BSI_FULL_WARP, is_root);
    if (lane == 0) of_warp[warp] = __popc(roots);
    __syncthreads();
    int32_t number = next + __popc(roots & ((1u << lane) - 1u));
    for (int w = 0; w < WARPS; w++) {
      if (w < warp) number += of_warp[w];
      next += of_warp[w];
    }
    if (is_root) g.reach[i] = static_cast<uint32_t>(number);
    __syncthreads();
  }
}

/* Steps 3 and 4, and the numbers. */
__device__ void finish(const grouping &g) {
  int members = 0;
  over_rows(g, [&](const part_of_row &part) {
    int32_t at = part.row, root = part.inside ? g.root[at] : BSI_STAYS_OUT;
    while (root <= BSI_FOLLOWS) {
      at = BSI_FOLLOWS - root;
      root = g.root[at];
    }
    const bool open = root == BSI_NO_ROOT_YET;
    unsigned long long best = 0;
    if (open)
      over_edges(g, part_of(g.s, g.row_ptr, at), [&](int32_t j, float strength) {
        const unsigned long long preference = bsi_preference(strength, j);
        const int32_t there = g.root[j];
        if (there < 0 || preference <= best) return;
        best = preference;
        root = there;
      });
    /* one lane alone has the best neighbour, and an open row always has one (aggregate.h) */
    const bool mine = largest_of_lanes(g.s, best) == best && best > 0;
    if (open ? mine : part.inside && g.s.member() == 0) {
      g.aggregate[part.row] = root < 0 ? -1 : static_cast<int32_t>(g.reach[root]);
      members += root >= 0;
    }
  });
  members = bsi_warp_sum(members);
  if (threadIdx.x % BSI_WARP == 0 && members > 0)
    atomicAdd(&g.found->members, static_cast<unsigned long long>(members));
}

__global__ void __launch_bounds__(GROUPING_THREADS) make_aggregates(const grouping g) {
  meeting all(g.ticket);
  if (blockIdx.x == 0 && threadIdx.x < 2) g.found->undecided[threadIdx.x] = 0;
  if (blockIdx.x == 0 && threadIdx.x == 0) g.found->members = 0;
  enter(g);
  all.wait();
  find_roots(g, &all);
  join_roots(g);
  all.wait();
  number_roots(g, &all);
  all.wait();
  finish(g);
  all.end();
}

/* Chooses the lanes of a row, and the thread blocks of the launch. */
bisai_status lay_out(bisai_context *context, const bisai_bcsr *a, int *lanes, int *blocks) {
  const int64_t rows = a->block_rows, mean = mean_length(a->block_rows, a->blocks);
  int most = 1;
  if (rows + a->blocks > OF_ONE_BLOCK)
    BSI_TRY(bsi_resident_blocks(context, WHAT, make_aggregates, GROUPING_THREADS, &most));
  *lanes = lanes_for(mean, BLOCKS_OF_LANE);
  while (*lanes < lanes_for(mean, 1) &&
         rows * *lanes * 2 <= static_cast<int64_t>(most) * GROUPING_THREADS)
    *lanes *= 2;
  *blocks = std::min(most, static_cast<int>(bsi_grid(rows * *lanes, GROUPING_THREADS)));
  return BISAI_OK;
}

} // namespace

/* Enqueues the aggregation of at least one row. */
static bisai_status enqueue(bisai_context *context, const bisai_bcsr *a, const float *strength,
                            int32_t *aggregate, report *record) {
  const size_t rows = static_cast<size_t>(a->block_rows);
  int blocks = 0;
  bsi_temporary temporary(context);
  grouping g = {.s = {a->block_rows, 1},
                .row_ptr = a->row_ptr,
                .col_idx = a->col_idx,
                .strength = strength,
                .aggregate = aggregate,
                .found = record,
                .ticket = context->tickets};
  BSI_TRY(lay_out(context, a, &g.s.lanes, &blocks));
  g.state = temporary.reserve<uint8_t>(rows);
  if (temporary.complete) g.reach = temporary.reserve<uint32_t>(rows);
  if (temporary.complete) g.root = temporary.reserve<int32_t>(rows);
  if (temporary.complete) g.roots = temporary.reserve<int32_t>(static_cast<size_t>(blocks));
  const int64_t at_once = GROUPING_THREADS / g.s.lanes, all_at_once = at_once * blocks;
  g.most = (a->block_rows + all_at_once - 1) / all_at_once * at_once;
  if (temporary.complete)
    g.lists = temporary.reserve<int32_t>(static_cast<size_t>(2 * g.most * blocks));
  if (!temporary.complete) return BISAI_OUT_OF_MEMORY;
  return bsi_launch_together(context, WHAT, make_aggregates, dim3(static_cast<unsigned>(blocks)),
                             dim3(GROUPING_THREADS), 0, g);
}

static void read(const void *record, int32_t *count, int32_t *members) {
  const report *found = static_cast<const report *>(record);
  *count = static_cast<int32_t>(found->aggregates);
  *members = static_cast<int32_t>(found->members);
}

static bisai_status aggregate(bisai_context *context, const bisai_bcsr *a, const float *strength,
                              int32_t *aggregate, void *record, int32_t *count, int32_t *members) {
  report *to = record ? static_cast<report *>(record) : bsi_record_of<report>(context), found;
  *count = *members = 0;
  if (a->block_rows == 0) return record ? bsi_gpu_fill(context, WHAT, to, 0, sizeof *to) : BISAI_OK;
  BSI_TRY(enqueue(context, a, strength, aggregate, to));
  if (record) return BISAI_OK;
  BSI_TRY(bsi_record_fetch(context, WHAT, &found));
  read(&found, count, members);
  return BISAI_OK;
}

static bisai_status load(bisai_context *context) { return bsi_gpu_load(context, make_aggregates); }

const bsi_aggregation_ops bsi_aggregation_cuda = {.weigh = weigh,
                                                  .aggregate = aggregate,
                                                  .record_bytes = sizeof(report),
                                                  .read = read,
                                                  .filter = bsi_filter_cuda,
                                                  .filter_again = bsi_filter_again_cuda,
                                                  .load = load};
