/* Position-based fluid (methods/physics/parts/fluid.h) through the method pbf, against Macklin and Mueller's formulas,
 * implemented naively here, and properties of every step: momenta, rotations, units, threads, backends, walls. */
#include "tests/ladder.h"

/* ---- Clouds ------------------------------------------------------------------------------------------------------ */

static const double EDGE = 0.1; /* m */

/* A jittered lattice of nx x ny x nz particles with spacing `closer` x EDGE; `uneven` is the relative variation of
 * masses and volumes. */
static void make_cloud(pbd_scene *scene, const size_t n[3], double closer, double jitter, double uneven) {
    uint64_t seed = 7;
    const size_t count = n[0] * n[1] * n[2];
    *scene = (pbd_scene){.particles.count = count, .particles.spacing = EDGE, .extent = EDGE * (double)n[0]};
    scene->particles.positions = calloc(3 * count + 1, sizeof(double));
    scene->particles.velocities = calloc(3 * count + 1, sizeof(double));
    scene->particles.masses = calloc(count + 1, sizeof(double));
    scene->particles.volumes = calloc(count + 1, sizeof(double));
    scene->particles.material = malloc(count + 1);
    scene->materials = 2; /* the index of a material is its matter */
    scene->material[PBD_FLUID] = (pbd_material){.matter = PBD_FLUID, .density = 1000};
    memset(scene->particles.material, PBD_FLUID, count);
    for (size_t p = 0; p < count; p++) {
        const size_t at[3] = {p % n[0], p / n[0] % n[1], p / n[0] / n[1]};
        for (size_t d = 0; d < 3; d++)
            scene->particles.positions[3 * p + d] = EDGE * closer * ((double)at[d] + jitter * noise(&seed)) - 0.23;
        scene->particles.volumes[p] = 1e-3 * (1 + uneven * noise(&seed));
        scene->particles.masses[p] = 1 + uneven * noise(&seed);
    }
}

static void set_noise_velocities(pbd_scene *scene, double size) {
    uint64_t seed = 21;
    for (size_t k = 0; k < 3 * scene->particles.count; k++) scene->particles.velocities[k] = size * noise(&seed);
}

static double *velocities_of(const solver *s, size_t particles) {
    double *v = malloc((3 * particles + 1) * sizeof *v);
    check_ok(s->method->read(s->state, PBD_VELOCITIES, v));
    return v;
}

static void check_steps(solver *s, double dt, int steps) {
    for (int i = 0; i < steps; i++) check_ok(s->method->step(s->state, dt));
}

static double *velocities_after(const pbd_scene *scene, const char *words, double dt, int steps) {
    solver s;
    solver_open(&s, "pbf", PBD_PRECISION_F64, 1, scene, words);
    check_steps(&s, dt, steps);
    double *v = velocities_of(&s, scene->particles.count);
    solver_close(&s);
    return v;
}

/* ---- Formulas ---------------------------------------------------------------------------------------------------- */

typedef double (*kernel_of)(double r, double end);

static double cubic_spline(double r, double end) {
    const double q = r / end, a = q < 1 ? 1 - q : 0, b = q < 0.5 ? 0.5 - q : 0;
    return 16 / (M_PI * pow(end, 3)) * (pow(a, 3) - 4 * pow(b, 3)); /* Monaghan's form */
}

static double wendland(double r, double end) {
    const double q = r / end;
    return q < 1 ? 10.5 / (M_PI * pow(end, 3)) * pow(1 - q, 4) * (1 + 4 * q) : 0;
}

static double spiky(double r, double end) {
    const double q = r / end;
    return q < 1 ? 15 / (M_PI * pow(end, 3)) * pow(1 - q, 3) : 0;
}

