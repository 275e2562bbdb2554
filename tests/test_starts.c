/* Starts at rest: in every case, with every method that supports it, nothing moves in one step without loads, initial
 * velocities, deformed starts and moving colliders. A particle that starts in a wall or in another body would be pushed
 * out with a speed of depth over time step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/catalog/resolve.h"
#include "harness/catalog/scene_check.h"
#include "harness/catalog/values.h"
#include "harness/exec/arena.h"
#include "harness/exec/backend.h"
#include "harness/plan/record.h"
#include "tests/program.h"
#include "tests/sanitized.h"

static const double GRAVITY = 9.81; /* m/s^2: the unit of speeds is sqrt(gravity extent) */

/* ---- A pair ------------------------------------------------------------------------------------------------------ */

enum { MOST_SETTINGS = 24 };

typedef struct setup {
    pbd_values of_case, of_method;
    const pbd_case *c;
    pbd_setup built;
    pbd_exec *exec;
    pbd_result result;
    pbd_recorder *recorder;
    const pbd_method *method;
    void *state;
} setup;

static void close_setup(setup *s) {
    if (s->method) s->method->destroy(s->state);
    pbd_exec_destroy(s->exec);
    if (s->c) pbd_case_free(s->c, &s->built);
    pbd_values_free(&s->of_case);
    pbd_values_free(&s->of_method);
    pbd_recorder_destroy(s->recorder);
    pbd_result_free(&s->result);
}

static bool knows(const pbd_param *params, const char *word) {
    const size_t length = strcspn(word, "=");
    for (const pbd_param *p = params; p && p->name; p++)
        if (strlen(p->name) == length && strncmp(p->name, word, length) == 0) return true;
    return false;
}

/* Resolves those of the settings that the case or the method knows. */
static pbd_status resolve(const pbd_case *c, const pbd_method *method, const char *const *words, setup *s) {
    pbd_setting setting[MOST_SETTINGS] = {{0}};
    size_t count = 0;
    for (; *words && count < MOST_SETTINGS; words++)
        if (**words && (knows(c->params, *words) || (c->shared && knows(c->shared(), *words))) &&
            pbd_setting_parse(*words, &setting[count]).code == PBD_OK)
            count++;
    s->c = c;
    const pbd_status status = pbd_resolve(c, method, setting, count, &s->of_case, &s->of_method);
    for (size_t i = 0; i < count; i++) pbd_setting_free(&setting[i]);
    return status;
}

/* Removes loads, velocities and all else that would move the scene. */
static void take_loads_away(pbd_scene *scene) {
    for (int d = 0; d < 3; d++) scene->loads.gravity[d] = 0;
    for (size_t i = 0; scene->loads.forces && i < 3 * scene->particles.count; i++) scene->loads.forces[i] = 0;
    pbd_loaded *const spread[] = {&scene->surface_load.edges, &scene->surface_load.triangles,
                                  &scene->surface_load.quads};
    for (size_t k = 0; k < 3; k++) /* loads on elements of 2, 3, 4 corners */
        for (size_t i = 0; i < 3 * (k + 2) * spread[k]->count; i++) spread[k]->density[i] = 0;
    free(scene->particles.velocities);
    free(scene->particles.start);
    scene->particles.velocities = scene->particles.start = NULL;
    for (size_t c = 0; c < scene->colliders.count; c++)
        for (int d = 0; d < 3; d++) scene->colliders.item[c].velocity[d] = scene->colliders.item[c].spin[d] = 0;
    for (size_t b = 0; b < scene->blades.count; b++)
        for (int d = 0; d < 3; d++) scene->blades.item[b].velocity[d] = 0;
}

static double step_of(const pbd_values *values) {
    for (size_t i = 0; i < values->count; i++)
        if (strcmp(values->item[i].param->name, "dt") == 0 && values->item[i].number > 0) return values->item[i].number;
    return 1e-3;
}

/* The largest speed, m/s: from displacements over dt, and from the method's velocities. */
static pbd_status read_speed(const setup *s, double dt, double *out) {
    const size_t n = s->built.scene.particles.count;
    pbd_arena a PBD_ARENA;
    double *x = pbd_new(&a, double, 3 * n), *v = pbd_new(&a, double, 3 * n);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(s->method->read(s->state, PBD_POSITIONS, x));
    const pbd_status read = s->method->read(s->state, PBD_VELOCITIES, v);
    if (read.code != PBD_OK && read.code != PBD_NOT_SUPPORTED) return read;
    *out = 0;
    for (size_t k = 0; k < 3 * n; k++) {
        const double moved = fabs(x[k] - s->built.scene.particles.positions[k]) / dt;
        if (!isfinite(moved) || !isfinite(v[k])) return pbd_error(PBD_DIVERGED, "a position is not finite");
        *out = fmax(*out, fmax(moved, fabs(v[k])));
    }
    return pbd_ok();
}

