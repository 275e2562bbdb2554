#!/bin/sh
# Every pair of a case and a method that fits, run by its defaults on one thread, and the state it ends in: that of
# cases/ends.def, within SECONDS of processor time. Cases that need a file get a small one. One line a pair, then the
# sums; the table is also written to FILE.
#   tests/pairs.sh [-s] [-k K/N] [-m METHOD] [-t SECONDS] [-o FILE] [CASE...]
#   -s      small bodies for a short time: a few seconds in all. A state that takes longer to come may still be `ok`
#   -k K/N  the K-th of every N cases, from 0
#   -m METHOD  its pairs only
#   PBDBENCH_PROGRAM: the program; default build/cpu/pbdbench
# Exit 1 when a pair that fits is refused after all, crashes, takes longer, or ends in another state.
set -eu
export LC_ALL=C
folder=$(cd "$(dirname "$0")" && pwd)
pbdbench=${PBDBENCH_PROGRAM:-$folder/../build/cpu/pbdbench}
seconds=60 small='' part='' table='' only=''
while getopts sk:m:t:o: option; do
    case $option in
        s) small=1 ;;
        k) part=$OPTARG ;;
        m) only=$OPTARG ;;
        t) seconds=$OPTARG ;;
        o) table=$OPTARG ;;
        *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
work=$(mktemp -d "${TMPDIR:-/tmp}/pbdbench-pairs-XXXXXX")
trap 'rm -rf "$work"' EXIT
export PBDBENCH_ROOT="$work"

# A closed cube, which its whole side holds: a tip that carries a body is torn off.
printf 'v %s\n' '0 0 0' '.5 0 0' '.5 .5 0' '0 .5 0' '0 0 .5' '.5 0 .5' '.5 .5 .5' '0 .5 .5' >"$work/body.obj"
printf 'f %s\n' '1 4 3 2' '5 6 7 8' '1 2 6 5' '2 3 7 6' '3 4 8 7' '4 1 5 8' >>"$work/body.obj"

# A cube that is held at its top, of tetrahedra.
cat >"$work/scene.yaml" <<'END'
duration: 0.02
matters: {rubber: {young: 1e5, law: hencky}}
bodies: [{shape: box, size: [0.5, 0.5, 0.5], spacing: 0.125, sampling: tetrahedra, matter: rubber}]
held: [{low: [-1, -1, 0.24]}]
END

settings_of() { # CASE: what it needs, and what makes it small
    case $1 in
        mesh) echo "file=$folder/meshes/plate.msh" ;;
        sampled_mesh) echo "file=$work/body.obj" ;;
        scene) echo "file=$work/scene.yaml" ;;
    esac
    [ "$small" ] || return 0
    case $1 in
        cube_* | hex_fit | implicit_step | mesh | one_element | particle_pairs | scene) ;;
        cantilever | material_sweep | twist | uniaxial) echo cells=2 ;;
        bounce | collapse | spinning_bar) echo cells=2 duration=0.02 ;;
        vibrating_bar) echo cells=1 periods=3 E=1e7 ;; # stiff: short periods
        hanging_sheet | towel) echo cells=4 duration=0.05 ;;
        heavy_drop) echo cells=4 duration=0.02 load_time=0.01 ;;
        dam_break) echo cells=5 end=0.2 ;;
        still_water) echo cells=5 duration=0.01 ;;
        held_body) echo particles=300 frames=1 ;;
        liquid_drop) echo duration=0.05 ;;
        rotation) echo nx=5 ny=5 nz=5 ;;
        sampled_towel) echo across=8 duration=0.01 ;;
        sausages) echo particles_each=200 duration=0.02 ;;
        tori) echo tori=2 duration=0.02 ;;
        tool_cut) echo settle=0.1 tool_speed=5 ;;
        paint_on_cloth) echo cells=8 particles=100 duration=0.002 ;;
        wheel_press) echo particles=300 ;;
        recovery | bunny_drop | sampled_*) echo particles=200 duration=0.01 ;;
        affine_flow) echo particles=216 duration=0.01 ;; # shorter, noise is all there is
        *) echo particles=150 duration=0.002 ;;
    esac
}

# Prints the state and the processor time in s.
run() { # CASE METHOD [-s KEY=VALUE]...
    name=$1 method=$2
    shift 2
    (
        ulimit -t "$seconds"
        "$pbdbench" run "$name" -m "$method" "$@" -t 1 --no-store --json >"$work/out" 2>"$work/err" </dev/null && code=0 ||
            code=$?
        times >"$work/times"
        exit $code
    ) 2>/dev/null && code=0 || code=$?
    case $code in
        0 | 5) state=$(sed -n 's/.*"state":"\([a-z_]*\)".*/\1/p' "$work/out") ;;
        2) state=refused ;;
        137 | 152) state=too_long ;;
        *) state=exit_$code ;;
    esac
    echo "${state:-nothing} $(awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); sum += 60 * t[1] + t[2] } print sum }' "$work/times")"
}

[ $# -gt 0 ] || set -- $("$pbdbench" list cases | awk '/^  / { print $1 }')
number=0
for name; do
    [ "$part" ] && [ $((number % ${part#*/})) -ne "${part%/*}" ] || "$pbdbench" list pairs --case "$name" ${only:+-m "$only"}
    number=$((number + 1))
done >"$work/pairs"
bad=0
: >"$work/table"
while read -r name method state reason; do
    case $state in fits | 'fits;' | 'asks:') ;; *) continue ;; esac
    ends=ok
    case $reason in *'; ends '*) reason=${reason##*; } ;; esac
    case $reason in 'ends '*) ends=${reason#ends } ends=${ends%%:*} ;; esac
    set --
    for setting in $(settings_of "$name"); do set -- "$@" -s "$setting"; done
    answer=$(run "$name" "$method" "$@")
    ended=${answer% *}
    [ "$state" = asks: ] && [ "$ended" = refused ] && continue # the file has no such cells
    line=$(printf '%-17s %-15s %-15s %8.2f s' "$name" "$method" "$ended" "${answer#* }")
    right=1
    [ "$ended" = "$ends" ] || { [ "$small" ] && [ "$ended" = ok ]; } ||
        { [ "$small" ] && [ "$ends $ended" = "too_long unphysical" ]; } || right=''
    [ "$right" ] || line="$line, not $ends"
    echo "$line"
    echo "$line" >>"$work/table"
    if [ -z "$right" ]; then
        bad=1
        sed 's/^/    /' "$work/err"
    fi
done <"$work/pairs"
awk '{ ended[$3]++; sum += $4 } END { for (s in ended) printf "%s %d\n", s, ended[s]; printf "%.1f s\n", sum }' \
    "$work/table" | sort
[ -z "$table" ] || cp "$work/table" "$table"
exit $bad
