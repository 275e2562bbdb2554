# The model of `env --predict` on this machine's processor against the time of the same step: within a factor of 1.5.
# Run nothing else meanwhile: limits and steps are timed.
set -e
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$PBDBENCH_PROGRAM" env --measure --db "$folder/limits.db" >"$folder/limits.txt"
wrong=0
while read -r method case settings; do
    set --
    for setting in $settings; do set -- "$@" -s "$setting"; done
    "$PBDBENCH_PROGRAM" env --predict "$method" -c "$case" "$@" -t 1 -p f32 --json --db "$folder/limits.db" >"$folder/step.json"
    python3 - "$folder/step.json" "$method" <<'END' || wrong=1
import json, sys
step = json.load(open(sys.argv[1]))
ratio = step["predicted_s"] / step["measured_here_s"]
print(f"{sys.argv[2]}: predicted {1e3 * step['predicted_s']:.4g} ms, measured {1e3 * step['measured_here_s']:.4g} ms, ratio {ratio:.3g}")
sys.exit(not 1 / 1.5 <= ratio <= 1.5)
END
done <<END
xpbi goo_drop particles=100000
corrected_sph twist cells=24
strain_energy cantilever cells=24
vbd cantilever cells=24 material=macklin_neo_hookean
pbd_distance cantilever cells=24
pbf dam_break cells=48
mpm goo_drop particles=100000
END
exit $wrong
