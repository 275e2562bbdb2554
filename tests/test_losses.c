/* Pairs and particles that a run loses (harness/run/tears.h, strays.h): positions whose number of lost pairs has a
 * closed form, and runs of the program. */
#include "harness/catalog/resolve.h"
#include "harness/run/strays.h"
#include "harness/run/tears.h"
#include "tests/trial.h"
/* after trial.h */
#include <jansson.h>

#include "program.h"

static const double S = 0.1; /* spacing, m */

/* ---- A lattice --------------------------------------------------------------------------------------------------- */

typedef struct body {
    int nx, ny, nz;
    pbd_scene scene;
    double *x; /* positions as they are told; end with NaN */
} body;

static size_t site(const body *b, int i, int j, int k) { return (size_t)((k * b->ny + j) * b->nx + i); }

static body lattice(int nx, int ny, int nz) {
    const size_t n = (size_t)(nx * ny * nz);
    body b = {.nx = nx, .ny = ny, .nz = nz};
    b.scene = (pbd_scene){.particles = {.count = n, .spacing = S}, .extent = nx * S, .material = {{.E = 1e5}}};
    b.scene.particles.positions = malloc(3 * n * sizeof(double));
    b.x = malloc((3 * n + 1) * sizeof(double));
    for (int k = 0; k < nz; k++)
        for (int j = 0; j < ny; j++)
            for (int i = 0; i < nx; i++) {
                const int at[3] = {i, j, k};
                for (size_t d = 0; d < 3; d++) b.scene.particles.positions[3 * site(&b, i, j, k) + d] = S * at[d];
            }
    memcpy(b.x, b.scene.particles.positions, 3 * n * sizeof(double));
    b.x[3 * n] = NAN;
    return b;
}

static void free_body(body *b) {
    free(b->scene.particles.positions);
    free(b->x);
}

static const pbd_method sampling_method = {.bytes = sizeof(pbd_method), .name = "telling", .needs = PBD_NEEDS_SAMPLES};
static const pbd_method mesh_method = {.bytes = sizeof(pbd_method), .name = "telling", .needs = PBD_NEEDS_TETS};

static tear_count count_with(const body *b, const pbd_method *method) {
    tear_count out;
    check_ok(pbd_tears_count(&b->scene, method, b->x, &out));
    print_message("    %zu pairs, %zu torn, %zu clumped\n", out.pairs, out.torn, out.clumped);
    return out;
}

static tear_count count(const body *b) { return count_with(b, &sampling_method); }

/* Number of pairs in a lattice: edges, face diagonals and space diagonals of its cubes. */
static size_t pairs_of(size_t a, size_t b, size_t c) {
    const size_t edges = (a - 1) * b * c + a * (b - 1) * c + a * b * (c - 1);
    const size_t faces = (a - 1) * (b - 1) * c + (a - 1) * b * (c - 1) + a * (b - 1) * (c - 1);
    return edges + 2 * faces + 4 * (a - 1) * (b - 1) * (c - 1);
}

static void map(body *b, const double F[9]) {
    const double *rest = b->scene.particles.positions;
    for (size_t i = 0; i < b->scene.particles.count; i++)
        for (size_t d = 0; d < 3; d++)
            b->x[3 * i + d] =
                F[3 * d] * rest[3 * i] + F[3 * d + 1] * rest[3 * i + 1] + F[3 * d + 2] * rest[3 * i + 2] + 5;
}

/* ---- What does not tear ------------------------------------------------------------------------------------------ */