static double distance(const double *a, const double *b) {
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

/* Sum of V W over a cubic lattice whose cells have the mean volume of a particle; *edge is the edge of a cell. */
static double lattice_sum(const pbd_scene *s, kernel_of w, double end, double *edge) {
    double volume = 0, sum = 0;
    for (size_t i = 0; i < s->particles.count; i++) volume += s->particles.volumes[i] / (double)s->particles.count;
    *edge = cbrt(volume);
    for (int z = -6; z <= 6; z++)
        for (int y = -6; y <= 6; y++)
            for (int x = -6; x <= 6; x++) sum += volume * w(*edge * sqrt(x * x + y * y + z * z), end * *edge);
    return sum;
}

/* Constraint C of each particle. A floor at z = floor_at mirrors every particle; NaN: no floor. */
static void constraints_at(const pbd_scene *s, const double *x, kernel_of w, double end, double floor_at, double *out) {
    double edge;
    const double S = lattice_sum(s, w, end, &edge), reach = end * edge;
    for (size_t i = 0; i < s->particles.count; i++) {
        double sum = 0;
        for (size_t j = 0; j < s->particles.count; j++) {
            const double image[3] = {x[3 * j], x[3 * j + 1], 2 * floor_at - x[3 * j + 2]};
            sum += s->particles.volumes[j] * w(distance(x + 3 * i, x + 3 * j), reach) / S;
            if (!isnan(floor_at)) sum += s->particles.volumes[j] * w(distance(x + 3 * i, image), reach) / S;
        }
        out[i] = sum - 1;
    }
}

/* Displacements of one undamped Jacobi pass, with gradients by finite differences. */
static void moves_of(const pbd_scene *s, const double *start, kernel_of w, double end, double floor_at, double *out) {
    const size_t n = s->particles.count;
    double *x = calloc(3 * n, sizeof *x), *up = malloc(n * sizeof *up), *down = malloc(n * sizeof *down);
    double *gradient = malloc(3 * n * n * sizeof *gradient), *c = malloc(n * sizeof *c);
    memcpy(x, start, 3 * n * sizeof *x);
    constraints_at(s, x, w, end, floor_at, c);
    for (size_t k = 0; k < 3 * n; k++) {
        const double kept = x[k], eps = 1e-6 * EDGE;
        x[k] = kept + eps;
        constraints_at(s, x, w, end, floor_at, up);
        x[k] = kept - eps;
        constraints_at(s, x, w, end, floor_at, down);
        x[k] = kept;
        for (size_t i = 0; i < n; i++) gradient[3 * n * i + k] = (up[i] - down[i]) / (2 * eps);
    }
    memset(out, 0, 3 * n * sizeof *out);
    for (size_t i = 0; i < n; i++) {
        double weight = 0;
        for (size_t k = 0; k < 3 * n; k++)
            weight += gradient[3 * n * i + k] * gradient[3 * n * i + k] / s->particles.masses[k / 3];
        for (size_t k = 0; k < 3 * n; k++)
            out[k] -= c[i] / weight * gradient[3 * n * i + k] / s->particles.masses[k / 3];
    }
    free(x);
    free(up);
    free(down);
    free(gradient);
    free(c);
}

static double largest(const double *a, size_t n) {
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(a[i]));
    return most;
}

