/* SPDX-License-Identifier: BSD-3-Clause */
/* What a solver, a method and a solve are. */
#ifndef BSI_METHOD_H
#define BSI_METHOD_H

#include <bisai/krylov.h>

#include "core/context_impl.h"
#include "krylov/recurrence.h"

struct bsi_run;

/* Residuals that are kept, so that a limit of "as many as it takes" does not ask for gigabytes. */
enum { BSI_HISTORY_MOST = 1 << 20 };

/* What is a method's own. A solve is made of cycles, each from a true residual to the next, and a
 * cycle of steps, which are iterations. Everything enqueues; the host looks at the two status words
 * of a step only. */
typedef struct bsi_method {
  bisai_method name;
  /* of M⁻¹ in a step */
  int applications;
  /* beginning again may help after a breakdown */
  bool curable;
  /* steps change x, and those beyond one that the monitor stops at would too */
  bool moves;
  /* Reserves the method's vectors, `residual`, `spare` and `best` among them, and its scalars.
   * False: out of memory. */
  bool (*reserve)(bisai_solver *);
  /* Steps of a cycle at most. */
  int (*longest_cycle)(const bisai_solver *);
  /* NULL: estimates are of b − A x itself. Otherwise makes `residual` what they are of; *norm of
   * that, and at the first start `reference`. */
  bisai_status (*measure)(struct bsi_run *, double *norm);
  /* NULL, or the part of `start` that norm2 alone decides; also *seen ← norm2, in memory that both
   * sides see. */
  bisai_status (*prepare)(struct bsi_run *, double *seen);
  /* Begins a cycle, whose `residual` has that norm. */
  bisai_status (*start)(struct bsi_run *, double norm);
  /* Enqueues step j of the cycle. */
  bisai_status (*step)(struct bsi_run *, int j, double *status);
  /* How a step ended, from its status, whose first word is a finite norm. */
  void (*judge)(struct bsi_run *, const double *status);
  /* x after `steps` steps; NULL: steps do that themselves. */
  bisai_status (*correct)(struct bsi_run *, int steps);
} bsi_method;

extern const bsi_method bsi_gmres, bsi_cg, bsi_bicgstab, bsi_idr;

struct bisai_solver {
  bisai_context *context;
  const bsi_method *method;
  bisai_solver_options options;
  int64_t n;
  /* from one vector to the next */
  int64_t ld;
  /* all of them but GMRES's `search` */
  double *vectors;
  /* scale·(b − A x) at the start of a cycle */
  double *residual;
  /* M⁻¹v or A v */
  double *spare;
  /* the best iterate whose true residual is known */
  double *best;
  /* where steps change x: the best of a cycle so far, or nearly so, by the estimate */
  double *kept;

  /* everything in backend memory that is no vector: norm2, one, shrink, x_norm2 and … */
  double *scalars;
  double *norm2, *one, *shrink, *x_norm2;

  /* GMRES: m + 1 vectors v_j, the first is `residual` */
  double *basis;
  /* FGMRES: m vectors z_j */
  double *search;
  /* see gmres_rotate */
  double *hessenberg, *cosines, *sines, *rhs;
  /* Vᵀw of the two Gram–Schmidt passes */
  double *products, *products2;
  /* y of V y */
  double *coefficients;

  /* the others: vectors and scalars, all but x and what a step has of its own */
  bsi_recurrence parts;
  /* of IDR, which stays as it is */
  bool shadow_ready;

  /* of steps that are under way at once */
  int slots;
  /* two words a slot and one more, in memory that both sides see */
  double *status;
  /* BSI_CHUNKS for each sum */
  double *work;
  /* host memory, max_iterations + 1 and at most BSI_HISTORY_MOST */
  double *history;
  /* for applications of the preconditioner */
  bsi_clock clock;
  int64_t memory_bytes;
};

/* y ← A x by a matrix or by a function. */
typedef struct bsi_operator {
  const bisai_bcsr *matrix;
  bisai_apply_function multiply;
  void *user;
} bsi_operator;

/* How a cycle ended. */
typedef enum bsi_cycle_end {
  /* there was none yet */
  BSI_CYCLE_NONE,
  /* all its steps, the iteration limit or the monitor */
  BSI_CYCLE_FULL,
  BSI_CYCLE_TARGET,
  BSI_CYCLE_BREAKDOWN,
  BSI_CYCLE_NOT_FINITE
} bsi_cycle_end;

/* One solve. Norms are of vectors multiplied by `scale`. */
typedef struct bsi_run {
  bisai_solver *solver;
  bsi_operator op;
  bisai_precond *precond;
  const double *b;
  double *x;

  /* 1, or a power of 2 that keeps squares of tiny and huge right-hand sides in range */
  double scale;
  /* 1, or a power of 2 by which products with A are multiplied where their squares would leave that
   * range */
  double factor;
  /* of A; NaN where it was not measured */
  double asymmetry;
  /* ‖b‖ */
  double b_norm;
  /* what estimates are relative to: ‖b‖, on the left ‖M⁻¹b‖ */
  double reference;
  /* a cycle ends where its estimate is at most this */
  double target;
  /* ‖b − A x‖ of the present x; NaN while unknown, infinity where x is not finite */
  double true_norm;
  /* the same at the start of the solve */
  double first_norm;
  /* the same at the start of the last cycle */
  double start_norm;
  /* of `best`; infinity while there is none */
  double best_norm;
  /* the last relative residual that was recorded */
  double estimate;
  /* stagnation: the norm to beat … */
  double anchor;
  /* … and cycles that did not */
  int stalled;

  /* an x had NaN or infinity … */
  bool bad_x;
  /* … the first in this entry; -1: on other processes only */
  int64_t bad_entry;

  /* the method's `prepare` has been called for this cycle */
  bool prepared;
  bsi_cycle_end end;
  /* of the last cycle */
  bisai_breakdown breakdown;
  int cycles;
  /* asked for by the monitor */
  bool stop;
  bisai_reason reason;
  int iterations, applications;
  /* iterations, and in a cycle those that nobody has looked at yet */
  int enqueued;
  /* applications that were measured: all on the host, few on a GPU … */
  int timed;
  /* … and their time */
  double apply_seconds;
  /* the first of these has been forgotten */
  bool warm;
  /* the clock has not been read yet … */
  bool timing;
  /* … since this step was under way */
  int timed_step;
} bsi_run;

static inline bool bsi_preconditioned_left(const bsi_run *run) {
  return run->precond && run->solver->options.side == BISAI_LEFT;
}

#endif
