#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# scripts/build.sh leaves CUDA out where there is no GPU and says so, tells every few seconds that a long build goes on, and shows the output of
# one that fails. Stubs stand for cmake, nvcc and nvidia-smi.
# check_scripts.sh ROOT WORK
set -eu
unset BISAI_CUDA
work=$2
rm -rf "$work"
mkdir -p "$work/stubs"
cp -r "$1/scripts" "$work/scripts"
cd "$work"
stub() { # stub NAME COMMANDS
  printf '#!/bin/sh\n%s\n' "$2" >"stubs/$1"
  chmod +x "stubs/$1"
}
build() { # build STATUS [SETTING…]: output in `said`, what cmake was called with in `calls`
  expected=$1 status=0
  shift
  : >calls
  env PATH="$work/stubs:$PATH" WORK="$work" "$@" sh scripts/build.sh release -DBISAI_TESTS=OFF >said 2>&1 || status=$?
  [ "$status" -eq "$expected" ] || { echo "exit status $status, expected $expected"; cat said; exit 1; }
}
expect() { # expect FILE TEXT
  grep -qF -e "$2" "$1" || { echo "'$2' is not in what was $1:"; cat "$1"; exit 1; }
}

stub nvcc 'exit 0'
stub cmake 'echo "$@" >>"$WORK/calls"; echo "-- bisai 1: library"; echo "-- Configuring done"'
stub nvidia-smi 'exit 0'
build 0
expect calls "--preset release -DBISAI_CUDA=AUTO -DBISAI_TESTS=OFF"
expect said "bisai 1: library"
stub nvidia-smi 'exit 9'
if ! ls /dev/nvidia[0-9]* >/dev/null 2>&1; then
  build 0
  expect calls "--preset release -DBISAI_CUDA=OFF -DBISAI_TESTS=OFF"
  expect said "no GPU on this machine: the CUDA backend is left out; with BISAI_CUDA=ON"
fi
build 0 BISAI_CUDA=ON
expect calls "--preset release -DBISAI_CUDA=ON -DBISAI_TESTS=OFF"

stub cmake 'echo "[1/2] compiling"; case $1 in --build) sleep 5 ;; esac; echo "x.c:1: warning: odd"'
build 0
grep -q '^  [0-9]* s  \[1/2] compiling$' said || { echo "nothing was told within five seconds:"; cat said; exit 1; }
expect said "x.c:1: warning: odd"

stub cmake 'echo "x.c:1: error: wrong"; exit 3'
build 3
expect said "x.c:1: error: wrong"
