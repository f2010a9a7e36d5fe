/* SPDX-License-Identifier: BSD-3-Clause */
/* A build without NCCL. */
#include <stdio.h>

#include "nccl/nccl.h"

int bsi_nccl_of(MPI_Comm comm, const bsi_nccl **nccl, char why[BSI_NCCL_MESSAGE]) {
  (void)comm;
  *nccl = NULL;
  snprintf(why, BSI_NCCL_MESSAGE, "bisai was compiled without NCCL");
  return MPI_SUCCESS;
}

bisai_status bsi_nccl_exchange(const bsi_nccl *nccl, void *stream, int count,
                               const bisai_message *messages) {
  (void)nccl, (void)stream, (void)count, (void)messages;
  return BISAI_UNAVAILABLE;
}

bisai_status bsi_nccl_begin(const bsi_nccl *nccl, void *stream, int count,
                            const bisai_message *messages) {
  return bsi_nccl_exchange(nccl, stream, count, messages);
}

bisai_status bsi_nccl_end(const bsi_nccl *nccl, void *stream) {
  return bsi_nccl_exchange(nccl, stream, 0, NULL);
}

bisai_status bsi_nccl_sum(const bsi_nccl *nccl, void *stream, int count, double *values) {
  (void)nccl, (void)stream, (void)count, (void)values;
  return BISAI_UNAVAILABLE;
}