/* Building and checking the scene must succeed or be unsupported; `refused` is set if the method refuses settings or
 * the scene. */
static pbd_status make(const pbd_case *c, const pbd_method *method, const char *const *words, setup *s,
                       pbd_status *refused) {
    *refused = resolve(c, method, words, s);
    if (refused->code != PBD_OK) return pbd_ok();
    PBD_TRY(pbd_case_build(c, &s->of_case, &s->built));
    PBD_TRY(pbd_check_scene(&s->built.scene, method));
    take_loads_away(&s->built.scene);
    if (s->built.scene.solved ? !method->solve : !method->step)
        return pbd_error(PBD_NOT_SUPPORTED, "it has no solver for this mode");
    s->recorder = pbd_recorder_create(&s->result, NULL);
    s->method = method;
    PBD_TRY(pbd_exec_create(PBD_CPU, 1, &s->exec));
    *refused = pbd_method_create(method, &s->built.scene, &s->of_method, s->exec, s->recorder, &s->state);
    return pbd_ok();
}

/* Liquids take several steps: excess density at the start would move them only in later steps. */
static pbd_status march(setup *s, double *speed) {
    const double dt = step_of(&s->of_method);
    const int steps = pbd_holds(&s->built.scene, PBD_FLUID) ? 10 : 1;
    for (int i = 0; i < steps; i++)
        PBD_TRY(s->built.scene.solved ? s->method->solve(s->state) : s->method->step(s->state, dt));
    return read_speed(s, dt, speed);
}

/* ---- All pairs --------------------------------------------------------------------------------------------------- */

/* Largest speed at rest, in units of sqrt(gravity extent): rounding, and the tolerance of a static solver. */
static const double AT_REST = 1e-7;

/* Exceptions: the largest allowed speed; the first matching row counts. cases/README.md states them. */
static const struct {
    const char *method, *c;
    double most;
} exceptions[] = {
    /* Smoothed matter in its own scenes: the density at the surface, too, is the rest density, except for rounding of
     * radii. Measured: 0.0007. */
    {"desbrun_sph", "liquid_drop", 0.01},
    {"desbrun_sph", "tool_cut", 0.01},
    {"desbrun_sph", "particle_pairs", 0.01},
    /* In other scenes the pressure is k (density - rest density), and particles at a free surface lack neighbours, so
     * the surface contracts (desbrun1996 section 3.1: cohesion). Measured: 0.02 to 0.66. */
    {"desbrun_sph", NULL, 0.75},
};

static double most_speed(const char *c, const char *method) {
    for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++)
        if (strcmp(exceptions[i].method, method) == 0 && (!exceptions[i].c || strcmp(exceptions[i].c, c) == 0))
            return exceptions[i].most;
    return AT_REST;
}

typedef enum outcome { AGREES, REFUSED, UNSUPPORTED } outcome;

/* Settings make bodies small, without jitter, with the law that flow rules or cloth need. The first combination that is
 * supported counts: with the case's flow rule, else without one; dynamic, else with a static solver. */
static outcome try_pair(const pbd_case *c, const pbd_method *method) {
    const char *material = method->takes & PBD_TAKES_FLOW        ? "material=hencky"
                           : method->needs & PBD_NEEDS_TRIANGLES ? "material=stvk"
                                                                 : "";
    static const char *const modes[] = {"mode=dynamic", ""}, *const flows[] = {"", "flow=none"};
    const char *cells = strcmp(c->name, "heavy_drop") == 0 ? "cells=4" : "cells=2"; /* cubes in a thin plate */
    pbd_status refused = pbd_ok();
    for (int k = 0; k < 4; k++) {
        const char *const words[] = {cells,    "particles=300", "reference=none", "across=3",
                                     "tori=2", "sausages=1",    "jitter=0",       "particles_each=200",
                                     material, modes[k / 2],    flows[k % 2],     NULL};
        setup s PBD_CLEANUP(close_setup) = {0};
        pbd_status status = make(c, method, words, &s, &refused);
        double speed;
        if (status.code == PBD_NOT_SUPPORTED || refused.code == PBD_NOT_SUPPORTED) continue;
        if (status.code == PBD_OK && refused.code != PBD_OK) return REFUSED;
        if (status.code == PBD_OK) status = march(&s, &speed);
        if (status.code != PBD_OK) fail_msg("%s %s: %s", c->name, method->name, status.text);
        const double unit = sqrt(GRAVITY * s.built.scene.extent), most = most_speed(c->name, method->name);
        if (most > AT_REST) print_message("    %s %s: %.2g\n", c->name, method->name, speed / unit);
        if (!(speed <= most * unit))
            fail_msg("%s %s: %.3g m/s after a step, %.3g sqrt(g L): at most %.3g", c->name, method->name, speed,
                     speed / unit, most);
        return AGREES;
    }
    return UNSUPPORTED;
}

