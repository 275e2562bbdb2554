/* Surveys of particles against sums over all pairs in double, for the precision REAL: included by
 * test_particle_survey.c (f64) and test_particle_survey_f32.c. On one and on four threads, and on the emulation. */
#define PBD_UNIT particle_survey
#include "methods/physics/parts/particle_survey.h"

#include "tests/ladder.h"

static const double rounding = sizeof(real) == sizeof(float) ? 1e-5 : 1e-13; /* relative, of a sum */
static const double PI = 3.14159265358979323846;

/* Rows as a method may have them: one for each particle, in another order than the scene's, with numbers of no meaning
 * in between. */
enum { MOST = 900, ROW = 20, PLACE = 1, MOTION = 5, STRAIN = 9 };

typedef struct crowd {
    size_t n;
    double support, x[3 * MOST], v[3 * MOST], mass[MOST]; /* by number */
    double strain[3 * MOST];                              /* principal logarithmic strains */
    uint32_t number[MOST];                                /* by row */
    real row[ROW * MOST];
} crowd;

/* F = R diag(exp e), with R a turn by one radian about z; F_ij at STRAIN + i + 3 j. */
static void fill_rows(crowd *c) {
    for (size_t i = 0; i < c->n; i++) {
        const uint32_t p = c->number[i] = (uint32_t)(i * 7 % c->n);
        real *row = c->row + ROW * i;
        for (size_t d = 0; d < ROW; d++) row[d] = (real)1e9;
        for (size_t d = 0; d < 3; d++) {
            row[PLACE + d] = (real)c->x[3 * p + d];
            row[MOTION + d] = (real)c->v[3 * p + d];
        }
        const double *e = c->strain + 3 * p, a = exp(e[0]), b = exp(e[1]);
        const double F[9] = {cos(1) * a, sin(1) * a, 0, -sin(1) * b, cos(1) * b, 0, 0, 0, exp(e[2])};
        for (size_t d = 0; d < 9; d++) row[STRAIN + d] = (real)F[d];
    }
}

/* A cloud with one particle apart, and a lump of `lump` particles that are all neighbours of each other. */
static void make_cloud(crowd *c, size_t n, size_t lump) {
    uint64_t seed = 5;
    *c = (crowd){.n = n, .support = 0.3};
    for (size_t i = 0; i < n; i++) {
        for (size_t d = 0; d < 3; d++) {
            c->x[3 * i + d] = (i < lump ? 0.1 : 1) * noise(&seed) + 2;
            c->v[3 * i + d] = noise(&seed) - 0.4;
            c->strain[3 * i + d] = 0.02 * (noise(&seed) - 0.6);
        }
        c->mass[i] = 1 + noise(&seed);
    }
    c->x[3 * (n - 1)] = 40;
    fill_rows(c);
}

/* ---- All pairs --------------------------------------------------------------------------------------------------- */

static double wendland(double r, double support) {
    const double q = r / support, left = 1 - q;
    return q < 1 ? 21 / (2 * PI * support * support * support) * left * left * left * left * (1 + 4 * q) : 0;
}

typedef struct around {
    double nearest, weight, mass, v[3];
} around;

static around look_around(const crowd *c, size_t i) {
    around out = {.nearest = INFINITY};
    for (size_t j = 0; j < c->n; j++) {
        double square = 0;
        for (size_t d = 0; d < 3; d++) {
            const double off = (double)(real)c->x[3 * j + d] - (double)(real)c->x[3 * i + d];
            square += off * off;
        }
        const double r = sqrt(square), w = wendland(r, c->support);
        if (j == i || r >= c->support) continue;
        out.nearest = fmin(out.nearest, r);
        out.weight += w;
        out.mass += w * c->mass[j];
        for (size_t d = 0; d < 3; d++) out.v[d] += w * c->v[3 * j + d];
    }
    return out;
}

/* Of mu = 1, lambda = 2. */
static double tension_at(const double e[3]) {
    return fmax(2 * fmax(e[0], fmax(e[1], e[2])) + 2 * (e[0] + e[1] + e[2]), 0);
}

