/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of a preconditioner: one table of operations and options for each kind. */
#ifndef BSI_PRECOND_IMPL_H
#define BSI_PRECOND_IMPL_H

#include <bisai/precond.h>
#include <bisai/stages.h>

#include "apply/apply.h"
#include "core/context/option_table.h"
#include "factor/factor_impl.h"
#include "order/reordered.h"

/* `advised` steps and ratios of bisai_option: more steps would run for days. */
enum { BSI_OPTION_LISTS = 4, BSI_ADVISED_STEPS = 100000, BSI_ADVISED_RATIO = 1000000 };

#define BSI_PRECOND_OPTION(member) BSI_OPTION_IN(bisai_precond_options, member)

/* What a preconditioner tells of itself. A function that is NULL does nothing. */
typedef struct bsi_precond_about {
  bisai_symmetry (*symmetry)(const bisai_precond *);
  void (*say_indefinite)(const bisai_precond *, size_t size, char *text);
  /* NULL: an application is linear. Otherwise returns true if it is not. */
  bool (*nonlinear)(const bisai_precond *);
  /* appends to the description, behind the name of the kind (bsi_append()) */
  void (*describe)(bisai_precond *);
  /* reports the memory and the figures of the kind itself */
  void (*report)(const bisai_precond *, bisai_precond_report *);
  /* do bsi_precond_operator() and bsi_precond_rounded() for one that is up to date */
  bisai_status (*smaller_copy)(const bisai_precond *, const bisai_bcsr *a, const bisai_bcsr **copy);
  const bisai_bcsr *(*rounded)(const bisai_precond *, const bisai_bcsr *a);
} bsi_precond_about;

/* How a kind applies M⁻ᵀ: by one of these. Without any it cannot. */
typedef struct bsi_precond_transpose {
  /* returns true if M is its own transpose, but for rounding */
  bool (*is_own)(const bisai_precond *);
  /* makes t, which has the options and the state's size of m, a preconditioner that applies M⁻ᵀ */
  bisai_status (*make)(const bisai_precond *m, bisai_precond *t);
  bisai_status (*apply)(bisai_precond *, const bsi_vectors *);
} bsi_precond_transpose;

/* The stages of a kind that is composed of others. */
typedef struct bsi_precond_stages {
  /* the kinds that they may be, whose options it takes too, and then BISAI_PRECOND_NONE */
  const bisai_precond_kind *kinds;
  /* the kind of a stage of these options */
  bisai_precond_kind (*kind)(const bisai_precond_options *, int32_t stage);
  /* the fields of the options that choose it; NULL: a stage has one kind only */
  const char *fields[BISAI_PRECOND_STAGES];
} bsi_precond_stages;

/* A kind of preconditioner. Its file defines one table, bsi_precond_NAME. A function that is NULL
 * does nothing. */
typedef struct bsi_precond_ops {
  /* the kind's own options, then those that it shares with others; NULL follows the last */
  const bsi_option_list *options[BSI_OPTION_LISTS];
  /* of which it is composed; NULL: nothing */
  const bsi_precond_stages *stages;
  /* bytes of bisai_precond::state, which are zeros at first */
  size_t state_size;
  /* returns true if L and U are up to date before `setup` and `update`, and reported */
  bool (*takes_factors)(const bisai_precond_options *);
  /* work vectors of n for each right-hand side. `setup` may set another number in
   * bisai_precond::work */
  int vectors;
  /* checks options beyond their ranges */
  bisai_status (*check)(bisai_context *, const bisai_precond_options *, const bisai_bcsr *);
  /* refuses values that the kind cannot work with, before creation or an update changes anything */
  bisai_status (*check_values)(bisai_precond *, const bisai_bcsr *);
  /* computes the integers and reserves the memory */
  bisai_status (*setup)(bisai_precond *, const bisai_bcsr *);
  /* `setup` computes the values too: creation does not call `update` */
  bool setup_has_values;
  /* computes the values from factors that are up to date */
  bisai_status (*update)(bisai_precond *, const bisai_bcsr *);
  /* refuses a matrix of another pattern, for kinds without factors */
  bisai_status (*check_update)(const bisai_precond *, const bisai_bcsr *);
  bisai_status (*apply)(bisai_precond *, const bsi_vectors *);
  bsi_precond_transpose transpose;
  bsi_precond_about about;
  void (*destroy)(bisai_precond *);
} bsi_precond_ops;

