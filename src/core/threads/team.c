/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs are announced, claimed and counted in three atomic words. No thread waits for another to
 * begin or to leave a run.
 *
 *   call          the present run: its number · 2¹⁶ + log₂(parts of each thread) · 2¹³ + (threads −
 *                 1); written by the caller
 *   claims[t]     number of the latest run in which a part of thread t was claimed · 2¹⁶ + the
 *                 number of its claimed parts
 *   done          parts that threads other than the caller have finished in all runs
 *
 * A thread claims a part by increasing claims[t], whose value belongs to the present run or an
 * earlier one. A run ends when all of its parts are done, and thus claimed. Therefore a thread that
 * has not yet seen the present run cannot claim a part of an earlier one, and `work` and `job` do
 * not change while a thread does a part that it has claimed. Only such a thread may read them. */
#include "core/threads/team.h"

#include "core/threads/now.h"

#ifdef BISAI_HAVE_THREADS

#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

enum {
  /* the position of a run's number in a word */
  NUMBER_SHIFT = 16,
  PARTS_SHIFT = 13,
  /* in place of log₂(parts): no run, the workers end */
  END = 7,
  /* bytes of a cache line */
  LINE = 64,
  /* Times in nanoseconds: */
  /* a thread spins before it yields its processor */
  SPIN = 5000,
  /* bounds of the time for which a thread waits for a run before it sleeps: */
  MIN_PATIENCE = 5000,
  /* the upper bound is reached if runs follow each other soon */
  MAX_PATIENCE = 100000,
  /* the caller waits for the last parts before it sleeps */
  CALLER_PATIENCE = 50000
};

typedef struct worker {
  _Alignas(LINE) atomic_uint_least64_t claims;
  _Alignas(LINE) bsi_team *team;
  int index;
  int64_t patience;
  pthread_t thread;
  /* for sleeping: */
  pthread_mutex_t lock;
  pthread_cond_t wake;
  atomic_bool sleeps;
  _Alignas(LINE) unsigned char partial[BSI_PARTIAL_BYTES];
} worker;

struct bsi_team {
  _Alignas(LINE) atomic_uint_least64_t call;
  _Alignas(LINE) atomic_uint_least64_t done;
  _Alignas(LINE) atomic_int sleepers;
  atomic_bool caller_sleeps;
  /* The present run: */
  bsi_work *work;
  void *job;
  /* the floating-point environment, the same for all threads */
  fenv_t environment;
  /* Used by the caller only: */
  /* value of `done` after the present run */
  uint64_t expected;
  /* the number of threads asked for, of workers that run, and of workers that can run */
  int threads, started, max_workers;
  pid_t process;
  /* for the caller's sleep: */
  pthread_mutex_t lock;
  pthread_cond_t finished;
  /* workers[0] is the caller */
  worker workers[];
};

static int64_t nanoseconds(void) { return (int64_t)(1e9 * bsi_now()); }

static inline void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static int threads_of(uint64_t call) { return (int)(call & ((1 << PARTS_SHIFT) - 1)) + 1; }

static int parts_of(uint64_t call) { return 1 << (call >> PARTS_SHIFT & 7); }

/* Claims the next part of `owner` in this run. Returns -1 if none is left. */
static int claim(worker *owner, uint64_t call) {
  const uint64_t none = call >> NUMBER_SHIFT << NUMBER_SHIFT, all = none + (uint64_t)parts_of(call);
  uint64_t seen = atomic_load_explicit(&owner->claims, memory_order_relaxed);
  for (;;) {
    const uint64_t next = (seen < none ? none : seen) + 1;
    if (next > all) return -1;
    if (atomic_compare_exchange_weak(&owner->claims, &seen, next)) return (int)(next - none) - 1;
  }
}

/* Does the parts of `owner` that are left. Returns their number. */
static int claim_parts(worker *me, worker *owner, uint64_t call) {
  bsi_team *team = me->team;
  const int each = parts_of(call), count = each * threads_of(call);
  int taken = 0;
  for (int part; (part = claim(owner, call)) >= 0; taken++) {
    if (taken == 0 && me->index > 0) fesetenv(&team->environment);
    team->work(team->job, (bsi_part){owner->index * each + part, count, me->index});
  }
  return taken;
}

/* Does the parts of all other threads that are left. After that no part can be claimed. */
static int steal_parts(worker *me, uint64_t call) {
  const int threads = threads_of(call);
  int taken = 0;
  for (int step = 1; step < threads; step++)
    taken += claim_parts(me, &me->team->workers[(me->index + step) % threads], call);
  return taken;
}

