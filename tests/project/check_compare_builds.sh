#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# scripts/compare-builds finds a build the same as itself, and sees one last bit that is changed of x, of a residual and of a number of JSON.
# check_compare_builds.sh ROOT PROGRAM WORK; exit status 77 where there is no Python, or no JSON in the program
set -eu
script=$1/scripts/compare-builds program=$2 work=$3
python3 -c 'import math; math.nextafter' 2>/dev/null || { echo "no Python 3.9"; exit 77; }
rm -rf "$work"
mkdir -p "$work"
"$program" convert --case convdiff --size 3 "$work/convdiff.mtx" >"$work/said" 2>&1
"$program" info "$work/convdiff.mtx" --json "$work/info.json" >"$work/said" 2>&1 || { cat "$work/said"; exit 77; }

compare() { # compare STATUS TEXT [OPTION…]: the exit status, and a line of what is printed
  expected=$1 text=$2 status=0
  shift 2
  python3 "$script" "$program" "$program" --quick --matrices "$work" "$@" >"$work/said" 2>&1 || status=$?
  [ "$status" -eq "$expected" ] && grep -q -e "$text" "$work/said" || {
    echo "exit status $status, expected $expected with '$text':"
    cat "$work/said"
    exit 1
  }
}
compare 0 '^the same to the bit$'
grep -q '7 digits' "$work/said" && { echo "residuals are not written whole:"; cat "$work/said"; exit 1; }
compare 1 '^DIFFERENT (bits): .* x: 1 of [0-9]* differ, .*(1 ulp)' --flip x
compare 1 '^DIFFERENT (bits): .* residual [0-9]*: .*(1 ulp)' --flip history
compare 1 '^DIFFERENT (bits): .*relative_residual: .*(1 ulp)' --flip json
compare 0 '^the same statuses and counts$' --flip x --counts
rm "$work/convdiff.mtx"
compare 1 'holds no matrix'
