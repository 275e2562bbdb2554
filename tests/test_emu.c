/* The emulation of CUDA threads: barriers, shared memory and tile sums give the results of a GPU, and deliberate races
 * are caught. */
#define REAL float
#define PBD_UNIT test
#define PBD_EMULATE 1
#include "harness/exec/kernel.h"
#include "harness/exec/tile.h"

#include "tests/ladder.h"

typedef struct test_args {
    const float *in;
    float *out;
    const uint32_t *list;
} test_args;

/* Reverses a block through shared memory. */
PBD_ITEM(reverse_with_barrier, test_args, i, 0, 0) {
    PBD_SHARED(float, shared, PBD_BLOCK);
    size_t thread = i % PBD_BLOCK;
    shared[thread] = a->in[i];
    PBD_BARRIER();
    a->out[i] = shared[PBD_BLOCK - 1 - thread];
}

PBD_ITEM(reverse_without_barrier, test_args, i, 0, 0) {
    PBD_SHARED(float, shared, PBD_BLOCK);
    size_t thread = i % PBD_BLOCK;
    shared[thread] = a->in[i];
    a->out[i] = shared[PBD_BLOCK - 1 - thread]; /* deliberate race: no barrier after the writes */
}

/* Adds to the particle in the list: right only if the list has no duplicates. */
PBD_ITEM(add_at, test_args, i, 0, 0) { a->out[a->list[i]] += a->in[i]; }

PBD_ITEM(put_at, test_args, i, 0, 0) { a->out[a->list[i]] = a->in[i]; }

/* Sums ten numbers per tile. */
PBD_TILE(sum_ten, test_args, i, 0, 0) {
    float sum = 0;
    for (int k = PBD_LANE; k < 10; k += PBD_LANES) sum += a->in[10 * i + (size_t)k];
    sum = tile_sum(sum);
    if (PBD_LANE == 0) a->out[i] = sum;
}

/* Half of the lanes return before the exchange: a GPU would hang or read garbage. */
PBD_TILE(sum_by_half, test_args, i, 0, 0) {
    if (PBD_LANE >= PBD_LANES / 2) return;
    float sum = tile_sum(a->in[i]);
    if (PBD_LANE == 0) a->out[i] = sum;
}

/* Each lane copies its number through shared memory. */
PBD_TILE(fetch_own, test_args, i, 0, 0) {
    PBD_SHARED(float, shared, PBD_BLOCK);
    const size_t thread = PBD_TILE_IN_BLOCK * PBD_LANES + PBD_LANE, at = PBD_LANES * i + PBD_LANE;
    lane_fetch(shared + thread, a->in + at, sizeof *shared);
    lane_fetch_wait();
    a->out[at] = shared[thread];
}

PBD_TILE(fetch_too_early, test_args, i, 0, 0) {
    PBD_SHARED(float, shared, PBD_BLOCK);
    const size_t thread = PBD_TILE_IN_BLOCK * PBD_LANES + PBD_LANE, at = PBD_LANES * i + PBD_LANE;
    lane_fetch(shared + thread, a->in + at, sizeof *shared);
    a->out[at] = shared[thread]; /* deliberate: the copy is not complete */
    lane_fetch_wait();
}

PBD_TILE(fetch_what_changes, test_args, i, 0, 0) {
    PBD_SHARED(float, shared, PBD_BLOCK);
    const size_t thread = PBD_TILE_IN_BLOCK * PBD_LANES + PBD_LANE, at = PBD_LANES * i + PBD_LANE;
    lane_fetch(shared + thread, a->out + at, sizeof *shared);
    a->out[at] = a->in[at] + 1; /* deliberate: a GPU may copy before or after */
    lane_fetch_wait();
    a->out[at] += shared[thread];
}

typedef struct padded_args {
    const float *in;
    float *out;
    int32_t add; /* then padding */
} padded_args;

PBD_ITEM(add_number, padded_args, i, 0, 0) { a->out[i] = a->in[i] + (float)a->add; }

enum { N = 1000 };

typedef struct bench {
    pbd_exec *exec;
    float in[10 * N], out[N];
    uint32_t list[N];
    void *device_in, *device_out, *device_list;
} bench;

static void setup(bench *b) {
    check_ok(pbd_exec_create(PBD_EMU, 1, &b->exec));
    for (int i = 0; i < 10 * N; i++) b->in[i] = (float)(i % 97) + 0.125f;
    for (uint32_t i = 0; i < N; i++) b->list[i] = (i * 7) % N; /* 7 and 1000 are coprime: no duplicates */
    check_ok(pbd_alloc(b->exec, sizeof b->in, &b->device_in));
    check_ok(pbd_alloc(b->exec, sizeof b->out, &b->device_out));
    check_ok(pbd_alloc(b->exec, sizeof b->list, &b->device_list));
    check_ok(pbd_upload(b->exec, b->device_in, b->in, sizeof b->in));
}

