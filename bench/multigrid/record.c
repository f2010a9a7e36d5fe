/* SPDX-License-Identifier: BSD-3-Clause */
#include "record.h"

bool record_begin(multigrid_bench *b, const char *what, const bench_system *system,
                  const bench_method *method) {
  if (!b->json) return false;
  fprintf(b->json,
          "%s\n    {\"what\": \"%s\", \"system\": \"%s\", \"block_rows\": %d, \"block_size\": %d, "
          "\"blocks\": %d, \"tolerance\": %g, \"method\": \"%s\", \"solver\": \"%s\"",
          b->comma ? "," : "", what, system->name, bisai_bcsr_block_rows(system->matrix),
          bisai_bcsr_block_size(system->matrix), bisai_bcsr_blocks(system->matrix),
          system->tolerance, method->name, method->solver_name);
  b->comma = true;
  return true;
}

void record_end(multigrid_bench *b) {
  if (!b->json) return;
  const long end = ftell(b->json);
  fprintf(b->json, "\n  ]\n}\n");
  fflush(b->json);
  if (end < 0 || fseek(b->json, end, SEEK_SET)) bench_fail("the JSON file must be a file");
}
