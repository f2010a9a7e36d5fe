#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every source says its licence in its first lines: an SPDX line. check_licence.sh ROOT
set -eu
cd "$1"
files=$(find . -type d \( -name 'build*' -o -name bad -o -name .git \) -prune -o -type f \( -name '*.[ch]' -o -name '*.h.in' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \
  -o -name '*.cmake' -o -name '*.cmake.in' -o -name CMakeLists.txt -o -name '*.sh' -o -name '*.py' -o -name '*.f90' -o -name '*.hpp' -o -path './scripts/*' -o -path './.ci/*' \) -print | sort)
[ -n "$files" ] || { echo "no sources under $1"; exit 1; }
status=0
for file in $files; do
  head -n 2 "$file" | grep -q 'SPDX-License-Identifier: BSD-3-Clause' || { echo "$file: no SPDX-License-Identifier: BSD-3-Clause in its first two lines"; status=1; }
done
exit $status
