/* gissler_snow against a step solved by dense elimination from the plain formulas; properties of every step (momenta,
 * exact motions, rotation); bars and columns with known answers; threads, backends, precisions. */
#include "tests/dense_snow.h"

/* The formulas of xpbi_scenes.h use Wendland's kernel and prescribed volumes. */
static const char *const tight = "kernel=wendland_c2 volume=tracked tolerance=1e-12 iterations=2000";

static void words_with(const char *more, char out[400]) { snprintf(out, 400, "%s %s", tight, more); }

static double largest_difference(const double *a, const double *b, size_t n) {
    double worst = 0;
    for (size_t k = 0; k < n; k++) worst = fmax(worst, fabs(a[k] - b[k]));
    return worst;
}

static void set_snow(pbd_scene *scene) {
    set_flow_values(scene->material, "snow", "compression=0.025 stretch=0.0075 xi=10");
}

static void add_plane(pbd_scene *scene, const double at[3], int axis, double side, double friction) {
    scene->colliders.item =
        realloc(scene->colliders.item, (scene->colliders.count + 1) * sizeof *scene->colliders.item);
    pbd_collider *to = &scene->colliders.item[scene->colliders.count++];
    *to = (pbd_collider){.shape = PBD_PLANE, .friction = friction};
    for (int d = 0; d < 3; d++) {
        to->centre[d] = at[d];
        to->axis[d][(axis + 1 + d) % 3] = d == 2 ? side : 1; /* the third row is the normal */
    }
    if (side < 0) to->axis[0][(axis + 1) % 3] = -1;
}

/* ---- A step by dense elimination --------------------------------------------------------------------------------- */

/* Two steps: the first from the rest shape, the second from the stretches after the first. */
static void test_steps_against_elimination(void **unused) {
    (void)unused;
    static const char *const solve[] = {"split", "together"}, *const divergence[] = {"uncorrected", "corrected"};
    for (int k = 0; k < 4; k++) {
        pbd_scene scene;
        solver s;
        char words[400], more[200];
        const double dt = 0.01;
        make_lattice(&scene, (const size_t[]){4, 3, 3}, 0.2, 0.3);
        set_noise_velocities(&scene, 0.5);
        snprintf(more, sizeof more, "solve=%s divergence=%s", solve[k / 2], divergence[k % 2]);
        words_with(more, words);
        const size_t n = scene.particles.count;
        double *x = calloc(3 * n, sizeof *x), *v = calloc(3 * n, sizeof *v), *w = calloc(3 * n, sizeof *w);
        double *volume = calloc(n, sizeof *volume), *S = calloc(9 * n, sizeof *S), asymmetry;
        memcpy(x, scene.particles.positions, 3 * n * sizeof *x);
        memcpy(v, scene.particles.velocities, 3 * n * sizeof *v);
        memcpy(volume, scene.particles.volumes, n * sizeof *volume);
        for (size_t i = 0; i < 9 * n; i++) S[i] = i % 9 % 4 == 0;
        solver_open(&s, "gissler_snow", PBD_PRECISION_F64, 1, &scene, words);
        for (int step = 0; step < 2; step++) {
            dense d = dense_make(&scene, x, S, volume, dt, k % 2 == 1);
            dense_step(&d, v, k / 2 == 1, w, &asymmetry);
            /* The matrix of the pressure is always symmetric; that of solve=together is symmetric only without strain
             * and if every term uses the same gradient. */
            if (k / 2 == 0 || (k % 2 == 1 && step == 0)) check_near("asymmetry", asymmetry, 0, 1e-14);
            for (size_t i = 0; i < n; i++) volume[i] *= cofactor_of_step(&d, w, i);
            check_steps(&s, dt, 1);
            double *got = velocities_of(&s, n), change = largest_difference(w, v, 3 * n);
            check_near(words, largest_difference(got, w, 3 * n) / change, 0, 1e-9);
            assert_true(change > 0.1);
            free(x);
            free(v);
            free(S);
            x = positions_of(&s, n);
            v = got;
            S = gradients_of(&s, n);
            dense_free(&d);
        }
        check_near("residual of the pressure", metric_of(&s, "pressure_residual"), 0, k / 2 ? 0 : 1e-12);
        free(x);
        free(v);
        free(w);
        free(S);
        free(volume);
        solver_close(&s);
        pbd_scene_free(&scene);
    }
}

