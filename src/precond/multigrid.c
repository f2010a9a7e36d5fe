/* SPDX-License-Identifier: BSD-3-Clause */
/* Multigrid: z is one cycle for A z = v, from zero (multigrid/hierarchy.h). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/context/context_impl.h"
#include "core/context/words.h"
#include "core/csr/block_vectors.h"
#include "multigrid/cycle.h"
#include "multigrid/cycle/cycle_ops.h"
#include "multigrid/diagonal/diagonal.h"
#include "multigrid/hierarchy.h"
#include "multigrid/level/account.h"
#include "multigrid/level/dense_ops.h"
#include "multigrid/level/memory.h"
#include "multigrid/smoothers/smoothers.h"
#include "multigrid/transfers/null_vectors.h"
#include "multigrid/transposed.h"
#include "multigrid/unit/scalar_copy.h"
#include "multigrid/unit/votes.h"
#include "precond/multigrid_setup.h"
#include "precond/operator.h"
#include "precond/precond_impl.h"

BSI_DEFINE_WORDS(cycle, BISAI_CYCLE_LIST, "unknown cycle")
BSI_DEFINE_WORDS(smoother, BISAI_SMOOTHER_LIST, "unknown smoother")
BSI_DEFINE_WORDS(aggregation_unit, BISAI_AGGREGATION_UNIT_LIST, "unknown nodes")
BSI_DEFINE_WORDS(coarsening_end, BISAI_COARSENING_END_LIST, "unknown limit")
BSI_DEFINE_WORDS(multigrid_update, BISAI_MULTIGRID_UPDATE_LIST, "unknown update")
BSI_DEFINE_WORDS(multigrid_part, BISAI_MULTIGRID_PART_LIST, "unknown part")

/* The most scalar rows of a dense inverse. */
enum { MOST_DENSE_ROWS = 2048 };
/* The most steps of a smoothing. More would run for days, and sums of such products overflow. */
enum { MOST_STEPS = 1000000 };

typedef struct multigrid_state {
  bsi_hierarchy hierarchy;
  bisai_precond_options smoother;
  /* A of creation is symmetric: restriction is Pᵀ */
  bool symmetric;
  /* and so is A of the last update, which `unweighted` does not need */
  bool still_symmetric;
  /* the asymmetry of A of the last update is at most MOST_HALVED */
  bool halved;
} multigrid_state;

static multigrid_state *multigrid_of(const bisai_precond *m) { return m->state; }

bsi_hierarchy *bsi_multigrid_levels(const bisai_precond *m) { return &multigrid_of(m)->hierarchy; }

#define COUNT(enumerator, word, name) +1
enum { LAST_SMOOTHER = -1 BISAI_SMOOTHER_LIST(COUNT) };
#undef COUNT

static const char *const cycles[] = BSI_OPTION_WORDS(BISAI_CYCLE_LIST);
static const char *const smoothers[] = BSI_OPTION_WORDS(BISAI_SMOOTHER_LIST);
static const char *const node_words[] = BSI_OPTION_WORDS(BISAI_AGGREGATION_UNIT_LIST);
static const char *const null_words[] = {"components", NULL};
static const char *const precisions[] = BSI_OPTION_WORDS(BSI_PRECISION_LIST);
static const char *const updates[] = BSI_OPTION_WORDS(BISAI_MULTIGRID_UPDATE_LIST);
static const char *const automatic[] = {"auto", NULL};

