/* SPDX-License-Identifier: BSD-3-Clause */
/* Larger matrices: entries in any order, memory within what is promised, failing allocations,
 * threads. */
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bytes.h"
#include "text.h"

/* Entry k of a matrix with four entries a row: (k/4, spread columns), k + 1. */
static void print_entry(test_text *text, int32_t n, int32_t k) {
  const int32_t row = k / 4,
                column = (int32_t)(((int64_t)row + (int64_t)(k % 4) * (n / 4 + 1)) % n);
  test_print(text, "%d %d %d\n", row + 1, column + 1, k + 1);
}

static void entries_in_any_order_make_the_same_matrix(void **state) {
  (void)state;
  /* Enough rows for one, two and three passes of grouping. */
  static const int32_t sizes[] = {5, 37, 500, 513, 5000, 300000};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    const int32_t n = sizes[s], count = 4 * n;
    int32_t *order = test_random_permutation(count, s);
    test_text ordered = {0}, permuted = {0}, backwards = {0};
    test_text *const all[] = {&ordered, &permuted, &backwards};
    for (size_t t = 0; t < 3; t++)
      test_print(all[t], "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", n, n,
                 count);
    for (int32_t k = 0; k < count; k++) {
      print_entry(&ordered, n, k);
      print_entry(&permuted, n, order[k]);
      print_entry(&backwards, n, count - 1 - k);
    }
    bisai_bcsr *expected = read_text(ordered.bytes, 2);
    for (size_t t = 1; t < 3; t++) {
      bisai_bcsr *got = read_text(all[t]->bytes, 2);
      test_expect_same(expected, got);
      bisai_bcsr_destroy(&got);
      free(all[t]->bytes);
    }
    /* Not only the same, but right: the product with ones is the sum of each row's entries. */
    if (n == 5000) {
      const size_t padded = (size_t)(n + bisai_bcsr_padding(expected));
      double *x = malloc(padded * sizeof *x), *y = malloc(padded * sizeof *y);
      for (size_t i = 0; i < padded; i++) x[i] = 1.0;
      EXPECT_OK(context, bisai_bcsr_multiply(expected, x, y));
      for (int32_t i = 0; i < n; i++)
        EXPECT_NEAR(16.0 * i + 10, y[i], 0.0); /* (4i + 1) + … + (4i + 4), integers */
      free(x);
      free(y);
    }
    bisai_bcsr_destroy(&expected);
    free(ordered.bytes);
    free(order);
  }
}

static void print_diagonal(test_text *text, int32_t n) {
  test_print(text, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", n, n, n);
  for (int32_t i = 1; i <= n; i++) test_print(text, "%d %d %.17g\n", i, i, 1.0 / i);
}

/* Fails unless reading took at most three times the bytes of the matrix that came out, 8·bs² + 4 a
 * block and 4 a block row. */
static void expect_peak(const char *name, const char *path, const test_text *text,
                        int32_t block_size) {
  test_allocator allocator;
  test_allocator_reset(&allocator, 0);
  bisai_context *own = test_context_on(&allocator, 1);
  bisai_read_options options = bisai_read_options_default();
  options.block_size = block_size;
  bisai_bcsr *matrix = NULL;
  EXPECT_OK(own, path ? bisai_read_matrix(own, path, &options, &matrix)
                      : bisai_read_matrix(own, test_path_of(text->bytes, text->length), &options,
                                          &matrix));
  const long long bs = bisai_bcsr_block_size(matrix);
  const long long bytes =
      (8 * bs * bs + 4) * bisai_bcsr_blocks(matrix) + 4LL * (bisai_bcsr_block_rows(matrix) + 1);
  const long long peak = atomic_load(&allocator.peak_bytes);
  if (peak > 3 * bytes)
    fail_msg("%s: %lld bytes at a time for a matrix of %lld bytes", name, peak, bytes);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&own);
}

/* A pipe cannot tell its size, so the count in the header is not believed at once. Starts a process
 * that writes the text into one. */
