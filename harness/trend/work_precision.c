/* Collects the points of a work-precision diagram. */
#include "harness/trend/work_precision.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/files/nearest.h"
#include "harness/query/sql_functions.h"
#include "harness/store/rows.h"

/* ---- Which runs -------------------------------------------------------------------------------------------------- */

typedef struct gathering {
    pbd_store *store;
    pbd_work *work;    /* point[i] belongs to cell i until unused ones are removed */
    json_t *index;     /* index of a cell by its id; a cell has one id for each former name of its parameters */
    char (*build)[33]; /* of each cell: its newest build; "" before its first run is read */
    bool *closed;      /* of each cell: a run of an older build was reached */
    size_t open;       /* cells that are not closed */
    json_t *taken;     /* [[cell, run_id], ...]: runs that ended ok */
} gathering;

static void index_cells(gathering *g, const pbd_trend_cell *cell, size_t cells) {
    for (size_t i = 0; i < cells; i++) {
        json_auto_t *ids = json_loads(cell[i].cell_ids, 0, NULL);
        const json_t *id;
        size_t k;
        json_array_foreach(ids, k, id)
            json_object_set_new(g->index, json_string_value(id), json_integer((json_int_t)i));
        g->work->point[i].cell = cell[i].cell;
    }
}

/* Times under sanitizers are meaningless. */
static const char facts[] =
    "SELECT build_id, git_sha, fingerprint, cpu, state, says FROM run JOIN build USING (build_id)"
    " JOIN env USING (env_id) WHERE run_id = ?1 AND instr(build.flags, '-fsanitize') = 0"
    " AND ?2 IN ('', fingerprint)";

