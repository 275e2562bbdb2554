#include "harness/verbs/plugin_check.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/catalog/resolve.h"
#include "harness/catalog/scene_check.h"
#include "harness/catalog/watch.h"
#include "harness/exec/arena.h"
#include "harness/exec/exec.h"
#include "harness/plan/record.h"
#include "harness/process/interrupt.h"
#include "harness/run/run.h"

enum { STEPS = 5 };
static const char CELLS[] = "2";       /* for a case with `cells`: small, but more than one */
static const char PARTICLES[] = "300"; /* for a case with `particles` instead */

/* A method on a case. In the child process the method is wrapped by pbd_watch. */
typedef struct subject {
    const pbd_method_entry *entry;
    const pbd_case *c;
} subject;

/* ---- A solver on a case ------------------------------------------------------------------------------------------ */

typedef struct solver {
    const pbd_method *method;
    const pbd_case *c;
    pbd_precision precision;
    pbd_values case_values, values;
    pbd_setup setup;
    pbd_exec *exec;
    pbd_result reported;
    pbd_recorder *recorder;
    void *state;
    size_t numbers; /* 3 x particles */
} solver;

/* Changes a scene before the method sees it. */
typedef void (*scene_change)(pbd_scene *scene);

static void close_solver(solver *s) {
    if (s->state) s->method->destroy(s->state);
    if (s->c) pbd_case_free(s->c, &s->setup);
    pbd_exec_destroy(s->exec);
    pbd_recorder_destroy(s->recorder);
    pbd_result_free(&s->reported);
    pbd_values_free(&s->case_values);
    pbd_values_free(&s->values);
    *s = (solver){0};
}

static bool has_param(const pbd_param *params, const char *name) {
    for (; params && params->name; params++)
        if (strcmp(params->name, name) == 0) return true;
    return false;
}

static size_t settings_of(const pbd_case *c, pbd_setting setting[1]) {
    const bool by_cells = has_param(c->params, "cells");
    setting[0] = by_cells ? (pbd_setting){"cells", CELLS} : (pbd_setting){"particles", PARTICLES};
    return by_cells || has_param(c->params, "particles") ? 1 : 0;
}

/* Call close_solver also after an error. */
static pbd_status prepare(const subject *of, pbd_precision precision, scene_change change, solver *s) {
    pbd_setting setting[1];
    *s = (solver){.method = of->entry->by_precision[precision], .c = of->c, .precision = precision};
    PBD_TRY(pbd_resolve(of->c, s->method, setting, settings_of(of->c, setting), &s->case_values, &s->values));
    pbd_interrupt_ends("a scene was built");
    const pbd_status status = pbd_case_build(of->c, &s->case_values, &s->setup);
    pbd_interrupt_ends(NULL);
    PBD_TRY(status);
    if (change) change(&s->setup.scene);
    s->numbers = 3 * s->setup.scene.particles.count;
    s->recorder = pbd_recorder_create(&s->reported, pbd_interrupted);
    return s->recorder ? pbd_ok() : pbd_no_memory();
}

static pbd_status create(solver *s, int backend, int threads) {
    PBD_TRY(pbd_exec_create(backend, threads, &s->exec));
    pbd_status status = pbd_method_create(s->method, &s->setup.scene, &s->values, s->exec, s->recorder, &s->state);
    if (status.code == PBD_BAD_INPUT) return pbd_error(PBD_FAILED, "refuses its own defaults: %.300s", status.text);
    if (status.code == PBD_OK && !s->state) return pbd_error(PBD_FAILED, "create returns OK without a state");
    return status;
}

static pbd_status open_solver(const subject *of, pbd_precision precision, int backend, int threads, scene_change change,
                              solver *s) {
    PBD_TRY(prepare(of, precision, change, s));
    return create(s, backend, threads);
}