/* --- workers --- */

static void wake(worker *sleeper) {
  if (!atomic_load(&sleeper->sleeps)) return;
  pthread_mutex_lock(&sleeper->lock);
  pthread_mutex_unlock(&sleeper->lock);
  pthread_cond_signal(&sleeper->wake);
}

/* Wakes two more threads, each of which wakes two others, so that many wake up soon. */
static void wake_others(const worker *me, uint64_t call) {
  bsi_team *team = me->team;
  const int threads = threads_of(call);
  if (atomic_load(&team->sleepers) == 0) return;
  for (int child = 2 * me->index + 1; child <= 2 * me->index + 2 && child < threads; child++)
    wake(&team->workers[child]);
}

static void count_done(bsi_team *team, int parts) {
  if (parts == 0) return;
  atomic_fetch_add(&team->done, (uint64_t)parts);
  if (!atomic_load(&team->caller_sleeps)) return;
  pthread_mutex_lock(&team->lock);
  pthread_mutex_unlock(&team->lock);
  pthread_cond_signal(&team->finished);
}

/* Sleeps until there is another run than the one seen last. */
static void sleep_after(worker *me, uint64_t seen) {
  pthread_mutex_lock(&me->lock);
  atomic_store(&me->sleeps, true);
  atomic_fetch_add(&me->team->sleepers, 1);
  while (atomic_load(&me->team->call) == seen) pthread_cond_wait(&me->wake, &me->lock);
  atomic_fetch_sub(&me->team->sleepers, 1);
  atomic_store(&me->sleeps, false);
  pthread_mutex_unlock(&me->lock);
}

enum { POLLS = 16 /* reads of a word between two reads of the clock */ };

static bool changes(const atomic_uint_least64_t *word, uint64_t from) {
  for (int look = 0; look < POLLS; look++) {
    if (atomic_load_explicit(word, memory_order_acquire) != from) return true;
    relax();
  }
  return false;
}

/* Waits for the run after the one seen last. Patience doubles if this takes less than MAX_PATIENCE,
 * also if the thread had to sleep, and is halved otherwise. */
static uint64_t next_call(worker *me, uint64_t seen) {
  bsi_team *team = me->team;
  const int64_t start = nanoseconds();
  int64_t waited = 0;
  bool slept = false;
  while (!slept && !changes(&team->call, seen)) {
    waited = nanoseconds() - start;
    if (waited > me->patience) {
      sleep_after(me, seen);
      waited = nanoseconds() - start;
      slept = true;
    } else if (waited > SPIN) {
      sched_yield();
    }
  }
  if (waited < MAX_PATIENCE)
    me->patience = me->patience * 2 < MAX_PATIENCE ? me->patience * 2 : MAX_PATIENCE;
  else
    me->patience = me->patience / 2 > MIN_PATIENCE ? me->patience / 2 : MIN_PATIENCE;
  return atomic_load(&team->call);
}

static bool is_end(uint64_t call) { return parts_of(call) == 1 << END; }

static void *serve(void *argument) {
  worker *me = argument;
  bsi_team *team = me->team;
  uint64_t call = atomic_load(&team->call);
  while (!is_end(call)) {
    wake_others(me, call);
    if (me->index < threads_of(call)) {
      count_done(team, claim_parts(me, me, call));
      if (!changes(&team->call, call)) count_done(team, steal_parts(me, call));
    }
    call = next_call(me, call);
  }
  wake_others(me, call);
  return NULL;
}

/* --- the caller --- */

static bool is_done(bsi_team *team) {
  for (int look = 0; look < POLLS; look++) {
    if (atomic_load_explicit(&team->done, memory_order_acquire) == team->expected) return true;
    relax();
  }
  return false;
}

static void await_others(bsi_team *team) {
  const int64_t start = nanoseconds();
  while (nanoseconds() - start < CALLER_PATIENCE)
    if (is_done(team)) return;
  pthread_mutex_lock(&team->lock);
  atomic_store(&team->caller_sleeps, true);
  while (atomic_load(&team->done) != team->expected)
    pthread_cond_wait(&team->finished, &team->lock);
  atomic_store(&team->caller_sleeps, false);
  pthread_mutex_unlock(&team->lock);
}

/* Announces a run and wakes the sleeping threads. */
static uint64_t announce(bsi_team *team, int threads, int parts) {
  const uint64_t number = (atomic_load(&team->call) >> NUMBER_SHIFT) + 1;
  const uint64_t call =
      number << NUMBER_SHIFT | (uint64_t)parts << PARTS_SHIFT | (uint64_t)(threads - 1);
  atomic_store(&team->call, call);
  wake_others(&team->workers[0], call);
  return call;
}

