/* SPDX-License-Identifier: BSD-3-Clause */
/** @file precond_schur.h
 *  Options and report of SCHUR (bisai/precond.h), for saddle points.
 *
 *  The rows of A are velocities and pressures, in any order: A = [K G; D −C]. The kind approximates
 *  K by one kind of preconditioner, and the Schur complement S = −(C + D K⁻¹ G) with the help of a
 *  second kind on the sparse matrix E = C + D diag(K)⁻¹ G. */
#ifndef BISAI_PRECOND_SCHUR_H
#define BISAI_PRECOND_SCHUR_H

#include <stdbool.h>
#include <stdint.h>

#include <bisai/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The kinds of preconditioner for K and for E. Each takes the options of its kind in
 *  bisai_precond_options. If both are of one kind, or have options in common, these options hold
 *  for both. Arrays of the caller, a given permutation and isai.symmetric are refused. MULTIGRID
 *  takes `unweighted` for E and for a symmetric K, so that it takes all values of updates. */
typedef enum bisai_schur_stage {
  /** MULTIGRID */
  BISAI_SCHUR_STAGE_AUTO = 0,
  /** MULTIGRID */
  BISAI_SCHUR_STAGE_MULTIGRID = 1,
  /** ILU */
  BISAI_SCHUR_STAGE_ILU = 2,
  /** ISAI */
  BISAI_SCHUR_STAGE_ISAI = 3,
  /** SWEEPS */
  BISAI_SCHUR_STAGE_SWEEPS = 4,
  /** BJACOBI */
  BISAI_SCHUR_STAGE_BJACOBI = 5,
  /** LU */
  BISAI_SCHUR_STAGE_LU = 6,
  /** DIRECT */
  BISAI_SCHUR_STAGE_DIRECT = 7
} bisai_schur_stage;

/** The words of bisai_schur_stage: X(enumerator, word). */
#define BISAI_SCHUR_STAGE_LIST(X)                                                                  \
  X(BISAI_SCHUR_STAGE_AUTO, "auto")                                                                \
  X(BISAI_SCHUR_STAGE_MULTIGRID, "mg")                                                             \
  X(BISAI_SCHUR_STAGE_ILU, "ilu")                                                                  \
  X(BISAI_SCHUR_STAGE_ISAI, "isai")                                                                \
  X(BISAI_SCHUR_STAGE_SWEEPS, "sweeps")                                                            \
  X(BISAI_SCHUR_STAGE_BJACOBI, "bjacobi")                                                          \
  X(BISAI_SCHUR_STAGE_LU, "lu")                                                                    \
  X(BISAI_SCHUR_STAGE_DIRECT, "direct")

/** Returns "auto", "mg", "ilu", "isai", "sweeps", "bjacobi", "lu" or "direct", and "unknown stage"
 *  for other values. */
BISAI_API const char *bisai_schur_stage_string(bisai_schur_stage value);

/** Looks up a word of bisai_schur_stage_string().
 *  @param value  out; unchanged if the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_schur_stage_parse(const char *word, bisai_schur_stage *value);

/** How S⁻¹ is approximated. E⁻¹ stands for applications of the second kind: one, or two cycles of
 *  MULTIGRID. */
typedef enum bisai_schur_complement {
  /** DIAGONAL if K is symmetric and the entries of half of its rows or more cancel up to 0.001 of
   *  the diagonal, as in steady Stokes flow. Otherwise LSC. Updates keep the choice */
  BISAI_SCHUR_COMPLEMENT_AUTO = 0,
  /** least-squares commutator: −E⁻¹ (D H⁻¹ K H⁻¹ G) E⁻¹ with H = diag(K) (Elman, Howle, Shadid,
   *  Shuttleworth, Tuminaro 2006, section 4). If C is not zero, α diag(E)⁻¹ is added to the inverse
   *  of −S (Elman, Howle, Shadid, Silvester, Tuminaro 2007, section 3) */
  BISAI_SCHUR_COMPLEMENT_LSC = 1,
  /** −E⁻¹, as in SIMPLE (Patankar, Spalding 1972) */
  BISAI_SCHUR_COMPLEMENT_SIMPLE = 2,
  /** −diag(E)⁻¹, which in steady Stokes flow takes the place of a diagonal pressure mass matrix.
   *  The second kind is not used */
  BISAI_SCHUR_COMPLEMENT_DIAGONAL = 3
} bisai_schur_complement;

