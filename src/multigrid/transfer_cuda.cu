/* SPDX-License-Identifier: BSD-3-Clause */
#include "multigrid/multigrid_ops.h"

const bsi_transfer_ops bsi_transfer_cuda = {};
