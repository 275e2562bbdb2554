/* Colours and stages of random constraints, against their definitions: constraints of a colour or stage share no
 * particle, cutting into slabs keeps the order of those that share one, and a stage of blocks is one colour of one
 * block. */
#include <stdlib.h>
#include <string.h>

#include "methods/physics/space/colouring.h"
#include "tests/ladder.h"

enum { PARTICLES = 500, ARITY = 3, COUNT = 900 };

/* Each of three particles, evenly spaced modulo `reach`, in a range of that many; a range of all has no locality. */
static void make_constraints(uint32_t reach, uint32_t *particle) {
    uint64_t seed = 11;
    for (size_t c = 0; c < COUNT; c++) {
        uint32_t *mine = particle + ARITY * c;
        const uint32_t begin = (uint32_t)((0.5 + 0.5 * noise(&seed)) * (PARTICLES - reach));
        const uint32_t at = (uint32_t)((0.5 + 0.5 * noise(&seed)) * reach);
        const uint32_t step = 1 + (uint32_t)((0.5 + 0.5 * noise(&seed)) * ((reach - 1) / ARITY));
        for (uint32_t k = 0; k < ARITY; k++) mine[k] = begin + (at + k * step) % reach;
    }
}

static bool share(const uint32_t *particle, size_t c, size_t d) {
    for (int i = 0; i < ARITY; i++)
        for (int j = 0; j < ARITY; j++)
            if (particle[ARITY * c + (size_t)i] == particle[ARITY * d + (size_t)j]) return true;
    return false;
}

static size_t conflicts(const uint32_t *particle, const uint32_t *order, const size_t *first, size_t ranges) {
    size_t out = 0;
    for (size_t r = 0; r < ranges; r++)
        for (size_t k = first[r]; k < first[r + 1]; k++)
            for (size_t j = first[r]; j < k; j++) out += share(particle, order[j], order[k]);
    return out;
}

/* Pairs that share a particle and have changed their order. */
static size_t swaps(const uint32_t *particle, const uint32_t *before, const uint32_t *after) {
    static size_t place[COUNT];
    size_t out = 0;
    for (size_t k = 0; k < COUNT; k++) place[after[k]] = k;
    for (size_t k = 0; k < COUNT; k++)
        for (size_t j = 0; j < k; j++)
            out += share(particle, before[j], before[k]) && place[before[j]] > place[before[k]];
    return out;
}

static void check_stages(uint32_t reach, size_t slab) {
    static uint32_t particle[ARITY * COUNT], order[COUNT], before[COUNT], listed[COUNT];
    size_t first[PBD_MOST_COLOURS + 1], list[COUNT + 1], *stage_first, *listed_first, stages, listed_stages;
    unsigned char seen[COUNT] = {0};
    int colours;
    pbd_arena a PBD_ARENA;
    make_constraints(reach, particle);
    check_ok(pbd_colour(COUNT, ARITY, particle, PARTICLES, order, first, &colours));
    assert_int_equal(first[colours], COUNT);
    check_near("constraints of a colour that share a particle",
               (double)conflicts(particle, order, first, (size_t)colours), 0, 0);
    memcpy(before, order, sizeof before);
    memcpy(listed, order, sizeof before);
    check_ok(pbd_cut_colours(COUNT, ARITY, NULL, particle, PARTICLES, slab, order, first, colours, &a, &stage_first,
                             &stages));
    for (size_t c = 0; c <= COUNT; c++) list[c] = ARITY * c;
    check_ok(pbd_cut_colours(COUNT, 0, list, particle, PARTICLES, slab, listed, first, colours, &a, &listed_first,
                             &listed_stages));
    assert_int_equal(listed_stages, stages);
    assert_memory_equal(listed_first, stage_first, (stages + 1) * sizeof *stage_first);
    assert_memory_equal(listed, order, sizeof order);
    assert_int_equal(stage_first[0], 0);
    assert_int_equal(stage_first[stages], COUNT);
    for (size_t k = 0; k < COUNT; k++) assert_int_equal(seen[order[k]]++, 0);
    check_near("constraints of a stage that share a particle", (double)conflicts(particle, order, stage_first, stages),
               0, 0);
    check_near("constraints that share a particle and changed their order", (double)swaps(particle, before, order), 0,
               0);
    const bool moved = memcmp(before, order, sizeof before) != 0;
    assert_int_equal(moved, slab > 0 && slab < PARTICLES);
}

static void test_stages_keep_the_order(void **unused) {
    (void)unused;
    check_stages(8, 0);
    check_stages(8, 2 * PARTICLES);
    check_stages(8, 120);
    check_stages(8, 30);
    check_stages(8, 1);
    check_stages(PARTICLES, 100); /* without locality */
}

/* Each stage is one colour of one range of `block` constraints, in ascending order; blocks follow one another, and the
 * colours of a block too. */
static void check_blocks(size_t block) {
    static uint32_t particle[ARITY * COUNT], order[COUNT];
    static int colour_of[COUNT];
    size_t first[PBD_MOST_COLOURS + 1], *stage_first, stages, last = 0;
    unsigned char seen[COUNT] = {0};
    int colours;
    pbd_arena a PBD_ARENA;
    make_constraints(8, particle);
    check_ok(pbd_colour(COUNT, ARITY, particle, PARTICLES, order, first, &colours));
    for (int c = 0; c < colours; c++)
        for (size_t k = first[c]; k < first[c + 1]; k++) colour_of[order[k]] = c;
    check_ok(pbd_block_colours(COUNT, block, order, first, colours, &a, &stage_first, &stages));
    assert_int_equal(stage_first[0], 0);
    assert_int_equal(stage_first[stages], COUNT);
    for (size_t s = 0; s < stages; s++) {
        const size_t begin = stage_first[s], of = block > 0 ? order[begin] / block : 0;
        assert_true(stage_first[s + 1] > begin);
        for (size_t k = begin; k < stage_first[s + 1]; k++) {
            assert_int_equal(seen[order[k]]++, 0);
            assert_int_equal(colour_of[order[k]], colour_of[order[begin]]);
            assert_int_equal(block > 0 ? order[k] / block : 0, of);
            assert_true(k == begin || order[k] > order[k - 1]);
        }
        const size_t at = of * (size_t)colours + (size_t)colour_of[order[begin]];
        assert_true(s == 0 || at > last);
        last = at;
    }
}

static void test_blocks(void **unused) {
    (void)unused;
    check_blocks(0);
    check_blocks(COUNT);
    check_blocks(100);
    check_blocks(7);
    check_blocks(1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_stages_keep_the_order), cmocka_unit_test(test_blocks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
