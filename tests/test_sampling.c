/* Filling bodies with particles: counts and volumes against closed forms, layers counted by hand, minimum distances,
 * the same particles everywhere; the inside of meshes against brute-force sums of solid angles; messages for bad
 * meshes; robustness against damaged files. */
#include <unistd.h>

#include "cases/geometry/triangle_file.h"
#include "cases/geometry/triangle_mesh.h"
#include "cases/sampling/sampling.h"
#include "cases/scenes/body.h"
#include "tests/ladder.h"

static const double PI = 3.14159265358979323846;
enum { FUZZ_ROUNDS = 100 };

static sampling fill(const shapes *s, sampling_plan plan) {
    const solid body = shapes_solid(s);
    sampling out;
    check_ok(sampling_make(&body, &plan, &out));
    return out;
}

static void expect_refusal(pbd_status status, const char *says) {
    if (status.code != PBD_BAD_INPUT) fail_msg("code %d, not refused: %s", (int)status.code, status.text);
    if (!strstr(status.text, says)) fail_msg("does not say '%s': %s", says, status.text);
    print_message("    %s\n", status.text);
}

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

#define P(x, y, z) ((const double[3]){x, y, z})

static double distance(const shapes *s, double x, double y, double z) {
    const solid body = shapes_solid(s);
    return body.distance(&body, P(x, y, z));
}

static void test_distances(void **state) {
    (void)state;
    shapes s = {0};
    shapes_torus(&s, 1, 2, 3, 0.5, 0.2);
    check_near("torus, in the tube's middle", distance(&s, 1.5, 2, 3), -0.2, 1e-15);
    check_near("torus, centre of the hole", distance(&s, 1, 2, 3), 0.3, 1e-15);
    check_near("torus, above the tube", distance(&s, 1, 2.5, 4), 0.8, 1e-15);
    s = (shapes){0};
    shapes_box(&s, P(0, 0, 0), P(1, 2, 3));
    check_near("box, off a corner", distance(&s, 2, 4, 5), 3, 1e-15); /* (1, 2, 2) */
    check_near("box, inside", distance(&s, 0.25, 1, 1.5), -0.25, 1e-15);
    s = (shapes){0};
    shapes_cone(&s, P(0, 0, 0), 1, P(4, 0, 0), 1);
    check_near("capsule, beside", distance(&s, 2, 3, 4), 4, 1e-14);
    check_near("capsule, off its end", distance(&s, 7, 0, 0), 2, 1e-14);
    /* Radii 3 and 1, 4 apart: the sine of the cone's half angle is 1/2. The surface is the envelope of spheres with
     * radii 3 .. 1, touched at (1/2, sqrt(3)/2) times the radius from a sphere's centre; here of that at x = 2. */
    s = (shapes){0};
    shapes_cone(&s, P(0, 0, 0), 3, P(4, 0, 0), 1);
    check_near("round cone, beside", distance(&s, 2 + 0.5 * 5, 0, 0.5 * sqrt(3) * 5), 3, 1e-14);
    check_near("round cone, behind", distance(&s, -5, 0, 0), 2, 1e-14);
    check_near("round cone, ahead", distance(&s, 0, 0, -3), 0, 1e-14);
    s = (shapes){0};
    shapes_cylinder(&s, P(0, 0, 0), P(0, 2, 0), 1);
    check_near("cylinder, off its rim", distance(&s, 4, 6, 0), 5, 1e-14); /* (3, 4) */
    check_near("cylinder, inside", distance(&s, 0.5, 1, 0), -0.5, 1e-15);
    s = (shapes){0};
    shapes_ellipsoid(&s, 0, 0, 0, 1, 2, 3);
    check_near("ellipsoid, on it", distance(&s, 0.6, 0, 3 * 0.8), 0, 1e-15);
    check_near("ellipsoid, at an end", distance(&s, 0, 2.01, 0), 0.01, 1e-4);
}

/* ---- The lattice ------------------------------------------------------------------------------------------------- */

