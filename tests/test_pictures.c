/* Surfaces, carried meshes, colours and light of pictures, on shapes with known results. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "cases/geometry/shape_mesh.h"
#include "cases/geometry/solid.h"
#include "harness/picture/carried_mesh.h"
#include "harness/picture/colours.h"
#include "harness/picture/iso_mesh.h"
#include "harness/picture/particle_surface.h"
#include "harness/picture/render.h"
#include "harness/picture/shadow.h"

static const double PI = 3.14159265358979324;

static void check_ok(pbd_status status) {
    if (status.code != PBD_OK) fail_msg("%s", status.text);
}

static void check_near(const char *what, double got, double wanted, double limit) {
    print_message("    %s: got %.9g, wanted %.9g, %.2g of the limit %g\n", what, got, wanted,
                  fabs(got - wanted) / limit, limit);
    if (!(fabs(got - wanted) <= limit)) fail_msg("%s", what);
}

/* ---- Meshes ------------------------------------------------------------------------------------------------------ */

static void cross_of(const double *a, const double *b, const double *c, double out[3]) {
    double u[3], v[3];
    for (int d = 0; d < 3; d++) u[d] = b[d] - a[d], v[d] = c[d] - a[d];
    for (int d = 0; d < 3; d++) out[d] = u[(d + 1) % 3] * v[(d + 2) % 3] - u[(d + 2) % 3] * v[(d + 1) % 3];
}

static void measure(const double *x, size_t triangles, const uint32_t *triangle, double *area, double *volume) {
    *area = *volume = 0;
    for (size_t t = 0; t < triangles; t++) {
        const double *a = x + 3 * (size_t)triangle[3 * t];
        double n[3];
        cross_of(a, x + 3 * (size_t)triangle[3 * t + 1], x + 3 * (size_t)triangle[3 * t + 2], n);
        *area += 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        *volume += (a[0] * n[0] + a[1] * n[1] + a[2] * n[2]) / 6;
    }
}

typedef struct side {
    uint32_t from, to;
} side;

static int compare_sides(const void *a, const void *b) { return memcmp(a, b, sizeof(side)); }

/* Whether every edge occurs exactly once in each direction. */
static bool is_manifold(size_t triangles, const uint32_t *triangle) {
    side *sides = malloc(3 * triangles * sizeof *sides);
    bool good = true;
    for (size_t i = 0; i < 3 * triangles; i++) sides[i] = (side){triangle[i], triangle[i / 3 * 3 + (i + 1) % 3]};
    qsort(sides, 3 * triangles, sizeof *sides, compare_sides);
    for (size_t i = 0; i < 3 * triangles && good; i++) {
        const side back = {sides[i].to, sides[i].from};
        good = bsearch(&back, sides, 3 * triangles, sizeof back, compare_sides) != NULL &&
               (i == 0 || compare_sides(&sides[i - 1], &sides[i]) != 0);
    }
    free(sides);
    return good;
}

static float one_minus_radius(const double x[3]) { return (float)(1 - sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])); }

/* Noise within a sphere: all of the 256 cases of marching cubes occur. */
static float noise(const double x[3]) {
    uint32_t hash = 17;
    for (int d = 0; d < 3; d++) hash = (hash ^ (uint32_t)lrint(64 * (x[d] + 2))) * 2654435769u, hash ^= hash >> 15;
    return one_minus_radius(x) > 0.05f ? (float)(hash >> 8) / 8388608.0f - 1 : -1;
}

static scalar_grid grid_of(size_t nodes, float (*of)(const double x[3])) {
    scalar_grid g = {
        .nodes = {nodes, nodes, nodes}, .cell = 2.5 / (double)(nodes - 1), .origin = {-1.25, -1.25, -1.25}};
    g.value = malloc(nodes * nodes * nodes * sizeof *g.value);
    for (size_t n = 0; n < nodes * nodes * nodes; n++) {
        const double x[3] = {g.origin[0] + g.cell * (double)(n % nodes),
                             g.origin[1] + g.cell * (double)(n / nodes % nodes),
                             g.origin[2] + g.cell * (double)(n / nodes / nodes)};
        g.value[n] = of(x);
    }
    return g;
}

