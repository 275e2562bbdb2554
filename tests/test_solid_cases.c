/* The cases of deformable bodies: meshes and loads against hand-computed volumes, masses and forces; how the harness
 * observes them and what it lets a method leave out; their refusals. */
#include "harness/catalog/resolve.h"
#include "tests/ladder.h"

#include "harness/catalog/scene_check.h"
#include "tests/program.h"
#include "tests/trial.h"

/* ---- Meshes, masses, loads --------------------------------------------------------------------------------------- */

static double tet_volume(const double *x, const uint32_t *t) {
    double a[3][3];
    for (int e = 0; e < 3; e++)
        for (uint32_t d = 0; d < 3; d++) a[e][d] = x[3 * t[e] + d] - x[3 * t[3] + d];
    return (a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) - a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
            a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0])) /
           6;
}

static double triangle_area(const double *x, const uint32_t *t) {
    double a[3], b[3];
    for (uint32_t d = 0; d < 3; d++) a[d] = x[3 * t[1] + d] - x[3 * t[0] + d], b[d] = x[3 * t[2] + d] - x[3 * t[0] + d];
    return hypot(hypot(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2]), a[0] * b[1] - a[1] * b[0]) / 2;
}

static void check_solid(const char *name, const char *words, size_t hexes, size_t particles, double volume) {
    trial t;
    double sum = 0, smallest = INFINITY, mass = 0;
    open_case(&t, name, words);
    print_message("%s %s\n", name, words);
    assert_int_equal(t.scene.hexes.count, hexes);
    assert_int_equal(t.scene.tets.count, 5 * hexes);
    assert_int_equal(t.scene.particles.count, particles);
    for (size_t e = 0; e < t.scene.tets.count; e++) {
        const double one = tet_volume(t.scene.particles.positions, t.scene.tets.corner + 4 * e);
        sum += one;
        smallest = fmin(smallest, one);
    }
    for (size_t i = 0; i < particles; i++) mass += t.scene.particles.masses[i];
    assert_true(smallest > 0);
    check_near("volume, m^3", sum, volume, 1e-12 * volume);
    check_near("mass, kg", mass, 120 * volume, 1e-12 * 120 * volume);
    close_case(&t);
}

static void test_solids(void **unused) {
    (void)unused;
    check_solid("collapse", "cells=3 length=2 width=0.6 density=120", 10 * 9, 11 * 16, 2 * 0.36);
    check_solid("twist", "cells=2 length=1.5 width=0.5 density=120", 6 * 4, 7 * 9, 1.5 * 0.25);
    check_solid("material_sweep", "cells=1 length=1 width=0.25 density=120", 4, 5 * 4, 0.0625);
    check_solid("heavy_drop", "cells=4 length=2 width=0.8 thickness=0.4 density=120", 10 * 4 * 2, 11 * 5 * 3,
                2 * 0.8 * 0.4);
    check_solid("heavy_drop", "cells=4 length=2 width=0.8 thickness=0.01 density=120", 10 * 4, 11 * 5 * 2,
                2 * 0.8 * 0.01); /* one flat layer of cubes */
}

static void check_cloth(const char *name) {
    trial t;
    double area = 0, mass = 0;
    open_case(&t, name, "cells=3 length=1.2 width=0.9 thickness=0.02 density=50");
    assert_int_equal(t.scene.triangles.count, 2 * 4 * 3);
    assert_int_equal(t.scene.particles.count, 5 * 4);
    assert_int_equal(t.scene.tets.count + t.scene.hexes.count, 0);
    for (size_t e = 0; e < t.scene.triangles.count; e++)
        area += triangle_area(t.scene.particles.positions, t.scene.triangles.corner + 3 * e);
    for (size_t i = 0; i < t.scene.particles.count; i++) mass += t.scene.particles.masses[i];
    check_near("area, m^2", area, 1.08, 1e-13);
    check_near("mass, kg", mass, 1.08, 1e-13);
    check_near("thickness, m", t.scene.material->thickness, 0.02, 0);
    close_case(&t);
}

static void test_cloths(void **unused) {
    (void)unused;
    check_cloth("towel");
    check_cloth("hanging_sheet");
}

/* The sum of the forces, and of their moments about the origin. */
static void sum_forces(const pbd_scene *s, double force[3], double moment[3]) {
    for (int d = 0; d < 3; d++) force[d] = moment[d] = 0;
    for (size_t p = 0; p < s->particles.count; p++)
        for (size_t d = 0; d < 3; d++) {
            const double *x = s->particles.positions + 3 * p, *f = s->loads.forces + 3 * p;
            force[d] += f[d];
            moment[d] += x[(d + 1) % 3] * f[(d + 2) % 3] - x[(d + 2) % 3] * f[(d + 1) % 3];
        }
}

