#!/bin/sh
# Files of states and the store as other programs read them: meshio, NumPy, pandas, and the notebook in examples/.
# Skipped without these.
set -eu
here=$(dirname "$(readlink -f "$0")")
for python in python3 /usr/bin/python3 none; do
    "$python" -c "import meshio, numpy, pandas" 2>/dev/null && break
done
if [ "$python" = none ]; then
    echo "skipped: there are no meshio, NumPy and pandas here (sudo apt-get install python3-meshio python3-pandas)"
    exit 77
fi
notebook=$PBDBENCH_ROOT/examples/notebook/runs.ipynb
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/root"
ln -s "$PBDBENCH_ROOT/plots" "$work/root/plots"
export PBDBENCH_ROOT="$work/root"
run() { # FOLDER SNAPSHOTS CASE...
    folder=$1 snapshots=$2
    shift 2
    "$PBDBENCH_PROGRAM" run "$@" --snapshots "$snapshots" --states vtu,ply,npz --out "$folder" -q >"$work/out.txt"
}
run "$work/states" 6 bounce -m strain_energy
run "$work/states" 3 goo_drop -m mpm -s particles=200 -s duration=0.1
for element in tet10 hex27; do
    run "$work/states/$element" 2 material_sweep -m fem_implicit -s element=$element -s load=surface -s nu=0 \
        -s cells=1 -s length=0.2 -s material=corotated
done
"$python" "$here/state_files.py" "$notebook" "$work/root/results/pbdbench.db" "$work/states"
