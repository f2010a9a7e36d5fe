/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of the two stages of CPR. */
#ifndef BSI_CPR_STAGES_H
#define BSI_CPR_STAGES_H

#include "precond/precond_impl.h"

/* bsi_precond_stages::kind of CPR. */
bisai_precond_kind bsi_cpr_stage_kind(const bisai_precond_options *given, int32_t stage);

/* Returns those of multigrid for the pressure matrix. */
bisai_precond_options bsi_cpr_first_options(const bisai_precond *m);

/* Returns those of the second stage. */
bisai_precond_options bsi_cpr_second_options(const bisai_precond_options *given);

/* Refuses options of another second stage than the one in use. */
bisai_status bsi_cpr_check_second(bisai_context *context, const bisai_precond_options *given);

#endif
