#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# scripts/petsc-cuda unpacks an archive of PETSc, patches it if the patch fits, configures and
# compiles it once, and refuses options that it does not know. Stubs stand for pip and configure,
# make, nvcc and mpicc, and an archive with one file for PETSc.
# check_petsc_cuda.sh ROOT WORK
set -eu
work=$2
rm -rf "$work"
mkdir -p "$work/stubs" "$work/mpi/bin"
cp -r "$1/scripts" "$work/scripts"
cd "$work"
stub() { # stub NAME COMMANDS
  printf '#!/bin/sh\n%s\n' "$2" >"$1"
  chmod +x "$1"
}
run() { # run STATUS ARGUMENT…: output in `said`, the calls of programs in `calls`
  expected=$1 status=0
  shift
  : >calls
  env PATH="$work/stubs:$work/mpi/bin:$PATH" WORK="$work" scripts/petsc-cuda "$@" >said 2>&1 ||
    status=$?
  [ "$status" -eq "$expected" ] || { echo "exit status $status, not $expected"; cat said; exit 1; }
}
expect() { # expect FILE TEXT
  grep -qF -e "$2" "$1" || { echo "'$2' is not in $1:"; cat "$1"; exit 1; }
}
# The files of PETSc that the patch changes, with its lines and their neighbours; or with another
# line.
archive() { # archive VERSION TYPE
  awk -v root="petsc-$1" -v type="$2" '
    /^--- a\// {
      file = root "/" substr($2, 3)
      folder = file
      sub(/\/[^\/]*$/, "", folder)
      system("mkdir -p " folder)
      next
    }
    file && /^[- ]/ { gsub(/VECSTANDARD/, type); print substr($0, 2) >file }' scripts/petsc-cuda.patch
  tar -czf "petsc-$1.tar.gz" "petsc-$1"
  rm -r "petsc-$1"
}

stub stubs/nvcc 'exit 0'
stub mpi/bin/mpicc 'exit 0'
stub stubs/make 'echo "make $*" >>"$WORK/calls"; cd "$2" && touch cuda/lib/libpetsc.so'
stub stubs/python3 'echo "python3 $*" >>"$WORK/calls"
case $* in
  *pip*) cp "$WORK/petsc-9.1.0.tar.gz" "$WORK/built" ;;
  *)
    mkdir -p cuda/lib/petsc/conf cuda/include && touch cuda/lib/petsc/conf/petscvariables
    case $* in *--download-hypre=*) echo "#define PETSC_HAVE_HYPRE 1" ;; esac >cuda/include/petscconf.h
    ;;
esac'
archive 9.1.0 VECSTANDARD
archive 9.2.0 VECOTHER

run 0 --version 9.1.0 --folder built --arch 80 --jobs 3
expect calls "pip download --no-deps --no-binary petsc --dest $work/built petsc==9.1.0"
expect calls "--with-cuda-arch=80"
expect calls "--with-mpi-dir=$work/mpi"
expect calls "MAKE_NP=3 all"
expect said "PKG_CONFIG_PATH=$work/built/petsc-9.1.0/cuda/lib/pkgconfig"
expect built/petsc-9.1.0/src/vec/vec/interface/vector.c "PetscCall(VecSetFromOptions(vec))"
expect built/petsc-9.1.0/src/vec/vec/impls/seq/cupm/vecseqcupm_impl.hpp "  __syncthreads();"

run 0 --source "$work/petsc-9.1.0.tar.gz" --folder built
[ ! -s calls ] || { echo "what is there was made again:"; cat calls; exit 1; }

touch hypre.tar.gz
for calls_again in 1 0; do # once with hypre, and then no more
  run 0 --source "$work/petsc-9.1.0.tar.gz" --folder built --hypre hypre.tar.gz
  if [ "$calls_again" -eq 1 ]; then
    expect calls "--download-hypre=$work/hypre.tar.gz"
    expect calls "MAKE_NP="
  fi
done
[ ! -s calls ] || { echo "hypre was made again:"; cat calls; exit 1; }
run 1 --source "$work/petsc-9.1.0.tar.gz" --folder built --hypre missing.tar.gz
expect said "there is no file missing.tar.gz"

run 0 --source "$work/petsc-9.2.0.tar.gz" --folder built
expect built/unpack.log "does not fit this version: PETSc is left as it is"
expect built/petsc-9.2.0/src/vec/vec/interface/vector.c "VECOTHER"

run 2 --arch
expect said "--arch needs a value"
run 2 --other
expect said "usage: scripts/petsc-cuda"
