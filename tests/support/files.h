/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that a test writes into a folder of its own. */
#ifndef BISAI_TEST_FILES_H
#define BISAI_TEST_FILES_H

#include "support.h"

/* A fresh folder under $TMPDIR or /tmp, and its removal with all that is in it. */
void test_folder_make(void);
void test_folder_remove(void);

/* The path of NAME there; overwritten by the next call but one. */
const char *test_path(const char *name);

/* Writes a file there and returns its path. */
const char *test_file(const char *name, const void *bytes, size_t count);

bool test_exists(const char *path);

/* The bytes of a file, with a NUL behind them, and their number unless `length` is NULL. Fails the
 * test if the file cannot be read. */
char *test_read(const char *path, size_t *length);
void test_expect_text(const char *path, const char *expected);

/* The number of entries of a folder. */
int test_entries(const char *path);

/* Text that grows. */
typedef struct test_text {
  /* ended by '\0' */
  char *bytes;
  size_t length, room;
} test_text;

void test_print(test_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
