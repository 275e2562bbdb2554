#!/bin/sh
# The report in headless Chromium (report_browser.js does the looking): pages of no store, of runs without problems, of one
# problem and of two, at three widths, light and dark.
set -eu
here=$(dirname "$(readlink -f "$0")")
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
    echo "skipped: there is no chromium here (sudo apt-get install chromium)"
    exit 77
}
command -v node >/dev/null || {
    echo "skipped: there is no node here (sudo apt-get install nodejs)"
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/root" "$work/pages"
ln -s "$PBDBENCH_ROOT/plots" "$PBDBENCH_ROOT/cases" "$work/root/"
export PBDBENCH_ROOT="$work/root" HOME="$work"

page() { # NAME [STORE]
    "$PBDBENCH_PROGRAM" report -q -o "$work/pages/$1.html" ${2:+--db "$work/$2.db"}
    "$PBDBENCH_PROGRAM" report --json ${2:+--db "$work/$2.db"} >"$work/pages/$1.json"
}
rank() { # STORE PROBLEM METHOD...
    store=$1 problem=$2
    shift 2
    for method; do
        "$PBDBENCH_PROGRAM" rank --quick -q --problem "$problem" -m "$method" --db "$work/$store.db" >"$work/rank.txt"
    done
}

page empty
"$PBDBENCH_PROGRAM" run cube_shear -m pbd_distance -a nu=0:0.2:0.1 -q --db "$work/plain.db" >"$work/runs.txt"
page plain plain
rank one cantilever-soft-static pbd_distance
page one one
rank two cantilever-soft pbd_distance strain_energy fem_implicit
rank two cantilever-soft-static pbd_distance fem_linear fem_implicit
"$PBDBENCH_PROGRAM" reproduce rodero2016-fig4 -q --db "$work/two.db"
"$PBDBENCH_PROGRAM" report --json --db "$work/two.db" >"$work/first.json"
run=$(sed -n 's/.*"run":"\([0-9a-f]\{8\}\).*/\1/p' "$work/first.json")
echo "a viewer" >"$work/pages/$run.html" # beside the page
page two two
node "$here/report_browser.js" "$browser" "$work/pages"
