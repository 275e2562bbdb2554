/* Targets in cases/problems.yaml that follow from a law alone, recomputed from the problem's fixed parameters: slope of
 * sand, discharge of a funnel, a sinking thread of goo, snow thrown down between walls. No method is run. */
#include "harness/rank/problems.h"
#include "tests/ladder.h"

static const double PI = 3.14159265358979323846;

static pbd_problems *all;

static int load(void **state) {
    (void)state;
    check_ok(pbd_problems_load(&all));
    return 0;
}

static int unload(void **state) {
    (void)state;
    pbd_problems_free(all);
    return 0;
}

static const pbd_problem *named(const char *id) {
    const pbd_problem *p;
    check_ok(pbd_find_problem(all, id, &p));
    return p;
}

static const char *fixed_text(const pbd_problem *p, const char *key) {
    const size_t length = strlen(key);
    for (unsigned i = 0; i < p->set_count; i++)
        if (strncmp(p->set[i], key, length) == 0 && p->set[i][length] == '=') return p->set[i] + length + 1;
    fail_msg("problem %s does not fix %s", p->id, key);
    return "";
}

static double fixed(const pbd_problem *p, const char *key) { return strtod(fixed_text(p, key), NULL); }

/* ---- Sand -------------------------------------------------------------------------------------------------------- */

/* In plane shear at constant volume the intermediate principal stress is the mean of the other two. So
 * |dev tau| = sqrt(2) tau, and the cone is |dev tau| = sqrt(2/3) 2 sin phi/(3 - sin phi) 3 p. */
static void test_slope(void **state) {
    (void)state;
    const pbd_problem *p = named("friction-angle");
    const double sine = sin(fixed(p, "friction_angle") * PI / 180);
    const double slope = sqrt(2.0 / 3) * 2 * sine / (3 - sine) * 3 / sqrt(2);
    check_near("slope, degrees", atan(slope) * 180 / PI, p->target, 0.02);
    assert_string_equal(fixed_text(p, "flow"), "drucker_prager");
    assert_true(fixed(p, "cohesion") == 0);
    assert_true(fixed(p, "floor_friction") > slope); /* the heap does not slide on its floor */
    /* The motion is quasi-static: a grain falls in the time 1/damping by much less than the size of the column. */
    assert_true(fixed(p, "gravity") / pow(fixed(p, "damping"), 2) < 0.2 * fixed(p, "column_radius"));
}

/* m; height of the sand above the neck when the fraction `left` of it remains, with a level surface. */
static double head_of(const pbd_problem *p, double left) {
    const double neck = fixed(p, "neck"), rise = (fixed(p, "end_radius") - neck) / fixed(p, "bulb");
    const double top = neck + rise * fixed(p, "filling") * fixed(p, "bulb"), tip = pow(neck, 3);
    return (cbrt(left * (pow(top, 3) - tip) + tip) - neck) / rise;
}

static void test_discharge(void **state) {
    (void)state;
    const pbd_problem *p = named("hourglass-rate");
    const double C = 0.58, neck = fixed(p, "neck"), diameter = 2 * neck;
    const double half_angle = atan((fixed(p, "end_radius") - neck) / fixed(p, "bulb"));
    check_near("C with the funnel's factor", C * pow(tan(half_angle) * tan(PI / 4), -0.35), p->target, 1e-3);
    assert_true(p->target + p->uncertainty >= 0.65 && p->target - p->uncertainty <= 0.55);
    check_near("head at a fifth, in diameters", head_of(p, 0.8) / diameter, 1.2, 0.05);
    check_near("head at three fifths, in diameters", head_of(p, 0.4) / diameter, 0.8, 0.05);
    /* With a rate too low by the tolerance the measurement is complete after two thirds of the duration. */
    const double top = neck + fixed(p, "filling") * (fixed(p, "end_radius") - neck), high = head_of(p, 1);
    const double volume = PI / 3 * high * (neck * neck + neck * top + top * top);
    const double slow = (p->target - p->tolerance) * sqrt(fixed(p, "gravity")) * pow(diameter, 2.5);
    assert_true(0.6 * volume / slow < fixed(p, "duration") / 1.5);
}

