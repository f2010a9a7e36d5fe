/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that are wrong in one way each: the status, the exact message, nothing published, nothing
 * left allocated. */
#include "files.h"
#include "path_of.h"
#include "support.h"

#include "io/streams/stream.h"

typedef struct malformed {
  const char *name;
  const char *text;
  bisai_status status;
  const char *message;
} malformed;

#define REAL "%%MatrixMarket matrix coordinate real general\n"
#define INTEGER "%%MatrixMarket matrix coordinate integer general\n"
#define PATTERN "%%MatrixMarket matrix coordinate pattern general\n"
#define SYMMETRIC "%%MatrixMarket matrix coordinate real symmetric\n"
#define SKEW "%%MatrixMarket matrix coordinate real skew-symmetric\n"
#define ARRAY "%%MatrixMarket matrix array real general\n"

static const malformed matrices[] = {
    {"an_empty_file", "", BISAI_PARSE_ERROR, "line 1: the file is empty"},
    {"a_file_of_another_kind", "hello world\n", BISAI_PARSE_ERROR,
     "line 1: expected '%%MatrixMarket', found 'hello'"},
    {"a_blank_first_line", "\n" REAL "1 1 0\n", BISAI_PARSE_ERROR,
     "line 1: expected '%%MatrixMarket', found ''"},
    {"unprintable_bytes",
     "\x7f"
     "ELF\x02 1 2\n",
     BISAI_PARSE_ERROR, "line 1: expected '%%MatrixMarket', found '?ELF?'"},
    {"a_long_word", "%%MatrixMarketMatrixMarketMatrixMarketMatrixMarket\n", BISAI_PARSE_ERROR,
     "line 1: expected '%%MatrixMarket', found '%%MatrixMarketMatrixMarketMatrix...'"},
    {"a_header_without_anything", "%%MatrixMarket\n", BISAI_PARSE_ERROR,
     "line 1: the object is missing"},
    {"another_object", "%%MatrixMarket vector coordinate real general\n", BISAI_PARSE_ERROR,
     "line 1: unknown object 'vector'"},
    {"an_unknown_format", "%%MatrixMarket matrix coordinates real general\n", BISAI_PARSE_ERROR,
     "line 1: unknown format 'coordinates'"},
    {"an_unknown_field", "%%MatrixMarket matrix coordinate double general\n", BISAI_PARSE_ERROR,
     "line 1: unknown field 'double'"},
    {"an_unknown_symmetry", "%%MatrixMarket matrix coordinate real skew\n", BISAI_PARSE_ERROR,
     "line 1: unknown symmetry 'skew'"},
    {"a_header_without_symmetry", "%%MatrixMarket matrix coordinate real\n1 1 0\n",
     BISAI_PARSE_ERROR, "line 1: the symmetry is missing"},
    {"a_header_with_a_sixth_word", "%%MatrixMarket matrix coordinate real general now\n",
     BISAI_PARSE_ERROR, "line 1: unexpected 'now' at the end"},
    {"complex_values", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n",
     BISAI_UNSUPPORTED, "line 1: complex values are not supported"},
    {"a_hermitian_matrix", "%%MatrixMarket matrix coordinate real hermitian\n1 1 1\n1 1 1\n",
     BISAI_UNSUPPORTED, "line 1: Hermitian matrices are not supported"},
    {"a_skew_symmetric_pattern", "%%MatrixMarket matrix coordinate pattern skew-symmetric\n",
     BISAI_PARSE_ERROR, "line 1: a pattern cannot be skew-symmetric"},
    {"a_pattern_array", "%%MatrixMarket matrix array pattern general\n", BISAI_PARSE_ERROR,
     "line 1: an array cannot be a pattern"},
    {"an_array", ARRAY "1 1\n1\n", BISAI_UNSUPPORTED,
     "line 1: an array; a sparse matrix (coordinate) is needed"},
    {"a_header_alone", REAL, BISAI_PARSE_ERROR, "line 1: the file ends before its sizes"},
    {"comments_without_sizes", REAL "% one\n\n% two", BISAI_PARSE_ERROR,
     "line 4: the file ends before its sizes"},
    {"sizes_without_columns", REAL "3\n", BISAI_PARSE_ERROR,
     "line 2: the number of columns is missing"},
    {"sizes_without_entries", REAL "% comment\n3 3\n", BISAI_PARSE_ERROR,
     "line 3: the number of entries is missing"},
    {"a_fourth_size", REAL "3 3 1 1\n", BISAI_PARSE_ERROR, "line 2: unexpected '1' at the end"},
    {"a_negative_number_of_rows", REAL "-3 3 1\n", BISAI_PARSE_ERROR,
     "line 2: the number of rows -3 is negative"},
    {"a_negative_number_of_columns", REAL "3 -3 1\n", BISAI_PARSE_ERROR,
     "line 2: the number of columns -3 is negative"},
    {"a_negative_number_of_entries", REAL "3 3 -1\n", BISAI_PARSE_ERROR,
     "line 2: the number of entries -1 is negative"},
    {"a_fractional_size", REAL "3.0 3 1\n", BISAI_PARSE_ERROR,
     "line 2: the number of rows '3.0' is not an integer"},
    {"a_word_for_a_size", REAL "3 three 1\n", BISAI_PARSE_ERROR,
     "line 2: the number of columns 'three' is not an integer"},
    {"too_many_rows_for_an_index", REAL "2147483648 2147483648 1\n", BISAI_INDEX_OVERFLOW,
     "line 2: more than 2147483647 rows, columns or entries"},
    {"too_many_rows_for_any_integer", REAL "99999999999999999999 3 1\n", BISAI_INDEX_OVERFLOW,
     "line 2: more than 2147483647 rows, columns or entries"},
    {"too_many_entries_for_an_index", REAL "3 3 2147483648\n", BISAI_INDEX_OVERFLOW,
     "line 2: more than 2147483647 rows, columns or entries"},
    {"a_rectangular_matrix", REAL "2 3 1\n1 1 1\n", BISAI_UNSUPPORTED,
     "line 2: 2 × 3: the matrix must be square"},
    {"a_rectangular_symmetric_matrix", SYMMETRIC "3 2 1\n1 1 1\n", BISAI_PARSE_ERROR,
     "line 2: 3 × 2: a symmetric matrix must be square"},
    {"a_matrix_without_rows", REAL "0 0 0\n", BISAI_UNSUPPORTED,
     "line 2: 0 × 0: the matrix is empty"},
    {"a_row_of_zero", REAL "3 3 2\n1 1 1\n0 1 1\n", BISAI_PARSE_ERROR,
     "line 4: row 0 is outside 1 … 3"},
    {"a_negative_row", REAL "3 3 1\n-1 1 1\n", BISAI_PARSE_ERROR,
     "line 3: row -1 is outside 1 … 3"},
    {"a_row_beyond_the_last", REAL "3 3 1\n4 1 1\n", BISAI_PARSE_ERROR,
     "line 3: row 4 is outside 1 … 3"},
    {"a_row_beyond_any_integer", REAL "3 3 1\n18446744073709551617 1 1\n", BISAI_PARSE_ERROR,
     "line 3: row 18446744073709551617 is outside 1 … 3"},
    {"a_column_of_zero", REAL "3 3 1\n1 0 1\n", BISAI_PARSE_ERROR,
     "line 3: column 0 is outside 1 … 3"},
    {"a_column_beyond_the_last", REAL "3 3 1\n1 4294967297 1\n", BISAI_PARSE_ERROR,
     "line 3: column 4294967297 is outside 1 … 3"},
    {"a_fractional_row", REAL "3 3 1\n1.5 1 1\n", BISAI_PARSE_ERROR,
     "line 3: the row '1.5' is not an integer"},
    {"a_word_for_a_column", REAL "3 3 1\n1 x 1\n", BISAI_PARSE_ERROR,
     "line 3: the column 'x' is not an integer"},
    {"an_entry_without_column", REAL "3 3 1\n1\n", BISAI_PARSE_ERROR,
     "line 3: the column is missing"},
    {"an_entry_without_value", REAL "3 3 1\n\n1 1 \n", BISAI_PARSE_ERROR,
     "line 4: the value is missing"},
    {"an_entry_with_two_values", REAL "3 3 1\n1 1 2 0\n", BISAI_PARSE_ERROR,
     "line 3: unexpected '0' at the end"},
    {"a_pattern_with_a_value", PATTERN "3 3 1\n1 1 1\n", BISAI_PARSE_ERROR,
     "line 3: unexpected '1' at the end"},
    {"a_fractional_integer", INTEGER "3 3 1\n1 1 1.5\n", BISAI_PARSE_ERROR,
     "line 3: '1.5' is not an integer"},
    {"a_word_for_a_value", REAL "3 3 1\n1 1 one\n", BISAI_PARSE_ERROR,
     "line 3: 'one' is not a number"},
    {"a_decimal_comma", REAL "3 3 1\n1 1 1,5\n", BISAI_PARSE_ERROR,
     "line 3: '1,5' is not a number"},
    {"a_hexadecimal_value", REAL "3 3 1\n1 1 0x1p3\n", BISAI_PARSE_ERROR,
     "line 3: '0x1p3' is not a number"},
    {"an_exponent_without_digits", REAL "3 3 1\n1 1 1e\n", BISAI_PARSE_ERROR,
     "line 3: '1e' is not a number"},
    {"a_point_without_digits", REAL "3 3 1\n1 1 -.\n", BISAI_PARSE_ERROR,
     "line 3: '-.' is not a number"},
    {"two_signs", REAL "3 3 1\n1 1 --1\n", BISAI_PARSE_ERROR, "line 3: '--1' is not a number"},
    {"nan", REAL "3 3 2\n1 1 1\n2 2 NaN\n", BISAI_NOT_FINITE, "line 4: NaN is not a finite number"},
    {"infinity", REAL "3 3 1\n1 1 -Infinity\n", BISAI_NOT_FINITE,
     "line 3: -Infinity is not a finite number"},
    {"inf", REAL "3 3 1\n% comment\n1 1 inf\n", BISAI_NOT_FINITE,
     "line 4: inf is not a finite number"},
    {"a_value_that_overflows", REAL "3 3 1\r\n1 1 1D999\r\n", BISAI_NOT_FINITE,
     "line 3: 1D999 is not a finite number"},
    {"a_value_just_beyond_the_largest", REAL "3 3 1\n1 1 1.7976931348623159e308\n",
     BISAI_NOT_FINITE, "line 3: 1.7976931348623159e308 is not a finite number"},
    {"duplicates_that_overflow", REAL "3 3 2\n2 3 1e308\n2 3 1e308\n", BISAI_NOT_FINITE,
     "entry (1, 2), counted from 0, is NaN or infinity"},
    {"no_entries_of_two", REAL "3 3 2\n", BISAI_PARSE_ERROR,
     "line 2: the file ends after 0 of 2 entries"},
    {"a_file_cut_after_an_entry", REAL "3 3 2\n1 1 1\n", BISAI_PARSE_ERROR,
     "line 3: the file ends after 1 of 2 entries"},
    {"a_file_cut_within_an_entry", REAL "3 3 2\n1 1 1\n2", BISAI_PARSE_ERROR,
     "line 4: the column is missing"},
    {"a_false_promise_of_many_entries", REAL "3 3 2147483647\n1 1 1\n", BISAI_PARSE_ERROR,
     "line 3: the file ends after 1 of 2147483647 entries"},
    {"one_entry_too_many", REAL "3 3 1\n1 1 1\n\n2 2 1\n", BISAI_PARSE_ERROR,
     "line 5: more than the announced 1 entries"},
    {"text_after_the_entries", REAL "3 3 1\n1 1 1\n% fine\nend\n", BISAI_PARSE_ERROR,
     "line 5: more than the announced 1 entries"},
    {"both_triangles_of_a_symmetric_matrix", SYMMETRIC "3 3 3\n1 1 1\n2 1 1\n1 2 1\n",
     BISAI_PARSE_ERROR, "line 5: entry (1, 2) is in the upper triangle, earlier ones in the other"},
    {"the_lower_triangle_after_the_upper", SYMMETRIC "3 3 2\n1 3 1\n3 2 1\n", BISAI_PARSE_ERROR,
     "line 4: entry (3, 2) is in the lower triangle, earlier ones in the other"},
    {"a_diagonal_entry_of_a_skew_symmetric_matrix", SKEW "3 3 1\n2 2 0\n", BISAI_PARSE_ERROR,
     "line 3: diagonal entry (2, 2) of a skew-symmetric matrix"},
    {"a_line_end_of_old_macintoshes", "%%MatrixMarket matrix coordinate real general\r3 3 0\r",
     BISAI_PARSE_ERROR, "line 1: unexpected '3' at the end"},
};

