/* A thread of goo, a hand in a fluid, and a cube with known F: the metrics of the cases on states displaced by hand. */
#include "cases/case.h"
#include "tests/ladder.h"

#include "tests/trial.h"

static const double PI = 3.14159265358979323846;

/* ---- The thread -------------------------------------------------------------------------------------------------- */

/* Puts slabs of 0.01 m on a circle of radius 0.02 m, half a radian apart, with 28 steps. */
static void coil(trial *t, double swollen) {
    for (size_t i = 0; i < t->scene.particles.count; i++) {
        const double *at = t->scene.particles.positions + 3 * i, up = at[2] - 0.01;
        const double slab = fmin(floor(up / 0.01), 29), angle = 0.5 * slab;
        t->x[3 * i] = 0.02 * cos(angle) + swollen * at[0];
        t->x[3 * i + 1] = 0.02 * sin(angle) + swollen * at[1];
        t->x[3 * i + 2] = swollen * at[2];
    }
}

static void test_thread(void **state) {
    (void)state;
    trial t;
    open_case(&t, "goo_thread", "spacing=0.004 jitter=0 drop=0.01 speed=2");
    check_near("mass", t.scene.particles.masses[0] * (double)t.scene.particles.count / (1000 * PI * 1e-4 * 0.3), 1,
               0.15);
    check_near("speed", t.scene.particles.velocities[2], -2, 0);
    observe(&t, 0);
    measure(&t);
    check_metric(&t, "coil_height", 0.31 / 0.02, 1e-9);
    check_metric(&t, "coil_turns", 0, 1e-12);
    check_metric(&t, "slab_spread", 1, 1e-12);
    coil(&t, 1);
    measure(&t);
    check_metric(&t, "coil_turns", 28 * 0.5 / (2 * PI), 1e-9);
    check_metric(&t, "bends", 28 * 0.5 / (2 * PI), 1e-9);
    check_metric(&t, "length_on_ground", 29 * 2 * sin(0.25), 1e-9);
    check_metric(&t, "slab_spread", 1, 1e-9);
    coil(&t, 3);
    measure(&t);
    check_metric(&t, "slab_spread", 3, 1e-9);
    close_case(&t);
}

/* With a nozzle each particle moves down at 2 m/s, and is released at the height where the thread's foot started. */
static void test_poured_thread(void **state) {
    (void)state;
    trial t;
    open_case(&t, "goo_thread", "spacing=0.004 jitter=0 drop=0.03 speed=2 pour=on duration=0.2");
    const pbd_particles *p = &t.scene.particles;
    double worst = 0;
    assert_int_equal(p->fixed, p->count);
    for (size_t k = 0; k < p->fixed; k++) {
        const double mouth = p->positions[3 * p->fixed_particle[k] + 2] - 2 * t.scene.pour.until[k];
        worst = fmax(worst, fabs(mouth - 0.03));
    }
    check_near("heights where they are let go, m", worst, 0, 1e-15);
    check_near("speed", t.scene.pour.velocity[2], -2, 0);
    assert_int_equal(t.setup.warnings, 0); /* all 0.3 m are poured after 0.15 s */
    close_case(&t);
    open_case(&t, "goo_thread", "spacing=0.004 jitter=0 drop=0.03 speed=2 pour=on duration=0.1");
    assert_string_equal(t.setup.warning[0].name, "still_pouring");
    close_case(&t);
}

/* ---- The hand ---------------------------------------------------------------------------------------------------- */

static void test_hand(void **state) {
    (void)state;
    trial t;
    open_case(&t, "hand_in_fluid", "hand=0.064 depth=0.05 dip=0.035 sweep=0.12 speed=0.3 particles=1000");
    const double radius = 0.38 * 0.016, tip = 0.05 + 2 * radius;
    assert_int_equal(t.scene.colliders.count, 5 + 6);
    const pbd_collider *finger = &t.scene.colliders.item[6]; /* the second, which is the longest */
    check_near("the hand stops, s", finger->end, 0.4, 1e-12);
    check_near("its tip then, m under the surface",
               0.05 - (finger->centre[2] - finger->half[2] - finger->half[0] + finger->velocity[2] * finger->end),
               0.035, 1e-12);
    observe(&t, 0);
    measure(&t);
    check_metric(&t, "deepest_in_hand", 0, 0);
    check_metric(&t, "stirred_share", 0, 0);
    /* One particle on the axis of the first finger, in its middle, after 0.2 s. */
    const double low = tip + 0.9 * 0.064 - 0.75 * 0.064, down = (0.035 + radius) / 0.4;
    t.x[0] = -0.05 + 0.3 * 0.2;
    t.x[1] = -1.5 * 0.016;
    t.x[2] = low + 0.5 * 0.75 * 0.064 - down * 0.2;
    observe(&t, 0.2);
    measure(&t);
    check_metric(&t, "deepest_in_hand", radius, 1e-12);
    check_metric(&t, "stirred_share", 1e-3, 1e-15);
    close_case(&t);
}

