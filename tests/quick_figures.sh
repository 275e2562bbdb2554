#!/bin/sh
# Every figure with --quick in one call, with its strips, into a store of its own: no run fails, every chart is drawn.
#   PBDBENCH_PROGRAM=... PBDBENCH_ROOT=... tests/quick_figures.sh
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
code=0
OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} "${PBDBENCH_PROGRAM:?}" reproduce all --quick -q --db "$folder/figures.db" \
    --out "$folder" || code=$?
echo "reproduce all --quick: exit $code"
exit $code
