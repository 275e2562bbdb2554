#include "harness/run/pause.h"

#define XXH_STATIC_LINKING_ONLY /* a hash state on the stack */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "harness/exec/clock.h"
#include "harness/machine/environment.h"
#include "harness/process/interrupt.h"
#include "harness/run/solve_times.h"
#include "harness/store/rows.h"

/* The file is one label, one head, then the detail's numbers, the method's state, what the case keeps, the balance, and
 * the records as JSON. It gets its final name when it is complete. */
typedef struct pause_label {
    char mark[8], source[40]; /* of the program */
    XXH64_hash_t hash;        /* of all that follows; checked before any size in it is used */
} pause_label;

typedef struct pause_head {
    long step;
    pbd_exec_totals totals;
    size_t numbers, state; /* bytes */
    bool asked;            /* pbd_convergence.asked */
    pbd_residual now, last, worst;
} pause_head;

static const char MARK[8] = "paused2";

typedef struct pause_path {
    char text[PATH_MAX];
} pause_path;

static pause_path path_of(const pbd_plan_item *item, const char *end) {
    pause_path path;
    snprintf(path.text, sizeof path.text, "%s/%s-%llu-%d%s", item->pause.folder, item->cell_id,
             (unsigned long long)item->seed, item->repeat, end);
    return path;
}

static pbd_status cannot_write(const pause_path *path) {
    return pbd_error(PBD_FAILED, "a paused run, '%.200s', cannot be written: %s", path->text, strerror(errno));
}

bool pbd_is_paused(const pbd_plan_item *item) {
    return item->pause.folder && access(path_of(item, ".paused").text, F_OK) == 0;
}

void pbd_pause_forget(const pbd_plan_item *item) {
    if (item->pause.folder) unlink(path_of(item, ".paused").text);
}

/* ---- When -------------------------------------------------------------------------------------------------------- */

/* Runs with pictures are not paused: the file does not hold earlier states. */
static bool can_pause(const pbd_pausable *run) {
    const pbd_plan_item *item = run->item;
    const pbd_case *c = item->cell.c;
    return run->method->save && run->method->load && (c->detail_bytes == 0 || c->numbers > 0) &&
           item->snapshots.count == 0 && !item->film.path && !item->spool.file && run->balance && run->convergence;
}

bool pbd_pause_is_due(const pbd_pausable *run) {
    const pbd_plan_item *item = run->item;
    if (!item->pause.folder || !can_pause(run)) return false;
    return pbd_interrupted() || pbd_wall_seconds() - run->began >= item->pause.seconds;
}

/* The label of the running program, without a hash. */
static pause_label own_label(void) {
    pause_label label = {0};
    memcpy(label.mark, MARK, sizeof label.mark);
    snprintf(label.source, sizeof label.source, "%s", pbd_this_build()->source);
    return label;
}

/* Hash of everything after the label. */
static XXH64_hash_t hash_of(FILE *file) {
    char part[8192];
    XXH3_state_t state;
    XXH3_INITSTATE(&state);
    XXH3_64bits_reset(&state);
    fseek(file, sizeof(pause_label), SEEK_SET);
    for (size_t got; (got = fread(part, 1, sizeof part, file)) > 0;) XXH3_64bits_update(&state, part, got);
    return XXH3_64bits_digest(&state);
}

/* ---- Saving ------------------------------------------------------------------------------------------------------ */

static pause_head head_of(const pbd_pausable *run, long step) {
    const pbd_convergence *c = run->convergence;
    pause_head head = {.step = step,
                       .totals = pbd_exec_read_totals(run->exec),
                       .numbers = run->item->cell.c->numbers,
                       .asked = c->asked,
                       .now = c->now,
                       .last = c->last,
                       .worst = c->worst};
    return head;
}

static char *numbers_of(const pbd_pausable *run) {
    const pbd_case *c = run->item->cell.c;
    return c->numbers > 0 ? (char *)run->setup->detail + (c->detail_bytes - c->numbers) : NULL;
}

static pbd_status keep(const pbd_pausable *run, FILE *file, bool writes) {
    const pbd_case *c = run->item->cell.c;
    return c->keep ? c->keep(run->setup->detail, file, writes) : pbd_ok();
}

static pbd_status write_rest(const pbd_pausable *run, long step, FILE *file) {
    pbd_saved_state saved = {0};
    pause_head head = head_of(run, step);
    PBD_TRY(pbd_save_state(run->method, run->state, &saved));
    head.state = saved.bytes;
    fwrite(&head, sizeof head, 1, file);
    if (head.numbers > 0) fwrite(numbers_of(run), 1, head.numbers, file);
    fwrite(saved.blob, 1, saved.bytes, file);
    free(saved.blob);
    PBD_TRY(keep(run, file, true));
    PBD_TRY(pbd_balance_save(run->balance, run->state, file));
    json_auto_t *told = pbd_reported_json(pbd_recorder_result(run->recorder));
    return told && json_dumpf(told, file, JSON_COMPACT | JSON_REAL_PRECISION(17)) == 0 ? pbd_ok() : pbd_no_memory();
}