/* ---- The cube ---------------------------------------------------------------------------------------------------- */

static double square_between(const double *a, const double *b) {
    return (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]);
}

/* Whether the two points are in different cells of size `edge` (2r) with the same of 2^3 colours. */
static bool clash(const double *a, const double *b, double edge) {
    bool same = true, other = false;
    for (int d = 0; d < 3; d++) {
        const long i = (long)floor(a[d] / edge), j = (long)floor(b[d] / edge);
        same = same && (i - j) % 2 == 0;
        other = other || i != j;
    }
    return same && other;
}

/* The share of particles with two neighbours that clash, by brute force. */
static double conflicts_by_hand(const pbd_scene *s, double r) {
    size_t count = 0;
    for (size_t b = 0; b < s->particles.count; b++) {
        const double *at = s->particles.positions + 3 * b;
        bool found = false;
        for (size_t p = 0; p < s->particles.count && !found; p++) {
            if (!(square_between(s->particles.positions + 3 * p, at) < 4 * r * r)) continue;
            for (size_t q = 0; q < p && !found; q++)
                found = square_between(s->particles.positions + 3 * q, at) < 4 * r * r &&
                        clash(s->particles.positions + 3 * p, s->particles.positions + 3 * q, 2 * r);
        }
        count += found;
    }
    return (double)count / (double)s->particles.count;
}

static void test_cube(void **state) {
    (void)state;
    trial t;
    open_case(&t, "affine_flow", "particles=512 rate=2 duration=0.25 motion=shear jitter=0.2");
    const size_t n = t.scene.particles.count;
    check_near("v_x = rate z", t.scene.particles.velocities[0], 2 * t.scene.particles.positions[2], 1e-15);
    for (size_t i = 0; i < n; i++) t.x[3 * i] += 0.5 * t.scene.particles.positions[3 * i + 2];
    measure(&t);
    check_metric(&t, "place_error", 0, 1e-9);
    check_metric(&t, "conflicts_8_of_2r", conflicts_by_hand(&t.scene, t.scene.particles.spacing), 1e-15);
    check_metric(&t, "conflicts_8_of_4r", 0, 0);
    check_metric(&t, "conflicts_27_of_2r", 0, 0);
    check_metric(&t, "derivative_error", 0, 1e-6);
    check_metric(&t, "moving_kernels_change", 0, 1e-9); /* affine motions are exact with any kernels */
    assert_true(told_metric(&t, "derivative_error_moving_kernels") > 1e-3);
    back_to_rest(&t); /* the body has not moved, so the relative error is 1 */
    measure(&t);
    check_metric(&t, "place_error", 1, 1e-12);
    close_case(&t);
}

static void test_refusals(void **state) {
    (void)state;
    static const char *const bad[][3] = {{"goo_thread", "slenderness=0.5", "slenderness"},
                                         {"goo_thread", "diameter=0", "diameter"},
                                         {"goo_thread", "pour=on speed=0", "pours nothing"},
                                         {"hand_in_fluid", "dip=0.05", "through the floor"},
                                         {"hand_in_fluid", "hand=0.2", "does not fit"},
                                         {"affine_flow", "rate=0", "rate"},
                                         {"affine_flow", "motion=sheer", "shear"}};
    check_refusals(bad, sizeof bad / sizeof *bad);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_thread), cmocka_unit_test(test_poured_thread),
                                       cmocka_unit_test(test_hand), cmocka_unit_test(test_cube),
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests_name("viscous_cases", tests, NULL, NULL);
}
