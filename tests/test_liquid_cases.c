/* The cases of liquid: their metrics for states with known answers, and pbf on small versions of the cases. */
#include "tests/trial.h"

/* Undisturbed at rest: the volume is complete, nothing moves, no particle is lost. */
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

/* Stretched upwards by a tenth, the water has gained a tenth of its volume and of its potential energy. */
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

/* A column that moves as a whole, with its front at Z = 1 + T: the front is where it was put, and the error follows
 * from the first reading of the table, 1.11 at T = 0.41, where this motion has 1.41. */
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

/* Sand and water fill their volumes; sand is sampled first, and water keeps a distance from it. */
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
    const double sand = (1.5 * 1.2 - (0.3 + 1.2 * 0.6) * 0.6 * 0.5) * h3; /* a trapezium minus the notch */
    const double water = (1.5 + 0.5 * 1.2 * 0.9) * 0.9 * 1.2 * h3;
    check_near("volume of sand, over what it should be", volume[0] / sand, 1, 0.02);
    check_near("volume of water, over what it should be", volume[1] / water, 1, 0.1); /* a gap to the sand */
    check_near("nearest pair of both, spacings", least / t.scene.particles.spacing, 0.9, 0.35);
    close_case(&t);
}

/* ---- pbf on them ------------------------------------------------------------------------------------------------- */

/* A column of 8 layers at rest: hydrostatic pressure within 8 %, volume within 2 %. */
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

/* A lattice with few iterations. Multipliers that start unreduced from those of the last step lift the water by 3 % of
 * its depth. */
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