/* Checks the formulas: forces at small strain are minus the gradient of the elastic energy by differences. */
static void test_forces_by_differences(void **unused) {
    (void)unused;
    pbd_scene scene;
    make_lattice(&scene, (const size_t[]){4, 3, 3}, 0.2, 0.3);
    const size_t n = scene.particles.count;
    double *S = calloc(9 * n, sizeof *S), *w = calloc(3 * n, sizeof *w), *got = calloc(3 * n, sizeof *got), worst = 0,
           most = 0;
    uint64_t seed = 5;
    for (size_t i = 0; i < 9 * n; i++) S[i] = i % 9 % 4 == 0;
    for (size_t i = 0; i < 3 * n; i++) w[i] = noise(&seed);
    const dense d = dense_make(&scene, scene.particles.positions, S, scene.particles.volumes, 0.01, true);
    dense_answer(&d, w, 1, true, true, got);
    for (size_t k = 0; k < 3 * n; k++) {
        double energy[2];
        for (int side = 0; side < 2; side++) {
            const double kept = w[k];
            w[k] += side ? 1e-4 : -1e-4;
            energy[side] = 0;
            for (size_t i = 0; i < n; i++) { /* V (G |e|^2 + lambda/2 tr^2 e), e = dt sym grad w */
                double T[9], square = 0;
                dense_shear(&d, w, 1, i, T);
                for (int e = 0; e < 9; e++) square += T[e] * T[e];
                const double trace = d.dt * dense_divergence(&d, w, i);
                energy[side] += d.volume[i] * (square / (4 * d.mu) + 0.5 * d.lambda * trace * trace);
            }
            w[k] = kept;
        }
        const double wanted = -(energy[1] - energy[0]) / 2e-4 / d.mass[k / 3]; /* derivative by dt w, times dt */
        worst = fmax(worst, fabs(got[k] - wanted));
        most = fmax(most, fabs(wanted));
    }
    check_near("forces over the largest", worst / most, 0, 1e-6);
    dense tmp = d;
    dense_free(&tmp);
    free(S);
    free(w);
    free(got);
    pbd_scene_free(&scene);
}

/* ---- Motions with known answers ---------------------------------------------------------------------------------- */

static void test_affine_velocities_are_exact(void **unused) {
    (void)unused;
    static const double A[3][3] = {{0.3, -0.8, 0.2}, {0.5, 0.1, -0.4}, {-0.6, 0.7, -0.2}};
    static const char *const variants[] = {"divergence=corrected",
                                           "divergence=corrected kernel=wendland_c2 volume=tracked"};
    for (size_t k = 0; k < 2; k++) {
        pbd_scene scene;
        solver s;
        make_lattice(&scene, (const size_t[]){6, 5, 4}, 0.2, 0.3);
        scene.material->E = 1e-9;
        for (size_t i = 0; i < 3 * scene.particles.count; i++) {
            const double *x = scene.particles.positions + i / 3 * 3, *row = A[i % 3];
            scene.particles.velocities[i] = 3 + row[0] * x[0] + row[1] * x[1] + row[2] * x[2];
        }
        solver_open(&s, "gissler_snow", PBD_PRECISION_F64, 1, &scene, variants[k]);
        check_steps(&s, 0.1, 1);
        double *S = gradients_of(&s, scene.particles.count), worst = 0;
        for (size_t p = 0; p < scene.particles.count; p++)
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++) {
                    double square = 0, wanted = 0; /* S S = B B^T */
                    for (int e = 0; e < 3; e++) {
                        square += S[9 * p + 3 * r + e] * S[9 * p + 3 * e + c];
                        wanted += ((r == e) + 0.1 * A[r][e]) * ((c == e) + 0.1 * A[c][e]);
                    }
                    worst = fmax(worst, fabs(square - wanted));
                }
        check_near("S S - B B^T of an affine field", worst, 0, 1e-11);
        check_near("deficient_fraction", metric_of(&s, "deficient_fraction"), 0, 0);
        free(S);
        solver_close(&s);
        pbd_scene_free(&scene);
    }
}

