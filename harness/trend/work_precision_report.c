/* A work-precision diagram as text, as JSON and as a picture. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/files/gnuplot.h"
#include "harness/files/json.h"
#include "harness/query/run_command.h"
#include "harness/trend/work_precision.h"

enum {
    MOST_NAMED = 12,
    MOST_APART = 20
}; /* limits of lines: of the front in the picture, and of points that are not drawn in the text */

static const char *per(const pbd_work *w) { return w->frames ? "frame" : "solve"; }
static const char *unit_of(const pbd_work *w) { return strcmp(w->unit, "1") == 0 ? "" : w->unit; }

static const char *cost_unit(const pbd_work *w) { return !w->memory ? "ms" : w->unit_bytes > 1024 ? "MiB" : "KiB"; }

/* ---- Text -------------------------------------------------------------------------------------------------------- */

static void print_front(const pbd_work *w, FILE *out) {
    size_t number = 0;
    fprintf(out,
            "the front: no other run is as %s and more accurate\n"
            "  %3s  %-12s %-12s\n",
            w->memory ? "small" : "quick", "",
            w->memory   ? "MiB"
            : w->frames ? "ms a frame"
                        : "ms a solve",
            w->error);
    for (size_t i = 0; i < w->drawn; i++) {
        const pbd_work_point *p = &w->point[i];
        if (p->is_front)
            fprintf(out, "  %3zu  %-12.4g %-12.4g %s\n", ++number, pbd_work_cost(w, p), p->error, p->label);
    }
}

static void print_apart(const pbd_work *w, FILE *out) {
    if (w->drawn < w->points) fprintf(out, "not drawn: %zu of %zu cells\n", w->points - w->drawn, w->points);
    for (size_t i = w->drawn; i < w->points && i < w->drawn + MOST_APART; i++)
        fprintf(out, "  %s: %s\n", w->point[i].label, w->point[i].reason);
    if (w->points - w->drawn > MOST_APART)
        fprintf(out, "  and %zu more; --json lists them all\n", w->points - w->drawn - MOST_APART);
}

/* Cells whose runs of the newest build did not all succeed. */
static void print_unsteady(const pbd_work *w, FILE *out) {
    for (size_t i = 0; i < w->drawn; i++) {
        const pbd_work_point *p = &w->point[i];
        if (p->not_ok > 0)
            fprintf(out, "note: %zu of %zu runs did not succeed and are ignored: %s\n", p->not_ok, p->ok + p->not_ok,
                    p->label);
    }
}

static size_t builds_of(const pbd_work *w) {
    size_t builds = 0;
    for (size_t i = 0; i < w->drawn; i++) {
        bool first = true;
        for (size_t k = 0; k < i && first; k++) first = strcmp(w->point[k].git_sha, w->point[i].git_sha) != 0;
        builds += first;
    }
    return builds;
}

void pbd_work_print(const pbd_work *w, FILE *out) {
    fprintf(out, "%s: %s against %s, %zu cells, on %.8s (%s)\n", w->title, w->error,
            w->memory   ? "memory"
            : w->frames ? "the wall time of a frame of 1/60 s"
                        : "the wall time of a solve",
            w->drawn, w->machine, w->cpu);
    if (w->drawn > 0) print_front(w, out);
    print_apart(w, out);
    print_unsteady(w, out);
    if (!w->here) fputs("note: the store has no run of it on this machine; these are from another\n", out);
    if (builds_of(w) > 1)
        fprintf(out, "note: points are of %zu commits, each cell's newest; the same command repeats the old ones\n",
                builds_of(w));
}

/* ---- Within ------------------------------------------------------------------------------------------------------ */

static pbd_status command_of(pbd_store *store, const pbd_work_point *p, char **command) {
    pbd_result result PBD_CLEANUP(pbd_result_free) = {0};
    PBD_TRY(pbd_store_get(store, p->run_id, &result));
    *command = pbd_run_command(&result, "[]");
    return *command ? pbd_ok() : pbd_error(PBD_FAILED, "out of memory");
}

static double quickest(const pbd_work *w) {
    double least = INFINITY;
    for (size_t i = 0; i < w->points; i++)
        if (w->point[i].time < least) least = w->point[i].time;
    return 1e3 * least;
}

