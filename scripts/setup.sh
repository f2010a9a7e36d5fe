#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs by apt the packages that bisai needs and that this machine lacks:
#   usage: scripts/setup.sh [--with-tests] [--with-plots] [--with-petsc] [--with-lint] [--with-direct] [--with-python] [--with-fortran] [--with-cpp]
# Without options it installs the packages that are needed to build the library and the program.
# --with-tests adds those for the tests, --with-plots gnuplot (70 MB), --with-petsc PETSc with its
# MPI and its tutorials (540 MB), and --with-lint the tools of scripts/lint (400 MB: git, shellcheck, clang-format and
# clang-tidy 14). --with-direct adds UMFPACK for the method direct (libsuitesparse-dev, 40 MB; its
# licence is the GPL). --with-python adds what the Python package and its tests need (python3-scipy,
# python3-cffi, python3-pytest, 200 MB), and --with-fortran gfortran for the Fortran module (40 MB).
# --with-cpp adds Eigen and DUNE-ISTL, whose adapters are tested (libeigen3-dev, libdune-istl-dev).
# If nothing is missing, the script does not call apt. Otherwise it prints the packages and their
# size first. Without apt, or without the right to use it, the script names what is missing and
# continues if the essential packages are there.
set -eu
cd "$(dirname "$0")/.."
. scripts/common.sh

tests="" plots="" petsc="" lint="" direct="" python="" fortran="" cpp=""
for option; do
  case $option in
    --with-tests) tests=yes ;;
    --with-plots) plots=yes ;;
    --with-petsc) petsc=yes ;;
    --with-lint) lint=yes ;;
    --with-direct) direct=yes ;;
    --with-python) python=yes ;;
    --with-fortran) fortran=yes ;;
    --with-cpp) cpp=yes ;;
    *)
      sed -n 's/^# *usage:/usage:/p' "$0" >&2
      exit 2
      ;;
  esac
done

need() { # need PACKAGE COMMAND…: present if COMMAND succeeds
  package=$1
  shift
  "$@" >/dev/null 2>&1 || missing="$missing $package"
}
header() {
  printf '#include <%s>\n' stdarg.h stddef.h stdint.h setjmp.h "$1" | cc -E -
}
any() { # any COMMAND…: succeeds if one of the commands exists
  for name; do
    command -v "$name" && return 0
  done
  return 1
}
suitesparse() { header suitesparse/umfpack.h || header umfpack.h; }
clang_tool() { # clang_tool NAME: succeeds if version 14 of NAME exists, which scripts/lint requires
  "$1-14" --version || "$1" --version | grep -q 'version 14\.'
}
apt_python() { # the one whose packages apt has
  if [ -x /usr/bin/python3 ]; then /usr/bin/python3 "$@"; else python3 "$@"; fi
}
python_header() {
  apt_python -c 'import os, sysconfig
os.stat(os.path.join(sysconfig.get_paths()["include"], "Python.h"))'
}
tutorials() { # those of PETSc 3.18, or another PETSc is installed
  pkg-config --exists 'PETSc >= 3.19' ||
    test -f /usr/share/petsc/3.18/share/petsc/examples/src/ksp/ksp/tutorials/ex2.c
}
recent_cmake() { # 3.22 or later
  command -v cmake || return 1
  version=$(cmake --version | sed -n '1s/[^0-9]*\([0-9]*\)\.\([0-9]*\).*/\1 \2/p')
  # shellcheck disable=SC2086 # two numbers
  set -- $version
  [ "$1" -gt 3 ] || { [ "$1" -eq 3 ] && [ "$2" -ge 22 ]; }
}

