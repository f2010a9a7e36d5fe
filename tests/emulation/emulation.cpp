/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs kernels on a CPU, for tests of what they compute on machines without a GPU.
 *
 * Each thread of a thread block is a coroutine with a stack of its own. A coroutine runs until it
 * waits for others or ends, then the next one runs. Threads that race or that do not wait for each
 * other as CUDA demands therefore meet in another order than on a device, and what they do not
 * synchronise shows. A system thread runs one thread block at a time. The blocks of an ordinary
 * launch come one after the other, and those of a cooperative launch run side by side. Launches and
 * copies are complete when they return.
 *
 * The program ends with a message where CUDA leaves the outcome open: a barrier that not all
 * threads reach, lanes of one mask that call different functions, a copy in the wrong direction.
 * New memory is filled with a pattern, and a shuffle from a lane that does not take part gives the
 * same pattern. The address sanitizer sees accesses beyond an array.
 *
 * Not emulated: what a launch or copy leaves undone when it returns (everything is done then),
 * caches, and the order in which writes of a thread become visible to others. */
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <sys/mman.h>
#include <thread>
#include <vector>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

__thread uint3 threadIdx, blockIdx, blockDim, gridDim;

namespace {

enum {
  WARP = 32,
  MOST_THREADS = 1024,
  BARRIERS = 16,
  PROCESSORS = 3,
  STACK_BYTES = 512 * 1024,
  /* how often all threads of a block may find nothing new, if no other block runs */
  MOST_POLLS = 1000000
};

/* What new memory is filled with, and the word of a lane that does not take part in a shuffle. */
constexpr int FILLING = 0xfd;
constexpr uint64_t UNDEFINED = 0xfdfdfdfdfdfdfdfd;

[[noreturn]] void fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::fprintf(stderr, "emulation: block %u of %u, thread %u of %u: ", blockIdx.x, gridDim.x,
               threadIdx.x, blockDim.x);
  std::vfprintf(stderr, format, arguments);
  std::fprintf(stderr, "\n");
  va_end(arguments);
  std::abort();
}

/* --- coroutines --- */

#ifndef __x86_64__
#error "The emulation changes stacks by instructions of x86-64."
#endif

/* Saves the registers that a call keeps and the stack pointer in *from, and goes on at `to`. */
extern "C" void bisai_emulation_switch(void **from, void *to);
asm(R"(
  .text
  .type bisai_emulation_switch, @function
bisai_emulation_switch:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, (%rdi)
  mov %rsi, %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
)");

/* Where execution can go on: a stack pointer, and the stack that it points into. */
struct place {
  void *pointer = nullptr;
  void *bottom = nullptr;
  size_t bytes = 0;
};

/* Called when execution has come to a stack, with what the sanitizer gave when it left it. */
void arrive(void *shadow, place *from) {
#ifdef __SANITIZE_ADDRESS__
  const void *bottom;
  size_t bytes;
  __sanitizer_finish_switch_fiber(shadow, &bottom, &bytes);
  if (from) from->bottom = const_cast<void *>(bottom), from->bytes = bytes;
#else
  (void)shadow, (void)from;
#endif
}

/* Goes on at `to`. Returns when something goes on at `from`. */
void switch_places(place &from, const place &to) {
  void *shadow = nullptr;
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(&shadow, to.bottom, to.bytes);
#endif
  bisai_emulation_switch(&from.pointer, to.pointer);
  arrive(shadow, nullptr);
}

struct copy {
  void *to;
  const void *from;
  size_t bytes, zeros;
};

/* A stack on which threads run, one after the other until one has to wait. */
using coroutine = place;

enum state { NEW, READY, POLLING, WAITING, ENDED };

struct one_thread {
  state now = NEW;
  coroutine *on = nullptr;
  uint64_t word = 0;
  emulation::votes votes = {};
  std::vector<copy> copies;
};

/* What the lanes of a warp have come with. */
struct warp {
  unsigned open, here; /* lanes that have not ended, lanes that wait for others */
  struct {
    emulation::exchange kind;
    unsigned mask;
    int source;
    uint64_t word;
  } lanes[WARP];
};