static pbd_status write_all(const pbd_pausable *run, long step, FILE *file) {
    pause_label label = own_label();
    fwrite(&label, sizeof label, 1, file);
    PBD_TRY(write_rest(run, step, file));
    label.hash = hash_of(file);
    fseek(file, 0, SEEK_SET);
    fwrite(&label, sizeof label, 1, file);
    return pbd_ok();
}

pbd_status pbd_pause_save(const pbd_pausable *run, long step) {
    char own[24]; /* two processes may make the same run */
    snprintf(own, sizeof own, ".%ld.part", (long)getpid());
    const pause_path part = path_of(run->item, own), whole = path_of(run->item, ".paused");
    errno = 0;
    mkdir(run->item->pause.folder, 0777);
    FILE *file = fopen(part.text, "w+b");
    if (!file) return cannot_write(&part);
    const pbd_status status = write_all(run, step, file);
    const bool bad = ferror(file) != 0;
    if (fclose(file) == 0 && !bad && status.code == PBD_OK && rename(part.text, whole.text) == 0)
        return pbd_error(PBD_INTERRUPTED, "paused after %ld steps: the same command goes on from there", step);
    const pbd_status failed = status.code == PBD_OK ? cannot_write(&part) : status;
    unlink(part.text);
    return failed;
}

/* ---- Going on ---------------------------------------------------------------------------------------------------- */

static pbd_status read_state(const pbd_pausable *run, size_t bytes, FILE *file) {
    char *blob PBD_CLEANUP(pbd_free_memory) = malloc(bytes + 1);
    if (!blob) return pbd_no_memory();
    if (fread(blob, 1, bytes, file) != bytes) return pbd_error(PBD_FAILED, "the method's state is cut short");
    return run->method->load(run->state, blob, bytes);
}

static pbd_status read_records(const pbd_pausable *run, FILE *file) {
    pbd_result before = {0};
    json_auto_t *told = json_loadf(file, 0, NULL);
    const bool fine = told && pbd_reported_read(told, &before);
    if (fine) pbd_recorder_exchange(run->recorder, &before);
    pbd_result_free(&before);
    return fine ? pbd_ok() : pbd_error(PBD_FAILED, "what was recorded before the pause cannot be read");
}

static pbd_status read_all(pbd_pausable *run, const pause_head *head, FILE *file) {
    pbd_convergence *c = run->convergence;
    if (head->numbers > 0 && fread(numbers_of(run), 1, head->numbers, file) != head->numbers)
        return pbd_error(PBD_FAILED, "the case's numbers are cut short");
    PBD_TRY(read_state(run, head->state, file));
    PBD_TRY(keep(run, file, false));
    PBD_TRY(pbd_balance_load(run->balance, file));
    PBD_TRY(read_records(run, file));
    pbd_exec_restore_totals(run->exec, &head->totals);
    c->asked = head->asked;
    c->now = head->now;
    c->last = head->last;
    c->worst = head->worst;
    if (c->asked) run->method->watch(run->state, &c->now);
    pbd_count_cost(run->recorder, "pauses", 1);
    return pbd_ok();
}

/* Returns why the file cannot be used; NULL: it can, and is positioned at its head. */
static const char *reject(FILE *file) {
    const pause_label own = own_label();
    pause_label label;
    if (!file) return strerror(errno);
    if (fread(&label, sizeof label, 1, file) != 1) return "it is cut short";
    if (memcmp(&label, &own, offsetof(pause_label, hash)) != 0) return "it is of another build";
    if (hash_of(file) != label.hash) return "it is damaged";
    return fseek(file, sizeof label, SEEK_SET) == 0 ? NULL : strerror(errno);
}

pbd_status pbd_pause_load(pbd_pausable *run, long *step) {
    pause_head head;
    *step = 0;
    if (!pbd_is_paused(run->item) || !can_pause(run)) return pbd_ok();
    const pause_path path = path_of(run->item, ".paused");
    errno = 0;
    FILE *file PBD_CLEANUP(pbd_close_file) = fopen(path.text, "rb");
    const char *why = reject(file);
    if (!why && (fread(&head, sizeof head, 1, file) != 1 || head.numbers != run->item->cell.c->numbers))
        why = "it is of another build";
    if (why) {
        pbd_warning(run->recorder, "pause_lost", "the run begins anew, its paused state '%.200s' is of no use: %s",
                    path.text, why);
        return pbd_ok();
    }
    PBD_TRY(read_all(run, &head, file));
    *step = head.step;
    return pbd_ok();
}
