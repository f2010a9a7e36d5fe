#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Configures and builds a preset in build/PRESET. The default preset is `release`:
#   usage: scripts/build.sh [PRESET [OPTION OF CMAKE…]]
# Without a GPU, `release` leaves out the CUDA backend, because it takes minutes to compile.
# BISAI_CUDA=ON in the environment compiles it.
set -eu
cd "$(dirname "$0")/.."
. scripts/common.sh
preset=${1:-release}
[ $# -eq 0 ] || shift
log=build/$preset.log
mkdir -p build

if [ "$preset" = release ]; then
  cuda=$(cuda_choice)
  set -- "-DBISAI_CUDA=$cuda" "$@"
  if [ "$cuda" = OFF ] && has_nvcc && ! has_gpu; then
    echo "no GPU on this machine: the CUDA backend is left out;" \
      "with BISAI_CUDA=ON in the environment it is compiled"
  elif [ "$cuda" = AUTO ] && ! has_nvcc; then
    echo "no CUDA compiler (nvcc) in PATH: the CUDA backend is left out;" \
      "install NVIDIA's CUDA toolkit to have it"
  fi
fi
if [ ! -e "build/$preset/CMakeCache.txt" ] && [ -z "${CMAKE_GENERATOR:-}" ] \
  && command -v ninja >/dev/null; then
  export CMAKE_GENERATOR=Ninja
fi

step "$log" "configuring build/$preset" cmake --preset "$preset" "$@"
sed -n '/^-- bisai /,/^-- Configuring done/ { /^-- Configuring done/d; s/^-- //; p }' "$log"
step "$log" "building (everything that is printed: $log)" \
  cmake --build --preset "$preset" --parallel "$(getconf _NPROCESSORS_ONLN)"
grep 'warning:' "$log" || true
