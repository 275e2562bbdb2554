#include "harness/query/run_again.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/exec/arena.h"
#include "harness/query/run_command.h"
#include "harness/run/run_apart.h"

pbd_status pbd_kept_open(const pbd_plan_item *item, pbd_kept_run *out) {
    *out = (pbd_kept_run){.cell = &item->cell};
    PBD_TRY(pbd_spool_open(item->spool.file, &out->spool));
    if (pbd_spool_states(out->spool) == 0)
        return pbd_error(PBD_FAILED, "the run '%.200s' ended before its first state", item->label);
    return pbd_case_build(item->cell.c, &item->cell.case_values, &out->setup);
}

void pbd_kept_close(pbd_kept_run *kept) {
    pbd_spool_close(kept->spool);
    if (kept->cell) pbd_case_free(kept->cell->c, &kept->setup);
    *kept = (pbd_kept_run){0};
}

/* Writes every stored parameter as on a command line. */
static pbd_status spell_settings(json_t *params, pbd_arena *a, pbd_setting *setting) {
    const char *key;
    json_t *value;
    json_object_foreach(params, key, value) {
        char number[40];
        *setting++ = (pbd_setting){key, pbd_new_text(a, pbd_spell_param(value, number))};
    }
    return pbd_arena_check(a);
}

static pbd_status plan_again(const pbd_result *stored, pbd_plan *plan) {
    pbd_arena a PBD_ARENA;
    json_auto_t *params = json_loads(stored->params, 0, NULL);
    pbd_setting *setting = pbd_new(&a, pbd_setting, json_object_size(params));
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(spell_settings(params, &a, setting));
    const pbd_request request = {.case_name = stored->case_name,
                                 .method_name = stored->method_name,
                                 .backend = stored->backend,
                                 .precision = stored->precision,
                                 .threads = stored->threads,
                                 .warmups = stored->warmups,
                                 .seed = stored->seed,
                                 .setting = setting,
                                 .settings = json_object_size(params)};
    const pbd_status status = pbd_plan_add(plan, &request, 0);
    if (status.code == PBD_OK) return status;
    return pbd_error(status.code, "run %.8s cannot be made again: %.300s", stored->run_id, status.text);
}

pbd_status pbd_again_find(pbd_store *store, const char *run, pbd_run_again *out) {
    *out = (pbd_run_again){0};
    PBD_TRY(pbd_store_get(store, run, &out->stored));
    if (out->stored.kind && strcmp(out->stored.kind, "run") != 0)
        return pbd_error(PBD_BAD_INPUT, "run %.8s is of the kind '%.20s': only runs of a case have states to show",
                         out->stored.run_id, out->stored.kind);
    return plan_again(&out->stored, &out->plan);
}

void pbd_again_free(pbd_run_again *again) {
    pbd_kept_close(&again->kept);
    if (again->file) close(again->file);
    again->file = 0;
    pbd_result_free(&again->made);
    pbd_result_free(&again->stored);
    pbd_plan_free(&again->plan);
}

/* ---- Whether it is the same run ---------------------------------------------------------------------------------- */

static const pbd_metric_item *metric_named(const pbd_result *r, const char *name) {
    for (size_t i = 0; i < r->metrics; i++)
        if (strcmp(r->metric[i].name, name) == 0) return &r->metric[i];
    return NULL;
}

static bool is_same(const pbd_metric_item *a, const pbd_metric_item *b) {
    if (a->is_count) return a->count == b->count;
    return a->value == b->value || (isnan(a->value) && isnan(b->value));
}

/* Compares the state and all metrics except costs. Metrics that only one of the two programs knows are ignored. */
static void compare_runs(pbd_run_again *again) {
    const pbd_result *stored = &again->stored, *made = &again->made;
    if (strcmp(stored->state, made->state) != 0) {
        snprintf(again->differs, sizeof again->differs, "it is %s, but the stored run is %s", made->state,
                 stored->state);
        return;
    }
    for (size_t i = 0; i < stored->metrics; i++) {
        const pbd_metric_item *was = &stored->metric[i], *is = metric_named(made, was->name);
        if (was->kind == PBD_COST || !is || is->is_count != was->is_count || is_same(was, is)) continue;
        snprintf(again->differs, sizeof again->differs, "%.60s is %.17g, but in the stored run %.17g", was->name,
                 is->is_count ? (double)is->count : is->value, was->is_count ? (double)was->count : was->value);
        return;
    }
}

/* ---- Making it --------------------------------------------------------------------------------------------------- */

static pbd_status check_made(const pbd_result *made) {
    if (strcmp(made->state, "interrupted") == 0) return pbd_error(PBD_INTERRUPTED, "%.300s", made->says);
    for (size_t i = 0; i < made->warnings; i++)
        if (strcmp(made->warning[i].name, PBD_SNAPSHOTS_MISSING) == 0)
            return pbd_error(PBD_FAILED, "%.300s", made->warning[i].says);
    return pbd_ok();
}

static void tell_begin(const pbd_run_again *again) {
    double seconds = 0;
    for (size_t i = 0; i < again->stored.phases; i++)
        if (strcmp(again->stored.phase[i].name, "solve") == 0) seconds = again->stored.phase[i].wall_s;
    fprintf(stderr, "pbdbench: making run %.8s again (%s); its solve took %.3g s\n", again->stored.run_id,
            again->plan.item->label, seconds);
}

pbd_status pbd_again_make(pbd_run_again *again, const char *beside, pbd_spool_plan spool, bool tell) {
    pbd_plan_item *item = again->plan.item;
    PBD_TRY(pbd_spool_file(beside, &again->file));
    item->spool = spool;
    item->spool.file = again->file;
    if (tell) tell_begin(again);
    PBD_TRY(pbd_runs_apart(item) ? pbd_run_cell_apart(item, &again->made) : pbd_run_cell(item, &again->made));
    PBD_TRY(check_made(&again->made));
    compare_runs(again);
    if (*again->differs)
        fprintf(stderr, "pbdbench: run %.8s is not the same when it is made again: %s\n", again->stored.run_id,
                again->differs);
    return pbd_kept_open(item, &again->kept);
}
