/* SPDX-License-Identifier: BSD-3-Clause */
#include "beside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "message.h"

static const char *const endings[] = {"", ".gz", ".xz", ".bz2", ".zst", ".lz", ".lz4", ".Z"};
enum { ENDINGS = sizeof endings / sizeof *endings };

size_t beside_ending(const char *path) {
  const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *found = NULL;
  for (const char *p = base; (p = strstr(p, ".mtx")); p++)
    if (p > base) found = p;
  return found ? (size_t)(found - path) : strlen(path);
}

/* Returns NAME_b and an ending for NAME.mtx. */
static char *name_with(const char *path, const char *ending) {
  const size_t before = beside_ending(path), bytes = before + strlen(ending) + sizeof "_b";
  char *text = malloc(bytes);
  if (text) snprintf(text, bytes, "%.*s_b%s", (int)before, path, ending);
  return text;
}

char *beside_name(const char *path) { return name_with(path, path + beside_ending(path)); }

static bool is_file(const char *path) {
  struct stat entry;
  return stat(path, &entry) == 0 && S_ISREG(entry.st_mode);
}

/* Returns true if the name is NAME.mtx, compressed or not. */
static bool is_market(const char *path) {
  const char *ending = path + beside_ending(path);
  for (int i = 0; *ending && i < ENDINGS; i++)
    if (strcmp(ending + strlen(".mtx"), endings[i]) == 0) return true;
  return false;
}

bool beside_find(const char *path, char **found) {
  *found = NULL;
  if (!is_market(path) || !is_file(path)) return true;
  char *name = beside_name(path);
  for (int i = 0; name && !is_file(name); i++) {
    free(name);
    if (i == ENDINGS) return true;
    char ending[16];
    snprintf(ending, sizeof ending, ".mtx%s", endings[i]);
    name = name_with(path, ending);
  }
  if (!name) say("out of memory");
  *found = name;
  return name != NULL;
}
