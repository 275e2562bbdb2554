/* The loops that measure a machine compute what they claim: known answers on small sizes, the same on cpu and emu, and
 * measurements can be read back from the store. Nothing here depends on speed. */
#include <float.h>
#include <jansson.h>

#include "tests/ladder.h"

#include "harness/bench/limits/limits.h"
#include "harness/bench/limits/probes.h"
#include "harness/bench/limits/table.h"
#include "tests/program.h"
#include "tests/store_sample.h"

#if defined(__SANITIZE_THREAD__) /* a pthread for each lane is slow */
enum { GATHER_EDGE = 4 };
#else
enum { GATHER_EDGE = 8 };
#endif
enum { EDGE = 8, PARTICLES = EDGE * EDGE * EDGE, ELEMENTS = 1000 };

static const int backends[] = {PBD_CPU, PBD_EMU};
static const char *const backend_names[] = {"cpu", "emu"}, *const precision_names[] = {"f32", "f64"};
static const double epsilons[] = {FLT_EPSILON, DBL_EPSILON};

static const pbd_probe_ops *ops_of(int precision) { return precision ? &pbd_probes_double : &pbd_probes_float; }

typedef struct bed {
    pbd_exec *exec;
    const pbd_probe_ops *ops;
    pbd_probe *probe;
} bed;

static bed open_bed(int backend, int threads, int precision, pbd_probe_kind kind, size_t count,
                    const pbd_cloud *cloud) {
    bed b = {.ops = ops_of(precision)};
    check_ok(pbd_exec_create(backend, threads, &b.exec));
    check_ok(b.ops->open(b.exec, kind, count, cloud, &b.probe));
    return b;
}

static void close_bed(bed *b) {
    b->ops->close(b->probe);
    pbd_exec_destroy(b->exec);
}

static pbd_cloud make_cloud(int edge) {
    pbd_cloud cloud;
    check_ok(pbd_cloud_build(edge, 7, &cloud));
    return cloud;
}

static double *numbers(size_t count) { return need(calloc(count, sizeof(double))); }

/* ---- Memory and arithmetic --------------------------------------------------------------------------------------- */

/* All numbers are multiples of 1/8 below 2^20, and thus exact in both precisions. */
static void test_triad_and_copy_are_exact(void **state) {
    (void)state;
    static double a[ELEMENTS], b[ELEMENTS], c[ELEMENTS];
    for (int i = 0; i < ELEMENTS; i++) {
        b[i] = i / 8.0;
        c[i] = 1000 - i;
    }
    for (int k = 0; k < 4; k++) {
        bed t = open_bed(backends[k / 2], 3, k % 2, PBD_PROBE_TRIAD, ELEMENTS, NULL);
        check_ok(t.ops->write(t.probe, PBD_ARRAY_B, b, ELEMENTS));
        check_ok(t.ops->write(t.probe, PBD_ARRAY_C, c, ELEMENTS));
        check_ok(t.ops->pass(t.probe));
        check_ok(t.ops->read(t.probe, PBD_ARRAY_A, a, ELEMENTS));
        for (int i = 0; i < ELEMENTS; i++) assert_true(a[i] == b[i] + 3 * c[i]);
        assert_true(t.ops->work(t.probe) == 3.0 * ELEMENTS * (double)t.ops->real_bytes);
        assert_int_equal(t.ops->write(t.probe, PBD_ARRAY_B, b, ELEMENTS + 1).code, PBD_BAD_INPUT);
        close_bed(&t);
        t = open_bed(backends[k / 2], 3, k % 2, PBD_PROBE_COPY, ELEMENTS, NULL);
        check_ok(t.ops->write(t.probe, PBD_ARRAY_B, c, ELEMENTS));
        check_ok(t.ops->pass(t.probe));
        check_ok(t.ops->read(t.probe, PBD_ARRAY_A, a, ELEMENTS));
        assert_memory_equal(a, c, sizeof a);
        close_bed(&t);
    }
}

/* a <- a x + y from a_0 = c / chains has a_n = 1 + x^n (a_0 - 1), since y = 1 - x; an item returns the sum over its
 * chains. 77 items are not a whole number of batches. */
