/* vbd on the ladder: the step of one vertex against differences of G, its minimum against finite elements, descent,
 * rest, momenta, units, orders, acceleration, damping, precision, threads, backends, bad input. Mutants of its kernels
 * (tests/mutants.cmake) must fail here. */
#define REAL double
#include "methods/physics/matter/law_material.h"
#include "methods/vbd/vbd_mesh.h"
#include "tests/element_ladder.h"
#include "tests/sanitized.h"

/* ---- G, by the plain law in f64 (test_materials holds it to hand-made numbers) --------------------------------------
 */

static double elastic_energy(const pbd_scene *scene, const double *x) {
    double sum = 0;
    for (size_t e = 0; e < scene->tets.count; e++) {
        element_shape shape;
        double f[3][3] = {{0}};
        const uint32_t *c = scene->tets.corner + 4 * e;
        check_ok(element_shape_of(scene, 4, e, &shape));
        for (int column = 0; column < 3; column++)
            for (int k = 0; k < 3; k++)
                for (uint32_t i = 0; i < 3; i++)
                    f[column][i] += (x[3 * c[k] + i] - x[3 * c[3] + i]) * shape.inverse[3 * column + k];
        const mat3 F = mat3_make(vec3_make(f[0][0], f[0][1], f[0][2]), vec3_make(f[1][0], f[1][1], f[1][2]),
                                 vec3_make(f[2][0], f[2][1], f[2][2]));
        sum += shape.size * stress(law_plain(pbd_cell_material(scene, &scene->tets, e)), F).psi;
    }
    return sum;
}

/* The minimum of the inertia term, particles x 3, to be freed. */
static double *inertial(const pbd_scene *scene, double dt) {
    const double *start = scene->particles.start ? scene->particles.start : scene->particles.positions;
    double *y = malloc(3 * scene->particles.count * sizeof *y);
    for (size_t i = 0; i < 3 * scene->particles.count; i++) {
        const double v = scene->particles.velocities ? scene->particles.velocities[i] : 0;
        const double f = scene->loads.forces ? scene->loads.forces[i] / scene->particles.masses[i / 3] : 0;
        y[i] = start[i] + dt * v + dt * dt * (scene->loads.gravity[i % 3] + f);
    }
    return y;
}

static double step_function(const pbd_scene *scene, const double *y, double dt, const double *x) {
    double sum = elastic_energy(scene, x);
    for (size_t i = 0; i < 3 * scene->particles.count; i++)
        sum += scene->particles.masses[i / 3] * (x[i] - y[i]) * (x[i] - y[i]) / (2 * dt * dt);
    for (size_t k = 0; k < scene->particles.fixed; k++)
        for (size_t d = 0; d < 3; d++) {
            const size_t i = 3 * scene->particles.fixed_particle[k] + d;
            sum -= scene->particles.masses[i / 3] * (x[i] - y[i]) * (x[i] - y[i]) / (2 * dt * dt);
        }
    return sum;
}

/* ---- One vertex -------------------------------------------------------------------------------------------------- */

static void solve3(double a[3][3], double b[3]) {
    for (int k = 0; k < 3; k++)
        for (int i = k + 1; i < 3; i++) {
            const double f = a[i][k] / a[k][k];
            for (int j = k; j < 3; j++) a[i][j] -= f * a[k][j];
            b[i] -= f * b[k];
        }
    for (int k = 2; k >= 0; k--) {
        for (int j = k + 1; j < 3; j++) b[k] -= a[k][j] * b[j];
        b[k] /= a[k][k];
    }
}

/* Newton's step of corner 3, by differences of G in its three coordinates. */
static void newton_step(const pbd_scene *scene, const double *y, double dt, double *x, double step[3]) {
    const double eps = 1e-4, middle = step_function(scene, y, dt, x);
    double h[3][3], up[3], down[3];
    for (int a = 0; a < 3; a++)
        for (int sign = -1; sign <= 1; sign += 2) {
            const double kept = x[9 + a];
            x[9 + a] = kept + sign * eps;
            (sign > 0 ? up : down)[a] = step_function(scene, y, dt, x);
            x[9 + a] = kept;
        }
    for (int a = 0; a < 3; a++) {
        step[a] = -(up[a] - down[a]) / (2 * eps);
        h[a][a] = (up[a] - 2 * middle + down[a]) / (eps * eps);
        for (int b = 0; b < a; b++) {
            double corner[2];
            for (int sign = 0; sign < 2; sign++) {
                const double ka = x[9 + a], kb = x[9 + b], off = sign ? eps : -eps;
                x[9 + a] = ka + off, x[9 + b] = kb + off;
                corner[sign] = step_function(scene, y, dt, x);
                x[9 + a] = ka, x[9 + b] = kb;
            }
            h[a][b] = h[b][a] =
                (corner[0] + corner[1] - up[a] - down[a] - up[b] - down[b] + 2 * middle) / (2 * eps * eps);
        }
    }
    solve3(h, step);
}

