/* xpbd_cloth: corrections against finite differences, momenta, rotation, units, order, iterations, precisions, threads,
 * backends; a pulled strip, a bent strip and a hanging sheet against independent solutions. */
#include "methods/physics/parts/hinges.h"
#include "methods/xpbi/scene_matter.h"
#include "tests/element_ladder.h"

/* ---- Scenes ------------------------------------------------------------------------------------------------------ */

/* A strip of squares of edge h in the plane z = 0, x from -h to n h, `across` squares wide, with alternating diagonals;
 * the first two columns of particles are held. */
static void make_strip(pbd_scene *scene, int n, int across, double h, double mass_per_area) {
    const size_t side = (size_t)across + 1, columns = (size_t)n + 2;
    allocate_scene(scene, side * columns, 0, 2 * (size_t)(n + 1) * (size_t)across);
    free(scene->particles.start);
    scene->particles.start = NULL;
    scene->material[0] = (pbd_material){.E = 1e6, .nu = 0, .density = 1, .law = "stvk", .thickness = 0.01};
    scene->particles.fixed_particle = calloc(2 * side, sizeof(uint32_t));
    for (size_t i = 0; i < columns; i++)
        for (size_t j = 0; j < side; j++) {
            const size_t p = i * side + j;
            scene->particles.positions[3 * p] = h * ((double)i - 1);
            scene->particles.positions[3 * p + 1] = h * (double)j;
            scene->particles.masses[p] =
                mass_per_area * h * h * (i == 0 || i == columns - 1 ? 0.5 : 1) * (j == 0 || j == side - 1 ? 0.5 : 1);
            if (i < 2) scene->particles.fixed_particle[scene->particles.fixed++] = (uint32_t)p;
        }
    uint32_t *triangle = scene->triangles.corner;
    for (size_t i = 0; i + 1 < columns; i++)
        for (size_t j = 0; j < (size_t)across; j++, triangle += 6) {
            const uint32_t a = (uint32_t)(i * side + j), b = (uint32_t)(a + side), c = b + 1, d = a + 1;
            const uint32_t even[6] = {a, b, c, a, c, d}, odd[6] = {a, b, d, b, c, d};
            memcpy(triangle, (i + j) % 2 ? odd : even, sizeof even);
        }
    check_ok(element_check_scene(scene));
}

enum { CLOTH_PARTICLES = 35 };

/* The sheet of make_cubes with bending: perturbed squares under gravity, held at x = 0. */
static void make_cloth(pbd_scene *scene, double E) {
    make_cubes(scene, (const int[3]){6, 4, 0}, E);
    scene->material->law = "stvk";
    scene->material->bending = 1e-3 * E * scene->material->thickness;
}

/* ---- Corrections against differences ----------------------------------------------------------------------------- */

static void vector(const double *x, uint32_t from, uint32_t to, double out[3]) {
    for (uint32_t d = 0; d < 3; d++) out[d] = x[3 * to + d] - x[3 * from + d];
}