static pid_t start_pipe(const char *path, const test_text *text) {
  assert_int_equal(mkfifo(path, 0600), 0);
  const pid_t writer = fork();
  assert_true(writer >= 0);
  if (writer == 0) {
    const int file = open(path, O_WRONLY);
    size_t done = 0;
    for (ssize_t count; done < text->length; done += (size_t)count) {
      count = write(file, text->bytes + done, text->length - done);
      if (count <= 0) break;
    }
    _exit(done == text->length ? 0 : 1);
  }
  return writer;
}

/* Returns whether the reader has read all. */
static bool end_pipe(const char *path, pid_t writer) {
  int status = 1;
  assert_int_equal(waitpid(writer, &status, 0), writer);
  unlink(path);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* A grid of blocks of size bs, five a block row, permuted at random, or the lower triangle of
 * it. */
static void print_grid(test_text *text, int32_t side, int32_t bs, bool symmetric, bool pattern) {
  const int32_t block_rows = side * side, per_row = 5 * bs, all = block_rows * bs * per_row;
  int32_t *order = test_random_permutation(all, 8);
  test_text entries = {0};
  int32_t count = 0;
  for (int32_t k = 0; k < all; k++) {
    const int32_t row = order[k] / per_row, place = order[k] % per_row, block_row = row / bs;
    const int32_t offsets[] = {-side, -1, 0, 1, side};
    const int32_t block_col = block_row + offsets[place / bs];
    const int32_t col = block_col * bs + place % bs;
    if (block_col < 0 || block_col >= block_rows || (symmetric && col > row)) continue;
    count++;
    if (pattern)
      test_print(&entries, "%d %d\n", row + 1, col + 1);
    else
      test_print(&entries, "%d %d %.17g\n", row + 1, col + 1, cos(k));
  }
  test_print(text, "%%%%MatrixMarket matrix coordinate %s %s\n%d %d %d\n",
             pattern ? "pattern" : "real", symmetric ? "symmetric" : "general", block_rows * bs,
             block_rows * bs, count);
  text->bytes = realloc(text->bytes, text->length + entries.length + 1);
  assert_non_null(text->bytes);
  memcpy(text->bytes + text->length, entries.bytes, entries.length + 1);
  text->length += entries.length;
  free(entries.bytes);
  free(order);
}

static void memory_stays_within_three_times_the_matrix(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int32_t side, bs;
    bool symmetric, pattern;
  } cases[] = {
      {"scalar", 150, 1, false, false},
      {"blocks of 3", 60, 3, false, false},
      {"blocks of 8", 24, 8, false, false},
      {"scalar symmetric", 150, 1, true, false},
      {"symmetric blocks of 4", 45, 4, true, false},
      {"symmetric blocks of 8", 24, 8, true, false},
      {"pattern", 50, 4, false, true},
      {"symmetric pattern", 60, 3, true, true},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    test_text text = {0};
    print_grid(&text, cases[k].side, cases[k].bs, cases[k].symmetric, cases[k].pattern);
    expect_peak(cases[k].name, NULL, &text, 0);
    expect_peak(cases[k].name, NULL, &text, 1);
    const char *path = test_path("pipe");
    const pid_t writer = start_pipe(path, &text);
    expect_peak(cases[k].name, path, &text, 0);
    assert_true(end_pipe(path, writer));
    free(text.bytes);
  }
  test_text text = {0};
  print_diagonal(&text, 100000);
  expect_peak("diagonal", NULL, &text, 0);
  free(text.bytes);
}

/* What a reading came to. */
typedef struct outcome {
  bisai_status status;
  /* bytes: held at a time, of the matrix */
  long long peak, result;
  char message[256];
} outcome;

/* In place of a block size: nodes are looked for. */
enum { FIND_NODES = -1 };

