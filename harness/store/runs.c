/* Storing and reading runs, and storing the verdicts that are based on them. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "harness/catalog/plugin.h"
#include "harness/catalog/renamed.h"
#include "harness/plan/plan.h"
#include "harness/store/rows.h"

/* ---- This process ------------------------------------------------------------------------------------------------ */

/* JSON is UTF-8 and file names need not be: invalid bytes are replaced by '?'. The caller frees. */
static char *clean_text(const char *text) {
    char *copy = strdup(text != NULL ? text : "");
    for (char *c = copy; c != NULL && *c != '\0';) {
        size_t length = 1;
        const unsigned char first = (unsigned char)*c;
        if (first >= 0xC2 && first <= 0xF4) length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
        json_t *character = strnlen(c, length) == length ? json_stringn(c, length) : NULL; /* NULL: not UTF-8 */
        if (character == NULL) {
            *c = '?';
            length = 1;
        }
        json_decref(character);
        c += length;
    }
    return copy;
}

json_t *pbd_text_json(const char *text) {
    json_t *fine = json_string(text != NULL ? text : "");
    if (fine != NULL) return fine;
    const char *copy PBD_CLEANUP(pbd_free_memory) = clean_text(text);
    return json_string(copy);
}

/* The command line without the program's folder, which differs from machine to machine. */
static json_t *argv_json(int argc, char *const *argv) {
    json_auto_t *list = json_array();
    for (int i = 0; i < argc; i++) {
        const char *slash = i == 0 ? strrchr(argv[0], '/') : NULL;
        json_array_append_new(list, pbd_text_json(slash != NULL ? slash + 1 : argv[i]));
    }
    if (json_array_size(list) != (size_t)argc) return NULL;
    const char *text PBD_CLEANUP(pbd_free_memory) = json_dumps(list, JSON_COMPACT);
    return json_string(text);
}

static const pbd_method_entry *known_method(const char *name) {
    for (size_t i = 0; i < pbd_method_count(); i++) {
        if (strcmp(pbd_method_at(i)->by_precision[PBD_PRECISION_F64]->name, name) == 0) return pbd_method_at(i);
    }
    return NULL;
}

static const pbd_plugin *plugin_of(const char *method) {
    const pbd_method_entry *entry = known_method(method);
    return entry != NULL ? entry->plugin : NULL;
}

/* The hash of the code that made a run: this program's sources, and the plug-in's file if the method is from one. */
static void source_of(const char *method, char source[33]) {
    const pbd_plugin *plugin = plugin_of(method);
    snprintf(source, 33, "%s", pbd_this_build()->source);
    if (plugin == NULL) return;
    char both[80];
    const int length = snprintf(both, sizeof both, "%s|%s", source, pbd_plugin_hash(plugin));
    XXH128_hash_t hash = XXH3_128bits(both, (size_t)length);
    snprintf(source, 33, "%016" PRIx64 "%016" PRIx64, hash.high64, hash.low64);
}

/* `method` NULL: this program. A run of a plug-in's method is of another build: this one with that plug-in. */
static json_t *build_row(const char *method) {
    const pbd_build *b = pbd_this_build();
    const pbd_plugin *plugin = method != NULL ? plugin_of(method) : NULL;
    char source[33], version[200];
    source_of(method != NULL ? method : "", source);
    snprintf(version, sizeof version, "%s%s%s", b->version,
             plugin == NULL              ? ""
             : pbd_plugin_engine(plugin) ? " with engine "
                                         : " with plug-in ",
             plugin != NULL ? pbd_plugin_label(plugin) : "");
    return json_pack("{so si so so so so so so}", "git_sha", pbd_text_json(b->git_sha), "dirty", (int)b->dirty,
                     "source", pbd_text_json(source), "compiler", pbd_text_json(b->compiler), "flags",
                     pbd_text_json(b->flags), "preset", pbd_text_json(b->preset), "licence", pbd_text_json(b->licence),
                     "version", pbd_text_json(version));
}

