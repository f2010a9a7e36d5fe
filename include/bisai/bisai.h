/* SPDX-License-Identifier: BSD-3-Clause */
/** @file bisai.h
 *  The whole public interface of bisai: preconditioners for block-sparse linear systems (BCSR). */
#ifndef BISAI_H
#define BISAI_H

#include <bisai/bcsr.h>
#include <bisai/context.h>
#include <bisai/factor.h>
#include <bisai/io.h>
#include <bisai/krylov.h>
#include <bisai/option.h>
#include <bisai/order.h>
#include <bisai/pattern.h>
#include <bisai/precond.h>
#include <bisai/pressure.h>
#include <bisai/project.h>
#include <bisai/ranks.h>
#include <bisai/solve.h>
#include <bisai/stages.h>
#include <bisai/status.h>
#include <bisai/study.h>
#include <bisai/text.h>
#include <bisai/version.h>

#endif