/* A tetrahedron with three corners held: the step of the fourth in one sweep, to the error of second differences. */
static void test_one_vertex(void **unused) {
    (void)unused;
    static const double dt = 0.02;
    for (int law = 0; law < LAW_KINDS; law++) {
        pbd_scene scene;
        uint32_t held[3] = {0, 1, 2};
        make_element(&scene, false, 7);
        scene.material->law = law_names[law];
        scene.particles.fixed = 3;
        scene.particles.fixed_particle = held;
        scene.loads.gravity[2] = -9.81;
        for (int i = 0; i < 12; i++) scene.loads.forces[i] = 3 * (i % 4) - 2;
        double *y = inertial(&scene, dt), at[12], wanted[3], size = 0, worst = 0;
        memcpy(at, scene.particles.start, sizeof at);
        newton_step(&scene, y, dt, at, wanted);
        double *x = march("vbd", PBD_PRECISION_F64, 1, &scene, "iterations=1 guess=previous", dt, 1);
        for (int d = 0; d < 3; d++) size = fmax(size, fabs(wanted[d]));
        for (int d = 0; d < 3; d++) worst = fmax(worst, fabs(x[9 + d] - at[9 + d] - wanted[d]));
        check_near(law_names[law], worst / size, 0, 1e-6);
        free(x);
        free(y);
        scene.particles.fixed_particle = NULL;
        pbd_scene_free(&scene);
    }
}

/* ---- The minimum of a step --------------------------------------------------------------------------------------- */

/* The largest derivative of G, by differences, divided by that at the start. */
static double gradient_left(const pbd_scene *scene, double dt, double *x) {
    double worst = 0, first = 0, *y = inertial(scene, dt);
    bool *held = calloc(scene->particles.count, sizeof *held);
    for (size_t k = 0; k < scene->particles.fixed; k++) held[scene->particles.fixed_particle[k]] = true;
    double *start = malloc(3 * scene->particles.count * sizeof *start);
    memcpy(start, scene->particles.positions, 3 * scene->particles.count * sizeof *start);
    for (int now = 0; now < 2; now++) {
        double *at = now ? x : start, most = 0;
        for (size_t i = 0; i < 3 * scene->particles.count; i++) {
            if (held[i / 3]) continue;
            const double eps = 1e-5, kept = at[i];
            at[i] = kept + eps;
            const double up = step_function(scene, y, dt, at);
            at[i] = kept - eps;
            most = fmax(most, fabs(up - step_function(scene, y, dt, at)) / (2 * eps));
            at[i] = kept;
        }
        *(now ? &worst : &first) = most;
    }
    free(start);
    free(held);
    free(y);
    return worst / first;
}

static void test_minimum_of_a_step(void **unused) {
    (void)unused;
    static const char *const words[] = {"guess=adaptive", "guess=inertia order=reversed", "order=shuffled",
                                        "order=symmetric acceleration=chebyshev", "acceleration=anderson"};
    for (int law = 0; law < LAW_KINDS; law++)
        for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
            pbd_scene scene;
            char text[200];
            make_moving(&scene, law_names[law], 0.35);
            snprintf(text, sizeof text, "iterations=400 %s", words[k]);
            double *x = march("vbd", PBD_PRECISION_F64, 1, &scene, text, 0.02, 1);
            snprintf(text, sizeof text, "%s, %s: gradient of G, relative", law_names[law], words[k]);
            check_near(text, gradient_left(&scene, 0.02, x), 0, 1e-6);
            free(x);
            pbd_scene_free(&scene);
        }
}