struct barrier {
  int arrived, sum, expected;
  bool waited_for[MOST_THREADS];
};

/* A system thread that runs thread blocks. */
class processor {
public:
  void run_block(const emulation::configuration &how, unsigned number,
                 const std::function<void()> &thread);
  uint64_t exchange(emulation::exchange kind, unsigned mask, uint64_t word, int source);
  emulation::votes wait(int number, int threads, int vote, bool stay);
  void poll() { leave(POLLING); }
  one_thread &current() { return threads[threadIdx.x]; }
  void *shared() { return shared_memory.get(); }
  bool alone = true; /* no other block of the launch runs */

private:
  std::vector<std::unique_ptr<coroutine>> coroutines;
  std::vector<coroutine *> unused;
  one_thread threads[MOST_THREADS];
  warp warps[MOST_THREADS / WARP];
  barrier barriers[BARRIERS];
  place scheduler;
  int count = 0, begun = 0, ended = 0;
  bool progress = false; /* a thread that does not poll has run */
  const std::function<void()> *thread = nullptr;
  std::unique_ptr<char, decltype(&std::free)> shared_memory{nullptr, std::free};

  static void begin();
  coroutine *unused_coroutine();
  void resume(place &from, int number);
  void leave(state now);
  void end();
  void complete_exchange(int of_warp, unsigned mask);
  void complete_barrier(int number);
};

processor &here() {
  static __thread processor *mine;
  static thread_local std::unique_ptr<processor> owned;
  if (!mine) owned.reset(mine = new processor()); /* the barriers are zeros */
  return *mine;
}

/* Runs new threads until none is left, and the same again when the stack is used again. */
void processor::begin() {
  processor &self = here();
  arrive(nullptr, self.coroutines.size() == 1 ? &self.scheduler : nullptr);
  for (;;) {
    coroutine *own = self.current().on;
    (*self.thread)();
    self.end();
    if (self.begun < self.count) {
      threadIdx.x = static_cast<unsigned>(self.begun++);
      self.current().on = own;
      self.current().now = READY;
    } else {
      self.unused.push_back(own);
      switch_places(*own, self.scheduler);
    }
  }
}

