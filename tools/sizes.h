/* SPDX-License-Identifier: BSD-3-Clause */
/* A block size that may work better after a failure. */
#ifndef SIZES_H
#define SIZES_H

#include "problem.h"

/* Proposes another block size on standard error if the present one has singular diagonal blocks
 * that another size does not have, or is poorly filled. Returns false if it proposes none. */
bool sizes_suggest(bisai_context *context, const problem *p);

#endif
