/* Batches, for the precision REAL: the row loads and stores that transpose in registers against the plain ones, for
 * full batches and remainders; vreal_max and vreal_min against comparisons. Included by test_batch.c (f32) and
 * test_batch_f64.c. */
#include "methods/physics/math/scalar.h"

#include "tests/ladder.h"

enum { ROWS = 400, STRIDES = 3 };

/* Fills the rows with consecutive integers, exact in real, and the index with distinct row numbers. */
static void fill(real *rows, uint32_t *index, int stride) {
    for (int i = 0; i < 4 * ROWS; i++) rows[i] = (real)i;
    for (uint32_t i = 0; i < (uint32_t)(PBD_BATCH * stride); i++) index[i] = (i * 149) % ROWS; /* coprime: no repeats */
}

static void test_tuned_moves_equal_plain_ones(void **unused) {
    (void)unused;
    static const int strides[STRIDES] = {1, 2, 8};
    static _Alignas(64) real rows[4 * ROWS], tuned[4 * ROWS], plain[4 * ROWS];
    uint32_t index[8 * PBD_BATCH];
    for (int s = 0; s < STRIDES; s++)
        for (int count = 1; count <= PBD_BATCH; count++) {
            vreal got[4], wanted[4];
            fill(rows, index, strides[s]);
            batch_load_rows(rows, index, strides[s], count, got);
            batch_load_rows_plain(rows, index, strides[s], count, wanted);
            for (int c = 0; c < 4; c++)
                for (int l = 0; l < count; l++) {
                    assert_true(got[c][l] == wanted[c][l]);
                    assert_true(got[c][l] ==
                                (real)(4 * index[l * strides[s]] + (uint32_t)c)); /* the value from fill() */
                }
            for (int c = 0; c < 4; c++) got[c] = wanted[c] = wanted[c] * -2 - (real)c;
            memcpy(tuned, rows, sizeof rows);
            memcpy(plain, rows, sizeof rows);
            batch_store_rows(tuned, index, strides[s], count, got);
            batch_store_rows_plain(plain, index, strides[s], count, wanted);
            assert_memory_equal(tuned, plain, sizeof rows);
            size_t changed = 0; /* only the indexed rows, and no lane beyond count */
            for (int i = 0; i < ROWS; i++) changed += memcmp(tuned + 4 * i, rows + 4 * i, 4 * sizeof(real)) != 0;
            assert_int_equal(changed, count);
        }
}

static void test_tuned_bits_equal_plain_ones(void **unused) {
    (void)unused;
    for (uint32_t wanted = 0; wanted < 1u << PBD_BATCH; wanted += 1 + wanted / 3) {
        vreal lane;
        for (int l = 0; l < PBD_BATCH; l++) lane[l] = wanted >> l & 1 ? 1 : -1;
        assert_int_equal(batch_bits(lane > 0), wanted);
        assert_int_equal(batch_bits_plain(lane > 0), wanted);
    }
}

/* Bitwise, including NaN on either side and zeros of either sign. */
static void test_larger_and_smaller_equal_comparisons(void **unused) {
    (void)unused;
    static const real of[] = {0, (real)-0.0, 1, -1, (real)1e-30, (real)INFINITY, (real)-INFINITY, (real)NAN, (real)3.5};
    enum { VALUES = sizeof of / sizeof *of };
    for (int first = 0; first < VALUES * VALUES; first++) {
        vreal a, b, most[2], least[2];
        for (int l = 0; l < PBD_BATCH; l++) {
            a[l] = of[(first + l) / VALUES % VALUES];
            b[l] = of[(first + l) % VALUES];
            most[1][l] = a[l] > b[l] ? a[l] : b[l];
            least[1][l] = a[l] < b[l] ? a[l] : b[l];
        }
        most[0] = vreal_max(a, b);
        least[0] = vreal_min(a, b);
        assert_memory_equal(most, most + 1, sizeof *most);
        assert_memory_equal(least, least + 1, sizeof *least);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tuned_moves_equal_plain_ones),
                                       cmocka_unit_test(test_tuned_bits_equal_plain_ones),
                                       cmocka_unit_test(test_larger_and_smaller_equal_comparisons)};
    return cmocka_run_group_tests_name(REAL_IS_FLOAT ? "batch f32" : "batch f64", tests, NULL, NULL);
}