/* With a step so long that inertia is negligible, the result is that of static finite elements on the same mesh. With
 * lame=raw the material has the Lame parameters (lambda - mu, mu). */
static void test_minimum_is_that_of_finite_elements(void **unused) {
    (void)unused;
    for (int raw = 0; raw < 2; raw++)
        for (int law = 0; law < LAW_KINDS; law++) {
            if (raw && law != LAW_macklin_neo_hookean) continue;
            pbd_scene scene;
            make_mesh(&scene, false, 1e4);
            memset(scene.loads.gravity, 0, sizeof scene.loads.gravity);
            scene.material->law = law_names[law];
            scene.material->nu = 0.4;
            for (size_t i = 0; i < scene.particles.count; i++) scene.loads.forces[3 * i + 2] = -0.1;
            double *x = march("vbd", PBD_PRECISION_F64, 1, &scene,
                              raw ? "iterations=600 guess=previous acceleration=anderson lame=raw"
                                  : "iterations=600 guess=previous acceleration=anderson",
                              1e5, 1);
            const double mu = 1e4 / (2 * 1.4), lambda = 1e4 * 0.4 / (1.4 * 0.2), nu = (lambda - mu) / (2 * lambda);
            if (raw) scene.material->E = 2 * mu * (1 + nu), scene.material->nu = nu;
            scene.solved = true;
            solver s;
            solver_open(&s, "fem_implicit", PBD_PRECISION_F64, 1, &scene, "element=tet4 newton_tolerance=0");
            check_ok(s.method->solve(s.state));
            double *wanted = positions_of(&s, scene.particles.count), size = 0;
            size = largest_difference(wanted, scene.particles.positions, scene.particles.count);
            char what[100];
            snprintf(what, sizeof what, "%s%s: minimum against finite elements, relative", law_names[law],
                     raw ? ", raw" : "");
            check_near(what, largest_difference(x, wanted, scene.particles.count) / size, 0, 1e-9);
            solver_close(&s);
            free(wanted);
            free(x);
            pbd_scene_free(&scene);
        }
}

/* The stage of each free vertex, from 1 on; 0: held. */
static void stages_of(const vbd_tables *t, size_t *stage) {
    for (size_t s = 0; s < t->stages; s++)
        for (size_t k = 0; k < t->stage_count[s]; k++) stage[t->own[t->stage_first[s] + k]] = s + 1;
}

/* Vertices of a tetrahedron move in the order of their colours, with slabs too. */
static void test_slabs_keep_the_order(void **unused) {
    (void)unused;
    enum { MOST = 11 * 5 * 5 };
    pbd_scene scene;
    size_t stage[2][MOST] = {{0}};
    make_cubes(&scene, (const int[3]){10, 4, 4}, 1e4);
    for (int cut = 0; cut < 2; cut++) {
        pbd_arena a PBD_ARENA;
        vbd_tables t;
        check_ok(vbd_tables_make(&scene, 16, cut ? 40 : 0, &a, &t));
        assert_int_equal(t.vertices, scene.particles.count - scene.particles.fixed);
        assert_true(cut ? t.stages > 3 * (size_t)t.colours : t.stages == (size_t)t.colours);
        stages_of(&t, stage[cut]);
    }
    for (size_t e = 0; e < scene.tets.count; e++)
        for (size_t i = 0; i < 4; i++)
            for (size_t j = 0; j < 4; j++) {
                const uint32_t p = scene.tets.corner[4 * e + i], q = scene.tets.corner[4 * e + j];
                if (stage[0][p] == 0 || stage[0][q] == 0) continue;
                assert_int_equal(stage[0][p] < stage[0][q], stage[1][p] < stage[1][q]);
            }
    pbd_scene_free(&scene);
}

/* G after k sweeps from the same start never rises with k, except with unguarded acceleration. */
static void test_descent(void **unused) {
    (void)unused;
    static const char *const words[] = {"acceleration=none", "order=reversed", "acceleration=chebyshev",
                                        "acceleration=anderson"};
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        for (int law = 0; law < LAW_KINDS; law++) {
            pbd_scene scene;
            make_moving(&scene, law_names[law], 0.45);
            double *y = inertial(&scene, 0.02), before = INFINITY, rise = 0;
            for (int k = 1; k <= 25; k++) {
                char text[100];
                snprintf(text, sizeof text, "iterations=%d guess=inertia %s", k, words[w]);
                double *x = march("vbd", PBD_PRECISION_F64, 1, &scene, text, 0.02, 1);
                const double g = step_function(&scene, y, 0.02, x);
                rise = fmax(rise, (g - before) / fabs(g));
                before = g;
                free(x);
            }
            char what[100];
            snprintf(what, sizeof what, "%s %s: largest relative rise of G", words[w], law_names[law]);
            check_near(what, fmax(rise, 0), 0, 1e-13);
            free(y);
            pbd_scene_free(&scene);
        }
}