/* Runs a kernel of shape `shape`; results are in b->out. */
static pbd_status launch(bench *b, const char *name, void (*entry)(const void *, size_t), pbd_shape shape, size_t n) {
    check_ok(pbd_upload(b->exec, b->device_list, b->list, sizeof b->list));
    pbd_kernel kernel = {name, shape, sizeof(test_args), NULL, entry, NULL, 0, 0, 0, 0, NULL};
    test_args args = {b->device_in, b->device_out, b->device_list};
    PBD_TRY(pbd_run(b->exec, &kernel, n, n, 0, 0, &args));
    return pbd_download(b->exec, b->out, b->device_out, sizeof b->out);
}

static void teardown(bench *b) {
    pbd_free(b->exec, b->device_in);
    pbd_free(b->exec, b->device_out);
    pbd_free(b->exec, b->device_list);
    assert_int_equal(pbd_exec_read_totals(b->exec).allocated, 0);
    pbd_exec_destroy(b->exec);
}

static void test_barrier_and_shared_memory(void **unused) {
    (void)unused;
    static bench b;
    setup(&b);
    check_ok(launch(&b, "reverse", PBD_ENTRY(emu, reverse_with_barrier), PBD_SHAPE_TILE, 7 * PBD_BLOCK));
    for (int i = 0; i < 7 * PBD_BLOCK; i++)
        assert_true(b.out[i] == b.in[i / PBD_BLOCK * PBD_BLOCK + PBD_BLOCK - 1 - i % PBD_BLOCK]);
    teardown(&b);
}

/* In the ThreadSanitizer build TSan must find the same two faults: CTest runs this program with their names and expects
 * it to fail. */
static int run_fault(const char *name) {
    static bench b;
    setup(&b);
    if (strcmp(name, "missing_barrier") == 0)
        launch(&b, name, PBD_ENTRY(emu, reverse_without_barrier), PBD_SHAPE_TILE, PBD_BLOCK);
    else {
        b.list[5] = b.list[3];
        launch(&b, name, PBD_ENTRY(emu, add_at), PBD_SHAPE_ITEM, PBD_BLOCK);
    }
    teardown(&b);
    return 0;
}

#if !defined(__SANITIZE_THREAD__) /* ThreadSanitizer reports it and ends the program */
static void test_missing_barrier_is_caught(void **unused) {
    (void)unused;
    static bench b;
    setup(&b);
    pbd_status status = launch(&b, "reverse", PBD_ENTRY(emu, reverse_without_barrier), PBD_SHAPE_TILE, PBD_BLOCK);
    assert_int_equal(status.code, PBD_FAILED);
    assert_non_null(strstr(status.text, "depends on the order"));
    teardown(&b);
}
#endif

static void test_wrong_colours_are_caught(void **unused) {
    (void)unused;
    static bench b;
    setup(&b);
    check_ok(launch(&b, "add_at", PBD_ENTRY(emu, add_at), PBD_SHAPE_ITEM, N));
    for (uint32_t i = 0; i < N; i++) assert_true(b.out[b.list[i]] == b.in[i]);
    /* Two threads of one block, then of two blocks, write to one particle. */
    static const int other[] = {5, 900};
    for (int k = 0; k < 2; k++) {
        uint32_t kept = b.list[other[k]];
        b.list[other[k]] = b.list[3];
        pbd_status status = launch(&b, "add_at", PBD_ENTRY(emu, add_at), PBD_SHAPE_ITEM, N);
        assert_int_equal(status.code, PBD_FAILED);
        assert_non_null(strstr(status.text, "write the same word"));
        b.list[other[k]] = kept;
    }
    teardown(&b);
}

#if !defined(__SANITIZE_THREAD__) /* which reports the two writes itself: six items get a pthread each */
/* In backward order thread 5 writes 1 and thread 3 restores the 0, so the launch seems to change nothing. */
static void test_changes_of_one_order_are_caught(void **unused) {
    (void)unused;
    static bench b;
    setup(&b);
    memset(b.in, 0, sizeof b.in);
    b.in[5] = 1;
    b.list[5] = b.list[3];
    check_ok(pbd_upload(b.exec, b.device_in, b.in, sizeof b.in));
    pbd_status status = launch(&b, "put_at", PBD_ENTRY(emu, put_at), PBD_SHAPE_ITEM, 6);
    assert_int_equal(status.code, PBD_FAILED);
    assert_non_null(strstr(status.text, "depends on the order"));
    teardown(&b);
}
#endif

