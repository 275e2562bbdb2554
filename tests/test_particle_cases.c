/* Cases of bodies sampled by particles: their scenes against hand-computed volumes, masses and positions; their
 * metrics on prescribed states; their refusals. */
#include "cases/scenes/particle_watch.h"
#include "harness/catalog/scene_check.h"
#include "tests/ladder.h"

#include "tests/program.h"
#include "tests/trial.h"

static const double PI = 3.14159265358979323846;

static double sum(const double *x, size_t count) {
    double total = 0;
    for (size_t i = 0; i < count; i++) total += x[i];
    return total;
}

/* ---- One body ---------------------------------------------------------------------------------------------------- */

static void test_hanging_box(void **state) {
    (void)state;
    trial t;
    open_case(&t, "sampled_shape", "shape=box size=2 spacing=0.25 density=3 fixed=x_max fixed_depth=0.3");
    assert_int_equal(t.scene.particles.count, 512);
    check_near("mass", sum(t.scene.particles.masses, 512), 24, 1e-12);
    check_near("volume", sum(t.scene.particles.volumes, 512), 8, 1e-12);
    assert_int_equal(t.scene.particles.fixed, 64); /* at 0.125 m from the side; the next layer is at 0.375 m */
    for (size_t i = 0; i < 64; i++)
        check_near("held at", t.scene.particles.positions[3 * t.scene.particles.fixed_particle[i]], 0.875, 1e-12);
    assert_int_equal(t.scene.colliders.count, 0);
    measure(&t);
    check_metric(&t, "particles", 512, 0);
    check_metric(&t, "sampled_volume_ratio", 1, 1e-12);
    check_metric(&t, "largest_displacement", 0, 0);
    check_metric(&t, "rest_shape_error", 0, 1e-12);
    close_case(&t);
}

/* A sphere of radius 1 m, 0.5 m above a floor, is moved down by 0.7 m. Its lowest sites then overlap the floor by 0.2 m
 * less their height above the pole, plus the contact radius of 0.7 spacings. */
static void test_floor(void **state) {
    (void)state;
    trial t;
    open_case(&t, "sampled_shape", "shape=sphere size=2 spacing=0.1 fixed=none floor=on drop=0.5 contact_layers=1");
    assert_int_equal(t.scene.colliders.count, 1);
    check_near("floor", t.scene.colliders.item[0].centre[2], -0.5, 1e-15); /* the sphere stands on z = 0 */
    double lowest = INFINITY;
    size_t colliding = 0;
    for (size_t i = 0; i < t.scene.particles.count; i++) {
        lowest = fmin(lowest, t.x[3 * i + 2]);
        colliding += t.scene.contact.radius[i] > 0;
        t.x[3 * i + 2] -= 0.7;
    }
    assert_true(colliding > 600 && colliding < 2000); /* 4 pi / 0.01 = 1257 sites of a sphere's surface */
    measure(&t);
    check_metric(&t, "deepest_below_floor", 0.2 - lowest + 0.07, 1e-12);
    check_metric(&t, "mean_displacement", 0.7, 1e-12);
    close_case(&t);
}

static void test_poisson_body(void **state) {
    (void)state;
    trial t;
    open_case(&t, "sampled_shape", "shape=torus sampling=poisson particles=400 density=10");
    assert_int_equal(t.scene.particles.count, 400);
    check_near("mass", sum(t.scene.particles.masses, 400), 10 * 2 * PI * PI * 0.34 * 0.16 * 0.16, 1e-12);
    close_case(&t);
}