static outcome read_within(const test_text *text, int32_t block_size, int64_t max_bytes) {
  test_allocator allocator;
  test_allocator_reset(&allocator, 0);
  bisai_context *own = test_context_on(&allocator, 1);
  bisai_read_options options = bisai_read_options_default();
  options.find_nodes = block_size == FIND_NODES;
  options.block_size = options.find_nodes ? 0 : block_size;
  options.max_bytes = max_bytes;
  bisai_bcsr *matrix = NULL;
  outcome o = {
      .status = bisai_read_matrix(own, test_path_of(text->bytes, text->length), &options, &matrix)};
  assert_true((o.status == BISAI_OK) == (matrix != NULL));
  snprintf(o.message, sizeof o.message, "%s", bisai_context_error(own));
  o.peak = atomic_load(&allocator.peak_bytes);
  if (matrix) {
    const long long bs = bisai_bcsr_block_size(matrix);
    o.result =
        (8 * bs * bs + 4) * bisai_bcsr_blocks(matrix) + 4LL * (bisai_bcsr_block_rows(matrix) + 1);
  }
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&own);
  assert_int_equal(atomic_load(&allocator.live_blocks), 0);
  return o;
}

enum { MEBI = 1 << 20 };

/* Nodes of 3 unknowns on a line, field by field. */
static void print_fields(test_text *text, int nodes) {
  test_print(text, "%%%%MatrixMarket matrix coordinate pattern general\n%d %d %d\n", 3 * nodes,
             3 * nodes, 9 * (3 * nodes - 2));
  for (int k = 0; k < nodes; k++)
    for (int j = k > 0 ? k - 1 : 0; j < nodes && j <= k + 1; j++)
      for (int c = 0; c < 9; c++)
        test_print(text, "%d %d\n", c / 3 * nodes + k + 1, c % 3 * nodes + j + 1);
}

/* A matrix of PETSc with that many entries in its last row. */
static void print_last_row(test_text *text, int32_t rows, int32_t entries) {
  const int32_t sizes[] = {1211216, rows, rows, entries};
  for (int k = 0; k < 4; k++) bytes_integer(text, 4, sizes[k]);
  for (int32_t i = 0; i < rows; i++) bytes_integer(text, 4, i == rows - 1 ? entries : 0);
  for (int32_t k = 0; k < entries; k++) bytes_integer(text, 4, k);
  for (int32_t k = 0; k < entries; k++) bytes_double(text, 1 + k);
}

static void few_entries_in_many_rows_take_16_bytes_a_row(void **state) {
  (void)state;
  enum { ROWS = 1000003 };
  static const int32_t sizes[] = {0, 1, 3, 8, 32, FIND_NODES};
  static const int32_t entries[] = {0, 1, 100000};
  for (int e = 0; e < 3; e++)
    for (int petsc = 0; petsc < 2; petsc++) {
      test_text text = {0};
      if (petsc) {
        print_last_row(&text, ROWS, entries[e]);
      } else {
        test_print(&text, "%%%%MatrixMarket matrix coordinate pattern general\n%d %d %d\n", ROWS,
                   ROWS, entries[e]);
        for (int32_t k = 0; k < entries[e]; k++)
          test_print(&text, "%d %d\n", ROWS - 5 * k, ROWS - 7 * k);
      }
      for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const outcome o = read_within(&text, sizes[k], 0);
        assert_int_equal(o.status, BISAI_OK);
        const long long most = 3 * o.result + 16LL * ROWS + MEBI;
        if (o.peak > most)
          fail_msg("%d entries, blocks of %d: %lld bytes at a time, promised are %lld", entries[e],
                   sizes[k], o.peak, most);
      }
      free(text.bytes);
    }
}