essential="gcc libc6-dev cmake ninja-build g++"
look() {
  missing=
  need gcc any cc
  need libc6-dev header stdlib.h
  need cmake recent_cmake
  need ninja-build any ninja make
  if [ "$(cuda_choice)" != OFF ] && has_nvcc; then
    need g++ any c++ # the compiler that nvcc uses
  fi
  need libarchive-dev header archive.h
  need libjansson-dev header jansson.h
  need zlib1g-dev header zlib.h
  need libmetis-dev header metis.h
  if [ -n "$tests" ]; then
    need libcmocka-dev header cmocka.h
    need pkg-config any pkg-config pkgconf
  fi
  if [ -n "$plots" ]; then
    need gnuplot-nox any gnuplot
  fi
  if [ -n "$petsc" ]; then
    need pkg-config any pkg-config pkgconf
    need libpetsc-real-dev pkg-config --exists 'PETSc >= 3.18'
    # PETSc's tutorials, which tests run; Debian 12 has them in a package of this version only
    need libpetsc3.18-dev-examples tutorials
  fi
  if [ -n "$direct" ]; then
    need libsuitesparse-dev suitesparse
  fi
  if [ -n "$python" ]; then
    need python3-dev python_header
    for module in cffi numpy scipy pytest; do
      need "python3-$module" apt_python -c "import $module"
    done
  fi
  if [ -n "$fortran" ]; then
    need gfortran any gfortran
  fi
  if [ -n "$cpp" ]; then
    need g++ any c++
    need libeigen3-dev test -f /usr/include/eigen3/Eigen/SparseCore
    need libdune-istl-dev test -f /usr/include/dune/istl/bcrsmatrix.hh
  fi
  if [ -n "$lint" ]; then
    need clang-format-14 clang_tool clang-format
    need clang-tidy-14 clang_tool clang-tidy
    need shellcheck any shellcheck
    need git any git
  fi
}

# Returns 0 if apt-get can be used, by $as_root. sudo asks for its password if there is a terminal.
as_root=""
may_install() {
  command -v apt-get >/dev/null || return 1
  [ "$(id -u)" -ne 0 ] || return 0
  as_root=sudo
  command -v sudo >/dev/null || return 1
  sudo -n true 2>/dev/null || { [ -t 0 ] && echo "to install:$missing" && sudo -v; }
}

# No installed package is upgraded, unless a new one depends on its exact version. The output of apt
# then says so.
apt_install() { # apt_install OPTION… PACKAGE…
  $as_root env LC_ALL=C DEBIAN_FRONTEND=noninteractive \
    apt-get install --no-install-recommends --no-upgrade "$@"
}
plan() { # plan PACKAGE…: puts into $planned what apt would do; fails if apt cannot do it
  planned=$(apt_install --assume-no "$@" 2>&1) || true
  case $planned in *" newly installed"* | *"Installing:"*) ;; *) return 1 ;; esac
}
known() { # known PACKAGE…: prints the packages that this release has
  for package; do
    if apt_install --simulate "$package" >/dev/null 2>&1; then echo "$package"; fi
  done
}
tell_plan() {
  echo "to be installed: $*"
  printf '%s\n' "$planned" | sed -n '/ upgraded:/,/^[^ ]/ { / upgraded:/p; /^ /p }
    /newly installed/p; /^Need to get/p; /additional disk space/p; /Download size/p
    /Space needed/p' | sed 's/^/  /'
}

install_missing() {
  # shellcheck disable=SC2086 # lists
  set -- $missing
  if ! plan "$@"; then # the lists of packages are missing or old
    step "$log" "apt-get update" $as_root apt-get update || true
    # shellcheck disable=SC2046
    plan "$@" || set -- $(known "$@")
    if [ $# -eq 0 ] || ! plan "$@"; then
      echo "apt has none of these packages:"
      { cat "$log"; printf '%s\n' "$planned"; } | sed -n '/^\(E\|W\|Err\)[:0-9]/p' | sort -u
      return 0
    fi
  fi
  tell_plan "$@"
  if ! step "$log" "apt-get install" apt_install -y "$@"; then
    echo "trying again with new lists of packages"
    if step "$log" "apt-get update" $as_root apt-get update; then
      step "$log" "apt-get install" apt_install -y "$@" || true
    fi
  fi
}

look
[ -n "$missing" ] || exit 0
if may_install; then
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  install_missing
  look
  [ -n "$missing" ] || exit 0
fi

echo "missing on this machine; an administrator can install them:" >&2
echo "  apt-get install --no-install-recommends$missing" >&2
for package in $essential; do
  case "$missing " in
    *" $package "*)
      echo "bisai cannot be built without a C compiler and library, CMake 3.22 or later," \
        "and ninja or make" >&2
      exit 1
      ;;
  esac
done
echo "continuing without them: the parts that need them are left out" >&2