coroutine *processor::unused_coroutine() {
  if (unused.empty()) {
    auto made = std::make_unique<coroutine>();
    made->bytes = STACK_BYTES;
    made->bottom = mmap(nullptr, STACK_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (made->bottom == MAP_FAILED) fail("no memory for a stack");
    /* the registers that the first switch takes, begin(), and its return address */
    void **top = reinterpret_cast<void **>(static_cast<char *>(made->bottom) + STACK_BYTES);
    top[-2] = reinterpret_cast<void *>(begin);
    made->pointer = top - 8;
    unused.push_back(made.get());
    coroutines.push_back(std::move(made));
  }
  coroutine *last = unused.back();
  unused.pop_back();
  return last;
}

/* Runs a thread that can run. */
void processor::resume(place &from, int number) {
  one_thread &next = threads[number];
  threadIdx = {static_cast<unsigned>(number), 0, 0};
  progress = progress || next.now != POLLING;
  if (next.now == NEW) {
    next.on = unused_coroutine();
    begun = number + 1;
  }
  next.now = READY;
  switch_places(from, *next.on);
}

/* Lets the next thread run that does not have to wait. */
void processor::leave(state now) {
  const int number = static_cast<int>(threadIdx.x);
  place &at = *current().on;
  threads[number].now = now;
  for (int i = number + 1; i < count; i++)
    if (threads[i].now == NEW || threads[i].now == READY) return resume(at, i);
  switch_places(at, scheduler);
}

void processor::end() {
  const int of_warp = static_cast<int>(threadIdx.x) / WARP;
  warp &w = warps[of_warp];
  if (!current().copies.empty()) fail("the thread ends before its copies");
  current().now = ENDED;
  ended++;
  w.open &= ~(1u << emulation::lane());
  for (int i = 0; i < WARP; i++)
    if (w.here >> i & 1) complete_exchange(of_warp, w.lanes[i].mask);
  complete_barrier(0);
}

/* Gives all lanes of the mask what they came for if all are here. */
void processor::complete_exchange(int of_warp, unsigned mask) {
  warp &w = warps[of_warp];
  const unsigned all = w.open & mask;
  if ((w.here & all) != all || all == 0) return;
  const emulation::exchange kind = w.lanes[__builtin_ctz(all)].kind;
  uint64_t voted = 0, largest = 0;
  for (int i = 0; i < WARP; i++)
    if (all >> i & 1) {
      if (w.lanes[i].mask != mask) return;
      if (w.lanes[i].kind != kind) fail("lanes of the mask %#x call different functions", mask);
      if (w.lanes[i].word) voted |= uint64_t{1} << i;
      largest = std::max(largest, w.lanes[i].word);
    }
  for (int i = 0; i < WARP; i++)
    if (all >> i & 1) {
      one_thread &lane = threads[of_warp * WARP + i];
      const int source = w.lanes[i].source;
      const uint64_t other = all >> source & 1 ? w.lanes[source].word : UNDEFINED;
      lane.word = kind == emulation::SHUFFLE ? other : kind == emulation::BALLOT ? voted : largest;
      lane.now = READY;
    }
  w.here &= ~all;
}

uint64_t processor::exchange(emulation::exchange kind, unsigned mask, uint64_t word, int source) {
  const int of_warp = static_cast<int>(threadIdx.x) / WARP, lane = emulation::lane();
  one_thread &self = current();
  if (!(mask >> lane & 1)) fail("the lane is not in its mask %#x", mask);
  warps[of_warp].lanes[lane] = {kind, mask, source, word};
  warps[of_warp].here |= 1u << lane;
  self.now = WAITING;
  complete_exchange(of_warp, mask);
  if (self.now == WAITING) leave(WAITING);
  return self.word;
}

/* Lets the threads that wait go on if enough have come. */
void processor::complete_barrier(int number) {
  barrier &b = barriers[number];
  const int expected = number == 0 ? count - ended : b.expected;
  if (b.arrived == 0 || b.arrived < expected) return;
  for (int i = 0; i < count; i++)
    if (b.waited_for[i]) {
      threads[i].votes = {b.arrived, b.sum};
      threads[i].now = READY;
    }
  b = {};
}

emulation::votes processor::wait(int number, int expected, int vote, bool stay) {
  barrier &b = barriers[number];
  one_thread &self = current();
  if (b.arrived > 0 && b.expected != expected)
    fail("barrier %d has two numbers of threads", number);
  b.expected = expected;
  b.arrived++;
  b.sum += vote;
  b.waited_for[threadIdx.x] = stay;
  if (stay) self.now = WAITING;
  complete_barrier(number);
  if (self.now == WAITING) leave(WAITING);
  return self.votes;
}

void processor::run_block(const emulation::configuration &how, unsigned number,
                          const std::function<void()> &run_thread) {
  gridDim = {how.grid.x, how.grid.y, how.grid.z};
  blockDim = {how.block.x, how.block.y, how.block.z};
  blockIdx = {number % how.grid.x, number / how.grid.x % how.grid.y,
              number / how.grid.x / how.grid.y};
  count = static_cast<int>(how.block.x);
  thread = &run_thread;
  begun = ended = 0;
  for (int i = 0; i < count; i++) threads[i].now = NEW;
  for (int i = 0; i < (count + WARP - 1) / WARP; i++)
    warps[i] = {count >= (i + 1) * WARP ? ~0u : (1u << count % WARP) - 1, 0, {}};
  for (auto &b : barriers)
    if (b.arrived > 0) b = {};
  if (how.shared > 0) {
    const size_t bytes = (how.shared + 127) / 128 * 128;
    shared_memory.reset(static_cast<char *>(std::aligned_alloc(128, bytes)));
    memset(shared_memory.get(), FILLING, bytes);
  }

  for (int idle = 0; ended < count;) {
    bool polled = false;
    progress = false;
    for (int i = 0; i < count; i++) {
      if (threads[i].now == WAITING || threads[i].now == ENDED) continue;
      resume(scheduler, i);
      (threads[i].now == POLLING ? polled : progress) = true;
    }
    idle = progress ? 0 : idle + 1;
    if (!progress && !polled) fail("all threads wait for ever");
    if (!progress && alone && idle > MOST_POLLS) fail("a thread waits for a later thread block");
    if (!progress && !alone) std::this_thread::yield();
  }
  for (int i = 1; i < BARRIERS; i++)
    if (barriers[i].arrived > 0) fail("barrier %d was not completed", i);
}

/* --- the blocks of a cooperative launch --- */

/* System threads that each run a block. */
class team {
public:
  static team &all() {
    static team made;
    return made;
  }
  void run(const emulation::configuration &how, unsigned blocks,
           const std::function<void()> &thread) {
    const std::lock_guard<std::mutex> one_at_a_time(launching);
    std::unique_lock<std::mutex> lock(mutex);
    task = {&how, blocks, &thread};
    open = blocks;
    launch++;
    begin.notify_all();
    done.wait(lock, [&] { return open == 0; });
  }

private:
  struct {
    const emulation::configuration *how;
    unsigned blocks;
    const std::function<void()> *thread;
  } task = {};
  std::mutex launching, mutex;
  std::condition_variable begin, done;
  unsigned open = 0, launch = 0;
  bool over = false;
  std::vector<std::thread> members;

  team() {
    for (unsigned i = 0; i < PROCESSORS * emulation::RESIDENT_BLOCKS; i++)
      members.emplace_back([this, i] { serve(i); });
  }
  ~team() {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      over = true;
    }
    begin.notify_all();
    for (auto &member : members) member.join();
  }
  void serve(unsigned number) {
    here().alone = false;
    unsigned seen = 0;
    std::unique_lock<std::mutex> lock(mutex);
    for (;;) {
      begin.wait(lock, [&] { return over || launch != seen; });
      if (over) return;
      seen = launch;
      if (number >= task.blocks) continue;
      const auto mine = task;
      lock.unlock();
      here().run_block(*mine.how, number, *mine.thread);
      lock.lock();
      if (--open == 0) done.notify_one();
    }
  }
};

