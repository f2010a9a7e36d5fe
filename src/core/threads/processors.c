/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* for affinity masks, which POSIX does not define */
#include "core/threads/processors.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_BYTES = 4096 /* bytes of a path or of a line */ };

/* Returns the size of the affinity mask. The mask may be larger than the C library's, because the
 * kernel may support more processors. */
static int affinity(void) {
#ifdef __linux__
  for (int size = CPU_SETSIZE; size <= 1 << 20; size *= 2) {
    cpu_set_t *mask = CPU_ALLOC((size_t)size);
    if (!mask) break;
    const size_t bytes = CPU_ALLOC_SIZE((size_t)size);
    const int failed = sched_getaffinity(0, bytes, mask), reason = errno;
    const int count = failed ? 0 : CPU_COUNT_S(bytes, mask);
    CPU_FREE(mask);
    if (count > 0) return count;
    if (reason != EINVAL) break;
  }
#endif
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online < 1 ? 1 : online < INT_MAX ? (int)online : INT_MAX;
}

/* Reads the first line of folder/name. Returns false if there is none. */
static bool read_line(const char *folder, const char *name, char *line) {
  char path[2 * MAX_BYTES];
  if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) return false;
  FILE *file = fopen(path, "r");
  if (!file) return false;
  const bool is_read = fgets(line, MAX_BYTES, file) != NULL;
  fclose(file);
  return is_read;
}

/* Reads the integer at *text and moves *text behind it. Returns false if there is no integer. */
static bool read_number(char **text, long long *number) {
  char *end;
  errno = 0;
  *number = strtoll(*text, &end, 10);
  const bool is_number = end != *text && errno == 0;
  *text = end;
  return is_number;
}

/* Returns the processors that a control group's quota pays for, or INT_MAX if it has no quota. */
static int quota_of(const char *folder, bool version_2) {
  char line[MAX_BYTES], *text = line;
  long long quota = -1, period = 0;
  if (!read_line(folder, version_2 ? "cpu.max" : "cpu.cfs_quota_us", line)) return INT_MAX;
  if (!read_number(&text, &quota)) return INT_MAX; /* "max", for example */
  if (!version_2) {
    if (!read_line(folder, "cpu.cfs_period_us", line)) return INT_MAX;
    text = line;
  }
  if (!read_number(&text, &period)) return INT_MAX;
  if (quota <= 0 || period <= 0 || quota / period >= INT_MAX) return INT_MAX;
  return quota < period ? 1 : (int)(quota / period);
}

/* Returns true if a comma-separated list contains `name`. */
static bool lists(const char *list, const char *name) {
  const size_t length = strlen(name);
  for (; list; list = strchr(list, ',')) {
    if (*list == ',') list++;
    if (strncmp(list, name, length) == 0 && (list[length] == ',' || list[length] == '\0'))
      return true;
  }
  return false;
}

/* The control groups of a process: path[0] that of the controller "cpu" of version 1, path[1] that
 * of version 2. A path is "" if the process is in no such group. */
typedef struct groups {
  char path[2][MAX_BYTES];
} groups;

/* Reads lines like "5:cpu,cpuacct:PATH" (version 1) and "0::PATH" (version 2). */
static bool read_groups(const char *root, groups *g) {
  char line[MAX_BYTES];
  g->path[0][0] = g->path[1][0] = '\0';
  if (snprintf(line, sizeof line, "%s/proc/self/cgroup", root) >= (int)sizeof line) return false;
  FILE *file = fopen(line, "r");
  if (!file) return false;
  while (fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':'),
         *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path) continue;
    *path = '\0';
    if (controllers[1] == '\0' || lists(controllers + 1, "cpu"))
      strcpy(g->path[controllers[1] == '\0'], path + 1);
  }
  fclose(file);
  return g->path[0][0] != '\0' || g->path[1][0] != '\0';
}

/* Returns the smallest quota of a control group and of its mounted ancestors. The group `mounted`
 * is visible at `point`. */
static int quota_under(const char *root, const char *mounted, const char *point, const char *group,
                       bool version_2) {
  char folder[2 * MAX_BYTES];
  const size_t length = strcmp(mounted, "/") == 0 ? 0 : strlen(mounted);
  const bool within =
      strncmp(group, mounted, length) == 0 && (group[length] == '/' || group[length] == '\0');
  const int written = snprintf(folder, sizeof folder, "%s%s%s", root, point,
                               within && group[1] != '\0' ? group + length : "");
  if (written >= (int)sizeof folder) return INT_MAX;
  const size_t top = strlen(root) + strlen(point);
  int smallest = INT_MAX;
  for (;;) {
    const int quota = quota_of(folder, version_2);
    if (quota < smallest) smallest = quota;
    char *slash = strrchr(folder, '/');
    if (!slash || (size_t)(slash - folder) < top) return smallest;
    *slash = '\0';
  }
}

/* Returns the smallest quota of all control groups of the process. Mounts have lines like "36 35
 * 98:0 MOUNTED POINT rw shared:1 - cgroup2 cgroup rw,…". */
int bsi_quota(const char *root) {
  groups g;
  char line[MAX_BYTES], mounted[MAX_BYTES], point[MAX_BYTES], type[64], options[MAX_BYTES];
  if (!read_groups(root, &g)) return INT_MAX;
  if (snprintf(line, sizeof line, "%s/proc/self/mountinfo", root) >= (int)sizeof line)
    return INT_MAX;
  FILE *file = fopen(line, "r");
  if (!file) return INT_MAX;
  int smallest = INT_MAX;
  while (fgets(line, sizeof line, file)) {
    const char *kind = strstr(line, " - cgroup");
    if (!kind || sscanf(kind, " - %63s %*s %4095s", type, options) != 2) continue;
    const bool version_2 = strcmp(type, "cgroup2") == 0;
    if (g.path[version_2][0] == '\0' || !(version_2 || lists(options, "cpu"))) continue;
    if (sscanf(line, "%*s %*s %*s %4095s %4095s", mounted, point) != 2) continue;
    const int quota = quota_under(root, mounted, point, g.path[version_2], version_2);
    if (quota < smallest) smallest = quota;
  }
  fclose(file);
  return smallest;
}

int bsi_processors(void) {
  const int processors = affinity(), quota = processors > 1 ? bsi_quota("") : INT_MAX;
  return quota < processors ? quota : processors;
}

int bsi_threads_wished(const char *wish, int processors) {
  if (!wish) return processors;
  char *end;
  errno = 0;
  const long number = strtol(wish, &end, 10);
  while (isspace((unsigned char)*end)) end++;
  /* the further numbers of a list are for nested regions */
  if (end == wish || (*end != '\0' && *end != ',') || number < 1) return processors;
  return number < processors ? (int)number : processors;
}
