#include "cases/cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int64_t NOWHERE = INT64_MAX / 2;

static size_t slot_of(const cells *c, const int64_t at[3]) {
    uint64_t h = (uint64_t)at[0] * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)at[1] * UINT64_C(0xbf58476d1ce4e5b9) ^
                 (uint64_t)at[2] * UINT64_C(0x94d049bb133111eb);
    return (size_t)(h ^ (h >> 29)) & (c->slots - 1);
}

void cells_free(cells *c) {
    free(c->first);
    free(c->next);
    free(c->at);
    *c = (cells){0};
}

bool cells_hold(const cells *c, size_t particle) {
    const int64_t *at = c->at[particle];
    return at[0] != NOWHERE && at[1] != NOWHERE && at[2] != NOWHERE;
}

uint32_t cells_first(const cells *c, const int64_t at[3]) { return c->first[slot_of(c, at)]; }

pbd_status cells_make(const double *x, size_t count, double cell, cells *out) {
    *out = (cells){.cell = cell, .slots = 1};
    while (out->slots < 2 * count) out->slots *= 2;
    out->first = malloc(out->slots * sizeof *out->first);
    out->next = malloc((count + 1) * sizeof *out->next);
    out->at = malloc((count + 1) * sizeof *out->at);
    if (!out->first || !out->next || !out->at)
        return pbd_error(PBD_FAILED, "out of memory for measuring %zu particles", count);
    memset(out->first, 0xff, out->slots * sizeof *out->first);
    for (size_t i = 0; i < count; i++) {
        for (size_t d = 0; d < 3; d++) {
            const double place = floor(x[3 * i + d] / cell);
            out->at[i][d] = fabs(place) < 1e9 ? (int64_t)place : NOWHERE;
        }
        if (!cells_hold(out, i)) continue;
        const size_t slot = slot_of(out, out->at[i]);
        out->next[i] = out->first[slot];
        out->first[slot] = (uint32_t)i;
    }
    return pbd_ok();
}
