/* Shared by tests of methods: scenes, solvers made by name, and a check that prints got, wanted and their difference
 * relative to the limit. */
#ifndef PBD_LADDER_H
#define PBD_LADDER_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cases/scenes/cube.h"
#include "harness/catalog/resolve.h"
#include "harness/catalog/values.h"
#include "harness/exec/exec.h"
#include "harness/plan/record.h"

#define UNUSED __attribute__((unused))

/* Fails unless |got - wanted| <= limit; always prints the difference. */
#define check_near(what, got, wanted, limit) check_near_(what, got, wanted, limit, __FILE__, __LINE__)
UNUSED static void check_near_(const char *what, double got, double wanted, double limit, const char *file, int line) {
    double off = fabs(got - wanted);
    if (!(off <= limit)) {
        print_error("%s:%d: %s: got %.17g, wanted %.17g, off by %.3g, %.3g times the limit\n", file, line, what, got,
                    wanted, off, off / limit);
        fail();
    }
    print_message("    %s: got %.9g, wanted %.9g, %.2g of the limit %.2g\n", what, got, wanted, off / limit, limit);
}

UNUSED static void check_ok(pbd_status status) {
    if (status.code != PBD_OK) fail_msg("%s", status.text);
}

/* A solver with its exec and recorder; close with solver_close. */
typedef struct solver {
    const pbd_method *method;
    pbd_precision precision;
    pbd_exec *exec;
    pbd_result result;
    pbd_recorder *recorder;
    pbd_values values;
    void *state;
} solver;

/* Settings are "key=value" words, split at blanks. */
UNUSED static pbd_status try_open_on(int backend, solver *s, const char *method, pbd_precision precision, int threads,
                                     const pbd_scene *scene, const char *words) {
    const pbd_method_entry *entry;
    const pbd_case *c;
    *s = (solver){.precision = precision};
    PBD_TRY(pbd_find_method(method, &entry));
    PBD_TRY(pbd_find_case("hex_fit", &c)); /* needed to resolve the settings only: the scene is the test's own */
    s->method = entry->by_precision[precision];
    char text[600], *save = NULL;
    pbd_setting setting[32];
    size_t count = 0;
    snprintf(text, sizeof text, "%s", words);
    for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save))
        PBD_TRY(pbd_setting_parse(word, &setting[count++]));
    pbd_values unused;
    pbd_status resolved = pbd_resolve_in(scene, c, s->method, setting, count, &unused, &s->values);
    for (size_t i = 0; i < count; i++) pbd_setting_free(&setting[i]);
    PBD_TRY(resolved);
    pbd_values_free(&unused);
    if (threads > 1) setenv("PBDBENCH_SMALL_LAUNCH", "0", 1); /* splits even small launches over the threads */
    const pbd_status opened = pbd_exec_create(backend, threads, &s->exec);
    unsetenv("PBDBENCH_SMALL_LAUNCH");
    PBD_TRY(opened);
    s->recorder = pbd_recorder_create(&s->result, NULL);
    return pbd_method_create(s->method, scene, &s->values, s->exec, s->recorder, &s->state);
}

UNUSED static pbd_status try_open(solver *s, const char *method, pbd_precision precision, int threads,
                                  const pbd_scene *scene, const char *words) {
    return try_open_on(PBD_CPU, s, method, precision, threads, scene, words);
}

UNUSED static void solver_open(solver *s, const char *method, pbd_precision precision, int threads,
                               const pbd_scene *scene, const char *words) {
    check_ok(try_open(s, method, precision, threads, scene, words));
}

UNUSED static void solver_close(solver *s) {
    if (s->method) s->method->destroy(s->state);
    pbd_values_free(&s->values);
    pbd_exec_destroy(s->exec);
    pbd_recorder_destroy(s->recorder);
    pbd_result_free(&s->result);
}

UNUSED static double metric_of(const solver *s, const char *name) {
    for (size_t i = 0; i < s->result.metrics; i++)
        if (strcmp(s->result.metric[i].name, name) == 0) return s->result.metric[i].value;
    fail_msg("no metric %s was recorded", name);
    return NAN;
}

/* Positions (particles x 3); the caller frees them. */
UNUSED static double *positions_of(const solver *s, size_t particles) {
    double *x = malloc((3 * particles + 1) * sizeof *x);
    check_ok(s->method->read(s->state, PBD_POSITIONS, x));
    return x;
}

/* Overwrites the positions in the saved state of pbd_distance: x, then v, in rows (x, y, z, w) of its precision. */
UNUSED static void set_positions(solver *s, size_t particles, const double *x) {
    size_t bytes = 0;
    check_ok(s->method->save(s->state, NULL, &bytes));
    char *blob = malloc(bytes);
    check_ok(s->method->save(s->state, blob, &bytes));
    for (size_t i = 0; i < 3 * particles; i++) {
        size_t at = 4 * (i / 3) + i % 3;
        if (s->precision == PBD_PRECISION_F64)
            ((double *)(void *)blob)[at] = x[i];
        else
            ((float *)(void *)blob)[at] = (float)x[i];
    }
    check_ok(s->method->load(s->state, blob, bytes));
    free(blob);
}

/* Pseudorandom numbers in [-1, 1), the same on every machine. */
UNUSED static double noise(uint64_t *seed) {
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*seed >> 11) / (double)(UINT64_C(1) << 52) - 1;
}

UNUSED static void make_box(pbd_scene *scene, int nx, int ny, int nz, double edge, double nu) {
    const int cells[3] = {nx, ny, nz};
    const double size[3] = {edge * nx, edge * ny, edge * nz};
    const pbd_material material = {.E = 1, .nu = nu, .convention = PBD_D_PRINTED};
    *scene = (pbd_scene){0};
    check_ok(cube_mesh(cells, size, &material, scene));
    scene->hints.fixing = PBD_FIXED_RESET;
}

#endif
