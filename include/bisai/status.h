/* SPDX-License-Identifier: BSD-3-Clause */
/** @file status.h
 *  Status codes: the return values of all calls that can fail. The numbers never change; new codes
 *  are appended. */
#ifndef BISAI_STATUS_H
#define BISAI_STATUS_H

#include <bisai/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The list of statuses: X(name, number, text). The enumeration and its strings are generated from
 *  it. */
#define BISAI_STATUS_LIST(X)                                                                       \
  X(BISAI_OK, 0, "success")                                                                        \
  X(BISAI_INVALID_ARGUMENT, 1, "invalid argument")                                                 \
  X(BISAI_OUT_OF_MEMORY, 2, "out of memory")                                                       \
  X(BISAI_INDEX_OVERFLOW, 3, "size exceeds the index type")                                        \
  X(BISAI_INVALID_STRUCTURE, 4, "invalid sparse structure")                                        \
  X(BISAI_NOT_FINITE, 5, "NaN or infinity")                                                        \
  X(BISAI_MISSING_DIAGONAL, 6, "missing diagonal block")                                           \
  X(BISAI_SINGULAR_BLOCK, 7, "singular diagonal block")                                            \
  X(BISAI_OVERFLOW, 8, "value exceeds the range of its storage type")                              \
  X(BISAI_NOT_READY, 9, "object not ready: its last update failed")                                \
  X(BISAI_UNAVAILABLE, 10, "not available in this build or on this machine")                       \
  X(BISAI_UNSUPPORTED, 11, "not supported")                                                        \
  X(BISAI_IO_ERROR, 12, "input/output error")                                                      \
  X(BISAI_PARSE_ERROR, 13, "malformed file")                                                       \
  X(BISAI_MAX_ITERATIONS, 14, "iteration limit reached before convergence")                        \
  X(BISAI_STAGNATED, 15, "solver stagnated")                                                       \
  X(BISAI_BREAKDOWN, 16, "solver broke down")                                                      \
  X(BISAI_STOPPED, 17, "stopped by the monitor")                                                   \
  X(BISAI_CALLBACK_FAILED, 18, "a caller's callback failed")                                       \
  X(BISAI_DEVICE_ERROR, 19, "device error")                                                        \
  X(BISAI_EXTERNAL_ERROR, 20, "another library failed")                                            \
  X(BISAI_NOT_SYMMETRIC, 21, "not symmetric")                                                      \
  X(BISAI_NOT_LINEAR, 22, "not linear")

/** The result of a call. BISAI_OK is 0; every other value is a failure. */
typedef enum bisai_status {
#define BISAI_STATUS_ENUM(name, number, text) name = number,
  BISAI_STATUS_LIST(BISAI_STATUS_ENUM)
#undef BISAI_STATUS_ENUM
} bisai_status;

/** Returns the text of a status, for example "singular diagonal block", and "unknown status" for
 *  other numbers. Never returns NULL. bisai_context_error() names the row, block or value that
 *  caused the failure. */
BISAI_API const char *bisai_status_string(bisai_status status);

#ifdef __cplusplus
}
#endif
#endif
