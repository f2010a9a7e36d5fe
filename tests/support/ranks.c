/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks.h"

#include <pthread.h>

/* What a rank has for another one: a pointer to its message until that one has taken it. */
typedef struct box {
  const void *data;
  size_t bytes;
  bool full;
} box;

struct test_ranks {
  const test_bcsr *matrix;
  test_sharing sharing;
  const test_job *job;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  box boxes[TEST_MOST_RANKS][TEST_MOST_RANKS];
  /* of the reduction under way: how many have come, how many have yet to go, and what each brings.
   * Nobody comes before all have gone */
  int came, leaving;
  const double *brought[TEST_MOST_RANKS];
  /* calls of rank 0, and whether the transport has failed for all */
  long long calls;
  bool failed;
};

test_sharing test_share(int ranks, int32_t n, bool symmetric) {
  test_sharing s = {.ranks = ranks, .symmetric = symmetric};
  for (int k = 0; k <= ranks; k++) s.begins[k] = (int32_t)((int64_t)n * k / ranks);
  return s;
}

test_sharing test_share_unevenly(int which, int32_t n) {
  const test_sharing shares[TEST_UNEVEN_SHARES] = {{3, {0, 0, n / 3, n}, false},
                                                   {3, {0, n / 2, n / 2, n}, false},
                                                   {4, {0, n / 2, n, n, n}, false},
                                                   {4, {0, 1, 3, n - 1, n}, false}};
  return shares[which];
}

int32_t test_rank_begin(const test_rank *rank) { return rank->all->sharing.begins[rank->number]; }

/* --- the transport --- */

/* Counts a call; the lock is held. Returns true if the transport has failed. */
static bool has_failed(test_rank *rank) {
  test_ranks *all = rank->all;
  if (rank->number == 0 && ++all->calls == all->job->transport_fails_at) {
    all->failed = true;
    pthread_cond_broadcast(&all->changed);
  }
  return all->failed;
}

/* Offers what is sent. */
static bisai_status begin_exchange(void *user, int count, const bisai_message *messages) {
  test_rank *rank = user;
  test_ranks *all = rank->all;
  pthread_mutex_lock(&all->lock);
  const bool failed = has_failed(rank) || rank->under_way;
  rank->under_way = true;
  for (int k = 0; k < count && !failed; k++)
    all->boxes[rank->number][messages[k].rank] =
        (box){messages[k].send, messages[k].send_bytes, true};
  all->failed = all->failed || failed;
  pthread_cond_broadcast(&all->changed);
  pthread_mutex_unlock(&all->lock);
  return failed ? BISAI_EXTERNAL_ERROR : BISAI_OK;
}

/* Takes what comes, and waits until the others have taken what was offered. */
static bisai_status end_exchange(void *user, int count, const bisai_message *messages) {
  test_rank *rank = user;
  test_ranks *all = rank->all;
  const int me = rank->number;
  pthread_mutex_lock(&all->lock);
  bool failed = has_failed(rank) || !rank->under_way;
  rank->under_way = false;
  rank->overlapped++;
  for (int k = 0; k < count && !failed; k++) {
    box *from = &all->boxes[messages[k].rank][me];
    while (!from->full && !all->failed) pthread_cond_wait(&all->changed, &all->lock);
    failed = all->failed || !from->full || from->bytes != messages[k].receive_bytes;
    if (!failed && from->bytes > 0) memcpy(messages[k].receive, from->data, from->bytes);
    from->full = false;
    pthread_cond_broadcast(&all->changed);
  }
  for (int k = 0; k < count && !failed; k++)
    while (all->boxes[me][messages[k].rank].full && !all->failed)
      pthread_cond_wait(&all->changed, &all->lock);
  failed = failed || all->failed;
  all->failed = failed;
  pthread_cond_broadcast(&all->changed);
  pthread_mutex_unlock(&all->lock);
  return failed ? BISAI_EXTERNAL_ERROR : BISAI_OK;
}

