/* SPDX-License-Identifier: BSD-3-Clause */
/* Tar archives with the names of the SuiteSparse Matrix Collection: NAME.tar.gz holds the matrix
 * NAME/NAME.mtx and, for some matrices, the right-hand side NAME/NAME_b.mtx, and more. */
#ifndef BSI_SUITESPARSE_H
#define BSI_SUITESPARSE_H

#include "io/streams/source.h"

enum { BSI_MEMBER_BYTES = 512 };

typedef struct bsi_member {
  /* the position among the members, from 0 */
  int64_t position;
  char name[BSI_MEMBER_BYTES];
} bsi_member;

/* Goes from the beginning to the matrix. Of the files NAME.mtx it is the one named as the archive,
 * or else the one named as its folder, or else the only one. */
bisai_status bsi_archive_find_matrix(bsi_source *source, bsi_member *matrix);

/* Goes to the right-hand side of that matrix, before or behind it. *found ← false if there is none.
 * The source must be at the matrix, which may have been read. */
bisai_status bsi_archive_find_rhs(bsi_source *source, const bsi_member *matrix,
                                  char name[BSI_MEMBER_BYTES], bool *found);

/* Puts the member's name before the context's message. Returns `status`. */
bisai_status bsi_archive_fail_in(bsi_source *source, const char *name, bisai_status status);

#endif
