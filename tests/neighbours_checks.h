/* The sorted grid and its neighbour lists against brute force in double, for the precision REAL: included by
 * test_neighbours.c (f64) and test_neighbours_f32.c. */
#define PBD_UNIT neighbours
#include "methods/physics/space/neighbours.h"

#include "tests/ladder.h"

static const double rounding = sizeof(real) == sizeof(float) ? 1e-5 : 1e-13; /* relative, of a distance */

/* ---- Clouds ------------------------------------------------------------------------------------------------------ */

enum { MOST = 3000, WATCHED = 256 };

typedef struct cloud {
    const char *name;
    size_t n;
    double reach;
    real row[4 * MOST];
} cloud;

static void put(cloud *c, double x, double y, double z) {
    real *row = c->row + 4 * c->n++;
    row[0] = (real)x;
    row[1] = (real)y;
    row[2] = (real)z;
    row[3] = 1;
}

static void make_random(cloud *c) {
    uint64_t seed = 3;
    *c = (cloud){.name = "random", .reach = 0.2};
    while (c->n < 2500) {
        const double x = noise(&seed), y = noise(&seed), z = noise(&seed);
        put(c, 5 + x, y - 3, z);
    }
}

/* Few enough that under ThreadSanitizer the emulation gives each its own pthread (WATCHED). */
static void make_few(cloud *c) {
    uint64_t seed = 6;
    *c = (cloud){.name = "few", .reach = 0.5};
    while (c->n < 200) {
        const double x = noise(&seed), y = noise(&seed), z = noise(&seed);
        put(c, 5 + x, y - 3, z);
    }
}

/* Dense lumps far apart: most of the table is empty, and the extent is far larger than the table can hold. */
static void make_clustered(cloud *c) {
    uint64_t seed = 4;
    *c = (cloud){.name = "clustered", .reach = 0.1};
    for (int lump = 0; lump < 10; lump++)
        for (int i = 0; i < 100; i++) {
            const double x = noise(&seed), y = noise(&seed), z = noise(&seed);
            put(c, 37 * lump + 0.2 * x, -11.3 * lump + 0.2 * y, 5.1 * lump * lump + 0.2 * z);
        }
}

/* A lattice with neighbours along the axes only: the reach is 1.25 spacings. */
static void make_lattice(cloud *c) {
    *c = (cloud){.name = "lattice", .reach = 0.25 * 1.25};
    for (int i = -6; i < 6; i++)
        for (int j = -6; j < 6; j++)
            for (int k = -6; k < 6; k++) put(c, 0.25 * i, 0.25 * j, 0.25 * k);
}

static void make_point(cloud *c) {
    *c = (cloud){.name = "all in one point", .reach = 0.5};
    while (c->n < 250) put(c, -0.7, 0.1, 3);
}

static void make_line(cloud *c) {
    *c = (cloud){.name = "a line", .reach = 0.033};
    while (c->n < 1500) put(c, 0.01 * (double)c->n, 1, 1);
}

static void make_sheet(cloud *c) {
    *c = (cloud){.name = "a sheet", .reach = 0.05};
    for (int i = 0; i < 50; i++)
        for (int j = 0; j < 50; j++) put(c, 0.021 * i, 0.3, -0.019 * j);
}

/* Positions of a diverging run: NaN, infinity and numbers too large for an integer, beside finite ones. */
static void make_broken(cloud *c) {
    make_few(c);
    c->name = "broken";
    const double bad[] = {NAN, INFINITY, -INFINITY, 1e30, -1e30, 3e9, -3e9, 1e12};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        put(c, bad[i], 0, 0);
        put(c, 0, bad[i], bad[i]);
        put(c, bad[i], bad[i], bad[i]);
        put(c, 5, -3, bad[i]);
    }
}

static void make_single(cloud *c) {
    *c = (cloud){.name = "one", .reach = 1};
    put(c, 1, 2, 3);
}

