/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that have to fail. */
#include "runner.h"

TEST(a_check_fails) {
  verdict(true, "not printed");
  verdict(false, "%d is not %d", 2, 3);
}

TEST(nothing_is_checked) {}

static __global__ void nothing() {}

TEST(a_launch_fails) {
  nothing<<<1, 1 << 20>>>();
  verdict(true, "not printed");
}

TEST(a_test_is_skipped) { SKIP("as an example"); }