/* A stiff bar strained at its clamp: acceleration must be judged by all of G, including elements at held corners. */
static void test_descent_at_a_clamp(void **unused) {
    (void)unused;
    static const char *const laws[] = {"macklin_neo_hookean", "stvk"};
    for (int law = 0; law < 2; law++) {
        pbd_scene scene;
        make_cubes(&scene, (const int[3]){12, 2, 2}, 1e7);
        scene.material->law = laws[law];
        scene.loads.gravity[2] = -9.81;
        double *y = inertial(&scene, 0.03), before = INFINITY, rise = 0;
        for (int k = 1; k <= 60; k++) {
            char text[60];
            snprintf(text, sizeof text, "iterations=%d guess=previous acceleration=anderson", k);
            double *x = march("vbd", PBD_PRECISION_F64, 1, &scene, text, 0.03, 1);
            const double g = step_function(&scene, y, 0.03, x);
            rise = fmax(rise, (g - before) / fabs(g));
            before = g;
            free(x);
        }
        check_near("at a clamp: largest relative rise of G", fmax(rise, 0), 0, 1e-13);
        free(y);
        pbd_scene_free(&scene);
    }
}

/* ---- Rest, free fall, momentum ----------------------------------------------------------------------------------- */

/* A body that starts at its equilibrium stays there with any number of sweeps, but not with guess=inertia. */
static void test_rest_is_a_fixed_point(void **unused) {
    (void)unused;
    pbd_scene scene;
    make_mesh(&scene, false, 1e4);
    scene.material->law = "macklin_neo_hookean";
    memset(scene.loads.gravity, 0, sizeof scene.loads.gravity);
    for (size_t i = 0; i < scene.particles.count; i++) scene.loads.forces[3 * i + 2] = -0.5;
    scene.solved = true;
    solver s;
    solver_open(&s, "fem_implicit", PBD_PRECISION_F64, 1, &scene, "element=tet4 newton_tolerance=0");
    check_ok(s.method->solve(s.state));
    scene.particles.start = positions_of(&s, scene.particles.count);
    solver_close(&s);
    scene.solved = false;
    const double sag = largest_difference(scene.particles.start, scene.particles.positions, scene.particles.count);
    static const char *const words[] = {"guess=adaptive", "guess=velocity", "guess=previous", "guess=inertia"};
    for (int g = 0; g < 4; g++)
        for (int k = 1; k <= 5; k += 2) {
            char text[60];
            snprintf(text, sizeof text, "iterations=%d %s", k, words[g]);
            double *x = march("vbd", PBD_PRECISION_F64, 1, &scene, text, 0.02, 10);
            const double moved = largest_difference(x, scene.particles.start, scene.particles.count) / sag;
            if (g < 3) check_near(text, moved, 0, 1e-9);
            if (g == 3 && !(moved > 0.01)) fail_msg("%s: moves by %g of the sag only", text, moved);
            free(x);
        }
    pbd_scene_free(&scene);
}

static void make_free(pbd_scene *scene) {
    make_mesh(scene, false, 1e4);
    scene->particles.fixed = 0;
    scene->material->law = "macklin_neo_hookean";
    scene->particles.velocities = calloc(3 * scene->particles.count, sizeof(double));
}

/* Momentum of a step, kg m/s, and the sum of magnitudes. */
static void momentum(const pbd_scene *scene, const double *x, double dt, double p[3], double *size) {
    p[0] = p[1] = p[2] = *size = 0;
    for (size_t i = 0; i < 3 * scene->particles.count; i++) {
        const double one = scene->particles.masses[i / 3] * (x[i] - scene->particles.positions[i]) / dt;
        p[i % 3] += one;
        *size += fabs(one);
    }
}