static void test_box_is_filled_without_a_gap(void **state) {
    (void)state;
    shapes s = {0};
    shapes_box(&s, P(1, -1, 0), P(1.5, 0, 2));
    sampling out = fill(&s, (sampling_plan){SAMPLING_LATTICE, 0.1, 0, 0, false, false});
    assert_int_equal(out.count, 5 * 10 * 20);
    check_near("volume", (double)out.count * out.volume, 1, 1e-12);
    check_near("first x", out.position[0], 1.05, 1e-14);
    check_near("last z", out.position[3 * out.count - 1], 1.95, 1e-14);
    sampling_free(&out);
}

/* In a vessel, spheres with a radius of half a spacing of 0.1 must be inside: along an edge of 0.58 there are five
 * sites instead of the six that fit it best; in a cylinder of radius 0.25 sites are at most 0.2 from the axis. */
static void test_a_vessel_is_not_exceeded(void **state) {
    (void)state;
    shapes s = {0};
    shapes_box(&s, P(0, 0, 0), P(0.58, 0.5, 0.5));
    for (int inside = 0; inside < 2; inside++) {
        sampling out = fill(&s, (sampling_plan){SAMPLING_LATTICE, 0.1, 0, 0, false, inside});
        assert_int_equal(out.count, (inside ? 5 : 6) * 25);
        check_near("first x", out.position[0], inside ? 0.09 : 0.04, 1e-14);
        sampling_free(&out);
    }
    s = (shapes){0};
    shapes_cylinder(&s, P(0, 0, 0), P(0, 0, 0.5), 0.25);
    for (int inside = 0; inside < 2; inside++) {
        sampling out = fill(&s, (sampling_plan){SAMPLING_LATTICE, 0.1, 0, 0, false, inside});
        double farthest = 0;
        for (size_t i = 0; i < out.count; i++)
            farthest = fmax(farthest, hypot(out.position[3 * i], out.position[3 * i + 1]));
        check_near("farthest from the axis", farthest, inside ? 0.2 : hypot(0.2, 0.1), 1e-12);
        sampling_free(&out);
    }
}

/* In a cube of 5 x 5 x 5 sites 125 - 27 are at the surface, 27 - 1 in the next layer, 1 is deeper. */
static void test_layers_of_a_cube(void **state) {
    (void)state;
    shapes s = {0};
    shapes_box(&s, P(0, 0, 0), P(1, 1, 1));
    sampling out = fill(&s, (sampling_plan){SAMPLING_LATTICE, 0.2, 0, 0, false, false});
    int count[3] = {0};
    for (size_t i = 0; i < out.count; i++) count[out.layer[i]]++;
    assert_int_equal(count[1], 98);
    assert_int_equal(count[2], 26);
    assert_int_equal(count[0], 1);
    sampling_free(&out);
}

static double volume_error(const shapes *s, double spacing, double wanted) {
    sampling out = fill(s, (sampling_plan){SAMPLING_LATTICE, spacing, 0, 0, false, false});
    const double error = (double)out.count * out.volume / wanted - 1;
    print_message("    spacing %g: %zu particles, volume off by %.2g\n", spacing, out.count, error);
    sampling_free(&out);
    return fabs(error);
}

/* Blended shapes have the distance that their shapes, each alone and with no other to leave out, give by the formula of
 * the smooth minimum; and what is deeper than a depth is so by that distance. */
static void test_distances_of_blends(void **state) {
    (void)state;
    uint64_t seed = 7;
    for (int which = 0; which < BODY_SHAPES; which++) {
        shapes s = {0};
        body_shape_make((body_shape)which, &s);
        const solid body = shapes_solid(&s);
        int deeper = 0;
        for (int k = 0; k < 4000; k++) {
            double wanted = INFINITY;
            const double x[3] = {0.7 * body_noise(&seed), 0.7 * body_noise(&seed), 0.5 + 0.7 * body_noise(&seed)};
            for (int i = 0; i < s.count; i++) {
                shapes one = {.count = 1, .item = {s.item[i]}, .bound = {s.bound[i]}};
                const solid alone = shapes_solid(&one);
                const double d = alone.distance(&alone, x), h = fmax(s.blend - fabs(wanted - d), 0);
                wanted = fmin(wanted, d) - (h > 0 ? 0.25 * h * h / s.blend : 0);
            }
            if (body.distance(&body, x) != wanted)
                fail_msg("%s: %g, not %g", body_shape_names[which], body.distance(&body, x), wanted);
            for (double depth = -0.05; depth < 0.06; depth += 0.05) {
                assert_int_equal(solid_deeper(&body, x, depth), wanted < -depth);
                deeper += wanted < -depth;
            }
        }
        assert_true(deeper > 100);
    }
}

