/* The cases of deformable bodies: their meshes and loads against hand-computed volumes, masses and forces; their
 * measures on fields that are prescribed, through a method that only reads them out; their references against closed
 * forms; what they refuse. */
#include "tests/ladder.h"

#include "cases/beam.h"
#include "cases/sheet.h"
#include "cases/stretched.h"
#include "harness/scene_check.h"
#include "tests/program.h"
#include "tests/trial.h"

static const double PI = 3.14159265358979323846;

typedef struct map {
    double m[3][3], by[3];
} map;

static map diagonal(double x, double y, double z) { return (map){{{x, 0, 0}, {0, y, 0}, {0, 0, z}}, {0, 0, 0}}; }

/* By `angle` about the z axis. */
static map turn(double angle) {
    const double c = cos(angle), s = sin(angle);
    return (map){{{c, -s, 0}, {s, c, 0}, {0, 0, 1}}, {0, 0, 0}};
}

/* By 0.7 rad about (1, 2, 3), Rodrigues; and moved. */
static map anywhere(void) {
    const double c = cos(0.7), s = sin(0.7), n = sqrt(14), k[3] = {1 / n, 2 / n, 3 / n};
    const double skew[3][3] = {{0, -k[2], k[1]}, {k[2], 0, -k[0]}, {-k[1], k[0], 0}};
    map out = {.by = {3, -2, 1}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) out.m[i][j] = (i == j ? c : 0) + (1 - c) * k[i] * k[j] + s * skew[i][j];
    return out;
}

/* Tells positions = map of what is told now. */
static void apply(trial *t, map by) {
    for (size_t p = 0; p < t->scene.particles; p++) {
        double *x = t->x + 3 * p;
        const double old[3] = {x[0], x[1], x[2]};
        for (int i = 0; i < 3; i++) x[i] = by.m[i][0] * old[0] + by.m[i][1] * old[1] + by.m[i][2] * old[2] + by.by[i];
    }
}

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
    assert_int_equal(t.scene.hexes, hexes);
    assert_int_equal(t.scene.tets, 5 * hexes);
    assert_int_equal(t.scene.particles, particles);
    for (size_t e = 0; e < t.scene.tets; e++) {
        const double one = tet_volume(t.scene.positions, t.scene.tet + 4 * e);
        sum += one;
        smallest = fmin(smallest, one);
    }
    for (size_t i = 0; i < particles; i++) mass += t.scene.masses[i];
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
                2 * 0.8 * 0.01); /* one cube through, flat */
}

static void check_cloth(const char *name) {
    trial t;
    double area = 0, mass = 0;
    open_case(&t, name, "cells=3 length=1.2 width=0.9 thickness=0.02 density=50");
    assert_int_equal(t.scene.triangles, 2 * 4 * 3);
    assert_int_equal(t.scene.particles, 5 * 4);
    assert_int_equal(t.scene.tets + t.scene.hexes, 0);
    for (size_t e = 0; e < t.scene.triangles; e++) area += triangle_area(t.scene.positions, t.scene.triangle + 3 * e);
    for (size_t i = 0; i < t.scene.particles; i++) mass += t.scene.masses[i];
    check_near("area, m^2", area, 1.08, 1e-13);
    check_near("mass, kg", mass, 1.08, 1e-13);
    check_near("thickness, m", t.scene.material.thickness, 0.02, 0);
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
    for (size_t p = 0; p < s->particles; p++)
        for (size_t d = 0; d < 3; d++) {
            const double *x = s->positions + 3 * p, *f = s->forces + 3 * p;
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
    check_near("no gravity beside it", t.scene.gravity[2], 0, 0);
    close_case(&t);
    open_case(&t, "towel", "pull=3 length=2 width=0.7 cells=5");
    sum_forces(&t.scene, force, moment);
    check_near("pull on the edges, N", hypot(hypot(force[0], force[1]), force[2]), 0, 1e-12);
    check_near("moment, N m", moment[2], 0, 1e-12);
    double right = 0;
    for (size_t p = 0; p < t.scene.particles; p++)
        if (t.scene.positions[3 * p] > 1.999) right += t.scene.forces[3 * p];
    check_near("on one edge, N", right, 3 * 0.7, 1e-12);
    close_case(&t);
    open_case(&t, "heavy_drop", "objects=2 object_mass=0.5 gravity=10 object_radius=0.2 load_time=0.5 duration=2");
    sum_forces(&t.scene, force, moment);
    check_near("weight of two objects, N", force[2], -10, 1e-12);
    check_near("until, s", t.scene.forces_end, 0.5, 0);
    check_near("on the middle of the plate", moment[1], 10 * 0.5, 1e-12); /* x f_z with the sign of z cross x */
    for (size_t i = 0; i < t.scene.fixed; i++) assert_true(t.scene.forces[3 * t.scene.fixed_particle[i] + 2] == 0);
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
        assert_int_equal(t.scene.fixed, rows[i].held);
        for (size_t k = 1; k < t.scene.fixed; k++)
            assert_true(t.scene.fixed_particle[k] > t.scene.fixed_particle[k - 1]);
        if (strcmp(rows[i].name, "hanging_sheet") == 0 || strcmp(rows[i].name, "material_sweep") == 0)
            for (size_t k = 0; k < t.scene.fixed; k++) /* the top is held: nothing is above it */
                assert_true(t.scene.positions[3 * t.scene.fixed_particle[k] + 2] == 0);
        close_case(&t);
    }
}

