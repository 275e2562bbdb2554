/* mpm against independent answers: conservation laws, affine fields, closed forms for modulus, wave speed and friction;
 * then the properties that all methods share. */
#include "tests/flow_values.h"
#include "tests/ladder.h"

enum { ROWS = 32 }; /* numbers per particle in a saved state: position, mass, velocity, state, affine, volume..., F */

/* A block of nx x ny x nz particles on a lattice, with its lowest corner at the origin. */
static void make_block(pbd_scene *s, int nx, int ny, int nz, double spacing) {
    const size_t n = (size_t)(nx * ny * nz);
    *s = (pbd_scene){.particles.count = n, .particles.spacing = spacing};
    s->particles.positions = calloc(3 * n, sizeof(double));
    s->particles.velocities = calloc(3 * n, sizeof(double));
    s->particles.masses = calloc(n, sizeof(double));
    s->loads.forces = calloc(3 * n, sizeof(double));
    s->particles.volumes = calloc(n, sizeof(double));
    s->particles.start = NULL;
    s->particles.fixed_particle = calloc(n, sizeof(uint32_t));
    s->colliders.item = calloc(2, sizeof(pbd_collider));
    s->material[0] = (pbd_material){.E = 1e5, .nu = 0.3, .density = 1000, .law = "hencky"};
    s->extent = spacing * fmax(nx, fmax(ny, nz));
    for (size_t p = 0; p < n; p++) {
        const size_t at[3] = {p % (size_t)nx, p / (size_t)nx % (size_t)ny, p / (size_t)(nx * ny)};
        for (size_t d = 0; d < 3; d++) s->particles.positions[3 * p + d] = spacing * ((double)at[d] + 0.5);
        s->particles.volumes[p] = spacing * spacing * spacing;
        s->particles.masses[p] = 1000 * s->particles.volumes[p];
    }
}

static void free_block(pbd_scene *s) {
    free(s->particles.positions);
    free(s->particles.velocities);
    free(s->particles.masses);
    free(s->loads.forces);
    free(s->particles.volumes);
    free(s->particles.start);
    free(s->particles.fixed_particle);
    free(s->colliders.item);
}

/* A jittered block with random masses, volumes and velocities. */
static void make_cloud(pbd_scene *s) {
    uint64_t seed = 3;
    make_block(s, 5, 4, 6, 0.1);
    for (size_t p = 0; p < s->particles.count; p++) {
        s->particles.masses[p] *= 1.5 + noise(&seed);
        s->particles.volumes[p] *= 1.5 + noise(&seed);
        for (size_t d = 0; d < 3; d++) {
            s->particles.positions[3 * p + d] += 0.03 * noise(&seed) - 0.2;
            s->particles.velocities[3 * p + d] = noise(&seed);
        }
    }
}

static void add_floor(pbd_scene *s, double height, double friction) {
    s->colliders.item[s->colliders.count++] = (pbd_collider){
        .shape = PBD_PLANE, .axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, .centre = {0, 0, height}, .friction = friction};
}

static double *velocities_of(const solver *s, size_t particles) {
    double *v = malloc((3 * particles + 1) * sizeof *v);
    check_ok(s->method->read(s->state, PBD_VELOCITIES, v));
    return v;
}

static void run_steps(solver *s, int steps, double dt) {
    for (int i = 0; i < steps; i++) check_ok(s->method->step(s->state, dt));
}

static bool was_warned(const solver *s, const char *name) {
    for (size_t i = 0; i < s->result.warnings; i++)
        if (strcmp(s->result.warning[i].name, name) == 0) return true;
    return false;
}

/* ---- Conservation ------------------------------------------------------------------------------------------------ */

typedef struct momenta {
    double linear[3], angular[3];
} momenta;

/* Momenta of particles with affine velocities: angular momentum is x cross m v plus the contribution of m C times the
 * second moment of the quadratic spline, a quarter of the squared cell width along each axis (Jiang et al. 2015).
 * Stress is symmetric and drops out. */
