/* Meshes as colliders for the precision REAL: included by test_mesh_collider.c (f64) and test_mesh_collider_f32.c.
 * Expected values come from the analytic shapes, from friction on an inclined plane, and from the side of a surface on
 * which a particle started. */
#include "cases/scenes/collider_mesh.h"
#include "methods/physics/surface/mesh_surface.h"
#include "tests/contact_world.h"

static const double rounding = sizeof(real) == sizeof(float) ? 1.2e-7 : 2.3e-16;

static const pbd_collider still = {.shape = PBD_MESH, .axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
static pbd_collider_mesh meshes[4];
static size_t meshes_made;

static void begin(world *w) {
    for (size_t i = 0; i < meshes_made; i++) collider_mesh_free(&meshes[i]);
    meshes_made = 0;
    world_begin(w);
    w->scene.colliders.mesh = meshes;
}

/* Adds a collider with the mesh that was just made. */
static pbd_collider *add_mesh(world *w, pbd_status made) {
    check_ok(made);
    pbd_collider *c = &w->collider[w->scene.colliders.count++];
    *c = still;
    c->mesh = meshes_made++;
    w->scene.colliders.meshes = meshes_made;
    return c;
}

static pbd_collider_mesh *next_mesh(void) { return &meshes[meshes_made]; }

/* ---- Against analytic shapes ------------------------------------------------------------------------------------- */

/* The pose of a collider at time 0; the host can read the memory of the cpu backend. */
static const collider_pose *pose_of(world *w, size_t number) {
    check_ok(collider_poses_move(&w->walls, 0, 1));
    return &w->walls.device[number];
}

static vec3 random_place(uint64_t *seed, double size) {
    const double x = noise(seed), y = noise(seed), z = noise(seed);
    return vec3_make((real)(size * x), (real)(size * y), (real)(size * z));
}

static double off_by(vec3 a, vec3 b) {
    const vec3 off = vec3_sub(a, b);
    return sqrt((double)vec3_dot(off, off));
}

static void test_box_of_triangles_is_a_box(void **unused) {
    (void)unused;
    const double half[3] = {0.5, 0.4, 0.3};
    for (int container = 0; container < 2; container++) {
        begin(&one);
        pbd_collider *mesh = add_mesh(&one, collider_mesh_box(half, next_mesh()));
        memcpy(mesh->axis, (double[3][3]){{0.8, 0.6, 0}, {-0.6, 0.8, 0}, {0, 0, 1}}, sizeof mesh->axis);
        memcpy(mesh->centre, (double[3]){0.1, -0.2, 0.3}, sizeof mesh->centre);
        mesh->container = container;
        one.collider[1] = *mesh;
        one.collider[1].shape = PBD_BOX;
        memcpy(one.collider[1].half, half, sizeof half);
        one.scene.colliders.count = 2;
        put(&one, 0, 0, 0, 1, 0, 0);
        world_open(&one, PBD_CPU, 1);
        const collider_pose *pose = pose_of(&one, 0);
        uint64_t seed = 3;
        double distance = 0, foot = 0;
        for (int n = 0; n < 4000; n++) {
            const vec3 x = random_place(&seed, 1.2);
            const collider_gap got = collider_gap_at(pose, x), wanted = collider_gap_at(pose + 1, x);
            distance = fmax(distance, fabs((double)(got.distance - wanted.distance)));
            /* both normals lead to the surface, but not to the same point if two are equally near */
            const vec3 to = vec3_sub(x, vec3_scale(got.distance, got.normal));
            foot = fmax(foot, fabs((double)collider_gap_at(pose + 1, to).distance));
        }
        check_near("distance, m", distance, 0, 16 * rounding);
        check_near("where the normal leads, off the surface, m", foot, 0, 16 * rounding);
        world_close(&one);
    }
}

/* Only the vertices lie on the sphere, so the error is of second order in the edge length. */
static void test_sphere_of_triangles_becomes_a_sphere(void **unused) {
    (void)unused;
    double last = 0, last_normal = 0;
    for (int cuts = 1; cuts <= 4; cuts++) {
        begin(&one);
        add_mesh(&one, collider_mesh_sphere(0.5, cuts, next_mesh()));
        put(&one, 0, 0, 0, 1, 0, 0);
        world_open(&one, PBD_CPU, 1);
        const collider_pose *pose = pose_of(&one, 0);
        uint64_t seed = 4;
        double distance = 0, normal = 0;
        for (int n = 0; n < 4000; n++) {
            const vec3 x = random_place(&seed, 0.7);
            const double radial = sqrt((double)vec3_dot(x, x));
            if (radial < 0.1) continue;
            const collider_gap gap = collider_gap_at(pose, x);
            distance = fmax(distance, fabs((double)gap.distance - (radial - 0.5)));
            normal = fmax(normal, off_by(gap.normal, vec3_scale((real)(1 / radial), x)));
        }
        print_message("    %d cuts: distance off by %.3g m, normal by %.3g\n", cuts, distance, normal);
        if (cuts > 2) check_near("order of the distance", log2(last / distance), 2, 0.25);
        if (cuts > 2) check_near("order of the normal", log2(last_normal / normal), 1, 0.3);
        last = distance;
        last_normal = normal;
        world_close(&one);
    }
}

/* An L-shaped block with concave edges and corners: 0 <= x, y <= 2 without x, y > 1, |z| <= 1. */
static pbd_status make_notched(pbd_collider_mesh *out) {
    static const double xy[6][2] = {{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}};
    out->vertices = 12;
    out->triangles = 20;
    out->vertex = malloc(36 * sizeof *out->vertex);
    out->triangle = malloc(60 * sizeof *out->triangle);
    for (size_t k = 0; k < 12; k++) {
        out->vertex[3 * k] = xy[k % 6][0];
        out->vertex[3 * k + 1] = xy[k % 6][1];
        out->vertex[3 * k + 2] = k < 6 ? -1 : 1;
    }
    static const uint32_t face[4][3] = {{0, 1, 3}, {1, 2, 3}, {0, 3, 5}, {3, 4, 5}};
    uint32_t *at = out->triangle;
    for (int t = 0; t < 4; t++)
        for (int k = 0; k < 3; k++) *at++ = face[t][2 - k];
    for (int t = 0; t < 4; t++)
        for (int k = 0; k < 3; k++) *at++ = face[t][k] + 6;
    for (uint32_t k = 0; k < 6; k++) {
        const uint32_t next = (k + 1) % 6, corner[6] = {k, next, next + 6, k, next + 6, k + 6};
        memcpy(at, corner, sizeof corner);
        at += 6;
    }
    return pbd_ok();
}

static void test_inside_of_a_notched_block(void **unused) {
    (void)unused;
    for (int turned = 0; turned < 2; turned++) { /* second pass: all triangles reversed; the code must reorient them */
        begin(&one);
        pbd_collider_mesh *mesh = next_mesh();
        add_mesh(&one, make_notched(mesh));
        for (size_t t = 0; t < mesh->triangles && turned; t++) {
            const uint32_t kept = mesh->triangle[3 * t];
            mesh->triangle[3 * t] = mesh->triangle[3 * t + 1];
            mesh->triangle[3 * t + 1] = kept;
        }
        put(&one, 5, 5, 5, 1, 0, 0);
        world_open(&one, PBD_CPU, 1);
        const collider_pose *pose = pose_of(&one, 0);
        uint64_t seed = 9;
        for (int n = 0; n < 5000; n++) {
            const vec3 at = random_place(&seed, 1.5), x = vec3_make(at.x + 1, at.y + 1, at.z);
            const bool inside =
                x.x > 0 && x.y > 0 && x.x < 2 && x.y < 2 && fabs((double)x.z) < 1 && (x.x < 1 || x.y < 1);
            const collider_gap gap = collider_gap_at(pose, x);
            assert_true((gap.distance < 0) == inside);
            assert_true(fabs((double)vec3_dot(gap.normal, gap.normal) - 1) < 32 * rounding);
        }
        world_close(&one);
    }
}

/* ---- Motion ------------------------------------------------------------------------------------------------------ */

static const double down[3] = {0, 0, -9.81};

/* Returns how far a particle slides in 1 s down a sheet of squares that slopes down along x, m. Prints the value for an
 * analytic plane in parentheses. */
static double slide(double angle, double friction, double radius) {
    const double c = cos(angle), s = sin(angle), dt = 0.002, off = radius + 0.01;
    begin(&one);
    pbd_collider *mesh = add_mesh(&one, collider_mesh_sheet(6, 12, 0.01, next_mesh()));
    memcpy(mesh->axis, (double[3][3]){{c, 0, -s}, {0, 1, 0}, {s, 0, c}}, sizeof mesh->axis);
    mesh->friction = friction;
    put(&one, off * s + 0.03, 0.07, off * c - 0.03 * s / c, 2.5, radius, 0);
    world_open(&one, PBD_CPU, 1);
    const double x0 = (double)one.x[0], z0 = (double)one.x[2];
    for (int i = 0; i < 500; i++) step(&one, dt, 3, down);
    const double height = (double)one.x[0] * s + (double)one.x[2] * c;
    check_near("off the sheet, m", height, off, 400 * rounding);
    world_close(&one);
    return ((double)one.x[0] - x0) * c - ((double)one.x[2] - z0) * s;
}

static void test_friction_on_an_inclined_sheet(void **unused) {
    (void)unused;
    const double dt = 0.002, most = sizeof(real) == sizeof(float) ? 4e-3 : 1e-9;
    for (int degrees = 20; degrees <= 50; degrees += 10)
        for (int k = 0; k < 3; k++) {
            const double angle = degrees * M_PI / 180, mu = 0.4 * k;
            const double a = 9.81 * (sin(angle) - mu * cos(angle));
            char what[100];
            snprintf(what, sizeof what, "%d degrees, mu = %g, m", degrees, mu);
            check_near(what, slide(angle, mu, k % 2 ? 0.05 : 0), a > 0 ? a * dt * dt * 500 * 501 / 2 : 0, most);
        }
    const double critical = atan(0.5);
    assert_true(fabs(slide(critical * 0.99, 0.5, 0)) < 1e-4);
    assert_true(slide(critical * 1.01, 0.5, 0) > 0.02);
}

/* Particles stick to a plate that translates and rotates. */
static void test_a_moving_mesh_carries_particles(void **unused) {
    (void)unused;
    const double half[3] = {2, 2, 0.1};
    begin(&one);
    pbd_collider *mesh = add_mesh(&one, collider_mesh_box(half, next_mesh()));
    mesh->friction = 0.8;
    mesh->velocity[0] = 1;
    mesh->velocity[2] = 0.5; /* also rises */
    mesh->spin[2] = 0.5;
    uint64_t seed = 6;
    for (int i = 0; i < 100; i++) {
        const double x = noise(&seed), y = noise(&seed);
        const size_t k = put(&one, x, y, 0.15, 1, 0.05, 0);
        one.v[4 * k] = (real)(1 - 0.5 * y);
        one.v[4 * k + 1] = (real)(0.5 * x);
        one.v[4 * k + 2] = (real)0.5;
    }
    world_open(&one, PBD_CPU, 2);
    for (int i = 0; i < 500; i++) step(&one, 0.002, 2, down);
    double worst = 0, off = 0;
    for (size_t i = 0; i < one.scene.particles.count; i++) {
        const double *from = one.positions + 3 * i, c = cos(0.5), s = sin(0.5);
        const real *x = one.x + 4 * i;
        worst = fmax(worst,
                     hypot((double)x[0] - 1 - (c * from[0] - s * from[1]), (double)x[1] - (s * from[0] + c * from[1])));
        off = fmax(off, fabs((double)x[2] - 0.65));
    }
    check_near("off their places on the plate after 1 s, m", worst, 0, 2e-3); /* first order in the step */
    check_near("off its height, m", off, 0, 400 * rounding);
    check_near("particles ever outside", recorded(&one, "particles_ever_outside"), 0, 0);
    world_close(&one);
}

/* ---- Nobody passes ----------------------------------------------------------------------------------------------- */

/* Particles are shot at a plate 1 mm thick, at up to 1000 thicknesses per step, while the plate moves and rotates. In
 * the plate's frame each particle stays on the side on which it started. */
static void test_nobody_passes_a_thin_plate(void **unused) {
    (void)unused;
    const double half[3] = {50, 50, 0.0005};
    for (int sheet = 0; sheet < 2; sheet++) {
        begin(&one);
        pbd_collider *mesh = add_mesh(
            &one, sheet ? collider_mesh_sheet(50, 10, 0.0005, next_mesh()) : collider_mesh_box(half, next_mesh()));
        mesh->friction = 0.2;
        mesh->velocity[2] = 3;
        mesh->spin[1] = 0.4;
        uint64_t seed = 10;
        for (int i = 0; i < 600; i++) {
            const double x = noise(&seed), y = noise(&seed), z = 0.05 + fabs(noise(&seed));
            const size_t k = put(&one, x, y, i % 2 ? z : -z, 1, i % 3 ? 0 : 0.01, 0);
            for (size_t d = 0; d < 3; d++)
                one.v[4 * k + d] = (real)(d == 2 ? (i % 2 ? -1 : 1) * 1000 * z : noise(&seed));
        }
        world_open(&one, PBD_CPU, 2);
        for (int n = 0; n < 100; n++) {
            step(&one, 0.001, 1, down);
            double centre[3], axis[3][3];
            collider_at(mesh, one.time, centre, axis);
            for (size_t i = 0; i < one.scene.particles.count; i++) {
                double height = 0;
                for (size_t d = 0; d < 3; d++) height += ((double)one.x[4 * i + d] - centre[d]) * axis[2][d];
                const double side = i % 2 ? 1 : -1;
                if (!(side * height > 0.0005 - 64 * rounding * 60)) fail_msg("particle %zu is at %g m", i, height);
            }
        }
        world_close(&one);
    }
}

/* In a narrow wedge a particle that is pushed out of one wall goes through the other. */
static void test_nobody_passes_the_bottom_of_a_wedge(void **unused) {
    (void)unused;
    begin(&one);
    pbd_collider_mesh *mesh = next_mesh();
    static const double vertex[] = {-1, -9, 10, -1, 9, 10, 0, -9, 0, 0, 9, 0, 1, -9, 10, 1, 9, 10};
    static const uint32_t triangle[] = {0, 2, 1, 1, 2, 3, 2, 4, 3, 3, 4, 5};
    *mesh = (pbd_collider_mesh){6, 4, malloc(sizeof vertex), malloc(sizeof triangle), 1e-4};
    memcpy(mesh->vertex, vertex, sizeof vertex);
    memcpy(mesh->triangle, triangle, sizeof triangle);
    add_mesh(&one, pbd_ok());
    uint64_t seed = 12;
    for (int i = 0; i < 300; i++) {
        const size_t k = put(&one, 0.3 * noise(&seed), noise(&seed), 5 + noise(&seed), 1, 0, 0);
        for (size_t d = 0; d < 3; d++) one.v[4 * k + d] = (real)(d == 1 ? 0 : 500 * noise(&seed));
        one.v[4 * k + 2] = -(real)fabs((double)one.v[4 * k + 2]);
    }
    world_open(&one, PBD_CPU, 1);
    for (int n = 0; n < 200; n++) {
        step(&one, 0.005, 1, down);
        for (size_t i = 0; i < one.scene.particles.count; i++) {
            const double x = (double)one.x[4 * i], z = (double)one.x[4 * i + 2];
            if (z < 10 && fabs((double)one.x[4 * i + 1]) < 9 && !(z > 10 * fabs(x) - 640 * rounding))
                fail_msg("particle %zu is at %g, %g m", i, x, z);
        }
    }
    world_close(&one);
}

/* A closed surface as a tumbling container: the sand in it stays inside. */
static void fill_drum(world *w, int count) {
    const double half[3] = {0.1, 0.4, 0.5};
    begin(w);
    pbd_collider *drum = add_mesh(w, collider_mesh_hourglass(half, 24, 4, next_mesh()));
    drum->container = true;
    drum->friction = 0.5;
    memcpy(drum->spin, (double[3]){5, 3, -2}, sizeof drum->spin);
    uint64_t seed = 14;
    for (int i = 0; i < count; i++) {
        const double x = noise(&seed), y = noise(&seed), z = noise(&seed);
        const size_t k = put(w, 0.05 * x, 0.05 * y, 0.3 * z, 1, i % 2 ? 0.01 : 0, 0);
        for (size_t d = 0; d < 3; d++) w->v[4 * k + d] = (real)(5 * noise(&seed));
    }
}

static void test_a_tumbling_container_loses_nobody(void **unused) {
    (void)unused;
    fill_drum(&one, 400);
    world_open(&one, PBD_CPU, 2);
    for (int i = 0; i < 500; i++) step(&one, 0.004, 2, down);
    check_near("particles ever outside", recorded(&one, "particles_ever_outside"), 0, 0);
    double farthest = 0;
    for (size_t i = 0; i < one.scene.particles.count; i++) {
        const real *x = one.x + 4 * i;
        farthest = fmax(farthest, sqrt((double)(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])));
    }
    assert_true(farthest < hypot(0.4, 0.5));
    world_close(&one);
}

