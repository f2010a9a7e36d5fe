/* SPDX-License-Identifier: BSD-3-Clause */
/* What a kernel reports to the host. Every context has BSI_RECORD_BYTES of device memory for it. A
 * user declares a struct of words (unsigned long long) for its own report:
 *
 *   struct report {
 *     static constexpr int firsts = 1;
 *     unsigned long long missing_row;
 *     unsigned long long longest_row;
 *   };
 *
 * The first `firsts` words begin as BSI_NONE and take minima (atomicMin: "the first row that …").
 * The others begin as 0 and take sums and maxima. Calls of one context come one after the other, so
 * that a report is complete before the next one begins. */
#ifndef BSI_RECORD_CUH
#define BSI_RECORD_CUH

#include "gpu/runtime.cuh"

constexpr unsigned long long BSI_NONE = ~0ull;

template <typename Record> static inline Record *bsi_record_of(const bisai_context *context) {
  static_assert(sizeof(Record) <= BSI_RECORD_BYTES, "the context has room for the record");
  return static_cast<Record *>(context->record);
}

/* Sets the words of a record in device memory to what they begin as. */
template <typename Record>
static inline bisai_status bsi_record_begin(bisai_context *context, const char *what,
                                            Record *record) {
  constexpr int words = sizeof(Record) / sizeof(unsigned long long);
  return bsi_gpu_set_words(context, what, record, Record::firsts, words - Record::firsts);
}

/* The same for the record of the context. */
template <typename Record>
static inline bisai_status bsi_record_begin(bisai_context *context, const char *what) {
  return bsi_record_begin(context, what, bsi_record_of<Record>(context));
}

/* Copies the record to the host. Waits. */
template <typename Record>
static inline bisai_status bsi_record_fetch(bisai_context *context, const char *what,
                                            Record *record) {
  return bsi_gpu_fetch(context, what, record, bsi_record_of<Record>(context), sizeof *record);
}

/* A record that has the first index of something alone. */
struct bsi_first_record {
  static constexpr int firsts = 1;
  unsigned long long index;
};

/* The index, or -1 for BSI_NONE. */
static inline int64_t bsi_index_of(unsigned long long word) { return static_cast<int64_t>(word); }

#endif
