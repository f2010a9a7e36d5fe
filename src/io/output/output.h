/* SPDX-License-Identifier: BSD-3-Clause */
/* A file that is written: plain, compressed, or an archive of tar or zip. io/output/new_file.h
 * documents where it is until it is complete. After the first failure nothing is written;
 * bsi_output_finish() or bsi_output_close() reports it.*/
#ifndef BSI_OUTPUT_H
#define BSI_OUTPUT_H

#include <stdbool.h>

#include <bisai/io.h>

#include "io/streams/names.h"

typedef struct bsi_output bsi_output;

typedef enum bsi_container { BSI_SINGLE, BSI_TAR, BSI_ZIP } bsi_container;

/* `path` must outlive the output. A zip archive compresses its members, whatever `compression`
 * is. */
bisai_status bsi_output_open(bisai_context *context, const char *path, bsi_container container,
                             bsi_compression compression, bsi_output **output);

/* Opens an output that only counts bytes. */
bisai_status bsi_output_open_counter(bisai_context *context, bsi_output **output);

/* Begins the next file of an archive. Exactly `bytes` bytes must follow. */
void bsi_output_begin_member(bsi_output *output, const char *name, int64_t bytes);

void bsi_output_write(bsi_output *output, const void *bytes, size_t count);

/* Prints at most 256 bytes, in the C locale. */
void bsi_output_print(bsi_output *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns true if nothing has failed so far. Long loops may end early otherwise. */
bool bsi_output_good(const bsi_output *output);

/* Returns the bytes written, before compression. */
int64_t bsi_output_count(const bsi_output *output);

/* Returns true if the output is a regular file. */
bool bsi_output_is_file(const bsi_output *output);

/* Writes the remaining bytes. Nothing may be written after that. Returns `status`, the status of
 * the data, or if that is BISAI_OK the status of the output. */
bisai_status bsi_output_finish(bsi_output *output, bisai_status status);

/* Finishes the output if this was not done. If `status` and the output are without failure, the
 * file gets its name; otherwise it is removed. */
bisai_status bsi_output_close(bsi_output **output, bisai_status status);

#endif
