/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BISAI_CLIMB_H
#define BISAI_CLIMB_H

#define BISAI_API

BISAI_API int bisai_climb(int steps);
BISAI_API int bisai_nowhere(void);

#endif