static double largest_difference(const double *a, const double *b, size_t n) {
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

static const char *const one_pass =
    "iterations=1 relaxation=1 softening=0 constraint=both_sided xsph=0 keep=0 settling=0";

static void check_one_pass(const char *kernel, kernel_of w, double end, double limit) {
    pbd_scene scene;
    char words[300], name[100];
    const double dt = 0.01;
    make_cloud(&scene, (const size_t[]){4, 3, 4}, 0.95, 0.2, 0.2);
    set_noise_velocities(&scene, 0.3);
    const size_t n = 3 * scene.particles.count;
    double *x = calloc(n, sizeof *x), *moves = calloc(n, sizeof *moves);
    for (size_t k = 0; k < n; k++) x[k] = scene.particles.positions[k] + dt * scene.particles.velocities[k];
    moves_of(&scene, x, w, end, NAN, moves);
    snprintf(words, sizeof words, "%s kernel=%s support=%g", one_pass, kernel, end);
    double *v = velocities_after(&scene, words, dt, 1), worst = 0;
    for (size_t k = 0; k < n; k++) worst = fmax(worst, fabs((v[k] - scene.particles.velocities[k]) * dt - moves[k]));
    snprintf(name, sizeof name, "moves of a pass, %s to %g edges", kernel, end);
    check_near(name, worst / largest(moves, n), 0, limit);
    free(v);
    free(x);
    free(moves);
    pbd_scene_free(&scene);
}

static void test_gradients_by_differences(void **unused) {
    (void)unused;
    check_one_pass("cubic_spline", cubic_spline, 2, 1e-6);
    check_one_pass("wendland_c2", wendland, 2.3, 1e-6);
    check_one_pass("spiky", spiky, 1.9, 1e-6);
}

/* Puts walls at `at` (m) across z, x and y, in this order, that face the positive directions. */
static void add_walls(pbd_scene *scene, size_t walls, double at) {
    scene->colliders.count = walls;
    scene->colliders.item = calloc(walls, sizeof *scene->colliders.item);
    for (size_t c = 0; c < walls; c++) {
        pbd_collider *wall = &scene->colliders.item[c];
        wall->shape = PBD_PLANE;
        for (size_t d = 0; d < 3; d++) wall->axis[d][(c + d) % 3] = 1;
        wall->centre[(c + 2) % 3] = at;
    }
}

/* A cloud beside walls moves like the cloud together with its mirror images, and the images' images, without walls. */
static void check_mirrors(size_t walls, const char *words) {
    pbd_scene scene, all;
    const double at = -0.23 - 0.03, dt = 0.01;
    char name[100];
    make_cloud(&scene, (const size_t[]){4, 3, 4}, 0.95, 0.1, 0.2);
    make_cloud(&all, (const size_t[]){4, 3, (size_t)4 << walls}, 0.95, 0.1, 0.2);
    set_noise_velocities(&scene, 0.1);
    const size_t n = scene.particles.count;
    for (size_t k = 0; k < 3 * all.particles.count; k++) {
        const size_t from = k % (3 * n), wall = (k + 1) % 3; /* the wall across this coordinate */
        const double x = scene.particles.positions[from], v = scene.particles.velocities[from];
        const bool image = k / (3 * n) >> wall & 1;
        all.particles.positions[k] = image ? 2 * at - x : x;
        all.particles.velocities[k] = image ? -v : v;
        all.particles.masses[k / 3] = scene.particles.masses[from / 3];
        all.particles.volumes[k / 3] = scene.particles.volumes[from / 3];
    }
    add_walls(&scene, walls, at);
    double *v = velocities_after(&scene, words, dt, 3), *same = velocities_after(&all, words, dt, 3), moved = 0;
    for (size_t k = 0; k < 3 * n; k++) moved = fmax(moved, fabs(v[k] - scene.particles.velocities[k]));
    snprintf(name, sizeof name, "beside %zu walls, of the largest change", walls);
    check_near(name, largest_difference(v, same, 3 * n) / moved, 0, 1e-12);
    free(v);
    free(same);
    pbd_scene_free(&scene);
    pbd_scene_free(&all);
}

static void test_walls_are_mirrors(void **unused) {
    (void)unused;
    check_mirrors(1, "iterations=3 xsph=0 settling=0");
    /* One pass at the positions of the search: an explicit image that comes within the support later is in no list. */
    for (size_t walls = 2; walls <= 3; walls++) check_mirrors(walls, "iterations=1 keep=0 xsph=0 settling=0");
}

/* Operations that the second step declares for two particles, of whose three walls `near` are close. */
static double declared_beside_walls(size_t near) {
    pbd_scene scene;
    solver s;
    make_cloud(&scene, (const size_t[]){2, 1, 1}, 0.95, 0, 0);
    add_walls(&scene, 3, -100);
    for (size_t c = 0; c < near; c++) scene.colliders.item[c].centre[(c + 2) % 3] = -0.26;
    solver_open(&s, "pbf", PBD_PRECISION_F64, 1, &scene, "iterations=1 keep=0 xsph=0 settling=0");
    check_steps(&s, 1e-3, 1);
    const double before = pbd_exec_read_totals(s.exec).flops;
    check_steps(&s, 1e-3, 1);
    const double flops = pbd_exec_read_totals(s.exec).flops - before;
    solver_close(&s);
    pbd_scene_free(&scene);
    return flops;
}

/* A neighbour has one image at a wall, three in a corner of two walls, seven in one of three. */
static void test_images_count_as_work(void **unused) {
    (void)unused;
    const double none = declared_beside_walls(0), one = declared_beside_walls(1) - none;
    assert_true(one > 0);
    check_near("operations of images, two walls over one", (declared_beside_walls(2) - none) / one, 3, 1e-12);
    check_near("operations of images, three walls over one", (declared_beside_walls(3) - none) / one, 7, 1e-12);
}

/* ---- What holds of any step -------------------------------------------------------------------------------------- */

/* Internal corrections conserve momentum over several steps, and within a step angular momentum about the positions at
 * which gradients are taken. */
static void test_momenta(void **unused) {
    (void)unused;
    pbd_scene scene;
    make_cloud(&scene, (const size_t[]){5, 4, 4}, 0.9, 0.2, 0.3);
    set_noise_velocities(&scene, 1);
    const double dt = 0.01;
    double *v = velocities_after(&scene, "iterations=5 xsph=0.1 crowding=0.1 settling=0", dt, 4), lost[3] = {0},
           size = 0;
    for (size_t k = 0; k < 3 * scene.particles.count; k++) {
        lost[k % 3] += scene.particles.masses[k / 3] * (v[k] - scene.particles.velocities[k]);
        size += scene.particles.masses[k / 3] * fabs(v[k] - scene.particles.velocities[k]);
    }
    check_near("momentum after four steps", largest(lost, 3) / size, 0, 1e-14);
    free(v);
    v = velocities_after(&scene, "iterations=1 xsph=0 crowding=0.1 settling=0", dt, 1);
    double turn[3] = {0}, turned = 0;
    for (size_t p = 0; p < scene.particles.count; p++)
        for (size_t d = 0; d < 3; d++) {
            const size_t e = 3 * p + (d + 1) % 3, f = 3 * p + (d + 2) % 3;
            const double xe = scene.particles.positions[e] + dt * scene.particles.velocities[e];
            const double xf = scene.particles.positions[f] + dt * scene.particles.velocities[f];
            const double one = scene.particles.masses[p] * (xe * (v[f] - scene.particles.velocities[f]) -
                                                            xf * (v[e] - scene.particles.velocities[e]));
            turn[d] += one;
            turned += fabs(one);
        }
    check_near("angular momentum of a pass", largest(turn, 3) / turned, 0, 1e-13);
    free(v);
    pbd_scene_free(&scene);
}

static void rotate(double *rows, size_t count) {
    static const double R[3][3] = {{0.36, 0.48, -0.8}, {-0.8, 0.6, 0}, {0.48, 0.64, 0.6}};
    for (size_t p = 0; p < count; p++) {
        const double x[3] = {rows[3 * p], rows[3 * p + 1], rows[3 * p + 2]};
        for (size_t i = 0; i < 3; i++) rows[3 * p + i] = R[i][0] * x[0] + R[i][1] * x[1] + R[i][2] * x[2];
    }
}

static void test_rotation(void **unused) {
    (void)unused;
    pbd_scene scene;
    make_cloud(&scene, (const size_t[]){5, 4, 4}, 0.9, 0.2, 0.2);
    set_noise_velocities(&scene, 1);
    const char *words = "iterations=5 crowding=0.05 vorticity=0.02 settling=0";
    double *v = velocities_after(&scene, words, 0.01, 3);
    rotate(v, scene.particles.count);
    rotate(scene.particles.positions, scene.particles.count);
    rotate(scene.particles.velocities, scene.particles.count);
    double *turned = velocities_after(&scene, words, 0.01, 3);
    check_near("rotated, m/s", largest_difference(v, turned, 3 * scene.particles.count), 0, 1e-11);
    free(v);
    free(turned);
    pbd_scene_free(&scene);
}

/* The result is the same in metres and centimetres, kilograms and tonnes. */
static void test_units(void **unused) {
    (void)unused;
    pbd_scene scene;
    make_cloud(&scene, (const size_t[]){5, 4, 4}, 0.9, 0.2, 0.2);
    set_noise_velocities(&scene, 1);
    double *metres = velocities_after(&scene, "iterations=5 crowding=0.05 settling=0", 0.01, 3);
    scene.particles.spacing *= 100;
    scene.extent *= 100;
    for (size_t p = 0; p < scene.particles.count; p++)
        scene.particles.volumes[p] *= 1e6, scene.particles.masses[p] *= 1e-3;
    for (size_t k = 0; k < 3 * scene.particles.count; k++)
        scene.particles.positions[k] *= 100, scene.particles.velocities[k] *= 100;
    double *centimetres = velocities_after(&scene, "iterations=5 crowding=0.05 settling=0", 0.01, 3);
    for (size_t k = 0; k < 3 * scene.particles.count; k++) centimetres[k] /= 100;
    check_near("in centimetres, m/s", largest_difference(metres, centimetres, 3 * scene.particles.count), 0, 1e-11);
    free(metres);
    free(centimetres);
    pbd_scene_free(&scene);
}

/* Liquid below its rest density is not corrected: it falls freely. */
static void test_thin_liquid_is_free(void **unused) {
    (void)unused;
    pbd_scene scene;
    make_cloud(&scene, (const size_t[]){5, 4, 4}, 1.2, 0.02, 0);
    scene.loads.gravity[2] = -9.81;
    double *v = velocities_after(&scene, "", 1e-3, 50), worst = 0;
    for (size_t k = 0; k < 3 * scene.particles.count; k++)
        worst = fmax(worst, fabs(v[k] + (k % 3 == 2 ? 9.81 * 0.05 : 0)));
    check_near("velocities of what falls", worst, 0, 1e-13);
    free(v);
    pbd_scene_free(&scene);
}

/* XSPH moves a particle by c sum (m_i V_j + m_j V_i)/(2 m_i) W (v_j - v_i). */
static void test_smoothing(void **unused) {
    (void)unused;
    pbd_scene scene;
    double edge;
    make_cloud(&scene, (const size_t[]){4, 4, 4}, 1.2, 0.1, 0.2);
    set_noise_velocities(&scene, 0.01);
    const double dt = 1e-3;
    double *v = velocities_after(&scene, "xsph=0.3", dt, 1), worst = 0;
    (void)lattice_sum(&scene, cubic_spline, 2.2, &edge);
    for (size_t i = 0; i < scene.particles.count; i++)
        for (size_t d = 0; d < 3; d++) {
            const double *x = scene.particles.positions, *u = scene.particles.velocities;
            double sum = 0;
            for (size_t j = 0; j < scene.particles.count; j++) {
                double square = 0;
                for (size_t e = 0; e < 3; e++)
                    square += pow(x[3 * i + e] + dt * u[3 * i + e] - x[3 * j + e] - dt * u[3 * j + e], 2);
                sum += 0.5 *
                       (scene.particles.volumes[j] +
                        scene.particles.masses[j] * scene.particles.volumes[i] / scene.particles.masses[i]) *
                       cubic_spline(sqrt(square), 2.2 * edge) * (u[3 * j + d] - u[3 * i + d]);
            }
            worst = fmax(worst, fabs(v[3 * i + d] - u[3 * i + d] - 0.3 * sum));
        }
    check_near("XSPH, m/s", worst, 0, 1e-15);
    free(v);
    pbd_scene_free(&scene);
}

/* ---- Backends ---------------------------------------------------------------------------------------------------- */

static const char *const busy[] = {
    "iterations=4", "iterations=4 crowding=0.05 vorticity=0.1 xsph=0.2 settling=0", "iterations=4 xsph=0.2 settling=0",
    "iterations=4 support=3",
    "iterations=4 multipliers=printed keep=0 kernel=poly6_spiky printed_softening=60 settling=0"};

/* A cloud that moves into a corner, half of it compressed. */
static void make_busy_scene(pbd_scene *scene) {
    make_cloud(scene, (const size_t[]){7, 6, 5}, 0.93, 0.15, 0.1);
    set_noise_velocities(scene, 0.2);
    scene->loads.gravity[2] = -9.81;
    scene->colliders.count = 2;
    scene->colliders.item = calloc(2, sizeof *scene->colliders.item);
    for (size_t c = 0; c < 2; c++)
        scene->colliders.item[c] =
            (pbd_collider){.shape = PBD_PLANE, .axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, .friction = 0.2};
    scene->colliders.item[0].centre[2] = -0.26;
    const double frame[3][3] = {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}};
    memcpy(scene->colliders.item[1].axis, frame, sizeof frame);
    scene->colliders.item[1].centre[0] = -0.26;
}

