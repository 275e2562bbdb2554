#!/bin/sh
# Compares two builds of a plug-in: errors first, then times. For CI; also by hand.
#   PBDBENCH=PROGRAM gate.sh BASE_SOURCE HEAD_SOURCE SUITE [OPTION of `pbdbench gate`...]
# BASE_SOURCE and HEAD_SOURCE are checkouts with a CMakeLists.txt that makes one lib*.so (examples/plugin is one). The
# Markdown table goes to standard output. Exit 0: no regression; 1: slower; 3: other errors or counts; 4: the machine
# could not decide, which is no failure of the change.
set -eu
base=$1 head=$2 suite=$3
shift 3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for side in base head; do
    [ $side = base ] && source=$base || source=$head
    cmake -S "$source" -B "$folder/$side" -G Ninja -DCMAKE_BUILD_TYPE=Release -Dpbdbench_DIR="${PBDBENCH%/*}" >"$folder/log" 2>&1 &&
        cmake --build "$folder/$side" >>"$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 2; }
done
"$PBDBENCH" gate --plugin "$folder"/head/lib*.so --baseline-plugin "$folder"/base/lib*.so --suite "$suite" \
    --markdown - --no-store --quiet "$@"
