/* Judging claims. A verdict is the result of the query; nothing is rounded in favour of a claim. */
#include "harness/figure/claims.h"

#include <csv.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/figure/bounds.h"
#include "harness/figure/figure_data.h"
#include "harness/figure/figure_plan.h"
#include "harness/files/csv_file.h"
#include "harness/files/paths.h"
#include "harness/query/run_table.h"

static const char *const verdicts[] = {"reproduced", "partly", "not_reproduced", "not_run"};
enum { VERDICTS = sizeof verdicts / sizeof *verdicts };
static const char not_run[] = "not_run";

static bool is_verdict(const char *text) {
    for (size_t i = 0; i < VERDICTS; i++)
        if (strcmp(text, verdicts[i]) == 0) return true;
    return false;
}

/* ---- The runs a claim rests on ----------------------------------------------------------------------------------- */

static bool rests_on(const pbd_claim *claim, const char *group) {
    for (unsigned i = 0; i < claim->runs_count; i++)
        if (strcmp(claim->runs[i], group) == 0) return true;
    return claim->runs_count == 0;
}

static int by_text(const void *a, const void *b) { return strcmp(a, b); }

/* Collects the run ids, each once, and counts items that have none. */
static pbd_status collect_runs(const pbd_figure_file *file, const pbd_plan *plan, size_t first_group, pbd_arena *owned,
                               pbd_claim_result *r, size_t *missing) {
    r->run_id = pbd_arena_take(owned, plan->count, sizeof *r->run_id);
    PBD_TRY(pbd_arena_check(owned));
    size_t count = 0;
    *missing = 0;
    for (size_t i = 0; i < plan->count; i++) {
        const pbd_plan_item *item = &plan->item[i];
        if (item->group < first_group || item->group >= first_group + file->runs_count) continue;
        if (!rests_on(r->claim, file->runs[item->group - first_group].name)) continue;
        if (item->run_id[0])
            memcpy(r->run_id[count++], item->run_id, sizeof *r->run_id);
        else
            ++*missing;
    }
    qsort(r->run_id, count, sizeof *r->run_id, by_text);
    for (size_t i = 0; i < count; i++)
        if (r->runs == 0 || strcmp(r->run_id[i], r->run_id[r->runs - 1]) != 0)
            memmove(r->run_id[r->runs++], r->run_id[i], sizeof *r->run_id);
    return pbd_ok();
}

/* The runs of the claim's groups that ended in one of these states, as an SQL list. */
static size_t count_in(const pbd_figure_file *file, const pbd_claim *claim, sqlite3 *sql, const char *states) {
    size_t found = 0;
    for (unsigned i = 0; i < file->runs_count; i++) {
        char text[200];
        sqlite3_stmt *count;
        if (!rests_on(claim, file->runs[i].name)) continue;
        snprintf(text, sizeof text, "SELECT count(*) FROM temp.%s WHERE state IN (%s)", file->runs[i].name, states);
        if (sqlite3_prepare_v2(sql, text, -1, &count, NULL) != SQLITE_OK) continue;
        if (sqlite3_step(count) == SQLITE_ROW) found += (size_t)sqlite3_column_int64(count, 0);
        sqlite3_finalize(count);
    }
    return found;
}

/* A query may leave out runs that diverged or did not settle; the note always mentions them. */
static pbd_status tell_lost(const pbd_figure_file *file, sqlite3 *sql, pbd_arena *owned, pbd_claim_result *r) {
    const size_t lost = count_in(file, r->claim, sql, "'diverged', 'no_equilibrium', 'not_settled'");
    if (lost == 0) return pbd_ok();
    r->note = pbd_new_format(owned, "%s%s%zu of its %zu runs diverged or did not settle", r->note ? r->note : "",
                             r->note ? "; " : "", lost, r->runs);
    return pbd_arena_check(owned);
}

static pbd_status set_not_run(pbd_arena *owned, pbd_claim_result *r, const char *reason, const char *why, size_t runs) {
    r->reason = reason;
    snprintf(r->verdict, sizeof r->verdict, "%s", not_run);
    r->lacks_runs = true;
    r->note = pbd_new_format(owned, "%zu %s", runs, why);
    return pbd_arena_check(owned);
}