static void test_free_fall(void **unused) {
    (void)unused;
    pbd_scene scene;
    solver s;
    make_lattice(&scene, (const size_t[]){5, 4, 4}, 0.05, 0);
    scene.loads.gravity[2] = -9.81;
    scene.particles.positions[0] -= 20; /* an isolated particle */
    for (size_t p = 0; p < scene.particles.count; p++) scene.particles.velocities[3 * p] = 2;
    solver_open(&s, "gissler_snow", PBD_PRECISION_F64, 1, &scene, "");
    check_steps(&s, 1e-3, 50);
    double *x = positions_of(&s, scene.particles.count), worst = 0;
    for (size_t p = 0; p < scene.particles.count; p++) {
        worst = fmax(worst, fabs(x[3 * p] - scene.particles.positions[3 * p] - 2 * 0.05));
        worst = fmax(worst, fabs(x[3 * p + 2] - scene.particles.positions[3 * p + 2] + 9.81 * 1e-6 * 50 * 51 / 2));
    }
    check_near("places after 50 steps", worst, 0, 1e-12);
    check_near("lone_fraction", metric_of(&s, "lone_fraction"), 1.0 / (double)scene.particles.count, 1e-12);
    free(x);
    solver_close(&s);
    pbd_scene_free(&scene);
}

/* A long bar with nu = 0 vibrates along its length: its quarter period, and the first order of the scheme in time. */
static double swing(double dt, double *crossed) {
    enum { LONG = 16, ACROSS = 4 };
    pbd_scene scene;
    solver s;
    make_lattice(&scene, (const size_t[]){LONG, ACROSS, ACROSS}, 0, 0);
    scene.material->nu = 0;
    scene.material->E = 1e5;
    const double length = LONG * 0.1, speed = 10, period = 2 * length / speed;
    double *shape = malloc(scene.particles.count * sizeof *shape), last = 1, time = 0, moved = 0, *x;
    for (size_t p = 0; p < scene.particles.count; p++) {
        shape[p] = cos(M_PI * ((double)(p % LONG) + 0.5) / LONG);
        scene.particles.velocities[3 * p] = 0.01 * shape[p];
    }
    solver_open(&s, "gissler_snow", PBD_PRECISION_F64, 1, &scene,
                "kernel=wendland_c2 volume=tracked divergence=corrected tolerance=1e-10 iterations=2000");
    *crossed = 0;
    for (long k = 0; k < lround(0.4 * period / dt); k++) {
        check_steps(&s, dt, 1);
        double *v = velocities_of(&s, scene.particles.count), now = 0;
        for (size_t p = 0; p < scene.particles.count; p++) now += shape[p] * v[3 * p];
        time += dt;
        if (now < 0 && *crossed == 0) *crossed = time - dt * now / (now - last);
        last = now;
        free(v);
    }
    x = positions_of(&s, scene.particles.count);
    for (size_t p = 0; p < scene.particles.count; p++)
        moved += shape[p] * (x[3 * p] - scene.particles.positions[3 * p]);
    free(x);
    free(shape);
    solver_close(&s);
    pbd_scene_free(&scene);
    return moved;
}

static void test_bar_swings(void **unused) {
    (void)unused;
    double crossed[3], moved[3];
    for (int k = 0; k < 3; k++) moved[k] = swing(0.32 / 80 / (1 << k), &crossed[k]);
    check_near("quarter of the period, s", crossed[2], 0.08, 0.08 * 0.12); /* corrected SPH is soft: design */
    check_near("order in time", log2((moved[0] - moved[1]) / (moved[1] - moved[2])), 1, 0.25);
}