static void test_tile_sums(void **unused) {
    (void)unused;
    static bench b;
    setup(&b);
    check_ok(launch(&b, "sum_ten", PBD_ENTRY(emu, sum_ten), PBD_SHAPE_TILE, N - 3)); /* the last block is not full */
    for (int i = 0; i < N - 3; i++) {
        float wanted = 0;
        for (int k = 0; k < 10; k++) wanted += b.in[10 * i + k];
        assert_true(b.out[i] == wanted); /* eighths: exact in any order */
    }
    assert_true(b.out[N - 1] == 0);
    teardown(&b);
}

#if !defined(__SANITIZE_THREAD__) /* pthreads would wait forever, as a GPU might */
static void test_absent_lanes_are_caught(void **unused) {
    (void)unused;
    static bench b;
    setup(&b);
    pbd_status status = launch(&b, "sum_by_half", PBD_ENTRY(emu, sum_by_half), PBD_SHAPE_TILE, 100);
    assert_int_equal(status.code, PBD_FAILED);
    assert_non_null(strstr(status.text, "lanes of a tile"));
    teardown(&b);
}
#endif

static void test_copies_to_shared_memory(void **unused) {
    (void)unused;
    static bench b;
    setup(&b);
    check_ok(launch(&b, "fetch_own", PBD_ENTRY(emu, fetch_own), PBD_SHAPE_TILE, N / PBD_LANES));
    assert_memory_equal(b.out, b.in, sizeof b.out);
    check_ok(launch(&b, "fetch_too_early", PBD_ENTRY(emu, fetch_too_early), PBD_SHAPE_TILE, N / PBD_LANES));
    for (int i = 0; i < N; i++) assert_true(isnan(b.out[i]));
    memset(b.out, 0, sizeof b.out);
    check_ok(pbd_upload(b.exec, b.device_out, b.out, sizeof b.out));
    pbd_status status = launch(&b, "fetch", PBD_ENTRY(emu, fetch_what_changes), PBD_SHAPE_TILE, N / PBD_LANES);
    assert_int_equal(status.code, PBD_FAILED);
    assert_non_null(strstr(status.text, "depends on the order"));
    teardown(&b);
}

#if defined(__has_builtin)
#if __has_builtin(__builtin_clear_padding)
#define CLEARS_PADDING 1
static void clear_padding(void *args) { __builtin_clear_padding((padded_args *)args); }

/* Arguments that differ only in their padding are the same launch, which is repeated as a graph. */
static void test_padding_does_not_matter(void **unused) {
    (void)unused;
    static bench b;
    for (int clears = 0; clears < 2; clears++) {
        pbd_kernel kernel = {
            .name = "add_number", .args_bytes = sizeof(padded_args), .emu = PBD_ENTRY(emu, add_number)};
        pbd_repeat *repeat = NULL;
        if (clears) kernel.clear_padding = clear_padding;
        setup(&b);
        for (int k = 1; k < 4; k++) {
            padded_args args;
            memset(&args, 17 * k, sizeof args);
            args.in = b.device_in;
            args.out = b.device_out;
            args.add = 5;
            check_ok(pbd_repeat_begin(b.exec, &repeat));
            check_ok(pbd_run(b.exec, &kernel, N, N, 0, 0, &args));
            check_ok(pbd_repeat_end(b.exec));
        }
        assert_int_equal(pbd_exec_read_totals(b.exec).replayed, clears ? 2 : 0);
        check_ok(pbd_download(b.exec, b.out, b.device_out, sizeof b.out));
        for (int i = 0; i < N; i++) assert_true(b.out[i] == b.in[i] + 5);
        pbd_repeat_free(b.exec, repeat);
        teardown(&b);
    }
}
#endif
#endif

int main(int argc, char **argv) {
    if (argc == 2) return run_fault(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_barrier_and_shared_memory),
        cmocka_unit_test(test_wrong_colours_are_caught),
        cmocka_unit_test(test_tile_sums),
        cmocka_unit_test(test_copies_to_shared_memory),
#if defined(CLEARS_PADDING)
        cmocka_unit_test(test_padding_does_not_matter),
#endif
#if !defined(__SANITIZE_THREAD__)
        cmocka_unit_test(test_changes_of_one_order_are_caught),
        cmocka_unit_test(test_missing_barrier_is_caught),
        cmocka_unit_test(test_absent_lanes_are_caught),
#endif
    };
    return cmocka_run_group_tests_name("emu", tests, NULL, NULL);
}
