#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/parallel.h"

enum { MAX_THREADS = 4096 };

bisai_status bsi_fail(bisai_context *context, bisai_status status, const char *format, ...) {
  if (!context) return status;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(context->error, sizeof context->error, format, arguments);
  va_end(arguments);
  return status;
}

bisai_status bisai_context_fail(bisai_context *context, bisai_status status, const char *message) {
  if (context && message == context->error) return status;
  return bsi_fail(context, status, "%s", message ? message : bisai_status_string(status));
}

bisai_status bsi_check_struct(bisai_context *context, const char *name, size_t given, size_t expected) {
  if (given == expected) return BISAI_OK;
  return bsi_fail(context, BISAI_INVALID_ARGUMENT, "%s.struct_size is %zu, expected %zu: start from its default", name,
                  given, expected);
}

bisai_context_options bisai_context_options_default(void) {
  return (bisai_context_options){.struct_size = sizeof(bisai_context_options), .backend = BISAI_BACKEND_AUTO};
}

static void describe_processor(char *text, size_t size) {
  snprintf(text, size, "CPU");
  FILE *file = fopen("/proc/cpuinfo", "r");
  if (!file) return;
  char line[256];
  while (fgets(line, sizeof line, file)) {
    const char *colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) != 0 || !colon) continue;
    const char *name = colon + 1 + strspn(colon + 1, " \t");
    snprintf(text, size, "%.*s", (int)strcspn(name, "\n"), name);
    break;
  }
  fclose(file);
}

bisai_status bisai_context_create(const bisai_context_options *options, bisai_context **context) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  const bisai_context_options o = options ? *options : bisai_context_options_default();
  if (o.struct_size != sizeof o || o.threads < 0 || o.threads > MAX_THREADS || o.backend < BISAI_BACKEND_AUTO ||
      o.backend > BISAI_BACKEND_CUDA || !o.allocator.allocate != !o.allocator.release)
    return BISAI_INVALID_ARGUMENT;
  if (o.backend == BISAI_BACKEND_CUDA) return BISAI_UNAVAILABLE;

  bisai_context *c =
      o.allocator.allocate ? o.allocator.allocate(o.allocator.user, sizeof *c, BSI_ALIGNMENT) : malloc(sizeof *c);
  if (!c) return BISAI_OUT_OF_MEMORY;
  memset(c, 0, sizeof *c);
  c->backend = &bsi_backend_host;
  c->allocator = o.allocator;
  c->threads = o.threads > 0 ? o.threads : omp_get_max_threads();
#ifndef _OPENMP
  c->threads = 1;
#endif
  describe_processor(c->device, sizeof c->device);
  *context = c;
  return BISAI_OK;
}

void bisai_context_destroy(bisai_context **context) {
  if (!context || !*context) return;
  bisai_context *c = *context;
  *context = NULL;
  bsi_release(c, c);
}

const char *bisai_context_error(const bisai_context *context) { return context ? context->error : ""; }

bisai_backend bisai_context_backend(const bisai_context *context) { return context->backend->kind; }

const char *bisai_context_device(const bisai_context *context) { return context->device; }

void *bisai_context_stream(const bisai_context *context) { return context->stream; }

int bisai_context_threads(const bisai_context *context) { return context->threads; }
