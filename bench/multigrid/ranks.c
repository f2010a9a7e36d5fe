/* SPDX-License-Identifier: BSD-3-Clause */
/* Multigrid over ranks of MPI, each on its part of a case: set-up, update, and FGMRES(30) to 1e-5.
 *   mpirun -n N bench_ranks CASE SIZE [backend=cuda] [gather=ROWS] [overlap=BYTES] [repeats=K]
 *                           [alone] [nccl] [waiting]
 * CASE is cavity, convdiff, elasticity or reaction; SIZE are nodes of a side. Rows are in equal
 * slabs. `alone`: a single rank without the transport, bisai's preconditioner mg. `waiting`:
 * products wait for the ghosts instead of overlapping them. With nccl each process sees one GPU
 * (CUDA_VISIBLE_DEVICES). Each repeat makes a hierarchy, updates it twice and solves; the best
 * times are printed as JSON, those of the slowest rank. The first update, which allocates, is not
 * timed. Memory is that of creation, and after updates; and the most that
 * a GPU held at a time, with the matrix. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <bisai/bisai.h>

#include "cases.h"
#include "mpi_transport.h"
#include "nccl/nccl.h"

typedef struct arguments {
  const char *name;
  int32_t size;
  bisai_backend backend;
  int64_t gather, overlap;
  int repeats;
  bool alone, nccl, waiting;
} arguments;

/* The own part of a system. */
typedef struct part {
  int32_t rows, block_size, all_rows;
  int32_t *row_ptr, *col_idx, ghost_count;
  int64_t *ghosts, first;
  double *values, *rhs, *modes;
  int mode_count;
  bool symmetric;
} part;

typedef struct times {
  double set_up, update, solve;
} times;

