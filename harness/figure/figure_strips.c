#include "harness/figure/figure_strips.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/figure/figure_data.h"
#include "harness/files/paths.h"
#include "harness/picture/strip.h"
#include "harness/query/run_again.h"
#include "harness/query/run_table.h"
#include "harness/store/rows.h"

/* The runs of a strip: first as its query returns them, then repeated. */
typedef struct shown {
    size_t runs;
    char run_id[STRIP_MOST_RUNS][40], caption[STRIP_MOST_RUNS][100];
    size_t made;
    pbd_run_again again[STRIP_MOST_RUNS];
} shown;

static void free_shown(shown *s) {
    for (size_t i = 0; i < s->made; i++) pbd_again_free(&s->again[i]);
}

/* ---- Which runs -------------------------------------------------------------------------------------------------- */

static pbd_status read_rows(const pbd_strip *strip, sqlite3 *sql, sqlite3_stmt *rows, const char *where, shown *s) {
    if (sqlite3_column_count(rows) != 2)
        return pbd_error(PBD_BAD_INPUT, "%s: the query must have two columns, run_id and caption, not %d", where,
                         sqlite3_column_count(rows));
    for (;;) {
        bool row;
        PBD_TRY(pbd_query_next(sql, rows, where, &row));
        if (!row) return pbd_ok();
        if (s->runs == STRIP_MOST_RUNS)
            return pbd_error(PBD_BAD_INPUT, "%s: a strip shows at most %d runs; the query of '%s' has more", where,
                             STRIP_MOST_RUNS, strip->name);
        snprintf(s->run_id[s->runs], sizeof *s->run_id, "%s", pbd_column_text(rows, 0));
        snprintf(s->caption[s->runs++], sizeof *s->caption, "%s", pbd_column_text(rows, 1));
    }
}

static pbd_status find_runs(const pbd_figure_file *file, const pbd_strip *strip, sqlite3 *sql, shown *s) {
    char where[300];
    sqlite3_stmt *rows;
    snprintf(where, sizeof where, "%.150s, strip '%.100s'", file->shown_as, strip->name);
    PBD_TRY(pbd_figure_query(file, sql, strip->sql, where, &rows));
    const pbd_status status = read_rows(strip, sql, rows, where, s);
    pbd_query_end(sql, rows);
    return status;
}

static char *note_path(const pbd_figure_file *file, const pbd_strip *strip, const char *out_folder, pbd_arena *owner) {
    return pbd_new_format(owner, "%s/%s/%s.strip", out_folder, file->figure, strip->name);
}

/* ---- Whether it is drawn ----------------------------------------------------------------------------------------- */

/* A text that identifies what a strip shows: strips with the same text are the same picture. NULL if memory is out. */
static char *tell_content(const pbd_strip *strip, const shown *s) {
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    if (!out) return NULL;
    fprintf(out, "%s\n", strip->colour ? strip->colour : "auto");
    for (unsigned k = 0; k < strip->moments_count; k++) fprintf(out, "%.9g ", strip->moments[k]);
    for (size_t i = 0; i < s->runs; i++) fprintf(out, "\n%s %s", s->run_id[i], s->caption[i]);
    if (fclose(out) == 0) return text;
    free(text);
    return NULL;
}

/* "" where there is none. */
static void read_note(const char *note, char text[4096]) {
    FILE *file PBD_CLEANUP(pbd_close_file) = fopen(note, "r");
    text[file ? fread(text, 1, 4095, file) : 0] = '\0';
}

static bool is_drawn(const char *picture, const char *note, const char *content) {
    char text[4096];
    read_note(note, text);
    return access(picture, R_OK) == 0 && strcmp(text, content) == 0;
}

/* Its runs are the first words of the lines from the third on. */
bool pbd_figure_strip_is_of(const pbd_figure_file *file, const pbd_strip *strip, const char *out_folder,
                            pbd_store *store) {
    char text[4096];
    size_t runs = 0;
    pbd_arena a PBD_ARENA;
    const char *note = note_path(file, strip, out_folder, &a);
    if (!note) return false;
    read_note(note, text);
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n")); runs++) {
        pbd_result found = {0};
        if (runs < 2) continue;
        line[strcspn(line, " ")] = '\0';
        const pbd_status status = pbd_store_get(store, line, &found);
        pbd_result_free(&found);
        if (status.code != PBD_OK) return false;
    }
    return runs > 2;
}

