/* Tests shared by methods with one constraint per element: scenes of one element and of a small bar or sheet, and
 * properties that hold for any such method. */
#ifndef PBD_ELEMENT_LADDER_H
#define PBD_ELEMENT_LADDER_H

#include "methods/physics/space/element_shape.h"
#include "tests/ladder.h"

/* ---- Scenes ------------------------------------------------------------------------------------------------------ */

UNUSED static void allocate_scene(pbd_scene *scene, size_t particles, size_t tets, size_t triangles) {
    *scene = (pbd_scene){.particles.count = particles, .tets.count = tets, .triangles.count = triangles, .extent = 1};
    scene->particles.positions = calloc(3 * particles, sizeof(double));
    scene->particles.start = calloc(3 * particles, sizeof(double));
    scene->loads.forces = calloc(3 * particles, sizeof(double));
    scene->particles.masses = calloc(particles, sizeof(double));
    scene->tets.corner = calloc(4 * tets + 1, sizeof(uint32_t));
    scene->triangles.corner = calloc(3 * triangles + 1, sizeof(uint32_t));
    scene->material[0] = (pbd_material){.E = 3000, .nu = 0.35, .density = 100, .law = "neo_hookean", .thickness = 0.01};
}

/* One element of irregular shape and unequal masses, without load, that starts stretched, sheared and rotated. */
UNUSED static void make_element(pbd_scene *scene, bool triangle, uint64_t seed) {
    static const double corner[4][3] = {{0.2, 0.1, -0.1}, {1.1, 0, 0.2}, {0.3, 0.9, 0.1}, {0.1, 0.2, 1.2}};
    allocate_scene(scene, triangle ? 3 : 4, triangle ? 0 : 1, triangle ? 1 : 0);
    for (size_t p = 0; p < scene->particles.count; p++) {
        memcpy(scene->particles.positions + 3 * p, corner[p], sizeof corner[p]);
        scene->particles.masses[p] = 1.5 + noise(&seed);
        for (size_t d = 0; d < 3; d++) {
            const double *x = scene->particles.positions + 3 * p;
            static const double turn[3][3] = {{0.36, 0.48, -0.8}, {-0.8, 0.6, 0}, {0.48, 0.64, 0.6}};
            scene->particles.start[3 * p + d] =
                turn[d][0] * x[0] + turn[d][1] * x[1] + turn[d][2] * x[2] + 0.07 * noise(&seed) + 0.5;
        }
    }
    const uint32_t tet[4] = {1, 2, 3, 0}, three[3] = {0, 1, 2};
    memcpy(triangle ? scene->triangles.corner : scene->tets.corner, triangle ? three : tet,
           (triangle ? 3 : 4) * sizeof(uint32_t));
    if (!triangle && element_check_scene(scene).code != PBD_OK) { /* inverted: swap two corners */
        scene->tets.corner[0] = 2;
        scene->tets.corner[1] = 1;
    }
    check_ok(element_check_scene(scene));
}

