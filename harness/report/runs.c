/* The appendix: the runs behind each claim, and each run that the page refers to with the command that makes it again.
 */
#include <inttypes.h>
#include <string.h>

#include "harness/query/run_command.h"
#include "harness/report/report.h"

/* ---- The runs of a claim ----------------------------------------------------------------------------------------- */

/* The claims of a set, as links or as plain text. */
static void write_users(report *r, long set, bool links) {
    pbd_html *h = &r->html;
    const char *between = "";
    for (size_t i = 0; i < r->list.count; i++)
        for (size_t k = 0; k < r->figure[i].claims.count; k++) {
            const char *claim = r->figure[i].claims.item[k].claim->id;
            char id[200];
            if (r->figure[i].verdict[k].set != set) continue;
            html_text(h, between);
            between = ", ";
            snprintf(id, sizeof id, "claim-%s", claim);
            if (links)
                html_link(h, id, claim);
            else
                html_text(h, claim);
        }
}

static pbd_status write_set_run(report *r, sqlite3_stmt *stmt, const char *differs) {
    pbd_html *h = &r->html;
    html_open(h, "td", NULL);
    PBD_TRY(report_run_link(r, pbd_column_text(stmt, 0), NULL));
    html_close(h, "td");
    html_cell(h, pbd_column_text(stmt, 1));
    html_cell(h, pbd_column_text(stmt, 2));
    html_cell(h, differs);
    html_cell(h, pbd_column_text(stmt, 4));
    return pbd_ok();
}

static pbd_status write_set(report *r, size_t index) {
    static const html_column columns[] = {
        {"Run", false}, {"Case", false}, {"Method", false}, {"Settings that differ", false}, {"State", false}};
    pbd_html *h = &r->html;
    const report_set *set = &r->set[index];
    char id[40], caption[60];
    size_t rows = 0;
    snprintf(id, sizeof id, "runs-%zu", index + 1);
    snprintf(caption, sizeof caption, "Set %zu: %zu run%s", index + 1, set->count, set->count == 1 ? "" : "s");
    const report_table table = {
        .sql =
            "SELECT run_id, case_name, method, params_today(case_name, method, params), run.state"
            " FROM claim_run AS c JOIN run USING (run_id) JOIN cell USING (cell_id)"
            " WHERE (c.figure, c.claim, c.invocation_id) = (?1, ?2, ?3) ORDER BY run_id",
        .caption = caption,
        .column = columns,
        .columns = sizeof columns / sizeof *columns,
        .write = write_set_run,
        .varying = true};
    html_open(h, "details", NULL);
    html_open(h, "summary", NULL);
    html_textf(h, "%s ", caption);
    html_open(h, "span", "class", "muted", NULL);
    write_users(r, (long)index, false);
    html_close(h, "span");
    html_close(h, "summary");
    html_open(h, "div", "id", id, NULL);
    html_open(h, "p", NULL);
    html_text(h, "Behind ");
    write_users(r, (long)index, true);
    html_close(h, "p");
    PBD_TRY(report_write_table(r, &table, set->verdict, 3, &rows));
    html_close(h, "div");
    html_close(h, "details");
    return pbd_ok();
}

static pbd_status write_sets(report *r) {
    if (r->sets > 0) html_element(&r->html, "h3", "Runs behind the claims");
    for (size_t i = 0; i < r->sets; i++) PBD_TRY(write_set(r, i));
    return pbd_ok();
}

/* ---- One run ----------------------------------------------------------------------------------------------------- */

/* Queries for each run, prepared once. */
typedef struct details {
    sqlite3_stmt *metrics, *phases, *warnings;
} details;

static void free_details(details *d) {
    sqlite3_finalize(d->metrics);
    sqlite3_finalize(d->phases);
    sqlite3_finalize(d->warnings);
}

static const char heads_sql[] =
    "SELECT run_id, run.kind, case_name, method, params_today(case_name, method, params), backend, precision, "
    "cell.threads,"
    " run.repeat, run.warmups, run.seed, run.started_at, run.state, run.says, run.build_id, build.git_sha, build.dirty,"
    " run.env_id, env.cpu, invocation.argv"
    " FROM temp.report_run JOIN run USING (run_id) JOIN cell USING (cell_id) JOIN build USING (build_id)"
    " JOIN env USING (env_id) JOIN invocation USING (invocation_id) ORDER BY run_id";