static void test_mesh_of_a_file(void **state) {
    (void)state;
    static const char tet[] = "v 0 0 0\nv 600 0 0\nv 0 600 0\nv 0 0 600\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    const char *path = in_workplace("tet.obj");
    FILE *file = fopen(path, "w");
    fputs(tet, file);
    fclose(file);
    char words[PATH_MAX + 200];
    trial t;
    snprintf(words, sizeof words, "file=%s scale=0.01 particles=1000 density=2 fixed=z_min", path);
    open_case(&t, "sampled_mesh", words);
    assert_int_equal(t.scene.particles.count, 1000);
    /* The volume is 36 m^3. Lattice planes parallel to the slanted face (31.2 m^2), 0.18 m apart, are inside or outside
     * as a whole, which sets the tolerance. */
    check_near("mass", sum(t.scene.particles.masses, 1000), 72, 2 * 31.2 * 0.183);
    for (size_t i = 0; i < 1000; i++) {
        const double *x = t.x + 3 * i;
        assert_true(x[0] > 0 && x[1] > 0 && x[2] > 0 && x[0] + x[1] + x[2] < 6);
    }
    close_case(&t);
}

static void expect_refused(const char *name, const char *words, const char *says) {
    trial t;
    const pbd_status status = try_case(&t, name, words);
    if (status.code != PBD_BAD_INPUT) fail_msg("%s %s: code %d: %s", name, words, (int)status.code, status.text);
    if (!strstr(status.text, says)) fail_msg("does not say '%s': %s", says, status.text);
    print_message("    %s\n", status.text);
}

static void test_refusals(void **state) {
    (void)state;
    expect_refused("sampled_shape", "shape=sphere size=0.01 spacing=0.1", "single particle");
    expect_refused("sampled_shape", "shape=box particles=27 fixed_depth=9", "contains all");
    expect_refused("sampled_shape", "shape=box particles=27 fixed_depth=0.01", "contains none");
    const char *path = in_workplace("open.obj");
    FILE *file = fopen(path, "w");
    fputs("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n", file);
    fclose(file);
    char words[PATH_MAX + 20];
    snprintf(words, sizeof words, "file=%s", path);
    expect_refused("sampled_mesh", words, "3 edges");
}

/* ---- Pairs and pieces, counted by hand --------------------------------------------------------------------------- */

/* Two bars of five particles side by side, 1 m apart; radius 0.5 m. */
static void open_bars(pbd_scene *scene) {
    *scene = (pbd_scene){.particles.count = 10, .particles.spacing = 1, .particles.bodies = 2};
    scene->particles.positions = calloc(31, sizeof *scene->particles.positions);
    scene->particles.masses = calloc(11, sizeof *scene->particles.masses);
    scene->particles.body = calloc(11, sizeof *scene->particles.body);
    for (size_t i = 0; i < 10; i++) {
        scene->particles.positions[3 * i] = (double)(i % 5);
        scene->particles.positions[3 * i + 1] = (double)(i / 5);
        scene->particles.masses[i] = 1;
        scene->particles.body[i] = (uint32_t)(i / 5);
    }
}

static void check_pairs(const pbd_scene *scene, const double *x, double self, double least, size_t overlaps) {
    pair_count pairs;
    check_ok(particle_count_overlaps(scene, x, 0.5, self, &pairs));
    check_near("smallest distance", pairs.least, least, 1e-12);
    assert_int_equal(pairs.overlaps, overlaps);
}

static void test_pairs(void **state) {
    (void)state;
    pbd_scene scene;
    double x[31];
    open_bars(&scene);
    memcpy(x, scene.particles.positions, 30 * sizeof *x);
    check_pairs(&scene, x, 0, 1, 0);
    for (size_t i = 5; i < 10; i++) x[3 * i + 1] = 0.6; /* bars 0.6 m apart: five pairs, no diagonals */
    check_pairs(&scene, x, 0, 0.6, 5);
    for (size_t i = 5; i < 10; i++) x[3 * i + 1] = 100;
    check_pairs(&scene, x, 0, 2, 0); /* far apart: the search radius */
    x[12] = 0.1, x[13] = 0.2;        /* particle 4, at rest 4 m from particle 0, comes near it and particle 1 */
    check_pairs(&scene, x, 0, 2, 0);
    check_pairs(&scene, x, 3.5, sqrt(0.05), 1);
    check_pairs(&scene, x, 2.5, sqrt(0.05), 1); /* 1 and 4 are sqrt(0.85) m apart: above 0.9 times two radii */
    x[0] = NAN;
    check_pairs(&scene, x, 2.5, sqrt(0.85), 0);
    pbd_scene_free(&scene);
}