static const bisai_option table[] = {
    {BSI_PRECOND_OPTION(multigrid.cycle), .name = "cycle", .key = "cycle", .placeholder = "C",
     .petsc = "mg_cycle", .help = "order of the levels", .type = BISAI_OPTION_WORD,
     .initial = BISAI_CYCLE_AUTO, .maximum = BISAI_CYCLE_VW, .advised = BISAI_CYCLE_VW,
     .words = cycles},
    {BSI_PRECOND_OPTION(multigrid.smoother), .name = "smoother", .key = "smoother",
     .placeholder = "S", .petsc = "mg_smoother", .help = "smoother", .type = BISAI_OPTION_WORD,
     .initial = BISAI_SMOOTHER_AUTO, .maximum = LAST_SMOOTHER, .advised = LAST_SMOOTHER,
     .words = smoothers},
    {BSI_PRECOND_OPTION(multigrid.pre), .name = "pre", .key = "pre", .placeholder = "N",
     .petsc = "mg_pre", .help = "smoothings before the coarse correction",
     .type = BISAI_OPTION_INTEGER, .initial = 1, .maximum = MOST_STEPS,
     .advised = BSI_ADVISED_STEPS},
    {BSI_PRECOND_OPTION(multigrid.post), .name = "post", .key = "post", .placeholder = "N",
     .petsc = "mg_post", .help = "smoothings after it", .type = BISAI_OPTION_INTEGER, .initial = 1,
     .maximum = MOST_STEPS, .advised = BSI_ADVISED_STEPS},
    {BSI_PRECOND_OPTION(multigrid.damping), .name = "damping", .key = "damping", .placeholder = "W",
     .petsc = "mg_damping", .help = "damping of the smoothers jacobi and l1",
     .type = BISAI_OPTION_NUMBER, .initial = 0.8, .maximum = 2.0, .advised = 2.0, .open = true},
    {BSI_PRECOND_OPTION(multigrid.degree), .name = "degree", .key = "degree", .placeholder = "N",
     .petsc = "mg_degree", .help = "degree of chebyshev", .type = BISAI_OPTION_INTEGER,
     .initial = 2, .minimum = 1, .maximum = MOST_STEPS, .advised = BSI_ADVISED_STEPS},
    {BSI_PRECOND_OPTION(multigrid.ratio), .name = "ratio", .key = "ratio", .placeholder = "R",
     .petsc = "mg_ratio", .help = "largest over smallest eigenvalue that chebyshev damps",
     .type = BISAI_OPTION_NUMBER, .initial = 10.0, .minimum = 1.0, .maximum = INFINITY,
     .advised = BSI_ADVISED_RATIO, .open = true},
    {BSI_PRECOND_OPTION(multigrid.nodes), .name = "nodes", .key = "nodes", .placeholder = "N",
     .petsc = "mg_nodes", .help = "what is aggregated", .type = BISAI_OPTION_WORD,
     .initial = BISAI_AGGREGATION_UNIT_AUTO, .maximum = BISAI_AGGREGATION_UNIT_SCALAR,
     .advised = BISAI_AGGREGATION_UNIT_SCALAR, .words = node_words},
    {BSI_PRECOND_OPTION(multigrid.strength), .name = "strength", .key = "strength",
     .placeholder = "T", .petsc = "mg_strength", .help = "smallest part of the strongest coupling",
     .type = BISAI_OPTION_NUMBER, .initial = 0.25, .maximum = 1.0, .advised = 1.0},
    {BSI_PRECOND_OPTION(multigrid.levels), .name = "levels", .key = "levels", .placeholder = "N",
     .petsc = "mg_levels", .help = "the most levels", .type = BISAI_OPTION_INTEGER,
     .initial = BISAI_MULTIGRID_LEVELS, .minimum = 1, .maximum = BISAI_MULTIGRID_LEVELS,
     .advised = BISAI_MULTIGRID_LEVELS},
    {BSI_PRECOND_OPTION(multigrid.coarsest), .name = "coarsest", .key = "coarsest",
     .placeholder = "N", .petsc = "mg_coarsest", .help = "the most scalar rows that are inverted",
     .type = BISAI_OPTION_INTEGER, .initial = BISAI_MULTIGRID_COARSEST_AUTO,
     .maximum = MOST_DENSE_ROWS, .advised = MOST_DENSE_ROWS, .words = automatic},
    {BSI_PRECOND_OPTION(multigrid.complexity), .name = "complexity", .key = "complexity",
     .placeholder = "C", .petsc = "mg_complexity",
     .help = "limit of the values of all matrices, over those of the matrix",
     .type = BISAI_OPTION_NUMBER, .minimum = 1.0, .maximum = INFINITY, .advised = BSI_ADVISED_RATIO,
     .words = automatic},
    {BSI_PRECOND_OPTION(multigrid.unweighted), .name = "unweighted", .key = "unweighted",
     .placeholder = "", .petsc = "mg_unweighted",
     .help = "restriction adds up the rows as they are", .type = BISAI_OPTION_FLAG},
    {BSI_PRECOND_OPTION(multigrid.keep_transfers), .name = "keep_transfers", .key = "keep",
     .placeholder = "", .petsc = "mg_keep", .help = "updates keep the transfers",
     .type = BISAI_OPTION_FLAG},
    {BSI_PRECOND_OPTION(multigrid.update), .name = "update", .key = "update", .placeholder = "U",
     .petsc = "mg_update", .help = "what is kept for updates", .type = BISAI_OPTION_WORD,
     .initial = BISAI_MULTIGRID_UPDATE_AUTO, .maximum = BISAI_MULTIGRID_UPDATE_NONE,
     .advised = BISAI_MULTIGRID_UPDATE_NONE, .words = updates},
    {BSI_PRECOND_OPTION(multigrid.precision), .name = "precision", .key = "precision",
     .placeholder = "P", .petsc = "mg_precision", .help = "what cycles read of large levels",
     .type = BISAI_OPTION_WORD, .initial = BISAI_FP32, .maximum = BISAI_FP32, .advised = BISAI_FP32,
     .words = precisions},
    {BSI_PRECOND_OPTION(multigrid.power), .name = "power", .key = "k", .petsc = "mg_k",
     .help = "power of the pattern of the smoother isai", .type = BISAI_OPTION_INTEGER,
     .initial = 1, .minimum = 1, .maximum = INT32_MAX, .advised = INT32_MAX},
    {BSI_PRECOND_OPTION(multigrid.relax), .name = "relax", .key = "relax", .petsc = "mg_relax",
     .help = "relaxation sweeps of the smoother isai", .type = BISAI_OPTION_INTEGER,
     .maximum = MOST_STEPS, .advised = BSI_ADVISED_STEPS},
    {BSI_PRECOND_OPTION(multigrid.sweeps), .name = "sweeps", .key = "n", .petsc = "mg_sweeps",
     .help = "sweeps of the smoother sweeps", .type = BISAI_OPTION_INTEGER, .initial = 1,
     .maximum = MOST_STEPS, .advised = BSI_ADVISED_STEPS},
    {BSI_PRECOND_OPTION(multigrid.level), .name = "level", .key = "level", .petsc = "mg_level",
     .help = "level of fill of the smoothers isai, sweeps and ilu", .type = BISAI_OPTION_INTEGER,
     .maximum = INT32_MAX, .advised = INT32_MAX}};
