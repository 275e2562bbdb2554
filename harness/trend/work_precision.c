/* Gathering the points of a work-precision diagram. */
#include "harness/trend/work_precision.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/files/nearest.h"

static const pbd_status out_of_memory = {PBD_FAILED, "out of memory for a work-precision diagram"};
static const double FRAME = 1.0 / 60; /* s */

static pbd_status refuse(pbd_store *store) {
    return pbd_error(PBD_BAD_INPUT, "the store '%s' cannot be read: %s", pbd_store_path(store),
                     sqlite3_errmsg(pbd_store_sql(store)));
}

static pbd_status prepare(pbd_store *store, const char *text, sqlite3_stmt **out) {
    return sqlite3_prepare_v2(pbd_store_sql(store), text, -1, out, NULL) == SQLITE_OK ? pbd_ok() : refuse(store);
}

static const char *text_of(sqlite3_stmt *row, int column) {
    const char *text = (const char *)sqlite3_column_text(row, column);
    return text ? text : "";
}

static char *copy_of(sqlite3_stmt *row, int column) { return strdup(text_of(row, column)); }

/* ---- What is gathered of a cell ---------------------------------------------------------------------------------- */

/* Values of one number over the runs of a cell. */
typedef struct sample {
    double *value;
    size_t count;
} sample;

typedef struct error_sample {
    char *name, *unit;
    int position; /* in the run's report */
    bool of_case; /* measured by the case, not said by the method */
    sample values;
} error_sample;

typedef struct gathered {
    pbd_stored_cell cell;
    char build_id[33], git_sha[41], newest[33]; /* newest: run; "" as long as none was found */
    char *says;                                 /* of the newest that is not ok */
    bool closed;                                /* the walk has come to an older build */
    size_t ok, not_ok;
    error_sample *error;
    size_t errors;
    sample wall, phase, simulated, memory;
} gathered;

typedef struct cell_key {
    char id[33];
    size_t item;
} cell_key;

typedef struct gathering {
    gathered *item;
    size_t count, open;
    cell_key *key; /* by id; a cell has one for each of the names that its parameters had */
    size_t keys;
    char machine[33], *cpu;
} gathering;

static bool add_value(sample *s, double value) {
    if ((s->count & (s->count - 1)) == 0) { /* a power of two: full */
        double *grown = realloc(s->value, (s->count ? 2 * s->count : 1) * sizeof *grown);
        if (!grown) return false;
        s->value = grown;
    }
    s->value[s->count++] = value;
    return true;
}