static void nodes_take_at_most_4_times_the_result_and_80_bytes_a_row(void **state) {
  (void)state;
  enum { NODES = 100000 };
  test_text text = {0};
  print_fields(&text, NODES);
  const outcome o = read_within(&text, FIND_NODES, 0);
  assert_int_equal(o.status, BISAI_OK);
  assert_true(o.result == (8 * 9 + 4) * (3LL * NODES - 2) + 4 * (NODES + 1));
  const long long most = 4 * o.result + 80LL * 3 * NODES + MEBI;
  if (o.peak > most) fail_msg("%lld bytes at a time, promised are %lld", o.peak, most);
  free(text.bytes);
  bisai_read_options options = bisai_read_options_default();
  bisai_bcsr *matrix = NULL;
  options.find_nodes = true;
  options.block_size = 3;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_read_matrix(context, "any", &options, &matrix));
  EXPECT_MESSAGE(context, "find_nodes chooses the block size, and 3 is given");
}

static void announced_entries_are_believed_only_as_they_arrive(void **state) {
  (void)state;
  test_text text = {0};
  test_print(&text, "%%%%MatrixMarket matrix coordinate real general\n3 3 2000000\n1 1 1\n");
  while (text.length < 8 * MEBI) test_print(&text, "%% %0100d\n", 0);
  const outcome o = read_within(&text, 1, 0);
  assert_int_equal(o.status, BISAI_PARSE_ERROR);
  assert_non_null(strstr(o.message, "the file ends after 1 of 2000000 entries"));
  if (o.peak > 2 * MEBI) fail_msg("%lld bytes for one entry", o.peak);
  free(text.bytes);
}

static void max_bytes_is_kept(void **state) {
  (void)state;
  test_text texts[5] = {{0}};
  print_grid(&texts[0], 60, 3, true, false);
  print_grid(&texts[1], 150, 1, false, false);
  print_last_row(&texts[2], 200000, 100000);
  test_print(&texts[3],
             "%%%%MatrixMarket matrix coordinate real general\n2000000 2000000 1\n1 1 1\n");
  print_fields(&texts[4], 20000);
  static const int32_t sizes[] = {0, 1, 8, FIND_NODES};
  for (int t = 0; t < 5; t++) {
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
      const outcome whole = read_within(&texts[t], sizes[k], INT64_MAX);
      assert_int_equal(whole.status, BISAI_OK);
      assert_int_equal(read_within(&texts[t], sizes[k], whole.peak).status, BISAI_OK);
      int refused = 0;
      for (int part = 15; part > 0; part--) {
        const int64_t most = whole.peak * part / 16;
        const outcome o = read_within(&texts[t], sizes[k], most);
        if (o.peak > most + MEBI)
          fail_msg("%lld bytes at a time, %lld are allowed", o.peak, (long long)most);
        if (!o.status) continue;
        refused++;
        assert_int_equal(o.status, BISAI_OUT_OF_MEMORY);
        char allowed[80];
        snprintf(allowed, sizeof allowed, "bytes are needed at a time, and max_bytes allows %lld",
                 (long long)most);
        assert_non_null(strstr(o.message, allowed));
      }
      assert_true(refused > 5);
    }
    free(texts[t].bytes);
  }
}

static void a_number_of_rows_alone_takes_no_memory(void **state) {
  (void)state;
  test_text text = {0};
  test_print(&text,
             "%%%%MatrixMarket matrix coordinate real general\n2147483647 2147483647 1\n1 1 1\n");
  outcome o = read_within(&text, 1, 1 << 30);
  assert_int_equal(o.status, BISAI_OUT_OF_MEMORY);
  assert_string_equal(
      o.message,
      "at least 34359738364 bytes are needed at a time, and max_bytes allows 1073741824");
  assert_true(o.peak < MEBI);
  o = read_within(&text, 0, 1 << 30);
  assert_int_equal(o.status, BISAI_OUT_OF_MEMORY);
  assert_true(o.peak < MEBI);
  const int64_t memory = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
  if (memory < INT64_C(30) << 30) { /* the default */
    o = read_within(&text, 1, 0);
    assert_int_equal(o.status, BISAI_OUT_OF_MEMORY);
    assert_true(o.peak < MEBI);
  }
  free(text.bytes);

  text = (test_text){0};
  test_print(&text, "%%%%MatrixMarket matrix coordinate real general\n3000000 3000000 0\n");
  o = read_within(&text, 0, 64 << 20);
  assert_int_equal(o.status, BISAI_OK);
  free(text.bytes);
  bisai_read_options options = bisai_read_options_default();
  options.max_bytes = -1;
  bisai_bcsr *matrix = NULL;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_read_matrix(context, "any", &options, &matrix));
  EXPECT_MESSAGE(context, "max_bytes -1 is negative");
}

