#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Adds a smoother of multigrid to a copy of the source, counts the files that this touches, builds
# library and program, and runs the smoother by METHOD.
# usage: check_added_smoother.sh SOURCE SCRATCH CMAKE COMPILER GENERATOR
set -eu
source=$1 scratch=$2 cmake=$3 compiler=$4 generator=$5
copy=$scratch/source build=$scratch/build
# shellcheck source=tests/project/added.sh
. "$(dirname "$0")/added.sh"

copy_source

# The smoother: its file, its enumerator and its line of the list in the public header.
cp "$source/tests/project/added_smoother/richardson.c" "$copy/src/multigrid/smoothers/"
sed -i 's|^  BISAI_SMOOTHER_ILU = 6$|  BISAI_SMOOTHER_ILU = 6,\
  /** damped block-Jacobi with ω = 4/(3ρ) */\
  BISAI_SMOOTHER_RICHARDSON = 7|
s|^  X(BISAI_SMOOTHER_ILU, "ilu", ilu)$|  X(BISAI_SMOOTHER_ILU, "ilu", ilu) \\\
  X(BISAI_SMOOTHER_RICHARDSON, "richardson", richardson)|' "$copy/include/bisai/precond_multigrid.h"
expect_touched 2

build_copy bisai_program
program=$build/bisai
"$program" solve --case reaction --size 30 --backend host \
  --preconditioner mg:smoother=richardson:coarsest=20 >"$scratch/solve" ||
  say "$(cat "$scratch/solve")"
grep -q 'smoother richardson' "$scratch/solve" || say "no name: $(cat "$scratch/solve")"
"$program" solve --help | tr -s ' \n' '  ' >"$scratch/help"
grep -q 'ilu|richardson' "$scratch/help" || say "--help lacks the smoother"
"$program" solve --case reaction --size 30 --backend host \
  --preconditioner mg:smoother=richardson:degree=3 >"$scratch/refused" &&
  say "degree=3 was not refused"
grep -qF 'the smoother richardson does not take' "$scratch/refused" || say "$(cat "$scratch/refused")"