static json_t *env_row(void) {
    pbd_machine m;
    memset(&m, 0, sizeof m);
    pbd_this_machine(&m);
    return json_pack("{so so so so si si si sI sI sI sI so}", "fingerprint", pbd_text_json(m.fingerprint), "cpu",
                     pbd_text_json(m.cpu), "os", pbd_text_json(m.os), "isa", pbd_text_json(m.isa), "packages",
                     m.packages, "cores", m.cores, "threads", m.threads, "l1d_kib", (json_int_t)m.l1d_kib, "l2_kib",
                     (json_int_t)m.l2_kib, "l3_kib", (json_int_t)m.l3_kib, "memory_mib", (json_int_t)m.memory_mib,
                     "gpu", pbd_text_json(m.gpu));
}

static json_t *invocation_row(int argc, char *const *argv) {
    char now[32];
    pbd_store_now(now);
    return json_pack("{so ss si}", "argv", argv_json(argc, argv), "started_at", now, "pid", (int)getpid());
}

static pbd_status insert_origin(const pbd_store *store, const json_t *origin) {
    const char *table;
    json_t *row;
    json_object_foreach((json_t *)(uintptr_t)origin, table, row) PBD_TRY(pbd_row_insert(store, table, row));
    return pbd_ok();
}

pbd_status pbd_store_begin(pbd_store *store, int argc, char *const *argv) {
    if (store->origin != NULL) return pbd_ok();
    json_auto_t *origin = json_pack("{so so so}", "build", pbd_row_identified("build", build_row(NULL)), "env",
                                    pbd_row_identified("env", env_row()), "invocation",
                                    pbd_row_identified("invocation", invocation_row(argc, argv)));
    if (origin == NULL) return pbd_store_no_memory(store);
    PBD_TRY(pbd_store_start(store, "noting the command line"));
    PBD_TRY(pbd_store_end(store, insert_origin(store, origin), "noting the command line"));
    store->origin = json_incref(origin);
    return pbd_ok();
}

const char *pbd_origin_text(const pbd_store *store, const char *table, const char *column) {
    return json_string_value(json_object_get(json_object_get(store->origin, table), column));
}

/* ---- Finding ----------------------------------------------------------------------------------------------------- */

static pbd_status bind_numbers(const pbd_store *store, sqlite3_stmt *stmt, uint64_t seed, int repeat) {
    if (sqlite3_bind_int64(stmt, 4, (sqlite3_int64)seed) == SQLITE_OK && sqlite3_bind_int(stmt, 5, repeat) == SQLITE_OK)
        return pbd_ok();
    return pbd_store_fault(store, "looking for a run");
}

/* The newest run of a cell by this build's sources on this machine that satisfies `which`, a condition in SQL; its ?6
 * is `limit`. */
static pbd_status find_run(pbd_store *store, const char *method, const char *cell_id, uint64_t seed, int repeat,
                           const char *which, double limit, bool *found, char run_id[33]) {
    *found = false;
    char source[33];
    source_of(method, source);
    /* Querying the machine takes time; once the process is recorded, its fingerprint is known. */
    char fingerprint[33];
    if (store->origin != NULL) {
        snprintf(fingerprint, sizeof fingerprint, "%s", pbd_origin_text(store, "env", "fingerprint"));
    } else {
        pbd_machine machine;
        memset(&machine, 0, sizeof machine);
        PBD_TRY(pbd_this_machine(&machine));
        memcpy(fingerprint, machine.fingerprint, sizeof fingerprint);
    }
    const char *const text[] = {cell_id, source, fingerprint};
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    char query[900];
    snprintf(query, sizeof query,
             "SELECT run_id FROM run JOIN build USING (build_id) JOIN env USING (env_id)"
             " WHERE cell_id = ?1 AND build.source = ?2 AND env.fingerprint = ?3"
             " AND seed = ?4 AND repeat = ?5 AND kind = 'run' AND %s"
             " ORDER BY run.started_at DESC, run_id LIMIT 1",
             which);
    PBD_TRY(pbd_store_prepare(store, query, text, 3, &stmt));
    PBD_TRY(bind_numbers(store, stmt, seed, repeat));
    if (limit > 0 && sqlite3_bind_double(stmt, 6, limit) != SQLITE_OK)
        return pbd_store_fault(store, "looking for a run");
    PBD_TRY(pbd_store_step(store, stmt, found, "looking for a run"));
    if (*found) snprintf(run_id, 33, "%s", pbd_column_text(stmt, 0));
    return pbd_ok();
}