/* A column between frictionless walls, under a pressure of E/100, has the modulus E (1 - nu)/((1 + nu)(1 - 2 nu)). */
static void test_column_is_pressed(void **unused) {
    (void)unused;
    enum { ACROSS = 5, HIGH = 10 };
    static const char *const variants[] = {"solve=split divergence=corrected", "solve=together divergence=corrected"};
    for (int k = 0; k < 2; k++) {
        pbd_scene scene;
        solver s;
        make_lattice(&scene, (const size_t[]){ACROSS, ACROSS, HIGH}, 0, 0);
        const double E = 1e5, nu = 0.3, modulus = E * (1 - nu) / ((1 + nu) * (1 - 2 * nu)), sigma = 0.01 * E;
        scene.material->E = E;
        for (size_t d = 0; d < 3; d++) {
            const double low = -0.23 - 0.05, high = low + 0.1 * ACROSS;
            const double foot[3] = {low, low, low}, head[3] = {high, high, high};
            add_plane(&scene, foot, (int)d, 1, 0);
            if (d < 2) add_plane(&scene, head, (int)d, -1, 0);
        }
        scene.contact.radius = malloc(scene.particles.count * sizeof(double));
        for (size_t p = 0; p < scene.particles.count; p++) scene.contact.radius[p] = 0.05;
        scene.loads.forces = calloc(3 * scene.particles.count, sizeof(double));
        for (size_t p = 0; p < ACROSS * ACROSS; p++)
            scene.loads.forces[3 * (scene.particles.count - 1 - p) + 2] = -sigma * 0.01;
        char words[400];
        snprintf(words, sizeof words, "damping=20 kernel=wendland_c2 volume=tracked tolerance=1e-6 %s", variants[k]);
        solver_open(&s, "gissler_snow", PBD_PRECISION_F64, 1, &scene, words);
        check_steps(&s, 1e-3, 500);
        double *x = positions_of(&s, scene.particles.count), layer[2] = {0, 0};
        for (size_t p = 0; p < scene.particles.count; p++) {
            const size_t z = p / (ACROSS * ACROSS);
            if (z == 2 || z == HIGH - 3) layer[z > 2] += x[3 * p + 2] / (ACROSS * ACROSS);
        }
        const double strain = 1 - (layer[1] - layer[0]) / (0.1 * (HIGH - 5));
        check_near(variants[k], strain * modulus / sigma, 1, 0.1);
        free(x);
        solver_close(&s);
        pbd_scene_free(&scene);
    }
}

/* A block on an incline (gravity is inclined instead) slides with acceleration g (sin - mu cos), or stays. */
static void test_friction_of_a_slope(void **unused) {
    (void)unused;
    static const double friction[] = {0, 0.2, 0.5}, wanted[] = {3, 1, 0};
    for (int k = 0; k < 3; k++) {
        pbd_scene scene;
        solver s;
        make_lattice(&scene, (const size_t[]){6, 6, 3}, 0, 0);
        const double at[3] = {0, 0, -0.23};
        scene.material->E = 1e6;
        scene.loads.gravity[0] = 3;
        scene.loads.gravity[2] = -10;
        add_plane(&scene, at, 2, 1, friction[k]);
        solver_open(&s, "gissler_snow", PBD_PRECISION_F64, 1, &scene, "damping=0");
        check_steps(&s, 1e-3, 300);
        double *before = velocities_of(&s, scene.particles.count), gained = 0;
        check_steps(&s, 1e-3, 200);
        double *after = velocities_of(&s, scene.particles.count), *x = positions_of(&s, scene.particles.count),
               lowest = 1;
        for (size_t p = 0; p < scene.particles.count; p++) {
            gained += (after[3 * p] - before[3 * p]) / (0.2 * (double)scene.particles.count);
            lowest = fmin(lowest, x[3 * p + 2] - at[2]);
        }
        check_near("acceleration, m/s^2", gained, wanted[k], 0.1);
        check_near("depth in the floor, m", fmin(lowest, 0), 0, 1e-12);
        free(before);
        free(after);
        free(x);
        solver_close(&s);
        pbd_scene_free(&scene);
    }
}