static void test_multiply_adds_follow_the_closed_form(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        bed t = open_bed(backends[k / 2], 1, k % 2, PBD_PROBE_FMA, 77, NULL);
        const int chains = k / 2 ? 8 : t.ops->chains;
        double wanted = 0, out[77], largest = 0, smallest = INFINITY;
        for (int c = 0; c < chains; c++) wanted += 1 + pow(1 - 0x1p-10, 3072.0 / chains) * ((double)c / chains - 1);
        check_ok(t.ops->pass(t.probe));
        check_ok(t.ops->read(t.probe, PBD_ARRAY_A, out, 77));
        for (int i = 0; i < 77; i++) {
            largest = fmax(largest, out[i]);
            smallest = fmin(smallest, out[i]);
        }
        assert_true(largest == smallest);
        char what[80];
        snprintf(what, sizeof what, "sum of %d chains, %s %s", chains, backend_names[k / 2], precision_names[k % 2]);
        /* The factor x < 1 does not amplify any of the 3072 / chains roundings of numbers below 1. */
        check_near(what, out[0], wanted, 3072.0 / chains * chains * epsilons[k % 2]);
        assert_true(t.ops->work(t.probe) == 2.0 * 3072 * 77);
        close_bed(&t);
    }
}

/* ---- The cloud --------------------------------------------------------------------------------------------------- */

static bool within_support(const pbd_cloud *c, size_t i, size_t j, double d[3]) {
    double square = 0;
    for (size_t k = 0; k < 3; k++) {
        d[k] = c->x[3 * j + k] - c->x[3 * i + k];
        square += d[k] * d[k];
    }
    return i != j && square < c->support * c->support;
}

/* Against a search over all pairs. */
static void test_neighbours_are_those_within_the_support(void **state) {
    (void)state;
    pbd_cloud c = make_cloud(EDGE);
    assert_int_equal(c.particles, PARTICLES);
    size_t pairs = 0;
    for (size_t i = 0; i < c.particles; i++) {
        size_t wanted = 0, found = 0;
        double d[3];
        for (size_t j = 0; j < c.particles; j++) wanted += within_support(&c, i, j, d);
        for (uint32_t k = c.first[i]; k < c.first[i + 1]; k++) {
            if (c.neighbour[k] == i) continue; /* padding of the last batch */
            assert_true(within_support(&c, i, c.neighbour[k], d));
            found++;
        }
        assert_int_equal(found, wanted);
        assert_int_equal(c.first[i] % 16, 0);
        pairs += found;
    }
    assert_int_equal(pairs, c.pairs);
    assert_int_equal(c.first[PARTICLES], c.entries);
    pbd_cloud_free(&c);
    c = make_cloud(32);
    check_near("neighbours of a particle, 32^3, faces included", (double)c.pairs / (double)c.particles, 29, 2);
    pbd_cloud_free(&c);
    assert_int_equal(pbd_cloud_build(6, 1, &c).code, PBD_BAD_INPUT);
}

/* No particle is written from two cells of the same colour, and every cell occurs once. */
static void test_colours_do_not_meet(void **state) {
    (void)state;
    pbd_cloud c = make_cloud(16);
    uint32_t *owner = need(calloc(c.particles, sizeof *owner)), *seen = need(calloc(c.cells, sizeof *seen));
    for (uint32_t colour = 0; colour < PBD_CLOUD_COLOURS; colour++) {
        memset(owner, 0, c.particles * sizeof *owner);
        for (size_t n = c.colour[colour]; n < c.colour[colour + 1]; n++) {
            const uint32_t cell = c.cell[n];
            seen[cell]++;
            for (uint32_t k = c.first[64 * cell]; k < c.first[64 * cell + 64]; k++) {
                assert_true(owner[c.neighbour[k]] == 0 || owner[c.neighbour[k]] == cell + 1);
                owner[c.neighbour[k]] = cell + 1;
            }
        }
    }
    for (size_t cell = 0; cell < c.cells; cell++) assert_int_equal(seen[cell], 1);
    free(owner);
    free(seen);
    pbd_cloud_free(&c);
}

/* Each particle of the lattice has one slot, with the neighbours that its list has, in the same order; lanes of a slice
 * are of different cells of one colour. 8 cells a colour of 64 leave half of the lanes empty. */