/* The method's time step, s: the metric dt if it reports one, else its parameter dt; 0 if it has neither. */
static double time_step(const solver *s) {
    for (size_t i = 0; i < s->reported.metrics; i++)
        if (strcmp(s->reported.metric[i].name, "dt") == 0) return s->reported.metric[i].value;
    const pbd_value *dt = pbd_value_named(&s->values, "dt");
    return dt ? dt->number : 0;
}

static bool steps(const solver *s) { return s->method->step && time_step(s) > 0; }

/* Takes a few steps, or solves if the method has no steps. */
static pbd_status advance(const solver *s) {
    if (!steps(s) && !s->method->solve)
        return pbd_error(PBD_NOT_SUPPORTED, "gives no time step: neither a metric nor a parameter dt above 0");
    if (!steps(s)) return s->method->solve(s->state);
    for (int i = 0; i < STEPS; i++) PBD_TRY(s->method->step(s->state, time_step(s)));
    return pbd_ok();
}

/* Reads the positions into memory of the arena. PBD_DIVERGED if one is not finite. */
static pbd_status read_positions(const solver *s, pbd_arena *a, double **out) {
    *out = pbd_new(a, double, s->numbers);
    PBD_TRY(pbd_arena_check(a));
    for (size_t i = 0; i < s->numbers; i++) (*out)[i] = (double)NAN; /* to detect numbers that are not written */
    PBD_TRY(s->method->read(s->state, PBD_POSITIONS, *out));
    for (size_t i = 0; i < s->numbers; i++)
        if (!isfinite((*out)[i]))
            return pbd_error(PBD_DIVERGED, "%s: the position of particle %zu is %g", pbd_precision_name(s->precision),
                             i / 3, (*out)[i]);
    return pbd_ok();
}

/* Reads the positions a few steps after the start, which most checks compare. */
static pbd_status walk(const subject *of, pbd_precision precision, int backend, int threads, scene_change change,
                       pbd_arena *a, double **x, double *extent) {
    solver s PBD_CLEANUP(close_solver) = {0};
    PBD_TRY(open_solver(of, precision, backend, threads, change, &s));
    PBD_TRY(advance(&s));
    *extent = s.setup.scene.extent;
    return read_positions(&s, a, x);
}

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

static double largest_difference(const double *a, const double *b, size_t n) {
    double largest = 0;
    for (size_t i = 0; i < n; i++) largest = fmax(largest, fabs(a[i] - b[i]));
    return largest;
}

static double epsilon_of(pbd_precision precision) { return precision == PBD_PRECISION_F32 ? FLT_EPSILON : DBL_EPSILON; }

/* Lists the precisions of the method, the higher one last. Returns their number. */
static int precisions_of(const subject *of, pbd_precision out[2]) {
    int count = 0;
    const unsigned mask = of->entry->by_precision[PBD_PRECISION_F64]->precisions;
    if (mask & PBD_F32) out[count++] = PBD_PRECISION_F32;
    if (mask & PBD_F64) out[count++] = PBD_PRECISION_F64;
    return count;
}

static pbd_precision best_precision(const subject *of) {
    pbd_precision p[2];
    return p[precisions_of(of, p) - 1];
}

static int any_backend(const subject *of) {
    return of->entry->by_precision[PBD_PRECISION_F64]->backends & PBD_CPU ? PBD_CPU : PBD_EMU;
}

static bool has_backend(const subject *of, unsigned backend) {
    return of->entry->by_precision[PBD_PRECISION_F64]->backends & backend;
}

/* ---- Checks: OK with what was found, NOT_SUPPORTED with why it does not apply, else what is wrong ---------------- */

#define FOUND(...) return pbd_error(PBD_OK, __VA_ARGS__)
#define WRONG(...) return pbd_error(PBD_FAILED, __VA_ARGS__)

static const double *start_of(const pbd_scene *scene) {
    return scene->particles.start ? scene->particles.start : scene->particles.positions;
}