static const malformed vectors[] = {
    /* three values are asked for */
    {"an_empty_vector_file", "", BISAI_PARSE_ERROR, "line 1: the file is empty"},
    {"a_vector_too_short", ARRAY "2 1\n1\n2\n", BISAI_INVALID_ARGUMENT,
     "line 2: a vector of 2 values; 3 are needed"},
    {"a_vector_too_long", ARRAY "4 1\n1\n2\n3\n4\n", BISAI_INVALID_ARGUMENT,
     "line 2: a vector of 4 values; 3 are needed"},
    {"a_row_for_a_vector", ARRAY "1 3\n1\n2\n3\n", BISAI_UNSUPPORTED,
     "line 2: 3 columns; a vector (one column) is needed"},
    {"a_sparse_matrix_for_a_vector", REAL "3 3 1\n1 1 1\n", BISAI_UNSUPPORTED,
     "line 2: 3 columns; a vector (one column) is needed"},
    {"a_symmetric_vector", "%%MatrixMarket matrix array real symmetric\n3 1\n1\n2\n3\n",
     BISAI_PARSE_ERROR, "line 1: a vector cannot be symmetric"},
    {"a_complex_vector", "%%MatrixMarket matrix array complex general\n3 1\n1 0\n1 0\n1 0\n",
     BISAI_UNSUPPORTED, "line 1: complex values are not supported"},
    {"a_vector_with_entries_in_its_sizes", ARRAY "3 1 3\n1\n2\n3\n", BISAI_PARSE_ERROR,
     "line 2: unexpected '3' at the end"},
    {"a_vector_cut_off", ARRAY "3 1\n1\n2\n", BISAI_PARSE_ERROR,
     "line 4: the file ends after 2 of 3 entries"},
    {"a_vector_with_a_fourth_value", ARRAY "3 1\n1\n2\n3\n4\n", BISAI_PARSE_ERROR,
     "line 6: more than the announced 3 entries"},
    {"two_values_on_a_line", ARRAY "3 1\n1 2\n3\n", BISAI_PARSE_ERROR,
     "line 3: unexpected '2' at the end"},
    {"a_nan_in_a_vector", ARRAY "3 1\n1\n2\nnan\n", BISAI_NOT_FINITE,
     "line 5: nan is not a finite number"},
    {"a_word_in_a_vector", ARRAY "3 1\n1\nx\n3\n", BISAI_PARSE_ERROR,
     "line 4: 'x' is not a number"},
    {"a_sparse_vector_row_out_of_range", REAL "3 1 1\n4 1 1\n", BISAI_PARSE_ERROR,
     "line 3: row 4 is outside 1 … 3"},
    {"a_sparse_vector_column_out_of_range", REAL "3 1 1\n1 2 1\n", BISAI_PARSE_ERROR,
     "line 3: column 2 is outside 1 … 1"},
    {"a_sparse_vector_cut_off", REAL "3 1 2\n1 1 1\n", BISAI_PARSE_ERROR,
     "line 3: the file ends after 1 of 2 entries"},
    {"a_sparse_vector_that_overflows", REAL "3 1 2\n1 1 -1e308\n1 1 -1e308\n", BISAI_NOT_FINITE,
     "line 4: the values of row 1 add up to infinity"},
};