static void homogeneous_deformation_loses_nothing(void **state) {
    (void)state;
    static const double F[][9] = {{1, 0, 0, 0, 1, 0, 0, 0, 1},
                                  {3, 0, 0, 0, 0.6, 0, 0, 0, 0.6},        /* pulled */
                                  {0.2, 0, 0, 0, 2.5, 0, 0, 0, 2.5},      /* squashed */
                                  {0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1},      /* compressed */
                                  {1, 4, 0, 0, 1, 0, 0, 0, 1},            /* sheared */
                                  {0, -1, 0, 1, 0, 0, 0, 0, 1},           /* a quarter turn */
                                  {0, -3, 1, 0.5, 0, 0, 0, 0.3, 2.0 / 3}, /* all of these */
                                  {-1, 0, 0, 0, 1, 0, 0, 0, 1},           /* mirrored */
                                  {1, 0, 0, 0, 1, 0, 0, 0, 0}};           /* flat */
    uint64_t seed = 1;
    for (int jitter = 0; jitter < 2; jitter++)
        for (size_t k = 0; k < sizeof F / sizeof *F; k++) {
            body b = lattice(6, 5, 4);
            for (size_t i = 0; jitter && i < 3 * b.scene.particles.count; i++)
                b.scene.particles.positions[i] += 0.15 * S * noise(&seed);
            map(&b, F[k]);
            const tear_count c = count(&b);
            if (!jitter) assert_int_equal(c.pairs, pairs_of(6, 5, 4));
            assert_int_equal(c.torn, 0);
            assert_int_equal(c.clumped, 0);
            free_body(&b);
        }
}

/* A bar bent to a half circle, with strains of 0.22 at its faces, and one twisted by 0.2 rad per spacing. */
static void bending_and_twisting_lose_nothing(void **state) {
    (void)state;
    body b = lattice(36, 6, 6);
    const double *rest = b.scene.particles.positions, radius = 35 * S / M_PI;
    for (size_t i = 0; i < b.scene.particles.count; i++) {
        const double angle = rest[3 * i] / radius, r = radius + rest[3 * i + 2] - 2.5 * S;
        b.x[3 * i] = r * sin(angle);
        b.x[3 * i + 2] = r * cos(angle);
    }
    tear_count c = count(&b);
    assert_true(c.torn == 0 && c.clumped == 0);
    for (size_t i = 0; i < b.scene.particles.count; i++) {
        const double angle = 0.2 * rest[3 * i] / S, y = rest[3 * i + 1] - 2.5 * S, z = rest[3 * i + 2] - 2.5 * S;
        b.x[3 * i] = rest[3 * i];
        b.x[3 * i + 1] = cos(angle) * y - sin(angle) * z;
        b.x[3 * i + 2] = sin(angle) * y + cos(angle) * z;
    }
    c = count(&b);
    assert_true(c.torn == 0 && c.clumped == 0);
    free_body(&b);
}

/* ---- Tears ------------------------------------------------------------------------------------------------------- */

enum { N = 5, LONG = 8 };

/* A cut between layers of n x n sites loses n^2 edges, 4 n (n - 1) face diagonals and 4 (n - 1)^2 space diagonals. */
static size_t pairs_across(size_t n) { return n * n + 4 * n * (n - 1) + 4 * (n - 1) * (n - 1); }

/* Counts tears after the upper half has moved by `by`, in spacings, and before that, if `turned`, by a quarter turn
 * about its axis. */
static tear_count parted(const double by[3], bool turned) {
    body b = lattice(N, N, LONG);
    for (int k = LONG / 2; k < LONG; k++)
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++) {
                double *x = b.x + 3 * site(&b, i, j, k);
                if (turned) x[0] = S * (N - 1 - j), x[1] = S * i;
                for (int d = 0; d < 3; d++) x[d] += S * by[d];
            }
    const tear_count c = count(&b);
    free_body(&b);
    return c;
}

static void a_crack_loses_its_pairs(void **state) {
    (void)state;
    static const double opens[] = {0, 0, 1.3}, wide[] = {0, 0, 40}, slides[] = {4, 0, 0}, away[] = {2, -3, 6},
                        strained[] = {0, 0, 0.2};
    const size_t lost = pairs_across(N);
    assert_int_equal(lost, 13 * 13);
    assert_int_equal(parted(opens, false).torn, lost);
    assert_int_equal(parted(wide, false).torn, lost);
    assert_int_equal(parted(slides, false).torn, lost);
    assert_int_equal(parted(away, true).torn, lost);
    assert_int_equal(parted(strained, false).torn, 0);
    assert_int_equal(parted(wide, true).clumped, 0);
}

/* At an opening of one spacing, edges are stretched by 2 and face diagonals by sqrt(5/2): lost. Space diagonals are
 * stretched by sqrt(2): kept. */
static void a_narrow_crack_loses_short_pairs(void **state) {
    (void)state;
    static const double opens[] = {0, 0, 1};
    assert_int_equal(parted(opens, false).torn, N * N + 4 * N * (N - 1));
}