/* Visits a run, newest first: runs of a cell are taken until one is of another build. */
static pbd_status take_run(gathering *g, size_t i, sqlite3_stmt *row, const char *run_id) {
    pbd_work *w = g->work;
    pbd_work_point *p = &w->point[i];
    bool any;
    sqlite3_reset(row);
    sqlite3_bind_text(row, 1, run_id, -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(row, 2, w->machine, -1, SQLITE_TRANSIENT);
    PBD_TRY(pbd_store_step(g->store, row, &any, "reading a run"));
    if (!any) return pbd_ok();
    if (!w->cpu) {
        w->cpu = pbd_column_copy(&w->owned, row, 3);
        snprintf(w->machine, sizeof w->machine, "%s", pbd_column_text(row, 2));
    }
    if (!*p->run_id) {
        snprintf(p->run_id, sizeof p->run_id, "%s", run_id);
        snprintf(p->git_sha, sizeof p->git_sha, "%s", pbd_column_text(row, 1));
        snprintf(g->build[i], sizeof g->build[i], "%s", pbd_column_text(row, 0));
    }
    if (strcmp(g->build[i], pbd_column_text(row, 0)) != 0) {
        g->closed[i] = true;
        g->open--;
    } else if (strcmp(pbd_column_text(row, 4), "ok") == 0) {
        p->ok++;
        json_array_append_new(g->taken, json_pack("[I s]", (json_int_t)i, run_id));
    } else if (p->not_ok++ == 0) {
        p->reason = pbd_new_format(&w->owned, "%s: %s", pbd_column_text(row, 4), pbd_column_text(row, 5));
    }
    return pbd_arena_check(&w->owned);
}

/* The index of start times includes the cell, so that runs of other cells are skipped without reading them. The walk
 * ends when an older build was reached for every cell. */
static pbd_status walk(gathering *g) {
    sqlite3_stmt *run PBD_CLEANUP(pbd_statement_release) = NULL;
    sqlite3_stmt *fact PBD_CLEANUP(pbd_statement_release) = NULL;
    bool any = true;
    PBD_TRY(pbd_store_prepare(g->store,
                              "SELECT cell_id, run_id FROM run INDEXED BY run_by_start WHERE kind = 'run'"
                              " ORDER BY started_at DESC, run_id DESC",
                              NULL, 0, &run));
    PBD_TRY(pbd_store_prepare(g->store, facts, NULL, 0, &fact));
    while (g->open > 0) {
        PBD_TRY(pbd_store_step(g->store, run, &any, "reading its runs"));
        if (!any) break;
        const json_t *index = json_object_get(g->index, pbd_column_text(run, 0));
        const size_t i = (size_t)json_integer_value(index);
        if (index && !g->closed[i]) PBD_TRY(take_run(g, i, fact, pbd_column_text(run, 1)));
    }
    return pbd_ok();
}

/* This machine, or the one of the newest run. */
static pbd_status find_runs(gathering *g) {
    pbd_machine machine = {0};
    PBD_TRY(pbd_this_machine(&machine));
    memcpy(g->work->machine, machine.fingerprint, sizeof g->work->machine);
    PBD_TRY(walk(g));
    g->work->here = g->work->cpu != NULL;
    *g->work->machine = g->work->here ? *g->work->machine : '\0';
    return g->work->here ? pbd_ok() : walk(g);
}

/* ---- Their numbers ----------------------------------------------------------------------------------------------- */

/* For each cell with a successful run: medians over the runs taken (?1) and the absolute error. The error is the metric
 * ?2 (its distance from ?3, if given), or else the error that most cells have, and among those the first that the case
 * measures. A run records its kernel counts (kernel_launches) after the errors of the method and before those of the
 * case. */
static const char medians[] =
    "WITH taken AS MATERIALIZED (SELECT value ->> 0 AS cell, value ->> 1 AS run_id FROM json_each(?1)),"
    " number AS (SELECT cell, m.name, m.unit, abs(coalesce(m.value, m.count)"
    "   - CASE WHEN m.name = ?2 THEN coalesce(CAST(?3 AS REAL), 0.0) ELSE 0.0 END) AS value,"
    "   m.name NOT IN ('solve_wall', 'simulated_time', 'device_bytes_peak') AS is_error,"
    "   m.position - 1000000 * EXISTS (SELECT 1 FROM metric AS k WHERE k.run_id = m.run_id"
    "    AND k.name = 'kernel_launches' AND k.position < m.position) AS rank"
    "  FROM taken JOIN metric AS m USING (run_id) WHERE coalesce(m.value, m.count) IS NOT NULL"
    "   AND (m.name IN ('solve_wall', 'simulated_time', 'device_bytes_peak') OR m.name = ?2 AND ?3 IS NOT NULL"
    "   OR " PBD_SQL_SHOWN_ERROR("m") ")"
    "  UNION ALL SELECT cell, 'phase', 's', wall_s, false, 0 FROM taken JOIN phase USING (run_id)"
    "   WHERE name = 'solve' AND wall_s > 0),"
    " middle AS MATERIALIZED (SELECT cell, name, unit, is_error, min(rank) AS rank, median(value) AS value FROM number"
    "  GROUP BY cell, name, is_error),"
    " chosen AS (SELECT name, unit FROM middle WHERE is_error AND (?2 IS NULL OR name = ?2)"
    "  GROUP BY name ORDER BY count(*) DESC, min(rank), name LIMIT 1)"
    " SELECT cell, coalesce(max(m.value) FILTER (WHERE m.name = 'solve_wall'),"
    "   max(m.value) FILTER (WHERE m.name = 'phase' AND NOT is_error)),"
    "  max(m.value) FILTER (WHERE m.name = 'simulated_time'), max(m.value) FILTER (WHERE m.name = 'device_bytes_peak'),"
    "  max(m.value) FILTER (WHERE m.name = chosen.name AND is_error), chosen.name, chosen.unit"
    " FROM middle AS m LEFT JOIN chosen GROUP BY cell";

static double real_of(sqlite3_stmt *row, int column) {
    return sqlite3_column_type(row, column) == SQLITE_NULL ? (double)NAN : sqlite3_column_double(row, column);
}

static pbd_status unknown_error(pbd_store *store, const char *runs, const char *word) {
    pbd_arena a PBD_ARENA;
    sqlite3_stmt *row PBD_CLEANUP(pbd_statement_release) = NULL;
    const char **name = NULL;
    bool any;
    PBD_TRY(pbd_store_prepare(store,
                              "SELECT DISTINCT name FROM json_each(?1) AS taken JOIN metric AS m"
                              " ON run_id = taken.value ->> 1 WHERE " PBD_SQL_SHOWN_ERROR("m"),
                              &runs, 1, &row));
    for (size_t names = 0;; names++) {
        PBD_TRY(pbd_store_step(store, row, &any, "reading names of errors"));
        if (!any) return pbd_unknown("error (a metric that is better lower)", word, name, names, "pbdbench show RUN");
        if (!pbd_arena_more(&a, &name, names, sizeof *name)) return pbd_arena_check(&a);
        name[names] = pbd_column_copy(&a, row, 0);
        PBD_TRY(pbd_arena_check(&a));
    }
}

static pbd_status read_numbers(gathering *g, const pbd_work_query *q) {
    static const double frame = 1.0 / 60; /* s */
    pbd_arena a PBD_ARENA;
    pbd_work *w = g->work;
    char *runs PBD_CLEANUP(pbd_free_memory) = json_dumps(g->taken, JSON_COMPACT);
    sqlite3_stmt *row PBD_CLEANUP(pbd_statement_release) = NULL;
    double *simulated = pbd_new(&a, double, w->points), most_memory = 0;
    const char *error = q->problem ? q->problem->metric : q->error;
    const char *target = q->problem ? pbd_new_format(&a, "%.17g", q->problem->target) : NULL;
    bool any;
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < w->points; i++)
        w->point[i].time = w->point[i].memory = w->point[i].error = simulated[i] = (double)NAN;
    PBD_TRY(pbd_sql_functions(pbd_store_sql(g->store)));
    PBD_TRY(pbd_store_prepare(g->store, medians, (const char *const[]){runs, error, target}, 3, &row));
    for (;;) {
        PBD_TRY(pbd_store_step(g->store, row, &any, "reading its metrics"));
        if (!any) break;
        pbd_work_point *p = &w->point[sqlite3_column_int64(row, 0)];
        p->time = real_of(row, 1);
        simulated[p - w->point] = real_of(row, 2);
        p->memory = real_of(row, 3);
        p->error = real_of(row, 4);
        w->frames = w->frames || !isnan(real_of(row, 2));
        most_memory = fmax(most_memory, p->memory);
        if (w->error || sqlite3_column_type(row, 5) == SQLITE_NULL) continue;
        w->error = pbd_column_copy(&w->owned, row, 5);
        w->unit = pbd_column_copy(&w->owned, row, 6);
    }
    w->unit_bytes = most_memory < 1 << 20 ? 1 << 10 : 1 << 20;
    for (size_t i = 0; i < w->points && w->frames; i++) w->point[i].time *= frame / simulated[i];
    PBD_TRY(pbd_arena_check(&w->owned));
    if (w->error && q->problem) {
        char name[120];
        pbd_problem_error_name(q->problem, name, sizeof name);
        w->error = pbd_new_text(&w->owned, name);
        return pbd_arena_check(&w->owned);
    }
    if (w->error) return pbd_ok();
    if (error) return unknown_error(g->store, runs, error);
    return pbd_error(PBD_BAD_INPUT,
                     "no successful stored run of %s has an error (a metric that is better lower): "
                     "`pbdbench list runs --case %s` shows them",
                     q->case_name, q->case_name);
}

