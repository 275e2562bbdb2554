#include "harness/picture/strip.h"

#include <stdio.h>

#include "harness/picture/sheet.h"

enum { WIDTH = 560 /* of a picture, pixels */ };

pbd_spool_plan pbd_strip_spooling(const pbd_strip_plan *plan) {
    return (pbd_spool_plan){.moment = plan->moment, .moments = plan->moments, .fields = pbd_take_fields(plan->colour)};
}

typedef struct strip {
    const pbd_strip_plan *plan;
    pbd_take take[STRIP_MOST_RUNS];
    size_t runs, panels;
    pbd_sheet_panel panel[STRIP_MOST_RUNS * STRIP_MOST_MOMENTS];
} strip;

static bool moves(const pbd_take_of *of) { return of->scene->duration > 0 && !of->scene->solved; }

static void close_strip(strip *s) {
    for (size_t i = 0; i < s->runs; i++) pbd_take_close(&s->take[i]);
    for (size_t i = 0; i < s->panels; i++) {
        char path[4200];
        snprintf(path, sizeof path, "%s/%s", s->plan->folder, s->panel[i].picture);
        remove(path);
    }
}

/* The time of the first state at or after a moment, else of the last. */
static double time_shown(const pbd_take_of *of, double moment) {
    const size_t states = pbd_spool_states(of->spool);
    size_t at = 0;
    if (!moves(of)) return pbd_spool_time(of->spool, states - 1);
    while (at + 1 < states && pbd_spool_time(of->spool, at) * (1 + 1e-9) < moment) at++;
    return pbd_spool_time(of->spool, at);
}

static pbd_status draw_panel(strip *s, size_t run, double moment) {
    char path[4200];
    pbd_take *t = &s->take[run];
    const char *caption = t->of.caption ? t->of.caption : "";
    PBD_TRY(pbd_take_draw(t, time_shown(&t->of, moment)));
    pbd_sheet_panel *p = &s->panel[s->panels++];
    snprintf(p->picture, sizeof p->picture, "%.30s.%zu.png", s->plan->name, s->panels);
    if (moves(&t->of))
        snprintf(p->caption, sizeof p->caption, "%.100s%st = %.3g s", caption, *caption ? ", " : "", pbd_take_time(t));
    else
        snprintf(p->caption, sizeof p->caption, "%.100s", caption);
    snprintf(path, sizeof path, "%s/%s", s->plan->folder, p->picture);
    return pbd_png_write(path, &t->image);
}

pbd_status pbd_strip_draw(const pbd_strip_plan *plan, const pbd_take_of *run, size_t runs) {
    strip s PBD_CLEANUP(close_strip) = {.plan = plan};
    pbd_album *album[STRIP_MOST_RUNS] = {0};
    const pbd_album_plan look = {.colour = plan->colour, .width = WIDTH};
    bool any_moves = false;
    for (size_t i = 0; i < runs; i++) {
        pbd_take *t = &s.take[s.runs++];
        PBD_TRY(pbd_take_open(&run[i], &look, t));
        PBD_TRY(pbd_take_see(t));
        album[i] = &t->album;
        any_moves |= moves(&run[i]);
    }
    PBD_TRY(pbd_album_share(album, runs, 0));
    for (size_t i = 0; i < runs; i++)
        for (size_t k = 0; k < (any_moves ? plan->moments : 1); k++) PBD_TRY(draw_panel(&s, i, plan->moment[k]));
    const size_t across = s.panels > runs ? s.panels / runs : runs;
    return pbd_sheet_draw(plan->folder, plan->name, s.panel, s.panels, across, album[0]);
}
