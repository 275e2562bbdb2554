#!/bin/sh
# The wrapper ./pbdbench against stand-ins for dpkg-query, apt-get, sudo, id, cmake and ninja: who is asked for what, and
# what is said. Each check names what it wants; the last line counts. The real thing is tried on a bare machine.
set -u
wrapper=${PBDBENCH_ROOT:?the root of the checkout}/pbdbench
unset PBD_WERROR
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

check() { # WHAT CONDITION...
    what=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED: %s\n--- exit code %s; out, err, calls:\n' "$what" "$code"
        tail -n 20 "$work/out" "$work/err" "$work/calls"
    fi
}
says() { grep -qF -e "$2" "$work/$1"; }     # out|err|calls TEXT
silent() { [ ! -s "$work/$1" ]; }           # out|err|calls
exits() { [ "$code" -eq "$1" ]; }
never() { ! "$@"; }

stand_in() { # NAME: reads its script; every stand-in notes how it was called
    { echo '#!/bin/sh'; echo "echo \"$1 \$*\" >>'$work/calls'"; cat; } >"$work/bin/$1"
    chmod +x "$work/bin/$1"
}

# A bare machine with apt: nothing is installed, cmake configures when it was installed, ninja makes a program that shows
# its arguments.
fresh() { # UID
    rm -rf "${work:?}/root" "${work:?}/bin" "${work:?}/installed"
    mkdir -p "$work/root/build" "$work/bin" "$work/installed"
    cp "$wrapper" "$work/root/pbdbench"
    echo '{}' >"$work/root/CMakePresets.json"
    for tool in sh env cat cp dirname readlink grep sed find ls mkdir rm echo printf paste flock chmod touch; do
        ln -s "$(command -v $tool)" "$work/bin/$tool" 2>/dev/null
    done
    echo "echo $1" | stand_in id
    stand_in dpkg-query <<END
for last; do :; done
[ -e '$work/installed/'"\$last" ] && echo installed
END
    stand_in apt-get <<END
for word; do case \$word in -* | install | update) ;; *) : >'$work/installed/'"\$word" ;; esac; done
echo noise of apt-get
END
    echo 'exit 1' | stand_in sudo
    stand_in cmake <<END
echo noise of cmake
[ -e '$work/installed/libcyaml-dev' ] || { echo "libcyaml not found"; exit 1; }
case \$1 in
--build)
    printf '#!/bin/sh\nprintf "<%%s>" "\$@"; printf " root=%%s\\\\n" "\$PBDBENCH_ROOT"; exit 7\n' >"\$2/pbdbench"
    chmod +x "\$2/pbdbench" ;;
*)
    mkdir -p build/release
    printf 'CMAKE_HOME_DIRECTORY:INTERNAL=$work/root\nPBD_WERROR:BOOL=OFF\n' >build/release/CMakeCache.txt
    : >build/release/build.ninja ;;
esac
END
}

run() {
    : >"$work/calls"
    (cd "$work/root" && PATH=$work/bin ./pbdbench "$@") >"$work/out" 2>"$work/err" </dev/null
    code=$?
}

echo "as root on a bare machine: installs, builds, passes arguments and exit code on, writes nothing else to stdout"
fresh 0
run run 'two words' '' --json
check "the program's exit code" exits 7
check "arguments unchanged, root exported" says out "<run><two words><><--json> root=$work/root"
check "only the program's line on stdout" [ "$(grep -c . "$work/out")" -eq 1 ]
check "says what it installs" says err "with apt-get: gcc "
check "lean installation" says calls "apt-get -qq -y install --no-install-recommends gcc libc6-dev cmake"
check "no sudo for root" never says calls "sudo"

echo "a second time: nothing is looked for, nothing is said"
run list
check "quiet" silent err
check "no dpkg-query" never says calls "dpkg-query"
check "not configured again" never says calls "--preset"