/* ---- collapse ---------------------------------------------------------------------------------------------------- */

static double shape_error(trial *t) {
    measure(t);
    return told_metric(t, "rest_shape_error");
}

static void test_shape_error(void **unused) {
    (void)unused;
    trial t;
    open_case(&t, "collapse", "cells=3 noise=0");
    check_near("at rest", shape_error(&t), 0, 1e-15);
    apply(&t, anywhere());
    check_near("moved and turned", shape_error(&t), 0, 2e-15);
    check_metric(&t, "came_back", 1, 0);
    check_metric(&t, "inverted_tets", 0, 0);
    check_metric(&t, "strain_energy", 0, 1e-9);
    apply(&t, diagonal(1.25, 1.25, 1.25));
    check_near("25 % larger", shape_error(&t), 0.25, 1e-14);
    check_metric(&t, "came_back", 0, 0);
    check_metric(&t, "smallest_det_F_of_tets", 1.25 * 1.25 * 1.25, 1e-13);
    /* A cube's second moments are equal: in a plane a third of sum m r^2 is lost, on a line two thirds, at a point all.
     * Mirrored, the best rotation keeps (1 + 1 - 1)/3 of the sum: the error is sqrt(2 - 2/3). */
    static const struct {
        const char *start;
        double error;
    } squashed[] = {{"start=plane cells=3 noise=0", 1 / 1.7320508075688772},
                    {"start=line cells=3 noise=0", 0.81649658092772603},
                    {"start=point cells=3 noise=0", 1},
                    {"start=inside_out cells=3 noise=0", 1.1547005383792515}};
    close_case(&t);
    for (size_t i = 0; i < sizeof squashed / sizeof *squashed; i++) {
        open_case(&t, "collapse", squashed[i].start);
        memcpy(t.x, t.scene.start, 3 * t.scene.particles * sizeof *t.x);
        check_near(squashed[i].start, shape_error(&t), squashed[i].error, 1e-14);
        check_metric(&t, "inverted_tets", 5 * 27, 0);
        close_case(&t);
    }
}

/* E 1e5 Pa, nu 0, density 1000 kg/m^3: sound travels at 10 m/s, and 1 m takes 0.1 s. */
static void test_coming_back(void **unused) {
    (void)unused;
    static const struct {
        double time, scale;
    } seen[] = {{0, 0.2}, {0.1, 0.995}, {0.2, 1.05}, {0.3, 1.005}, {0.4, 1.0}};
    trial t;
    open_case(&t, "collapse", "nu=0 density=1000 cells=2 duration=0.4");
    check_near("looks every, s", t.scene.observe_every, 0.002, 1e-15);
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) {
        back_to_rest(&t);
        apply(&t, diagonal(seen[i].scale, seen[i].scale, seen[i].scale));
        t.v[5] = i == 2 ? -7 : 1;
        observe(&t, seen[i].time);
    }
    measure(&t);
    check_metric(&t, "sound_crossing", 0.1, 1e-15);
    check_metric(&t, "first_back", 1, 1e-14);
    check_metric(&t, "back_since", 3, 1e-14);
    check_metric(&t, "came_back", 1, 0);
    check_metric(&t, "largest_speed", 7, 0);
    assert_int_equal(t.result.series_count, 2);
    assert_int_equal(t.result.series[1].count, 5);
    check_near("second look", t.result.series[1].values[1], 0.005, 1e-14);
    close_case(&t);
    open_case(&t, "collapse", "cells=2");
    apply(&t, diagonal(0.5, 0.5, 0.5));
    observe(&t, 0);
    measure(&t);
    check_metric(&t, "came_back", 0, 0);
    assert_null(find_metric(&t, "first_back")); /* never, which is no number */
    assert_null(find_metric(&t, "back_since"));
    close_case(&t);
}

