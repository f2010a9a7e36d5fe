#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds hypre for one GPU, without MPI, to compare with:
#   usage: bench/peers_gpu/hypre.sh ARCHIVE FOLDER [SM]
# ARCHIVE is a source archive of hypre 3 (tar, compressed or not), for example
# https://github.com/hypre-space/hypre/archive/refs/tags/v3.1.0.tar.gz. The library and its headers
# come to FOLDER, for which -DBISAI_HYPRE=FOLDER asks. SM is the compute capability without the
# point; 90 (H100, H200) by default. It takes three minutes on 16 cores, and
# nvcc is in PATH. The pool of CUDA has to be asked for by its macro: the option does nothing in 3.1.
set -eu
[ $# -eq 2 ] || [ $# -eq 3 ] || { sed -n '/usage/s/^# *//p' "$0" >&2; exit 2; }
archive=$(realpath "$1") folder=$(realpath -m "$2") arch=${3:-90}
mkdir -p "$folder/sources"
tar -xf "$archive" -C "$folder/sources" --strip-components=1
cmake -S "$folder/sources/src" -B "$folder/build" -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_INSTALL_PREFIX="$folder" -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_SHARED_LIBS=ON \
  -DHYPRE_ENABLE_MPI=OFF -DHYPRE_ENABLE_UMPIRE=OFF -DHYPRE_ENABLE_CUDA=ON \
  -DHYPRE_USING_DEVICE_MALLOC_ASYNC=ON -DCMAKE_CUDA_ARCHITECTURES="$arch"
cmake --build "$folder/build" --target install -j "$(nproc)"
