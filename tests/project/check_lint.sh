#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# scripts/lint refuses a file with a fault, says what and where, and takes a sound one.
# check_lint.sh ROOT FAULTY SOUND TEXT…: each TEXT, a pattern of grep -E, is what it has to say about
# FAULTY. Exit status 77, which CTest calls skipped: a tool is not on this machine; its name is said.
set -eu
cd "$1"
faulty=$2 sound=$3
shift 3

said=$(scripts/lint "$faulty" 2>&1) && status=0 || status=$?
if [ "$status" -eq 2 ]; then
  printf '%s\n' "$said"
  case $said in *"scripts/setup.sh --with-lint"*) exit 77 ;; esac
  exit 1
fi
if [ "$status" -ne 1 ]; then
  printf '%s\n' "$said"
  echo "lint of $faulty ended with $status, not 1"
  exit 1
fi
for text; do
  printf '%s\n' "$said" | grep -qE -e "$text" || {
    printf '%s\n' "$said"
    echo "lint of $faulty did not say '$text'"
    exit 1
  }
done
scripts/lint "$sound" || { echo "lint refuses $sound, in which there is no fault"; exit 1; }