static momenta momenta_of(const solver *s, size_t particles, double size) {
    size_t bytes = 0;
    check_ok(s->method->save(s->state, NULL, &bytes));
    double *blob = malloc(bytes);
    momenta out = {{0}, {0}};
    check_ok(s->method->save(s->state, blob, &bytes));
    for (size_t i = 0; i < particles; i++) {
        const double *x = blob + ROWS * i, *v = x + 4, *affine = x + 8;
        for (size_t d = 0; d < 3; d++) {
            const size_t b = (d + 1) % 3, c = (d + 2) % 3;
            out.linear[d] += x[3] * v[d];
            out.angular[d] += x[3] * (x[b] * v[c] - x[c] * v[b]);
            out.angular[d] += size / 4 * (affine[3 * b + c] - affine[3 * c + b]);
        }
    }
    free(blob);
    return out;
}

/* Checks that the angular momentum is x cross m v of the fields plus PBD_SPIN. */
static void expect_reported(const solver *s, const pbd_scene *scene, const double angular[3]) {
    const size_t n = 3 * scene->particles.count;
    double *x = malloc(n * sizeof *x), *v = malloc(n * sizeof *v), spin[3], all[3] = {0};
    check_ok(s->method->read(s->state, PBD_POSITIONS, x));
    check_ok(s->method->read(s->state, PBD_VELOCITIES, v));
    check_ok(s->method->read(s->state, PBD_SPIN, spin));
    for (size_t i = 0; i < n; i++) {
        const size_t p = i - i % 3, b = (i + 1) % 3, c = (i + 2) % 3;
        all[i % 3] += scene->particles.masses[i / 3] * (x[p + b] * v[p + c] - x[p + c] * v[p + b]);
    }
    for (int d = 0; d < 3; d++) {
        assert_true(fabs(spin[d]) > 1e-9);
        check_near("angular momentum by fields, kg m^2/s", all[d] + spin[d], angular[d], 1e-12);
    }
    free(x);
    free(v);
}

static void test_momenta_are_kept(void **unused) {
    (void)unused;
    pbd_scene scene;
    solver s;
    make_cloud(&scene);
    scene.particles.start = malloc(3 * scene.particles.count * sizeof(double));
    for (size_t i = 0; i < 3 * scene.particles.count; i++)
        scene.particles.start[i] = scene.particles.positions[i] * (i % 3 == 0 ? 1.1 : 0.95);
    solver_open(&s, "mpm", PBD_PRECISION_F64, 1, &scene, "");
    const momenta before = momenta_of(&s, scene.particles.count, 0.2);
    double mass = 0;
    for (size_t i = 0; i < scene.particles.count; i++) mass += scene.particles.masses[i];
    run_steps(&s, 50, 1e-3);
    const momenta after = momenta_of(&s, scene.particles.count, 0.2);
    for (int d = 0; d < 3; d++) {
        check_near("linear momentum over mass, m/s", after.linear[d] / mass, before.linear[d] / mass, 1e-14);
        check_near("angular momentum over mass, m^2/s", after.angular[d] / mass, before.angular[d] / mass, 1e-14);
    }
    expect_reported(&s, &scene, after.angular);
    solver_close(&s);
    free_block(&scene);
}

/* Velocities v0 + L x: grid and particles reproduce the affine field, and F is updated with it. */
static void test_affine_velocities_come_back(void **unused) {
    (void)unused;
    static const double L[3][3] = {{0.3, -1.2, 0.5}, {0.9, -0.1, 0.4}, {-0.6, 0.2, 0.7}}, v0[3] = {1, -2, 0.5};
    static const double dt = 1e-3;
    pbd_scene scene;
    solver s;
    make_cloud(&scene);
    scene.material->E = 1e-9; /* negligible stress */
    for (size_t i = 0; i < 3 * scene.particles.count; i++) {
        const double *x = scene.particles.positions + i / 3 * 3, *l = L[i % 3];
        scene.particles.velocities[i] = v0[i % 3] + l[0] * x[0] + l[1] * x[1] + l[2] * x[2];
    }
    solver_open(&s, "mpm", PBD_PRECISION_F64, 1, &scene, "");
    run_steps(&s, 1, dt);
    double *v = velocities_of(&s, scene.particles.count), *f = malloc(9 * scene.particles.count * sizeof *f), off = 0,
           strain = 0;
    check_ok(s.method->read(s.state, PBD_DEFORMATION_GRADIENTS, f));
    for (size_t i = 0; i < 3 * scene.particles.count; i++) off = fmax(off, fabs(v[i] - scene.particles.velocities[i]));
    for (size_t i = 0; i < 9 * scene.particles.count; i++) {
        const size_t e = i % 9;
        strain = fmax(strain, fabs(f[i] - (e % 4 == 0) - dt * L[e / 3][e % 3]));
    }
    check_near("velocities, m/s", off, 0, 2e-13);
    check_near("F - I - dt L", strain, 0, 1e-13);
    free(v);
    free(f);
    solver_close(&s);
    free_block(&scene);
}