static const bsi_option_list own_options = BSI_OPTION_LIST(table);

static const bisai_option null_table[] = {
    {BSI_PRECOND_OPTION(multigrid.null_vectors), .name = "null_vectors", .key = "null",
     .placeholder = "FILE", .help = "near-null-space vectors", .type = BISAI_OPTION_VECTORS,
     .words = null_words},
    {BSI_PRECOND_OPTION(multigrid.null_count), .name = "null_count",
     .help = "the number of null_vectors", .type = BISAI_OPTION_INTEGER,
     .maximum = BISAI_MULTIGRID_VECTORS, .advised = BISAI_MULTIGRID_VECTORS}};
const bsi_option_list bsi_null_options = BSI_OPTION_LIST(null_table);

bisai_status bsi_null_vectors_check(bisai_context *context, const bisai_multigrid_options *o,
                                    int64_t rows) {
  if ((o->null_vectors != NULL) != (o->null_count > 0))
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "null_count is %d, null_vectors is %s",
                    o->null_count, o->null_vectors ? "given" : "NULL");
  return bsi_null_vectors_check_values(context, o, rows);
}

static const bisai_option *option_of(const char *field) {
  int i = 0;
  while (strcmp(table[i].field, field) != 0) i++;
  return &table[i];
}

static bool reads(bisai_smoother smoother, const bisai_option *option) {
  const bsi_smoother *s = bsi_smoother_of(smoother);
  for (int i = 0; i < BSI_SMOOTHER_OPTIONS && s->options[i]; i++)
    if (strcmp(s->options[i], option->field) == 0) return true;
  return false;
}

