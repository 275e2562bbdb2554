/* The cantilever's bar under fem_implicit, opened so that a test may change its scene first. */
#ifndef PBD_TESTS_FEM_BAR_H
#define PBD_TESTS_FEM_BAR_H

#include "cases/scenes/beam.h"
#include "harness/catalog/resolve.h"
#include "harness/run/run.h"
#include "tests/ladder.h"

/* ---- A bar and a solver ------------------------------------------------------------------------------------------ */

typedef struct bar {
    const pbd_case *c;
    union {
        pbd_setup setup;
        pbd_scene scene; /* the first member of setup */
    };
    pbd_values values;
    solver s;
} bar;

/* Makes the cantilever's scene, which the test may change before it opens the solver. `words`: settings separated by
 * blanks. */
UNUSED static void bar_make(bar *b, const char *words) {
    const pbd_method_entry *entry;
    *b = (bar){.s = {.precision = PBD_PRECISION_F64}};
    check_ok(pbd_find_case("cantilever", &b->c));
    check_ok(pbd_find_method("fem_implicit", &entry));
    b->s.method = entry->by_precision[PBD_PRECISION_F64];
    char text[400], *save = NULL;
    pbd_setting setting[24];
    size_t count = 0;
    snprintf(text, sizeof text, "%s", words);
    for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save))
        check_ok(pbd_setting_parse(word, &setting[count++]));
    check_ok(pbd_resolve(b->c, b->s.method, setting, count, &b->values, &b->s.values));
    for (size_t i = 0; i < count; i++) pbd_setting_free(&setting[i]);
    check_ok(pbd_case_build(b->c, &b->values, &b->setup));
}

UNUSED static void bar_open(bar *b) {
    check_ok(pbd_exec_create(PBD_CPU, 1, &b->s.exec));
    b->s.recorder = pbd_recorder_create(&b->s.result, NULL);
    check_ok(pbd_method_create(b->s.method, &b->scene, &b->s.values, b->s.exec, b->s.recorder, &b->s.state));
}

UNUSED static void bar_close(bar *b) {
    pbd_case_free(b->c, &b->setup);
    pbd_values_free(&b->values);
    solver_close(&b->s);
}

/* Makes, opens and solves; the caller frees the positions. */
UNUSED static double *bar_solve(bar *b, const char *words) {
    bar_make(b, words);
    bar_open(b);
    check_ok(b->s.method->solve(b->s.state));
    return positions_of(&b->s, b->scene.particles.count);
}

/* Drop of the centre of the end face, m. */
UNUSED static double tip_fall(const bar *b, const double *x) {
    const int cells = (int)pbd_integer(&b->values, "cells");
    const double width = pbd_real(&b->values, "width");
    const beam_size size = {.length = pbd_real(&b->values, "length"),
                            .width = width,
                            .along = 5 * cells,
                            .across = cells,
                            .thickness = width,
                            .deep = cells};
    beam_probe end;
    double tip[3];
    check_ok(beam_find_tip(&b->scene, &size, &end));
    beam_tip(&end, x, tip);
    return -tip[2];
}

UNUSED static double solved_fall(const char *words) {
    bar b;
    double *x = bar_solve(&b, words);
    const double fall = tip_fall(&b, x);
    free(x);
    bar_close(&b);
    return fall;
}

UNUSED static double largest_apart(const double *a, const double *b, size_t n) {
    double largest = 0;
    for (size_t i = 0; i < n; i++) largest = fmax(largest, fabs(a[i] - b[i]));
    return largest;
}

#endif
