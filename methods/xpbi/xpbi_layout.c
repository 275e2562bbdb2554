#include "methods/xpbi/xpbi_layout.h"

#include <math.h>

#include "methods/physics/space/colouring.h"

void xpbi_layout_free(xpbi_layout *l) {
    xpbi_layout_args *at = &l->at;
    void *device[] = {at->length, at->near,        at->begins,    at->stage,     at->bundle,          at->row,
                      at->own,    at->slot_length, at->slot_near, at->neighbour, l->slices.smoothing, l->slices.entry};
    for (size_t i = 0; i < sizeof device / sizeof *device; i++) pbd_free(l->exec, device[i]);
    grid_free(&l->search);
    grid_free(&l->colouring);
    *l = (xpbi_layout){0};
}

pbd_status xpbi_allocate(pbd_exec *exec, size_t count, size_t size, void *out) {
    return pbd_alloc(exec, count * size, (void **)out);
}

pbd_status xpbi_layout_create(xpbi_layout *l, pbd_exec *exec, size_t particles, double reach, int period) {
    xpbi_layout_args *at = &l->at;
    *l = (xpbi_layout){.exec = exec, .particles = particles, .padding = particles, .reach = reach, .period = period};
    const size_t bytes = 8 * sizeof(real); /* positions and velocities */
    l->large = pbd_is_large(particles, bytes);
    l->slab = pbd_slab(exec, particles, bytes);
    PBD_TRY(grid_create_bare(&l->search, exec, particles, reach));
    if (period == 2) PBD_TRY(grid_create(&l->colouring, exec, particles, NULL, 2 * reach, false));
    PBD_TRY(xpbi_allocate(exec, particles, sizeof(uint32_t), &at->length));
    PBD_TRY(xpbi_allocate(exec, particles, sizeof(uint32_t), &at->near));
    PBD_TRY(xpbi_allocate(exec, XPBI_MOST_STAGES + 1, sizeof *at->begins, &at->begins));
    return xpbi_allocate(exec, XPBI_MOST_STAGES + 1, sizeof *at->stage, &at->stage);
}

pbd_status xpbi_room(pbd_exec *exec, size_t wanted, size_t size, void *device, size_t *room) {
    void **out = device;
    if (*out && wanted <= *room) return pbd_ok();
    pbd_free(exec, *out);
    *out = NULL;
    *room = 0;
    PBD_TRY(pbd_alloc(exec, (wanted + wanted / 32 + 64) * size, out));
    *room = wanted + wanted / 32 + 64;
    return pbd_ok();
}

static int xpbi_bits(size_t most) {
    int bits = 1;
    while (most >> bits) bits++;
    return bits;
}

/* Cuts a large body along its longest axis; if several are the longest, along the last one, by which rows are sorted
 * first. The axis decides the order of the constraints, so it must not depend on the number of threads. */
static xpbi_slabs xpbi_cut(const xpbi_layout *l) {
    const grid *g = l->period == 2 ? &l->colouring : &l->search;
    const double wanted = l->slab ? (double)(l->particles / l->slab) : 1;
    const double most = fmin(fmax(wanted, 1), XPBI_MOST_SLABS);
    xpbi_slabs out = {.count = 1, .axis = 2};
    double longest = 0;
    for (int d = 2; d >= 0 && l->large; d--) {
        const double low = floor(g->low[d] / g->cell), end = floor(g->high[d] / g->cell) + 1;
        const double cells = end - low + 2 * (l->period - 1); /* with the largest shift */
        const double width = fmax(ceil(cells / most), l->period), count = ceil(cells / width);
        if (!(cells > longest && count >= 1)) continue;
        longest = cells;
        out = (xpbi_slabs){(int)count, d, (real)low, (real)(1 / width)};
    }
    return out;
}

