/* Scenes from YAML files: the built scene against volumes, masses and motions by formula; positions and texts of error
 * messages; the hash of a run's file; the examples. */
#include <glob.h>
#include <sys/stat.h>

#include "cases/scene/scene.h"
#include "cases/scenes/body.h"
#include "harness/catalog/scene_check.h"
#include "tests/ladder.h"

#include "tests/program.h"
#include "tests/trial.h"

static const double PI = 3.14159265358979323846;

/* Writes a file in the workplace. The returned path lasts for four calls of in_workplace. */
static const char *write_scene(const char *name, const char *text) {
    const char *path = in_workplace(name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return path;
}

static void open_scene(trial *t, const char *text, const char *more) {
    char words[400];
    snprintf(words, sizeof words, "file=%s %s", write_scene("scene.yaml", text), more);
    open_case(t, "scene", words);
}

static double sum(const double *x, size_t first, size_t count) {
    double total = 0;
    for (size_t i = first; i < first + count; i++) total += x[i];
    return total;
}

/* ---- What it holds ----------------------------------------------------------------------------------------------- */

static void test_masses(void **unused) {
    (void)unused;
    trial t;
    open_scene(&t,
               "duration: 1\nmatters: {a: {young: 1e5, density: 500}, b: {young: 2e6, poisson: 0.2, law: stvk}}\n"
               "bodies:\n"
               "  - {shape: box, size: [0.4, 0.2, 0.2], spacing: 0.05, matter: b}\n"
               "  - {shape: sphere, radius: 0.1, place: [1, 0, 0], sampling: poisson, spacing: 0.05, matter: a}\n"
               "  - {shape: cylinder, radius: 0.1, length: 0.2, place: [2, 0, 0], sampling: poisson, spacing: 0.05, "
               "matter: a}\n",
               "");
    const scene_detail *d = t.setup.detail;
    assert_int_equal(d->parts, 3);
    assert_int_equal(d->part[0].count, 8 * 4 * 4);
    check_near("box, kg", sum(t.scene.particles.masses, 0, 128), 1000 * 0.016, 1e-12);
    check_near("sphere, kg", d->part[1].mass, 500 * 4 * PI / 3 * 1e-3, 1e-12);
    check_near("cylinder, kg", d->part[2].mass, 500 * PI * 0.01 * 0.2, 1e-12);
    assert_int_equal(t.scene.materials, 2);
    assert_string_equal(pbd_material_of(&t.scene, 0)->law, "stvk");
    assert_true(pbd_material_of(&t.scene, 0)->E == 2e6 && pbd_material_of(&t.scene, 200)->density == 500);
    assert_string_equal(pbd_material_of(&t.scene, 200)->law, "hencky");
    assert_true(t.scene.contact.between_bodies);
    close_case(&t);
    /* The 5 x 3 x 3 corners of tetrahedra reach the surface, and their volume is the box's. */
    open_scene(&t,
               "duration: 1\nmatters: {a: {young: 1e5}}\n"
               "bodies: [{shape: box, size: [0.4, 0.2, 0.2], spacing: 0.1, sampling: tetrahedra, matter: a}]\n",
               "");
    assert_int_equal(t.scene.particles.count, 45);
    assert_int_equal(t.scene.tets.count, 5 * 4 * 2 * 2);
    assert_int_equal(t.scene.hexes.count, 4 * 2 * 2);
    static const double corner[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                        {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    for (size_t k = 0; k < 8; k++) /* in Zienkiewicz's order */
        for (size_t c = 0; c < 3; c++)
            check_near("corner", t.scene.particles.positions[3 * t.scene.hexes.corner[k] + c],
                       0.1 * corner[k][c] - (c == 0 ? 0.2 : 0.1), 1e-12);
    check_near("volume, m^3", sum(t.scene.particles.volumes, 0, 45), 0.016, 1e-15);
    check_near("its lowest corner, m", t.scene.particles.positions[2], -0.1, 1e-12);
    close_case(&t);
    /* Cloth: the volume is area times thickness, the bending stiffness that of a plate. */
    open_scene(&t,
               "duration: 1\nmatters: {c: {kind: cloth, young: 1e5, density: 400, thickness: 0.01}}\n"
               "bodies: [{shape: sheet, length: 0.6, width: 0.3, cells: 6, place: [0, 0, 1], matter: c}]\n",
               "");
    assert_int_equal(t.scene.particles.count, 13 * 7);
    assert_int_equal(t.scene.triangles.count, 2 * 12 * 6);
    check_near("cloth, kg", sum(t.scene.particles.masses, 0, 91), 400 * 0.01 * 0.18, 1e-12);
    check_near("bending, N m", t.scene.material[0].bending, 1e5 * 1e-6 / (12 * (1 - 0.09)), 1e-12);
    assert_true(pbd_matter_of(&t.scene, 5) == PBD_CLOTH);
    close_case(&t);
}

/* A pyramid without its base, as cloth: each vertex is a particle with a third of the mass of its triangles. */
static void test_cloth_mesh(void **unused) {
    (void)unused;
    trial t;
    write_scene("tent.obj", "v 0 0 0\nv 2 0 0\nv 2 2 0\nv 0 2 0\nv 1 1 1\nf 1 2 5\nf 2 3 5\nf 3 4 5\nf 4 1 5\n");
    open_scene(&t,
               "duration: 1\nmatters: {c: {kind: cloth, young: 1e5, density: 400, thickness: 0.01}}\n"
               "bodies: [{mesh: tent.obj, unit: 0.1, place: [0, 0, 1], matter: c}]\n",
               "");
    const double side = 0.01 * sqrt(2); /* m^2: half of 0.2 m by the slant height of 0.1 sqrt(2) m */
    assert_int_equal(t.scene.particles.count, 5);
    assert_int_equal(t.scene.triangles.count, 4);
    check_near("cloth, kg", sum(t.scene.particles.masses, 0, 5), 400 * 0.01 * 4 * side, 1e-6);
    size_t apex = 0; /* the reader reorders vertices */
    for (size_t i = 1; i < 5; i++)
        if (t.scene.particles.positions[3 * i + 2] > t.scene.particles.positions[3 * apex + 2]) apex = i;
    check_near("its apex, kg", t.scene.particles.masses[apex], 400 * 0.01 * 4 * side / 3, 1e-6);
    check_near("the apex, z", t.scene.particles.positions[3 * apex + 2], 1.1, 1e-6);
    check_near("the apex, x", t.scene.particles.positions[3 * apex], 0, 1e-6);
    close_case(&t);
}

/* A mesh is scaled to its longest edge and stands on z = place; a file's flow rule has its own parameters. */
static void test_mesh_and_flow(void **unused) {
    (void)unused;
    trial t;
    write_scene("box.off",
                "OFF\n# 2 x 1 x 1\n8 6 0\n0 0 0\n2 0 0\n2 1 0\n0 1 0\n0 0 1\n2 0 1\n2 1 1\n0 1 1\n"
                "4 3 2 1 0\n4 4 5 6 7\n4 0 1 5 4\n4 1 2 6 5\n4 2 3 7 6\n4 3 0 4 7\n");
    open_scene(&t,
               "duration: 1\nmatters: {s: {young: 1e6, density: 1500, flow: drucker_prager, friction_angle: 25,\n"
               "    volume_correction: off}, unused: {kind: liquid}}\n"
               "bodies: [{mesh: box.off, extent: 0.2, place: [1, 0, 2], spacing: 0.02, matter: s}]\n",
               "");
    assert_int_equal(t.scene.particles.count, 10 * 5 * 5);
    check_near("mass, kg", sum(t.scene.particles.masses, 0, 250), 1500 * 0.2 * 0.1 * 0.1, 1e-6);
    check_near("first particle, x", t.scene.particles.positions[0], 1 - 0.09, 1e-7);
    check_near("first particle, z", t.scene.particles.positions[2], 2 + 0.01, 1e-7);
    assert_int_equal(t.scene.materials, 1); /* a material that no body uses is dropped */
    assert_string_equal(t.scene.material[0].flow, "drucker_prager");
    assert_string_equal(t.scene.material[0].law, "hencky");
    assert_true(t.scene.material[0].flow_value[0] == 25 && t.scene.material[0].flow_value[2] == 1);
    assert_true(!t.scene.contact.between_bodies);
    close_case(&t);
}

/* The velocity is v + w x r about the centre of mass; a rotation by 90 degrees about y takes x to -z. */
static void test_motion_and_place(void **unused) {
    (void)unused;
    trial t;
    open_scene(&t,
               "duration: 1\ngravity: [0, 1, -2]\nmatters: {a: {young: 1e5}}\n"
               "bodies:\n"
               "  - shape: box\n    size: [0.4, 0.2, 0.2]\n    spacing: 0.1\n    matter: a\n    place: [1, 2, 3]\n"
               "    rotate: {axis: [0, 1, 0], degrees: 90}\n    velocity: [1, 0, 0]\n    angular_velocity: [0, 0, 2]\n"
               "    stretch: [2, 1, 1]\n",
               "");
    const double *x = t.scene.particles.positions, *start = t.scene.particles.start, *v = t.scene.particles.velocities;
    check_near("x", x[0], 1 - 0.05, 1e-12); /* local (-0.15, -0.05, -0.05) */
    check_near("y", x[1], 2 - 0.05, 1e-12);
    check_near("z", x[2], 3 + 0.15, 1e-12);
    check_near("z at the start", start[2], 3 + 0.3, 1e-12);
    check_near("vx", v[0], 1 - 2 * (start[1] - 2), 1e-12);
    check_near("vy", v[1], 2 * (start[0] - 1), 1e-12);
    check_near("gravity", t.scene.loads.gravity[1] - t.scene.loads.gravity[2], 3, 0);
    close_case(&t);
}

static void test_regions_and_colliders(void **unused) {
    (void)unused;
    trial t;
    open_scene(&t,
               "duration: 1\nforces_end: 0.5\nmatters: {a: {young: 1e5}}\n"
               "bodies: [{name: bar, shape: box, size: [0.4, 0.2, 0.2], spacing: 0.1, place: [0, 0, 1], matter: a}]\n"
               "held: [{high: [-0.1, 9, 9]}, {centre: [0.15, 0.05, 1.05], radius: 0.01}]\n"
               "loads: [{body: bar, force: [0, 0, 32]}, {low: [0.1, -1, -1], force: [8, 0, 0]}]\n"
               "colliders:\n"
               "  - {shape: plane, place: [0, 0, 0.5], friction: 0.7}\n"
               "  - {shape: cylinder, radius: 0.1, length: 0.6, place: [2, 0, 1], velocity: [-1, 0, 0], end: 0.5,\n"
               "     rotate: {axis: [0, 1, 0], degrees: 90}}\n",
               "duration=0.25");
    assert_int_equal(t.scene.particles.fixed, 4 + 1); /* one layer of 2 x 2, and one particle */
    check_near("force", t.scene.loads.forces[2], 2, 1e-12);
    check_near("at the end", t.scene.loads.forces[3 * 15], 2, 1e-12);
    check_near("not there", t.scene.loads.forces[0], 0, 0);
    assert_true(t.scene.loads.forces_end == 0.5 && t.scene.duration == 0.25);
    const pbd_collider *c = t.scene.colliders.item;
    assert_int_equal(t.scene.colliders.count, 2);
    assert_true(c[0].friction == 0.7 && c[1].friction == 0.3 && c[1].end == 0.5 && c[1].velocity[0] == -1);
    check_near("half-length", c[1].half[2], 0.3, 1e-15);
    check_near("its axis, along x", c[1].axis[2][0], 1, 1e-12);
    close_case(&t);
}

/* ---- What is measured -------------------------------------------------------------------------------------------- */

/* A box 0.4 m long whose outermost sites are 0.15 m from its middle: 99 % of the mass is within the farthest ones. */
static void test_metrics(void **unused) {
    (void)unused;
    trial t;
    open_scene(&t,
               "duration: 1\nmatters: {a: {young: 1e5}}\ncolliders: [{shape: plane}]\n"
               "bodies: [{shape: box, size: [0.4, 0.2, 0.2], spacing: 0.1, place: [0, 0, 1], matter: a}]\n",
               "");
    for (size_t i = 0; i < 16; i++) {
        t.x[3 * i + 2] -= 1.5; /* lowest particle centre 0.55 m below the floor */
        t.v[3 * i] = 2;
    }
    observe(&t, 0);
    measure(&t);
    check_metric(&t, "mass", 16, 1e-12);
    check_metric(&t, "centre_z", -0.5, 1e-12);
    check_metric(&t, "lowest", -0.55, 1e-12);
    check_metric(&t, "height", 0.1, 1e-12);
    check_metric(&t, "spread", hypot(0.15, 0.05), 1e-12);
    check_metric(&t, "penetration", 0.55, 1e-12);
    check_metric(&t, "largest_speed", 2, 1e-12);
    check_metric(&t, "most_density_ratio", 1, 1e-12);
    close_case(&t);
}

static double reported(const told *t, const char *metric) {
    char key[60];
    snprintf(key, sizeof key, "\"%s\":{\"value\":", metric);
    const char *at = strstr(t->out, key);
    if (!at) {
        snprintf(key, sizeof key, "\"%s\":", metric);
        at = strstr(t->out, key);
    }
    if (!at) fail_msg("no %s in %.2000s", metric, t->out);
    return strtod(at + strlen(key), NULL);
}

/* A free body falls by g t^2/2, with symplectic Euler by g t (t + dt)/2. A held body stays in place. */
static void test_fall(void **unused) {
    (void)unused;
    static const char scene[] =
        "duration: 0.2\nmatters: {a: {young: 1e5}}\n"
        "bodies: [{shape: sphere, radius: 0.1, spacing: 0.04, place: [0, 0, 5], velocity: [0, 0, 1], matter: a}]\n";
    char file[300], held[sizeof scene + 40];
    snprintf(file, sizeof file, "file=%s", write_scene("fall.yaml", scene));
    told t =
        tell("run", "scene", "-m", "corrected_sph", "-s", file, "-s", "dt=0.001", "-t", "1", "--no-store", "--json");
    expect_code(t, 0);
    check_near("centre, m", reported(&t, "centre_z"), 5 + 0.2 - 9.81 * 0.2 * 0.201 / 2, 1e-9);
    forget(&t);
    snprintf(held, sizeof held, "%sheld: [{low: [-9, -9, -9]}]\n", scene);
    snprintf(file, sizeof file, "file=%s", write_scene("held.yaml", held));
    t = tell("run", "scene", "-m", "corrected_sph", "-s", file, "-s", "dt=0.001", "-t", "1", "--no-store", "--json");
    expect_code(t, 0);
    check_near("centre, m", reported(&t, "centre_z"), 5, 1e-12);
    forget(&t);
}

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

static void test_errors(void **unused) {
    (void)unused;
    static const char head[] = "duration: 1\nmatters:\n  a: {young: 1e5}\n  w: {kind: liquid}\nbodies:\n";
    static const struct {
        bool with_head; /* after a head; `text` then starts at line 6 */
        const char *text, *where, *says;
    } bad[] = {
        {false, "duration: 1\nmaters: {}\n", "line 2, column 1", "did you mean 'matters'"},
        {false, "duration: -1\n", "line 1, column 11", "must lie in [0, 1e+06] s"},
        {false, "duration: soon\n", "line 1, column 11", "is not a number"},
        {false, "duration: 1\n", "line 1, column 1", "needs matters"},
        {false, "duration: 1\nmatters: {a: {young: 1e5, poisson: 0.5}}\nbodies: []\n", "line 2", "(-1, 0.5)"},
        {false, "duration: 1\nmatters: {a: {poisson: 0.4}}\nbodies: []\n", "line 2", "needs young"},
        {false, "duration: 1\nmatters: {a: {young: 1, law: neohookean}}\nbodies: []\n", "line 2", "neo_hookean"},
        {false, "duration: 1\nmatters: {a: {young: 1, flow: druker_prager}}\nbodies: []\n", "line 2", "drucker_prager"},
        {false, "duration: 1\nmatters: {a: {young: 1, flow: snow, friction_angle: 3}}\nbodies: []\n", "line 2",
         "has no key 'friction_angle'"},
        {false, "duration: 1\nmatters: {a: {young: 1, flow: von_mises}}\nbodies: []\n", "line 2", "needs yield_stress"},
        {false, "duration: 1\nmatters: {a: {young: 1}}\nbodies: []\n", "line 3", "at least one"},
        {true, "  - {shape: box, size: [1, 1], matter: a}\n", "line 6", "found 2 entries"},
        {true, "  - {shape: box, size: [1, 1, -1], matter: a}\n", "line 6, column 31", "(0, 1e+06] m"},
        {true, "  - {shape: bax, size: [1, 1, 1], matter: a}\n", "line 6, column 13", "did you mean 'box'"},
        {true, "  - {shape: box, radius: 1, matter: a}\n", "line 6, column", "a box"},
        {true, "  - {shape: box, size: [1, 1, 1], matter: b, spacing: 0.1}\n", "line 6, column 43", "not one of a, w"},
        {true, "  - {shape: box, size: [1, 1, 1], matter: a}\n", "line 6, column 5", "needs spacing or particles"},
        {true, "  - {shape: box, size: [1, 1, 1], matter: a, spacing: 9}\n", "line 6", "no room for a single particle"},
        {true, "  - {mesh: none.obj, matter: a, spacing: 9}\n", "line 6, column 12", "none.obj: No such file"},
        {true,
         "  - {shape: box, size: [1, 1, 1], matter: a, spacing: 0.5}\n"
         "  - {shape: box, size: [1, 1, 1], matter: a, spacing: 0.2}\n",
         "line 7", "within 10 %"},
        {true, "  - {shape: sheet, length: 1, width: 1, cells: 2, matter: a}\n", "line 6", "kind: cloth"},
        {false,
         "duration: 1\nmatters: {c: {kind: cloth, young: 1e5, thickness: 0.001}}\n"
         "bodies: [{mesh: tent.obj, spacing: 0.1, matter: c}]\n",
         "line 3", "spacing is for a body that particles fill"},
        {true, "  - {mesh: tent.obj, matter: a, spacing: 0.5}\n", "line 6", "the mesh is open"},
        {false,
         "duration: 1\nmatters: {c: {kind: cloth, young: 1e5, thickness: 0.001}}\n"
         "bodies: [{shape: sheet, length: 1e5, width: 1e-6, cells: 9, matter: c}]\n",
         "line 3", "9e+11 x 9 squares"}, /* overflows an int */
        {true, "  - {shape: box, size: [1, 1, 1], matter: a, spacing: 0.5}\nheld: [{low: [9, 9, 9]}]\n", "line 7",
         "no particle is in this region"},
        {true, "  - {shape: box, size: [1, 1, 1], matter: a, spacing: 0.5}\ncolliders:\n  - {shape: sphere}\n",
         "line 8", "needs radius"},
        {true, "  - {shape: box, size: [1, 1, 1], matter: a, matter: a}\n", "line 6", "given twice"},
    };
    char text[900], words[400];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        trial t;
        snprintf(text, sizeof text, "%s%s", bad[i].with_head ? head : "", bad[i].text);
        snprintf(words, sizeof words, "file=%s", write_scene("bad.yaml", text));
        const pbd_status status = try_case(&t, "scene", words);
        if (status.code != PBD_BAD_INPUT || !strstr(status.text, bad[i].where) || !strstr(status.text, bad[i].says))
            fail_msg("%zu: wanted %s ... %s, got %s", i, bad[i].where, bad[i].says, status.text);
    }
}

/* Files with changed bytes or cut short are refused or built, without a crash. */
static void test_damaged(void **unused) {
    (void)unused;
    static const char scene[] =
        "duration: 1\ngravity: [0, 0, -9]\nmatters:\n  a: {young: 1e5, flow: snow, xi: 10}\n  c: {kind: cloth, young: "
        "1e5, "
        "thickness: 0.01}\nbodies:\n  - {name: ball, shape: sphere, radius: 0.1, particles: 50, matter: a, sampling: "
        "poisson}\n  - {shape: sheet, length: 1, width: 1, cells: 4, matter: c, rotate: {axis: [0, 1, 0], degrees: "
        "9}}\n"
        "colliders:\n  - {shape: plane}\n  - {shape: sphere, radius: 0.1, place: [1, 2, 3]}\nheld: [{body: ball}]\n";
    static const char odd[] = "\n -9.e{}[]:,#&*'\"\t\xff";
    uint64_t seed = 5;
    size_t built = 0, refused = 0;
    char text[sizeof scene], words[400];
    for (int round = 0; round < 300; round++) {
        trial t;
        memcpy(text, scene, sizeof scene);
        for (int k = 0; k < 1 + round % 3; k++)
            text[(size_t)(fabs(body_noise(&seed)) * (double)strlen(scene))] =
                odd[(size_t)(fabs(body_noise(&seed)) * (double)(sizeof odd - 1))];
        if (round % 10 == 9) text[(size_t)(fabs(body_noise(&seed)) * (double)strlen(scene))] = '\0';
        snprintf(words, sizeof words, "file=%s", write_scene("damaged.yaml", text));
        const pbd_status status = try_case(&t, "scene", words);
        built += status.code == PBD_OK;
        refused += status.code != PBD_OK;
        if (status.code == PBD_OK) {
            pbd_case_free(t.c, &t.setup);
            pbd_values_free(&t.values);
        } else {
            assert_int_equal(status.code, PBD_BAD_INPUT);
        }
    }
    print_message("    built %zu, refused %zu\n", built, refused);
    assert_true(refused > 100);
}

/* Exit code 2. Features that a method does not support are refused by the same check as in other cases. */
static void test_refusals(void **unused) {
    (void)unused;
    char file[300];
    snprintf(file, sizeof file, "file=%s",
             write_scene("two.yaml",
                         "duration: 1\ncontact: {between_bodies: false}\n"
                         "matters: {a: {young: 1e5, law: hencky}, b: {young: 1e6, law: hencky}}\n"
                         "bodies:\n  - {shape: sphere, radius: 0.1, spacing: 0.05, matter: a}\n"
                         "  - {shape: sphere, radius: 0.1, spacing: 0.05, place: [1, 0, 0], matter: b}\n"));
    told t = tell("run", "scene", "-m", "xpbi", "-s", file, "--no-store");
    expect_code(t, 2);
    expect_says(t.err, "does not support several solids");
    forget(&t);
    snprintf(file, sizeof file, "file=%s", write_scene("typo.yaml", "duration: 1\nbodys: []\n"));
    t = tell("run", "scene", "-m", "xpbi", "-s", file, "--no-store");
    expect_code(t, 2);
    expect_says(t.err, "typo.yaml: line 2, column 1");
    forget(&t);
    snprintf(file, sizeof file, "file=%s",
             write_scene("cloth.yaml",
                         "duration: 1\nmatters: {c: {kind: cloth, young: 1e5, thickness: 0.01}}\n"
                         "bodies: [{shape: sheet, length: 1, width: 1, cells: 4, matter: c}]\n"));
    t = tell("run", "scene", "-m", "xpbi", "-s", file, "--no-store");
    expect_code(t, 2);
    expect_says(t.err, "needs particles that fill a body");
    forget(&t);
}

/* ---- The run's identity ------------------------------------------------------------------------------------------ */

static void hash_of(const char *path, char out[17]) {
    static const pbd_param param = {"file", "", PBD_FILE, "", 0, 0, 0, NULL, "a scene"};
    pbd_value value;
    check_ok(pbd_parse_value(&param, path, "case scene", &value));
    snprintf(out, 17, "%s", strrchr(pbd_value_text(&value), '#') + 1);
    pbd_value_free(&value);
}

/* The hash depends on the text and on the mesh file, not on file names. */
static void test_identity(void **unused) {
    (void)unused;
    static const char scene[] = "duration: 1\nbodies: [{mesh: body.obj}]\n";
    char first[17], again[17];
    const char *path = write_scene("a.yaml", scene);
    write_scene("body.obj", "v 0 0 0\n");
    hash_of(path, first);
    hash_of(path, again);
    assert_string_equal(first, again);
    hash_of(write_scene("b.yaml", scene), again); /* another name */
    assert_string_equal(first, again);
    hash_of(write_scene("a.yaml", "duration: 2\nbodies: [{mesh: body.obj}]\n"), again);
    assert_string_not_equal(first, again);
    path = write_scene("a.yaml", scene);
    write_scene("body.obj", "v 0 0 1\n");
    hash_of(path, again);
    assert_string_not_equal(first, again);
    write_scene("body.obj", "v 0 0 0\n");
    hash_of(path, again);
    assert_string_equal(first, again);
    path = write_scene("a.yaml", "duration: 1\nbodies: [{points: body.obj}]\n");
    hash_of(path, first);
    write_scene("body.obj", "v 0 0 1\n");
    hash_of(path, again);
    assert_string_not_equal(first, again);
}

/* ---- The examples ------------------------------------------------------------------------------------------------ */

/* Each example builds, and is supported by every method that its first line names, at least one. */
static void test_examples(void **unused) {
    (void)unused;
    glob_t found;
    assert_int_equal(glob(PBD_TEST_FOLDER "/../examples/scenes/*.yaml", 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 12);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char words[500], comment[300] = "";
        trial t;
        size_t named = 0;
        FILE *file = fopen(found.gl_pathv[i], "r");
        assert_non_null(fgets(comment, sizeof comment, file));
        fclose(file);
        snprintf(words, sizeof words, "file=%s", found.gl_pathv[i]);
        open_case(&t, "scene", words);
        for (size_t m = 0; m < pbd_method_count(); m++) {
            const pbd_method *method = pbd_method_at(m)->by_precision[PBD_PRECISION_F64];
            if (!strstr(comment, method->name)) continue;
            const pbd_status status = pbd_check_scene(&t.scene, method);
            if (status.code != PBD_OK) fail_msg("%s by %s: %s", found.gl_pathv[i], method->name, status.text);
            named++;
        }
        if (named == 0) fail_msg("%s: no method in its first line", found.gl_pathv[i]);
        close_case(&t);
    }
    globfree(&found);
}

static void run_example(const char *name, const char *method, const char *setting) {
    char file[400];
    snprintf(file, sizeof file, "file=" PBD_TEST_FOLDER "/../examples/scenes/%s.yaml", name);
    told t = tell("run", "scene", "-m", method, "-s", file, "-s", setting, "-t", "1", "-q", "--no-store");
    expect_code(t, 0);
    forget(&t);
}

/* A few steps of some examples. */
static void test_runs(void **unused) {
    (void)unused;
    run_example("jelly_cube", "corrected_sph", "duration=0.02");
    run_example("dam", "pbf", "duration=0.02");
    run_example("cloth_on_ball", "xpbd_cloth", "duration=0.02");
    run_example("two_rubbers", "strain_energy", "duration=0.02");
    run_example("held_beam", "fem_implicit", "spacing=0.1");
    run_example("sand_in_water", "xpbi", "duration=0.002");
}

static void test_verb(void **unused) {
    (void)unused;
    static const char file[] = PBD_TEST_FOLDER "/../examples/scenes/held_beam.yaml";
    told t = tell("scene", "check", file, "-m", "fem_implicit");
    expect_code(t, 0);
    expect_says(t.out, "fem_implicit");
    expect_says(t.out, "fits");
    forget(&t);
    t = tell("scene", "check", file, "-m", "pbf");
    expect_code(t, 3);
    expect_says(t.out, "pbf             no: ");
    forget(&t);
    const char *picture = in_workplace("start.png");
    struct stat about;
    t = tell("scene", "show", file, "-o", picture);
    expect_code(t, 0);
    assert_int_equal(stat(picture, &about), 0);
    assert_true(about.st_size > 1000);
    forget(&t);
    t = tell("scene", "chek", file);
    expect_code(t, 2);
    expect_says(t.err, "did you mean 'check'");
    forget(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_masses),
        cmocka_unit_test(test_cloth_mesh),
        cmocka_unit_test(test_mesh_and_flow),
        cmocka_unit_test(test_motion_and_place),
        cmocka_unit_test(test_regions_and_colliders),
        cmocka_unit_test(test_metrics),
        cmocka_unit_test(test_fall),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_identity),
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_verb),
    };
    return cmocka_run_group_tests(tests, NULL, remove_workplace);
}
