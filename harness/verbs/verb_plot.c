/* plot: draws from stored runs only. A figure is redrawn with what the store has; a case gives one chart. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "harness/figure/figure_data.h"
#include "harness/figure/figure_draw.h"
#include "harness/figure/figure_plan.h"
#include "harness/figure/figures.h"
#include "harness/files/gnuplot.h"
#include "harness/query/run_table.h"
#include "harness/store/rows.h"
#include "harness/trend/work_precision.h"
#include "harness/verbs/cli.h"

typedef struct plot_options {
    const char *subject, *db, *out, *x, *y, *by, *method, *logs;
    pbd_texts sets;
    pbd_settings only;                    /* -s: only runs with these values */
    const char *case_name, *problem_name; /* this and the following are for work-precision */
    pbd_problems *problems;
    const pbd_problem *problem; /* of --problem; NULL: none */
    double within;
    bool memory, json;
} plot_options;

static const char work_precision[] = "work-precision";

static const pbd_option table[] = {
    PBD_OPT_TEXT(plot_options, x, "x", 'x', "NAME", PBD_WORDS_NONE, "what to draw along x"),
    PBD_OPT_TEXT(plot_options, y, "y", 'y', "NAME", PBD_WORDS_NONE, "what to draw along y"),
    PBD_OPT_TEXT(plot_options, by, "by", 0, "NAME", PBD_WORDS_NONE,
                 "one line for each value of this parameter (or of: method, precision,\nbackend, threads)"),
    PBD_OPT_TEXT(plot_options, method, "method", 'm', "METHOD", PBD_WORDS_METHODS, "only runs of this method"),
    PBD_OPT_MANY(plot_options, sets, "set", 's', "KEY=VALUE", PBD_WORDS_SETTINGS,
                 "only runs with this value; repeat to narrow further"),
    PBD_OPT_CHOICE(plot_options, logs, "log", 0, "AXES", "x|y|xy", "logarithmic axes: x, y or xy"),
    PBD_OPT_TEXT(plot_options, out, "out", 'o', "PATH", PBD_WORDS_FILES,
                 "a figure's folder; a chart's file, .png, .svg or .pdf (default\nresults/plots/CASE-Y-X.png)"),
    PBD_OPT_TEXT(plot_options, case_name, "case", 'c', "CASE", PBD_WORDS_CASES, "work-precision: of this case"),
    PBD_OPT_TEXT(plot_options, problem_name, "problem", 0, "PROBLEM", PBD_WORDS_PROBLEMS,
                 "work-precision: of this frozen problem (`pbdbench list problems`)"),
    PBD_OPT_FLAG(plot_options, memory, "memory", 0, "work-precision: error against memory, not time"),
    PBD_OPT_REAL(plot_options, within, "within", 0, "MS", 1e-9, 1e12,
                 "work-precision: prints the best error within so many ms a frame (a\n"
                 "solve, for static cases), and the command that makes it; draws only\n"
                 "with -o"),
    PBD_OPT_FLAG(plot_options, json, "json", 0,
                 "work-precision: one object {case, problem, error, unit, machine, cpu, frames,\n"
                 "against, plot, points, not_drawn, within}; draws only with -o"),
    PBD_OPTION_DB(plot_options),
    {0}};

static pbd_status take_words(const pbd_texts *words, plot_options *o) {
    PBD_TRY(pbd_settings_parse(o->sets.item, o->sets.count, &o->only));
    if (words->count == 0)
        return pbd_error(PBD_BAD_INPUT, "plot needs a figure or a case: `pbdbench list figures cases` shows them");
    if (words->count > 1)
        return pbd_error(PBD_BAD_INPUT, "plot takes one figure or case; '%.60s' is an extra argument", words->item[1]);
    o->subject = words->item[0];
    const bool work = strcmp(o->subject, work_precision) == 0;
    if (work && !o->case_name == !o->problem_name)
        return pbd_error(PBD_BAD_INPUT,
                         "plot work-precision needs --case CASE or --problem PROBLEM: `pbdbench list cases` "
                         "and `list problems` show them");
    if (o->problem_name && o->y)
        return pbd_error(PBD_BAD_INPUT, "a problem has its own error: remove -y, or use --case");
    if (work && (o->x || o->by || *o->logs))
        return pbd_error(PBD_BAD_INPUT, "-x, --by and --log are not valid with plot work-precision");
    if (!work && (o->case_name || o->problem_name || o->memory || o->within > 0 || o->json))
        return pbd_error(PBD_BAD_INPUT,
                         "--case, --problem, --memory, --within and --json are valid with plot work-precision only");
    return pbd_ok();
}