static void test_loads(void **unused) {
    (void)unused;
    double force[3], moment[3];
    trial t;
    open_case(&t, "material_sweep", "load=surface traction=300 width=0.5 cells=3");
    sum_forces(&t.scene, force, moment);
    check_near("pull on the lower face, N", force[2], -300 * 0.25, 1e-12);
    check_near("its moment, N m", hypot(moment[0], moment[1]), 0, 1e-12);
    check_near("no gravity beside it", t.scene.loads.gravity[2], 0, 0);
    close_case(&t);
    open_case(&t, "towel", "pull=3 length=2 width=0.7 cells=5");
    sum_forces(&t.scene, force, moment);
    check_near("pull on the edges, N", hypot(hypot(force[0], force[1]), force[2]), 0, 1e-12);
    check_near("moment, N m", moment[2], 0, 1e-12);
    double right = 0;
    for (size_t p = 0; p < t.scene.particles.count; p++)
        if (t.scene.particles.positions[3 * p] > 1.999) right += t.scene.loads.forces[3 * p];
    check_near("on one edge, N", right, 3 * 0.7, 1e-12);
    close_case(&t);
    open_case(&t, "heavy_drop", "objects=2 object_mass=0.5 gravity=10 object_radius=0.2 load_time=0.5 duration=2");
    sum_forces(&t.scene, force, moment);
    check_near("weight of two objects, N", force[2], -10, 1e-12);
    check_near("until, s", t.scene.loads.forces_end, 0.5, 0);
    check_near("on the middle of the plate", moment[1], 10 * 0.5, 1e-12); /* x f_z, with the sign of z cross x */
    for (size_t i = 0; i < t.scene.particles.fixed; i++)
        assert_true(t.scene.loads.forces[3 * t.scene.particles.fixed_particle[i] + 2] == 0);
    close_case(&t);
    open_case(&t, "heavy_drop", "objects=1 object_radius=1e-9 cells=1"); /* smaller than any cube */
    sum_forces(&t.scene, force, moment);
    check_near("a patch without particles, N", force[2], -0.2 * 9.81, 1e-12);
    close_case(&t);
}

static void test_held(void **unused) {
    (void)unused;
    static const struct {
        const char *name, *words;
        size_t held;
    } rows[] = {{"twist", "cells=2", 2 * 9},
                {"material_sweep", "cells=2", 9},
                {"heavy_drop", "cells=2 thickness=0.3", 2 * 6},
                {"hanging_sheet", "cells=4", 5},
                {"towel", "cells=4", 0},
                {"collapse", "cells=2", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        trial t;
        open_case(&t, rows[i].name, rows[i].words);
        assert_int_equal(t.scene.particles.fixed, rows[i].held);
        for (size_t k = 1; k < t.scene.particles.fixed; k++)
            assert_true(t.scene.particles.fixed_particle[k] > t.scene.particles.fixed_particle[k - 1]);
        if (strcmp(rows[i].name, "hanging_sheet") == 0 || strcmp(rows[i].name, "material_sweep") == 0)
            for (size_t k = 0; k < t.scene.particles.fixed; k++) /* fixed particles are at the top */
                assert_true(t.scene.particles.positions[3 * t.scene.particles.fixed_particle[k] + 2] == 0);
        close_case(&t);
    }
}

/* ---- Through the harness ----------------------------------------------------------------------------------------- */

/* A mock method that does nothing in its steps and returns the scene's positions. */
typedef struct idler {
    size_t numbers;
    double *x;
    long steps;
} idler;

static void idle_destroy(void *state) {
    if (state) free(((idler *)state)->x);
    free(state);
}

static pbd_status idle_create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                              void **state) {
    (void)values, (void)exec, (void)recorder;
    idler *s = calloc(1, sizeof *s);
    s->numbers = 3 * scene->particles.count;
    s->x = malloc(s->numbers * sizeof *s->x);
    memcpy(s->x, scene->particles.start ? scene->particles.start : scene->particles.positions,
           s->numbers * sizeof *s->x);
    *state = s;
    return pbd_ok();
}

static pbd_status idle_step(void *state, double dt) {
    (void)dt;
    ((idler *)state)->steps++;
    return pbd_ok();
}

static pbd_status idle_read(const void *state, pbd_field field, double *out) {
    const idler *s = state;
    if (field != PBD_POSITIONS && field != PBD_VELOCITIES) return pbd_error(PBD_NOT_SUPPORTED, "no");
    for (size_t i = 0; i < s->numbers; i++) out[i] = field == PBD_POSITIONS ? s->x[i] : 0;
    return pbd_ok();
}

