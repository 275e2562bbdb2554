/* Cases of smoothed matter: their scenes, and their metrics on prescribed states. */
#include "tests/trial.h"

#include "tests/program.h"

static void measure_moving(trial *t) {
    const told_state state = {t->x, t->v};
    check_ok(t->c->measure(&t->setup, &telling, &state, t->recorder));
}

static double first_of(const trial *t, const char *series) {
    for (size_t k = 0; k < t->result.series_count; k++)
        if (strcmp(t->result.series[k].name, series) == 0) return t->result.series[k].values[0];
    return NAN;
}

/* 80 particles, ten wide and eight high. With the right half moved away there are two pieces of the same total area. */
static void test_cut(void **unused) {
    (void)unused;
    trial t;
    open_case(&t, "tool_cut", "settle=0");
    assert_int_equal(t.scene.particles.count, 80);
    assert_int_equal(t.scene.colliders.count, 2);
    check_near("left", t.x[0], -4.5, 0);
    check_near("top", t.x[3 * 79 + 1], 7, 0);
    check_near("mass", t.scene.particles.masses[5], 1, 0);
    /* The tip of the tool starts two spacings above the body and ends on the ground. */
    const pbd_collider *tool = &t.scene.colliders.item[1];
    check_near("tip", tool->centre[1] - tool->half[2] - tool->half[0], 9, 1e-12);
    check_near("tip at the end", 9 - tool->end * 1, -0.5, 1e-12);
    observe(&t, 0);
    for (size_t p = 0; p < 80; p++)
        if (p % 10 >= 5) t.x[3 * p] += 10;
    observe(&t, 1);
    measure(&t);
    check_metric(&t, "pieces", 2, 0);
    check_metric(&t, "second_piece", 40, 0);
    check_metric(&t, "nearest_mean", 1, 1e-12);
    check_metric(&t, "clustered", 0, 0);
    /* Neighbours are at 1 and sqrt 2. Each half of 5 x 8 has 5 * 7 + 8 * 4 = 67 pairs at 1 and 56 diagonal ones. */
    check_metric(&t, "neighbours_within_2h", 2 * 2 * (67 + 56) / 80.0, 1e-12);
    const double change = told_metric(&t, "volume_change_at_2");
    assert_true(change > 0.02 && change < 0.2); /* two more sides, each about half a spacing further out */
    close_case(&t);
}

/* The area of a lone particle at the isovalue m W(h) is that of a circle of radius h. */
static void test_area_of_one(void **unused) {
    (void)unused;
    trial t;
    open_case(&t, "liquid_drop", "particles=1 h=1");
    observe(&t, 0);
    check_near("area", first_of(&t, "volume_at_1"), acos(-1), 0.01);
    close_case(&t);
}

static void test_drops_and_pools(void **unused) {
    (void)unused;
    trial t;
    open_case(&t, "liquid_drop",
              "dimensions=3 particles=7 pool_particles=32 pool_columns=4 speed=3 gravity=0 ground=off height=2");
    assert_int_equal(t.scene.particles.count, 39);
    check_near("the drop's speed", t.scene.particles.velocities[1], -3, 0);
    check_near("the pool's", t.scene.particles.velocities[3 * 7 + 1], 0, 0);
    /* The drop is the seven nearest sites, the middle and its six neighbours; the pool below has two layers. */
    const double middle = t.x[1];
    check_near("height", middle, 2 + 2 + cbrt(0.75 * 7 / acos(-1)), 1e-12);
    for (size_t p = 1; p < 7; p++)
        check_near("away", hypot(hypot(t.x[3 * p], t.x[3 * p + 1] - middle), t.x[3 * p + 2]), 1, 1e-12);
    memcpy(t.v, t.scene.particles.velocities, 3 * 39 * sizeof *t.v);
    t.v[0] = 0.21; /* of 7 * 3 */
    measure_moving(&t);
    check_metric(&t, "momentum_gained", 0.01, 1e-15);
    check_metric(&t, "kinetic_energy", 0.5 * (7 * 9 + 0.21 * 0.21), 1e-12);
    close_case(&t);
    assert_int_equal(try_case(&t, "tool_cut", "duration=5").code, PBD_BAD_INPUT);
    assert_int_equal(try_case(&t, "tool_cut", "h=0").code, PBD_BAD_INPUT);
}

/* Two particles of 1 kg, 0.8 m apart in the plane, h = 1 m: W = 5 (2 - q)^3/(16 pi). Their density is above the rest
 * density of 0.9 kg/m^2, so they separate along their connecting line. */