enum {
    RUN_ID,
    KIND,
    CASE_NAME,
    METHOD,
    PARAMS,
    BACKEND,
    PRECISION,
    THREADS,
    REPEAT,
    WARMUPS,
    SEED,
    STARTED_AT,
    STATE,
    SAYS,
    BUILD_ID,
    GIT_SHA,
    DIRTY,
    ENV_ID,
    CPU,
    ARGV
};

static char *copy_of(pbd_arena *a, sqlite3_stmt *head, int column) {
    return pbd_new_text(a, pbd_column_text(head, column));
}

static pbd_status write_command(report *r, sqlite3_stmt *head) {
    pbd_arena a PBD_ARENA;
    const pbd_result run = {.kind = copy_of(&a, head, KIND),
                            .case_name = copy_of(&a, head, CASE_NAME),
                            .method_name = copy_of(&a, head, METHOD),
                            .params = copy_of(&a, head, PARAMS),
                            .backend = copy_of(&a, head, BACKEND),
                            .precision = copy_of(&a, head, PRECISION),
                            .threads = sqlite3_column_int(head, THREADS),
                            .repeat = sqlite3_column_int(head, REPEAT),
                            .warmups = sqlite3_column_int(head, WARMUPS),
                            .seed = (uint64_t)sqlite3_column_int64(head, SEED)};
    PBD_TRY(pbd_arena_check(&a));
    char *command PBD_CLEANUP(pbd_free_memory) = pbd_run_command(&run, pbd_column_text(head, ARGV));
    if (!command) return pbd_error(PBD_FAILED, "out of memory");
    const char *line = pbd_new_format(&a, "./%s", command);
    PBD_TRY(pbd_arena_check(&a));
    report_command(r, line);
    return pbd_ok();
}

static void write_where(report *r, sqlite3_stmt *head) {
    pbd_html *h = &r->html;
    char target[60];
    snprintf(target, sizeof target, "build-%.40s", pbd_column_text(head, BUILD_ID));
    html_open(h, "p", NULL);
    html_textf(h, "%s, %s, %d thread%s; repeat %d, %d warm-ups, seed %" PRIu64 "; %.19s; build ",
               pbd_column_text(head, BACKEND), pbd_column_text(head, PRECISION), sqlite3_column_int(head, THREADS),
               sqlite3_column_int(head, THREADS) == 1 ? "" : "s", sqlite3_column_int(head, REPEAT),
               sqlite3_column_int(head, WARMUPS), (uint64_t)sqlite3_column_int64(head, SEED),
               pbd_column_text(head, STARTED_AT));
    char sha[40];
    snprintf(sha, sizeof sha, "%.12s%s", pbd_column_text(head, GIT_SHA),
             sqlite3_column_int(head, DIRTY) ? " with changes" : "");
    html_link(h, target, sha);
    html_text(h, ", ");
    report_machine_link(r, pbd_column_text(head, ENV_ID), pbd_column_text(head, CPU));
    html_close(h, "p");
}

static const char *unit_text(const char *unit) { return strcmp(unit, "1") == 0 ? "" : unit; }

static void write_metric(pbd_html *h, sqlite3_stmt *row) {
    html_open(h, "span", NULL);
    html_textf(h, "%s ", pbd_column_text(row, 0));
    if (sqlite3_column_type(row, 3) != SQLITE_NULL)
        html_textf(h, "%" PRIu64, (uint64_t)sqlite3_column_int64(row, 3));
    else if (sqlite3_column_type(row, 2) != SQLITE_NULL)
        html_textf(h, "%.8g", sqlite3_column_double(row, 2));
    else
        html_text(h, "NaN");
    html_textf(h, "%s%s", *unit_text(pbd_column_text(row, 1)) ? " " : "", unit_text(pbd_column_text(row, 1)));
    html_close(h, "span");
}

static void write_phase(pbd_html *h, sqlite3_stmt *row) {
    char wall[32], cpu[32];
    report_spell_seconds(report_real(row, 1), wall);
    report_spell_seconds(report_real(row, 2), cpu);
    html_elementf(h, "span", NULL, "%s %s (CPU %s)", pbd_column_text(row, 0), wall, cpu);
}

static void write_warning(pbd_html *h, sqlite3_stmt *row) {
    html_elementf(h, "span", NULL, "%s (%" PRIu64 " times): %s", pbd_column_text(row, 0),
                  (uint64_t)sqlite3_column_int64(row, 2), pbd_column_text(row, 1));
}

