/* SPDX-License-Identifier: BSD-3-Clause */
/** @file petsc.h bisai and PETSc: matrices both ways, PETSc's block ILU factors, PETSc's solver to
 *  compare with, and bisai as a preconditioner of PETSc. In a library of its own, bisai_petsc;
 *  bisai.h does not include this header.
 *
 *  For real double precision builds of PETSc from 3.18 on, on one process: every Mat and Vec here
 *  is sequential. PETSc must run: PetscInitialize(), or bisai_petsc_start(). In the functions that
 *  return a bisai_status an error of PETSc is neither printed nor fatal: the status says what kind
 *  it was (BISAI_EXTERNAL_ERROR where no other fits) and bisai_context_error() has PETSc's message.
 *  They work on host memory: BISAI_UNAVAILABLE for a context of another backend. */
#ifndef BISAI_PETSC_H
#define BISAI_PETSC_H

#include <petscksp.h>

#include <bisai/krylov.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Starts PETSc, without arguments and signal handlers, unless the caller's program has done so;
 *  with it MPI, unless that runs.
 *  @param started  out: whether this call did it; then bisai_petsc_stop() ends it, at the end of
 *    the program: MPI cannot start twice
 *  @retval BISAI_UNAVAILABLE     MPI has been ended
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_EXTERNAL_ERROR */
BISAI_API bisai_status bisai_petsc_start(bisai_context *context, bool *started);

/** PetscFinalize(); nothing where PETSc does not run. Everything made with PETSc must be gone.
 *  @retval BISAI_EXTERNAL_ERROR */
BISAI_API bisai_status bisai_petsc_stop(bisai_context *context);

/** A copy of the matrix as a Mat of type SeqBAIJ (also with blocks of size 1), padding included.
 *  @param result  out; untouched on failure; the caller's to MatDestroy()
 *  @retval BISAI_UNSUPPORTED  not fp64, or an implied diagonal
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_OUT_OF_MEMORY, BISAI_EXTERNAL_ERROR */
BISAI_API bisai_status bisai_petsc_to_mat(bisai_context *context, const bisai_bcsr *matrix,
                                          Mat *result);

/** A copy of a Mat of type SeqBAIJ or SeqAIJ in blocks of the Mat's block size.
 *  @param result  out; untouched on failure; free with bisai_bcsr_destroy()
 *  @retval BISAI_UNSUPPORTED  another type, more than 32-bit indices can count; the message names
 *    the type
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_NOT_FINITE, BISAI_OUT_OF_MEMORY, BISAI_EXTERNAL_ERROR (not
 *    assembled, …) */
BISAI_API bisai_status bisai_petsc_from_mat(bisai_context *context, Mat mat, bisai_bcsr **result);

/** L and U of a SeqBAIJ matrix factored by PETSc's own ILU or LU in the natural ordering, copied:
 *  the usual factors of bisai. PETSc keeps them in an arrangement that it does not document (U's
 *  rows from the last to the first, diagonal blocks inverted). So every call solves with one random
 *  vector by MatSolve() and multiplies the solution by the L and U that were read; they are refused
 *  where the product is not the vector, within 1e-12·max(1, κ₁/10) of its terms (κ₁: the largest of
 *  the diagonal blocks, which are inverted back) and never beyond 1e-3.
 *  @param factored  from MatGetFactor(…, MATSOLVERPETSC, …) and MatLUFactorNumeric(); not factored
 *    in place
 *  @param factors   out; untouched on failure; free with bisai_factors_destroy()
 *  @retval BISAI_UNSUPPORTED    not a factored SeqBAIJ matrix of PETSc's own, factored in place,
 *    reordered, or arranged otherwise
 *  @retval BISAI_SINGULAR_BLOCK the factorisation met a zero pivot, or a diagonal block cannot be
 *    inverted back
 *  @retval BISAI_NOT_FINITE     the factors or the solution to check them overflowed
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_OUT_OF_MEMORY, BISAI_EXTERNAL_ERROR */
BISAI_API bisai_status bisai_petsc_factors(bisai_context *context, Mat factored,
                                           bisai_factors **factors);

/** PETSc's block ILU(level) of a matrix, natural ordering, no shift. */
typedef struct bisai_petsc_ilu bisai_petsc_ilu;

