/* chen_mlsrk against two steps computed from the formulas of the method's README; properties of any step: affine
 * motions, momentum, a bar's first period; threads and backends. */
#include "tests/reproducing_shapes.h"
#include "tests/xpbi_scenes.h"

/* A jittered block with uneven masses and volumes, in motion. */
static void make_scene(const cloud *c, pbd_scene *scene) {
    uint64_t seed = 21;
    const size_t n = c->particles;
    *scene = (pbd_scene){.particles.count = n, .particles.spacing = 0.1, .extent = 0.4};
    scene->particles.positions = malloc(3 * n * sizeof(double));
    scene->particles.velocities = malloc(3 * n * sizeof(double));
    scene->particles.masses = malloc(n * sizeof(double));
    scene->particles.volumes = malloc(n * sizeof(double));
    scene->material[0] = (pbd_material){.E = 1e4, .nu = 0.3, .density = 1000, .law = "neo_hookean"};
    memcpy(scene->particles.positions, c->x, 3 * n * sizeof(double));
    memcpy(scene->particles.volumes, c->volume, n * sizeof(double));
    for (size_t i = 0; i < n; i++) scene->particles.masses[i] = 1 + 0.2 * noise(&seed);
    for (size_t i = 0; i < 3 * n; i++) scene->particles.velocities[i] = 2 * noise(&seed);
}

/* ---- The formulas ------------------------------------------------------------------------------------------------ */

typedef struct plain {
    cloud c; /* current positions and volumes */
    double F[9 * MOST], v[3 * MOST], mass[MOST], rest[MOST];
} plain;

static double determinant(const double *f) {
    return f[0] * (f[4] * f[8] - f[5] * f[7]) - f[1] * (f[3] * f[8] - f[5] * f[6]) + f[2] * (f[3] * f[7] - f[4] * f[6]);
}

/* V sigma = V0 (mu (F F^T - 1) + lambda log J), with E = 1e4, nu = 0.3. */
static void stress_at(const plain *p, size_t j, double out[9]) {
    const double *f = p->F + 9 * j, mu = 1e4 / 2.6, lambda = 0.3e4 / (1.3 * 0.4), J = determinant(f);
    for (int r = 0; r < 3; r++)
        for (int q = 0; q < 3; q++) {
            double square = 0;
            for (int k = 0; k < 3; k++) square += f[3 * r + k] * f[3 * q + k];
            out[3 * r + q] = p->rest[j] * (mu * (square - (r == q)) + (r == q ? lambda * log(J) : 0));
        }
}

/* One step: forces and lumped masses of all particles, then their motion. Gravity is along -z. */
static void plain_step(plain *p, int kernel, double dt, double blend, double gravity) {
    static double phi[MOST], slope[3 * MOST], force[3 * MOST], lumped[MOST], u[3 * MOST], grown[9 * MOST];
    const size_t n = p->c.particles;
    memset(force, 0, sizeof force);
    memset(lumped, 0, sizeof lumped);
    for (size_t j = 0; j < n; j++) {
        double sigma[9];
        stress_at(p, j, sigma);
        shapes_at(&p->c, kernel, true, p->c.x + 3 * j, phi);
        shape_slopes(&p->c, kernel, true, j, slope);
        for (size_t i = 0; i < n; i++) {
            lumped[i] += phi[i] * p->mass[j];
            for (size_t r = 0; r < 3; r++)
                for (size_t k = 0; k < 3; k++) force[3 * i + r] -= sigma[3 * r + k] * slope[3 * i + k];
        }
    }
    for (size_t i = 0; i < 3 * n; i++) p->v[i] += dt * (force[i] / lumped[i / 3] - (i % 3 == 2 ? gravity : 0));
    for (size_t i = 0; i < n; i++) {
        double gradient[9] = {0};
        shapes_at(&p->c, kernel, true, p->c.x + 3 * i, phi);
        shape_slopes(&p->c, kernel, true, i, slope);
        for (size_t r = 0; r < 3; r++) {
            u[3 * i + r] = 0;
            for (size_t k = 0; k < n; k++) {
                u[3 * i + r] += phi[k] * p->v[3 * k + r];
                for (size_t q = 0; q < 3; q++) gradient[3 * r + q] += p->v[3 * k + r] * slope[3 * k + q];
            }
        }
        for (size_t r = 0; r < 3; r++)
            for (size_t q = 0; q < 3; q++) {
                grown[9 * i + 3 * r + q] = p->F[9 * i + 3 * r + q];
                for (size_t k = 0; k < 3; k++)
                    grown[9 * i + 3 * r + q] += dt * gradient[3 * r + k] * p->F[9 * i + 3 * k + q];
            }
    }
    for (size_t i = 0; i < 3 * n; i++) {
        p->c.x[i] += dt * u[i];
        p->v[i] = blend * p->v[i] + (1 - blend) * u[i];
    }
    memcpy(p->F, grown, 9 * n * sizeof(double));
    for (size_t i = 0; i < n; i++) p->c.volume[i] = p->rest[i] * determinant(p->F + 9 * i);
}