/* Symplectic Euler by hand: after n steps v = g n dt and z = z0 + g dt^2 n (n + 1)/2. */
static void test_free_fall(void **unused) {
    (void)unused;
    enum { STEPS = 40 };
    static const double limit[] = {2e-5, 1e-12};
    for (int precision = 0; precision < 2; precision++) {
        const double dt = 2e-3, g = -9.81;
        pbd_scene scene;
        solver s;
        make_cloud(&scene);
        memset(scene.particles.velocities, 0, 3 * scene.particles.count * sizeof(double));
        scene.loads.gravity[2] = g;
        solver_open(&s, "mpm", (pbd_precision)precision, 1, &scene, "substeps=2");
        run_steps(&s, STEPS / 2, 2 * dt);
        double *x = positions_of(&s, scene.particles.count), off = 0;
        for (size_t i = 0; i < 3 * scene.particles.count; i++) {
            const double fall = i % 3 == 2 ? g * dt * dt * STEPS * (STEPS + 1) / 2 : 0;
            off = fmax(off, fabs(x[i] - scene.particles.positions[i] - fall));
        }
        check_near("places, m", off, 0, limit[precision]);
        check_near("updates counted", metric_of(&s, "particle_updates"), STEPS * (double)scene.particles.count, 0);
        free(x);
        solver_close(&s);
        free_block(&scene);
    }
}

/* ---- Elasticity -------------------------------------------------------------------------------------------------- */

/* A bar with nu = 0, fixed at its lower end and pulled at the other with a stress of 1 % of E: away from both ends its
 * strain follows from Hooke's law in the Hencky strain e, in which the force over the rest area is E e exp(-e). */
static void test_bar_pulled(void **unused) {
    (void)unused;
    enum { LONG = 24, ACROSS = 4 };
    const double h = 0.05, sigma = 1e3, E = 1e5;
    pbd_scene scene;
    solver s;
    make_block(&scene, ACROSS, ACROSS, LONG, h);
    scene.material->nu = 0;
    for (size_t p = 0; p < scene.particles.count; p++) {
        const double z = scene.particles.positions[3 * p + 2];
        if (z < 4 * h) scene.particles.fixed_particle[scene.particles.fixed++] = (uint32_t)p;
        if (z > (LONG - 2) * h) scene.loads.forces[3 * p + 2] = sigma * h * h / 2; /* two layers share it */
    }
    solver_open(&s, "mpm", PBD_PRECISION_F64, 1, &scene, "damping=12");
    run_steps(&s, 3000, 1e-3);
    double *x = positions_of(&s, scene.particles.count), mean[2] = {0, 0};
    for (size_t p = 0; p < scene.particles.count; p++) { /* layers 10 and 18 */
        const size_t layer = p / (ACROSS * ACROSS);
        if (layer == 10 || layer == 18) mean[layer == 18] += x[3 * p + 2] / (ACROSS * ACROSS);
    }
    double e = sigma / E;
    for (int k = 0; k < 20; k++) e = sigma / E * exp(e);
    check_near("Hencky strain of the middle", log((mean[1] - mean[0]) / (8 * h)), e, 0.01 * e);
    free(x);
    solver_close(&s);
    free_block(&scene);
}

/* The first longitudinal mode of a free bar with nu = 0 has the period 2 L/c, c^2 = E/density. */
static double period_of_bar(int across, int length, double dt) {
    pbd_scene scene;
    solver s;
    const double h = 1.0 / length;
    make_block(&scene, length, across, across, h);
    scene.material->nu = 0;
    double *shape = malloc(scene.particles.count * sizeof *shape), last = 1, time = 0, crossed = 0;
    for (size_t p = 0; p < scene.particles.count; p++) {
        shape[p] = cos(M_PI * scene.particles.positions[3 * p]);
        scene.particles.velocities[3 * p] = 0.01 * shape[p];
    }
    solver_open(&s, "mpm", PBD_PRECISION_F64, 1, &scene, "");
    while (crossed == 0 && time < 1) {
        run_steps(&s, 1, dt);
        double *v = velocities_of(&s, scene.particles.count), now = 0;
        for (size_t p = 0; p < scene.particles.count; p++) now += shape[p] * v[3 * p];
        time += dt;
        if (now < 0) crossed = time - dt * now / (now - last); /* a quarter of the period */
        last = now;
        free(v);
    }
    free(shape);
    solver_close(&s);
    free_block(&scene);
    return 4 * crossed;
}