/* ---- Points ------------------------------------------------------------------------------------------------------ */

double pbd_work_cost(const pbd_work *w, const pbd_work_point *p) {
    return w->memory ? p->memory / w->unit_bytes : 1e3 * p->time;
}

static char *series_of(pbd_arena *owner, const pbd_stored_cell *cell, bool threads) {
    json_auto_t *params = json_loads(cell->params, 0, NULL);
    const char *solver = json_string_value(json_object_get(params, "solver"));
    char count[24] = "";
    if (threads) snprintf(count, sizeof count, " %d thread%s", cell->threads, cell->threads == 1 ? "" : "s");
    return pbd_new_format(owner, "%s%s%s %s %s%s", cell->method, solver ? " " : "", solver ? solver : "",
                          cell->precision, cell->backend, count);
}

/* The series and the other parameters that differ, without the solver, which the series names. */
static char *label_of(pbd_arena *owner, const char *series, const char *differs) {
    char *label = pbd_new_format(owner, "%s %s", series, differs);
    char *solver = label ? strstr(label + strlen(series), " solver=") : NULL;
    if (!label) return NULL;
    if (solver) {
        const size_t length = 1 + strcspn(solver + 1, " ");
        memmove(solver, solver + length, strlen(solver + length) + 1);
    }
    if (label[strlen(label) - 1] == ' ') label[strlen(label) - 1] = '\0';
    return label;
}