static double *read_of(const solver *s, pbd_field field, size_t numbers) {
    double *out = malloc(numbers * sizeof *out);
    check_ok(s->method->read(s->state, field, out));
    return out;
}

static double largest_difference(const double *a, const double *b, size_t n) {
    double worst = 0;
    for (size_t k = 0; k < n; k++) worst = fmax(worst, fabs(a[k] - b[k]));
    return worst;
}

static void test_steps_against_formulas(void **unused) {
    (void)unused;
    static const char *const words[] = {"radius=2.5 kernel=cubic_spline blend=0.8",
                                        "radius=2.5 kernel=wendland_c2 blend=0.8 regularisation=0"};
    for (int k = 0; k < 2; k++) {
        static plain p;
        pbd_scene scene;
        solver s;
        const double dt = 2e-3;
        make_cloud(&p.c, 4, 0.2);
        make_scene(&p.c, &scene);
        scene.loads.gravity[2] = -9.81;
        const size_t n = p.c.particles;
        p.c.regularisation = k == 0 ? 0.001 * pow(p.c.support / 2, 2) : 0;
        for (size_t i = 0; i < 9 * n; i++) p.F[i] = i % 9 % 4 == 0;
        memcpy(p.v, scene.particles.velocities, 3 * n * sizeof(double));
        memcpy(p.mass, scene.particles.masses, n * sizeof(double));
        memcpy(p.rest, p.c.volume, n * sizeof(double));
        solver_open(&s, "chen_mlsrk", PBD_PRECISION_F64, 1, &scene, words[k]);
        for (int step = 0; step < 3; step++) {
            check_steps(&s, dt, 1);
            plain_step(&p, k + 1, dt, 0.8, 9.81);
        }
        double *x = positions_of(&s, n), *v = read_of(&s, PBD_VELOCITIES, 3 * n),
               *F = read_of(&s, PBD_DEFORMATION_GRADIENTS, 9 * n);
        check_near("F", largest_difference(F, p.F, 9 * n), 0, 1e-8);
        check_near("positions, m", largest_difference(x, p.c.x, 3 * n), 0, 1e-9);
        check_near("velocities, m/s", largest_difference(v, p.v, 3 * n), 0, 1e-7);
        assert_true(largest_difference(v, scene.particles.velocities, 3 * n) > 0.5);
        free(x);
        free(v);
        free(F);
        solver_close(&s);
        pbd_scene_free(&scene);
    }
}

/* ---- What must hold ---------------------------------------------------------------------------------------------- */

/* Without regularisation linear fields are reproduced: after a step F is 1 + dt A, and positions have moved by dt A x.
 */
static void test_affine_velocities_are_exact(void **unused) {
    (void)unused;
    static const double A[9] = {0.3, -0.8, 0.2, 0.5, 0.1, -0.4, -0.6, 0.7, -0.2};
    static cloud c;
    pbd_scene scene;
    solver s;
    make_cloud(&c, 5, 0.2);
    make_scene(&c, &scene);
    const size_t n = c.particles;
    for (size_t i = 0; i < 3 * n; i++) {
        const double *x = c.x + i / 3 * 3, *row = A + 3 * (i % 3);
        scene.particles.velocities[i] = 3 + row[0] * x[0] + row[1] * x[1] + row[2] * x[2];
    }
    solver_open(&s, "chen_mlsrk", PBD_PRECISION_F64, 1, &scene, "radius=2.5 regularisation=0 blend=0.5");
    check_steps(&s, 0.01, 1);
    double *F = read_of(&s, PBD_DEFORMATION_GRADIENTS, 9 * n), *x = positions_of(&s, n),
           *v = read_of(&s, PBD_VELOCITIES, 3 * n);
    double moved = 0, grown = 0, changed = 0;
    for (size_t i = 0; i < 3 * n; i++) {
        moved = fmax(moved, fabs(x[i] - c.x[i] - 0.01 * scene.particles.velocities[i]));
        changed = fmax(changed, fabs(v[i] - scene.particles.velocities[i]));
    }
    for (size_t i = 0; i < 9 * n; i++) grown = fmax(grown, fabs(F[i] - (i % 9 % 4 == 0) - 0.01 * A[i % 9]));
    check_near("F", grown, 0, 1e-12);
    check_near("places", moved, 0, 1e-12);
    check_near("velocities", changed, 0, 1e-12);
    free(F);
    free(x);
    free(v);
    solver_close(&s);
    pbd_scene_free(&scene);
}