pbd_status pbd_work_answer(pbd_store *store, const pbd_work *w, double ms, FILE *out) {
    const pbd_work_point *best = pbd_work_within(w, ms);
    char *command PBD_CLEANUP(pbd_free_memory) = NULL;
    if (!best) {
        fprintf(out, "%s: no run takes less than %g ms a %s; the fastest takes %.4g ms\n", w->title, ms, per(w),
                quickest(w));
        return pbd_ok();
    }
    PBD_TRY(command_of(store, best, &command));
    fprintf(out, "%s: the best %s within %g ms a %s is %.4g%s%s, in %.4g ms\n  %s\n  %s\n", w->title, w->error, ms,
            per(w), best->error, *unit_of(w) ? " " : "", unit_of(w), 1e3 * best->time, best->label, command);
    return pbd_ok();
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static json_t *point_json(const pbd_work_point *p) {
    json_t *params = json_loads(p->cell.params, 0, NULL);
    json_t *object = json_pack(
        "{ss ss ss ss so ss ss si ss ss sI sI so so so sb}", "label", p->label, "series", p->series, "cell_id",
        p->cell.cell_id, "method", p->cell.method, "params", params ? params : json_object(), "backend",
        p->cell.backend, "precision", p->cell.precision, "threads", p->cell.threads, "run_id", p->run_id, "git_sha",
        p->git_sha, "runs", (json_int_t)p->ok, "runs_not_ok", (json_int_t)p->not_ok, "error", pbd_finite_json(p->error),
        "time_ms", pbd_finite_json(1e3 * p->time), "memory_bytes", pbd_finite_json(p->memory), "front", p->is_front);
    if (object && p->reason) json_object_set_new(object, "reason", json_string(p->reason));
    return object;
}

static pbd_status add_answer(pbd_store *store, const pbd_work *w, double ms, json_t *object) {
    const pbd_work_point *best = pbd_work_within(w, ms);
    char *command PBD_CLEANUP(pbd_free_memory) = NULL;
    if (best) PBD_TRY(command_of(store, best, &command));
    json_t *point = best ? point_json(best) : json_null();
    if (best) json_object_set_new(point, "command", json_string(command));
    json_object_set_new(object, "within", json_pack("{sf so}", "ms", ms, "best", point));
    return pbd_ok();
}

pbd_status pbd_work_json(pbd_store *store, const pbd_work *w, double within, const char *plot, FILE *out) {
    json_t *points = json_array(), *apart = json_array();
    for (size_t i = 0; i < w->points; i++)
        json_array_append_new(i < w->drawn ? points : apart, point_json(&w->point[i]));
    json_t *object =
        json_pack("{ss ss? ss ss ss ss sb sb ss ss? so so}", "case", w->case_name, "problem",
                  w->title == w->case_name ? NULL : w->title, "error", w->error, "unit", w->unit, "machine", w->machine,
                  "cpu", w->cpu, "this_machine", w->here, "frames", w->frames, "against", w->memory ? "memory" : "time",
                  "plot", plot, "points", points, "not_drawn", apart);
    const pbd_status status = within > 0 ? add_answer(store, w, within, object) : pbd_ok();
    if (status.code == PBD_OK)
        pbd_write_json(object, out);
    else
        json_decref(object);
    return status;
}

/* ---- The picture ------------------------------------------------------------------------------------------------- */

static size_t front_members(const pbd_work *w) {
    size_t members = 0;
    for (size_t i = 0; i < w->drawn; i++) members += w->point[i].is_front;
    return members;
}

/* Whether member `k` of the front is named under the picture: all, or evenly spaced ones with both ends. */
static bool is_named(size_t k, size_t members) {
    if (members <= MOST_NAMED || k == 0) return true;
    return k * (MOST_NAMED - 1) / (members - 1) != (k - 1) * (MOST_NAMED - 1) / (members - 1);
}

/* Whether two points are so close in the picture that the numbers beside them would overlap. */
static bool are_close(const pbd_work *w, const pbd_work_point *a, const pbd_work_point *b) {
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < w->drawn; i++) {
        least = fmin(least, w->point[i].error);
        most = fmax(most, w->point[i].error);
    }
    const double width = log(pbd_work_cost(w, &w->point[w->drawn - 1]) / pbd_work_cost(w, &w->point[0])) + 0.7;
    const double height = log(most / least) + 0.7;
    return fabs(log(pbd_work_cost(w, a) / pbd_work_cost(w, b))) < 0.03 * width &&
           fabs(log(a->error / b->error)) < 0.04 * height;
}

/* Writes one block for each series, its name first, and then one for the front, with the number of each named point and
 * 0 for the others; two empty lines between blocks. Returns the number of series. */
static size_t write_blocks(const pbd_work *w, FILE *out) {
    const size_t members = front_members(w);
    size_t series = 0, number = 0;
    for (size_t i = 0; i < w->drawn; i++) {
        const char *name = w->point[i].series;
        bool first = true;
        for (size_t k = 0; k < i && first; k++) first = strcmp(w->point[k].series, name) != 0;
        if (!first) continue;
        fprintf(out, "%s\terror\n", name);
        for (size_t k = i; k < w->drawn; k++)
            if (strcmp(w->point[k].series, name) == 0)
                fprintf(out, "%.9g\t%.9g\n", pbd_work_cost(w, &w->point[k]), w->point[k].error);
        fputs("\n\n", out);
        series++;
    }
    fputs("front\terror\tnumber\tabove\n", out);
    const pbd_work_point *last = NULL; /* the numbered point before */
    bool above = false;
    for (size_t i = 0; i < w->drawn; i++) {
        const pbd_work_point *p = &w->point[i];
        if (!p->is_front) continue;
        const bool named = is_named(number++, members);
        above = named && last && !above && are_close(w, last, p);
        fprintf(out, "%.9g\t%.9g\t%zu\t%d\n", pbd_work_cost(w, p), p->error, named ? number : 0, above);
        if (named) last = p;
    }
    return series;
}

