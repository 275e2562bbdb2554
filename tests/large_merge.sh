#!/bin/sh
# large_merge.sh FOLDER: makes 1,000 shards of 100 runs and times taking them into one store, once into a new one and once
# more, when everything is there already. Each is tried twice and the better time counts, since the first may wait for
# the disk. Label `large`: it judges a time. The shards take some minutes.
set -eu
folder=$1 limit_ms=30000 late=0
rm -rf "$folder"
mkdir -p "$folder"
cat >"$folder/study.yaml" <<END
runs:
  - {name: fit, case: hex_fit, method: pbd_distance, threads: 1, axes: ["nu=0:0.2997:0.0003", "E=1:100:1"]}
END
"$PBDBENCH_PROGRAM" sweep plan "$folder/study.yaml" --shard-cells 100 --dir "$folder/sweep"
seq 0 999 | xargs -P "$(nproc)" -I{} "$PBDBENCH_PROGRAM" sweep run-shard {} -q --dir "$folder/sweep" >"$folder/said"

milliseconds() { echo $(($(date +%s%N) / 1000000)); }

# Times a merge into one of two stores.
merge() { # WHAT
    best=
    for store in one two; do
        begin=$(milliseconds)
        "$PBDBENCH_PROGRAM" sweep merge --dir "$folder/sweep" --db "$folder/$store.db" >"$folder/said"
        took=$(($(milliseconds) - begin))
        cat "$folder/said"
        echo "$1: $took ms"
        if [ -z "$best" ] || [ "$took" -lt "$best" ]; then best=$took; fi
    done
    if [ "$best" -ge "$limit_ms" ]; then late=1; fi
}

merge "1,000 shards of 100 runs into a new store"
merge "the same again"
"$PBDBENCH_PROGRAM" db check --db "$folder/one.db"
ls -l "$folder/one.db"
rm -rf "$folder"
if [ "$late" = 1 ]; then echo "a merge took $limit_ms ms or more" && exit 1; fi