static void stop(const char *what, bisai_context *context) {
  fprintf(stderr, "bench_ranks: %s: %s\n", what, context ? bisai_context_error(context) : "");
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* --- the transport, with a clock --- */

typedef struct timed {
  bisai_transport inner;
  mpi_ranks ranks;
  /* seconds in MPI: exchanges, and sums; and how many calls */
  double exchange, reduce;
  long long exchanges, reductions;
  /* NULL: without */
  const bsi_nccl *nccl;
  void *stream;
} timed;

static bisai_status timed_exchange(void *user, int count, const bisai_message *messages) {
  timed *t = user;
  const double start = MPI_Wtime();
  const bisai_status status = t->inner.exchange(t->inner.user, count, messages);
  t->exchange += MPI_Wtime() - start;
  t->exchanges++;
  return status;
}

static bisai_status timed_begin(void *user, int count, const bisai_message *messages) {
  timed *t = user;
  const double start = MPI_Wtime();
  const bisai_status status = t->inner.begin_exchange(t->inner.user, count, messages);
  t->exchange += MPI_Wtime() - start;
  return status;
}

static bisai_status timed_end(void *user, int count, const bisai_message *messages) {
  timed *t = user;
  const double start = MPI_Wtime();
  const bisai_status status = t->inner.end_exchange(t->inner.user, count, messages);
  t->exchange += MPI_Wtime() - start;
  return status;
}

static bisai_status timed_reduce(void *user, bisai_reduction how, int count, double *values) {
  timed *t = user;
  const double start = MPI_Wtime();
  const bisai_status status = t->inner.reduce(t->inner.user, how, count, values);
  t->reduce += MPI_Wtime() - start;
  t->reductions++;
  return status;
}

static bisai_status enqueue_exchange(void *user, int count, const bisai_message *messages) {
  const timed *t = user;
  return bsi_nccl_exchange(t->nccl, t->stream, count, messages);
}

static bisai_status enqueue_begin(void *user, int count, const bisai_message *messages) {
  const timed *t = user;
  return bsi_nccl_begin(t->nccl, t->stream, count, messages);
}

static bisai_status enqueue_end(void *user, int count, const bisai_message *messages) {
  const timed *t = user;
  (void)count, (void)messages;
  return bsi_nccl_end(t->nccl, t->stream);
}

static bisai_status enqueue_sum(void *user, int count, double *values) {
  const timed *t = user;
  return bsi_nccl_sum(t->nccl, t->stream, count, values);
}

/* --- systems --- */

static bisai_status make(const arguments *a, bisai_context *context, bisai_bcsr **matrix,
                         double **rhs, part *p) {
  const int32_t n = a->size;
  case_elasticity_options cube = case_elasticity_options_default();
  bisai_bcsr *blocks = NULL;
  bisai_status status = BISAI_INVALID_ARGUMENT;
  if (!strcmp(a->name, "cavity")) return case_cavity(context, n, 0, matrix, rhs);
  p->symmetric = strcmp(a->name, "convdiff") != 0;
  if (!strcmp(a->name, "reaction")) return case_reaction(context, n, 0, matrix, rhs);
  if (!p->symmetric) { /* the unknowns of its blocks are points of a line: scalar rows */
    status = case_convdiff(context, n, n, n, 1, &blocks, rhs);
    *matrix = blocks;
  }
  if (!strcmp(a->name, "elasticity")) {
    for (int d = 0; d < 3; d++) cube.nodes[d] = n;
    status = case_elasticity(context, &cube, 0, matrix, rhs);
    if (!status) status = case_elasticity_modes(&cube, &p->modes);
    p->mode_count = 6;
  }
  return status;
}

/* Lists the columns of other ranks in the own rows, ascending, and gives all columns numbers
 * here. */
static void number_columns(part *p) {
  const int32_t own = p->rows;
  int32_t *place = malloc((size_t)p->all_rows * sizeof *place);
  p->ghosts = malloc((size_t)p->all_rows * sizeof *p->ghosts);
  for (int32_t j = 0; j < p->all_rows; j++) place[j] = -1;
  for (int32_t q = 0; q < p->row_ptr[own]; q++) place[p->col_idx[q]] = 0;
  for (int32_t j = 0; j < p->all_rows; j++) {
    const bool inside = j >= p->first && j < p->first + own;
    if (inside) {
      place[j] = (int32_t)(j - p->first);
    } else if (place[j] == 0) {
      place[j] = own + p->ghost_count;
      p->ghosts[p->ghost_count++] = j;
    }
  }
  for (int32_t q = 0; q < p->row_ptr[own]; q++) p->col_idx[q] = place[p->col_idx[q]];
  free(place);
}

/* *copy ← `count` values of `size` bytes. */
static void *copy_of(const void *from, size_t count, size_t size) {
  void *copy = malloc(count * size + 1);
  if (!copy) stop("out of memory", NULL);
  return memcpy(copy, from, count * size);
}

/* The case has its modes one after the other; bisai takes them row by row. */
static void take_modes(part *p, size_t first, size_t n) {
  const size_t all_rows = (size_t)p->all_rows * (size_t)p->block_size,
               count = (size_t)p->mode_count;
  double *all = p->modes;
  p->modes = malloc((n * count + 1) * sizeof *p->modes);
  for (size_t i = 0; i < n; i++)
    for (size_t m = 0; m < count; m++) p->modes[i * count + m] = all[m * all_rows + first + i];
  free(all);
}

/* Makes the system on the host, and takes the own rows of it. */
static part take_part(const arguments *a, const bisai_transport *t) {
  bisai_context_options o = bisai_context_options_default();
  bisai_context *context = NULL;
  bisai_bcsr *matrix = NULL;
  double *rhs = NULL;
  const int32_t *row_ptr, *col_idx;
  const void *values;
  part p = {0};
  o.backend = BISAI_BACKEND_HOST;
  o.threads = 1;
  if (bisai_context_create(&o, &context) || make(a, context, &matrix, &rhs, &p))
    stop(a->name, context);
  bisai_bcsr_arrays(matrix, &row_ptr, &col_idx, &values);
  p.all_rows = bisai_bcsr_block_rows(matrix);
  p.block_size = bisai_bcsr_block_size(matrix);
  p.first = (int64_t)p.all_rows * t->rank / t->ranks;
  p.rows = (int32_t)((int64_t)p.all_rows * (t->rank + 1) / t->ranks - p.first);
  const size_t bs = (size_t)p.block_size, begin = (size_t)row_ptr[p.first],
               blocks = (size_t)row_ptr[p.first + p.rows] - begin, n = (size_t)p.rows * bs,
               before = (size_t)p.first * bs;
  p.row_ptr = copy_of(row_ptr + p.first, (size_t)p.rows + 1, sizeof *p.row_ptr);
  for (int32_t i = p.rows; i >= 0; i--) p.row_ptr[i] -= p.row_ptr[0];
  p.col_idx = copy_of(col_idx + begin, blocks, sizeof *p.col_idx);
  p.values = copy_of((const double *)values + begin * bs * bs, blocks * bs * bs, sizeof(double));
  p.rhs = copy_of(rhs + before, n, sizeof(double));
  if (p.modes) take_modes(&p, before, n);
  number_columns(&p);
  free(rhs);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
  return p;
}

/* --- one repeat --- */

typedef struct run {
  bisai_context *context;
  const bisai_transport *transport;
  timed *clock;
  int64_t exchanges;
  /* calls of the transport by the host in a set-up and in an update, and seconds in them */
  long long set_up_calls[2], update_calls[2];
  double set_up_time, update_time;
  int64_t created_bytes;
  bisai_bcsr *matrix;
  bisai_ranks *ranks;
  bisai_precond *precond;
  bisai_solver_report report;
  bisai_ranks_report levels;
} run;

static bisai_status multiply(void *ranks, int64_t n, const double *x, double *y) {
  (void)n;
  return bisai_ranks_multiply(ranks, x, y);
}

static bisai_status precondition(void *ranks, int64_t n, const double *v, double *z) {
  (void)n;
  return bisai_ranks_apply(ranks, v, z);
}

static bisai_status add(void *ranks, double *values, int count) {
  return bisai_ranks_sum(ranks, values, count);
}

/* Returns the time after all ranks have done what they enqueued. */
static double now(const run *r) {
  if (bisai_context_synchronize(r->context)) stop("synchronize", r->context);
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Wtime();
}

static bisai_status set_up(const arguments *a, const part *p, run *r) {
  bisai_ranks_options o = bisai_ranks_options_default();
  bisai_precond_options own = bisai_precond_options_default();
  bisai_multigrid_options *multigrid = a->alone ? &own.multigrid : &o.multigrid;
  const bisai_ranks_rows rows = {r->matrix, p->ghosts, p->symmetric};
  own.kind = a->alone ? BISAI_PRECOND_MULTIGRID : BISAI_PRECOND_CALLBACK;
  multigrid->null_vectors = p->modes;
  multigrid->null_count = p->mode_count;
  if (a->alone) return bisai_precond_create(r->context, r->matrix, &own, &r->precond);
  o.gather = a->gather;
  o.overlap = a->overlap;
  const bisai_status status = bisai_ranks_create(r->context, &rows, r->transport, &o, &r->ranks);
  own.callback.apply = precondition;
  own.callback.user = r->ranks;
  return status ? status : bisai_precond_create(r->context, r->matrix, &own, &r->precond);
}

static bisai_status solve(const arguments *a, const part *p, run *r, bisai_solver *solver,
                          double *x) {
  r->report = (bisai_solver_report){.struct_size = sizeof r->report};
  return a->alone ? bisai_solver_solve(solver, r->matrix, r->precond, p->rhs, x, &r->report)
                  : bisai_solver_solve_operator(solver, multiply, r->ranks, r->precond, p->rhs, x,
                                                &r->report);
}

/* Takes what the clock has counted. */
static void take_calls(timed *clock, long long calls[2], double *seconds) {
  calls[0] = clock->exchanges, calls[1] = clock->reductions;
  *seconds = clock->exchange + clock->reduce;
  clock->exchanges = clock->reductions = 0;
  clock->exchange = clock->reduce = 0.0;
}

static bisai_status update(const arguments *a, run *r) {
  return a->alone ? bisai_precond_update(r->precond, r->matrix)
                  : bisai_ranks_update(r->ranks, r->matrix);
}

/* Updates twice, and takes the second time. */
static bisai_status update_twice(const arguments *a, run *r, times *t) {
  bisai_ranks_report report = {.struct_size = sizeof report};
  bisai_status status = r->ranks ? bisai_ranks_get_report(r->ranks, &report) : BISAI_OK;
  r->created_bytes = report.memory_bytes;
  if (!status) status = update(a, r);
  const double start = now(r);
  take_calls(r->clock, r->update_calls, &r->update_time);
  if (!status) status = update(a, r);
  t->update = now(r) - start;
  take_calls(r->clock, r->update_calls, &r->update_time);
  return status;
}

static bisai_status repeat(const arguments *a, const part *p, run *r, double *x, times *t) {
  bisai_solver_options o = bisai_solver_options_default();
  bisai_solver *solver = NULL;
  o.gmres.flexible = true;
  o.tolerance = 1e-5;
  o.max_iterations = 300;
  const double start = now(r);
  take_calls(r->clock, r->set_up_calls, &r->set_up_time);
  bisai_status status = set_up(a, p, r);
  t->set_up = now(r) - start;
  take_calls(r->clock, r->set_up_calls, &r->set_up_time);
  if (!a->alone) o.reduce = add, o.reduce_user = r->ranks;
  if (!status) status = update_twice(a, r, t);
  if (!status)
    status = bisai_solver_create(r->context, (int64_t)p->rows * p->block_size, &o, &solver);
  for (int turn = 0; turn < 2 && !status; turn++) { /* the first one warms up */
    bisai_ranks_report report = {.struct_size = sizeof report};
    if (r->ranks) status = bisai_ranks_get_report(r->ranks, &report);
    r->clock->exchange = r->clock->reduce = 0.0;
    const double before = now(r);
    if (!status) status = solve(a, p, r, solver, x);
    t->solve = now(r) - before;
    r->exchanges = report.exchanges;
  }
  r->levels = (bisai_ranks_report){.struct_size = sizeof r->levels};
  if (!status && r->ranks) status = bisai_ranks_get_report(r->ranks, &r->levels);
  r->exchanges = r->levels.exchanges - r->exchanges;
  bisai_solver_destroy(&solver);
  bisai_precond_destroy(&r->precond);
  bisai_ranks_destroy(&r->ranks);
  return status;
}

/* Returns the most that a GPU held, with the matrix, on the rank where this is most; 0 on a CPU. */
static double most_device_bytes(const run *r) {
  bisai_device_memory memory = {.struct_size = sizeof memory};
  if (bisai_context_device_memory(r->context, false, &memory)) stop("memory", r->context);
  double most = (double)memory.most_used_bytes;
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return most;
}

static void print(const arguments *a, const part *p, const run *r, const times *best, double norm,
                  double most_bytes) {
  const bisai_ranks_report *l = &r->levels;
  printf("{\"case\": \"%s\", \"size\": %d, \"ranks\": %d, \"alone\": %d, \"nccl\": %d, \"device\": "
         "\"%s\", "
         "\"gather\": %lld, \"overlap\": %lld, \"waiting\": %d, \"rows\": %lld, \"iterations\": "
         "%d, \"reason\": \"%s\", "
         "\"x\": %.17g, \"setup_ms\": %.2f, \"update_ms\": %.2f, \"solve_ms\": %.2f, "
         "\"exchanges\": %lld, \"exchange_ms\": %.2f, \"reduce_ms\": %.2f, "
         "\"setup_calls\": [%lld, %lld, %.2f], \"update_calls\": [%lld, %lld, %.2f], "
         "\"created_megabytes\": %.0f, \"megabytes\": %.0f, \"device_megabytes\": %.0f, "
         "\"gathered\": %d, \"levels\": [",
         a->name, (int)a->size, r->transport->ranks, a->alone, a->nccl,
         bisai_context_device(r->context), (long long)a->gather, (long long)a->overlap, a->waiting,
         (long long)p->all_rows * p->block_size, r->report.iterations,
         bisai_reason_string(r->report.reason), norm, 1e3 * best->set_up, 1e3 * best->update,
         1e3 * best->solve, (long long)r->exchanges, 1e3 * r->clock->exchange,
         1e3 * r->clock->reduce, r->set_up_calls[0], r->set_up_calls[1], 1e3 * r->set_up_time,
         r->update_calls[0], r->update_calls[1], 1e3 * r->update_time,
         (double)r->created_bytes / 1e6, (double)l->memory_bytes / 1e6, most_bytes / 1e6,
         l->gathered);
  for (int k = 0; k < l->levels + l->gathered; k++)
    printf("%s%lld", k ? ", " : "", (long long)l->rows[k]);
  printf("]}\n");
  fflush(stdout);
}

static arguments read_arguments(int argc, char **argv) {
  arguments a = {.backend = BISAI_BACKEND_HOST,
                 .gather = bisai_ranks_options_default().gather,
                 .overlap = bisai_ranks_options_default().overlap,
                 .repeats = 3};
  if (argc < 3)
    stop("usage: bench_ranks CASE SIZE [backend=B] [gather=N] [overlap=N] [repeats=K] [alone] "
         "[nccl] [waiting]",
         NULL);
  a.name = argv[1];
  a.size = atoi(argv[2]);
  for (int k = 3; k < argc; k++) {
    if (!strncmp(argv[k], "gather=", 7)) a.gather = atoll(argv[k] + 7);
    if (!strncmp(argv[k], "overlap=", 8)) a.overlap = atoll(argv[k] + 8);
    if (!strncmp(argv[k], "repeats=", 8)) a.repeats = atoi(argv[k] + 8);
    if (!strncmp(argv[k], "backend=", 8) && !bisai_backend_parse(argv[k] + 8, &a.backend))
      stop("no such backend", NULL);
    a.alone = a.alone || !strcmp(argv[k], "alone");
    a.nccl = a.nccl || !strcmp(argv[k], "nccl");
    a.waiting = a.waiting || !strcmp(argv[k], "waiting");
  }
  return a;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  timed clock = {.exchange = 0.0};
  clock.inner = mpi_transport(comm, &clock.ranks);
  bisai_transport transport = clock.inner;
  transport.user = &clock;
  transport.exchange = timed_exchange;
  transport.reduce = timed_reduce;
  transport.begin_exchange = timed_begin;
  transport.end_exchange = timed_end;
  const arguments a = read_arguments(argc, argv);
  const part p = take_part(&a, &transport);
  bisai_context_options o = bisai_context_options_default();
  run r = {.transport = &transport, .clock = &clock};
  times best = {INFINITY, INFINITY, INFINITY};
  o.backend = a.backend;
  o.threads = 1;
  int gpus = 1;
  while (a.backend == BISAI_BACKEND_CUDA && !bisai_backend_missing(a.backend, gpus)) gpus++;
  o.device = transport.rank % gpus;
  if (bisai_context_create(&o, &r.context)) stop("context", NULL);
  if (a.nccl) {
    char why[BSI_NCCL_MESSAGE];
    if (bsi_nccl_of(comm, &clock.nccl, why) || !clock.nccl) stop(why, NULL);
    clock.stream = bisai_context_stream(r.context);
    transport.enqueue_exchange = enqueue_exchange;
    transport.enqueue_sum = enqueue_sum;
    transport.begin_exchange = enqueue_begin;
    transport.end_exchange = enqueue_end;
  }
  if (a.waiting) transport.begin_exchange = transport.end_exchange = NULL;
  bisai_bcsr_desc d = bisai_bcsr_desc_default();
  d.block_rows = p.rows;
  d.block_cols = p.rows + p.ghost_count;
  d.block_size = p.block_size;
  d.row_ptr = p.row_ptr, d.col_idx = p.col_idx, d.values = p.values;
  if (bisai_bcsr_create(r.context, &d, &r.matrix)) stop("matrix", r.context);
  const size_t n = (size_t)p.rows * (size_t)p.block_size;
  double *x = calloc(n + 1, sizeof *x), sum = 0.0;
  for (int k = 0; k < a.repeats; k++) {
    times t = {0};
    if (repeat(&a, &p, &r, x, &t)) stop("solve", r.context);
    best = (times){fmin(best.set_up, t.set_up), fmin(best.update, t.update),
                   fmin(best.solve, t.solve)};
  }
  for (size_t i = 0; i < n; i++) sum += x[i] * x[i];
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  const double most_bytes = most_device_bytes(&r);
  if (transport.rank == 0) print(&a, &p, &r, &best, sqrt(sum), most_bytes);
  bisai_bcsr_destroy(&r.matrix);
  MPI_Comm_free(&comm); /* and the connection of NCCL */
  bisai_context_destroy(&r.context);
  free(x), free(p.row_ptr), free(p.col_idx), free(p.values), free(p.rhs), free(p.modes);
  free(p.ghosts), free(clock.ranks.requests);
  MPI_Finalize();
  return 0;
}
