/* SPDX-License-Identifier: BSD-3-Clause */
#include "multigrid/multigrid_ops.h"

const bsi_sparse_ops bsi_sparse_host = {0};
