#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A function that owns something has one exit, where it releases it; BSI_TRY, which returns from
# the middle, is for functions that own nothing. A function with both is refused: BSI_TRY and a
# goto, or BSI_TRY and a call that releases (free, close, …_release, …_destroy, …).
# The code is as clang-format leaves it: a function begins in column 1.  check_exits.sh ROOT
set -eu
cd "$1"
files=$(find . \( -name 'build*' -o -name bad -o -name .git \) -prune -o -type f \( \
  -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' \) -print | sort)
[ -n "$files" ] || { echo "no sources under $1"; exit 1; }
# shellcheck disable=SC2086 # a list
awk '
  function judge() {
    if (tries && cleans) {
      printf "%s: %s returns by BSI_TRY (line %d) and cleans up (line %d)\n", file, name, tries, cleans
      bad = 1
    }
    tries = cleans = 0
  }
  FNR == 1 { judge(); file = FILENAME; comment = macro = 0 }
  macro || /^ *#/ { macro = /\\$/; next }
  { line = $0
    gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
    if (comment) { if (!sub(/^.*\*\//, "", line)) next; comment = 0 }
    gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "", line)
    sub(/\/\/.*/, "", line)
    if (sub(/\/\*.*/, "", line)) comment = 1 }
  line ~ /^[A-Za-z_]/ && line !~ /^[A-Za-z_0-9]+:/ {
    judge()
    name = line
    sub(/\(.*/, "", name)
    sub(/^.*[ *]/, "", name)
    next
  }
  line ~ /(^|[^A-Za-z0-9_])BSI_TRY\(/ { if (!tries) tries = FNR; next }
  line ~ /(^|[^A-Za-z0-9_])goto / ||
  line ~ /(^|[^A-Za-z0-9])(free|close|fclose|release|destroy)(_cuda|_host)?\(/ { if (!cleans) cleans = FNR }
  END { judge(); exit bad }' $files