static int ascending(const void *left, const void *right) {
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* NaN of none. */
static double median(sample *s) {
    if (s->count == 0) return (double)NAN;
    qsort(s->value, s->count, sizeof *s->value, ascending);
    return 0.5 * (s->value[(s->count - 1) / 2] + s->value[s->count / 2]);
}

static void free_gathering(gathering *all) {
    for (size_t i = 0; i < all->count; i++) {
        gathered *g = &all->item[i];
        pbd_stored_cell_free(&g->cell);
        for (size_t k = 0; k < g->errors; k++) {
            free(g->error[k].name);
            free(g->error[k].unit);
            free(g->error[k].values.value);
        }
        free(g->error);
        free(g->says);
        free(g->wall.value);
        free(g->phase.value);
        free(g->simulated.value);
        free(g->memory.value);
    }
    free(all->item);
    free(all->key);
    free(all->cpu);
}

/* ---- Cells ------------------------------------------------------------------------------------------------------- */

/* The same word, or the same number however it is spelt. */
static bool has_setting(const json_t *params, const pbd_setting *setting) {
    const json_t *value = json_object_get(params, setting->key);
    if (json_is_string(value)) return strcmp(json_string_value(value), setting->value) == 0;
    char *end;
    const double number = strtod(setting->value, &end);
    return json_is_number(value) && end != setting->value && *end == '\0' && json_number_value(value) == number;
}

static bool has_settings(const char *params, const pbd_work_query *q) {
    json_t *object = json_loads(params, 0, NULL);
    bool all = true;
    for (size_t i = 0; i < q->settings; i++) all = all && has_setting(object, &q->setting[i]);
    json_decref(object);
    return all;
}

/* Rows that differ in their ids alone stand side by side. */
static bool is_last_cell(const gathering *all, sqlite3_stmt *row) {
    if (all->count == 0) return false;
    const pbd_stored_cell *c = &all->item[all->count - 1].cell;
    const char *const had[] = {c->method, c->params, c->backend, c->precision};
    static const int column[] = {2, 3, 4, 5};
    for (size_t i = 0; i < 4; i++)
        if (strcmp(had[i], text_of(row, column[i])) != 0) return false;
    return c->threads == sqlite3_column_int(row, 6);
}

static pbd_status add_cell(gathering *all, sqlite3_stmt *row) {
    gathered *grown = realloc(all->item, (all->count + 1) * sizeof *grown);
    if (!grown) return out_of_memory;
    all->item = grown;
    gathered *g = &grown[all->count++];
    *g = (gathered){.cell = {.case_name = copy_of(row, 1),
                             .method = copy_of(row, 2),
                             .params = copy_of(row, 3),
                             .backend = copy_of(row, 4),
                             .precision = copy_of(row, 5),
                             .threads = sqlite3_column_int(row, 6)}};
    snprintf(g->cell.cell_id, sizeof g->cell.cell_id, "%s", text_of(row, 0));
    return g->cell.case_name && g->cell.method && g->cell.params && g->cell.backend && g->cell.precision
               ? pbd_ok()
               : out_of_memory;
}

static pbd_status add_key(gathering *all, sqlite3_stmt *row) {
    if (!is_last_cell(all, row)) PBD_TRY(add_cell(all, row));
    cell_key *grown = realloc(all->key, (all->keys + 1) * sizeof *grown);
    if (!grown) return out_of_memory;
    all->key = grown;
    cell_key *k = &grown[all->keys++];
    snprintf(k->id, sizeof k->id, "%s", text_of(row, 0));
    k->item = all->count - 1;
    return pbd_ok();
}

static int by_id(const void *left, const void *right) {
    return strcmp(((const cell_key *)left)->id, ((const cell_key *)right)->id);
}

static pbd_status find_cells(pbd_store *store, const pbd_work_query *q, gathering *all) {
    sqlite3_stmt *row;
    PBD_TRY(prepare(store,
                    "SELECT cell_id, case_name, method, params_today(case_name, method, params) AS today, backend,"
                    " precision, threads FROM cell WHERE case_name = ?1 AND (?2 IS NULL OR method = ?2)"
                    " ORDER BY method, today, backend, precision, threads, cell_id",
                    &row));
    sqlite3_bind_text(row, 1, q->case_name, -1, SQLITE_STATIC);
    if (q->method) sqlite3_bind_text(row, 2, q->method, -1, SQLITE_STATIC);
    pbd_status status = pbd_ok();
    int step = SQLITE_DONE;
    while (status.code == PBD_OK && (step = sqlite3_step(row)) == SQLITE_ROW)
        if (has_settings(text_of(row, 3), q)) status = add_key(all, row);
    if (status.code == PBD_OK && step != SQLITE_DONE) status = refuse(store);
    sqlite3_finalize(row);
    if (all->keys > 0) qsort(all->key, all->keys, sizeof *all->key, by_id);
    return status;
}

static gathered *find_cell(const gathering *all, const char *id) {
    cell_key wanted = {.item = 0};
    snprintf(wanted.id, sizeof wanted.id, "%s", id);
    const cell_key *found = all->keys ? bsearch(&wanted, all->key, all->keys, sizeof wanted, by_id) : NULL;
    return found ? &all->item[found->item] : NULL;
}

/* ---- One run's numbers ------------------------------------------------------------------------------------------- */

typedef struct statements {
    sqlite3_stmt *run, *metric, *phase;
} statements;

static pbd_status prepare_all(pbd_store *store, statements *s) {
    PBD_TRY(prepare(store,
                    "SELECT run.build_id, build.git_sha, env.fingerprint, env.cpu, run.state, run.says,"
                    " instr(build.flags, '-fsanitize') FROM run"
                    " JOIN build USING (build_id) JOIN env USING (env_id) WHERE run_id = ?1",
                    &s->run));
    PBD_TRY(prepare(store,
                    "SELECT name, unit, " PBD_SQL_SHOWN_ERROR(
                        "metric") ", position, coalesce(value, CAST(count AS REAL)) FROM metric"
                                  " WHERE run_id = ?1 AND coalesce(value, count) IS NOT NULL ORDER BY position",
                    &s->metric));
    return prepare(store, "SELECT wall_s FROM phase WHERE run_id = ?1 AND name = 'solve' AND wall_s > 0", &s->phase);
}

static void finalize_all(statements *s) {
    sqlite3_finalize(s->run);
    sqlite3_finalize(s->metric);
    sqlite3_finalize(s->phase);
}

static void ask_of(sqlite3_stmt *statement, const char *run_id) {
    sqlite3_reset(statement);
    sqlite3_bind_text(statement, 1, run_id, -1, SQLITE_TRANSIENT);
}

static bool add_error(gathered *g, sqlite3_stmt *row, bool of_case) {
    size_t k = 0;
    while (k < g->errors && strcmp(g->error[k].name, text_of(row, 0)) != 0) k++;
    if (k == g->errors) {
        error_sample *grown = realloc(g->error, (g->errors + 1) * sizeof *grown);
        if (!grown) return false;
        g->error = grown;
        grown[g->errors++] = (error_sample){copy_of(row, 0), copy_of(row, 1), sqlite3_column_int(row, 3), of_case, {0}};
        if (!grown[k].name || !grown[k].unit) return false;
    }
    return add_value(&g->error[k].values, sqlite3_column_double(row, 4));
}

/* Between what a method says of itself and what the case measures, each run reports what its kernels did. */
static const char method_ends[] = "kernel_launches";

static bool take_metrics(gathered *g, sqlite3_stmt *row) {
    bool of_case = false, fine = true;
    while (fine && sqlite3_step(row) == SQLITE_ROW) {
        const char *name = text_of(row, 0);
        const double value = sqlite3_column_double(row, 4);
        if (strcmp(name, method_ends) == 0) of_case = true;
        if (strcmp(name, "solve_wall") == 0)
            fine = add_value(&g->wall, value);
        else if (strcmp(name, "simulated_time") == 0)
            fine = add_value(&g->simulated, value);
        else if (strcmp(name, "device_bytes_peak") == 0)
            fine = add_value(&g->memory, value);
        else if (sqlite3_column_int(row, 2))
            fine = add_error(g, row, of_case);
    }
    return fine;
}

static bool take_numbers(gathered *g, const statements *s, const char *run_id) {
    ask_of(s->metric, run_id);
    if (!take_metrics(g, s->metric)) return false;
    ask_of(s->phase, run_id);
    return sqlite3_step(s->phase) != SQLITE_ROW || add_value(&g->phase, sqlite3_column_double(s->phase, 0));
}

/* A run, from the newest on: taken while its cell's newest build lasts. Times under sanitizers are meaningless. */
static pbd_status take_run(gathering *all, gathered *g, const statements *s, const char *run_id) {
    ask_of(s->run, run_id);
    if (sqlite3_step(s->run) != SQLITE_ROW) return pbd_ok(); /* gone meanwhile */
    if (sqlite3_column_int(s->run, 6) != 0) return pbd_ok();
    if (!*all->machine) {
        snprintf(all->machine, sizeof all->machine, "%s", text_of(s->run, 2));
        free(all->cpu);
        all->cpu = NULL;
    }
    if (strcmp(all->machine, text_of(s->run, 2)) != 0) return pbd_ok();
    if (!all->cpu && !(all->cpu = copy_of(s->run, 3))) return out_of_memory;
    if (!*g->newest) {
        snprintf(g->newest, sizeof g->newest, "%s", run_id);
        snprintf(g->build_id, sizeof g->build_id, "%s", text_of(s->run, 0));
        snprintf(g->git_sha, sizeof g->git_sha, "%s", text_of(s->run, 1));
    }
    if (strcmp(g->build_id, text_of(s->run, 0)) != 0) {
        g->closed = true;
        all->open--;
        return pbd_ok();
    }
    if (strcmp(text_of(s->run, 4), "ok") == 0) {
        g->ok++;
        return take_numbers(g, s, run_id) ? pbd_ok() : out_of_memory;
    }
    if (g->not_ok++ > 0) return pbd_ok();
    const int made = asprintf(&g->says, "%s: %s", text_of(s->run, 4), text_of(s->run, 5));
    if (made < 0) g->says = NULL;
    return g->says ? pbd_ok() : out_of_memory;
}

/* Through the index of starts, which says the cell too: of other cells' runs nothing more is read, and the walk ends
 * when each cell has come to an older build. */
static pbd_status walk(pbd_store *store, gathering *all) {
    sqlite3_stmt *row;
    statements s = {0};
    PBD_TRY(prepare(store,
                    "SELECT cell_id, run_id FROM run INDEXED BY run_by_start WHERE kind = 'run'"
                    " ORDER BY started_at DESC, run_id DESC",
                    &row));
    pbd_status status = prepare_all(store, &s);
    all->open = all->count;
    int step = SQLITE_DONE;
    while (status.code == PBD_OK && all->open > 0 && (step = sqlite3_step(row)) == SQLITE_ROW) {
        gathered *g = find_cell(all, text_of(row, 0));
        if (g && !g->closed) status = take_run(all, g, &s, text_of(row, 1));
    }
    if (status.code == PBD_OK && step != SQLITE_DONE && step != SQLITE_ROW) status = refuse(store);
    finalize_all(&s);
    sqlite3_finalize(row);
    return status;
}

static bool has_runs(const gathering *all) {
    for (size_t i = 0; i < all->count; i++)
        if (*all->item[i].newest) return true;
    return false;
}

/* This machine, or the one of the newest run. */
static pbd_status gather(pbd_store *store, const pbd_work_query *q, gathering *all, bool *here) {
    pbd_machine machine = {0};
    PBD_TRY(find_cells(store, q, all));
    PBD_TRY(pbd_this_machine(&machine));
    memcpy(all->machine, machine.fingerprint, sizeof all->machine);
    PBD_TRY(walk(store, all));
    *here = has_runs(all);
    if (*here) return pbd_ok();
    *all->machine = '\0';
    return walk(store, all);
}

/* ---- Which error ------------------------------------------------------------------------------------------------- */

static const error_sample *error_of(const gathered *g, const char *name) {
    for (size_t k = 0; k < g->errors; k++)
        if (strcmp(g->error[k].name, name) == 0) return &g->error[k];
    return NULL;
}

static size_t cells_with(const gathering *all, const char *name) {
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++) count += error_of(&all->item[i], name) != NULL;
    return count;
}