/* ---- A figure ---------------------------------------------------------------------------------------------------- */

static pbd_status draw_figure(const plot_options *o, pbd_store *store, const pbd_figure_file *file,
                              const pbd_plan *plan, pbd_drawing *drawing) {
    pbd_plan_tally tally;
    PBD_TRY(pbd_plan_count(plan, 0, file->runs_count, &tally));
    if (tally.missing == tally.runs)
        return pbd_error(PBD_BAD_INPUT, "the store has none of the %zu runs of %s: `pbdbench reproduce %s` makes them",
                         tally.runs, file->figure, file->figure);
    if (tally.missing)
        printf("%zu of %zu runs are missing: `pbdbench reproduce %s` makes them\n", tally.missing, tally.runs,
               file->figure);
    PBD_TRY(pbd_figure_tables(file, plan, 0, store));
    const char *folder PBD_CLEANUP(pbd_free_memory) = pbd_plots_folder(o->out, PBD_SCALE_USUAL);
    if (!folder) return pbd_no_memory();
    const pbd_status status = pbd_figure_draw(file, store, folder, PBD_SCALE_USUAL, drawing);
    if (status.code != PBD_BAD_INPUT || tally.missing == 0) return status;
    return pbd_error(PBD_BAD_INPUT,
                     "%zu of %zu runs are too few for the charts of %s: `pbdbench reproduce %s` makes all",
                     tally.runs - tally.missing, tally.runs, file->figure, file->figure);
}

static void release_figure(pbd_figure_file **file) { pbd_figure_file_free(*file); }

static pbd_status plot_figure(const plot_options *o, pbd_store *store) {
    pbd_figure_file *file PBD_CLEANUP(release_figure) = NULL;
    pbd_plan plan PBD_CLEANUP(pbd_plan_free) = {0};
    pbd_drawing drawing PBD_CLEANUP(pbd_drawing_free) = {0};
    PBD_TRY(pbd_figure_load(o->subject, &file));
    PBD_TRY(pbd_figure_plan(file, PBD_SCALE_USUAL, 0, &plan));
    PBD_TRY(pbd_plan_look_up(&plan, store));
    pbd_figure_leave_out(file, &plan, 0);
    const pbd_status status = draw_figure(o, store, file, &plan, &drawing);
    for (size_t i = 0; i < drawing.plots && status.code == PBD_OK; i++) puts(drawing.plot[i]);
    if ((status.code != PBD_OK || drawing.warning) && drawing.output && *drawing.output) fputs(drawing.output, stderr);
    PBD_TRY(status);
    /* without gnuplot `reproduce` succeeds, but not `plot` */
    return drawing.warning ? pbd_error(PBD_NOT_SUPPORTED, "%s", drawing.warning) : pbd_ok();
}

/* ---- A chart ----------------------------------------------------------------------------------------------------- */

/* Makes the table of the stored runs of a case, only those of --method if it is given. */
static pbd_status make_table(const plot_options *o, pbd_store *store) {
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    pbd_arena a PBD_ARENA;
    pbd_texts ids PBD_CLEANUP(pbd_texts_free) = {0};
    const char *const text[] = {o->subject, o->method};
    bool row;
    PBD_TRY(pbd_store_row(
        store, "SELECT run_id FROM run_view WHERE case_name = ?1 AND (?2 IS NULL OR method = ?2) ORDER BY run_id", text,
        2, "looking for runs", &row, &stmt));
    if (!row)
        return pbd_error(PBD_BAD_INPUT, "the store has no runs of %s%s%s: `pbdbench run %s -m METHOD` makes one",
                         o->subject, o->method ? " with " : "", o->method ? o->method : "", o->subject);
    while (row) {
        const char *id = pbd_new_text(&a, pbd_column_text(stmt, 0));
        PBD_TRY(pbd_arena_check(&a));
        PBD_TRY(pbd_texts_add(&ids, id));
        PBD_TRY(pbd_store_step(store, stmt, &row, "looking for runs"));
    }
    return pbd_run_table(store, "chart", ids.item, ids.count, false);
}