static pbd_status begins_at_start(const solver *s) {
    pbd_arena a PBD_ARENA;
    double *x;
    PBD_TRY(read_positions(s, &a, &x));
    const double off = largest_difference(x, start_of(&s->setup.scene), s->numbers);
    if (off > 64 * epsilon_of(s->precision) * s->setup.scene.extent)
        WRONG("%s: directly after create a particle is %.3g m from its position in the scene",
              pbd_precision_name(s->precision), off);
    return pbd_ok();
}

static pbd_status check_life(const subject *of) {
    pbd_precision p[2];
    const int count = precisions_of(of, p);
    for (int i = 0; i < count; i++) {
        solver s PBD_CLEANUP(close_solver) = {0};
        PBD_TRY(open_solver(of, p[i], any_backend(of), 1, NULL, &s));
        PBD_TRY(begins_at_start(&s));
        s.method->destroy(NULL);
    }
    FOUND("create, read, destroy, destroy(NULL); it starts at the positions of the scene");
}

/* The arrays of a scene, copied and compared byte by byte. */
enum { SCENE_ARRAYS = 9 };
typedef struct scene_copy {
    void *array[SCENE_ARRAYS];
    pbd_scene scene;
} scene_copy;

static void list_arrays(const pbd_scene *s, const void *array[SCENE_ARRAYS], size_t bytes[SCENE_ARRAYS]) {
    const struct {
        const void *at;
        size_t bytes;
    } all[SCENE_ARRAYS] = {{s->particles.positions, 3 * s->particles.count * sizeof *s->particles.positions},
                           {s->particles.velocities, 3 * s->particles.count * sizeof *s->particles.velocities},
                           {s->particles.masses, s->particles.count * sizeof *s->particles.masses},
                           {s->loads.forces, 3 * s->particles.count * sizeof *s->loads.forces},
                           {s->particles.start, 3 * s->particles.count * sizeof *s->particles.start},
                           {s->hexes.corner, 8 * s->hexes.count * sizeof *s->hexes.corner},
                           {s->tets.corner, 4 * s->tets.count * sizeof *s->tets.corner},
                           {s->triangles.corner, 3 * s->triangles.count * sizeof *s->triangles.corner},
                           {s->particles.fixed_particle, s->particles.fixed * sizeof *s->particles.fixed_particle}};
    for (int i = 0; i < SCENE_ARRAYS; i++) {
        array[i] = all[i].at;
        bytes[i] = all[i].at ? all[i].bytes : 0;
    }
}

static pbd_status copy_scene(const pbd_scene *scene, pbd_arena *a, scene_copy *copy) {
    const void *array[SCENE_ARRAYS];
    size_t bytes[SCENE_ARRAYS];
    copy->scene = *scene;
    list_arrays(scene, array, bytes);
    for (int i = 0; i < SCENE_ARRAYS; i++) {
        copy->array[i] = pbd_new(a, char, bytes[i]);
        PBD_TRY(pbd_arena_check(a));
        if (bytes[i]) memcpy(copy->array[i], array[i], bytes[i]);
    }
    return pbd_ok();
}

static const char *changed_part(const pbd_scene *scene, const scene_copy *copy) {
    static const char *const names[SCENE_ARRAYS] = {"positions", "velocities", "masses",   "forces",        "start",
                                                    "hex",       "tet",        "triangle", "fixed_particle"};
    const void *array[SCENE_ARRAYS];
    size_t bytes[SCENE_ARRAYS];
    if (memcmp(scene, &copy->scene, sizeof *scene) != 0) return "fields";
    list_arrays(scene, array, bytes);
    for (int i = 0; i < SCENE_ARRAYS; i++)
        if (bytes[i] && memcmp(array[i], copy->array[i], bytes[i]) != 0) return names[i];
    return NULL;
}