/* More cells have it; else the case measures it, and first. */
static bool is_better_choice(const gathering *all, const error_sample *a, const error_sample *b) {
    const size_t cells_a = cells_with(all, a->name), cells_b = cells_with(all, b->name);
    if (cells_a != cells_b) return cells_a > cells_b;
    if (a->of_case != b->of_case) return a->of_case;
    return a->position < b->position;
}

static pbd_status unknown_error(const gathering *all, const char *word) {
    enum { MOST = 200 };
    const char *names[MOST];
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++)
        for (size_t k = 0; k < all->item[i].errors && count < MOST; k++) {
            bool known = false;
            for (size_t n = 0; n < count; n++) known = known || strcmp(names[n], all->item[i].error[k].name) == 0;
            if (!known) names[count++] = all->item[i].error[k].name;
        }
    return pbd_unknown("error (a metric that is better lower)", word, names, count, "pbdbench show RUN");
}

static pbd_status choose_error(const gathering *all, const pbd_work_query *q, const error_sample **out) {
    *out = NULL;
    for (size_t i = 0; i < all->count; i++)
        for (size_t k = 0; k < all->item[i].errors; k++) {
            const error_sample *e = &all->item[i].error[k];
            if (q->error ? strcmp(e->name, q->error) == 0 : !*out || is_better_choice(all, e, *out)) *out = e;
        }
    if (*out) return pbd_ok();
    if (q->error) return unknown_error(all, q->error);
    return pbd_error(PBD_BAD_INPUT,
                     "no successful stored run of %s has an error (a metric that is better lower): "
                     "`pbdbench list runs --case %s` shows them",
                     q->case_name, q->case_name);
}