static void test_noise(void **unused) {
    (void)unused;
    trial a, b, c;
    double largest = 0, apart = 0;
    open_case(&a, "collapse", "cells=4 noise=0.1 seed=3");
    open_case(&b, "collapse", "cells=4 noise=0.1 seed=3");
    open_case(&c, "collapse", "cells=4 noise=0.1 seed=4");
    for (size_t i = 0; i < 3 * a.scene.particles; i++) {
        const double centre = i % 3 == 0 ? 0.5 : 0;
        assert_true(a.scene.start[i] == b.scene.start[i]);
        largest = fmax(largest, fabs(a.scene.start[i] - centre));
        apart = fmax(apart, fabs(a.scene.start[i] - c.scene.start[i]));
    }
    print_message("noise up to %.4g m, of 0.025 allowed\n", largest);
    assert_true(largest <= 0.025 && largest > 0.02);
    assert_true(apart > 0.01);
    close_case(&a);
    close_case(&b);
    close_case(&c);
}

/* ---- twist ------------------------------------------------------------------------------------------------------- */

static void test_helix(void **unused) {
    (void)unused;
    trial t;
    open_case(&t, "twist", "revolutions=1.5 cells=4");
    memcpy(t.x, t.scene.start, 3 * t.scene.particles * sizeof *t.x);
    measure(&t);
    check_metric(&t, "helix_deviation", 0, 1e-14);
    check_metric(&t, "axis_deviation", 0, 1e-15);
    check_metric(&t, "inverted_tets", 0, 0);
    /* The turned end, at x = 1: half a turn, so that y and z change sign. */
    const double *rest = t.scene.positions + 3 * (t.scene.particles - 1);
    const double *end = t.scene.start + 3 * (t.scene.particles - 1);
    check_near("y of the last particle", end[1], -rest[1], 1e-14);
    check_near("z of it", end[2], -rest[2], 1e-14);
    /* Layers in turn wider and narrower by 3 %: about their mean over the 11 middle layers (5 to 15, mean sign 1/11)
     * particles at 5 x 5 places have mean y^2 + z^2 = width^2/4. */
    for (size_t p = 0; p < t.scene.particles; p++)
        for (size_t d = 1; d < 3; d++) t.x[3 * p + d] *= p / 25 % 2 ? 0.97 : 1.03;
    measure(&t);
    check_metric(&t, "helix_deviation", 0.03 * 0.5 * sqrt(1 - 1.0 / 121), 1e-14);
    check_metric(&t, "axis_deviation", 0, 1e-15);
    /* And moved off the axis, by a quarter of the width at most. */
    for (size_t p = 0; p < t.scene.particles; p++) t.x[3 * p + 1] += 0.05 * sin(PI * (double)(p / 25) / 20); /* m */
    measure(&t);
    check_metric(&t, "axis_deviation", 0.25, 1e-14);
    close_case(&t);
}

/* A section that does not warp has the polar moment a^4/6 for J: the energy of a helix is 1/6 over 0.140577 times
 * Saint-Venant's. Straight chords of tetrahedra come near it with the square of their length. */
static void test_saint_venant(void **unused) {
    (void)unused;
    static const char *const words[] = {"cells=4 revolutions=0.001", "cells=8 revolutions=0.001"};
    double off[2];
    for (int i = 0; i < 2; i++) {
        trial t;
        open_case(&t, "twist", words[i]);
        memcpy(t.x, t.scene.start, 3 * t.scene.particles * sizeof *t.x);
        measure(&t);
        off[i] = told_metric(&t, "saint_venant_ratio") / (1 / 6.0 / 0.140577) - 1;
        close_case(&t);
    }
    print_message("energy of an unwarped helix over a^4/6: off by %.4g, then %.4g\n", off[0], off[1]);
    check_near("order of the energy", log2(off[0] / off[1]), 2, 0.1);
    check_near("extrapolated", (4 * off[1] - off[0]) / 3, 0, 2e-3);
}

/* ---- Strain energy and stretched bars ---------------------------------------------------------------------------- */