/* A surface with vertices on a unit sphere and edges no longer than h = sqrt(3) cells is at most h^2/8 = 3/8 cell^2
 * inside of it. The relative error of the volume is at most three times that. */
static void test_a_sphere_by_marching_cubes(void **unused) {
    (void)unused;
    for (size_t nodes = 20; nodes <= 40; nodes += 20) {
        scalar_grid g = grid_of(nodes, one_minus_radius);
        iso_mesh mesh;
        double area, volume, off = 0;
        check_ok(iso_mesh_make(&g, 0, &mesh));
        measure(mesh.vertex, mesh.triangles, mesh.triangle, &area, &volume);
        const double bound = 3.0 / 8 * g.cell * g.cell;
        check_near("area", area, 4 * PI, 2 * bound * 4 * PI);
        check_near("volume", volume, 4 * PI / 3, 3 * bound * 4 * PI / 3);
        assert_true(is_manifold(mesh.triangles, mesh.triangle));
        assert_int_equal((long)mesh.vertices - (long)mesh.triangles / 2, 2); /* Euler's formula: E = 3 T / 2 */
        for (size_t v = 0; v < mesh.vertices; v++)
            for (size_t d = 0; d < 3; d++)
                off = fmax(off, fabs((double)mesh.normal[3 * v + d] - mesh.vertex[3 * v + d]));
        check_near("normals are radii", off, 0, g.cell);
        iso_mesh_free(&mesh);
        free(g.value);
    }
}

/* The surface of noise is closed too: each edge occurs equally often in both directions. */
static void test_noise_has_a_closed_surface(void **unused) {
    (void)unused;
    scalar_grid g = grid_of(30, noise);
    iso_mesh mesh;
    check_ok(iso_mesh_make(&g, 0, &mesh));
    assert_true(mesh.triangles > 5000);
    side *to = malloc(3 * mesh.triangles * sizeof *to), *back = malloc(3 * mesh.triangles * sizeof *back);
    for (size_t i = 0; i < 3 * mesh.triangles; i++) {
        to[i] = (side){mesh.triangle[i], mesh.triangle[i / 3 * 3 + (i + 1) % 3]};
        back[i] = (side){to[i].to, to[i].from};
    }
    qsort(to, 3 * mesh.triangles, sizeof *to, compare_sides);
    qsort(back, 3 * mesh.triangles, sizeof *back, compare_sides);
    assert_memory_equal(to, back, 3 * mesh.triangles * sizeof *to);
    free(to);
    free(back);
    iso_mesh_free(&mesh);
    free(g.value);
}

/* Surfaces of single shapes are closed and have the known volume, less the error of 64 corners around. */
static void test_shapes_have_their_volume(void **unused) {
    (void)unused;
    static const shape item[] = {{SHAPE_BOX, {1, 2, 3}, {0}, {0.5, 1, 1.5}},
                                 {SHAPE_SPHERE, {1, 0, 0}, {0}, {2}},
                                 {SHAPE_ELLIPSOID, {0}, {0}, {1, 2, 3}},
                                 {SHAPE_TORUS, {0}, {0}, {2, 0.5}},
                                 {SHAPE_ROUND_CONE, {0, 0, -1}, {0, 1, 1}, {0.5, 0.5}},
                                 {SHAPE_CYLINDER, {1, 0, 0}, {1, 3, 0}, {0.7}}};
    const double volume[] = {
        6, 32 * PI / 3, 8 * PI, 2 * PI * PI * 2 * 0.25, PI * 0.25 * sqrt(5) + 4 * PI / 3 * 0.125, PI * 0.49 * 3};
    for (size_t i = 0; i < sizeof item / sizeof *item; i++) {
        shape_mesh mesh;
        double area, got;
        check_ok(shape_mesh_make(&item[i], &mesh));
        measure(mesh.vertex, mesh.triangles, mesh.triangle, &area, &got);
        assert_true(is_manifold(mesh.triangles, mesh.triangle));
        check_near("volume", got, volume[i], 0.01 * volume[i]); /* sin(2 pi/64)/(2 pi/64) = 0.9984 for 64 corners */
        shape_mesh_free(&mesh);
    }
}

