#include "cases/geometry/near_pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"

/* ---- Pairs ------------------------------------------------------------------------------------------------------- */

/* A particle and the cell, as wide as the reach, that it is in. In the order of cells, those of three cells side by
 * side lie side by side. */
typedef struct place {
    int32_t z, y, x;
    uint32_t particle;
} place;

static int compare_cells(const place *a, const place *b) {
    if (a->z != b->z) return a->z < b->z ? -1 : 1;
    if (a->y != b->y) return a->y < b->y ? -1 : 1;
    return (a->x > b->x) - (a->x < b->x);
}

static int by_cell(const void *a, const void *b) {
    const place *p = a, *q = b;
    const int order = compare_cells(p, q);
    return order != 0 ? order : (p->particle > q->particle) - (p->particle < q->particle);
}

/* Those that are somewhere. */
static size_t make_places(const double *x, size_t particles, double reach, place *out) {
    size_t count = 0;
    for (size_t i = 0; i < particles; i++) {
        double cell[3];
        bool somewhere = true;
        for (size_t d = 0; d < 3; d++) {
            cell[d] = floor(x[3 * i + d] / reach);
            somewhere = somewhere && fabs(cell[d]) < 1e9;
        }
        if (somewhere) out[count++] = (place){(int32_t)cell[2], (int32_t)cell[1], (int32_t)cell[0], (uint32_t)i};
    }
    qsort(out, count, sizeof *out, by_cell);
    return count;
}

typedef struct visiting {
    const place *at;
    const double *x;      /* count x 3, in the order of `at` */
    double square;        /* of the reach */
    const size_t *chosen; /* by place, and one more: how many before it are; NULL: all pairs are wanted */
    near_pair_visit *visit;
    void *to;
} visiting;

static bool any_chosen(const visiting *v, size_t begin, size_t end) { return v->chosen[end] > v->chosen[begin]; }

static void visit_range(const visiting *v, size_t p, size_t begin, size_t end) {
    const double *own = v->x + 3 * p;
    const bool every = !v->chosen || any_chosen(v, p, p + 1);
    if (!every && !any_chosen(v, begin, end)) return;
    for (size_t q = begin; q < end; q++) {
        if (!every && !any_chosen(v, q, q + 1)) continue;
        const double *other = v->x + 3 * q, dx = other[0] - own[0], dy = other[1] - own[1], dz = other[2] - own[2];
        const double square = dx * dx + dy * dy + dz * dz;
        if (!(square < v->square)) continue;
        const uint32_t a = v->at[p].particle, b = v->at[q].particle;
        v->visit(v->to, a > b ? a : b, a > b ? b : a, square);
    }
}

/* Of two cells the earlier looks into the later: the next of its own row, and three cells in each of four rows. Cells
 * are gone through in order, so the place where each row begins only ever moves on. */
static void visit_all(const visiting *v, size_t count) {
    static const int32_t row[5][2] = {{0, 0}, {0, 1}, {1, -1}, {1, 0}, {1, 1}};
    size_t begin[5] = {0};
    for (size_t first = 0, last; first < count; first = last) {
        const place own = v->at[first];
        size_t end[5];
        for (last = first; last < count && compare_cells(&v->at[last], &own) == 0; last++) {
        }
        for (int k = 0; k < 5; k++) {
            const place low = {own.z + row[k][0], own.y + row[k][1], own.x + (k ? -1 : 1), 0};
            const place high = {low.z, low.y, own.x + 1, 0};
            while (begin[k] < count && compare_cells(&v->at[begin[k]], &low) < 0) begin[k]++;
            for (end[k] = begin[k]; end[k] < count && compare_cells(&v->at[end[k]], &high) <= 0;) end[k]++;
        }
        for (size_t p = first; p < last; p++) {
            visit_range(v, p, p + 1, last);
            for (int k = 0; k < 5; k++) visit_range(v, p, begin[k], end[k]);
        }
    }
}

pbd_status near_pairs_visit_chosen(const double *x, size_t particles, const bool *chosen, double reach,
                                   near_pair_visit *visit, void *to) {
    pbd_arena a PBD_ARENA;
    place *at = pbd_new(&a, place, particles);
    double *sorted = pbd_new(&a, double, 3 * particles);
    size_t *before = pbd_new(&a, size_t, particles + 1);
    PBD_TRY(pbd_arena_check(&a));
    const size_t count = make_places(x, particles, reach, at);
    for (size_t p = 0; p < count; p++) {
        const size_t i = at[p].particle;
        memcpy(sorted + 3 * p, x + 3 * i, 3 * sizeof *sorted);
        before[p + 1] = before[p] + (chosen && chosen[i]);
    }
    const visiting v = {at, sorted, reach * reach, chosen ? before : NULL, visit, to};
    visit_all(&v, count);
    return pbd_ok();
}

pbd_status near_pairs_visit(const double *x, size_t particles, double reach, near_pair_visit *visit, void *to) {
    return near_pairs_visit_chosen(x, particles, NULL, reach, visit, to);
}

/* ---- A list of them ---------------------------------------------------------------------------------------------- */

typedef struct collecting {
    near_pairs *list;
    size_t room;
    bool full; /* memory was out */
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

/* ---- Sets that hang together ------------------------------------------------------------------------------------- */

/* The way to the root is halved each time it is gone. */
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
    /* Roots are the lowest of their set: those before i are numbered already. */
    for (size_t i = 0; i < particles; i++) {
        const bool first = piece[i] == i;
        piece[i] = first ? (uint32_t)pieces++ : piece[piece[i]];
        if (size && first) size[piece[i]] = 0;
        if (size) size[piece[i]]++;
    }
    return pieces;
}