/* Resets the team to the state before its first worker. */
static bisai_status reset(bsi_team *team, int max_workers) {
  team->process = getpid();
  team->started = 0;
  team->max_workers = max_workers;
  team->expected = 0;
  atomic_init(&team->call, 0);
  atomic_init(&team->done, 0);
  atomic_init(&team->sleepers, 0);
  atomic_init(&team->caller_sleeps, false);
  int error = pthread_mutex_init(&team->lock, NULL) | pthread_cond_init(&team->finished, NULL);
  for (int i = 0; i <= max_workers; i++) {
    worker *w = &team->workers[i];
    w->team = team;
    w->index = i;
    w->patience = MAX_PATIENCE;
    atomic_init(&w->claims, 0);
    atomic_init(&w->sleeps, false);
    error |= pthread_mutex_init(&w->lock, NULL) | pthread_cond_init(&w->wake, NULL);
  }
  return error ? BISAI_OUT_OF_MEMORY : BISAI_OK;
}

/* Blocks signals to the process, which are for the threads of its program. Faults and the
 * profiler's signal concern the thread itself and stay unblocked. */
static void block_signals(sigset_t *before) {
  static const int kept[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGPROF};
  sigset_t blocked;
  sigfillset(&blocked);
  for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) sigdelset(&blocked, kept[i]);
  pthread_sigmask(SIG_BLOCK, &blocked, before);
}

/* Starts the missing workers of `threads` threads. Returns how many threads there are for a run. If
 * the system cannot start more threads, the run takes the existing ones. */
static int start(bsi_team *team, int threads) {
  if (team->process != getpid()) reset(team, team->max_workers);
  if (team->started + 1 < threads && team->started < team->max_workers) {
    sigset_t before;
    block_signals(&before);
    while (team->started + 1 < threads && team->started < team->max_workers) {
      worker *w = &team->workers[team->started + 1];
      if (pthread_create(&w->thread, NULL, serve, w) == 0)
        team->started++;
      else
        team->max_workers = team->started;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
  }
  return threads < team->started + 1 ? threads : team->started + 1;
}

void bsi_team_run(bsi_team *team, int threads, bsi_parts parts, bsi_work *work, void *job) {
  if (threads > 1) threads = start(team, threads);
  if (threads <= 1) {
    work(job, (bsi_part){0, 1, 0});
    return;
  }
  worker *me = &team->workers[0];
  team->work = work;
  team->job = job;
  fegetenv(&team->environment);
  const uint64_t call = announce(team, threads, (int)parts);
  team->expected += (uint64_t)(threads * parts_of(call) - claim_parts(me, me, call));
  if (is_done(team)) return;
  team->expected -= (uint64_t)steal_parts(me, call);
  await_others(team);
}

size_t bsi_team_bytes(int threads) { return sizeof(bsi_team) + (size_t)threads * sizeof(worker); }

bisai_status bsi_team_open(void *memory, int threads, bsi_team **team) {
  bsi_team *made = memory;
  made->threads = threads;
  const bisai_status status = reset(made, threads - 1);
  if (!status) *team = made;
  return status;
}

void bsi_team_close(bsi_team *team) {
  if (!team || team->process != getpid()) return;
  announce(team, team->started + 1, END);
  for (int i = 1; i <= team->started; i++) pthread_join(team->workers[i].thread, NULL);
  for (int i = 0; i < team->threads; i++) {
    pthread_cond_destroy(&team->workers[i].wake);
    pthread_mutex_destroy(&team->workers[i].lock);
  }
  pthread_cond_destroy(&team->finished);
  pthread_mutex_destroy(&team->lock);
}

void *bsi_team_partial(bsi_team *team, int thread) { return team->workers[thread].partial; }

#else /* a build without threads */

struct bsi_team {
  _Alignas(64) unsigned char partial[BSI_PARTIAL_BYTES];
};

size_t bsi_team_bytes(int threads) {
  (void)threads;
  return sizeof(bsi_team);
}

bisai_status bsi_team_open(void *memory, int threads, bsi_team **team) {
  (void)threads;
  *team = memory;
  return BISAI_OK;
}

void bsi_team_close(bsi_team *team) { (void)team; }

void bsi_team_run(bsi_team *team, int threads, bsi_parts parts, bsi_work *work, void *job) {
  (void)team, (void)threads, (void)parts;
  work(job, (bsi_part){0, 1, 0});
}

void *bsi_team_partial(bsi_team *team, int thread) {
  (void)thread;
  return team->partial;
}

#endif
