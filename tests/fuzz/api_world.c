/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the tests, and contexts on an allocator that counts, fails on demand, and fills what it
 * hands out with NaN. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"

void *fuzz_memory(size_t count, size_t size) {
  void *memory = calloc(count + 1, size);
  if (!memory) abort();
  return memory;
}

double *fuzz_vector(int64_t n) {
  double *values = fuzz_memory((size_t)n, sizeof *values);
  for (int64_t i = 0; i < n; i++) values[i] = NAN;
  return values;
}

/* Before each block: its bytes, and where the memory begins. */
typedef struct label {
  size_t bytes;
  void *memory;
} label;

static void *allocate(void *user, size_t bytes, size_t alignment) {
  fuzz_world *world = user;
  const long long call = atomic_fetch_add(&world->calls, 1) + 1;
  fuzz_property(bytes > 0 && alignment > 0 && (alignment & (alignment - 1)) == 0,
                "an allocator is asked for some bytes at a power of two");
  if (world->fail_at > 0 &&
      (call == world->fail_at || (world->fail_after && call > world->fail_at)))
    return NULL;
  const size_t before = alignment < sizeof(label) ? sizeof(label) : alignment;
  void *memory;
  if (posix_memalign(&memory, before, before + bytes) != 0) return NULL;
  char *block = (char *)memory + before;
  ((label *)(void *)block)[-1] = (label){bytes, memory};
  memset(block, 0xff, bytes);
  atomic_fetch_add(&world->live, 1);
  const long long held = atomic_fetch_add(&world->bytes, (long long)bytes) + (long long)bytes;
  long long peak = atomic_load(&world->peak);
  while (held > peak && !atomic_compare_exchange_weak(&world->peak, &peak, held)) continue;
  return block;
}

static void release(void *user, void *block) {
  fuzz_world *world = user;
  if (!fuzz_property(block, "release() is never called with NULL")) return;
  const label of_block = ((label *)block)[-1];
  atomic_fetch_sub(&world->live, 1);
  atomic_fetch_sub(&world->bytes, (long long)of_block.bytes);
  free(of_block.memory);
}

bisai_allocator fuzz_allocator(fuzz_world *world) {
  return (bisai_allocator){.allocate = allocate, .release = release, .user = world};
}

void fuzz_world_open(fuzz_world *world, int threads) {
  memset(world, 0, sizeof *world);
  bisai_context_options options = bisai_context_options_default();
  options.backend = BISAI_BACKEND_HOST;
  options.threads = threads;
  options.allocator = fuzz_allocator(world);
  const bisai_status status = bisai_context_create(&options, &world->context);
  if (!fuzz_property(!status, "a context can be made (status %d)", (int)status)) abort();
}

void fuzz_world_close(fuzz_world *world) {
  bisai_context_destroy(&world->context);
  const long long left = atomic_load(&world->live);
  fuzz_property(left == 0,
                "nothing is left allocated when everything was destroyed (%lld blocks are)", left);
}
