#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# src/gpu alone includes the headers of CUDA, so that another GPU language has one folder to begin
# with, and nothing includes a .cu file. The cuSPARSE plug-in, which sees nothing of src/, includes
# CUDA's headers itself.
# check_gpu_headers.sh ROOT
set -eu
cd "$1"
folders=
for folder in include src plugins tools cases; do
  [ ! -d "$folder" ] || folders="$folders $folder"
done
# shellcheck disable=SC2086 # a list
files=$(find $folders -type f \( -name '*.[ch]' -o -name '*.h.in' -o -name '*.cu' -o -name '*.cuh' \) |
  sort)
[ -n "$files" ] || { echo "no sources under $1"; exit 1; }
# shellcheck disable=SC2086 # a list
awk '
  !/^[ \t]*#[ \t]*include/ { next }
  { quoted = /include[ \t]*"/
    name = $0
    sub(/^[^<"]*[<"]/, "", name)
    sub(/[>"].*/, "", name) }
  name ~ /\.cu$/ { print FILENAME ":" FNR ": includes " name ", a file of kernels"; bad = 1 }
  quoted || FILENAME ~ /^(src\/gpu|(src|plugins)\/cusparse)\// { next }
  name ~ /^(cuda|cub\/|cooperative_groups|cusparse|cublas|thrust\/|nvtx|nv\/|mma\.h)/ {
    print FILENAME ":" FNR ": includes " name ", which belongs in src/gpu"; bad = 1 }
  END { exit bad }' $files