/* ---- Matter ------------------------------------------------------------------------------------------------------ */

enum { EDGE = 12, BLOCK = EDGE * EDGE * EDGE };
static const double SPACING = 0.1;

static void make_block(double *x, uint32_t *particle) {
    for (size_t i = 0; i < BLOCK; i++) {
        particle[i] = (uint32_t)i;
        x[3 * i] = SPACING * (0.5 + (double)(i % EDGE));
        x[3 * i + 1] = SPACING * (0.5 + (double)(i / EDGE % EDGE));
        x[3 * i + 2] = SPACING * (0.5 + (double)(i / EDGE / EDGE));
    }
}

/* A block of a lattice, 1.2 m wide: the surface at half filling is within a fraction of a spacing of the block's faces;
 * only edges and corners are rounded. A value that is linear in x is reproduced. */
static void test_the_surface_of_a_block(void **unused) {
    (void)unused;
    static double x[3 * BLOCK];
    static uint32_t particle[BLOCK];
    static float value[BLOCK];
    make_block(x, particle);
    for (size_t i = 0; i < BLOCK; i++) value[i] = (float)x[3 * i];
    const sampled_matter matter = {BLOCK, particle, x, value, SPACING, {-9, -9, -9}, {9, 9, 9}};
    iso_mesh mesh;
    float *values;
    double area, volume, least = 9, most = -9, off = 0;
    check_ok(particle_surface_make(&matter, 0.5, 0.5, &mesh, &values, NULL));
    measure(mesh.vertex, mesh.triangles, mesh.triangle, &area, &volume);
    for (size_t v = 0; v < mesh.vertices; v++) {
        least = fmin(least, mesh.vertex[3 * v]);
        most = fmax(most, mesh.vertex[3 * v]);
        off = fmax(off, fabs((double)values[v] - fmin(fmax(mesh.vertex[3 * v], 0.05), 1.15)));
    }
    assert_true(is_manifold(mesh.triangles, mesh.triangle));
    check_near("lowest", least, 0, 0.1 * SPACING);
    check_near("highest", most, 1.2, 0.1 * SPACING);
    check_near("volume", volume, 1.728, 0.05 * 1.728);
    check_near("value", off, 0, SPACING);
    iso_mesh_free(&mesh);
    free(values);
}

/* ---- Carried meshes ---------------------------------------------------------------------------------------------- */

static void make_skin(pbd_skin *skin, shape_mesh *mesh) {
    const shape box = {SHAPE_BOX, {0.6, 0.6, 0.6}, {0}, {0.6, 0.6, 0.6}};
    check_ok(shape_mesh_make(&box, mesh));
    *skin = (pbd_skin){0, mesh->vertices, mesh->triangles, mesh->vertex, mesh->triangle};
}

static const double A[3][3] = {{1.3, 0.4, -0.2}, {-0.5, 0.8, 0.3}, {0.1, 0.6, 1.1}};

static void map(const double X[3], double x[3]) {
    for (int i = 0; i < 3; i++) {
        x[i] = 5 - i;
        for (int k = 0; k < 3; k++) x[i] += A[i][k] * X[k];
    }
}

/* Vertices of a body under an affine map follow the map. Those of a single layer of particles follow the layer and its
 * normal. Long edges are halved until they are at most one spacing long; no triangle is torn. */
