/* The layout of xpbi against brute force in double: every particle once, with all its neighbours, first those that may
 * touch; no two cells of a stage share a particle; of two cells that share one, that of the smaller colour is first,
 * with slabs too. */
#define REAL double
#define PBD_UNIT xpbi
#include "methods/xpbi/xpbi_layout.h"
#include "tests/ladder.h"

enum { MOST = 1500 };
static const double reach = 0.2, touching = 0.08;

typedef struct cloud {
    size_t n;
    real row[4 * (MOST + XPBI_LANES)];
} cloud;

/* Uneven, away from the origin, and if `far` with some outliers, so that grid coordinates wrap around the torus. Long
 * along the axis `along`, unless it is negative. */
static cloud *make_cloud(bool far, int along) {
    cloud *c = calloc(1, sizeof *c);
    uint64_t seed = 5;
    c->n = MOST;
    for (size_t k = 0; k < 3 * MOST; k++) {
        const size_t d = k % 3;
        c->row[4 * (k / 3) + d] = (d == 1 ? -7.3 : 2.1) + ((int)d == along ? 6 : d == 2 ? 0.3 : 0.9) * noise(&seed);
        if (far && k / 3 % 10 == 0) c->row[4 * (k / 3) + d] += 40 * noise(&seed);
    }
    for (size_t k = 0; k < 120; k++) c->row[4 * k] = c->row[0] + 0.01 * noise(&seed); /* more than a search keeps */
    for (size_t k = 0; k < 120; k++) c->row[4 * k + 1] = c->row[1];
    for (size_t k = 0; k < 120; k++) c->row[4 * k + 2] = c->row[2];
    return c;
}

static bool near(const cloud *c, const uint32_t *at, size_t p, size_t b, double than) {
    double square = 0;
    for (size_t d = 0; d < 3; d++) {
        const double x = c->row[4 * at[p] + d] - c->row[4 * at[b] + d];
        square += x * x;
    }
    return square < than * than;
}

typedef struct checked {
    size_t missing, wrong, out_of_order, conflicts, twice, early;
} checked;

/* at[k]: the cloud's index of the layout's particle k. */
static void check_slot(const xpbi_layout *l, const cloud *c, const uint32_t *at, size_t slot, unsigned char *seen,
                       checked *out) {
    const xpbi_layout_args *a = &l->at;
    const size_t slice = slot / XPBI_LANES, lane = slot % XPBI_LANES, own = a->own[slot];
    if (a->slot_length[slot] == XPBI_ABSENT) return;
    out->twice += seen[own]++;
    size_t wanted = 0, touched = 0;
    for (size_t b = 0; b < c->n; b++) {
        wanted += b != own && near(c, at, own, b, reach);
        touched += b > own && near(c, at, own, b, touching);
    }
    out->missing += wanted != a->slot_length[slot];
    out->out_of_order += touched != a->slot_near[slot];
    for (size_t row = a->row[slice]; row < a->row[slice + 1]; row++) {
        const uint32_t b = a->neighbour[row * XPBI_LANES + lane];
        const size_t r = row - a->row[slice];
        out->wrong += r < wanted ? b == own || !near(c, at, own, b, reach) : b != own;
        out->out_of_order += r < wanted && (b > own && near(c, at, own, b, touching)) != (r < touched);
    }
}

/* The colour of a cell; its last digit counts along `axis`, the others from the first axis on. */
static int colour_of(const double x[3], double cell, int period, int axis) {
    int digit[3];
    for (int d = 0; d < 3; d++) digit[d] = (int)(floor(x[d] / cell) - period * floor(floor(x[d] / cell) / period));
    return digit[(axis + 1) % 3] + period * (digit[(axis + 2) % 3] + period * digit[axis]);
}

/* by[b]: the cell of this stage that touches particle b; a second one is a conflict. last[b]: the largest colour of all
 * cells of previous stages that touch it. */
