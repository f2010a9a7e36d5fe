/* SPDX-License-Identifier: BSD-3-Clause */
/* Block products on a GPU. */
#ifndef BENCH_PRODUCTS_H
#define BENCH_PRODUCTS_H

#include "measurement.h"

/* Times block products in every storage format and on grids, and those of cuSPARSE. */
void device_measure_products(device_bench *b);

#endif