static void test_an_affine_map_is_carried(void **unused) {
    (void)unused;
    static double rest[3 * BLOCK], x[3 * BLOCK];
    static uint32_t particle[BLOCK];
    shape_mesh box;
    pbd_skin skin;
    carried_mesh mesh;
    double off = 0, edge = 0, area, volume;
    make_block(rest, particle);
    make_skin(&skin, &box);
    for (size_t i = 0; i < BLOCK; i++) map(rest + 3 * i, x + 3 * i);
    check_ok(carried_mesh_make(&skin, rest, particle, BLOCK, SPACING, &mesh));
    carried_mesh_move(&mesh, x);
    assert_int_equal(mesh.shown_triangles, mesh.triangles);
    assert_true(is_manifold(mesh.triangles, mesh.triangle));
    measure(mesh.rest, mesh.triangles, mesh.triangle, &area, &volume);
    check_near("area at rest", area, 6 * 1.44, 1e-12);
    for (size_t v = 0; v < mesh.vertices; v++) {
        double wanted[3];
        map(mesh.rest + 3 * v, wanted);
        for (size_t d = 0; d < 3; d++) off = fmax(off, fabs(mesh.position[3 * v + d] - wanted[d]));
    }
    for (size_t i = 0; i < 3 * mesh.triangles; i++) {
        const double *a = mesh.rest + 3 * (size_t)mesh.triangle[i];
        const double *b = mesh.rest + 3 * (size_t)mesh.triangle[i / 3 * 3 + (i + 1) % 3];
        edge = fmax(
            edge, sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2])));
    }
    check_near("place", off, 0, 1e-11);
    assert_true(edge <= SPACING);
    carried_mesh_free(&mesh);
    /* The lowest layer alone, rotated: the mesh rotates with it and keeps its distance. */
    const double c = cos(0.4), s = sin(0.4);
    off = 0;
    check_ok(carried_mesh_make(&skin, rest, particle, EDGE * EDGE, SPACING, &mesh));
    for (size_t i = 0; i < BLOCK; i++) {
        x[3 * i] = c * rest[3 * i] + s * rest[3 * i + 2];
        x[3 * i + 1] = rest[3 * i + 1];
        x[3 * i + 2] = -s * rest[3 * i] + c * rest[3 * i + 2];
    }
    carried_mesh_move(&mesh, x);
    for (size_t v = 0; v < mesh.vertices; v++) {
        const double *X = mesh.rest + 3 * v;
        off = fmax(off, fabs(mesh.position[3 * v] - (c * X[0] + s * X[2])));
        off = fmax(off, fabs(mesh.position[3 * v + 2] - (-s * X[0] + c * X[2])));
    }
    check_near("place about a layer", off, 0, 1e-11);
    carried_mesh_free(&mesh);
    shape_mesh_free(&box);
}

/* The half beyond x = 0.6 is moved away by four spacings: no triangle spans the gap, no vertex lies in it, and
 * triangles are missing only near the cut. */
static void test_a_cut_body_has_a_gap(void **unused) {
    (void)unused;
    static double rest[3 * BLOCK], x[3 * BLOCK];
    static uint32_t particle[BLOCK];
    shape_mesh box;
    pbd_skin skin;
    carried_mesh mesh;
    double lost = 0;
    make_block(rest, particle);
    make_skin(&skin, &box);
    memcpy(x, rest, sizeof x);
    for (size_t i = 0; i < BLOCK; i++) x[3 * i] += rest[3 * i] > 0.6 ? 4 * SPACING : 0;
    check_ok(carried_mesh_make(&skin, rest, particle, BLOCK, SPACING, &mesh));
    carried_mesh_move(&mesh, x);
    assert_true(mesh.shown_triangles < mesh.triangles);
    for (size_t t = 0; t < mesh.shown_triangles; t++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t k = 0; k < 3; k++) {
            low = fmin(low, mesh.position[3 * (size_t)mesh.shown[3 * t + k]]);
            high = fmax(high, mesh.position[3 * (size_t)mesh.shown[3 * t + k]]);
        }
        assert_true(high < 0.6 + SPACING || low > 0.6 + 3 * SPACING);
    }
    for (size_t t = 0; t < mesh.triangles; t++) {
        double n[3], middle = 0;
        const uint32_t *c = mesh.triangle + 3 * t;
        cross_of(mesh.rest + 3 * (size_t)c[0], mesh.rest + 3 * (size_t)c[1], mesh.rest + 3 * (size_t)c[2], n);
        for (size_t k = 0; k < 3; k++) middle += mesh.rest[3 * (size_t)c[k]] / 3;
        bool shown = false;
        for (size_t s = 0; s < mesh.shown_triangles && !shown; s++)
            shown = memcmp(mesh.shown + 3 * s, c, 3 * sizeof *c) == 0;
        if (!shown) lost = fmax(lost, fabs(middle - 0.6));
    }
    check_near("triangles that are left out, from the cut", lost, 0, SPACING);
    carried_mesh_free(&mesh);
    shape_mesh_free(&box);
}