static int setup(void **state) {
  (void)state;
  test_folder_make();
  return 0;
}

static int teardown(void **state) {
  (void)state;
  test_folder_remove();
  return 0;
}

static void is_refused(void **state, bool vector) {
  const malformed *m = *state;
  const size_t length = strlen(m->text);
  const char *path = test_file("malformed.mtx", m->text, length);
  test_allocator allocator;
  test_allocator_reset(&allocator, 0);
  bisai_context *context = test_context_on(&allocator, 1);
  const bisai_read_options options = bisai_read_options_default();
  bisai_bcsr *matrix = NULL;
  double values[3];
  EXPECT_STATUS(context, m->status,
                vector ? bisai_read_vector(context, path, 3, values)
                       : bisai_read_matrix(context, path, &options, &matrix));
  EXPECT_MESSAGE(context, m->message);
  EXPECT_STATUS(context, m->status,
                vector
                    ? bisai_read_vector(context, test_path_of(m->text, length), 3, values)
                    : bisai_read_matrix(context, test_path_of(m->text, length), &options, &matrix));
  EXPECT_MESSAGE(context, m->message);
  assert_null(matrix);
  assert_int_equal(atomic_load(&allocator.live_blocks), 1); /* the context */
  assert_true(atomic_load(&allocator.peak_bytes) < 4 << 20);
  bisai_context_destroy(&context);
}