/* The order in which a matrix is factorised. */
typedef struct bsi_precond_order {
  /* equilibration takes Dc = Dr */
  bool symmetric_scaling;
  /* the reordered matrix, if it is not the matrix itself that is factorised */
  bsi_reordered reordered;
  /* bandwidth and profile of the matrix and of the factorised matrix */
  bsi_order_shape natural, ordered;
} bsi_precond_order;

struct bisai_precond {
  bisai_context *context;
  const bsi_precond_ops *ops;
  bisai_precond_options options;
  /* the kind's own data, ops->state_size bytes */
  void *state;
  int32_t block_rows, block_size;
  bool ready;
  /* set-up has gone on although a diagonal block is missing */
  bool lacks_diagonal;
  bsi_precond_order order;
  bisai_factors *own_factors;
  /* own factors or the caller's */
  const bisai_factors *factors;
  struct {
    /* vectors·BSI_VECTORS_AT_ONCE·n */
    double *values;
    /* those of the kind, and one more if the matrix is reordered */
    int vectors;
    /* M⁻ᵀ, made at its first application after creation or an update */
    bisai_precond *transposed;
  } work;
  /* the unit that bisai_precond_report::first_repair_row counts */
  const char *repair_place;
  bisai_precond_report report;
  char description[1024];
};

/* bsi_precond_none, … */
#define BSI_DECLARE_KIND(enumerator, word, name) extern const bsi_precond_ops bsi_precond_##name;
BISAI_PRECOND_KIND_LIST(BSI_DECLARE_KIND)
#undef BSI_DECLARE_KIND

/* The table of a kind, or NULL for an unknown kind. */
const bsi_precond_ops *bsi_precond_ops_of(bisai_precond_kind kind);

/* Returns true if kinds that do not depend on an option ignore it. */
bool bsi_may_ignore(const bisai_option *option);
/* Refuses an option that the kind does not take, unless it has its default. The kind is known. */
bisai_status bsi_precond_options_check(bisai_context *context, const bisai_precond_options *given);
/* Refuses values out of the ranges of the kind's options. */
bisai_status bsi_precond_ranges_check(bisai_context *context, const bisai_precond_options *given);

/* Does bisai_precond_update() for a matrix that is known to have the pattern of creation. */
bisai_status bsi_precond_update_inside(bisai_precond *m, const bisai_bcsr *matrix);
/* Its two halves, for composed kinds: refuses values, and takes those that it does not refuse. */
bisai_status bsi_precond_check_values(bisai_precond *m, const bisai_bcsr *matrix);
bisai_status bsi_precond_take_values(bisai_precond *m, const bisai_bcsr *matrix);

/* Does bisai_precond_apply_many() for a preconditioner that is up to date, and at most
 * BSI_VECTORS_AT_ONCE vectors in backend memory. */
bisai_status bsi_precond_apply_inside(bisai_precond *m, int32_t count, const double *v, int64_t ldv,
                                      double *z, int64_t ldz, int64_t cached_bytes, bool flexible);

/* Makes a preconditioner of the kind, the options and the size of m, which the caller sets up. */
bisai_status bsi_precond_allocate_like(const bisai_precond *m, bisai_precond **t);
/* Reserves the vectors of an application. */
bisai_status bsi_precond_reserve_work(bisai_precond *m);
/* Checks the arguments of an application. Messages begin with the name of the call. */
bisai_status bsi_precond_check_apply(const bisai_precond *m, const char *call, const double *v,
                                     const double *z);

/* Refuses a preconditioner, or factors of the caller, whose last update failed. */
bisai_status bsi_precond_check_ready(const bisai_precond *m);

/* Does bisai_precond_error_factor() for a preconditioner whose values are up to date. */
bisai_status bsi_precond_error_factor(bisai_precond *m, const bisai_bcsr *a, double *factor);

/* Scalar rows. */
static inline int64_t bsi_precond_size(const bisai_precond *m) {
  return (int64_t)m->block_rows * m->block_size;
}