static pbd_status write_data(const pbd_work *w, const char *path, size_t *series) {
    FILE *out = fopen(path, "w");
    if (!out) return pbd_error(PBD_BAD_INPUT, "'%.200s' cannot be written", path);
    *series = write_blocks(w, out);
    const bool bad = ferror(out) != 0;
    if (fclose(out) == 0 && !bad) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "'%.200s' cannot be written", path);
}

/* Writes a text in lines of at most `letters` characters, broken between words if possible; lines after the first are
 * indented. Lines end in '|'. */
static void fold(FILE *out, const char *text, size_t letters, size_t *lines) {
    for (bool first = true; *text; first = false, ++*lines) {
        const size_t room = first ? letters : letters - 5;
        size_t length = strlen(text);
        if (length > room) {
            length = room;
            while (length > 0 && text[length] != ' ') length--;
            if (length == 0) length = room; /* one long word */
        }
        if (!first) fputs("     ", out);
        for (size_t i = 0; i < length; i++) fputc(text[i] == '|' ? '/' : text[i], out);
        fputc('|', out);
        text += length;
        text += strspn(text, " ");
    }
}

/* The text under the picture: the front by number, and how many cells are not drawn. Lines end in '|'. */
static char *footer_of(const pbd_work *w, size_t letters, size_t *lines) {
    char *text = NULL;
    const size_t members = front_members(w);
    size_t size = 0, number = 0;
    FILE *out = open_memstream(&text, &size);
    *lines = 0;
    if (!out) return NULL;
    for (size_t i = 0; i < w->drawn; i++) {
        const pbd_work_point *p = &w->point[i];
        if (!p->is_front || !is_named(number++, members)) continue;
        char *row PBD_CLEANUP(pbd_free_memory) = NULL;
        if (asprintf(&row, "%zu  %s: %.3g, %.3g %s", number, p->label, p->error, pbd_work_cost(w, p), cost_unit(w)) < 0)
            continue;
        fold(out, row, letters, lines);
    }
    if (members > MOST_NAMED) fprintf(out, "and %zu between them, listed in the text|", members - MOST_NAMED), ++*lines;
    if (w->drawn < w->points)
        fprintf(out, "not drawn: %zu of %zu cells, which diverged or lack one of the numbers|", w->points - w->drawn,
                w->points),
            ++*lines;
    if (fclose(out) == 0) return text;
    free(text);
    return NULL;
}

pbd_status pbd_work_draw(const pbd_work *w, const char *path) {
    pbd_arena a PBD_ARENA;
    char *said PBD_CLEANUP(pbd_free_memory) = NULL, *footer PBD_CLEANUP(pbd_free_memory) = NULL;
    char terminal[PBD_GNUPLOT_TERMINAL];
    size_t lines, series = 0;
    if (w->drawn == 0)
        return pbd_error(PBD_BAD_INPUT, "nothing to draw: none of the %zu cells of %s has both %s and a cost; %s: %s",
                         w->points, w->case_name, w->error, w->point[0].label, w->point[0].reason);
    PBD_TRY(pbd_gnuplot_terminal(path, 800, terminal));
    const bool pdf = strncmp(terminal, "pdf", 3) == 0;
    if (!(footer = footer_of(w, pdf ? 115 : 105, &lines))) return pbd_error(PBD_FAILED, "out of memory");
    const double height = 800 + 24 * (double)lines;
    const char *data = pbd_new_format(&a, "%s.tsv", path), *unit = unit_of(w);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(write_data(w, data, &series));
    PBD_TRY(pbd_gnuplot_terminal(path, (size_t)height, terminal));
    const pbd_gnuplot_variable variables[] = {
        {"file", data},
        {"series", pbd_new_format(&a, "%zu", series)},
        {"xname", pbd_new_format(&a, "%s (%s)",
                                 w->memory   ? "peak of the backend's memory"
                                 : w->frames ? "wall time of a frame of 1/60 s"
                                             : "wall time of a solve",
                                 cost_unit(w))},
        {"yname", pbd_new_format(&a, "%s%s%s%s", w->error, *unit ? " (" : "", unit, *unit ? ")" : "")},
        {"heading", pbd_new_format(&a, "%s on %s", w->title, w->cpu)},
        {"footer", footer},
        {"letters", pdf ? ",8" : ",13"},
        {"share", pbd_new_format(&a, "%.4f", 24 * (double)lines / height)},
        {"line", pbd_new_format(&a, "%.4f", 24 / height)},
        {"terminal", terminal},
        {"target", path}};
    PBD_TRY(pbd_arena_check(&a));
    const pbd_status status = pbd_gnuplot("work_precision.gp", variables, sizeof variables / sizeof *variables, &said);
    if (status.code != PBD_OK && said) fputs(said, stderr);
    return status;
}