pbd_status pbd_store_find(pbd_store *store, const char *method, const char *cell_id, uint64_t seed, int repeat,
                          bool *found, char run_id[33]) {
    return find_run(store, method, cell_id, seed, repeat, "state NOT IN ('failed', 'interrupted')", 0, found, run_id);
}

pbd_status pbd_store_find_stopped(pbd_store *store, const char *method, const char *cell_id, uint64_t seed, int repeat,
                                  double limit, bool *found, char run_id[33]) {
    return find_run(store, method, cell_id, seed, repeat,
                    "state = 'interrupted' AND EXISTS (SELECT 1 FROM metric AS m WHERE m.run_id = run.run_id"
                    " AND m.name = '" PBD_WALL_LIMIT "' AND m.value >= ?6)",
                    limit, found, run_id);
}

/* Copies a prefix of an id in lower case; false if it cannot be one. */
static bool read_prefix(const char *prefix, char low[33]) {
    const size_t length = strlen(prefix);
    if (length < 4 || length > 32 || strspn(prefix, "0123456789abcdefABCDEF") != length) return false;
    for (size_t i = 0; i <= length; i++) low[i] = (char)tolower((unsigned char)prefix[i]);
    return true;
}

pbd_status pbd_store_resolve(const pbd_store *store, const char *prefix, char run_id[33]) {
    char low[33], high[34];
    if (!read_prefix(prefix, low))
        return pbd_error(PBD_BAD_INPUT,
                         "'%s' is not a run id: give its id, or at least the first 4 of its 32 hex digits", prefix);
    snprintf(high, sizeof high, "%sg", low); /* sorts after every id that begins with the prefix */
    const char *const text[] = {low, high};
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    bool one, two;
    PBD_TRY(pbd_store_row(store, "SELECT run_id FROM run WHERE run_id >= ?1 AND run_id < ?2 ORDER BY run_id LIMIT 2",
                          text, 2, "looking for a run", &one, &stmt));
    if (!one)
        return pbd_error(PBD_BAD_INPUT,
                         "no run '%s' in the store '%s': check the id, or choose another store with --db", prefix,
                         store->path);
    snprintf(run_id, 33, "%s", pbd_column_text(stmt, 0));
    PBD_TRY(pbd_store_step(store, stmt, &two, "looking for a run"));
    if (!two) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "'%s' begins more than one run (%s, %s): give more digits", prefix, run_id,
                     pbd_column_text(stmt, 0));
}

/* ---- From a result to a record ----------------------------------------------------------------------------------- */

static json_t *metrics_json(const pbd_result *r) {
    json_t *rows = json_array();
    for (size_t i = 0; i < r->metrics; i++) {
        const pbd_metric_item *m = &r->metric[i];
        json_array_append_new(rows, json_pack("{so so ss so so}", "name", pbd_text_json(m->name), "unit",
                                              pbd_text_json(m->unit), "direction", pbd_direction_word(m->kind, m->unit),
                                              "value", m->is_count ? json_null() : pbd_real_json(m->value), "count",
                                              m->is_count ? pbd_count_json(m->count) : json_null()));
    }
    return rows;
}

static json_t *series_json(const pbd_result *r) {
    json_t *rows = json_array();
    for (size_t i = 0; i < r->series_count; i++) {
        const pbd_series_item *s = &r->series[i];
        char *values = pbd_series_text(s->values, s->count);
        json_array_append_new(
            rows, json_pack("{so so so so}", "name", pbd_text_json(s->name), "component", pbd_text_json(s->component),
                            "unit", pbd_text_json(s->unit), "values", values != NULL ? json_string(values) : NULL));
        free(values);
    }
    return rows;
}