static void a_lost_particle_loses_its_pairs(void **state) {
    (void)state;
    body b = lattice(N, N, N);
    b.x[3 * site(&b, 2, 2, 2)] += 3;
    assert_int_equal(count(&b).torn, 26);
    b.x[3 * site(&b, 0, 0, 0) + 1] = NAN;
    assert_int_equal(count(&b).torn, 26 + 7);
    b.x[3 * site(&b, 4, 4, 4)] = INFINITY;
    assert_int_equal(count(&b).torn, 26 + 7 + 7);
    free_body(&b);
}

/* Layers move alternately by +d and -d, which gives gaps of 1 - 2d and 1 + 2d. The fitted F of inner layers is the
 * identity: edges are clumped for d > 1/4. That of the outer layers has the stretch 1 - 2d: clumped there for
 * 1 - 2d < (1 + 1 - 2d)/4, d > 1/3. */
static void layers_that_pair_are_clumped(void **state) {
    (void)state;
    static const double d[] = {0.24, 0.3, 0.35};
    static const size_t gaps[] = {0, 1, 3};
    for (size_t m = 0; m < 3; m++) {
        body b = lattice(N, N, 6);
        for (size_t i = 0; i < b.scene.particles.count; i++) b.x[3 * i + 2] += (i / (N * N) % 2 ? -1 : 1) * d[m] * S;
        assert_int_equal(count(&b).clumped, gaps[m] * N * N);
        free_body(&b);
    }
}

static void what_keeps_no_neighbours_has_no_pairs(void **state) {
    (void)state;
    static uint32_t halves[N * N * N];
    static uint8_t kinds[N * N * N];
    body b = lattice(N, N, N);
    pbd_material *m = b.scene.material;
    assert_int_equal(count(&b).pairs, pairs_of(N, N, N));
    assert_int_equal(count_with(&b, &mesh_method).pairs, 0);
    b.scene.blades.count = 1;
    assert_int_equal(count(&b).pairs, 0);
    b.scene.blades.count = 0;
    b.scene.particles.spacing = 0;
    assert_int_equal(count(&b).pairs, 0);
    b.scene.particles.spacing = S;
    const pbd_material elastic = *m, others[] = {{.E = 1e5, .flow = "snow"},
                                                 {.E = 1e5, .yield_strain = 0.1},
                                                 {.E = 1e5, .matter = PBD_FLUID},
                                                 {.E = 1e5, .matter = PBD_CLOTH},
                                                 {.E = 0}};
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        *m = others[k];
        assert_int_equal(count(&b).pairs, 0);
    }
    *m = elastic;
    for (size_t i = 0; i < N * N * N; i++) halves[i] = i >= 2 * N * N;
    b.scene.particles.body = halves; /* bodies of 2 and 3 layers */
    assert_int_equal(count(&b).pairs, pairs_of(N, N, 2) + pairs_of(N, N, 3));
    b.scene.particles.body = NULL;
    for (size_t i = 0; i < N * N * N; i++) kinds[i] = i >= 2 * N * N;
    b.scene.particles.material = kinds;
    m[1] = others[0];
    b.scene.materials = 2;
    assert_int_equal(count(&b).pairs, pairs_of(N, N, 2));
    free_body(&b);
}

/* ---- What a run records ------------------------------------------------------------------------------------------ */

typedef struct recorded {
    pbd_status status;
    double torn, clumped, escaped, lone; /* NaN: absent */
    bool warns_torn, warns_clumped, warns_escaped, warns_lone;
} recorded;

static double recorded_metric(const pbd_result *r, const char *name) {
    for (size_t i = 0; i < r->metrics; i++) {
        if (strcmp(r->metric[i].name, name) != 0) continue;
        assert_int_equal(r->metric[i].kind, PBD_FLAW);
        return r->metric[i].value;
    }
    return NAN;
}

static bool warns_of(const pbd_result *r, const char *name) {
    for (size_t i = 0; i < r->warnings; i++)
        if (strcmp(r->warning[i].name, name) == 0) return print_message("    %s\n", r->warning[i].says), true;
    return false;
}

