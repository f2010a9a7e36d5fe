/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "core/context/context_impl.h"
#include "core/context/words.h"
#include "core/threads/processors.h"
#include "core/threads/team.h"

BSI_DEFINE_WORDS(backend, BISAI_BACKEND_LIST, "unknown backend")

bisai_context_options bisai_context_options_default(void) {
  return (bisai_context_options){
      .struct_size = sizeof(bisai_context_options), .backend = BISAI_BACKEND_AUTO, .device = -1};
}

/* Returns the backend of a kind, or NULL if this build does not have it. */
static const bsi_backend *backend_of(bisai_backend kind) {
  if (kind == BISAI_BACKEND_HOST) return &bsi_backend_host;
#ifdef BISAI_HAVE_CUDA
  return &bsi_backend_cuda;
#else
  return NULL;
#endif
}

const char *bisai_backend_missing(bisai_backend backend, int device) {
  if (backend == BISAI_BACKEND_AUTO || backend == BISAI_BACKEND_HOST) return NULL;
  const bsi_backend *table = backend_of(backend);
  return table ? table->device->missing(device) : "this build has no CUDA backend";
}

static bool valid(const bisai_context_options *o) {
  return o->struct_size == sizeof *o && o->threads >= 0 && o->threads <= BSI_MAX_THREADS &&
         o->device >= -1 && o->backend >= BISAI_BACKEND_AUTO && o->backend <= BISAI_BACKEND_CUDA &&
         !o->allocator.allocate == !o->allocator.release &&
         !o->device_allocator.allocate == !o->device_allocator.release;
}

static int threads_for(int wish) {
#ifdef BISAI_HAVE_THREADS
  if (wish > 0) return wish;
  const int threads = bsi_threads_wished(getenv("OMP_NUM_THREADS"), bsi_processors());
  return threads < BSI_MAX_THREADS ? threads : BSI_MAX_THREADS;
#else
  (void)wish;
  return 1;
#endif
}

bisai_status bisai_context_create(const bisai_context_options *options, bisai_context **context) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  const bisai_context_options o = options ? *options : bisai_context_options_default();
  if (!valid(&o)) return BISAI_INVALID_ARGUMENT;
  const bool device =
      o.backend != BISAI_BACKEND_HOST && !bisai_backend_missing(BISAI_BACKEND_CUDA, o.device);
  if (o.backend == BISAI_BACKEND_CUDA && !device) return BISAI_UNAVAILABLE;

  bisai_context made = {.backend = backend_of(device ? BISAI_BACKEND_CUDA : BISAI_BACKEND_HOST),
                        .allocator = o.allocator,
                        .threads = threads_for(o.threads)};
  const size_t bytes = bsi_allocation_size(sizeof made); /* the team lies behind the context */
  bisai_context *c = bsi_allocate(&made, 1, bytes + bsi_team_bytes(made.threads));
  if (!c) return BISAI_OUT_OF_MEMORY;
  *c = made;
  bisai_status status = bsi_team_open((char *)c + bytes, c->threads, &c->team);
  if (!status) status = c->backend->device->open(c, &o);
  if (!status) status = bsi_backend_load(c);
  if (status)
    bisai_context_destroy(&c);
  else
    *context = c;
  return status;
}

void bisai_context_destroy(bisai_context **context) {
  if (!context || !*context) return;
  bisai_context *c = *context;
  *context = NULL;
  bsi_team_close(c->team);
  c->backend->device->close(c);
  bsi_release(c, c);
}

bisai_backend bisai_context_backend(const bisai_context *context) { return context->backend->kind; }

const char *bisai_context_device(const bisai_context *context) { return context->limits.name; }

void *bisai_context_stream(const bisai_context *context) { return context->stream; }

bisai_status bisai_context_synchronize(bisai_context *context) {
  return context ? context->backend->memory->synchronize(context) : BISAI_INVALID_ARGUMENT;
}

bisai_status bisai_context_device_memory(bisai_context *context, bool restart,
                                         bisai_device_memory *memory) {
  if (!memory) return bsi_fail(context, BISAI_INVALID_ARGUMENT, "memory is NULL");
  if (!context) return BISAI_INVALID_ARGUMENT;
  if (memory->struct_size != sizeof *memory)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "struct_size is %zu and should be %zu",
                    memory->struct_size, sizeof *memory);
  return context->backend->memory->report(context, restart, memory);
}

bisai_status bisai_context_trim(bisai_context *context) {
  return context ? context->backend->memory->trim(context) : BISAI_INVALID_ARGUMENT;
}

int bisai_context_threads(const bisai_context *context) { return context->threads; }