static pbd_surveyed sum_pairs(const crowd *c) {
    pbd_surveyed out = {.least = INFINITY};
    double squares = 0, square = 0;
    for (size_t i = 0; i < c->n; i++) {
        const around a = look_around(c, i);
        const double stress = tension_at(c->strain + 3 * i);
        double own = 0, off = 0;
        for (size_t d = 0; d < 3; d++) {
            const double v = c->v[3 * i + d], from = a.weight > 0 ? v - a.v[d] / a.weight : 0;
            own += v * v;
            off += from * from;
        }
        out.energy += 0.5 * c->mass[i] * own;
        out.relative += 0.5 * c->mass[i] * off;
        square = fmax(square, own);
        out.density = fmax(out.density, a.mass + c->mass[i] * wendland(0, c->support));
        out.tension = fmax(out.tension, stress);
        out.mean_tension += stress / (double)c->n;
        out.lone += a.nearest == INFINITY;
        if (a.nearest == INFINITY) continue;
        out.least = fmin(out.least, a.nearest);
        out.mean += a.nearest;
        squares += a.nearest * a.nearest;
    }
    out.fastest = sqrt(square);
    out.mean /= (double)(c->n - out.lone);
    out.deviation = sqrt(squares / (double)(c->n - out.lone) - out.mean * out.mean);
    return out;
}

/* ---- Surveys ----------------------------------------------------------------------------------------------------- */

typedef struct place {
    int backend, threads;
} place;
static const place places[] = {{PBD_CPU, 1}, {PBD_CPU, 4}, {PBD_EMU, 1}};
enum { PLACES = sizeof places / sizeof *places };

static pbd_surveyed survey(const crowd *c, const place *at, bool all, double link, uint32_t *piece) {
    enum { F = STRAIN };
    static const size_t nine[] = {F, F + 3, F + 6, F + 1, F + 4, F + 7, F + 2, F + 5, F + 8};
    pbd_exec *exec = NULL;
    pbd_surveyed out;
    real *rows = NULL;
    uint32_t *number = NULL;
    check_ok(pbd_exec_create(at->backend, at->threads, &exec));
    check_ok(pbd_alloc(exec, sizeof c->row, (void **)&rows));
    check_ok(pbd_alloc(exec, sizeof c->number, (void **)&number));
    check_ok(pbd_upload(exec, rows, c->row, sizeof c->row));
    check_ok(pbd_upload(exec, number, c->number, sizeof c->number));
    const survey_source of = {.exec = exec,
                              .particles = c->n,
                              .x = rows + PLACE,
                              .v = all ? rows + MOTION : NULL,
                              .F = all ? rows : NULL,
                              .x_stride = ROW,
                              .v_stride = ROW,
                              .F_stride = ROW,
                              .F_column = nine,
                              .number = at->threads == 4 ? c->number : number,
                              .number_on_host = at->threads == 4};
    const pbd_survey asked = {.support = c->support,
                              .spacing = 0.1,
                              .masses = c->mass,
                              .motion = true,
                              .mu = 1,
                              .lambda = 2,
                              .link = link,
                              .piece = piece};
    const pbd_exec_totals before = pbd_exec_read_totals(exec);
    check_ok(particle_survey(&of, &asked, &out));
    assert_true(pbd_exec_read_totals(exec).allocated - before.allocated <= 65536); /* scratch of the sort */
    pbd_free(exec, rows);
    pbd_free(exec, number);
    pbd_exec_destroy(exec);
    return out;
}

static void check_survey(const crowd *c) {
    const pbd_surveyed wanted = sum_pairs(c);
    pbd_surveyed first = {0};
    for (int k = 0; k < PLACES; k++) {
        const pbd_surveyed got = survey(c, &places[k], true, 0, NULL);
        check_near("mean", got.mean, wanted.mean, rounding * wanted.mean);
        check_near("deviation", got.deviation, wanted.deviation, 10 * rounding * wanted.mean);
        check_near("least", got.least, wanted.least, 10 * rounding * 0.1);
        check_near("density", got.density, wanted.density, rounding * wanted.density);
        check_near("relative", got.relative, wanted.relative, rounding * wanted.relative);
        check_near("energy", got.energy, wanted.energy, rounding * wanted.energy);
        check_near("fastest", got.fastest, wanted.fastest, rounding * wanted.fastest);
        check_near("tension", got.tension, wanted.tension, rounding);
        check_near("mean tension", got.mean_tension, wanted.mean_tension, rounding);
        assert_int_equal(got.lone, wanted.lone);
        assert_true(got.moving && got.strained);
        if (k == 0) first = got;
        if (places[k].backend == PBD_CPU) assert_memory_equal(&got, &first, sizeof got);
        const pbd_surveyed bare = survey(c, &places[k], false, 0, NULL);
        check_near("density without velocities", bare.density, got.density, 0);
        assert_true(!bare.moving && !bare.strained && bare.energy == 0 && bare.tension == 0);
    }
}