static void test_bar_vibrates(void **unused) {
    (void)unused;
    const double wanted = 2 / sqrt(1e5 / 1000);
    check_near("period, 8 cells long, s", period_of_bar(4, 16, 1e-3), wanted, 0.10 * wanted);
    check_near("period, 16 cells long, s", period_of_bar(4, 32, 5e-4), wanted, 0.05 * wanted);
}

/* A uniform initial stretch: F is that stretch, and the momentum added by its stress follows from Hencky's law by
 * hand. */
static void test_stretched_start(void **unused) {
    (void)unused;
    const double dt = 1e-9, size = 0.2, E = 1e5, nu = 0.3, mu = E / (2 * (1 + nu)),
                 lambda = E * nu / ((1 + nu) * (1 - 2 * nu)), e = log(1.1);
    pbd_scene scene;
    solver s;
    make_block(&scene, 6, 6, 6, 0.1);
    scene.particles.start = malloc(3 * scene.particles.count * sizeof(double));
    for (size_t i = 0; i < 3 * scene.particles.count; i++)
        scene.particles.start[i] = scene.particles.positions[i] * (i % 3 == 1 ? 1.1 : 1);
    for (uint32_t p = 0; p < scene.particles.count; p++)
        scene.particles.fixed_particle[scene.particles.fixed++] = p; /* stress is all there is */
    solver_open(&s, "mpm", PBD_PRECISION_F64, 1, &scene, "");
    run_steps(&s, 1, dt);
    size_t bytes = 0;
    check_ok(s.method->save(s.state, NULL, &bytes));
    double *blob = malloc(bytes);
    check_ok(s.method->save(s.state, blob, &bytes));
    for (size_t i = 0; i < scene.particles.count; i += 50) {
        const double *affine = blob + ROWS * i + 8, share = -4 * dt * 1e-3 / size;
        check_near("F_yy", blob[ROWS * i + 20 + 4], 1.1, 1e-9);
        check_near("tau_yy, Pa", affine[4] / share, (2 * mu + lambda) * e, 2e-2);
        check_near("tau_xx, Pa", affine[0] / share, lambda * e, 2e-2);
        check_near("tau_xy, Pa", affine[1] / share, 0, 2e-2);
    }
    free(blob);
    solver_close(&s);
    free_block(&scene);
}

/* ---- Colliders --------------------------------------------------------------------------------------------------- */

/* A block on an incline (gravity is inclined instead) slides with acceleration g (sin - mu cos), or stays. */
static void test_friction_of_a_slope(void **unused) {
    (void)unused;
    static const struct {
        double friction;
        const char *words;
        double acceleration;
    } given[] = {{0.2, "", 0.3 * 9.81 - 0.2 * 9.81},
                 {0, "", 0.3 * 9.81},
                 {0.2, "walls=slip", 0.3 * 9.81},
                 {0.5, "", 0},
                 {0, "walls=sticky", 0}};
    for (size_t k = 0; k < sizeof given / sizeof *given; k++) {
        pbd_scene scene;
        solver s;
        make_block(&scene, 8, 8, 4, 0.05);
        scene.material->nu = 0;
        scene.loads.gravity[0] = 0.3 * 9.81;
        scene.loads.gravity[2] = -9.81;
        add_floor(&scene, 0, given[k].friction);
        solver_open(&s, "mpm", PBD_PRECISION_F64, 1, &scene, given[k].words);
        run_steps(&s, 500, 5e-4); /* the transient of the initial load has decayed */
        double *first = velocities_of(&s, scene.particles.count), gained = 0;
        run_steps(&s, 1000, 5e-4);
        double *last = velocities_of(&s, scene.particles.count), *x = positions_of(&s, scene.particles.count),
               lowest = 1;
        for (size_t p = 0; p < scene.particles.count; p++) {
            gained += (last[3 * p] - first[3 * p]) / (double)scene.particles.count;
            lowest = fmin(lowest, x[3 * p + 2]);
        }
        check_near(*given[k].words ? given[k].words : "acceleration, m/s^2", gained / 0.5, given[k].acceleration, 0.05);
        if (lowest < 0) fail_msg("a particle is %g m under the floor", -lowest);
        free(first);
        free(last);
        free(x);
        solver_close(&s);
        free_block(&scene);
    }
}