/* Lattice cubes at a curved surface are inside or outside at random: the error falls with the number of sites to the
 * power -3/4, times a constant of about 1 at most (for a sphere the exact order is higher). */
static void test_volumes_converge(void **state) {
    (void)state;
    shapes torus = {0}, sphere = {0};
    shapes_torus(&torus, 0.1, 0.2, 0.3, 0.34, 0.16);
    shapes_sphere(&sphere, 0, 0, 0, 0.5);
    const double ring = 2 * PI * PI * 0.34 * 0.16 * 0.16, ball = PI / 6;
    check_near("torus, formula", shapes_solid(&torus).volume, ring, 1e-15);
    check_near("sphere, formula", shapes_solid(&sphere).volume, ball, 1e-15);
    assert_true(volume_error(&torus, 0.04, ring) < 0.03);
    assert_true(volume_error(&torus, 0.02, ring) < 0.015);
    assert_true(volume_error(&torus, 0.01, ring) < 0.005);
    assert_true(volume_error(&sphere, 0.1, ball) < 0.06);
    assert_true(volume_error(&sphere, 0.05, ball) < 0.015);
    assert_true(volume_error(&sphere, 0.02, ball) < 0.006);
}

static void test_exact_counts(void **state) {
    (void)state;
    static const struct {
        body_shape shape;
        size_t count;
    } wanted[] = {{BODY_TORUS, 156},  {BODY_SPHERE, 1}, {BODY_SPHERE, 1000},   {BODY_BOX, 997},
                  {BODY_BUNNY, 2000}, {BODY_COW, 3001}, {BODY_ARMADILLO, 2500}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        shapes s;
        body_shape_make(wanted[i].shape, &s);
        sampling out = fill(&s, (sampling_plan){SAMPLING_LATTICE, 0, wanted[i].count, 0, false, false});
        print_message("    %s: %zu at spacing %.4g, %zu dropped\n", body_shape_names[wanted[i].shape], out.count,
                      out.spacing, out.dropped);
        assert_int_equal(out.count, wanted[i].count);
        /* Dropped sites are at the surface, fewer than a layer. */
        assert_true((double)out.dropped <= 6 * pow((double)out.count, 2.0 / 3) + 6);
        sampling_free(&out);
    }
}

static void test_too_small_and_too_many(void **state) {
    (void)state;
    shapes s = {0};
    shapes_sphere(&s, 0, 0, 0, 0.01);
    const solid body = shapes_solid(&s);
    sampling out;
    expect_refusal(sampling_make(&body, &(sampling_plan){SAMPLING_LATTICE, 0.1, 0, 0, false, false}, &out),
                   "single particle");
    expect_refusal(sampling_make(&body, &(sampling_plan){SAMPLING_POISSON, 0.1, 0, 0, false, false}, &out),
                   "single particle");
    expect_refusal(sampling_make(&body, &(sampling_plan){SAMPLING_LATTICE, 1e-6, 0, 0, false, false}, &out),
                   "larger spacing");
    assert_null(out.position);
}

/* A body far longer than wide, as from a damaged vertex. Particles on a lattice would have more volume than the body,
 * so it is refused; Poisson disks fill it. */
static void test_needles(void **state) {
    (void)state;
    shapes s = {0};
    shapes_box(&s, P(0, 0, 0), P(1e8, 2, 1));
    const solid body = shapes_solid(&s);
    sampling out;
    alarm(60); /* regression: the search for a spacing took a minute, on lattices of millions of sites */
    expect_refusal(sampling_make(&body, &(sampling_plan){SAMPLING_LATTICE, 0, 2000, 0, false, false}, &out),
                   "far thinner");
    alarm(0);
    sampling disks = fill(&s, (sampling_plan){SAMPLING_POISSON, 0, 20000, 7, false, false});
    assert_int_equal(disks.count, 20000);
    check_near("volume", 20000 * disks.volume, 2e8, 1e-6);
    sampling_free(&disks);
}

