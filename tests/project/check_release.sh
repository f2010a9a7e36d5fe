#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# scripts/release --check accepts a tree whose places agree, and names each that does not.
# check_release.sh ROOT WORK; exit status 77 without git
set -eu
root=$1 work=$2
git --version >/dev/null 2>&1 || { echo "no git"; exit 77; }
rm -rf "$work"
mkdir -p "$work/scripts" "$work/debian" "$work/tests/consumer/project"
cd "$root"
cp scripts/release "$work/scripts"
cp debian/control debian/changelog "$work/debian"
cp tests/consumer/project/CMakeLists.txt "$work/tests/consumer/project"
cp CMakeLists.txt CITATION.cff "$work"
version=$(sed -n 's/^project(bisai VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
cd "$work"
printf '## [%s] 2026-12-31\n' "$version" >CHANGELOG.md
echo 'date-released: 2026-12-31' >>CITATION.cff
commit() {
  git add -A
  git -c user.name=test -c user.email=test@localhost commit -qm "$1"
}
git init -q .
commit good
scripts/release --check
refused() { # refused TEXT: the check fails and prints TEXT
  if scripts/release --check >said 2>&1 || ! grep -qF -e "$1" said; then
    echo "expected '$1':"
    cat said
    exit 1
  fi
  rm said
}
touch new
refused "not committed"
rm new
for file in CITATION.cff debian/changelog tests/consumer/project/CMakeLists.txt; do
  sed -i "s/$(echo "${version%.*}" | sed 's/\./\\./')/9.9/" "$file"
  commit "$file"
  refused "$file"
done
sed -i 's/^Package: libbisai.*/Package: libbisai9/' debian/control
echo nothing >CHANGELOG.md
commit rest
refused "debian/control has no package"
refused "CHANGELOG.md has no section"