/** Factors. The matrix is read during the call only.
 *  @param level  of fill, ≥ 0
 *  @param ilu    out; untouched on failure; free with bisai_petsc_ilu_destroy()
 *  @retval BISAI_MISSING_DIAGONAL  names the block row
 *  @retval BISAI_SINGULAR_BLOCK    PETSc met a zero pivot
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_UNSUPPORTED (not fp64), BISAI_OUT_OF_MEMORY,
 *    BISAI_EXTERNAL_ERROR */
BISAI_API bisai_status bisai_petsc_ilu_create(bisai_context *context, const bisai_bcsr *matrix,
                                              int level, bisai_petsc_ilu **ilu);

/** Frees *ilu and sets it to NULL; accepts NULL and pointers to NULL. Before PETSc ends. */
BISAI_API void bisai_petsc_ilu_destroy(bisai_petsc_ilu **ilu);

/** z ← U⁻¹ L⁻¹ v by MatSolve(), for bisai_precond_options.apply with the bisai_petsc_ilu as its
 *  `user`. */
BISAI_API bisai_status bisai_petsc_ilu_apply(void *ilu, int64_t n, const double *v, double *z);

/** bisai_petsc_factors() of it. */
BISAI_API bisai_status bisai_petsc_ilu_factors(const bisai_petsc_ilu *ilu, bisai_factors **factors);

/** Seconds of the symbolic and the numeric factorisation. */
BISAI_API double bisai_petsc_ilu_seconds(const bisai_petsc_ilu *ilu);
/** Stored blocks of L and U. */
BISAI_API int64_t bisai_petsc_ilu_blocks(const bisai_petsc_ilu *ilu);

/** PETSc's own solver to compare with: KSPGMRES, KSPCG or KSPBCGS and PCILU(level) on a SeqBAIJ
 *  matrix, PETSc's defaults for everything that is not said. */
typedef struct bisai_petsc_solver bisai_petsc_solver;

/** Sets up, factorisation included.
 *  @param matrix   copied into a Mat, and read again to recompute residuals: it must outlive the
 *    solver
 *  @param options  NULL: the defaults; restart, tolerance, max_iterations, side, use_initial_guess
 *    and monitor count
 *  @param solver   out; untouched on failure; free with bisai_petsc_solver_destroy()
 *  @retval BISAI_MISSING_DIAGONAL, BISAI_SINGULAR_BLOCK, BISAI_INVALID_ARGUMENT, BISAI_UNSUPPORTED
 *          (not fp64, IDR(s), a flexible solver or a reduction), BISAI_OUT_OF_MEMORY,
 *          BISAI_EXTERNAL_ERROR */
BISAI_API bisai_status bisai_petsc_solver_create(bisai_context *context, const bisai_bcsr *matrix,
                                                 int level, const bisai_solver_options *options,
                                                 bisai_petsc_solver **solver);

/** Frees *solver and sets it to NULL; accepts NULL and pointers to NULL. Before PETSc ends. */
BISAI_API void bisai_petsc_solver_destroy(bisai_petsc_solver **solver);

/** KSPSolve(), as bisai_solver_solve(): relative_residual is recomputed with the matrix of bisai,
 *  and converged means that it is at most min(2·tolerance, (1 + tolerance)/2). The report has no
 *  times of the preconditioner and no memory. The monitor hears PETSc's residual norms over ‖b‖;
 *  where it stops the solve, x is the last iterate, not the best.
 *  @retval BISAI_BREAKDOWN  PETSc gave up, or stopped too early; the message has PETSc's reason
 *  @retval others of bisai_solver_solve(), BISAI_EXTERNAL_ERROR */
BISAI_API bisai_status bisai_petsc_solver_solve(bisai_petsc_solver *solver, const double *b,
                                                double *x, bisai_solver_report *report);

/** Seconds of KSPSetUp(): the factorisation and the memory of the solver. */
BISAI_API double bisai_petsc_solver_seconds(const bisai_petsc_solver *solver);

/** Registers the preconditioner type "bisai" (-pc_type bisai) in a program that is linked with this
 *  library, after PetscInitialize(). `-dll_append /absolute/path/libbisai_petsc.so` does the same
 *  without linking. README.md lists its options. */
BISAI_API PetscErrorCode bisai_petsc_register(void);

/** What -dll_append calls: the name follows that of the file. */
BISAI_API PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_bisai_petsc(void);

#ifdef __cplusplus
}
#endif
#endif
