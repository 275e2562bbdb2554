/* Contact for the precision REAL: included by test_contact.c (f64) and test_contact_f32.c. The particles are free of
 * other constraints, so that answers can be calculated by hand. */
#include "tests/contact_world.h"

static const double rounding = sizeof(real) == sizeof(float) ? 1.2e-7 : 2.3e-16;

/* ---- Colliders and friction -------------------------------------------------------------------------------------- */

static const double down[3] = {0, 0, -9.81};

/* Returns how far a particle slides down a plane in 1 s with steps of dt, m. */
static double slide(double angle, double friction, double dt, double radius) {
    world_begin(&one);
    one.collider[0] = plane_at(angle, friction);
    one.scene.colliders.count = 1;
    put(&one, radius * sin(angle), 0, radius * cos(angle), 2.5, radius, 0);
    world_open(&one, PBD_CPU, 1);
    const double x0 = (double)one.x[0], z0 = (double)one.x[2];
    for (int i = 0; i < (int)lround(1 / dt); i++) step(&one, dt, 3, down);
    const double far = ((double)one.x[0] - x0) * cos(angle) - ((double)one.x[2] - z0) * sin(angle);
    const double off = ((double)one.x[0] - x0) * sin(angle) + ((double)one.x[2] - z0) * cos(angle);
    check_near("off the plane, m", off, 0, 40 * rounding);
    check_near("particles ever outside", recorded(&one, "particles_ever_outside"), 0, 0);
    world_close(&one);
    return far;
}

/* Below atan(mu) the particle sticks. Above, it accelerates by a = g (sin - mu cos), and n steps of dt move it by
 * a dt^2 n (n + 1)/2. */
static void test_inclined_plane(void **unused) {
    (void)unused;
    const double dt = 0.002, most = sizeof(real) == sizeof(float) ? 2e-3 : 1e-9; /* m; f32: 500 roundings of x */
    for (int degrees = 10; degrees <= 60; degrees += 10)
        for (int k = 0; k <= 3; k++) {
            const double angle = degrees * M_PI / 180, mu = 0.3 * k;
            const double a = 9.81 * (sin(angle) - mu * cos(angle)), n = lround(1 / dt);
            char what[100];
            snprintf(what, sizeof what, "%d degrees, mu = %g, m", degrees, mu);
            check_near(what, slide(angle, mu, dt, k % 2 ? 0.1 : 0), a > 0 ? a * dt * dt * n * (n + 1) / 2 : 0, most);
        }
    const double critical = atan(0.5);
    assert_true(fabs(slide(critical * 0.99, 0.5, dt, 0.05)) < 1e-4);
    assert_true(slide(critical * 1.01, 0.5, dt, 0.05) > 0.02); /* 9.81 * 0.0045 / 2 */
}

/* On a block of triangles a particle slides as on the plane. */
static void test_inclined_mesh(void **unused) {
    (void)unused;
    static double vertex[24];
    static uint32_t triangle[] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                  2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
    static pbd_collider_mesh block = {8, 12, vertex, triangle, 0};
    for (int i = 0; i < 24; i++) vertex[i] = i / 3 >> i % 3 & 1 ? (i % 3 == 2 ? 0 : 9) : -9;
    const double angle = 0.5, radius = 0.1, dt = 0.002;
    for (int k = 0; k < 2; k++) {
        const double mu = 0.8 * k, a = 9.81 * (sin(angle) - mu * cos(angle)), n = 500;
        world_begin(&one);
        one.collider[0] = plane_at(angle, mu);
        one.collider[0].shape = PBD_MESH;
        one.scene.colliders.count = one.scene.colliders.meshes = 1;
        one.scene.colliders.mesh = &block;
        put(&one, radius * sin(angle), 0.1, radius * cos(angle), 2.5, radius, 0);
        world_open(&one, PBD_CPU, 1);
        const double x0 = (double)one.x[0], z0 = (double)one.x[2];
        for (int i = 0; i < 500; i++) step(&one, dt, 3, down);
        const double far = ((double)one.x[0] - x0) * cos(angle) - ((double)one.x[2] - z0) * sin(angle);
        const double most = sizeof(real) == sizeof(float) ? 4e-3 : 1e-9;
        check_near("down a block of triangles, m", far, a > 0 ? a * dt * dt * n * (n + 1) / 2 : 0, most);
        check_near("particles ever outside", recorded(&one, "particles_ever_outside"), 0, 0);
        world_close(&one);
    }
}