static pbd_status check_scene(const subject *of) {
    pbd_arena a PBD_ARENA;
    solver s PBD_CLEANUP(close_solver) = {0};
    scene_copy copy = {0};
    PBD_TRY(prepare(of, best_precision(of), NULL, &s));
    PBD_TRY(copy_scene(&s.setup.scene, &a, &copy));
    PBD_TRY(create(&s, any_backend(of), 1));
    PBD_TRY(advance(&s));
    const char *changed = changed_part(&s.setup.scene, &copy);
    if (changed) WRONG("the scene belongs to the case, but its %s changed", changed);
    FOUND("the scene is unchanged");
}

/* Whether anything makes the scene move. A case may have no load (hex_fit); then nothing needs to move. */
static bool is_loaded(const pbd_scene *s) {
    for (size_t i = 0; i < 3 * s->particles.count; i++)
        if (s->loads.forces[i] != 0 || (s->particles.velocities && s->particles.velocities[i] != 0) ||
            (s->particles.start && s->particles.start[i] != s->particles.positions[i]))
            return true;
    return s->loads.gravity[0] != 0 || s->loads.gravity[1] != 0 || s->loads.gravity[2] != 0;
}

static pbd_status check_moves(const subject *of) {
    pbd_precision p[2];
    const int count = precisions_of(of, p);
    double moved = 0;
    for (int i = 0; i < count; i++) {
        pbd_arena a PBD_ARENA;
        solver s PBD_CLEANUP(close_solver) = {0};
        double *x;
        PBD_TRY(open_solver(of, p[i], any_backend(of), 1, NULL, &s));
        PBD_TRY(advance(&s));
        PBD_TRY(read_positions(&s, &a, &x));
        moved = largest_difference(x, start_of(&s.setup.scene), s.numbers);
        if (moved == 0 && is_loaded(&s.setup.scene))
            WRONG("%s: nothing moves under the case's load", pbd_precision_name(p[i]));
    }
    FOUND("moves up to %.3g m, all positions finite", moved);
}

/* Saves, advances, loads and advances again: both results must be equal. */
static pbd_status repeat_once(const subject *of, pbd_precision precision) {
    pbd_arena arena PBD_ARENA;
    solver s PBD_CLEANUP(close_solver) = {0};
    double *a, *b;
    size_t bytes = 0;
    PBD_TRY(open_solver(of, precision, any_backend(of), 1, NULL, &s));
    if (!s.method->save)
        return pbd_error(PBD_NOT_SUPPORTED, "it cannot save its state, so warm-ups, --time and bench are unsupported");
    PBD_TRY(s.method->save(s.state, NULL, &bytes));
    char *blob = pbd_new(&arena, char, bytes + 1);
    PBD_TRY(pbd_arena_check(&arena));
    PBD_TRY(s.method->save(s.state, blob, &bytes));
    PBD_TRY(advance(&s));
    PBD_TRY(read_positions(&s, &arena, &a));
    PBD_TRY(s.method->load(s.state, blob, bytes));
    PBD_TRY(advance(&s));
    PBD_TRY(read_positions(&s, &arena, &b));
    if (memcmp(a, b, s.numbers * sizeof *a) != 0)
        WRONG("%s: two results from one saved state, %.3g m apart: save omits something, or a value is uninitialised",
              pbd_precision_name(precision), largest_difference(a, b, s.numbers));
    if (s.method->load(s.state, blob, bytes + 1).code == PBD_OK)
        WRONG("load accepts a state of %zu bytes; the method's state has %zu", bytes + 1, bytes);
    return pbd_ok();
}

static pbd_status check_repeatable(const subject *of) {
    pbd_precision p[2];
    const int count = precisions_of(of, p);
    for (int i = 0; i < count; i++) PBD_TRY(repeat_once(of, p[i]));
    FOUND("twice from one saved state: bitwise equal; a state of another size is refused");
}

static size_t numbers_in(const subject *of) {
    solver s PBD_CLEANUP(close_solver) = {0};
    return prepare(of, best_precision(of), NULL, &s).code == PBD_OK ? s.numbers : 0;
}

