#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The manual page has the long options and the keys of METHOD that --help has, and no others.
# check_man.sh PAGE PROGRAM
set -eu
page=$(sed 's/\\-/-/g; s/\\f[BIRP]//g' "$1")
commands=$("$2" --help | sed -nE '/^COMMAND:/,/^$/ s/^(COMMAND:)? +([a-z]+) .*/\2/p')
help=$(for command in $commands; do "$2" "$command" --help; done; "$2" --help)
options() { grep -oE -e '--[a-z][a-z-]*' | sort -u; }
keys() { grep -oE '\<[a-z]+=' | sort -u; }
status=0
compare() { # compare WHAT PAGE HELP, each a name a line
  for name in $2; do
    printf '%s\n' "$3" | grep -qxF -e "$name" ||
      { echo "$1 $name is on the manual page, but not in --help"; status=1; }
  done
  for name in $3; do
    printf '%s\n' "$2" | grep -qxF -e "$name" ||
      { echo "$1 $name is in --help, but not on the manual page"; status=1; }
  done
}
compare option "$(printf "%s\n" "$page" | options)" "$(printf "%s\n" "$help" | options)"
compare key "$(printf "%s\n" "$page" | sed -n '/^.SH METHODS/,/^.SH JSON/p' | keys)" "$(printf "%s\n" "$help" | sed -n '/^METHOD:/,/^Exit/p' | keys)"
exit $status