/* On a belt that runs at speed u a particle accelerates by mu g until it has that speed. */
static void test_belt(void **unused) {
    (void)unused;
    world_begin(&one);
    one.collider[0] = plane_at(0, 0.4);
    one.collider[0].velocity[0] = 2;
    one.collider[0].end = 1; /* s; the belt stops then, and the particle some time later */
    one.scene.colliders.count = 1;
    put(&one, 0, 0, 0, 1, 0, 0);
    world_open(&one, PBD_CPU, 1);
    const double dt = 0.001, close = sizeof(real) == sizeof(float) ? 2e-2 : 1e-9;
    for (int i = 1; i <= 1400; i++) {
        step(&one, dt, 1, down);
        const double gain = 0.4 * 9.81 * dt, t = i <= 1000 ? i : i - 1000;
        const double wanted = i <= 1000 ? fmin(t * gain, 2) : fmax(2 - t * gain, 0);
        if (i % 200 == 0) check_near("speed on the belt, m/s", (double)one.v[0], wanted, close);
    }
    world_close(&one);
}

/* On a slow turntable a particle sticks to the table: after a quarter turn of the table it is 90 degrees on. */
static void test_turntable(void **unused) {
    (void)unused;
    world_begin(&one);
    one.collider[0] = plane_at(0, 0.8);
    one.collider[0].spin[2] = 0.5; /* omega^2 R = 0.25 m/s^2, far below mu g */
    one.scene.colliders.count = 1;
    put(&one, 1, 0, 0, 1, 0, 0);
    one.v[1] = (real)0.5;
    world_open(&one, PBD_CPU, 1);
    const int steps = 2000;
    for (int i = 0; i < steps; i++) step(&one, M_PI / steps, 2, down);
    check_near("x after a quarter turn, m", (double)one.x[0], 0, 2e-3); /* first order in the step, 1.6e-3 rad */
    check_near("y after a quarter turn, m", (double)one.x[1], 1, 2e-3);
    world_close(&one);
}

/* A moving piston pushes particles ahead of it, and a container keeps the particles in it. */
static void test_container_and_piston(void **unused) {
    (void)unused;
    world_begin(&one);
    one.collider[0] = (pbd_collider){
        .shape = PBD_BOX, .container = true, .axis = {{0.8, 0.6, 0}, {-0.6, 0.8, 0}, {0, 0, 1}}, .half = {1, 1, 1}};
    one.collider[1] = (pbd_collider){.shape = PBD_SPHERE,
                                     .axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                                     .half = {0.4},
                                     .centre = {0, 0, -2},
                                     .velocity = {0, 0, 2},
                                     .end = 1};
    one.scene.colliders.count = 2;
    uint64_t seed = 5;
    for (int i = 0; i < 300; i++) {
        const double x = noise(&seed), y = noise(&seed), z = noise(&seed);
        const size_t k = put(&one, 0.6 * x, 0.6 * y, 0.6 * z, 1, 0.05, 0);
        for (size_t d = 0; d < 3; d++) one.v[4 * k + d] = (real)(20 * noise(&seed));
    }
    world_open(&one, PBD_CPU, 2);
    for (int i = 0; i < 400; i++) step(&one, 0.0025, 4, down);
    double nearest = INFINITY, farthest = 0;
    for (size_t i = 0; i < one.scene.particles.count; i++) {
        const real *x = one.x + 4 * i;
        nearest = fmin(nearest, sqrt((double)(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])));
        farthest = fmax(farthest, fabs(0.8 * (double)x[0] + 0.6 * (double)x[1]));
        farthest = fmax(farthest, fabs(0.8 * (double)x[1] - 0.6 * (double)x[0]));
        farthest = fmax(farthest, fabs((double)x[2]));
    }
    assert_true(nearest > 0.45 - 1e-5);
    assert_true(farthest < 0.95 + 1e-5);
    check_near("particles ever outside", recorded(&one, "particles_ever_outside"), 0, 0);
    world_close(&one);
}

/* ---- Pairs ------------------------------------------------------------------------------------------------------- */

/* Masses 1 and 3 that overlap by 0.1 move apart by 0.1 in total, in the ratio 3 to 1, along the line between them. */
static void test_pair_by_hand(void **unused) {
    (void)unused;
    world_begin(&one);
    put(&one, 0, 0, 0, 1, 0.5, 0);
    put(&one, 0.54, 0.72, 0, 3, 0.5, 1); /* 0.9 away */
    one.scene.contact.between_bodies = true;
    world_open(&one, PBD_CPU, 1);
    real p[8];
    memcpy(p, one.x, sizeof p);
    passes_from(&one, p, 1, 1);
    check_near("the light one, x, m", (double)p[0], -0.075 * 0.6, 4 * rounding);
    check_near("the light one, y, m", (double)p[1], -0.075 * 0.8, 4 * rounding);
    check_near("the heavy one, x, m", (double)p[4], 0.54 + 0.025 * 0.6, 4 * rounding);
    check_near("the heavy one, y, m", (double)p[5], 0.72 + 0.025 * 0.8, 4 * rounding);
    world_close(&one);
}

