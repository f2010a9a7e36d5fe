/* SPDX-License-Identifier: BSD-3-Clause */
/* What -log_view shows of the preconditioner type "bisai". */
#include "petsc/pc_impl.h"

/* Finds the events by name, which only the first preconditioner registers: PETSc keeps one list for
 * all. */
PetscErrorCode bsi_pc_find_events(bsi_pc *m) {
  static const char *const names[BSI_PC_EVENTS] = {"BisaiConvert", "BisaiOrder",  "BisaiFactor",
                                                   "BisaiPattern", "BisaiValues", "BisaiApply",
                                                   "BisaiApplyTr"};
  PetscFunctionBegin;
  for (int e = 0; e < BSI_PC_EVENTS; e++) {
    m->events[e] = -1;
    PetscCall(PetscLogEventGetId(names[e], &m->events[e]));
    if (m->events[e] < 0) PetscCall(PetscLogEventRegister(names[e], PC_CLASSID, &m->events[e]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_pc_begin(bsi_pc_event event, PC pc) {
  const bsi_pc *m = pc->data;
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(m->events[event], pc, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_pc_end(bsi_pc_event event, PC pc) {
  const bsi_pc *m = pc->data;
  PetscFunctionBegin;
  PetscCall(PetscLogEventEnd(m->events[event], pc, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the record of an event in the current stage, or NULL if nothing is logged. */
static PetscErrorCode find_record(PetscLogEvent event, PetscEventPerfInfo **record) {
  PetscFunctionBegin;
  *record = NULL;
#if !defined(PETSC_USE_LOG)
  (void)event;
#elif PETSC_VERSION_LT(3, 20, 0)
  PetscStageLog log;
  PetscEventPerfLog own;
  int stage;
  if (!PetscLogPLB) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogGetStageLog(&log));
  PetscCall(PetscStageLogGetCurrent(log, &stage));
  if (stage < 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStageLogGetEventPerfLog(log, stage, &own));
  *record = &own->eventInfo[event];
#else
  PetscLogHandler handler;
  PetscLogState state;
  PetscLogStage stage;
  PetscCall(PetscLogGetDefaultHandler(&handler));
  if (!handler) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogGetState(&state));
  PetscCall(PetscLogStateGetCurrentStage(state, &stage));
  if (stage < 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogHandlerGetEventPerfInfo(handler, stage, event, record));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The library measures the steps of a set-up itself. An event begins and ends, so that PETSc counts
 * it, and receives the time. */
static PetscErrorCode add_time(PC pc, bsi_pc_event event, double seconds) {
  PetscEventPerfInfo *record;
  PetscFunctionBegin;
  PetscCall(bsi_pc_begin(event, pc));
  PetscCall(bsi_pc_end(event, pc));
  PetscCall(find_record(((bsi_pc *)pc->data)->events[event], &record));
  if (record) record->time += seconds;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two operations for each value of a matrix in a product. */
static double flops_of_blocks(int64_t blocks, int32_t size) {
  return 2.0 * (double)blocks * (double)size * (double)size;
}

/* Smoothing with a diagonal, residuals and the coarsest inverse. Other smoothers and the transfers
 * are left out. */
static double flops_of_multigrid(const bisai_precond_options *o, const bisai_multigrid_report *g) {
  const double products = o->multigrid.pre + o->multigrid.post;
  double flops = 0;
  for (int l = 0; l < g->levels; l++)
    flops += products * flops_of_blocks(g->blocks[l], g->block_size[l]);
  return flops;
}

/* The products of an application. */
static double flops_of(const bsi_pc *m, const bisai_precond_report *r) {
  const bisai_precond_options *o = &m->used;
  const int32_t bs = m->counts.block_size;
  const double factors = flops_of_blocks(r->factor.blocks, bs),
               inverses = flops_of_blocks(r->isai.blocks, bs);
  double flops = 0;
  for (int32_t size = 1; size <= r->bjacobi.largest_block; size++)
    flops += flops_of_blocks(r->bjacobi.by_size[size], size);
  flops += o->bjacobi.relax * (flops + flops_of_blocks(m->counts.blocks, bs));
  flops += flops_of_multigrid(o, &r->multigrid);
  const bool isai = r->isai.blocks > 0;
  if (o->kind == BISAI_PRECOND_SWEEPS) return flops + o->sweeps.count * factors;
  if (!isai) return flops + factors;
  const double times = o->isai.symmetric ? 2 : 1;
  return flops + times * inverses + o->isai.relax * (times * inverses + factors);
}

PetscErrorCode bsi_pc_log_set_up(PC pc) {
  bsi_pc *m = pc->data;
  bisai_precond_report report = {.struct_size = sizeof report};
  PetscFunctionBegin;
  /* A process without rows has no preconditioner, and takes part with zeros. */
  if (m->precond && bisai_precond_get_report(m->precond, &report))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(add_time(pc, BSI_PC_ORDER, report.order_seconds));
  PetscCall(add_time(pc, BSI_PC_FACTOR, report.factor_seconds));
  PetscCall(add_time(pc, BSI_PC_PATTERN, report.pattern_seconds));
  PetscCall(add_time(pc, BSI_PC_VALUES, report.values_seconds));
  m->counts.flops = m->precond ? flops_of(m, &report) : 0;
  PetscCall(
      PetscInfo(pc, "bisai: set-up of %.3g s: order %.3g, factor %.3g, pattern %.3g, values %.3g\n",
                report.setup_seconds, report.order_seconds, report.factor_seconds,
                report.pattern_seconds, report.values_seconds));
  PetscFunctionReturn(PETSC_SUCCESS);
}