/* The first group that the claim rests on and that is left out, or NULL. */
static const pbd_group *left_out_group(const pbd_figure_file *file, const pbd_claim *claim) {
    for (unsigned i = 0; i < file->runs_count; i++)
        if (file->runs[i].left_out > 0 && rests_on(claim, file->runs[i].name)) return &file->runs[i];
    return NULL;
}

static pbd_status set_left_out(pbd_arena *owned, pbd_claim_result *r, const pbd_group *group) {
    char why[500];
    pbd_left_out_text(group, why);
    snprintf(r->verdict, sizeof r->verdict, "%s", not_run);
    r->left_out = true;
    r->reason = "left_out";
    r->note = pbd_new_format(owned, "not judged here: %s", why);
    return pbd_arena_check(owned);
}

/* ---- The query --------------------------------------------------------------------------------------------------- */

static int column_named(sqlite3_stmt *row, const char *name) {
    for (int c = 0; c < sqlite3_column_count(row); c++)
        if (strcasecmp(sqlite3_column_name(row, c), name) == 0) return c;
    return -1;
}

static pbd_status read_value(sqlite3_stmt *row, const char *where, double *out) {
    const int value = column_named(row, "value"), kind = value >= 0 ? sqlite3_column_type(row, value) : SQLITE_NULL;
    *out = NAN;
    if (kind == SQLITE_TEXT || kind == SQLITE_BLOB)
        return pbd_error(PBD_BAD_INPUT, "%s: value '%.40s'; expected a number or NULL", where,
                         (const char *)sqlite3_column_text(row, value));
    if (kind != SQLITE_NULL) *out = sqlite3_column_double(row, value);
    return pbd_ok();
}

/* The bounds were checked when the file was read. */
static const char *verdict_of(const pbd_claim *claim, double value) {
    pbd_bounds bounds;
    if (isnan(value)) return not_run;
    if (pbd_bounds_parse(claim->reproduced, &bounds).code == PBD_OK && pbd_bounds_hold(&bounds, value))
        return "reproduced";
    if (claim->partly && pbd_bounds_parse(claim->partly, &bounds).code == PBD_OK && pbd_bounds_hold(&bounds, value))
        return "partly";
    return "not_reproduced";
}

static pbd_status add_reading(sqlite3_stmt *row, const char *where, double value, const char *verdict, pbd_arena *owned,
                              pbd_claim_result *r) {
    const int column = column_named(row, "reading");
    const char *name = column >= 0 ? (const char *)sqlite3_column_text(row, column) : NULL;
    if (column < 0) return pbd_ok();
    if (!name || !*name) return pbd_error(PBD_BAD_INPUT, "%s: a row without the name of its reading", where);
    for (size_t i = 0; i < r->readings; i++)
        if (strcmp(r->reading[i].name, name) == 0)
            return pbd_error(PBD_BAD_INPUT, "%s: two rows of the reading '%.80s'", where, name);
    if (!pbd_arena_more(owned, &r->reading, r->readings, sizeof *r->reading)) return pbd_arena_check(owned);
    pbd_claim_reading *reading = &r->reading[r->readings++];
    *reading = (pbd_claim_reading){.name = pbd_new_text(owned, name), .value = value};
    snprintf(reading->verdict, sizeof reading->verdict, "%s", verdict);
    return pbd_arena_check(owned);
}

static pbd_status read_row(sqlite3_stmt *row, const char *where, bool first, pbd_arena *owned, pbd_claim_result *r) {
    const int note = column_named(row, "note");
    const char *says = note >= 0 ? (const char *)sqlite3_column_text(row, note) : NULL;
    double value;
    PBD_TRY(read_value(row, where, &value));
    const char *verdict = verdict_of(r->claim, value);
    PBD_TRY(add_reading(row, where, value, verdict, owned, r));
    if (first) {
        snprintf(r->verdict, sizeof r->verdict, "%s", verdict);
        r->value = value;
    }
    if (says && *says) r->note = r->note ? pbd_new_format(owned, "%s; %s", r->note, says) : pbd_new_text(owned, says);
    return pbd_arena_check(owned);
}