/* For matrices whose eigenvalues are known by hand: the bound is between the largest one and 3^(1/8) times it. */
static void test_largest_eigenvalue(void **unused) {
    (void)unused;
    static const struct {
        double m[6], largest;
    } given[] = {{{2, 0, 0, 0, 0, 0}, 2},  {{4, 4, 4, 0, 0, 0}, 4},
                 {{1, 2, 3, 0, 0, 0}, 3},  {{2, 2, 0, 1, 0, 0}, 3}, /* 1, 3, 0 along the diagonals of x and y */
                 {{5, 5, 5, 5, 5, 5}, 15},                          /* 5 (1 1 1)^T (1 1 1) */
                 {{1, 2, 2, 0, 2, 0}, 4}};                          /* 1; 0, 4 */
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        vreal m[6];
        real lane[PBD_BATCH];
        for (int k = 0; k < 6; k++) m[k] = vreal_set((real)given[i].m[k]);
        batch_store(lane, 0, PBD_BATCH, contact_largest(m));
        const double got = (double)lane[PBD_BATCH - 1], wanted = given[i].largest;
        check_near("largest eigenvalue, from above", got, wanted * (1 + pow(3, 0.125)) / 2,
                   wanted * (pow(3, 0.125) - 1) / 2 + 20 * rounding * wanted);
    }
}

/* Three particles in a row, neighbours overlapping by 0.1. The middle one is pushed from both sides: the plain sum
 * moves each outer one by its full share; the shared sum halves the pushes. */
static void test_sums(void **unused) {
    (void)unused;
    for (int printed = 0; printed < 2; printed++) {
        world_begin(&one);
        one.sum = printed ? contact_sum_printed : contact_sum_shared;
        put(&one, 0, 0, 0, 1, 0.5, 0);
        put(&one, 0, 0.9, 0, 1, 0.5, 1);
        put(&one, 0, 1.8, 0, 1, 0.5, 2);
        one.scene.contact.between_bodies = true;
        world_open(&one, PBD_CPU, 1);
        real p[12];
        memcpy(p, one.x, sizeof p);
        passes_from(&one, p, 1, 1);
        const double push = printed ? 0.05 : 0.025;
        check_near("the first, m", (double)p[1], -push, 4 * rounding);
        check_near("the middle, m", (double)p[5], 0.9, 4 * rounding);
        check_near("the last, m", (double)p[9], 1.8 + push, 8 * rounding);
        world_close(&one);
    }
}

static void make_lump(world *w) {
    world_begin(w);
    w->scene.contact.between_bodies = true;
    uint64_t seed = 21;
    for (uint32_t i = 0; i < 216; i++)
        put(w, 0.05 * (i % 6) + 1e-3 * noise(&seed), 0.05 * (i / 6 % 6), 0.05 * (i / 36), 1 + 0.9 * noise(&seed), 0.1,
            i);
}

static double farthest_push(const world *w, const real *p) {
    double most = 0;
    for (size_t i = 0; i < w->scene.particles.count; i++)
        for (size_t d = 0; d < 3; d++) most = fmax(most, fabs((double)p[4 * i + d] - w->positions[3 * i + d]));
    return most;
}

/* Half the sum of squared depths, m^2: the objective that the passes descend. */
static double overlap_of(const world *w, const real *p) {
    double sum = 0;
    for (size_t i = 0; i < w->scene.particles.count; i++)
        for (size_t j = 0; j < i; j++) {
            double square = 0;
            for (size_t d = 0; d < 3; d++)
                square += ((double)p[4 * i + d] - (double)p[4 * j + d]) * ((double)p[4 * i + d] - (double)p[4 * j + d]);
            const double depth = 0.2 - sqrt(square);
            if (depth > 0) sum += 0.5 * depth * depth;
        }
    return sum;
}

/* A dense lump of single-particle bodies of different mass, about sixty contacts each. Plain sums blow it apart. With
 * shared sums it expands until nothing overlaps, and the overlap falls in every pass, also at the largest relaxation.
 */