static void test_pieces(void **state) {
    (void)state;
    pbd_scene scene;
    double x[31];
    size_t pieces, crumbs;
    open_bars(&scene);
    memcpy(x, scene.particles.positions, 30 * sizeof *x);
    check_ok(particle_count_pieces(&scene, x, 1, &pieces, &crumbs));
    assert_int_equal(pieces, 2);                  /* neighbours of another body do not count */
    for (size_t i = 3; i < 5; i++) x[3 * i] += 1; /* bar 0 breaks into three and two particles */
    check_ok(particle_count_pieces(&scene, x, 1, &pieces, &crumbs));
    assert_int_equal(pieces, 3);
    check_ok(particle_count_pieces(&scene, x, 3, &pieces, &crumbs));
    assert_int_equal(pieces, 2);
    assert_int_equal(crumbs, 1);
    pbd_scene_free(&scene);
}

/* ---- tori -------------------------------------------------------------------------------------------------------- */

static void test_tori(void **state) {
    (void)state;
    trial t;
    open_case(&t, "tori", "tori=8 across=2 drop=0.3 size=0.2 room=1.2 density=100 gravity=10");
    assert_int_equal(t.scene.particles.count, 8 * 156);
    assert_int_equal(t.scene.particles.bodies, 8);
    assert_int_equal(t.scene.particles.body[8 * 156 - 1], 7);
    assert_int_equal(t.scene.colliders.count, 5);
    assert_true(t.scene.contact.between_bodies);
    /* Centres at x, y = +-0.11 m, and at heights of 0.4 and 0.62 m (drop of 0.3 m plus half a size); walls at
     * +-0.264 m. */
    double centre[3];
    particle_centre_of_mass(&t.scene, t.scene.particles.positions, centre);
    check_near("height", centre[2], 0.51, 1e-3);
    check_near("ground", t.scene.colliders.item[0].axis[2][2], 1, 0);
    for (size_t c = 1; c < 5; c++) {
        const pbd_collider *wall = &t.scene.colliders.item[c];
        double into = 0;
        for (int d = 0; d < 3; d++) into -= wall->centre[d] * wall->axis[2][d];
        check_near("wall, from the middle", into, 0.264, 1e-12);
        double cross = wall->axis[0][0] * wall->axis[1][1] - wall->axis[0][1] * wall->axis[1][0];
        check_near("its frame turns right", cross, wall->axis[2][2], 1e-12);
    }
    observe(&t, 0);
    for (size_t i = 0; i < 156; i++) t.x[3 * i] += 0.22; /* the first torus onto its neighbour */
    for (size_t i = 0; i < 3 * t.scene.particles.count; i++) t.v[i] = i % 3 == 2 ? -2 : 0;
    observe(&t, 1);
    for (size_t i = 0; i < 3 * t.scene.particles.count; i++) t.v[i] = i % 3 == 2 ? -1 : 0;
    back_to_rest(&t);
    for (size_t i = 0; i < t.scene.particles.count; i++) t.x[3 * i + 1] += 10;
    observe(&t, 2);
    measure(&t);
    check_metric(&t, "particles", 8 * 156, 0);
    check_metric(&t, "largest_speed", 2, 0);
    check_metric(&t, "kinetic_energy_left", 0.25, 1e-12);
    check_metric(&t, "overlapping_pairs", 0, 0);
    assert_true(told_metric(&t, "most_overlapping_pairs") > 100);
    check_metric(&t, "particles_outside", 8 * 156, 0);
    check_metric(&t, "worst_shape_error", 0, 1e-7);
    close_case(&t);
    open_case(&t, "tori", "tori=1 across=1 contact=off tilt=off");
    assert_int_equal(t.scene.colliders.count, 0);
    assert_false(t.scene.contact.between_bodies);
    check_ok(pbd_check_scene(&t.scene, &(pbd_method){.name = "of nothing"}));
    close_case(&t);
}

