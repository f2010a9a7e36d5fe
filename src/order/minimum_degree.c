/* SPDX-License-Identifier: BSD-3-Clause */
/* Approximate minimum degree (Amestoy, Davis, Duff 1996, An approximate minimum degree ordering
 * algorithm, algorithm 2) on the quotient graph.
 *
 * Nodes are variables, which are still to be eliminated and may stand for several rows, and
 * elements, which are eliminated and stand for the clique of their variables. A variable has a list
 * of elements, followed by variables; an element has a list of variables. Variables whose lists are
 * the same are merged. Rows with very many neighbours come last and are left out of the graph. */
#include "order/graph.h"

#include <math.h>
#include <string.h>

/* A row is left out if it has more than this many times √n neighbours. */
enum { DENSE = 10, LEAST_DENSE = 16 };

/* The lists of all nodes. */
typedef struct storage {
  /* the lists, of which `used` entries are in use, and room for a compacted copy */
  int32_t *lists, *copy;
  int64_t used, room;
  /* where the list of a node begins */
  int64_t *ptr;
} storage;

/* Doubly linked lists of the variables of each degree; also lists of equal hashes. */
typedef struct queue {
  int32_t *head, *next, *previous;
} queue;

/* The quotient graph. Arrays have n entries each but for the lists. */
typedef struct quotient {
  int32_t n, left;
  storage store;
  /* the length of the list of a node, and how many of it are elements; −1: the node is an element,
   * −2: it is gone */
  int32_t *length, *elements;
  /* the rows of a variable; negative while it is in the new element; 0: it is no variable */
  int32_t *weight;
  /* of a variable a bound of its degree, of an element the rows of its variables */
  int32_t *degree;
  queue queue;
  /* the rows of an element outside the new one, above `mark`; or the last node that was marked */
  int64_t *outside, mark;
  /* the rows behind a row in the order, and the last of them */
  int32_t *follower, *last;
} quotient;

static void insert(quotient *q, int32_t i) {
  const int32_t d = q->degree[i], first = q->queue.head[d];
  q->queue.next[i] = first;
  q->queue.previous[i] = -1;
  if (first >= 0) q->queue.previous[first] = i;
  q->queue.head[d] = i;
}

static void remove_from_degree(quotient *q, int32_t i) {
  if (q->queue.next[i] >= 0) q->queue.previous[q->queue.next[i]] = q->queue.previous[i];
  if (q->queue.previous[i] >= 0)
    q->queue.next[q->queue.previous[i]] = q->queue.next[i];
  else
    q->queue.head[q->degree[i]] = q->queue.next[i];
}

/* Puts the rows of j behind those of i. */
static void append_rows(quotient *q, int32_t i, int32_t j) {
  q->follower[q->last[i]] = j;
  q->last[i] = q->last[j];
}

/* Moves all lists together. */
static void compact(quotient *q) {
  int64_t used = 0;
  for (int32_t i = 0; i < q->n; i++) {
    if (q->elements[i] == -2) continue;
    memcpy(q->store.copy + used, q->store.lists + q->store.ptr[i],
           (size_t)q->length[i] * sizeof *q->store.lists);
    q->store.ptr[i] = used;
    used += q->length[i];
  }
  int32_t *const swapped = q->store.lists;
  q->store.lists = q->store.copy;
  q->store.copy = swapped;
  q->store.used = used;
}

/* Takes a variable into the new element, whose list ends at `used`. */
static void take(quotient *q, int32_t i, int32_t *rows) {
  if (q->weight[i] <= 0) return;
  *rows += q->weight[i];
  q->weight[i] = -q->weight[i];
  q->store.lists[q->store.used++] = i;
  remove_from_degree(q, i);
}

/* Makes an element of variable p: the variables of its list and of its elements, which are gone
 * then. */
static void make_element(quotient *q, int32_t p) {
  int32_t rows = 0;
  if (q->store.used + q->n > q->store.room) compact(q);
  const int64_t begin = q->store.used;
  const int32_t *list = q->store.lists + q->store.ptr[p];
  const int32_t own = q->weight[p];
  q->weight[p] = 0;
  for (int32_t k = 0; k < q->length[p]; k++) {
    const int32_t e = list[k];
    if (k >= q->elements[p]) {
      take(q, e, &rows);
    } else {
      for (int32_t v = 0; v < q->length[e]; v++)
        take(q, q->store.lists[q->store.ptr[e] + v], &rows);
      q->elements[e] = -2;
    }
  }
  q->left -= own;
  q->store.ptr[p] = begin;
  q->length[p] = (int32_t)(q->store.used - begin);
  q->elements[p] = -1;
  q->degree[p] = rows;
}