/* Why a point cannot be drawn on two logarithmic axes; NULL if it can. */
static char *reason_of(pbd_work *w, const pbd_work_point *p) {
    const double cost = pbd_work_cost(w, p);
    if (p->ok == 0) return p->reason;
    if (isnan(p->error)) return pbd_new_format(&w->owned, "reports no %s", w->error);
    if (!isfinite(p->error) || p->error <= 0)
        return pbd_new_format(&w->owned, "%s is %g, which a logarithmic axis cannot show", w->error, p->error);
    if (isnan(cost) && w->frames && !w->memory)
        return pbd_new_format(&w->owned, "has no simulated_time: it was run by an older build");
    if (!isfinite(cost) || cost <= 0)
        return pbd_new_format(&w->owned,
                              w->memory ? "allocated no memory through the backend" : "has no time of a solve");
    return NULL;
}

static int by_cost(const void *left, const void *right, void *work) {
    const pbd_work_point *a = left, *b = right;
    const double cost_a = pbd_work_cost(work, a), cost_b = pbd_work_cost(work, b);
    if (!a->reason != !b->reason) return a->reason ? 1 : -1;
    if (!a->reason && cost_a != cost_b) return cost_a < cost_b ? -1 : 1;
    if (!a->reason && a->error != b->error) return a->error < b->error ? -1 : 1;
    return strcmp(a->label, b->label);
}

/* Makes the points of the cells that were run: drawn ones first, sorted by cost, with the front marked (each point of
 * it is more accurate than all cheaper ones). */
static pbd_status make_points(pbd_work *w, const pbd_trend_cell *cell) {
    bool threads = false;
    double best = INFINITY;
    size_t kept = 0;
    for (size_t i = 1; i < w->points; i++) threads = threads || cell[i].cell.threads != cell[0].cell.threads;
    for (size_t i = 0; i < w->points; i++) {
        pbd_work_point p = w->point[i];
        if (!*p.run_id) continue;
        p.series = series_of(&w->owned, &p.cell, threads);
        p.label = label_of(&w->owned, p.series, cell[i].label);
        p.reason = reason_of(w, &p);
        w->point[kept++] = p;
    }
    w->points = kept;
    PBD_TRY(pbd_arena_check(&w->owned));
    qsort_r(w->point, w->points, sizeof *w->point, by_cost, w);
    for (size_t i = 0; i < w->points && !w->point[i].reason; i++) {
        w->drawn++;
        w->point[i].is_front = w->point[i].error < best;
        best = fmin(best, w->point[i].error);
    }
    return pbd_ok();
}

/* ---- Other problems ---------------------------------------------------------------------------------------------- */

static bool varies(const json_t *params, const char *key) {
    const json_t *first = json_object_get(json_array_get(params, 0), key), *one;
    size_t i;
    json_array_foreach(params, i, one) {
        const json_t *value = json_object_get(one, key);
        if ((first || value) && !json_equal(first, value)) return true;
    }
    return false;
}