/* Sheets half a spacing thick and thinner get the requested number of particles, on one layer of a lattice. */
static void test_sheets(void **state) {
    (void)state;
    for (int thin = 1; thin < 3; thin++) {
        shapes s = {0};
        shapes_box(&s, P(0, 0, 0), P(1, 1, thin == 1 ? 0.04 : 0.02));
        sampling out = fill(&s, (sampling_plan){SAMPLING_LATTICE, 0, 100, 0, false, false});
        assert_int_equal(out.count, 100);
        check_near("spacing, m", out.spacing, 0.1, 0.005);
        assert_int_equal(out.dropped, 0);
        sampling_free(&out);
    }
}

static bool same_particles(const sampling *a, const sampling *b) {
    return a->count == b->count && memcmp(a->position, b->position, 3 * a->count * sizeof *a->position) == 0 &&
           memcmp(a->layer, b->layer, a->count) == 0;
}

/* ---- Meshes ------------------------------------------------------------------------------------------------------ */

static pbd_status read_bytes(const char *name, const char *text, size_t bytes, triangle_mesh *out) {
    char path[40];
    snprintf(path, sizeof path, "%s", name);
    char *copy = malloc(bytes + 1); /* exact size, so that a sanitizer detects reads beyond the end */
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    const pbd_content content = {path, copy, bytes};
    const pbd_status status = triangle_mesh_read(&content, 1, out);
    free(copy);
    return status;
}

static pbd_status read_text(const char *name, const char *text, triangle_mesh *out) {
    return read_bytes(name, text, strlen(text), out);
}

/* The unit cube, with square faces, which the reader splits into triangles. */
static const char cube_obj[] =
    "# a cube\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"
    "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

static const char cube_ply[] =
    "ply\nformat ascii 1.0\nelement vertex 8\nproperty float x\nproperty float y\nproperty float z\n"
    "element face 6\nproperty list uchar int vertex_indices\nend_header\n"
    "0 0 0\n1 0 0\n1 1 0\n0 1 0\n0 0 1\n1 0 1\n1 1 1\n0 1 1\n"
    "4 3 2 1 0\n4 4 5 6 7\n4 0 1 5 4\n4 1 2 6 5\n4 2 3 7 6\n4 3 0 4 7\n";

static const char cube_off[] =
    "OFF\n# a cube\n8 6 12\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n0 0 1\n1 0 1\n1 1 1\n0 1 1\n"
    "4 3 2 1 0\n4 4 5 6 7\n4 0 1 5 4\n4 1 2 6 5\n4 2 3 7 6\n4 3 0 4 7\n";

/* A tetrahedron, of volume 1/6. */
static const char tet_stl[] =
    "solid tet\n"
    "facet normal 0 0 -1\nouter loop\nvertex 0 0 0\nvertex 0 1 0\nvertex 1 0 0\nendloop\nendfacet\n"
    "facet normal 0 -1 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 0 1\nendloop\nendfacet\n"
    "facet normal -1 0 0\nouter loop\nvertex 0 0 0\nvertex 0 0 1\nvertex 0 1 0\nendloop\nendfacet\n"
    "facet normal 1 1 1\nouter loop\nvertex 1 0 0\nvertex 0 1 0\nvertex 0 0 1\nendloop\nendfacet\n"
    "endsolid tet\n";