/* A plate with a thickness of an eighth of a cell, in which no grid node lies: the floor far below aligns the nodes. */
static void make_block_on_plate(pbd_scene *s) {
    make_block(s, 4, 4, 4, 0.1);
    add_floor(s, -1, 0);
    s->colliders.item[s->colliders.count++] = (pbd_collider){.shape = PBD_BOX,
                                                             .axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                                                             .centre = {0.2, 0.2, -0.0625},
                                                             .half = {1, 1, 0.0125}};
}

/* A block that falls on the plate never has more kinetic energy than its fall released, and comes to rest. */
static void test_thin_wall_stops(void **unused) {
    (void)unused;
    pbd_scene scene;
    solver s;
    make_block_on_plate(&scene);
    scene.loads.gravity[2] = -10;
    const size_t n = scene.particles.count;
    solver_open(&s, "mpm", PBD_PRECISION_F64, 1, &scene, "damping=10");
    double gained = 0, speed = 0;
    for (int k = 0; k < 40; k++) {
        run_steps(&s, 100, 2e-4);
        double *x = positions_of(&s, n), *v = velocities_of(&s, n), energy = 0;
        speed = 0;
        for (size_t p = 0; p < n; p++) {
            energy += 10 * (x[3 * p + 2] - scene.particles.positions[3 * p + 2]);
            for (int d = 0; d < 3; d++) energy += v[3 * p + d] * v[3 * p + d] / 2;
            speed = fmax(speed, fabs(v[3 * p + 2]));
        }
        gained = fmax(gained, energy / (double)n);
        free(x);
        free(v);
    }
    check_near("energy of a fall gained, J/kg", gained, 0, 1e-12);
    check_near("speed at rest, m/s", speed, 0, 0.05);
    assert_true(was_warned(&s, "thin_wall"));
    solver_close(&s);
    free_block(&scene);
}

/* A moving plate exerts its whole impulse at its own speed: its work is that speed times the momentum of the block. */
static void test_thin_wall_works(void **unused) {
    (void)unused;
    pbd_scene scene;
    solver s;
    make_block_on_plate(&scene);
    scene.colliders.item[1].velocity[2] = 0.5;
    const size_t n = scene.particles.count;
    solver_open(&s, "mpm", PBD_PRECISION_F64, 1, &scene, "");
    run_steps(&s, 2500, 2e-4);
    double sums[5], momentum = 0, *v = velocities_of(&s, n);
    check_ok(s.method->read(s.state, PBD_COLLIDER_SUMS, sums));
    for (size_t p = 0; p < n; p++) momentum += scene.particles.masses[p] * v[3 * p + 2];
    if (momentum < 0.5 * 64 * 0.9) fail_msg("the plate gave %g kg m/s", momentum);
    check_near("impulse over momentum", sums[4] / momentum, 1, 1e-9);
    check_near("work over speed times momentum", sums[0] / (0.5 * momentum), 1, 1e-9);
    free(v);
    solver_close(&s);
    free_block(&scene);
}

/* ---- Flow rules -------------------------------------------------------------------------------------------------- */

static void make_sand(pbd_scene *s) {
    make_block(s, 8, 8, 8, 0.02);
    add_floor(s, 0, 0.5);
    s->material->E = 1e6;
    set_flow_values(s->material, "drucker_prager", "friction_angle=30");
    s->loads.gravity[2] = -9.81;
}

/* A column without walls collapses, and the stress of no particle is outside the cone (Klar et al. 2016, by hand from
 * the eigenvalues of F^T F). */
