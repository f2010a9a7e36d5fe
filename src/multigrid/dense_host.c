/* SPDX-License-Identifier: BSD-3-Clause */
#include "multigrid/multigrid_ops.h"

const bsi_dense_ops bsi_dense_host = {0};