/** The words of bisai_schur_complement: X(enumerator, word). */
#define BISAI_SCHUR_COMPLEMENT_LIST(X)                                                             \
  X(BISAI_SCHUR_COMPLEMENT_AUTO, "auto")                                                           \
  X(BISAI_SCHUR_COMPLEMENT_LSC, "lsc")                                                             \
  X(BISAI_SCHUR_COMPLEMENT_SIMPLE, "simple")                                                       \
  X(BISAI_SCHUR_COMPLEMENT_DIAGONAL, "diagonal")

/** Returns "auto", "lsc", "simple" or "diagonal", and "unknown Schur complement" for other
 *  values. */
BISAI_API const char *bisai_schur_complement_string(bisai_schur_complement value);

/** Looks up a word of bisai_schur_complement_string().
 *  @param value  out; unchanged if the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_schur_complement_parse(const char *word, bisai_schur_complement *value);

/** Which blocks of the factorisation M takes. */
typedef enum bisai_schur_form {
  /** M = [K G; 0 S] */
  BISAI_SCHUR_FORM_UPPER = 0,
  /** M = [K 0; D S] */
  BISAI_SCHUR_FORM_LOWER = 1,
  /** M = [K 0; D S] [I K⁻¹G; 0 I], with two applications of the kind for K */
  BISAI_SCHUR_FORM_FULL = 2
} bisai_schur_form;

/** The words of bisai_schur_form: X(enumerator, word). */
#define BISAI_SCHUR_FORM_LIST(X)                                                                   \
  X(BISAI_SCHUR_FORM_UPPER, "upper")                                                               \
  X(BISAI_SCHUR_FORM_LOWER, "lower")                                                               \
  X(BISAI_SCHUR_FORM_FULL, "full")

/** Returns "upper", "lower" or "full", and "unknown form" for other values. */
BISAI_API const char *bisai_schur_form_string(bisai_schur_form value);

/** Looks up a word of bisai_schur_form_string().
 *  @param value  out; unchanged if the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_schur_form_parse(const char *word, bisai_schur_form *value);

/** The value of `component`, `from` and `to` that is not given. */
enum { BISAI_SCHUR_NOT_GIVEN = -1 };

/** Options of SCHUR. At most one of `component`, `from` and `rows` names the pressures. If none
 *  does, creation finds them. They are the scalar rows with a zero on the diagonal. If there are
 *  none, they are the rows whose diagonal entry has the sign that fewer rows have. */
typedef struct bisai_schur_options {
  /** the place of the pressure in each block, from 0; default BISAI_SCHUR_NOT_GIVEN */
  int32_t component;
  /** the first scalar row of the pressures, from 0, if they follow each other; default
   *  BISAI_SCHUR_NOT_GIVEN */
  int32_t from;
  /** the last one; default BISAI_SCHUR_NOT_GIVEN: the last row of the matrix */
  int32_t to;
  /** the scalar rows of the pressures, ascending; read during creation; default NULL */
  const int32_t *rows;
  /** the number of `rows` */
  int32_t row_count;
  /** the kind for K; default BISAI_SCHUR_STAGE_AUTO */
  bisai_schur_stage first;
  /** the kind for E; default BISAI_SCHUR_STAGE_AUTO. Kinds that factorise repair a singular E by a
   *  shift, also if the options have none */
  bisai_schur_stage second;
  /** default BISAI_SCHUR_COMPLEMENT_AUTO */
  bisai_schur_complement complement;
  /** default BISAI_SCHUR_FORM_UPPER */
  bisai_schur_form form;
} bisai_schur_options;

/** What SCHUR reports. For other kinds all fields are zero. */
typedef struct bisai_schur_report {
  /** the scalar rows of K */
  int32_t velocities;
  /** the scalar rows of E */
  int32_t pressures;
  /** the block size of K */
  int32_t velocity_size;
  /** true if creation found the pressures */
  bool found;
  /** true if C was not zero at creation */
  bool stabilised;
  /** the kinds in use, never AUTO */
  bisai_schur_stage first;
  bisai_schur_stage second;
  /** how S⁻¹ is approximated, never AUTO */
  bisai_schur_complement complement;
  /** which blocks M takes */
  bisai_schur_form form;
  /** the number of entries of E */
  int64_t complement_entries;
  /** α of LSC; 0 without C */
  double alpha;
} bisai_schur_report;

#ifdef __cplusplus
}
#endif
#endif
