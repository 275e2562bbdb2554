/* Histories as text, JSON and a chart. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/files/gnuplot.h"
#include "harness/files/json.h"
#include "harness/trend/history.h"

/* ---- Text -------------------------------------------------------------------------------------------------------- */

static const char *unit_of(const pbd_history *h) { return strcmp(h->unit, "1") == 0 ? "" : h->unit; }

static void print_name(const pbd_history *h, FILE *out) {
    const bool release = strcmp(h->preset, "release") == 0;
    fprintf(out, "%s %s%s%s, %s %s, %d thread%s%s%s: %s", h->cell->case_name, h->cell->method, *h->varies ? " " : "",
            h->varies, h->cell->backend, h->cell->precision, h->cell->threads, h->cell->threads == 1 ? "" : "s",
            release ? "" : ", preset ", release ? "" : h->preset, h->metric);
}

static void print_step(const pbd_history *h, const pbd_step *step, FILE *out) {
    const pbd_history_point *p = &h->point[step->at];
    const double change = step->before != 0 ? 100 * (step->after / step->before - 1) : (double)NAN;
    fprintf(out, "    %.10s %.10s%s  %.5g -> %.5g %s", p->started_at, p->git_sha, p->dirty ? "+" : "", step->before,
            step->after, unit_of(h));
    if (isfinite(change)) fprintf(out, " (%+.2g %%)", change);
    fprintf(out, "  %s\n", h->kind == PBD_STATE ? "changed" : pbd_step_is_worse(h, step) ? "worse" : "better");
}

static void print_points(const pbd_history *h, FILE *out) {
    fprintf(out, "    %-10s %-11s %5s %14s %14s\n", "day", "commit", "runs", h->metric, "level");
    for (size_t i = 0; i < h->points; i++) {
        const pbd_history_point *p = &h->point[i];
        fprintf(out, "    %.10s %.10s%s %5zu %14.6g %14.6g\n", p->started_at, p->git_sha, p->dirty ? "+" : " ", p->runs,
                p->value, h->steps.level ? h->steps.level[i] : (double)NAN);
    }
}

static void print_history(const pbd_history *h, bool points, FILE *out) {
    const pbd_history_point *last = &h->point[h->points - 1];
    fputs("  ", out);
    print_name(h, out);
    fprintf(out, " %.5g %s, %zu build%s, %s %.8s\n", last->value, unit_of(h), h->points, h->points == 1 ? "" : "s",
            h->cpu, h->machine);
    for (size_t s = 0; s < h->steps.count; s++) print_step(h, &h->steps.step[s], out);
    if (points) print_points(h, out);
}

static const char *newest_change(const pbd_history *h) {
    return h->steps.count ? h->point[h->steps.step[h->steps.count - 1].at].started_at : "";
}

/* The newest change first, then the newest build. */
static int by_change(const void *left, const void *right) {
    const pbd_history *a = *(const pbd_history *const *)left, *b = *(const pbd_history *const *)right;
    int order = strcmp(newest_change(b), newest_change(a));
    if (order == 0) order = strcmp(b->point[b->points - 1].started_at, a->point[a->points - 1].started_at);
    return order ? order : (a > b) - (a < b);
}

static void print_sorted(const pbd_history *const *sorted, const pbd_histories *all, size_t with, bool points,
                         FILE *out) {
    size_t single = 0;
    for (size_t i = 0; i < all->count; i++) single += all->item[i].points == 1;
    fprintf(out, "%zu histories of %zu cells%s: %zu with a step, %zu of one build only\n", all->count, all->cells,
            all->narrowed ? " (the most recent ones; --all includes every one)" : "", with, single);
    if (with > 0) fputs("\nwith a step, the newest first\n", out);
    for (size_t i = 0; i < with; i++) print_history(sorted[i], points, out);
    if (all->count - with > single || points) fputs("\nwithout\n", out);
    for (size_t i = with; i < all->count; i++)
        if (sorted[i]->points > 1 || points) print_history(sorted[i], points, out);
}

