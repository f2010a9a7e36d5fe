/* SPDX-License-Identifier: BSD-3-Clause */
#include "record.h"

FILE *record_begin(multigrid_bench *b, const char *what, const bench_system *system,
                   const bench_method *method) {
  FILE *json = bench_json_record(&b->json);
  if (!json) return NULL;
  fprintf(json,
          "{\"what\": \"%s\", \"system\": \"%s\", \"block_rows\": %d, \"block_size\": %d, "
          "\"blocks\": %d, \"tolerance\": %g, \"method\": \"%s\", \"solver\": \"%s\"",
          what, system->name, bisai_bcsr_block_rows(system->matrix),
          bisai_bcsr_block_size(system->matrix), bisai_bcsr_blocks(system->matrix),
          system->tolerance, method->name, method->solver_name);
  return json;
}
