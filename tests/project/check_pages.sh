#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bench/all makes a page with its date, commit, command and figures, keeps what was written by hand
# under it, and names the reason for a page that it cannot make. Scripts repeat warm methods.
# check_pages.sh PYTHON BENCH BUILD FOLDER
set -eu
python=$1 bench=$2 build=$3 folder=$4
rm -rf "$folder"
mkdir -p "$folder/none"
export PYTHONDONTWRITEBYTECODE=1 BISAI_COMMIT=abcdef0
"$build/bisai" compare --case cavity --size 3 --methods none --backend host --json /dev/null 2>&1 |
  grep -q 'no jansson' && exit 77

printf 'old\n\n<!-- by hand, kept when the page is made again -->\n\nA remark.\n' \
  > "$folder/compare-cpu.md"
"$python" "$bench/all" "$build" --backend host --quick --only compare-cpu,symmetric-matrices \
  --matrices "$folder/none" --results "$folder" > "$folder/out.txt"

need() {
  grep -q "$2" "$folder/$1" || { echo "$1 lacks: $2"; exit 1; }
}
need out.txt 'compare-cpu .*compare-cpu.md, compare-cpu.json'
need out.txt 'symmetric-matrices .*not made: there are no real matrices'
need compare-cpu.md "^$(date +%Y)-.*commit abcdef0"
need compare-cpu.md 'bisai compare --case cavity'
need compare-cpu.md '| `mg` |'
need compare-cpu.md '^A remark.$'
! grep -q '^old$' "$folder/compare-cpu.md" || { echo "the old page is still there"; exit 1; }
need compare-cpu.json '"commit": "abcdef0"'
! grep bisai-pages "$folder"/compare-cpu.* || { echo "folders of this machine are on the page"; exit 1; }

# times of real matrices are of several warm runs, minimum and median
"$build/bisai" convert --case reaction --size 8 "$folder/none/small.mtx" --rhs none > "$folder/convert.txt"
"$python" "$bench/block-jacobi/block_jacobi.py" "$build/bisai" "$folder/none" "$folder/blocks.md" --backend host \
  --repeats 3 --max-iterations 300 --at-once 2 > "$folder/blocks.txt"
need blocks.md 'each method was warmed up and run 3 times'
need blocks.md '^| small | [0-9]* | [0-9]* | [0-9*]*, [0-9.*]*/'
need blocks.json '"least_total_s"'

# the automatic choice beside a grid of settings, whose file goes on where it was left
for only in '' --again=1; do
  "$python" "$bench/auto/grid.py" "$build/bisai" "$folder/none" --output "$folder/grid.jsonl" \
    --jobs 2 $only > "$folder/grid.txt"
done
need grid.txt '1 of 1 matrices solved'
need grid.jsonl '"setting": "--preconditioner ilu", "status": "converged"'
need grid.jsonl '"repeats": 5'
"$python" "$bench/auto/grid.py" "$build/bisai" "$folder/none" --output "$folder/chosen.jsonl" --auto \
  > "$folder/chosen.txt"
printf '[{"name": "small", "split": "held out"}]' > "$folder/list.json"
"$python" "$bench/auto/page.py" "$folder/auto.md" "$folder/list.json" \
  --host "$folder/grid.jsonl" "$folder/chosen.jsonl" > "$folder/auto.txt"
need auto.md '^| made systems, held out | 1 | 1 | 1 | 0 |'
need auto.md '^| small | [0-9]* | .* | [0-9]* | [0-9.]* | `.*` | [0-9.]* | [0-9.]* |$'
need auto.json '"kind": "host", "matrix": "small"'
rm "$folder/none/small.mtx"

# the pages of multigrid and CPR compare with one level
"$python" "$bench/multigrid/multigrid_tables.py" "$folder/cpr.md" "$bench/results/cpr.json" > "$folder/cpr.txt"
need cpr.md '^## Beside one level$'
need cpr.md '^| reservoir:100 | `cpr[^`]*`.*`isai:relax=1`, bicgstab | [0-9]* | [0-9.]* | [0-9.]* |$'

unset BISAI_MATRICES
"$python" "$bench/all" "$build" --backend cuda --plan > "$folder/plan.txt"
need plan.txt 'bench_multigrid --backend cuda'
"$python" "$bench/all" "$build" --backend host --plan --only papers-cpu/adaptive > "$folder/part.txt"
need part.txt 'bench/papers .*--only adaptive'
if "$python" "$bench/all" "$build" --backend host --only nothing 2> "$folder/wrong.txt"; then exit 1; fi
need wrong.txt 'no page of host: nothing'
