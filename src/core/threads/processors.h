/* SPDX-License-Identifier: BSD-3-Clause */
/* The default number of threads of a context. */
#ifndef BSI_PROCESSORS_H
#define BSI_PROCESSORS_H

/* Returns the number of processors that the calling thread may use: the size of its affinity mask,
 * or the CPU quota if that is smaller. */
int bsi_processors(void);

/* Returns the processors that the CPU quota of the process's control groups pays for (cpu.max of
 * version 2, cpu.cfs_quota_us of version 1), rounded down, but at least 1. Returns INT_MAX if there
 * is no quota. Files are read under `root`, which is "" outside of tests. */
int bsi_quota(const char *root);

/* Returns the number at the beginning of `wish`, the text of OMP_NUM_THREADS, if it is at least 1
 * and less than `processors`. Otherwise, and if `wish` is NULL, returns `processors`. */
int bsi_threads_wished(const char *wish, int processors);

#endif