static void failing_allocations_leak_nothing(void **state) {
  (void)state;
  test_text text = {0};
  /* enough to grow several times; mirrored and out of order */
  print_grid(&text, 160, 1, true, false);
  bisai_status status = BISAI_OUT_OF_MEMORY;
  long long fail_at = 2; /* the first is the context's */
  for (; status == BISAI_OUT_OF_MEMORY && fail_at < 100; fail_at++) {
    test_allocator allocator;
    test_allocator_reset(&allocator, fail_at);
    bisai_context *own = test_context_on(&allocator, 1);
    bisai_bcsr *matrix = NULL;
    const char *path = test_path("pipe");
    const pid_t writer = start_pipe(path, &text);
    status = bisai_read_matrix(own, path, NULL, &matrix);
    assert_true(end_pipe(path, writer) || status);
    assert_true((status == BISAI_OK) == (matrix != NULL));
    if (status) {
      assert_int_equal(atomic_load(&allocator.live_blocks), 1);
      assert_memory_equal(bisai_context_error(own), "cannot allocate ", 16);
    }
    bisai_bcsr_destroy(&matrix);
    bisai_context_destroy(&own);
    assert_int_equal(atomic_load(&allocator.live_blocks), 0);
  }
  assert_int_equal(status, BISAI_OK);
  assert_true(fail_at > 20);
  free(text.bytes);
}

typedef struct reader {
  pthread_t thread;
  const test_text *text;
  bisai_context *own;
  bisai_bcsr *matrix;
} reader;

static void *read_in_thread(void *user) {
  reader *r = user;
  const bisai_read_options options = bisai_read_options_default();
  bisai_read_matrix(r->own, test_path_of(r->text->bytes, r->text->length), &options, &r->matrix);
  return NULL;
}

static void threads_with_contexts_of_their_own_read_the_same(void **state) {
  (void)state;
  test_text text = {0};
  print_grid(&text, 20, 3, false, false);
  enum { THREADS = 4 };
  reader readers[THREADS];
  for (int t = 0; t < THREADS; t++) {
    readers[t] = (reader){.text = &text, .own = test_context(1)};
    assert_int_equal(pthread_create(&readers[t].thread, NULL, read_in_thread, &readers[t]), 0);
  }
  for (int t = 0; t < THREADS; t++) pthread_join(readers[t].thread, NULL);
  for (int t = 0; t < THREADS; t++) {
    assert_non_null(readers[t].matrix);
    test_expect_same(readers[0].matrix, readers[t].matrix);
  }
  for (int t = 0; t < THREADS; t++) {
    bisai_bcsr_destroy(&readers[t].matrix);
    bisai_context_destroy(&readers[t].own);
  }
  free(text.bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(entries_in_any_order_make_the_same_matrix),
      cmocka_unit_test(memory_stays_within_three_times_the_matrix),
      cmocka_unit_test(few_entries_in_many_rows_take_16_bytes_a_row),
      cmocka_unit_test(nodes_take_at_most_4_times_the_result_and_80_bytes_a_row),
      cmocka_unit_test(announced_entries_are_believed_only_as_they_arrive),
      cmocka_unit_test(max_bytes_is_kept),
      cmocka_unit_test(a_number_of_rows_alone_takes_no_memory),
      cmocka_unit_test(failing_allocations_leak_nothing),
      cmocka_unit_test(threads_with_contexts_of_their_own_read_the_same),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