/* ---- Momenta, rotation ------------------------------------------------------------------------------------------- */

static void check_momenta(const char *words, double linear_limit, double angular_limit) {
    pbd_scene scene;
    solver s;
    make_lattice(&scene, (const size_t[]){6, 5, 5}, 0.2, 0.3);
    set_noise_velocities(&scene, 0.5);
    set_snow(&scene);
    solver_open(&s, "gissler_snow", PBD_PRECISION_F64, 1, &scene, words);
    for (int step = 0; step < 3; step++) {
        double *x = positions_of(&s, scene.particles.count), *v = velocities_of(&s, scene.particles.count);
        check_steps(&s, 0.002, 1);
        double *w = velocities_of(&s, scene.particles.count), linear[3] = {0}, angular[3] = {0}, size = 0;
        for (size_t k = 0; k < 3 * scene.particles.count; k++) {
            const double j = scene.particles.masses[k / 3] * (w[k] - v[k]), *at = x + k / 3 * 3;
            const size_t d = k % 3, next = (d + 1) % 3, last = (d + 2) % 3;
            linear[d] += j;
            angular[next] += at[last] * j; /* about x^n */
            angular[last] -= at[next] * j;
            size += fabs(j);
        }
        for (int d = 0; d < 3; d++) {
            check_near(words, linear[d] / size, 0, linear_limit);
            check_near("  angular", angular[d] / size, 0, angular_limit);
        }
        free(x);
        free(v);
        free(w);
    }
    solver_close(&s);
    pbd_scene_free(&scene);
}

static void test_momenta(void **unused) {
    (void)unused;
    check_momenta("preconditioner=masses tolerance=0.1", 1e-14, 1e-14);
    check_momenta("preconditioner=masses tolerance=0.1 solve=together", 1e-14, 1e-14);
    check_momenta("tolerance=1e-10 divergence=corrected", 1e-10, 1e-10);
}

static void turn_vector(const double R[3][3], const double in[3], double out[3]) {
    for (int r = 0; r < 3; r++) out[r] = R[r][0] * in[0] + R[r][1] * in[1] + R[r][2] * in[2];
}

static void test_rotation(void **unused) {
    (void)unused;
    static const double R[3][3] = {
        {2.0 / 3, -1.0 / 3, 2.0 / 3}, {2.0 / 3, 2.0 / 3, -1.0 / 3}, {-1.0 / 3, 2.0 / 3, 2.0 / 3}};
    double *v[2], wanted[3], worst = 0;
    size_t n = 0;
    for (int turned = 0; turned < 2; turned++) {
        pbd_scene scene;
        solver s;
        make_lattice(&scene, (const size_t[]){5, 4, 4}, 0.2, 0.3);
        set_noise_velocities(&scene, 0.5);
        set_snow(&scene);
        n = scene.particles.count;
        for (size_t p = 0; p < n && turned; p++) {
            double to[3];
            turn_vector(R, scene.particles.positions + 3 * p, to);
            memcpy(scene.particles.positions + 3 * p, to, sizeof to);
            turn_vector(R, scene.particles.velocities + 3 * p, to);
            memcpy(scene.particles.velocities + 3 * p, to, sizeof to);
        }
        solver_open(&s, "gissler_snow", PBD_PRECISION_F64, 1, &scene, "tolerance=1e-12 iterations=2000");
        check_steps(&s, 0.002, 3);
        v[turned] = velocities_of(&s, n);
        solver_close(&s);
        pbd_scene_free(&scene);
    }
    for (size_t p = 0; p < n; p++) {
        turn_vector(R, v[0] + 3 * p, wanted);
        worst = fmax(worst, largest_difference(wanted, v[1] + 3 * p, 3));
    }
    check_near("a turned scene's velocities, turned, m/s", worst, 0, 1e-9);
    free(v[0]);
    free(v[1]);
}