static void test_sand_flows_within_its_cone(void **unused) {
    (void)unused;
    const double alpha = sqrt(2.0 / 3) * 2 * 0.5 / (3 - 0.5), nu = 0.3; /* sin 30 = 1/2 */
    const double slope = alpha * (1 + nu) / (1 - 2 * nu);               /* (3 lambda + 2 mu)/(2 mu) */
    pbd_scene scene;
    solver s;
    make_sand(&scene);
    solver_open(&s, "mpm", PBD_PRECISION_F64, 1, &scene, "");
    run_steps(&s, 1500, 2e-4);
    double *f = malloc(9 * scene.particles.count * sizeof *f), *x = positions_of(&s, scene.particles.count), worst = -1;
    check_ok(s.method->read(s.state, PBD_DEFORMATION_GRADIENTS, f));
    size_t loaded = 0;
    double widest = 0, highest = 0;
    for (size_t p = 0; p < scene.particles.count; p++) {
        double c[3][3], trace, square = 0, log_j;
        /* |dev e| and tr e from B = F F^T, for the small strains of stiff sand: e = (B - I)/2 - (B - I)^2/4 + ... */
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                c[i][j] = -(double)(i == j);
                for (int k = 0; k < 3; k++) c[i][j] += f[9 * p + (size_t)(3 * i + k)] * f[9 * p + (size_t)(3 * j + k)];
            }
        double e[3][3];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                double two = 0, three = 0;
                for (int k = 0; k < 3; k++) {
                    two += c[i][k] * c[k][j];
                    for (int l = 0; l < 3; l++) three += c[i][k] * c[k][l] * c[l][j];
                }
                e[i][j] = c[i][j] / 2 - two / 4 + three / 6;
            }
        log_j = trace = e[0][0] + e[1][1] + e[2][2];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                square += (e[i][j] - (i == j ? trace / 3 : 0)) * (e[i][j] - (i == j ? trace / 3 : 0));
        worst = fmax(worst, sqrt(square) + slope * log_j);
        loaded += log_j < -1e-5;
        widest = fmax(widest, fabs(x[3 * p] - 0.08));
        highest = fmax(highest, x[3 * p + 2]);
    }
    check_near("beyond the cone, strain", fmax(worst, 0), 0, 1e-9);
    print_message("    %zu of %zu particles bear load, half-width %.3g m, height %.3g m\n", loaded,
                  scene.particles.count, widest, highest);
    assert_true(loaded > scene.particles.count / 10);
    assert_true(widest > 0.09 && highest < 0.12); /* 0.07 and 0.15 at the start */
    free(f);
    free(x);
    solver_close(&s);
    free_block(&scene);
}

static void test_every_rule_runs(void **unused) {
    (void)unused;
    for (int rule = 0; flow_table[rule].name; rule++) {
        pbd_scene scene;
        solver s;
        make_sand(&scene);
        set_flow_values(scene.material, flow_table[rule].name, "yield_stress=500 viscosity=10 xi=3");
        solver_open(&s, "mpm", PBD_PRECISION_F32, 1, &scene, "");
        run_steps(&s, 400, 2e-4);
        double *x = positions_of(&s, scene.particles.count);
        for (size_t i = 0; i < 3 * scene.particles.count; i++) assert_true(isfinite(x[i]) && fabs(x[i]) < 1);
        free(x);
        solver_close(&s);
        free_block(&scene);
    }
}

/* ---- What all methods share -------------------------------------------------------------------------------------- */

/* Sand of which a corner is held and the top is pushed. */
static double *march_sand(int backend, int precision, int threads, int steps) {
    pbd_scene scene;
    solver s;
    make_sand(&scene);
    for (size_t p = 0; p < scene.particles.count; p++) {
        const double *x = scene.particles.positions + 3 * p;
        if (x[0] < 0.05 && x[1] < 0.05 && x[2] < 0.05)
            scene.particles.fixed_particle[scene.particles.fixed++] = (uint32_t)p;
        if (x[2] > 0.14) scene.loads.forces[3 * p] = 0.02;
    }
    check_ok(try_open_on(backend, &s, "mpm", (pbd_precision)precision, threads, &scene, ""));
    run_steps(&s, steps, 4e-4);
    double *x = positions_of(&s, scene.particles.count);
    solver_close(&s);
    free_block(&scene);
    return x;
}

enum { SAND = 512 };

