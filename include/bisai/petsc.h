/* SPDX-License-Identifier: BSD-3-Clause */
/** @file petsc.h
 *  bisai and PETSc. This header converts matrices in both directions, copies PETSc's block ILU
 *  factors, runs PETSc's solver for comparisons, and registers bisai as a preconditioner of PETSc.
 *  The functions are in a separate library, bisai_petsc; bisai.h does not include this header.
 *
 *  The library needs PETSc 3.18 or later, built for real numbers in double precision. Every Mat and
 *  Vec is sequential, on one process, except those of a PC of type "bisai". PETSc must be
 *  initialised by PetscInitialize() or bisai_petsc_start(). In functions that return a
 *  bisai_status, an error of PETSc is neither printed nor fatal. The status gives the kind of the
 *  error, or BISAI_EXTERNAL_ERROR if no other status fits. bisai_context_error() returns PETSc's
 *  message. Except for bisai_petsc_from_mat(), these functions work on host memory: they return
 *  BISAI_UNAVAILABLE for a context with another backend. */
#ifndef BISAI_PETSC_H
#define BISAI_PETSC_H

#include <petscksp.h>

#include <bisai/krylov.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Initialises PETSc without arguments and signal handlers, unless PETSc is already initialised.
 *  This also initialises MPI if it is not yet initialised.
 *  @param started  out; true if this call initialised PETSc. The caller then calls
 *                  bisai_petsc_stop() at the end of the program. MPI cannot be initialised a second
 *                  time.
 *  @retval BISAI_UNAVAILABLE     MPI is already finalised
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_EXTERNAL_ERROR */
BISAI_API bisai_status bisai_petsc_start(bisai_context *context, bool *started);

/** Calls PetscFinalize() if PETSc is initialised. All objects that use PETSc must be destroyed
 *  before.
 *  @retval BISAI_EXTERNAL_ERROR */
BISAI_API bisai_status bisai_petsc_stop(bisai_context *context);

/** Copies a matrix into a Mat of type SeqBAIJ, padding included. Blocks of size 1 also give a
 *  SeqBAIJ.
 *  @param result  out; unchanged on failure; the caller frees it with MatDestroy()
 *  @retval BISAI_UNSUPPORTED  the values are not fp64, or the diagonal is implied
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_OUT_OF_MEMORY, BISAI_EXTERNAL_ERROR */
BISAI_API bisai_status bisai_petsc_to_mat(bisai_context *context, const bisai_bcsr *matrix,
                                          Mat *result);

/** Copies a Mat of type SeqBAIJ, SeqSBAIJ, SeqAIJ (also AIJCUSPARSE) or "bisai" into a matrix with
 *  the Mat's block size, in the memory of the context's backend. A block of a SeqAIJ is stored if
 *  one of its entries is. The lower triangle of a SeqSBAIJ is restored.
 *  @param result  out; unchanged on failure; free with bisai_bcsr_destroy()
 *  @retval BISAI_UNSUPPORTED     the Mat has another type, which the message names, or its size
 *                                exceeds 32-bit indices
 *  @retval BISAI_EXTERNAL_ERROR  PETSc failed, for example because the Mat is not assembled
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_NOT_FINITE, BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_petsc_from_mat(bisai_context *context, Mat mat, bisai_bcsr **result);

/** Copies the factors L and U of a SeqBAIJ matrix that PETSc's own ILU or LU has factored in the
 *  natural ordering. The result is an ordinary bisai_factors.
 *
 *  PETSc does not document the arrangement of these factors: the rows of U are stored from the last
 *  to the first, and the diagonal blocks are stored as inverses. Every call therefore checks the
 *  factors that it has read. It solves with one random vector by MatSolve() and multiplies the
 *  solution by L and U. The factors are refused if the product differs from the vector by more than
 *  1e-12·max(1, κ₁/10), relative to the terms of the product. κ₁ is the largest condition number of
 *  the diagonal blocks, because these are inverted back. The tolerance is never more than 1e-3.
 *  @param factored  the result of MatGetFactor(…, MATSOLVERPETSC, …) and MatLUFactorNumeric(); not
 *                   factored in place
 *  @param factors   out; unchanged on failure; free with bisai_factors_destroy()
 *  @retval BISAI_UNSUPPORTED     the Mat is not a SeqBAIJ factored by PETSc itself, was factored in
 *                                place, is reordered, or has another arrangement
 *  @retval BISAI_SINGULAR_BLOCK  the factorisation found a zero pivot, or a diagonal block cannot
 *                                be inverted back
 *  @retval BISAI_NOT_FINITE      the factors or the solution of the check overflowed
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_OUT_OF_MEMORY, BISAI_EXTERNAL_ERROR */
BISAI_API bisai_status bisai_petsc_factors(bisai_context *context, Mat factored,
                                           bisai_factors **factors);

/** PETSc's block ILU(level) of a matrix, in the natural ordering and without a shift. */
typedef struct bisai_petsc_ilu bisai_petsc_ilu;

