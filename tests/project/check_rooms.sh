#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# scripts/draw-rooms --check sees an arrow that the picture lacks, one that it should not have, and
# a circle of rooms, in a copy of src.  check_rooms.sh ROOT WORK
set -eu
root=$1 work=$2
rm -rf "$work"
mkdir -p "$work/docs"
cp -R "$root/src" "$work/src"
cp "$root/docs/design.md" "$root/docs/rooms.svg" "$work/docs"

refuses() { # refuses TEXT: draw-rooms --check fails and says TEXT
  if said=$("$root/scripts/draw-rooms" --check "$work" 2>&1); then
    echo "nothing is said of: $1"
    exit 1
  fi
  case $said in *"$1"*) ;; *) printf 'not said: %s\n%s\n' "$1" "$said" && exit 1 ;; esac
}
"$root/scripts/draw-rooms" --check "$work"
echo '#include "order/order.h"' >"$work/src/io/new.c"
refuses "the picture lacks io → order"
rm "$work/src/io/new.c"
rm -r "$work/src/io"
refuses "the picture has io → core"
echo '#include "krylov/new.h"' >"$work/src/core/new.c"
refuses "core → krylov → "
