/* SPDX-License-Identifier: BSD-3-Clause */
/** @file stages.h
 *  Kinds of preconditioner that are composed of others, as CPR and SCHUR. */
#ifndef BISAI_STAGES_H
#define BISAI_STAGES_H

#include <stdbool.h>
#include <stdint.h>

#include <bisai/option.h>
#include <bisai/precond.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The most stages of a kind: other preconditioners of which it is composed, as those of CPR. */
enum { BISAI_PRECOND_STAGES = 2 };

/** Gives the kind of a stage, never one that is to be chosen.
 *  @param stage  from 0
 *  @param kind   out; unchanged if false is returned
 *  @returns      false if the kind of the options has no such stage */
BISAI_API bool bisai_precond_stage(const bisai_precond_options *options, int32_t stage,
                                   bisai_precond_kind *kind);

/** Returns the option of a kind that chooses the kind of a stage, a WORD whose words are "auto" and
 *  those of kinds. NULL: there is no such stage, or no choice. */
BISAI_API const bisai_option *bisai_precond_stage_option(bisai_precond_kind kind, int32_t stage);

/** Returns true if the options' kind, with the stages that the options choose, takes an option.
 *  bisai_precond_kind_takes() counts the options of all stages that can be chosen. */
BISAI_API bool bisai_precond_options_take(const bisai_precond_options *options, const char *field);

#ifdef __cplusplus
}
#endif
#endif