/* ---- Points ------------------------------------------------------------------------------------------------------ */

double pbd_work_cost(const pbd_work *w, const pbd_work_point *p) {
    return w->memory ? p->memory / w->unit_bytes : 1e3 * p->time;
}

static bool differ_in_threads(const gathering *all) {
    for (size_t i = 1; i < all->count; i++)
        if (all->item[i].cell.threads != all->item[0].cell.threads) return true;
    return false;
}

static char *series_of(const pbd_stored_cell *cell, bool threads) {
    json_t *params = json_loads(cell->params, 0, NULL);
    const char *solver = json_string_value(json_object_get(params, "solver"));
    char *text = NULL, count[24] = "";
    if (threads) snprintf(count, sizeof count, " %d thread%s", cell->threads, cell->threads == 1 ? "" : "s");
    if (asprintf(&text, "%s%s%s %s %s%s", cell->method, solver ? " " : "", solver ? solver : "", cell->precision,
                 cell->backend, count) < 0)
        text = NULL;
    json_decref(params);
    return text;
}

/* Series and what else differs, without the solver once more. */
static char *label_of(const char *series, const char *differs) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return NULL;
    fputs(series, out);
    for (const char *word = differs; *word;) {
        const size_t length = strcspn(word, " ");
        if (strncmp(word, "solver=", 7) != 0) fprintf(out, " %.*s", (int)length, word);
        word += length + (word[length] == ' ');
    }
    if (fclose(out) == 0) return text;
    free(text);
    return NULL;
}

