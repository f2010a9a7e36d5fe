#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Downloads matrices of the SuiteSparse collection (https://sparse.tamu.edu) and unpacks them as
# NAME.mtx.
#
#   fetch.sh [--address] WORD…     into the current folder, or into $SUITESPARSE_DIR
#
# A WORD is GROUP/NAME, the NAME of a matrix in one of the lists beside this script, or a list, whose
# matrices are all taken: block-isai-2021 (or all), gauss-jordan-2017, adaptive-2020. A matrix that
# is there already is not downloaded again, and one that cannot be downloaded does not stop the
# others; the status is 1 then.
#
# --address prints where each would come from and downloads nothing. $SUITESPARSE_URL takes the
# place of the collection's address (a mirror with the same layout, GROUP/NAME.tar.gz; file:// is
# accepted).
set -eu

base=${SUITESPARSE_URL:-https://suitesparse-collection-website.herokuapp.com/MM}
folder=${SUITESPARSE_DIR:-.}
lists=$(cd "$(dirname "$0")" && pwd)

say() {
  echo "fetch.sh: $*" >&2
}

fail() {
  say "$@"
  exit 1
}

# Prints GROUP/NAME of each matrix that a word means.
matrices_of() {
  case $1 in
    */*/* | /* | */ | .*) fail "'$1' is not GROUP/NAME" ;;
    */*) echo "$1" ;;
    all) cat "$lists/block-isai-2021.txt" ;;
    *)
      if [ -f "$lists/$1.txt" ]; then
        cat "$lists/$1.txt"
      else
        cat "$lists"/*.txt | awk -F/ -v name="$1" '
          $2 == name { print; found = 1; exit }
          END { exit !found }' ||
          fail "'$1' is in no list of the papers' matrices: give GROUP/NAME"
      fi
      ;;
  esac
}

download() {
  case $1 in
    file://*) cp "${1#file://}" "$2" ;;
    *)
      if command -v curl >/dev/null; then
        curl --fail --location --show-error --output "$2" "$1"
      elif command -v wget >/dev/null; then
        wget --output-document="$2" "$1"
      else
        fail "neither curl nor wget was found; download $1 and unpack $3.mtx from it"
      fi
      ;;
  esac
}

# Unpacked beside its final place and moved there when complete.
fetch() {
  if [ -e "$folder/$1.mtx" ]; then
    echo "$folder/$1.mtx is there already"
    return
  fi
  work=$(mktemp -d "$folder/fetch.XXXXXX") || exit 1
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' HUP INT TERM
  download "$2" "$work/archive.tar.gz" "$1" || fail "cannot download $2"
  tar -xzf "$work/archive.tar.gz" -C "$work" "$1/$1.mtx" || fail "no $1/$1.mtx in $2"
  mv "$work/$1/$1.mtx" "$folder/$1.mtx" || exit 1
  echo "$folder/$1.mtx"
}

print_only=no
if [ "${1:-}" = --address ]; then
  print_only=yes
  shift
fi
[ $# -gt 0 ] || fail "give GROUP/NAME, the name of a matrix, or a list:" \
  "block-isai-2021 (or all), gauss-jordan-2017, adaptive-2020"

wanted=
for word in "$@"; do
  found=$(matrices_of "$word") || exit 1
  wanted="$wanted $found"
done
missing=
for matrix in $wanted; do
  address=$base/$matrix.tar.gz
  if [ $print_only = yes ]; then
    echo "$address"
  elif ! (fetch "${matrix#*/}" "$address"); then
    missing="$missing $matrix"
  fi
done
[ -z "$missing" ] || fail "not there:$missing"
