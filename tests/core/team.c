/* SPDX-License-Identifier: BSD-3-Clause */
/* The threads of a context: every part done once, by whoever comes; sleep where there is nothing to
 * do; fork, signals, rounding. */
#include <dirent.h>
#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support.h"

#include "core/context/context_impl.h"
#include "core/threads/parallel.h"

#if defined(__SANITIZE_THREAD__)
#define THREAD_SANITIZER true
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define THREAD_SANITIZER true
#endif
#endif
#ifndef THREAD_SANITIZER
#define THREAD_SANITIZER false
#endif

enum { MOST_PARTS = 16 * 64 };

static const bsi_parts kinds[] = {BSI_ONE_PART, BSI_SOME_PARTS, BSI_MANY_PARTS};

typedef struct tally {
  int threads;
  /* how often each part was done */
  atomic_int done[MOST_PARTS];
  /* threads that are within a part */
  atomic_bool at_work[64];
  /* parts as they were told; what must not be; parts that workers did */
  atomic_int count, wrong, helped;
} tally;

static void do_part(void *job, bsi_part part) {
  tally *t = job;
  if (part.index < 0 || part.index >= part.count || part.count > MOST_PARTS)
    atomic_fetch_add(&t->wrong, 1);
  if (part.thread < 0 || part.thread >= t->threads ||
      atomic_exchange(&t->at_work[part.thread], true))
    atomic_fetch_add(&t->wrong, 1);
  atomic_fetch_add(&t->done[part.index], 1);
  atomic_store(&t->count, part.count);
  if (part.thread > 0) atomic_fetch_add(&t->helped, 1);
  atomic_store(&t->at_work[part.thread], false);
}

static void expect_each_once(tally *t) {
  assert_int_equal(atomic_load(&t->wrong), 0);
  for (int i = 0; i < MOST_PARTS; i++)
    assert_int_equal(atomic_load(&t->done[i]), i < atomic_load(&t->count));
}

static void each_part_is_done_once_on_any_number_of_threads(void **state) {
  (void)state;
  for (int most = 1; most <= 9; most += 2) {
    bisai_context *context = test_host_context(most);
    for (int run = 0; run < 600; run++) {
      tally t = {.threads = 1 + run % most};
      bsi_run(context, t.threads, kinds[run % 3], do_part, &t);
      expect_each_once(&t);
      assert_in_range(atomic_load(&t.count), 1, t.threads << kinds[run % 3]);
    }
    bisai_context_destroy(&context);
  }
}

typedef struct smoothing {
  int64_t n;
  const double *from;
  double *to;
} smoothing;

static void smooth_part(void *job, bsi_part part) {
  const smoothing *s = job;
  const bsi_range range = bsi_range_of(s->n, part);
  for (int64_t i = range.begin; i < range.end; i++)
    s->to[i] = s->from[i > 0 ? i - 1 : s->n - 1] / 3 + s->from[i] / 3 +
               s->from[i + 1 < s->n ? i + 1 : 0] / 3;
}

/* Neighbours are other parts' as a rule, so that a run that did not wait for all of the one before
 * would show. */
static void a_run_sees_what_the_one_before_wrote(void **state) {
  (void)state;
  enum { N = 257, RUNS = 3000 };
  double *expected = NULL;
  for (int threads = 1; threads <= 8; threads++) {
    bisai_context *context = test_host_context(threads);
    double *x = test_random_vector(2 * N, 1);
    for (int run = 0; run < RUNS; run++)
      bsi_run(context, threads, kinds[run % 3], smooth_part,
              &(smoothing){N, x + (run % 2 ? N : 0), x + (run % 2 ? 0 : N)});
    if (!expected)
      expected = x;
    else
      assert_memory_equal(expected, x, 2 * N * sizeof *x), free(x);
    bisai_context_destroy(&context);
  }
  free(expected);
}

static void pause_for(long milliseconds) {
  const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  nanosleep(&time, NULL);
}

typedef struct hold_up {
  atomic_int done;
  atomic_bool held, gave_up;
} hold_up;

static void wait_for(hold_up *h, atomic_int *what, int value) {
  for (int i = 0; i < 20000 && atomic_load(what) < value; i++) pause_for(1);
  if (atomic_load(what) < value) atomic_store(&h->gave_up, true);
}

/* The worker's first part lasts until all others are done, its own among them; the caller waits
 * until it has begun. */