/* Why a point cannot stand on two logarithmic axes; NULL: it can, "" without memory. */
static char *reason_of(const pbd_work *w, const pbd_work_point *p, const gathered *g) {
    char *text = NULL;
    const double cost = pbd_work_cost(w, p);
    if (p->ok == 0) return strdup(g->says ? g->says : "");
    int made;
    if (isnan(p->error))
        made = asprintf(&text, "reports no %s", w->error);
    else if (!isfinite(p->error) || p->error <= 0)
        made = asprintf(&text, "%s is %g, which a logarithmic axis cannot show", w->error, p->error);
    else if (isnan(cost) && w->frames && !w->memory)
        made = asprintf(&text, "has no simulated_time: it was run by an older build");
    else if (!isfinite(cost) || cost <= 0)
        made = asprintf(&text, "%s", w->memory ? "allocated no memory through the backend" : "has no time of a solve");
    else
        return NULL;
    return made < 0 ? strdup("") : text;
}

/* Takes the cell over. */
static pbd_status make_point(pbd_work *w, gathered *g, const char *differs, bool threads) {
    pbd_work_point *p = &w->point[w->points++];
    *p = (pbd_work_point){.cell = g->cell, .ok = g->ok, .not_ok = g->not_ok};
    g->cell = (pbd_stored_cell){0};
    memcpy(p->run_id, g->newest, sizeof p->run_id);
    memcpy(p->git_sha, g->git_sha, sizeof p->git_sha);
    const error_sample *error = error_of(g, w->error);
    sample none = {0}, values = error ? error->values : none;
    p->error = median(&values);
    p->memory = median(&g->memory);
    p->time = median(g->wall.count > 0 ? &g->wall : &g->phase);
    if (w->frames) p->time *= FRAME / median(&g->simulated);
    p->series = series_of(&p->cell, threads);
    p->label = p->series ? label_of(p->series, differs) : NULL;
    p->reason = reason_of(w, p, g);
    const bool good = p->series && p->label && (!p->reason || *p->reason);
    return good ? pbd_ok() : out_of_memory;
}

/* qsort has no context: what it sorts by stands in the points. */
typedef struct ordered {
    double cost;
    pbd_work_point point;
} ordered;

static int by_cost(const void *left, const void *right) {
    const ordered *a = left, *b = right;
    const bool apart_a = a->point.reason != NULL, apart_b = b->point.reason != NULL;
    if (apart_a != apart_b) return apart_a - apart_b;
    if (!apart_a && a->cost != b->cost) return a->cost < b->cost ? -1 : 1;
    if (!apart_a && a->point.error != b->point.error) return a->point.error < b->point.error ? -1 : 1;
    return strcmp(a->point.label, b->point.label);
}

/* The drawn ones by cost; of those, the front: each more exact than all that are cheaper. */
static pbd_status sort_points(pbd_work *w) {
    ordered *all = calloc(w->points + 1, sizeof *all);
    if (!all) return out_of_memory;
    for (size_t i = 0; i < w->points; i++) all[i] = (ordered){pbd_work_cost(w, &w->point[i]), w->point[i]};
    qsort(all, w->points, sizeof *all, by_cost);
    double best = INFINITY;
    for (size_t i = 0; i < w->points; i++) {
        pbd_work_point *p = &w->point[i];
        *p = all[i].point;
        if (p->reason) continue;
        w->drawn++;
        p->is_front = p->error < best;
        best = fmin(best, p->error);
    }
    free(all);
    return pbd_ok();
}

/* Before there are points: the largest median decides. */
static double choose_unit(const gathering *all) {
    double largest = 0;
    for (size_t i = 0; i < all->count; i++) {
        sample values = all->item[i].memory;
        largest = fmax(largest, median(&values));
    }
    return largest < 1 << 20 ? 1 << 10 : 1 << 20;
}