/* A particle that starts inside is detected, and moved out along the shortest path. */
static void test_who_starts_inside_is_brought_out(void **unused) {
    (void)unused;
    const double half[3] = {1, 1, 1};
    begin(&one);
    add_mesh(&one, collider_mesh_box(half, next_mesh()));
    put(&one, 0.2, 0.7, -0.1, 1, 0.05, 0);
    put(&one, 3, 0, 0, 1, 0.05, 0);
    world_open(&one, PBD_CPU, 1);
    step(&one, 0.01, 1, NULL);
    check_near("x, m", (double)one.x[0], 0.2, 4 * rounding);
    check_near("y, m", (double)one.x[1], 1.05, 4 * rounding);
    check_near("z, m", (double)one.x[2], -0.1, 4 * rounding);
    world_close(&one);
}

/* ---- What must not matter ---------------------------------------------------------------------------------------- */

static void run_drum(world *w, int backend, int threads, int count, int steps) {
    fill_drum(w, count);
    world_open(w, backend, threads);
    for (int i = 0; i < steps; i++) step(w, 0.004, 2, down);
    world_close(w);
}

static double farthest_apart(const world *a, const world *b) {
    double most = 0;
    for (size_t i = 0; i < 4 * a->scene.particles.count; i++)
        most = fmax(most, fabs((double)a->x[i] - (double)b->x[i]));
    return most;
}