static pbd_status check_held(const subject *of) {
    pbd_arena a PBD_ARENA;
    solver s PBD_CLEANUP(close_solver) = {0};
    double *x, off = 0;
    const pbd_precision p = best_precision(of);
    PBD_TRY(open_solver(of, p, any_backend(of), 1, NULL, &s));
    if (s.setup.scene.particles.fixed == 0) return pbd_error(PBD_NOT_SUPPORTED, "the case has no fixed particle");
    PBD_TRY(advance(&s));
    PBD_TRY(read_positions(&s, &a, &x));
    for (size_t i = 0; i < 3 * s.setup.scene.particles.fixed; i++) {
        const size_t at = 3 * (size_t)s.setup.scene.particles.fixed_particle[i / 3] + i % 3;
        off = fmax(off, fabs(x[at] - start_of(&s.setup.scene)[at]));
    }
    if (off > 64 * epsilon_of(p) * s.setup.scene.extent) WRONG("a fixed particle moves %.3g m", off);
    FOUND("fixed particles do not move");
}

static pbd_status check_threads(const subject *of) {
    pbd_arena a PBD_ARENA;
    double *one, *three, extent;
    if (!has_backend(of, PBD_CPU)) return pbd_error(PBD_NOT_SUPPORTED, "it does not run on cpu");
    PBD_TRY(walk(of, best_precision(of), PBD_CPU, 1, NULL, &a, &one, &extent));
    PBD_TRY(walk(of, best_precision(of), PBD_CPU, 3, NULL, &a, &three, &extent));
    const double off = largest_difference(one, three, numbers_in(of));
    if (off > 0) WRONG("1 and 3 threads differ by %.3g m: results on the cpu are bitwise equal for any number", off);
    FOUND("1 and 3 threads: bitwise equal");
}

/* Compares two walks that should agree. *off is their largest difference, *moved the largest motion, m. */
static pbd_status compare_walks(const subject *of, pbd_precision pa, int ba, pbd_precision pb, int bb, double *off,
                                double *moved, double *extent) {
    pbd_arena arena PBD_ARENA;
    solver s PBD_CLEANUP(close_solver) = {0};
    double *a, *b;
    PBD_TRY(walk(of, pa, ba, 1, NULL, &arena, &a, extent));
    PBD_TRY(walk(of, pb, bb, 1, NULL, &arena, &b, extent));
    PBD_TRY(prepare(of, pb, NULL, &s));
    *off = largest_difference(a, b, s.numbers);
    *moved = largest_difference(b, start_of(&s.setup.scene), s.numbers);
    return pbd_ok();
}

static pbd_status check_precisions(const subject *of) {
    pbd_precision p[2];
    double off = 0, moved = 0, extent = 0;
    if (precisions_of(of, p) < 2)
        return pbd_error(PBD_NOT_SUPPORTED, "it runs in %s only", pbd_precision_name(best_precision(of)));
    PBD_TRY(compare_walks(of, PBD_PRECISION_F32, any_backend(of), PBD_PRECISION_F64, any_backend(of), &off, &moved,
                          &extent));
    if (off > 0.01 * moved + 100 * FLT_EPSILON * extent)
        WRONG("f32 and f64 differ by %.3g m where the body moves %.3g m", off, moved);
    FOUND("differ by %.2g m where the body moves %.2g m", off, moved);
}

static pbd_status check_emu(const subject *of) {
    pbd_precision p[2];
    double off = 0, moved = 0, extent = 0;
    if (!has_backend(of, PBD_EMU) || !has_backend(of, PBD_CPU))
        return pbd_error(PBD_NOT_SUPPORTED, "it runs on %s only", has_backend(of, PBD_CPU) ? "cpu" : "emu");
    if (!of->entry->by_precision[PBD_PRECISION_F64]->step) return pbd_error(PBD_NOT_SUPPORTED, "it has no steps");
    for (int i = 0; i < precisions_of(of, p); i++) {
        PBD_TRY(compare_walks(of, p[i], PBD_CPU, p[i], PBD_EMU, &off, &moved, &extent));
        if (off > 1000 * epsilon_of(p[i]) * extent)
            WRONG("%s: cpu and emu differ by %.3g m where the body moves %.3g m", pbd_precision_name(p[i]), off, moved);
    }
    FOUND("differ by %.2g m; no race was detected", off);
}