/* A reading without a value, for instance because its run diverged, counts as not reproduced if others have one. */
static void sum_up(pbd_claim_result *r) {
    size_t count[VERDICTS] = {0};
    if (!r->claim->rule || strcmp(r->claim->rule, "all") != 0 || r->readings == 0) return;
    for (size_t i = 0; i < r->readings; i++)
        for (size_t v = 0; v < VERDICTS; v++) count[v] += strcmp(r->reading[i].verdict, verdicts[v]) == 0;
    const char *verdict = count[0] == r->readings   ? "reproduced"
                          : count[0] + count[1] > 0 ? "partly"
                          : count[2] > 0            ? "not_reproduced"
                                                    : not_run;
    snprintf(r->verdict, sizeof r->verdict, "%s", verdict);
}

static pbd_status read_rows(sqlite3 *sql, sqlite3_stmt *query, const char *where, pbd_arena *owned,
                            pbd_claim_result *r) {
    const bool many = column_named(query, "reading") >= 0;
    for (size_t rows = 0;; rows++) {
        bool row;
        PBD_TRY(pbd_query_next(sql, query, where, &row));
        if (!row) return pbd_ok();
        if (rows > 0 && !many)
            return pbd_error(PBD_BAD_INPUT, "%s: the query gives more than one row, and has no column `reading`",
                             where);
        PBD_TRY(read_row(query, where, rows == 0, owned, r));
    }
}

static pbd_status ask(const pbd_figure_file *file, sqlite3 *sql, pbd_arena *owned, pbd_claim_result *r) {
    char where[300];
    sqlite3_stmt *query;
    snprintf(where, sizeof where, "%s, claim '%s'", file->shown_as, r->claim->id);
    snprintf(r->verdict, sizeof r->verdict, "%s", not_run);
    PBD_TRY(pbd_figure_query(file, sql, r->claim->sql, where, &query));
    const pbd_status status = read_rows(sql, query, where, owned, r);
    sum_up(r);
    if (strcmp(r->verdict, not_run) == 0) r->reason = "no_value";
    pbd_query_end(sql, query);
    return status;
}

static pbd_status set_too_small(pbd_arena *owned, pbd_claim_result *r) {
    snprintf(r->verdict, sizeof r->verdict, "%s", not_run);
    r->reason = "quick";
    r->note = pbd_new_text(owned, "quick runs are too small to judge it");
    return pbd_arena_check(owned);
}

static pbd_status judge(const pbd_figure_file *file, const pbd_plan *plan, size_t first_group, pbd_scale scale,
                        sqlite3 *sql, pbd_arena *owned, pbd_claim_result *r) {
    size_t missing = 0;
    PBD_TRY(collect_runs(file, plan, first_group, owned, r, &missing));
    const pbd_group *left_out = left_out_group(file, r->claim);
    if (left_out) return set_left_out(owned, r, left_out);
    if (missing) return set_not_run(owned, r, "runs_missing", "of its runs are missing", missing);
    /* Runs that failed (memory, disk) measured nothing. Those that diverged did. */
    const size_t failed = count_in(file, r->claim, sql, "'failed', 'interrupted'");
    if (failed) return set_not_run(owned, r, "runs_failed", "of its runs failed", failed);
    if (scale == PBD_SCALE_QUICK && r->claim->full_size) return set_too_small(owned, r);
    PBD_TRY(ask(file, sql, owned, r));
    return tell_lost(file, sql, owned, r);
}

pbd_status pbd_claims_judge(const pbd_figure_file *file, const pbd_plan *plan, size_t first_group, pbd_scale scale,
                            pbd_store *store, pbd_claim_results *out) {
    *out = (pbd_claim_results){.count = file->claims_count};
    out->item = pbd_new(&out->owned, pbd_claim_result, out->count);
    pbd_status status = pbd_arena_check(&out->owned);
    for (size_t i = 0; i < out->count && status.code == PBD_OK; i++) {
        out->item[i].claim = &file->claims[i];
        out->item[i].value = NAN;
        status = judge(file, plan, first_group, scale, pbd_store_sql(store), &out->owned, &out->item[i]);
    }
    if (status.code != PBD_OK) pbd_claims_free(out);
    return status;
}

