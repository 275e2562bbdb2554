#include "harness/view/pack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"
#include "harness/files/deflate.h"

pbd_status pbd_pack_open(size_t points, size_t fields, const double low[3], double size, pbd_packer *out) {
    *out = (pbd_packer){.points = points, .fields = fields, .size = size};
    memcpy(out->low, low, sizeof out->low);
    PBD_TRY_NEW(out->now, 3 * points);
    PBD_TRY_NEW(out->before, 3 * points);
    PBD_TRY_NEW(out->long_ago, 3 * points);
    PBD_TRY_NEW(out->field, fields * points);
    PBD_TRY_NEW(out->last_field, fields * points);
    PBD_TRY_NEW(out->raw, (6 + fields) * points);
    return pbd_ok();
}

void pbd_pack_close(pbd_packer *p) {
    free(p->now);
    free(p->before);
    free(p->long_ago);
    free(p->field);
    free(p->last_field);
    free(p->raw);
    free(p->packed);
    *p = (pbd_packer){0};
}

/* Rounds positions to 16 bits, ordered by coordinate. A point outside the box is PACK_HIDDEN in all three. */
static void round_positions(pbd_packer *p, const double *position) {
    const double steps = PACK_LARGEST / p->size;
    p->hidden = 0;
    for (size_t i = 0; i < p->points; i++) {
        double at[3];
        bool inside = true;
        for (size_t d = 0; d < 3; d++) {
            at[d] = (position[3 * i + d] - p->low[d]) * steps;
            inside = inside && at[d] >= -0.5 && at[d] <= PACK_LARGEST + 0.5;
        }
        p->hidden += !inside;
        for (size_t d = 0; d < 3; d++)
            p->now[d * p->points + i] =
                inside ? (uint16_t)lround(fmin(fmax(at[d], 0), PACK_LARGEST)) : (uint16_t)PACK_HIDDEN;
    }
}

/* The prediction of number i from the previous states, modulo 2^16. */
static uint16_t foretold(const pbd_packer *p, unsigned mode, size_t i) {
    return mode & PACK_BY_MOTION ? (uint16_t)(2u * p->before[i] - p->long_ago[i]) : p->before[i];
}

static uint16_t folded(uint16_t difference) {
    const unsigned d = difference;
    return (uint16_t)(d < 0x8000u ? 2 * d : 2 * (0x10000u - d) - 1);
}

/* The difference that is stored for number i. */
static uint16_t difference_at(const pbd_packer *p, unsigned mode, size_t i) {
    const uint16_t own = (uint16_t)(p->now[i] - foretold(p, mode, i));
    if (!(mode & PACK_BY_NEIGHBOUR) || i % p->points == 0) return folded(own);
    return folded((uint16_t)(own - (uint16_t)(p->now[i - 1] - foretold(p, mode, i - 1))));
}

/* Estimates the bits of a state, up to a factor, from a sample of its differences. */
static double cost_of(const pbd_packer *p, unsigned mode) {
    const size_t numbers = 3 * p->points, stride = numbers / 30000 + 1;
    double bits = 0;
    for (size_t i = 0; i < numbers; i += stride) bits += log2(1.0 + difference_at(p, mode, i));
    return bits;
}

/* Before the first state all numbers are 0, so there each point is predicted from the previous point. */
static unsigned choose_mode(const pbd_packer *p) {
    unsigned best = PACK_BY_NEIGHBOUR;
    double least = INFINITY;
    for (unsigned mode = 0; mode < 4 && p->states > 0; mode++) {
        const double cost = mode & PACK_BY_MOTION && p->states < 2 ? INFINITY : cost_of(p, mode);
        if (cost < least) least = cost, best = mode;
    }
    return best;
}

static void lay_out(pbd_packer *p) {
    const size_t n = p->points;
    for (size_t d = 0; d < 3; d++)
        for (size_t i = 0; i < n; i++) {
            const unsigned kept = difference_at(p, p->mode, d * n + i);
            p->raw[2 * d * n + i] = (unsigned char)(kept & 255);
            p->raw[(2 * d + 1) * n + i] = (unsigned char)(kept >> 8);
        }
    for (size_t i = 0; i < p->fields * n; i++) p->raw[6 * n + i] = (unsigned char)(p->field[i] - p->last_field[i]);
}

pbd_status pbd_pack_state(pbd_packer *p, const double *position) {
    round_positions(p, position);
    p->mode = choose_mode(p);
    lay_out(p);
    free(p->packed);
    p->packed = NULL;
    PBD_TRY(pbd_deflate(p->raw, (6 + p->fields) * p->points, &p->packed, &p->bytes));
    uint16_t *free_one = p->long_ago;
    p->long_ago = p->before;
    p->before = p->now;
    p->now = free_one;
    memcpy(p->last_field, p->field, p->fields * p->points);
    p->states++;
    return pbd_ok();
}
