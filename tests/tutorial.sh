#!/bin/sh
# The commands of README.md and of the quarter of an hour of examples/README.md, each as it stands, in a root of its own.
#   PBDBENCH_PROGRAM=... PBDBENCH_ROOT=... tests/tutorial.sh
set -eu
root=$PBDBENCH_ROOT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir results
for part in cases examples plots; do ln -s "$root/$part" $part; done
printf '#!/bin/sh\nexec "$PBDBENCH_PROGRAM" "$@"\n' >pbdbench
chmod +x pbdbench
export PBDBENCH_ROOT="$work"

# The lines of a kind of block of a file, from the heading on; with none, from its first line.
lines() { # FILE KIND [HEADING]
    awk -v kind="$2" -v heading="${3:-}" '
        BEGIN { inside = heading == "" }
        heading != "" && /^## / { inside = $0 == "## " heading }
        $0 == "```" { block = 0 }
        block && inside { print }
        $0 == "```" kind { block = 1 }' "$1"
}

# The mesh of the scene in README.
lines "$root/README.md" yaml >jelly.yaml
cp "$root/examples/scenes/star.obj" part.obj
test -s jelly.yaml

count=0
{ lines "$root/README.md" sh; lines "$root/examples/README.md" sh "A quarter of an hour"; } >commands
while IFS= read -r command; do
    command=${command%%  *#*}
    case $command in
    './pbdbench test'*) echo "not run, since it is this suite: $command"; continue ;;
    *'rank '*) echo "only planned, since it takes minutes: $command"; command="$command --dry-run" ;;
    *--film*) echo "not run, since the film takes minutes: $command"; continue ;;
    tools/engines*) echo "not run, since it installs engines: $command"; continue ;;
    *--engine*)
        python3 -c 'import numpy' 2>/dev/null || { echo "not run, since python3 has no NumPy: $command"; continue; }
        ;;
    esac
    sh -c "$command" >out 2>&1 </dev/null || { echo "FAILED with $?: $command"; cat out; exit 1; }
    count=$((count + 1))
done <commands
echo "$count commands ended with exit 0"
test $count -ge 15