static void make_none(cloud *c) { *c = (cloud){.name = "none", .reach = 1}; }

static void (*const makers[])(cloud *) = {make_random, make_clustered, make_lattice, make_point,  make_line,
                                          make_sheet,  make_few,       make_broken,  make_single, make_none};
enum { CLOUDS = sizeof makers / sizeof *makers };

/* ---- Lists as the host reads them -------------------------------------------------------------------------------- */

typedef struct lists {
    uint32_t *first, *list;
    size_t entries;
} lists;

static lists read_lists(const neighbours *n) {
    lists out = {.entries = (size_t)n->entries};
    const size_t count = n->grid.count;
    out.first = malloc((count + 1) * sizeof *out.first);
    out.list = malloc((out.entries + 1) * sizeof *out.list);
    assert_non_null(out.first);
    assert_non_null(out.list);
    check_ok(pbd_download(n->grid.exec, out.first, n->first, (count + 1) * sizeof *out.first));
    if (n->list) check_ok(pbd_download(n->grid.exec, out.list, n->list, out.entries * sizeof *out.list));
    assert_int_equal(out.first[count], out.entries);
    return out;
}

static void lists_free(lists *l) {
    free(l->first);
    free(l->list);
}

static lists lists_on(int backend, int threads, const cloud *c, const uint32_t *member, size_t members) {
    pbd_exec *exec;
    neighbours n;
    void *rows;
    check_ok(pbd_exec_create(backend, threads, &exec));
    check_ok(pbd_alloc(exec, sizeof c->row, &rows));
    check_ok(pbd_upload(exec, rows, c->row, 4 * c->n * sizeof(real)));
    check_ok(neighbours_create(&n, exec, member ? members : c->n, member, c->reach, 0));
    bool rebuilt = false;
    check_ok(neighbours_update(&n, rows, &rebuilt));
    assert_true(rebuilt);
    lists out = read_lists(&n);
    neighbours_free(&n);
    pbd_free(exec, rows);
    pbd_exec_destroy(exec);
    return out;
}

static double distance(const cloud *c, size_t i, size_t j) {
    double square = 0;
    for (size_t d = 0; d < 3; d++) {
        const double gap = (double)c->row[4 * i + d] - (double)c->row[4 * j + d];
        square += gap * gap;
    }
    return sqrt(square);
}