/** Factorises a matrix. The matrix is read only during the call.
 *  @param level  the level of fill, ≥ 0
 *  @param ilu    out; unchanged on failure; free with bisai_petsc_ilu_destroy()
 *  @retval BISAI_MISSING_DIAGONAL  a diagonal block is missing; the message names the block row
 *  @retval BISAI_SINGULAR_BLOCK    PETSc found a zero pivot
 *  @retval BISAI_UNSUPPORTED       the values are not fp64
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_OUT_OF_MEMORY, BISAI_EXTERNAL_ERROR */
BISAI_API bisai_status bisai_petsc_ilu_create(bisai_context *context, const bisai_bcsr *matrix,
                                              int level, bisai_petsc_ilu **ilu);

/** Frees *ilu and sets it to NULL; accepts NULL and pointers to NULL. Must be called before
 *  PetscFinalize(). */
BISAI_API void bisai_petsc_ilu_destroy(bisai_petsc_ilu **ilu);

/** Computes z ← U⁻¹ L⁻¹ v by MatSolve(). The function is a callback for
 *  bisai_precond_options.callback.apply, with the bisai_petsc_ilu as its `user`. v and z have n
 *  values each, in host memory. */
BISAI_API bisai_status bisai_petsc_ilu_apply(void *ilu, int64_t n, const double *v, double *z);

/** Copies the factors of the block ILU as bisai_petsc_factors() does, and returns its errors. */
BISAI_API bisai_status bisai_petsc_ilu_factors(const bisai_petsc_ilu *ilu, bisai_factors **factors);

/** Returns the seconds of the symbolic and the numeric factorisation. */
BISAI_API double bisai_petsc_ilu_seconds(const bisai_petsc_ilu *ilu);
/** Returns the number of stored blocks of L and U. */
BISAI_API int64_t bisai_petsc_ilu_blocks(const bisai_petsc_ilu *ilu);

/** PETSc's own solver for comparisons: KSPGMRES, KSPCG or KSPBCGS with PCILU(level) on a SeqBAIJ
 *  matrix. All settings that the options do not give are PETSc's defaults. */
typedef struct bisai_petsc_solver bisai_petsc_solver;

/** Creates the solver and factorises the matrix.
 *  @param matrix   copied into a Mat, and read again to recompute residuals; it must outlive the
 *                  solver
 *  @param options  NULL: the defaults; only method, gmres.restart, gmres.side,
 *                  tolerance, max_iterations, use_initial_guess and monitor are used
 *  @param solver   out; unchanged on failure; free with bisai_petsc_solver_destroy()
 *  @retval BISAI_UNSUPPORTED  the values are not fp64, or the options select IDR(s), a flexible
 *                             solver or a reduction
 *  @retval BISAI_MISSING_DIAGONAL, BISAI_SINGULAR_BLOCK, BISAI_INVALID_ARGUMENT,
 *    BISAI_OUT_OF_MEMORY, BISAI_EXTERNAL_ERROR */
BISAI_API bisai_status bisai_petsc_solver_create(bisai_context *context, const bisai_bcsr *matrix,
                                                 int level, const bisai_solver_options *options,
                                                 bisai_petsc_solver **solver);

/** Frees *solver and sets it to NULL; accepts NULL and pointers to NULL. Must be called before
 *  PetscFinalize(). */
BISAI_API void bisai_petsc_solver_destroy(bisai_petsc_solver **solver);

/** Solves with KSPSolve(). The arguments and the report are those of bisai_solver_solve(), with
 *  these differences:
 *  - relative_residual is recomputed with the matrix of bisai, and converged means that it is at
 *    most min(2·tolerance, (1 + tolerance)/2);
 *  - the report has no times of the preconditioner and no memory;
 *  - the monitor receives PETSc's residual norms divided by ‖b‖;
 *  - if the monitor stops the solve, x is the last iterate and not the best one.
 *
 *  @retval BISAI_BREAKDOWN  PETSc's solver failed or stopped too early; the message gives PETSc's
 *                           reason
 *  @retval BISAI_EXTERNAL_ERROR, and the other errors of bisai_solver_solve() */
BISAI_API bisai_status bisai_petsc_solver_solve(bisai_petsc_solver *solver, const double *b,
                                                double *x, bisai_solver_report *report);

/** Returns the seconds of KSPSetUp(): the factorisation and the allocation of the solver's
 *  memory. */
BISAI_API double bisai_petsc_solver_seconds(const bisai_petsc_solver *solver);

/** Registers the preconditioner type "bisai" (-pc_type bisai), the solver type "bisai" (-ksp_type
 *  bisai), the matrix type "bisai" (-mat_type bisai), and PETSc's preconditioners of blocks with
 *  the near-null space of the whole matrix, "bisai_asm" and "bisai_bjacobi", in a program that is
 *  linked with this library. Call it after PetscInitialize(). `-dll_append
 *  /absolute/path/libbisai_petsc.so` registers them without linking. docs/guide.md lists their
 *  options.
 *  @returns PETSC_ERR_SUP if the library was compiled for another major or minor version of PETSc
 *           than the program's, or for other sizes of PetscInt and PetscScalar; the error's text
 *           names both */
