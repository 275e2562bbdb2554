#!/bin/sh
# The report in headless Chromium: loads without errors, links resolve, tables sort, filters filter, light and dark,
# nothing wider than a phone. report_browser.js does the looking; here the page is made and the verdict read.
set -eu
here=$(dirname "$(readlink -f "$0")")
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
    echo "skipped: there is no chromium here (sudo apt-get install chromium)"
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/root"
ln -s "$PBDBENCH_ROOT/plots" "$work/root/plots"
export PBDBENCH_ROOT="$work/root" HOME="$work"

"$PBDBENCH_PROGRAM" reproduce rodero2016-fig4 -q
"$PBDBENCH_PROGRAM" run cube_shear -m pbd_distance -a nu=0:0.4:0.1 -q >"$work/runs.txt"
"$PBDBENCH_PROGRAM" report

# Errors are listened for before anything else of the page runs.
listen="window.troubles = []; addEventListener('error', event => troubles.push(String(event.message)), true);"
look() { # SCHEME: 1 light, 0 dark
    awk -v listen="<script>$listen</script>" -v script="$here/report_browser.js" '
        index($0, "</head>") { sub("</head>", listen "</head>") }
        index($0, "</body>") {
            print substr($0, 1, index($0, "</body>") - 1) "<script>"
            while ((getline line <script) > 0) print line
            print "</script></body></html>"
            exit
        }
        { print }' "$work/root/results/report.html" >"$work/look.html"
    timeout 100 "$browser" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars \
        --user-data-dir="$work/profile" --window-size=1200,900 --blink-settings=preferredColorScheme="$1" \
        --virtual-time-budget=20000 --dump-dom "file://$work/look.html" >"$work/dom.html" 2>"$work/browser.log" || {
        tail -n 5 "$work/browser.log"
        echo "FAILED: the browser did not end well"
        exit 1
    }
    verdict=$(sed -n 's/.*<title>\([^<]*\)<\/title>.*/\1/p' "$work/dom.html" | head -n 1)
    echo "$2: $verdict"
    case $verdict in "passed: "*"$2"*) ;; *) exit 1 ;; esac
}
look 1 light
look 0 dark
