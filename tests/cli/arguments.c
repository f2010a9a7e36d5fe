/* SPDX-License-Identifier: BSD-3-Clause */
/* What the command-line program refuses, with the exit status 2: arguments, input, and output that
 * cannot be written. */
#include <sys/stat.h>
#include <unistd.h>

#include "support/program.h"
#include "support/support.h"

static int setup(void **state) {
  program_setup(state);
  program_write("empty.mtx", "");
  program_write("wide.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 4\n");
  program_write("nan.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 nan\n");
  program_write("truncated.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n");
  return 0;
}

typedef struct refusal {
  const char *line, *message;
} refusal;

#define CASES                                                                                      \
  "cavity, convdiff, elasticity, elasticity:contrast=C with C greater than 0, "                    \
  "elasticity:clamped=identity, elasticity:clamped=eliminated, reaction, reservoir, "              \
  "reservoir:components=C with C 2 or 3, reservoir:step=DAYS with DAYS greater than 0, "           \
  "atmosphere, euler, euler:cfl=C with C greater than 0, shell, "                                  \
  "shell:step=SECONDS with SECONDS greater than 0"
#define CAVITY "compare --case cavity --size 4 "
#define OF_PETSC                                                                                   \
  "PETSc factorises the matrix as it is: no --ordering, no --matching, no --equilibrate\n"