typedef struct several {
    const pbd_work *work;
    const pbd_problems *problems;
    const pbd_case *c;
    json_t *params; /* of each point */
} several;

/* Whether the points i and k belong to one problem. */
static bool are_alike(const several *s, size_t i, size_t k) {
    const json_t *a = json_array_get(s->params, i), *b = json_array_get(s->params, k);
    for (const pbd_param *p = s->c->params; p && p->name; p++) {
        const json_t *mine = json_object_get(a, p->name), *its = json_object_get(b, p->name);
        if (pbd_is_choice(s->problems, p->name) || (!mine && !its) || json_equal(mine, its)) continue;
        return false;
    }
    return true;
}

/* «nu=0.3 load=small»: the parameters of a problem that differ among all points. */
static void write_values(const several *s, size_t i, FILE *list) {
    const json_t *mine = json_array_get(s->params, i);
    for (const pbd_param *p = s->c->params; p && p->name; p++) {
        if (pbd_is_choice(s->problems, p->name) || !varies(s->params, p->name)) continue;
        const json_t *value = json_object_get(mine, p->name);
        char *text PBD_CLEANUP(pbd_free_memory) =
            value ? json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(9)) : NULL;
        fprintf(list, " -s %s=%.*s", p->name, text && *text == '"' ? (int)strlen(text) - 2 : 40,
                !text ? "?" : text + (*text == '"'));
    }
}

enum { MOST_LISTED = 12 };

static size_t list_problems(const several *s, FILE *list) {
    size_t problems = 0;
    for (size_t i = 0; i < s->work->points; i++) {
        const char *name;
        size_t cells = 0;
        bool first = true;
        for (size_t k = 0; k < i && first; k++) first = !are_alike(s, k, i);
        if (!first || ++problems > MOST_LISTED) continue;
        for (size_t k = i; k < s->work->points; k++) cells += are_alike(s, i, k);
        const pbd_problem *frozen = pbd_problem_of(s->problems, s->c->name, json_array_get(s->params, i));
        name = frozen ? frozen->id : NULL;
        fprintf(list, "  %zu cell%s ", cells, cells == 1 ? "" : "s");
        if (name) fprintf(list, " --problem %s", name);
        if (!name) write_values(s, i, list);
        fputc('\n', list);
    }
    if (problems > MOST_LISTED) fprintf(list, "  and %zu more problems\n", problems - MOST_LISTED);
    return problems;
}

pbd_status pbd_work_one_problem(const pbd_work *w, const pbd_problems *problems, FILE *list) {
    json_auto_t *params = json_array();
    several s = {.work = w, .problems = problems, .params = params};
    bool one = true;
    if (pbd_find_case(w->case_name, &s.c).code != PBD_OK)
        return pbd_ok(); /* stored by another version of the program */
    for (size_t i = 0; i < w->points; i++) json_array_append_new(params, json_loads(w->point[i].cell.params, 0, NULL));
    for (size_t i = 1; i < w->points && one; i++) one = are_alike(&s, 0, i);
    if (one) return pbd_ok();
    char keys[200] = "";
    for (const pbd_param *p = s.c->params; p && p->name; p++) {
        const size_t used = strlen(keys);
        if (!pbd_is_choice(problems, p->name) && varies(params, p->name))
            snprintf(keys + used, sizeof keys - used, "%s%s", used ? ", " : "", p->name);
    }
    const size_t count = list_problems(&s, list);
    return pbd_error(
        PBD_BAD_INPUT,
        "the store has %zu problems of %s, whose errors cannot be compared (they differ in %s): name one of "
        "those above, by --problem or -s",
        count, w->case_name, keys);
}

