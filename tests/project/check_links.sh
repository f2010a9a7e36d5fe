#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every file that a page of Markdown links to is there, and every heading of its own. check_links.sh PAGE…
set -eu
status=0
for page; do
  links=$(awk '/^```/ { code = !code } !code' "$page" | grep -oE '\]\([^)]+\)' | sed -E 's/^\]\(//; s/\)$//' | sort -u)
  headings=$(awk '/^```/ { code = !code } !code && /^#+ / { sub(/^#+ /, ""); print "#" tolower($0) }' "$page" | sed -E 's/[^a-z0-9 _#-]//g; s/ /-/g')
  for link in $links; do
    case $link in
      *://*) continue ;;
      \#*) printf '%s\n' "$headings" | grep -qxF -e "$link" || { echo "$page: no heading $link"; status=1; } ;;
      *) [ -e "$(dirname "$page")/${link%%#*}" ] || { echo "$page: no file $link"; status=1; } ;;
    esac
  done
done
exit $status