/* If the note cannot be written, the strip is drawn again next time. */
static void write_note(const char *note, const char *content) {
    FILE *file PBD_CLEANUP(pbd_close_file) = fopen(note, "w");
    if (file) fputs(content, file);
}

/* ---- Drawing ----------------------------------------------------------------------------------------------------- */

static pbd_status make_runs(const pbd_strip_plan *plan, pbd_store *store, const char *picture, bool tell, shown *s) {
    for (size_t i = 0; i < s->runs; i++) {
        pbd_run_again *again = &s->again[s->made++];
        PBD_TRY(pbd_again_find(store, s->run_id[i], again));
        PBD_TRY(pbd_again_make(again, picture, pbd_strip_spooling(plan), tell));
    }
    return pbd_ok();
}

static pbd_status draw(const pbd_strip_plan *plan, const shown *s) {
    pbd_take_of of[STRIP_MOST_RUNS];
    for (size_t i = 0; i < s->runs; i++) {
        const pbd_kept_run *kept = &s->again[i].kept;
        of[i] = (pbd_take_of){&kept->setup.scene, pbd_cell_method(kept->cell), kept->spool, s->caption[i]};
    }
    return pbd_strip_draw(plan, of, s->runs);
}

char *pbd_figure_strip_path(const pbd_figure_file *file, const pbd_strip *strip, const char *out_folder,
                            pbd_arena *owner) {
    return pbd_new_format(owner, "%s/%s-%s.png", out_folder, file->figure, strip->name);
}

static pbd_status warn(pbd_drawing *drawing, const char *strip, const char *why) {
    drawing->warning = pbd_new_format(&drawing->owned, "%s%sstrip '%s': %s", drawing->warning ? drawing->warning : "",
                                      drawing->warning ? "; " : "", strip, why);
    return pbd_arena_check(&drawing->owned);
}

static pbd_status draw_strip(const pbd_figure_file *file, const pbd_strip *strip, pbd_store *store,
                             const char *out_folder, bool tell, pbd_drawing *drawing) {
    pbd_arena *a = &drawing->owned;
    shown s PBD_CLEANUP(free_shown) = {0};
    const char *note = note_path(file, strip, out_folder, a);
    const char *name = pbd_new_format(a, "%s-%s.png", file->figure, strip->name);
    char *picture = pbd_figure_strip_path(file, strip, out_folder, a);
    PBD_TRY(pbd_arena_check(a));
    PBD_TRY(find_runs(file, strip, pbd_store_sql(store), &s));
    if (s.runs == 0) return warn(drawing, strip->name, "its query has no rows");
    char *content PBD_CLEANUP(pbd_free_memory) = tell_content(strip, &s);
    if (!content) return pbd_no_memory();
    if (!is_drawn(picture, note, content)) {
        const pbd_strip_plan plan = {
            .folder = out_folder,
            .name = name,
            .moment = strip->moments,
            .moments = strip->moments_count,
            .colour = strip->colour ? (pbd_colour)pbd_colour_named(strip->colour) : PBD_COLOUR_AUTO};
        remove(note);
        PBD_TRY(make_runs(&plan, store, picture, tell, &s));
        const pbd_status status = draw(&plan, &s);
        if (status.code == PBD_NOT_SUPPORTED) return warn(drawing, strip->name, status.text);
        PBD_TRY(status);
        write_note(note, content);
    }
    char **plots = pbd_new(a, char *, drawing->plots + 1);
    PBD_TRY(pbd_arena_check(a));
    if (drawing->plots) memcpy(plots, drawing->plot, drawing->plots * sizeof *plots);
    plots[drawing->plots++] = picture;
    drawing->plot = plots;
    return pbd_ok();
}

pbd_status pbd_figure_strips(const pbd_figure_file *file, pbd_store *store, const char *out_folder, bool tell,
                             pbd_drawing *drawing) {
    for (unsigned i = 0; i < file->strips_count; i++)
        PBD_TRY(draw_strip(file, &file->strips[i], store, out_folder, tell, drawing));
    return pbd_ok();
}