static json_t *phases_json(const pbd_result *r) {
    json_t *rows = json_array();
    for (size_t i = 0; i < r->phases; i++) {
        const pbd_phase_item *p = &r->phase[i];
        json_array_append_new(
            rows, json_pack("{so so so so}", "name", pbd_text_json(p->name), "wall_s", pbd_real_json(p->wall_s),
                            "cpu_s", pbd_real_json(p->cpu_s), "calls", pbd_count_json(p->calls)));
    }
    return rows;
}

static json_t *warnings_json(const pbd_result *r) {
    json_t *rows = json_array();
    for (size_t i = 0; i < r->warnings; i++) {
        const pbd_warning_item *w = &r->warning[i];
        json_array_append_new(rows, json_pack("{so so so}", "name", pbd_text_json(w->name), "says",
                                              pbd_text_json(w->says), "count", pbd_count_json(w->count)));
    }
    return rows;
}

static void append_sample(json_t *rows, const char *moment, const pbd_machine_sample *s) {
    if (s == NULL) return;
    json_array_append_new(
        rows, json_pack("{ss so so sI sI}", "moment", moment, "load_1min", pbd_real_json(s->load_1min), "clock_mhz",
                        pbd_real_json(s->clock_mhz), "throttle_count", (json_int_t)s->throttle_count, "memory_free_mib",
                        (json_int_t)s->memory_free_mib));
}

/* Name, summary and source of a method or case; only the name when this program does not know it. */
static json_t *about_json(const char *name, const char *summary, const char *source) {
    return json_pack("{so so so}", "name", pbd_text_json(name), "summary", pbd_text_json(summary), "source",
                     pbd_text_json(source));
}

static json_t *about_case(const char *name) {
    const pbd_case *c = NULL;
    for (size_t i = 0; i < pbd_case_count(); i++) {
        if (strcmp(pbd_case_at(i)->name, name) == 0) c = pbd_case_at(i);
    }
    return c != NULL ? about_json(name, c->summary, c->source) : about_json(name, "", "");
}

static json_t *about_method(const char *name) {
    const pbd_method_entry *entry = known_method(name);
    const pbd_method *m = entry != NULL ? entry->by_precision[PBD_PRECISION_F64] : NULL;
    return m != NULL ? about_json(name, m->summary, m->source) : about_json(name, "", "");
}

static json_t *cell_json(const pbd_result *r) {
    return json_pack("{ss so so so so so si}", "cell_id", r->cell_id, "case_name", pbd_text_json(r->case_name),
                     "method", pbd_text_json(r->method_name), "params", pbd_text_json(r->params), "backend",
                     pbd_text_json(r->backend), "precision", pbd_text_json(r->precision), "threads", r->threads);
}

static json_t *run_json(const pbd_store *store, const json_t *build, const pbd_result *r) {
    return json_pack("{ss ss ss ss ss ss si si so ss so so}", "run_id", "", "cell_id", r->cell_id, "build_id",
                     json_string_value(json_object_get(build, "build_id")), "env_id",
                     pbd_origin_text(store, "env", "env_id"), "invocation_id",
                     pbd_origin_text(store, "invocation", "invocation_id"), "kind", r->kind != NULL ? r->kind : "run",
                     "repeat", r->repeat, "warmups", r->warmups, "seed", pbd_count_json(r->seed), "started_at",
                     r->started_at, "state", pbd_text_json(r->state), "says", pbd_text_json(r->says));
}

/* Whether all arrays have their full length: an append that failed for lack of memory leaves one short. */
static bool is_complete(const json_t *record, const pbd_result *r, size_t samples) {
    return json_array_size(json_object_get(record, "metric")) == r->metrics &&
           json_array_size(json_object_get(record, "series")) == r->series_count &&
           json_array_size(json_object_get(record, "phase")) == r->phases &&
           json_array_size(json_object_get(record, "warning")) == r->warnings &&
           json_array_size(json_object_get(record, "env_sample")) == samples;
}

