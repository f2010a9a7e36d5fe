/* The matrices of the SuiteSparse collection that Ma et al. 2021 solve (tables 1, 2 and 4), known by file name. */
#include <string.h>

#include "cases.h"

#define COLLECTION "https://suitesparse-collection-website.herokuapp.com/MM/"

static const case_suitesparse known[] = {
    {"atmosmodd", "Bourchtein", 4, 1e-8, COLLECTION "Bourchtein/atmosmodd.tar.gz"},
    {"af_shell3", "Schenk_AFE", 5, 1e-8, COLLECTION "Schenk_AFE/af_shell3.tar.gz"},
    {"venkat50", "Simon", 4, 1e-8, COLLECTION "Simon/venkat50.tar.gz"},
};

static bool is_matrix_ending(const char *ending) {
  return strcmp(ending, ".mtx") == 0 || strcmp(ending, ".mtx.gz") == 0 || strcmp(ending, ".mtx.xz") == 0;
}

const case_suitesparse *case_suitesparse_find(const char *path) {
  const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
  for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
    size_t length = strlen(known[i].name);
    if (strncmp(file, known[i].name, length) == 0 && is_matrix_ending(file + length)) return &known[i];
  }
  return NULL;
}