/* ---- bunny_drop -------------------------------------------------------------------------------------------------- */

static void test_bunny(void **state) {
    (void)state;
    trial t;
    open_case(&t, "bunny_drop", "particles=600 size=1 drop=0.4 self_contact=off");
    assert_int_equal(t.scene.particles.count, 600);
    check_near("not within the body", t.scene.contact.self_distance, 0, 0);
    double lowest = INFINITY, highest = 0;
    for (size_t i = 0; i < 600; i++) lowest = fmin(lowest, t.x[3 * i + 2]), highest = fmax(highest, t.x[3 * i + 2]);
    check_near("feet", lowest, 0.4 + 0.5 * t.scene.particles.spacing, t.scene.particles.spacing);
    check_near("ears", highest, 1.4 - 0.5 * t.scene.particles.spacing, t.scene.particles.spacing);
    observe(&t, 0);
    for (size_t i = 0; i < 600; i++) t.x[3 * i + 2] = 0.5 * t.scene.particles.spacing; /* squashed flat */
    observe(&t, 1);
    measure(&t);
    assert_true(told_metric(&t, "overlapping_pairs") > 600);
    check_metric(&t, "smallest_distance", 0, 1e-12); /* each column of the lattice is one point now */
    check_metric(&t, "deepest_in_walls", 0.2 * t.scene.particles.spacing, 1e-12);
    close_case(&t);
    open_case(&t, "bunny_drop", "particles=600 self_contact=on self_distance=3");
    check_near("within the body", t.scene.contact.self_distance, 3 * t.scene.particles.spacing, 1e-15);
    close_case(&t);
}

/* ---- recovery ---------------------------------------------------------------------------------------------------- */

static void test_recovery(void **state) {
    (void)state;
    static const char *const starts[] = {"random", "scaled"};
    for (int s = 0; s < 2; s++) {
        trial t;
        char words[100];
        snprintf(words, sizeof words, "shape=box size=2 spacing=0.25 ball=0.1 noise=0 start=%s", starts[s]);
        open_case(&t, "recovery", words);
        assert_int_equal(t.scene.particles.count, 512);
        assert_int_equal(t.scene.tets.count, 5 * 343);
        /* The tetrahedra fill the box that the outermost particles span. */
        double volume = 0, farthest = 0, centre[3];
        for (size_t e = 0; e < t.scene.tets.count; e++) {
            const uint32_t *n = t.scene.tets.corner + 4 * e;
            double a[3][3];
            for (size_t k = 0; k < 3; k++)
                for (size_t d = 0; d < 3; d++) a[k][d] = t.x[3 * (size_t)n[k] + d] - t.x[3 * (size_t)n[3] + d];
            const double six = a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) +
                               a[0][1] * (a[1][2] * a[2][0] - a[1][0] * a[2][2]) +
                               a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
            assert_true(six > 0);
            volume += six / 6;
        }
        check_near("volume of the tetrahedra", volume, 1.75 * 1.75 * 1.75, 1e-9);
        particle_centre_of_mass(&t.scene, t.scene.particles.positions, centre);
        for (size_t i = 0; i < 512; i++) {
            double square = 0;
            for (size_t d = 0; d < 3; d++) square += pow(t.scene.particles.start[3 * i + d] - centre[d], 2);
            farthest = fmax(farthest, sqrt(square));
        }
        check_near("radius of the ball", farthest, 0.2, s == 0 ? 0.01 : 1e-12);
        observe(&t, 0);
        measure(&t);
        check_metric(&t, "came_back", 1, 0);
        check_metric(&t, "first_back", 0, 0);
        check_metric(&t, "particles_without_tetrahedra", 0, 0);
        close_case(&t);
    }
    trial t; /* the default shape, a cow: none of its sites lies outside every cube of eight sites */
    open_case(&t, "recovery", "particles=1500");
    assert_int_equal(t.scene.particles.count, 1500);
    measure(&t);
    assert_true(told_metric(&t, "particles_without_tetrahedra") <= told_metric(&t, "dropped_sites"));
    close_case(&t);
}