static const refusal arguments[] = {
    {"", "bisai: give a command: solve, compare, info or convert\n"},
    {"compute", "bisai: 'compute' is not a command (solve, compare, info, convert)\n"},
    {"compare", "bisai: give a FILE, or --case and --size\n"},
    {"solve --tolerance 1e-3", "bisai: give a FILE, or --case and --size\n"},
    {"compare --case cavity", "bisai: --case needs --size\n"},
    {"compare laplace5.mtx --case cavity --size 4",
     "bisai: FILE and --case: give only one of them\n"},
    {"compare laplace5.mtx --size 4", "bisai: --size belongs to --case, not to a FILE\n"},
    {"compare laplace5.mtx last6.mtx",
     "bisai: 'last6.mtx': only one FILE is allowed, and 'laplace5.mtx' is given already\n"},
    {"compare ''", "bisai: FILE: the name is empty\n"},
    {"compare --case sphere --size 4", "bisai: --case: 'sphere' is not a case (" CASES ")\n"},
    {"compare --case cavity:contrast=2 --size 4",
     "bisai: --case: 'cavity:contrast=2' is not a case (" CASES ")\n"},
    {"compare --case elasticity: --size 4",
     "bisai: --case: 'elasticity:' is not a case (" CASES ")\n"},
    {"compare --case elasticity:contrast --size 4",
     "bisai: --case: 'elasticity:contrast' is not a case (" CASES ")\n"},
    {"compare --case elasticity:contrast=0 --size 4",
     "bisai: --case: 'elasticity:contrast=0' is not a case (" CASES ")\n"},
    {"compare --case elasticity:contrast=2:contrast=2 --size 4",
     "bisai: --case: 'elasticity:contrast=2:contrast=2' is not a case (" CASES ")\n"},
    {"compare --case elasticity:clamped=free --size 4",
     "bisai: --case: 'elasticity:clamped=free' is not a case (" CASES ")\n"},
    {"compare --case elasticity:clamped=identityidentityidentityidentity --size 4",
     "bisai: --case: 'elasticity:clamped=identityidentityidentityidentity' is not a case (" CASES
     ")\n"},
    {"compare --case elasticity --size 1",
     "bisai: --size: elasticity needs at least 2 nodes in each direction\n"},
    {"compare --case elasticity --size 431",
     "bisai: --size: elasticity takes at most 2^31 - 1 blocks (27 for each node; 430 nodes in each "
     "direction)\n"},
    {"compare --case reaction --size 7",
     "bisai: --size: reaction needs at least 8 cells in each direction, one for each square\n"},
    {"compare --case reaction --size 20725",
     "bisai: --size: reaction takes at most 20724 cells in each direction "
     "(5n^2 - 4n blocks must stay below 2^31)\n"},
    {"compare --case reservoir:contrast=2 --size 4",
     "bisai: --case: 'reservoir:contrast=2' is not a case (" CASES ")\n"},
    {"compare --case elasticity:step=2 --size 4",
     "bisai: --case: 'elasticity:step=2' is not a case (" CASES ")\n"},
    {"compare --case reservoir:components=4 --size 4",
     "bisai: --case: 'reservoir:components=4' is not a case (" CASES ")\n"},
    {"compare --case reservoir:step=0 --size 4",
     "bisai: --case: 'reservoir:step=0' is not a case (" CASES ")\n"},
    {"compare --case reservoir:step=1:components=3:step=1 --size 4",
     "bisai: --case: 'reservoir:step=1:components=3:step=1' is not a case (" CASES ")\n"},
    {"compare --case reservoir --size 1",
     "bisai: --size: the reservoir needs at least 2 cells in each direction\n"},
    {"compare --case reservoir --size 4,4,251",
     "bisai: --size: the reservoir takes at most 250 cells in each direction\n"},
    {"compare --case reaction --size 8,8,8", "bisai: --size: reaction takes only one N\n"},
    {"compare --case cavity --size 4 --write-null n.mtx",
     "bisai: --write-null is for --case elasticity and shell only, which have near-null-space "
     "vectors of their own\n"},
    {"compare laplace5.mtx --write-null n.mtx",
     "bisai: --write-null is for --case elasticity and shell only, which have near-null-space "
     "vectors of their own\n"},
    {"compare --case elasticity --size 4 --write-null -",
     "bisai: --write-null: the vectors go to a file, not to standard output\n"},
    {"compare --case cavity --size 2",
     "bisai: --size: the cavity needs at least 3 nodes in each direction\n"},
    {"compare --case cavity --size 20725",
     "bisai: --size: the cavity takes at most 20724 nodes in each direction "
     "(5n^2 - 4n blocks must stay below 2^31)\n"},
    {"compare --case cavity --size 4,4,4", "bisai: --size: the cavity takes only one N\n"},
    {"compare --case convdiff --size 4,4",
     "bisai: --size: '4,4' is neither N nor N,N,N with integers of at least 1\n"},
    {"compare --case convdiff --size 4,0,4",
     "bisai: --size: '4,0,4' is neither N nor N,N,N with integers of at least 1\n"},
    {"compare --case convdiff --size 4x",
     "bisai: --size: '4x' is neither N nor N,N,N with integers of at least 1\n"},
    {"compare --case convdiff --size 3000",
     "bisai: --size: convection-diffusion takes at most 2^31 - 1 entries (7 for each point)\n"},
    {CAVITY "--block-size 0",
     "bisai: --block-size: '0' is neither auto nor an integer from 1 to 32\n"},
    {CAVITY "--block-size 33",
     "bisai: --block-size: '33' is neither auto nor an integer from 1 to 32\n"},
    {CAVITY "--tolerance 0",
     "bisai: --tolerance: '0' is not a number greater than 0 and less than 1\n"},
    {CAVITY "--tolerance nan",
     "bisai: --tolerance: 'nan' is not a number greater than 0 and less than 1\n"},
    {CAVITY "--tolerance 1e-5x",
     "bisai: --tolerance: '1e-5x' is not a number greater than 0 and less than 1\n"},
    {CAVITY "--tolerance 0x1p-9",
     "bisai: --tolerance: '0x1p-9' is not a number greater than 0 and less than 1\n"},
    {CAVITY "--solver minres",
     "bisai: --solver: 'minres' is not a solver (gmres, cg, bicgstab, idr)\n"},
    {CAVITY "--solver idr:s=0", "bisai: --solver: idr:s=0: s must be an integer from 1 to 32\n"},
    {CAVITY "--solver idr:s=33", "bisai: --solver: idr:s=33: s must be an integer from 1 to 32\n"},
    {CAVITY "--solver cg:s=2",
     "bisai: --solver: cg:s=2: 's' is not a key of cg (force, flexible)\n"},
    {CAVITY "--solver cg:forced",
     "bisai: --solver: cg:forced: 'forced' is not a key of cg (force, flexible)\n"},
    {CAVITY "--solver cg:flexible=1",
     "bisai: --solver: cg:flexible=1: 'flexible' takes no value\n"},
    {CAVITY "--solver bicgstab:flexible",
     "bisai: --solver: bicgstab:flexible: bicgstab takes no keys\n"},
    {CAVITY "--restart 0", "bisai: --restart: '0' is not an integer from 1 to 2147483647\n"},
    {CAVITY "--solver cg --restart 5", "bisai: --restart is for --solver gmres only, not for cg\n"},
    {CAVITY "--restart 30 --solver idr:s=2",
     "bisai: --restart is for --solver gmres only, not for idr\n"},
    {CAVITY "--restart 40 --solver gmres:restart=50",
     "bisai: --restart and restart= of --solver: give only one of them\n"},
    {CAVITY "--restart 1e2", "bisai: --restart: '1e2' is not an integer from 1 to 2147483647\n"},
    {CAVITY "--max-iterations -1",
     "bisai: --max-iterations: '-1' is not an integer from 1 to 2147483647\n"},
    {CAVITY "--max-iterations 99999999999",
     "bisai: --max-iterations: '99999999999' is not an integer from 1 to 2147483647\n"},
    {CAVITY "--backend gpu", "bisai: --backend: 'gpu' is not a backend (auto, host, cuda)\n"},
    {CAVITY "--ordering amd",
     "bisai: --ordering: 'amd' is not an ordering (natural, rcm, nd, colour, md)\n"},
    {CAVITY "--matching rows",
     "bisai: --matching: 'rows' is not a matching (none, entries, blocks)\n"},
    {CAVITY "--methods ilu:ordering=given",
     "bisai: --methods: ilu:ordering=given: ordering must be natural, rcm, nd, colour or md\n"},
    {CAVITY "--methods ilu:equilibrate=1",
     "bisai: --methods: ilu:equilibrate=1: 'equilibrate' takes no value\n"},
    {CAVITY "--methods isai:symmetric --matching blocks",
     "bisai: --methods: isai:k=1:symmetric: symmetric takes no matching, which permutes rows "
     "alone\n"},
    {CAVITY "--threads 0", "bisai: --threads: '0' is not an integer from 1 to 4096\n"},
    {CAVITY "--threads ''", "bisai: --threads: '' is not an integer from 1 to 4096\n"},
    {CAVITY "--rhs ''", "bisai: --rhs: the name is empty\n"},
    {CAVITY "--methods ''", "bisai: --methods: a method is empty\n"},
    {CAVITY "--methods ilu,,none", "bisai: --methods: a method is empty\n"},
    {CAVITY "--methods isai,ilut",
     "bisai: --methods: 'ilut' is not a method (none, bjacobi, ilu, "
     "isai, sweeps, mg, cpr, lu, direct, auto, schur, petsc, petsc-ilu, cusparse-ilu)\n"},
    {CAVITY "--methods ilu:k=1",
     "bisai: --methods: ilu:k=1: 'k' is not a key of ilu (level, pivots, updates, "
     "shift, ordering, matching, equilibrate, factors, apply)\n"},
    {CAVITY "--methods isai:symmetric=1",
     "bisai: --methods: isai:symmetric=1: 'symmetric' takes no value\n"},
    {CAVITY "--methods isai:symmetric:symmetric",
     "bisai: --methods: isai:symmetric:symmetric: 'symmetric' is given twice\n"},
    {CAVITY "--methods isai:symmetric:apply=cusparse",
     "bisai: --methods: isai:k=1:symmetric:apply=cusparse: symmetric "
     "takes no apply=cusparse, which multiplies by NL and "
     "NU\n"},
    {CAVITY "--methods isai:n=1",
     "bisai: --methods: isai:n=1: 'n' is not a key of isai (of, k, "
     "symmetric, relax, storage, drop, cap, "
     "level, pivots, updates, shift, ordering, matching, equilibrate, factors, pattern, "
     "apply)\n"},
    {CAVITY "--methods isai:",
     "bisai: --methods: isai:: '' is not a key of isai (of, k, symmetric, relax, storage, drop, "
     "cap, level, pivots, updates, shift, ordering, matching, equilibrate, factors, pattern, "
     "apply)\n"},
    {CAVITY "--methods none:level=1", "bisai: --methods: none:level=1: none takes no keys\n"},
    {CAVITY "--methods bjacobi:level=1",
     "bisai: --methods: bjacobi:level=1: 'level' is not a key "
     "of bjacobi (max, blocks, form, storage, digits, formats, extraction, "
     "relax, damping, shift)\n"},
    {CAVITY "--methods bjacobi:max=33",
     "bisai: --methods: bjacobi:max=33: max must be an integer from 0 to 32\n"},
    {CAVITY "--methods bjacobi:form=qr",
     "bisai: --methods: bjacobi:form=qr: form must be inverse, gh, ght or lu\n"},
    {CAVITY "--methods bjacobi:storage=fp8",
     "bisai: --methods: bjacobi:storage=fp8: storage must be fp64, fp32, fp16, "
     "bf16, fp11_4, fp11_20 or adaptive\n"},
    {CAVITY "--methods bjacobi:storage=adaptive:digits=0",
     "bisai: --methods: bjacobi:storage=adaptive:digits=0: digits must be an integer from 1 to "
     "15\n"},
    {CAVITY "--methods bjacobi:digits=3",
     "bisai: --methods: bjacobi:digits=3: digits needs storage=adaptive\n"},
    {CAVITY "--methods bjacobi:damping=0.5",
     "bisai: --methods: bjacobi:damping=0.5: damping needs relax\n"},
    {CAVITY "--methods bjacobi:relax=-1",
     "bisai: --methods: bjacobi:relax=-1: relax must be an integer from 0 to 100000\n"},
    {CAVITY "--methods bjacobi:relax=1:damping=3",
     "bisai: --methods: bjacobi:relax=1:damping=3: damping must be a number between 0 and 2\n"},
    {CAVITY "--methods bjacobi:relax=1:damping=0",
     "bisai: --methods: bjacobi:relax=1:damping=0: damping must be a number between 0 and 2\n"},
    {CAVITY "--methods bjacobi:storage=fp16:formats=ieee",
     "bisai: --methods: bjacobi:storage=fp16:formats=ieee: formats needs storage=adaptive\n"},
    {CAVITY "--methods bjacobi:storage=adaptive:formats=fp16",
     "bisai: --methods: bjacobi:storage=adaptive:formats=fp16: formats must be all, ieee or "
     "truncated\n"},
    {CAVITY "--methods bjacobi:storage=adaptive:form=gh",
     "bisai: --methods: bjacobi:form=gh:storage=adaptive: storage=adaptive needs form=inverse\n"},
    {CAVITY "--methods bjacobi:extraction=all",
     "bisai: --methods: bjacobi:extraction=all: extraction must be auto, uc, mc, us or ms\n"},
    {CAVITY "--methods sweeps:n=1:drop=1",
     "bisai: --methods: sweeps:n=1:drop=1: 'drop' is not a "
     "key of sweeps (n, level, pivots, updates, shift, ordering, matching, "
     "equilibrate, factors)\n"},
    {CAVITY "--methods ilu:level=-1",
     "bisai: --methods: ilu:level=-1: level must be an integer from 0 to 2147483647\n"},
    {CAVITY "--methods ilu:shift=-1",
     "bisai: --methods: ilu:shift=-1: shift must be a number from 0 to 1000000\n"},
    {CAVITY "--methods isai:drop=x",
     "bisai: --methods: isai:drop=x: drop must be a number from 0 to 1000000\n"},
    {CAVITY "--methods isai:cap=1.5",
     "bisai: --methods: isai:cap=1.5: cap must be an integer from 0 to 2147483647\n"},
    {CAVITY "--methods isai:k", "bisai: --methods: isai:k: 'k' needs a value\n"},
    {CAVITY "--methods isai:k=0",
     "bisai: --methods: isai:k=0: k must be an integer from 1 to 2147483647\n"},
    {CAVITY "--methods isai:k=2147483648",
     "bisai: --methods: isai:k=2147483648: k must be an integer from 1 to 2147483647\n"},
    {CAVITY "--methods isai:k=2:k=3", "bisai: --methods: isai:k=2:k=3: 'k' is given twice\n"},
    {CAVITY "--methods isai:relax=-1",
     "bisai: --methods: isai:relax=-1: relax must be an integer from 0 to 100000\n"},
    {CAVITY "--methods isai:relax=100001",
     "bisai: --methods: isai:relax=100001: relax must be an integer from 0 to 100000\n"},
    {CAVITY "--methods isai:storage=fp8",
     "bisai: --methods: isai:storage=fp8: storage must be fp64, fp32, fp16 or bf16\n"},
    {CAVITY "--methods sweeps",
     "bisai: --methods: sweeps: sweeps needs its number, as in sweeps:n=3\n"},
    {CAVITY "--methods sweeps:n=two",
     "bisai: --methods: sweeps:n=two: n must be an integer from 0 to 100000\n"},
    {CAVITY "--methods sweeps:n=100001",
     "bisai: --methods: sweeps:n=100001: n must be an integer from 0 to 100000\n"},
    {"solve --case cavity --size 4 --preconditioner ilu,none",
     "bisai: --preconditioner: 'ilu,none' is not a method (none, bjacobi, ilu, isai, sweeps, mg, "
     "cpr, lu, direct, auto, schur, petsc, petsc-ilu, "
     "cusparse-ilu)\n"},
    {CAVITY "--methods ilu,petsc --ordering nd", "bisai: --methods: petsc: " OF_PETSC},
    {CAVITY "--equilibrate --methods petsc-ilu:level=1",
     "bisai: --methods: petsc-ilu:level=1: " OF_PETSC},
    {CAVITY "--methods ilu:factors=petsc --ordering rcm",
     "bisai: --methods: ilu:factors=petsc: " OF_PETSC},
    {CAVITY "--methods ilu:factors=petsc:shift=0.01",
     "bisai: --methods: ilu:shift=0.01:factors=petsc: factors=petsc takes no shift\n"},
    {"solve nothing.mtx --ordering rcm --preconditioner petsc",
     "bisai: --preconditioner: petsc: " OF_PETSC},
    {CAVITY "--ordering rcm --methods cusparse-ilu",
     "bisai: --methods: cusparse-ilu: cuSPARSE takes the matrix as it is for factors and "
     "patterns: no --ordering, no --matching, no --equilibrate\n"},
    {CAVITY "--methods ilu:level=1:factors=cusparse",
     "bisai: --methods: ilu:level=1:factors=cusparse: bsrilu02 is ILU(0): factors=cusparse takes "
     "no level and no "
     "shift\n"},
    {CAVITY "--methods isai:cap=3:pattern=cusparse",
     "bisai: --methods: isai:k=1:cap=3:pattern=cusparse: "
     "pattern=cusparse takes no drop and no cap\n"},
    {CAVITY "--methods isai:relax=1:apply=cusparse",
     "bisai: --methods: isai:k=1:relax=1:apply=cusparse: apply=cusparse takes no relax "
     "and needs storage=fp64\n"},
    {CAVITY "--methods isai:of=matrix:apply=cusparse",
     "bisai: --methods: isai:of=matrix:k=1:apply=cusparse: of=matrix has no factors and no NL and "
     "NU: no factors=, pattern= or apply=\n"},
    {CAVITY "--frobnicate", "bisai compare: unrecognized option '--frobnicate'\n"},
    {CAVITY "--output x.mtx", "bisai compare: unrecognized option '--output'\n"},
    {CAVITY "--preconditioner ilu", "bisai compare: unrecognized option '--preconditioner'\n"},
    {"solve --case cavity --size 4 --methods ilu",
     "bisai solve: unrecognized option '--methods'\n"},
    {"info --case cavity --size 4 --plots x", "bisai info: unrecognized option '--plots'\n"},
    {CAVITY "--tolerance", "bisai compare: option '--tolerance' requires an argument\n"},
    {"--nonsense compare", "bisai: unrecognized option '--nonsense'\n"},
};