static void matrix_is_refused(void **state) { is_refused(state, false); }

static void vector_is_refused(void **state) { is_refused(state, true); }

static void a_line_that_never_ends(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  test_text text = {0};
  test_print(&text, "%s%% ", REAL);
  for (size_t length = 0; length < BSI_STREAM_LINE_BYTES; length += 64)
    test_print(&text, "%064d", 0);
  const bisai_read_options options = bisai_read_options_default();
  bisai_bcsr *matrix = NULL;
  EXPECT_STATUS(
      context, BISAI_PARSE_ERROR,
      bisai_read_matrix(context, test_path_of(text.bytes, text.length), &options, &matrix));
  EXPECT_MESSAGE(context, "line 2: longer than 262144 bytes");
  free(text.bytes);
  bisai_context_destroy(&context);
}

static void a_zero_byte_is_no_blank(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  static const char text[] = REAL "1 1 1\n1 1\0 1\n";
  const bisai_read_options options = bisai_read_options_default();
  bisai_bcsr *matrix = NULL;
  EXPECT_STATUS(context, BISAI_PARSE_ERROR,
                bisai_read_matrix(context, test_path_of(text, sizeof text - 1), &options, &matrix));
  EXPECT_MESSAGE(context, "line 3: the column '1?' is not an integer");
  bisai_context_destroy(&context);
}