static void hold_up_part(void *job, bsi_part part) {
  hold_up *h = job;
  if (part.thread > 0 && !atomic_exchange(&h->held, true))
    wait_for(h, &h->done, part.count - 1);
  else
    for (int i = 0; i < 20000 && !atomic_load(&h->held); i++) pause_for(1);
  atomic_fetch_add(&h->done, 1);
}

static void what_a_thread_has_not_begun_is_done_by_others(void **state) {
  (void)state;
  bisai_context *context = test_host_context(2);
  if (bisai_context_threads(context) == 2) {
    hold_up h = {.done = 0};
    bsi_run(context, 2, BSI_SOME_PARTS, hold_up_part, &h);
    assert_true(atomic_load(&h.held));
    assert_false(atomic_load(&h.gave_up));
    assert_int_equal(atomic_load(&h.done), 8);
  }
  bisai_context_destroy(&context);
}

static double processor_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Spinning, seven threads would need 300 ms on a single processor alone. */
static void threads_sleep_between_runs(void **state) {
  (void)state;
  bisai_context *context = test_host_context(8);
  tally t = {.threads = 8};
  bsi_run(context, 8, BSI_SOME_PARTS, do_part, &t);
  pause_for(50);
  const double start = processor_seconds();
  pause_for(300);
  assert_true(processor_seconds() - start < 0.02);
  bisai_context_destroy(&context);
}

static void last_slowly(void *job, bsi_part part) {
  (void)job;
  if (part.index + 1 == part.count) pause_for(300);
}

static void threads_sleep_while_others_work(void **state) {
  (void)state;
  bisai_context *context = test_host_context(8);
  const double start = processor_seconds();
  bsi_run(context, 8, BSI_ONE_PART, last_slowly, NULL);
  assert_true(processor_seconds() - start < (TEST_SANITIZED ? 0.2 : 0.05));
  bisai_context_destroy(&context);
}

static int tasks_of_process(void) {
  DIR *folder = opendir("/proc/self/task");
  if (!folder) return -1;
  int count = 0;
  for (struct dirent *entry; (entry = readdir(folder));) count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}

static void threads_start_when_they_are_wanted_and_end_with_the_context(void **state) {
  (void)state;
  const int before = tasks_of_process();
  if (before < 0 || THREAD_SANITIZER) skip(); /* which has a thread of its own */
  bisai_context *context = test_host_context(6);
  assert_int_equal(tasks_of_process(), before);
  tally t = {.threads = 3};
  bsi_run(context, 3, BSI_ONE_PART, do_part, &t);
  const int some = bisai_context_threads(context) > 1 ? 2 : 0;
  assert_int_equal(tasks_of_process(), before + some);
  bisai_context_destroy(&context);
  for (int i = 0; i < 1000 && tasks_of_process() > before; i++)
    pause_for(1); /* a joined thread may be seen a moment longer */
  assert_int_equal(tasks_of_process(), before);
}

static void runs_allocate_nothing_through_the_hooks(void **state) {
  (void)state;
  test_allocator allocator;
  test_allocator_reset(&allocator, 0);
  bisai_context *context = test_context_on(&allocator, 4);
  const long long calls = atomic_load(&allocator.calls);
  tally t = {.threads = 4};
  bsi_run(context, 4, BSI_MANY_PARTS, do_part, &t);
  assert_true(atomic_load(&allocator.calls) == calls);
  bisai_context_destroy(&context);
  assert_int_equal(atomic_load(&allocator.live_blocks), 0);
}

static int run_in_child(bisai_context *context) {
  alarm(60);
  for (int run = 0; run < 50; run++) {
    tally t = {.threads = 4};
    bsi_run(context, 4, kinds[run % 3], do_part, &t);
    if (atomic_load(&t.wrong)) return 1;
    for (int i = 0; i < atomic_load(&t.count); i++)
      if (atomic_load(&t.done[i]) != 1) return 2;
    pause_for(1); /* so that the child's own threads get to their parts, and to sleep */
  }
  bisai_context_destroy(&context);
  return 0;
}