echo "completion, asked at a prompt: the program as it is, and nothing is built"
run completion --line -- ru
check "asks the program" says out "<completion><--line><--><ru>"
check "calls nothing" silent calls
fresh 0
run completion --line -- ru
check "without a program: exit 0" exits 0
check "offers nothing" silent out
check "says nothing" silent err
check "still calls nothing" silent calls
run list

echo "a longer list of packages: looked for again"
sed -i 's/^gnuplot-nox .*/libnew-dev new\n&/' "$work/root/pbdbench"
run list
check "only what is new" says calls "install --no-install-recommends libnew-dev"

echo "as a user with sudo"
fresh 1000
# shellcheck disable=SC2016 # for the stand-in
printf 'while case $1 in -*) true ;; *) false ;; esac; do shift; done\n"$@"\n' | stand_in sudo
run list
check "runs" exits 7
check "by sudo" says calls "sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq -y install"

echo "as a user without sudo: the packages, the command, exit 2"
fresh 1000
run list
check "exit 2" exits 2
check "names packages" says err "missing packages: gcc libc6-dev cmake"
check "names the command" says err "sudo apt-get update && sudo apt-get install --no-install-recommends gcc "
check "nothing on stdout" silent out
check "apt-get untouched" never says calls "apt-get"

echo "without rights, and only gnuplot missing: goes on, and says so once"
fresh 1000
sed -n "/^packages='/,/'$/p" "$wrapper" | sed "s/^packages='//; s/ .*//" | while read -r name; do
    [ "$name" = gnuplot-nox ] || : >"$work/installed/$name"
done
run list
check "runs" exits 7
check "says what is missing" says err "going on without: gnuplot-nox"
run list
check "says it once" silent err

echo "without apt and dpkg: libraries by their own names, exit 2"
fresh 0
rm "$work/bin/dpkg-query" "$work/bin/apt-get"
run list
check "exit 2" exits 2
check "library names" says err "SQLite 3.40 or newer, libcyaml, libyaml, jansson, hwloc 2, NLopt"
check "what cmake said" says err "libcyaml not found"
: >"$work/installed/libcyaml-dev"
run list
check "builds when everything is there all the same" exits 7

echo "a package that cannot be installed: what apt-get said, exit 2"
fresh 0
printf 'echo "E: no route to the mirror"\nexit 100\n' | stand_in apt-get
run list
check "exit 2" exits 2
check "apt-get's words" says err "E: no route to the mirror"

echo "tests: the browser is fetched for them alone"
fresh 0
echo 'exit 0' | stand_in ctest
run list
check "none for other verbs" never says calls "chromium"
run test -R name
check "fine" exits 0
check "fetches it" says calls "install --no-install-recommends chromium"
check "tests are asked for" says calls "--preset release -R name"
run test
check "once" never says calls "dpkg-query"
check "no Slurm unless asked for" never says calls "slurm"
run test --with-slurm -R name
check "fine" exits 0
check "fetches it" says calls "install --no-install-recommends slurm-wlm"
check "tests are asked for" says calls "--preset release -R name"

echo "tests without a browser to be had: go on, and say so once"
fresh 0
echo 'exit 0' | stand_in ctest
stand_in apt-get <<END
case "\$*" in *chromium*) echo "E: no such package"; exit 100 ;; esac
for word; do case \$word in -* | install | update) ;; *) : >'$work/installed/'"\$word" ;; esac; done
END
run test
check "fine" exits 0
check "tests are asked for" says calls "--preset release"
check "says what is missing" says err "testing without: chromium"
run test
check "says it once" silent err

echo "a build that fails: the compiler's words, exit 2, and the next try looks for packages again"
fresh 0
run list
printf 'echo "[1/2] Building"\necho "error: no such header"\nexit 1\n' | stand_in cmake
run list
check "exit 2" exits 2
check "the compiler's words" says err "error: no such header"
check "not the progress" never says err "[1/2]"
check "nothing on stdout" silent out
check "forgets the stamp" [ ! -e "$work/root/build/packages.stamp" ]

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