/* A name on the command line must be a column of the table; otherwise the nearest one is suggested. */
static pbd_status check_column(sqlite3 *sql, const char *name) {
    sqlite3_stmt *all PBD_CLEANUP(pbd_statement_release) = NULL;
    pbd_arena a PBD_ARENA;
    if (sqlite3_prepare_v2(sql, "SELECT * FROM chart", -1, &all, NULL) != SQLITE_OK)
        return pbd_error(PBD_FAILED, "%s", sqlite3_errmsg(sql));
    const int count = sqlite3_column_count(all);
    const char **names = pbd_new(&a, const char *, (size_t)count);
    PBD_TRY(pbd_arena_check(&a));
    for (int i = 0; i < count; i++) {
        names[i] = sqlite3_column_name(all, i);
        if (strcmp(names[i], name) == 0) return pbd_ok();
    }
    return pbd_unknown("parameter or metric", name, names, (size_t)count, "pbdbench show RUN");
}

/* The parameter of that name of the case or of any method; NULL when there is none. */
static const pbd_param *declared(const plot_options *o, const char *name) {
    const pbd_case *c;
    const pbd_param *lists[64];
    size_t count = 0;
    if (pbd_find_case(o->subject, &c).code == PBD_OK) lists[count++] = c->params;
    for (size_t i = 0; i < pbd_method_count() && count < 64; i++)
        lists[count++] = pbd_method_at(i)->by_precision[PBD_PRECISION_F64]->params;
    for (size_t i = 0; i < count; i++)
        for (const pbd_param *p = lists[i]; p && p->name; p++)
            if (strcmp(p->name, name) == 0) return p;
    return NULL;
}

/* Writes a label, such as «displacement_error» or «dt (s)». The unit is that of the stored metric, or else that of
 * the declared parameter. */
static void label_of(sqlite3 *sql, const plot_options *o, const char *name, char *out, size_t size) {
    char unit[64] = "";
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(sql, "SELECT unit FROM metric WHERE name = ?1 LIMIT 1", -1, &statement, NULL) == SQLITE_OK) {
        sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
        if (sqlite3_step(statement) == SQLITE_ROW)
            snprintf(unit, sizeof unit, "%s", (const char *)sqlite3_column_text(statement, 0));
    }
    sqlite3_finalize(statement);
    const pbd_param *param = *unit ? NULL : declared(o, name);
    if (param) snprintf(unit, sizeof unit, "%s", param->unit);
    size_t length = strlen(name);
    if (!*unit && length > 2 && strcmp(name + length - 2, "_s") == 0)
        snprintf(unit, sizeof unit, "s"); /* times of phases */
    if (!*unit || strcmp(unit, "1") == 0)
        snprintf(out, size, "%s", name);
    else
        snprintf(out, size, "%s (%s)", name, unit);
}

/* « WHERE "nu" = '0.3' AND ...», or "". Freed with sqlite3_free. */
static char *filter_text(const plot_options *o) {
    char *text = sqlite3_mprintf("");
    for (size_t i = 0; i < o->only.count; i++)
        text =
            sqlite3_mprintf("%z %s \"%w\" = %Q", text, i ? "AND" : "WHERE", o->only.item[i].key, o->only.item[i].value);
    return text;
}

/* A query with one column of y for each value of --by (a single one without). The caller frees it with sqlite3_free. */
static char *chart_query(const plot_options *o, sqlite3 *sql, int *columns) {
    char *where = filter_text(o), *query = sqlite3_mprintf("SELECT \"%w\"", o->x);
    *columns = 0;
    if (!o->by) {
        *columns = 1;
        return sqlite3_mprintf("%z, \"%w\" FROM chart%z ORDER BY 1", query, o->y, where);
    }
    char *values = sqlite3_mprintf("SELECT DISTINCT \"%w\" FROM chart%s ORDER BY 1", o->by, where);
    sqlite3_stmt *statement = NULL;
    if (values && sqlite3_prepare_v2(sql, values, -1, &statement, NULL) == SQLITE_OK)
        while (query && sqlite3_step(statement) == SQLITE_ROW) {
            const char *value = (const char *)sqlite3_column_text(statement, 0);
            if (!value) continue;
            query = sqlite3_mprintf("%z, CASE WHEN \"%w\" = %Q THEN \"%w\" END AS \"%w=%w\"", query, o->by, value, o->y,
                                    o->by, value);
            ++*columns;
        }
    sqlite3_finalize(statement);
    sqlite3_free(values);
    return sqlite3_mprintf("%z FROM chart%z ORDER BY 1", query, where);
}