static void test_crowd(void **unused) {
    (void)unused;
    static real p[4 * MOST];
    static const double relaxation[] = {1, 1.9};
    for (int k = 0; k < 2; k++) {
        make_lump(&one);
        one.relaxation = relaxation[k];
        one.margin = 8; /* the lump grows to several times its size: search that far */
        world_open(&one, PBD_CPU, 1);
        memcpy(p, one.x, sizeof p);
        double overlap = overlap_of(&one, p), first = overlap;
        for (int pass = 0; pass < 60; pass++) {
            passes_from(&one, p, 1, 1);
            const double now = overlap_of(&one, p);
            if (!(now < overlap || now < 1e-6 * first))
                fail_msg("relaxation %g, pass %d: overlap grows from %g to %g m^2", relaxation[k], pass, overlap, now);
            if (pass == 0) {
                const double push = farthest_push(&one, p);
                print_message("    relaxation %g: farthest push of the first pass %.3f m\n", relaxation[k], push);
                assert_true(push < 0.2); /* no farther than separates a pair */
            }
            overlap = now;
        }
        print_message("    relaxation %g: overlap %.3g to %.3g m^2 in 60 passes\n", relaxation[k], first, overlap);
        assert_true(overlap < 1e-2 * first);
        world_close(&one);
    }
    make_lump(&one);
    one.sum = contact_sum_printed;
    world_open(&one, PBD_CPU, 1);
    memcpy(p, one.x, sizeof p);
    passes_from(&one, p, 1, 1);
    print_message("    as printed: farthest push of the first pass %.3f m; diameters are 0.2 m\n",
                  farthest_push(&one, p));
    assert_true(farthest_push(&one, p) > 1);
    world_close(&one);
}

/* A crowd of moving particles of different masses and radii: contact conserves momentum, to rounding. */
static void check_momentum(double friction, int sum) {
    world_begin(&one);
    one.sum = sum;
    one.scene.contact = (pbd_contact){.between_bodies = true, .friction = friction};
    uint64_t seed = 33;
    for (uint32_t i = 0; i < 600; i++) {
        const double x = noise(&seed), y = noise(&seed), z = noise(&seed), m = noise(&seed), r = noise(&seed);
        put(&one, x, y, z, 1.1 + m, 0.12 + 0.04 * r, i / 3);
    }
    world_open(&one, PBD_CPU, 1);
    static real p[4 * MOST];
    memcpy(p, one.x, sizeof p);
    for (size_t i = 0; i < 600; i++)
        for (size_t d = 0; d < 3; d++) p[4 * i + d] += (real)(0.05 * noise(&seed));
    static real before[4 * MOST];
    memcpy(before, p, sizeof p);
    passes_from(&one, p, 0.01, 1);
    double linear[3] = {0}, angular[3] = {0}, size = 0;
    for (size_t i = 0; i < 600; i++) {
        const real *q = before + 4 * i;
        double j[3];
        for (size_t d = 0; d < 3; d++) {
            j[d] = ((double)p[4 * i + d] - (double)q[d]) / (double)q[3];
            linear[d] += j[d];
            size += fabs(j[d]);
        }
        for (size_t d = 0; d < 3; d++)
            angular[d] += (double)q[(d + 1) % 3] * j[(d + 2) % 3] - (double)q[(d + 2) % 3] * j[(d + 1) % 3];
    }
    assert_true(size > 1); /* something was pushed */
    const double limit = 20 * rounding * size;
    for (int d = 0; d < 3; d++) {
        check_near("linear impulse, kg m", linear[d], 0, limit);
        if (friction == 0) check_near("angular impulse, kg m^2", angular[d], 0, limit);
    }
    world_close(&one);
}

static void test_momentum(void **unused) {
    (void)unused;
    check_momentum(0, contact_sum_shared);
    check_momentum(0.5, contact_sum_shared);
    check_momentum(0, contact_sum_printed);
}

/* A free particle slides over a held one that it overlaps. Of its tangential step s, friction takes back
 * min(s, mu depth), by hand. */
static void test_pair_friction_by_hand(void **unused) {
    (void)unused;
    for (int k = 0; k < 2; k++) {
        world_begin(&one);
        one.scene.contact = (pbd_contact){.between_bodies = true, .friction = k ? 0.5 : 3};
        put(&one, 0, 0, 0, 0, 0.5, 0); /* held */
        put(&one, 0.02, 0, 1, 1, 0.5, 1);
        one.x[4] = 0; /* it started right above the other one and moved by 0.02 along x */
        world_open(&one, PBD_CPU, 1);
        real p[8] = {0, 0, 0, 0, (real)0.02, 0, (real)0.98, 1};
        passes_from(&one, p, 1, 1);
        const double length = hypot(0.02, 0.98), depth = 1 - length, n[2] = {0.02 / length, 0.98 / length};
        const double slip[2] = {0.02, -0.02}, normal = slip[0] * n[0] + slip[1] * n[1];
        const double along[2] = {slip[0] - normal * n[0], slip[1] - normal * n[1]}, t = hypot(along[0], along[1]);
        const double back = fmin(1, (k ? 0.5 : 3) * depth / t);
        check_near("x, m", (double)p[4], 0.02 + depth * n[0] - back * along[0], 4 * rounding);
        check_near("z, m", (double)p[6], 0.98 + depth * n[1] - back * along[1], 4 * rounding);
        check_near("the held one, m", (double)(p[0] + p[1] + p[2]), 0, 0);
        world_close(&one);
    }
}

