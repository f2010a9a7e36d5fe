#!/bin/sh
# Installs what is missing, configures and builds the preset `release` in build/release.
set -eu
cd "$(dirname "$0")/.."
scripts/setup.sh
if [ ! -e build/release/CMakeCache.txt ] && [ -z "${CMAKE_GENERATOR:-}" ] && command -v ninja >/dev/null; then
  export CMAKE_GENERATOR=Ninja
fi
cmake --preset release
cmake --build --preset release --parallel "$(getconf _NPROCESSORS_ONLN)"
