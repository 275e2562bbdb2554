/* What programs write: JSON of exports and child processes, manifests, answers of engines, the store. */
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <xxhash.h>

#include "harness/engine/engine_process.h"
#include "harness/plan/record.h"
#include "harness/query/import.h"
#include "harness/store/rows.h"
#include "harness/sweep/manifest.h"
#include "tests/fuzz/fuzz.h"

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

void fuzz_import(const uint8_t *data, size_t size) {
    pbd_import *import;
    if (judge(pbd_import_load(write_file("bench.json", data, size), NULL, &import))) pbd_import_free(import);
}

/* A store of this process; nothing that is put into it stays. */
static pbd_store *empty_store(void) {
    static pbd_store *store;
    if (!store && !judge(pbd_store_open(in_place("records.db"), PBD_STORE_WRITE, &store))) give_up("a store");
    return store;
}

static void put_record(json_t *record) {
    char run_id[33];
    bool added;
    pbd_store *store = empty_store();
    if (!judge(pbd_record_close(record)) || !judge(pbd_record_identify(record, run_id))) return;
    judge(pbd_store_start(store, "fuzzing"));
    judge(pbd_record_insert(store, record, &added));
    pbd_store_end(store, pbd_error(PBD_BAD_INPUT, "taken back"), "fuzzing");
}

/* A line of an export, with the id that its content has; and what a child process answers. */
void fuzz_records(const uint8_t *data, size_t size) {
    json_t *record = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
    if (!record) return;
    pbd_result result = {0};
    pbd_reported_read(record, &result);
    pbd_result_free(&result);
    judge(pbd_record_verify(record, NULL));
    if (json_object_get(record, "comparison"))
        judge(pbd_comparison_verify(record));
    else
        put_record(record);
    json_decref(record);
}

/* The lines of a manifest above its hash. */
void fuzz_manifest(const uint8_t *data, size_t size) {
    pbd_manifest *m;
    const XXH128_hash_t hash = XXH3_128bits(data, size);
    FILE *out = fopen(in_place("sweep/manifest.jsonl"), "wb");
    if (!out || fwrite(data, 1, size, out) != size) give_up("a manifest");
    fprintf(out, "{\"hash\":\"%016llx%016llx\"}\n", (unsigned long long)hash.high64, (unsigned long long)hash.low64);
    if (fclose(out) != 0) give_up("a manifest");
    if (!judge(pbd_manifest_open(in_place("sweep"), &m))) return;
    for (size_t shard = 0; shard < m->shards && shard < 4; shard++) {
        pbd_plan made = {0};
        judge(pbd_manifest_plan(m, shard, &made));
        pbd_plan_free(&made);
    }
    pbd_manifest_free(m);
}

/* ---- Engines ----------------------------------------------------------------------------------------------------- */

/* What an engine says wrongly is a failure of its run, or refuses it. */
static bool judge_engine(pbd_status status) {
    if (status.code == PBD_OK) return true;
    if (*status.text) return false;
    fprintf(stderr, "fuzz: code %d without a sentence\n", (int)status.code);
    abort();
}

/* What an engine answers, byte by byte, taken as each kind of answer. */
static void judge_answer(const json_t *answer, uint64_t bytes) {
    pbd_arena a PBD_ARENA;
    pbd_engine_hello hello;
    pbd_engine_times times;
    pbd_result result = {0};
    bool single;
    size_t size;
    pbd_recorder *recorder = pbd_recorder_create(&result, NULL);
    if (!recorder) give_up("a recorder");
    judge_engine(pbd_engine_hello_read(answer, &a, &hello));
    judge_engine(pbd_engine_times_read(answer, 1e-3, false, &times));
    judge_engine(pbd_engine_report(answer, recorder));
    judge_engine(pbd_engine_array_check(answer, "positions", 2, 3, bytes, &single));
    judge_engine(pbd_engine_blob_check(answer, bytes, &size));
    pbd_recorder_destroy(recorder);
    pbd_result_free(&result);
}

