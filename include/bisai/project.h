/* SPDX-License-Identifier: BSD-3-Clause */
/** @file project.h
 *  Taking a null space out of a vector.
 *
 *  If A is singular, A x = b has a solution only if b is orthogonal to the null space of Aᵀ, and x
 *  is known up to the null space of A. bisai_project() with vectors that span the null space of Aᵀ
 *  gives the b closest to the given one that has a solution. With vectors that span that of A, it
 *  gives the shortest of the solutions. For a symmetric A both are the same. */
#ifndef BISAI_PROJECT_H
#define BISAI_PROJECT_H

#include <stdint.h>

#include <bisai/context.h>
#include <bisai/export.h>
#include <bisai/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Computes x ← x − V (VᵀV)⁻¹ Vᵀ x, where the columns of V are `count` vectors. The vectors are
 *  orthonormalised in a copy. Both steps take two passes of classical Gram–Schmidt, so that what
 *  rounding leaves of V in x is about 10⁻¹⁶ of what is left of x, or less (Giraud, Langou,
 *  Rozložník and van den Eshof 2005). Takes about 4 n·count·(count + 1) additions and
 *  multiplications, and temporary memory of (n + 256)·(count + 1) values. The bits of x do not
 *  depend on the number of threads. Waits.
 *  @param n        the number of values of a vector, at least 1
 *  @param count    the number of vectors; 0: does nothing
 *  @param vectors  vector c starts at vectors + c·ld. On a device they and x may each be in device
 *                  memory, or in host memory, which is copied
 *  @param ld       at least n; not read for one vector
 *  @param x        n values, which do not overlap the vectors; unchanged on failure, unless the
 *                  device failed
 *  @retval BISAI_INVALID_ARGUMENT  an argument is NULL or out of range, or a vector is zero or a
 *                                  combination of those before it, but for 10⁻¹⁰ of its norm; the
 *                                  message names the vector
 *  @retval BISAI_NOT_FINITE        there is a NaN or an infinity in x or in a vector, which the
 *                                  message names
 *  @retval BISAI_OUT_OF_MEMORY, BISAI_DEVICE_ERROR */
BISAI_API bisai_status bisai_project(bisai_context *context, int64_t n, int32_t count,
                                     const double *vectors, int64_t ld, double *x);

#ifdef __cplusplus
}
#endif
#endif
