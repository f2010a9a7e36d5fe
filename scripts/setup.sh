#!/bin/sh
# Installs what bisai needs and this machine lacks, with apt. Nothing is asked of apt where everything is there; where there is no
# apt, or no right to use it, this says what is missing and goes on if the essentials (C compiler, CMake, make or ninja) are there.
set -eu

missing=
need() { # need PACKAGE COMMAND…: present if COMMAND succeeds
  package=$1
  shift
  "$@" >/dev/null 2>&1 || missing="$missing $package"
}
header() {
  printf '#include <stdarg.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <setjmp.h>\n#include <%s>\n' "$1" | cc -E -
}
any() { # any COMMAND…: one of them is there
  for name; do
    command -v "$name" && return 0
  done
  return 1
}
recent_cmake() { # 3.22 or later
  command -v cmake || return 1
  version=$(cmake --version | sed -n '1s/[^0-9]*\([0-9]*\)\.\([0-9]*\).*/\1 \2/p')
  # shellcheck disable=SC2086 # two numbers
  set -- $version
  [ "$1" -gt 3 ] || { [ "$1" -eq 3 ] && [ "$2" -ge 22 ]; }
}
install() {
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
}
look() {
  missing=
  need build-essential any cc
  need build-essential header stdlib.h
  need cmake recent_cmake
  need ninja-build any ninja make
  need pkg-config any pkg-config pkgconf
  need libcmocka-dev header cmocka.h
  need libjansson-dev header jansson.h
  need libarchive-dev header archive.h
  need zlib1g-dev header zlib.h
  need libmetis-dev header metis.h
  need gnuplot-nox any gnuplot
  need xz-utils any xz
  # Large: 55 MB to load and 500 MB installed beside the rest, MPI included. BISAI_PETSC=OFF goes without.
  if [ "${BISAI_PETSC:-ON}" != OFF ]; then
    need libpetsc-real-dev pkg-config --exists 'PETSc >= 3.18'
  fi
}

look
if [ -z "$missing" ]; then
  exit 0
fi

as_root=
if [ "$(id -u)" -ne 0 ]; then
  as_root=sudo
fi
if command -v apt-get >/dev/null && { [ -z "$as_root" ] || sudo -n true 2>/dev/null || { [ -t 0 ] && command -v sudo >/dev/null; }; }; then
  echo "installing:$missing"
  $as_root apt-get update -qq || echo "apt-get update failed; trying with the lists that are there"
  # One at a time if all at once fails: an optional package that this release does not have must not stop the others.
  # shellcheck disable=SC2086 # a list
  install $missing || for package in $missing; do install "$package" || true; done
  look
fi

if [ -n "$missing" ]; then
  echo "not on this machine (names of Debian and Ubuntu packages):$missing"
  for package in build-essential cmake ninja-build; do
    case "$missing " in
      *" $package "*)
        echo "bisai cannot be built without $package (CMake 3.22 or later); please install it and try again" >&2
        exit 1
        ;;
    esac
  done
  echo "going on without: the parts that need them are left out"
fi
