/* Error against time, case by case: the chart of `plot work-precision`, and its points as a table. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "harness/figure/figure_data.h"
#include "harness/figure/figure_draw.h"
#include "harness/files/paths.h"
#include "harness/report/report.h"
#include "harness/trend/work_precision.h"

enum { MOST_CASES = 12, MOST_POINTS = 60 };

/* ---- The picture ------------------------------------------------------------------------------------------------- */

/* Of all that is drawn. A picture that was drawn of the same is good: drawing takes longer than the rest of the page.
 */
static bool key_of(const pbd_work *work, char key[33]) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!out) return false;
    fprintf(out, "%s|%s|%s|%s|%s|%d", work->case_name, work->error, work->unit, work->cpu, work->varies, work->frames);
    for (size_t i = 0; i < work->points; i++) {
        const pbd_work_point *p = &work->point[i];
        fprintf(out, "|%s|%s|%a|%a|%a|%d|%s", p->series, p->label, p->error, p->time, p->memory, p->is_front,
                p->reason ? p->reason : "");
    }
    const bool fine = fclose(out) == 0;
    if (fine) {
        const XXH128_hash_t hash = XXH3_128bits(text, bytes);
        snprintf(key, 33, "%016" PRIx64 "%016" PRIx64, hash.high64, hash.low64);
    }
    free(text);
    return fine;
}

static bool has_key(const char *path, const char *key) {
    char found[33] = "";
    FILE *file = fopen(path, "r");
    if (!file) return false;
    const bool same = fgets(found, sizeof found, file) && strcmp(found, key) == 0;
    fclose(file);
    return same;
}

static pbd_status draw(const pbd_work *work, const char *folder, const char *picture, const char *key_path,
                       const char *key) {
    PBD_TRY(pbd_make_folders(folder));
    remove(key_path); /* a picture that was begun never passes for one that was finished */
    PBD_TRY(pbd_work_draw(work, picture));
    FILE *file = fopen(key_path, "w");
    if (file) {
        fputs(key, file);
        fclose(file);
    }
    return pbd_ok();
}

static pbd_status embed(report *r, const pbd_work *work, const char *folder) {
    char *picture = NULL, *key_path = NULL, *alt = NULL, key[33];
    const bool fine = asprintf(&picture, "%s/work-precision-%s.png", folder, work->case_name) >= 0 &&
                      asprintf(&key_path, "%s/work-precision-%s.txt", folder, work->case_name) >= 0 &&
                      asprintf(&alt, "Chart: %s of %s against time, the points of the table below", work->error,
                               work->case_name) >= 0 &&
                      key_of(work, key);
    pbd_status status = fine ? pbd_ok() : pbd_error(PBD_FAILED, "out of memory");
    const bool good = fine && has_key(key_path, key);
    if (fine && !good)
        status = r->pictures == REPORT_PICTURES_ALL ? draw(work, folder, picture, key_path, key)
                                                    : pbd_error(PBD_BAD_INPUT, "none has been drawn of these points");
    if (status.code == PBD_OK) status = html_png(&r->html, picture, alt);
    free(picture);
    free(key_path);
    free(alt);
    return status;
}

/* The absence of a picture is stated; the table replaces it. */
static pbd_status write_picture(report *r, const pbd_work *work) {
    if (r->pictures == REPORT_PICTURES_NONE || work->drawn == 0) return pbd_ok();
    char *plots = pbd_plots_folder(NULL, false), *folder = NULL;
    if (!plots || asprintf(&folder, "%s/report", plots) < 0) {
        free(plots);
        return pbd_error(PBD_FAILED, "out of memory");
    }
    html_open(&r->html, "figure", "class", "chart", NULL);
    const pbd_status status = embed(r, work, folder);
    if (status.code != PBD_OK) {
        html_open(&r->html, "p", "class", "muted", NULL);
        html_textf(&r->html, "No picture: %s", status.text);
        html_close(&r->html, "p");
    }
    html_close(&r->html, "figure");
    free(folder);
    free(plots);
    return status.code == PBD_FAILED ? status : pbd_ok();
}

/* ---- The points -------------------------------------------------------------------------------------------------- */

