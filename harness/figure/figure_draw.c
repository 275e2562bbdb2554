/* Data files, gnuplot, and a look at whether the promised pictures are there. */
#include "harness/figure/figure_draw.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/figure/figure_data.h"
#include "harness/files/gnuplot.h"
#include "harness/files/paths.h"

char *pbd_plots_folder(const char *dir, bool quick) {
    char *base = dir ? strdup(dir) : pbd_root_path("results/plots"), *path = NULL;
    if (!base || !quick) return base;
    if (asprintf(&path, "%s/quick", base) < 0) path = NULL;
    free(base);
    return path;
}

void pbd_drawing_free(pbd_drawing *drawing) {
    for (size_t i = 0; i < drawing->plots; i++) free(drawing->plot[i]);
    free(drawing->plot);
    free(drawing->warning);
    free(drawing->output);
    *drawing = (pbd_drawing){0};
}

/* Pictures of an earlier time would look like this one's when gnuplot fails half-way. */
static void remove_pictures(const pbd_figure_file *file, const char *out_folder) {
    for (unsigned i = 0; i < file->plots_count; i++) {
        char *path = NULL;
        if (asprintf(&path, "%s/%s", out_folder, file->plots[i]) >= 0) remove(path);
        free(path);
    }
}

static pbd_status collect_pictures(const pbd_figure_file *file, const char *out_folder, pbd_drawing *out) {
    out->plot = calloc(file->plots_count + 1, sizeof *out->plot);
    if (!out->plot) return pbd_error(PBD_FAILED, "out of memory");
    for (unsigned i = 0; i < file->plots_count; i++) {
        struct stat about;
        char *path = NULL;
        if (asprintf(&path, "%s/%s", out_folder, file->plots[i]) < 0) return pbd_error(PBD_FAILED, "out of memory");
        if (stat(path, &about) != 0 || about.st_size == 0) {
            free(path);
            return pbd_error(PBD_BAD_INPUT, "%s lists the picture %s, but plots/%s/plot.gp did not draw it",
                             file->shown_as, file->plots[i], file->figure);
        }
        out->plot[out->plots++] = path;
    }
    return pbd_ok();
}

static pbd_status draw_with(const pbd_figure_file *file, const char *folder, const char *out_folder, bool quick,
                            pbd_drawing *out) {
    char *shown_as = NULL, *paper_relative = NULL;
    if (asprintf(&shown_as, "plots/%s/plot.gp", file->figure) < 0) return pbd_error(PBD_FAILED, "out of memory");
    if (asprintf(&paper_relative, "plots/%s/paper.csv", file->figure) < 0) {
        free(shown_as);
        return pbd_error(PBD_FAILED, "out of memory");
    }
    char *script = pbd_root_path(shown_as), *style = pbd_root_path("plots/style.gp"),
         *paper = pbd_root_path(paper_relative);
    struct stat about;
    pbd_status status = pbd_ok();
    if (!script || !style || !paper) {
        status = pbd_error(PBD_FAILED, "out of memory");
    } else if (stat(script, &about) != 0) {
        status = pbd_error(PBD_BAD_INPUT, "%s lists pictures, but there is no %s", file->shown_as, shown_as);
    } else {
        const pbd_gnuplot_variable variables[] = {{"data", folder},
                                                  {"out", out_folder},
                                                  {"style", style},
                                                  {"paper", paper},
                                                  {"quick", quick ? " (quick)" : ""}};
        remove_pictures(file, out_folder);
        status = pbd_gnuplot(script, variables, sizeof variables / sizeof *variables, &out->output);
    }
    free(script);
    free(style);
    free(paper);
    free(shown_as);
    free(paper_relative);
    return status;
}

/* ---- Which store they are from ----------------------------------------------------------------------------------- */

/* Where the store is, however the user spelt it. The caller frees; NULL without memory. */
static char *place_of(const pbd_store *store) {
    char *place = realpath(pbd_store_path(store), NULL);
    return place ? place : strdup(pbd_store_path(store));
}

/* Opens OUT/ID/store.txt. */
static FILE *open_note(const char *out_folder, const char *figure, const char *mode) {
    char *path = NULL;
    FILE *file = asprintf(&path, "%s/%s/store.txt", out_folder, figure) < 0 ? NULL : fopen(path, mode);
    free(path);
    return file;
}

/* A note that cannot be written says nothing: `report` then draws anew. Emptied before drawing, so that a picture that
 * was begun never passes for one that was finished. */
static void note_store(const char *out_folder, const char *figure, const pbd_store *store) {
    FILE *file = open_note(out_folder, figure, "w");
    char *place = file && store ? place_of(store) : NULL;
    if (place) fputs(place, file);
    if (file) fclose(file);
    free(place);
}

bool pbd_drawn_from(const char *out_folder, const char *figure, const pbd_store *store) {
    FILE *file = open_note(out_folder, figure, "r");
    if (!file) return false;
    char noted[PATH_MAX + 1];
    const size_t length = fread(noted, 1, PATH_MAX, file);
    fclose(file);
    noted[length] = '\0';
    char *place = place_of(store);
    const bool same = place && length > 0 && strcmp(place, noted) == 0;
    free(place);
    return same;
}

static bool lacks_groups(const pbd_figure_file *file) {
    for (unsigned i = 0; i < file->runs_count; i++)
        if (file->runs[i].left_out > 0) return true;
    return false;
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

pbd_status pbd_figure_draw(const pbd_figure_file *file, pbd_store *store, const char *out_folder, bool quick,
                           pbd_drawing *out) {
    *out = (pbd_drawing){0};
    char *folder = NULL;
    if (asprintf(&folder, "%s/%s", out_folder, file->figure) < 0) return pbd_error(PBD_FAILED, "out of memory");
    pbd_status status = pbd_make_folders(folder);
    if (status.code == PBD_OK) note_store(out_folder, file->figure, NULL);
    if (status.code == PBD_OK) status = pbd_figure_data(file, store, folder);
    if (status.code == PBD_OK && file->plots_count > 0) {
        status = draw_with(file, folder, out_folder, quick, out);
        if (status.code != PBD_OK) remove_pictures(file, out_folder); /* what is there is half drawn */
        if (status.code == PBD_OK) status = collect_pictures(file, out_folder, out);
    }
    if (status.code == PBD_OK) note_store(out_folder, file->figure, store);
    if (status.code == PBD_BAD_INPUT && out->output && lacks_groups(file)) { /* gnuplot had nothing to draw */
        status = pbd_error(PBD_NOT_SUPPORTED, "no picture, because groups were skipped: %.300s", status.text);
    }
    if (status.code == PBD_NOT_SUPPORTED) {
        out->warning = strdup(status.text);
        status = out->warning ? pbd_ok() : pbd_error(PBD_FAILED, "out of memory");
    }
    free(folder);
    return status;
}
