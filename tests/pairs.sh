#!/bin/sh
# Every pair of a case and a method that fits, run by its defaults on one thread: the state it ends in and its processor
# time, of which it may take SECONDS. Cases that need a file get a small one. One line a pair, then the sums.
#   tests/pairs.sh [SECONDS [CASE...]]          PBDBENCH_PROGRAM: the program; default build/cpu/pbdbench
# Exit 1 when a pair that fits is refused after all, crashes, or takes longer, unless `allowed` below gives the reason.
set -eu
export LC_ALL=C
folder=$(cd "$(dirname "$0")" && pwd)
pbdbench=${PBDBENCH_PROGRAM:-$folder/../build/cpu/pbdbench}
seconds=${1:-60}
[ $# -gt 0 ] && shift
work=$(mktemp -d "${TMPDIR:-/tmp}/pbdbench-pairs-XXXXXX")
trap 'rm -rf "$work"' EXIT
export PBDBENCH_ROOT="$work"

# A closed octahedron.
printf 'v %s\n' '0.5 0 0' '-0.5 0 0' '0 0.5 0' '0 -0.5 0' '0 0 0.5' '0 0 -0.5' >"$work/body.obj"
printf 'f %s\n' '1 3 5' '3 2 5' '2 4 5' '4 1 5' '3 1 6' '2 3 6' '4 2 6' '1 4 6' >>"$work/body.obj"

# CASE METHOD STATE: a pair that may end so, and its case's README says why.
allowed='
'

file_of() { # CASE
    case $1 in
        mesh) echo "$folder/meshes/plate.msh" ;;
        *) echo "$work/body.obj" ;;
    esac
}

# Prints the state and the processor time in s.
run() { # CASE METHOD [-s file=...]
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

"$pbdbench" list pairs >"$work/pairs"
bad=0
: >"$work/table"
while read -r name method state reason; do
    case $reason in fit) continue ;; esac # the last line: the sums
    [ $# -eq 0 ] || case " $* " in *" $name "*) ;; *) continue ;; esac
    set_file=''
    state=${state%:}
    [ "$state" = asks ] && set_file="file=$(file_of "$name")"
    [ "$state" = refused ] && continue
    answer=$(run "$name" "$method" ${set_file:+-s "$set_file"})
    ended=${answer% *}
    [ "$state" = asks ] && [ "$ended" = refused ] && continue # the file has no such cells
    line=$(printf '%-17s %-15s %-15s %8.2f s' "$name" "$method" "$ended" "${answer#* }")
    echo "$line"
    echo "$line" >>"$work/table"
    case $ended in
        refused | too_long | exit_* | nothing)
            echo "$allowed" | grep -qx "$name $method $ended" || {
                bad=1
                [ -s "$work/err" ] && sed 's/^/    /' "$work/err"
            }
            ;;
    esac
done <"$work/pairs"
tail -n 1 "$work/pairs"
awk '{ ended[$3]++ } END { for (s in ended) printf "%s %d\n", s, ended[s] }' "$work/table" | sort
exit $bad