thread_local cudaError_t latest = cudaSuccess;

cudaError_t report(cudaError_t error) {
  if (error != cudaSuccess) latest = error;
  return error;
}

} // namespace

namespace emulation {

uint64_t exchange_in_warp(exchange kind, unsigned mask, uint64_t word, int source) {
  return here().exchange(kind, mask, word, source);
}

votes wait_in_block(int number, int threads, int vote, bool stay) {
  return here().wait(number, threads, vote, stay);
}

void poll() { here().poll(); }

void refuse_address(const void *at, size_t bytes) {
  fail("%p is no multiple of the %zu bytes of a word", at, bytes);
}

void copy_later(void *to, const void *from, size_t bytes, size_t zeros) {
  expect_word(to, bytes);
  expect_word(from, bytes);
  here().current().copies.push_back({to, from, bytes, zeros});
}

void wait_for_copies() {
  auto &copies = here().current().copies;
  for (const copy &one : copies) {
    memcpy(one.to, one.from, one.bytes - one.zeros);
    memset(static_cast<char *>(one.to) + one.bytes - one.zeros, 0, one.zeros);
  }
  copies.clear();
}

void *dynamic_shared_memory() { return here().shared(); }

cudaError_t run(const configuration &how, const std::function<void()> &thread) {
  const uint64_t blocks = static_cast<uint64_t>(how.grid.x) * how.grid.y * how.grid.z;
  const bool possible = how.block.x >= 1 && how.block.x <= MOST_THREADS && how.block.y == 1 &&
                        how.block.z == 1 && blocks >= 1 && blocks <= INT_MAX &&
                        how.grid.y <= 65535 && how.grid.z <= 65535 &&
                        how.shared <= emulation::SHARED_BYTES;
  if (!possible) return report(cudaErrorInvalidConfiguration);
  if (how.together && blocks > PROCESSORS * RESIDENT_BLOCKS)
    return report(cudaErrorCooperativeLaunchTooLarge);
  if (how.together && blocks > 1) {
    team::all().run(how, static_cast<unsigned>(blocks), thread);
    return cudaSuccess;
  }
  for (uint64_t i = 0; i < blocks; i++) here().run_block(how, static_cast<unsigned>(i), thread);
  return cudaSuccess;
}

} // namespace emulation