/* Errors of different problems cannot be compared: lists the parameters of the case that differ among the points. */
static pbd_status note_problems(pbd_work *w) {
    const pbd_case *c = NULL;
    json_auto_t *params = json_array();
    for (size_t i = 0; i < w->points; i++) json_array_append_new(params, json_loads(w->point[i].cell.params, 0, NULL));
    if (pbd_find_case(w->case_name, &c).code != PBD_OK) c = NULL; /* stored by another version of the program */
    w->varies = "";
    for (const pbd_param *p = c ? c->params : NULL; p && p->name; p++) {
        if (!varies(params, p->name)) continue;
        w->varies = pbd_new_format(&w->owned, "%s%s%s", w->varies, *w->varies ? ", " : "", p->name);
        PBD_TRY(pbd_arena_check(&w->owned));
    }
    return pbd_ok();
}

/* Cells of a problem have the parameters that it fixes, and those of -s. */
static pbd_status add_fixed(const pbd_work_query *q, pbd_settings *fixed, pbd_arena *a,
                            pbd_trend_selection *selection) {
    if (!q->problem) return pbd_ok();
    PBD_TRY(pbd_settings_parse((const char *const *)q->problem->set, q->problem->set_count, fixed));
    pbd_setting *all = pbd_new(a, pbd_setting, fixed->count + q->settings);
    PBD_TRY(pbd_arena_check(a));
    for (size_t i = 0; i < fixed->count + q->settings; i++)
        all[i] = i < fixed->count ? fixed->item[i] : q->setting[i - fixed->count];
    selection->setting = all;
    selection->settings = fixed->count + q->settings;
    return pbd_ok();
}

pbd_status pbd_work_load(pbd_store *store, const pbd_work_query *q, pbd_work *out) {
    pbd_arena a PBD_ARENA;
    json_auto_t *index = json_object(), *taken = json_array();
    pbd_settings fixed PBD_CLEANUP(pbd_settings_free) = {0}; /* by the problem */
    pbd_trend_selection selection = {q->case_name, q->method, q->setting, q->settings, 0};
    pbd_trend_cell *cell;
    size_t cells;
    *out = (pbd_work){.memory = q->memory};
    out->case_name = pbd_new_text(&out->owned, q->case_name);
    out->title = q->problem ? q->problem->id : out->case_name;
    PBD_TRY(add_fixed(q, &fixed, &a, &selection));
    PBD_TRY(pbd_trend_cells_load(store, &selection, &out->owned, &cell, &cells));
    out->point = pbd_new(&out->owned, pbd_work_point, cells);
    PBD_TRY(pbd_arena_check(&out->owned));
    out->points = cells;
    gathering g = {.store = store, .work = out, .index = index, .taken = taken, .open = cells};
    g.build = pbd_arena_take(&a, cells, sizeof *g.build);
    g.closed = pbd_new(&a, bool, cells);
    PBD_TRY(pbd_arena_check(&a));
    index_cells(&g, cell, cells);
    PBD_TRY(find_runs(&g));
    if (!out->cpu)
        return pbd_error(PBD_BAD_INPUT, "the store has no runs of %s%s%s%s: `pbdbench %s %s%s` makes %s", out->title,
                         q->method ? " with " : "", q->method ? q->method : "", q->settings ? " and these -s" : "",
                         q->problem ? "rank --problem" : "run", out->title, q->problem ? "" : " -m METHOD",
                         q->problem ? "them" : "one");
    PBD_TRY(read_numbers(&g, q));
    PBD_TRY(make_points(out, cell));
    return note_problems(out);
}

void pbd_work_free(pbd_work *w) {
    pbd_arena_free(&w->owned);
    *w = (pbd_work){0};
}

const pbd_work_point *pbd_work_within(const pbd_work *w, double ms) {
    const pbd_work_point *best = NULL;
    for (size_t i = 0; i < w->points; i++) {
        const pbd_work_point *p = &w->point[i];
        if (isfinite(p->error) && 1e3 * p->time <= ms && (!best || p->error < best->error)) best = p;
    }
    return best;
}