/* ---- Physics that every solid obeys ------------------------------------------------------------------------------ */

static void unload(pbd_scene *s) {
    memset(s->loads.forces, 0, 3 * s->particles.count * sizeof *s->loads.forces);
    memset(s->loads.gravity, 0, sizeof s->loads.gravity);
    s->surface_load.edges.count = s->surface_load.triangles.count = s->surface_load.quads.count = 0;
    if (s->particles.velocities)
        memset(s->particles.velocities, 0, 3 * s->particles.count * sizeof *s->particles.velocities);
    if (s->particles.start)
        memcpy(s->particles.start, s->particles.positions, 3 * s->particles.count * sizeof *s->particles.start);
}

static pbd_status check_rest(const subject *of) {
    pbd_arena a PBD_ARENA;
    solver s PBD_CLEANUP(close_solver) = {0};
    double *x;
    PBD_TRY(open_solver(of, best_precision(of), any_backend(of), 1, unload, &s));
    PBD_TRY(advance(&s));
    PBD_TRY(read_positions(&s, &a, &x));
    const double off = largest_difference(x, s.setup.scene.particles.positions, s.numbers);
    if (off > 1000 * epsilon_of(best_precision(of)) * s.setup.scene.extent)
        WRONG("without load a body at rest moves %.3g m", off);
    FOUND("without load a body at rest stays at rest, to %.2g m", off);
}

/* Rotation by 0.7 rad about (1, 2, 3), by Rodrigues' formula. */
static void rotation(double R[9]) {
    const double c = cos(0.7), s = sin(0.7), n = sqrt(14), k[3] = {1 / n, 2 / n, 3 / n};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) R[3 * i + j] = (i == j ? c : 0) + (1 - c) * k[i] * k[j];
    R[1] -= s * k[2], R[2] += s * k[1], R[3] += s * k[2], R[5] -= s * k[0], R[6] -= s * k[1], R[7] += s * k[0];
}

static void turn_rows(double *rows, size_t count) {
    double R[9];
    rotation(R);
    for (size_t p = 0; rows && p < count; p++) {
        double *v = rows + 3 * p;
        const double old[3] = {v[0], v[1], v[2]};
        for (int i = 0; i < 3; i++) v[i] = R[3 * i] * old[0] + R[3 * i + 1] * old[1] + R[3 * i + 2] * old[2];
    }
}

static void turn(pbd_scene *s) {
    double *const rows[] = {s->particles.positions, s->particles.velocities, s->loads.forces, s->particles.start};
    for (int i = 0; i < 4; i++) turn_rows(rows[i], s->particles.count);
    turn_rows(s->surface_load.edges.density, 2 * s->surface_load.edges.count);
    turn_rows(s->surface_load.triangles.density, 3 * s->surface_load.triangles.count);
    turn_rows(s->surface_load.quads.density, 4 * s->surface_load.quads.count);
    turn_rows(s->loads.gravity, 1);
}

static void shift_rows(double *rows, size_t count, double by) {
    for (size_t p = 0; rows && p < count; p++) {
        rows[3 * p] += 3 * by;
        rows[3 * p + 1] -= 2 * by;
        rows[3 * p + 2] += by;
    }
}

static void shift(pbd_scene *s) {
    shift_rows(s->particles.positions, s->particles.count, s->extent);
    shift_rows(s->particles.start, s->particles.count, s->extent);
}

