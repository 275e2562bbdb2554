#!/bin/sh
# tools/timing-experiment and the planted faults run; what they measure is not judged here.
#   PBDBENCH_PROGRAM=... PBDBENCH_ROOT=... tests/timing_experiment.sh
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
LOADS=quiet sh "${PBDBENCH_ROOT:?}/tools/timing-experiment" -n 1 -m 8 -o "$folder/out.csv" compare gate
[ "$(wc -l <"$folder/out.csv")" -eq 3 ] || { echo "not a line for each experiment"; exit 1; }
awk -F , 'NR > 1 && ($3 != 1 || $4 + $5 + $6 != 1) { print "not one result: " $0; exit 1 }' "$folder/out.csv"

# It goes on where the file ends, and adds up its lines; lines of another program do not count.
awk -F , -v OFS=, 'NR > 1 { $11 = "0000000" } 1' "$folder/out.csv" >"$folder/other.csv"
sum() { sh "$PBDBENCH_ROOT/tools/timing-experiment" -s -o "$1" | awk -F , '$1 == "compare" { print $3 }'; }
[ -z "$(sum "$folder/other.csv")" ] || { echo "a line of another program counts"; exit 1; }
LOADS=quiet sh "$PBDBENCH_ROOT/tools/timing-experiment" -n 2 -m 8 -o "$folder/out.csv" compare
[ "$(sum "$folder/out.csv")" = 2 ] || { echo "a second piece does not make two"; exit 1; }

sh "$PBDBENCH_ROOT/tools/timing-factors" -n 12 -o "$folder/factors.csv" quiet
awk -F , 'NR > 1 && ($4 != 12 || !($5 >= 0)) { print "not a factor: " $0; exit 1 } END { if (NR != 11) exit 1 }' "$folder/factors.csv"

configure() { cmake -S "$PBDBENCH_ROOT" -B "$folder/build" -G Ninja -DPBD_TESTS=OFF -DPBD_CUDA=OFF -DPBD_PLANTED="$1" >"$folder/said" 2>&1; }
configure mutant=mpm_affine_sign
! cmp -s "$folder/build/planted/methods/mpm/mpm_kernels.h" "$PBDBENCH_ROOT/methods/mpm/mpm_kernels.h"
configure slowdown=5:mpm
grep -q 'PBD_PLANTED_PERCENT=5' "$folder/build/build.ninja"
if configure slowdown=much; then echo "slowdown=much is accepted"; exit 1; fi
grep -q 'must be slowdown=PERCENT' "$folder/said"