static const int element_cube[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                       {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};

/* A bar of cubes (each of six tetrahedra around a diagonal) or, with n[2] = 0, a sheet of squares of two triangles,
 * held at x = 0, under gravity. Nodes are perturbed, so that no two elements are alike. */
UNUSED static void make_cubes(pbd_scene *scene, const int n[3], double E) {
    static const int round[7] = {1, 2, 3, 7, 4, 5, 1};
    const bool triangles = n[2] == 0;
    const int side = n[2] + 1, sheet = side * (n[1] + 1);
    const size_t cells = (size_t)(n[0] * n[1] * (triangles ? 1 : n[2]));
    const double edge = 0.1;
    uint64_t seed = 5;
    allocate_scene(scene, (size_t)(sheet * (n[0] + 1)), triangles ? 0 : 6 * cells, triangles ? 2 * cells : 0);
    scene->material->E = E;
    scene->particles.spacing = edge;
    scene->loads.gravity[2] = -9.81;
    scene->loads.gravity[1] = 1.5;
    scene->particles.fixed_particle = calloc((size_t)sheet, sizeof(uint32_t));
    for (int i = 0; i <= n[0]; i++)
        for (int j = 0; j <= n[1]; j++)
            for (int k = 0; k <= n[2]; k++) {
                const size_t p = (size_t)(i * sheet + j * side + k);
                const double place[3] = {edge * i, edge * j, edge * k};
                for (size_t d = 0; d < 3; d++)
                    scene->particles.positions[3 * p + d] =
                        place[d] + 0.1 * edge * noise(&seed) * (triangles && d == 2 ? 0 : 1);
                scene->particles.masses[p] = 0.1 * (1.5 + noise(&seed));
                if (i == 0) scene->particles.fixed_particle[scene->particles.fixed++] = (uint32_t)p;
            }
    uint32_t *tet = scene->tets.corner, *triangle = scene->triangles.corner;
    for (int i = 0; i < n[0]; i++)
        for (int j = 0; j < n[1]; j++)
            for (int k = 0; k < (triangles ? 1 : n[2]); k++) {
                uint32_t node[8];
                for (int c = 0; c < 8; c++)
                    node[c] = (uint32_t)((i + element_cube[c][0]) * sheet + (j + element_cube[c][1]) * side + k +
                                         (triangles ? 0 : element_cube[c][2]));
                for (int t = 0; t < 6 && !triangles; t++, tet += 4)
                    memcpy(tet, (uint32_t[4]){node[round[t]], node[round[t + 1]], node[6], node[0]}, 4 * sizeof *tet);
                if (!triangles) continue;
                memcpy(triangle, (uint32_t[6]){node[0], node[1], node[2], node[0], node[2], node[3]},
                       6 * sizeof *triangle);
                triangle += 6;
            }
    for (size_t t = 0; t < scene->tets.count; t++) { /* orients every tetrahedron positively */
        element_shape shape;
        if (element_shape_of(scene, 4, t, &shape).code == PBD_OK) continue;
        const uint32_t swap = scene->tets.corner[4 * t];
        scene->tets.corner[4 * t] = scene->tets.corner[4 * t + 1];
        scene->tets.corner[4 * t + 1] = swap;
    }
    check_ok(element_check_scene(scene));
    free(scene->particles.start);
    scene->particles.start = NULL;
}

/* 3 x 2 x 2 cubes or 6 x 4 squares. */
UNUSED static void make_mesh(pbd_scene *scene, bool triangles, double E) {
    make_cubes(scene, triangles ? (const int[3]){6, 4, 0} : (const int[3]){3, 2, 2}, E);
}

/* law NULL: the law of make_mesh. */
UNUSED static void make_mesh_of(pbd_scene *scene, bool triangles, double E, const char *law) {
    make_mesh(scene, triangles, E);
    if (law) scene->material->law = law;
}

/* The tetrahedra of make_mesh with a random velocity for each free particle; free with pbd_scene_free. */
UNUSED static void make_moving(pbd_scene *scene, const char *law, double nu) {
    uint64_t seed = 9;
    make_mesh(scene, false, 1e4);
    scene->material->law = law;
    scene->material->nu = nu;
    scene->particles.velocities = calloc(3 * scene->particles.count, sizeof(double));
    for (size_t i = 0; i < 3 * scene->particles.count; i++) scene->particles.velocities[i] = 0.5 * noise(&seed);
    for (size_t k = 0; k < scene->particles.fixed; k++)
        for (size_t d = 0; d < 3; d++) scene->particles.velocities[3 * scene->particles.fixed_particle[k] + d] = 0;
}

/* Applies the traction `pull`, Pa, to the end face: each node of a triangle gets a third of its force. */
UNUSED static void pull_end(pbd_scene *scene, double end, double pull) {
    const double *x = scene->particles.positions;
    for (size_t t = 0; t < scene->tets.count; t++)
        for (size_t left = 0; left < 4; left++) {
            const uint32_t *c = scene->tets.corner + 4 * t,
                           face[3] = {c[(left + 1) % 4], c[(left + 2) % 4], c[(left + 3) % 4]};
            double off = 0, e[2][2];
            for (int k = 0; k < 3; k++) off += fabs(x[3 * face[k]] - end);
            if (off > 1e-9) continue;
            for (size_t k = 0; k < 2; k++)
                for (size_t d = 0; d < 2; d++) e[k][d] = x[3 * face[k + 1] + d + 1] - x[3 * face[0] + d + 1];
            const double area = 0.5 * fabs(e[0][0] * e[1][1] - e[0][1] * e[1][0]);
            for (int k = 0; k < 3; k++) scene->loads.forces[3 * face[k]] += pull * area / 3;
        }
}

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

UNUSED static double *march_on(int backend, const char *method, pbd_precision precision, int threads,
                               const pbd_scene *scene, const char *words, double dt, int steps) {
    solver s;
    check_ok(try_open_on(backend, &s, method, precision, threads, scene, words));
    for (int i = 0; i < steps; i++) check_ok(s.method->step(s.state, dt));
    double *x = positions_of(&s, scene->particles.count);
    for (size_t i = 0; i < 3 * scene->particles.count; i++)
        if (!isfinite(x[i])) fail_msg("%s %s: not finite after %d steps", method, words, steps);
    solver_close(&s);
    return x;
}

/* Positions after `steps`, to be freed. */
UNUSED static double *march(const char *method, pbd_precision precision, int threads, const pbd_scene *scene,
                            const char *words, double dt, int steps) {
    return march_on(PBD_CPU, method, precision, threads, scene, words, dt, steps);
}

UNUSED static double largest_difference(const double *a, const double *b, size_t particles) {
    double worst = 0;
    for (size_t i = 0; i < 3 * particles; i++) worst = fmax(worst, fabs(a[i] - b[i]));
    return worst;
}

UNUSED static void expect_same_bits(const char *what, const double *a, const double *b, size_t particles) {
    if (memcmp(a, b, 3 * particles * sizeof *a) != 0)
        fail_msg("%s: not the same bits, off by %.3g", what, largest_difference(a, b, particles));
}

/* Green strain of a tetrahedron: xx, yy, zz, xy, yz, zx. */
UNUSED static void green_strain_of(const pbd_scene *scene, size_t element, const double *x, double e[6]) {
    double f[3][3] = {{0}};
    element_shape shape;
    const uint32_t *c = scene->tets.corner + 4 * element;
    check_ok(element_shape_of(scene, 4, element, &shape));
    for (int column = 0; column < 3; column++)
        for (int k = 0; k < 3; k++)
            for (uint32_t i = 0; i < 3; i++)
                f[column][i] += (x[3 * c[k] + i] - x[3 * c[3] + i]) * shape.inverse[3 * column + k];
    static const int pair[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {1, 2}, {2, 0}};
    for (int k = 0; k < 6; k++) {
        const double *a = f[pair[k][0]], *b = f[pair[k][1]];
        e[k] = 0.5 * (a[0] * b[0] + a[1] * b[1] + a[2] * b[2] - (k < 3));
    }
}

UNUSED static void green_strain(const pbd_scene *scene, const double *x, double e[6]) {
    green_strain_of(scene, 0, x, e);
}

/* ---- Rungs ------------------------------------------------------------------------------------------------------- */

static void turn_rows(double *rows, size_t count) {
    static const double turn[3][3] = {{0.36, 0.48, -0.8}, {-0.8, 0.6, 0}, {0.48, 0.64, 0.6}};
    for (size_t p = 0; p < count; p++) {
        double was[3];
        memcpy(was, rows + 3 * p, sizeof was);
        for (size_t d = 0; d < 3; d++)
            rows[3 * p + d] = turn[d][0] * was[0] + turn[d][1] * was[1] + turn[d][2] * was[2];
    }
}

/* If the start and the load are rotated, the result rotates with them. `at_rest`: the rest shape is rotated as well,
 * which changes nothing for isotropic methods only. The order of colours is the same, since it depends on the mesh
 * alone. */
UNUSED static void expect_rotation_invariance_of(const char *method, const char *words, bool at_rest, const char *law) {
    double *x[2];
    size_t particles = 0;
    for (int turned = 0; turned < 2; turned++) {
        pbd_scene scene;
        make_mesh_of(&scene, false, 1e4, law);
        particles = scene.particles.count;
        if (turned) {
            turn_rows(scene.loads.gravity, 1);
            scene.particles.start = malloc(3 * particles * sizeof(double));
            memcpy(scene.particles.start, scene.particles.positions, 3 * particles * sizeof(double));
            turn_rows(scene.particles.start, particles);
            if (at_rest) memcpy(scene.particles.positions, scene.particles.start, 3 * particles * sizeof(double));
        }
        x[turned] = march(method, PBD_PRECISION_F64, 1, &scene, words, 0.005, 30);
        pbd_scene_free(&scene);
    }
    turn_rows(x[0], particles);
    check_near("turned scene, m", largest_difference(x[0], x[1], particles), 0, 1e-11);
    free(x[0]);
    free(x[1]);
}

UNUSED static void expect_rotation_invariance(const char *method, const char *words, bool at_rest) {
    expect_rotation_invariance_of(method, words, at_rest, NULL);
}

/* The same bar in metres and in centimetres: lengths and gravity x 100, E / 100. Energies are then x 1e4, in kg
 * cm^2/s^2. */
UNUSED static void expect_units_do_not_matter_of(const char *method, const char *words, const char *law) {
    double *x[2], worst = 0;
    size_t particles = 0;
    for (int small = 0; small < 2; small++) {
        pbd_scene scene;
        make_mesh_of(&scene, false, 1e4, law);
        particles = scene.particles.count;
        if (small) {
            for (size_t i = 0; i < 3 * particles; i++) scene.particles.positions[i] *= 100;
            for (int d = 0; d < 3; d++) scene.loads.gravity[d] *= 100;
            scene.particles.spacing *= 100;
            scene.material->density /= 1e6;
            scene.material->E /= 100;
        }
        x[small] = march(method, PBD_PRECISION_F64, 1, &scene, words, 0.005, 40);
        pbd_scene_free(&scene);
    }
    for (size_t i = 0; i < 3 * particles; i++) worst = fmax(worst, fabs(x[1][i] / 100 - x[0][i]));
    check_near("metres against centimetres, m", worst, 0, 1e-10);
    free(x[0]);
    free(x[1]);
}

UNUSED static void expect_units_do_not_matter(const char *method, const char *words) {
    expect_units_do_not_matter_of(method, words, NULL);
}

/* Modulus, masses and forces times 2^10: bitwise the same positions. */
UNUSED static void expect_scale_does_not_matter(const char *method, const char *words, const char *law) {
    for (int precision = 0; precision < 2; precision++) {
        double *x[2];
        size_t particles = 0;
        for (int heavy = 0; heavy < 2; heavy++) {
            pbd_scene scene;
            make_moving(&scene, law, 0.35);
            particles = scene.particles.count;
            for (size_t i = 0; i < particles && heavy; i++) scene.particles.masses[i] *= 1024;
            if (heavy) scene.material->E *= 1024, scene.material->density *= 1024;
            x[heavy] = march(method, (pbd_precision)precision, 1, &scene, words, 0.02, 5);
            pbd_scene_free(&scene);
        }
        expect_same_bits(words, x[0], x[1], particles);
        free(x[0]);
        free(x[1]);
    }
}

UNUSED static void expect_same_on_threads_of(const char *method, const char *words, bool triangles, const char *law) {
    static const int threads[] = {1, 3, 8};
    for (int precision = 0; precision < 2; precision++) {
        double *first = NULL;
        for (int t = 0; t < 3; t++) {
            pbd_scene scene;
            make_mesh_of(&scene, triangles, 1e4, law);
            double *x = march(method, (pbd_precision)precision, threads[t], &scene, words, 0.005, 10);
            if (first) expect_same_bits("threads", first, x, scene.particles.count);
            if (first)
                free(x);
            else
                first = x;
            pbd_scene_free(&scene);
        }
        free(first);
    }
}

UNUSED static void expect_same_on_threads(const char *method, const char *words, bool triangles) {
    expect_same_on_threads_of(method, words, triangles, NULL);
}

UNUSED static void expect_precisions_agree_of(const char *method, const char *words, bool triangles, double limit,
                                              const char *law) {
    pbd_scene scene;
    make_mesh_of(&scene, triangles, 1e4, law);
    double *wide = march(method, PBD_PRECISION_F64, 1, &scene, words, 0.005, 10);
    double *narrow = march(method, PBD_PRECISION_F32, 1, &scene, words, 0.005, 10);
    check_near("f32 against f64, m", largest_difference(wide, narrow, scene.particles.count), 0, limit);
    free(wide);
    free(narrow);
    pbd_scene_free(&scene);
}

UNUSED static void expect_precisions_agree(const char *method, const char *words, bool triangles, double limit) {
    expect_precisions_agree_of(method, words, triangles, limit, NULL);
}

/* Under ThreadSanitizer each emulated thread is a pthread, and a launch costs a thousand times as much. There the test
 * runs one step of a smaller body through the same kernels; its colours still have several elements. */
#if defined(__SANITIZE_THREAD__)
enum { EMULATED_STEPS = 1, EMULATED_PRECISIONS = 1 };
static const int emulated_cubes[3] = {4, 1, 1}, emulated_squares[3] = {3, 2, 0};
#else
enum { EMULATED_STEPS = 3, EMULATED_PRECISIONS = 2 };
static const int emulated_cubes[3] = {3, 2, 2}, emulated_squares[3] = {6, 4, 0};
#endif

UNUSED static void expect_backends_agree_with(const char *method, const char *words, bool triangles,
                                              const pbd_material *material) {
    static const double limit[] = {1e-5, 1e-13};
    for (int precision = 0; precision < EMULATED_PRECISIONS; precision++) {
        pbd_scene scene;
        make_cubes(&scene, triangles ? emulated_squares : emulated_cubes, 1e4);
        if (material) scene.material[0] = *material;
        double *cpu = march(method, (pbd_precision)precision, 1, &scene, words, 0.005, EMULATED_STEPS);
        double *emu = march_on(PBD_EMU, method, (pbd_precision)precision, 1, &scene, words, 0.005, EMULATED_STEPS);
        check_near("emu against cpu, m", largest_difference(cpu, emu, scene.particles.count), 0, limit[precision]);
        free(cpu);
        free(emu);
        pbd_scene_free(&scene);
    }
}

UNUSED static void expect_backends_agree(const char *method, const char *words, bool triangles) {
    expect_backends_agree_with(method, words, triangles, NULL);
}

/* log2 of the ratio of the changes by halving the step and by halving it again. */
UNUSED static double order_in_time(const char *method, const char *words, const char *law) {
    double *x[4];
    pbd_scene scene;
    make_mesh_of(&scene, false, 2e4, law);
    for (int k = 0; k < 4; k++) x[k] = march(method, PBD_PRECISION_F64, 1, &scene, words, 4e-4 / (1 << k), 50 << k);
    const double first = largest_difference(x[1], x[2], scene.particles.count);
    const double second = largest_difference(x[2], x[3], scene.particles.count);
    for (int k = 0; k < 4; k++) free(x[k]);
    pbd_scene_free(&scene);
    return log2(first / second);
}

/* Position-based steps are of first order in time: halving the step halves the error. */
UNUSED static void expect_first_order(const char *method, const char *words) {
    check_near("order in time", order_in_time(method, words, NULL), 1, 0.15);
}

/* ---- Bad input --------------------------------------------------------------------------------------------------- */

UNUSED static void expect_refused(const char *method, const pbd_scene *scene, const char *words, pbd_code code,
                                  const char *says) {
    solver s;
    const pbd_status status = try_open(&s, method, PBD_PRECISION_F64, 1, scene, words);
    if (status.code != code || !strstr(status.text, says))
        fail_msg("wanted code %d and '%s', got %d: %s", code, says, status.code, status.text);
    s.state = NULL;
    solver_close(&s);
}

UNUSED static void expect_bad_meshes_refused(const char *method) {
    pbd_scene scene;
    make_mesh(&scene, false, 1e4);
    const uint32_t kept = scene.tets.corner[4 * 7];
    scene.tets.corner[4 * 7] = scene.tets.corner[4 * 7 + 1];
    expect_refused(method, &scene, "", PBD_BAD_INPUT, "tetrahedron 7 has no volume");
    scene.tets.corner[4 * 7] = kept;
    const uint32_t other = scene.tets.corner[4 * 3];
    scene.tets.corner[4 * 3] = scene.tets.corner[4 * 3 + 1];
    scene.tets.corner[4 * 3 + 1] = other;
    expect_refused(method, &scene, "", PBD_BAD_INPUT, "tetrahedron 3 is inverted");
    scene.tets.corner[4 * 3 + 1] = scene.tets.corner[4 * 3];
    scene.tets.corner[4 * 3] = other;
    scene.particles.positions[3 * scene.tets.corner[4 * 5]] = (double)NAN;
    expect_refused(method, &scene, "", PBD_BAD_INPUT, "is not finite");
    pbd_scene_free(&scene);
    make_mesh(&scene, true, 1e4);
    scene.triangles.corner[3 * 4] = scene.triangles.corner[3 * 4 + 1];
    expect_refused(method, &scene, "", PBD_BAD_INPUT, "triangle 4 has no area");
    scene.triangles.count = 0;
    expect_refused(method, &scene, "", PBD_BAD_INPUT, "neither tetrahedra nor triangles");
    pbd_scene_free(&scene);
}

#endif