pbd_status pbd_histories_print(const pbd_histories *all, bool points, FILE *out) {
    pbd_arena a PBD_ARENA;
    const pbd_history **sorted = pbd_new(&a, const pbd_history *, all->count);
    size_t with = 0;
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < all->count; i++) {
        sorted[i] = &all->item[i];
        with += all->item[i].steps.count > 0;
    }
    qsort((void *)(uintptr_t)sorted, all->count, sizeof *sorted, by_change);
    print_sorted(sorted, all, with, points, out);
    return pbd_ok();
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static json_t *history_json(const pbd_history *h) {
    json_t *points = json_array(), *steps = json_array(), *params = json_loads(h->cell->params, 0, NULL);
    for (size_t i = 0; i < h->points; i++) {
        const pbd_history_point *p = &h->point[i];
        json_array_append_new(points, json_pack("{s:s, s:b, s:s, s:s, s:o, s:I, s:o}", "git_sha", p->git_sha, "dirty",
                                                p->dirty, "source", p->source, "started_at", p->started_at, "value",
                                                pbd_finite_json(p->value), "runs", (json_int_t)p->runs, "level",
                                                h->steps.level ? pbd_finite_json(h->steps.level[i]) : json_null()));
    }
    for (size_t s = 0; s < h->steps.count; s++) {
        const pbd_step *step = &h->steps.step[s];
        json_array_append_new(steps, json_pack("{s:I, s:s, s:o, s:o, s:o, s:b}", "at", (json_int_t)step->at, "git_sha",
                                               h->point[step->at].git_sha, "before", pbd_finite_json(step->before),
                                               "after", pbd_finite_json(step->after), "p", pbd_finite_json(step->p),
                                               "worse", pbd_step_is_worse(h, step)));
    }
    return json_pack("{s:o, s:s, s:s, s:o, s:s, s:s, s:i, s:s, s:s, s:s, s:s, s:s, s:o, s:o}", "cell_ids",
                     json_loads(h->cell_ids, 0, NULL), "case", h->cell->case_name, "method", h->cell->method, "params",
                     params ? params : json_object(), "backend", h->cell->backend, "precision", h->cell->precision,
                     "threads", h->cell->threads, "machine", h->machine, "cpu", h->cpu, "preset", h->preset, "metric",
                     h->metric, "unit", h->unit, "points", points, "steps", steps);
}

void pbd_histories_json(const pbd_histories *all, FILE *out) {
    json_t *array = json_array();
    for (size_t i = 0; i < all->count; i++) json_array_append_new(array, history_json(&all->item[i]));
    pbd_write_json(array, out);
}

/* ---- A chart ----------------------------------------------------------------------------------------------------- */

/* Rows: number, value, level, and the commit if there is a step. */
static pbd_status write_rows(const pbd_history *h, const char *path) {
    FILE *out = fopen(path, "w");
    if (!out) return pbd_error(PBD_BAD_INPUT, "'%.200s' cannot be written", path);
    fputs("build\tvalue\tlevel\tstep\n", out);
    for (size_t i = 0; i < h->points; i++) {
        const char *commit = "";
        for (size_t s = 0; s < h->steps.count; s++)
            if (h->steps.step[s].at == i) commit = h->point[i].git_sha;
        fprintf(out, "%zu\t%.17g\t%.17g\t%.8s\n", i + 1, h->point[i].value, h->steps.level[i], commit);
    }
    const bool bad = ferror(out) != 0;
    if (fclose(out) == 0 && !bad) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "'%.200s' cannot be written", path);
}

pbd_status pbd_history_draw(const pbd_history *h, const char *path) {
    pbd_arena a PBD_ARENA;
    char terminal[PBD_GNUPLOT_TERMINAL], *said PBD_CLEANUP(pbd_free_memory) = NULL;
    const pbd_stored_cell *c = h->cell;
    PBD_TRY(pbd_gnuplot_terminal(path, 700, terminal));
    if (!h->steps.level) return pbd_error(PBD_BAD_INPUT, "this history has values that are not finite");
    const char *rows = pbd_new_format(&a, "%s.tsv", path), *unit = unit_of(h);
    const char *heading =
        pbd_new_format(&a, "%s, %s%s%s, %s %s, %d thread%s on %s", c->case_name, c->method, *h->varies ? ", " : "",
                       h->varies, c->backend, c->precision, c->threads, c->threads == 1 ? "" : "s", h->cpu);
    const char *yname = pbd_new_format(&a, "%s%s%s%s", h->metric, *unit ? " (" : "", unit, *unit ? ")" : "");
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(write_rows(h, rows));
    const pbd_gnuplot_variable variables[] = {
        {"file", rows}, {"heading", heading}, {"terminal", terminal}, {"yname", yname}, {"target", path}};
    const pbd_status status = pbd_gnuplot("history.gp", variables, sizeof variables / sizeof *variables, &said);
    if (status.code == PBD_BAD_INPUT && said) fputs(said, stderr);
    return status;
}
