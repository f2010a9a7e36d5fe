#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# No line of C, CUDA, Python or Markdown has more than 100 characters. In Markdown, tables, code blocks and
# lines with a link or a URL may be longer.
# check_lines.sh ROOT
set -eu
export LC_ALL=C # awk sees bytes then, and the second and later bytes of a character are removed
cd "$1"
files=$(find . \( -name 'build*' -o -name bad -o -name .git \) -prune -o -type f \( \
  -name '*.[ch]' -o -name '*.h.in' -o -name '*.cu' -o -name '*.cuh' -o -name '*.py' -o -name '*.md' \) -print | sort)
[ -n "$files" ] || { echo "no sources under $1"; exit 1; }
# shellcheck disable=SC2086 # a list
awk '
  FNR == 1 { page = FILENAME ~ /\.md$/; code = 0 }
  page && /^ *```/ { code = !code }
  page && (code || /^ *\|/ || /\]\(/ || /:\/\//) { next }
  { line = $0; gsub(/[\200-\277]/, "", line) }
  length(line) > 100 { print FILENAME ":" FNR ": " length(line) " columns, at most 100"; bad = 1 }
  END { exit bad }' $files