/* Sorts cells by stage and window. */
static pbd_status xpbi_order_cells(xpbi_layout *l) {
    xpbi_layout_args *at = &l->at;
    const size_t n = l->particles, windows = n / XPBI_WINDOW + at->stages;
    PBD_TRY(PBD_RUN(l->exec, xpbi_find_cells, n, at));
    PBD_TRY(pbd_scan(l->exec, at->number, n, NULL));
    PBD_TRY(PBD_RUN(l->exec, xpbi_list_cells, n, at));
    PBD_TRY(pbd_sort_pairs(l->exec, at->key, at->cell, n, xpbi_bits(at->stages)));
    PBD_TRY(PBD_RUN(l->exec, xpbi_mark_stages, n, at));
    return pbd_sort_pairs(l->exec, at->window, at->cell, n, XPBI_MEMBER_BITS + xpbi_bits(windows));
}

/* The items of a launch that needs `wanted`. On a GPU it keeps the last number while that is enough and less than twice
 * too large, so that launches can be repeated (stepper.h). */
static size_t xpbi_bound(const xpbi_layout *l, size_t wanted, size_t last) {
    if (!pbd_exec_is_gpu(l->exec)) return wanted;
    const bool fits = wanted <= last && last <= 2 * wanted + 8 * XPBI_LANES;
    return fits ? last : (wanted + wanted / 8) / XPBI_LANES * XPBI_LANES + XPBI_LANES;
}

/* Assigns cells to lanes. Waits for the device, for their number. */
static pbd_status xpbi_make_lanes(xpbi_layout *l) {
    xpbi_layout_args *at = &l->at;
    PBD_TRY(PBD_RUN(l->exec, xpbi_place_lanes, 1, at));
    PBD_TRY(PBD_RUN(l->exec, xpbi_clear_lanes, XPBI_LANES * at->bundles, at));
    PBD_TRY(PBD_RUN(l->exec, xpbi_place_cells, l->particles, at));
    PBD_TRY(PBD_RUN(l->exec, xpbi_measure_bundles, at->bundles, at));
    PBD_TRY(pbd_scan(l->exec, at->bundle, at->bundles, NULL));
    PBD_TRY(PBD_RUN(l->exec, xpbi_tally_bundles, at->bundles, at));
    PBD_TRY(pbd_scan(l->exec, at->tally, 3 * at->bundles, NULL));
    PBD_TRY(PBD_RUN(l->exec, xpbi_tally_stages, at->stages, at));
    PBD_TRY(pbd_download(l->exec, l->stage, at->stage, (at->stages + 1) * sizeof *l->stage));
    l->lanes = l->stage[at->stages].lane;
    l->slice_count = l->stage[at->stages].slices;
    l->all = (pbd_work){.items = l->particles};
    l->launched_slices = xpbi_bound(l, l->slice_count, l->launched_slices);
    for (size_t s = 0; s < at->stages; s++) {
        l->all.entries += l->stage[s].neighbours;
        l->launched[s] = xpbi_bound(l, l->stage[s + 1].lane - l->stage[s].lane, l->launched[s]);
    }
    return pbd_ok();
}

/* Makes slots and slices, and counts their rows. */
static pbd_status xpbi_make_slots(xpbi_layout *l) {
    xpbi_layout_args *at = &l->at;
    uint64_t rows = 0;
    const size_t slots = XPBI_LANES * l->slice_count;
    PBD_TRY(xpbi_room(l->exec, slots, sizeof(uint32_t), &at->own, &l->room[0]));
    PBD_TRY(xpbi_room(l->exec, slots, sizeof(uint32_t), &at->slot_near, &l->room[1]));
    PBD_TRY(xpbi_room(l->exec, slots, sizeof(uint32_t), &at->slot_length, &l->room[2]));
    PBD_TRY(xpbi_room(l->exec, l->slice_count + 1, sizeof(uint32_t), &at->row, &l->room[3]));
    PBD_TRY(PBD_RUN(l->exec, xpbi_clear_slots, l->lanes, at));
    PBD_TRY(PBD_RUN(l->exec, xpbi_place_particles, l->particles, at));
    PBD_TRY(PBD_RUN(l->exec, xpbi_measure_slices, l->slice_count, at));
    PBD_TRY(pbd_scan(l->exec, at->row, l->slice_count, &rows));
    if (rows * XPBI_LANES > UINT32_MAX)
        return pbd_error(PBD_FAILED,
                         "%llu neighbours of %zu particles: have they come together in a point, or is their radius far "
                         "above their spacing?",
                         (unsigned long long)(rows * XPBI_LANES), l->particles);
    l->rows = (size_t)rows;
    return pbd_ok();
}

