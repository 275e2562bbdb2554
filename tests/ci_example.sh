#!/bin/sh
# examples/ci/gate.sh builds the example plug-in twice and writes its table. What it says of the times is not judged.
#   PBDBENCH_PROGRAM=... PBDBENCH_ROOT=... tests/ci_example.sh
set -eu
cd "${PBDBENCH_ROOT:?}"
code=0
table=$(PBDBENCH=$PBDBENCH_PROGRAM sh examples/ci/gate.sh examples/plugin examples/plugin examples/ci/springs.yaml \
    --max-pairs 8 --max-load 1000000 --max-steal 1 --confirm-after 0) || code=$?
echo "$table"
[ $code = 0 ] || [ $code = 4 ] || { echo "exit $code"; exit 1; }
for cell in traction shear_f32; do echo "$table" | grep -q "^| $cell | .*displacement_error"; done