/* ---- Against every pair by itself -------------------------------------------------------------------------------- */

enum { SEVERAL = 1500 }; /* more than one window of the lists holds, and not a multiple of a slice */
static const double FAR_AT_REST = 0.5, FRICTION = 0.4;

typedef struct crowd_of_one {
    double share[2]; /* the eighth root of tr (sum n n^T)^8, and the number of pairs */
} crowd_of_one;

/* Returns the depth of a pair, m, or a negative number for a pair that is apart or excluded from contact; n is the unit
 * vector from j to i. */
static double plain_pair(const world *w, const real *p, size_t i, size_t j, double n[3]) {
    double square = 0, rest = 0;
    for (size_t d = 0; d < 3; d++) {
        n[d] = (double)p[4 * i + d] - (double)p[4 * j + d];
        square += n[d] * n[d];
        rest +=
            (w->positions[3 * i + d] - w->positions[3 * j + d]) * (w->positions[3 * i + d] - w->positions[3 * j + d]);
    }
    for (int d = 0; d < 3; d++) n[d] /= sqrt(square);
    if (w->body[i] == w->body[j] && !(rest > FAR_AT_REST * FAR_AT_REST)) return -1;
    return w->radius[i] > 0 && w->radius[j] > 0 ? w->radius[i] + w->radius[j] - sqrt(square) : -1;
}

static double eighth_root(double m[3][3]) {
    double square[3][3];
    for (int k = 0; k < 3; k++) { /* m^2, m^4, m^8 */
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) square[r][c] = m[r][0] * m[0][c] + m[r][1] * m[1][c] + m[r][2] * m[2][c];
        memcpy(m, square, sizeof square);
    }
    return pow(m[0][0] + m[1][1] + m[2][2], 0.125);
}

static crowd_of_one plain_crowd(const world *w, const real *p, size_t i) {
    double m[3][3] = {{0}}, n[3];
    crowd_of_one out = {{0}};
    for (size_t j = 0; j < w->scene.particles.count; j++) {
        if (j == i || !(plain_pair(w, p, i, j, n) > 0)) continue;
        for (int e = 0; e < 9; e++) m[e / 3][e % 3] += n[e / 3] * n[e % 3];
        out.share[1]++;
    }
    out.share[0] = eighth_root(m);
    return out;
}

/* The displacement of i in one pass, m, by the formulas of README.md. */
static void plain_push(const world *w, const real *p, const crowd_of_one *crowd, size_t i, double out[3]) {
    out[0] = out[1] = out[2] = 0;
    for (size_t j = 0; j < w->scene.particles.count; j++) {
        double n[3], slip[3], normal = 0, along = 0;
        const double depth = j == i ? -1 : plain_pair(w, p, i, j, n);
        const double mine = (double)p[4 * i + 3], both = mine + (double)p[4 * j + 3];
        if (!(depth > 0 && both > 0)) continue;
        const double s = fmin(1, w->relaxation / fmax(1, fmax(crowd[i].share[0], crowd[j].share[0])));
        const double across = fmin(s, 1 / fmax(1, fmax(crowd[i].share[1], crowd[j].share[1])));
        for (size_t d = 0; d < 3; d++) {
            slip[d] = across *
                      ((double)p[4 * i + d] - (double)w->x[4 * i + d] - (double)p[4 * j + d] + (double)w->x[4 * j + d]);
            normal += slip[d] * n[d];
        }
        for (int d = 0; d < 3; d++) slip[d] -= normal * n[d], along += slip[d] * slip[d];
        const double back = fmin(1, FRICTION * s * depth / sqrt(along));
        for (int d = 0; d < 3; d++) out[d] += mine / both * (s * depth * n[d] - back * slip[d]);
    }
}

/* A dense core with long lists in a thin cloud where most lists are empty. Bodies have five scattered particles each,
 * some of which were near each other at rest. Radii and masses differ; some particles are held, some have no radius. */