/* takers ← the words of the smoothers that read an option, and nothing if it is for all of them. */
static void list_takers(const bisai_option *option, size_t size, char *takers) {
  takers[0] = '\0';
  for (int s = BISAI_SMOOTHER_AUTO + 1; smoothers[s]; s++) {
    const size_t length = strlen(takers);
    if (reads((bisai_smoother)s, option))
      snprintf(takers + length, size - length, "%s%s", length > 0 ? ", " : "", smoothers[s]);
  }
}

/* Refuses options that the smoother does not read. */
static bisai_status check_smoother(bisai_context *context, const bisai_precond_options *options) {
  const bisai_smoother smoother = options->multigrid.smoother;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    char takers[64];
    if (reads(smoother, &table[i]) || bisai_option_get(&table[i], options) == table[i].initial)
      continue;
    list_takers(&table[i], sizeof takers, takers);
    if (takers[0] != '\0')
      return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                      "the smoother %s does not take the option %s, which is for %s",
                      bisai_smoother_string(smoother), table[i].name, takers);
  }
  return BISAI_OK;
}

/* Refuses more steps than there can be, and cycles that never smooth. These map all vectors to
 * those of the coarse levels, so that M is singular. */
static bisai_status check_smoothings(bisai_context *context, const bisai_precond_options *options,
                                     int64_t rows) {
  const bisai_multigrid_options *o = &options->multigrid;
  const char *steps = bsi_smoother_of(o->smoother)->steps;
  const bisai_option *of_steps = steps ? option_of(steps) : NULL;
  const int32_t most = o->pre > o->post ? o->pre : o->post;
  const int32_t dense =
      o->coarsest == BISAI_MULTIGRID_COARSEST_AUTO ? BSI_COARSEST_ROWS : o->coarsest;
  if (of_steps && most * bisai_option_get(of_steps, options) > MOST_STEPS)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "%s %d times %s %.0f: a smoothing has at most %d steps",
                    most == o->pre ? "pre" : "post", most, of_steps->name,
                    bisai_option_get(of_steps, options), MOST_STEPS);
  if (most == 0 && rows > dense)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "pre and post are 0: a cycle that never smooths is singular, unless the "
                    "matrix is inverted, which has %lld rows, and `coarsest` is %d",
                    (long long)rows, dense);
  return BISAI_OK;
}

static bisai_status multigrid_check(bisai_context *context, const bisai_precond_options *options,
                                    const bisai_bcsr *matrix) {
  const bisai_multigrid_options *o = &options->multigrid;
  const int64_t rows = (int64_t)matrix->block_rows * matrix->block_size;
  if (matrix->type != BISAI_FP64 || matrix->unit_diagonal)
    return bsi_fail(context, BISAI_UNSUPPORTED,
                    "multigrid needs a matrix stored in fp64, with its diagonal blocks");
  BSI_TRY(bsi_null_vectors_check(context, o, rows));
  BSI_TRY(check_smoothings(context, options, rows));
  if (o->null_vectors && o->nodes == BISAI_AGGREGATION_UNIT_SCALAR && matrix->block_size > 1)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "nodes scalar: near-null-space vectors go with nodes=block");
  return check_smoother(context, options);
}

/* The options of the smoothers that are preconditioners. */
static bisai_precond_options smoother_options(const bisai_precond *m, bisai_smoother smoother) {
  bisai_precond_options o = bisai_precond_options_default();
  o.kind = bsi_smoother_of(smoother)->kind;
  o.shift = m->options.shift;
  o.shift_amount = m->options.shift_amount;
  o.factor.level = m->options.multigrid.level;
  if (o.kind == BISAI_PRECOND_ISAI) {
    o.isai.power = m->options.multigrid.power;
    o.isai.relax = m->options.multigrid.relax;
    o.isai.symmetric = multigrid_of(m)->symmetric && !m->options.multigrid.unweighted;
  }
  if (o.kind == BISAI_PRECOND_SWEEPS) o.sweeps.count = m->options.multigrid.sweeps;
  return o;
}

