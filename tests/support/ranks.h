/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks as threads of one process: a transport through shared memory, and the rows of a matrix for
 * each of them. */
#ifndef BISAI_TEST_RANKS_H
#define BISAI_TEST_RANKS_H

#include <bisai/ranks.h>

#include "support.h"

enum { TEST_MOST_RANKS = 16 };

typedef struct test_ranks test_ranks;

/* What a rank has while it runs. Asserting in it would leave the other ranks waiting: it returns
 * statuses instead. */
typedef struct test_rank {
  test_ranks *all;
  int number;
  /* the caller's */
  void *user;
  bisai_context *context;
  bisai_transport transport;
  /* the own rows with ghosts, and the numbers of these */
  bisai_ranks_rows rows;
  bisai_bcsr *matrix;
  int64_t *ghosts;
  /* the result of the rank, and its last message */
  bisai_status status;
  char message[256];
  /* it has not released all that it allocated */
  bool leaks;
  /* an exchange in two parts is under way, and how many of them there were */
  bool under_way;
  long long overlapped;
} test_rank;

/* How a matrix is shared out. Rank k has the block rows begins[k] … begins[k + 1] − 1. */
typedef struct test_sharing {
  int ranks;
  int32_t begins[TEST_MOST_RANKS + 1];
  bool symmetric;
} test_sharing;

/* Returns equal shares of n rows. */
test_sharing test_share(int ranks, int32_t n, bool symmetric);
/* The same for uneven shares: ranks have no rows, or a few. */
enum { TEST_UNEVEN_SHARES = 4 };
test_sharing test_share_unevenly(int which, int32_t n);

/* What the ranks do. */
typedef struct test_job {
  bisai_status (*run)(test_rank *);
  /* test_rank::user */
  void *user;
  /* the rank whose allocation `fail_at` fails; 0: none does */
  int failing;
  long long fail_at;
  /* the transport has the functions that enqueue */
  bool enqueues;
  /* the transport exchanges in two parts */
  bool overlaps;
  /* the transport of all ranks fails from this call of rank 0 on; 0: never */
  long long transport_fails_at;
} test_job;

/* Calls run(rank) in a thread for each rank, and returns when all have returned. The contexts are
 * those of the backend under test. */
void test_run_ranks(const test_bcsr *matrix, const test_sharing *sharing, const test_job *job,
                    test_rank ranks[TEST_MOST_RANKS]);

/* Makes the rows of a rank from a matrix of the same pattern with other values. */
bisai_status test_rank_rows(const test_rank *rank, const test_bcsr *matrix, bisai_bcsr **rows);

/* Returns the first block row of a rank. */
int32_t test_rank_begin(const test_rank *rank);

#endif