/* Compares the result of the changed scene with the changed result. *rounding: the rounding error of the change, m. */
static pbd_status moved_alike(const subject *of, scene_change change, double *off, double *motion, double *rounding) {
    pbd_arena a PBD_ARENA;
    solver s PBD_CLEANUP(close_solver) = {0};
    double *plain, *changed, extent;
    const pbd_precision p = best_precision(of);
    PBD_TRY(walk(of, p, any_backend(of), 1, NULL, &a, &plain, &extent));
    PBD_TRY(walk(of, p, any_backend(of), 1, change, &a, &changed, &extent));
    PBD_TRY(prepare(of, p, NULL, &s));
    *motion = largest_difference(plain, start_of(&s.setup.scene), s.numbers);
    memcpy(s.setup.scene.particles.positions, plain, s.numbers * sizeof *plain);
    change(&s.setup.scene);
    *off = largest_difference(changed, s.setup.scene.particles.positions, s.numbers);
    *rounding = 1e5 * epsilon_of(p) * extent;
    return pbd_ok();
}

static pbd_status check_translation(const subject *of) {
    double off = 0, motion = 0, rounding = 0;
    PBD_TRY(moved_alike(of, shift, &off, &motion, &rounding));
    if (off > rounding) WRONG("the result depends on the position in space: %.3g m apart, of %.3g m", off, motion);
    FOUND("translated in space: the same, to %.2g m", off);
}

/* Distinguishes rounding, the order of constraints (a few thousandths), and a true dependence on the axes. */
static pbd_status check_rotation(const subject *of) {
    double off = 0, motion = 0, rounding = 0;
    PBD_TRY(moved_alike(of, turn, &off, &motion, &rounding));
    if (off <= rounding) FOUND("rotated in space: the same, to %.2g m", off);
    if (off <= 0.01 * motion)
        FOUND("rotated in space: %.2g of the motion apart, as when the order of constraints rotates", off / motion);
    WRONG("the result depends on the orientation: %.3g m apart, where the body moves %.3g m", off, motion);
}

static pbd_status check_run(const subject *of) {
    pbd_setting setting[1];
    pbd_plan_item item = {.seed = 1};
    item.cell = (pbd_cell){.c = of->c, .method = of->entry, .precision = best_precision(of), .threads = 1};
    item.cell.backend = any_backend(of) == PBD_CPU ? PBD_BACKEND_CPU : PBD_BACKEND_EMU;
    PBD_TRY(pbd_resolve(of->c, of->entry->by_precision[item.cell.precision], setting, settings_of(of->c, setting),
                        &item.cell.case_values, &item.cell.method_values));
    pbd_result result PBD_CLEANUP(pbd_result_free) = {0};
    const pbd_status status = pbd_run_cell(&item, &result);
    pbd_values_free(&item.cell.case_values);
    pbd_values_free(&item.cell.method_values);
    PBD_TRY(status);
    /* A method without the scene's law may gain energy for that reason, which does not violate the contract. */
    if (strcmp(result.state, "unphysical") == 0) FOUND("unphysical: %.300s", result.says);
    if (strcmp(result.state, "ok") != 0) WRONG("%s: %.300s", result.state, result.says);
    FOUND("a whole run, with %zu metrics", result.metrics);
}

/* ---- Climbing ---------------------------------------------------------------------------------------------------- */

static const struct rung {
    const char *name;
    pbd_status (*check)(const subject *);
} rungs[] = {{"life", check_life},
             {"scene", check_scene},
             {"moves", check_moves},
             {"held", check_held},
             {"repeatable", check_repeatable},
             {"threads", check_threads},
             {"f32 and f64", check_precisions},
             {"cpu and emu", check_emu},
             {"rest", check_rest},
             {"translation", check_translation},
             {"rotation", check_rotation},
             {"run", check_run}};

typedef struct errand {
    subject of;
    const struct rung *rung;
} errand;

