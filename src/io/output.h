/* SPDX-License-Identifier: BSD-3-Clause */
/* A file that is written: plain, compressed, or a tar archive. io/new_file.h documents where it is
 * until it is complete. After the first failure nothing is written; bsi_output_finish() or
 * bsi_output_close() reports it. */
#ifndef BSI_OUTPUT_H
#define BSI_OUTPUT_H

#include <stdbool.h>

#include <bisai/io.h>

#include "io/names.h"

typedef struct bsi_output bsi_output;

/* `path` must outlive the output. */
bisai_status bsi_output_open(bisai_context *context, const char *path, bool tar,
                             bsi_compression compression, bsi_output **output);

/* An output that only counts. */
bisai_status bsi_output_open_counter(bisai_context *context, bsi_output **output);

/* The next file of an archive; exactly `bytes` bytes must follow. */
void bsi_output_begin_member(bsi_output *output, const char *name, int64_t bytes);

void bsi_output_write(bsi_output *output, const void *bytes, size_t count);

/* At most 256 bytes, in the C locale whatever the caller's is. */
void bsi_output_print(bsi_output *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether nothing has failed so far, so that long loops may end early. */
bool bsi_output_good(const bsi_output *output);

/* Bytes written, before compression. */
int64_t bsi_output_count(const bsi_output *output);

/* Whether it is a file, neither a pipe nor a device. */
bool bsi_output_is_file(const bsi_output *output);

/* Writes what is left; nothing may be written after that. `status`: of what was to be written,
 * returned unless this fails. */
bisai_status bsi_output_finish(bsi_output *output, bisai_status status);

/* Finishes it where that was not done, and gives the file its name, or removes it unless `status`
 * and all else is well. */
bisai_status bsi_output_close(bsi_output **output, bisai_status status);

#endif