/* ---- Snow -------------------------------------------------------------------------------------------------------- */

/* A block hits the floor: stretches remain within their limits and some reach them; the block neither penetrates the
 * floor nor gains energy. */
static const double FLOOR = -0.236;

static void make_impact(pbd_scene *scene) {
    const double at[3] = {0, 0, FLOOR};
    make_lattice(scene, (const size_t[]){6, 5, 6}, 0.05, 0);
    set_snow(scene);
    scene->material->E = 5e5;
    scene->loads.gravity[2] = -9.81;
    for (size_t p = 0; p < scene->particles.count; p++) {
        scene->particles.masses[p] = 0.4;
        scene->particles.velocities[3 * p + 2] = -3;
    }
    add_plane(scene, at, 2, 1, 0.5);
}

static double energy_of(const pbd_scene *scene, const double *v) {
    double sum = 0;
    for (size_t k = 0; k < 3 * scene->particles.count; k++) sum += 0.5 * scene->particles.masses[k / 3] * v[k] * v[k];
    return sum;
}

/* Returns the least and the largest stretch, and the least height above the floor. */
static void look_at_impact(const solver *s, size_t particles, double *least, double *most, double *lowest) {
    double *S = gradients_of(s, particles), *x = positions_of(s, particles);
    for (size_t p = 0; p < particles; p++) {
        double F[3][3], e[3];
        for (size_t k = 0; k < 9; k++) F[k / 3][k % 3] = S[9 * p + k];
        hencky_strains(F, e);
        for (int k = 0; k < 3; k++) {
            *least = fmin(*least, exp(e[k]));
            *most = fmax(*most, exp(e[k]));
        }
        *lowest = fmin(*lowest, x[3 * p + 2] - FLOOR);
    }
    free(S);
    free(x);
}

static void test_snow_flows(void **unused) {
    (void)unused;
    pbd_scene scene;
    solver s;
    double least = 1, most = 1, lowest = 1;
    make_impact(&scene);
    solver_open(&s, "gissler_snow", PBD_PRECISION_F64, 1, &scene, "");
    for (int k = 0; k < 50; k++) {
        check_steps(&s, 5e-4, 2);
        look_at_impact(&s, scene.particles.count, &least, &most, &lowest);
    }
    check_near("least stretch", least, 0.975, 1e-12);
    check_near("largest stretch", most, 1.0075, 1e-12);
    check_near("depth in the floor, m", fmin(lowest, 0), 0, 1e-12);
    double *v = velocities_of(&s, scene.particles.count);
    assert_true(energy_of(&scene, v) < 0.2 * energy_of(&scene, scene.particles.velocities));
    free(v);
    solver_close(&s);
    pbd_scene_free(&scene);
}

/* A solver that stops before it converges gives a warning. */
static void test_warnings(void **unused) {
    (void)unused;
    pbd_scene scene;
    solver s;
    make_impact(&scene);
    solver_open(&s, "gissler_snow", PBD_PRECISION_F64, 1, &scene, "iterations=1 tolerance=1e-8");
    check_steps(&s, 2e-3, 10);
    bool told = false;
    for (size_t i = 0; i < s.result.warnings; i++) told |= strcmp(s.result.warning[i].name, "solver_residual") == 0;
    if (!told) fail_msg("one iteration is not enough, and nobody says so");
    solver_close(&s);
    pbd_scene_free(&scene);
}

/* ---- The same whatever it runs on -------------------------------------------------------------------------------- */

static double *after_impact(int backend, pbd_precision precision, int threads, int steps) {
    pbd_scene scene;
    solver s;
    make_impact(&scene);
    check_ok(try_open_on(backend, &s, "gissler_snow", precision, threads, &scene, ""));
    check_steps(&s, 1e-3, steps);
    double *x = positions_of(&s, scene.particles.count);
    solver_close(&s);
    pbd_scene_free(&scene);
    return x;
}

