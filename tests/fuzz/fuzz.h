/* SPDX-License-Identifier: BSD-3-Clause */
/* What the fuzz targets share: a context whose memory is bounded, and checks of what a reader gives
 * back. A failed check aborts, which libFuzzer and the replaying program both report. */
#ifndef BISAI_FUZZ_H
#define BISAI_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include <bisai/bisai.h>

/* Implemented by each target, called by libFuzzer and by replay.c. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* One context of one thread for all inputs; it hands out no more than 64 MiB at a time. */
bisai_context *fuzz_context(void);

/* Aborts unless everything but the context was freed. */
void fuzz_expect_nothing_left(void);

/* Reads the bytes as a matrix in blocks of the given size (0: chosen) and aborts unless it is
 * sound: row pointers and columns ascend, columns are in range, values are finite, and a failure
 * leaves a message and no matrix. */
void fuzz_read_matrix(const uint8_t *data, size_t bytes, int32_t block_size);

/* Reads the bytes as a matrix with its right-hand side in one go and aborts unless that gives what
 * reading both by themselves does. */
void fuzz_read_system(const uint8_t *data, size_t bytes);

/* Reads the bytes as a vector of n ≤ 64 values and aborts unless they are finite. */
void fuzz_read_vector(const uint8_t *data, size_t bytes, int64_t n);

/* The same for at most `most` vectors of n values. */
void fuzz_read_vectors(const uint8_t *data, size_t bytes, int64_t n, int32_t most);

/* The same for the right-hand side that stands with a matrix. */
void fuzz_read_rhs(const uint8_t *data, size_t bytes, int64_t n);

#endif