/* NULL without memory. */
static json_t *record_of(const pbd_store *store, const pbd_result *r, const pbd_machine_sample *before,
                         const pbd_machine_sample *after) {
    json_t *samples = json_array();
    append_sample(samples, "before", before);
    append_sample(samples, "after", after);
    json_auto_t *build = plugin_of(r->method_name) != NULL ? pbd_row_identified("build", build_row(r->method_name))
                                                           : json_incref(json_object_get(store->origin, "build"));
    json_auto_t *record = json_pack("{so so so so so so so so so}", "case", about_case(r->case_name), "method",
                                    about_method(r->method_name), "cell", cell_json(r), "run",
                                    run_json(store, build, r), "metric", metrics_json(r), "series", series_json(r),
                                    "phase", phases_json(r), "warning", warnings_json(r), "env_sample", samples);
    const size_t wanted = (before != NULL) + (after != NULL);
    const bool fine = record != NULL && json_object_update(record, store->origin) == 0 &&
                      json_object_set(record, "build", build) == 0 && is_complete(record, r, wanted);
    return fine ? json_incref(record) : NULL;
}

/* ---- Putting ----------------------------------------------------------------------------------------------------- */

static pbd_status put_record(const pbd_store *store, const json_t *record) {
    bool added;
    PBD_TRY(pbd_record_insert(store, record, &added));
    PBD_TRY(pbd_about_refresh(store, "case", json_object_get(record, "case")));
    return pbd_about_refresh(store, "method", json_object_get(record, "method"));
}

/* Runs within a transaction, so that no other process can write between the query and the insertion. */
static pbd_status put_if_new(pbd_store *store, const pbd_result *result, const json_t *record, bool *known,
                             char run_id[33]) {
    PBD_TRY(pbd_store_find(store, result->method_name, result->cell_id, result->seed, result->repeat, known, run_id));
    return *known ? pbd_ok() : put_record(store, record);
}

/* known NULL: stores the run in any case. */
static pbd_status put(pbd_store *store, pbd_result *result, const pbd_machine_sample *before,
                      const pbd_machine_sample *after, bool *known) {
    PBD_TRY(pbd_store_begin(store, 0, NULL)); /* does nothing when the caller has done it */
    json_auto_t *record = record_of(store, result, before, after);
    if (record == NULL) return pbd_store_no_memory(store);
    char run_id[33];
    PBD_TRY(pbd_record_identify(record, run_id));
    PBD_TRY(pbd_store_start(store, "storing a run"));
    PBD_TRY(pbd_store_end(store,
                          known != NULL ? put_if_new(store, result, record, known, run_id) : put_record(store, record),
                          "storing a run"));
    memcpy(result->run_id, run_id, sizeof run_id);
    return pbd_ok();
}

pbd_status pbd_store_put(pbd_store *store, pbd_result *result, const pbd_machine_sample *before,
                         const pbd_machine_sample *after) {
    return put(store, result, before, after, NULL);
}

pbd_status pbd_store_put_once(pbd_store *store, pbd_result *result, const pbd_machine_sample *before,
                              const pbd_machine_sample *after, bool *known) {
    *known = false;
    return put(store, result, before, after, known);
}

/* ---- From a record to a result ----------------------------------------------------------------------------------- */

/* A column's text; "" if a damaged store has none. */
static const char *text_in(const json_t *row, const char *column) {
    const char *text = json_string_value(json_object_get(row, column));
    return text != NULL ? text : "";
}

/* A column's text as a new string; clears *fine without memory. */
static char *take_text(const json_t *row, const char *column, bool *fine) {
    char *copy = strdup(text_in(row, column));
    if (copy == NULL) *fine = false;
    return copy;
}

static int take_int(const json_t *row, const char *column) {
    return (int)json_integer_value(json_object_get(row, column));
}

/* A zeroed array for the children of a table, with at least one element. */
static void *take_array(const json_t *rows, size_t size, size_t *count, bool *fine) {
    *count = json_array_size(rows);
    void *array = calloc(*count + 1, size);
    if (array == NULL) {
        *count = 0;
        *fine = false;
    }
    return array;
}