static void test_energy(void **unused) {
    (void)unused;
    /* stvk, stretched along z by 1.2: e = 0.22, psi = (mu + lambda/2) e^2; E = 1000, nu = 0.25: mu = lambda = 400. */
    trial t;
    open_case(&t, "material_sweep", "material=stvk E=1000 nu=0.25 cells=2 length=1 width=0.5");
    apply(&t, diagonal(1, 1, 1.2));
    measure(&t);
    check_metric(&t, "strain_energy", 0.25 * 600 * 0.22 * 0.22, 1e-12);
    check_metric(&t, "smallest_det_F_of_tets", 1.2, 1e-14);
    apply(&t, anywhere());
    measure(&t);
    check_metric(&t, "strain_energy", 0.25 * 600 * 0.22 * 0.22, 1e-12);
    /* Turned inside out, neo-Hookean matter has no energy to tell. */
    close_case(&t);
    open_case(&t, "material_sweep", "cells=2");
    apply(&t, diagonal(1, -1, 1));
    measure(&t);
    assert_null(find_metric(&t, "strain_energy"));
    check_metric(&t, "inverted_tets", 5.0 * 4 * 10, 0);
    close_case(&t);
}

static void test_sag_of_a_known_field(void **unused) {
    (void)unused;
    trial t;
    open_case(&t, "material_sweep", "load=surface traction=1000 cells=3 length=2 width=0.3");
    apply(&t, diagonal(0.97, 0.97, 1.1));
    measure(&t);
    check_metric(&t, "sag", 0.2, 1e-14);
    check_metric(&t, "axial_strain", 0.1, 1e-14);
    check_metric(&t, "lateral_strain", -0.03, 1e-14);
    check_metric(&t, "lateral_over_axial", 0.3, 1e-13);
    close_case(&t);
}

static double reference(const char *name, const char *words, const char *metric) {
    trial t;
    open_case(&t, name, words);
    measure(&t);
    const double value = told_metric(&t, metric);
    close_case(&t);
    return value;
}

static double sag_reference(const char *words) { return reference("material_sweep", words, "sag_reference"); }

/* Neo-Hookean with nu = 0: P = mu (s - 1/s), so s = (p + sqrt(p^2 + 4))/2 with p = P/mu. */
static double neo_hookean_stretch(double p) { return (p + sqrt(p * p + 4)) / 2; }

static void test_sag_references(void **unused) {
    (void)unused;
    /* corotated with nu = 0 is linear: P = E (s - 1). */
    check_near("corotated, pulled, m",
               sag_reference("material=corotated nu=0 load=surface traction=4e4 E=1e5 length=3 cells=1"), 1.2, 1e-12);
    check_near("corotated, own weight, m",
               sag_reference("material=corotated nu=0 E=1e5 density=1000 gravity=10 length=4 cells=1"),
               1e4 * 16 / (2 * 1e5), 1e-12);
    check_near("neo_hookean, pulled, m", sag_reference("nu=0 load=surface traction=1e5 E=1e5 length=1 cells=1"),
               neo_hookean_stretch(2) - 1, 1e-12);
    double integral = 0; /* Simpson over the height: w length = 1.5 mu */
    for (int i = 0; i <= 200; i++)
        integral += (i == 0 || i == 200 ? 1 : i % 2 ? 4 : 2) / 600.0 * (neo_hookean_stretch(1.5 * i / 200) - 1);
    check_near("neo_hookean, own weight, m", sag_reference("nu=0 E=2e4 density=1500 gravity=10 length=1 cells=1"),
               integral, 1e-9);
    /* Small strain, any law: lateral over axial is nu. */
    check_near("nu", reference("material_sweep", "nu=0.35 gravity=1e-4 cells=1", "lateral_over_axial_reference"), 0.35,
               1e-6);
    /* Hencky: P = E log(s)/s and lateral s^-nu. Half-way down, with twice the weight at the top, s is 1.2. */
    char words[120];
    snprintf(words, sizeof words, "material=hencky nu=0.3 E=1e5 density=100 length=1 cells=1 gravity=%.17g",
             2e3 * log(1.2) / 1.2);
    check_near("hencky, half-way down", reference("material_sweep", words, "lateral_over_axial_reference"),
               (1 - pow(1.2, -0.3)) / 0.2, 1e-10);
    /* No pull, no sag; and a pull that Hencky's law cannot bear: its nominal stress is E log(s)/s <= E/e. */
    check_near("no weight", sag_reference("gravity=0 cells=1"), 0, 1e-15);
    trial t;
    open_case(&t, "material_sweep", "material=hencky nu=0 load=surface traction=40000 cells=1");
    measure(&t);
    assert_null(find_metric(&t, "sag_reference"));
    assert_int_equal(t.result.warnings, 1);
    assert_string_equal(t.result.warning[0].name, "no_reference");
    close_case(&t);
}

