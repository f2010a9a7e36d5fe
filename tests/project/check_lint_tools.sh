#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# scripts/lint calls a tool that is absent, or of another version, an error and says what installs it.
# check_lint_tools.sh ROOT WORK
set -eu
mkdir -p "$2"
other=$2/other-version
printf '#!/bin/sh\necho "clang version 99.0.1"\n' >"$other"
chmod +x "$other"
cd "$1"
refuses() { # refuses TEXT VARIABLE=PROGRAM FILE
  said=$(env "$2" scripts/lint "$3" 2>&1) && status=0 || status=$?
  case $status:$said in
    2:*"$1"*"scripts/setup.sh --with-lint installs it"*) ;;
    *) echo "with $2 lint ended with $status and said:"; printf '%s\n' "$said"; exit 1 ;;
  esac
}
refuses "no clang-format 14" CLANG_FORMAT=/gone/clang-format tests/fuzz/api.h
refuses "no clang-format 14" "CLANG_FORMAT=$other" tests/fuzz/api.h
refuses "no shellcheck" SHELLCHECK=/gone/shellcheck scripts/lint
if command -v clang-format-14 >/dev/null; then
  refuses "no clang-tidy 14" CLANG_TIDY=/gone/clang-tidy src/krylov/methods/gmres.c
  refuses "no clang-tidy 14" "CLANG_TIDY=$other" src/krylov/methods/gmres.c
fi