static void check_here(void *context, pbd_place *place, FILE *answer) {
    errand e = *(const errand *)context;
    pbd_watched watched;
    pbd_watch(e.of.entry, place, &watched);
    e.of.entry = &watched.entry;
    const pbd_status status = e.rung->check(&e.of);
    fprintf(answer, "%d %s", (int)status.code, status.text);
}

static pbd_status climb(errand *e, pbd_check *out) {
    pbd_apart apart PBD_CLEANUP(pbd_apart_free) = {0};
    out->name = e->rung->name;
    PBD_TRY(pbd_apart_run(check_here, e, PBD_STDOUT_TO_STDERR, &apart));
    if (!apart.answered) {
        out->verdict = PBD_CHECK_FAIL;
        snprintf(out->says, sizeof out->says, "%s", pbd_apart_status(&apart, "it").text);
        return pbd_ok();
    }
    char *text;
    const pbd_code code = (pbd_code)strtol(apart.answer, &text, 10);
    out->verdict = code == PBD_OK ? PBD_CHECK_PASS : code == PBD_NOT_SUPPORTED ? PBD_CHECK_SKIPPED : PBD_CHECK_FAIL;
    snprintf(out->says, sizeof out->says, "%s", *text == ' ' ? text + 1 : text);
    return pbd_ok();
}

static pbd_status climb_all(const pbd_method_entry *entry, const pbd_case *c, pbd_check_observer observer,
                            void *context, size_t *failed) {
    pbd_check check = {.method = entry->by_precision[PBD_PRECISION_F64]->name, .case_name = c->name};
    for (size_t i = 0; i < sizeof rungs / sizeof *rungs; i++) {
        errand e = {{entry, c}, &rungs[i]};
        PBD_TRY(climb(&e, &check));
        if (pbd_interrupted()) return pbd_error(PBD_INTERRUPTED, "interrupted");
        if (check.verdict == PBD_CHECK_FAIL) (*failed)++;
        observer(context, &check);
    }
    return pbd_ok();
}

/* Larger cases are not checked: they would take longer than they are worth. */
enum { MOST_PARTICLES = 4000 };

/* Whether the case, with its defaults, is small and has no feature that the method does not support. */
static bool takes_scene_of(const pbd_method_entry *entry, const pbd_case *c) {
    const subject of = {entry, c};
    solver s PBD_CLEANUP(close_solver) = {0};
    pbd_status status = prepare(&of, best_precision(&of), NULL, &s);
    if (status.code == PBD_OK) status = pbd_check_scene(&s.setup.scene, s.method);
    return s.setup.scene.particles.count <= MOST_PARTICLES && status.code != PBD_NOT_SUPPORTED;
}

pbd_status pbd_check_plugin(const pbd_plugin *plugin, const pbd_case *only, pbd_check_observer observer, void *context,
                            size_t *failed) {
    *failed = 0;
    for (size_t m = 0; m < pbd_plugin_methods(plugin); m++) {
        const pbd_method_entry *entry = pbd_plugin_method_at(plugin, m);
        const pbd_method *method = entry->by_precision[PBD_PRECISION_F64];
        size_t cases = 0;
        pbd_check check = {
            .method = method->name, .case_name = "", .name = "table", .says = "slots, masks and parameters are valid"};
        observer(context, &check);
        for (size_t c = 0; c < pbd_case_count(); c++) {
            if ((only && pbd_case_at(c) != only) || pbd_missing_needs(method, pbd_case_at(c))) continue;
            if (pbd_param_asked(pbd_case_at(c)->params)) continue; /* such as a file, which has no default */
            if (!takes_scene_of(entry, pbd_case_at(c))) continue;
            cases++;
            PBD_TRY(climb_all(entry, pbd_case_at(c), observer, context, failed));
        }
        check = (pbd_check){.method = method->name,
                            .case_name = "",
                            .name = "cases",
                            .verdict = PBD_CHECK_SKIPPED,
                            .says = "no case provides what it needs"};
        if (cases == 0) observer(context, &check);
    }
    return pbd_ok();
}