/* Before convergence internal forces do not cancel, and momentum drifts; with converged sweeps it is conserved. */
static void test_momentum_by_sweeps(void **unused) {
    (void)unused;
    pbd_scene scene;
    make_free(&scene);
    memset(scene.loads.gravity, 0, sizeof scene.loads.gravity);
    for (size_t i = 0; i < scene.particles.count; i++) { /* stretches along x */
        scene.particles.velocities[3 * i] = 3 * scene.particles.positions[3 * i];
        scene.particles.velocities[3 * i + 1] = 0.5;
    }
    double drift[3], start[3] = {0}, size;
    for (size_t i = 0; i < 3 * scene.particles.count; i++)
        start[i % 3] += scene.particles.masses[i / 3] * scene.particles.velocities[i];
    static const char *const words[] = {"iterations=1", "iterations=10", "iterations=1000"};
    for (int k = 0; k < 3; k++) {
        double p[3], *x = march("vbd", PBD_PRECISION_F64, 1, &scene, words[k], 0.02, 1);
        momentum(&scene, x, 0.02, p, &size);
        drift[k] = 0;
        for (int d = 0; d < 3; d++) drift[k] = fmax(drift[k], fabs(p[d] - start[d]) / size);
        print_message("    %s: momentum drifts by %.2g of its size\n", words[k], drift[k]);
        free(x);
    }
    if (!(drift[0] > 1e-4)) fail_msg("one sweep: a drift of %g, which cannot be", drift[0]);
    check_near("1000 sweeps: drift", drift[2], 0, 1e-12);
    pbd_scene_free(&scene);
}

/* A body in free fall: damping of elements does not affect the fall; damping of blocks, as published, slows it. */
static void test_damping_in_free_fall(void **unused) {
    (void)unused;
    pbd_scene scene;
    make_free(&scene);
    static const char *const words[] = {"stiffness_damping=0.05", "stiffness_damping=0.05 damping_form=block"};
    const double dt = 0.01;
    double fall[2];
    for (int form = 0; form < 2; form++) {
        char text[120];
        snprintf(text, sizeof text, "iterations=500 guess=inertia %s", words[form]);
        double p[3], size, mass = 0, *x = march("vbd", PBD_PRECISION_F64, 1, &scene, text, dt, 1);
        momentum(&scene, x, dt, p, &size);
        for (size_t i = 0; i < scene.particles.count; i++) mass += scene.particles.masses[i];
        fall[form] = p[2] / (mass * scene.loads.gravity[2] * dt);
        free(x);
    }
    check_near("element: velocity over that of free fall", fall[0], 1, 1e-10);
    if (!(fall[1] < 0.9)) fail_msg("block: falls at %g of the velocity", fall[1]);
    pbd_scene_free(&scene);
}

/* Stretching a damped body takes an additional force; energy decreases faster than without damping. */
static void test_damping_damps(void **unused) {
    (void)unused;
    double left[3];
    static const char *const words[] = {"stiffness_damping=0", "stiffness_damping=0.01",
                                        "stiffness_damping=0.01 damping_form=block"};
    for (int k = 0; k < 3; k++) {
        pbd_scene scene;
        make_moving(&scene, "macklin_neo_hookean", 0.3);
        memset(scene.loads.gravity, 0, sizeof scene.loads.gravity);
        char text[120];
        snprintf(text, sizeof text, "iterations=200 %s", words[k]);
        double *x = march("vbd", PBD_PRECISION_F64, 1, &scene, text, 1e-3, 20);
        left[k] = elastic_energy(&scene, x);
        free(x);
        pbd_scene_free(&scene);
    }
    for (int k = 1; k < 3; k++)
        if (!(left[k] < 0.5 * left[0])) fail_msg("%s leaves %g J of %g", words[k], left[k], left[0]);
}