static bool is_frames(const gathering *all) {
    for (size_t i = 0; i < all->count; i++)
        if (all->item[i].simulated.count > 0) return true;
    return false;
}

/* Cells that were never run here are left out. */
static pbd_status make_points(gathering *all, char *const *differs, pbd_work *w) {
    const bool threads = differ_in_threads(all);
    for (size_t i = 0; i < all->count; i++)
        if (*all->item[i].newest) PBD_TRY(make_point(w, &all->item[i], differs[i], threads));
    return sort_points(w);
}

static pbd_status label_points(gathering *all, pbd_work *w) {
    pbd_stored_cell *cells = calloc(all->count + 1, sizeof *cells);
    char **differs = calloc(all->count + 1, sizeof *differs);
    w->point = calloc(all->count + 1, sizeof *w->point);
    pbd_status status = cells && differs && w->point ? pbd_ok() : out_of_memory;
    for (size_t i = 0; i < all->count && status.code == PBD_OK; i++) cells[i] = all->item[i].cell;
    if (status.code == PBD_OK) status = pbd_cell_labels(cells, all->count, differs);
    if (status.code == PBD_OK) status = make_points(all, differs, w);
    for (size_t i = 0; i < all->count && differs; i++) free(differs[i]);
    free(differs);
    free(cells);
    return status;
}

/* ---- Other problems ---------------------------------------------------------------------------------------------- */

static bool varies(const pbd_work *w, const char *key) {
    bool first = true, differ = false;
    json_t *kept = NULL;
    for (size_t i = 0; i < w->points && !differ; i++) {
        json_t *params = json_loads(w->point[i].cell.params, 0, NULL);
        if (first)
            kept = json_incref(json_object_get(params, key));
        else
            differ = !(kept ? json_equal(kept, json_object_get(params, key)) : !json_object_get(params, key));
        first = false;
        json_decref(params);
    }
    json_decref(kept);
    return differ;
}

/* Errors of different problems do not compare: which parameters of the case differ among the points. */
static pbd_status note_problems(pbd_work *w) {
    const pbd_case *c = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&w->varies, &size);
    if (!out) return out_of_memory;
    if (pbd_find_case(w->case_name, &c).code != PBD_OK) c = NULL; /* of another program's version */
    for (const pbd_param *p = c ? c->params : NULL; p && p->name; p++)
        if (varies(w, p->name)) fprintf(out, "%s%s", ftell(out) > 0 ? ", " : "", p->name);
    return fclose(out) == 0 ? pbd_ok() : out_of_memory;
}

static pbd_status nothing_stored(const pbd_work_query *q) {
    return pbd_error(PBD_BAD_INPUT, "the store has no runs of %s%s%s%s: `pbdbench run %s -m METHOD` makes one",
                     q->case_name, q->method ? " with " : "", q->method ? q->method : "",
                     q->settings ? " and these -s" : "", q->case_name);
}

pbd_status pbd_work_load(pbd_store *store, const pbd_work_query *q, pbd_work *out) {
    gathering all = {0};
    const error_sample *error = NULL;
    *out = (pbd_work){.memory = q->memory, .case_name = strdup(q->case_name)};
    pbd_status status = out->case_name ? gather(store, q, &all, &out->here) : out_of_memory;
    if (status.code == PBD_OK && !has_runs(&all)) status = nothing_stored(q);
    if (status.code == PBD_OK) status = choose_error(&all, q, &error);
    if (status.code == PBD_OK) {
        memcpy(out->machine, all.machine, sizeof out->machine);
        out->cpu = all.cpu;
        all.cpu = NULL;
        out->frames = is_frames(&all);
        out->unit_bytes = choose_unit(&all);
        out->error = strdup(error->name);
        out->unit = strdup(error->unit);
        if (!out->error || !out->unit) status = out_of_memory;
    }
    if (status.code == PBD_OK) status = label_points(&all, out);
    if (status.code == PBD_OK) status = note_problems(out);
    free_gathering(&all);
    return status;
}

void pbd_work_free(pbd_work *w) {
    for (size_t i = 0; i < w->points; i++) {
        pbd_stored_cell_free(&w->point[i].cell);
        free(w->point[i].series);
        free(w->point[i].label);
        free(w->point[i].reason);
    }
    free(w->point);
    free(w->case_name);
    free(w->error);
    free(w->unit);
    free(w->cpu);
    free(w->varies);
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