/* outside[e] − mark ← the rows of each element e that are not in element p. */
static void measure_outside(quotient *q, int32_t p) {
  q->mark += q->n + 1; /* above all former values */
  for (int32_t v = 0; v < q->length[p]; v++) {
    const int32_t i = q->store.lists[q->store.ptr[p] + v], *list = q->store.lists + q->store.ptr[i];
    for (int32_t k = 0; k < q->elements[i]; k++) {
      const int32_t e = list[k];
      if (q->elements[e] != -1) continue;
      if (q->outside[e] < q->mark) q->outside[e] = q->mark + q->degree[e];
      q->outside[e] += q->weight[i]; /* which is negative */
    }
  }
}

/* Writes the list of variable i anew: elements that are left, p among them, and variables that no
 * element has. Returns the hash of the list. */
static uint32_t rewrite(quotient *q, int32_t i, int32_t p) {
  int32_t *list = q->store.lists + q->store.ptr[i];
  int32_t kept = 0, degree = 0;
  uint32_t hash = (uint32_t)p;
  const int32_t elements = q->elements[i], length = q->length[i];
  int32_t moved = -1; /* the variable in whose place p comes */
  for (int32_t k = 0; k < elements; k++) {
    const int32_t e = list[k];
    if (q->elements[e] != -1 || e == p) continue;
    const int32_t outside = (int32_t)(q->outside[e] - q->mark);
    if (outside == 0) { /* p has all of its variables */
      q->elements[e] = -2;
      continue;
    }
    degree += outside;
    list[kept++] = e;
    hash += (uint32_t)e;
  }
  const int32_t left = kept;
  for (int32_t k = elements; k < length; k++) {
    const int32_t j = list[k];
    if (q->weight[j] <= 0) continue;
    degree += q->weight[j];
    hash += (uint32_t)j;
    list[kept++] = j;
  }
  /* p comes behind the elements; a place is free, because p itself or one of its elements was
   * here */
  if (kept > left) moved = list[left];
  list[left] = p;
  if (moved >= 0) list[kept] = moved;
  q->elements[i] = left + 1;
  q->length[i] = kept + 1;
  if (degree < q->degree[i]) q->degree[i] = degree; /* the rows of p are added later */
  return hash;
}

/* Returns true if the lists of i and j are the same; nodes of i's are marked. */
static bool same_lists(const quotient *q, int32_t i, int32_t j) {
  if (q->length[i] != q->length[j] || q->elements[i] != q->elements[j]) return false;
  const int32_t *list = q->store.lists + q->store.ptr[j];
  for (int32_t k = 0; k < q->length[j]; k++)
    if (q->outside[list[k]] != q->mark) return false;
  return true;
}

/* Merges the variables of a list of equal hashes that have the same lists. */
static void merge(quotient *q, int32_t first) {
  for (int32_t i = first; i >= 0; i = q->queue.next[i]) {
    if (q->queue.next[i] < 0) return;
    q->mark++;
    for (int32_t k = 0; k < q->length[i]; k++)
      q->outside[q->store.lists[q->store.ptr[i] + k]] = q->mark;
    int32_t *link = &q->queue.next[i];
    while (*link >= 0) {
      const int32_t j = *link;
      if (same_lists(q, i, j)) {
        q->weight[i] += q->weight[j]; /* both are negative */
        q->weight[j] = 0;
        q->elements[j] = -2;
        append_rows(q, i, j);
        *link = q->queue.next[j];
      } else {
        link = &q->queue.next[j];
      }
    }
  }
}

/* Brings the variables of element p up to date. `buckets` has n entries, all −1. */
static void update_variables(quotient *q, int32_t p, int32_t *buckets) {
  int32_t *list = q->store.lists + q->store.ptr[p];
  measure_outside(q, p);
  for (int32_t v = 0; v < q->length[p]; v++) {
    const int32_t i = list[v];
    const uint32_t hash = rewrite(q, i, p) % (uint32_t)q->n;
    q->queue.next[i] = buckets[hash];
    buckets[hash] = i;
    q->queue.previous[i] = (int32_t)hash;
  }
  q->mark += q->n + 1;
  for (int32_t v = 0; v < q->length[p]; v++) {
    const int32_t hash = q->queue.previous[list[v]];
    if (q->weight[list[v]] == 0 || buckets[hash] < 0) continue;
    merge(q, buckets[hash]);
    buckets[hash] = -1;
  }
  int32_t kept = 0, rows = q->degree[p];
  for (int32_t v = 0; v < q->length[p]; v++) {
    const int32_t i = list[v];
    if (q->weight[i] == 0) continue;
    q->weight[i] = -q->weight[i];
    if (q->length[i] == 1) { /* nothing but p: it is eliminated with p */
      append_rows(q, p, i);
      rows -= q->weight[i];
      q->left -= q->weight[i];
      q->weight[i] = 0;
      q->elements[i] = -2;
      continue;
    }
    list[kept++] = i;
  }
  q->length[p] = kept;
  q->degree[p] = rows;
  for (int32_t v = 0; v < kept; v++) {
    const int32_t i = list[v], most = q->left - q->weight[i],
                  bound = q->degree[i] + rows - q->weight[i];
    q->degree[i] = bound < most ? bound : most;
    insert(q, i);
  }
  if (kept == 0) q->elements[p] = -2;
}