static double *march(int backend, pbd_precision precision, int threads, const pbd_scene *scene, const char *words,
                     int steps) {
    solver s;
    check_ok(try_open_on(backend, &s, "pbf", precision, threads, scene, words));
    check_steps(&s, 5e-3, steps);
    double *x = positions_of(&s, scene->particles.count);
    solver_close(&s);
    return x;
}

static void test_threads_do_not_matter(void **unused) {
    (void)unused;
    pbd_scene scene;
    make_busy_scene(&scene);
    for (size_t i = 0; i < sizeof busy / sizeof *busy; i++)
        for (int precision = 0; precision < 2; precision++) {
            double *one = march(PBD_CPU, (pbd_precision)precision, 1, &scene, busy[i], 5);
            for (int threads = 3; threads <= 8; threads += 5) {
                double *x = march(PBD_CPU, (pbd_precision)precision, threads, &scene, busy[i], 5);
                assert_memory_equal(one, x, 3 * scene.particles.count * sizeof *x);
                free(x);
            }
            free(one);
        }
    pbd_scene_free(&scene);
}

static void test_emulation_and_precisions_agree(void **unused) {
    (void)unused;
    pbd_scene scene;
    make_busy_scene(&scene);
    for (size_t i = 0; i < sizeof busy / sizeof *busy; i++) {
        double *cpu = march(PBD_CPU, PBD_PRECISION_F64, 1, &scene, busy[i], 3);
        double *emu = march(PBD_EMU, PBD_PRECISION_F64, 1, &scene, busy[i], 3);
        double *f32 = march(PBD_CPU, PBD_PRECISION_F32, 1, &scene, busy[i], 3);
        check_near(busy[i], largest_difference(cpu, emu, 3 * scene.particles.count), 0, 1e-12);
        check_near("  in f32, m", largest_difference(cpu, f32, 3 * scene.particles.count), 0, 2e-5);
        free(cpu);
        free(emu);
        free(f32);
    }
    pbd_scene_free(&scene);
}

