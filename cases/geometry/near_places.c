#include "cases/geometry/near_places.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "harness/exec/arena.h"
#include "harness/exec/host_sort.h"
#include "harness/exec/team.h"

#define REAL double
#include "methods/physics/space/grid_search.h"

/* ---- Cells ------------------------------------------------------------------------------------------------------- */

enum {
    PIECE = 16384,  /* particles that a thread takes at a time */
    SORT_PARTS = 16 /* parts of a sort; no result depends on it */
};

static const near_cell NOWHERE = {INT32_MAX, INT32_MAX, INT32_MAX};

/* A box of cells. */
typedef struct extent {
    near_cell low, high;
} extent;

static extent no_extent(void) { return (extent){{INT32_MAX, INT32_MAX, INT32_MAX}, {INT32_MIN, INT32_MIN, INT32_MIN}}; }

static void extend(int32_t *low, int32_t *high, int32_t from, int32_t to) {
    *low = from < *low ? from : *low;
    *high = to > *high ? to : *high;
}

static void join_extents(extent *e, const extent *other) {
    extend(&e->low.x, &e->high.x, other->low.x, other->high.x);
    extend(&e->low.y, &e->high.y, other->low.y, other->high.y);
    extend(&e->low.z, &e->high.z, other->low.z, other->high.z);
}

typedef struct placing {
    const double *x;
    double reach;
    near_cell *cell;   /* by particle */
    extent *part;      /* by piece */
    extent all;        /* of all particles */
    uint32_t *key;     /* by particle: number of its cell in the box; without a cell, one more than the last */
    near_cell *sorted; /* by place */
    near_places *out;
} placing;

static void find_cells(void *context, size_t begin, size_t end) {
    placing *p = context;
    extent here = no_extent();
    for (size_t i = begin; i < end; i++) {
        const double x = floor(p->x[3 * i] / p->reach), y = floor(p->x[3 * i + 1] / p->reach),
                     z = floor(p->x[3 * i + 2] / p->reach);
        const bool somewhere = fabs(x) < 1e9 && fabs(y) < 1e9 && fabs(z) < 1e9;
        p->cell[i] = somewhere ? (near_cell){(int32_t)z, (int32_t)y, (int32_t)x} : NOWHERE;
        if (somewhere) join_extents(&here, &(extent){p->cell[i], p->cell[i]});
    }
    p->part[begin / PIECE] = here;
}

/* The number of cells along an axis of the box. */
static double cells_along(int32_t low, int32_t high) { return (double)high - (double)low + 1; }

/* Number of cells in the box, 0 if it is empty; may exceed 32 bits. */
static double cells_in(const extent *e) {
    if (e->high.x < e->low.x) return 0;
    return cells_along(e->low.x, e->high.x) * cells_along(e->low.y, e->high.y) * cells_along(e->low.z, e->high.z);
}

static void find_keys(void *context, size_t begin, size_t end) {
    placing *p = context;
    const near_cell low = p->all.low, high = p->all.high;
    const uint32_t nx = (uint32_t)cells_along(low.x, high.x), ny = (uint32_t)cells_along(low.y, high.y);
    const uint32_t beyond = (uint32_t)cells_in(&p->all);
    for (size_t i = begin; i < end; i++) {
        const near_cell c = p->cell[i];
        p->key[i] = c.x == NOWHERE.x
                        ? beyond
                        : ((uint32_t)(c.z - low.z) * ny + (uint32_t)(c.y - low.y)) * nx + (uint32_t)(c.x - low.x);
        p->out->particle[i] = (uint32_t)i;
    }
}

static void find_places(void *context, size_t begin, size_t end) {
    placing *p = context;
    for (size_t at = begin; at < end; at++) {
        const size_t i = p->out->particle[at];
        p->sorted[at] = p->cell[i];
        for (size_t d = 0; d < 3; d++) p->out->x[d][at] = p->x[3 * i + d];
    }
}

/* ---- Sorting ----------------------------------------------------------------------------------------------------- */

typedef struct sorting {
    pbd_host_body body;
    const void *args;
} sorting;

static void sort_part(void *context, size_t begin, size_t end) {
    const sorting *s = context;
    s->body(s->args, begin, end);
}

static void in_team(int threads, pbd_host_body body, size_t parts, const void *args) {
    (void)threads;
    pbd_team_run(parts, 1, sort_part, &(sorting){body, args});
}

static pbd_status sort_by_key(placing *p, size_t particles, double cells) {
    pbd_arena a PBD_ARENA;
    char *scratch = pbd_new(&a, char, pbd_host_sort_bytes(particles, SORT_PARTS));
    int bits = 1;
    PBD_TRY(pbd_arena_check(&a));
    pbd_team_run(particles, PIECE, find_keys, p);
    while (ldexp(1, bits) <= cells) bits++;
    pbd_host_sort_pairs(p->key, p->out->particle, particles, bits, scratch, SORT_PARTS, in_team);
    return pbd_ok();
}