/* Without anchors every particle queries the tree each time. */
static void test_anchors_change_nothing(void **unused) {
    (void)unused;
    for (int without = 0; without < 2; without++) {
        world *w = without ? &other : &one;
        fill_drum(w, 300);
        world_open(w, PBD_CPU, 1);
        if (without) w->walls.placed[0].mesh.anchor = NULL;
        for (int i = 0; i < 60; i++) step(w, 0.004, 2, down);
        world_close(w);
    }
    assert_memory_equal(one.x, other.x, 4 * one.scene.particles.count * sizeof *one.x);
}

static void test_threads_and_emulation(void **unused) {
    (void)unused;
    run_drum(&one, PBD_CPU, 1, 1500, 60);
    for (int threads = 3; threads <= 8; threads += 5) {
        run_drum(&other, PBD_CPU, threads, 1500, 60);
        assert_memory_equal(one.x, other.x, 4 * one.scene.particles.count * sizeof *one.x);
    }
    run_drum(&one, PBD_CPU, 1, 200, 5);
    run_drum(&other, PBD_EMU, 1, 200, 5);
    check_near("emulation, m", farthest_apart(&one, &other), 0, 1000 * rounding);
}

/* ---- Bad input --------------------------------------------------------------------------------------------------- */

static void refuse(const char *says) {
    put(&one, 5, 5, 5, 1, 0, 0);
    const pbd_status status = try_world_open(&one, PBD_CPU, 1);
    assert_int_equal(status.code, PBD_BAD_INPUT);
    print_message("    %s\n", status.text);
    assert_non_null(strstr(status.text, says));
    world_close(&one);
}

