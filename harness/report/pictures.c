/* A figure's picture: the one in results/plots if it is newer than what it shows and was drawn from this store, else a
 * new one. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "harness/figure/figure_chart.h"
#include "harness/figure/figure_data.h"
#include "harness/figure/figure_draw.h"
#include "harness/figure/figure_plan.h"
#include "harness/figure/figure_strips.h"
#include "harness/files/base64.h"
#include "harness/files/deflate.h"
#include "harness/files/paths.h"
#include "harness/picture/thumbnail.h"
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

/* Finds the runs on which the shown verdicts are based, so that picture and verdicts agree; without verdicts, those of
 * this build. */
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

/* Whether the store has any cell of a case and method of the figure. */
static pbd_status has_cells(report *r, const report_figure *f, bool *has) {
    *has = false;
    for (unsigned i = 0; i < f->file->runs_count && !*has; i++) {
        const char *const key[] = {f->file->runs[i].case_name, f->file->runs[i].method};
        sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
        PBD_TRY(report_ask(r, "SELECT 1 FROM cell WHERE case_name = ?1 AND method = ?2 LIMIT 1", key, 2, &stmt));
        PBD_TRY(report_next(r, stmt, has));
    }
    return pbd_ok();
}

/* Whether there may be runs to draw. Without verdicts a picture shows runs of this build. This is checked before
 * planning, since planning the runs of all figures takes seconds, and may fetch meshes. */
static pbd_status may_have_runs(report *r, const report_figure *f, bool *may) {
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    const char *source = pbd_this_build()->source;
    *may = false;
    for (size_t i = 0; i < f->claims.count; i++) *may |= *f->verdict[i].decided_at != '\0';
    if (*may) return pbd_ok();
    if (!r->asked_own_runs) {
        PBD_TRY(report_ask(r,
                           "SELECT 1 FROM run WHERE build_id IN (SELECT build_id FROM build WHERE source = ?1) LIMIT 1",
                           &source, 1, &stmt));
        PBD_TRY(report_next(r, stmt, &r->has_own_runs));
        r->asked_own_runs = true;
    }
    return r->has_own_runs ? has_cells(r, f, may) : pbd_ok();
}

static pbd_status draw_planned(report *r, const report_figure *f, pbd_plan *plan, const char *folder) {
    pbd_plan_tally tally;
    bool may;
    PBD_TRY(may_have_runs(r, f, &may));
    if (!may) return pbd_error(PBD_BAD_INPUT, "None of its runs is stored.");
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

enum { SMALL_WIDTH = 240, MOST_BYTES = 2000000, LARGEST_FILE = 1 << 20, LARGEST_CHART = 60000 };

static char *base64_of(const char *before, const unsigned char *bytes, size_t count) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return NULL;
    fputs(before, out);
    pbd_base64_write(out, bytes, count);
    if (fclose(out) == 0) return text;
    free(text);
    return NULL;
}

/* Makes a small copy of a picture, as a data URL. */
static pbd_status reduce(const char *path, char **out) {
    pbd_arena a PBD_ARENA;
    char small[] = "/tmp/pbdbench-picture-XXXXXX";
    const int handle = mkstemp(small);
    if (handle < 0) return pbd_error(PBD_FAILED, "no temporary file can be made in /tmp");
    FILE *file PBD_CLEANUP(pbd_close_file) = fdopen(handle, "rb");
    unsigned char *bytes = pbd_new(&a, unsigned char, LARGEST_FILE);
    pbd_status status = bytes && file ? pbd_thumbnail(path, small, SMALL_WIDTH) : pbd_no_memory();
    unlink(small);
    /* The thumbnail was written by its name, into the file that is open here. */
    const size_t count = status.code == PBD_OK ? fread(bytes, 1, LARGEST_FILE, file) : 0;
    *out = count > 0 && count < LARGEST_FILE ? base64_of("data:image/png;base64,", bytes, count) : NULL;
    return status.code == PBD_OK && !*out ? pbd_error(PBD_FAILED, "the picture %.200s is too large", path) : status;
}

static json_t *panels_json(const pbd_chart *chart) {
    json_t *panels = json_array();
    for (const pbd_chart_panel *p = chart->panel; p < chart->panel + chart->panels; p++) {
        json_t *pixel = json_array(), *range = json_array();
        for (int i = 0; i < 4; i++) json_array_append_new(pixel, pbd_finite_json(p->pixel[i]));
        for (int i = 0; i < 4; i++) json_array_append_new(range, pbd_finite_json(p->range[i]));
        json_array_append_new(
            panels, json_pack("{s:o, s:o, s:[b, b]}", "pixel", pixel, "range", range, "log", p->log[0], p->log[1]));
    }
    return panels;
}

/* Embeds the deflated SVG, which the page draws. If there is none, or it is too large, *has is false. */
static pbd_status embed_drawing(report *r, const report_figure *f, const char *folder, json_t *object, bool *has) {
    pbd_chart chart PBD_CLEANUP(pbd_chart_free) = {0};
    unsigned char *packed PBD_CLEANUP(pbd_free_memory) = NULL;
    char *text PBD_CLEANUP(pbd_free_memory) = NULL;
    size_t count = 0;
    *has = false;
    const pbd_status status = pbd_figure_chart(f->file, folder, r->pictures == REPORT_PICTURES_ALL, &chart);
    if (status.code == PBD_NOT_SUPPORTED || status.code == PBD_BAD_INPUT) return pbd_ok();
    PBD_TRY(status);
    PBD_TRY(pbd_deflate(chart.svg.text, chart.svg.bytes, &packed, &count));
    if (count > LARGEST_CHART || r->picture_bytes > MOST_BYTES) {
        report_put_text(object, "no_chart", "Without a chart: it would make the page too large.");
        return pbd_ok();
    }
    if (!(text = base64_of("", packed, count))) return pbd_no_memory();
    report_put_text(object, "chart", text);
    json_object_set_new(object, "panels", panels_json(&chart));
    r->picture_bytes += strlen(text);
    *has = true;
    return pbd_ok();
}