static void bad_arguments_exit_2_with_their_exact_message(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof arguments / sizeof arguments[0]; i++) {
    program p = run(arguments[i].line);
    const char *expected = arguments[i].message;
    if (p.status != 2 || strncmp(p.err, expected, strlen(expected)) != 0 || *p.out)
      fail_msg("bisai %s\nexit status %d\nstderr: %s\nexpected: %s\nstdout: %s", arguments[i].line,
               p.status, p.err, expected, p.out);
    program_free(&p);
  }
}

static const refusal inputs[] = {
    {"compare nowhere.mtx", "bisai: cannot open nowhere.mtx: No such file or directory\n"},
    {"compare .", "bisai: cannot read .: Is a directory\n"},
    {"compare empty.mtx", "bisai: empty.mtx: line 1: the file is empty\n"},
    {"compare last6.mtx",
     "bisai: last6.mtx: line 1: an array; a sparse matrix (coordinate) is needed\n"},
    {"compare wide.mtx", "bisai: wide.mtx: line 2: 2 × 3: the matrix must be square\n"},
    {"compare nan.mtx", "bisai: nan.mtx: line 3: nan is not a finite number\n"},
    {"compare truncated.mtx", "bisai: truncated.mtx: line 3: the file ends after 1 of 2 entries\n"},
    {"compare laplace5.mtx --rhs nowhere.mtx",
     "bisai: cannot open nowhere.mtx: No such file or directory\n"},
    {"compare laplace5.mtx --rhs first1.mtx",
     "bisai: first1.mtx: line 2: a vector of 4 values; 5 are needed\n"},
    {"solve laplace5.mtx --rhs nan.mtx",
     "bisai: nan.mtx: line 2: 2 columns; a vector (one column) is needed\n"},
    {"info nowhere.mtx", "bisai: cannot open nowhere.mtx: No such file or directory\n"},
    {"solve laplace5.mtx --block-size 1 --json nowhere/out.json",
#ifdef BISAI_HAVE_JANSSON
     "bisai: --json: nowhere/out.json: No such file or directory\n"},
#else
     "bisai: --json: this build has no jansson, which is needed for JSON\n"},