/* Checks that every pair clearly within the reach is listed once from each side, and no pair clearly beyond it. */
static void check_lists(const cloud *c, const lists *l, const uint32_t *member, size_t slots) {
    unsigned char *listed = calloc(c->n + 1, 1);
    size_t pairs = 0, missing = 0, wrong = 0, twice = 0;
    assert_non_null(listed);
    for (size_t s = 0; s < slots; s++) {
        const size_t i = member ? member[s] : s;
        memset(listed, 0, c->n);
        for (uint32_t k = l->first[s]; k < l->first[s + 1]; k++) {
            const uint32_t j = l->list[k];
            assert_true(j < c->n);
            twice += listed[j];
            listed[j] = 1;
            wrong += j == i || !(distance(c, i, j) < c->reach * (1 + rounding));
        }
        for (size_t t = 0; t < slots; t++) {
            const size_t j = member ? member[t] : t;
            if (j == i || !(distance(c, i, j) < c->reach * (1 - rounding))) continue;
            pairs++;
            missing += !listed[j];
        }
    }
    print_message("    %s: %zu particles, %zu pairs by brute force, %zu listed, %zu missing, %zu wrong, %zu twice\n",
                  c->name, c->n, pairs, l->entries, missing, wrong, twice);
    assert_int_equal(missing + wrong + twice, 0);
    free(listed);
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

static cloud one; /* too large for a stack */

static void test_lists_against_brute_force(void **unused) {
    (void)unused;
    for (int k = 0; k < CLOUDS; k++) {
        makers[k](&one);
        lists l = lists_on(PBD_CPU, 1, &one, NULL, 0);
        check_lists(&one, &l, NULL, one.n);
        lists_free(&l);
    }
}

static void test_members_alone(void **unused) {
    (void)unused;
    static uint32_t member[MOST];
    make_random(&one);
    size_t members = 0;
    for (uint32_t i = 0; i < one.n; i += 1 + i % 3) member[members++] = i;
    lists l = lists_on(PBD_CPU, 1, &one, member, members);
    check_lists(&one, &l, member, members);
    lists_free(&l);
}

static void same(const lists *a, const lists *b, size_t n, const char *what) {
    if (a->entries != b->entries || memcmp(a->first, b->first, (n + 1) * sizeof *a->first) != 0 ||
        memcmp(a->list, b->list, a->entries * sizeof *a->list) != 0)
        fail_msg("%s: other lists than on one thread", what);
}

static void test_threads_and_emulation_agree_to_the_bit(void **unused) {
    (void)unused;
    for (int k = 0; k < CLOUDS; k++) {
        makers[k](&one);
#if defined(__SANITIZE_THREAD__) /* larger launches are emulated sequentially, where TSan has nothing to detect */
        if (one.n > WATCHED) continue;
#endif
        lists wanted = lists_on(PBD_CPU, 1, &one, NULL, 0), three = lists_on(PBD_CPU, 3, &one, NULL, 0),
              eight = lists_on(PBD_CPU, 8, &one, NULL, 0), emu = lists_on(PBD_EMU, 1, &one, NULL, 0);
        same(&wanted, &three, one.n, "3 threads");
        same(&wanted, &eight, one.n, "8 threads");
        same(&wanted, &emu, one.n, "emu");
        lists_free(&wanted);
        lists_free(&three);
        lists_free(&eight);
        lists_free(&emu);
    }
}

/* A cloud that drifts and spreads, and of which one particle flies away. With a skin, the lists hold every pair at all
 * times, and are rebuilt only when a particle has moved by half the skin. */
static void test_skin(void **unused) {
    (void)unused;
    pbd_exec *exec;
    neighbours n;
    void *rows;
    const double skin = 0.05;
    make_random(&one);
    one.n = 600;
    check_ok(pbd_exec_create(PBD_CPU, 2, &exec));
    check_ok(pbd_alloc(exec, sizeof one.row, &rows));
    check_ok(neighbours_create(&n, exec, one.n, NULL, one.reach, skin));
    double since = INFINITY; /* half of the largest relative displacement since the lists were built */
    int made = 0;
    for (int step = 0; step < 60; step++) {
        for (size_t i = 0; i < one.n; i++) one.row[4 * i] += (real)(0.002 * (double)(i % 5));
        one.row[4] += (real)0.004;
        for (size_t i = 0; i < one.n; i++) one.row[4 * i + 1] += (real)0.3; /* common translation: no rebuild */
        if (step > 40) one.row[6] += (real)(step * 1e3);
        since += 0.004; /* relative to the mean of the slowest and the fastest */
        bool rebuilt;
        check_ok(pbd_upload(exec, rows, one.row, 4 * one.n * sizeof(real)));
        check_ok(neighbours_update(&n, rows, &rebuilt));
        if (rebuilt != (step > 40 || since > 0.5 * skin))
            fail_msg("step %d: moved %g, rebuilt %d", step, since, rebuilt);
        if (rebuilt) since = 0, made++;
        lists l = read_lists(&n);
        for (size_t i = 0; i < one.n; i++)
            for (size_t j = 0; j < one.n; j++) {
                if (i == j || !(distance(&one, i, j) < one.reach * (1 - rounding))) continue;
                uint32_t k = l.first[i];
                while (k < l.first[i + 1] && l.list[k] != j) k++;
                if (k == l.first[i + 1]) fail_msg("step %d: %zu and %zu are neighbours and not listed", step, i, j);
            }
        lists_free(&l);
    }
    print_message("    lists made %d times in 60 steps\n", made);
    neighbours_free(&n);
    pbd_free(exec, rows);
    pbd_exec_destroy(exec);
}

/* The order of a list follows positions in space, and does not depend on the size of the table. */
static void test_order_knows_nothing_of_the_table(void **unused) {
    (void)unused;
    make_random(&one);
    lists alone = lists_on(PBD_CPU, 1, &one, NULL, 0);
    const size_t n = one.n, entries = alone.entries;
    for (int i = 0; i < 5; i++) put(&one, 1e4 * i * i + 100, 2e5 * i, 30 + i); /* far: another table size */
    lists with = lists_on(PBD_CPU, 1, &one, NULL, 0);
    assert_int_equal(with.entries, entries);
    same(&alone, &with, n, "with others far away");
    lists_free(&alone);
    lists_free(&with);
}

static void test_tuned_append_equals_plain_one(void **unused) {
    (void)unused;
    uint32_t from[PBD_BATCH], got[PBD_BATCH + 1], wanted[PBD_BATCH + 1];
    real lane[PBD_BATCH], got_lane[PBD_BATCH], wanted_lane[PBD_BATCH];
    for (uint32_t l = 0; l < PBD_BATCH; l++) from[l] = 100 + 7 * l, lane[l] = (real)(0.3 + l);
    for (uint32_t bits = 0; bits < 1u << PBD_BATCH; bits += 1 + (PBD_BATCH > 8 ? bits / 50 : 0)) {
        const uint32_t count = (uint32_t)append_bits_plain(wanted, from, bits);
        for (uint32_t room = count; room <= PBD_BATCH; room += room < PBD_BATCH ? PBD_BATCH - room : 1) {
            memset(got, 0xff, sizeof got);
            assert_int_equal(append_bits(got, room, from, bits), count);
            assert_memory_equal(got, wanted, count * sizeof *got);
            for (uint32_t l = room; l <= PBD_BATCH; l++) assert_int_equal(got[l], UINT32_MAX);
        }
        assert_int_equal(append_places_plain(wanted, 40, bits), count);
        assert_int_equal(append_places(got, 40, bits), count);
        assert_memory_equal(got, wanted, count * sizeof *got);
        assert_int_equal(append_lanes_plain(wanted_lane, batch_load(lane, 0, PBD_BATCH), bits), count);
        assert_int_equal(append_lanes(got_lane, batch_load(lane, 0, PBD_BATCH), bits), count);
        assert_memory_equal(got_lane, wanted_lane, count * sizeof *got_lane);
    }
}

static void test_bad_input(void **unused) {
    (void)unused;
    pbd_exec *exec;
    neighbours n;
    check_ok(pbd_exec_create(PBD_CPU, 1, &exec));
    const double reach[] = {0, -1, NAN, INFINITY};
    for (int i = 0; i < 4; i++) {
        const pbd_status status = neighbours_create(&n, exec, 10, NULL, reach[i], 0);
        assert_int_equal(status.code, PBD_BAD_INPUT);
        assert_non_null(strstr(status.text, "search radius"));
        neighbours_free(&n);
    }
    uint32_t *list = NULL;
    size_t capacity = 0;
    const pbd_status status = neighbours_room(exec, 100000, UINT64_C(10000000000), &list, &capacity);
    assert_int_equal(status.code, PBD_FAILED);
    assert_non_null(strstr(status.text, "4294967295"));
    assert_int_equal(pbd_exec_read_totals(exec).allocated, 0);
    pbd_exec_destroy(exec);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lists_against_brute_force),
                                       cmocka_unit_test(test_members_alone),
                                       cmocka_unit_test(test_threads_and_emulation_agree_to_the_bit),
                                       cmocka_unit_test(test_skin),
                                       cmocka_unit_test(test_order_knows_nothing_of_the_table),
                                       cmocka_unit_test(test_tuned_append_equals_plain_one),
                                       cmocka_unit_test(test_bad_input)};
    return cmocka_run_group_tests_name("neighbours", tests, NULL, NULL);
}