static size_t binary_stl(char *out) {
    static const float corner[4][3][3] = {{{0, 0, 0}, {0, 1, 0}, {1, 0, 0}},
                                          {{0, 0, 0}, {1, 0, 0}, {0, 0, 1}},
                                          {{0, 0, 0}, {0, 0, 1}, {0, 1, 0}},
                                          {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    const uint32_t count = 4;
    memset(out, 0, 84 + 4 * 50);
    memcpy(out, "made by a test", 14);
    memcpy(out + 80, &count, 4);
    for (size_t t = 0; t < 4; t++) memcpy(out + 84 + 50 * t + 12, corner[t], 36);
    return 84 + 4 * 50;
}

static void check_mesh(triangle_mesh *mesh, size_t vertices, size_t triangles, double volume) {
    assert_int_equal(mesh->vertices, vertices);
    assert_int_equal(mesh->triangles, triangles);
    check_near("volume", triangle_mesh_solid(mesh).volume, volume, 1e-12);
    triangle_mesh_free(mesh);
}

static void test_formats(void **state) {
    (void)state;
    triangle_mesh mesh;
    char stl[300];
    check_ok(read_text("cube.obj", cube_obj, &mesh));
    check_mesh(&mesh, 8, 12, 1);
    check_ok(read_text("cube.PLY", cube_ply, &mesh));
    check_mesh(&mesh, 8, 12, 1);
    check_ok(read_text("cube.off", cube_off, &mesh));
    check_mesh(&mesh, 8, 12, 1);
    check_ok(read_text("tet.stl", tet_stl, &mesh)); /* twelve corners are four vertices */
    check_mesh(&mesh, 4, 4, 1 / 6.0);
    check_ok(read_bytes("tet.stl", stl, binary_stl(stl), &mesh));
    check_mesh(&mesh, 4, 4, 1 / 6.0);
}

static void test_unit_of_length(void **state) {
    (void)state;
    char path[] = "cube.obj", text[sizeof cube_obj];
    memcpy(text, cube_obj, sizeof text);
    const pbd_content content = {path, text, sizeof text - 1};
    triangle_mesh mesh;
    check_ok(triangle_mesh_read(&content, 0.001, &mesh));
    check_near("volume of 1 mm", 1e9 * triangle_mesh_solid(&mesh).volume, 1, 1e-12);
    triangle_mesh_free(&mesh);
}

/* A cube as a mesh, with sites in the middle of cells, gives the same sites and layers as the box. */
static void test_mesh_fills_as_its_shape(void **state) {
    (void)state;
    triangle_mesh mesh;
    shapes box = {0};
    sampling of_mesh;
    check_ok(read_text("cube.obj", cube_obj, &mesh));
    shapes_box(&box, P(0, 0, 0), P(1, 1, 1));
    const solid body = triangle_mesh_solid(&mesh);
    check_ok(sampling_make(&body, &(sampling_plan){SAMPLING_LATTICE, 0.1, 0, 0, false, false}, &of_mesh));
    sampling of_box = fill(&box, (sampling_plan){SAMPLING_LATTICE, 0.1, 0, 0, false, false});
    assert_true(same_particles(&of_mesh, &of_box));
    sampling_free(&of_mesh);
    sampling_free(&of_box);
    triangle_mesh_free(&mesh);
}

/* A torus of AROUND x TUBE quadrilaterals, each split in two; its surface is inside the true one. */
enum { AROUND = 48, TUBE = 24 };

static void make_torus(triangle_mesh *mesh, double ring, double tube) {
    double x[3 * AROUND * TUBE];
    uint32_t t[6 * AROUND * TUBE], *next = t;
    for (uint32_t i = 0; i < AROUND; i++)
        for (uint32_t j = 0; j < TUBE; j++) {
            const double u = 2 * PI * i / AROUND, v = 2 * PI * j / TUBE, r = ring + tube * cos(v);
            double *at = x + 3 * (TUBE * i + j);
            at[0] = r * cos(u), at[1] = r * sin(u), at[2] = tube * sin(v);
            const uint32_t i1 = (i + 1) % AROUND, j1 = (j + 1) % TUBE;
            const uint32_t a = TUBE * i + j, b = TUBE * i1 + j, c = TUBE * i1 + j1, d = TUBE * i + j1;
            const uint32_t both[6] = {a, b, c, a, c, d};
            memcpy(next, both, sizeof both);
            next += 6;
        }
    check_ok(triangle_mesh_make("torus", AROUND * TUBE, x, 2 * AROUND * TUBE, t, mesh));
}

/* The sum of the solid angles of all triangles by L'Huilier's theorem: an independent formula, without a tree. */
static double winding_one_by_one(const triangle_mesh *mesh, const double x[3]) {
    double sum = 0;
    for (size_t t = 0; t < mesh->triangles; t++) {
        double e[3][3], a[3], det;
        for (size_t k = 0; k < 3; k++) {
            double length = 0;
            for (size_t d = 0; d < 3; d++) {
                e[k][d] = mesh->position[3 * (size_t)mesh->triangle[3 * t + k] + d] - x[d];
                length += e[k][d] * e[k][d];
            }
            for (size_t d = 0; d < 3; d++) e[k][d] /= sqrt(length);
        }
        for (size_t k = 0; k < 3; k++) {
            double chord = 0;
            for (size_t d = 0; d < 3; d++) chord += (e[k][d] - e[(k + 1) % 3][d]) * (e[k][d] - e[(k + 1) % 3][d]);
            a[k] = 2 * asin(fmin(0.5 * sqrt(chord), 1));
        }
        det = e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) + e[0][1] * (e[1][2] * e[2][0] - e[1][0] * e[2][2]) +
              e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
        const double s = 0.5 * (a[0] + a[1] + a[2]);
        const double q = tan(s / 2) * tan((s - a[0]) / 2) * tan((s - a[1]) / 2) * tan((s - a[2]) / 2);
        sum += (det > 0 ? 1 : -1) * 4 * atan(sqrt(fmax(q, 0)));
    }
    return sum / (4 * PI);
}

static void test_inside_and_distance_of_a_mesh(void **state) {
    (void)state;
    triangle_mesh mesh;
    make_torus(&mesh, 0.34, 0.16);
    shapes exact = {0};
    shapes_torus(&exact, 0, 0, 0, 0.34, 0.16);
    const solid body = triangle_mesh_solid(&mesh);
    check_near("volume, below the true one by 1 %", body.volume / shapes_solid(&exact).volume, 1, 0.02);
    uint64_t seed = 5;
    double worst = 0, farthest = 0;
    for (int i = 0; i < 500; i++) {
        double x[3];
        for (int d = 0; d < 3; d++) x[d] = (d == 2 ? 0.2 : 0.55) * body_noise(&seed);
        const double winding = triangle_tree_winding(mesh.tree, x);
        worst = fmax(worst, fabs(winding - winding_one_by_one(&mesh, x)));
        farthest = fmax(farthest, fabs(body.distance(&body, x) - distance(&exact, x[0], x[1], x[2])));
        assert_int_equal(winding > 0.5, winding_one_by_one(&mesh, x) > 0.5);
    }
    print_message("    winding number off by %.2g at most, distance from the round torus' by %.2g m\n", worst,
                  farthest);
    assert_true(worst < 0.05);
    /* Sagitta of the squares: ring (1 - cos(pi/48)) (0.34 + 0.16) + tube (1 - cos(pi/24)) 0.16 = 0.0024 m. */
    assert_true(farthest < 0.0025);
    triangle_mesh_free(&mesh);
}

/* The index of cells gives the same points as inside, and as deeper than a given depth. Points on the mesh's planes of
 * symmetry are included, from where paths meet edges. */
static void test_cells_of_a_mesh(void **state) {
    (void)state;
    triangle_mesh mesh;
    make_torus(&mesh, 0.34, 0.16);
    const solid plain = triangle_mesh_solid(&mesh);
    check_ok(triangle_mesh_index(&mesh));
    const solid body = triangle_mesh_solid(&mesh);
    assert_non_null(body.deeper);
    uint64_t seed = 5;
    int inside = 0;
    for (int i = 0; i < 3000; i++) {
        double x[3];
        for (int d = 0; d < 3; d++) x[d] = (d == 2 ? 0.2 : 0.55) * body_noise(&seed);
        if (i % 3 == 0) x[i % 2] = 0;
        const double depth = i % 4 * 0.02;
        assert_int_equal(body.deeper(&body, x, depth), plain.distance(&plain, x) < -depth);
        inside += body.deeper(&body, x, depth);
    }
    assert_true(inside > 300);
    triangle_mesh_free(&mesh);
}

/* A cube within a cube, with its orientation reversed, is a cavity. Two separate cubes are both filled. */
static void test_cavities_and_parts(void **state) {
    (void)state;
    static const uint32_t face[12][3] = {{3, 2, 1}, {3, 1, 0}, {4, 5, 6}, {4, 6, 7}, {0, 1, 5}, {0, 5, 4},
                                         {1, 2, 6}, {1, 6, 5}, {2, 3, 7}, {2, 7, 6}, {3, 0, 4}, {3, 4, 7}};
    for (int apart = 0; apart < 2; apart++) {
        double x[48];
        uint32_t t[72];
        for (int v = 0; v < 16; v++) {
            const double size = v < 8 ? 1 : 0.5, from = v < 8 ? 0 : apart ? 2 : 0.25;
            const int corner = v % 8, at[3] = {(corner + 1) / 2 % 2, corner / 2 % 2, corner / 4};
            for (int d = 0; d < 3; d++) x[3 * v + d] = from + size * at[d];
        }
        for (uint32_t i = 0; i < 12; i++)
            for (uint32_t k = 0; k < 3; k++) {
                t[3 * i + k] = face[i][k];
                t[36 + 3 * i + k] = 8 + face[i][apart ? k : 2 - k];
            }
        triangle_mesh mesh;
        check_ok(triangle_mesh_make("two", 16, x, 24, t, &mesh));
        const solid body = triangle_mesh_solid(&mesh);
        check_near("volume", body.volume, apart ? 1.125 : 0.875, 1e-12);
        assert_true((body.distance(&body, P(0.5, 0.5, 0.5)) < 0) == (apart == 1));
        check_near("to the wall", fabs(body.distance(&body, P(0.5, 0.5, 0.5))), apart ? 0.5 : 0.25, 1e-12);
        triangle_mesh_free(&mesh);
    }
}

/* ---- Bad meshes -------------------------------------------------------------------------------------------------- */

static void expect_bad(const char *name, const char *text, const char *says) {
    triangle_mesh mesh;
    expect_refusal(read_text(name, text, &mesh), says);
    assert_null(mesh.position);
    assert_null(mesh.tree);
}

static void test_bad_meshes(void **state) {
    (void)state;
    /* A cube without its top, which has 4 edges. */
    expect_bad("open.obj",
               "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"
               "f 4 3 2 1\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n",
               "open, 4 edges");
    /* Two tetrahedra with a common edge. */
    expect_bad("edge.obj",
               "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 0 -1 0\nv 0 0 -1\n"
               "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\nf 1 5 2\nf 1 2 6\nf 1 6 5\nf 2 5 6\n",
               "not manifold: 4 triangles");
    /* One face with the wrong orientation. */
    expect_bad("turned.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 4 3\n",
               "face opposite ways");
    /* A flat pillow: two triangles back to back. */
    expect_bad("flat.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 3 2 1\n", "no volume");
    expect_bad("none.obj", "# nothing\nv 0 0 0\nv 1 0 0\nv 0 1 0\n", "");
    expect_bad("nan.ply",
               "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
               "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 nan\n1 0 0\n0 1 0\n3 0 1 2\n",
               "vertex 1");
    expect_bad("many.ply",
               "ply\nformat ascii 1.0\nelement vertex 3000000000\nproperty float x\nproperty float y\nproperty float "
               "z\nend_header\n0 0 0\n",
               "cannot be the number of its vertex");
    expect_bad("many.off", "OFF\n3000000000 1 0\n0 0 0\n", "cannot have 3e+09 vertices");
    expect_bad("short.off", "OFF\nvertices\n", "does not begin with OFF and the numbers");
    expect_bad("empty.stl", "", "empty");
    expect_bad("part.3ds", "anything", ".obj, .off, .ply or .stl");
    expect_bad("words.obj", "these are words\n", "");
}

/* Two cubes of 1 m that overlap by half, or share a part of a face. */
static void test_meshes_that_cross_themselves(void **state) {
    (void)state;
    static const char *const second[2] = {
        "v 0.5 0.5 0.5\nv 1.5 0.5 0.5\nv 1.5 1.5 0.5\nv 0.5 1.5 0.5\n"
        "v 0.5 0.5 1.5\nv 1.5 0.5 1.5\nv 1.5 1.5 1.5\nv 0.5 1.5 1.5\n",
        "v 0.3 0.3 1\nv 1.3 0.3 1\nv 1.3 1.3 1\nv 0.3 1.3 1\n"
        "v 0.3 0.3 2\nv 1.3 0.3 2\nv 1.3 1.3 2\nv 0.3 1.3 2\n"};
    for (int touch = 0; touch < 2; touch++) {
        char text[1000], note[240];
        triangle_mesh mesh;
        snprintf(text, sizeof text,
                 "%s%sf 12 11 10 9\nf 13 14 15 16\nf 9 10 14 13\nf 10 11 15 14\nf 11 12 16 15\n"
                 "f 12 9 13 16\n",
                 cube_obj, second[touch]);
        /* The second cube's vertices come after the first cube's faces; their numbers continue. */
        check_ok(read_text("cubes.obj", text, &mesh));
        triangle_mesh_note(&mesh, "cubes.obj", note, sizeof note);
        assert_non_null(strstr(note, "crosses triangle"));
        check_ok(triangle_mesh_index(&mesh));
        const solid body = triangle_mesh_solid(&mesh);
        assert_true(body.volume == 0); /* not known */
        sampling out;
        check_ok(sampling_make(&body, &(sampling_plan){SAMPLING_POISSON, 0, 500, 1, false, false}, &out));
        check_near("volume of both together", out.solid_volume, touch ? 2 : 2 - 0.125, 0.02);
        sampling_free(&out);
        assert_true(body.deeper(&body, P(0.75, 0.75, 0.75), 0.1));
        assert_false(body.deeper(&body, P(0.25, 0.25, 1.25), 0));
        triangle_mesh_free(&mesh);
    }
}

static void damage(char *text, size_t bytes, uint64_t *seed) {
    static const char odd[] = "\0\n -9eE.f/\"#\xff";
    const int places = 1 + (int)fabs(4 * body_noise(seed));
    for (int i = 0; i < places; i++) {
        const size_t at = (size_t)(fabs(body_noise(seed)) * (double)bytes);
        const size_t which = (size_t)(fabs(body_noise(seed)) * (double)(sizeof odd - 1));
        const char turned = (char)((unsigned char)text[at] ^ (1u << (which % 8)));
        text[at] = body_noise(seed) < 0 ? turned : odd[which];
    }
}

/* Files with changed bytes or cut short are refused or read, without a crash. */
static void test_damaged_files(void **state) {
    (void)state;
    char stl[300], work[sizeof tet_stl + 400];
    const struct {
        const char *name, *text;
        size_t bytes;
    } file[] = {{"a.obj", cube_obj, strlen(cube_obj)},
                {"a.ply", cube_ply, strlen(cube_ply)},
                {"a.off", cube_off, strlen(cube_off)},
                {"a.stl", tet_stl, strlen(tet_stl)},
                {"a.stl", stl, binary_stl(stl)}};
    uint64_t seed = 11;
    int fine = 0, bad = 0;
    for (int round = 0; round < FUZZ_ROUNDS; round++)
        for (size_t f = 0; f < sizeof file / sizeof *file; f++) {
            triangle_mesh mesh;
            size_t bytes = file[f].bytes;
            memcpy(work, file[f].text, bytes);
            if (round % 4 == 3) bytes = (size_t)(fabs(body_noise(&seed)) * (double)bytes);
            if (round % 4 != 3 || round % 8 == 7) damage(work, bytes + 1, &seed);
            const pbd_status status = read_bytes(file[f].name, work, bytes, &mesh);
            if (status.code == PBD_OK)
                fine++;
            else
                assert_int_equal(status.code, PBD_BAD_INPUT), bad++;
            triangle_mesh_free(&mesh);
        }
    print_message("    %d were read, %d refused\n", fine, bad);
    assert_true(fine > 0 && bad > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distances),
        cmocka_unit_test(test_distances_of_blends),
        cmocka_unit_test(test_box_is_filled_without_a_gap),
        cmocka_unit_test(test_a_vessel_is_not_exceeded),
        cmocka_unit_test(test_layers_of_a_cube),
        cmocka_unit_test(test_volumes_converge),
        cmocka_unit_test(test_exact_counts),
        cmocka_unit_test(test_too_small_and_too_many),
        cmocka_unit_test(test_needles),
        cmocka_unit_test(test_sheets),
        cmocka_unit_test(test_cells_of_a_mesh),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_unit_of_length),
        cmocka_unit_test(test_mesh_fills_as_its_shape),
        cmocka_unit_test(test_inside_and_distance_of_a_mesh),
        cmocka_unit_test(test_cavities_and_parts),
        cmocka_unit_test(test_bad_meshes),
        cmocka_unit_test(test_meshes_that_cross_themselves),
        cmocka_unit_test(test_damaged_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