void pbd_claims_free(pbd_claim_results *results) {
    pbd_arena_free(&results->owned);
    *results = (pbd_claim_results){0};
}

/* ---- What was accepted ------------------------------------------------------------------------------------------- */

static pbd_status note_stale(pbd_claim_results *results, const char *id, const char *reading) {
    if (!pbd_arena_more(&results->owned, &results->stale, results->stales, sizeof *results->stale))
        return pbd_arena_check(&results->owned);
    snprintf(results->stale[results->stales++], sizeof *results->stale, "%.60s%s%.30s%s", id, *reading ? " (" : "",
             reading, *reading ? ")" : "");
    return pbd_ok();
}

/* The readings of a claim that is left out are unknown. */
static bool is_left_out(const pbd_claim_results *results, const char *id) {
    for (size_t i = 0; i < results->count; i++)
        if (strcmp(results->item[i].claim->id, id) == 0) return results->item[i].left_out;
    return false;
}

/* The verdict that a line of verdicts.csv belongs to: the claim's own or that of a reading. NULL: it no longer exists.
 */
static char *accepted_of(pbd_claim_results *results, const char *id, const char *reading) {
    size_t i = 0, k = 0;
    while (i < results->count && strcmp(results->item[i].claim->id, id) != 0) i++;
    if (i == results->count) return NULL;
    pbd_claim_result *r = &results->item[i];
    if (!*reading) return r->accepted;
    while (k < r->readings && strcmp(r->reading[k].name, reading) != 0) k++;
    return k < r->readings ? r->reading[k].accepted : NULL;
}

static pbd_status take_accepted(const pbd_csv *csv, const char *shown_as, pbd_claim_results *results) {
    const size_t claim = pbd_csv_column(csv, "claim"), verdict = pbd_csv_column(csv, "verdict");
    const size_t reading = pbd_csv_column(csv, "reading");
    if (claim == csv->columns || verdict == csv->columns)
        return pbd_error(PBD_BAD_INPUT, "%s: expected the columns claim, reading and verdict", shown_as);
    for (size_t r = 0; r < csv->rows; r++) {
        char *const *field = &csv->field[r * csv->columns];
        const char *id = field[claim], *word = field[verdict], *name = reading < csv->columns ? field[reading] : "";
        if (!is_verdict(word))
            return pbd_error(PBD_BAD_INPUT,
                             "%s: claim '%.80s': '%.40s' is not a verdict; expected reproduced, partly, "
                             "not_reproduced or not_run",
                             shown_as, id, word);
        char *accepted = accepted_of(results, id, name);
        if (accepted && *accepted) return pbd_error(PBD_BAD_INPUT, "%s: claim '%.80s' has two verdicts", shown_as, id);
        if (accepted)
            snprintf(accepted, sizeof results->item->accepted, "%s", word);
        else if (!is_left_out(results, id))
            PBD_TRY(note_stale(results, id, name));
    }
    return pbd_ok();
}

bool pbd_claim_differs(const pbd_claim_result *r) {
    bool differs = strcmp(r->verdict, r->accepted) != 0;
    for (size_t k = 0; k < r->readings; k++) differs |= strcmp(r->reading[k].verdict, r->reading[k].accepted) != 0;
    return differs && !r->left_out;
}

/* plots/ID/verdicts.csv, for messages; the file itself is below the root. */
static const char *verdicts_name(pbd_arena *a, const pbd_figure_file *file) {
    return pbd_new_format(a, "plots/%s/verdicts.csv", file->figure);
}

