#!/bin/sh
# Meshes of Debian's package libcgal-demo (harness/catalog/scans.h), without a network: apt-get is a script that copies a
# package made here.
set -eu
for program in dpkg-deb sha256sum tar; do
    command -v $program >/dev/null || { echo "skipped: no program $program"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
run="$PBDBENCH_PROGRAM run sampled_mesh -m corrected_sph -s particles=200 -s duration=0.001 --db $work/a.db"
export XDG_CACHE_HOME="$work/cache"
fail() { echo "FAILED: $1"; cat "$work/out" "$work/err"; exit 1; }
says() { grep -q -- "$1" "$work/out" "$work/err" || fail "does not say '$1'"; }

# A box by the name of the cow.
data=$work/package/usr/share/doc/libcgal-dev
mkdir -p "$work/data/meshes" "$data" "$work/package/DEBIAN" "$work/bin"
printf 'OFF\n8 6 12\n0 0 0\n5 0 0\n5 3 0\n0 3 0\n0 0 2\n5 0 2\n5 3 2\n0 3 2\n4 3 2 1 0\n4 4 5 6 7\n4 0 1 5 4\n4 1 2 6 5\n4 2 3 7 6\n4 3 0 4 7\n' \
    >"$work/data/meshes/cow.off"
tar -C "$work" -czf "$data/data.tar.gz" data
printf 'Package: libcgal-demo\nVersion: 1\nArchitecture: all\nMaintainer: a test <a@test>\nDescription: a test\n' \
    >"$work/package/DEBIAN/control"
dpkg-deb -b "$work/package" "$work/fake.deb" >/dev/null

# No package: a sentence where the mesh is needed, the blend where a case has one.
printf '#!/bin/sh\necho "E: no network" >&2\nexit 100\n' >"$work/bin/apt-get"
chmod +x "$work/bin/apt-get"
PATH="$work/bin:$PATH"
if $run -s file=cgal:cow >"$work/out" 2>"$work/err"; then fail "a mesh that is not there was read"; fi
says "could not be downloaded (apt-get: E: no network): put the mesh at $work/cache/pbdbench/cgal/meshes/cow.off"
$PBDBENCH_PROGRAM run sampled_shape -m corrected_sph -s particles=200 -s duration=0.001 -s shape=cow -s body=cgal:cow \
    --db "$work/a.db" >"$work/out" 2>"$work/err" || fail "no blend"
says "body=blend instead"
says "warning stand_in"
[ -z "$(ls "$work/cache/pbdbench/cgal")" ] || fail "left something behind"

# Fetched once; a mesh that is not the known one is named.
printf '#!/bin/sh\ncp "%s/fake.deb" libcgal-demo_1_all.deb\n' "$work" >"$work/bin/apt-get"
$run -s file=cgal:cow >"$work/out" 2>"$work/err" || fail "no run"
says "has SHA-256"
says "warning scan"
printf '#!/bin/sh\nexit 1\n' >"$work/bin/apt-get"
$run -s file=cgal:cow.off --again >"$work/out" 2>"$work/err" || fail "no second run"
if $run -s file=cgal:pig >"$work/out" 2>"$work/err"; then fail "a mesh that the package lacks was read"; fi
says "has no such mesh"
if $run -s file=cgal:../cow >"$work/out" 2>"$work/err"; then fail "a path was read"; fi
says "names no mesh"

# As the body of a case, and in a scene: the same content.
$PBDBENCH_PROGRAM run bunny_drop -m corrected_sph -s particles=200 -s duration=0.001 -s body=cgal:cow --db "$work/a.db" \
    >"$work/out" 2>"$work/err" || fail "no drop"
cat >"$work/scene.yaml" <<'END'
duration: 0.001
matters: {jelly: {young: 1e5, poisson: 0.3}}
bodies: [{mesh: "cgal:cow", extent: 0.3, particles: 200, matter: jelly}]
END
$PBDBENCH_PROGRAM run scene -m corrected_sph -s file="$work/scene.yaml" --db "$work/a.db" >"$work/out" 2>"$work/err" ||
    fail "no scene"

# The scenes of examples/films, five of them of the cow: each fits the method that its first line names.
for film in "$(dirname "$0")"/../examples/films/*.yaml; do
    method=$(sed -n '1s/.*: //p' "$film")
    $PBDBENCH_PROGRAM scene check "$film" -m "$method" >"$work/out" 2>"$work/err" || fail "$film does not fit $method"
    says ' fits'
done
echo passed