static void check_stage(const xpbi_layout *l, const cloud *c, const uint32_t *at, size_t stage, uint32_t *by, int *last,
                        checked *out) {
    const xpbi_layout_args *a = &l->at;
    const double cell = l->period == 2 ? l->colouring.cell : l->search.cell;
    memset(by, 0xff, (l->particles + XPBI_LANES) * sizeof *by);
    for (uint32_t lane = l->stage[stage].lane; lane < l->stage[stage + 1].lane; lane++)
        for (size_t s = a->bundle[lane / XPBI_LANES]; s < a->bundle[lane / XPBI_LANES + 1]; s++) {
            const uint32_t own = a->own[XPBI_LANES * s + lane % XPBI_LANES];
            const bool padding = a->slot_length[XPBI_LANES * s + lane % XPBI_LANES] == XPBI_ABSENT;
            const int colour = padding ? -1 : colour_of(c->row + 4 * at[own], cell, l->period, a->slabs.axis);
            for (size_t row = a->row[s]; row <= a->row[s + 1]; row++) { /* last: the particle itself */
                const uint32_t b = row < a->row[s + 1] ? a->neighbour[row * XPBI_LANES + lane % XPBI_LANES] : own;
                out->conflicts += by[b] != UINT32_MAX && by[b] != lane;
                by[b] = lane;
                out->early += !padding && colour < last[b];
                if (!padding) last[b] = colour;
            }
        }
}

/* slab: particles of a slab; 0: no slabs. */
static void check_layout(int period, bool far, int along, size_t slab) {
    xpbi_layout l;
    pbd_exec *exec;
    cloud *c = make_cloud(far, along);
    check_ok(pbd_exec_create(PBD_CPU, 1, &exec));
    check_ok(xpbi_layout_create(&l, exec, c->n, reach, period));
    l.slices.entries = XPBI_ENTRIES;
    l.large = slab > 0;
    l.slab = slab;
    real *columns = calloc(4 * (c->n + PBD_BATCH), sizeof *columns);
    grid_lend(&l.search, columns);
    check_ok(grid_build(&l.search, c->row, NULL));
    uint32_t *at = malloc(c->n * sizeof *at), *by = malloc((c->n + XPBI_LANES) * sizeof *by);
    int *last = calloc(c->n + XPBI_LANES, sizeof *last);
    real *sorted = calloc(4 * c->n, sizeof *sorted);
    unsigned char *seen = calloc(c->n + XPBI_LANES, 1);
    for (size_t k = 0; k < c->n; k++) { /* as xpbi_sort does */
        at[k] = l.search.slot[k];
        memcpy(sorted + 4 * k, c->row + 4 * at[k], 4 * sizeof *sorted);
        l.search.slot[k] = l.search.particle[k] = (uint32_t)k;
    }
    check_ok(xpbi_layout_make(&l, sorted, touching));
    checked found = {0};
    for (size_t slot = 0; slot < XPBI_LANES * l.slice_count; slot++) check_slot(&l, c, at, slot, seen, &found);
    for (size_t stage = 0; stage < l.at.stages; stage++) check_stage(&l, c, at, stage, by, last, &found);
    size_t left = 0;
    for (size_t p = 0; p < c->n; p++) left += !seen[p];
    check_near("particles left out", (double)left, 0, 0);
    check_near("particles twice", (double)found.twice, 0, 0);
    check_near("particles with another number of neighbours", (double)found.missing, 0, 0);
    check_near("rows with somebody else", (double)found.wrong, 0, 0);
    check_near("rows that are not in order of nearness", (double)found.out_of_order, 0, 0);
    check_near("particles that two cells of a stage touch", (double)found.conflicts, 0, 0);
    check_near("cells before one of a smaller colour that shares a particle", (double)found.early, 0, 0);
    assert_int_equal(l.at.slabs.count > 1, slab > 0);
    if (slab > 0 && !far) assert_int_equal(l.at.slabs.axis, along);
    free(at);
    free(by);
    free(last);
    free(sorted);
    free(columns);
    free(seen);
    free(c);
    xpbi_layout_free(&l);
    pbd_exec_destroy(exec);
}

static void check_period(int period) {
    for (int far = 0; far < 2; far++) {
        check_layout(period, far, -1, 0);
        for (int along = 0; along < 3; along++) {
            check_layout(period, far, along, 150);
            check_layout(period, far, along, 25);
        }
    }
}

static void test_27_colours(void **unused) {
    (void)unused;
    check_period(3);
}

static void test_8_colours(void **unused) {
    (void)unused;
    check_period(2);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_27_colours), cmocka_unit_test(test_8_colours)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
