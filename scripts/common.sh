# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Functions of the scripts in this folder. The scripts read this file by `.` in the root of the
# repository.

# step LOG WHAT COMMAND…: runs a command that may take long. Its output goes to LOG, and step prints
# LOG if the command fails. Every three seconds step prints the time so far and the last line of
# LOG. If COMMAND asks for a password, it can use the terminal.
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

# Prints CMake's BISAI_CUDA: the value in the environment, otherwise AUTO with a GPU and OFF without
# one.
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