static void take_metrics(const json_t *rows, pbd_result *out, bool *fine) {
    out->metric = take_array(rows, sizeof *out->metric, &out->metrics, fine);
    for (size_t i = 0; i < out->metrics; i++) {
        const json_t *row = json_array_get(rows, i), *count = json_object_get(row, "count");
        pbd_metric_item *m = &out->metric[i];
        m->name = take_text(row, "name", fine);
        m->unit = take_text(row, "unit", fine);
        m->is_count = !json_is_null(count);
        if (*fine)
            m->kind = pbd_kind_read(json_string_value(json_object_get(row, "kind")), m->name, m->unit,
                                    text_in(row, "direction"), m->is_count);
        m->count = m->is_count ? pbd_json_count(count) : 0;
        m->value = m->is_count ? (double)m->count : pbd_json_real(json_object_get(row, "value"));
    }
}

static void take_series(const json_t *rows, pbd_result *out, bool *fine) {
    out->series = take_array(rows, sizeof *out->series, &out->series_count, fine);
    for (size_t i = 0; i < out->series_count; i++) {
        const json_t *row = json_array_get(rows, i);
        pbd_series_item *s = &out->series[i];
        s->name = take_text(row, "name", fine);
        s->component = take_text(row, "component", fine);
        s->unit = take_text(row, "unit", fine);
        if (!pbd_series_parse(text_in(row, "values"), &s->values, &s->count)) *fine = false;
        s->capacity = s->count;
    }
}

static void take_phases(const json_t *rows, pbd_result *out, bool *fine) {
    out->phase = take_array(rows, sizeof *out->phase, &out->phases, fine);
    for (size_t i = 0; i < out->phases; i++) {
        const json_t *row = json_array_get(rows, i);
        out->phase[i].name = take_text(row, "name", fine);
        out->phase[i].wall_s = pbd_json_real(json_object_get(row, "wall_s"));
        out->phase[i].cpu_s = pbd_json_real(json_object_get(row, "cpu_s"));
        out->phase[i].calls = pbd_json_count(json_object_get(row, "calls"));
    }
}

static void take_warnings(const json_t *rows, pbd_result *out, bool *fine) {
    out->warning = take_array(rows, sizeof *out->warning, &out->warnings, fine);
    for (size_t i = 0; i < out->warnings; i++) {
        const json_t *row = json_array_get(rows, i);
        out->warning[i].name = take_text(row, "name", fine);
        out->warning[i].says = take_text(row, "says", fine);
        out->warning[i].count = pbd_json_count(json_object_get(row, "count"));
    }
}

static void take_head(const json_t *cell, const json_t *run, pbd_result *out, bool *fine) {
    snprintf(out->run_id, sizeof out->run_id, "%s", text_in(run, "run_id"));
    snprintf(out->cell_id, sizeof out->cell_id, "%s", text_in(run, "cell_id"));
    snprintf(out->started_at, sizeof out->started_at, "%s", text_in(run, "started_at"));
    out->case_name = take_text(cell, "case_name", fine);
    out->method_name = take_text(cell, "method", fine);
    char *stored = take_text(cell, "params", fine);
    if (*fine) out->params = pbd_params_today(out->case_name, out->method_name, stored);
    *fine = *fine && out->params;
    free(stored);
    out->backend = take_text(cell, "backend", fine);
    out->precision = take_text(cell, "precision", fine);
    out->threads = take_int(cell, "threads");
    out->kind = take_text(run, "kind", fine);
    out->repeat = take_int(run, "repeat");
    out->warmups = take_int(run, "warmups");
    out->seed = pbd_json_count(json_object_get(run, "seed"));
    out->state = take_text(run, "state", fine);
    out->says = take_text(run, "says", fine);
}

