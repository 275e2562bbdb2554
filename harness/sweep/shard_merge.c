#include "harness/sweep/shard_merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/store/rows.h"

typedef struct merging {
    const pbd_manifest *manifest;
    pbd_store *into;
    pbd_merge_observer observer;
    void *context;
    pbd_shards_merged *out;
} merging;

static pbd_sweep_path path_of(const merging *m, const pbd_shard *shard) {
    return pbd_sweep_file(pbd_sweep_file(m->manifest->folder, "shards").text, shard->name);
}

static pbd_status set_aside(merging *m, const pbd_shard *shard, const char *why) {
    PBD_TRY(pbd_shard_set_aside(m->manifest, shard->name));
    m->out->aside++;
    m->observer(m->context, shard->name, why);
    return pbd_ok();
}

/* ---- One shard --------------------------------------------------------------------------------------------------- */

/* Checks every run of a shard that could not be merged. PBD_BAD_INPUT says what is wrong with it; PBD_OK: the shard is
 * intact, and the cause is elsewhere. */
static pbd_status examine(const char *path) {
    pbd_store *store PBD_CLEANUP(pbd_store_release) = NULL;
    char *says PBD_CLEANUP(pbd_free_memory) = NULL;
    size_t bytes = 0, problems = 0;
    PBD_TRY(pbd_store_open(path, PBD_STORE_READ, &store));
    FILE *out = open_memstream(&says, &bytes);
    if (!out) return pbd_no_memory();
    const pbd_status status = pbd_store_check(store, out, &problems);
    fclose(out);
    PBD_TRY(status);
    return problems == 0 ? pbd_ok() : pbd_error(PBD_BAD_INPUT, "%.*s", (int)strcspn(says, "\n"), says);
}

/* Counts the runs that a merged shard added. */
static void count_merged(merging *m, const pbd_shard *shard, size_t added, size_t known) {
    m->out->shards++;
    m->out->is_merged[shard->mark.number] = true;
    m->out->added += added;
    m->out->known += known;
    m->out->unwell += shard->mark.unwell;
    m->out->refused += shard->mark.refused;
    for (char *rest = shard->mark.refusals, *line; (line = strsep(&rest, "\n"));)
        if (*line) m->observer(m->context, NULL, line);
}

/* *taken is false when the shard was set aside. */
static pbd_status take(merging *m, const pbd_shard *shard, bool *taken) {
    const pbd_sweep_path path = path_of(m, shard);
    size_t added, known;
    const pbd_status status = pbd_store_merge(m->into, path.text, &added, &known);
    *taken = status.code == PBD_OK;
    if (status.code != PBD_OK) {
        const pbd_status fault = examine(path.text);
        return fault.code == PBD_BAD_INPUT ? set_aside(m, shard, fault.text) : status;
    }
    count_merged(m, shard, added, known);
    return pbd_ok();
}

/* ---- Shards that were made twice --------------------------------------------------------------------------------- */

/* The id of some run of a store, "" where it has none. */
static pbd_status first_run(pbd_store *store, char run_id[33]) {
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    bool row;
    PBD_TRY(pbd_store_row(store, "SELECT min(run_id) FROM run", NULL, 0, "reading a shard", &row, &stmt));
    snprintf(run_id, 33, "%s", row ? pbd_column_text(stmt, 0) : "");
    return pbd_ok();
}

static bool is_in_store(const merging *m, const pbd_shard *shard) {
    pbd_store *store PBD_CLEANUP(pbd_store_release) = NULL;
    char run_id[33], full[33];
    return pbd_store_open(path_of(m, shard).text, PBD_STORE_READ, &store).code == PBD_OK &&
           first_run(store, run_id).code == PBD_OK && *run_id &&
           pbd_store_resolve(m->into, run_id, full).code == PBD_OK;
}

/* Puts the file that was merged before in front, so that a duplicate made later is not merged as well. */
static void prefer_merged(const merging *m, const pbd_shard **twin, size_t count) {
    for (size_t i = 0; count > 1 && i < count; i++)
        if (is_in_store(m, twin[i])) {
            const pbd_shard *first = twin[0];
            twin[0] = twin[i];
            twin[i] = first;
            return;
        }
}