/* ---- held_body --------------------------------------------------------------------------------------------------- */

static void test_held_body(void **state) {
    (void)state;
    trial t;
    open_case(&t, "held_body", "size=1 particles=2000 frames=7 frame=0.5");
    check_near("duration", t.scene.duration, 3.5, 1e-15);
    assert_true(t.scene.particles.fixed > 20 && t.scene.particles.fixed < 200);
    double palm[3], radius;
    armadillo_hand(palm, &radius);
    for (size_t i = 0; i < t.scene.particles.fixed; i++) {
        const double *x = t.scene.particles.positions + 3 * t.scene.particles.fixed_particle[i];
        assert_true(hypot(hypot(x[0] - palm[0], x[1] - palm[1]), x[2] - palm[2]) <= radius);
    }
    for (size_t i = 0; i < 2000; i++) t.x[3 * i + 2] -= 0.25;
    observe(&t, 0);
    measure(&t);
    check_metric(&t, "sag", 0.25, 1e-12);
    check_metric(&t, "held_particles", (double)t.scene.particles.fixed, 0);
    size_t markers = 0;
    for (size_t i = 0; i < t.result.series_count; i++) markers += strncmp(t.result.series[i].name, "marker_", 7) == 0;
    assert_int_equal(markers, 15); /* five markers, three components each */
    close_case(&t);
}

/* ---- sausages ---------------------------------------------------------------------------------------------------- */

static void test_sausages(void **state) {
    (void)state;
    trial t;
    open_case(&t, "sausages",
              "sausages=2 length=0.6 sausage_radius=0.05 particles_each=500 cuts=2 piece=0.1 gap=0.05 push_speed=0.5 "
              "depth=0.3 box_height=0.1");
    assert_int_equal(t.scene.particles.count, 1000);
    assert_int_equal(t.scene.blades.count, 2);
    check_near("first cut", t.scene.blades.item[0].begin, 0.3, 1e-12); /* (0.05 + 0.1) / 0.5 */
    check_near("second cut", t.scene.blades.item[1].begin, 0.5, 1e-12);
    for (size_t b = 0; b < 2; b++) { /* the lower edge moves from above the sausages to below the table top */
        const pbd_blade *blade = &t.scene.blades.item[b];
        assert_true(blade->corner[2] > 0.1);
        assert_true(blade->corner[2] + blade->velocity[2] * (blade->end - blade->begin) < 0);
        assert_true(blade->corner[2] + blade->edge[1][2] + blade->velocity[2] * (blade->end - blade->begin) > 0.1);
    }
    double nearest = -INFINITY, lowest = INFINITY;
    for (size_t i = 0; i < 1000; i++) nearest = fmax(nearest, t.x[3 * i]), lowest = fmin(lowest, t.x[3 * i + 2]);
    assert_true(nearest < 0 && nearest > -0.02); /* at the edge of the table, on its top */
    assert_true(lowest > 0 && lowest < 0.02);
    measure(&t);
    check_metric(&t, "pieces_apart", 2, 0);
    check_metric(&t, "pieces_expected", 6, 0);
    close_case(&t);
    expect_refused("sausages", "cuts=9 piece=0.2 gap=0.04", "need 1.84 m");
    expect_refused("sausages", "length=0.1 sausage_radius=0.05", "two round ends");
}

/* ---- sampled_towel ----------------------------------------------------------------------------------------------- */

/* Pa, by hand: a neo-Hookean material, mu (s - 1/s) + lambda ln J/s, with a fibre along the first axis, which adds
 * b (s - 1/s) there. */