static void test_saved_state_goes_on(void **unused) {
    (void)unused;
    pbd_scene scene;
    solver s, other;
    size_t bytes = 0;
    make_busy_scene(&scene);
    solver_open(&s, "pbf", PBD_PRECISION_F32, 1, &scene, "");
    solver_open(&other, "pbf", PBD_PRECISION_F32, 1, &scene, "");
    check_steps(&s, 5e-3, 4);
    check_ok(s.method->save(s.state, NULL, &bytes));
    char *blob = malloc(bytes);
    check_ok(s.method->save(s.state, blob, &bytes));
    check_ok(other.method->load(other.state, blob, bytes));
    check_steps(&s, 5e-3, 4);
    check_steps(&other, 5e-3, 4);
    double *a = positions_of(&s, scene.particles.count), *b = positions_of(&other, scene.particles.count);
    assert_memory_equal(a, b, 3 * scene.particles.count * sizeof *a);
    free(a);
    free(b);
    free(blob);
    solver_close(&s);
    solver_close(&other);
    pbd_scene_free(&scene);
}

/* ---- With continuum, in xpbi ------------------------------------------------------------------------------------- */

/* Liquid above a cohesionless powder, both compressed, of different densities, with some powder particles within the
 * liquid, so that the order of the rows differs from that of the scene. */
