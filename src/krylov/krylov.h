/* Inside of the solvers. */
#ifndef BSI_KRYLOV_H
#define BSI_KRYLOV_H

#include <bisai/krylov.h>

#include "core/context.h"

/* Residuals that are kept, so that a limit of "as many as it takes" does not ask for gigabytes. */
enum { BSI_HISTORY_MOST = 1 << 20 };

struct bisai_solver {
  bisai_context *context;
  bisai_solver_options options;
  int64_t n;
  int64_t ld;                                 /* from one basis vector to the next */
  double *basis;                              /* m + 1 vectors v_j, followed by `spare` and `best` */
  double *search;                             /* FGMRES: m vectors z_j */
  double *spare;                              /* M⁻¹v or A v */
  double *best;                               /* the best iterate whose true residual is known */
  double *scalars;                            /* everything from here to norm2, in backend memory: */
  double *hessenberg, *cosines, *sines, *rhs; /* see gmres_rotate */
  double *products, *products2;               /* Vᵀw of the two Gram–Schmidt passes */
  double *coefficients;                       /* y of V y */
  double *norm2, *one;
  double *status;  /* of gmres_rotate, two a column, in memory that both sides see */
  double *work;    /* BSI_CHUNKS·(m + 1) */
  double *history; /* host memory, max_iterations + 1 and at most BSI_HISTORY_MOST */
  bsi_clock clock; /* for applications of the preconditioner */
  int64_t memory_bytes;
};

/* y ← A x by a matrix or by a function. */
typedef struct bsi_operator {
  const bisai_bcsr *matrix;
  bisai_apply_function multiply;
  void *user;
} bsi_operator;

/* How a cycle of GMRES ended. */
typedef enum bsi_cycle_end {
  BSI_CYCLE_NONE, /* there was none yet */
  BSI_CYCLE_FULL, /* m columns, the iteration limit or the monitor */
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

  double scale;      /* 1, or a power of 2 that keeps squares of tiny and huge right-hand sides in range */
  double b_norm;     /* ‖b‖ */
  double reference;  /* what estimates are relative to: ‖b‖, on the left ‖M⁻¹b‖ */
  double target;     /* a cycle ends where its estimate is at most this */
  double true_norm;  /* ‖b − A x‖ of the present x; NaN while unknown */
  double start_norm; /* the same at the start of the last cycle */
  double best_norm;  /* of `best`; infinity while there is none */
  double estimate;   /* the last relative residual that was recorded */
  double anchor;     /* stagnation: the norm to beat … */
  int stalled;       /* … and cycles that did not */

  bsi_cycle_end end;
  bool stop; /* asked for by the monitor */
  bisai_reason reason;
  int iterations, applications;
  int enqueued;         /* iterations, and in a cycle those that nobody has looked at yet */
  int timed;            /* applications that were measured: all on the host, about one a cycle on a GPU … */
  double apply_seconds; /* … and their time */
  bool timing;          /* the clock has not been read yet */
} bsi_run;

/* Runs GMRES. A status other than BISAI_OK means that something called failed; otherwise run->reason says how it ended. */
bisai_status bsi_gmres(bsi_run *run);

#endif