static crowd c;

static void test_cloud(void **state) {
    (void)state;
    make_cloud(&c, 800, 0);
    check_survey(&c);
}

/* More neighbours than fit into a list at once. */
static void test_lump(void **state) {
    (void)state;
    make_cloud(&c, 800, 600);
    check_survey(&c);
}

/* Few enough that under ThreadSanitizer the emulation gives each its own pthread. */
static void test_few(void **state) {
    (void)state;
    make_cloud(&c, 200, 50);
    check_survey(&c);
}

/* A lattice of spacing 0.1: each nearest neighbour is at the spacing to the bit, so the deviation is that of rounding.
 */
static void test_lattice(void **state) {
    (void)state;
    c = (crowd){.n = 512, .support = 0.2};
    for (size_t i = 0; i < c.n; i++) {
        c.x[3 * i] = 0.1 * (double)(i % 8);
        c.x[3 * i + 1] = 0.1 * (double)(i / 8 % 8);
        c.x[3 * i + 2] = 0.1 * (double)(i / 64);
        c.mass[i] = 1;
    }
    fill_rows(&c);
    for (int k = 0; k < PLACES; k++) {
        const pbd_surveyed got = survey(&c, &places[k], true, 0, NULL);
        check_near("mean", got.mean, 0.1, 0.1 * rounding);
        check_near("deviation", got.deviation, 0, 0.1 * rounding);
    }
}

/* ---- Pieces ------------------------------------------------------------------------------------------------------ */

/* Helices of particles 0.09 apart, numbered out of order, at three places; a piece of each helix is named by its lowest
 * number. */
static void check_chains(size_t n) {
    uint32_t lowest[3] = {UINT32_MAX, UINT32_MAX, UINT32_MAX}, piece[MOST];
    c = (crowd){.n = n, .support = 0.2};
    for (size_t k = 0; k < n; k++) {
        const size_t p = k * 11 % n, chain = 3 * k / n;
        const double angle = 0.09 * (double)k / 0.5;
        c.x[3 * p] = 0.5 * cos(angle) + 3 * (double)chain;
        c.x[3 * p + 1] = 0.5 * sin(angle);
        c.x[3 * p + 2] = 0.02 * (double)k;
        c.mass[p] = 1;
        if (p < lowest[chain]) lowest[chain] = (uint32_t)p;
    }
    fill_rows(&c);
    for (int at = 0; at < PLACES; at++) {
        survey(&c, &places[at], false, 0.1, piece);
        for (size_t k = 0; k < n; k++) assert_int_equal(piece[k * 11 % n], lowest[3 * k / n]);
    }
}

static void test_chains(void **state) {
    (void)state;
    check_chains(MOST - 2);
    check_chains(200);
}

static void test_nothing(void **state) {
    (void)state;
    c = (crowd){.support = 0.2};
    for (int k = 0; k < PLACES; k++) {
        const pbd_surveyed got = survey(&c, &places[k], true, 0.1, c.number);
        assert_true(isnan(got.mean) && isnan(got.deviation) && isnan(got.least));
        assert_true(got.lone == 0 && got.density == 0 && got.energy == 0 && got.tension == 0);
    }
}

static void test_no_memory_on_the_device(void **state) {
    (void)state;
    make_cloud(&c, 800, 0);
    setenv("PBDBENCH_DEVICE_MEMORY", "20k", 1);
    pbd_exec *exec = NULL;
    pbd_surveyed out;
    check_ok(pbd_exec_create(PBD_CPU, 1, &exec));
    unsetenv("PBDBENCH_DEVICE_MEMORY");
    const survey_source of = {.exec = exec, .particles = c.n, .x = c.row + PLACE, .x_stride = ROW};
    const pbd_survey asked = {.support = c.support, .spacing = 0.1, .masses = c.mass};
    assert_int_equal(particle_survey(&of, &asked, &out).code, PBD_NOT_SUPPORTED);
    assert_int_equal(pbd_exec_read_totals(exec).allocated, 0);
    pbd_exec_destroy(exec);
}

int main(void) {
    setenv("PBDBENCH_SMALL_LAUNCH", "0", 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cloud),
                                       cmocka_unit_test(test_lump),
                                       cmocka_unit_test(test_few),
                                       cmocka_unit_test(test_lattice),
                                       cmocka_unit_test(test_chains),
                                       cmocka_unit_test(test_nothing),
                                       cmocka_unit_test(test_no_memory_on_the_device)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