/* Appends to the description as printf() would, as far as there is room. */
void bsi_append(bisai_precond *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Reports the statistics of the inversion of the diagonal blocks. */
void bsi_report_inversion(const bsi_invert_stats *stats, bisai_precond_report *r);

/* --- multigrid.c --- */

struct bsi_hierarchy; /* multigrid/hierarchy.h */

/* null_vectors, which AUTO takes too */
extern const bsi_option_list bsi_null_options;

/* Checks null_vectors of a matrix with so many scalar rows, padding included. */
bisai_status bsi_null_vectors_check(bisai_context *context, const bisai_multigrid_options *o,
                                    int64_t rows);

/* Returns the levels of a preconditioner of the kind BISAI_PRECOND_MULTIGRID. */
struct bsi_hierarchy *bsi_multigrid_levels(const bisai_precond *m);
/* Refuses updates of a stage that is MULTIGRID and was made for none. Accepts NULL. */
bisai_status bsi_multigrid_check_updates(const bisai_precond *stage);

/* --- factored.c: what the kinds with factors share --- */

/* Returns true, as bsi_precond_ops::takes_factors. */
bool bsi_always_factored(const bisai_precond_options *options);
bool bsi_takes_factors(const bisai_precond_options *options);
/* level, factors */
extern const bsi_option_list bsi_factored_options;
/* shift, which block-Jacobi takes too */
extern const bsi_option_list bsi_shift_options;
/* ordering, matching, equilibrate */
extern const bsi_option_list bsi_order_options;

/* Returns the number of rows of the matrix that is factorised: scalar rows for a matching of
 * entries, and block rows otherwise. */
int64_t bsi_factored_rows(const bisai_precond_options *options, const bisai_bcsr *matrix);

/* Checks ordering and permutation. */
bisai_status bsi_ordering_check(bisai_context *context, const bisai_precond_options *options,
                                int32_t block_rows);
/* Checks that the caller's factors are ready and as large as the matrix. */
bisai_status bsi_factors_fit(bisai_context *context, const bisai_factors *f,
                             const bisai_bcsr *matrix);
/* Orders and scales the matrix as the options say, without its values yet: *matrix becomes the
 * reordered one. */
bisai_status bsi_factored_order(bisai_precond *m, const bisai_bcsr **matrix);
/* Makes the factors of the matrix. If the options reorder it, *matrix becomes the reordered one. */
bisai_status bsi_factored_setup(bisai_precond *m, const bisai_bcsr **matrix);
/* Refuses a matrix of another pattern. */
bisai_status bsi_factored_check_update(const bisai_precond *m, const bisai_bcsr *matrix);
/* Brings the factors up to date with new values. */
bisai_status bsi_factored_update(bisai_precond *m, const bisai_bcsr **matrix);
/* bsi_precond_transpose::make of the kinds whose set-up needs factors only. */
bisai_status bsi_factored_transpose(const bisai_precond *m, bisai_precond *t);
void bsi_report_factors(const bisai_precond *m, bisai_precond_report *r);
/* Reports the ordering, the matching and the scaling, after the kind's own report. */
void bsi_report_order(const bisai_precond *m, bisai_precond_report *r);
/* Describes the level and the shift; for block-Jacobi the shift only. */
void bsi_describe_factors(bisai_precond *m);
/* The symmetry of the kinds whose M is symmetric if L U = L D Lᵀ. */
bisai_symmetry bsi_factored_symmetry(const bisai_precond *m);
/* bsi_precond_about::say_indefinite of these kinds */
void bsi_factored_say_indefinite(const bisai_precond *m, size_t size, char *text);

static inline const bsi_triangular *bsi_triangular_of(const bisai_precond *m,
                                                      bisai_triangle triangle) {
  return triangle == BISAI_LOWER ? &m->factors->lower_solve : &m->factors->upper_solve;
}

/* The first half of an application on factors: from b into the first work vector. */
static inline bsi_vectors bsi_first_half(const bsi_vectors *v, int64_t n) {
  return (bsi_vectors){v->count,        v->b, v->ldb, v->work, n, v->work + n * v->count,
                       v->cached_bytes, false};
}

/* The second half: from the first work vector into x. */
static inline bsi_vectors bsi_second_half(const bsi_vectors *v, int64_t n) {
  return (bsi_vectors){v->count,        v->work, n, v->x, v->ldx, v->work + n * v->count,
                       v->cached_bytes, false};
}

#endif