static recorded record(const body *b, double time) {
    pbd_result r = {0};
    pbd_recorder *recorder = pbd_recorder_create(&r, NULL);
    check_ok(pbd_tears_record(&b->scene, &sampling_method, b->x, recorder));
    recorded out = {.status = pbd_strays_record(&b->scene, &sampling_method, b->x, time, recorder)};
    out.torn = recorded_metric(&r, "torn");
    out.clumped = recorded_metric(&r, "clumped");
    out.escaped = recorded_metric(&r, "escaped");
    out.lone = recorded_metric(&r, "lone");
    out.warns_torn = warns_of(&r, "torn");
    out.warns_clumped = warns_of(&r, "clumped");
    out.warns_escaped = warns_of(&r, "escaped");
    out.warns_lone = warns_of(&r, "lone");
    pbd_recorder_destroy(recorder);
    pbd_result_free(&r);
    return out;
}

static void warnings_begin_at_their_limits(void **state) {
    (void)state;
    body b = lattice(10, 10, 10); /* 10,476 pairs: 10 of them are a share below 0.001, 11 above it */
    recorded r = record(&b, 0);
    assert_true(r.torn == 0 && r.clumped == 0 && !r.warns_torn && !r.warns_clumped);
    assert_true(isnan(r.escaped) && isnan(r.lone));
    b.x[3 * site(&b, 9, 9, 9)] += 1; /* a corner has 7 neighbours */
    r = record(&b, 0);
    assert_true(!r.warns_torn);
    check_near("torn", r.torn, 7.0 / 10476, 1e-15);
    b.x[3 * site(&b, 0, 0, 5)] -= 1; /* a site on an edge has 11 */
    r = record(&b, 0);
    assert_true(r.warns_torn && r.status.code == PBD_OK);
    check_near("torn", r.torn, 18.0 / 10476, 1e-15);
    for (int i = 0; i < 12; i++) { /* pairs of coincident particles */
        double *x = b.x + 3 * site(&b, i % 4 * 2 + 1, i / 4 * 3 + 1, 3);
        x[0] += S;
    }
    r = record(&b, 0);
    assert_true(r.warns_clumped);
    check_near("clumped", r.clumped, 12.0 / 10476, 1e-15);
    free_body(&b);
}

/* ---- Walls ------------------------------------------------------------------------------------------------------- */

