/* A fault of a kernel on a GPU is reported by the next wait, which does not know the kernel. Here a stub replaces the
 * emulation: launches always succeed, and after the kernel `faulty` every wait and copy fails, as with CUDA. */
#include "harness/exec/device.c"

#include "tests/ladder.h"

static bool at_fault;

static pbd_status told_late(void) {
    return at_fault ? pbd_error(PBD_FAILED, "an illegal memory access was encountered") : pbd_ok();
}

static pbd_status stub_open(int threads, void **self) {
    (void)threads;
    *self = NULL;
    at_fault = false;
    return pbd_ok();
}
static void stub_close(void *self) { (void)self; }
static pbd_status stub_alloc(void *self, size_t bytes, void **out) {
    (void)self;
    *out = calloc(1, bytes);
    return *out ? pbd_ok() : pbd_error(PBD_FAILED, "out of memory");
}
static void stub_release(void *self, void *memory) {
    (void)self;
    free(memory);
}
static pbd_status stub_copy(void *self, void *to, const void *from, size_t bytes) {
    (void)self;
    memcpy(to, from, bytes);
    return told_late();
}
static pbd_status stub_run(void *self, const pbd_kernel *kernel, size_t n, const void *args, double work) {
    (void)self;
    (void)n;
    (void)args;
    (void)work;
    at_fault |= strcmp(kernel->name, "faulty") == 0;
    return pbd_ok();
}
static pbd_status stub_sort(void *self, uint32_t *keys, uint32_t *values, size_t n, int bits, void *scratch,
                            size_t *bytes) {
    (void)self;
    (void)keys;
    (void)values;
    (void)n;
    (void)bits;
    (void)scratch;
    *bytes = 64;
    return pbd_ok();
}
static pbd_status stub_scan(void *self, uint32_t *values, size_t n, uint64_t *total, void *scratch, size_t *bytes) {
    (void)total;
    return stub_sort(self, values, values, n, 0, scratch, bytes);
}
static pbd_status stub_wait(void *self) {
    (void)self;
    return told_late();
}
static pbd_status stub_join(void *self, const pbd_launch *launch, size_t count, void **joined) {
    (void)self;
    (void)launch;
    (void)count;
    *joined = NULL;
    return pbd_error(PBD_FAILED, "a stub joins nothing");
}
static pbd_status stub_replay(void *self, void *joined) {
    (void)joined;
    return stub_wait(self);
}
static void stub_part(void *self, void *joined) {
    (void)self;
    (void)joined;
}

const pbd_backend_ops pbd_emu_ops = {stub_open, stub_close, stub_alloc, stub_release, stub_copy,
                                     stub_copy, stub_run,   stub_sort,  stub_scan,    stub_wait,
                                     NULL,      NULL,       stub_join,  stub_replay,  stub_part};

/* Makes two launches, the first of which is faulty, in a repeat or not, and a copy. Returns the status of the first
 * call that fails. */
static pbd_status first_failure(bool repeated) {
    static const pbd_kernel faulty = {.name = "faulty"}, fine = {.name = "fine"};
    pbd_exec *exec = NULL;
    pbd_repeat *repeat = NULL;
    void *device = NULL;
    int host = 0;
    check_ok(pbd_exec_create(PBD_EMU, 1, &exec));
    check_ok(pbd_alloc(exec, sizeof host, &device));
    if (repeated) check_ok(pbd_repeat_begin(exec, &repeat));
    pbd_status status = pbd_run(exec, &faulty, 7, 7, 0, 0, &host);
    if (status.code == PBD_OK) status = pbd_run(exec, &fine, 8, 8, 0, 0, &host);
    if (status.code == PBD_OK && repeated) status = pbd_repeat_end(exec);
    if (status.code == PBD_OK) status = pbd_download(exec, &host, device, sizeof host);
    pbd_repeat_free(exec, repeat);
    pbd_free(exec, device);
    pbd_exec_destroy(exec);
    return status;
}

static void test_the_kernel_at_fault_is_named(void **unused) {
    (void)unused;
    for (int repeated = 0; repeated < 2; repeated++) {
        unsetenv("PBDBENCH_LAUNCH");
        const pbd_status late = first_failure(repeated);
        assert_int_equal(late.code, PBD_FAILED);
        assert_null(strstr(late.text, "faulty"));
        setenv("PBDBENCH_LAUNCH", "sync", 1);
        const pbd_status named = first_failure(repeated);
        unsetenv("PBDBENCH_LAUNCH");
        assert_int_equal(named.code, PBD_FAILED);
        assert_non_null(strstr(named.text, "faulty over 7 items"));
        assert_non_null(strstr(named.text, "illegal memory access"));
        assert_null(strstr(named.text, "fine"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_kernel_at_fault_is_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