typedef struct lone_place {
    near_cell cell;
    uint32_t particle;
} lone_place;

static int by_cell(const void *a, const void *b) {
    const lone_place *p = a, *q = b;
    const int order = near_cell_order(p->cell, q->cell);
    return order != 0 ? order : (p->particle > q->particle) - (p->particle < q->particle);
}

/* For boxes with too many cells to number in 32 bits, since a few particles are far from all others. */
static pbd_status sort_by_comparison(const placing *p, size_t particles) {
    pbd_arena a PBD_ARENA;
    lone_place *at = pbd_new(&a, lone_place, particles);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < particles; i++) at[i] = (lone_place){p->cell[i], (uint32_t)i};
    qsort(at, particles, sizeof *at, by_cell);
    for (size_t i = 0; i < particles; i++) p->out->particle[i] = at[i].particle;
    return pbd_ok();
}

static pbd_status sort(placing *p, size_t particles) {
    const double cells = cells_in(&p->all);
    return cells > 0 && cells < UINT32_MAX ? sort_by_key(p, particles, cells) : sort_by_comparison(p, particles);
}

static pbd_status list_cells(const near_cell *sorted, near_places *out) {
    for (size_t at = 0; at < out->count; at++)
        out->cells += at == 0 || near_cell_order(sorted[at - 1], sorted[at]) != 0;
    PBD_TRY_NEW(out->cell, out->cells);
    PBD_TRY_NEW(out->first, out->cells + 1);
    size_t k = 0;
    for (size_t at = 0; at < out->count; at++) {
        if (at > 0 && near_cell_order(sorted[at - 1], sorted[at]) == 0) continue;
        out->cell[k] = sorted[at];
        out->first[k++] = at;
    }
    out->first[out->cells] = out->count;
    return pbd_ok();
}

static pbd_status make_places(const double *x, size_t particles, double reach, near_places *out) {
    pbd_arena a PBD_ARENA;
    const size_t pieces = particles / PIECE + 1;
    placing p = {.x = x,
                 .reach = reach,
                 .cell = pbd_new(&a, near_cell, particles + 1),
                 .part = pbd_new(&a, extent, pieces),
                 .key = pbd_new(&a, uint32_t, particles + 1),
                 .sorted = pbd_new(&a, near_cell, particles + 1),
                 .all = no_extent(),
                 .out = out};
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY_NEW(out->particle, particles);
    for (size_t d = 0; d < 3; d++) PBD_TRY_NEW(out->x[d], particles + NEAR_LANES);
    pbd_team_run(particles, PIECE, find_cells, &p);
    for (size_t k = 0; k * PIECE < particles; k++) join_extents(&p.all, &p.part[k]);
    PBD_TRY(sort(&p, particles));
    pbd_team_run(particles, PIECE, find_places, &p);
    for (out->count = particles; out->count > 0 && p.sorted[out->count - 1].x == NOWHERE.x; out->count--) continue;
    return list_cells(p.sorted, out);
}

pbd_status near_places_make(const double *x, size_t particles, double reach, near_places *out) {
    *out = (near_places){.particles = particles};
    const pbd_status status = make_places(x, particles, reach, out);
    if (status.code != PBD_OK) near_places_free(out);
    return status;
}

void near_places_free(near_places *p) {
    free(p->particle);
    free(p->cell);
    free(p->first);
    for (size_t d = 0; d < 3; d++) free(p->x[d]);
    *p = (near_places){0};
}

/* ---- Neighbours -------------------------------------------------------------------------------------------------- */

typedef struct visiting {
    const near_places *p;
    double square; /* of the reach */
    near_places_see *see;
    void *to;
    atomic_bool full; /* memory ran out */
} visiting;

/* The candidates for neighbours of the particles in a cell, and the neighbours of one of them; each array has room for
 * `room` entries. */
typedef struct listing {
    size_t room, candidates;
    double *x[3];        /* of candidates, m; at infinity in the padding */
    uint32_t *candidate; /* their places, ascending */
    uint32_t *place;     /* neighbours */
    double *square;      /* m^2 */
} listing;

static void free_listing(listing *l) {
    for (size_t d = 0; d < 3; d++) free(l->x[d]);
    free(l->candidate);
    free(l->place);
    free(l->square);
    *l = (listing){0};
}

static bool make_room(listing *l, size_t wanted) {
    if (wanted + NEAR_LANES <= l->room) return true;
    free_listing(l);
    l->room = 2 * wanted + 256;
    for (size_t d = 0; d < 3; d++) l->x[d] = malloc(l->room * sizeof *l->x[d]);
    l->candidate = malloc(l->room * sizeof *l->candidate);
    l->place = malloc(l->room * sizeof *l->place);
    l->square = malloc(l->room * sizeof *l->square);
    return l->x[0] && l->x[1] && l->x[2] && l->candidate && l->place && l->square;
}

