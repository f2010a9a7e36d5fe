/* SPDX-License-Identifier: BSD-3-Clause */
/* Scalar CSR arrays in the memory of a device. */
#ifndef BSI_DEVICE_CSR_H
#define BSI_DEVICE_CSR_H

#include <bisai/bcsr.h>

#include "core/matrix/entry_map.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns true if the device has the row pointers. */
bool bsi_csr_is_on_device(const bisai_context *context, const bisai_csr_desc *desc);

/* Refuses arrays of which the device has only some. */
bisai_status bsi_device_csr_check(bisai_context *context, const bisai_csr_desc *desc);

/* Does bisai_bcsr_from_csr() on the device, for blocks of a given size that divides the matrix, and
 * rows whose columns ascend. *matrix stays NULL if the arrays are others, faulty ones among them.
 * Waits. */
typedef bisai_status bsi_unite_rows(bisai_context *context, const bisai_csr_desc *desc,
                                    bisai_bcsr **matrix);
bsi_unite_rows bsi_unite_rows_host, bsi_unite_rows_cuda;

/* *host ← the description with copies of the arrays in host memory, which the caller releases by
 * bsi_device_csr_release(), also after a failure. Waits. */
bisai_status bsi_device_csr_fetch(bisai_context *context, const bisai_csr_desc *desc,
                                  bisai_csr_desc *host);
void bsi_device_csr_release(bisai_context *context, bisai_csr_desc *host);

/* Copies the map of a matrix that was made on the device to host memory, unless it is there.
 * Waits. */
bisai_status bsi_device_map_fetch(bisai_context *context, bsi_entry_map *map);

#ifdef __cplusplus
}
#endif

#endif
