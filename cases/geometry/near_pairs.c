#include "cases/geometry/near_pairs.h"

#include <math.h>
#include <stdlib.h>

#include "cases/geometry/near_places.h"
#include "harness/exec/arena.h"

/* ---- Pairs ------------------------------------------------------------------------------------------------------- */

typedef struct visiting {
    const near_places *at;
    double square;        /* of the reach */
    const size_t *chosen; /* places + 1: number of chosen particles before each; NULL: all pairs are wanted */
    near_pair_visit *visit;
    void *to;
} visiting;

static bool any_chosen(const visiting *v, size_t begin, size_t end) { return v->chosen[end] > v->chosen[begin]; }

static void visit_range(const visiting *v, size_t p, size_t begin, size_t end) {
    const double *x = v->at->x[0], *y = v->at->x[1], *z = v->at->x[2];
    const bool every = !v->chosen || any_chosen(v, p, p + 1);
    if (!every && !any_chosen(v, begin, end)) return;
    for (size_t q = begin; q < end; q++) {
        if (!every && !any_chosen(v, q, q + 1)) continue;
        const double dx = x[q] - x[p], dy = y[q] - y[p], dz = z[q] - z[p];
        const double square = dx * dx + dy * dy + dz * dz;
        if (!(square < v->square)) continue;
        const uint32_t a = v->at->particle[p], b = v->at->particle[q];
        v->visit(v->to, a > b ? a : b, a > b ? b : a, square);
    }
}

/* Each cell is paired with later neighbours only: the next one of its row, and three cells in each of four rows. Cells
 * are visited in order, so the start of each row only moves forward. */
static void visit_all(const visiting *v) {
    static const int32_t row[5][2] = {{0, 0}, {0, 1}, {1, -1}, {1, 0}, {1, 1}};
    const near_places *at = v->at;
    size_t begin[5] = {0};
    for (size_t c = 0; c < at->cells; c++) {
        const near_cell own = at->cell[c];
        const size_t last = at->first[c + 1];
        size_t end[5];
        for (int k = 0; k < 5; k++) {
            const near_cell low = {own.z + row[k][0], own.y + row[k][1], own.x + (k ? -1 : 1)};
            const near_cell high = {low.z, low.y, own.x + 1};
            while (begin[k] < at->cells && near_cell_order(at->cell[begin[k]], low) < 0) begin[k]++;
            for (end[k] = begin[k]; end[k] < at->cells && near_cell_order(at->cell[end[k]], high) <= 0;) end[k]++;
        }
        for (size_t p = at->first[c]; p < last; p++) {
            visit_range(v, p, p + 1, last);
            for (int k = 0; k < 5; k++) visit_range(v, p, at->first[begin[k]], at->first[end[k]]);
        }
    }
}

pbd_status near_pairs_visit_chosen(const double *x, size_t particles, const bool *chosen, double reach,
                                   near_pair_visit *visit, void *to) {
    pbd_arena a PBD_ARENA;
    near_places at PBD_CLEANUP(near_places_free) = {0};
    PBD_TRY(near_places_make(x, particles, reach, &at));
    size_t *before = chosen ? pbd_new(&a, size_t, at.count + 1) : NULL;
    PBD_TRY(pbd_arena_check(&a));
    for (size_t p = 0; p < at.count && chosen; p++) before[p + 1] = before[p] + chosen[at.particle[p]];
    const visiting v = {&at, reach * reach, before, visit, to};
    visit_all(&v);
    return pbd_ok();
}

pbd_status near_pairs_visit(const double *x, size_t particles, double reach, near_pair_visit *visit, void *to) {
    return near_pairs_visit_chosen(x, particles, NULL, reach, visit, to);
}

/* ---- A list of them ---------------------------------------------------------------------------------------------- */

typedef struct collecting {
    near_pairs *list;
    size_t room;
    bool full; /* memory ran out */
} collecting;

static bool make_room(collecting *c) {
    const size_t wanted = 2 * c->room + 1024;
    uint32_t *pair = realloc(c->list->pair, 2 * wanted * sizeof *pair);
    if (pair) c->list->pair = pair;
    double *distance = pair ? realloc(c->list->distance, wanted * sizeof *distance) : NULL;
    if (!distance) return false;
    c->list->distance = distance;
    c->room = wanted;
    return true;
}

static void collect(void *to, size_t i, size_t j, double square) {
    collecting *c = to;
    near_pairs *list = c->list;
    c->full = c->full || (list->count == c->room && !make_room(c));
    if (c->full) return;
    list->pair[2 * list->count] = (uint32_t)j;
    list->pair[2 * list->count + 1] = (uint32_t)i;
    list->distance[list->count++] = sqrt(square);
}

pbd_status near_pairs_find(const double *x, size_t particles, double reach, near_pairs *out) {
    collecting c = {.list = out};
    *out = (near_pairs){0};
    pbd_status status = near_pairs_visit(x, particles, reach, collect, &c);
    if (c.full) status = pbd_no_memory();
    if (status.code != PBD_OK) near_pairs_free(out);
    return status;
}

void near_pairs_free(near_pairs *p) {
    free(p->pair);
    free(p->distance);
    *p = (near_pairs){0};
}

/* ---- Connected components ---------------------------------------------------------------------------------------- */

/* With path halving. */
uint32_t near_pairs_root(uint32_t *parent, uint32_t p) {
    while (parent[p] != p) p = parent[p] = parent[parent[p]];
    return p;
}

void near_pairs_join(uint32_t *parent, size_t i, size_t j) {
    const uint32_t a = near_pairs_root(parent, (uint32_t)i), b = near_pairs_root(parent, (uint32_t)j);
    parent[a > b ? a : b] = a > b ? b : a;
}

size_t near_pairs_pieces(const near_pairs *p, size_t particles, uint32_t *piece, size_t *size) {
    size_t pieces = 0;
    for (size_t i = 0; i < particles; i++) piece[i] = (uint32_t)i;
    for (size_t k = 0; k < p->count; k++) near_pairs_join(piece, p->pair[2 * k], p->pair[2 * k + 1]);
    for (size_t i = 0; i < particles; i++) piece[i] = near_pairs_root(piece, (uint32_t)i);
    /* Roots are the lowest particles of their sets, so those before i are already numbered. */
    for (size_t i = 0; i < particles; i++) {
        const bool first = piece[i] == i;
        piece[i] = first ? (uint32_t)pieces++ : piece[piece[i]];
        if (size && first) size[piece[i]] = 0;
        if (size) size[piece[i]]++;
    }
    return pieces;
}