static bool is_drawn(const plot_options *o, const char *name) {
    return strcmp(name, o->x) == 0 || strcmp(name, o->y) == 0 || (o->by && strcmp(name, o->by) == 0);
}

static bool has_column(sqlite3_stmt *all, const char *prefix, const char *name) {
    size_t length = strlen(prefix);
    for (int i = 0; i < sqlite3_column_count(all); i++) {
        const char *column = sqlite3_column_name(all, i);
        if (strncmp(column, prefix, length) == 0 && strcmp(column + length, name) == 0) return true;
    }
    return false;
}

/* Whether a column of the table was chosen for the runs, not measured. */
static bool is_chosen(const plot_options *o, sqlite3_stmt *all, const char *name) {
    static const char *const beside_params[] = {"method", "precision", "backend", "threads"};
    for (size_t k = 0; k < sizeof beside_params / sizeof *beside_params; k++)
        if (strcmp(name, beside_params[k]) == 0) return true;
    if (strncmp(name, "param_", 6) == 0) return true;
    return declared(o, name) && !has_column(all, "param_", name); /* with a column param_NAME, NAME is a metric */
}

/* Returns the number that a query selects, or 0 on failure. Frees the query. */
static int count_of(sqlite3 *sql, char *query) {
    sqlite3_stmt *count PBD_CLEANUP(pbd_statement_release) = NULL;
    const bool found =
        query && sqlite3_prepare_v2(sql, query, -1, &count, NULL) == SQLITE_OK && sqlite3_step(count) == SQLITE_ROW;
    sqlite3_free(query);
    return found ? sqlite3_column_int(count, 0) : 0;
}

static int distinct_values(sqlite3 *sql, const char *name, const char *where) {
    return count_of(sql, sqlite3_mprintf("SELECT count(DISTINCT \"%w\") FROM chart%s", name, where));
}

/* Names the other settings in which the runs of one line differ. Only a note, so errors are ignored. */
static void note_other_differences(const plot_options *o, sqlite3 *sql) {
    sqlite3_stmt *all = NULL;
    char *where = filter_text(o), names[300] = "";
    if (where && sqlite3_prepare_v2(sql, "SELECT * FROM chart", -1, &all, NULL) == SQLITE_OK)
        for (int i = 0; i < sqlite3_column_count(all); i++) {
            const char *name = sqlite3_column_name(all, i);
            if (is_drawn(o, name) || !is_chosen(o, all, name) || distinct_values(sql, name, where) < 2) continue;
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", *names ? ", " : "", name);
        }
    sqlite3_finalize(all);
    sqlite3_free(where);
    if (*names) fprintf(stderr, "pbdbench: note: these runs also differ in %s; separate them with -s or --by\n", names);
}

/* A chart needs at least one run with numbers for both x and y. Choices are text, and a run may lack a metric. */
static pbd_status check_points(const plot_options *o, sqlite3 *sql) {
    char *where = filter_text(o);
    const int points = where ? count_of(sql, sqlite3_mprintf("SELECT count(*) FROM (SELECT \"%w\" AS x, \"%w\" AS y"
                                                             " FROM chart%z) WHERE typeof(x) IN ('real', 'integer')"
                                                             " AND typeof(y) IN ('real', 'integer')",
                                                             o->x, o->y, where))
                             : 0;
    if (points > 0) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "no stored run of %s%s has a number for both %s and %s: nothing to draw",
                     o->subject, o->only.count ? " with these -s" : "", o->x, o->y);
}