bisai_multigrid_options bsi_multigrid_choose(const bisai_multigrid_options *given, bool symmetric,
                                             int block_size) {
  bisai_multigrid_options o = *given;
  if (o.smoother == BISAI_SMOOTHER_AUTO)
    o.smoother = symmetric ? BISAI_SMOOTHER_CHEBYSHEV : BISAI_SMOOTHER_JACOBI;
  if (o.complexity == 0.0) o.complexity = BSI_COMPLEXITY;
  if (o.coarsest == BISAI_MULTIGRID_COARSEST_AUTO) o.coarsest = BSI_COARSEST_ROWS;
  if (block_size == 1 || o.null_vectors) o.nodes = BISAI_AGGREGATION_UNIT_BLOCK;
  return o;
}

/* Returns true if level 0 may be a matrix of scalar rows, whose diagonal entries are all there. */
static bool may_split(const bisai_precond *m) {
  const bisai_multigrid_options *o = &m->options.multigrid;
  return m->block_size == 1 || (o->nodes != BISAI_AGGREGATION_UNIT_BLOCK && !o->null_vectors);
}

/* nodes=auto: the scalar rows vote. Scalar rows also serve a matrix that lacks diagonal blocks, if
 * there is a shift. */
static bisai_status choose_nodes(bisai_precond *m, const bisai_bcsr *a,
                                 bisai_aggregation_unit *nodes) {
  int64_t components = 0, points = 0;
  int32_t missing = -1;
  if (*nodes == BISAI_AGGREGATION_UNIT_AUTO) {
    BSI_TRY(BSI_ON_BACKEND(m->context, bsi_count_votes)(m->context, a, &components, &points));
    *nodes = points > components ? BISAI_AGGREGATION_UNIT_SCALAR : BISAI_AGGREGATION_UNIT_BLOCK;
  }
  const bool shifted = m->options.shift != BISAI_SHIFT_NONE && may_split(m);
  if (shifted || *nodes == BISAI_AGGREGATION_UNIT_SCALAR)
    BSI_TRY(bsi_diagonal_missing(m->context, a, &missing));
  if (missing >= 0) *nodes = BISAI_AGGREGATION_UNIT_SCALAR;
  m->lacks_diagonal = missing >= 0;
  return BISAI_OK;
}

/* From 250² to 2000² nodes, the cavity takes 14 to 16 iterations with W, and 15 to 19 with VW. */
bisai_cycle bsi_multigrid_cycle(const bisai_multigrid_options *o, bool symmetric, int block_size) {
  const bool values = block_size == 1 || o->nodes == BISAI_AGGREGATION_UNIT_SCALAR;
  if (o->cycle != BISAI_CYCLE_AUTO) return o->cycle;
  return symmetric ? BISAI_CYCLE_V : values ? BISAI_CYCLE_VW : BISAI_CYCLE_W;
}

bsi_multigrid_setup bsi_multigrid_setup_of(const bisai_context *context,
                                           const bisai_multigrid_options *given,
                                           const bisai_multigrid_options *chosen, bool symmetric,
                                           double shift_amount) {
  /* a cycle that never smooths needs the inverse, whatever it costs: check_smoothings() */
  const bool bounded =
      given->coarsest == BISAI_MULTIGRID_COARSEST_AUTO && (chosen->pre > 0 || chosen->post > 0);
  const bsi_multigrid_ops *ops = context->backend->multigrid;
  return (bsi_multigrid_setup){.options = *chosen,
                               .symmetric = symmetric,
                               .shift_amount = shift_amount,
                               .rows_without_copies = ops->coarse_graph->most_rows,
                               .least_copied = ops->fp32_copy->least_bytes,
                               .inverse_work = bounded ? BSI_INVERSE_WORK : 0,
                               .inverts_first = bounded && ops->dense->cheap,
                               .most_singular = bounded ? BSI_SINGULAR_ROWS : 0,
                               .spares_inverses = given->complexity == 0.0};
}

/* Constants would couple padding inside the blocks to the unknowns, so that each component gets a
 * vector of its own. The caller releases the vectors, also after a failure. */
static bisai_status leave_out_padding(const bisai_bcsr *a, bisai_multigrid_options *o,
                                      double **vectors) {
  if (!bsi_has_inner_padding(a) || o->null_vectors || o->nodes != BISAI_AGGREGATION_UNIT_BLOCK)
    return BISAI_OK;
  BSI_TRY(bsi_component_vectors(a, vectors, &o->null_count));
  o->null_vectors = *vectors;
  return BISAI_OK;
}