#endif
    {"solve laplace5.mtx --block-size 1 --output nowhere/x.mtx",
     "bisai: --output: nowhere/x.mtx: No such file or directory\n"},
    {"solve laplace5.mtx --block-size 1 --plots nowhere/plots",
     "bisai: --plots: nowhere/plots: No such file or directory\n"},
    {"solve laplace5.mtx --block-size 1 --plots last6.mtx",
     "bisai: --plots: last6.mtx: not a folder\n"},
#ifdef BISAI_HAVE_JANSSON
    {"solve nowhere.mtx --json nowhere/out.json",
     "bisai: --json: nowhere/out.json: No such file or directory\n"},
    {"solve nowhere.mtx --json .", "bisai: --json: .: Is a directory\n"},
#endif
    {"solve laplace5.mtx --output ./laplace5.mtx",
     "bisai: --output: ./laplace5.mtx: the same file as the matrix\n"},
    {"solve laplace5.mtx --output y.mtx --json y.mtx",
     "bisai: --json: y.mtx: the same file as --output\n"},
    {"solve laplace5.mtx --rhs last6.mtx --json last6.mtx",
     "bisai: --json: last6.mtx: the same file as --rhs\n"},
    {"solve nowhere.mtx --output .", "bisai: --output: .: Is a directory\n"},
    {"solve nowhere.mtx --output laplace5.mtx/x",
     "bisai: --output: laplace5.mtx/x: Not a directory\n"},
    {"solve nowhere.mtx --plots nowhere/plots/",
     "bisai: --plots: nowhere/plots/: No such file or directory\n"},
    {"PATH=/nowhere solve laplace5.mtx --block-size 1 --plots plots",
     "bisai: --plots: gnuplot, which draws the figures, was not found in PATH\n"},
};

