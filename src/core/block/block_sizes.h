/* SPDX-License-Identifier: BSD-3-Clause */
/* The block sizes with specialised code. This one list drives every specialisation. Other sizes
 * take a path with the size at run time. */
#ifndef BSI_BLOCK_SIZES_H
#define BSI_BLOCK_SIZES_H

#define BSI_BLOCK_SIZES(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8)
enum { BSI_SPECIAL_SIZES = 8 };

#endif