static void test_threads(void **unused) {
    (void)unused;
    for (int precision = 0; precision < 2; precision++) {
        double *one = march_sand(PBD_CPU, precision, 1, 60);
        for (int threads = 3; threads <= 8; threads += 5) {
            double *more = march_sand(PBD_CPU, precision, threads, 60);
            assert_memory_equal(one, more, 3 * SAND * sizeof *one);
            free(more);
        }
        free(one);
    }
}

#if defined(__SANITIZE_THREAD__)
enum { EMULATED_STEPS = 1 };
#else
enum { EMULATED_STEPS = 3 };
#endif

static void test_backends_and_precisions(void **unused) {
    (void)unused;
    static const double limit[] = {1e-6, 1e-14};
    for (int precision = 0; precision < 2; precision++) {
        double *cpu = march_sand(PBD_CPU, precision, 1, EMULATED_STEPS);
        double *emu = march_sand(PBD_EMU, precision, 1, EMULATED_STEPS), off = 0;
        for (size_t i = 0; i < 3 * SAND; i++) off = fmax(off, fabs(cpu[i] - emu[i]));
        check_near("emu against cpu, m", off, 0, limit[precision]);
        free(cpu);
        free(emu);
    }
    double *wide = march_sand(PBD_CPU, PBD_PRECISION_F64, 1, 100);
    double *narrow = march_sand(PBD_CPU, PBD_PRECISION_F32, 1, 100), off = 0;
    for (size_t i = 0; i < 3 * SAND; i++) off = fmax(off, fabs(wide[i] - narrow[i]));
    check_near("f32 against f64 after 100 steps, m", off, 0, 2e-5);
    free(wide);
    free(narrow);
}

static void test_save_and_load(void **unused) {
    (void)unused;
    pbd_scene scene;
    solver s;
    make_sand(&scene);
    scene.colliders.item[0].velocity[2] = 0.1; /* the scene depends on time */
    solver_open(&s, "mpm", PBD_PRECISION_F32, 1, &scene, "");
    run_steps(&s, 20, 2e-4);
    size_t bytes = 0;
    check_ok(s.method->save(s.state, NULL, &bytes));
    char *blob = malloc(bytes);
    check_ok(s.method->save(s.state, blob, &bytes));
    run_steps(&s, 20, 2e-4);
    double *first = positions_of(&s, scene.particles.count);
    check_ok(s.method->load(s.state, blob, bytes));
    run_steps(&s, 20, 2e-4);
    double *again = positions_of(&s, scene.particles.count);
    assert_memory_equal(first, again, 3 * scene.particles.count * sizeof *first);
    assert_int_equal(s.method->load(s.state, blob, bytes - 4).code, PBD_BAD_INPUT);
    free(first);
    free(again);
    free(blob);
    solver_close(&s);
    free_block(&scene);
}

/* Alternating step sizes differ from even steps only to second order: each step uses the stress for its own size. */
static void test_steps_of_several_sizes(void **unused) {
    (void)unused;
    double *x[2];
    for (int k = 0; k < 2; k++) {
        pbd_scene scene;
        solver s;
        make_block(&scene, 8, 4, 4, 0.1);
        for (size_t p = 0; p < scene.particles.count; p++)
            scene.particles.velocities[3 * p] = 0.1 * scene.particles.positions[3 * p];
        solver_open(&s, "mpm", PBD_PRECISION_F64, 1, &scene, "");
        for (int i = 0; i < 40; i++) run_steps(&s, 1, k ? (i % 2 ? 1.8e-4 : 0.2e-4) : 1e-4);
        x[k] = positions_of(&s, scene.particles.count);
        solver_close(&s);
        free_block(&scene);
    }
    double off = 0, moved = 0;
    for (size_t i = 0; i < 3 * 128; i++) off = fmax(off, fabs(x[0][i] - x[1][i]));
    moved = fabs(x[0][3 * 7] - 0.75);
    check_near("uneven against even steps, relative", off / moved, 0, 5e-3);
    free(x[0]);
    free(x[1]);
}

/* ---- Bad input --------------------------------------------------------------------------------------------------- */

static void refuse(const pbd_scene *scene, pbd_code code, const char *says) {
    solver s;
    const pbd_status status = try_open(&s, "mpm", PBD_PRECISION_F64, 1, scene, "dt=1e-4");
    if (status.code != code || !strstr(status.text, says))
        fail_msg("wanted code %d and '%s', got %d: %s", code, says, status.code, status.text);
    s.state = NULL;
    solver_close(&s);
}

