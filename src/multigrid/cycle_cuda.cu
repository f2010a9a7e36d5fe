/* SPDX-License-Identifier: BSD-3-Clause */
#include "multigrid/multigrid_ops.h"

const bsi_cycle_ops bsi_cycle_cuda = {};