static void make_mixture(pbd_scene *scene) {
    make_cloud(scene, (const size_t[]){6, 5, 6}, 0.93, 0.1, 0.1);
    set_noise_velocities(scene, 0.3);
    scene->material[0] = (pbd_material){.E = 1e4, .nu = 0.3, .density = 2000, .law = "hencky"};
    for (size_t i = 0; i < scene->particles.count; i++) {
        const bool below = i / 30 < 3;
        scene->particles.material[i] = below || i % 30 == 7 ? PBD_CONTINUUM : PBD_FLUID;
        if (scene->particles.material[i] == PBD_CONTINUUM) scene->particles.masses[i] *= 2.3;
    }
}

/* Total momentum is conserved; the momentum that the powder gains is the exchange with the liquid that the method
 * reports in PBD_EXCHANGE. */
static void test_mixture_keeps_momentum(void **unused) {
    (void)unused;
    pbd_scene scene;
    solver s;
    double lost[3] = {0}, size = 0, gained[2][3] = {{0}}, told[2][3] = {{0}}, exchanged = 0;
    make_mixture(&scene);
    solver_open(&s, "xpbi", PBD_PRECISION_F64, 1, &scene,
                "kernel=current hourglass_control=0 iterations=4 fluid_settling=0");
    check_steps(&s, 2e-3, 6);
    double *v = velocities_of(&s, scene.particles.count), *e = malloc((3 * scene.particles.count + 1) * sizeof *e);
    check_ok(s.method->read(s.state, PBD_EXCHANGE, e));
    for (size_t k = 0; k < 3 * scene.particles.count; k++) {
        const double gain = scene.particles.masses[k / 3] * (v[k] - scene.particles.velocities[k]);
        const int liquid = scene.particles.material[k / 3] == PBD_FLUID;
        lost[k % 3] += gain;
        gained[liquid][k % 3] += gain;
        told[liquid][k % 3] += e[k];
        size += fabs(gain);
        exchanged = fmax(exchanged, fabs(told[liquid][k % 3]));
    }
    check_near("momentum of both", largest(lost, 3) / size, 0, 1e-14);
    check_near("momentum of the powder", largest_difference(gained[0], told[0], 3) / exchanged, 0, 1e-12);
    check_near("momentum of the liquid", largest_difference(gained[1], told[1], 3) / exchanged, 0, 1e-12);
    check_near("exchange_error", metric_of(&s, "exchange_error"), 0, 1e-12);
    if (!(exchanged > 0.05 * size)) fail_msg("only %g of %g N s is exchanged", exchanged, size);
    free(v);
    free(e);
    solver_close(&s);
    pbd_scene_free(&scene);
}