static void test_slices_hold_the_lists(void **state) {
    (void)state;
    pbd_cloud c = make_cloud(16);
    uint8_t *seen = need(calloc(c.particles + c.empty, 1));
    assert_int_equal(c.empty, PBD_CLOUD_COLOURS * (PBD_CLOUD_LANES - 8));
    assert_int_equal(c.slices, 64 * PBD_CLOUD_COLOURS);
    for (size_t slot = 0; slot < c.slices * PBD_CLOUD_LANES; slot++) {
        const size_t slice = slot / PBD_CLOUD_LANES, i = c.own[slot];
        const size_t cell = i < c.particles ? i / 64 : c.cells + i, of_slice = slice % 64;
        if (i < c.particles) {
            assert_int_equal(i % 64, of_slice);
            assert_int_equal(seen[i]++, 0);
        }
        for (size_t other = slot + 1; other % PBD_CLOUD_LANES != 0; other++) {
            const size_t j = c.own[other];
            assert_true((j < c.particles ? j / 64 : c.cells + j) != cell);
        }
        uint32_t at = i < c.particles ? c.first[i] : 0;
        for (size_t row = c.slice[slice]; row < c.slice[slice + 1]; row++) {
            const uint32_t j = c.row[PBD_CLOUD_LANES * row + slot % PBD_CLOUD_LANES];
            if (j == i) continue;
            assert_true(i < c.particles && at < c.first[i + 1]);
            assert_int_equal(j, c.neighbour[at++]);
        }
        if (i < c.particles) assert_true(at == c.first[i + 1] || c.neighbour[at] == i);
    }
    for (size_t i = 0; i < c.particles; i++) assert_int_equal(seen[i], 1);
    free(seen);
    pbd_cloud_free(&c);
}

/* ---- Passes ------------------------------------------------------------------------------------------------------ */

/* Both forms of the passes: neighbours as lanes, and particles (slices). */
static const pbd_probe_kind gathers[] = {PBD_PROBE_GATHER, PBD_PROBE_GATHER_SLICES},
                            scatters[] = {PBD_PROBE_SCATTER, PBD_PROBE_SCATTER_SLICES},
                            both[] = {PBD_PROBE_GATHER_SCATTER, PBD_PROBE_SLICES};
static const char *const form_names[] = {"neighbours as lanes", "slices"};

/* Gathers with the velocities v = A x. Returns three rows of 4 per particle, which the caller frees. */
static double *gathered(pbd_probe_kind kind, int backend, int precision, const pbd_cloud *c, const double A[9]) {
    bed t = open_bed(backend, 1, precision, kind, 0, c);
    double *v = numbers(4 * c->particles), *out = numbers(12 * c->particles);
    for (size_t i = 0; i < c->particles; i++)
        for (size_t d = 0; d < 3; d++)
            for (size_t e = 0; e < 3; e++) v[4 * i + d] += A[3 * d + e] * c->x[3 * i + e];
    check_ok(t.ops->write(t.probe, PBD_ARRAY_V, v, 4 * c->particles));
    check_ok(t.ops->pass(t.probe));
    check_ok(t.ops->read(t.probe, PBD_ARRAY_MATRIX, out, 12 * c->particles));
    assert_true(t.ops->work(t.probe) == (double)c->pairs);
    free(v);
    close_bed(&t);
    return out;
}

static double solve_row(const double M[12], const double right[12], int row, int column) {
    /* Cramer: M g = right, for entry g[row][column]. */
    double a[3][3], b[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            a[i][j] = M[4 * i + j];
            b[i][j] = j == row ? right[4 * i + column] : M[4 * i + j];
        }
#define DET(m)                                                                                               \
    (m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) + \
     m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]))
    return DET(b) / DET(a);
}

/* The gather of v = A x, corrected by the inverse of the gather of v = x, is A^T exactly, for any particles. */
static void test_gather_of_a_linear_field_is_its_gradient(void **state) {
    (void)state;
    static const double A[9] = {0.5, -1, 0.25, 2, 0.75, -0.5, 1, 0, -2}, one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    pbd_cloud c = make_cloud(GATHER_EDGE);
    for (int k = 0; k < 8; k++) {
        const int backend = backends[k / 2 % 2];
        double *M = gathered(gathers[k / 4], backend, k % 2, &c, one), worst = 0;
        double *G = gathered(gathers[k / 4], backend, k % 2, &c, A);
        for (size_t i = 0; i < c.particles; i++)
            for (int row = 0; row < 3; row++)
                for (int column = 0; column < 3; column++)
                    worst = fmax(worst, fabs(solve_row(M + 12 * i, G + 12 * i, row, column) - A[3 * column + row]));
        char what[80];
        snprintf(what, sizeof what, "gradient of A x against A, %s, %s %s", form_names[k / 4], backend_names[k / 2 % 2],
                 precision_names[k % 2]);
        /* v up to 3 * 8 with differences of 1: 24 eps each; sums of 30, M well conditioned (below 10 at corners). */
        check_near(what, worst, 0, 24 * 10 * epsilons[k % 2]);
        free(M);
        free(G);
    }
    pbd_cloud_free(&c);
}