static void test_threads_and_backends(void **unused) {
    (void)unused;
    const size_t n = 3 * 6 * 5 * 6;
    for (int precision = 0; precision < 2; precision++) {
        double *one = after_impact(PBD_CPU, (pbd_precision)precision, 1, 15);
        for (int threads = 3; threads <= 8; threads += 5) {
            double *many = after_impact(PBD_CPU, (pbd_precision)precision, threads, 15);
            check_near("several threads, to the bit", memcmp(one, many, n * sizeof *one) != 0, 0, 0);
            free(many);
        }
        free(one);
    }
    double *cpu = after_impact(PBD_CPU, PBD_PRECISION_F64, 1, 5), *emu = after_impact(PBD_EMU, PBD_PRECISION_F64, 1, 5);
    check_near("emulated threads, m", largest_difference(cpu, emu, n), 0, 1e-10);
    free(emu);
    double *single = after_impact(PBD_CPU, PBD_PRECISION_F32, 1, 5);
    check_near("f32, m", largest_difference(cpu, single, n), 0, 2e-5);
    free(single);
    free(cpu);
}

static void test_save_and_load(void **unused) {
    (void)unused;
    pbd_scene scene;
    solver s;
    size_t bytes = 0;
    make_impact(&scene);
    solver_open(&s, "gissler_snow", PBD_PRECISION_F64, 1, &scene, "");
    check_steps(&s, 1e-3, 10);
    check_ok(s.method->save(s.state, NULL, &bytes));
    void *blob = malloc(bytes);
    check_ok(s.method->save(s.state, blob, &bytes));
    check_steps(&s, 1e-3, 10);
    double *first = positions_of(&s, scene.particles.count);
    check_ok(s.method->load(s.state, blob, bytes));
    check_steps(&s, 1e-3, 10);
    double *second = positions_of(&s, scene.particles.count);
    check_near("again from a saved state, m", largest_difference(first, second, 3 * scene.particles.count), 0, 0);
    assert_int_equal(s.method->load(s.state, blob, bytes - 1).code, PBD_BAD_INPUT);
    free(blob);
    free(first);
    free(second);
    solver_close(&s);
    pbd_scene_free(&scene);
}

static void check_refused(pbd_scene *scene, pbd_code code, const char *words) {
    solver s;
    const pbd_status status = try_open(&s, "gissler_snow", PBD_PRECISION_F64, 1, scene, "");
    if (status.code != code || !strstr(status.text, words)) fail_msg("%d: %s", (int)status.code, status.text);
    print_message("    %s\n", status.text);
    solver_close(&s);
}

static void test_refusals(void **unused) {
    (void)unused;
    pbd_scene scene;
    make_lattice(&scene, (const size_t[]){3, 3, 3}, 0, 0);
    scene.material->nu = -0.1;
    check_refused(&scene, PBD_BAD_INPUT, "-0.1");
    scene.material->nu = 0.3;
    scene.material->flow = "nacc";
    check_refused(&scene, PBD_NOT_SUPPORTED, "flow=snow");
    scene.material->flow = NULL;
    scene.particles.masses[4] = 0;
    check_refused(&scene, PBD_BAD_INPUT, "particle 4");
    scene.particles.masses[4] = 1;
    scene.particles.spacing = 0;
    check_refused(&scene, PBD_BAD_INPUT, "spacing");
    pbd_scene_free(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_against_elimination),
        cmocka_unit_test(test_forces_by_differences),
        cmocka_unit_test(test_affine_velocities_are_exact),
        cmocka_unit_test(test_free_fall),
        cmocka_unit_test(test_bar_swings),
        cmocka_unit_test(test_column_is_pressed),
        cmocka_unit_test(test_friction_of_a_slope),
        cmocka_unit_test(test_momenta),
        cmocka_unit_test(test_rotation),
        cmocka_unit_test(test_snow_flows),
        cmocka_unit_test(test_warnings),
        cmocka_unit_test(test_threads_and_backends),
        cmocka_unit_test(test_save_and_load),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
