#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# All C and CUDA files under a folder have the form of .clang-format, except those in bad/.
# check_form.sh ROOT [FOLDER]: FOLDER, in ROOT, limits the search and may be in bad/. Exit status
# 77, which CTest calls skipped: clang-format is not on this machine.
set -eu
cd "$1"
if [ $# -gt 1 ]; then
  files=$(find "$2" -name '*.[ch]')
else
  files=$(find include src plugins tools cases examples bench tests \
    -path tests/project/bad -prune -o -type f \( -name '*.[ch]' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) -print)
fi
[ -n "$files" ] || { echo "no C files in $1"; exit 1; }

# shellcheck disable=SC2086 # no name has a space
said=$(scripts/lint --form $files 2>&1) && status=0 || status=$?
printf '%s\n' "$said"
case $status,$said in
  2,*"scripts/setup.sh --with-lint"*) exit 77 ;;
esac
exit "$status"
