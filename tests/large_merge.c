/* Makes a sweep with all shards published, to measure how long merging takes.
 *
 *     large_merge FOLDER [SHARDS CELLS]        default 1000 100
 *
 * One run is made. All others are copies with another cell and time of day, so that each has a different hash, which
 * the merge checks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/sweep/shards.h"

static void check(pbd_status status) {
    if (status.code == PBD_OK) return;
    fprintf(stderr, "large_merge: %s\n", status.text);
    exit(1);
}

static pbd_manifest *make_plan(const char *folder, size_t shards, size_t cells) {
    char axis[80];
    pbd_axis axes[2];
    pbd_plan plan = {0};
    pbd_manifest *manifest;
    snprintf(axis, sizeof axis, "E=1:%zu:1", shards);
    check(pbd_axis_parse(axis, &axes[0]));
    snprintf(axis, sizeof axis, "nu=0:%g:0.004", 0.004 * (double)(cells - 1));
    check(pbd_axis_parse(axis, &axes[1]));
    const pbd_request request = {
        .case_name = "hex_fit", .method_name = "pbd_distance", .threads = 1, .seed = 1, .axis = axes, .axes = 2};
    check(pbd_plan_add(&plan, &request, 0));
    check(pbd_manifest_freeze(&plan, "large.yaml", cells, folder));
    pbd_plan_free(&plan);
    pbd_axis_free(&axes[0]);
    pbd_axis_free(&axes[1]);
    check(pbd_manifest_open(folder, &manifest));
    return manifest;
}

/* Stores the result `made` as a run of the item's cell. */
static void put_copy(pbd_store *store, const pbd_plan_item *item, const pbd_result *made) {
    pbd_result described;
    check(pbd_describe_run(item, &described));
    pbd_result run = described;
    run.metric = made->metric, run.metrics = made->metrics;
    run.series = made->series, run.series_count = made->series_count;
    run.phase = made->phase, run.phases = made->phases;
    run.state = made->state, run.says = made->says;
    const pbd_machine_sample sample = {.load_1min = 0.5, .clock_mhz = 2400, .memory_free_mib = 8000};
    check(pbd_store_put(store, &run, &sample, &sample));
    pbd_result_free(&described);
}

static void make_shard(const pbd_manifest *manifest, size_t number, const char *scratch, const pbd_result *made) {
    pbd_plan plan = {0};
    pbd_store *store;
    char *const argv[] = {(char[]){"large_merge"}};
    unlink(scratch);
    check(pbd_store_open(scratch, PBD_STORE_WRITE, &store));
    sqlite3_exec(pbd_store_sql(store), "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF", NULL, NULL, NULL);
    check(pbd_store_begin(store, 1, argv));
    check(pbd_manifest_plan(manifest, number, &plan));
    for (size_t i = 0; i < plan.count; i++) put_copy(store, &plan.item[i], made);
    const pbd_shard_mark mark = {.number = number, .runs = plan.count, .refusals = (char[]){""}};
    check(pbd_shard_mark_store(manifest, store, &mark));
    pbd_store_close(store);
    check(pbd_shard_publish(manifest, number, scratch));
    pbd_plan_free(&plan);
}

static void make_first(const pbd_manifest *manifest, pbd_result *made) {
    pbd_plan plan = {0};
    check(pbd_manifest_plan(manifest, 0, &plan));
    check(pbd_run_cell(&plan.item[0], made));
    pbd_plan_free(&plan);
}

int main(int argc, char **argv) {
    const size_t shards = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;
    const size_t cells = argc > 3 ? strtoul(argv[3], NULL, 10) : 100;
    if (argc < 2 || argc > 4 || shards < 1 || cells < 2 || cells > 120 || shards * cells > 1000000) {
        fputs("usage: large_merge FOLDER [SHARDS CELLS]  (2 to 120 cells a shard, a million in all)\n", stderr);
        return 2;
    }
    pbd_manifest *manifest = make_plan(argv[1], shards, cells);
    const pbd_sweep_path scratch = pbd_sweep_file(argv[1], "scratch.db");
    pbd_result made;
    make_first(manifest, &made);
    for (size_t i = 0; i < manifest->shards; i++) make_shard(manifest, i, scratch.text, &made);
    unlink(scratch.text);
    printf("%s: %zu shards of %zu runs\n", argv[1], manifest->shards, cells);
    pbd_result_free(&made);
    pbd_manifest_free(manifest);
    return 0;
}