static double *scattered(pbd_probe_kind kind, int backend, int threads, int precision, const pbd_cloud *c,
                         const double *matrix) {
    bed t = open_bed(backend, threads, precision, kind, 0, c);
    double *v = numbers(4 * c->particles);
    check_ok(t.ops->write(t.probe, PBD_ARRAY_V, v, 4 * c->particles));
    check_ok(t.ops->write(t.probe, PBD_ARRAY_MATRIX, matrix, 12 * c->particles));
    check_ok(t.ops->pass(t.probe));
    check_ok(t.ops->read(t.probe, PBD_ARRAY_V, v, 4 * c->particles));
    close_bed(&t);
    return v;
}

/* Matrices of about 1 / PBD_PROBE_SCALE, so that impulses are of order 1; exact in f32. */
static double *make_matrices(const pbd_cloud *c) {
    double *m = numbers(12 * c->particles);
    uint64_t seed = 3;
    for (size_t i = 0; i < 12 * c->particles; i++)
        m[i] = i % 4 == 3 ? 0 : floor(512 * noise(&seed)) / 512 / PBD_PROBE_SCALE;
    return m;
}

/* Over all pairs in double. The impulses do not depend on the velocities, so their order does not matter. */
static double *scattered_by_hand(const pbd_cloud *c, const double *matrix) {
    double *v = numbers(4 * c->particles), d[3];
    for (size_t i = 0; i < c->particles; i++)
        for (size_t j = 0; j < c->particles; j++) {
            if (!within_support(c, i, j, d)) continue;
            const double w = 1 - (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) / (c->support * c->support);
            for (size_t e = 0; e < 3; e++)
                for (size_t row = 0; row < 3; row++) {
                    const double impulse = PBD_PROBE_SCALE * matrix[12 * i + 4 * row + e] * w * w * d[row];
                    v[4 * j + e] += impulse;
                    v[4 * i + e] -= impulse;
                }
        }
    return v;
}

static void test_scatter_conserves_the_sum(void **state) {
    (void)state;
    pbd_cloud c = make_cloud(EDGE);
    double *matrix = make_matrices(&c), *wanted = scattered_by_hand(&c, matrix);
    for (int k = 0; k < 8; k++) {
        const char *backend = backend_names[k / 2 % 2], *form = form_names[k / 4];
        double *v = scattered(scatters[k / 4], backends[k / 2 % 2], 1, k % 2, &c, matrix), sum[4] = {0}, largest = 0,
               off = 0;
        for (size_t i = 0; i < 4 * c.particles; i++) {
            sum[i % 4] += v[i];
            largest = fmax(largest, fabs(v[i]));
            off = fmax(off, fabs(v[i] - wanted[i]));
        }
        char what[80];
        snprintf(what, sizeof what, "sum of impulses, %s, %s %s", form, backend, precision_names[k % 2]);
        assert_true(largest > 0.1); /* something moved */
        /* Each particle receives and gives 30 impulses of order 1; positions, up to 8, are rounded too. */
        for (int d = 0; d < 4; d++) check_near(what, sum[d], 0, PARTICLES * 30 * epsilons[k % 2]);
        snprintf(what, sizeof what, "impulses against all pairs, %s, %s %s", form, backend, precision_names[k % 2]);
        check_near(what, off, 0, 60 * 8 * epsilons[k % 2]);
        free(v);
    }
    free(matrix);
    free(wanted);
    pbd_cloud_free(&c);
}

/* The cloud is large enough for launches to be split among threads. */
static void test_passes_do_not_depend_on_threads(void **state) {
    (void)state;
    pbd_cloud c = make_cloud(16);
    double *matrix = make_matrices(&c);
    for (int k = 0; k < 4; k++) {
        double *one = scattered(scatters[k / 2], PBD_CPU, 1, k % 2, &c, matrix);
        for (int threads = 3; threads <= 8; threads += 5) {
            double *many = scattered(scatters[k / 2], PBD_CPU, threads, k % 2, &c, matrix);
            assert_memory_equal(one, many, 4 * c.particles * sizeof *one);
            free(many);
        }
        free(one);
    }
    free(matrix);
    pbd_cloud_free(&c);
}