static void a_child_of_fork_has_threads_of_its_own(void **state) {
  (void)state;
  if (THREAD_SANITIZER) skip(); /* does not let such a child start threads */
  bisai_context *context = test_host_context(4);
  for (int asleep = 0; asleep < 2; asleep++) {
    tally t = {.threads = 4};
    bsi_run(context, 4, BSI_SOME_PARTS, do_part, &t);
    if (asleep) pause_for(20);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(run_in_child(context));
    tally beside = {.threads = 4};
    bsi_run(context, 4, BSI_SOME_PARTS, do_part, &beside);
    expect_each_once(&beside);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
  }
  bisai_context_destroy(&context);
}

static void look_at_mask(void *job, bsi_part part) {
  tally *t = job;
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  const bool blocks = sigismember(&mask, SIGINT) && sigismember(&mask, SIGCHLD) &&
                      sigismember(&mask, SIGALRM),
             faults = !sigismember(&mask, SIGSEGV) && !sigismember(&mask, SIGFPE);
  if (blocks != (part.thread > 0) || !faults) atomic_fetch_add(&t->wrong, 1);
  if (part.thread > 0) atomic_fetch_add(&t->helped, 1);
  pause_for(5);
}

static void signals_are_left_to_the_threads_of_the_program(void **state) {
  (void)state;
  bisai_context *context = test_host_context(3);
  tally t = {.threads = 3};
  bsi_run(context, 3, BSI_SOME_PARTS, look_at_mask, &t);
  assert_int_equal(atomic_load(&t.wrong), 0);
  assert_true(atomic_load(&t.helped) > 0 || bisai_context_threads(context) == 1);
  bisai_context_destroy(&context);
}

static void look_at_rounding(void *job, bsi_part part) {
  tally *t = job;
  if (fegetround() != FE_UPWARD) atomic_fetch_add(&t->wrong, 1);
  if (part.thread > 0) atomic_fetch_add(&t->helped, 1);
  pause_for(5);
}

static void all_threads_round_as_the_caller_does(void **state) {
  (void)state;
  bisai_context *context = test_host_context(3);
  tally before = {.threads = 3}, t = {.threads = 3};
  bsi_run(context, 3, BSI_SOME_PARTS, do_part, &before);
  fesetround(FE_UPWARD);
  bsi_run(context, 3, BSI_SOME_PARTS, look_at_rounding, &t);
  fesetround(FE_TONEAREST);
  assert_int_equal(atomic_load(&t.wrong), 0);
  assert_true(atomic_load(&t.helped) > 0 || bisai_context_threads(context) == 1);
  bisai_context_destroy(&context);
}

/* Without address space for stacks there are no threads. */
static void where_no_thread_can_be_started_the_others_do_its_parts(void **state) {
  (void)state;
  if (TEST_SANITIZED) skip(); /* reserves address space as it likes */
  unsigned long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file) skip();
  assert_int_equal(fscanf(file, "%lu", &pages), 1);
  fclose(file);
  bisai_context *context = test_host_context(64);
  struct rlimit before, little;
  assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
  little = before;
  little.rlim_cur = (pages + 256) * (rlim_t)sysconf(_SC_PAGESIZE);
  assert_int_equal(setrlimit(RLIMIT_AS, &little), 0);
  static tally t, again;
  t.threads = again.threads = 64;
  bsi_run(context, 64, BSI_MANY_PARTS, do_part, &t);
  assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
  bsi_run(context, 64, BSI_MANY_PARTS, do_part, &again);
  expect_each_once(&t);
  expect_each_once(&again);
  assert_true(atomic_load(&t.count) < 64 * 16);
  bisai_context_destroy(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_part_is_done_once_on_any_number_of_threads),
      cmocka_unit_test(a_run_sees_what_the_one_before_wrote),
      cmocka_unit_test(what_a_thread_has_not_begun_is_done_by_others),
      cmocka_unit_test(threads_sleep_between_runs),
      cmocka_unit_test(threads_sleep_while_others_work),
      cmocka_unit_test(threads_start_when_they_are_wanted_and_end_with_the_context),
      cmocka_unit_test(runs_allocate_nothing_through_the_hooks),
      cmocka_unit_test(a_child_of_fork_has_threads_of_its_own),
      cmocka_unit_test(signals_are_left_to_the_threads_of_the_program),
      cmocka_unit_test(all_threads_round_as_the_caller_does),
      cmocka_unit_test(where_no_thread_can_be_started_the_others_do_its_parts),
  };
  return cmocka_run_group_tests_name("team", tests, NULL, NULL);
}
