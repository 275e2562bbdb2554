/* A figure's picture: the one in results/plots where it is newer than what it shows and was drawn from this store, else
 * a new one. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "harness/figure/figure_data.h"
#include "harness/figure/figure_draw.h"
#include "harness/figure/figure_plan.h"
#include "harness/figure/figure_strips.h"
#include "harness/files/paths.h"
#include "harness/report/report.h"

/* ---- Is the existing one good enough? ---------------------------------------------------------------------------- */

static bool is_newer(const struct stat *picture, const struct stat *than) {
    return picture->st_mtim.tv_sec > than->st_mtim.tv_sec ||
           (picture->st_mtim.tv_sec == than->st_mtim.tv_sec && picture->st_mtim.tv_nsec >= than->st_mtim.tv_nsec);
}

static bool newer_than_file(const struct stat *picture, const char *figure, const char *name) {
    pbd_arena a PBD_ARENA;
    struct stat about;
    const char *path = pbd_new_format(&a, "%s/plots/%s/%s", pbd_root(), figure, name);
    return path && (stat(path, &about) != 0 || is_newer(picture, &about));
}

/* `reproduce` stores its verdicts before it draws. */
static bool newer_than_verdicts(const struct stat *picture, const report_figure *f) {
    for (size_t i = 0; i < f->claims.count; i++) {
        struct tm utc = {0};
        int milliseconds = 0;
        const char *rest = strptime(f->verdict[i].decided_at, "%Y-%m-%dT%H:%M:%S", &utc);
        if (!rest) continue; /* not judged yet */
        if (*rest == '.') milliseconds = atoi(rest + 1);
        const struct stat decided = {.st_mtim = {.tv_sec = timegm(&utc), .tv_nsec = milliseconds * 1000000L}};
        if (!is_newer(picture, &decided)) return false;
    }
    return true;
}

static bool is_good(report *r, const report_figure *f, const char *folder, const char *path) {
    struct stat picture;
    if (stat(path, &picture) != 0 || picture.st_size == 0) return false;
    if (!pbd_drawn_from(folder, f->file->figure, r->store)) return false;
    return newer_than_file(&picture, f->file->figure, "figure.yaml") &&
           newer_than_file(&picture, f->file->figure, "plot.gp") && newer_than_verdicts(&picture, f);
}

static bool all_good(report *r, const report_figure *f, const char *folder) {
    for (unsigned i = 0; i < f->file->plots_count; i++) {
        pbd_arena a PBD_ARENA;
        const char *path = pbd_new_format(&a, "%s/%s", folder, f->file->plots[i]);
        if (!path || !is_good(r, f, folder, path)) return false;
    }
    return true;
}

/* ---- Drawing a new one ------------------------------------------------------------------------------------------- */

/* The runs that the verdicts shown rest on, so that picture and verdicts agree; without verdicts those of this build.
 */
static pbd_status find_runs(report *r, const report_figure *f, pbd_plan *plan) {
    const char *invocation = NULL, *newest = "";
    for (size_t i = 0; i < f->claims.count; i++)
        if (strcmp(f->verdict[i].decided_at, newest) > 0) {
            newest = f->verdict[i].decided_at;
            invocation = f->verdict[i].invocation_id;
        }
    if (!invocation) return pbd_plan_look_up(plan, r->store);
    sqlite3_stmt *drawn PBD_CLEANUP(pbd_statement_release) = NULL;
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    const char *const key[] = {f->file->figure, invocation};
    PBD_TRY(pbd_store_exec(r->store,
                           "CREATE TEMP TABLE IF NOT EXISTS report_drawn (run_id TEXT PRIMARY KEY) WITHOUT ROWID;"
                           "DELETE FROM report_drawn",
                           "drawing for a report"));
    bool row;
    PBD_TRY(report_ask(r,
                       "INSERT OR IGNORE INTO report_drawn SELECT run_id FROM claim_run"
                       " WHERE figure = ?1 AND invocation_id = ?2",
                       key, 2, &drawn));
    PBD_TRY(report_next(r, drawn, &row));
    PBD_TRY(report_ask(r,
                       "SELECT run_id FROM run WHERE cell_id = ?1 AND seed = ?2 AND repeat = ?3"
                       " AND run_id IN (SELECT run_id FROM report_drawn)",
                       NULL, 0, &stmt));
    for (size_t i = 0; i < plan->count; i++) {
        pbd_plan_item *item = &plan->item[i];
        sqlite3_reset(stmt);
        sqlite3_bind_text(stmt, 1, item->cell_id, -1, SQLITE_STATIC);
        sqlite3_bind_int64(stmt, 2, (sqlite3_int64)item->seed);
        sqlite3_bind_int(stmt, 3, item->repeat);
        PBD_TRY(report_next(r, stmt, &row));
        if (row) snprintf(item->run_id, sizeof item->run_id, "%s", pbd_column_text(stmt, 0));
    }
    return pbd_ok();
}