static pbd_status xpbi_make_rows(xpbi_layout *l) {
    xpbi_layout_args *at = &l->at;
    xpbi_slices *s = &l->slices;
    const size_t entries = XPBI_LANES * l->rows, slots = XPBI_LANES * l->slice_count;
    PBD_TRY(xpbi_room(l->exec, entries, sizeof(uint32_t), &at->neighbour, &l->room[4]));
    if (s->hourglass) PBD_TRY(xpbi_room(l->exec, entries, sizeof(real), &s->smoothing, &l->room[6]));
    s->bundle = at->bundle;
    s->row = at->row;
    s->slices = &at->stage[at->stages].slices;
    s->own = at->own;
    s->length = at->slot_length;
    s->near = at->slot_near;
    s->neighbour = at->neighbour;
    PBD_TRY(PBD_RUN(l->exec, xpbi_fill_rows, slots, l->all, at));
    return xpbi_room(l->exec, slots, s->entries * sizeof(real), &s->entry, &l->room[5]); /* last: may free `kept` */
}

/* Arrays that are needed only to build the lists (neighbours stored by the search, cells and lanes) share the memory of
 * the entries, which are computed later. */
static pbd_status xpbi_room_for_lists(xpbi_layout *l) {
    xpbi_layout_args *at = &l->at;
    const size_t n = l->particles, lanes = XPBI_LANES * at->bundles, each = l->slices.entries * sizeof(real);
    struct {
        uint32_t **at;
        size_t count;
    } part[] = {{&at->search.kept, NEIGHBOURS_KEPT * n},
                {&at->leader, n},
                {&at->rank, n},
                {&at->members, n},
                {&at->lane, n},
                {&at->key, lanes},
                {&at->window, lanes},
                {&at->cell, n},
                {&at->number, n + 1},
                {&at->lane_leader, lanes},
                {&at->lane_members, lanes},
                {&at->tally, 3 * at->bundles + 1}};
    size_t count = 0;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        part[i].count = (part[i].count + 15) / 16 * 16; /* aligned to 64 bytes */
        count += part[i].count;
    }
    PBD_TRY(xpbi_room(l->exec, (count * sizeof(uint32_t) + each - 1) / each, each, &l->slices.entry, &l->room[5]));
    uint32_t *memory = (uint32_t *)(void *)l->slices.entry;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        *part[i].at = memory;
        memory += part[i].count;
    }
    return pbd_ok();
}

pbd_status xpbi_layout_make(xpbi_layout *l, const real *rows, double near) {
    xpbi_layout_args *at = &l->at;
    at->search.grid = at->cells = grid_view_of(&l->search);
    at->search.square = (real)l->reach * (real)l->reach;
    at->near_square = (real)(near * near);
    at->particles = l->particles;
    at->padding = l->padding;
    at->period = l->period;
    if (l->period == 2) {
        PBD_TRY(grid_build(&l->colouring, rows, NULL));
        at->cells = grid_view_of(&l->colouring);
        at->at = l->colouring.particle;
    }
    at->slabs = xpbi_cut(l);
    at->stages = (size_t)(at->slabs.count * l->period * l->period * l->period);
    at->bundles = l->particles / XPBI_LANES + at->stages; /* at most one partial bundle per stage */
    PBD_TRY(xpbi_room(l->exec, at->bundles + 1, sizeof *at->bundle, &at->bundle, &l->room[7]));
    PBD_TRY(xpbi_room_for_lists(l));
    PBD_TRY(PBD_RUN(l->exec, xpbi_count_neighbours, l->particles, grid_search_work(&l->search, l->all.entries), at));
    PBD_TRY(xpbi_order_cells(l));
    PBD_TRY(xpbi_make_lanes(l));
    PBD_TRY(xpbi_make_slots(l));
    return xpbi_make_rows(l);
}