/* With sanitizers, ten times slower, only every fifth case is tested. */
enum { CASE_STEP = SANITIZED ? 5 : 1 };

static void test_nothing_moves(void **unused) {
    (void)unused;
    int count[3] = {0};
    for (size_t k = 0; k < pbd_case_count(); k += CASE_STEP)
        for (size_t i = 0; i < pbd_method_count(); i++) {
            const pbd_case *c = pbd_case_at(k);
            const pbd_method *method = pbd_method_at(i)->by_precision[PBD_PRECISION_F64];
            if (pbd_missing_needs(method, c) || pbd_param_asked(c->params)) continue;
            count[try_pair(c, method)]++;
        }
    print_message("    %d pairs at rest, %d refused, %d unsupported\n", count[AGREES], count[REFUSED],
                  count[UNSUPPORTED]);
    assert_true(CASE_STEP > 1 || count[AGREES] > 200);
}

/* ---- Scenes of every size ---------------------------------------------------------------------------------------- */

/* m; distance of x from the collider's surface by formulas independent of the program's. */
static double gap_by_hand(const pbd_collider *c, const double x[3]) {
    double off[3], above = 0;
    for (int d = 0; d < 3; d++) off[d] = x[d] - c->centre[d];
    for (int d = 0; d < 3; d++) above += off[d] * c->axis[2][d];
    if (c->shape == PBD_PLANE) return above;
    if (c->shape == PBD_SPHERE) return sqrt(off[0] * off[0] + off[1] * off[1] + off[2] * off[2]) - c->half[0];
    if (c->shape == PBD_CYLINDER && c->container)
        return c->half[0] - hypot(off[0], off[1]); /* upright, the ends far away */
    if (c->shape == PBD_HOURGLASS) {               /* the cone through (neck, 0) and (end, bulb), in its half plane */
        const double slope = (c->half[1] - c->half[0]) / c->half[2];
        return (c->half[0] + slope * fabs(off[2]) - hypot(off[0], off[1])) / hypot(1, slope);
    }
    return INFINITY;
}

/* For any number of particles, which rarely fits a shape exactly, each particle is at least its contact radius away
 * from the colliders. */
static void check_scene_is_clear(const char *name, const char *const *words) {
    const pbd_method all = {.name = "all", .takes = ~0u};
    const pbd_case *c;
    const pbd_method_entry *entry;
    setup s PBD_CLEANUP(close_setup) = {0};
    assert_int_equal(pbd_find_case(name, &c).code, PBD_OK);
    assert_int_equal(pbd_find_method("fem_linear", &entry).code, PBD_OK); /* any method, needed to resolve settings */
    pbd_status status = resolve(c, entry->by_precision[PBD_PRECISION_F64], words, &s);
    if (status.code == PBD_OK) status = pbd_case_build(c, &s.of_case, &s.built);
    if (status.code == PBD_OK) status = pbd_check_scene(&s.built.scene, &all);
    if (status.code != PBD_OK) fail_msg("%s %s %s: %s", name, words[0], words[1], status.text);
    const pbd_scene *scene = &s.built.scene;
    double least = INFINITY, smallest = INFINITY;
    for (size_t i = 0; i < scene->particles.count; i++) {
        const double radius = scene->contact.radius ? scene->contact.radius[i] : 0;
        smallest = fmin(smallest, radius);
        for (size_t k = 0; k < scene->colliders.count; k++)
            least = fmin(least, gap_by_hand(&scene->colliders.item[k], scene->particles.positions + 3 * i) - radius);
    }
    if (!(least > -1e-9 * scene->extent)) fail_msg("%s %s %s: %g m in a collider", name, words[0], words[1], -least);
    if (!(smallest > 0.15 * scene->particles.spacing))
        fail_msg("%s %s %s: radii are %g of a spacing", name, words[0], words[1], smallest / scene->particles.spacing);
}

static void test_scenes_are_clear(void **unused) {
    (void)unused;
    static const char *const cases[][2] = {{"sand_column", ""},
                                           {"sand_column", "shape=plane"},
                                           {"sand_column", "jitter=0.1"},
                                           {"hourglass", ""},
                                           {"hourglass", "collider=mesh"},
                                           {"extrusion", ""},
                                           {"hand_in_fluid", ""},
                                           {"dam_breach", ""},
                                           {"wheel_press", ""},
                                           {"goo_drop", "drop=0"},
                                           {"snow_dive", ""},
                                           {"blocks_collide", "drop=0"}};
    static const char *const particles[] = {"particles=150", "particles=300", "particles=517", "particles=2000"};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (size_t n = 0; n < 4; n++)
            for (int poisson = 0; poisson < 2; poisson++) {
                const char *const words[] = {particles[n], cases[k][1], poisson ? "sampling=poisson" : "", NULL};
                check_scene_is_clear(cases[k][0], words);
            }
}