static pbd_status draw_chart(const plot_options *o, sqlite3 *sql, const char *target, const char *data) {
    int columns;
    char terminal[PBD_GNUPLOT_TERMINAL];
    PBD_TRY(pbd_gnuplot_terminal(target, 800, terminal));
    char *query = chart_query(o, sql, &columns), xname[200], yname[200], count[16], heading[300];
    if (!query) return pbd_no_memory();
    pbd_status status = pbd_write_tsv(sql, query, "plot", data);
    sqlite3_free(query);
    PBD_TRY(status);
    label_of(sql, o, o->x, xname, sizeof xname);
    label_of(sql, o, o->y, yname, sizeof yname);
    snprintf(count, sizeof count, "%d", columns);
    snprintf(heading, sizeof heading, "%s%s%s", o->subject, o->method ? ", " : "", o->method ? o->method : "");
    char *output PBD_CLEANUP(pbd_free_memory) = NULL;
    const pbd_gnuplot_variable variables[] = {{"file", data},    {"columns", count},   {"xname", xname},
                                              {"yname", yname},  {"heading", heading}, {"terminal", terminal},
                                              {"logs", o->logs}, {"target", target}};
    status = pbd_gnuplot("chart.gp", variables, sizeof variables / sizeof *variables, &output);
    if (status.code != PBD_OK && output) fputs(output, stderr);
    return status;
}

/* The file that -o names, or `name` in the folder of plots, which is created. */
static pbd_status target_path(const plot_options *o, const char *name, pbd_arena *a, const char **target) {
    const char *folder PBD_CLEANUP(pbd_free_memory) = pbd_plots_folder(NULL, false);
    if (!folder) return pbd_no_memory();
    if (!o->out) PBD_TRY(pbd_make_folders(folder));
    *target = o->out ? o->out : pbd_new_format(a, "%s/%s", folder, name);
    return pbd_arena_check(a);
}

static pbd_status plot_case(const plot_options *o, pbd_store *store) {
    if (!o->x || !o->y) return pbd_error(PBD_BAD_INPUT, "plot %s needs -x NAME and -y NAME", o->subject);
    sqlite3 *sql = pbd_store_sql(store);
    pbd_arena a PBD_ARENA;
    const char *const columns[] = {o->x, o->y, o->by}, *target;
    PBD_TRY(make_table(o, store));
    for (int i = 0; i < 3; i++)
        if (columns[i]) PBD_TRY(check_column(sql, columns[i]));
    for (size_t i = 0; i < o->only.count; i++) PBD_TRY(check_column(sql, o->only.item[i].key));
    PBD_TRY(check_points(o, sql));
    const char *name = pbd_new_format(&a, "%s-%s-%s.png", o->subject, o->y, o->x);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(target_path(o, name, &a, &target));
    const char *data = pbd_new_format(&a, "%s.tsv", target);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(draw_chart(o, sql, target, data));
    puts(target);
    note_other_differences(o, sql);
    return pbd_ok();
}

/* ---- Work-precision ---------------------------------------------------------------------------------------------- */

/* With --within or --json a picture is drawn only with -o. */
static pbd_status tell_work(const plot_options *o, pbd_store *store, const pbd_work *work) {
    pbd_arena a PBD_ARENA;
    const char *target = NULL;
    if (o->out || !(o->json || o->within > 0)) {
        const char *name = pbd_new_format(&a, "%s-work-precision%s.png", work->title, o->memory ? "-memory" : "");
        PBD_TRY(pbd_arena_check(&a));
        PBD_TRY(target_path(o, name, &a, &target));
        PBD_TRY(pbd_work_draw(work, target));
    }
    if (o->json) return pbd_work_json(store, work, o->within, target, stdout);
    if (o->within > 0)
        PBD_TRY(pbd_work_answer(store, work, o->within, stdout));
    else
        pbd_work_print(work, stdout);
    if (target) puts(target);
    return pbd_ok();
}

static pbd_status plot_work(const plot_options *o, pbd_store *store) {
    const pbd_work_query query = {.case_name = o->case_name,
                                  .method = o->method,
                                  .setting = o->only.item,
                                  .settings = o->only.count,
                                  .error = o->y,
                                  .problem = o->problem,
                                  .memory = o->memory};
    pbd_work work PBD_CLEANUP(pbd_work_free) = {0};
    PBD_TRY(pbd_work_load(store, &query, &work));
    if (!o->problem) PBD_TRY(pbd_work_one_problem(&work, o->problems, stderr));
    return tell_work(o, store, &work);
}