static double principal_stress(const double s[3], int axis, double E, double nu, double fibre) {
    const double mu = E / (2 + 2 * nu), lambda = E * nu / ((1 + nu) * (1 - 2 * nu)), a = s[axis];
    return (mu + (axis == 0 ? fibre : 0)) * (a - 1 / a) + lambda * log(s[0] * s[1] * s[2]) / a;
}

static void test_sampled_towel(void **state) {
    (void)state;
    trial t;
    open_case(&t, "sampled_towel",
              "across=6 layers=3 length=1.6 width=1.2 density=50 traction=20 fibre_stiffness=100 fibre_angle=0");
    assert_int_equal(t.scene.particles.count, 8 * 6 * 3);
    assert_int_equal(t.scene.triangles.count, 0);
    check_near("spacing, m", t.scene.particles.spacing, 0.2, 1e-15);
    check_near("mass, kg", sum(t.scene.particles.masses, t.scene.particles.count), 50 * 1.6 * 1.2 * 0.6, 1e-12);
    /* Work of the loads on an affine motion: traction times volume in the plane, none across it, no moment. */
    double work[3][3] = {{0}};
    for (size_t i = 0; i < t.scene.particles.count; i++)
        for (size_t a = 0; a < 3; a++)
            for (size_t b = 0; b < 3; b++)
                work[a][b] += t.scene.loads.forces[3 * i + a] * t.scene.particles.positions[3 * i + b];
    for (size_t a = 0; a < 3; a++)
        for (size_t b = 0; b < 3; b++)
            check_near("work of the loads, J", work[a][b], a == b && a < 2 ? 20 * 1.6 * 1.2 * 0.6 : 0, 1e-12);
    for (size_t i = 0; i < t.scene.particles.count; i++) {
        double *x = t.x + 3 * i;
        const double at[3] = {x[0], x[1], x[2]};
        x[0] = 1.1 * at[0] + 0.3 * at[1] + 7;
        x[1] = 1.2 * at[1];
        x[2] = 0.9 * at[2];
    }
    observe(&t, 0);
    measure(&t);
    check_metric(&t, "particles", 8 * 6 * 3, 0);
    check_metric(&t, "stretch_fibre", 1.1, 1e-12);
    check_metric(&t, "stretch_perpendicular", hypot(0.3, 1.2), 1e-12);
    check_metric(&t, "stretch_thickness", 0.9, 1e-12);
    check_metric(&t, "shear_angle", atan2(0.3, 1.2) * 180 / PI, 1e-9);
    check_metric(&t, "inverted_triangles", 0, 0);
    const double s[3] = {told_metric(&t, "stretch_fibre_reference"), told_metric(&t, "stretch_perpendicular_reference"),
                         told_metric(&t, "stretch_thickness_reference")};
    check_near("stress along the fibre, Pa", principal_stress(s, 0, 50, 0.4, 100), 20, 1e-9);
    check_near("stress across it, Pa", principal_stress(s, 1, 50, 0.4, 100), 20, 1e-9);
    check_near("stress of the faces, Pa", principal_stress(s, 2, 50, 0.4, 100), 0, 1e-9);
    close_case(&t);
    /* The paper's particle count, on a strip. */
    open_case(&t, "sampled_towel", "across=11 width=0.36 length=6.25");
    assert_int_equal(t.scene.particles.count, 8404);
    close_case(&t);
    expect_refused("sampled_towel", "length=0.1 width=2 across=2", "two particles at least");
    expect_refused("sampled_towel", "across=5000 layers=100", "too large");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hanging_box),    cmocka_unit_test(test_floor),     cmocka_unit_test(test_poisson_body),
        cmocka_unit_test(test_mesh_of_a_file), cmocka_unit_test(test_refusals),  cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_pieces),         cmocka_unit_test(test_tori),      cmocka_unit_test(test_bunny),
        cmocka_unit_test(test_recovery),       cmocka_unit_test(test_held_body), cmocka_unit_test(test_sausages),
        cmocka_unit_test(test_sampled_towel),
    };
    return cmocka_run_group_tests(tests, NULL, remove_workplace);
}