static void cross(const double a[3], const double b[3], double out[3]) {
    for (int d = 0; d < 3; d++) out[d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
}

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* Green strain of triangle 0: 11, 22, 2 * 12 in the frame described in element_shape.h. */
static void strain(const pbd_scene *scene, const double *x, double out[3]) {
    element_shape shape;
    double a[3], b[3], f[2][3];
    const uint32_t *c = scene->triangles.corner;
    check_ok(element_shape_of(scene, 3, 0, &shape));
    vector(x, c[2], c[0], a);
    vector(x, c[2], c[1], b);
    for (int k = 0; k < 2; k++)
        for (int d = 0; d < 3; d++) f[k][d] = shape.inverse[2 * k] * a[d] + shape.inverse[2 * k + 1] * b[d];
    out[0] = (dot(f[0], f[0]) - 1) / 2;
    out[1] = (dot(f[1], f[1]) - 1) / 2;
    out[2] = dot(f[0], f[1]);
}

/* 2 sin(theta/2), from the angle theta itself; hinge: the ends of the edge, then the opposite corners. */
static double fold(const double *x, const uint32_t hinge[4]) {
    double e[3], a[3], b[3], na[3], nb[3], both[3];
    vector(x, hinge[0], hinge[1], e);
    vector(x, hinge[0], hinge[2], a);
    vector(x, hinge[0], hinge[3], b);
    cross(e, a, na);
    cross(b, e, nb);
    cross(na, nb, both);
    return 2 * sin(atan2(dot(both, e) / sqrt(dot(e, e)), dot(na, nb)) / 2);
}

static void check_momenta(const pbd_scene *scene, const double *from, const double *to) {
    double linear[3] = {0}, angular[3] = {0}, size = 0, rounding = 0;
    for (size_t p = 0; p < scene->particles.count; p++) {
        double move[3], turn[3];
        for (size_t d = 0; d < 3; d++) move[d] = scene->particles.masses[p] * (to[3 * p + d] - from[3 * p + d]);
        cross(from + 3 * p, move, turn);
        for (size_t d = 0; d < 3; d++) {
            linear[d] += move[d];
            angular[d] += turn[d];
            size += fabs(move[d]);
            rounding += 2.3e-16 * scene->particles.masses[p] * fabs(from[3 * p + d]);
        }
    }
    for (int d = 0; d < 3; d++) {
        check_near("linear impulse, relative", linear[d] / size, 0, fmax(1e-12, rounding / size));
        check_near("angular impulse, relative", angular[d] / size, 0, fmax(1e-12, 2 * rounding / size));
    }
}

/* Solves a 3 x 3 system by Cramer's rule. */
static void solve3(const double m[3][3], const double r[3], double out[3]) {
    double column[3][3], minor[3];
    for (int i = 0; i < 9; i++) column[i % 3][i / 3] = m[i / 3][i % 3];
    cross(column[1], column[2], minor);
    const double det = dot(column[0], minor);
    for (int k = 0; k < 3; k++) {
        double changed[3][3];
        memcpy(changed, column, sizeof changed);
        memcpy(changed[k], r, sizeof changed[k]);
        cross(changed[1], changed[2], minor);
        out[k] = dot(changed[0], minor) / det;
    }
}

/* One projection of a triangle: (G + D^-1/(A t dt^2)) dlambda = -C, x += w grad C dlambda, with grad C by differences.
 */
static void test_stretch(void **unused) {
    (void)unused;
    const double dt = 0.01, eps = 1e-6;
    for (int soft = 0; soft < 2; soft++) {
        pbd_scene scene;
        make_element(&scene, true, 7);
        scene.material->law = "stvk";
        scene.material->E = soft ? 3e3 : 3e7;
        const pbd_material *m = scene.material;
        double c[3], gradient[3][9], g[3][3] = {{0}}, r[3], lambda[3], worst = 0, scale = 0;
        element_shape shape;
        check_ok(element_shape_of(&scene, 3, 0, &shape));
        strain(&scene, scene.particles.start, c);
        for (size_t i = 0; i < 9; i++) {
            double moved[9], up[3], down[3];
            memcpy(moved, scene.particles.start, sizeof moved);
            moved[i] = scene.particles.start[i] + eps;
            strain(&scene, moved, up);
            moved[i] = scene.particles.start[i] - eps;
            strain(&scene, moved, down);
            for (int k = 0; k < 3; k++) gradient[k][i] = (up[k] - down[k]) / (2 * eps);
        }
        for (int k = 0; k < 9; k++)
            for (int i = 0; i < 9; i++)
                g[k / 3][k % 3] += gradient[k / 3][i] * gradient[k % 3][i] / scene.particles.masses[i / 3];
        const double alpha = 1 / (m->E * shape.size * m->thickness * dt * dt);
        g[0][0] += alpha;
        g[1][1] += alpha;
        g[0][1] -= alpha * m->nu;
        g[1][0] -= alpha * m->nu;
        g[2][2] += 2 * (1 + m->nu) * alpha;
        for (int k = 0; k < 3; k++) r[k] = -c[k];
        solve3((const double(*)[3])g, r, lambda);
        double *x = march("xpbd_cloth", PBD_PRECISION_F64, 1, &scene, "iterations=1", dt, 1);
        for (size_t i = 0; i < 9; i++) {
            double wanted = 0;
            for (int k = 0; k < 3; k++) wanted += gradient[k][i] * lambda[k] / scene.particles.masses[i / 3];
            worst = fmax(worst, fabs(x[i] - scene.particles.start[i] - wanted));
            scale = fmax(scale, fabs(wanted));
        }
        check_near("a triangle's move against differences, relative", worst / scale, 0, 1e-6);
        check_momenta(&scene, scene.particles.start, x);
        free(x);
        pbd_scene_free(&scene);
    }
}

/* Two triangles that start folded by `angle`, coupled by bending alone. */
static void one_fold(double angle, double bent) {
    const double dt = 0.01, eps = 1e-6;
    pbd_scene scene;
    allocate_scene(&scene, 4, 0, 2);
    const double rest[12] = {0, 0, 0, 0.3, 1, 0.1, 0.9, 0.4, 0, -0.7, 0.5, bent};
    const uint32_t triangle[6] = {2, 1, 0, 0, 1, 3}, hinge[4] = {0, 1, 2, 3};
    memcpy(scene.particles.positions, rest, sizeof rest);
    memcpy(scene.particles.start, rest, sizeof rest);
    memcpy(scene.triangles.corner, triangle, sizeof triangle);
    for (size_t p = 0; p < 4; p++) scene.particles.masses[p] = 1 + 0.3 * (double)p;
    scene.material[0] = (pbd_material){.E = 1e-20, .nu = 0.3, .density = 1, .law = "stvk", .thickness = 1};
    scene.material->bending = 40;
    /* Corner 3 rotates about the edge from 0 to 1. */
    double axis[3], arm[3], side[3];
    vector(rest, 0, 1, axis);
    const double length = sqrt(dot(axis, axis));
    for (int d = 0; d < 3; d++) axis[d] /= length;
    vector(rest, 0, 3, arm);
    cross(axis, arm, side);
    const double along = dot(axis, arm);
    for (int d = 0; d < 3; d++)
        scene.particles.start[9 + d] = along * axis[d] + cos(angle) * (arm[d] - along * axis[d]) + sin(angle) * side[d];
    double gradient[12], q = 0, area = 0, worst = 0, scale = 0;
    for (size_t t = 0; t < 2; t++) {
        element_shape shape;
        check_ok(element_shape_of(&scene, 3, t, &shape));
        area += shape.size;
    }
    const double k = scene.material->bending * length * length / area * dt * dt;
    for (size_t i = 0; i < 12; i++) {
        double moved[12];
        memcpy(moved, scene.particles.start, sizeof moved);
        moved[i] = scene.particles.start[i] + eps;
        gradient[i] = fold(moved, hinge);
        moved[i] = scene.particles.start[i] - eps;
        gradient[i] = (gradient[i] - fold(moved, hinge)) / (2 * eps);
        q += k * gradient[i] * gradient[i] / scene.particles.masses[i / 3];
    }
    const double c = fold(scene.particles.start, hinge) - fold(rest, hinge);
    double *x = march("xpbd_cloth", PBD_PRECISION_F64, 1, &scene, "iterations=1", dt, 1);
    for (size_t i = 0; i < 12; i++) {
        const double wanted = -k * c / (1 + q) * gradient[i] / scene.particles.masses[i / 3];
        worst = fmax(worst, fabs(x[i] - scene.particles.start[i] - wanted));
        scale = fmax(scale, fabs(wanted));
    }
    char what[120];
    snprintf(what, sizeof what, "a hinge turned by %g, at rest %.3g: move against differences, relative", angle,
             fold(rest, hinge));
    check_near(what, worst / scale, 0, 1e-6);
    check_momenta(&scene, scene.particles.start, x);
    free(x);
    pbd_scene_free(&scene);
}

static void test_bending(void **unused) {
    (void)unused;
    static const double angles[] = {1e-3, -0.3, 1.2, 2.6, -2.9};
    for (size_t i = 0; i < sizeof angles / sizeof *angles; i++)
        for (int bent = 0; bent < 2; bent++) one_fold(angles[i], 0.4 * bent);
}

/* ---- Answers from outside ---------------------------------------------------------------------------------------- */

/* A strip pulled by F at its end: with nu = 0 its stretch s satisfies E t w s (s^2 - 1)/2 = F; for small F the strain
 * is F/(E t w). */
static void test_pulled_strip(void **unused) {
    (void)unused;
    static const double pulls[] = {1e-3, 0.2}; /* F/(E t w) */
    for (int k = 0; k < 2; k++) {
        pbd_scene scene;
        make_strip(&scene, 4, 2, 0.1, 1);
        const double force = pulls[k] * scene.material->E * scene.material->thickness * 0.2;
        for (size_t j = 0; j < 3; j++) scene.loads.forces[3 * (3 * 5 + j)] = force * (j == 1 ? 0.5 : 0.25);
        double s = 1 + pulls[k];
        for (int i = 0; i < 50; i++) s -= (s * (s * s - 1) / 2 - pulls[k]) / ((3 * s * s - 1) / 2);
        double *x = march("xpbd_cloth", PBD_PRECISION_F64, 1, &scene, "iterations=200 damping=60", 0.002, 400);
        check_near("extension over F l/(E A)", (x[3 * 16] - 0.4) / (0.4 * pulls[k]), (s - 1) / pulls[k], 1e-6);
        if (k == 0) check_near("the same by hand, small", (s - 1) / pulls[k], 1, 2e-3);
        free(x);
        pbd_scene_free(&scene);
    }
}

/* In a sheet rolled up along its rows of squares each hinge bends by h/r: the energy is B/2 kappa^2 times the area, to
 * second order. The first and last row of hinges have a triangle on either side too. */
static void test_rolled_sheet(void **unused) {
    (void)unused;
    double left[2];
    for (int fine = 0; fine < 2; fine++) {
        const int n = fine ? 32 : 16;
        const double h = 0.4 / n, radius = 0.1;
        pbd_scene scene;
        hinges of;
        make_strip(&scene, n, 2, h, 1);
        scene.particles.fixed = 0;
        check_ok(hinges_make(&scene, &of));
        double *x = malloc(3 * scene.particles.count * sizeof *x), energy = 0;
        for (size_t p = 0; p < scene.particles.count; p++) {
            const double angle = scene.particles.positions[3 * p] / radius;
            const double at[3] = {radius * sin(angle), scene.particles.positions[3 * p + 1], radius * cos(angle)};
            memcpy(x + 3 * p, at, sizeof at);
        }
        for (size_t k = 0; k < of.count; k++) {
            const double c = fold(x, of.corner + 4 * k);
            energy += of.stiffness[k] * c * c / 2;
        }
        left[fine] = energy / (n * h * 2 * h / (2 * radius * radius)) - 1;
        print_message("    %d pieces: energy over B/2 kappa^2 A, less 1: %.3g\n", n, left[fine]);
        free(x);
        hinges_free(&of);
        pbd_scene_free(&scene);
    }
    check_near("of a rolled sheet's energy, fine", left[1], 0, 5e-3);
    check_near("order of what is left", log2(left[0] / left[1]), 2, 0.1);
}

/* Solves the n x n system in place by elimination; the matrix is positive definite. */
static void solve_dense(double *m, double *r, size_t n) {
    for (size_t k = 0; k < n; k++)
        for (size_t i = k + 1; i < n; i++) {
            const double f = m[n * i + k] / m[n * k + k];
            for (size_t j = k; j < n; j++) m[n * i + j] -= f * m[n * k + j];
            r[i] -= f * r[k];
        }
    for (size_t k = n; k-- > 0;) {
        for (size_t j = k + 1; j < n; j++) r[k] -= m[n * k + j] * r[j];
        r[k] /= m[n * k + k];
    }
}

/* The deflection z of a flat sheet under its weight, from the linear equations of the hinge energies, with gradients by
 * differences. */
static double *flat_sag(const pbd_scene *scene) {
    const size_t n = scene->particles.count;
    double *m = calloc(n * n, sizeof *m), *r = calloc(n, sizeof *r), *x = malloc(3 * n * sizeof *x);
    hinges h;
    check_ok(hinges_make(scene, &h));
    memcpy(x, scene->particles.positions, 3 * n * sizeof *x);
    for (size_t k = 0; k < h.count; k++) {
        const uint32_t *c = h.corner + 4 * k;
        double g[4];
        for (int i = 0; i < 4; i++) {
            double *z = x + 3 * c[i] + 2;
            *z = 1e-6;
            g[i] = fold(x, c) / 1e-6;
            *z = 0;
        }
        for (int i = 0; i < 16; i++)
            m[n * c[i / 4] + c[i % 4]] += scene->material->bending * h.stiffness[k] * g[i / 4] * g[i % 4];
    }
    for (size_t p = 0; p < n; p++) r[p] = scene->particles.masses[p] * scene->loads.gravity[2];
    for (size_t k = 0; k < scene->particles.fixed; k++) {
        const size_t p = scene->particles.fixed_particle[k];
        for (size_t j = 0; j < n; j++) m[n * p + j] = m[n * j + p] = 0;
        m[n * p + p] = 1;
        r[p] = 0;
    }
    solve_dense(m, r, n);
    hinges_free(&h);
    free(m);
    free(x);
    return r;
}

/* The deflection of the end of a bent strip, relative to q l^4/(8 B). */
static double bent_strip(int n, int across, double E, double gravity, double bending, const char *words, double dt,
                         int steps, double *wanted) {
    const double length = 0.2, mass = 0.1;
    pbd_scene scene;
    make_strip(&scene, n, across, length / n, mass);
    scene.material->E = E;
    scene.material->bending = bending;
    scene.loads.gravity[2] = -gravity;
    double *x = march("xpbd_cloth", PBD_PRECISION_F64, 1, &scene, words, dt, steps), *z = flat_sag(&scene);
    const size_t end = (size_t)(across + 1) * (size_t)(n + 1) + (size_t)across / 2;
    const double by_hand = gravity * mass * pow(length, 4) / (8 * bending);
    const double sag = -x[3 * end + 2] / by_hand;
    *wanted = -z[end] / by_hand;
    free(x);
    free(z);
    pbd_scene_free(&scene);
    return sag;
}

/* Small deflections satisfy the linear equations of the hinges. They exceed Euler and Bernoulli's q l^4/(8 B), since
 * squares warp and their diagonal hinges take some of the bending. */
static void test_bent_strip(void **unused) {
    (void)unused;
    double linear;
    const double narrow = bent_strip(4, 2, 1e6, 0.0981, 0.1, "iterations=60 damping=150", 1e-3, 250, &linear);
    check_near("a little load: sag over that of the linear equations", narrow / linear, 1, 2e-4);
    check_near("4 pieces: sag over q l^4/(8 B)", narrow, 1.22, 0.03);
    const double finer = bent_strip(8, 8, 1e6, 0.0981, 0.1, "iterations=1", 1e-3, 1, &linear);
    assert_true(finer < linear);
    check_near("a wide sheet, 8 pieces, by the linear equations", linear, 1.20, 0.02);
}

/* The energy of a mesh of linear membrane elements of Saint Venant-Kirchhoff's law, J. Strains come from lengths and
 * angles of edges alone: C = F^T F in the basis of two edges at rest. */
static double membrane_energy(const pbd_scene *scene, const double *x) {
    const pbd_material *m = scene->material;
    double sum = 0;
    for (size_t t = 0; t < scene->triangles.count; t++) {
        const uint32_t *c = scene->triangles.corner + 3 * t;
        double a[3], b[3], A[3], B[3], n[3], g[4], e[4];
        vector(x, c[0], c[1], a);
        vector(x, c[0], c[2], b);
        vector(scene->particles.positions, c[0], c[1], A);
        vector(scene->particles.positions, c[0], c[2], B);
        cross(A, B, n);
        const double det = dot(n, n); /* determinant of the rest metric */
        const double low[3] = {(dot(a, a) - dot(A, A)) / 2, (dot(a, b) - dot(A, B)) / 2, (dot(b, b) - dot(B, B)) / 2};
        g[0] = dot(B, B) / det, g[1] = g[2] = -dot(A, B) / det, g[3] = dot(A, A) / det;
        /* Mixed components E^i_j: trace and square of the tensor. */
        e[0] = g[0] * low[0] + g[1] * low[1], e[1] = g[0] * low[1] + g[1] * low[2];
        e[2] = g[2] * low[0] + g[3] * low[1], e[3] = g[2] * low[1] + g[3] * low[2];
        const double trace = e[0] + e[3], square = e[0] * e[0] + 2 * e[1] * e[2] + e[3] * e[3];
        sum += sqrt(det) / 2 * m->thickness * m->E / (2 * (1 - m->nu * m->nu)) *
               (m->nu * trace * trace + (1 - m->nu) * square);
    }
    return sum;
}

/* In equilibrium the sheet solves the equations of linear finite elements: internal forces, by differences of the
 * energy above, balance the load at every free node. */
static void test_hanging_against_fem(void **unused) {
    (void)unused;
    pbd_scene scene;
    make_cloth(&scene, 1e4);
    const double gravity[3] = {5, 0.7, 0}; /* away from the held side, and a little across */
    scene.material->bending = 0;
    memcpy(scene.loads.gravity, gravity, sizeof gravity);
    for (size_t p = 0; p < scene.particles.count; p++) scene.particles.masses[p] = 0.02;
    double *x = march("xpbd_cloth", PBD_PRECISION_F64, 1, &scene, "iterations=30 damping=10", 0.004, 700);
    bool held[CLOTH_PARTICLES] = {false};
    double worst = 0, sag = 0;
    for (size_t k = 0; k < scene.particles.fixed; k++) held[scene.particles.fixed_particle[k]] = true;
    for (size_t i = 0; i < 3 * scene.particles.count; i++) {
        if (held[i / 3]) continue;
        const double eps = 1e-6, was = x[i];
        x[i] = was + eps;
        const double up = membrane_energy(&scene, x);
        x[i] = was - eps;
        const double force = -(up - membrane_energy(&scene, x)) / (2 * eps);
        x[i] = was;
        worst = fmax(worst, fabs(force + scene.particles.masses[i / 3] * gravity[i % 3]));
        sag = fmax(sag, fabs(x[i] - scene.particles.positions[i]));
    }
    check_near("hanging sheet: what FEM's equations leave, of a node's weight", worst / (0.02 * 5), 0, 1e-5);
    assert_true(sag > 0.01);
    free(x);
    pbd_scene_free(&scene);
}

/* ---- What must not matter ---------------------------------------------------------------------------------------- */

static const char *const plain = "iterations=8";

static double *march_cloth(pbd_precision precision, int threads, int backend, int steps) {
    pbd_scene scene;
    make_cloth(&scene, 1e4);
    double *x = march_on(backend, "xpbd_cloth", precision, threads, &scene, plain, 0.005, steps);
    pbd_scene_free(&scene);
    return x;
}

static void test_machine(void **unused) {
    (void)unused;
    static const double limit[] = {1e-5, 1e-13};
    double *wide = march_cloth(PBD_PRECISION_F64, 1, PBD_CPU, 10);
    for (int precision = 0; precision < 2; precision++) {
        double *one = march_cloth((pbd_precision)precision, 1, PBD_CPU, 10);
        for (int threads = 3; threads < 9; threads += 5) {
            double *more = march_cloth((pbd_precision)precision, threads, PBD_CPU, 10);
            expect_same_bits("threads", one, more, CLOTH_PARTICLES);
            free(more);
        }
        check_near("f64 and this, m", largest_difference(one, wide, CLOTH_PARTICLES), 0, precision ? 0 : 1e-3);
        free(one);
    }
    for (int precision = 0; precision < EMULATED_PRECISIONS; precision++) {
        double *cpu = march_cloth((pbd_precision)precision, 1, PBD_CPU, EMULATED_STEPS);
        double *emu = march_cloth((pbd_precision)precision, 1, PBD_EMU, EMULATED_STEPS);
        check_near("emu against cpu, m", largest_difference(cpu, emu, CLOTH_PARTICLES), 0, limit[precision]);
        free(cpu);
        free(emu);
    }
    free(wide);
}

/* The sheet and its load rotated; and in centimetres: lengths and gravity x 100, E / 100, B x 1e4 (kg cm^2/s^2). */
static void test_frame_and_units(void **unused) {
    (void)unused;
    double *x[3];
    for (int k = 0; k < 3; k++) {
        pbd_scene scene;
        make_cloth(&scene, 1e4);
        if (k == 1) {
            turn_rows(scene.loads.gravity, 1);
            turn_rows(scene.particles.positions, scene.particles.count);
        }
        if (k == 2) {
            for (size_t i = 0; i < 3 * scene.particles.count; i++) scene.particles.positions[i] *= 100;
            for (int d = 0; d < 3; d++) scene.loads.gravity[d] *= 100;
            scene.material->E /= 100;
            scene.material->thickness *= 100;
            scene.material->bending *= 1e4;
        }
        x[k] = march("xpbd_cloth", PBD_PRECISION_F64, 1, &scene, plain, 0.005, 30);
        pbd_scene_free(&scene);
    }
    turn_rows(x[0], CLOTH_PARTICLES);
    check_near("turned, m", largest_difference(x[0], x[1], CLOTH_PARTICLES), 0, 1e-10);
    free(x[0]);
    x[0] = march_cloth(PBD_PRECISION_F64, 1, PBD_CPU, 30);
    for (size_t i = 0; i < 3 * CLOTH_PARTICLES; i++) x[2][i] /= 100;
    check_near("in centimetres, m", largest_difference(x[0], x[2], CLOTH_PARTICLES), 0, 1e-10);
    for (int k = 0; k < 3; k++) free(x[k]);
}

/* Halving the step halves the error; once converged, the stiffness does not depend on the number of iterations. */
static void test_order_and_iterations(void **unused) {
    (void)unused;
    double *x[4];
    pbd_scene scene;
    make_cloth(&scene, 2e4);
    for (int k = 0; k < 4; k++)
        x[k] = march("xpbd_cloth", PBD_PRECISION_F64, 1, &scene, "iterations=30", 4e-4 / (1 << k), 50 << k);
    const double first = largest_difference(x[1], x[2], scene.particles.count);
    check_near("order in time: log2 of the ratio", log2(first / largest_difference(x[2], x[3], scene.particles.count)),
               1, 0.15);
    double *few = march("xpbd_cloth", PBD_PRECISION_F64, 1, &scene, "iterations=15", 4e-4, 50);
    double *many = march("xpbd_cloth", PBD_PRECISION_F64, 1, &scene, "iterations=120", 4e-4, 50);
    const double moved = largest_difference(many, scene.particles.positions, scene.particles.count);
    check_near("15 against 120 iterations, of the motion", largest_difference(few, many, scene.particles.count) / moved,
               0, 1e-3);
    for (int k = 0; k < 4; k++) free(x[k]);
    free(few);
    free(many);
    pbd_scene_free(&scene);
}

/* A step from a saved state is bitwise the same step. */
static void test_save(void **unused) {
    (void)unused;
    pbd_scene scene;
    solver s;
    size_t bytes = 0;
    make_cloth(&scene, 1e4);
    solver_open(&s, "xpbd_cloth", PBD_PRECISION_F32, 1, &scene, plain);
    for (int i = 0; i < 3; i++) check_ok(s.method->step(s.state, 0.005));
    check_ok(s.method->save(s.state, NULL, &bytes));
    char *blob = malloc(bytes);
    check_ok(s.method->save(s.state, blob, &bytes));
    check_ok(s.method->step(s.state, 0.005));
    double *first = positions_of(&s, scene.particles.count);
    check_ok(s.method->load(s.state, blob, bytes));
    check_ok(s.method->step(s.state, 0.005));
    double *again = positions_of(&s, scene.particles.count);
    expect_same_bits("from a saved state", first, again, scene.particles.count);
    assert_int_equal(s.method->load(s.state, blob, bytes - 1).code, PBD_BAD_INPUT);
    free(first);
    free(again);
    free(blob);
    solver_close(&s);
    pbd_scene_free(&scene);
}

/* ---- Bad input and parts of scenes ------------------------------------------------------------------------------- */

static void test_refused(void **unused) {
    (void)unused;
    pbd_scene scene;
    make_cloth(&scene, 1e4);
    scene.material->law = "neo_hookean";
    expect_refused("xpbd_cloth", &scene, "", PBD_NOT_SUPPORTED, "material=stvk");
    scene.material->law = "stvk";
    uint8_t *matter = calloc(scene.particles.count, 1);
    memset(matter, PBD_CLOTH, scene.particles.count);
    matter[5] = PBD_CONTINUUM;
    scene.particles.material = matter; /* each at the index of its matter */
    scene.materials = 3;
    scene.material[PBD_CLOTH] = scene.material[0];
    scene.material[PBD_CLOTH].matter = PBD_CLOTH;
    expect_refused("xpbd_cloth", &scene, "", PBD_NOT_SUPPORTED, "particle 5 of the scene is of a continuum");
    scene.particles.material = NULL;
    const uint32_t third[3] = {scene.triangles.corner[0], scene.triangles.corner[1], 30};
    memcpy(scene.triangles.corner + 3 * (scene.triangles.count - 1), third, sizeof third);
    const uint32_t fourth[3] = {scene.triangles.corner[0], scene.triangles.corner[1], 31};
    memcpy(scene.triangles.corner + 3 * (scene.triangles.count - 2), fourth, sizeof fourth);
    const uint32_t fifth[3] = {scene.triangles.corner[0], scene.triangles.corner[1], 32};
    memcpy(scene.triangles.corner + 3 * (scene.triangles.count - 3), fifth, sizeof fifth);
    expect_refused("xpbd_cloth", &scene, "", PBD_BAD_INPUT, "more than two triangles share the edge");
    scene.triangles.count = 0;
    expect_refused("xpbd_cloth", &scene, "", PBD_BAD_INPUT, "no triangles");
    free(matter);
    pbd_scene_free(&scene);
}

static void test_parts(void **unused) {
    (void)unused;
    double rows[15], mass[5] = {1, 2, 3, 4, 5};
    uint8_t matter[5] = {PBD_CONTINUUM, PBD_CLOTH, PBD_FLUID, PBD_CLOTH, PBD_CLOTH};
    uint32_t triangle[3] = {1, 3, 4}, fixed[2] = {0, 3};
    for (int i = 0; i < 15; i++) rows[i] = i;
    pbd_scene scene = {.particles.count = 5,
                       .particles.positions = rows,
                       .particles.masses = mass,
                       .particles.material = matter,
                       .triangles.count = 1,
                       .triangles.corner = triangle,
                       .particles.fixed = 2,
                       .particles.fixed_particle = fixed,
                       .materials = 3,
                       .material = {{.E = 1}, {.matter = PBD_FLUID}, {.matter = PBD_CLOTH, .E = 7}}};
    scene_part part;
    check_ok(scene_part_of(&scene, 1u << PBD_CLOTH, &part));
    assert_int_equal(part.scene.particles.count, 3);
    assert_int_equal(part.number[1], 3);
    assert_int_equal(part.scene.triangles.corner[2], 2);
    assert_int_equal(part.scene.particles.fixed, 1);
    assert_int_equal(part.scene.particles.fixed_particle[0], 1);
    check_near("its second particle's z, m", part.scene.particles.positions[5], 11, 0);
    check_near("its material's E, Pa", part.scene.material->E, 7, 0);
    scene_part_free(&part);
    check_ok(scene_part_of(&scene, 1u << PBD_CONTINUUM | 1u << PBD_FLUID, &part));
    assert_int_equal(part.scene.particles.count, 2);
    assert_int_equal(part.scene.triangles.count, 0);
    assert_int_equal(pbd_matter_of(&part.scene, 1), PBD_FLUID);
    check_near("the other part's last mass, kg", part.scene.particles.masses[1], 3, 0);
    check_near("the other part's E, Pa", part.scene.material->E, 1, 0);
    scene_part_free(&part);
    matter[3] = PBD_FLUID;
    const pbd_status status = scene_part_of(&scene, 1u << PBD_CLOTH, &part);
    assert_int_equal(status.code, PBD_BAD_INPUT);
    if (!strstr(status.text, "triangle 0 has the corner 3")) fail_msg("%s", status.text);
    scene_part_free(&part);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stretch),
        cmocka_unit_test(test_bending),
        cmocka_unit_test(test_pulled_strip),
        cmocka_unit_test(test_rolled_sheet),
        cmocka_unit_test(test_bent_strip),
        cmocka_unit_test(test_hanging_against_fem),
        cmocka_unit_test(test_machine),
        cmocka_unit_test(test_frame_and_units),
        cmocka_unit_test(test_order_and_iterations),
        cmocka_unit_test(test_save),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