static pbd_collider_mesh *begin_bad(void) {
    const double half[3] = {1, 1, 1};
    begin(&one);
    pbd_collider_mesh *mesh = next_mesh();
    add_mesh(&one, collider_mesh_box(half, mesh));
    return mesh;
}

static void test_bad_input(void **unused) {
    (void)unused;
    begin_bad()->triangles = 0;
    refuse("0 triangles");
    begin_bad()->triangle[7] = 8;
    refuse("the vertex 8 in its triangle 2, but only vertices 0 to 7");
    begin_bad()->vertex[4] = NAN;
    refuse("vertex 1 at 1 nan");
    begin_bad()->thickness = -1;
    refuse("thickness=-1");
    begin_bad()->triangles = 11;
    refuse("is a sheet");
    pbd_collider_mesh *mesh = begin_bad();
    for (size_t v = 0; v < 8; v++)
        mesh->vertex[3 * v] += 0.3 * mesh->vertex[3 * v + 2], mesh->vertex[3 * v + 2] = 0; /* flat */
    refuse("has no volume");
    mesh = begin_bad();
    for (size_t i = 0; i < 24; i++) mesh->vertex[i] = 2; /* a point */
    refuse("has no area");
    mesh = begin_bad();
    for (size_t i = 0; i < 24; i++) mesh->vertex[i] = (double)(i / 3); /* a line */
    refuse("has no area");
    begin_bad()->triangles = 11;
    one.collider[0].container = true;
    refuse("cannot be a container");
    begin_bad();
    one.collider[0].mesh = 3;
    refuse("mesh 3 of a scene that has 1");
}

