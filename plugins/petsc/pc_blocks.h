/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BSI_PETSC_PC_BLOCKS_H
#define BSI_PETSC_PC_BLOCKS_H

#include <petscpc.h>

/* Registers the types "bisai_asm" and "bisai_bjacobi". */
PetscErrorCode bsi_pc_register_blocks(void);

#endif