/* A thousand alternations of the two passes: nothing diverges while a limit is measured. */
static void test_passes_can_be_repeated(void **state) {
    (void)state;
    pbd_cloud c = make_cloud(EDGE);
    for (int form = 0; form < 2; form++) {
        bed t = open_bed(PBD_CPU, 1, 0, both[form], 0, &c);
        double *v = numbers(4 * c.particles), largest = 0;
        for (int i = 0; i < 1000; i++) check_ok(t.ops->pass(t.probe));
        check_ok(t.ops->read(t.probe, PBD_ARRAY_V, v, 4 * c.particles));
        for (size_t i = 0; i < 4 * c.particles; i++) largest = isfinite(v[i]) ? fmax(largest, fabs(v[i])) : INFINITY;
        char what[80];
        snprintf(what, sizeof what, "largest speed after 1000 passes, of 8e-3 at first, %s", form_names[form]);
        check_near(what, largest, 5e-3, 5e-3);
        free(v);
        close_bed(&t);
    }
    pbd_cloud_free(&c);
}

/* From the second pass on, the launches are a repeat if the backend has repeats: a graph on a GPU, a list on emu. */
static void test_launches_become_a_repeat(void **state) {
    (void)state;
    for (int p = 0; p < 2; p++) {
        bed t = open_bed(PBD_EMU, 1, p, PBD_PROBE_GRAPH_LAUNCH, ELEMENTS, NULL);
        for (int i = 0; i < 4; i++) check_ok(t.ops->pass(t.probe));
        const pbd_exec_totals totals = pbd_exec_read_totals(t.exec);
        assert_true(totals.launches == 4 * (uint64_t)t.ops->work(t.probe));
        assert_true(4 * totals.replayed == 3 * totals.launches);
        close_bed(&t);
    }
}

/* ---- Measuring and storing --------------------------------------------------------------------------------------- */

static void count_limit(void *context, const pbd_limit *l) {
    assert_true(isfinite(l->best) && isfinite(l->median) && l->best > 0 && l->median > 0);
    assert_true(l->best >= l->median || strcmp(l->unit, "s") == 0);
    ++*(size_t *)context;
}

static void test_limits_come_back_from_the_store(void **state) {
    (void)state;
    const char *path = fresh("limits.db");
    pbd_store *store;
    pbd_machine machine;
    pbd_limits limits;
    size_t measured = 0;
    check_ok(pbd_this_machine(&machine));
    check_ok(pbd_store_open(path, PBD_STORE_WRITE, &store));
    check_ok(pbd_limits_load(store, machine.fingerprint, &limits));
    assert_int_equal(limits.count, 0);
    check_ok(pbd_limits_measure(store, true, count_limit, &measured));
    check_ok(pbd_limits_measure(store, true, NULL, NULL)); /* the newer measurements count */
    check_ok(pbd_limits_load(store, machine.fingerprint, &limits));
    assert_int_equal(limits.count, measured);
    static const char *const names[] = {"triad", "fma", "gather", "scatter", "gather_scatter", "gather_scatter_slices"};
    for (size_t i = 0; i < 6; i++) {
        assert_non_null(pbd_limits_find(&limits, names[i], "cpu", i == 0 ? "f64" : "f32", 1));
        assert_null(pbd_limits_find(&limits, names[i], "cpu", NULL, 4097));
        assert_null(pbd_limits_find(&limits, names[i], "emu", NULL, 1));
    }
    assert_string_equal(pbd_limits_bandwidth(&limits, "cpu", 1)->unit, "B/s");
    assert_string_equal(pbd_limits_flops(&limits, "cpu", "f64", 1)->precision, "f64");
    for (size_t i = 4; i < 6; i++)
        assert_true(pbd_limits_passes(&limits, "cpu", "f64", 1) >=
                    pbd_limits_find(&limits, names[i], "cpu", "f64", 1)->best);
    assert_true(pbd_limits_passes(&limits, "emu", "f64", 1) == 0);
    if (!pbd_backend_at(PBD_BACKEND_CUDA).available) assert_null(pbd_limits_bandwidth(&limits, "cuda", 1));
    pbd_limits_free(&limits);
    check_ok(pbd_limits_load(store, "of another machine", &limits));
    assert_int_equal(limits.count, 0);
    pbd_store_close(store);
    assert_clean(path);
    assert_sql(path, "SELECT count(*) FROM run_view", "0"); /* limits do not appear as runs */
}