/* A box with a sliver along an edge and a triangle with a repeated corner; triangles share no vertices. */
static void test_degenerate_triangles_are_counted(void **unused) {
    (void)unused;
    const double half[3] = {1, 1, 1};
    pbd_collider_mesh box;
    begin(&one);
    check_ok(collider_mesh_box(half, &box));
    pbd_collider_mesh *mesh = next_mesh();
    mesh->vertices = 40;
    mesh->triangles = 14;
    mesh->vertex = calloc(120, sizeof *mesh->vertex);
    mesh->triangle = calloc(42, sizeof *mesh->triangle);
    for (uint32_t i = 0; i < 36; i++) {
        memcpy(mesh->vertex + 3 * i, box.vertex + 3 * box.triangle[i], 3 * sizeof(double));
        mesh->triangle[i] = i;
    }
    collider_mesh_free(&box);
    /* The first edge of triangle 0 is split at its middle, which opens a gap; a sliver fills it. */
    for (size_t d = 0; d < 3; d++) mesh->vertex[3 * 36 + d] = 0.5 * (mesh->vertex[d] + mesh->vertex[3 + d]);
    const uint32_t cut[] = {36, 1, 2, 0, 36, 2, 5, 5, 4};
    memcpy(mesh->triangle, cut, 3 * sizeof *cut);
    memcpy(mesh->triangle + 36, cut + 3, 3 * sizeof *cut);
    memcpy(mesh->triangle + 39, cut + 6, 3 * sizeof *cut);
    add_mesh(&one, pbd_ok());
    put(&one, 5, 5, 5, 1, 0, 0);
    pbd_collider_mesh with_sliver = *mesh;
    mesh_surface s;
    /* the split edge has one triangle on one side and two on the other: an open sheet, unless the sliver closes it */
    with_sliver.thickness = 1e-3;
    check_ok(mesh_surface_make(&with_sliver, 0, false, &s));
    assert_int_equal(s.collapsed, 1);
    assert_null(s.normal);
    mesh_surface_free(&s);
    uint32_t *grown = realloc(mesh->triangle, 45 * sizeof *grown);
    assert_non_null(grown);
    mesh->triangle = grown;
    const uint32_t sliver[] = {0, 1, 36};
    memcpy(mesh->triangle + 42, sliver, sizeof sliver);
    mesh->triangles = 15;
    check_ok(mesh_surface_make(mesh, 0, true, &s));
    assert_int_equal(s.collapsed, 1);
    assert_int_equal(s.slivers, 1);
    assert_non_null(s.normal);
    check_near("volume, m^3", s.volume, 8, 1e-14);
    mesh_surface_free(&s);
    world_open(&one, PBD_CPU, 1);
    assert_int_equal(one.result.warnings, 1);
    const collider_pose *pose = pose_of(&one, 0);
    uint64_t seed = 15;
    for (int n = 0; n < 2000; n++) {
        const vec3 x = random_place(&seed, 1.5);
        const bool inside = fabs((double)x.x) < 1 && fabs((double)x.y) < 1 && fabs((double)x.z) < 1;
        assert_true((collider_gap_at(pose, x).distance < 0) == inside);
    }
    world_close(&one);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_box_of_triangles_is_a_box),
                                       cmocka_unit_test(test_sphere_of_triangles_becomes_a_sphere),
                                       cmocka_unit_test(test_inside_of_a_notched_block),
                                       cmocka_unit_test(test_friction_on_an_inclined_sheet),
                                       cmocka_unit_test(test_a_moving_mesh_carries_particles),
                                       cmocka_unit_test(test_nobody_passes_a_thin_plate),
                                       cmocka_unit_test(test_nobody_passes_the_bottom_of_a_wedge),
                                       cmocka_unit_test(test_a_tumbling_container_loses_nobody),
                                       cmocka_unit_test(test_who_starts_inside_is_brought_out),
                                       cmocka_unit_test(test_anchors_change_nothing),
                                       cmocka_unit_test(test_threads_and_emulation),
                                       cmocka_unit_test(test_bad_input),
                                       cmocka_unit_test(test_degenerate_triangles_are_counted)};
    const int failed = cmocka_run_group_tests_name("mesh_collider", tests, NULL, NULL);
    begin(&one);
    return failed;
}