/* Liquid far away from a continuum does not change its motion. */
static void test_apart_they_are_alone(void **unused) {
    (void)unused;
    pbd_scene scene, half;
    make_mixture(&scene);
    for (size_t i = 0; i < scene.particles.count; i++)
        if (scene.particles.material[i] == PBD_FLUID) scene.particles.positions[3 * i] += 50;
    make_cloud(&half, (const size_t[]){6, 5, 6}, 0.93, 0.1, 0.1);
    half.material[0] = scene.material[0];
    half.particles.count = 0;
    for (size_t i = 0; i < scene.particles.count; i++) {
        if (scene.particles.material[i] != PBD_CONTINUUM) continue;
        memcpy(half.particles.positions + 3 * half.particles.count, scene.particles.positions + 3 * i,
               3 * sizeof(double));
        memcpy(half.particles.velocities + 3 * half.particles.count, scene.particles.velocities + 3 * i,
               3 * sizeof(double));
        half.particles.masses[half.particles.count] = scene.particles.masses[i];
        half.particles.material[half.particles.count] = PBD_CONTINUUM;
        half.particles.volumes[half.particles.count++] = scene.particles.volumes[i];
    }
    solver both, alone;
    solver_open(&both, "xpbi", PBD_PRECISION_F64, 1, &scene, "kernel=current hourglass_control=0 iterations=3");
    solver_open(&alone, "xpbi", PBD_PRECISION_F64, 1, &half, "kernel=current hourglass_control=0 iterations=3");
    check_steps(&both, 2e-3, 4);
    check_steps(&alone, 2e-3, 4);
    double *x = positions_of(&both, scene.particles.count), *y = positions_of(&alone, half.particles.count), worst = 0;
    for (size_t i = 0, k = 0; i < scene.particles.count; i++)
        if (scene.particles.material[i] == PBD_CONTINUUM)
            worst = fmax(worst, largest_difference(x + 3 * i, y + 3 * k++, 3));
    check_near("continuum with liquid far away, m", worst, 0, 1e-13); /* sums are in another order */
    free(x);
    free(y);
    solver_close(&both);
    solver_close(&alone);
    pbd_scene_free(&scene);
    pbd_scene_free(&half);
}