static bisai_status make_hierarchy(bisai_precond *m, const bisai_bcsr *a,
                                   const bisai_multigrid_options *o) {
  multigrid_state *state = multigrid_of(m);
  state->smoother = smoother_options(m, o->smoother);
  bsi_multigrid_setup setup =
      bsi_multigrid_setup_of(m->context, &m->options.multigrid, o, state->symmetric,
                             m->options.shift == BISAI_SHIFT_NONE ? 0.0 : m->options.shift_amount);
  setup.halved = state->halved;
  setup.nested = (bsi_nested){&state->smoother, bsi_precond_operator_create};
  m->options.multigrid.null_vectors = NULL; /* the caller's arrays may go */
  return bsi_hierarchy_create(m->context, a, &setup, &state->hierarchy);
}

static bisai_status multigrid_setup(bisai_precond *m, const bisai_bcsr *a) {
  const double start = bsi_now();
  const bool symmetric = multigrid_of(m)->symmetric;
  bisai_multigrid_options o = bsi_multigrid_choose(&m->options.multigrid, symmetric, m->block_size);
  double *vectors = NULL;
  bisai_status status = choose_nodes(m, a, &o.nodes);
  if (!status) status = leave_out_padding(a, &o, &vectors);
  o.cycle = bsi_multigrid_cycle(&o, symmetric, m->block_size);
  if (!status) status = make_hierarchy(m, a, &o);
  m->report.pattern_seconds = bsi_now() - start;
  bsi_release(m->context, vectors);
  return status;
}

static bisai_status multigrid_update(bisai_precond *m, const bisai_bcsr *a) {
  bsi_multigrid_levels(m)->setup.halved = multigrid_of(m)->halved;
  return bsi_hierarchy_update(a, bsi_multigrid_levels(m));
}

bisai_status bsi_multigrid_check_updates(const bisai_precond *stage) {
  if (!stage || stage->options.kind != BISAI_PRECOND_MULTIGRID) return BISAI_OK;
  return bsi_hierarchy_check_updates(bsi_multigrid_levels(stage));
}

static bisai_status multigrid_check_update(const bisai_precond *m, const bisai_bcsr *a) {
  return bsi_hierarchy_check(a, bsi_multigrid_levels(m));
}

/* The largest asymmetry of A with which half of R A P stands for the other. A matrix with more may
 * have null vectors that its transpose does not have: free elastic bodies lost theirs at
 * 5·10⁻¹³. */
#define MOST_HALVED 1e-14

/* Measures the symmetry of A. That of creation decides on R, on the smoother and on the cycle, so
 * that updates must not lose it. A caller of `unweighted` has decided on R, and vouches for
 * equations that are nearly symmetric. */
static bisai_status multigrid_check_values(bisai_precond *m, const bisai_bcsr *a) {
  multigrid_state *state = multigrid_of(m);
  const bool creating = state->hierarchy.count == 0;
  bool symmetric = false;
  double asymmetry = INFINITY;
  if (creating || state->symmetric)
    BSI_TRY(bsi_bcsr_is_symmetric(m->context, a, &symmetric, &asymmetry));
  if (!creating && state->symmetric && !symmetric && !m->options.multigrid.unweighted)
    return bsi_fail(m->context, BISAI_NOT_SYMMETRIC,
                    "multigrid was made for a symmetric matrix, and the new values are not "
                    "symmetric: a new preconditioner takes them");
  if (creating) state->symmetric = symmetric;
  state->still_symmetric = symmetric;
  state->halved = symmetric && asymmetry <= MOST_HALVED && !m->options.multigrid.unweighted;
  return BISAI_OK;
}

static bisai_status multigrid_apply(bisai_precond *m, const bsi_vectors *v) {
  bsi_hierarchy *h = bsi_multigrid_levels(m);
  for (int32_t c = 0; c < v->count; c++) {
    const double *b = v->b + c * v->ldb;
    double *x = v->x + c * v->ldx;
    BSI_TRY(v->flexible ? bsi_hierarchy_cycle_in_fp32(h, b, x) : bsi_hierarchy_cycle(h, b, x));
  }
  return BISAI_OK;
}

