#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Downloads the paper's matrices from the SuiteSparse collection (https://sparse.tamu.edu) and
# unpacks them as NAME.mtx.
#
#   fetch.sh [--address] NAME… | all     into the current folder, or into $SUITESPARSE_DIR
#
# --address prints where each would come from and downloads nothing. $SUITESPARSE_URL takes the
# place of the collection's address (a mirror with the same layout, GROUP/NAME.tar.gz; file:// is
# accepted).
set -eu

base=${SUITESPARSE_URL:-https://suitesparse-collection-website.herokuapp.com/MM}
folder=${SUITESPARSE_DIR:-.}

fail() {
  echo "fetch.sh: $*" >&2
  exit 1
}

group_of() {
  case $1 in
    atmosmodd) echo Bourchtein ;;
    af_shell3) echo Schenk_AFE ;;
    venkat50) echo Simon ;;
    *) fail "'$1' is not a matrix of the paper (atmosmodd, af_shell3, venkat50)" ;;
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
  work=$(mktemp -d "$folder/fetch.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' HUP INT TERM
  download "$2" "$work/archive.tar.gz" "$1" || fail "cannot download $2"
  tar -xzf "$work/archive.tar.gz" -C "$work" "$1/$1.mtx" || fail "no $1/$1.mtx in $2"
  mv "$work/$1/$1.mtx" "$folder/$1.mtx"
  rm -rf "$work"
  trap - EXIT HUP INT TERM
  echo "$folder/$1.mtx"
}

print_only=no
if [ "${1:-}" = --address ]; then
  print_only=yes
  shift
fi
[ $# -gt 0 ] || fail "give a name: atmosmodd, af_shell3, venkat50, or all"
[ "$1" != all ] || set -- atmosmodd af_shell3 venkat50

for name in "$@"; do
  group=$(group_of "$name")
  address=$base/$group/$name.tar.gz
  if [ $print_only = yes ]; then
    echo "$address"
  else
    fetch "$name" "$address"
  fi
done
