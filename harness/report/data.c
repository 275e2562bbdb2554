/* What the sections are made from: figures, verdicts, and queries. */
#include <math.h>
#include <string.h>

#include "harness/query/sql_functions.h"
#include "harness/report/report.h"

/* ---- Queries ----------------------------------------------------------------------------------------------------- */

pbd_status report_ask(report *r, const char *sql, const char *const *text, size_t texts, sqlite3_stmt **stmt) {
    *stmt = NULL;
    return r->store ? pbd_store_prepare(r->store, sql, text, texts, stmt) : pbd_ok();
}

pbd_status report_next(report *r, sqlite3_stmt *stmt, bool *row) {
    *row = false;
    return stmt ? pbd_store_step(r->store, stmt, row, "reading it for a report") : pbd_ok();
}

double report_real(sqlite3_stmt *stmt, int column) {
    return sqlite3_column_type(stmt, column) == SQLITE_NULL ? (double)NAN : sqlite3_column_double(stmt, column);
}

/* An integer, a real number, or a text. */
static json_t *column_json(sqlite3_stmt *stmt, int column) {
    switch (sqlite3_column_type(stmt, column)) {
        case SQLITE_INTEGER:
            return json_integer(sqlite3_column_int64(stmt, column));
        case SQLITE_FLOAT:
            return pbd_finite_json(sqlite3_column_double(stmt, column));
        default:
            return pbd_text_json(pbd_column_text(stmt, column));
    }
}

pbd_status report_rows(report *r, const char *sql, const char *const *text, size_t texts, json_t **out) {
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    bool row;
    *out = json_array();
    PBD_TRY(report_ask(r, sql, text, texts, &stmt));
    for (;;) {
        PBD_TRY(report_next(r, stmt, &row));
        if (!row) return pbd_ok();
        json_t *object = json_object();
        for (int i = 0; i < sqlite3_column_count(stmt); i++)
            if (*pbd_column_text(stmt, i))
                json_object_set_new(object, sqlite3_column_name(stmt, i), column_json(stmt, i));
        json_array_append_new(*out, object);
    }
}

void report_put_text(json_t *object, const char *key, const char *text) {
    if (text && *text) json_object_set_new(object, key, pbd_text_json(text));
}

void report_put_real(json_t *object, const char *key, double value) {
    if (isfinite(value)) json_object_set_new(object, key, json_real(value));
}

void report_put_count(json_t *object, const char *key, size_t value) {
    json_object_set_new(object, key, json_integer((json_int_t)value));
}

void report_put_true(json_t *object, const char *key, bool value) {
    if (value) json_object_set_new(object, key, json_true());
}

/* ---- Verdicts ---------------------------------------------------------------------------------------------------- */

/* Sets *index to that of the set with these runs, which is added if it does not exist. */
static pbd_status keep_set(report *r, const report_set *set, long *index) {
    for (size_t i = 0; i < r->sets; i++)
        if (r->set[i].count == set->count &&
            memcmp(r->set[i].run_id, set->run_id, set->count * sizeof *set->run_id) == 0) {
            *index = (long)i;
            return pbd_ok();
        }
    if (!pbd_arena_more(&r->owned, &r->set, r->sets, sizeof *r->set)) return pbd_arena_check(&r->owned);
    r->set[r->sets] = *set;
    *index = (long)r->sets++;
    return pbd_ok();
}

static pbd_status read_set(report *r, const char *const key[3], long *index) {
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    report_set set = {0};
    bool row;
    PBD_TRY(report_ask(
        r, "SELECT run_id FROM claim_run WHERE figure = ?1 AND claim = ?2 AND invocation_id = ?3 ORDER BY run_id", key,
        3, &stmt));
    for (;;) {
        PBD_TRY(report_next(r, stmt, &row));
        if (!row) return set.count > 0 ? keep_set(r, &set, index) : pbd_ok();
        if (!pbd_arena_more(&r->owned, &set.run_id, set.count, sizeof *set.run_id)) return pbd_arena_check(&r->owned);
        snprintf(set.run_id[set.count++], sizeof *set.run_id, "%s", pbd_column_text(stmt, 0));
    }
}

/* The newest verdict on a claim from runs of this build's sources, else the newest of all. */
static const char verdict_sql[] =
    "SELECT invocation_id, verdict, value, says, note, decided_at, "
    " (SELECT source FROM claim_run AS l JOIN run USING (run_id) JOIN build USING (build_id)"
    "  WHERE l.figure = c.figure AND l.claim = c.claim AND l.invocation_id = c.invocation_id LIMIT 1) AS source"
    " FROM claim_result AS c WHERE figure = ?1 AND claim = ?2"
    " ORDER BY source IS ?3 DESC, decided_at DESC LIMIT 1";

