/* Tar archives named as those of the SuiteSparse Matrix Collection: NAME.tar.gz holds the matrix NAME/NAME.mtx and, for some, the
 * right-hand side NAME/NAME_b.mtx, and more. */
#ifndef BSI_ARCHIVE_H
#define BSI_ARCHIVE_H

#include "io/source.h"

enum { BSI_MEMBER_BYTES = 512 };

/* Goes to the matrix and gives its name: of the files NAME.mtx the one named as the archive, else the one named as its folder, else the
 * only one. */
bisai_status bsi_archive_find_matrix(bsi_source *source, char name[BSI_MEMBER_BYTES]);

/* Goes to the right-hand side of that matrix; *found is false where there is none. */
bisai_status bsi_archive_find_rhs(bsi_source *source, char name[BSI_MEMBER_BYTES], bool *found);

/* Puts the member's name in front of the context's message; returns `status`. */
bisai_status bsi_archive_fail_in(bsi_source *source, const char *name, bisai_status status);

#endif