/* The scalar matrix of level 0. */
static bisai_status multigrid_smaller_copy(const bisai_precond *m, const bisai_bcsr *a,
                                           const bisai_bcsr **copy) {
  const bisai_bcsr *split = multigrid_of(m)->hierarchy.scalar_copy;
  bool equal = false;
  if (!split || a->type != BISAI_FP64 || a->unit_diagonal ||
      bsi_bcsr_product_bytes(split) >= bsi_bcsr_product_bytes(a))
    return BISAI_OK;
  BSI_TRY(m->context->backend->multigrid->scalar_copy->equal(m->context, a, split, &equal));
  if (equal) *copy = split;
  return BISAI_OK;
}

/* The copy of level 0, which has the structure of that matrix. The copy of a singular matrix may
 * not be singular, and may be indefinite. */
static const bisai_bcsr *multigrid_rounded(const bisai_precond *m, const bisai_bcsr *a) {
  const bsi_hierarchy *h = bsi_multigrid_levels(m);
  const bsi_level *first = h->levels;
  return first->fp32.in_use && first->matrix == a && h->coarse.nullity == 0 ? first->fp32.matrix
                                                                            : NULL;
}

static bisai_symmetry multigrid_symmetry(const bisai_precond *m) {
  const bsi_hierarchy *h = bsi_multigrid_levels(m);
  const bisai_multigrid_options *o = &h->setup.options;
  const bsi_smoother *s = bsi_smoother_of(o->smoother);
  const bool smoother = !s->symmetric || s->symmetric(h);
  const bool inverted = h->count == 1 && h->coarse.inverse; /* nothing is smoothed */
  const bool symmetric = inverted || (o->pre == o->post && smoother);
  return multigrid_of(m)->still_symmetric && symmetric ? BISAI_SYMMETRY_VALUES
                                                       : BISAI_SYMMETRY_NONE;
}

/* l1 is definite, and damps all errors of every definite matrix. Chebyshev needs a bound of the
 * largest eigenvalue, and Jacobi a small one; the others need definite factors. */
static void multigrid_say_indefinite(const bisai_precond *m, size_t size, char *text) {
  const bsi_hierarchy *h = bsi_multigrid_levels(m);
  const bool inverted = h->count == 1 && h->coarse.inverse;
  if (inverted || bsi_smoother_of(h->setup.options.smoother)->definite)
    snprintf(text, size, "; multigrid is definite if the matrix is: the matrix may not be");
  else
    snprintf(text, size,
             "; if the matrix is definite, the smoother %s is to blame: mg:smoother=l1 is definite "
             "then",
             bisai_smoother_string(h->setup.options.smoother));
}

/* The coefficients of a K-cycle depend on v. */
static bool multigrid_nonlinear(const bisai_precond *m) {
  return multigrid_of(m)->hierarchy.setup.options.cycle == BISAI_CYCLE_K;
}

static bool multigrid_is_own(const bisai_precond *m) {
  return !multigrid_nonlinear(m) && multigrid_symmetry(m) == BISAI_SYMMETRY_VALUES;
}

static bisai_status multigrid_transpose(const bisai_precond *m, bisai_precond *t) {
  const bsi_hierarchy *h = bsi_multigrid_levels(m);
  const bsi_smoother *s = bsi_smoother_of(h->setup.options.smoother);
  if (multigrid_nonlinear(m))
    return bsi_fail(m->context, BISAI_UNSUPPORTED, "mg:cycle=k is not linear: it has no transpose");
  if (s->kind != BISAI_PRECOND_NONE)
    return bsi_fail(m->context, BISAI_UNSUPPORTED,
                    "mg:smoother=%s of a nonsymmetric matrix has no transposed application: take "
                    "jacobi, l1 or chebyshev",
                    bisai_smoother_string(h->setup.options.smoother));
  return bsi_hierarchy_transpose(h, bsi_multigrid_levels(t));
}

/* The rows of a split matrix are scalar rows. */
static void count_block_rows(int32_t block_size, bisai_precond_report *r) {
  if (r->first_repair_row >= 0) r->first_repair_row /= block_size;
  if (r->largest_condition_row >= 0) r->largest_condition_row /= block_size;
}