/* A paragraph of spans: a quarter of the size of a table, and there are thousands. */
static pbd_status write_many(report *r, const char *title, const char *run_id, sqlite3_stmt *stmt,
                             void (*write)(pbd_html *, sqlite3_stmt *)) {
    pbd_html *h = &r->html;
    bool row;
    sqlite3_reset(stmt);
    sqlite3_bind_text(stmt, 1, run_id, -1, SQLITE_TRANSIENT);
    PBD_TRY(report_next(r, stmt, &row));
    if (!row) return pbd_ok();
    html_open(h, "p", "class", "many", NULL);
    html_element(h, "b", title);
    while (row) {
        html_text(h, " ");
        write(h, stmt);
        PBD_TRY(report_next(r, stmt, &row));
    }
    html_close(h, "p");
    return pbd_ok();
}

static pbd_status write_run(report *r, sqlite3_stmt *head, const details *d) {
    pbd_html *h = &r->html;
    const char *run_id = pbd_column_text(head, RUN_ID), *state = pbd_column_text(head, STATE);
    char id[60];
    snprintf(id, sizeof id, "run-%.40s", run_id);
    html_open(h, "details", "class", "run", NULL);
    html_open(h, "summary", NULL);
    html_elementf(h, "code", NULL, "%.8s", run_id);
    html_textf(h, " %s %s", pbd_column_text(head, CASE_NAME), pbd_column_text(head, METHOD));
    if (strcmp(state, "ok") != 0) html_textf(h, ": %s", state);
    html_close(h, "summary");
    html_open(h, "div", "id", id, NULL);
    html_open(h, "p", NULL);
    html_element(h, "code", run_id);
    html_textf(h, " %s%s%s", state, *pbd_column_text(head, SAYS) ? ": " : "", pbd_column_text(head, SAYS));
    html_close(h, "p");
    PBD_TRY(write_command(r, head));
    write_where(r, head);
    PBD_TRY(write_many(r, "Metrics", run_id, d->metrics, write_metric));
    PBD_TRY(write_many(r, "Times", run_id, d->phases, write_phase));
    PBD_TRY(write_many(r, "Warnings", run_id, d->warnings, write_warning));
    html_close(h, "div");
    html_close(h, "details");
    return pbd_ok();
}

static pbd_status prepare(report *r, details *d) {
    PBD_TRY(report_ask(r, "SELECT name, unit, value, count FROM metric WHERE run_id = ?1 ORDER BY position", NULL, 0,
                       &d->metrics));
    PBD_TRY(report_ask(r, "SELECT name, wall_s, cpu_s FROM phase WHERE run_id = ?1 ORDER BY position", NULL, 0,
                       &d->phases));
    return report_ask(r, "SELECT name, says, count FROM warning WHERE run_id = ?1 ORDER BY position", NULL, 0,
                      &d->warnings);
}

static pbd_status write_all_runs(report *r) {
    details d PBD_CLEANUP(free_details) = {0};
    sqlite3_stmt *heads PBD_CLEANUP(pbd_statement_release) = NULL;
    bool row = true;
    PBD_TRY(prepare(r, &d));
    PBD_TRY(report_ask(r, heads_sql, NULL, 0, &heads));
    while (row) {
        PBD_TRY(report_next(r, heads, &row));
        if (row) PBD_TRY(write_run(r, heads, &d));
    }
    return pbd_ok();
}

pbd_status report_runs(report *r) {
    pbd_html *h = &r->html;
    if (r->runs_noted == 0) {
        html_element(h, "p", "No run is referenced on this page yet.");
        return pbd_ok();
    }
    PBD_TRY(write_sets(r));
    html_element(h, "h3", "Each run");
    html_open(h, "p", NULL);
    html_textf(h,
               "The %zu runs that this page refers to, by id. A run's command gives every parameter. "
               "Other runs of the store are shown by ",
               r->runs_noted);
    html_element(h, "code", "./pbdbench list runs");
    html_text(h, " and ");
    html_element(h, "code", "./pbdbench show RUN");
    html_text(h, ".");
    if (r->runs_left_out > 0)
        html_textf(h, " The page is limited to these runs: %zu links have no target.", r->runs_left_out);
    html_close(h, "p");
    html_elementf(h, "p", "paper-only", "They are omitted in print.");
    return write_all_runs(r);
}