/* ---- The verb ---------------------------------------------------------------------------------------------------- */

/* The word is neither a figure nor a case. */
static pbd_status unknown_subject(const pbd_figure_list *list, const char *word) {
    pbd_arena a PBD_ARENA;
    const char **names = pbd_new(&a, const char *, list->count + pbd_case_count());
    PBD_TRY(pbd_arena_check(&a));
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) names[count++] = list->item[i].id;
    for (size_t i = 0; i < pbd_case_count(); i++) names[count++] = pbd_case_at(i)->name;
    return pbd_unknown("figure or case", word, names, count, "pbdbench list figures cases");
}

static pbd_status is_figure(const char *word, bool *figure) {
    pbd_figure_list list PBD_CLEANUP(pbd_figure_list_free) = {0};
    const pbd_case *c;
    *figure = false;
    PBD_TRY(pbd_list_figures(&list));
    for (size_t i = 0; i < list.count; i++) {
        if (strcmp(list.item[i].id, word) != 0) continue;
        *figure = true;
        if (list.item[i].available) return pbd_ok();
        return pbd_error(PBD_BAD_INPUT, "%s cannot be drawn yet: %s", word, list.item[i].reason);
    }
    return pbd_find_case(word, &c).code == PBD_OK ? pbd_ok() : unknown_subject(&list, word);
}

/* Checks the names, which needs no store. */
static pbd_status check_work(plot_options *o) {
    const pbd_case *c;
    const pbd_method_entry *m;
    PBD_TRY(pbd_problems_load(&o->problems));
    if (o->problem_name) {
        PBD_TRY(pbd_find_problem(o->problems, o->problem_name, &o->problem));
        o->case_name = o->problem->case_name;
    }
    PBD_TRY(pbd_find_case(o->case_name, &c));
    return o->method ? pbd_find_method(o->method, &m) : pbd_ok();
}

static pbd_status act(void *options, pbd_call *call) {
    plot_options *o = options;
    pbd_store *store PBD_CLEANUP(pbd_store_release) = NULL;
    bool figure = false;
    PBD_TRY(take_words(call->words, o));
    const bool work = strcmp(o->subject, work_precision) == 0;
    PBD_TRY(work ? check_work(o) : is_figure(o->subject, &figure));
    PBD_TRY(pbd_open_store(o->db, PBD_STORE_READ, &store));
    return work ? plot_work(o, store) : figure ? plot_figure(o, store) : plot_case(o, store);
}

static int verb_main(int argc, char **argv) {
    plot_options o = {.logs = ""};
    const int code = pbd_verb_call(&pbd_verb_plot, argc, argv, &o, act);
    pbd_settings_free(&o.only);
    pbd_problems_free(o.problems);
    return code;
}

const pbd_verb pbd_verb_plot = {
    .name = "plot",
    .summary = "draw from stored runs only",
    .usage =
        "plot FIGURE [--out DIR] [--db FILE]\n"
        "plot CASE -x NAME -y NAME [--by NAME] [-m METHOD] [-s key=value]... [--log x|y|xy] [-o FILE]\n"
        "plot work-precision --problem PROBLEM [-m METHOD] [-s key=value]... [--memory]\n"
        "     [--within MS] [-o FILE]\n"
        "plot work-precision --case CASE [-y ERROR] [-m METHOD] [-s key=value]... [--memory]\n"
        "     [--within MS] [-o FILE]",
    .about =
        "Draws from stored runs and makes none. NAME is a parameter, a metric or a count (`pbdbench show RUN` lists\n"
        "them).\n"
        "work-precision: error against time for every method, solver, precision and backend, one point per cell (the\n"
        "median of its newest build's runs on this machine), with the Pareto front named. Time is the wall time of a\n"
        "frame of 1/60 s, or of a solve for static cases; `pbdbench run --time` measures it best. Errors of different\n"
        "problems do not compare: of a case whose runs differ in more than a method may choose, problems are listed.",
    .options = table,
    .words = PBD_WORDS_FIGURES,
    .main = verb_main,
};
