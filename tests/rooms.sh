#!/bin/sh
# The order of rooms in harness/README.md, held against every #include: a file may include files of its own room and of
# rooms on lower lines, and no files include each other in a circle (NAME.h, NAME.c and NAME_once.c count as one). Exits
# 1 with a line for each violation.
#   tests/rooms.sh [ROOT]
set -eu
cd "${1:-$(dirname "$0")/..}"
edges=$(mktemp)
trap 'rm -f "$edges"' EXIT
{
    sed -n '/^```rooms$/,/^```$/p' harness/README.md
    echo '== includes'
    find harness methods cases -type f -name '*.[ch]' -o -type f -name '*.cc' -o -type f -name '*.cu' -o -type f -name '*.def' |
        LC_ALL=C sort | xargs grep -HE '^ *# *include "[a-z_0-9]+/'
} | awk -v edges="$edges" '
    /^== includes/ { reading = 1; next }
    /^```/ { next }
    !reading {
        floor++
        line = $0
        sub(/#.*/, "", line)
        count = split(line, names, " ")
        for (k = 1; k <= count; k++) rank[names[k]] = floor
        next
    }
    # The longest listed path that FILE is or lies in.
    function room(file) {
        for (;;) {
            if (file in rank) return file
            if (!sub(/\/[^\/]*$/, "", file)) return ""
        }
    }
    function module(file) {
        sub(/(_once)?\.[a-z]+$/, "", file)
        return file
    }
    {
        split($0, part, ":")
        from = part[1]
        to = $0
        sub(/^[^"]*"/, "", to)
        sub(/".*/, "", to)
        a = room(from)
        b = room(to)
        if (a == "" || b == "") {
            printf "%s includes %s: %s is in no room of harness/README.md\n", from, to, a == "" ? from : to
            bad = 1
        } else if (a != b && rank[b] <= rank[a]) {
            printf "%s includes %s: %s is not below %s\n", from, to, b, a
            bad = 1
        } else if ((a == "methods" || a == "cases") && folder(from) != folder(to) && a == b) {
            printf "%s includes %s: neither a method nor a case uses another\n", from, to
            bad = 1
        }
        if (module(from) != module(to)) print module(from), module(to) > edges
    }
    function folder(file) {
        split(file, step, "/")
        return step[2]
    }
    END { exit bad }' || bad=1
# tsort names the members of each circle.
tsort "$edges" 2>&1 >/dev/null | sed 's/^tsort: //; s/^-: input contains a loop:/in a circle:/' | grep . && bad=1
[ -z "${bad:-}" ]
