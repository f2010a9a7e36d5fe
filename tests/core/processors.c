/* SPDX-License-Identifier: BSD-3-Clause */
/* How many threads a context has by default: affinity mask, CPU quotas of control groups (from
 * folders made for the test), OMP_NUM_THREADS. */
#define _GNU_SOURCE
#include <limits.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

#include "core/threads/processors.h"

static char root[] = "/tmp/bisai-processors-XXXXXX";

/* Writes root/name, making its folders. */
static void put(const char *name, const char *text) {
  char path[512];
  assert_true(snprintf(path, sizeof path, "%s/%s", root, name) < (int)sizeof path);
  for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
    *slash = '\0';
    mkdir(path, 0700);
  }
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static int make_root(void **state) {
  (void)state;
  memcpy(root + strlen(root) - 6, "XXXXXX", 6);
  return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state) {
  (void)state;
  char command[128];
  snprintf(command, sizeof command, "rm -r '%s'", root);
  return system(command);
}

static void without_files_there_is_no_quota(void **state) {
  (void)state;
  assert_int_equal(bsi_quota(root), INT_MAX);
  put("proc/self/cgroup", "0::/\n");
  assert_int_equal(bsi_quota(root), INT_MAX);
  put("proc/self/mountinfo", "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  assert_int_equal(bsi_quota(root), INT_MAX);
}

static void quota_of_version_2_is_rounded_down_to_at_least_1(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int processors;
  } cases[] = {{"max 100000\n", INT_MAX},
               {"400000 100000\n", 4},
               {"399999 100000\n", 3},
               {"50000 100000\n", 1},
               {"1000 50000\n", 1},
               {"nonsense\n", INT_MAX},
               {"", INT_MAX},
               {"0 0\n", INT_MAX}};
  put("proc/self/cgroup", "0::/\n");
  put("proc/self/mountinfo",
      "22 1 8:1 / / rw,relatime - ext4 /dev/root rw\n30 22 0:26 / /sys/fs/cgroup rw shared:4 - "
      "cgroup2 cgroup2 rw,nsdelegate\n");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    put("sys/fs/cgroup/cpu.max", cases[i].text);
    assert_int_equal(bsi_quota(root), cases[i].processors);
  }
}

static void quota_of_an_outer_group_counts_too(void **state) {
  (void)state;
  put("proc/self/cgroup", "0::/work.slice/job/step\n");
  put("proc/self/mountinfo", "30 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  put("sys/fs/cgroup/work.slice/job/step/cpu.max", "800000 100000\n");
  assert_int_equal(bsi_quota(root), 8);
  put("sys/fs/cgroup/work.slice/cpu.max", "300000 100000\n");
  assert_int_equal(bsi_quota(root), 3);
  put("sys/fs/cgroup/work.slice/job/cpu.max", "200000 100000\n");
  assert_int_equal(bsi_quota(root), 2);
  put("sys/fs/cgroup/work.slice/other/cpu.max", "100000 100000\n"); /* not ours */
  assert_int_equal(bsi_quota(root), 2);
}

/* As Docker shows it without a namespace of control groups: the container's group is mounted, its
 * path is the host's. */
static void quota_of_version_1_is_found_where_a_container_sees_it(void **state) {
  (void)state;
  put("proc/self/cgroup",
      "5:memory:/docker/abc\n4:cpuacct,cpu:/docker/abc\n3:cpuset:/docker/abc\n");
  put("proc/self/mountinfo",
      "31 22 0:27 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
      "32 22 0:28 /docker/abc /sys/fs/cgroup/cpuset ro - cgroup cgroup rw,cpuset\n"
      "33 22 0:29 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro master:9 - cgroup cgroup "
      "rw,cpu,cpuacct\n");
  put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "50000\n");
  put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  put("sys/fs/cgroup/cpuset/cpu.cfs_period_us", "50000\n");
  put("sys/fs/cgroup/cpuset/cpu.cfs_quota_us", "50000\n"); /* another controller's */
  assert_int_equal(bsi_quota(root), INT_MAX);
  put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "250000\n");
  assert_int_equal(bsi_quota(root), 5);
}

static void the_smaller_of_both_versions_counts(void **state) {
  (void)state;
  put("proc/self/cgroup", "1:cpu:/\n0::/\n");
  put("proc/self/mountinfo",
      "31 22 0:27 / /one rw - cgroup cgroup rw,cpu\n32 22 0:28 / /two rw - cgroup2 cgroup2 rw\n");
  put("one/cpu.cfs_period_us", "100000\n");
  put("one/cpu.cfs_quota_us", "600000\n");
  put("two/cpu.max", "700000 100000\n");
  assert_int_equal(bsi_quota(root), 6);
  put("two/cpu.max", "200000 100000\n");
  assert_int_equal(bsi_quota(root), 2);
}

static void omp_num_threads_can_only_lower_the_number(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int threads;
  } cases[] = {{NULL, 16},
               {"4", 4},
               {" 4 ", 4},
               {"4,2", 4},
               {"16", 16},
               {"17", 16},
               {"99999999999", 16},
               {"0", 16},
               {"-3", 16},
               {"four", 16},
               {"", 16},
               {"4x", 16},
               {"1", 1},
               {"99999999999999999999999", 16},
               {"4 ,2", 4},
               {",4", 16}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    assert_int_equal(bsi_threads_wished(cases[i].text, 16), cases[i].threads);
}

static int default_threads(void) {
  bisai_context *context = test_host_context(0);
  const int threads = bisai_context_threads(context);
  bisai_context_destroy(&context);
  return threads;
}

static void a_context_has_no_more_threads_than_its_affinity_mask_processors(void **state) {
  (void)state;
  cpu_set_t before, one;
  assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
  assert_in_range(default_threads(), 1, CPU_COUNT(&before));
  CPU_ZERO(&one);
  for (size_t i = 0; CPU_COUNT(&one) == 0; i++)
    if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
  assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
  const int threads = default_threads();
  assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
  assert_int_equal(threads, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(without_files_there_is_no_quota, make_root, remove_root),
      cmocka_unit_test_setup_teardown(quota_of_version_2_is_rounded_down_to_at_least_1, make_root,
                                      remove_root),
      cmocka_unit_test_setup_teardown(quota_of_an_outer_group_counts_too, make_root, remove_root),
      cmocka_unit_test_setup_teardown(quota_of_version_1_is_found_where_a_container_sees_it,
                                      make_root, remove_root),
      cmocka_unit_test_setup_teardown(the_smaller_of_both_versions_counts, make_root, remove_root),
      cmocka_unit_test(omp_num_threads_can_only_lower_the_number),
      cmocka_unit_test(a_context_has_no_more_threads_than_its_affinity_mask_processors),
  };
  return cmocka_run_group_tests_name("processors", tests, NULL, NULL);
}