static pbd_status idle_save(const void *state, void *blob, size_t *bytes) {
    *bytes = sizeof(long);
    if (blob) memcpy(blob, &((const idler *)state)->steps, sizeof(long));
    return pbd_ok();
}

static pbd_status idle_load(void *state, const void *blob, size_t bytes) {
    memcpy(&((idler *)state)->steps, blob, bytes);
    return pbd_ok();
}

static const pbd_param idle_params[] = {{"dt", "s", PBD_REAL, "0.003", 0, 1, PBD_OPEN_MIN, NULL, "step"}, {0}};
static pbd_method idling = {.bytes = sizeof(pbd_method),
                            .name = "idling",
                            .summary = "does nothing",
                            .source = "",
                            .needs = PBD_NEEDS_PARTICLES,
                            .params = idle_params,
                            .create = idle_create,
                            .backends = PBD_CPU,
                            .precisions = PBD_F64,
                            .step = idle_step,
                            .read = idle_read,
                            .save = idle_save,
                            .load = idle_load,
                            .destroy = idle_destroy};

/* Runs `collapse` for 1 s with steps of `dt`, after two warm-ups, which must not be observed. */
static pbd_status idle_through_collapse(const char *dt, unsigned takes, pbd_result *out) {
    const pbd_method_entry entry = {.by_precision = {&idling, &idling}};
    const pbd_setting settings[] = {{"dt", dt}, {"cells", "1"}};
    pbd_plan_item item = {.seed = 1, .warmups = 2};
    idling.takes = takes | PBD_TAKES_ELASTICITY;
    item.cell = (pbd_cell){.method = &entry, .precision = PBD_PRECISION_F64, .threads = 1};
    PBD_TRY(pbd_find_case("collapse", &item.cell.c));
    PBD_TRY(pbd_resolve(item.cell.c, &idling, settings, 2, &item.cell.case_values, &item.cell.method_values));
    const pbd_status status = pbd_run_cell(&item, out);
    pbd_values_free(&item.cell.case_values);
    pbd_values_free(&item.cell.method_values);
    return status;
}

static void test_looks(void **unused) {
    (void)unused;
    static const struct {
        const char *dt;
        size_t looks;
    } rows[] = {{"0.005", 201}, {"0.001", 201}, {"0.01", 101}, {"0.003", 201}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pbd_result result = {0};
        check_ok(idle_through_collapse(rows[i].dt, PBD_TAKES_START, &result));
        assert_string_equal(result.state, "ok");
        assert_true(result.series_count >= 2); /* plus those of the balances */
        assert_string_equal(result.series[0].name, "time");
        print_message("dt=%s: %zu looks, the last at %g s\n", rows[i].dt, result.series[0].count,
                      result.series[0].values[result.series[0].count - 1]);
        /* Steps of 3 ms reach each multiple of 5 ms within 3 ms; 333 of them end at 0.999 s. */
        assert_int_equal(result.series[0].count, rows[i].looks - (i == 3));
        check_near("first look, s", result.series[0].values[0], 0, 0);
        bool apart = false;
        for (size_t p = 0; p < result.phases; p++) apart = apart || strcmp(result.phase[p].name, "observe") == 0;
        assert_true(apart);
        pbd_result_free(&result);
    }
}

/* ---- Refusals ---------------------------------------------------------------------------------------------------- */

static void test_takes(void **unused) {
    (void)unused;
    pbd_result result = {0};
    const pbd_status refused = idle_through_collapse("0.01", 0, &result);
    assert_int_equal(refused.code, PBD_NOT_SUPPORTED);
    expect_says(refused.text, "idling");
    double start[3] = {0, 0, 0};
    static const unsigned masks[] = {PBD_TAKES_START, PBD_TAKES_FIBRES, PBD_TAKES_PLASTICITY, PBD_TAKES_FORCES_END};
    static const char *const words[] = {"start away from rest", "fibre_stiffness=0", "yield_strain=0", "forces"};
    for (int i = 0; i < 4; i++) {
        pbd_scene scene = {.particles.start = i == 0 ? start : NULL, .loads.forces_end = i == 3 ? 1 : 0};
        scene.material->fibre_stiffness[2] = i == 1 ? 5 : 0;
        scene.material->yield_strain = i == 2 ? 0.1 : 0;
        pbd_method method = {.name = "some", .takes = masks[i]};
        check_ok(pbd_check_scene(&scene, &method));
        method.takes = ~masks[i];
        const pbd_status status = pbd_check_scene(&scene, &method);
        assert_int_equal(status.code, PBD_NOT_SUPPORTED);
        expect_says(status.text, words[i]);
    }
}