/* ---- Goo --------------------------------------------------------------------------------------------------------- */

enum { LAYERS = 60 };

typedef struct pillar { /* layers in uniaxial compression, the lowest on the floor */
    double height, density, E, yield, viscosity, gravity;
    double z[LAYERS + 1], v[LAYERS + 1], strain[LAYERS]; /* m, m/s; elastic compression */
} pillar;

/* Elastic, and viscous beyond the yield stress: |dev D| = sqrt(3/2) rate and |dev tau| = sqrt(2/3) stress give
 * stress = yield + 3/2 viscosity rate. */
static void sink(pillar *s, double dt) {
    const double thick = s->height / LAYERS, mass = s->density * thick; /* per unit of initial area */
    double force[LAYERS];
    for (int k = 0; k < LAYERS; k++) force[k] = s->E * s->strain[k] * thick / (s->z[k + 1] - s->z[k]);
    for (int k = 1; k <= LAYERS; k++) {
        const double above = k < LAYERS ? force[k] : 0, moved = k < LAYERS ? mass : 0.5 * mass;
        s->v[k] += dt * ((force[k - 1] - above) / moved - s->gravity);
    }
    for (int k = 0; k < LAYERS; k++) {
        const double rate = -(s->v[k + 1] - s->v[k]) / (s->z[k + 1] - s->z[k]);
        const double over = fmax(s->E * s->strain[k] - s->yield, 0);
        s->strain[k] += dt * (rate - over / (1.5 * s->viscosity));
    }
    for (int k = 1; k <= LAYERS; k++) s->z[k] += dt * s->v[k];
}

/* The thread comes to rest at the closed form before the end; inertia does not carry it further. */
static void test_sinking(void **state) {
    (void)state;
    const pbd_problem *p = named("goo-thread");
    const double diameter = fixed(p, "diameter"), high = diameter * fixed(p, "slenderness");
    const double weight = fixed(p, "density") * fixed(p, "gravity"), yield = fixed(p, "yield_stress");
    const double unmoved = yield / weight;
    assert_string_equal(fixed_text(p, "flow"), "herschel_bulkley");
    assert_string_equal(fixed_text(p, "yield_norm"), "j2");
    assert_true(fixed(p, "power") == 1 && fixed(p, "floor_friction") == 0 && unmoved < high);
    check_near("height by the closed form, in diameters", unmoved * (1 + log(high / unmoved)) / diameter, p->target,
               0.01);
    pillar s = {.height = high,
                .density = fixed(p, "density"),
                .E = fixed(p, "E"),
                .yield = yield,
                .viscosity = fixed(p, "viscosity"),
                .gravity = fixed(p, "gravity")};
    const double dt = 0.2 * high / LAYERS / sqrt(s.E / s.density);
    for (int k = 0; k <= LAYERS; k++) s.z[k] = high * k / LAYERS;
    for (double t = 0; t < fixed(p, "duration"); t += dt) sink(&s, dt);
    print_message("  layers: %.4f diameters at the end, %.2g m/s\n", s.z[LAYERS] / diameter, s.v[LAYERS]);
    check_near("height by layers at the end", s.z[LAYERS] / diameter, p->target, 0.5 * p->uncertainty);
}

/* ---- Snow -------------------------------------------------------------------------------------------------------- */

enum { MOST_CELLS = 400 };

typedef struct snow_column { /* in uniaxial strain, on a floor with unilateral contact */
    int cells;
    double height, density, modulus, least, most, xi, gravity, viscosity; /* viscosity: artificial, linear */
    double z[MOST_CELLS + 1], v[MOST_CELLS + 1], stretch[MOST_CELLS], plastic[MOST_CELLS], pull[MOST_CELLS];
} snow_column;

static double hardened(const snow_column *s, int k) { return s->modulus * exp(s->xi * (1 - s->plastic[k])); }