/* Copies the particles of nine ranges of places, so that they are tested whole vectors at a time, and pads them to a
 * multiple of NEAR_LANES. */
static void gather_candidates(const near_places *p, const size_t begin[9], const size_t end[9], listing *l) {
    size_t all = 0;
    for (int k = 0; k < 9; k++)
        for (size_t q = begin[k]; q < end[k]; q++, all++) {
            for (size_t d = 0; d < 3; d++) l->x[d][all] = p->x[d][q];
            l->candidate[all] = (uint32_t)q;
        }
    l->candidates = all;
    for (; all % NEAR_LANES != 0; all++) {
        for (size_t d = 0; d < 3; d++) l->x[d][all] = INFINITY;
        l->candidate[all] = 0;
    }
}

/* The candidates nearer than the reach to `own`: place and square get their places and squared distances. Returns their
 * number. The candidates are passed by value: the pointers stay in registers. */
static size_t find_near(double reach2, const double own[3], listing l, uint32_t *restrict place,
                        double *restrict square) {
    size_t count = 0;
    for (size_t first = 0; first < l.candidates; first += PBD_BATCH) {
        const vreal dx = batch_load(l.x[0], first, PBD_BATCH) - own[0];
        const vreal dy = batch_load(l.x[1], first, PBD_BATCH) - own[1];
        const vreal dz = batch_load(l.x[2], first, PBD_BATCH) - own[2];
        const vreal squares = dx * dx + dy * dy + dz * dz;
        const uint32_t near = batch_less(squares, vreal_set(reach2));
        append_lanes(square + count, squares, near);
        count += (size_t)append_bits(place + count, PBD_BATCH, l.candidate + first, near);
    }
    return count;
}

/* The neighbours of the candidate at `self`, which is moved to infinity for the search so that it does not find itself.
 */
static near_list list_others(double reach2, size_t self, const listing *l) {
    const double own[3] = {l->x[0][self], l->x[1][self], l->x[2][self]};
    l->x[0][self] = INFINITY;
    const size_t count = find_near(reach2, own, *l, l->place, l->square);
    l->x[0][self] = own[0];
    for (size_t k = count; k % NEAR_LANES != 0; k++) l->place[k] = 0, l->square[k] = INFINITY;
    return (near_list){count, l->place, l->square};
}

static size_t first_not_before(const near_places *p, near_cell cell, size_t from) {
    while (from < p->cells && near_cell_order(p->cell[from], cell) < 0) from++;
    return from;
}

/* The same by bisection over all cells. */
static size_t search(const near_places *p, near_cell cell) {
    size_t low = 0, high = p->cells;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (near_cell_order(p->cell[middle], cell) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The cell of a place. */
static size_t cell_of(const near_places *p, size_t place) {
    size_t low = 0, high = p->cells;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (p->first[middle] <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Nine rows of three cells. Cells are visited in order, so the start of each row only moves forward. */
static bool visit_cells(const visiting *v, size_t first, size_t last, listing *l) {
    const near_places *p = v->p;
    size_t row[9], begin[9], end[9];
    for (int k = 0; k < 9; k++) row[k] = SIZE_MAX;
    for (size_t c = cell_of(p, first); first < last; c++) {
        const near_cell own = p->cell[c];
        const size_t next = p->first[c + 1] < last ? p->first[c + 1] : last;
        size_t all = 0, before = 0;
        for (int k = 0; k < 9; k++) {
            const near_cell low = {own.z + k / 3 - 1, own.y + k % 3 - 1, own.x - 1};
            row[k] = row[k] == SIZE_MAX ? search(p, low) : first_not_before(p, low, row[k]);
            begin[k] = p->first[row[k]];
            end[k] = p->first[first_not_before(p, (near_cell){low.z, low.y, own.x + 2}, row[k])];
            if (k == 4) before = all;
            all += end[k] - begin[k];
        }
        if (!make_room(l, all)) return false;
        gather_candidates(p, begin, end, l);
        for (size_t self = first - begin[4] + before; first < next; first++, self++) {
            const near_list others = list_others(v->square, self, l);
            v->see(v->to, first, &others);
        }
    }
    return true;
}

static void visit_part(void *context, size_t begin, size_t end) {
    visiting *v = context;
    listing l = {0};
    if (!visit_cells(v, begin, end, &l)) atomic_store(&v->full, true);
    free_listing(&l);
}

pbd_status near_places_visit(const near_places *p, double reach, near_places_see *see, void *to) {
    visiting v = {.p = p, .square = reach * reach, .see = see, .to = to};
    pbd_team_run(p->count, NEAR_PART, visit_part, &v);
    return atomic_load(&v.full) ? pbd_no_memory() : pbd_ok();
}
