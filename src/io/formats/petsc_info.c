/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/context/context_impl.h"
#include "io/formats/petsc_binary.h"
#include "io/streams/names.h"
#include "io/streams/number.h"
#include "io/streams/stored.h"
#include "io/streams/stream.h"

static const char option[] = "-matload_block_size";

/* Returns FILE.info for FILE and for FILE.gz, or NULL if out of memory. */
static char *info_path(bisai_context *context, const char *path) {
  static const char ending[] = ".info";
  size_t length = strlen(path);
  bsi_drop_compression(path, &length);
  char *info = bsi_allocate(context, length + sizeof ending, 1);
  if (!info) return NULL;
  memcpy(info, path, length);
  memcpy(info + length, ending, sizeof ending);
  return info;
}

/* Parses "N", or "N,N" for the rows and columns of a block. Returns 0 for anything else. */
static int32_t parse_block_size(const char *word) {
  char *end;
  if (!bsi_is_digit(*word)) return 0;
  const long size = strtol(word, &end, 10);
  if (*end == ',' && strtol(end + 1, &end, 10) != size) return 0;
  return bsi_ends_word(*end) && size <= BISAI_MAX_BLOCK_SIZE ? (int32_t)size : 0;
}

static bisai_status find_option(bisai_context *context, bsi_stream *stream, const char *path,
                                int32_t *block_size) {
  for (;;) {
    char *line;
    BSI_TRY(bsi_stream_next(stream, &line));
    if (!line) return BISAI_OK;
    while (bsi_is_blank(*line)) line++;
    if (strncmp(line, option, sizeof option - 1) != 0 || !bsi_ends_word(line[sizeof option - 1]))
      continue;
    char *word = line + sizeof option - 1;
    while (bsi_is_blank(*word)) word++;
    if (*word == '\n')
      return bsi_io_fail_because(context, "use", path, "its -matload_block_size has no value");
    const int32_t size = parse_block_size(word);
    if (size > 1) *block_size = size;
    if (size > 0) return BISAI_OK;
    return bsi_io_fail_because(context, "use", path,
                               "its -matload_block_size is not a number from 1 to 32");
  }
}

bisai_status bsi_petsc_block_size(bisai_context *context, const char *path, int32_t *block_size) {
  *block_size = 0;
  if (bsi_path_passes_once(path)) return BISAI_OK;
  char *info = info_path(context, path);
  if (!info) return BISAI_OUT_OF_MEMORY;
  bisai_status status = BISAI_OK;
  bsi_source *source = NULL;
  bsi_stream *stream = NULL;
  if (access(info, F_OK) == 0) {
    status = bsi_source_open_file(context, info, NULL, NULL, &source);
    if (!status) status = bsi_stream_open(source, &stream);
    if (!status) status = find_option(context, stream, info, block_size);
    bsi_stream_close(&stream);
    bsi_source_close(&source);
  }
  bsi_release(context, info);
  return status;
}

bisai_status bsi_petsc_write_info(bisai_context *context, const char *path, int32_t block_size,
                                  bool vector) {
  char *info = info_path(context, path);
  if (!info) return BISAI_OUT_OF_MEMORY;
  bsi_output *output = NULL;
  bisai_status status = bsi_output_open(context, info, false, BSI_PLAIN, &output);
  if (!status) {
    bsi_output_print(output, "%s %d\n", option, block_size);
    if (vector) bsi_output_print(output, "-vecload_block_size %d\n", block_size);
    status = bsi_output_close(&output, BISAI_OK);
  }
  bsi_release(context, info);
  return status;
}