static double *march_mixture(int backend, pbd_precision precision, int threads, const pbd_scene *scene) {
    solver s;
    check_ok(try_open_on(backend, &s, "xpbi", precision, threads, scene, "iterations=3 fluid_passes=2"));
    check_steps(&s, 2e-3, 3);
    double *x = positions_of(&s, scene->particles.count);
    solver_close(&s);
    return x;
}

static void test_mixture_on_all_backends(void **unused) {
    (void)unused;
    pbd_scene scene;
    make_mixture(&scene);
    double *one = march_mixture(PBD_CPU, PBD_PRECISION_F64, 1, &scene);
    double *three = march_mixture(PBD_CPU, PBD_PRECISION_F64, 3, &scene);
    double *emu = march_mixture(PBD_EMU, PBD_PRECISION_F64, 1, &scene);
    double *f32 = march_mixture(PBD_CPU, PBD_PRECISION_F32, 1, &scene);
    assert_memory_equal(one, three, 3 * scene.particles.count * sizeof *one);
    check_near("mixture on the emulation, m", largest_difference(one, emu, 3 * scene.particles.count), 0, 1e-11);
    check_near("mixture in f32, m", largest_difference(one, f32, 3 * scene.particles.count), 0, 2e-5);
    free(one);
    free(three);
    free(emu);
    free(f32);
    pbd_scene_free(&scene);
}

/* ---- Refusals ---------------------------------------------------------------------------------------------------- */

static void test_refusals(void **unused) {
    (void)unused;
    pbd_scene scene;
    solver s;
    make_cloud(&scene, (const size_t[]){3, 3, 3}, 1, 0, 0);
    scene.particles.material[5] = PBD_CONTINUUM;
    pbd_status status = try_open(&s, "pbf", PBD_PRECISION_F64, 1, &scene, "");
    assert_int_equal(status.code, PBD_NOT_SUPPORTED);
    assert_non_null(strstr(status.text, "particle 5 is of other matter"));
    s.state = NULL;
    solver_close(&s);
    scene.particles.material[5] = PBD_FLUID;
    scene.particles.volumes[2] = 0;
    status = try_open(&s, "pbf", PBD_PRECISION_F64, 1, &scene, "");
    assert_int_equal(status.code, PBD_BAD_INPUT);
    assert_non_null(strstr(status.text, "particle 2 of liquid"));
    s.state = NULL;
    solver_close(&s);
    pbd_scene_free(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients_by_differences),
        cmocka_unit_test(test_walls_are_mirrors),
        cmocka_unit_test(test_images_count_as_work),
        cmocka_unit_test(test_momenta),
        cmocka_unit_test(test_rotation),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_thin_liquid_is_free),
        cmocka_unit_test(test_smoothing),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_emulation_and_precisions_agree),
        cmocka_unit_test(test_saved_state_goes_on),
        cmocka_unit_test(test_mixture_keeps_momentum),
        cmocka_unit_test(test_apart_they_are_alone),
        cmocka_unit_test(test_mixture_on_all_backends),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