pbd_status pbd_store_get(pbd_store *store, const char *run_id, pbd_result *out) {
    memset(out, 0, sizeof *out);
    char full[33];
    json_auto_t *record = NULL;
    PBD_TRY(pbd_store_resolve(store, run_id, full));
    PBD_TRY(pbd_record_load(store, full, &record));
    bool fine = true;
    take_head(json_object_get(record, "cell"), json_object_get(record, "run"), out, &fine);
    take_metrics(json_object_get(record, "metric"), out, &fine);
    take_series(json_object_get(record, "series"), out, &fine);
    take_phases(json_object_get(record, "phase"), out, &fine);
    take_warnings(json_object_get(record, "warning"), out, &fine);
    if (fine) return pbd_ok();
    pbd_result_free(out);
    return pbd_error(
        PBD_BAD_INPUT,
        "run '%s' in the store '%s' cannot be read: out of memory, or a series was changed; see `pbdbench db check`",
        full, store->path);
}

/* ---- Between processes ------------------------------------------------------------------------------------------- */

json_t *pbd_reported_json(const pbd_result *r) {
    json_t *metrics = metrics_json(r);
    for (size_t i = 0; i < r->metrics; i++) /* the store has no column for it */
        json_object_set_new(json_array_get(metrics, i), "kind", json_string(pbd_kind_word(r->metric[i].kind)));
    return json_pack("{so so so so so so}", "state", pbd_text_json(r->state), "says", pbd_text_json(r->says), "metric",
                     metrics, "series", series_json(r), "phase", phases_json(r), "warning", warnings_json(r));
}

bool pbd_reported_read(const json_t *reported, pbd_result *out) {
    bool fine = json_is_string(json_object_get(reported, "state"));
    if (!fine) return false;
    out->state = take_text(reported, "state", &fine);
    out->says = take_text(reported, "says", &fine);
    take_metrics(json_object_get(reported, "metric"), out, &fine);
    take_series(json_object_get(reported, "series"), out, &fine);
    take_phases(json_object_get(reported, "phase"), out, &fine);
    take_warnings(json_object_get(reported, "warning"), out, &fine);
    return fine;
}

/* ---- Claims ------------------------------------------------------------------------------------------------------ */

/* Runs one statement on (figure, claim, invocation, extra...). */
static pbd_status claim_exec(const pbd_store *store, const char *sql, const char *const *text, size_t texts,
                             const double *value) {
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    bool more;
    PBD_TRY(pbd_store_prepare(store, sql, text, texts, &stmt));
    if (value != NULL && sqlite3_bind_double(stmt, (int)texts + 1, *value) != SQLITE_OK)
        return pbd_store_fault(store, "storing a verdict");
    return pbd_store_step(store, stmt, &more, "storing a verdict");
}

static pbd_status put_claim(const pbd_store *store, const char *const text[7], double value, const char *const *run_ids,
                            size_t runs) {
    PBD_TRY(claim_exec(store, "DELETE FROM claim_result WHERE figure = ?1 AND claim = ?2 AND invocation_id = ?3", text,
                       3, NULL));
    PBD_TRY(claim_exec(store,
                       "INSERT INTO claim_result (figure, claim, invocation_id, verdict, says, note, decided_at, value)"
                       " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                       text, 7, &value));
    for (size_t i = 0; i < runs; i++) {
        const char *const link[] = {text[0], text[1], text[2], run_ids[i]};
        PBD_TRY(claim_exec(store,
                           "INSERT OR IGNORE INTO claim_run (figure, claim, invocation_id, run_id)"
                           " VALUES (?1, ?2, ?3, ?4)",
                           link, 4, NULL));
    }
    return pbd_ok();
}

pbd_status pbd_store_claim(pbd_store *store, const char *figure, const char *claim, const char *verdict, double value,
                           const char *says, const char *note, const char *const *run_ids, size_t runs) {
    PBD_TRY(pbd_store_begin(store, 0, NULL));
    char now[32];
    pbd_store_now(now);
    const char *sentence PBD_CLEANUP(pbd_free_memory) = clean_text(says);
    const char *remark PBD_CLEANUP(pbd_free_memory) = clean_text(note);
    if (!sentence || !remark) return pbd_store_no_memory(store);
    const char *const text[7] = {
        figure, claim, pbd_origin_text(store, "invocation", "invocation_id"), verdict, sentence, remark, now};
    PBD_TRY(pbd_store_start(store, "storing a verdict"));
    return pbd_store_end(store, put_claim(store, text, value, run_ids, runs), "storing a verdict");
}
