/* SPDX-License-Identifier: BSD-3-Clause */
#include "multigrid/multigrid_ops.h"

const bsi_aggregation_ops bsi_aggregation_host = {0};