BISAI_API PetscErrorCode bisai_petsc_register(void);

/** Sets all options of a PC of type "bisai", as PCSetFromOptions() does for options of the command
 *  line. What was set up is discarded. Each set-up reads the arrays to which the options point.
 *  @param pc       a PC whose type is "bisai"
 *  @param options  copied; NULL: the default, kind AUTO. The set-up checks them. null_vectors of
 *                  multigrid replace the near-null space of the Mat
 *  @returns PETSC_ERR_ARG_WRONG  the PC has another type, or struct_size is wrong */
BISAI_API PetscErrorCode bisai_petsc_pc_set_options(PC pc, const bisai_precond_options *options);

/** Copies the options of a PC of type "bisai".
 *  @param options  out
 *  @returns PETSC_ERR_ARG_WRONG  the PC has another type */
BISAI_API PetscErrorCode bisai_petsc_pc_get_options(PC pc, bisai_precond_options *options);

/** Sets the number of threads of each process, as -pc_bisai_threads does. What was set up is
 *  discarded.
 *  @param threads  0: all processors that the process may use; default 1
 *  @returns PETSC_ERR_ARG_WRONG  the PC has another type */
BISAI_API PetscErrorCode bisai_petsc_pc_set_threads(PC pc, int threads);

/** Chooses what multigrid is on several processes, as -pc_bisai_mg_distributed and
 *  -pc_bisai_mg_gather do. What was set up is discarded. All processes give the same.
 *  @param distributed  PETSC_TRUE: one hierarchy of all processes, on their GPUs if the matrix is
 *                      there; the default. PETSC_FALSE: a hierarchy of each process for its
 *                      diagonal block
 *  @param gather       a level of at most that many scalar rows goes to the first process, where
 *                      bisai's multigrid goes on; PETSC_DECIDE (default): 10000, on a GPU 50000
 *  @returns PETSC_ERR_ARG_WRONG       the PC has another type
 *           PETSC_ERR_ARG_OUTOFRANGE  gather is negative */
BISAI_API PetscErrorCode bisai_petsc_pc_set_distributed(PC pc, PetscBool distributed,
                                                        PetscInt gather);

/** How the processes of one hierarchy reach each other. */
typedef enum bisai_petsc_transport {
  /** NCCL if bisai was compiled with it and each process has a GPU of its own, otherwise MPI */
  BISAI_PETSC_TRANSPORT_AUTO = 0,
  /** MPI: vectors on a GPU go through page-locked host memory */
  BISAI_PETSC_TRANSPORT_MPI = 1,
  /** NCCL, on the solver's stream, for which the host does not wait. The set-up fails without it */
  BISAI_PETSC_TRANSPORT_NCCL = 2
} bisai_petsc_transport;

/** Chooses the transport of one hierarchy, as -pc_bisai_transport does. What was set up is
 *  discarded. All processes give the same.
 *  @returns PETSC_ERR_ARG_WRONG       the PC has another type
 *           PETSC_ERR_ARG_OUTOFRANGE  there is no such transport */
BISAI_API PetscErrorCode bisai_petsc_pc_set_transport(PC pc, bisai_petsc_transport transport);

/** Returns this process's preconditioner of a PC of type "bisai", for example for its report.
 *  @param precond  out; the PC owns the preconditioner, which lives until the next set-up, the
 *                  reset or the end of the PC. NULL before PCSetUp(), with kind AUTO before the
 *                  first solve, on a process without rows, and if multigrid is one hierarchy of all
 *                  processes
 *  @returns PETSC_ERR_ARG_WRONG  the PC has another type */
BISAI_API PetscErrorCode bisai_petsc_pc_get_precond(PC pc, bisai_precond **precond);

/** Sets the method of a KSP of type "bisai", as -ksp_bisai_method does.
 *  @param options  the method and its options are copied; tolerances, limits, the initial guess and
 *                  monitors are those of the KSP. NULL: `auto`
 *  @returns PETSC_ERR_ARG_WRONG  the KSP has another type, struct_size is wrong, or the options ask
 *                                for preconditioning on the left or for a sum over processes
 *  @returns PETSC_ERR_ARG_OUTOFRANGE  a value that the method does not take. The options are those
 *                                     of before then */
BISAI_API PetscErrorCode bisai_petsc_ksp_set_options(KSP ksp, const bisai_solver_options *options);

/** The function that -dll_append calls. PETSc derives its name from the name of the library. */
PETSC_EXTERN BISAI_API PetscErrorCode PetscDLLibraryRegister_bisai_petsc(void);

#ifdef __cplusplus
}
#endif
#endif