/* Flat and inverted, with a law that is undefined there: with a join the body recovers, and G never rises. */
static void test_inverted_elements(void **unused) {
    (void)unused;
    static const char *const words[] = {"join=continuous", "join=shifted"};
    for (int w = 0; w < 2; w++) {
        pbd_scene scene;
        make_mesh(&scene, false, 1e4);
        scene.particles.fixed = 0;
        memset(scene.loads.gravity, 0, sizeof scene.loads.gravity);
        const size_t n = 3 * scene.particles.count;
        scene.particles.start = malloc(n * sizeof(double));
        for (size_t i = 0; i < n; i++)
            scene.particles.start[i] = scene.particles.positions[i] * (i % 3 == 2 ? -0.5 : 1);
        char text[100];
        snprintf(text, sizeof text, "iterations=20 %s damping=20", words[w]);
        double *x = march("vbd", PBD_PRECISION_F64, 1, &scene, text, 0.01, 200);
        scene.material->law = "neo_hookean";
        check_near(words[w], elastic_energy(&scene, x), 0, 1e-6); /* J; a NaN fails */
        free(x);
        pbd_scene_free(&scene);
    }
}

/* ---- Units, materials, orders ------------------------------------------------------------------------------------ */

static void test_scaled_matter(void **unused) {
    (void)unused;
    for (int law = 0; law < LAW_KINDS; law++) expect_scale_does_not_matter("vbd", "iterations=5", law_names[law]);
}

static void test_units_do_not_matter(void **unused) {
    (void)unused;
    expect_units_do_not_matter("vbd", "iterations=5");
}

/* Two identical materials act as one, with either kind of block. */
static void test_equal_materials_are_one(void **unused) {
    (void)unused;
    for (int law = 0; law < LAW_KINDS; law++) {
        pbd_scene scene;
        make_moving(&scene, law_names[law], 0.35);
        double *one = march("vbd", PBD_PRECISION_F64, 1, &scene, "iterations=5", 0.02, 3);
        scene.material[1] = scene.material[0];
        scene.materials = 2;
        scene.tets.material = calloc(scene.tets.count + 1, 1);
        for (size_t t = 0; t < scene.tets.count; t++) scene.tets.material[t] = t % 2;
        double *two = march("vbd", PBD_PRECISION_F64, 1, &scene, "iterations=5", 0.02, 3);
        check_near(law_names[law], largest_difference(one, two, scene.particles.count), 0, 1e-14);
        scene.material[1].E *= 4;
        double *stiff = march("vbd", PBD_PRECISION_F64, 1, &scene, "iterations=400", 0.02, 1);
        check_near("two materials: gradient of G, relative", gradient_left(&scene, 0.02, stiff), 0, 1e-6);
        free(stiff);
        free(one);
        free(two);
        pbd_scene_free(&scene);
    }
}

static double left_after(const char *words) {
    pbd_scene scene;
    make_moving(&scene, "macklin_neo_hookean", 0.45);
    double *x = march("vbd", PBD_PRECISION_F64, 1, &scene, words, 0.05, 1);
    const double left = gradient_left(&scene, 0.05, x);
    print_message("    %s: %.2g of the gradient is left\n", words, left);
    free(x);
    pbd_scene_free(&scene);
    return left;
}

/* The spectral radius of a pair of symmetric sweeps is the asymptotic ratio of their residuals. With it the error after
 * 60 sweeps is less than a third of that of plain sweeps. The ratio of three sweeps is too low and helps less. */
static void test_acceleration_is_faster(void **unused) {
    (void)unused;
    const double plain = left_after("iterations=60 order=symmetric");
    const double radius = pow(plain / left_after("iterations=40 order=symmetric"), 0.1);
    char words[120];
    snprintf(words, sizeof words, "iterations=60 order=symmetric acceleration=chebyshev spectral_radius=%.4f", radius);
    if (!(left_after(words) < 0.33 * plain)) fail_msg("%s is not faster", words);
    if (!(left_after("iterations=60 order=symmetric acceleration=chebyshev") < plain)) fail_msg("measured: not faster");
    if (!(left_after("iterations=60 acceleration=anderson") < 0.33 * plain)) fail_msg("anderson is not faster");
}

/* ---- What all solvers of elements share -------------------------------------------------------------------------- */

/* Accelerated variants end before convergence. Once a combination changes G only by rounding, it may be accepted or
 * not, and backends differ by 1e-12 m. */
static const char *const variants[] = {"iterations=4",
                                       "iterations=4 order=symmetric",
                                       "iterations=4 stiffness_damping=1e-3",
                                       "iterations=4 damping_form=block stiffness_damping=1e-3",
                                       "iterations=3 acceleration=anderson",
                                       "iterations=4 acceleration=chebyshev"};
