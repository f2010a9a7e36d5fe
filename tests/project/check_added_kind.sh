#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Adds a kind of preconditioner to a copy of the source, counts the files that this touches, builds
# library, program and PETSc plug-in, and runs the kind by METHOD, from C and by PETSc's options.
# usage: check_added_kind.sh SOURCE SCRATCH CMAKE COMPILER GENERATOR [PROGRAM], a program of PETSc
set -eu
source=$1 scratch=$2 cmake=$3 compiler=$4 generator=$5 petsc=${6:-}
copy=$scratch/source build=$scratch/build

# shellcheck source=tests/project/added.sh
. "$(dirname "$0")/added.sh"

copy_source

# The kind: its file, its enumerator, options and list line in the public header, a line in CMake.
cp "$source/tests/project/added_kind/rownorm.c" "$copy/src/precond/rownorm.c"
header=$copy/include/bisai/precond.h
last=$(sed -n 's|^  \(BISAI_PRECOND_[A-Z0-9_]* = [0-9]*\)$|\1|p' "$header")
number=$((${last##* } + 1))
sed -i "s|^  $last\$|  $last,\\
  /** z_i = v_i / ‖a_i‖, a_i being row i of A */\\
  BISAI_PRECOND_ROWNORM = $number|
s|^  X(${last%% *}, .*)\$|& \\\\\\
  X(BISAI_PRECOND_ROWNORM, \"rownorm\", rownorm)|" "$header"
sed -i 's|^} bisai_callback_options;$|&\
\
/** Options of ROWNORM. */\
typedef struct bisai_rownorm_options {\
  /** 1 (default) or 2: which norm of a row */\
  int32_t norm;\
} bisai_rownorm_options;|
s|^  bisai_callback_options callback;$|&\
  /** ROWNORM */\
  bisai_rownorm_options rownorm;|' "$header"
sed -i 's|^  src/precond/precond.c$|&\
  src/precond/rownorm.c|' "$copy/CMakeLists.txt"
expect_touched 3
for place in "BISAI_PRECOND_ROWNORM = $number" 'rownorm, rownorm\|"rownorm", rownorm' 'options rownorm;'; do
  grep -q "$place" "$header" || say "$place did not come into the header"
done

build_copy all

# By METHOD: the key, the label, the help, what is refused, and JSON where the build has it.
program=$build/bisai
"$program" compare --case cavity --size 8 --backend host --methods none,rownorm,rownorm:norm=2 \
  >"$scratch/table"
for label in 'rownorm ' 'rownorm:norm=2 '; do
  grep -q "^$label.* converged" "$scratch/table" || say "no $label: $(cat "$scratch/table")"
done
"$program" solve --help | tr -s ' \n' '  ' | grep -q '| rownorm\[:norm=P\] | petsc' ||
  say "--help does not have the kind"
"$program" compare --case cavity --size 8 --methods rownorm:norm=3 2>"$scratch/refused" &&
  say "norm=3 was not refused"
grep -q 'norm must be an integer from 1 to 2' "$scratch/refused" || say "$(cat "$scratch/refused")"
if "$program" solve --case cavity --size 8 --backend host --preconditioner rownorm:norm=2 \
  --json "$scratch/run.json" >/dev/null 2>"$scratch/json"; then
  grep -q '"norm": 2' "$scratch/run.json" || say "JSON does not have the key norm"
else
  grep -q 'jansson' "$scratch/json" || say "$(cat "$scratch/json")"
fi

use_from_c "$source/tests/project/added_kind/use.c"

# By PETSc's options.
if [ -n "$petsc" ]; then
  plugin=$(find "$build" -maxdepth 1 -name 'libbisai_petsc.so')
  [ -n "$plugin" ] || say "the plug-in was not built"
  "$petsc" -dll_append "$plugin" -t_pc_type bisai -t_pc_bisai_type rownorm -t_pc_bisai_norm 2 \
    -t_ksp_view -t_ksp_error_if_not_converged >"$scratch/petsc" 2>&1 || say "$(cat "$scratch/petsc")"
  grep -q 'rownorm norm=2' "$scratch/petsc" || say "$(cat "$scratch/petsc")"
  "$petsc" -dll_append "$plugin" -t_pc_type bisai -t_pc_bisai_norm 2 -on_error_abort 0 \
    >"$scratch/petsc" 2>&1 && say "-pc_bisai_norm was not refused for auto"
  grep -q 'pc_bisai_norm is not an option of -pc_bisai_type auto' "$scratch/petsc" ||
    say "$(cat "$scratch/petsc")"
fi
