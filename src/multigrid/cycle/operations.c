/* SPDX-License-Identifier: BSD-3-Clause */
/* Doing and recording the steps of a cycle. */
#include "multigrid/cycle/operations.h"

#include "apply/apply_ops.h"
#include "multigrid/hierarchy.h"
#include "multigrid/multigrid_ops.h"

/* The most bytes that the product with a matrix of the tail moves. The products of larger matrices
 * take longer than a launch. */
enum { TAIL_BYTES = 1 << 24 };
/* The most steps that are recorded, which take 1 MB in host memory and in backend memory. Only
 * cycles with hundreds of smoothings have more in levels that are so small. */
enum { TAIL_STEPS = 4096 };

bisai_status bsi_step_run(bisai_context *context, const bsi_step *s) {
  const bsi_backend *backend = context->backend;
  const bsi_cycle_ops *ops = backend->multigrid->cycle;
  switch (s->kind) {
  case BSI_STEP_SET: return backend->vectors->set(context, s->n, 0.0, s->y);
  case BSI_STEP_RELAX:
    return ops->relax(context, s->matrix, s->inverse, s->alpha, s->beta, s->b, s->x, s->previous,
                      s->y);
  case BSI_STEP_MULTIPLY:
    if (!s->matrix) return ops->multiply(context, &s->m, s->x, s->beta, s->y);
    return bsi_multiply_vector(context, s->matrix, s->alpha, s->x, s->beta, s->b, s->y);
  case BSI_STEP_DENSE:
    return backend->multigrid->dense->multiply(context, (int32_t)s->n, s->inverse, s->x, s->y);
  case BSI_STEP_FIRST: return ops->first_step(context, s->n, s->v, s->y, s->work);
  case BSI_STEP_SECOND:
    return ops->second_step(context, s->n, s->y, s->v, s->x, s->v2, s->b, s->work);
  }
  return BISAI_OK;
}

/* Returns true if a step may be the first of a chain. */
static bool begins_chain(const bsi_step *s) {
  return s->matrix && s->b && s->matrix->block_rows == s->matrix->block_cols &&
         (s->kind == BSI_STEP_RELAX || (s->alpha == -1.0 && s->beta == 1.0));
}

/* Returns true if a step may follow those that wait (bsi_chain_ops::run). */
static bool joins(const bsi_chain *c, const bsi_step *s) {
  const bsi_step *last = &c->steps[c->count - 1];
  if (c->count == BSI_CHAIN_STEPS || !begins_chain(s) || s->matrix != last->matrix ||
      s->x != last->y || (s->previous && s->previous != last->x))
    return false;
  for (int32_t k = 0; k < c->count; k++) {
    const bsi_step *other = &c->steps[k];
    if (s->y == other->y || s->y == other->x || s->y == other->previous || s->y == other->b ||
        s->b == other->y)
      return false;
  }
  return s->y != s->b;
}

bisai_status bsi_steps_end(bsi_hierarchy *h) {
  bsi_chain *c = &h->chain;
  const int32_t count = c->count;
  c->count = 0;
  if (count == 0) return BISAI_OK;
  return bsi_ops_of(h)->chain->run(h->context, c->reach, count, c->steps);
}

/* Does a step that is not recorded, or lets it wait. */
static bisai_status do_or_wait(bsi_hierarchy *h, const bsi_level *level, const bsi_step *step) {
  bsi_chain *c = &h->chain;
  if (!bsi_ops_of(h)->chain->run) return bsi_step_run(h->context, step);
  if (c->count > 0 && !joins(c, step)) BSI_TRY(bsi_steps_end(h));
  if (!begins_chain(step)) return bsi_step_run(h->context, step);
  c->reach = level->reach;
  c->steps[c->count++] = *step;
  return BISAI_OK;
}

bisai_status bsi_step_do(bsi_hierarchy *h, const bsi_level *level, const bsi_step *step) {
  bsi_tail *tail = &h->tail;
  if (!tail->recording) return do_or_wait(h, level, step);
  if (tail->count < tail->capacity) {
    tail->steps[tail->count] = *step;
    if (step->matrix) tail->steps[tail->count].m = bsi_sparse_of(step->matrix);
  }
  tail->count++;
  return BISAI_OK;
}

/* Counts the steps of the tail, and stores as many as there is room for. */
static bisai_status record(bsi_hierarchy *h) {
  h->tail.count = 0;
  h->tail.recording = true;
  const bisai_status status = bsi_hierarchy_correct(h, h->tail.level);
  h->tail.recording = false;
  return status;
}

/* Returns an upper bound of the steps of a visit to level l, without those of coarser levels. */
static int64_t steps_of_visit(const bsi_hierarchy *h, int l) {
  const bisai_multigrid_options *o = &h->setup.options;
  const int64_t degree = o->smoother == BISAI_SMOOTHER_CHEBYSHEV ? o->degree : 1;
  /* zero, the residual, R and P; K: half of those that combine two corrections */
  const int64_t others = o->cycle == BISAI_CYCLE_K ? 6 : 4;
  if (l < h->count - 1) return degree * ((int64_t)o->pre + o->post) + others;
  return h->dense_inverse ? 1 : degree * BSI_COARSEST_SMOOTHINGS;
}

/* Returns the first level of the tail, 0 if there is none. The steps of a tail read fp64. */
static int first_level(const bsi_hierarchy *h, int64_t most_rows) {
  int level = h->count;
  int64_t steps = 0;
  for (int l = h->count - 1; l >= 1; l--) {
    const bsi_level *at = &h->levels[l];
    const bool inverted = l == h->count - 1 && h->dense_inverse;
    if (at->smoother || at->narrow_matrix || bsi_level_rows(at) > most_rows) break;
    if (!inverted && bsi_bcsr_product_bytes(at->matrix) > TAIL_BYTES) break;
    steps = (bsi_level_corrects_twice(h, l) ? 2 : 1) * (steps + steps_of_visit(h, l));
    if (steps > TAIL_STEPS) break;
    level = l;
  }
  return level < h->count - 1 ? level : 0; /* one level has few steps */
}

bisai_status bsi_tail_create(bsi_hierarchy *h, int64_t most_rows) {
  bsi_tail *tail = &h->tail;
  tail->level = first_level(h, most_rows);
  if (tail->level == 0) return BISAI_OK;
  BSI_TRY(record(h));
  tail->steps = bsi_allocate(h->context, (size_t)tail->count, sizeof *tail->steps);
  tail->there = bsi_hierarchy_reserve(h, tail->count, sizeof *tail->there);
  if (!tail->steps || !tail->there) return BISAI_OUT_OF_MEMORY;
  tail->capacity = tail->count;
  return bsi_tail_update(h);
}

bisai_status bsi_tail_update(bsi_hierarchy *h) {
  bsi_tail *tail = &h->tail;
  if (tail->level == 0) return BISAI_OK;
  BSI_TRY(record(h));
  return h->context->backend->memory->upload(h->context, tail->there, tail->steps,
                                             (size_t)tail->count * sizeof *tail->steps);
}

bisai_status bsi_tail_run(bsi_hierarchy *h) {
  const bsi_tail *tail = &h->tail;
  const bisai_bcsr *a = h->levels[tail->level].matrix;
  return bsi_ops_of(h)->tail->run(h->context, bsi_level_rows(&h->levels[tail->level]),
                                  (int64_t)bsi_block_offset(a, a->blocks), tail->count,
                                  tail->there);
}

void bsi_tail_destroy(bisai_context *context, bsi_tail *tail) {
  context->backend->memory->release(context, tail->there);
  bsi_release(context, tail->steps);
  *tail = (bsi_tail){0};
}