static pbd_status take_one_of(merging *m, const pbd_shard **twin, size_t count) {
    bool taken = false;
    prefer_merged(m, twin, count);
    for (size_t i = 0; i < count; i++) {
        if (taken)
            m->out->twice++;
        else
            PBD_TRY(take(m, twin[i], &taken));
    }
    return pbd_ok();
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

static int by_number_then_name(const void *left, const void *right) {
    const pbd_shard *a = *(const pbd_shard *const *)left, *b = *(const pbd_shard *const *)right;
    const int order = (a->mark.number > b->mark.number) - (a->mark.number < b->mark.number);
    return order ? order : strcmp(a->name, b->name);
}

/* ---- Several at once --------------------------------------------------------------------------------------------- */

/* Bytes of shards in one transaction: about the size of the cache, so that a page that several shards change is written
 * once. */
#define TOGETHER ((off_t)512 << 20)

/* The files of one shard number, with the one to be merged first, and the runs that it added. */
typedef struct twins {
    const pbd_shard **twin;
    size_t count, added, known;
} twins;

/* *done: how many were merged before one failed. */
static pbd_status merge_firsts(merging *m, twins *group, size_t groups, size_t *done) {
    pbd_status status = pbd_ok();
    for (*done = 0; *done < groups; ++*done) {
        twins *t = &group[*done];
        prefer_merged(m, t->twin, t->count);
        status = pbd_store_merge(m->into, path_of(m, t->twin[0]).text, &t->added, &t->known);
        if (status.code != PBD_OK) break;
    }
    return status;
}

static pbd_status take_group(merging *m, twins *group, size_t groups);

/* A failed transaction leaves nothing. So the shards before the faulty one are merged again, then the faulty one alone,
 * which says what is wrong with it, then the rest. */
static pbd_status take_apart(merging *m, twins *group, size_t groups, size_t fault) {
    PBD_TRY(take_group(m, group, fault));
    PBD_TRY(take_one_of(m, group[fault].twin, group[fault].count));
    return take_group(m, group + fault + 1, groups - fault - 1);
}

static pbd_status take_group(merging *m, twins *group, size_t groups) {
    size_t done;
    if (groups == 0) return pbd_ok();
    PBD_TRY(pbd_store_start(m->into, "merging"));
    const pbd_status status = pbd_store_end(m->into, merge_firsts(m, group, groups, &done), "merging");
    if (status.code != PBD_OK && done == groups) return status; /* all were merged: the error is not in a shard */
    if (status.code != PBD_OK) return take_apart(m, group, groups, done);
    for (size_t i = 0; i < groups; i++) {
        count_merged(m, group[i].twin[0], group[i].added, group[i].known);
        m->out->twice += group[i].count - 1;
    }
    return pbd_ok();
}

static off_t bytes_of(const merging *m, const pbd_shard *shard) {
    struct stat file;
    return stat(path_of(m, shard).text, &file) == 0 ? file.st_size : 0;
}

static pbd_status merge_sorted(merging *m, const pbd_shard **good, size_t shards) {
    pbd_arena a PBD_ARENA;
    twins *group = pbd_new(&a, twins, shards);
    size_t groups = 0;
    off_t bytes = 0;
    PBD_TRY(pbd_arena_check(&a));
    qsort(good, shards, sizeof *good, by_number_then_name);
    for (size_t i = 0, next; i < shards; i = next) {
        for (next = i + 1; next < shards && good[next]->mark.number == good[i]->mark.number;) next++;
        group[groups++] = (twins){.twin = good + i, .count = next - i};
        bytes += bytes_of(m, good[i]);
        if (bytes < TOGETHER && next < shards) continue;
        PBD_TRY(take_group(m, group, groups));
        groups = 0;
        bytes = 0;
    }
    return pbd_ok();
}

static pbd_status merge_shards(merging *m, const pbd_shards *shards) {
    pbd_arena a PBD_ARENA;
    const pbd_shard **good = pbd_new(&a, const pbd_shard *, shards->count);
    size_t count = 0;
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < shards->count; i++) {
        const pbd_shard *shard = &shards->item[i];
        if (shard->trouble.code == PBD_OK)
            good[count++] = shard;
        else
            PBD_TRY(shard->trouble.code == PBD_BAD_INPUT ? set_aside(m, shard, shard->trouble.text) : shard->trouble);
    }
    return merge_sorted(m, good, count);
}

/* Runs come in the order of their hashes and so change pages all over a large store: each page is to be written back
 * once in 80 MiB of journal, not once a shard. Foreign keys need no check here: the record of a run is checked to name
 * the rows that come with it, and these are written first. */
static const char hurry[] =
    "PRAGMA wal_autocheckpoint = 20000; PRAGMA cache_size = -524288; PRAGMA foreign_keys = OFF; PRAGMA temp_store = "
    "MEMORY";

pbd_status pbd_shards_merge(const pbd_manifest *manifest, pbd_store *into, pbd_merge_observer observer, void *context,
                            pbd_shards_merged *out) {
    *out = (pbd_shards_merged){.is_merged = calloc(manifest->shards + 1, sizeof *out->is_merged)};
    if (!out->is_merged) return pbd_store_no_memory(into);
    pbd_shards shards PBD_CLEANUP(pbd_shards_free) = {0};
    merging m = {manifest, into, observer, context, out};
    PBD_TRY(pbd_store_exec(into, hurry, "merging"));
    PBD_TRY(pbd_shards_look(manifest, &shards));
    const pbd_status status = merge_shards(&m, &shards);
    const pbd_status again = pbd_store_exec(into, "PRAGMA foreign_keys = ON", "merging");
    return status.code != PBD_OK ? status : again;
}
