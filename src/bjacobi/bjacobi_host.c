/* Inverses of many diagonal blocks on the host. */
#include "core/backend_host.h"
#include "core/block_sizes.h"
#include "core/parallel.h"
#include "core/triangular.h"

enum { BLOCKS_PER_THREAD = 256 };

typedef bsi_block_result invert_function(const double *a, double *inverse, double *condition);

#define STAMP(BS)                                                                                                      \
  static bsi_block_result invert_##BS(const double *a, double *inverse, double *condition) {                           \
    return bsi_block_invert(BS, a, inverse, condition);                                                                \
  }
BSI_BLOCK_SIZES(STAMP)
#undef STAMP
#define ENTRY(BS) [BS] = invert_##BS,
static invert_function *const invert_functions[BSI_SPECIAL_SIZES + 1] = {NULL, BSI_BLOCK_SIZES(ENTRY)};
#undef ENTRY

static bsi_block_result invert_any(int bs, const double *a, double *inverse, double *condition) {
  return bs <= BSI_SPECIAL_SIZES ? invert_functions[bs](a, inverse, condition)
                                 : bsi_block_invert(bs, a, inverse, condition);
}

bisai_status bsi_invert_blocks_host(bisai_context *context, int32_t n, int bs, const double *blocks,
                                    const int32_t *position, double *inverses, bsi_invert_stats *stats) {
  const size_t values = (size_t)(bs * bs);
  const int threads = bsi_threads_for(context->threads, n, BLOCKS_PER_THREAD);
#pragma omp parallel num_threads(threads)
  {
    bsi_invert_stats mine = BSI_INVERT_STATS_NONE;
#pragma omp for schedule(static)
    for (int32_t i = 0; i < n; i++) {
      double condition;
      const bsi_block_result result =
          invert_any(bs, blocks + (size_t)position[i] * values, inverses + (size_t)i * values, &condition);
      bsi_invert_stats_count(&mine, result, condition, i);
    }
#pragma omp critical(bsi_invert_stats)
    bsi_invert_stats_merge(stats, &mine);
  }
  return BISAI_OK;
}