/* --- memory --- */

/* What a pool has given, the most since it was last asked to forget, and what it has of the device.
 * It keeps nothing in truth. */
struct emulated_pool {
  size_t used = 0, most = 0, held = 0;
};

namespace {

struct allocation {
  size_t bytes;
  cudaMemoryType type;
  emulated_pool *pool;
};

std::mutex guard;
std::map<uintptr_t, allocation> allocations;
size_t allocated = 0;

constexpr size_t MEMORY = size_t{8} << 30;

cudaError_t allocate(void **to, size_t bytes, cudaMemoryType type, emulated_pool *pool = nullptr) {
  const std::lock_guard<std::mutex> lock(guard);
  if (bytes > MEMORY - allocated) return report(cudaErrorMemoryAllocation);
  void *memory = nullptr;
  if (posix_memalign(&memory, 256, bytes > 0 ? bytes : 1)) return report(cudaErrorMemoryAllocation);
  memset(memory, FILLING, bytes);
  allocations[reinterpret_cast<uintptr_t>(memory)] = {bytes, type, pool};
  allocated += bytes;
  if (pool) {
    pool->used += bytes;
    pool->most = std::max(pool->most, pool->used);
    pool->held = std::max(pool->held, pool->used);
  }
  *to = memory;
  return cudaSuccess;
}

cudaError_t release(void *memory) {
  const std::lock_guard<std::mutex> lock(guard);
  if (!memory) return cudaSuccess;
  const auto found = allocations.find(reinterpret_cast<uintptr_t>(memory));
  if (found == allocations.end()) return report(cudaErrorInvalidValue);
  allocated -= found->second.bytes;
  if (found->second.pool) found->second.pool->used -= found->second.bytes;
  allocations.erase(found);
  std::free(memory);
  return cudaSuccess;
}

/* Returns the kind of the memory from `from` on. The program ends if fewer than `bytes` bytes of an
 * allocation are left there. */
cudaMemoryType type_of(const void *from, size_t bytes) {
  const std::lock_guard<std::mutex> lock(guard);
  const auto at = reinterpret_cast<uintptr_t>(from);
  auto next = allocations.upper_bound(at);
  if (next == allocations.begin()) return cudaMemoryTypeUnregistered;
  next--;
  const uintptr_t end = next->first + next->second.bytes;
  if (at >= end && !(bytes == 0 && at == next->first)) return cudaMemoryTypeUnregistered;
  if (bytes > end - at) fail("%zu bytes are beyond an allocation", bytes - (end - at));
  return next->second.type;
}

bool on_device(const void *from, size_t bytes) {
  const cudaMemoryType type = type_of(from, bytes);
  return type == cudaMemoryTypeDevice || type == cudaMemoryTypeManaged;
}

bool on_host(const void *from, size_t bytes) {
  return type_of(from, bytes) != cudaMemoryTypeDevice;
}

} // namespace

