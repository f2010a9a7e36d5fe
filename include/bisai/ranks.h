/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ranks.h
 *  One hierarchy of multigrid over several processes, the ranks. Each rank has some block rows of
 *  the matrix A, and works on them with the backend of its context. bisai makes the levels and does
 *  the cycles; the caller moves data between ranks by a small table of functions,
 *  bisai_transport, which MPI, NCCL, threads or another library may fill. bisai links none of them.
 *
 *  A rank has n own block rows and g ghosts, the rows of other ranks in whose columns its own rows
 *  have blocks. Aggregates never cross ranks; P and R do. Matrices of few rows are gathered on rank
 *  0, where the levels go on (bisai/precond_multigrid.h).
 *
 *  All ranks call the functions that say so in the same order. A failure of one becomes that of
 *  all, with its message. The bits of results are the same for the same number of ranks if those of
 *  `reduce` are. */
#ifndef BISAI_RANKS_H
#define BISAI_RANKS_H

#include <bisai/precond.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What two ranks send each other in one exchange. Both list the other. Arrays are in host memory,
 *  unless a function says otherwise. */
typedef struct bisai_message {
  /** the other rank */
  int rank;
  /** what goes there, and its bytes; they may be 0 */
  const void *send;
  size_t send_bytes;
  /** what comes from there, and its bytes */
  void *receive;
  size_t receive_bytes;
} bisai_message;

/** How values of all ranks are reduced. */
typedef enum bisai_reduction { BISAI_REDUCE_SUM = 0, BISAI_REDUCE_MAX = 1 } bisai_reduction;

/** How ranks reach each other. A function that fails returns a status, and fails on all ranks: no
 *  rank waits for another one for ever. */
typedef struct bisai_transport {
  /** the number of ranks, and which one this is, from 0 */
  int ranks, rank;
  /** passed to the functions */
  void *user;
  /** Exchanges messages, and returns when they have come. Two ranks exchange at most one message at
   *  a time. A rank without messages does not call it. */
  bisai_status (*exchange)(void *user, int count, const bisai_message *messages);
  /** values ← their sums or largest values over all ranks, the same bits on all of them. All ranks
   *  call it */
  bisai_status (*reduce)(void *user, bisai_reduction how, int count, double *values);
  /** NULL, or `exchange` for arrays in the memory of the backend: it only enqueues the messages on
   *  the stream of the context, as NCCL does. The host then waits for no vector of a cycle */
  bisai_status (*enqueue_exchange)(void *user, int count, const bisai_message *messages);
  /** NULL, or the sums over all ranks of values in the memory of the backend, enqueued in the same
   *  way: bisai_ranks_sum() */
  bisai_status (*enqueue_sum)(void *user, int count, double *values);
  /** NULL, or `exchange` in two parts, for the ghosts of vectors: begin_exchange starts it, and
   *  end_exchange gets the same messages and returns when they have come. Between the calls this
   *  rank computes, and calls no other function of the table; the arrays live on until
   *  end_exchange. Another rank may exchange the same messages in one part. If there is an
   *  enqueue_exchange, the arrays are in the memory of the backend, begin_exchange reads them after
   *  what the stream of the context has been given, without keeping that stream from what comes
   *  next, and after end_exchange the stream goes on when the messages have come */
  bisai_status (*begin_exchange)(void *user, int count, const bisai_message *messages);
  bisai_status (*end_exchange)(void *user, int count, const bisai_message *messages);
} bisai_transport;

/** The rows of a rank. */
typedef struct bisai_ranks_rows {
  /** n block rows and n + g block columns in fp64, with their diagonal blocks: first the own rows
   *  in their order, then the ghosts. n may be 0. Read until the object is destroyed, or until an
   *  update with another one has succeeded */
  const bisai_bcsr *matrix;
  /** g entries: the number of each ghost among the block rows of all ranks, which are numbered rank
   *  by rank. Read during creation */
  const int64_t *ghosts;
  /** A is symmetric, up to rounding: R is Pᵀ. All ranks say the same */
  bool symmetric;
} bisai_ranks_rows;

/** How a hierarchy is made; start from bisai_ranks_options_default(). All ranks give the same,
 *  except for near-null-space vectors, of which each gives its own rows. */
typedef struct bisai_ranks_options {
  /** set by bisai_ranks_options_default() */
  size_t struct_size;
  /** the options of multigrid. The smoothers are JACOBI and CHEBYSHEV. Each visit of a level by a
   *  cycle K adds up values over all ranks twice. `nodes` SCALAR is refused for blocks of several
   *  values, and AUTO is BLOCK. `update` says which values are kept, and not which structures */
  bisai_multigrid_options multigrid;
  /** level 0: singular diagonal blocks are shifted by this part of their row; default 0: they are
   *  refused */
  double shift_amount;
  /** a matrix of at most that many scalar rows, over all ranks, is gathered; -1 (default): 10000 on
   *  the host, and 50000 on a device */
  int64_t gather;
  /** A product does its rows without ghosts while these come, if the rows have at least that many
   *  bytes on a rank and the transport has begin_exchange and end_exchange; -1 (default): 0 on the
   *  host, and 4,000,000 on a device, where it costs another launch, but only for ghosts of at
   *  least 200,000 bytes if the transport has enqueue_exchange. It changes no bit */
  int64_t overlap;
  /** Only bisai_ranks_multiply() and bisai_ranks_sum() are wanted: no levels are made, the options
   *  of multigrid are not read, and bisai_ranks_apply() is refused */
  bool products_only;
} bisai_ranks_options;