static void test_squeezed_pair(void **unused) {
    (void)unused;
    const double unit = 5 / (16 * acos(-1)), density = unit * (8 + 1.2 * 1.2 * 1.2);
    trial t;
    open_case(&t, "liquid_drop", "particles=2 h=1 squeeze=0.8 rest_density=0.9 gravity=0 ground=off");
    const double *a = t.x, *b = t.x + 3, apart[2] = {(b[0] - a[0]) / 0.8, (b[1] - a[1]) / 0.8};
    check_near("distance, spacings", hypot(apart[0], apart[1]), 1, 1e-14);
    observe(&t, 0);
    check_near("volume, m^2", first_of(&t, "volume"), 2 / density, 1e-13);
    check_near("surfaces", first_of(&t, "surface_pieces"), 1, 0);
    for (int d = 0; d < 2; d++) t.v[d] = -3e-4 * apart[d], t.v[3 + d] = 3e-4 * apart[d];
    measure_moving(&t);
    check_metric(&t, "direction_error", 0, 1e-8);
    check_metric(&t, "impulse_sum", 0, 1e-15);
    for (int d = 0; d < 6; d++) t.v[d] *= -1; /* towards each other */
    measure_moving(&t);
    check_metric(&t, "direction_error", 2, 1e-8);
    t.v[0] = t.v[1] = 0;
    measure_moving(&t);
    check_metric(&t, "impulse_sum", 1, 1e-15);
    close_case(&t);
    open_case(&t, "liquid_drop", "particles=2 h=1 spin=3 speed=2 gravity=0 ground=off");
    const double middle[2] = {t.scene.particles.positions[0], t.scene.particles.positions[1]}; /* the nearest site */
    for (size_t p = 0; p < 2; p++) {
        const double *x = t.scene.particles.positions + 3 * p, *v = t.scene.particles.velocities + 3 * p;
        check_near("v_x", v[0], -3 * (x[1] - middle[1]), 1e-14);
        check_near("v_y", v[1], 3 * (x[0] - middle[0]) - 2, 1e-14);
    }
    close_case(&t);
}

static void test_pairs(void **unused) {
    (void)unused;
    trial t;
    open_case(&t, "particle_pairs", "dimensions=2 pairs=5 farthest=2 dt=1 k=2 h=1");
    assert_int_equal(t.scene.particles.count, 10);
    t.v[3 * 3] = 4; /* in the second pair, half an h apart: 4/dt h/k */
    measure_moving(&t);
    check_metric(&t, "largest_force", 2, 1e-12);
    check_metric(&t, "integral_1d", 1, 1e-6);
    check_metric(&t, "integral_2d", 1, 1e-6);
    check_metric(&t, "integral_3d", 1, 1e-6);
    check_metric(&t, "parts_at_2", 2, 5e-3);
    check_metric(&t, "parts_at_1", 4 - 2 * cbrt(0.5), 5e-3); /* (2 - q/2)^3 = 1/2 at the midpoint */
    check_metric(&t, "radius_at_2", 2 - cbrt(2), 1e-3);
    check_metric(&t, "radius_at_1", 1, 1e-3);
    close_case(&t);
}

/* The program runs these cases; a body that flies far apart gets a warning instead of a surface. */
static void test_runs(void **unused) {
    (void)unused;
    told answer =
        tell("run", "tool_cut", "-m", "desbrun_sph", "-s", "duration=12", "-s", "settle=1", "-s", "dt=0.08", "--json");
    expect_code(answer, 0);
    expect_says(answer.out, "\"second_piece\"");
    forget(&answer);
    answer = tell("run", "liquid_drop", "-m", "desbrun_sph", "-s", "h=0");
    expect_code(answer, 2);
    expect_says(answer.err, "h=0");
    forget(&answer);
}

/* Surfaces of the drawn states are written on request. */
static void test_surfaces_are_written(void **unused) {
    (void)unused;
    static const char *const kind[] = {"element edge", "element face"};
    for (int d = 0; d < 2; d++) {
        char words[600], path[400], head[400] = {0};
        trial t;
        snprintf(path, sizeof path, "%s", in_workplace("drop"));
        snprintf(words, sizeof words, "dimensions=%d particles=20 surface_files=%s", d + 2, path);
        open_case(&t, "liquid_drop", words);
        observe(&t, 0);
        close_case(&t);
        snprintf(path, sizeof path, "%s", in_workplace("drop_000.ply"));
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        assert_true(fread(head, 1, sizeof head - 1, file) > 100);
        fclose(file);
        assert_memory_equal(head, "ply\n", 4);
        assert_non_null(strstr(head, kind[d]));
    }
    trial t;
    open_case(&t, "liquid_drop", "surface_files=/nowhere/at/all");
    const told_state state = {t.x, t.v};
    assert_int_equal(t.c->observe(&t.setup, &telling, &state, 0, t.recorder).code, PBD_FAILED);
    close_case(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_area_of_one),
        cmocka_unit_test(test_drops_and_pools),
        cmocka_unit_test(test_squeezed_pair),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_surfaces_are_written),
    };
    return cmocka_run_group_tests_name("cases of smoothed matter", tests, NULL, remove_workplace);
}