static void test_bad_scenes(void **unused) {
    (void)unused;
    pbd_scene scene;
    make_block(&scene, 2, 2, 2, 0.1);
    scene.material->law = "stvk";
    refuse(&scene, PBD_NOT_SUPPORTED, "material=hencky");
    scene.material->law = "hencky";
    scene.material->nu = 0.5;
    refuse(&scene, PBD_BAD_INPUT, "nu=0.5");
    scene.material->nu = 0.3;
    scene.particles.positions[10] = (double)NAN;
    refuse(&scene, PBD_BAD_INPUT, "particle 3 is at");
    double *kept = scene.particles.velocities;
    scene.particles.velocities = NULL;
    for (int d = 0; d < 3; d++) scene.particles.positions[9 + d] = 1e5;
    refuse(&scene, PBD_BAD_INPUT, "particles are spread over");
    for (int d = 0; d < 3; d++) scene.particles.positions[9 + d] = 0.1;
    scene.particles.velocities = kept;
    scene.particles.volumes[5] = 0;
    refuse(&scene, PBD_BAD_INPUT, "particle 5 stands for a volume of 0");
    scene.particles.volumes[5] = 1e-3;
    scene.particles.masses[1] = -1;
    refuse(&scene, PBD_BAD_INPUT, "particle 1 has the mass -1");
    scene.particles.masses[1] = 1;
    scene.colliders.item[0] = (pbd_collider){.shape = PBD_SPHERE, .axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    scene.colliders.count = 1;
    refuse(&scene, PBD_BAD_INPUT, "radius 0 m");
    scene.colliders.count = 0;
    scene.particles.spacing = 0;
    refuse(&scene, PBD_BAD_INPUT, "no spacing is given");
    scene.particles.count = 0;
    refuse(&scene, PBD_BAD_INPUT, "no spacing is given");
    free_block(&scene);
}

/* Coincident and lone particles are handled; a step far above the CFL limit gives a warning, and ends as diverged, not
 * with NaN. */
static void test_poor_scenes(void **unused) {
    (void)unused;
    pbd_scene scene;
    solver s;
    make_block(&scene, 4, 4, 4, 0.1);
    memcpy(scene.particles.positions, scene.particles.positions + 3, 3 * sizeof(double)); /* two coincident */
    scene.particles.positions[3 * 63] = 9;                                                /* a lone one */
    scene.loads.gravity[2] = -10;
    solver_open(&s, "mpm", PBD_PRECISION_F32, 1, &scene, "");
    run_steps(&s, 20, 1e-4);
    double *x = positions_of(&s, scene.particles.count);
    check_near("a lone one falls, m", x[3 * 63 + 2] - scene.particles.positions[3 * 63 + 2], -10 * 1e-8 * 210, 1e-6);
    free(x);
    solver_close(&s);

    for (size_t p = 0; p < scene.particles.count; p++) scene.particles.velocities[3 * p] = 0.1 * noise(&(uint64_t){p});
    solver_open(&s, "mpm", PBD_PRECISION_F32, 1, &scene, "");
    pbd_status status = pbd_ok();
    for (int i = 0; i < 3000 && status.code == PBD_OK; i++) status = s.method->step(s.state, 0.2);
    assert_int_equal(status.code, PBD_DIVERGED);
    assert_true(was_warned(&s, "elastic_cfl"));
    solver_close(&s);
    free_block(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_momenta_are_kept),
        cmocka_unit_test(test_affine_velocities_come_back),
        cmocka_unit_test(test_free_fall),
        cmocka_unit_test(test_bar_pulled),
        cmocka_unit_test(test_bar_vibrates),
        cmocka_unit_test(test_stretched_start),
        cmocka_unit_test(test_friction_of_a_slope),
        cmocka_unit_test(test_thin_wall_stops),
        cmocka_unit_test(test_thin_wall_works),
        cmocka_unit_test(test_sand_flows_within_its_cone),
        cmocka_unit_test(test_every_rule_runs),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_backends_and_precisions),
        cmocka_unit_test(test_save_and_load),
        cmocka_unit_test(test_steps_of_several_sizes),
        cmocka_unit_test(test_bad_scenes),
        cmocka_unit_test(test_poor_scenes),
    };
    return cmocka_run_group_tests_name("mpm", tests, NULL, NULL);
}