/* ---- Light ------------------------------------------------------------------------------------------------------- */

static render_camera camera_of_box(void) {
    double aspect;
    render_camera camera = render_look_at((const double[]){-1, -1, -1}, (const double[]){1, 1, 1}, &aspect);
    camera.half_width = camera.half_height = 3;
    return camera;
}

/* Along a line on the ground, outward from the centre of a ball's shadow, the light increases monotonically from none
 * to full. */
static void test_a_shadow_is_soft(void **unused) {
    (void)unused;
    const double centre[3] = {0, 0, 0};
    const float value = 0;
    const render_body ball = {.points = 1, .position = centre, .value = &value, .radius = 0.7};
    const render_camera camera = camera_of_box();
    raster r = {0};
    shadow s = {0};
    float before = 0;
    int between = 0;
    check_ok(raster_make(&ball, 1, &camera, 300, 300, &r));
    check_ok(shadow_make(&r, (vector){0.3f, 0, 1}, 3, &s));
    for (int k = 0; k <= 120; k++) {
        const float at = 0.0125f * (float)k;
        float light = 0;
        for (int turn = 0; turn < 4; turn++)
            light += 0.25f * shadow_light(&s, (vector){-0.3f * 1.5f, at, -1.5f}, (vector){0, 0, 1}, turn);
        if (k == 0) assert_true(light == 0);
        assert_true(light >= before - 1e-6f);
        between += light > 0.02f && light < 0.98f;
        before = light;
    }
    print_message("    %d of 121 places in the half shadow\n", between);
    assert_true(before == 1 && between >= 8 && between <= 40);
    shadow_free(&s);
    raster_free(&r);
}

/* Grains, a mesh and lines over the ground: the same pixels for any number of threads. */
static void test_threads_draw_the_same(void **unused) {
    (void)unused;
    static double x[3 * BLOCK];
    static uint32_t particle[BLOCK];
    static float value[BLOCK];
    make_block(x, particle);
    const sampled_matter matter = {BLOCK, particle, x, NULL, SPACING, {-9, -9, -9}, {9, 9, 9}};
    const double line[6] = {-1, -1, -1, 1, 1, 1};
    const render_camera camera = camera_of_box();
    pbd_image image[2];
    iso_mesh first = {0};
    const int threads = omp_get_max_threads();
    for (int k = 0; k < 2; k++) {
        iso_mesh mesh;
        float *none;
        omp_set_num_threads(k ? 3 : 1);
        check_ok(particle_surface_make(&matter, 0.5, 0.4, &mesh, &none, NULL));
        const render_body body[] = {{.points = BLOCK, .position = x, .value = value, .radius = 0.06, .grains = true},
                                    {.points = mesh.vertices,
                                     .position = mesh.vertex,
                                     .value = value,
                                     .triangles = mesh.triangles / 2,
                                     .triangle = mesh.triangle,
                                     .gloss = 1,
                                     .lines = 1,
                                     .line = line}};
        assert_true(mesh.vertices > BLOCK);
        float *zero = calloc(mesh.vertices, sizeof *zero);
        render_body drawn[2] = {body[0], body[1]};
        drawn[1].value = zero;
        check_ok(render_draw(drawn, 2, &camera, 320, 200, &image[k]));
        free(zero);
        if (k == 0) {
            first = mesh;
            continue;
        }
        assert_int_equal(mesh.vertices, first.vertices);
        assert_memory_equal(mesh.vertex, first.vertex, 3 * mesh.vertices * sizeof *mesh.vertex);
        assert_memory_equal(mesh.triangle, first.triangle, 3 * mesh.triangles * sizeof *mesh.triangle);
        iso_mesh_free(&mesh);
    }
    omp_set_num_threads(threads);
    assert_memory_equal(image[0].pixel, image[1].pixel, 3 * 320 * 200);
    iso_mesh_free(&first);
    for (int k = 0; k < 2; k++) pbd_image_free(&image[k]);
}

