/* Stored runs, one line each: the parameters in which they differ, their errors and the time of a solve. */
#include "harness/query/list_runs.h"
#include "harness/files/json.h"

#include "harness/exec/arena.h"
#include "harness/query/run_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ERRORS = 2 }; /* in a line: the last ones, since a case's own errors follow those that the method reports */

/* The parameters are without those that are equal in all runs of a case and method. */
typedef pbd_loaded_runs listed;

static const pbd_status out_of_memory = {PBD_FAILED, "out of memory for a list of runs"};

/* ---- What differs ------------------------------------------------------------------------------------------------ */

static bool are_alike(const pbd_result *a, const pbd_result *b) {
    return strcmp(a->case_name, b->case_name) == 0 && strcmp(a->method_name, b->method_name) == 0;
}

/* The first run listed of the same case and method. */
static size_t first_alike(const listed *l, size_t run) {
    size_t i = 0;
    while (!are_alike(&l->run[i], &l->run[run])) i++;
    return i;
}

/* Collects in differing[first] the names of all parameters whose value differs from the first run's in any run of the
 * same case and method. A name that one run lacks differs too. */
static bool note_differing(const listed *l, json_t **differing) {
    for (size_t i = 0; i < l->count; i++) {
        const size_t first = first_alike(l, i);
        const char *key;
        json_t *value;
        if (!differing[first]) differing[first] = json_object();
        json_object_foreach(l->params[i], key, value) {
            if (!json_equal(json_object_get(l->params[first], key), value) &&
                json_object_set_new(differing[first], key, json_true()) != 0)
                return false;
        }
        json_object_foreach(l->params[first], key, value) {
            if (!json_object_get(l->params[i], key) && json_object_set_new(differing[first], key, json_true()) != 0)
                return false;
        }
    }
    return true;
}

/* Keeps only the differing parameters of each run. */
static void drop_what_is_alike(listed *l, json_t *const *differing) {
    for (size_t i = l->count;
         i-- > 0;) { /* backwards: the first run of a case and method is compared with the others */
        const json_t *noted = differing[first_alike(l, i)];
        const char *key;
        json_t *value;
        void *next;
        json_object_foreach_safe(l->params[i], next, key, value) {
            if (!json_object_get(noted, key)) json_object_del(l->params[i], key);
        }
    }
}

static pbd_status keep_what_differs(listed *l) {
    json_t **differing = calloc(l->count + 1, sizeof *differing);
    const bool good = differing && note_differing(l, differing);
    if (good) drop_what_is_alike(l, differing);
    for (size_t i = 0; differing && i < l->count; i++) json_decref(differing[i]);
    free(differing);
    return good ? pbd_ok() : out_of_memory;
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

static double time_of(const pbd_result *r) {
    for (size_t i = 0; i < r->phases; i++)
        if (strcmp(r->phase[i].name, "solve") == 0 && r->phase[i].calls > 0)
            return r->phase[i].wall_s / (double)r->phase[i].calls;
    return (double)NAN;
}

static json_t *run_json(const pbd_result *r, json_t *params) {
    json_t *errors = json_object();
    for (size_t i = 0; i < r->metrics; i++)
        if (pbd_is_shown_error(&r->metric[i]))
            json_object_set_new(errors, r->metric[i].name, pbd_finite_json(r->metric[i].value));
    return json_pack("{ss ss ss ss ss ss ss sO so so}", "run_id", r->run_id, "kind", r->kind, "started_at",
                     r->started_at, "state", r->state, "says", r->says, "case", r->case_name, "method", r->method_name,
                     "params", params, "errors", errors, "time_s", pbd_finite_json(time_of(r)));
}

static pbd_status write_json(const listed *l, FILE *out) {
    json_auto_t *array = json_array();
    for (size_t i = 0; i < l->count; i++)
        if (json_array_append_new(array, run_json(&l->run[i], l->params[i])) != 0) return out_of_memory;
    json_dumpf(array, out, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    fputc('\n', out);
    return pbd_ok();
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

static void write_params(FILE *out, const json_t *params) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)params, key, value) {
        if (json_is_string(value))
            fprintf(out, "  %s=%s", key, json_string_value(value));
        else
            fprintf(out, "  %s=%.6g", key, json_number_value(value));
    }
}

static void write_errors(FILE *out, const pbd_result *r) {
    size_t errors = 0;
    for (size_t i = 0; i < r->metrics; i++) errors += pbd_is_shown_error(&r->metric[i]);
    for (size_t i = 0; i < r->metrics; i++) {
        if (!pbd_is_shown_error(&r->metric[i])) continue;
        if (errors-- > MOST_ERRORS) continue;
        fprintf(out, "  %s %.4g", r->metric[i].name, r->metric[i].value);
    }
}

/* In a unit in which it is easy to read. */
static void write_time(FILE *out, double seconds) {
    if (isnan(seconds))
        fprintf(out, "  %9s", "");
    else if (seconds < 1e-3)
        fprintf(out, "  %6.4g us", seconds * 1e6);
    else if (seconds < 1)
        fprintf(out, "  %6.4g ms", seconds * 1e3);
    else
        fprintf(out, "  %6.4g s ", seconds);
}

static int longest(const listed *l, size_t member) {
    size_t width = 0;
    for (size_t i = 0; i < l->count; i++) {
        const char *text = *(char *const *)((const char *)&l->run[i] + member);
        if (strlen(text) > width) width = strlen(text);
    }
    return (int)width;
}

/* 2026-11-21T07:12:21.136Z as 2026-11-21 07:12:21; ids with enough digits for `show` in a store of any usual size. */
static void write_lines(const listed *l, FILE *out) {
    const int state = longest(l, offsetof(pbd_result, state)), name = longest(l, offsetof(pbd_result, case_name)),
              method = longest(l, offsetof(pbd_result, method_name));
    for (size_t i = 0; i < l->count; i++) {
        const pbd_result *r = &l->run[i];
        fprintf(out, "%.12s  %.10s %.8s  %-*s  %-*s  %-*s", r->run_id, r->started_at,
                strlen(r->started_at) > 11 ? r->started_at + 11 : "", state, r->state, name, r->case_name, method,
                r->method_name);
        write_time(out, time_of(r));
        write_errors(out, r);
        write_params(out, l->params[i]);
        fputc('\n', out);
    }
}

pbd_status pbd_list_runs(pbd_store *store, const pbd_run_query *query, bool json, FILE *out) {
    pbd_run_ids ids PBD_CLEANUP(pbd_run_ids_free) = {0};
    listed l PBD_CLEANUP(pbd_loaded_runs_free) = {0};
    PBD_TRY(pbd_run_ids_select(store, query, &ids));
    PBD_TRY(pbd_loaded_runs_load(store, ids.id, ids.count, &l));
    PBD_TRY(keep_what_differs(&l));
    if (json) return write_json(&l, out);
    write_lines(&l, out);
    return pbd_ok();
}