/* --- the whole --- */

static bool reserve(bisai_context *context, int64_t edges, quotient *q, int32_t **integers) {
  const size_t n = (size_t)q->n;
  q->store.room = edges + 2 * (int64_t)q->n + 1;
  *integers = bsi_allocate(context, 9 * n, sizeof **integers);
  if (*integers) q->store.ptr = bsi_allocate(context, n, sizeof *q->store.ptr);
  if (q->store.ptr) q->outside = bsi_allocate(context, n, sizeof *q->outside);
  if (q->outside)
    q->store.lists = bsi_allocate(context, (size_t)q->store.room, sizeof *q->store.lists);
  if (q->store.lists)
    q->store.copy = bsi_allocate(context, (size_t)q->store.room, sizeof *q->store.copy);
  if (!q->store.copy) return false;
  int32_t **const parts[] = {&q->length,         &q->elements,   &q->weight,
                             &q->degree,         &q->queue.head, &q->queue.next,
                             &q->queue.previous, &q->follower,   &q->last};
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) *parts[k] = *integers + k * n;
  return true;
}

static bool is_dense(const bsi_graph *graph, int32_t i) {
  const double most = DENSE * sqrt((double)graph->n);
  const int32_t degree = bsi_graph_degree(graph, i);
  return degree > LEAST_DENSE && degree > most;
}

/* Makes variables of all rows but the dense ones. */
static void fill(const bsi_graph *graph, quotient *q) {
  for (int32_t i = 0; i < q->n; i++) {
    q->weight[i] = !is_dense(graph, i);
    q->left += q->weight[i];
    q->queue.head[i] = q->follower[i] = -1;
    q->last[i] = i;
    q->outside[i] = 0;
    q->elements[i] = q->weight[i] > 0 ? 0 : -2;
  }
  for (int32_t i = 0; i < q->n; i++) {
    q->store.ptr[i] = q->store.used;
    if (q->weight[i] == 0) continue;
    for (int32_t p = graph->ptr[i]; p < graph->ptr[i + 1]; p++)
      if (q->weight[graph->neighbours[p]] > 0)
        q->store.lists[q->store.used++] = graph->neighbours[p];
    q->length[i] = q->degree[i] = (int32_t)(q->store.used - q->store.ptr[i]);
    insert(q, i);
  }
}

/* Writes the dense rows behind `count` others. */
static void write_dense(const bsi_graph *graph, int32_t count, int32_t *permutation) {
  for (int32_t i = 0; i < graph->n; i++)
    if (is_dense(graph, i)) permutation[count++] = i;
}

static int32_t eliminate(quotient *q, int32_t *buckets, int32_t *permutation) {
  int32_t count = 0, least = 0;
  while (q->left > 0) {
    while (q->queue.head[least] < 0) least++;
    const int32_t p = q->queue.head[least];
    remove_from_degree(q, p);
    make_element(q, p);
    update_variables(q, p, buckets);
    for (int32_t i = p; i >= 0; i = q->follower[i]) permutation[count++] = i;
    for (int32_t v = 0; v < q->length[p]; v++) {
      const int32_t degree = q->degree[q->store.lists[q->store.ptr[p] + v]];
      if (degree < least) least = degree;
    }
  }
  return count;
}

bisai_status bsi_order_minimum_degree(bisai_context *context, const bsi_graph *graph,
                                      int32_t *permutation) {
  quotient q = {.n = graph->n};
  int32_t *integers = NULL, *buckets = NULL;
  bool reserved = reserve(context, graph->ptr[graph->n], &q, &integers);
  if (reserved) buckets = bsi_allocate(context, (size_t)graph->n, sizeof *buckets);
  reserved = buckets != NULL;
  if (reserved) {
    for (int32_t i = 0; i < graph->n; i++) buckets[i] = -1;
    fill(graph, &q);
    write_dense(graph, eliminate(&q, buckets, permutation), permutation);
  }
  bsi_release(context, buckets);
  bsi_release(context, q.store.copy);
  bsi_release(context, q.store.lists);
  bsi_release(context, q.outside);
  bsi_release(context, q.store.ptr);
  bsi_release(context, integers);
  return reserved ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}