/* By Taylor, the smoothed velocity u of a curved field is v + v''/2 times the second moment of the weight along x. It
 * exceeds v where v'' has the sign of v, as in the first mode of a clamped bar, so blending v with u adds energy. The
 * moment is that of the cubic spline, (2 - q)^3/4 beyond q = 1, on a lattice: 6, 12 and 8 neighbours at 1, sqrt(2) and
 * sqrt(3) spacings. */
static void test_blending_adds_to_what_bends(void **unused) {
    (void)unused;
    const double w1 = 0.25, w2 = pow(2 - sqrt(2), 3) / 4, w3 = pow(2 - sqrt(3), 3) / 4;
    const double moment = (2 * w1 + 8 * w2 + 8 * w3) / (1 + 6 * w1 + 12 * w2 + 8 * w3);
    static cloud c;
    pbd_scene scene;
    solver s;
    make_cloud(&c, 5, 0);
    make_scene(&c, &scene);
    const size_t n = c.particles, centre = n / 2;
    for (size_t i = 0; i < n; i++) scene.particles.volumes[i] = 1e-3;
    for (size_t i = 0; i < 3 * n; i++)
        scene.particles.velocities[i] = i % 3 == 2 ? pow((c.x[3 * (i / 3)] - c.x[3 * centre]) / 0.1, 2) : 0;
    solver_open(&s, "chen_mlsrk", PBD_PRECISION_F64, 1, &scene, "radius=2 regularisation=0 blend=0.9");
    check_steps(&s, 1e-4, 1);
    double *v = read_of(&s, PBD_VELOCITIES, 3 * n);
    check_near("gain of a step", v[3 * centre + 2] / (0.1 * moment), 1, 1e-9);
    free(v);
    solver_close(&s);
    pbd_scene_free(&scene);
}

/* Shape functions sum to 1, so stresses do not change sum m_j u(x_j): after two steps, of which the first produces
 * strain, it is the same as without stress. blend=0: the velocities are u. */
static void test_momentum(void **unused) {
    (void)unused;
    static cloud c;
    static double v[2][3 * MOST];
    double sum[2][3] = {{0}};
    make_cloud(&c, 4, 0.2);
    for (int k = 0; k < 2; k++) {
        pbd_scene scene;
        solver s;
        make_scene(&c, &scene);
        scene.material->E = k == 0 ? 1e6 : 1e-9;
        solver_open(&s, "chen_mlsrk", PBD_PRECISION_F64, 1, &scene, "radius=2.5 blend=0");
        check_steps(&s, 2e-3, 2);
        check_ok(s.method->read(s.state, PBD_VELOCITIES, v[k]));
        for (size_t i = 0; i < 3 * c.particles; i++) sum[k][i % 3] += scene.particles.masses[i / 3] * v[k][i];
        solver_close(&s);
        pbd_scene_free(&scene);
    }
    for (int d = 0; d < 3; d++) check_near("momentum, kg m/s", sum[0][d] - sum[1][d], 0, 1e-11);
    assert_true(largest_difference(v[0], v[1], 3 * c.particles) > 0.05);
}

static void run_once(int backend, pbd_precision precision, int threads, double *x, const pbd_scene *scene) {
    solver s;
    check_ok(try_open_on(backend, &s, "chen_mlsrk", precision, threads, scene, ""));
    check_steps(&s, 1e-3, 3);
    check_ok(s.method->read(s.state, PBD_POSITIONS, x));
    solver_close(&s);
}

static void test_threads_and_backends(void **unused) {
    (void)unused;
    static cloud c;
    static double one[3 * MOST], more[3 * MOST];
    pbd_scene scene;
    make_cloud(&c, 5, 0.2);
    make_scene(&c, &scene);
    static const pbd_precision precision[] = {PBD_PRECISION_F32, PBD_PRECISION_F64};
    for (int k = 0; k < 2; k++) {
        run_once(PBD_CPU, precision[k], 1, one, &scene);
        run_once(PBD_CPU, precision[k], 3, more, &scene);
        assert_memory_equal(one, more, 3 * c.particles * sizeof *one);
        run_once(PBD_EMU, precision[k], 2, more, &scene);
        check_near("emulated", largest_difference(one, more, 3 * c.particles), 0, k ? 1e-13 : 1e-5);
    }
    pbd_scene_free(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_against_formulas),      cmocka_unit_test(test_affine_velocities_are_exact),
        cmocka_unit_test(test_blending_adds_to_what_bends), cmocka_unit_test(test_momentum),
        cmocka_unit_test(test_threads_and_backends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
