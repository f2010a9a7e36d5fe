/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a fuzz target on every file of the folders given, so that targets and corpora are tried in
 * builds without libFuzzer. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"

static void replay_file(const char *path) {
  enum { MOST = 1 << 20 };
  FILE *file = fopen(path, "rb");
  uint8_t *bytes = malloc(MOST);
  if (!file || !bytes) {
    fprintf(stderr, "cannot read %s\n", path);
    exit(1);
  }
  const size_t count = fread(bytes, 1, MOST, file);
  fclose(file);
  LLVMFuzzerTestOneInput(bytes, count);
  free(bytes);
}

static int replay_folder(const char *path) {
  DIR *folder = opendir(path);
  if (!folder) {
    fprintf(stderr, "cannot open the folder %s\n", path);
    exit(1);
  }
  int count = 0;
  for (struct dirent *entry; (entry = readdir(folder));) {
    if (entry->d_name[0] == '.') continue;
    char name[4096];
    snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
    replay_file(name);
    count++;
  }
  closedir(folder);
  return count;
}

int main(int argc, char **argv) {
  int count = 0;
  for (int i = 1; i < argc; i++) count += replay_folder(argv[i]);
  printf("%d inputs\n", count);
  return count > 0 ? 0 : 1;
}
