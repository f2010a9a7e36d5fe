/* SPDX-License-Identifier: BSD-3-Clause */
/* An option as a part of a text. */
#ifndef BSI_TEXT_WRITE_H
#define BSI_TEXT_WRITE_H

#include <bisai/option.h>

#include <stdbool.h>

#include "text/writer.h"

/* Returns true unless the option is a WORD whose value has no word. */
bool bsi_has_word(const bisai_option *option, const void *options);

/* Returns true if a text can give the option its value. */
bool bsi_is_writable(const bisai_option *option, const void *options);

/* Writes ":key=value" unless the option has its default or no text can give its value. `shown`:
 * defaults that labels show are written too. */
void bsi_write_option(bsi_writer *w, const bisai_option *option, const void *options, bool shown);

#endif