/* ---- Sheets ------------------------------------------------------------------------------------------------------ */

/* R(45) diag(a, b) R(45)^T: the fibre at 45 degrees stretched by a, its perpendicular by b. */
static map along_fibre(double a, double b) {
    const double mean = (a + b) / 2, half = (a - b) / 2;
    return (map){{{mean, half, 0}, {half, mean, 0}, {0, 0, 1}}, {0, 0, 0}};
}

static void check_towel_field(trial *t) {
    measure(t);
    check_metric(t, "stretch_fibre", 1.1, 1e-14);
    check_metric(t, "stretch_perpendicular", 1.5, 1e-14);
    check_metric(t, "perpendicular_over_fibre", 1.5 / 1.1, 1e-14);
    check_metric(t, "principal_angle", -45, 1e-11);
    check_metric(t, "principal_stretch", 1.5, 1e-14);
    /* The images of x and y have the scalar product (a^2 - b^2)/2 and the square length (a^2 + b^2)/2. */
    check_metric(t, "shear_angle", asin((1.21 - 2.25) / (1.21 + 2.25)) * 180 / PI, 1e-11);
    check_metric(t, "inverted_triangles", 0, 0);
}

static void test_towel_field(void **unused) {
    (void)unused;
    trial t;
    open_case(&t, "towel", "cells=4 length=1.5");
    apply(&t, along_fibre(1.1, 1.5));
    check_towel_field(&t);
    apply(&t, anywhere());
    check_towel_field(&t);
    close_case(&t);
    /* A corner folded in: its one triangle shows its back. The corner of a square whose diagonal does not pass it. */
    open_case(&t, "towel", "cells=3");
    size_t alone = SIZE_MAX;
    for (size_t p = 0; p < t.scene.particles; p++) {
        size_t uses = 0;
        for (size_t k = 0; k < 3 * t.scene.triangles; k++) uses += t.scene.triangle[k] == p;
        if (uses == 1) alone = p;
    }
    assert_true(alone != SIZE_MAX);
    const double to_middle[2] = {0.5 - t.x[3 * alone], 0 - t.x[3 * alone + 1]};
    t.x[3 * alone] += 0.4 * copysign(1, to_middle[0]);
    t.x[3 * alone + 1] += 0.4 * copysign(1, to_middle[1]);
    measure(&t);
    check_metric(&t, "inverted_triangles", 1, 0);
    close_case(&t);
    /* The fibre along x: the axes of the sheet themselves. */
    open_case(&t, "towel", "cells=4 fibre_angle=0");
    apply(&t, diagonal(1.05, 1.3, 1));
    measure(&t);
    check_metric(&t, "stretch_fibre", 1.05, 1e-14);
    check_metric(&t, "stretch_perpendicular", 1.3, 1e-14);
    check_metric(&t, "principal_angle", 90, 1e-11);
    check_metric(&t, "shear_angle", 0, 1e-12);
    close_case(&t);
}

