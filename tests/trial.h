/* A case built by name, and its metrics on states that a test prescribes. The `telling` method returns these states and
 * solves nothing. */
#ifndef PBD_TESTS_TRIAL_H
#define PBD_TESTS_TRIAL_H

#include "harness/catalog/resolve.h"
#include "harness/run/run.h"
#include "tests/ladder.h"

/* ---- A method that holds what it is told ------------------------------------------------------------------------- */

typedef struct told_state {
    const double *positions, *velocities; /* NULL: not readable */
} told_state;

UNUSED static pbd_status told_read(const void *state, pbd_field field, double *out) {
    const told_state *s = state;
    const double *rows = field == PBD_POSITIONS ? s->positions : field == PBD_VELOCITIES ? s->velocities : NULL;
    if (!rows) return pbd_error(PBD_NOT_SUPPORTED, "not told");
    size_t n = 0;
    while (!isnan(rows[n])) out[n] = rows[n], n++; /* the arrays end with NaN */
    return pbd_ok();
}

UNUSED static const pbd_method telling = {.bytes = sizeof(pbd_method), .name = "telling", .read = told_read};

/* ---- A case with its scene, and what it measures ----------------------------------------------------------------- */

typedef struct trial {
    const pbd_case *c;
    pbd_values values;
    union {
        pbd_setup setup;
        pbd_scene scene; /* the first member of setup */
    };
    pbd_result result;
    pbd_recorder *recorder;
    double *x, *v; /* the state of the telling method; initially the rest positions, and 0 */
} trial;

/* `words`: settings key=value, separated by blanks. Close the trial only after PBD_OK. */
UNUSED static pbd_status try_case(trial *t, const char *name, const char *words) {
    const pbd_method_entry *entry;
    char text[600], *save = NULL;
    pbd_setting setting[32];
    pbd_values unused;
    size_t count = 0;
    *t = (trial){0};
    PBD_TRY(pbd_find_case(name, &t->c));
    PBD_TRY(pbd_find_method("fem_linear", &entry)); /* needed to resolve the settings only */
    snprintf(text, sizeof text, "%s", words);
    for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save))
        PBD_TRY(pbd_setting_parse(word, &setting[count++]));
    pbd_status status = pbd_resolve(t->c, entry->by_precision[PBD_PRECISION_F64], setting, count, &t->values, &unused);
    for (size_t i = 0; i < count; i++) pbd_setting_free(&setting[i]);
    PBD_TRY(status);
    pbd_values_free(&unused);
    status = pbd_case_build(t->c, &t->values, &t->setup);
    if (status.code == PBD_OK) return status;
    assert_null(t->scene.particles.positions); /* a case that refuses leaves nothing behind */
    pbd_values_free(&t->values);
    return status;
}

UNUSED static void open_case(trial *t, const char *name, const char *words) {
    check_ok(try_case(t, name, words));
    const size_t n = 3 * t->scene.particles.count;
    t->recorder = pbd_recorder_create(&t->result, NULL);
    t->x = malloc((n + 1) * sizeof *t->x);
    t->v = calloc(n + 1, sizeof *t->v);
    memcpy(t->x, t->scene.particles.positions, n * sizeof *t->x);
    t->x[n] = t->v[n] = NAN;
}

UNUSED static void close_case(trial *t) {
    pbd_case_free(t->c, &t->setup);
    pbd_recorder_destroy(t->recorder);
    pbd_result_free(&t->result);
    pbd_values_free(&t->values);
    free(t->x);
    free(t->v);
}

UNUSED static void measure(trial *t) {
    const told_state state = {t->x, NULL};
    check_ok(t->c->measure(&t->setup, &telling, &state, t->recorder));
}

UNUSED static void observe(trial *t, double time) {
    const told_state state = {t->x, t->v};
    check_ok(t->c->observe(&t->setup, &telling, &state, time, t->recorder));
}

UNUSED static const pbd_metric_item *find_metric(const trial *t, const char *name) {
    for (size_t i = 0; i < t->result.metrics; i++)
        if (strcmp(t->result.metric[i].name, name) == 0) return &t->result.metric[i];
    return NULL;
}

UNUSED static double told_metric(const trial *t, const char *name) {
    const pbd_metric_item *metric = find_metric(t, name);
    if (!metric) fail_msg("%s records no %s", t->c->name, name);
    return metric->value;
}

UNUSED static void back_to_rest(trial *t) {
    memcpy(t->x, t->scene.particles.positions, 3 * t->scene.particles.count * sizeof *t->x);
}

/* The value of a metric at rest, for references that do not depend on the state. */
UNUSED static double reference(const char *name, const char *words, const char *metric) {
    trial t;
    open_case(&t, name, words);
    measure(&t);
    const double value = told_metric(&t, metric);
    close_case(&t);
    return value;
}

/* bad[i]: a case, settings that it must refuse, and a part of the message. */
UNUSED static void check_refusals(const char *const (*bad)[3], size_t count) {
    for (size_t i = 0; i < count; i++) {
        trial t;
        const pbd_status status = try_case(&t, bad[i][0], bad[i][1]);
        if (status.code != PBD_BAD_INPUT || !strstr(status.text, bad[i][2]))
            fail_msg("%s %s: code %d, %s", bad[i][0], bad[i][1], (int)status.code, status.text);
        print_message("    %s\n", status.text);
    }
}

#define check_metric(t, name, wanted, limit) check_near(name, told_metric(t, name), wanted, limit)

#endif
