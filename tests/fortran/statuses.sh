#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The Fortran module has each status of C with its number. statuses.sh HEADER MODULE
set -eu
in_c=$(sed -n 's/^  X(\(BISAI_[A-Z_]*\), \([0-9]*\),.*/\1 \2/p' "$1" | tr '[:upper:]' '[:lower:]')
in_fortran=$(sed -n 's/^  integer, parameter, public :: \(bisai_[a-z_]*\) = \([0-9]*\)$/\1 \2/p' "$2")
[ -n "$in_c" ] && [ "$in_c" = "$in_fortran" ] || {
  printf 'in C:\n%s\nin Fortran:\n%s\n' "$in_c" "$in_fortran"
  exit 1
}
