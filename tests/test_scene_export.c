/* Cases exported as scene files: the scene that is read back equals the case's, member by member; a method moves it in
 * the same way; damaged files of points are refused. */
#include <float.h>
#include <sys/stat.h>

#include "cases/geometry/points_file.h"
#include "cases/scene/scene_export.h"
#include "cases/scene/surroundings.h"
#include "methods/physics/matter/law_table.h"
#include "tests/trial.h"

#include "tests/program.h"

/* ---- The same scene ---------------------------------------------------------------------------------------------- */

/* Files hold all digits of numbers. Only the frames of colliders are converted to an axis and an angle in degrees and
 * back, with rounding of numbers of order 1. Vertices of collider meshes are stored in 32 bits. */
static const double FRAME = 1e-14, VERTEX = 0x1p-23;

static bool same(const double *a, const double *b, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!((a ? a[i] : 0) == (b ? b[i] : 0))) return false;
    return true;
}

static bool near(const double *a, const double *b, size_t count, double limit) {
    for (size_t i = 0; i < count; i++)
        if (!(fabs(a[i] - b[i]) <= limit)) return false;
    return true;
}

#define HOLDS(WHAT)                                                              \
    do {                                                                         \
        if (!(WHAT)) fail_msg("%s:%d: %s: %s", __FILE__, __LINE__, name, #WHAT); \
    } while (0)

static void compare_particles(const char *name, const pbd_scene *a, const pbd_scene *b) {
    const pbd_particles *p = &a->particles, *q = &b->particles;
    const size_t n = p->count;
    HOLDS(n == q->count && p->fixed == q->fixed && p->spacing == q->spacing && !p->start == !q->start);
    HOLDS((p->bodies > 0 ? p->bodies : 1) == q->bodies);
    HOLDS(same(p->positions, q->positions, 3 * n) && same(p->velocities, q->velocities, 3 * n));
    HOLDS(same(p->start, q->start, 3 * n) && same(p->masses, q->masses, n));
    HOLDS(same(a->loads.forces, b->loads.forces, 3 * n) && same(a->contact.radius, b->contact.radius, n));
    for (size_t i = 0; i < n; i++) {
        HOLDS((p->volumes ? p->volumes[i] : p->masses[i] / pbd_material_of(a, i)->density) == q->volumes[i]);
        HOLDS((p->body ? p->body[i] : 0) == q->body[i]);
        HOLDS((p->material ? p->material[i] : 0) == q->material[i]);
    }
    for (size_t k = 0; k < p->fixed; k++) HOLDS(p->fixed_particle[k] == q->fixed_particle[k]);
}

static void compare_cells(const char *name, const pbd_cells *a, const pbd_cells *b, size_t corners) {
    HOLDS(a->count == b->count);
    for (size_t k = 0; k < corners * a->count; k++) HOLDS(a->corner[k] == b->corner[k]);
    for (size_t k = 0; k < a->count; k++) HOLDS((a->material ? a->material[k] : 0) == b->material[k]);
}

static void compare_materials(const char *name, const pbd_scene *a, const pbd_scene *b) {
    const size_t count = a->materials > 0 ? a->materials : 1;
    HOLDS(count == b->materials);
    for (size_t k = 0; k < count; k++) {
        const pbd_material *m = &a->material[k], *n = &b->material[k];
        int law[2];
        HOLDS(m->matter == n->matter && m->density == n->density && m->viscosity == n->viscosity);
        if (m->matter == PBD_FLUID) continue;
        check_ok(law_find(m->law, &law[0]));
        check_ok(law_find(n->law, &law[1]));
        HOLDS(law[0] == law[1] && m->E == n->E && m->nu == n->nu && m->yield_strain == n->yield_strain);
        HOLDS(m->creep == n->creep && m->thickness == n->thickness && m->bending == n->bending);
        HOLDS(!m->flow == !n->flow && (!m->flow || strcmp(m->flow, n->flow) == 0));
        HOLDS(same(m->flow_value, n->flow_value, PBD_MOST_FLOW_VALUES));
        HOLDS(same(m->fibre_stiffness, n->fibre_stiffness, PBD_MOST_FIBRES));
        for (int f = 0; f < PBD_MOST_FIBRES; f++)
            HOLDS(m->fibre_stiffness[f] == 0 || same(m->fibre[f], n->fibre[f], 3));
        HOLDS(m->convention == n->convention || a->hexes.count == 0 || m->matter != PBD_CONTINUUM);
    }
}

static void compare_meshes(const char *name, const pbd_collider_mesh *a, const pbd_collider_mesh *b) {
    double most = 0;
    HOLDS(a->vertices == b->vertices && a->triangles == b->triangles && a->thickness == b->thickness);
    for (size_t k = 0; k < 3 * a->vertices; k++) most = fmax(most, fabs(a->vertex[k]));
    HOLDS(near(a->vertex, b->vertex, 3 * a->vertices, VERTEX * most));
    for (size_t k = 0; k < 3 * a->triangles; k++) HOLDS(a->triangle[k] == b->triangle[k]);
}

static void compare_colliders(const char *name, const pbd_scene *a, const pbd_scene *b) {
    HOLDS(a->colliders.count == b->colliders.count);
    for (size_t k = 0; k < a->colliders.count; k++) {
        const pbd_collider *c = &a->colliders.item[k], *d = &b->colliders.item[k];
        HOLDS(c->shape == d->shape && c->container == d->container && c->begin == d->begin && c->end == d->end);
        HOLDS(same(c->centre, d->centre, 3) && same(c->velocity, d->velocity, 3) && same(c->spin, d->spin, 3));
        HOLDS(c->friction == d->friction);
        for (const collider_size *size = collider_sizes(collider_shapes[c->shape]); size && size->key; size++)
            HOLDS(same(c->half + size->entry, d->half + size->entry, strcmp(size->key, "size") == 0 ? 3 : 1));
        if (c->shape == PBD_PLANE)
            HOLDS(near(c->axis[2], d->axis[2], 3, FRAME));
        else
            HOLDS(near(c->axis[0], d->axis[0], 9, FRAME));
        if (c->shape == PBD_MESH) compare_meshes(name, &a->colliders.mesh[c->mesh], &b->colliders.mesh[d->mesh]);
    }
    HOLDS(a->blades.count == b->blades.count);
    for (size_t k = 0; k < a->blades.count; k++) {
        const pbd_blade *c = &a->blades.item[k], *d = &b->blades.item[k];
        HOLDS(same(c->corner, d->corner, 3) && same(c->edge[0], d->edge[0], 6) && same(c->velocity, d->velocity, 3));
        HOLDS(c->begin == d->begin && c->end == d->end);
    }
}

static void compare_scenes(const char *name, const pbd_scene *a, const pbd_scene *b) {
    compare_particles(name, a, b);
    compare_cells(name, &a->hexes, &b->hexes, 8);
    compare_cells(name, &a->tets, &b->tets, 4);
    compare_cells(name, &a->triangles, &b->triangles, 3);
    compare_materials(name, a, b);
    compare_colliders(name, a, b);
    HOLDS(same(a->loads.gravity, b->loads.gravity, 3) && a->loads.forces_end == b->loads.forces_end);
    HOLDS(a->duration == b->duration && a->solved == b->solved);
    HOLDS(a->contact.between_bodies == b->contact.between_bodies && a->contact.friction == b->contact.friction);
    HOLDS(a->contact.self_distance == b->contact.self_distance);
    HOLDS(fabs(a->extent / b->extent - 1) < 1e-12); /* given by some cases, measured for the file */
    HOLDS(a->hints.fixing == b->hints.fixing && a->hints.shared == b->hints.shared);
}

/* Opens the case and its export as a scene file. False: the export was refused with a message, and nothing is open. */
static bool open_both(const char *name, const char *settings, trial *own, trial *again, pbd_status *refused) {
    char words[400];
    open_case(own, name, settings);
    *refused = scene_export_check(&own->setup);
    if (refused->code != PBD_OK) {
        close_case(own);
        return false;
    }
    check_ok(scene_export(&own->setup, workplace(), "# about\n"));
    snprintf(words, sizeof words, "file=%s", in_workplace("scene.yaml"));
    open_case(again, "scene", words);
    return true;
}

/* Every case: with defaults, with a file if it needs one, and with settings that change its scene. */
static void test_all_cases(void **unused) {
    (void)unused;
    static const char box[] = PBD_TEST_FOLDER "/../examples/scenes/gem.off";
    static const struct {
        const char *name, *settings, *refused;
    } known[] = {{"cube_shear", "", "density=0"},
                 {"cube_torsion", "", "density=0"},
                 {"cube_traction", "", "density=0"},
                 {"hex_fit", "", "density=0"},
                 {"particle_pairs", "", "density=0"},
                 {"dam_breach", "", "a body of two matters"},
                 {"heavy_drop", "", "loads on faces and edges"},
                 {"liquid_drop", "", "without a Young's modulus"},
                 {"tool_cut", "", "without a Young's modulus"},
                 {"mesh", "file=" PBD_TEST_FOLDER "/meshes/plate.msh", NULL},
                 {"sampled_mesh", "file=FILE", NULL},
                 {"drop_onto_mesh", "file=FILE", NULL},
                 {"scene", "file=" PBD_TEST_FOLDER "/../examples/scenes/goo_on_cloth.yaml", NULL}};
    size_t written = 0;
    for (size_t k = 0; k < pbd_case_count(); k++) {
        const char *name = pbd_case_at(k)->name, *refused = NULL;
        char settings[400] = "";
        pbd_status status;
        trial own, again;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
            if (strcmp(known[i].name, name) != 0) continue;
            snprintf(settings, sizeof settings, "%s%s", strcmp(known[i].settings, "file=FILE") == 0 ? "file=" : "",
                     strcmp(known[i].settings, "file=FILE") == 0 ? box : known[i].settings);
            refused = known[i].refused;
        }
        if (open_both(name, settings, &own, &again, &status)) {
            if (refused) fail_msg("%s is exported: wanted «%s»", name, refused);
            compare_scenes(name, &own.scene, &again.scene);
            close_case(&own);
            close_case(&again);
            written++;
        } else if (!refused || !strstr(status.text, refused)) {
            fail_msg("%s: %s", name, status.text);
        }
    }
    print_message("    %zu cases written\n", written);
}

