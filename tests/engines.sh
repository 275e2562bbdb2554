#!/bin/sh
# Adapters of examples/engines on engines that tools/engines installed: the admission gate, and a bar that bends far against
# fem_implicit with the same law, mesh, masses and step. 77: that engine is not installed.
#   engines.sh mujoco|newton|pypbd|pysplishsplash|taichi_mpm
set -eu
name=$1 root=${PBDBENCH_ROOT:?} pbdbench=${PBDBENCH_PROGRAM:?}
[ -x "$root/.engines/$name/bin/python" ] || {
    echo "skipped: $name is not installed: run tools/engines $name"
    exit 77
}
engine=$root/examples/engines/$name/engine.yaml
bar='cantilever -s mode=dynamic -s cells=1 -s E=2e4 -s dt=1e-3 -s duration=0.2 -t 1 --no-store --json'
tip() { # ARGUMENTS...
    # shellcheck disable=SC2086 # words
    "$pbdbench" run $bar "$@" | sed -n 's/.*"tip_deflection": *{"value": *\([-0-9.e+]*\).*/\1/p'
}
near() { # WHAT MEASURED WANTED TOLERANCE
    echo "$1: $2, wanted $3"
    awk -v a="$2" -v b="$3" -v t="$4" 'BEGIN { exit !(a != "" && b != "" && (a / b - 1)^2 <= t^2) }'
}
fem() { tip -m fem_implicit -s element=tet4 -s mass=lumped -s "material=$1"; }
# The plug-in of the same engine must give the bits of the process: positions of all states of a run.
same_inside() {
    place=$(mktemp -d)
    trap 'rm -rf "$place"' EXIT
    cmake -S "$root/examples/engines/mujoco/inside" -B "$place/build" "-Dpbdbench_DIR=$(dirname "$pbdbench")" \
        -DCMAKE_BUILD_TYPE=Release >"$place/log" && cmake --build "$place/build" >>"$place/log" || {
        cat "$place/log" && exit 1
    }
    for how in "mujoco_inside --plugin $place/build/libmujoco_inside.so" "mujoco --engine $engine"; do
        # shellcheck disable=SC2086 # words
        "$pbdbench" run cantilever -m $how -s mode=dynamic -s cells=2 -s E=1e5 -s dt=5e-3 -s duration=0.25 -s material="$1" \
            -t 1 --no-store --snapshots 6 --states npz --out "$place/${how%% *}" -q >"$place/log" 2>&1 || {
            cat "$place/log" && exit 1
        }
    done
    "$root/.engines/mujoco/bin/python" - "$place" "$1" <<'END'
import glob, sys
import numpy as np
one, two = (np.load(*glob.glob(f"{sys.argv[1]}/{name}/*/states.npz")) for name in ("mujoco_inside", "mujoco"))
key = next(k for k in one.files if "position" in k.lower())
a, b = one[key], two[key]
print(f"{sys.argv[2]}: {len(a)} states of {a.shape[1]} particles ({a.dtype}) by both roads: "
      f"largest difference {np.abs(a - b).max():g} m")
sys.exit(not (len(a) > 2 and np.ptp(a, axis=0).max() > 0 and a.tobytes() == b.tobytes()))
END
    rm -rf "$place"
}
case $name in
mujoco)
    "$pbdbench" engine check "$engine" --gate
    for law in stvk macklin_neo_hookean; do
        near "$law" "$(tip -m mujoco --engine "$engine" -s "material=$law")" "$(fem "$law")" 0.005
        same_inside "$law"
    done
    ;;
newton)
    "$pbdbench" engine check "$engine" --gate
    near vbd "$(tip -m newton --engine "$engine" -p f32 -s iterations=100 -s material=macklin_neo_hookean)" \
        "$(fem macklin_neo_hookean)" 0.005
    if "$pbdbench" run cantilever -m newton --engine "$engine" -p f32 -s mode=dynamic -s duration=0.01 -s cells=1 \
        -s solver=xpbd --no-store 2>/dev/null; then
        echo "XPBD is not refused" && exit 1
    fi
    ;;
pypbd)
    "$pbdbench" engine check "$engine" --gate
    near "E says nothing to the energy constraint" "$(tip -m pypbd --engine "$engine" -s E=1e6)" \
        "$(tip -m pypbd --engine "$engine" -s E=1e7)" 0.02
    ;;
taichi_mpm) # mpm of this program, which shares nothing with it but the equations, on the same grid
    "$pbdbench" engine check "$engine" --gate
    slab='sand_column -p f32 -s shape=plane -s particles=300 -s volume_correction=off -s dt=4e-4 -s duration=0.2 -t 1'
    run_out() { # ARGUMENTS...
        # shellcheck disable=SC2086 # words
        "$pbdbench" run $slab --no-store --json -q "$@" | sed -n 's/.*"run_out": *{"value": *\([-0-9.e+]*\).*/\1/p'
    }
    near "run-out" "$(run_out -m taichi_mpm --engine "$engine")" "$(run_out -m mpm)" 0.005
    ;;
pysplishsplash) # still water stays where it is
    "$pbdbench" engine check "$engine" --gate
    near "height of the water" "$("$pbdbench" run still_water -p f32 -m pysplishsplash --engine "$engine" -s dt=5e-4 -s duration=0.5 \
        -t 1 --no-store --json -q | sed -n 's/.*"volume": *{"value": *\([-0-9.e+]*\).*/\1/p')" 1 0.1
    ;;
*)
    echo "engines.sh: no engine '$name'" >&2
    exit 2
    ;;
esac