/** Returns the default options. */
BISAI_API bisai_ranks_options bisai_ranks_options_default(void);

/** A hierarchy over several ranks. */
typedef struct bisai_ranks bisai_ranks;

/** Makes the levels. All ranks call it.
 *  @param transport  copied; what it points to must live as long as the object
 *  @param options    NULL: the defaults
 *  @param ranks      out; unchanged on failure; free with bisai_ranks_destroy()
 *  @retval BISAI_MISSING_DIAGONAL, BISAI_SINGULAR_BLOCK, BISAI_NOT_FINITE  of A or a coarser matrix
 *  @retval BISAI_UNSUPPORTED  an option, or values that are not in fp64
 *  @retval BISAI_CALLBACK_FAILED  the transport failed
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_INDEX_OVERFLOW, BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_ranks_create(bisai_context *context, const bisai_ranks_rows *rows,
                                          const bisai_transport *transport,
                                          const bisai_ranks_options *options, bisai_ranks **ranks);

/** Takes new values of the pattern of creation. All ranks call it. Returns the errors of
 *  bisai_ranks_create(); the object is of no use then but to be destroyed or updated. With the
 *  default `update` of multigrid the first update allocates, and later ones do not.
 *  @param matrix  as in bisai_ranks_rows; a symmetric A stays symmetric, unless `unweighted` is set
 *  @retval BISAI_UNSUPPORTED  `update` was NONE */
BISAI_API bisai_status bisai_ranks_update(bisai_ranks *ranks, const bisai_bcsr *matrix);

/** z ← M⁻¹ v: one cycle, for the own n·bs values. All ranks call it. The arrays are in host memory
 *  or in that of the backend, and differ.
 *  @retval BISAI_CALLBACK_FAILED  the transport failed
 *  @retval BISAI_UNSUPPORTED  bisai_ranks_options::products_only */
BISAI_API bisai_status bisai_ranks_apply(bisai_ranks *ranks, const double *v, double *z);

/** z ← M⁻ᵀ v, as bisai_ranks_apply(). M is its own transpose if A is symmetric, `pre` and `post`
 *  are the same, and `unweighted` is not set. Otherwise the first call after creation and after
 *  each update makes the levels of Aᵀ from those of A, which takes about their memory again, and a
 *  failure of one rank there is one of all.
 *  @retval BISAI_UNSUPPORTED  the cycle is K, which is not linear, or products_only */
BISAI_API bisai_status bisai_ranks_apply_transpose(bisai_ranks *ranks, const double *v, double *z);

/** y ← A x for the own n·bs values. All ranks call it. Arrays are as for bisai_ranks_apply(). */
BISAI_API bisai_status bisai_ranks_multiply(bisai_ranks *ranks, const double *x, double *y);

/** values ← their sums over all ranks, for arrays in the memory of the backend: what
 *  bisai_solver_options::reduce needs. All ranks call it. */
BISAI_API bisai_status bisai_ranks_sum(bisai_ranks *ranks, double *values, int count);

/** Frees *ranks and sets it to NULL; accepts NULL and pointers to NULL. */
BISAI_API void bisai_ranks_destroy(bisai_ranks **ranks);

/** Counts which own scalar rows say that the unknowns of a block are components at one point, and
 *  which say that they are points of a mesh line: bisai_aggregation_unit. Where points of all ranks
 *  win, ranks should be given a matrix with blocks of one value. Local.
 *  @param matrix  as in bisai_ranks_rows
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_ranks_vote(bisai_context *context, const bisai_bcsr *matrix,
                                        int64_t *components, int64_t *points);

/** What is known of a hierarchy over several ranks. */
typedef struct bisai_ranks_report {
  /** set by the caller to sizeof(bisai_ranks_report) */
  size_t struct_size;
  /** levels that all ranks work on, and the levels of the gathered matrix, of which rank 0 knows
   *  alone; others have 0 there */
  int levels, gathered;
  /** of each level, the gathered ones behind the others: block rows, blocks, and the size of blocks
   *  of all ranks, and whether its transfers are not smoothed */
  int64_t rows[BISAI_MULTIGRID_LEVELS], blocks[BISAI_MULTIGRID_LEVELS];
  int32_t block_size[BISAI_MULTIGRID_LEVELS];
  bool unsmoothed[BISAI_MULTIGRID_LEVELS];
  /** the dimension of the null space of the coarsest gathered matrix */
  int32_t nullity;
  /** the cycle and the smoother, without AUTO */
  bisai_cycle cycle;
  bisai_smoother smoother;
  /** exchanges of this rank in creation, or since then in applications, products and updates */
  int64_t exchanges;
  /** bytes of this rank */
  int64_t memory_bytes;
} bisai_ranks_report;

/** Fills a report of this rank. */
BISAI_API bisai_status bisai_ranks_get_report(const bisai_ranks *ranks, bisai_ranks_report *report);

#ifdef __cplusplus
}
#endif

#endif
