# The model of `env --predict` on this machine's processor against the time of the same step: within a factor of 1.5.
# Limits are the best of many samples and steps the fastest of some, so both are taken in three rounds: another program
# beside one of them then slows neither side of the ratio. Run nothing else meanwhile.
set -e
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for round in 1 2 3; do
    "$PBDBENCH_PROGRAM" env --measure --db "$folder/limits.db" >"$folder/limits.txt"
    while read -r method case settings; do
        set --
        for setting in $settings; do set -- "$@" -s "$setting"; done
        "$PBDBENCH_PROGRAM" env --predict "$method" -c "$case" "$@" -t 1 -p f32 --json --db "$folder/limits.db" >"$folder/$method.$round.json"
    done <<END
xpbi goo_drop particles=100000
corrected_sph twist cells=24
strain_energy cantilever cells=24
vbd cantilever cells=24 material=macklin_neo_hookean
pbd_distance cantilever cells=24
pbf dam_break cells=48
mpm goo_drop particles=100000
END
done
python3 - "$folder" <<'END'
import glob, json, sys
wrong = False
for first in sorted(glob.glob(f"{sys.argv[1]}/*.1.json")):
    rounds = [json.load(open(first.replace(".1.json", f".{i}.json"))) for i in (1, 2, 3)]
    predicted, measured = (1e3 * min(one[key] for one in rounds) for key in ("predicted_s", "measured_here_s"))
    print(f"{first.split('/')[-1][:-7]}: predicted {predicted:.4g} ms, measured {measured:.4g} ms, ratio {predicted / measured:.3g};"
          " of each round " + ", ".join(f"{one['predicted_s'] / one['measured_here_s']:.3g}" for one in rounds))
    wrong |= not 1 / 1.5 <= predicted / measured <= 1.5
sys.exit(wrong)
END
