# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# What the scripts beside this file share; to be read by `.` in the root of the repository.

# step LOG WHAT COMMAND…: runs a command that may take long. Its output goes to LOG, which is shown
# where the command fails. Every three seconds a line tells how long it has taken and the last line
# of LOG. A COMMAND that asks for a password finds the terminal free.
step() {
  log=$1 what=$2 began=$(date +%s) status=0
  shift 2
  echo "$what"
  : >"$log"
  while sleep 3 >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
    echo "  $(($(date +%s) - began)) s  $(tail -n 1 "$log" | cut -c 1-90)"
  done &
  ticker=$!
  "$@" >"$log" 2>&1 || status=$?
  kill "$ticker" 2>/dev/null || true
  wait "$ticker" 2>/dev/null || true
  seconds=$(($(date +%s) - began))
  if [ "$status" -eq 0 ]; then
    [ "$seconds" -lt 3 ] || echo "  done, $seconds s"
  else
    cat "$log"
    echo "failed with exit status $status: $*" >&2
  fi
  return "$status"
}

has_gpu() {
  nvidia-smi -L >/dev/null 2>&1 || ls /dev/nvidia[0-9]* >/dev/null 2>&1
}

# Prints CMake's BISAI_CUDA: what the environment says; otherwise AUTO where there is a GPU, and OFF
# where there is none.
cuda_choice() {
  if [ -n "${BISAI_CUDA:-}" ]; then
    echo "$BISAI_CUDA"
  elif has_gpu; then
    echo AUTO
  else
    echo OFF
  fi
}

has_nvcc() {
  command -v "${CUDACXX:-nvcc}" >/dev/null
}
