/* SPDX-License-Identifier: BSD-3-Clause */
/* The sections of the text of a preconditioner: which keys follow which word. */
#ifndef BSI_TEXT_SECTIONS_H
#define BSI_TEXT_SECTIONS_H

#include <bisai/text.h>

enum { BSI_SECTION_OWN, BSI_SECTION_FIRST, BSI_SECTION_SECOND };

/* What begins the section of a stage: "first" or "second". */
const char *bsi_section_head(int section);

/* The option that chooses the kind of a stage. NULL: there is no such stage, or no choice. */
const bisai_option *bsi_section_choice(const bisai_precond_options *options, int section);

#endif
