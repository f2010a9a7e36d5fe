/* SPDX-License-Identifier: BSD-3-Clause */
/* The message of a context's last failure. */
#include <stdarg.h>
#include <stdio.h>

#include "core/context/context_impl.h"

bisai_status(bsi_fail)(bisai_context *context, bisai_status status, const char *format, ...) {
  if (!context) return status;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(context->error, sizeof context->error, format, arguments);
  va_end(arguments);
  context->failures++;
  return status;
}

bisai_status bsi_fail_at(bisai_context *context, bisai_status status, const char *format, ...) {
  char place[sizeof context->error], message[sizeof context->error];
  if (!status || status == BISAI_OUT_OF_MEMORY) return status;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(place, sizeof place, format, arguments);
  va_end(arguments);
  snprintf(message, sizeof message, "%s", context->error);
  return bsi_fail(context, status, "%s: %s", place, message);
}

bisai_status bisai_context_fail(bisai_context *context, bisai_status status, const char *message) {
  if (context && message == context->error) {
    context->failures++;
    return status;
  }
  return bsi_fail(context, status, "%s", message ? message : bisai_status_string(status));
}

bisai_status bsi_fail_callback(bisai_context *context, const char *callback, bisai_status returned,
                               unsigned before) {
  char message[sizeof context->error] = "";
  const bool recorded = context->failures != before;
  if (recorded) snprintf(message, sizeof message, "%s", context->error);
  return bsi_fail(context, BISAI_CALLBACK_FAILED, "%s returned status %d (%s)%s%s", callback,
                  (int)returned, bisai_status_string(returned), recorded ? ": " : "", message);
}

bisai_status bsi_check_struct(bisai_context *context, const char *name, size_t given,
                              size_t expected) {
  if (given == expected) return BISAI_OK;
  return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                  "%s.struct_size is %zu, expected %zu: start from its default", name, given,
                  expected);
}

bisai_status bsi_check_report(bisai_context *context, const char *name, size_t given,
                              size_t expected) {
  if (given == expected) return BISAI_OK;
  return bsi_fail(
      context, BISAI_INVALID_ARGUMENT,
      "%s.struct_size is %zu, expected %zu: set it to the struct's size in this version's headers",
      name, given, expected);
}

const char *bisai_context_error(const bisai_context *context) {
  return context ? context->error : "";
}