static void multigrid_report(const bisai_precond *m, bisai_precond_report *r) {
  const bsi_hierarchy *h = bsi_multigrid_levels(m);
  bisai_multigrid_report *g = &r->multigrid;
  const bsi_level *first = &h->levels[0];
  double values = 0.0, rows = 0.0;
  bsi_report_inversion(&h->stats, r);
  if (h->scalar_copy) count_block_rows(m->block_size, r);
  g->levels = h->count;
  for (int l = 0; l < h->count; l++) {
    const bisai_bcsr *a = h->levels[l].matrix;
    g->rows[l] = a->block_rows;
    g->block_size[l] = a->block_size;
    g->blocks[l] = a->blocks;
    g->radius[l] = h->levels[l].diagonal.radius;
    bsi_level_account(h, l, &g->memory[l]);
    g->unsmoothed[l] = l < h->count - 1 && !h->levels[l].transfers.prolongation.row_ptr;
    values += (double)bsi_block_offset(a, a->blocks);
    rows += (double)bsi_level_rows(&h->levels[l]);
  }
  /* 1 of a matrix without rows */
  g->operator_complexity =
      values > 0.0 ? values / (double)bsi_block_offset(first->matrix, first->matrix->blocks) : 1.0;
  g->grid_complexity = rows > 0.0 ? rows / (double)bsi_level_rows(first) : 1.0;
  g->cycle = h->setup.options.cycle;
  g->smoother = h->setup.options.smoother;
  g->nodes = h->setup.options.nodes;
  g->symmetric = multigrid_of(m)->symmetric;
  g->coarsest = h->coarsest;
  g->coarsest_inverted = h->coarse.inverse != NULL;
  g->ended_by = h->ended_by;
  g->coarsest_nullity = h->coarse.nullity;
  g->hierarchy_bytes = bsi_hierarchy_memory(h);
  g->peak_bytes = h->peak_bytes + r->memory_bytes;
  r->memory_bytes += g->hierarchy_bytes;
  r->apply_bytes = bsi_hierarchy_cycle_bytes(h);
}

static void multigrid_describe(bisai_precond *m) {
  const bisai_multigrid_report *r = &m->report.multigrid;
  bsi_append(m, " cycle=%s smoother=%s", bisai_cycle_string(r->cycle),
             bisai_smoother_string(r->smoother));
  if (r->nodes == BISAI_AGGREGATION_UNIT_SCALAR && m->block_size > 1)
    bsi_append(m, " nodes=scalar");
  if (multigrid_of(m)->hierarchy.levels[0].fp32.in_use) bsi_append(m, " precision=fp32");
  bsi_append(m, ", %d level%s of", r->levels, r->levels == 1 ? "" : "s");
  for (int l = 0; l < r->levels; l++) bsi_append(m, l == 0 ? " %d" : ", %d", r->rows[l]);
  bsi_append(m, " rows, complexity %.2f", r->operator_complexity);
  if (!r->coarsest_inverted)
    bsi_append(m, ", ended by %s", bisai_coarsening_end_string(r->ended_by));
  if (r->coarsest_nullity > 0) bsi_append(m, ", the coarsest singular by %d", r->coarsest_nullity);
}

static void multigrid_destroy(bisai_precond *m) {
  bsi_hierarchy_destroy(m->context, bsi_multigrid_levels(m));
}

const bsi_precond_ops bsi_precond_multigrid = {
    .options = {&own_options, &bsi_null_options, &bsi_shift_options},
    .state_size = sizeof(multigrid_state),
    .check = multigrid_check,
    .setup = multigrid_setup,
    .setup_has_values = true,
    .update = multigrid_update,
    .check_update = multigrid_check_update,
    .check_values = multigrid_check_values,
    .apply = multigrid_apply,
    .transpose = {.is_own = multigrid_is_own, .make = multigrid_transpose},
    .about.symmetry = multigrid_symmetry,
    .about.smaller_copy = multigrid_smaller_copy,
    .about.rounded = multigrid_rounded,
    .about.say_indefinite = multigrid_say_indefinite,
    .about.nonlinear = multigrid_nonlinear,
    .about.describe = multigrid_describe,
    .about.report = multigrid_report,
    .destroy = multigrid_destroy};
