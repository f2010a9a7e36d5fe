/* SPDX-License-Identifier: BSD-3-Clause */
#include "bytes.h"

enum { BLOCK = 512 };

void bytes_append(test_text *text, const void *bytes, size_t count) {
  if (text->room - text->length <= count) {
    text->room = 2 * text->room + count + 4096;
    text->bytes = realloc(text->bytes, text->room);
    assert_non_null(text->bytes);
  }
  if (count > 0) memcpy(text->bytes + text->length, bytes, count);
  text->length += count;
  text->bytes[text->length] = '\0';
}

void bytes_integer(test_text *text, int width, int64_t value) {
  for (int i = width - 1; i >= 0; i--) {
    const unsigned char byte = (unsigned char)((uint64_t)value >> 8 * i);
    bytes_append(text, &byte, 1);
  }
}

void bytes_double(test_text *text, double value) {
  int64_t bits;
  memcpy(&bits, &value, sizeof bits);
  bytes_integer(text, 8, bits);
}

void tar_member(test_text *text, char type, const char *name, const void *bytes, size_t count) {
  struct header {
    char name[100], mode[8], owner[8], group[8], size[12], time[12], sum[8], type, link[100],
        magic[6], version[2], rest[247];
  } h;
  assert_int_equal(sizeof h, BLOCK);
  memset(&h, 0, sizeof h);
  memset(h.sum, ' ', sizeof h.sum);
  snprintf(h.name, sizeof h.name, "%s", name);
  snprintf(h.mode, sizeof h.mode, "0000644");
  snprintf(h.owner, sizeof h.owner, "0000000");
  snprintf(h.group, sizeof h.group, "0000000");
  snprintf(h.size, sizeof h.size, "%011zo", count);
  snprintf(h.time, sizeof h.time, "00000000000");
  h.type = type;
  if (type == '2') snprintf(h.link, sizeof h.link, "/etc/passwd");
  memcpy(h.magic, "ustar", 6);
  memcpy(h.version, "00", 2);
  unsigned sum = 0;
  for (size_t i = 0; i < sizeof h; i++) sum += ((unsigned char *)&h)[i];
  snprintf(h.sum, sizeof h.sum, "%06o", sum);
  bytes_append(text, &h, sizeof h);
  static const char zeros[BLOCK];
  bytes_append(text, bytes, count);
  bytes_append(text, zeros, (BLOCK - count % BLOCK) % BLOCK);
}

void tar_text(test_text *text, const char *name, const char *content) {
  tar_member(text, '0', name, content, strlen(content));
}

void tar_end(test_text *text) {
  static const char zeros[2 * BLOCK];
  bytes_append(text, zeros, sizeof zeros);
}

void tar_write(test_text *text, const char *path) {
  tar_end(text);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(text->bytes, 1, text->length, file), text->length);
  assert_int_equal(fclose(file), 0);
  free(text->bytes);
}
