/* The cases of liquid: what they measure on states whose answer is known, and pbf on small ones of them. */
#include "tests/trial.h"

/* At rest, undisturbed: all volume is there, nothing moves, nobody is lost. */
static void test_still_water_at_rest(void **unused) {
    (void)unused;
    trial t;
    open_case(&t, "still_water", "cells=6 depth=0.3 width=1");
    assert_int_equal(t.scene.particles.count, 216);
    check_near("spacing, m", t.scene.particles.spacing, 0.05, 1e-15);
    check_near("mass, kg", t.scene.particles.masses[0] * 216, 27, 1e-12);
    observe(&t, 0);
    observe(&t, 1);
    measure(&t);
    check_metric(&t, "volume", 1, 1e-12);
    check_metric(&t, "lost_particles", 0, 0);
    check_metric(&t, "kinetic_energy_left", 0, 0);
    check_metric(&t, "energy_gained", 0, 1e-12);
    close_case(&t);
}

/* Stretched upwards by a tenth it has gained a tenth of its volume and of its weight's energy. */
static void test_still_water_tells_of_volume_and_energy(void **unused) {
    (void)unused;
    trial t;
    open_case(&t, "still_water", "cells=6");
    observe(&t, 0);
    for (size_t p = 0; p < t.scene.particles.count; p++) t.x[3 * p + 2] *= 1.1;
    observe(&t, 1);
    measure(&t);
    check_metric(&t, "volume", 1.1, 1e-12);
    check_metric(&t, "energy_gained", 0.1, 1e-12);
    back_to_rest(&t);
    t.x[2] = -1;
    observe(&t, 2);
    measure(&t);
    check_metric(&t, "lost_particles", 1, 0);
    close_case(&t);
}

/* A column that is moved along as a whole: its front is where it is put, and the first reading of the table, 1.11 at T
 * = 0.41, is missed by as much as the law here is off it. */
static void test_dam_break_finds_the_front(void **unused) {
    (void)unused;
    trial t;
    open_case(&t, "dam_break", "cells=8 layers=3");
    const double unit = sqrt(0.05715 / (2 * 9.81));
    for (int step = 0; step < 11; step++) { /* Z = 1 + T, to T = 0.5 */
        back_to_rest(&t);
        for (size_t p = 0; p < t.scene.particles.count; p++) t.x[3 * p] += 0.05715 * 0.05 * step;
        observe(&t, 0.05 * step * unit);
    }
    measure(&t);
    check_metric(&t, "front", 1.5, 1e-9);
    check_metric(&t, "front_bias", 1.41 / 1.11 - 1, 1e-9);
    check_metric(&t, "front_error", 1.41 / 1.11 - 1, 1e-9);
    close_case(&t);
}

/* Both kinds fill their shares of the scene, sand first, and water keeps off the sand. */
static void test_dam_breach_is_built(void **unused) {
    (void)unused;
    trial t;
    open_case(&t, "dam_breach", "particles=1500 sampling=poisson");
    double volume[2] = {0}, least = INFINITY;
    for (size_t i = 0; i < t.scene.particles.count; i++) {
        volume[pbd_matter_of(&t.scene, i) == PBD_FLUID] += t.scene.particles.volumes[i];
        for (size_t j = 0; j < t.scene.particles.count; j++) {
            if (pbd_matter_of(&t.scene, i) == pbd_matter_of(&t.scene, j)) continue;
            double square = 0;
            for (size_t d = 0; d < 3; d++)
                square += pow(t.scene.particles.positions[3 * i + d] - t.scene.particles.positions[3 * j + d], 2);
            least = fmin(least, sqrt(square));
        }
    }
    const double h3 = pow(0.267, 3);
    const double sand = (1.5 * 1.2 - (0.3 + 1.2 * 0.6) * 0.6 * 0.5) * h3; /* a trapezium, less the notch */
    const double water = (1.5 + 0.5 * 1.2 * 0.9) * 0.9 * 1.2 * h3;
    check_near("volume of sand, over what it should be", volume[0] / sand, 1, 0.02);
    check_near("volume of water, over what it should be", volume[1] / water, 1, 0.1); /* it keeps off the sand */
    check_near("nearest pair of both, spacings", least / t.scene.particles.spacing, 0.9, 0.35);
    close_case(&t);
}

/* ---- pbf on them ------------------------------------------------------------------------------------------------- */

/* Column of 8 layers: pressure by depth within 8 %, volume within 2 %, at rest. */
static void test_hydrostatic_pressure(void **unused) {
    (void)unused;
    trial t;
    solver s;
    open_case(&t, "still_water", "cells=8 width=0.5 jitter=0.05 duration=0.4");
    solver_open(&s, "pbf", PBD_PRECISION_F64, 1, &t.scene, "");
    for (int step = 0; step < 400; step++) {
        check_ok(s.method->step(s.state, 1e-3));
        if (step % 4 == 3) check_ok(t.c->observe(&t.setup, s.method, s.state, 1e-3 * (step + 1), t.recorder));
    }
    check_ok(t.c->measure(&t.setup, s.method, s.state, t.recorder));
    check_metric(&t, "pressure_slope", 1, 0.1);
    check_metric(&t, "pressure_at_floor", 1, 0.1);
    check_metric(&t, "pressure_error", 0, 0.1);
    check_metric(&t, "volume", 1, 0.02);
    check_metric(&t, "kinetic_energy_left", 0, 0.005);
    solver_close(&s);
    close_case(&t);
}

/* A lattice of few iterations: multipliers that a step takes over whole lift the water by 3 % of its depth. */
static void test_still_water_is_not_lifted(void **unused) {
    (void)unused;
    trial t;
    solver s;
    open_case(&t, "still_water", "cells=12 duration=0.3");
    solver_open(&s, "pbf", PBD_PRECISION_F64, 1, &t.scene, "iterations=5");
    for (int step = 0; step < 150; step++) {
        check_ok(s.method->step(s.state, 2e-3));
        check_ok(t.c->observe(&t.setup, s.method, s.state, 2e-3 * (step + 1), t.recorder));
    }
    check_ok(t.c->measure(&t.setup, s.method, s.state, t.recorder));
    check_metric(&t, "energy_gained", 0, 2e-3);
    solver_close(&s);
    close_case(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_still_water_at_rest),       cmocka_unit_test(test_still_water_tells_of_volume_and_energy),
        cmocka_unit_test(test_dam_break_finds_the_front), cmocka_unit_test(test_dam_breach_is_built),
        cmocka_unit_test(test_hydrostatic_pressure),      cmocka_unit_test(test_still_water_is_not_lifted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
