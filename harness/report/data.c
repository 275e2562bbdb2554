/* What the sections are written from: figures, verdicts, and queries. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/query/sql_functions.h"
#include "harness/report/report.h"
#include "harness/store/rows.h"

static const pbd_status out_of_memory = {PBD_FAILED, "out of memory for the report"};

/* ---- Queries ----------------------------------------------------------------------------------------------------- */

pbd_status report_ask(report *r, const char *sql, const char *const *text, size_t texts, sqlite3_stmt **stmt) {
    *stmt = NULL;
    return r->store ? pbd_store_prepare(r->store, sql, text, texts, stmt) : pbd_ok();
}

pbd_status report_next(report *r, sqlite3_stmt *stmt, bool *row) {
    *row = false;
    return stmt ? pbd_store_step(r->store, stmt, row, "reading it for a report") : pbd_ok();
}

const char *report_column(sqlite3_stmt *stmt, int column) {
    const char *text = (const char *)sqlite3_column_text(stmt, column);
    return text ? text : "";
}

double report_real(sqlite3_stmt *stmt, int column) {
    return sqlite3_column_type(stmt, column) == SQLITE_NULL ? (double)NAN : sqlite3_column_double(stmt, column);
}

/* ---- Verdicts ---------------------------------------------------------------------------------------------------- */

static bool same_runs(const report_set *a, const report_set *b) {
    return a->count == b->count && memcmp(a->run_id, b->run_id, a->count * sizeof *a->run_id) == 0;
}

/* Takes the runs over; a set that is there already is used again. */
static pbd_status keep_set(report *r, report_set *set, long *index) {
    *index = REPORT_NO_SET;
    for (size_t i = 0; i < r->sets && *index < 0; i++)
        if (same_runs(&r->set[i], set)) *index = (long)i;
    if (*index >= 0 || set->count == 0) {
        free(set->run_id);
        return pbd_ok();
    }
    report_set *grown = realloc(r->set, (r->sets + 1) * sizeof *grown);
    if (!grown) {
        free(set->run_id);
        return out_of_memory;
    }
    r->set = grown;
    grown[r->sets] = *set;
    *index = (long)r->sets++;
    return pbd_ok();
}

static pbd_status read_runs(report *r, const char *const key[3], report_set *set) {
    sqlite3_stmt *stmt;
    bool row = true;
    size_t capacity = 0;
    pbd_status status = report_ask(
        r, "SELECT run_id FROM claim_run WHERE figure = ?1 AND claim = ?2 AND invocation_id = ?3 ORDER BY run_id", key,
        3, &stmt);
    while (status.code == PBD_OK && row) {
        status = report_next(r, stmt, &row);
        if (status.code != PBD_OK || !row) break;
        if (set->count == capacity) {
            capacity = capacity ? 2 * capacity : 16;
            char(*grown)[33] = realloc(set->run_id, capacity * sizeof *grown);
            if (!grown) {
                status = out_of_memory;
                break;
            }
            set->run_id = grown;
        }
        memset(set->run_id[set->count], 0, sizeof *set->run_id);
        snprintf(set->run_id[set->count++], sizeof *set->run_id, "%s", report_column(stmt, 0));
    }
    sqlite3_finalize(stmt);
    return status;
}

/* Of all verdicts on a claim the newest on runs of this build's sources, else the newest of all. */
static const char verdict_sql[] =
    "SELECT invocation_id, verdict, value, says, note, decided_at, "
    " (SELECT source FROM claim_run AS l JOIN run USING (run_id) JOIN build USING (build_id)"
    "  WHERE l.figure = c.figure AND l.claim = c.claim AND l.invocation_id = c.invocation_id LIMIT 1) AS source"
    " FROM claim_result AS c WHERE figure = ?1 AND claim = ?2"
    " ORDER BY source IS ?3 DESC, decided_at DESC LIMIT 1";

static pbd_status take_verdict(sqlite3_stmt *stmt, pbd_claim_result *c, report_verdict *v) {
    const char *source = report_column(stmt, 6), *note = report_column(stmt, 4);
    snprintf(v->invocation_id, sizeof v->invocation_id, "%s", report_column(stmt, 0));
    snprintf(c->verdict, sizeof c->verdict, "%s", report_column(stmt, 1));
    c->value = report_real(stmt, 2);
    v->reworded = strcmp(report_column(stmt, 3), c->claim->says) != 0;
    if (*note && !(c->note = strdup(note))) return out_of_memory;
    snprintf(v->decided_at, sizeof v->decided_at, "%s", report_column(stmt, 5));
    v->other_sources = *source && strcmp(source, pbd_this_build()->source) != 0;
    return pbd_ok();
}

