#include "cases/near_pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Particles in lists by the cell, as wide as the reach, that they are in; cells are found by a hash of their place. */
typedef struct cells {
    size_t slots;
    uint32_t *first, *next; /* UINT32_MAX: none */
    int64_t (*at)[3];       /* INT64_MAX: nowhere, or a thousand million cells away */
} cells;

static size_t slot_of(const cells *c, const int64_t at[3]) {
    const uint64_t h = (uint64_t)at[0] * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)at[1] * UINT64_C(0xbf58476d1ce4e5b9) ^
                       (uint64_t)at[2] * UINT64_C(0x94d049bb133111eb);
    return (size_t)((h ^ (h >> 29)) % c->slots);
}

static void cells_free(cells *c) {
    free(c->first);
    free(c->next);
    free(c->at);
}

static pbd_status cells_make(const double *x, size_t particles, double width, cells *c) {
    *c = (cells){.slots = 2 * particles + 1};
    c->first = malloc(c->slots * sizeof *c->first);
    c->next = malloc((particles + 1) * sizeof *c->next);
    c->at = malloc((particles + 1) * sizeof *c->at);
    if (!c->first || !c->next || !c->at)
        return pbd_error(PBD_FAILED, "out of memory for pairs of %zu particles", particles);
    memset(c->first, 0xff, c->slots * sizeof *c->first);
    for (size_t i = particles; i-- > 0;) { /* backwards, so that lists ascend */
        bool somewhere = true;
        for (size_t d = 0; d < 3; d++) {
            const double place = floor(x[3 * i + d] / width);
            somewhere = somewhere && fabs(place) < 1e9;
            c->at[i][d] = somewhere ? (int64_t)place : INT64_MAX;
        }
        if (!somewhere) c->at[i][0] = INT64_MAX;
        if (!somewhere) continue;
        const size_t slot = slot_of(c, c->at[i]);
        c->next[i] = c->first[slot];
        c->first[slot] = (uint32_t)i;
    }
    return pbd_ok();
}

static pbd_status add_pair(near_pairs *p, size_t *room, size_t i, size_t j, double distance) {
    if (p->count == *room) {
        const size_t wanted = 2 * *room + 1024;
        uint32_t *pair = realloc(p->pair, 2 * wanted * sizeof *pair);
        if (pair) p->pair = pair;
        double *grown = pair ? realloc(p->distance, wanted * sizeof *grown) : NULL;
        if (!grown) return pbd_error(PBD_FAILED, "out of memory for %zu pairs of particles", wanted);
        p->distance = grown;
        *room = wanted;
    }
    p->pair[2 * p->count] = (uint32_t)i;
    p->pair[2 * p->count + 1] = (uint32_t)j;
    p->distance[p->count++] = distance;
    return pbd_ok();
}

/* Pairs of i with particles of a higher number in one cell. */
static pbd_status look_in_cell(const cells *c, const double *x, size_t i, const int64_t at[3], double reach,
                               size_t *room, near_pairs *out) {
    for (uint32_t j = c->first[slot_of(c, at)]; j != UINT32_MAX; j = c->next[j]) {
        if (j <= i || memcmp(c->at[j], at, 3 * sizeof *at) != 0) continue;
        double square = 0;
        for (size_t d = 0; d < 3; d++) square += (x[3 * i + d] - x[3 * j + d]) * (x[3 * i + d] - x[3 * j + d]);
        if (square < reach * reach) PBD_TRY(add_pair(out, room, i, j, sqrt(square)));
    }
    return pbd_ok();
}

pbd_status near_pairs_find(const double *x, size_t particles, double reach, near_pairs *out) {
    cells c;
    size_t room = 0;
    *out = (near_pairs){0};
    pbd_status status = cells_make(x, particles, reach, &c);
    for (size_t i = 0; i < particles && status.code == PBD_OK; i++) {
        if (c.at[i][0] == INT64_MAX) continue;
        for (int cell = 0; cell < 27 && status.code == PBD_OK; cell++) {
            const int64_t at[3] = {c.at[i][0] + cell % 3 - 1, c.at[i][1] + cell / 3 % 3 - 1, c.at[i][2] + cell / 9 - 1};
            status = look_in_cell(&c, x, i, at, reach, &room, out);
        }
    }
    cells_free(&c);
    if (status.code != PBD_OK) near_pairs_free(out);
    return status;
}

void near_pairs_free(near_pairs *p) {
    free(p->pair);
    free(p->distance);
    *p = (near_pairs){0};
}

/* The first particle of p's set so far; the way there is halved each time it is gone. */
static uint32_t root_of(uint32_t *parent, uint32_t p) {
    while (parent[p] != p) p = parent[p] = parent[parent[p]];
    return p;
}

size_t near_pairs_pieces(const near_pairs *p, size_t particles, uint32_t *piece, size_t *size) {
    size_t pieces = 0;
    for (size_t i = 0; i < particles; i++) piece[i] = (uint32_t)i;
    for (size_t k = 0; k < p->count; k++) {
        const uint32_t a = root_of(piece, p->pair[2 * k]), b = root_of(piece, p->pair[2 * k + 1]);
        piece[a > b ? a : b] = a > b ? b : a;
    }
    for (size_t i = 0; i < particles; i++) piece[i] = root_of(piece, (uint32_t)i);
    /* Roots are the lowest of their set: those before i are numbered already. */
    for (size_t i = 0; i < particles; i++) {
        const bool first = piece[i] == i;
        piece[i] = first ? (uint32_t)pieces++ : piece[piece[i]];
        if (size && first) size[piece[i]] = 0;
        if (size) size[piece[i]]++;
    }
    return pieces;
}