static bisai_status exchange(void *user, int count, const bisai_message *messages) {
  test_rank *rank = user;
  bisai_status status = begin_exchange(user, count, messages);
  if (!status) status = end_exchange(user, count, messages);
  rank->overlapped--;
  return status;
}

/* The values of rank 0 come first in all sums. */
static double reduce_value(const test_ranks *all, bisai_reduction how, int v) {
  double value = all->brought[0][v];
  for (int k = 1; k < all->sharing.ranks; k++) {
    const double other = all->brought[k][v];
    if (how == BISAI_REDUCE_SUM)
      value += other;
    else if (!(value >= other))
      value = other;
  }
  return value;
}

static bisai_status reduce(void *user, bisai_reduction how, int count, double *values) {
  test_rank *rank = user;
  test_ranks *all = rank->all;
  const int ranks = all->sharing.ranks;
  double *own = malloc(((size_t)count + 1) * sizeof *own);
  memcpy(own, values, (size_t)count * sizeof *own);
  pthread_mutex_lock(&all->lock);
  bool failed = has_failed(rank) || rank->under_way;
  all->failed = all->failed || failed;
  while (all->leaving > 0 && !all->failed) pthread_cond_wait(&all->changed, &all->lock);
  all->brought[rank->number] = own;
  if (++all->came == ranks) all->leaving = ranks;
  pthread_cond_broadcast(&all->changed);
  while (all->leaving == 0 && !all->failed) pthread_cond_wait(&all->changed, &all->lock);
  failed = failed || all->failed;
  for (int v = 0; v < count && !failed; v++) values[v] = reduce_value(all, how, v);
  if (!failed && --all->leaving == 0) all->came = 0;
  pthread_cond_broadcast(&all->changed);
  while (all->leaving > 0 && !all->failed) pthread_cond_wait(&all->changed, &all->lock);
  pthread_mutex_unlock(&all->lock);
  free(own);
  return failed ? BISAI_EXTERNAL_ERROR : BISAI_OK;
}

/* The host reaches the memory of the device, when that has done what came before. */
static bisai_status enqueue_exchange(void *user, int count, const bisai_message *messages) {
  test_rank *rank = user;
  const bisai_status status = bisai_context_synchronize(rank->context);
  return status ? status : exchange(user, count, messages);
}

static bisai_status enqueue_begin(void *user, int count, const bisai_message *messages) {
  test_rank *rank = user;
  const bisai_status status = bisai_context_synchronize(rank->context);
  return status ? status : begin_exchange(user, count, messages);
}

static bisai_status enqueue_sum(void *user, int count, double *values) {
  test_rank *rank = user;
  const bisai_status status = bisai_context_synchronize(rank->context);
  return status ? status : reduce(user, BISAI_REDUCE_SUM, count, values);
}

/* --- rows --- */

/* Lists the columns of other ranks in the own rows, ascending. */
static int32_t list_ghosts(const test_bcsr *a, int32_t begin, int32_t end, int32_t *place,
                           int64_t *ghosts) {
  int32_t count = 0;
  for (int32_t j = 0; j < a->block_cols; j++) place[j] = -1;
  for (int32_t p = a->row_ptr[begin]; p < a->row_ptr[end]; p++)
    if (a->col_idx[p] < begin || a->col_idx[p] >= end) place[a->col_idx[p]] = 0;
  for (int32_t j = 0; j < a->block_cols; j++) {
    if (place[j] == 0) {
      place[j] = end - begin + count;
      ghosts[count++] = j;
    } else if (j >= begin && j < end) {
      place[j] = j - begin;
    }
  }
  return count;
}