cudaError_t cudaMalloc(void **to, size_t bytes) {
  return allocate(to, bytes, cudaMemoryTypeDevice);
}
cudaError_t cudaMallocManaged(void **to, size_t bytes, unsigned) {
  return allocate(to, bytes, cudaMemoryTypeManaged);
}
cudaError_t cudaMallocAsync(void **to, size_t bytes, cudaStream_t) { return cudaMalloc(to, bytes); }
cudaError_t cudaMallocFromPoolAsync(void **to, size_t bytes, cudaMemPool_t pool, cudaStream_t) {
  return allocate(to, bytes, cudaMemoryTypeDevice, pool);
}
cudaError_t cudaHostAlloc(void **to, size_t bytes, unsigned) {
  return allocate(to, bytes, cudaMemoryTypeHost);
}
cudaError_t cudaFree(void *memory) { return release(memory); }
cudaError_t cudaFreeAsync(void *memory, cudaStream_t) { return release(memory); }
cudaError_t cudaFreeHost(void *memory) { return release(memory); }

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice,
             to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  if (kind != cudaMemcpyDefault && (!(from_device ? on_device : on_host)(from, bytes) ||
                                    !(to_device ? on_device : on_host)(to, bytes)))
    fail("a copy of %zu bytes of kind %d goes another way", bytes, kind);
  if (bytes > 0) memmove(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}
cudaError_t cudaMemset(void *to, int byte, size_t bytes) {
  if (!on_device(to, bytes)) fail("%zu bytes to be set are not of the device", bytes);
  if (bytes > 0) memset(to, byte, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *to, int byte, size_t bytes, cudaStream_t) {
  return cudaMemset(to, byte, bytes);
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *to, const void *memory) {
  to->type = type_of(memory, 0);
  return cudaSuccess;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *to, const cudaMemPoolProps *) {
  *to = new emulated_pool;
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, int attribute, void *) {
  const std::lock_guard<std::mutex> lock(guard);
  if (attribute == cudaMemPoolAttrUsedMemHigh) pool->most = pool->used;
  return cudaSuccess;
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, int attribute, void *value) {
  const std::lock_guard<std::mutex> lock(guard);
  *static_cast<uint64_t *>(value) = attribute == cudaMemPoolAttrUsedMemCurrent ? pool->used
                                    : attribute == cudaMemPoolAttrUsedMemHigh  ? pool->most
                                                                               : pool->held;
  return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) {
  const std::lock_guard<std::mutex> lock(guard);
  pool->held = pool->used;
  return cudaSuccess;
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  delete pool;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *to, int) {
  static emulated_pool pool;
  *to = &pool;
  return cudaSuccess;
}

/* --- the device, its streams and its clock --- */

const char *cudaGetErrorString(cudaError_t error) {
  switch (error) {
  case cudaSuccess: return "no error";
  case cudaErrorInvalidValue: return "invalid argument";
  case cudaErrorMemoryAllocation: return "out of memory";
  case cudaErrorInvalidConfiguration: return "invalid configuration argument";
  case cudaErrorNoDevice: return "no CUDA-capable device is detected";
  case cudaErrorInvalidDevice: return "invalid device ordinal";
  case cudaErrorNotReady: return "device not ready";
  case cudaErrorCooperativeLaunchTooLarge: return "too many blocks in cooperative launch";
  }
  return "unknown error";
}
cudaError_t cudaGetLastError() {
  const cudaError_t error = latest;
  latest = cudaSuccess;
  return error;
}
cudaError_t cudaGetDeviceCount(int *count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int *device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  return device == 0 ? cudaSuccess : report(cudaErrorInvalidDevice);
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *to, int device) {
  if (device != 0) return report(cudaErrorInvalidDevice);
  *to = {"an emulated GPU",      MEMORY, 7, 5, PROCESSORS, 0, 50 << 20, 228 * 1024,
         emulation::SHARED_BYTES};
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }

struct emulated_stream {};
cudaError_t cudaStreamCreate(cudaStream_t *to) {
  *to = new emulated_stream;
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *to, unsigned) { return cudaStreamCreate(to); }
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaLaunchHostFunc(cudaStream_t, void (*function)(void *), void *data) {
  function(data);
  return cudaSuccess;
}

struct emulated_event {
  std::chrono::steady_clock::time_point time;
};
cudaError_t cudaEventCreate(cudaEvent_t *to) {
  *to = new emulated_event;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  event->time = std::chrono::steady_clock::now();
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to) {
  *milliseconds = std::chrono::duration<float, std::milli>(to->time - from->time).count();
  return cudaSuccess;
}