static void test_towel_references(void **unused) {
    (void)unused;
    /* corotated: 2 mu + 2 lambda of plane stress is E/(1 - nu). pull/thickness = 20 Pa of 200 Pa. */
    const char *plain = "material=corotated fibre_stiffness=0 E=200 nu=0.25 thickness=0.01 pull=0.2";
    check_near("no fibre", reference("towel", plain, "stretch_fibre_reference"), 1 + 0.1 * 0.75, 1e-12);
    check_near("no fibre, across", reference("towel", plain, "stretch_perpendicular_reference"), 1 + 0.1 * 0.75, 1e-12);
    /* With nu = 0 the directions do not know of each other: E (s - 1) + beta (s - 1/s) = t along the fibre. */
    const char *stiff = "material=corotated fibre_stiffness=300 E=200 nu=0 thickness=0.01 pull=0.4 fibre_angle=30";
    const double beta = 300, E = 200, stress = 40;
    const double s = (E + stress + sqrt((E + stress) * (E + stress) + 4 * beta * (E + beta))) / (2 * (E + beta));
    check_near("fibre", reference("towel", stiff, "stretch_fibre_reference"), s, 1e-12);
    check_near("across it", reference("towel", stiff, "stretch_perpendicular_reference"), 1.2, 1e-12);
    /* A second fibre across the first: each direction for itself, at nu = 0. */
    const char *woven =
        "material=corotated fibre_stiffness=300 second_stiffness=100 E=200 nu=0 thickness=0.01 pull=0.4";
    const double beta2 = 100,
                 s2 = (E + stress + sqrt((E + stress) * (E + stress) + 4 * beta2 * (E + beta2))) / (2 * (E + beta2));
    check_near("the first of two fibres", reference("towel", woven, "stretch_fibre_reference"), s, 1e-12);
    check_near("the second", reference("towel", woven, "stretch_perpendicular_reference"), s2, 1e-12);
    /* The sheet that is in that state has no error, at whatever angle the fibre lies. */
    trial t;
    open_case(&t, "towel", stiff);
    apply(&t, turn(-30 * PI / 180));
    apply(&t, diagonal(s, 1.2, 1));
    measure(&t);
    check_metric(&t, "stretch_error", 0, 1e-12);
    close_case(&t);
}

static void test_hanging_sheet(void **unused) {
    (void)unused;
    /* Linear in plane stress for every nu: rho g length^2/(2 E). */
    check_near(
        "corotated, m",
        reference("hanging_sheet", "material=corotated fibre_stiffness=0 nu=0.3 E=1e4 gravity=10 length=2 density=100",
                  "sag_reference"),
        1e3 * 4 / (2e4), 1e-12);
    /* A fibre straight down adds twice its stiffness to the modulus. */
    const double small = reference(
        "hanging_sheet", "fibre_angle=0 fibre_stiffness=2e4 nu=0 E=1e4 gravity=1e-3 length=2", "sag_reference");
    check_near("fibre down, over rho g length^2/(2 (E + 2 beta))", small / (0.1 * 4 / 1e5), 1, 1e-5);
    trial t;
    open_case(&t, "hanging_sheet", "fibre_stiffness=1000 fibre_angle=45 cells=4 length=2");
    for (size_t p = 0; p < t.scene.particles; p++) { /* F z = 1.1 z - 0.2 y: sheared and stretched */
        const double down = -t.scene.positions[3 * p + 2];
        t.x[3 * p + 2] *= 1.1;
        t.x[3 * p + 1] += 0.2 * down;
    }
    measure(&t);
    check_metric(&t, "sag", 0.2, 1e-14);
    check_metric(&t, "drift", 0.4, 1e-14);
    check_metric(&t, "shear_angle", atan(0.2 / 1.1) * 180 / PI, 1e-11); /* y stays, down leans towards it */
    /* The fibre is (down + y)/sqrt 2: its image is (1.1 down, 1.2 y)/sqrt 2. */
    check_metric(&t, "stretch_fibre", sqrt((1.21 + 1.44) / 2), 1e-14);
    check_metric(&t, "stretch_perpendicular", sqrt((1.21 + 0.64) / 2), 1e-14);
    assert_null(find_metric(&t, "sag_reference")); /* oblique fibres shear it: nothing to compare with */
    close_case(&t);
}

/* ---- heavy_drop -------------------------------------------------------------------------------------------------- */

static void test_plate(void **unused) {
    (void)unused;
    trial t;
    open_case(&t, "heavy_drop", "cells=4 yield_strain=0.02 creep=30 load_time=1 duration=2");
    check_near("yield", t.scene.material.yield_strain, 0.02, 0);
    check_near("creep, 1/s", t.scene.material.creep, 30, 0);
    assert_int_equal(t.scene.material.law, PBD_LAW_STVK);
    static const double down[] = {0, 0.2, -0.05, 0.03};
    for (int look = 0; look < 4; look++) {
        for (size_t p = 0; p < t.scene.particles; p++)
            t.x[3 * p + 2] = t.scene.positions[3 * p + 2] - down[look] * sin(PI * t.scene.positions[3 * p]);
        observe(&t, look);
    }
    measure(&t);
    /* The span has an odd number of cubes (7): the layer nearest to its middle is at 3/7. */
    const double there = sin(PI * 3 / 7);
    check_metric(&t, "largest_deflection", 0.2 * there, 1e-14);
    check_metric(&t, "residual_deflection", 0.03 * there, 1e-14);
    check_metric(&t, "kept_deflection", 0.15, 1e-13);
    assert_int_equal(t.result.series_count, 3 + 3); /* looks; and the shape at the end */
    check_near("z of the last particle", t.result.series[5].values[t.scene.particles - 1],
               t.x[3 * t.scene.particles - 1], 0);
    close_case(&t);
    open_case(&t, "heavy_drop", "cells=4");
    apply(&t, anywhere());
    measure(&t);
    check_metric(&t, "rest_shape_error", 0, 3e-14);
    close_case(&t);
}

