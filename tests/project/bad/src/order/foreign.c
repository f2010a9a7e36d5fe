/* SPDX-License-Identifier: BSD-3-Clause */
#include "bjacobi/bjacobi_ops.h" /* operations of a room that order must not use */
