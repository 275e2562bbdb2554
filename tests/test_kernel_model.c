/* The model of env --predict for a processor with round figures: the expected numbers follow by hand from the rules in
 * harness/bench/predict.h. */
#include "harness/bench/predict.h"
#include "tests/ladder.h"

static const pbd_figures core = {
    .name = "core", .bandwidth = 1e10, .flops = {1e11, 5e10}, .rows = {1e9, 5e8}, .lanes = {8, 4}, .source = "none"};

/* A thousand items of 100 bytes and 10 operations, each with twenty entries of 50 operations. */
static pbd_kernel_use use_of(double entry_bytes) {
    return (pbd_kernel_use){.shape = "batch",
                            .launches = 1,
                            .items = 1000,
                            .entries = 20000,
                            .bytes = 1000 * 100 + 20000 * entry_bytes,
                            .flops = 1000 * 10 + 20000 * 50,
                            .flops_per_item = 10,
                            .flops_per_entry = 50,
                            .bytes_per_entry = entry_bytes};
}

/* An entry of eleven numbers and an index: two rows, plus three numbers stored with the entry. */
static void test_rows_come_from_a_cache(void **state) {
    (void)state;
    const pbd_kernel_use f32 = use_of(11 * 4 + 4), f64 = use_of(11 * 8 + 4);
    pbd_prediction p = pbd_predict(&f32, false, &core);
    check_near("rows, f32, s", p.latency, 20000 * 2 / 1e9, 1e-15);
    check_near("bandwidth, f32, s", p.bandwidth, (1000 * 100 + 20000 * (3 * 4 + 4)) / 1e10, 1e-15);
    check_near("arithmetic, f32, s", p.arithmetic, 4 * 1010000 / 1e11, 1e-15);
    check_near("all, more operations than rows, f32, s", p.total, p.bandwidth + 4 * 1010000 / 1e11, 1e-15);
    p = pbd_predict(&f64, true, &core);
    check_near("rows, f64, s", p.latency, 20000 * 2 / 5e8, 1e-15);
    check_near("bandwidth, f64, s", p.bandwidth, (1000 * 100 + 20000 * (3 * 8 + 4)) / 1e10, 1e-15);
    pbd_kernel_use little = f32;
    little.flops = 1e4;
    little.flops_per_entry = 0;
    p = pbd_predict(&little, false, &core);
    check_near("all, more rows than operations, f32, s", p.total, p.bandwidth + 4e-5 + 4 * 1e4 / 1e11, 1e-15);
}

/* Rows take 40 us, operations of entries 20 us and those of items 12 us, which come on top. */
static void test_operations_of_items_do_not_overlap_rows(void **state) {
    (void)state;
    pbd_kernel_use use = use_of(11 * 4 + 4);
    use.flops_per_entry = 25;
    use.flops_per_item = 300;
    use.flops = 20000 * 25 + 1000 * 300;
    const pbd_prediction p = pbd_predict(&use, false, &core);
    check_near("rows and items, s", p.total, p.bandwidth + 4e-5 + 1.2e-5, 1e-15);
}

/* A kernel over items: eight lanes in f32 and four in f64, of which it uses one, with twice as many instructions. */
static void test_items_are_not_vectorised(void **state) {
    (void)state;
    pbd_kernel_use use = use_of(3 * 4);
    use.shape = "item";
    check_near("operations without SIMD, f32, s", pbd_predict(&use, false, &core).arithmetic, 4 * 4 * 1010000 / 1e11,
               1e-15);
    check_near("operations without SIMD, f64, s", pbd_predict(&use, true, &core).arithmetic, 2 * 4 * 1010000 / 5e10,
               1e-15);
}

/* Three contiguous coordinates without an index; in f32 they have as many bytes as two numbers and an index. */
static void test_candidates_lie_side_by_side(void **state) {
    (void)state;
    const pbd_kernel_use f32 = use_of(3 * 4), f64 = use_of(3 * 8);
    pbd_prediction p = pbd_predict(&f32, false, &core);
    check_near("rows of candidates, f32, s", p.latency, 0, 0);
    check_near("bandwidth of candidates, f32, s", p.bandwidth, (1000 * 100 + 20000 * 3 * 4) / 1e10, 1e-15);
    p = pbd_predict(&f64, true, &core);
    check_near("rows of candidates, f64, s", p.latency, 0, 0);
}

/* Without neighbour lists: the time of memory plus that of the operations. */
static void test_items_alone(void **state) {
    (void)state;
    const pbd_kernel_use use = {
        .shape = "batch", .launches = 1, .items = 1000, .bytes = 1e6, .flops = 1e6, .flops_per_item = 1000};
    check_near("memory and work, s", pbd_predict(&use, false, &core).total, 1e-4 + 4e-5, 1e-15);
}

/* A GPU's thread with one item without entries: three accesses to memory, then its operations, two at a time; those in
 * addition are shared by all threads. */
static void test_more_operations_lengthen_the_chain(void **state) {
    (void)state;
    const pbd_figures gpu = {.multiprocessors = 10,
                             .resident = 100,
                             .clock = 1e9,
                             .bandwidth = 1e12,
                             .flops = {1e12, 1e12},
                             .memory_cycles = 400,
                             .operation_cycles = 4};
    pbd_kernel_use use = {.launches = 1, .lanes = 1, .threads = 100, .items = 100, .flops = 1000, .flops_per_item = 10};
    check_near("chain, cycles", pbd_predict(&use, false, &gpu).chain, 3 * 400 + 4 * 5, 1e-12);
    use.more_flops = 500;
    check_near("chain with more, cycles", pbd_predict(&use, false, &gpu).chain, 3 * 400 + 4 * 7.5, 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows_come_from_a_cache),
                                       cmocka_unit_test(test_candidates_lie_side_by_side),
                                       cmocka_unit_test(test_items_alone),
                                       cmocka_unit_test(test_operations_of_items_do_not_overlap_rows),
                                       cmocka_unit_test(test_items_are_not_vectorised),
                                       cmocka_unit_test(test_more_operations_lengthen_the_chain)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