/* ---- Through the harness ----------------------------------------------------------------------------------------- */

/* A method that does nothing for as long as it is asked to, with the scene's own positions. */
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
    s->numbers = 3 * scene->particles;
    s->x = malloc(s->numbers * sizeof *s->x);
    memcpy(s->x, scene->start ? scene->start : scene->positions, s->numbers * sizeof *s->x);
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
    if (field == PBD_PREDICTED) return pbd_error(PBD_NOT_SUPPORTED, "no");
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
static pbd_method idling = {.abi = PBD_METHOD_ABI,
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

/* Runs `collapse` for a second with steps of `dt`, after two warm-ups that nobody may look at. */
static pbd_status idle_through_collapse(const char *dt, unsigned takes, pbd_result *out) {
    const pbd_method_entry entry = {.by_precision = {&idling, &idling}};
    const pbd_setting settings[] = {{"dt", dt}, {"cells", "1"}};
    pbd_plan_item item = {.seed = 1, .warmups = 2};
    idling.takes = takes;
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
        assert_int_equal(result.series_count, 2);
        assert_string_equal(result.series[0].name, "time");
        print_message("dt=%s: %zu looks, the last at %g s\n", rows[i].dt, result.series[0].count,
                      result.series[0].values[result.series[0].count - 1]);
        /* Steps of 3 ms meet a multiple of 5 ms within 3 ms of it, and 333 of them end at 0.999 s. */
        assert_int_equal(result.series[0].count, rows[i].looks - (i == 3));
        check_near("first look, s", result.series[0].values[0], 0, 0);
        bool apart = false;
        for (size_t p = 0; p < result.phases; p++) apart = apart || strcmp(result.phase[p].name, "observe") == 0;
        assert_true(apart);
        pbd_result_free(&result);
    }
}

/* ---- With a method: its answers and the references are found in different ways ---------------------------------- */

/* A whole run of strain_energy in f64; the answer of a metric. */
static double metric_of_method(const char *method, const char *name, const char *words, const char *metric) {
    pbd_plan_item item = {.seed = 1};
    pbd_setting setting[32];
    pbd_result result = {0};
    char text[600], *save = NULL;
    size_t count = 0;
    double value = NAN;
    item.cell = (pbd_cell){.precision = PBD_PRECISION_F64, .threads = 1};
    check_ok(pbd_find_method(method, &item.cell.method));
    check_ok(pbd_find_case(name, &item.cell.c));
    snprintf(text, sizeof text, "%s", words);
    for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save))
        check_ok(pbd_setting_parse(word, &setting[count++]));
    check_ok(pbd_resolve(item.cell.c, item.cell.method->by_precision[PBD_PRECISION_F64], setting, count,
                         &item.cell.case_values, &item.cell.method_values));
    for (size_t i = 0; i < count; i++) pbd_setting_free(&setting[i]);
    check_ok(pbd_run_cell(&item, &result));
    assert_string_equal(result.state, "ok");
    for (size_t i = 0; i < result.metrics; i++)
        if (strcmp(result.metric[i].name, metric) == 0) value = result.metric[i].value;
    pbd_result_free(&result);
    pbd_values_free(&item.cell.case_values);
    pbd_values_free(&item.cell.method_values);
    return value;
}

static double metric_of_run(const char *name, const char *words, const char *metric) {
    return metric_of_method("strain_energy", name, words, metric);
}

