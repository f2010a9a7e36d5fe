#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A guide tells what works: every block of C between ```c and ```, and of Fortran between ```fortran and ```, stands, character for character, in one of the examples, which the consumer
# tests build and run; every block between ```sh and ``` runs, in a folder with A.mtx and b.mtx, with the program first in PATH.
# check_guide.sh GUIDE FOLDER-OF-EXAMPLES FOLDER-OF-PROGRAM WORK
set -eu
guide=$1 examples=$2 work=$4
PATH=$3:$PATH
export PATH
rm -rf "$work"
mkdir -p "$work"

set -- "$examples"/*.c "$examples"/*.f90 "$guide"
awk '
  FNR == 1 { ++file }
  file < files { text[file] = text[file] $0 "\n"; next }
  /^```$/ && inside { inside = 0
    for (i = 1; i < files; ++i) if (index(text[i], block)) { ++found; next }
    printf "%s:%d: this code is in no example:\n%s", FILENAME, start, block; bad = 1; next }
  inside { block = block $0 "\n" }
  /^```(c|fortran)$/ { inside = 1; start = FNR; block = "" }
  END { if (!found && !bad) { print FILENAME ": no code"; bad = 1 }
    exit bad }' files="$#" "$@"

# Two unknowns a node on 20 × 20 nodes, coupled in the node and with the four neighbours.
awk 'BEGIN { n = 20; print "%%MatrixMarket matrix coordinate real general"
  for (pass = 0; pass < 2; ++pass) {
    if (pass) print 2 * n * n, 2 * n * n, count
    for (i = 0; i < n * n; ++i) for (j = i - n; j <= i + n; ++j) {
      near = j == i || (j == i - 1 && i % n) || (j == i + 1 && j % n) || j == i - n || j == i + n
      if (j < 0 || j >= n * n || !near) continue
      for (r = 1; r <= 2; ++r) for (c = 1; c <= 2; ++c)
        if (!pass) ++count
        else print 2 * i + r, 2 * j + c, j == i ? (r == c ? 9 : -1) : (r == c ? -2 : 0.25) * (j > i ? 0.8 : 1.2) }
  } }' >"$work/A.mtx"
awk 'BEGIN { print "%%MatrixMarket matrix array real general"; print 800, 1; for (i = 0; i < 800; ++i) print i % 7 - 2 }' >"$work/b.mtx"

awk '/^```$/ { inside = 0 } inside; /^```sh$/ { inside = 1 }' "$guide" >"$work/commands"
[ -s "$work/commands" ] || { echo "$guide: no commands"; exit 1; }
cd "$work"
sh -eux commands
