# SPDX-License-Identifier: BSD-3-Clause
# Parts of check_added_kind.sh and check_added_solver.sh, which set source, scratch, cmake,
# compiler, generator, copy and build.
# shellcheck shell=sh disable=SC2154

say() {
  echo "$*" >&2
  exit 1
}

copy_source() {
  rm -rf "$copy"
  mkdir -p "$copy"
  (cd "$source" && tar -cf - CMakeLists.txt CHANGELOG.md LICENSE README.md cases cmake docs \
    examples include plugins src tools) | tar -C "$copy" -xf -
}

expect_touched() { # expect_touched COUNT
  touched=$(for part in CMakeLists.txt cmake include plugins src tools; do
    diff -rq "$source/$part" "$copy/$part" || true
  done)
  count=$(printf '%s\n' "$touched" | grep -c .)
  [ "$count" -eq "$1" ] || say "$count files touched, not $1: $touched"
}

build_copy() { # build_copy TARGET
  "$cmake" -S "$copy" -B "$build" -G "$generator" -DCMAKE_C_COMPILER="$compiler" \
    -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS=-O0 -DBISAI_WERROR=ON -DBISAI_TESTS=OFF \
    -DBISAI_CUDA=OFF -DBISAI_FORTRAN=OFF >"$scratch/configure.log" 2>&1 ||
    say "$(cat "$scratch/configure.log")"
  "$cmake" --build "$build" --parallel 2 --target "$1" >"$scratch/build.log" 2>&1 ||
    say "$(tail -n 40 "$scratch/build.log")"
}

use_from_c() { # use_from_c PROGRAM.c
  library=$(find "$build" -maxdepth 1 -name 'libbisai.so' -o -maxdepth 1 -name 'libbisai.dylib')
  "$compiler" -std=c11 -I"$copy/include" -I"$build/include" "$1" "$library" \
    -Wl,-rpath,"$build" -lm -o "$scratch/use"
  "$scratch/use" || say "the program in C failed"
}