static void bad_input_and_unwritable_output_exit_2(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++)
    program_expect(inputs[i].line, 2, inputs[i].message);
}

static void a_file_that_may_not_be_written_is_refused_before_the_matrix_is_read(void **state) {
  (void)state;
  if (geteuid() == 0) skip(); /* root may */
  program_write("kept.mtx", "kept");
  assert_int_equal(chmod("kept.mtx", 0444), 0);
  program_expect("solve nowhere.mtx --output kept.mtx", 2,
                 "bisai: --output: kept.mtx: Permission denied\n");
#ifdef BISAI_HAVE_JANSSON
  program_expect("solve nowhere.mtx --json kept.mtx", 2,
                 "bisai: --json: kept.mtx: Permission denied\n");
#endif
}

#ifdef BISAI_HAVE_JANSSON
static void results_of_an_earlier_run_survive_bad_input(void **state) {
  (void)state;
  program_write("kept.json", "kept");
  program_expect("compare nan.mtx --json kept.json", 2,
                 "bisai: nan.mtx: line 3: nan is not a finite number\n");
  char *kept = program_read("kept.json");
  assert_string_equal(kept, "kept");
  free(kept);
}
#endif

static void a_missing_matrix_of_the_paper_says_where_it_comes_from(void **state) {
  (void)state;
  program p = run("compare nowhere/atmosmodd.mtx");
  assert_int_equal(p.status, 2);
  program_expect_in(
      "stderr", p.err,
      "bisai: atmosmodd can be downloaded from "
      "https://suitesparse-collection-website.herokuapp.com/MM/Bourchtein/atmosmodd.tar.gz\n");
  program_free(&p);
}

static void an_unavailable_backend_exits_2(void **state) {
  (void)state;
  bisai_context_options options = bisai_context_options_default();
  options.backend = BISAI_BACKEND_CUDA;
  bisai_context *context = NULL;
  if (!bisai_context_create(&options, &context)) {
    bisai_context_destroy(&context);
    skip();
  }
  char expected[512];
  snprintf(expected, sizeof expected,
           "bisai: --backend cuda: not available in this build or on this machine: %s\n",
           bisai_backend_missing(BISAI_BACKEND_CUDA, -1));
  program_expect(CAVITY "--backend cuda", 2, expected);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bad_arguments_exit_2_with_their_exact_message),
      cmocka_unit_test(bad_input_and_unwritable_output_exit_2),
      cmocka_unit_test(a_file_that_may_not_be_written_is_refused_before_the_matrix_is_read),
#ifdef BISAI_HAVE_JANSSON
      cmocka_unit_test(results_of_an_earlier_run_survive_bad_input),
#endif
      cmocka_unit_test(a_missing_matrix_of_the_paper_says_where_it_comes_from),
      cmocka_unit_test(an_unavailable_backend_exits_2),
  };
  return cmocka_run_group_tests_name("cli_arguments", tests, setup, program_teardown);
}
