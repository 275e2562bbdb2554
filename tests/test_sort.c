/* Sort and scan on every backend of this machine against plain C. */
#define REAL float
#include "harness/exec/backend.h"
#include "tests/ladder.h"

enum { MOST = 100003 };

typedef struct pair {
    uint32_t key, value;
} pair;

static uint32_t mask;

/* qsort is not stable: equal keys are ordered by their value, which is the position. */
static int by_key(const void *a, const void *b) {
    const pair *p = a, *q = b;
    const uint32_t x = p->key & mask, y = q->key & mask;
    if (x != y) return x < y ? -1 : 1;
    return p->value < q->value ? -1 : p->value > q->value;
}

static uint32_t key[MOST], value[MOST], random_key[MOST];
static pair wanted[MOST];

static void check_sort(pbd_exec *exec, void *keys, void *values, size_t n, int bits) {
    for (uint32_t i = 0; i < n; i++) wanted[i] = (pair){random_key[i], i};
    for (uint32_t i = 0; i < n; i++) value[i] = i;
    mask = bits == 32 ? UINT32_MAX : (1u << bits) - 1;
    qsort(wanted, n, sizeof *wanted, by_key);
    check_ok(pbd_upload(exec, keys, random_key, n * sizeof *key));
    check_ok(pbd_upload(exec, values, value, n * sizeof *value));
    check_ok(pbd_sort_pairs(exec, keys, values, n, bits));
    check_ok(pbd_download(exec, key, keys, n * sizeof *key));
    check_ok(pbd_download(exec, value, values, n * sizeof *value));
    for (size_t i = 0; i < n; i++)
        if (key[i] != wanted[i].key || value[i] != wanted[i].value)
            fail_msg("%zu pairs by %d bits: place %zu has (%u, %u), wanted (%u, %u)", n, bits, i, key[i], value[i],
                     wanted[i].key, wanted[i].value);
}

static void check_scan(pbd_exec *exec, void *device, size_t n, uint32_t most) {
    uint64_t sum = 0, total = 7;
    for (size_t i = 0; i < n; i++) value[i] = random_key[i] % most;
    check_ok(pbd_upload(exec, device, value, n * sizeof *value));
    check_ok(pbd_scan(exec, device, n, &total));
    check_ok(pbd_download(exec, key, device, (n + 1) * sizeof *key));
    for (size_t i = 0; i <= n; i++) {
        if (key[i] != (uint32_t)sum) fail_msg("sum before %zu of %zu: %u, wanted %u", i, n, key[i], (uint32_t)sum);
        if (i < n) sum += value[i];
    }
    assert_true(total == sum);
}

static void check_on(int backend, int threads) {
    static const size_t sizes[] = {0, 1, 2, 255, 4096, 8192, 24577, MOST - 1};
    static const int bits[] = {0, 1, 6, 11, 12, 18, 22, 23, 32};
    pbd_exec *exec;
    void *keys, *values;
    uint64_t seed = 12;
    for (size_t i = 0; i < MOST; i++) random_key[i] = (uint32_t)((noise(&seed) + 1) * 2147483648.0);
    check_ok(pbd_exec_create(backend, threads, &exec));
    check_ok(pbd_alloc(exec, sizeof key, &keys));
    check_ok(pbd_alloc(exec, sizeof value, &values));
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (size_t b = 0; b < sizeof bits / sizeof *bits; b++) check_sort(exec, keys, values, sizes[s], bits[b]);
        check_scan(exec, keys, sizes[s], 40);
        check_scan(exec, keys, sizes[s], UINT32_MAX); /* the sum exceeds 32 bits: the 64-bit total has it */
    }
    for (size_t i = 0; i < MOST; i++) random_key[i] = (uint32_t)(i / 1000) << 30 | 5; /* few distinct keys */
    check_sort(exec, keys, values, MOST, 32);
    assert_int_equal(pbd_sort_pairs(exec, keys, values, 5, 33).code, PBD_BAD_INPUT);
    pbd_free(exec, keys);
    pbd_free(exec, values);
    pbd_exec_destroy(exec);
}

static void test_cpu(void **unused) {
    (void)unused;
    check_on(PBD_CPU, 1);
    check_on(PBD_CPU, 3);
    check_on(PBD_CPU, 8);
}

static void test_emu(void **unused) {
    (void)unused;
    check_on(PBD_EMU, 1);
}

static void test_cuda(void **unused) {
    (void)unused;
    if (*pbd_cuda_missing()) {
        print_message("    skipped: %s\n", pbd_cuda_missing());
        skip();
    }
    check_on(PBD_CUDA, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cpu), cmocka_unit_test(test_emu),
                                       cmocka_unit_test(test_cuda)};
    return cmocka_run_group_tests_name("sort", tests, NULL, NULL);
}