bisai_status test_rank_rows(const test_rank *rank, const test_bcsr *a, bisai_bcsr **rows) {
  const test_sharing *s = &rank->all->sharing;
  const int32_t begin = s->begins[rank->number], end = s->begins[rank->number + 1];
  const size_t n = (size_t)(end - begin), blocks = (size_t)(a->row_ptr[end] - a->row_ptr[begin]);
  int32_t *place = malloc((size_t)a->block_cols * sizeof *place),
          *row_ptr = malloc((n + 1) * sizeof *row_ptr),
          *col_idx = malloc((blocks + 1) * sizeof *col_idx);
  bisai_bcsr_desc d = bisai_bcsr_desc_default();
  d.block_rows = end - begin;
  d.block_cols = d.block_rows + list_ghosts(a, begin, end, place, rank->ghosts);
  d.block_size = a->block_size;
  for (size_t i = 0; i <= n; i++) row_ptr[i] = a->row_ptr[(size_t)begin + i] - a->row_ptr[begin];
  for (size_t p = 0; p < blocks; p++) col_idx[p] = place[a->col_idx[(size_t)a->row_ptr[begin] + p]];
  d.row_ptr = row_ptr;
  d.col_idx = col_idx;
  d.values = a->values + (size_t)a->row_ptr[begin] * (size_t)(a->block_size * a->block_size);
  const bisai_status status = bisai_bcsr_create(rank->context, &d, rows);
  free(place), free(row_ptr), free(col_idx);
  return status;
}

/* --- ranks --- */

static void *run(void *user) {
  test_rank *rank = user;
  const test_job *job = rank->all->job;
  test_allocator allocator;
  test_allocator_reset(&allocator, 0);
  rank->context = test_context_on(&allocator, 1);
  rank->ghosts = malloc((size_t)(rank->all->matrix->block_cols + 1) * sizeof *rank->ghosts);
  rank->status = test_rank_rows(rank, rank->all->matrix, &rank->matrix);
  rank->rows = (bisai_ranks_rows){rank->matrix, rank->ghosts, rank->all->sharing.symmetric};
  if (job->fail_at > 0 && rank->number == job->failing)
    allocator.fail_at = allocator.calls + job->fail_at;
  const long long before = allocator.live_blocks;
  if (!rank->status) rank->status = job->run(rank);
  rank->leaks = allocator.live_blocks != before;
  snprintf(rank->message, sizeof rank->message, "%s", bisai_context_error(rank->context));
  bisai_bcsr_destroy(&rank->matrix);
  bisai_context_destroy(&rank->context);
  free(rank->ghosts);
  return NULL;
}

void test_run_ranks(const test_bcsr *matrix, const test_sharing *sharing, const test_job *job,
                    test_rank ranks[TEST_MOST_RANKS]) {
  test_ranks all = {.matrix = matrix, .sharing = *sharing, .job = job};
  pthread_t threads[TEST_MOST_RANKS];
  test_on_device(); /* asks before the threads do */
  pthread_mutex_init(&all.lock, NULL);
  pthread_cond_init(&all.changed, NULL);
  for (int k = 0; k < sharing->ranks; k++) {
    ranks[k] = (test_rank){.all = &all, .number = k, .user = job->user};
    ranks[k].transport = (bisai_transport){.ranks = sharing->ranks,
                                           .rank = k,
                                           .user = &ranks[k],
                                           .exchange = exchange,
                                           .reduce = reduce};
    if (job->enqueues) {
      ranks[k].transport.enqueue_exchange = enqueue_exchange;
      ranks[k].transport.enqueue_sum = enqueue_sum;
    }
    if (job->overlaps) {
      ranks[k].transport.begin_exchange = job->enqueues ? enqueue_begin : begin_exchange;
      ranks[k].transport.end_exchange = end_exchange;
    }
    assert_int_equal(pthread_create(&threads[k], NULL, run, &ranks[k]), 0);
  }
  for (int k = 0; k < sharing->ranks; k++) pthread_join(threads[k], NULL);
  pthread_cond_destroy(&all.changed);
  pthread_mutex_destroy(&all.lock);
}