static pbd_status write_point(report *r, const pbd_work *work, const pbd_work_point *p) {
    pbd_html *h = &r->html;
    char error[60], time[32];
    const bool pure = strcmp(work->unit, "1") == 0;
    snprintf(error, sizeof error, "%.3g%s%.20s", p->error, pure ? "" : " ", pure ? "" : work->unit);
    report_spell_seconds(p->time, time);
    html_open(h, "tr", NULL);
    html_cell(h, p->label);
    html_cell_open(h, p->is_front ? 0 : 1, false);
    html_text(h, p->is_front ? "front" : "beaten");
    html_close(h, "td");
    html_cell_open(h, p->error, true);
    PBD_TRY(report_run_link(r, p->run_id, error));
    html_close(h, "td");
    html_cell_open(h, p->time, true);
    html_text(h, time);
    html_close(h, "td");
    html_cell_open(h, p->memory, true);
    if (isfinite(p->memory))
        html_textf(h, "%.3g %s", p->memory / (p->memory < 1e5 ? 1024.0 : 1024.0 * 1024),
                   p->memory < 1e5 ? "KiB" : "MiB");
    else
        html_text(h, "\u2014");
    html_close(h, "td");
    html_number(h, (double)p->ok, 9);
    html_close(h, "tr");
    return pbd_ok();
}

static pbd_status write_points(report *r, const pbd_work *work) {
    const html_column columns[] = {
        {"Cell", false},     {"Front", false},
        {work->error, true}, {work->frames ? "Time a frame of 1/60 s" : "Time a solve", true},
        {"Memory", true},    {"Runs", true}};
    char caption[300];
    snprintf(caption, sizeof caption, "%s on %s: points, the cheapest first%s", work->case_name, work->cpu,
             work->drawn > MOST_POINTS ? "; the front, and the first others" : "");
    size_t others = 0;
    pbd_status status = pbd_ok();
    html_table_open(&r->html, NULL, caption, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < work->drawn && status.code == PBD_OK; i++)
        if (work->point[i].is_front || others++ < MOST_POINTS) status = write_point(r, work, &work->point[i]);
    html_table_close(&r->html);
    return status;
}

static pbd_status write_case(report *r, const pbd_work *work) {
    pbd_html *h = &r->html;
    char command[200];
    html_element(h, "h3", work->case_name);
    if (*work->varies) {
        html_open(h, "p", NULL);
        html_textf(h, "The points also differ in the problem itself: %s.", work->varies);
        html_close(h, "p");
    }
    PBD_TRY(write_picture(r, work));
    PBD_TRY(write_points(r, work));
    if (work->points > work->drawn) {
        html_open(h, "p", "class", "muted", NULL);
        html_textf(h, "%zu more cells have no time, no error, or did not succeed.", work->points - work->drawn);
        html_close(h, "p");
    }
    snprintf(command, sizeof command, "./pbdbench plot work-precision --case %.100s", work->case_name);
    report_command(r, command);
    return pbd_ok();
}

/* ---- Case by case ------------------------------------------------------------------------------------------------ */

static pbd_status load_and_write(report *r, const char *case_name, size_t *cases) {
    const pbd_work_query query = {.case_name = case_name};
    pbd_work work = {0};
    pbd_status status = pbd_work_load(r->store, &query, &work);
    if (status.code == PBD_OK && work.drawn > 0) {
        status = write_case(r, &work);
        ++*cases;
    } else if (status.code == PBD_BAD_INPUT) {
        status = pbd_ok(); /* runs of this case measure no error */
    }
    pbd_work_free(&work);
    return status;
}

pbd_status report_work_precision(report *r) {
    html_element(&r->html, "p",
                 "Error against cost: each point is a cell, the median over the runs of the newest build that ran it "
                 "on one machine. No point as cheap has a smaller error than a point of the front.");
    sqlite3_stmt *stmt;
    bool row = true;
    size_t cases = 0;
    char(*name)[100] = calloc(MOST_CASES, sizeof *name);
    size_t names = 0;
    pbd_status status =
        name ? report_ask(r,
                          "SELECT name FROM \"case\" WHERE EXISTS (SELECT 1 FROM cell WHERE case_name = name"
                          " AND backend <> 'external') ORDER BY name",
                          NULL, 0, &stmt)
             : pbd_error(PBD_FAILED, "out of memory");
    while (status.code == PBD_OK && row && names < MOST_CASES) {
        status = report_next(r, stmt, &row);
        if (status.code == PBD_OK && row) snprintf(name[names++], sizeof *name, "%s", report_column(stmt, 0));
    }
    if (name) sqlite3_finalize(stmt);
    for (size_t i = 0; i < names && status.code == PBD_OK; i++) status = load_and_write(r, name[i], &cases);
    free(name);
    if (status.code == PBD_OK && cases == 0) {
        html_element(&r->html, "p", "No run with an error is stored yet. This makes some:");
        report_command(r, "./pbdbench run cube_shear -m pbd_distance -a iterations=1,4,16,64 --time 0.1");
    }
    return status;
}
