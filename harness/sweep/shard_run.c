#include "harness/sweep/shard_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/process/interrupt.h"
#include "harness/run/pause.h"
#include "harness/store/rows.h"
#include "harness/sweep/shards.h"

/* A temporary folder for this task on a local disk. */
static pbd_status make_scratch(char folder[PATH_MAX]) {
    const char *given = getenv("TMPDIR");
    snprintf(folder, PATH_MAX, "%s/pbdbench-shard-XXXXXX", given && *given ? given : "/tmp");
    if (mkdtemp(folder)) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "no folder for a shard in '%.200s' (TMPDIR): %s", folder, strerror(errno));
}

static void remove_scratch(const char *folder) {
    static const char *const files[] = {"shard.db", "shard.db-journal", "shard.db-wal", "shard.db-shm"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) unlink(pbd_sweep_file(folder, files[i]).text);
    rmdir(folder);
}

/* With a rollback journal a closed store is a single file. It is synchronised to the disk when it is published; before
 * that nothing needs to survive a crash of the machine. */
static pbd_status make_runs(const pbd_manifest *m, size_t number, double pause, pbd_making *making, int argc,
                            char *const *argv) {
    pbd_plan plan PBD_CLEANUP(pbd_plan_free) = {0};
    const pbd_sweep_path paused = pbd_sweep_file(m->folder, "paused");
    PBD_TRY(
        pbd_store_exec(making->store, "PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF", "setting its journal"));
    PBD_TRY(pbd_store_begin(making->store, argc, argv));
    PBD_TRY(pbd_manifest_plan(m, number, &plan));
    for (size_t i = 0; i < plan.count && pause > 0; i++) plan.item[i].pause = (pbd_pausing){paused.text, pause};
    PBD_TRY(pbd_make_runs(making, &plan, false));
    for (size_t i = 0; i < plan.count; i++) pbd_pause_forget(&plan.item[i]);
    const pbd_shard_mark mark = {.number = number,
                                 .runs = making->made,
                                 .unwell = making->unwell,
                                 .refused = making->refused,
                                 .refusals = making->refusals ? making->refusals : (char[]){""}};
    return pbd_shard_mark_store(m, making->store, &mark);
}

static pbd_status run_in(const char *scratch, const pbd_manifest *m, size_t number, double pause, pbd_making *making,
                         int argc, char *const *argv) {
    const pbd_sweep_path path = pbd_sweep_file(scratch, "shard.db");
    PBD_TRY(pbd_store_open(path.text, PBD_STORE_WRITE, &making->store));
    const pbd_status status = make_runs(m, number, pause, making, argc, argv);
    pbd_store_close(making->store);
    making->store = NULL;
    if (status.code == PBD_INTERRUPTED && pbd_interrupted())
        return pbd_error(PBD_INTERRUPTED, "interrupted: shard %zu is not published; `pbdbench sweep resume` submits it",
                         number);
    return status.code == PBD_OK ? pbd_shard_publish(m, number, path.text) : status;
}

pbd_status pbd_shard_run(const pbd_manifest *m, size_t number, double pause, pbd_making *making, int argc,
                         char *const *argv, bool *known) {
    char scratch[PATH_MAX];
    PBD_TRY(pbd_shard_is_published(m, number, known));
    if (*known) return pbd_ok();
    PBD_TRY(make_scratch(scratch));
    const pbd_status status = run_in(scratch, m, number, pause, making, argc, argv);
    remove_scratch(scratch);
    return status;
}