/* ---- The verb ---------------------------------------------------------------------------------------------------- */

static void test_env_shows_limits(void **state) {
    (void)state;
    const char *path = fresh("env.db");
    make_store(path, 1);
    told answer = tell("env", "--json", "--db", path);
    expect_code(answer, 0);
    json_t *all = json_loads(answer.out, 0, NULL);
    assert_int_equal(json_array_size(json_object_get(all, "limits")), 0);
    assert_true(json_is_array(json_object_get(all, "limits")));
    json_decref(all);
    forget(&answer);
    answer = tell("env", "--db", path);
    expect_says(answer.out, "env --measure");
    forget(&answer);

    pbd_store *store;
    check_ok(pbd_store_open(path, PBD_STORE_WRITE, &store));
    check_ok(pbd_limits_measure(store, true, NULL, NULL));
    pbd_store_close(store);
    answer = tell("env", "--json", "--db", path);
    all = json_loads(answer.out, 0, NULL);
    const json_t *limit = json_array_get(json_object_get(all, "limits"), 0);
    assert_string_equal(json_string_value(json_object_get(limit, "name")), "triad");
    assert_true(json_number_value(json_object_get(limit, "best")) > 0);
    assert_int_equal(strlen(json_string_value(json_object_get(limit, "measured_at"))), 24);
    json_decref(all);
    forget(&answer);
    answer = tell("env", "--db", path);
    expect_says(answer.out, "limits (best of many samples, measured 20");
    expect_says(answer.out, "gather_scatter");
    forget(&answer);
    answer = tell("env", "--markdown", "--db", path);
    expect_code(answer, 0);
    expect_says(answer.out, "| multiply-adds, f32 | cpu, 1 thread |");
    forget(&answer);
}

static void test_quick_measuring_stores_nothing(void **state) {
    (void)state;
    told answer = tell("env", "--measure", "--quick");
    expect_code(answer, 0);
    expect_says(answer.out, "not limits");
    expect_says(answer.out, "triad");
    forget(&answer);
    struct stat found;
    assert_int_equal(stat(in_workplace("results"), &found), -1);
    static const char *const wrong[][4] = {{"env", "--quick"}, {"env", "--json", "--markdown"}, {"env", "here"}};
    for (size_t i = 0; i < 3; i++) {
        answer = tell_to(STDOUT_KEPT, wrong[i]);
        expect_code(answer, 2);
        forget(&answer);
    }
    answer = tell("env", "--db", in_workplace("nowhere.db"));
    expect_code(answer, 2);
    forget(&answer);
}

static void test_numbers_are_spelt_for_people(void **state) {
    (void)state;
    static const struct {
        const char *unit, *wanted;
        double value;
    } spelt[] = {{"B/s", "24.1 GB/s", 24.12e9},
                 {"flop/s", "2057 Gflop/s", 2.0567e12},
                 {"neighbours/s", "311 M/s", 311.4e6},
                 {"s", "2.41 us", 2.41e-6}};
    for (size_t i = 0; i < 4; i++) {
        pbd_limit l = {0};
        char out[32];
        snprintf(l.unit, sizeof l.unit, "%s", spelt[i].unit);
        pbd_limit_spell(&l, spelt[i].value, out, sizeof out);
        assert_string_equal(out, spelt[i].wanted);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_triad_and_copy_are_exact),
        cmocka_unit_test(test_multiply_adds_follow_the_closed_form),
        cmocka_unit_test(test_neighbours_are_those_within_the_support),
        cmocka_unit_test(test_colours_do_not_meet),
        cmocka_unit_test(test_slices_hold_the_lists),
        cmocka_unit_test(test_gather_of_a_linear_field_is_its_gradient),
        cmocka_unit_test(test_scatter_conserves_the_sum),
        cmocka_unit_test(test_passes_do_not_depend_on_threads),
        cmocka_unit_test(test_passes_can_be_repeated),
        cmocka_unit_test(test_launches_become_a_repeat),
        cmocka_unit_test(test_limits_come_back_from_the_store),
        cmocka_unit_test(test_env_shows_limits),
        cmocka_unit_test(test_quick_measuring_stores_nothing),
        cmocka_unit_test(test_numbers_are_spelt_for_people),
    };
    return cmocka_run_group_tests_name("limits", tests, NULL, remove_workplace);
}