void fuzz_engine(const uint8_t *data, size_t size) {
    int ends[2];
    json_t *answer = NULL;
    char numbers[48];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) give_up("a socket");
    const size_t sent = size < 65536 ? size : 65536;
    if (send(ends[1], data, sent, MSG_DONTWAIT) < 0 && sent > 0) give_up("a message");
    shutdown(ends[1], SHUT_WR);
    pbd_engine_process p = {.talk = ends[0], .log = -1, .patience = 5};
    const bool fine = judge_engine(pbd_engine_ask(&p, json_pack("{s:s}", "op", "read"), NULL, 0, &answer));
    if (answer) judge_answer(answer, p.pending);
    if (fine && p.pending > 0)
        judge_engine(pbd_engine_take(&p, numbers, p.pending < sizeof numbers ? p.pending : sizeof numbers));
    json_decref(answer);
    pbd_engine_process_end(&p);
    close(ends[1]);
}

/* ---- The store --------------------------------------------------------------------------------------------------- */

enum { UNCHECKED = 260 << 10 }; /* larger stores are not looked through when they are opened */
static const char kept_run[] = "d18691ad29fb81de527df6558101ab07";

/* One run of the store that 5e3bc93 wrote, in a store of small pages: few bytes, each of which matters. */
static void make_small_store(const char *path) {
    pbd_store *from, *to;
    json_t *record;
    bool added;
    if (!judge(pbd_store_open(PBD_TEST_FOLDER "/data/store-5e3bc93.db", PBD_STORE_READ, &from)) ||
        !judge(pbd_record_load(from, kept_run, &record)) || !judge(pbd_store_open(path, PBD_STORE_WRITE, &to)))
        give_up("the kept store");
    if (!judge(pbd_store_start(to, "copying")) || !judge(pbd_record_insert(to, record, &added)) ||
        !judge(pbd_store_end(to, pbd_ok(), "copying")) ||
        sqlite3_exec(pbd_store_sql(to), "PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM", NULL, NULL,
                     NULL) != SQLITE_OK)
        give_up("a small store");
    json_decref(record);
    pbd_store_close(to);
    pbd_store_close(from);
}

static size_t read_small_store(char *to) {
    const char *path = in_place("good.db");
    make_small_store(path);
    FILE *file = fopen(path, "rb");
    const size_t bytes = file ? fread(to, 1, UNCHECKED, file) : 0;
    if (bytes == 0 || bytes == UNCHECKED) give_up(path);
    fclose(file);
    return bytes;
}

/* A file of this process that is changed in memory: writing it anew for each input takes longer than reading it. */
static char *map_file(const char *name, size_t bytes) {
    const char *path = in_place(name);
    const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    char *at = MAP_FAILED;
    if (file >= 0 && ftruncate(file, (off_t)bytes) == 0)
        at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at == MAP_FAILED) give_up(path);
    close(file);
    return at;
}

/* Damage: rows of four bytes, three of a place in the store and one that stands there then. Zeros behind the store,
 * which SQLite does not look at, keep it from being looked through as it is opened, unless a byte is left over. */
void fuzz_store(const uint8_t *data, size_t size) {
    static const char *const names[2] = {"damaged.db", "checked.db"};
    static char good[UNCHECKED], *bad[2];
    static size_t bytes;
    static FILE *none;
    if (bytes == 0) {
        bytes = read_small_store(good);
        bad[0] = map_file(names[0], UNCHECKED + 1);
        bad[1] = map_file(names[1], bytes);
    }
    if (!none && !(none = fopen("/dev/null", "w"))) give_up("/dev/null");
    const int checked = size % 4 == 1;
    memcpy(bad[checked], good, bytes);
    for (size_t i = 0; i + 3 < size; i += 4)
        bad[checked][((size_t)data[i] << 16 | (size_t)data[i + 1] << 8 | data[i + 2]) % bytes] = (char)data[i + 3];
    pbd_store *store;
    size_t problems;
    pbd_result result;
    const char *const run[] = {kept_run};
    if (!judge(pbd_store_open(in_place(names[checked]), PBD_STORE_READ, &store))) return;
    judge(pbd_store_check(store, none, &problems));
    judge(pbd_store_export_runs(store, run, 1, none));
    if (judge(pbd_store_get(store, run[0], &result))) pbd_result_free(&result);
    pbd_store_close(store);
}