static void make_cloud(world *w) {
    world_begin(w);
    w->relaxation = 1.9;
    w->scene.contact = (pbd_contact){.between_bodies = true, .self_distance = FAR_AT_REST, .friction = FRICTION};
    uint64_t seed = 77;
    for (uint32_t i = 0; i < SEVERAL; i++) {
        const double wide = i % 4 ? 5 : 0.35, r = 0.1 + 0.05 * noise(&seed);
        const size_t k = put(w, wide * noise(&seed), wide * noise(&seed), wide * noise(&seed),
                             i % 31 ? 1.1 + noise(&seed) : 0, i % 17 ? r : 0, i / 5);
        for (size_t d = 0; d < 3; d++) w->positions[3 * k + d] *= 0.5; /* nearer to each other at rest */
    }
}

static void test_every_pair(void **unused) {
    (void)unused;
    static real p[4 * MOST], before[4 * MOST];
    static crowd_of_one crowd[MOST];
    double worst = 0, largest = 0, most = 0;
    make_cloud(&one);
    uint64_t seed = 78;
    world_open(&one, PBD_CPU, 1);
    memcpy(p, one.x, sizeof p);
    for (size_t i = 0; i < SEVERAL; i++)
        for (size_t d = 0; d < 3; d++) p[4 * i + d] += (real)(0.03 * noise(&seed));
    memcpy(before, p, sizeof p);
    for (size_t i = 0; i < SEVERAL; i++) {
        crowd[i] = plain_crowd(&one, before, i);
        most = fmax(most, crowd[i].share[1]);
    }
    passes_from(&one, p, 0.01, 1);
    for (size_t i = 0; i < SEVERAL; i++) {
        double push[3];
        plain_push(&one, before, crowd, i, push);
        for (size_t d = 0; d < 3; d++) {
            const double moved = (double)p[4 * i + d] - (double)before[4 * i + d];
            worst = fmax(worst, fabs(moved - push[d]));
            largest = fmax(largest, fabs(push[d]));
        }
    }
    print_message("    at most %.0f pairs of one particle; largest push %.3g m\n", most, largest);
    assert_true(most > CONTACTS_KEPT && largest > 0.02);
    check_near("from every pair by itself, m", worst, 0, 20 * rounding);
    world_close(&one);
}

/* The early-out test of a batch skips no particle that touches: near every shape, batch and scalar kernels move each
 * particle to bitwise the same place. */
static void test_colliders_in_batches(void **unused) {
    (void)unused;
    static real alone[4 * MOST], together[4 * MOST], radius[MOST];
    enum { COUNT = 1003 };
    size_t moved = 0;
    uint64_t seed = 91;
    for (int shape = 0; shape < PBD_COLLIDER_SHAPES; shape++)
        for (int container = 0; container < 2 && shape != PBD_MESH; container++) {
            collider_pose pose = {.axis = {(real)0.8, (real)0.6, 0, (real)-0.6, (real)0.8, 0, 0, 0, 1},
                                  .centre = {(real)0.1, (real)-0.2, (real)0.3},
                                  .half = {(real)0.5, (real)0.4, (real)0.3},
                                  .friction = (real)0.3,
                                  .shape = shape,
                                  .container = container};
            memcpy(pose.axis_before, pose.axis, sizeof pose.axis);
            memcpy(pose.centre_before, pose.centre, sizeof pose.centre);
            for (size_t i = 0; i < COUNT; i++) {
                for (size_t d = 0; d < 3; d++) one.x[4 * i + d] = (real)(1.5 * noise(&seed));
                one.x[4 * i + 3] = (real)(i % 50 > 0);
                radius[i] = (real)(0.05 + 0.05 * noise(&seed));
            }
            memcpy(alone, one.x, sizeof alone);
            memcpy(together, one.x, sizeof alone);
            collide_args args = {.collider = &pose, .colliders = 1, .radius = radius, .x = one.x, .p = alone};
            for (size_t i = 0; i < COUNT; i++) collide(&args, i);
            args.p = together;
            for (size_t i = 0; i < COUNT; i += PBD_BATCH)
                collide_batch(&args, i, i + PBD_BATCH <= COUNT ? PBD_BATCH : (int)(COUNT - i));
            for (size_t i = 0; i < 4 * COUNT; i++) {
                if (memcmp(&alone[i], &together[i], sizeof(real)) != 0)
                    fail_msg("shape %d, particle %zu: %g together, %g alone", shape, i / 4, (double)together[i],
                             (double)alone[i]);
                moved += alone[i] != one.x[i];
            }
        }
    assert_true(moved > COUNT);
}

/* Two particles meet head on, at several speeds below a diameter per step: they never pass through each other, and end
 * in contact. */