static pbd_status take_verdict(sqlite3_stmt *stmt, report_figure *f, size_t i) {
    pbd_claim_result *c = &f->claims.item[i];
    report_verdict *v = &f->verdict[i];
    const char *source = pbd_column_text(stmt, 6), *note = pbd_column_text(stmt, 4);
    snprintf(v->invocation_id, sizeof v->invocation_id, "%s", pbd_column_text(stmt, 0));
    snprintf(c->verdict, sizeof c->verdict, "%s", pbd_column_text(stmt, 1));
    c->value = report_real(stmt, 2);
    v->reworded = strcmp(pbd_column_text(stmt, 3), c->claim->says) != 0;
    if (*note) c->note = pbd_new_text(&f->claims.owned, note);
    snprintf(v->decided_at, sizeof v->decided_at, "%s", pbd_column_text(stmt, 5));
    v->other_sources = *source && strcmp(source, pbd_this_build()->source) != 0;
    return pbd_arena_check(&f->claims.owned);
}

static pbd_status load_verdict(report *r, report_figure *f, size_t i) {
    pbd_claim_result *c = &f->claims.item[i];
    report_verdict *v = &f->verdict[i];
    *c = (pbd_claim_result){.claim = &f->file->claims[i], .verdict = "not_run", .value = (double)NAN};
    v->set = REPORT_NO_SET;
    const char *const key[] = {f->file->figure, c->claim->id, pbd_this_build()->source};
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    bool row;
    PBD_TRY(report_ask(r, verdict_sql, key, 3, &stmt));
    PBD_TRY(report_next(r, stmt, &row));
    if (!row) return pbd_ok();
    PBD_TRY(take_verdict(stmt, f, i));
    return read_set(r, (const char *const[]){f->file->figure, c->claim->id, v->invocation_id}, &v->set);
}

/* A figure whose files cannot be read is reported, and the others follow. */
static pbd_status load_figure(report *r, report_figure *f) {
    if (!f->entry->available) return pbd_ok();
    f->trouble = pbd_figure_load(f->entry->id, &f->file);
    if (f->trouble.code != PBD_OK) {
        f->file = NULL;
        return f->trouble.code == PBD_BAD_INPUT ? pbd_ok() : f->trouble;
    }
    const size_t claims = f->file->claims_count;
    f->claims.item = pbd_new(&f->claims.owned, pbd_claim_result, claims);
    f->verdict = pbd_new(&r->owned, report_verdict, claims);
    PBD_TRY(pbd_arena_check(&f->claims.owned));
    PBD_TRY(pbd_arena_check(&r->owned));
    f->claims.count = claims;
    for (size_t i = 0; i < claims; i++) PBD_TRY(load_verdict(r, f, i));
    f->trouble = pbd_claims_compare(f->file, &f->claims);
    return f->trouble.code == PBD_BAD_INPUT ? pbd_ok() : f->trouble;
}

pbd_status report_load(report *r, pbd_store *store, report_pictures pictures, const char *beside) {
    *r = (report){.store = store, .pictures = pictures, .beside = beside};
    PBD_TRY(pbd_papers_load(&r->papers));
    r->no_problems = pbd_problems_load(&r->problems);
    if (r->no_problems.code != PBD_BAD_INPUT) PBD_TRY(r->no_problems);
    PBD_TRY(pbd_list_figures(&r->list));
    if (store) {
        PBD_TRY(pbd_sql_functions(pbd_store_sql(store)));
        /* Set before the first temporary table is made: drawing sets it too, and a change would empty the tables. */
        PBD_TRY(pbd_store_exec(store,
                               "PRAGMA temp_store = MEMORY;"
                               "CREATE TEMP TABLE report_run (run_id TEXT PRIMARY KEY) WITHOUT ROWID;"
                               "CREATE TEMP TABLE report_cell (cell_id TEXT, problem INTEGER,"
                               " PRIMARY KEY (cell_id, problem)) WITHOUT ROWID",
                               "preparing a report"));
    }
    r->figure = pbd_new(&r->owned, report_figure, r->list.count);
    PBD_TRY(pbd_arena_check(&r->owned));
    for (size_t i = 0; i < r->list.count; i++) {
        r->figure[i].entry = &r->list.item[i];
        PBD_TRY(load_figure(r, &r->figure[i]));
    }
    return report_load_tables(r);
}

void report_free(report *r) {
    for (size_t i = 0; i < REPORT_MOST_TABLES; i++) pbd_rank_free(&r->table[i].rank);
    pbd_problems_free(r->problems);
    sqlite3_finalize(r->head);
    sqlite3_finalize(r->is_noted);
    sqlite3_finalize(r->note);
    for (size_t i = 0; r->figure && i < r->list.count; i++) {
        pbd_claims_free(&r->figure[i].claims);
        pbd_figure_file_free(r->figure[i].file);
    }
    pbd_arena_free(&r->owned);
    pbd_figure_list_free(&r->list);
    pbd_papers_free(r->papers);
    *r = (report){0};
}

report_tally report_count(const report *r) {
    report_tally tally = {0};
    for (size_t i = 0; i < r->list.count; i++) {
        const report_figure *f = &r->figure[i];
        for (size_t k = 0; k < f->claims.count; k++) {
            if (f->claims.item[k].claim->beyond) continue;
            const char *verdict = f->claims.item[k].verdict;
            tally.reproduced += strcmp(verdict, "reproduced") == 0;
            tally.partly += strcmp(verdict, "partly") == 0;
            tally.not_reproduced += strcmp(verdict, "not_reproduced") == 0;
            tally.not_run += strcmp(verdict, "not_run") == 0;
        }
    }
    return tally;
}