/* ---- The same motion --------------------------------------------------------------------------------------------- */

static double *move(const char *method, const pbd_scene *scene, const char *settings, int steps, double dt,
                    double *energy) {
    solver s;
    const size_t n = scene->particles.count;
    solver_open(&s, method, PBD_PRECISION_F64, 1, scene, settings);
    for (int k = 0; k < steps; k++) check_ok(s.method->step(s.state, dt));
    if (steps == 0) check_ok(s.method->solve(s.state));
    double *x = positions_of(&s, n), *v = calloc(3 * n, sizeof *v);
    *energy = 0;
    if (steps > 0 && s.method->read(s.state, PBD_VELOCITIES, v).code == PBD_OK)
        for (size_t i = 0; i < 3 * n; i++) *energy += 0.5 * scene->particles.masses[i / 3] * v[i] * v[i];
    free(v);
    solver_close(&s);
    return x;
}

/* If all collider frames are along the axes, nothing is rounded, and the motion is equal to the bit. Otherwise it
 * differs by rounding, which contact and flow amplify by a factor of some hundred within a few steps. */
static void test_motion(void **unused) {
    (void)unused;
    static const struct {
        const char *name, *settings, *method, *of_method;
        int steps;        /* 0: a static solve */
        double dt, limit; /* s; relative to the extent */
    } run[] = {
        {"goo_drop", "particles=100 drop=0", "xpbi", "", 5, 1e-3, 0},
        {"sand_column", "particles=100", "mpm", "", 20, 1e-4, 0},
        {"bunny_drop", "particles=100", "corrected_sph", "", 5, 2e-3, 0},
        {"tori", "particles_each=20", "corrected_sph", "", 5, 2e-3, 0},
        {"cantilever", "mode=dynamic duration=1", "corrected_sph", "", 5, 1e-3, 0}, /* fixed particles */
        {"cantilever", "cells=1", "fem_implicit", "", 0, 0, 0},
        {"sampled_towel", "across=6", "corrected_sph", "", 5, 2e-3, 0},      /* loads, fibres */
        {"sausages", "particles_each=100", "corrected_sph", "", 5, 2e-3, 0}, /* blades, moving boxes, contact */
        {"wheel_press", "particles=100", "mpm", "", 20, 1e-4, 0},            /* a moving plane */
        {"dam_break", "cells=4", "pbf", "", 5, 1e-3, 0},
        {"paint_on_cloth", "particles=50 cells=8", "xpbi", "", 3, 1e-3, 0},
        {"bounce", "", "strain_energy", "", 5, 1e-3, 0},                          /* tetrahedra */
        {"snow_dive", "particles=200", "mpm", "", 20, 1e-4, 1e-12},               /* moving slanted capsules */
        {"drop_onto_sphere", "particles=100", "xpbd_grains", "", 20, 1e-3, 1e-6}, /* mesh vertices in 32 bits */
    };
    for (size_t k = 0; k < sizeof run / sizeof *run; k++) {
        trial own, again;
        pbd_status refused;
        double energy[2], worst = 0;
        if (!open_both(run[k].name, run[k].settings, &own, &again, &refused)) fail_msg("%s", refused.text);
        const double dt = run[k].dt, limit = run[k].limit;
        double *x = move(run[k].method, &own.scene, run[k].of_method, run[k].steps, dt, &energy[0]);
        double *y = move(run[k].method, &again.scene, run[k].of_method, run[k].steps, dt, &energy[1]);
        for (size_t i = 0; i < 3 * own.scene.particles.count; i++) worst = fmax(worst, fabs(x[i] - y[i]));
        print_message("  %s by %s: J %g\n", run[k].name, run[k].method, energy[0]);
        check_near("positions, m", worst, 0, fmax(limit * own.scene.extent, DBL_TRUE_MIN));
        check_near("kinetic energy, J", energy[1], energy[0], fmax(limit * energy[0], DBL_TRUE_MIN));
        free(x);
        free(y);
        close_case(&own);
        close_case(&again);
    }
}