/* Contact radii must not shrink much to fit the walls: with 0.37 of their size sausages passed through each other. */
static void test_sausages_keep_their_radii(void **unused) {
    (void)unused;
    static const char *const settings[][2] = {
        {"particles_each=300", "sausages=1"}, {"particles_each=1000", "sausages=2"}, {"particles_each=4000", "cuts=0"}};
    const pbd_method all = {.name = "all", .takes = ~0u};
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        const char *const words[] = {settings[k][0], settings[k][1], NULL};
        const pbd_case *c;
        const pbd_method_entry *entry;
        setup s PBD_CLEANUP(close_setup) = {0};
        assert_int_equal(pbd_find_case("sausages", &c).code, PBD_OK);
        assert_int_equal(pbd_find_method("fem_linear", &entry).code, PBD_OK);
        pbd_status status = resolve(c, entry->by_precision[PBD_PRECISION_F64], words, &s);
        if (status.code == PBD_OK) status = pbd_case_build(c, &s.of_case, &s.built);
        if (status.code == PBD_OK) status = pbd_check_scene(&s.built.scene, &all);
        if (status.code != PBD_OK) fail_msg("%s %s: %s", words[0], words[1], status.text);
        assert_int_equal(s.built.warnings, 0);
        double largest = 0;
        for (size_t i = 0; i < s.built.scene.particles.count; i++)
            largest = fmax(largest, s.built.scene.contact.radius[i]);
        assert_true(fabs(largest / s.built.scene.particles.spacing - 0.7) < 1e-12);
    }
}

/* ---- Refusals ---------------------------------------------------------------------------------------------------- */

static void expect_refused(const char *const *words, const char *const *says) {
    told t = tell_to(STDOUT_KEPT, words);
    expect_code(t, 2);
    assert_string_equal(t.out, "");
    for (; *says; says++) expect_says(t.err, *says);
    forget(&t);
    t = tell("list", "runs", "--json", "--db", in_workplace("starts.db"));
    assert_null(strstr(t.out, "\"run_id\"")); /* nothing is stored */
    forget(&t);
}

static void test_overlaps_are_refused(void **unused) {
    (void)unused;
    const char *db = in_workplace("starts.db");
    /* A column with sites 0.02 m apart, the lowest 0.01 m above the floor, and radii of 0.05 m. */
    expect_refused(
        (const char *const[]){"run", "sand_column", "-m", "xpbi", "-s", "spacing=0.02", "-s", "contact_radius=0.05",
                              "--db", db, NULL},
        (const char *const[]){"starts 0.04 m too deep in collider 0, a plane at (0, 0, 0)", "0.01 m from its surface",
                              "contact radius of 0.05 m", "set a smaller contact radius", NULL});
    expect_refused((const char *const[]){"run", "hourglass", "-m", "mpm", "-s", "collider=mesh", "-s", "particles=300",
                                         "-s", "contact_radius=0.02", "--db", db, NULL},
                   (const char *const[]){"too deep in collider 0, a mesh", NULL});
    expect_refused((const char *const[]){"run", "tori", "-m", "corrected_sph", "-s", "tori=2", "-s",
                                         "contact_radius=0.1", "-s", "drop=5", "-s", "room=5", "--db", db, NULL},
                   (const char *const[]){"of bodies 0 and 1 start", "too deep in each other",
                                         "start the bodies farther apart", NULL});
    expect_refused(
        (const char *const[]){"run", "sand_column", "-m", "xpbd_grains", "-s", "particles=300", "-s",
                              "sampling=poisson", "--db", db, NULL},
        (const char *const[]){"grains overlap others at the start", "use grain_radius=", "start_sweeps=500", NULL});
    expect_refused((const char *const[]){"run", "sand_column", "-m", "xpbd_grains", "-s", "particles=300", "-s",
                                         "sampling=poisson", "-s", "grain_radius=0.34", "--db", db, NULL},
                   (const char *const[]){"too deep in a collider", "start_sweeps=500", NULL});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_moves),
        cmocka_unit_test(test_scenes_are_clear),
        cmocka_unit_test(test_sausages_keep_their_radii),
        cmocka_unit_test(test_overlaps_are_refused),
    };
    return cmocka_run_group_tests_name("starts", tests, NULL, remove_workplace);
}