static void test_head_on(void **unused) {
    (void)unused;
    for (int k = 1; k <= 19; k++) {
        world_begin(&one);
        one.scene.contact.between_bodies = true;
        put(&one, -1, 0, 0, 1, 0.05, 0);
        put(&one, 1.013, 0, 0, 1, 0.05, 1);
        one.v[0] = (real)(0.025 * 0.1 * k / 0.01);
        one.v[4] = -one.v[0]; /* closing at 0.05 k diameters per step */
        world_open(&one, PBD_CPU, 1);
        for (int i = 0; i < 1000; i++) {
            step(&one, 0.01, 3, NULL);
            if (!(one.x[4] - one.x[0] > (real)0.0999))
                fail_msg("%g diameters a step: passed: %g apart in step %d", 0.05 * k, (double)(one.x[4] - one.x[0]),
                         i);
        }
        assert_true(recorded(&one, "deepest_penetration") < 1e-6);
        world_close(&one);
    }
}

/* One body: only particles that were far apart at rest are in contact. */
static void test_self_contact(void **unused) {
    (void)unused;
    world_begin(&one);
    one.scene.contact.self_distance = 0.3;
    for (int i = 0; i < 10; i++) put(&one, 0.15 * i, 0, 0, 1, 0.1, 0);
    one.x[4 * 9] = 0;
    one.x[4 * 9 + 2] = (real)0.05; /* the last one is moved onto the first: 0.05 apart, and 0.158 from the second */
    world_open(&one, PBD_CPU, 1);
    static real p[4 * MOST];
    memcpy(p, one.x, sizeof p);
    passes_from(&one, p, 1, 100);
    check_near("last to first, m", hypot((double)(p[36] - p[0]), (double)(p[38] - p[2])), 0.2, 1e-4);
    check_near("the sixth, x, m", (double)p[4 * 5], 0.75, 2 * rounding); /* neighbours 0.15 away at rest: not pushed */
    check_near("smallest distance of far ones, m", recorded(&one, "smallest_far_distance"), 0.2, 1e-4);
    world_close(&one);
}

/* ---- What must not matter ---------------------------------------------------------------------------------------- */

static void make_shower(world *w, uint32_t count) {
    world_begin(w);
    w->scene.contact = (pbd_contact){.between_bodies = true, .friction = 0.3};
    w->collider[0] = (pbd_collider){.shape = PBD_CYLINDER,
                                    .container = true,
                                    .axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                                    .half = {0.5, 0, 1},
                                    .spin = {0, 0, 3},
                                    .friction = 0.5};
    w->scene.colliders.count = 1;
    uint64_t seed = 8;
    for (uint32_t i = 0; i < count; i++) {
        const double x = noise(&seed), y = noise(&seed), z = noise(&seed);
        const size_t k = put(w, 0.3 * x, 0.3 * y, 0.5 * z - 0.4, 1 + 0.5 * noise(&seed), i % 9 ? 0.04 : 0, i / 2);
        for (size_t d = 0; d < 3; d++) w->v[4 * k + d] = (real)noise(&seed);
    }
}

static void run_shower(world *w, int backend, int threads, double margin, uint32_t count, int steps) {
    make_shower(w, count);
    w->margin = margin;
    world_open(w, backend, threads);
    for (int i = 0; i < steps; i++) step(w, 0.004, 4, down);
}

static double farthest_apart(const world *a, const world *b) {
    double most = 0;
    for (size_t i = 0; i < 4 * a->scene.particles.count; i++) {
        const double off = fabs((double)a->x[i] - (double)b->x[i]);
        if (!(off <= most)) most = off;
    }
    return most;
}

/* A launch of fewer particles would be too small to be split over threads (harness/exec/cpu.c). */
static void test_threads_and_margins_change_nothing(void **unused) {
    (void)unused;
    enum { SHARED_OUT = 1500 };
    static const struct {
        int threads;
        double margin;
    } given[] = {{3, 0.5}, {8, 0.5}, {1, 1}, {1, 3}};
    run_shower(&one, PBD_CPU, 1, 0.5, SHARED_OUT, 20);
    assert_true(recorded(&one, "most_contact_pairs") > 100);
    check_near("particles ever outside", recorded(&one, "particles_ever_outside"), 0, 0);
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        run_shower(&other, PBD_CPU, given[i].threads, given[i].margin, SHARED_OUT, 20);
        char what[100];
        snprintf(what, sizeof what, "%d threads, margin %g, m", given[i].threads, given[i].margin);
        check_near(what, farthest_apart(&one, &other), 0, 0);
        world_close(&other);
    }
    world_close(&one);
}

