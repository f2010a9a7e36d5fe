/* SPDX-License-Identifier: BSD-3-Clause */
/* How many threads a context has by default. */
#ifndef BSI_PROCESSORS_H
#define BSI_PROCESSORS_H

/* Processors that the calling thread may use: those of its affinity mask, or as many as the quota
 * pays for if that is less. */
int bsi_processors(void);

/* Processors that the CPU quota of the process's control groups pays for (cpu.max of version 2,
 * cpu.cfs_quota_us of version 1), rounded down, at least 1; INT_MAX where there is none. Files are
 * read under `root`, "" outside of tests. */
int bsi_quota(const char *root);

/* The number that `wish`, the text of OMP_NUM_THREADS, begins with, if that is at least 1 and less
 * than `processors`; otherwise `processors`. NULL: no wish. */
int bsi_threads_wished(const char *wish, int processors);

#endif