static pbd_status draw_planned(report *r, const report_figure *f, pbd_plan *plan, const char *folder) {
    pbd_plan_tally tally;
    PBD_TRY(pbd_figure_plan(f->file, false, 0, plan));
    PBD_TRY(find_runs(r, f, plan));
    pbd_figure_leave_out(f->file, plan, 0);
    PBD_TRY(pbd_plan_count(plan, 0, f->file->runs_count, &tally));
    if (tally.missing == tally.runs) return pbd_error(PBD_BAD_INPUT, "None of its %zu runs is stored.", tally.runs);
    pbd_drawing drawing = {0};
    pbd_status status = pbd_figure_tables(f->file, plan, 0, r->store);
    if (status.code == PBD_OK) status = pbd_figure_draw(f->file, r->store, folder, false, &drawing);
    if (status.code == PBD_OK && drawing.warning) status = pbd_error(PBD_NOT_SUPPORTED, "%s", drawing.warning);
    pbd_figure_tables_drop(f->file, r->store);
    pbd_drawing_free(&drawing);
    return status;
}

static pbd_status draw(report *r, const report_figure *f, const char *folder) {
    if (!r->store) return pbd_error(PBD_BAD_INPUT, "Nothing is stored yet.");
    pbd_plan plan = {0};
    pbd_status status = draw_planned(r, f, &plan, folder);
    pbd_plan_free(&plan);
    return status;
}

/* ---- Into the page ----------------------------------------------------------------------------------------------- */

static void write_note(report *r, const report_figure *f, const char *why) {
    pbd_html *h = &r->html;
    char command[300];
    snprintf(command, sizeof command, "./pbdbench reproduce %.200s", f->file->figure);
    html_open(h, "div", "class", "no-picture", NULL);
    html_elementf(h, "p", NULL, "No picture here. %s", why);
    report_command(r, command);
    html_close(h, "div");
}

/* Only PNG: it is what gnuplot draws for figures, and what every browser shows. */
static pbd_status embed(report *r, const report_figure *f, const char *folder) {
    for (unsigned i = 0; i < f->file->plots_count; i++) {
        pbd_arena a PBD_ARENA;
        const char *path = pbd_new_format(&a, "%s/%s", folder, f->file->plots[i]);
        const char *alt = pbd_new_format(&a, "Chart: %s%s%s", f->file->title ? f->file->title : f->file->figure,
                                         f->file->caption ? ". " : "", f->file->caption ? f->file->caption : "");
        PBD_TRY(pbd_arena_check(&a));
        const pbd_status status = html_png(&r->html, path, alt);
        if (status.code != PBD_OK) write_note(r, f, status.text);
    }
    return pbd_ok();
}

/* Strips are drawn by `reproduce` alone, since their runs are made again; those that are there are shown. */
static pbd_status embed_strips(report *r, const report_figure *f, const char *folder) {
    for (unsigned i = 0; i < f->file->strips_count && r->store && r->pictures != REPORT_PICTURES_NONE; i++) {
        pbd_arena a PBD_ARENA;
        struct stat about;
        const char *path = pbd_figure_strip_path(f->file, &f->file->strips[i], folder, &a);
        const char *alt = pbd_new_format(&a, "Rendered states: %s", f->file->title);
        PBD_TRY(pbd_arena_check(&a));
        if (stat(path, &about) != 0 || !newer_than_file(&about, f->file->figure, "figure.yaml")) continue;
        if (!pbd_figure_strip_is_of(f->file, &f->file->strips[i], folder, r->store)) continue;
        const pbd_status status = html_png(&r->html, path, alt);
        if (status.code != PBD_OK) write_note(r, f, status.text);
    }
    return pbd_ok();
}

pbd_status report_picture(report *r, report_figure *f) {
    pbd_arena a PBD_ARENA;
    const char *folder = pbd_new_format(&a, "%s/results/plots", pbd_root());
    PBD_TRY(pbd_arena_check(&a));
    if (f->file->plots_count == 0) return embed_strips(r, f, folder);
    pbd_status status = pbd_ok();
    if (r->pictures == REPORT_PICTURES_NONE)
        status = pbd_error(PBD_BAD_INPUT, "This report was written with --figures none.");
    else if (!r->store || !all_good(r, f, folder))
        status = r->pictures == REPORT_PICTURES_ALL
                     ? draw(r, f, folder)
                     : pbd_error(PBD_BAD_INPUT, "No picture newer than its runs has been drawn.");
    if (status.code == PBD_OK) {
        PBD_TRY(embed(r, f, folder));
        return embed_strips(r, f, folder);
    }
    write_note(r, f, status.text);
    return status.code == PBD_FAILED ? status : pbd_ok();
}
