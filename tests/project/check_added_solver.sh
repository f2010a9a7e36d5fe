#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Adds a solver to a copy of the source, counts the files that this touches, builds library and
# program, and runs the solver by --solver and from C.
# usage: check_added_solver.sh SOURCE SCRATCH CMAKE COMPILER GENERATOR
set -eu
source=$1 scratch=$2 cmake=$3 compiler=$4 generator=$5
copy=$scratch/source build=$scratch/build
# shellcheck source=tests/project/added.sh
. "$(dirname "$0")/added.sh"

copy_source

# The solver: its file, its enumerator, options and list line in the public header, a line in CMake.
cp "$source/tests/project/added_solver/richardson.c" "$copy/src/krylov/methods/richardson.c"
header=$copy/include/bisai/krylov.h
sed -i 's|^  BISAI_IDR = 3$|  BISAI_IDR = 3,\
  /** An iteration has one product and one application. */\
  BISAI_RICHARDSON = 4|
s|^  X(BISAI_IDR, "idr", idr, "IDR")$|  X(BISAI_IDR, "idr", idr, "IDR") \\\
  X(BISAI_RICHARDSON, "richardson", richardson, "Richardson")|
s|^} bisai_idr_options;$|&\
\
/** Options of Richardson'"'"'s iteration. */\
typedef struct bisai_richardson_options {\
  /** ω, from 0 to 2; default 0: in each iteration the ω of the smallest residual */\
  double omega;\
} bisai_richardson_options;|
s|^  bisai_idr_options idr;$|&\
  /** options of RICHARDSON */\
  bisai_richardson_options richardson;|' "$header"
sed -i 's|^  src/krylov/methods/idr.c$|&\
  src/krylov/methods/richardson.c|' "$copy/CMakeLists.txt"
expect_touched 3
for place in 'BISAI_RICHARDSON = 4' '"richardson", richardson' 'options richardson;'; do
  grep -q "$place" "$header" || say "$place did not come into the header"
done

build_copy bisai_program

# By --solver: the key, the name, the help, what is refused, and JSON where the build has it.
program=$build/bisai
for solver in richardson richardson:omega=0.8; do
  "$program" solve --case convdiff --size 6 --backend host --solver $solver \
    --preconditioner ilu >"$scratch/solve" || say "$solver: $(cat "$scratch/solve")"
  grep -q '^solver   Richardson(0' "$scratch/solve" || say "no name: $(cat "$scratch/solve")"
done
"$program" solve --help | tr -s ' \n' '  ' >"$scratch/help"
grep -qF 'richardson[:omega=W] with W from 0 to 2' "$scratch/help" || say "--help lacks the solver"
grep -q 'omega: the step; 0: the' "$scratch/help" || say "--help does not describe the key"
"$program" solve --case cavity --size 8 --solver richardson:omega=3 2>"$scratch/refused" &&
  say "omega=3 was not refused"
grep -qF 'richardson:omega=3: omega must be a number from 0 to 2' "$scratch/refused" ||
  say "$(cat "$scratch/refused")"
if "$program" solve --case convdiff --size 6 --backend host --solver richardson:omega=0.75 \
  --preconditioner ilu --json "$scratch/run.json" >/dev/null 2>"$scratch/json"; then
  grep -q '"omega": 0.75' "$scratch/run.json" || say "JSON does not have the key omega"
else
  grep -q 'jansson' "$scratch/json" || say "$(cat "$scratch/json")"
fi

use_from_c "$source/tests/project/added_solver/use.c"
