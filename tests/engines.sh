#!/bin/sh
# Adapters of examples/engines on engines that tools/engines installed: the admission gate, and a bar that bends far against
# fem_implicit with the same law, mesh, masses and step. 77: that engine is not installed.
#   engines.sh mujoco|newton|pypbd
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
case $name in
mujoco)
    "$pbdbench" engine check "$engine" --gate
    for law in stvk macklin_neo_hookean; do
        near "$law" "$(tip -m mujoco --engine "$engine" -s "material=$law")" "$(fem "$law")" 0.005
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
*)
    echo "engines.sh: no engine '$name'" >&2
    exit 2
    ;;
esac