enum { VARIANTS = sizeof variants / sizeof *variants };
static const pbd_material matters[] = {{.E = 1e4, .nu = 0.3, .density = 100, .law = "macklin_neo_hookean"},
                                       {.E = 1e4, .nu = 0.3, .density = 100, .law = "neo_hookean"}};

static void test_rotation(void **unused) {
    (void)unused;
    for (int at_rest = 0; at_rest < 2; at_rest++) expect_rotation_invariance("vbd", "iterations=4", at_rest);
}
static void test_threads(void **unused) {
    (void)unused;
    expect_same_on_threads("vbd", "iterations=4", false);
    expect_same_on_threads("vbd", "iterations=8 acceleration=anderson", false);
}
static void test_precisions(void **unused) {
    (void)unused;
    expect_precisions_agree("vbd", "iterations=4", false, 2e-5);
    expect_precisions_agree("vbd", "iterations=8 order=symmetric", false, 2e-5);
}
static void test_backends(void **unused) {
    (void)unused;
    for (int v = 0; v < VARIANTS; v++)
        for (int m = 0; m < 2; m++)
            if (m == 0 || !strstr(variants[v], "stiffness_damping") || strstr(variants[v], "block"))
                expect_backends_agree_with("vbd", variants[v], false, &matters[m]);
}
static void test_order_in_time(void **unused) {
    (void)unused;
    skip_if_sanitized();
    expect_first_order("vbd", "iterations=60");
}

static void test_bad_input(void **unused) {
    (void)unused;
    pbd_scene scene;
    make_mesh(&scene, false, 1e4);
    expect_refused("vbd", &scene, "stiffness_damping=0.1", PBD_NOT_SUPPORTED, "damping_form=block");
    scene.material->nu = 0.5;
    expect_refused("vbd", &scene, "", PBD_BAD_INPUT, "below 0.5");
    scene.material->nu = 0.3;
    scene.material->yield_strain = 0.1;
    expect_refused("vbd", &scene, "", PBD_NOT_SUPPORTED, "yield_strain=0");
    scene.material->yield_strain = 0;
    scene.material[1] = scene.material[0];
    scene.material[1].law = "stvk";
    scene.materials = 2;
    expect_refused("vbd", &scene, "", PBD_NOT_SUPPORTED, "one law");
    scene.materials = 1;
    const uint32_t kept = scene.tets.corner[4 * 7];
    scene.tets.corner[4 * 7] = scene.tets.corner[4 * 7 + 1];
    expect_refused("vbd", &scene, "", PBD_BAD_INPUT, "tetrahedron 7 has no volume");
    uint32_t *const held = scene.particles.fixed_particle; /* also where all its corners are held */
    const size_t holds = scene.particles.fixed;
    scene.particles.fixed_particle = scene.tets.corner + 4 * 7 + 1;
    scene.particles.fixed = 3;
    expect_refused("vbd", &scene, "", PBD_BAD_INPUT, "tetrahedron 7 has no volume");
    scene.particles.fixed_particle = held;
    scene.particles.fixed = holds;
    scene.tets.corner[4 * 7] = kept;
    scene.tets.count = 0;
    expect_refused("vbd", &scene, "", PBD_BAD_INPUT, "no tetrahedra");
    pbd_scene_free(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damping_in_free_fall),
        cmocka_unit_test(test_backends),
        cmocka_unit_test(test_one_vertex),
        cmocka_unit_test(test_minimum_of_a_step),
        cmocka_unit_test(test_minimum_is_that_of_finite_elements),
        cmocka_unit_test(test_slabs_keep_the_order),
        cmocka_unit_test(test_descent),
        cmocka_unit_test(test_descent_at_a_clamp),
        cmocka_unit_test(test_rest_is_a_fixed_point),
        cmocka_unit_test(test_momentum_by_sweeps),
        cmocka_unit_test(test_damping_damps),
        cmocka_unit_test(test_inverted_elements),
        cmocka_unit_test(test_scaled_matter),
        cmocka_unit_test(test_units_do_not_matter),
        cmocka_unit_test(test_equal_materials_are_one),
        cmocka_unit_test(test_acceleration_is_faster),
        cmocka_unit_test(test_rotation),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_precisions),
        cmocka_unit_test(test_order_in_time),
        cmocka_unit_test(test_bad_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
