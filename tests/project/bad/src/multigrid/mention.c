/* SPDX-License-Identifier: BSD-3-Clause */
/* bisai_climb() */
const char *bsi_mention(void);

const char *bsi_mention(void) { return "bisai_climb()"; }
