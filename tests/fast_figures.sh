#!/bin/sh
# The figures of gate.yaml, in full: each verdict must be the accepted one.
#   PBDBENCH_PROGRAM=... PBDBENCH_ROOT=... tests/fast_figures.sh
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
figures=$(sed -n '/^figures:/,$p' "${PBDBENCH_ROOT:?}/gate.yaml" | tr -d '[],' | sed 's/^figures://')
failed=0
for figure in $figures; do
    code=0
    "${PBDBENCH_PROGRAM:?}" reproduce "$figure" --db "$folder/figures.db" --out "$folder" -q >"$folder/said" 2>&1 || code=$?
    echo "$figure: exit $code"
    [ $code -eq 0 ] || { cat "$folder/said"; failed=1; }
done
exit $failed