/* Adds a link to the full-size picture if it is in the page's folder. */
static pbd_status put_whole(report *r, const char *path, json_t *object) {
    pbd_arena a PBD_ARENA;
    const char *name = strrchr(path, '/') + 1;
    const char *beside = r->beside ? pbd_new_format(&a, "%s/plots/%s", r->beside, name) : NULL;
    if (beside && (r->publish || access(beside, R_OK) == 0))
        report_put_text(object, "href", pbd_new_format(&a, "plots/%s", name));
    return pbd_arena_check(&a);
}

/* Embeds a reduced picture, or the reason why not: it makes the page too large, or cannot be reduced. */
static pbd_status embed(report *r, const char *path, json_t *object) {
    if (r->picture_bytes > MOST_BYTES) {
        report_put_text(object, "none", "Left out, since the page would be larger than 3 MB.");
        return pbd_ok();
    }
    char *text PBD_CLEANUP(pbd_free_memory) = NULL;
    const pbd_status status = reduce(path, &text);
    if (status.code != PBD_OK) report_put_text(object, "none", status.text);
    if (status.code == PBD_OK) report_put_text(object, "src", text);
    if (text) r->picture_bytes += strlen(text);
    return pbd_ok();
}

static json_t *add_picture(json_t *pictures, const char *alt) {
    json_t *object = json_object();
    report_put_text(object, "alt", alt);
    json_array_append_new(pictures, object);
    return object;
}

/* Strips are drawn only by `reproduce`, since their runs must be repeated. Existing ones are shown. */
static pbd_status embed_strips(report *r, const report_figure *f, const char *folder, json_t *pictures) {
    for (unsigned i = 0; i < f->file->strips_count && r->store && r->pictures != REPORT_PICTURES_NONE; i++) {
        pbd_arena a PBD_ARENA;
        struct stat about;
        const char *path = pbd_figure_strip_path(f->file, &f->file->strips[i], folder, &a);
        const char *alt = pbd_new_format(&a, "Rendered states: %s", f->file->title);
        PBD_TRY(pbd_arena_check(&a));
        if (stat(path, &about) != 0 || !newer_than_file(&about, f->file->figure, "figure.yaml")) continue;
        if (!pbd_figure_strip_is_of(f->file, &f->file->strips[i], folder, r->store)) continue;
        json_t *object = add_picture(pictures, alt);
        PBD_TRY(put_whole(r, path, object));
        PBD_TRY(embed(r, path, object));
    }
    return pbd_ok();
}

static pbd_status embed_charts(report *r, const report_figure *f, const char *folder, json_t *pictures) {
    for (unsigned i = 0; i < f->file->plots_count; i++) {
        pbd_arena a PBD_ARENA;
        const char *path = pbd_new_format(&a, "%s/%s", folder, f->file->plots[i]);
        const char *alt = pbd_new_format(&a, "Chart: %s", f->file->title ? f->file->title : f->file->figure);
        PBD_TRY(pbd_arena_check(&a));
        json_t *object = add_picture(pictures, alt);
        bool drawing;
        PBD_TRY(put_whole(r, path, object));
        PBD_TRY(embed_drawing(r, f, folder, object, &drawing));
        if (!drawing) PBD_TRY(embed(r, path, object));
    }
    return pbd_ok();
}

/* Embeds the picture in the repository, of the runs on which the accepted verdicts are based, and marks it as such. */
static pbd_status embed_accepted(report *r, const report_figure *f, json_t *object, json_t *pictures) {
    pbd_arena a PBD_ARENA;
    const char *path = pbd_new_format(&a, "%s/plots/%s/thumbnail.png", pbd_root(), f->file->figure);
    const char *alt = pbd_new_format(&a, "Accepted picture: %s", f->file->title ? f->file->title : f->file->figure);
    PBD_TRY(pbd_arena_check(&a));
    if (r->pictures == REPORT_PICTURES_NONE || access(path, R_OK) != 0) return pbd_ok();
    report_put_true(object, "accepted_picture", true);
    return embed(r, path, add_picture(pictures, alt));
}

static pbd_status make_ready(report *r, const report_figure *f, const char *folder) {
    if (r->pictures == REPORT_PICTURES_NONE)
        return pbd_error(PBD_BAD_INPUT, "This report was written without pictures.");
    if (r->store && all_good(r, f, folder)) return pbd_ok();
    if (r->pictures == REPORT_PICTURES_ALL) return draw(r, f, folder);
    return pbd_error(PBD_BAD_INPUT, "No picture newer than its runs has been drawn.");
}

pbd_status report_picture(report *r, report_figure *f, json_t *object) {
    pbd_arena a PBD_ARENA;
    const char *folder = pbd_new_format(&a, "%s/results/plots", pbd_root());
    json_t *pictures = json_array();
    json_object_set_new(object, "pictures", pictures);
    PBD_TRY(pbd_arena_check(&a));
    const pbd_status status = f->file->plots_count > 0 ? make_ready(r, f, folder) : pbd_ok();
    if (status.code == PBD_FAILED) return status;
    if (status.code != PBD_OK) report_put_text(object, "no_picture", status.text);
    if (status.code == PBD_OK) PBD_TRY(embed_charts(r, f, folder, pictures));
    PBD_TRY(embed_strips(r, f, folder, pictures));
    return json_array_size(pictures) == 0 ? embed_accepted(r, f, object, pictures) : pbd_ok();
}
