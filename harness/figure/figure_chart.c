/* plot.gp is rewritten line by line: with another terminal, and after each plot a line that prints the ranges of its
 * axes. */
#include "harness/figure/figure_chart.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/files/gnuplot.h"
#include "harness/files/paths.h"

void pbd_chart_free(pbd_chart *chart) {
    pbd_content_free(&chart->svg);
    pbd_arena_free(&chart->owned);
    *chart = (pbd_chart){0};
}

/* ---- The script -------------------------------------------------------------------------------------------------- */

/* The terminal of style.gp, which `load style` sets. */
static const char TERMINAL[] = "set terminal svg size 1200,800 font 'DejaVu Sans,15' linewidth 1.4\n";
#define MARK "pbdbench-panel"

static const char *word_of(const char *line) { return line + strspn(line, " \t"); }

static bool begins(const char *line, const char *word) {
    const size_t length = strlen(word);
    return strncmp(line, word, length) == 0 && !isalnum((unsigned char)line[length]) && line[length] != '_';
}

/* Bytes of the line up to the place and after it. */
static void write_replaced(const char *line, const char *from, const char *to, FILE *out) {
    const char *at = strstr(line, from);
    if (at)
        fprintf(out, "%.*s%s%s", (int)(at - line), line, to, at + strlen(from));
    else
        fputs(line, out);
}

static bool goes_on(const char *line) {
    size_t end = strlen(line);
    while (end > 0 && isspace((unsigned char)line[end - 1])) end--;
    return end > 0 && line[end - 1] == '\\';
}

void pbd_chart_script(FILE *in, FILE *out) {
    char *line PBD_CLEANUP(pbd_free_memory) = NULL;
    size_t room = 0;
    bool within = false, plot = false, flat = false;
    while (getline(&line, &room, in) > 0) {
        const char *word = word_of(line);
        if (!within) {
            flat = begins(word, "plot");
            plot = flat || begins(word, "splot");
        }
        within = goes_on(line);
        if (begins(word, "set terminal"))
            write_replaced(line, "pngcairo", "svg", out);
        else if (begins(word, "set output"))
            fputs("set output out . '/chart.svg'\n", out);
        else
            fputs(line, out);
        if (begins(word, "load style")) fputs(TERMINAL, out);
        if (plot && !within && flat)
            fputs("print sprintf('" MARK
                  " %.10g %.10g %.10g %.10g %.10g %.10g %.10g %.10g', GPVAL_TERM_XMIN, "
                  "GPVAL_TERM_XMAX, GPVAL_TERM_YMIN, GPVAL_TERM_YMAX, GPVAL_X_MIN, GPVAL_X_MAX, GPVAL_Y_MIN, "
                  "GPVAL_Y_MAX)\nshow logscale\n",
                  out);
        if (plot && !within && !flat) fputs("print '" MARK " of three axes'\n", out);
        if (!within) plot = false;
    }
}

pbd_status pbd_chart_panels(const char *told, pbd_chart *out) {
    static const char LOGS[] = "logscaling on";
    for (const char *at = told; *at; at += *at == '\n') {
        const char *word = word_of(at);
        if (strncmp(word, MARK, strlen(MARK)) == 0) {
            if (!pbd_arena_more(&out->owned, &out->panel, out->panels, sizeof *out->panel))
                return pbd_arena_check(&out->owned);
            pbd_chart_panel p = {0};
            const int got = sscanf(word + strlen(MARK), "%lf %lf %lf %lf %lf %lf %lf %lf", &p.pixel[0], &p.pixel[1],
                                   &p.pixel[2], &p.pixel[3], &p.range[0], &p.range[1], &p.range[2], &p.range[3]);
            out->panel[out->panels++] = got == 8 ? p : (pbd_chart_panel){0};
        } else if (out->panels > 0 && strncmp(word, LOGS, strlen(LOGS)) == 0) {
            for (const char *axis = word + strlen(LOGS); *axis && *axis != '\n'; axis++) {
                const bool alone = isspace((unsigned char)axis[-1]) && !isalnum((unsigned char)axis[1]);
                if (alone && *axis == 'x') out->panel[out->panels - 1].log[0] = true;
                if (alone && *axis == 'y') out->panel[out->panels - 1].log[1] = true;
            }
        }
        at += strcspn(at, "\n");
    }
    return pbd_ok();
}