static pbd_status load_verdict(report *r, report_figure *f, size_t i) {
    pbd_claim_result *c = &f->claims.item[i];
    report_verdict *v = &f->verdict[i];
    *c = (pbd_claim_result){.claim = &f->file->claims[i], .verdict = "not_run", .value = (double)NAN};
    v->set = REPORT_NO_SET;
    const char *const key[] = {f->file->figure, c->claim->id, pbd_this_build()->source};
    sqlite3_stmt *stmt;
    bool row;
    pbd_status status = report_ask(r, verdict_sql, key, 3, &stmt);
    if (status.code == PBD_OK) status = report_next(r, stmt, &row);
    if (status.code == PBD_OK && row) status = take_verdict(stmt, c, v);
    sqlite3_finalize(stmt);
    r->judged_elsewhere += v->other_sources;
    if (status.code != PBD_OK || !*v->invocation_id) return status;
    const char *const link[] = {f->file->figure, c->claim->id, v->invocation_id};
    report_set set = {0};
    status = read_runs(r, link, &set);
    if (status.code == PBD_OK) return keep_set(r, &set, &v->set);
    free(set.run_id);
    return status;
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
    f->claims.item = calloc(claims + 1, sizeof *f->claims.item);
    f->verdict = calloc(claims + 1, sizeof *f->verdict);
    if (!f->claims.item || !f->verdict) return out_of_memory;
    f->claims.count = claims;
    for (size_t i = 0; i < claims; i++) PBD_TRY(load_verdict(r, f, i));
    f->trouble = pbd_claims_compare(f->file, &f->claims);
    return f->trouble.code == PBD_BAD_INPUT ? pbd_ok() : f->trouble;
}

pbd_status report_load(report *r, pbd_store *store, report_pictures pictures) {
    *r = (report){.store = store, .pictures = pictures};
    PBD_TRY(pbd_papers_load(&r->papers));
    PBD_TRY(pbd_list_figures(&r->list));
    if (store) {
        PBD_TRY(pbd_sql_functions(pbd_store_sql(store)));
        /* Where temporary tables are kept is said before there is one: drawing says it too, and a change empties them.
         */
        PBD_TRY(pbd_store_exec(store,
                               "PRAGMA temp_store = MEMORY;"
                               "CREATE TEMP TABLE report_run (run_id TEXT PRIMARY KEY) WITHOUT ROWID",
                               "preparing a report"));
    }
    r->figure = calloc(r->list.count + 1, sizeof *r->figure);
    if (!r->figure) return out_of_memory;
    for (size_t i = 0; i < r->list.count; i++) {
        r->figure[i].entry = &r->list.item[i];
        PBD_TRY(load_figure(r, &r->figure[i]));
    }
    return pbd_ok();
}

void report_free(report *r) {
    sqlite3_finalize(r->is_noted);
    sqlite3_finalize(r->note);
    for (size_t i = 0; r->figure && i < r->list.count; i++) {
        pbd_claims_free(&r->figure[i].claims);
        free(r->figure[i].verdict);
        pbd_figure_file_free(r->figure[i].file);
    }
    free(r->figure);
    for (size_t i = 0; i < r->sets; i++) free(r->set[i].run_id);
    free(r->set);
    pbd_figure_list_free(&r->list);
    pbd_papers_free(r->papers);
    *r = (report){0};
}

report_tally report_count(const report *r, const char *paper) {
    report_tally tally = {0};
    for (size_t i = 0; i < r->list.count; i++) {
        const report_figure *f = &r->figure[i];
        if (paper && strcmp(f->entry->paper, paper) != 0) continue;
        for (size_t k = 0; k < f->claims.count; k++) {
            const char *verdict = f->claims.item[k].verdict;
            if (strcmp(verdict, "reproduced") == 0)
                tally.reproduced++;
            else if (strcmp(verdict, "partly") == 0)
                tally.partly++;
            else if (strcmp(verdict, "not_reproduced") == 0)
                tally.not_reproduced++;
            else
                tally.not_run++;
        }
    }
    return tally;
}