/* Every beginning of a good file, and every file with one byte changed, is read or refused with a
 * message; sanitizers watch. */
static void damaged_files_are_read_or_refused(void **state) {
  (void)state;
  static const char good[] = "%%MatrixMarket matrix coordinate real symmetric\n% comment\n3 3 3\n1 "
                             "1 1.25e-3\n2 1 -4\n3 3 1D2\n";
  static const char bytes[] = {'\0', '\n', '\r', ' ', '%', '-',
                               '.',  '0',  '9',  'e', 'n', (char)0xff};
  const bisai_read_options options = bisai_read_options_default();
  test_allocator allocator;
  test_allocator_reset(&allocator, 0);
  bisai_context *context = test_context_on(&allocator, 1);
  char text[sizeof good];
  int refused = 0, read = 0;
  for (size_t length = 0; length < sizeof good; length++)
    for (size_t k = 0; k <= sizeof bytes; k++) {
      memcpy(text, good, sizeof good);
      if (k < sizeof bytes) text[length] = bytes[k];
      bisai_bcsr *matrix = NULL;
      const bisai_status status = bisai_read_matrix(
          context, test_path_of(text, k < sizeof bytes ? sizeof good - 1 : length), &options,
          &matrix);
      assert_true((status == BISAI_OK) == (matrix != NULL));
      if (status) assert_true(*bisai_context_error(context) != '\0');
      refused += status != BISAI_OK;
      read += status == BISAI_OK;
      bisai_bcsr_destroy(&matrix);
      assert_int_equal(atomic_load(&allocator.live_blocks), 1);
    }
  assert_true(refused > 100 && read > 100);
  bisai_context_destroy(&context);
}

int main(void) {
  const struct CMUnitTest others[] = {
      cmocka_unit_test(a_line_that_never_ends),
      cmocka_unit_test(a_zero_byte_is_no_blank),
      cmocka_unit_test(damaged_files_are_read_or_refused),
  };
  enum {
    OTHERS = 3,
    MATRICES = sizeof matrices / sizeof *matrices,
    VECTORS = sizeof vectors / sizeof *vectors
  };
  struct CMUnitTest all[OTHERS + MATRICES + VECTORS];
  memcpy(all, others, sizeof others);
  struct CMUnitTest *next = all + OTHERS;
  for (size_t k = 0; k < MATRICES; k++)
    *next++ = (struct CMUnitTest){matrices[k].name, matrix_is_refused, NULL, NULL,
                                  (void *)(uintptr_t)&matrices[k]};
  for (size_t k = 0; k < VECTORS; k++)
    *next++ = (struct CMUnitTest){vectors[k].name, vector_is_refused, NULL, NULL,
                                  (void *)(uintptr_t)&vectors[k]};
  return cmocka_run_group_tests(all, setup, teardown);
}