static void test_emulation(void **unused) {
    (void)unused;
#if defined(__SANITIZE_THREAD__) /* up to 256 items get a pthread each, which is slow; TSan sees no larger ones */
    const int steps = 2;
    const uint32_t count = 250;
#else
    const int steps = 5;
    const uint32_t count = 500;
#endif
    run_shower(&one, PBD_CPU, 1, 0.5, count, steps);
    run_shower(&other, PBD_EMU, 1, 0.5, count, steps);
    assert_true(recorded(&one, "contact_pairs") > 20);
    check_near("emu against cpu, m", farthest_apart(&one, &other), 0, 2000 * rounding);
    world_close(&one);
    world_close(&other);
}

/* NaN and infinity among finite positions, as in a run that diverges: no hang or crash, and the others stay finite. */
static void test_broken_positions(void **unused) {
    (void)unused;
    make_shower(&one, 500);
    world_open(&one, PBD_CPU, 2);
    one.x[4 * 20] = (real)NAN;
    one.x[4 * 21 + 1] = (real)INFINITY;
    one.x[4 * 22 + 2] = (real)-1e30;
    for (int i = 0; i < 5; i++) step(&one, 0.004, 4, down);
    size_t sound = 0;
    for (size_t i = 0; i < 500; i++) sound += isfinite(one.x[4 * i] + one.x[4 * i + 1] + one.x[4 * i + 2]);
    assert_true(sound >= 497);
    world_close(&one);
}

/* ---- Where there is nothing to do, and bad input ----------------------------------------------------------------- */

static void test_nothing_to_do_costs_nothing(void **unused) {
    (void)unused;
    world_begin(&one);
    put(&one, 0, 0, 0, 1, 0.5, 0);
    put(&one, 0.1, 0, 0, 1, 0.5, 1); /* radii are set, but contact is enabled neither between bodies nor within one */
    world_open(&one, PBD_CPU, 1);
    const uint64_t launches = pbd_exec_read_totals(one.exec).launches;
    const size_t allocated = pbd_exec_read_totals(one.exec).allocated;
    step(&one, 0.1, 5, down);
    assert_true(pbd_exec_read_totals(one.exec).launches == launches);
    check_near("device memory besides the test's own, bytes", (double)allocated, 2.0 * sizeof one.x, 0);
    check_ok(contact_record(&one.contact));
    assert_int_equal(one.result.metrics, 0);
    world_close(&one);
}

static void refuse(const char *word) {
    const pbd_status status = try_world_open(&one, PBD_CPU, 1);
    assert_int_equal(status.code, PBD_BAD_INPUT);
    if (!strstr(status.text, word)) fail_msg("'%s' does not speak of '%s'", status.text, word);
    world_close(&one);
}

static void test_bad_input(void **unused) {
    (void)unused;
    world_begin(&one);
    put(&one, 0, 0, 0, 1, -0.5, 0);
    refuse("contact radius -0.5");
    world_begin(&one);
    put(&one, 0, 0, 0, 1, 0.5, 0);
    one.scene.contact.self_distance = 0.9;
    refuse("self_distance=0.9");
    world_begin(&one);
    put(&one, 0, 0, 0, 1, 0.5, 0);
    one.scene.contact.friction = NAN;
    refuse("friction");
    world_begin(&one);
    put(&one, 0, 0, 0, 1, 0, 0);
    one.scene.colliders.count = 1; /* all zero */
    refuse("invalid frame");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_inclined_plane),
                                       cmocka_unit_test(test_inclined_mesh),
                                       cmocka_unit_test(test_belt),
                                       cmocka_unit_test(test_turntable),
                                       cmocka_unit_test(test_container_and_piston),
                                       cmocka_unit_test(test_pair_by_hand),
                                       cmocka_unit_test(test_largest_eigenvalue),
                                       cmocka_unit_test(test_sums),
                                       cmocka_unit_test(test_crowd),
                                       cmocka_unit_test(test_momentum),
                                       cmocka_unit_test(test_pair_friction_by_hand),
                                       cmocka_unit_test(test_every_pair),
                                       cmocka_unit_test(test_colliders_in_batches),
                                       cmocka_unit_test(test_head_on),
                                       cmocka_unit_test(test_self_contact),
                                       cmocka_unit_test(test_threads_and_margins_change_nothing),
                                       cmocka_unit_test(test_emulation),
                                       cmocka_unit_test(test_broken_positions),
                                       cmocka_unit_test(test_nothing_to_do_costs_nothing),
                                       cmocka_unit_test(test_bad_input)};
    return cmocka_run_group_tests_name("contact", tests, NULL, NULL);
}