/* Limits are what is left of the motion after a few seconds under damping, and of the method's own error. */
static void test_against_a_method(void **unused) {
    (void)unused;
    check_near("towel, fibre at 45 degrees",
               metric_of_run("towel", "damping=3 cells=4 duration=10 dt=0.005 iterations=20", "stretch_error"), 0,
               1e-3);
    check_near("towel, not square, fibre at 20 degrees",
               metric_of_run("towel", "damping=3 cells=4 duration=10 dt=0.005 iterations=20 fibre_angle=20 length=1.5",
                             "stretch_error"),
               0, 1e-3);
    check_near("hanging sheet",
               metric_of_run("hanging_sheet", "damping=3 cells=4 nu=0 dt=0.001 duration=4", "sag_ratio"), 1, 5e-3);
    check_near("towel with a second fibre across the first",
               metric_of_run("towel",
                             "damping=3 cells=4 duration=10 dt=0.005 iterations=20 fibre_angle=20 length=1.5 "
                             "second_stiffness=100",
                             "stretch_error"),
               0, 1e-3);
    /* Two equal fibres that cross at 60 degrees have their bisector and its perpendicular as axes. */
    check_near("towel with fibres at -30 and 30 degrees: stretched most along y, degrees",
               fabs(metric_of_run("towel",
                                  "damping=3 cells=4 duration=10 dt=0.005 iterations=20 fibre_angle=-30 "
                                  "second_angle=60 second_stiffness=500",
                                  "principal_angle")),
               90, 0.1);
    check_near(
        "hanging sheet, fibre down",
        metric_of_run("hanging_sheet", "damping=3 cells=4 nu=0 dt=0.001 duration=4 fibre_stiffness=1e4 fibre_angle=0",
                      "sag_ratio"),
        1, 5e-3);
    check_near("bar under its weight",
               metric_of_run("material_sweep", "dt=0.001 damping=5 mode=dynamic cells=1 nu=0 duration=3 width=0.25",
                             "sag_ratio"),
               1, 1e-2);
    check_near("inside out, and back",
               metric_of_run("collapse", "start=inside_out dt=0.001 damping=10 join=continuous cells=2", "came_back"),
               1, 0);
    check_near("what an elastic plate keeps",
               metric_of_run("heavy_drop", "damping=3 dt=0.005 cells=4", "kept_deflection"), 0, 0.01);
    const double kept = metric_of_run("heavy_drop", "damping=3 dt=0.005 cells=4 yield_strain=0.02", "kept_deflection");
    print_message("    what a plastic plate keeps: %.3g\n", kept);
    assert_true(kept > 0.3 && kept < 1);
    /* The same tetrahedra and the same flow; steps of 10 ms and how mass is lumped are what differs. */
    const char *bent = "damping=10 cells=4 dt=0.01 yield_strain=0.02 duration=2";
    check_near("bend kept, of that by fem_implicit",
               metric_of_run("heavy_drop", bent, "residual_deflection") /
                   metric_of_method("fem_implicit", "heavy_drop",
                                    "element=tet4 damping=10 cells=4 dt=0.01 yield_strain=0.02 duration=2",
                                    "residual_deflection"),
               1, 0.06);
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
    static const char *const words[] = {"start other than at rest", "fibre_stiffness=0", "yield_strain=0", "forces"};
    for (int i = 0; i < 4; i++) {
        pbd_scene scene = {.start = i == 0 ? start : NULL, .forces_end = i == 3 ? 1 : 0};
        scene.material.fibre_stiffness[2] = i == 1 ? 5 : 0;
        scene.material.yield_strain = i == 2 ? 0.1 : 0;
        pbd_method method = {.name = "some", .takes = masks[i]};
        check_ok(pbd_check_scene(&scene, &method));
        method.takes = ~masks[i];
        const pbd_status status = pbd_check_scene(&scene, &method);
        assert_int_equal(status.code, PBD_NOT_SUPPORTED);
        expect_says(status.text, words[i]);
    }
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
                {"twist", "revolutions=100", "inverts"}, /* five whole turns of each layer: a bar that looks straight */
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
        cmocka_unit_test(test_solids),
        cmocka_unit_test(test_cloths),
        cmocka_unit_test(test_loads),
        cmocka_unit_test(test_held),
        cmocka_unit_test(test_shape_error),
        cmocka_unit_test(test_coming_back),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_helix),
        cmocka_unit_test(test_saint_venant),
        cmocka_unit_test(test_energy),
        cmocka_unit_test(test_sag_of_a_known_field),
        cmocka_unit_test(test_sag_references),
        cmocka_unit_test(test_towel_field),
        cmocka_unit_test(test_towel_references),
        cmocka_unit_test(test_hanging_sheet),
        cmocka_unit_test(test_plate),
        cmocka_unit_test(test_looks),
        cmocka_unit_test(test_against_a_method),
        cmocka_unit_test(test_takes),
        cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_the_program_refuses),
    };
    return cmocka_run_group_tests_name("solid cases", tests, NULL, remove_workplace);
}