/* ---- Points of other programs ------------------------------------------------------------------------------------ */

static const char *write_text(const char *name, const char *text) {
    const char *path = in_workplace(name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return path;
}

static pbd_status try_points(trial *t, const char *points, const char *keys) {
    char words[400], scene[500];
    write_text("points.ply", points);
    snprintf(scene, sizeof scene,
             "duration: 1\nmatters: {a: {young: 1e5, density: 500}, c: {kind: cloth, young: 1e5, thickness: 0.01}}\n"
             "bodies: [{points: points.ply, %s}]\n",
             keys);
    snprintf(words, sizeof words, "file=%s", write_text("points.yaml", scene));
    const pbd_status status = try_case(t, "scene", words);
    return status;
}

static void close_points(trial *t) {
    pbd_case_free(t->c, &t->setup);
    pbd_values_free(&t->values);
}

#define VERTEX_HEAD "element vertex 2\nproperty float x\nproperty float y\nproperty float z\nproperty double volume\n"

#define TET_HEAD                                                                                                     \
    "element vertex 4\nproperty float x\nproperty float y\nproperty float z\nproperty float volume\nelement tet 1\n" \
    "property list uchar int vertex_indices\nend_header\n0 0 0 1\n1 0 0 1\n0 1 0 1\n0 0 1 1\n"

/* A text file with Windows line ends, and with properties and elements of other programs; positioned by the scene. */
static void test_points(void **unused) {
    (void)unused;
    trial t;
    check_ok(try_points(
        &t,
        "ply\r\nformat ascii 1.0\r\ncomment of another program\r\nelement camera 1\r\n"
        "property list uchar float view\r\nproperty int id\r\nelement vertex 2\r\nproperty float x\r\n"
        "property float y\r\nproperty float z\r\nproperty uchar red\r\nproperty float32 volume\r\n"
        "property list uint8 int32 near\r\nproperty float vx\r\nproperty float vy\r\nproperty float vz\r\n"
        "property uchar held\r\nproperty float fx\r\nproperty float fy\r\nproperty float fz\r\n"
        "element other 1\r\nproperty double w\r\nend_header\r\n2 0.5 0.25 7\r\n"
        "1 0 0.5 255 0.125 2 1 0 0 0 3 0 1 0 0\r\n2 0 0.5 255 0.25 0 0 0 0 1 0 0 0\r\n9\r\n",
        "matter: a, spacing: 0.5, place: [0, 0, 1], rotate: {axis: [0, 0, 1], degrees: 90}, velocity: [1, 0, 0]"));
    const pbd_particles *p = &t.scene.particles;
    assert_int_equal(p->count, 2);
    static const double x[6] = {0, 1, 1.5, 0, 2, 1.5}, v[6] = {1, 0, 3, 1, 0, 0}, m[2] = {62.5, 125};
    for (int i = 0; i < 6; i++) check_near("place, m", p->positions[i], x[i], 1e-15);
    for (int i = 0; i < 6; i++) check_near("velocity, m/s", p->velocities[i], v[i], 1e-15);
    for (int i = 0; i < 2; i++) check_near("mass, kg", p->masses[i], m[i], 0);
    assert_true(p->fixed == 1 && p->fixed_particle[0] == 1 && p->spacing == 0.5);
    check_near("force turned, N", t.scene.loads.forces[1], 1, 1e-15);
    close_points(&t);
    check_ok(try_points(&t,
                        "ply\nformat ascii 1.0\n" VERTEX_HEAD "property float mass\nend_header\n0 0 1 1 7\n1 0 1 1 8\n",
                        "matter: a, spacing: 1, angular_velocity: [0, 0, 2], stretch: [3, 1, 1]"));
    check_near("its own mass, kg", t.scene.particles.masses[1], 8, 0);
    check_near("stretched, m", t.scene.particles.start[3], 3, 0);
    check_near("about the centre, m/s", t.scene.particles.velocities[4], 2 * (3 - 3 * 8 / 15.0), 1e-15);
    close_points(&t);
}

/* Corners 0, 1, 2 counter-clockwise as seen from 3, and clockwise. */
static void test_tets(void **unused) {
    (void)unused;
    for (int way = 0; way < 2; way++) {
        trial t;
        solver s;
        check_ok(try_points(&t,
                            way == 0 ? "ply\nformat ascii 1.0\n" TET_HEAD "4 0 1 2 3\n"
                                     : "ply\nformat ascii 1.0\n" TET_HEAD "4 1 0 2 3\n",
                            "matter: a"));
        assert_true(t.scene.tets.count == 1 && t.scene.particles.spacing == 0);
        solver_open(&s, "strain_energy", PBD_PRECISION_F64, 1, &t.scene, ""); /* it refuses inverted tetrahedra */
        solver_close(&s);
        close_points(&t);
    }
}

static void test_damaged_points(void **unused) {
    (void)unused;
    static const char head[] = "ply\nformat ascii 1.0\n" VERTEX_HEAD, good[] = "end_header\n0 0 1 1\n1 0 1 1\n";
    static const struct {
        bool with_head; /* with `head` before it */
        const char *text, *keys, *says;
    } bad[] = {
        {false, "", "", "its first line is not `ply`"},
        {false, "ply\nend_header\n", "", "no line format"},
        {false, "ply\nformat binary_big_endian 1.0\nend_header\n", "", "write it as ascii"},
        {false, "ply\nformat ascii 1.0\nend_header\n", "", "has no vertices"},
        {false, "ply\nformat ascii 1.0\nelement vertex 3000000000\nend_header\n", "",
         "'3000000000' cannot be the number"},
        {false, "ply\nformat ascii 1.0\nproperty float x\nend_header\n", "", "is of no element"},
        {false, "ply\nformat ascii 1.0\nelement vertex 1\nproperty real x\nend_header\n", "", "'real' is no type"},
        {false, "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n0\n", "",
         "need the properties x, y, z"},
        {true, "property float vx\nend_header\n0 0 0 1 1\n0 0 0 1 1\n", "", "need the properties vx, vy, vz"},
        {true, "elements other 1\n", "", "has the line 'elements other 1'"},
        {true, "end_header\n0 0 1 1\n1 0 1\n", "", "vertex 1: the file ends"},
        {true, "end_header\n0 0 1 1\n1 0 1 1 1\n", "", "bytes follow its last element"},
        {true, "end_header\n0 0 1 1\n1 0 one 1\n", "", "vertex 1: expected a number"},
        {true, "end_header\n0 0 1 1\n1 0 1 0\n", "", "vertex 1: volume is 0: it must be above 0"},
        {true, "end_header\n0 0 nan 1\n1 0 1 1\n", "", "z is nan: it must be finite"},
        {true, "property int held\nend_header\n0 0 1 1 0\n1 0 1 1 2\n", "", "held is 2: it must be 0 or 1"},
        {true, "element tet 1\nproperty list uchar int vertex_indices\nend_header\n0 0 1 1\n1 0 1 1\n4 0 1 1 2\n", "",
         "tet 0 has the corner 2, and there are 2 vertices"},
        {true, "element tet 1\nproperty list uchar int vertex_indices\nend_header\n0 0 1 1\n1 0 1 1\n3 0 1 1\n", "",
         "tet 0 has 3 corners: it must have 4"},
        {true, "element tet 1\nproperty list uchar int vertex_indices\nend_header\n0 0 1 1\n1 0 1 1\n4 0 1 -1 0\n", "",
         "tet 0: a corner is no vertex"},
        {true, "element hex 1\nproperty int id\nend_header\n0 0 1 1\n1 0 1 1\n4\n", "",
         "it has no list vertex_indices"},
        {true, good, "matter: a", "needs spacing or particles"},
        {true, good, "matter: c, spacing: 1", "points of cloth need elements `face`"},
        {true, good, "matter: a, spacing: 1, scale: 2", "scale is for a shape or a mesh"},
        {true, good, "matter: a, spacing: 1, radius: 2", "a body of points has no radius"},
        {true, good, "matter: a, spacing: 1, shape: bunny", "one of shape, mesh and points"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        trial t;
        char text[600];
        snprintf(text, sizeof text, "%s%s", bad[i].with_head ? head : "", bad[i].text);
        const pbd_status status = try_points(&t, text, *bad[i].keys ? bad[i].keys : "matter: a, spacing: 1");
        if (status.code != PBD_BAD_INPUT || !strstr(status.text, bad[i].says) || !strstr(status.text, "line 3"))
            fail_msg("%zu: wanted line 3 ... %s, got %s", i, bad[i].says, status.text);
    }
    /* Files truncated after each byte. */
    trial own, again;
    pbd_status refused;
    size_t built = 0, size;
    assert_true(open_both("bounce", "cells=1", &own, &again, &refused));
    close_case(&own);
    close_case(&again);
    FILE *file = fopen(in_workplace("body0.ply"), "rb");
    char all[20000], path[] = "points.ply";
    assert_non_null(file);
    size = fread(all, 1, sizeof all, file);
    fclose(file);
    for (size_t cut = 0; cut <= size; cut++) {
        pbd_arena arena PBD_ARENA;
        points_file points;
        char *text = malloc(cut + 1); /* exact size, for sanitizers */
        memcpy(text, all, cut);
        text[cut] = '\0';
        const pbd_content content = {path, text, cut};
        const pbd_status status = points_file_read(&content, &arena, &points);
        built += status.code == PBD_OK;
        assert_true(status.code == PBD_OK || (status.code == PBD_BAD_INPUT && strstr(status.text, "points.ply: ")));
        free(text);
    }
    assert_int_equal(built, 1);
}

/* ---- The verb ---------------------------------------------------------------------------------------------------- */

static void test_verb(void **unused) {
    (void)unused;
    const char *folder = in_workplace("goo/drop");
    char file[PATH_MAX + 400], line[200];
    told t = tell("scene", "export", "goo_drop", "-s", "particles=100", "-s", "flow=snow", "-o", folder);
    expect_code(t, 0);
    expect_says(t.out, "100 particles");
    forget(&t);
    snprintf(file, sizeof file, "%s/scene.yaml", folder);
    t = tell("scene", "check", file, "-m", "mpm", "-s", "dt=1e-4");
    expect_code(t, 0);
    forget(&t);
    FILE *scene = fopen(file, "r");
    assert_non_null(scene);
    for (const char *const *says = (const char *const[]){"# The case goo_drop, written by pbdbench",
                                                         "#   particles=100", "#   flow=snow", "# Left out: ", NULL};
         *says; says++) {
        assert_non_null(fgets(line, sizeof line, scene));
        expect_says(line, *says);
    }
    fclose(scene);
    const struct {
        const char *name, *setting, *says;
    } refused[] = {{"hex_fit", "nu=0.3", "hex_fit cannot be exported: a scene file cannot say"},
                   {"goo_drop", "dt=0.1", "has no parameter 'dt'"},
                   {"goo_dorp", "nu=0.3", "did you mean 'goo_drop'"}};
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
        struct stat about;
        folder = in_workplace("none");
        t = tell("scene", "export", refused[k].name, "-s", refused[k].setting, "-o", folder);
        expect_code(t, 2);
        expect_says(t.err, refused[k].says);
        assert_int_not_equal(stat(folder, &about), 0);
        forget(&t);
    }
    t = tell("scene", "export", "goo_drop");
    expect_code(t, 2);
    expect_says(t.err, "-o FOLDER");
    forget(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_cases), cmocka_unit_test(test_motion),         cmocka_unit_test(test_points),
        cmocka_unit_test(test_tets),      cmocka_unit_test(test_damaged_points), cmocka_unit_test(test_verb),
    };
    return cmocka_run_group_tests(tests, NULL, remove_workplace);
}
