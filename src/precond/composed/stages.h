/* SPDX-License-Identifier: BSD-3-Clause */
/* Kinds of preconditioner that are composed of two others. */
#ifndef BSI_STAGES_H
#define BSI_STAGES_H

#include "precond/precond_impl.h"

/* Refuses options of kinds that are no stages of the options. `title` names the kind and its stages
 * in the message. */
bisai_status bsi_stages_check(bisai_context *context, const bisai_precond_options *given,
                              const char *title);

/* Refuses a stage on factors of the caller whose last update failed. `place` begins the message. */
bisai_status bsi_stage_check_ready(const bisai_precond *stage, const char *place);

#endif
