#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Links between pages of Markdown lead somewhere: every relative link names a file or folder that is
# there, and what follows # is a heading of that page (or of the same one). Web addresses are left
# alone.  check_links.sh PAGE…
set -eu
export LC_ALL=C
tab=$(printf '\t')

# Lines "LINE<tab>TARGET" for [text](target), ![](target) and [text]: target, outside of code.
links_of() {
  awk '
    /^ *(```|~~~)/ { code = !code; next }
    code { next }
    { text = $0; gsub(/`[^`]*`/, "", text) }
    match(text, /^ *\[[^]]+\]: +[^ ]+/) {
      target = substr(text, RSTART, RLENGTH); sub(/^.*\]: +/, "", target); print FNR "\t" target; next }
    { while (match(text, /\]\([^()]*(\([^()]*\)[^()]*)*\)/)) {
        target = substr(text, RSTART + 2, RLENGTH - 3)
        text = substr(text, RSTART + RLENGTH)
        sub(/ +".*"$/, "", target)
        gsub(/^<|>$/, "", target)
        print FNR "\t" target } }' "$1"
}
# The anchors of a page as GitHub makes them: small letters, no punctuation, - for each space, -1
# and so on behind a heading that came before; and those of <a id="…">.
anchors_of() {
  awk '
    /^ *(```|~~~)/ { code = !code; next }
    code { next }
    { text = $0
      while (match(text, /<a (id|name)="[^"]*"/)) {
        name = substr(text, RSTART, RLENGTH - 1); text = substr(text, RSTART + RLENGTH)
        sub(/^.*"/, "", name); print name } }
    !/^#+ / { next }
    { text = tolower($0)
      sub(/^#+ +/, "", text); sub(/ +#+ *$/, "", text)
      gsub(/\]\([^)]*\)/, "", text)
      gsub(/[^a-z0-9 _-]/, "", text); gsub(/ /, "-", text)
      print text (text in seen ? "-" seen[text] : ""); seen[text]++ }' "$1"
}

status=0
for page; do
  found=$(links_of "$page" | while IFS=$tab read -r line target; do
    file=${target%%#*}
    case $target in
      *://* | mailto:*) continue ;;
      '#'*) file=$page ;;
      *) file=$(dirname "$page")/$file ;;
    esac
    if [ ! -e "$file" ]; then
      echo "$page:$line: no file $target"
      continue
    fi
    case $target in
      *.md'#'* | '#'*)
        anchors_of "$file" | grep -qxF -e "${target#*#}" || echo "$page:$line: no heading $target"
        ;;
    esac
  done)
  if [ -n "$found" ]; then
    printf '%s\n' "$found"
    status=1
  fi
done
exit $status
