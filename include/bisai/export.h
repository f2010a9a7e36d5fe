/* SPDX-License-Identifier: BSD-3-Clause */
/** @file export.h
 *  Symbol visibility. All symbols are hidden except those marked BISAI_API. */
#ifndef BISAI_EXPORT_H
#define BISAI_EXPORT_H

#if defined(__GNUC__) || defined(__clang__)
#define BISAI_API __attribute__((visibility("default")))
#else
#define BISAI_API
#endif

#endif