/* ---- The files --------------------------------------------------------------------------------------------------- */

static bool is_newer(const char *path, const char *than) {
    struct stat mine, its;
    if (stat(path, &mine) != 0 || stat(than, &its) != 0 || mine.st_size == 0) return false;
    return mine.st_mtim.tv_sec > its.st_mtim.tv_sec ||
           (mine.st_mtim.tv_sec == its.st_mtim.tv_sec && mine.st_mtim.tv_nsec >= its.st_mtim.tv_nsec);
}

static pbd_status cannot(const char *path) {
    return pbd_error(PBD_NOT_SUPPORTED, "no chart: %.300s: %s", path, strerror(errno));
}

static pbd_status write_script(const char *from, const char *to) {
    FILE *in PBD_CLEANUP(pbd_close_file) = fopen(from, "r");
    if (!in) return cannot(from);
    FILE *out = fopen(to, "w");
    if (!out) return cannot(to);
    pbd_chart_script(in, out);
    const bool full = ferror(out) | (fclose(out) != 0);
    return full ? cannot(to) : pbd_ok();
}

/* panels.txt holds what the script printed. It is written last: if it exists, the drawing is complete. */
static pbd_status draw_chart(const pbd_figure_file *file, const char *folder, const char *panels) {
    pbd_arena a PBD_ARENA;
    char *told PBD_CLEANUP(pbd_free_memory) = NULL;
    const char *from = pbd_new_format(&a, "%s/plots/%s/plot.gp", pbd_root(), file->figure);
    const char *script = pbd_new_format(&a, "%s/chart.gp", folder);
    const pbd_gnuplot_variable variables[] = {
        {"data", folder},
        {"out", folder},
        {"paper", pbd_new_format(&a, "%s/plots/%s/paper.csv", pbd_root(), file->figure)},
        {"quick", ""}};
    PBD_TRY(pbd_arena_check(&a));
    remove(panels);
    PBD_TRY(write_script(from, script));
    const pbd_status status = pbd_gnuplot(script, variables, sizeof variables / sizeof *variables, &told);
    remove(script);
    if (status.code == PBD_BAD_INPUT) return pbd_error(PBD_NOT_SUPPORTED, "no chart: %.300s", status.text);
    PBD_TRY(status);
    FILE *out = fopen(panels, "w");
    if (!out) return cannot(panels);
    fputs(told ? told : "", out);
    return fclose(out) != 0 ? cannot(panels) : pbd_ok();
}

static pbd_status read_chart(const char *svg, const char *panels, pbd_chart *out) {
    pbd_content told PBD_CLEANUP(pbd_content_free) = {0};
    char *path = strdup(svg), *other = strdup(panels);
    if (!path || !other) {
        free(path);
        free(other);
        return pbd_no_memory();
    }
    const pbd_status status = pbd_content_read(path, &out->svg), second = pbd_content_read(other, &told);
    PBD_TRY(status);
    PBD_TRY(second);
    return pbd_chart_panels(told.text, out);
}

pbd_status pbd_figure_chart(const pbd_figure_file *file, const char *out_folder, bool draw, pbd_chart *out) {
    pbd_arena a PBD_ARENA;
    *out = (pbd_chart){0};
    if (file->plots_count != 1) return pbd_error(PBD_NOT_SUPPORTED, "no chart: the figure has several pictures");
    const char *folder = pbd_new_format(&a, "%s/%s", out_folder, file->figure);
    const char *picture = pbd_new_format(&a, "%s/%s", out_folder, file->plots[0]);
    const char *svg = pbd_new_format(&a, "%s/chart.svg", folder), *panels = pbd_new_format(&a, "%s/panels.txt", folder);
    PBD_TRY(pbd_arena_check(&a));
    if (!is_newer(panels, picture) || !is_newer(svg, picture)) {
        if (!draw) return pbd_error(PBD_NOT_SUPPORTED, "no chart: it has not been drawn");
        PBD_TRY(draw_chart(file, folder, panels));
    }
    return read_chart(svg, panels, out);
}