pbd_status pbd_claims_compare(const pbd_figure_file *file, pbd_claim_results *results) {
    pbd_arena a PBD_ARENA;
    const char *name = verdicts_name(&a, file), *path = pbd_new_format(&a, "%s/%s", pbd_root(), name);
    pbd_csv csv PBD_CLEANUP(pbd_csv_free) = {0};
    struct stat about;
    PBD_TRY(pbd_arena_check(&a));
    results->any_accepted = stat(path, &about) == 0;
    results->stales = 0; /* of an earlier comparison */
    results->stale = NULL;
    for (size_t i = 0; i < results->count; i++) {
        pbd_claim_result *r = &results->item[i];
        r->accepted[0] = '\0';
        for (size_t k = 0; k < r->readings; k++) r->reading[k].accepted[0] = '\0';
    }
    if (!results->any_accepted) return pbd_ok();
    pbd_status status = pbd_csv_read(path, name, &csv);
    if (status.code == PBD_OK) status = take_accepted(&csv, name, results);
    results->differing = results->stales;
    for (size_t i = 0; i < results->count; i++) results->differing += pbd_claim_differs(&results->item[i]);
    return status;
}

static void write_verdict(FILE *out, const char *id, const char *reading, const char *verdict) {
    if (!*verdict) return;
    csv_fwrite(out, id, strlen(id));
    fputc(',', out);
    if (*reading) csv_fwrite(out, reading, strlen(reading));
    fputc(',', out);
    csv_fwrite(out, verdict, strlen(verdict));
    fputc('\n', out);
}

static bool write_verdicts(const char *path, const pbd_claim_results *results) {
    FILE *out = fopen(path, "w");
    if (!out) return false;
    fputs("claim,reading,verdict\n", out);
    for (size_t i = 0; i < results->count; i++) {
        const pbd_claim_result *r = &results->item[i];
        write_verdict(out, r->claim->id, "", r->left_out ? r->accepted : r->verdict);
        for (size_t k = 0; k < r->readings; k++)
            write_verdict(out, r->claim->id, r->reading[k].name, r->reading[k].verdict);
    }
    bool good = !ferror(out) && fflush(out) == 0 && fsync(fileno(out)) == 0;
    if (fclose(out) != 0) good = false;
    return good;
}

pbd_status pbd_claims_accept(const pbd_figure_file *file, const pbd_claim_results *results) {
    if (results->count == 0) return pbd_ok();
    for (size_t i = 0; i < results->count; i++)
        if (results->item[i].lacks_runs)
            return pbd_error(PBD_BAD_INPUT, "%s: nothing was accepted: claim '%s' was not run: %s", file->figure,
                             results->item[i].claim->id, results->item[i].note);
    pbd_arena a PBD_ARENA;
    const char *name = verdicts_name(&a, file), *path = pbd_new_format(&a, "%s/%s", pbd_root(), name);
    const char *fresh = pbd_new_format(&a, "%s.new", path);
    PBD_TRY(pbd_arena_check(&a));
    if (write_verdicts(fresh, results) && rename(fresh, path) == 0) return pbd_ok();
    const pbd_status status = pbd_error(PBD_BAD_INPUT, "cannot write %s: %s", name, strerror(errno));
    unlink(fresh);
    return status;
}

/* «first reading: 0.2, partly; ...; the note». */
static const char *note_with_readings(pbd_arena *a, const pbd_claim_result *r) {
    const char *text = "";
    for (size_t k = 0; k < r->readings && text; k++) {
        const pbd_claim_reading *reading = &r->reading[k];
        text = pbd_new_format(a, "%s%s%s: %.4g, %s", text, *text ? "; " : "", reading->name, reading->value,
                              reading->verdict);
    }
    if (!text || !*text) return r->note;
    return r->note ? pbd_new_format(a, "%s; %s", text, r->note) : text;
}

pbd_status pbd_claims_store(const pbd_figure_file *file, const pbd_claim_results *results, pbd_store *store) {
    for (size_t i = 0; i < results->count; i++) {
        const pbd_claim_result *r = &results->item[i];
        if (r->left_out) continue;
        pbd_arena a PBD_ARENA;
        const char **ids = pbd_new(&a, const char *, r->runs);
        PBD_TRY(pbd_arena_check(&a));
        for (size_t k = 0; k < r->runs; k++) ids[k] = r->run_id[k];
        const char *note = note_with_readings(&a, r);
        PBD_TRY(pbd_arena_check(&a));
        PBD_TRY(pbd_store_claim(store, file->figure, r->claim->id, r->verdict, r->value, r->claim->says, note, ids,
                                r->runs));
    }
    return pbd_ok();
}
