#!/bin/sh
# Installs what is missing, configures and builds a preset, `release` unless told, in build/PRESET.
set -eu
cd "$(dirname "$0")/.."
preset=${1:-release}
scripts/setup.sh
if [ ! -e "build/$preset/CMakeCache.txt" ] && [ -z "${CMAKE_GENERATOR:-}" ] && command -v ninja >/dev/null; then
  export CMAKE_GENERATOR=Ninja
fi
cmake --preset "$preset"
cmake --build --preset "$preset" --parallel "$(getconf _NPROCESSORS_ONLN)"
