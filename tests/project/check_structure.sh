#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Shows scripts/structure a tree within the limits, which has to pass, and one beyond all of them,
# where it has to name each offender and nothing else: check_structure.sh ROOT FOLDER
set -eu
structure=$1/scripts/structure
work=$2

rm -rf "$work"
mkdir -p "$work/src/room" "$work/src/upper" "$work/src/lower" "$work/bench"

# numbered COUNT BEFORE AFTER: BEFORE, a number and AFTER for each of 1 … COUNT.
numbered() { seq "$1" | sed "s|.*|$2&${3-}|"; }

# function_of NAME COUNT: a function of so many parameters.
function_of() { echo "static int $1($(numbered "$2" 'int a' | paste -s -d , -)) { return a1; }"; }

for i in $(seq 20); do echo 'int x;' >"$work/src/room/file$i.c"; done
numbered 250 '// ' >"$work/src/lower/long.h"
numbered 350 '// ' >"$work/src/lower/long_cuda.cuh"
{
  echo 'typedef struct full {'
  numbered 13 'double *m' ';'
  echo '  struct { int a, b; } nested; int (*call)(int, int);'
  echo '} full;'
} >"$work/src/lower/full.h"
for i in $(seq 10); do function_of "many$i" 9; done >"$work/src/lower/many.c"
function_of some 8 >>"$work/src/lower/many.c"
echo 'int bsi_below(void);' >"$work/src/lower/both.h"
echo 'int bsi_below(void) { return 1; } /* bsi_above() */' >"$work/src/lower/below.c"
{
  echo '#include "lower/both.h"'
  echo 'int bsi_above(void) { return bsi_below(); }'
} >"$work/src/upper/above.c"
echo 'import two' >"$work/bench/one.py"
echo 'import sys' >"$work/bench/two.py"

if ! found=$("$structure" "$work" --check) || [ -n "$found" ]; then
  echo "a tree within the limits is refused: $found"
  exit 1
fi

# One more of everything. Only uses of functions make the circle of lower and upper.
echo 'int x;' >"$work/src/room/file21.c"
echo '//' >>"$work/src/lower/long.h"
echo '//' >>"$work/src/lower/long_cuda.cuh"
sed 's/} nested/} nested, other/' "$work/src/lower/full.h" >"$work/full"
mv "$work/full" "$work/src/lower/full.h"
function_of many11 9 >>"$work/src/lower/many.c"
echo 'int bsi_above(void);' >>"$work/src/lower/both.h"
{
  echo '#include "lower/both.h"'
  echo 'int bsi_below(void) { return bsi_above(); }'
} >"$work/src/lower/below.c"
echo 'from one import x' >"$work/bench/two.py"

if found=$("$structure" "$work" --check); then
  echo "a tree beyond the limits is accepted"
  exit 1
fi
cat >"$work/expected" <<END
src/room has 21 files
a circle of 2 files: bench/one.py bench/two.py
a circle of 2 files: src/lower/below src/upper/above
a circle of 2 rooms: src/lower src/upper
a circle of 2 folders: src/lower src/upper
src/lower/long.h has 251 lines
src/lower/long_cuda.cuh has 351 lines
src/lower/full.h:1: struct full has 16 members
src/lower/many.c:1: many1 has 9 parameters
src/lower/many.c:12: many11 has 9 parameters
END
failed=0
while IFS= read -r line; do
  case $found in
  *"beyond: $line"*) ;;
  *)
    echo "not named: $line"
    failed=1
    ;;
  esac
done <"$work/expected"
# The lines above, and nine more functions of nine parameters.
count=$(echo "$found" | grep -c '^beyond: ')
[ "$count" -eq 19 ] || failed=1
[ $failed -eq 0 ] || echo "$count named: $found"
exit $failed
