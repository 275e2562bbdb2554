/* Writes the data files, runs gnuplot, and checks that the expected pictures exist. */
#include "harness/figure/figure_draw.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/figure/figure_data.h"
#include "harness/files/gnuplot.h"
#include "harness/files/paths.h"

char *pbd_plots_folder(const char *dir, pbd_scale scale) {
    char *base = dir ? strdup(dir) : pbd_root_path("results/plots"), *path = NULL;
    if (!base || scale == PBD_SCALE_USUAL) return base;
    if (asprintf(&path, "%s/%s", base, scale == PBD_SCALE_QUICK ? "quick" : "full") < 0) path = NULL;
    free(base);
    return path;
}

void pbd_drawing_free(pbd_drawing *drawing) {
    free(drawing->output);
    pbd_arena_free(&drawing->owned);
    *drawing = (pbd_drawing){0};
}

/* If gnuplot fails half-way, old pictures could be mistaken for new ones. */
static void remove_pictures(const pbd_figure_file *file, const char *out_folder) {
    for (unsigned i = 0; i < file->plots_count; i++) {
        pbd_arena a PBD_ARENA;
        const char *path = pbd_new_format(&a, "%s/%s", out_folder, file->plots[i]);
        if (path) remove(path);
    }
}

static pbd_status collect_pictures(const pbd_figure_file *file, const char *out_folder, pbd_drawing *out) {
    out->plot = pbd_new(&out->owned, char *, file->plots_count);
    PBD_TRY(pbd_arena_check(&out->owned));
    for (unsigned i = 0; i < file->plots_count; i++) {
        struct stat about;
        const char *path = out->plot[i] = pbd_new_format(&out->owned, "%s/%s", out_folder, file->plots[i]);
        PBD_TRY(pbd_arena_check(&out->owned));
        if (stat(path, &about) != 0 || about.st_size == 0)
            return pbd_error(PBD_BAD_INPUT, "%s lists the picture %s, but plots/%s/plot.gp did not draw it",
                             file->shown_as, file->plots[i], file->figure);
        out->plots++;
    }
    return pbd_ok();
}

static pbd_status draw_with(const pbd_figure_file *file, const char *folder, const char *out_folder, pbd_scale scale,
                            pbd_drawing *out) {
    pbd_arena a PBD_ARENA;
    const char *script = pbd_new_format(&a, "%s/plot.gp", file->figure);
    const char *path = pbd_new_format(&a, "%s/plots/%s", pbd_root(), script);
    const pbd_gnuplot_variable variables[] = {
        {"data", folder},
        {"out", out_folder},
        {"paper", pbd_new_format(&a, "%s/plots/%s/paper.csv", pbd_root(), file->figure)},
        {"quick", pbd_scale_mark(scale)}};
    struct stat about;
    PBD_TRY(pbd_arena_check(&a));
    if (stat(path, &about) != 0)
        return pbd_error(PBD_BAD_INPUT, "%s lists pictures, but there is no plots/%s", file->shown_as, script);
    remove_pictures(file, out_folder);
    return pbd_gnuplot(script, variables, sizeof variables / sizeof *variables, &out->output);
}

/* ---- Which store they are from ----------------------------------------------------------------------------------- */

/* The canonical path of the store. The caller frees it; NULL if memory is out. */
static char *place_of(const pbd_store *store) {
    char *place = realpath(pbd_store_path(store), NULL);
    return place ? place : strdup(pbd_store_path(store));
}

/* Opens OUT/ID/store.txt. */
static FILE *open_note(const char *out_folder, const char *figure, const char *mode) {
    pbd_arena a PBD_ARENA;
    const char *path = pbd_new_format(&a, "%s/%s/store.txt", out_folder, figure);
    return path ? fopen(path, mode) : NULL;
}

/* If the note cannot be written, `report` draws the figure again. It is emptied before drawing, so that an unfinished
 * picture never passes for a finished one. */
static void note_store(const char *out_folder, const char *figure, const pbd_store *store) {
    FILE *file PBD_CLEANUP(pbd_close_file) = open_note(out_folder, figure, "w");
    char *place PBD_CLEANUP(pbd_free_memory) = file && store ? place_of(store) : NULL;
    if (place) fputs(place, file);
}

bool pbd_drawn_from(const char *out_folder, const char *figure, const pbd_store *store) {
    FILE *file PBD_CLEANUP(pbd_close_file) = open_note(out_folder, figure, "r");
    char *place PBD_CLEANUP(pbd_free_memory) = place_of(store), noted[PATH_MAX + 1];
    const size_t length = file ? fread(noted, 1, PATH_MAX, file) : 0;
    noted[length] = '\0';
    return place && length > 0 && strcmp(place, noted) == 0;
}

void pbd_drawn_forget(const char *out_folder, const char *figure) { note_store(out_folder, figure, NULL); }

pbd_status pbd_figure_drawn(const pbd_figure_file *file, const char *out_folder, pbd_drawing *out) {
    *out = (pbd_drawing){0};
    return file->plots_count > 0 ? collect_pictures(file, out_folder, out) : pbd_ok();
}

static bool lacks_groups(const pbd_figure_file *file) {
    for (unsigned i = 0; i < file->runs_count; i++)
        if (file->runs[i].left_out > 0) return true;
    return false;
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static pbd_status draw(const pbd_figure_file *file, pbd_store *store, const char *out_folder, pbd_scale scale,
                       pbd_drawing *out) {
    const char *folder = pbd_new_format(&out->owned, "%s/%s", out_folder, file->figure);
    PBD_TRY(pbd_arena_check(&out->owned));
    PBD_TRY(pbd_make_folders(folder));
    note_store(out_folder, file->figure, NULL);
    PBD_TRY(pbd_figure_data(file, store, folder));
    if (file->plots_count > 0) {
        const pbd_status status = draw_with(file, folder, out_folder, scale, out);
        if (status.code != PBD_OK) remove_pictures(file, out_folder); /* they may be half drawn */
        PBD_TRY(status);
        PBD_TRY(collect_pictures(file, out_folder, out));
    }
    note_store(out_folder, file->figure, store);
    return pbd_ok();
}

pbd_status pbd_figure_draw(const pbd_figure_file *file, pbd_store *store, const char *out_folder, pbd_scale scale,
                           pbd_drawing *out) {
    *out = (pbd_drawing){0};
    pbd_status status = draw(file, store, out_folder, scale, out);
    if (status.code == PBD_BAD_INPUT && out->output && lacks_groups(file)) /* gnuplot had nothing to draw */
        status = pbd_error(PBD_NOT_SUPPORTED, "no picture, because groups were skipped: %.300s", status.text);
    if (status.code != PBD_NOT_SUPPORTED) return status;
    out->warning = pbd_new_text(&out->owned, status.text);
    return pbd_arena_check(&out->owned);
}
