/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrices of the SuiteSparse collection that Ma et al. 2021 solve (tables 1, 2 and 4), known
 * by file name. */
#include <string.h>

#include "cases.h"

#define COLLECTION "https://suitesparse-collection-website.herokuapp.com/MM/"

static const case_suitesparse known[] = {
    {"atmosmodd", "Bourchtein", 4, 1e-8, COLLECTION "Bourchtein/atmosmodd.tar.gz"},
    {"af_shell3", "Schenk_AFE", 5, 1e-8, COLLECTION "Schenk_AFE/af_shell3.tar.gz"},
    {"venkat50", "Simon", 4, 1e-8, COLLECTION "Simon/venkat50.tar.gz"},
};

/* Returns true for .mtx and .tar, compressed or not. */
static bool is_matrix_ending(const char *ending) {
  static const char *const packed[] = {"", ".gz", ".xz", ".bz2", ".zst"};
  if (strcmp(ending, ".tgz") == 0) return true;
  if (strncmp(ending, ".mtx", 4) != 0 && strncmp(ending, ".tar", 4) != 0) return false;
  for (size_t i = 0; i < sizeof packed / sizeof packed[0]; i++)
    if (strcmp(ending + 4, packed[i]) == 0) return true;
  return false;
}

const case_suitesparse *case_suitesparse_find(const char *path) {
  const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    size_t length = strlen(known[i].name);
    if (strncmp(file, known[i].name, length) == 0 && is_matrix_ending(file + length))
      return &known[i];
  }
  return NULL;
}