static double longest_step(const snow_column *s) {
    double fastest = 0; /* in rest lengths */
    for (int k = 0; k < s->cells; k++)
        fastest = fmax(fastest, sqrt(hardened(s, k) / s->density) / (s->stretch[k] * s->plastic[k]));
    return 0.2 * s->height / s->cells / fastest;
}

/* Stomakhin's rule along one axis: the elastic stretch is clamped to its bounds; the rest is plastic and hardens. An
 * artificial viscous pressure in compression spreads shocks over a few cells. */
static void strain(snow_column *s, int k) {
    const double now = (s->z[k + 1] - s->z[k]) / (s->height / s->cells), trial = now / s->plastic[k];
    s->stretch[k] = fmax(s->least, fmin(s->most, trial));
    s->plastic[k] *= trial / s->stretch[k];
    const double modulus = hardened(s, k), apart = fmin(s->v[k + 1] - s->v[k], 0);
    const double shock = s->density * apart * (1.5 * apart - s->viscosity * sqrt(modulus / s->density));
    s->pull[k] = modulus * log(s->stretch[k]) / now - shock;
}

static void advance(snow_column *s, double dt) {
    const double mass = s->density * s->height / s->cells;
    for (int k = 0; k <= s->cells; k++) {
        const double above = k < s->cells ? s->pull[k] : 0, below = k > 0 ? s->pull[k - 1] : 0;
        s->v[k] += dt * ((above - below) / (k == 0 || k == s->cells ? 0.5 * mass : mass) - s->gravity);
    }
    if (s->z[0] + dt * s->v[0] < 0) s->v[0] = -s->z[0] / dt;
    for (int k = 0; k <= s->cells; k++) s->z[k] += dt * s->v[k];
    for (int k = 0; k < s->cells; k++) strain(s, k);
}

/* Height of the top divided by the initial height. */
static double snow_top(const pbd_problem *p, int cells, double viscosity) {
    const double E = fixed(p, "E"), nu = fixed(p, "nu"), end = fixed(p, "duration");
    snow_column s = {.cells = cells,
                     .height = fixed(p, "size"),
                     .density = fixed(p, "density"),
                     .modulus = E * (1 - nu) / ((1 + nu) * (1 - 2 * nu)),
                     .least = 1 - fixed(p, "compression"),
                     .most = 1 + fixed(p, "stretch"),
                     .xi = fixed(p, "xi"),
                     .gravity = fixed(p, "gravity"),
                     .viscosity = viscosity};
    for (int k = 0; k <= cells; k++) s.z[k] = s.height * k / cells, s.v[k] = -fixed(p, "speed");
    for (int k = 0; k < cells; k++) s.stretch[k] = s.plastic[k] = 1;
    for (double t = 0, dt; t < end; t += dt) {
        dt = fmin(longest_step(&s), end - t);
        if (!(t + dt > t)) break;
        advance(&s, dt);
    }
    return s.z[cells] / s.height;
}

static void test_snow(void **state) {
    (void)state;
    const pbd_problem *p = named("snow-long-steps"), *other = named("snow-short-steps");
    assert_string_equal(fixed_text(p, "flow"), "snow");
    assert_string_equal(fixed_text(p, "confined"), "on");
    assert_true(fixed(p, "drop") == 0 && fixed(p, "dt") == 10 * fixed(other, "dt"));
    assert_true(other->target == p->target && other->uncertainty == p->uncertainty);
    for (unsigned i = 0; i < p->set_count; i++)
        assert_true(strcmp(p->set[i], other->set[i]) == 0 || strncmp(p->set[i], "dt=", 3) == 0);
    static const struct {
        int cells;
        double viscosity;
    } made[] = {{100, 0.1}, {200, 0.05}, {200, 0.1}, {200, 0.2}};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        const double top = snow_top(p, made[i].cells, made[i].viscosity);
        print_message("  %d cells, viscosity %g: top at %.4f\n", made[i].cells, made[i].viscosity, top);
        check_near("top", top, p->target, p->uncertainty);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slope),
        cmocka_unit_test(test_discharge),
        cmocka_unit_test(test_sinking),
        cmocka_unit_test(test_snow),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
