/* Cases of candy and snow: their bodies and colliders, and their metrics on states made by hand. */
#include "cases/scenes/person.h"
#include "tests/flow_values.h"
#include "tests/trial.h"

/* ---- The ant ----------------------------------------------------------------------------------------------------- */

static void test_ant(void **state) {
    (void)state;
    trial t;
    open_case(&t, "candy_ant", "particles=1500 size=0.5");
    double low[3] = {1, 1, 1}, high[3] = {-1, -1, -1};
    for (size_t k = 0; k < 3 * t.scene.particles.count; k++) {
        low[k % 3] = fmin(low[k % 3], t.x[k]);
        high[k % 3] = fmax(high[k % 3], t.x[k]);
    }
    const double h = t.scene.particles.spacing;
    check_near("length, m", high[0] - low[0], 0.5, 2 * h);
    check_near("as wide to the left as to the right, m", high[1] + low[1], 0, 1e-12);
    check_near("feet over the floor, m", low[2], 0.01 + 0.5 * h, h);
    check_near("speed, m/s", t.scene.particles.velocities[2], -3, 0);
    check_near("xi of candy", flow_value_of(t.scene.material, "xi"), 1, 0);
    check_near("M of candy", flow_value_of(t.scene.material, "M"), 2.36, 0);
    observe(&t, 0);
    measure(&t);
    check_metric(&t, "fragments", 1, 0);
    check_metric(&t, "crumbs", 0, 0);
    /* With the tail and one particle broken off there are two pieces and a crumb. */
    for (size_t i = 0; i < t.scene.particles.count; i++)
        t.x[3 * i] += t.scene.particles.positions[3 * i] < -0.19 ? -3 * h : 0;
    t.x[3 * 700 + 2] += 1;
    measure(&t);
    check_metric(&t, "fragments", 2, 0);
    check_metric(&t, "crumbs", 1, 0);
    close_case(&t);
}

/* Values in the picture: 1 for the largest piece, 0 for a lone particle. */
static void test_view(void **state) {
    (void)state;
    trial t;
    open_case(&t, "candy_ant", "particles=1500");
    t.x[2] += 1;
    observe(&t, 0.1); /* the end: view_4 */
    size_t seen = 0;
    for (size_t i = 0; i < t.result.series_count; i++) {
        const pbd_series_item *s = &t.result.series[i];
        if (strcmp(s->name, "view_4") != 0) continue;
        seen++;
        assert_int_equal(s->count, 1500);
        if (strcmp(s->component, "piece") == 0) {
            check_near("the lone one", s->values[0], 0, 0);
            check_near("another", s->values[700], 1, 0);
        }
    }
    assert_int_equal(seen, 4);
    close_case(&t);
}

/* ---- The person -------------------------------------------------------------------------------------------------- */

/* Upright, the person is one height tall from soles to head; lying flat, as thick as the trunk and the feet. */
static void test_person(void **state) {
    (void)state;
    double low, high;
    for (int flat = 0; flat < 2; flat++) {
        pbd_scene scene = {0};
        check_ok(particle_open_colliders(&scene, PERSON_PARTS));
        person_add(&scene, &(person_pose){2, flat ? 90 : 0, 0.5, 0}, 0, 0, 0.1);
        assert_int_equal(scene.colliders.count, PERSON_PARTS);
        double bottom = INFINITY, top = -INFINITY;
        for (int i = -60; i <= 60; i++)
            for (int j = -60; j <= 60; j++) {
                const double at[2] = {0.02 * i, 0.02 * j};
                if (!person_over(&scene, 0, 0, at, &low, &high)) continue;
                bottom = fmin(bottom, low);
                top = fmax(top, high);
            }
        check_near("lowest point, m", bottom, 0.5, 0.002);
        if (!flat) check_near("height, m", top - bottom, 2 * (0.93 + 0.075), 0.01);
        if (flat) check_near("thickness, m", top - bottom, 2 * (0.125 + 0.09), 0.01);
        pbd_scene_free(&scene);
    }
}

/* ---- Hit and dive ------------------------------------------------------------------------------------------------ */

static void test_hit(void **state) {
    (void)state;
    trial t;
    open_case(&t, "snowball_hit", "particles=1000");
    const size_t n = 3 * t.scene.particles.count;
    for (size_t i = 0; i < n; i++) t.v[i] = t.scene.particles.velocities[i] + (i % 3 == 2 ? -9.81 * 1e-3 : 0);
    observe(&t, 1e-3);
    measure(&t);
    check_metric(&t, "momentum_error_in_flight", 0, 1e-14);
    check_metric(&t, "deepest_in_person", 0, 0);
    check_metric(&t, "fragments", 1, 0);
    check_metric(&t, "share_in_crumbs", 0, 0);
    check_metric(&t, "spread", 1, 1e-12);
    /* Velocities 1 % too large; a particle in the middle of the belly, whose radius is 0.09 of 0.9 m. */
    for (size_t i = 0; i < n; i += 3) t.v[i] *= 1.01;
    t.x[0] = t.x[1] = 0;
    t.x[2] = 0.9 * 0.63;
    for (size_t i = 0; i < n; i += 3) t.x[i + 1] *= 2; /* in y */
    observe(&t, 1e-3);
    measure(&t);
    check_metric(&t, "momentum_error_in_flight", 0.01, 1e-9);
    check_metric(&t, "deepest_in_person", 0.09 * 0.9, 1e-12);
    check_metric(&t, "share_in_crumbs", 1e-3, 1e-15);
    check_metric(&t, "spread", 2, 1e-2);
    close_case(&t);
}

static void test_dive(void **state) {
    (void)state;
    trial t;
    open_case(&t, "snow_dive", "particles=8000");
    double deepest = 0;
    for (size_t i = 0; i < t.scene.particles.count; i++)
        for (size_t c = 0; c < 5; c++) { /* a particle that starts in a wall would be flung out */
            double above = -t.scene.contact.radius[i];
            for (size_t d = 0; d < 3; d++)
                above += (t.x[3 * i + d] - t.scene.colliders.item[c].centre[d]) * t.scene.colliders.item[c].axis[2][d];
            deepest = fmin(deepest, above);
        }
    check_near("depth in walls at the start, m", deepest, 0, 1e-12);
    check_near("over the snow at the start, m", granular_depth_in(&t.scene, 5, t.x, 0), 0, 0);
    measure(&t);
    check_metric(&t, "crater_depth", 0.07, 1e-3);
    check_metric(&t, "surface_sunk", 0, 1e-12);
    /* All snow compressed to half its height: about twice as dense, none above the person. */
    for (size_t i = 0; i < t.scene.particles.count; i++) t.x[3 * i + 2] *= 0.5;
    measure(&t);
    check_metric(&t, "density_under_person", 0.15 / (0.15 - 0.07 + 0.02), 0.25); /* the trunk is slightly higher */
    check_metric(&t, "share_over_person", 0, 0);
    close_case(&t);
}

static void test_refusals(void **state) {
    (void)state;
    static const char *const bad[][3] = {{"candy_ant", "size=0", "size"},
                                         {"snow_dive", "dive=0.15", "through the floor"},
                                         {"snow_dive", "pitch=200", "pitch"},
                                         {"snowball_hit", "aim=0.1", "into the floor"},
                                         {"snowball_hit", "person=0", "person"}};
    check_refusals(bad, sizeof bad / sizeof *bad);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ant),    cmocka_unit_test(test_view),
                                       cmocka_unit_test(test_person), cmocka_unit_test(test_hit),
                                       cmocka_unit_test(test_dive),   cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests_name("snow_cases", tests, NULL, NULL);
}
