/* Error against time, case by case: the chart of `plot work-precision`, and its points as a table. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <xxhash.h>

#include "harness/files/paths.h"
#include "harness/report/report.h"
#include "harness/trend/work_precision.h"

enum { MOST_CASES = 12, MOST_POINTS = 60 };

/* ---- The picture ------------------------------------------------------------------------------------------------- */

/* A hash of what is drawn. A picture with the same one is used again: drawing takes longer than the rest of the page.
 */
static pbd_status key_of(report *r, const pbd_work *work, char key[33]) {
    char *text PBD_CLEANUP(pbd_free_memory) = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!out) return pbd_error(PBD_FAILED, "out of memory");
    const pbd_status status = pbd_work_json(r->store, work, 0, NULL, out);
    if (fclose(out) != 0) return pbd_error(PBD_FAILED, "out of memory");
    const XXH128_hash_t hash = XXH3_128bits(text, bytes);
    snprintf(key, 33, "%016" PRIx64 "%016" PRIx64, hash.high64, hash.low64);
    return status;
}

static bool has_key(const char *path, const char *key) {
    char found[33] = "";
    FILE *file PBD_CLEANUP(pbd_close_file) = fopen(path, "r");
    return file && fgets(found, sizeof found, file) && strcmp(found, key) == 0;
}

static pbd_status draw(const pbd_work *work, const char *folder, const char *picture, const char *key_path,
                       const char *key) {
    PBD_TRY(pbd_make_folders(folder));
    remove(key_path); /* an unfinished picture never passes for a finished one */
    PBD_TRY(pbd_work_draw(work, picture));
    FILE *file PBD_CLEANUP(pbd_close_file) = fopen(key_path, "w");
    if (file) fputs(key, file);
    return pbd_ok();
}

static pbd_status embed(report *r, const pbd_work *work) {
    pbd_arena a PBD_ARENA;
    const char *folder = pbd_new_format(&a, "%s/results/plots/report", pbd_root());
    const char *picture = pbd_new_format(&a, "%s/work-precision-%s.png", folder, work->case_name);
    const char *key_path = pbd_new_format(&a, "%s/work-precision-%s.txt", folder, work->case_name);
    const char *alt =
        pbd_new_format(&a, "Chart: %s of %s against time, the points of the table below", work->error, work->case_name);
    char key[33];
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(key_of(r, work, key));
    if (!has_key(key_path, key)) {
        if (r->pictures != REPORT_PICTURES_ALL) return pbd_error(PBD_BAD_INPUT, "none has been drawn of these points");
        PBD_TRY(draw(work, folder, picture, key_path, key));
    }
    return html_png(&r->html, picture, alt);
}

/* The absence of a picture is stated; the table replaces it. */
static pbd_status write_picture(report *r, const pbd_work *work) {
    if (r->pictures == REPORT_PICTURES_NONE || work->drawn == 0) return pbd_ok();
    html_open(&r->html, "figure", "class", "chart", NULL);
    const pbd_status status = embed(r, work);
    if (status.code != PBD_OK) html_elementf(&r->html, "p", "muted", "No picture: %s", status.text);
    html_close(&r->html, "figure");
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
    html_cellf(h, p->is_front ? 0 : 1, false, p->is_front ? "front" : "dominated");
    html_cell_open(h, p->error, true);
    PBD_TRY(report_run_link(r, p->run_id, error));
    html_close(h, "td");
    html_cellf(h, p->time, true, "%s", time);
    if (isfinite(p->memory))
        html_cellf(h, p->memory, true, "%.3g %s", p->memory / (p->memory < 1e5 ? 1024.0 : 1024.0 * 1024),
                   p->memory < 1e5 ? "KiB" : "MiB");
    else
        html_cellf(h, p->memory, true, "\u2014");
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
    html_table_open(&r->html, NULL, caption, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < work->drawn; i++)
        if (work->point[i].is_front || others++ < MOST_POINTS) PBD_TRY(write_point(r, work, &work->point[i]));
    html_table_close(&r->html);
    return pbd_ok();
}

static pbd_status write_case(report *r, const pbd_work *work) {
    pbd_html *h = &r->html;
    char command[200];
    html_element(h, "h3", work->case_name);
    if (*work->varies) html_elementf(h, "p", NULL, "The points also differ in the problem itself: %s.", work->varies);
    PBD_TRY(write_picture(r, work));
    PBD_TRY(write_points(r, work));
    if (work->points > work->drawn)
        html_elementf(h, "p", "muted", "%zu more cells have no time, no error, or did not succeed.",
                      work->points - work->drawn);
    snprintf(command, sizeof command, "./pbdbench plot work-precision --case %.100s", work->case_name);
    report_command(r, command);
    return pbd_ok();
}

/* ---- Case by case ------------------------------------------------------------------------------------------------ */

static pbd_status load_and_write(report *r, const char *case_name, size_t *cases) {
    const pbd_work_query query = {.case_name = case_name};
    pbd_work work PBD_CLEANUP(pbd_work_free) = {0};
    const pbd_status status = pbd_work_load(r->store, &query, &work);
    if (status.code == PBD_BAD_INPUT) return pbd_ok(); /* no run of this case measures an error */
    PBD_TRY(status);
    if (work.drawn == 0) return pbd_ok();
    ++*cases;
    return write_case(r, &work);
}

pbd_status report_work_precision(report *r) {
    html_element(&r->html, "p",
                 "Error against cost: each point is a cell, the median over the runs of the newest build that ran it "
                 "on one machine. No point as cheap has a smaller error than a point of the front.");
    pbd_arena a PBD_ARENA;
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    const char *name[MOST_CASES];
    bool row = true;
    size_t names = 0, cases = 0;
    PBD_TRY(report_ask(r,
                       "SELECT name FROM \"case\" WHERE EXISTS (SELECT 1 FROM cell WHERE case_name = name"
                       " AND backend <> 'external') ORDER BY name",
                       NULL, 0, &stmt));
    while (row && names < MOST_CASES) {
        PBD_TRY(report_next(r, stmt, &row));
        if (row) name[names++] = pbd_new_text(&a, pbd_column_text(stmt, 0));
    }
    sqlite3_reset(stmt);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < names; i++) PBD_TRY(load_and_write(r, name[i], &cases));
    if (cases > 0) return pbd_ok();
    html_element(&r->html, "p", "No run with an error is stored yet. This makes some:");
    report_command(r, "./pbdbench run cube_shear -m pbd_distance -a iterations=1,4,16,64 --time 0.1");
    return pbd_ok();
}