/* A scene with several kinds of matter needs a method that supports all; others say which kind they lack. */
static void test_matter(void **unused) {
    (void)unused;
    uint8_t index[2] = {0, 1};
    static const struct {
        pbd_material second;
        unsigned takes;
        const char *says;
    } rows[] = {{{.matter = PBD_FLUID}, PBD_TAKES_FLUID, "liquids"},
                {{.matter = PBD_CLOTH}, PBD_TAKES_CLOTH, "cloth"},
                {{.matter = PBD_CLOTH, .bending = 1e-3}, PBD_TAKES_CLOTH, "bending"},
                {{.matter = PBD_FLUID, .flow = "von_mises"}, PBD_TAKES_FLUID | PBD_TAKES_FLOW, "flow rules"},
                {{.matter = PBD_CONTINUUM}, PBD_TAKES_MATERIALS, "several solids"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const pbd_scene scene = {
            .particles = {.count = 2, .material = index}, .materials = 2, .material[1] = rows[i].second};
        pbd_method method = {.name = "some", .takes = rows[i].takes};
        check_ok(pbd_check_scene(&scene, &method));
        method.takes = ~rows[i].takes;
        const pbd_status status = pbd_check_scene(&scene, &method);
        assert_int_equal(status.code, PBD_NOT_SUPPORTED);
        expect_says(status.text, rows[i].says);
    }
    index[1] = 7;
    const pbd_scene beyond = {.particles = {.count = 2, .material = index}, .materials = 2},
                    unknown = {.material[0].matter = 9};
    const pbd_method method = {.name = "some"};
    pbd_status status = pbd_check_scene(&beyond, &method);
    assert_int_equal(status.code, PBD_BAD_INPUT);
    expect_says(status.text, "particle 1 is of material 7, but the scene has 2: 0 to 1");
    status = pbd_check_scene(&unknown, &method);
    assert_int_equal(status.code, PBD_BAD_INPUT);
    expect_says(status.text, "of matter 9");
}

static void test_bad_input(void **unused) {
    (void)unused;
    static const struct {
        const char *name, *words, *says;
    } rows[] = {{"collapse", "start=plain", "did you mean 'plane'"},
                {"collapse", "nu=0.5", "nu"},
                {"collapse", "noise=-1", "noise"},
                {"collapse", "width=0", "width"},
                {"twist", "revolutions=nan", "revolutions"},
                {"twist", "revolutions=100", "inverts"}, /* five whole turns per layer, so the bar looks straight */
                {"twist", "revolutions=-5.1 cells=4", "inverts"},
                {"twist", "length=1e6 width=1e-3", "length=1e+06"},
                {"towel", "fibre_angle=181", "fibre_angle"},
                {"towel", "fibre_stiffness=-1", "fibre_stiffness"},
                {"towel", "second_stiffness=-1", "second_stiffness"},
                {"towel", "second_angle=200", "second_angle"},
                {"towel", "length=1e6 width=1e-3", "length=1e+06"},
                {"hanging_sheet", "thickness=0", "thickness"},
                {"heavy_drop", "load_time=4", "load_time=4 is not below duration=4"},
                {"heavy_drop", "length=0.1 cells=1", "one cube long"},
                {"heavy_drop", "thickness=1e6 width=1e-3 length=0.01", "thickness=1e+06"},
                {"heavy_drop", "objects=0", "objects"},
                {"material_sweep", "load=gravty", "did you mean 'gravity'"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        trial t;
        const pbd_status status = try_case(&t, rows[i].name, rows[i].words);
        if (status.code != PBD_BAD_INPUT) fail_msg("%s %s was accepted", rows[i].name, rows[i].words);
        print_message("    %s\n", status.text);
        expect_says(status.text, rows[i].says);
    }
}

static void expect_refusal(const char *setting, const char *c, const char *says) {
    told answer = tell("run", c, "-m", "fem_linear", "-s", setting);
    expect_code(answer, 2);
    expect_says(answer.err, says);
    assert_string_equal(answer.out, "");
    forget(&answer);
}

static void test_the_program_refuses(void **unused) {
    (void)unused;
    expect_refusal("cells=2", "collapse", "fem_linear");
    expect_refusal("revolutions=1000", "twist", "inverts");
    expect_refusal("cells=4", "towel", "hexahedra");
    told stored = tell("list", "runs", "--json");
    assert_null(strstr(stored.out, "twist"));
    forget(&stored);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solids), cmocka_unit_test(test_cloths),    cmocka_unit_test(test_loads),
        cmocka_unit_test(test_held),   cmocka_unit_test(test_looks),     cmocka_unit_test(test_takes),
        cmocka_unit_test(test_matter), cmocka_unit_test(test_bad_input), cmocka_unit_test(test_the_program_refuses),
    };
    return cmocka_run_group_tests_name("solid cases", tests, NULL, remove_workplace);
}