/* ---- Colours ----------------------------------------------------------------------------------------------------- */

/* One tetrahedron under a uniaxial strain e = 1e-6 along x, small enough for linear elasticity: the von Mises stress is
 * 2 mu e, the pressure -(lambda + 2 mu/3) e, the density is divided by 1 + e. */
static void test_stress_by_hand(void **unused) {
    (void)unused;
    static const double rest[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    const uint32_t tet[4] = {1, 2, 0, 3};
    const double e = 1e-6, E = 1e5, nu = 0.3, mu = E / (2 * (1 + nu)), lambda = E * nu / ((1 + nu) * (1 - 2 * nu));
    double x[12], value[4], positions[12];
    memcpy(positions, rest, sizeof rest);
    for (int i = 0; i < 12; i++) x[i] = rest[i] * (i % 3 == 0 ? 1 + e : 1);
    const pbd_scene scene = {.particles = {.count = 4, .positions = positions},
                             .tets = {1, (uint32_t *)(uintptr_t)tet, NULL},
                             .material = {{.E = E, .nu = nu, .density = 1000}}};
    const pbd_body body = {4, 1, tet, 4, NULL};
    const pbd_seen_state state = {.position = x};
    pbd_colour colour;
    check_ok(pbd_colour_choose(&scene, &body, PBD_COLOUR_STRESS, &state, &colour));
    check_ok(pbd_colour_values(&scene, &body, PBD_COLOUR_STRESS, &state, value));
    check_near("von Mises stress, Pa", value[0], 2 * mu * e, 1e-4 * mu * e);
    check_ok(pbd_colour_values(&scene, &body, PBD_COLOUR_PRESSURE, &state, value));
    check_near("pressure, Pa", value[1], -(lambda + 2 * mu / 3) * e, 1e-4 * mu * e);
    check_ok(pbd_colour_values(&scene, &body, PBD_COLOUR_DENSITY, &state, value));
    check_near("density, kg/m^3", value[2], 1000 / (1 + e), 1e-9);
    /* Without velocities or a sampled body, speed and damage are refused; the message lists the other colours. */
    const pbd_status speed = pbd_colour_choose(&scene, &body, PBD_COLOUR_SPEED, &state, &colour);
    assert_int_equal(speed.code, PBD_NOT_SUPPORTED);
    assert_non_null(strstr(speed.text, "auto, strain, matter, body, density, pressure, stress"));
    assert_int_equal(pbd_colour_choose(&scene, &body, PBD_COLOUR_DAMAGE, &state, &colour).code, PBD_NOT_SUPPORTED);
}

/* In a row of four particles the last has separated from the third: the third has lost half of its neighbours, the last
 * all of them. */
static void test_damage_by_hand(void **unused) {
    (void)unused;
    double rest[12] = {0, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0}, value[4];
    const double x[12] = {0, 0, 0, 1.5, 0, 0, 3, 0, 0, 5.5, 0, 0};
    const pbd_scene scene = {.particles = {.count = 4, .positions = rest, .spacing = 1}};
    const pbd_body body = {4, 4, NULL, 1, NULL};
    const pbd_seen_state state = {.position = x};
    check_ok(pbd_colour_values(&scene, &body, PBD_COLOUR_DAMAGE, &state, value));
    const double wanted[4] = {0, 0, 0.5, 1};
    for (int i = 0; i < 4; i++) check_near("damage", value[i], wanted[i], 1e-15);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_sphere_by_marching_cubes),
        cmocka_unit_test(test_noise_has_a_closed_surface),
        cmocka_unit_test(test_shapes_have_their_volume),
        cmocka_unit_test(test_the_surface_of_a_block),
        cmocka_unit_test(test_an_affine_map_is_carried),
        cmocka_unit_test(test_a_cut_body_has_a_gap),
        cmocka_unit_test(test_a_shadow_is_soft),
        cmocka_unit_test(test_threads_draw_the_same),
        cmocka_unit_test(test_stress_by_hand),
        cmocka_unit_test(test_damage_by_hand),
    };
    return cmocka_run_group_tests_name("pictures", tests, NULL, NULL);
}