/* 10 x 10 x 2 particles half a spacing above the plane z = 0. */
static body above_floor(pbd_collider *floor) {
    body b = lattice(10, 10, 2);
    *floor = (pbd_collider){.shape = PBD_PLANE, .axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    floor->centre[2] = -0.5 * S;
    b.scene.colliders.count = 1;
    b.scene.colliders.item = floor;
    return b;
}

static void grains_through_a_floor_are_no_result(void **state) {
    (void)state;
    pbd_collider floor;
    body b = above_floor(&floor);
    recorded r = record(&b, 0);
    assert_true(r.escaped == 0 && !r.warns_escaped && r.status.code == PBD_OK);
    b.x[3 * site(&b, 3, 3, 0) + 2] = -0.99 * S; /* less than half a spacing below the plane */
    assert_true(record(&b, 0).escaped == 0);
    b.x[3 * site(&b, 3, 3, 0) + 2] = -1.01 * S;
    r = record(&b, 0);
    assert_true(r.warns_escaped && r.status.code == PBD_OK);
    check_near("escaped", r.escaped, 1.0 / 200, 1e-15);
    b.x[3 * site(&b, 4, 3, 0) + 2] = -100;
    assert_int_equal(record(&b, 0).status.code, PBD_OK); /* 1 % */
    b.x[3 * site(&b, 5, 3, 0) + 2] = -1e9;
    r = record(&b, 0);
    assert_int_equal(r.status.code, PBD_UNPHYSICAL);
    check_near("escaped", r.escaped, 3.0 / 200, 1e-15);
    free_body(&b);
}

static void larger_grains_may_be_deeper(void **state) {
    (void)state;
    static double radius[200];
    pbd_collider floor;
    body b = above_floor(&floor);
    for (int i = 0; i < 200; i++) radius[i] = 2 * S;
    b.scene.contact.radius = radius;
    b.x[2] = -2.4 * S;
    assert_true(record(&b, 0).escaped == 0);
    b.x[2] = -2.6 * S;
    check_near("escaped", record(&b, 0).escaped, 1.0 / 200, 1e-15);
    free_body(&b);
}

/* A floor that rises at 1 m/s for 2 s passes all particles; fixed particles are not counted. A closed box contains all
 * particles. */
static void walls_are_where_they_are_then(void **state) {
    (void)state;
    uint32_t held[100];
    pbd_collider floor;
    body b = above_floor(&floor);
    floor.velocity[2] = 1;
    floor.end = 2;
    assert_true(record(&b, 0.05).escaped == 0);
    check_near("escaped", record(&b, 0.11).escaped, 0.5, 0); /* the floor is at 0.06, the lower layer at 0 */
    check_near("escaped", record(&b, 9).escaped, 1, 0);
    for (uint32_t i = 0; i < 100; i++) held[i] = i;
    b.scene.particles.fixed = 100;
    b.scene.particles.fixed_particle = held;
    assert_true(record(&b, 0.11).escaped == 0);
    check_near("escaped", record(&b, 9).escaped, 1, 0);
    b.scene.particles.fixed = 0;
    floor = (pbd_collider){.shape = PBD_BOX,
                           .container = true,
                           .centre = {0.45, 0.45, 0.05},
                           .half = {0.5, 0.5, 0.1},
                           .axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    assert_true(record(&b, 0).escaped == 0);
    b.x[0] = -0.2;
    b.x[3] = 1.2;
    check_near("escaped", record(&b, 0).escaped, 2.0 / 200, 1e-15);
    free_body(&b);
}

static void lone_grains_are_told(void **state) {
    (void)state;
    body b = lattice(10, 10, 2);
    b.scene.material[0].flow = "drucker_prager";
    recorded r = record(&b, 0);
    assert_true(r.lone == 0 && !r.warns_lone && isnan(r.torn) && isnan(r.escaped));
    for (int i = 0; i < 2; i++) b.x[3 * i + 2] = 5 + i;
    r = record(&b, 0);
    assert_true(!r.warns_lone);
    check_near("lone", r.lone, 0.01, 1e-15);
    b.x[3 * 2 + 2] = 6.05; /* 1.1 spacings from the second: neither of the two is lone */
    check_near("lone", record(&b, 0).lone, 0.005, 1e-15);
    b.x[3 * 2 + 2] = 7;
    r = record(&b, 0);
    assert_true(r.warns_lone && r.status.code == PBD_OK);
    check_near("lone", r.lone, 0.015, 1e-15);
    free_body(&b);
}

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

typedef struct sinking { /* a method whose particles fall through all floors */
    size_t n;
    double *x, *v;
} sinking;

static void sinking_destroy(void *state) {
    sinking *s = state;
    if (s) free(s->x), free(s->v);
    free(s);
}

static pbd_status sinking_create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec,
                                 pbd_recorder *recorder, void **state) {
    (void)values, (void)exec, (void)recorder;
    sinking *s = *state = calloc(1, sizeof *s);
    s->n = scene->particles.count;
    s->x = malloc(3 * s->n * sizeof *s->x);
    s->v = calloc(3 * s->n, sizeof *s->v);
    memcpy(s->x, scene->particles.positions, 3 * s->n * sizeof *s->x);
    if (scene->particles.velocities) memcpy(s->v, scene->particles.velocities, 3 * s->n * sizeof *s->v);
    return pbd_ok();
}

static pbd_status sinking_step(void *state, double dt) {
    sinking *s = state;
    for (size_t i = 0; i < s->n; i++) {
        s->x[3 * i + 2] += dt * s->v[3 * i + 2] - 0.5 * dt * dt * 9.81;
        s->v[3 * i + 2] -= dt * 9.81;
    }
    return pbd_ok();
}

static pbd_status sinking_read(const void *state, pbd_field field, double *out) {
    const sinking *s = state;
    if (field != PBD_POSITIONS && field != PBD_VELOCITIES) return pbd_error(PBD_NOT_SUPPORTED, "no such field");
    memcpy(out, field == PBD_POSITIONS ? s->x : s->v, 3 * s->n * sizeof *out);
    return pbd_ok();
}

static const pbd_param sinking_params[] = {{"dt", "s", PBD_REAL, "0.01", 0, 1, PBD_OPEN_MIN, NULL, "step"}, {0}};
static const pbd_method sinking_method = {.bytes = sizeof(pbd_method),
                                          .name = "sinking",
                                          .summary = "falls",
                                          .source = "",
                                          .needs = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
                                          .takes = PBD_TAKES_COLLIDERS | PBD_TAKES_FLOW,
                                          .params = sinking_params,
                                          .create = sinking_create,
                                          .backends = PBD_CPU,
                                          .precisions = PBD_F64,
                                          .step = sinking_step,
                                          .read = sinking_read,
                                          .destroy = sinking_destroy};

/* Grains dropped from 0.1 m or less are all below the floor after 1 s: metrics are stored, and the run is
 * unphysical. */
static void a_run_whose_grains_escape_is_unphysical(void **state) {
    (void)state;
    const pbd_method_entry entry = {.by_precision = {&sinking_method, &sinking_method}};
    const pbd_setting settings[] = {{"particles", "100"}, {"duration", "1"}};
    pbd_plan_item item = {.seed = 1};
    pbd_result r = {0};
    item.cell = (pbd_cell){.method = &entry, .precision = PBD_PRECISION_F64, .threads = 1};
    check_ok(pbd_find_case("goo_drop", &item.cell.c));
    check_ok(pbd_resolve(item.cell.c, &sinking_method, settings, 2, &item.cell.case_values, &item.cell.method_values));
    check_ok(pbd_run_cell(&item, &r));
    assert_string_equal(r.state, "unphysical");
    assert_non_null(strstr(r.says, "escaped 1:"));
    assert_true(warns_of(&r, "escaped"));
    check_near("escaped", recorded_metric(&r, "escaped"), 1, 0);
    check_near("lone", recorded_metric(&r, "lone"), 0, 0);
    pbd_result_free(&r);
    pbd_values_free(&item.cell.case_values);
    pbd_values_free(&item.cell.method_values);
}

static double torn_in(const char *sampling, const char *gravity, bool *warned) {
    told answer = tell("run", "cantilever", "-m", "xpbi", "-p", "f32", "-s", sampling, "-s", gravity, "-s", "E=1e5",
                       "-s", "cells=4", "-s", "mode=dynamic", "-s", "duration=0.3", "-s", "dt=0.005", "-s",
                       "iterations=20", "-s", "xsph=0", "-s", "position_correction=off", "-s", "kernel=current", "-s",
                       "hourglass_control=0", "--no-store", "--json");
    expect_code(answer, 0);
    json_t *run = json_loads(answer.out, 0, NULL);
    assert_non_null(run);
    const json_t *torn = json_object_get(json_object_get(run, "metrics"), "torn");
    const double value = json_number_value(json_object_get(torn, "value"));
    assert_string_equal(json_string_value(json_object_get(torn, "kind")), "flaw");
    *warned = strstr(answer.out, "pairs of neighbours of an elastic body are lost") != NULL;
    json_decref(run);
    forget(&answer);
    return value;
}

/* A bar sampled by a lattice tears at its root under its own weight (findings N10), but not under a fiftieth of it. In
 * 5e3bc93 that run ended as ok, without a warning. */
static void a_bar_that_tears_is_told(void **state) {
    (void)state;
    bool warned;
    assert_true(torn_in("sampling=lattice", "gravity=9.81", &warned) > 0.01 && warned);
    assert_true(torn_in("sampling=lattice", "gravity=0.2", &warned) == 0 && !warned);
    assert_true(torn_in("sampling=poisson", "gravity=9.81", &warned) == 0 && !warned);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(homogeneous_deformation_loses_nothing),
        cmocka_unit_test(bending_and_twisting_lose_nothing),
        cmocka_unit_test(a_crack_loses_its_pairs),
        cmocka_unit_test(a_narrow_crack_loses_short_pairs),
        cmocka_unit_test(a_lost_particle_loses_its_pairs),
        cmocka_unit_test(layers_that_pair_are_clumped),
        cmocka_unit_test(what_keeps_no_neighbours_has_no_pairs),
        cmocka_unit_test(warnings_begin_at_their_limits),
        cmocka_unit_test(grains_through_a_floor_are_no_result),
        cmocka_unit_test(larger_grains_may_be_deeper),
        cmocka_unit_test(walls_are_where_they_are_then),
        cmocka_unit_test(lone_grains_are_told),
        cmocka_unit_test(a_run_whose_grains_escape_is_unphysical),
        cmocka_unit_test(a_bar_that_tears_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
