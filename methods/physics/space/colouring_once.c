#include "methods/physics/space/colouring.h"

#include <stdlib.h>

pbd_status pbd_colour(size_t count, int arity, const uint32_t *particle, size_t particles, uint32_t *order,
                      size_t *first, int *colours) {
    uint64_t *used = calloc(particles + 1, sizeof *used); /* colours already at each particle, as bits */
    uint8_t *colour = malloc(count + 1);
    pbd_status status = pbd_ok();
    *colours = 0;
    if (!used || !colour) status = pbd_error(PBD_FAILED, "out of memory for colouring %zu constraints", count);
    size_t size[PBD_MOST_COLOURS] = {0};
    for (size_t c = 0; c < count && status.code == PBD_OK; c++) {
        const uint32_t *mine = particle + c * (size_t)arity;
        uint64_t taken = 0;
        for (int a = 0; a < arity; a++) taken |= used[mine[a]];
        if (taken == UINT64_MAX) {
            status =
                pbd_error(PBD_NOT_SUPPORTED, "constraint %zu needs more than %d colours: too many share one particle",
                          c, PBD_MOST_COLOURS);
            break;
        }
        int free_colour = __builtin_ctzll(~taken);
        for (int a = 0; a < arity; a++) used[mine[a]] |= UINT64_C(1) << free_colour;
        colour[c] = (uint8_t)free_colour;
        size[free_colour]++;
        if (free_colour >= *colours) *colours = free_colour + 1;
    }
    if (status.code == PBD_OK) {
        first[0] = 0;
        for (int k = 0; k < *colours; k++) first[k + 1] = first[k] + size[k];
        size_t next[PBD_MOST_COLOURS];
        for (int k = 0; k < *colours; k++) next[k] = first[k];
        for (size_t c = 0; c < count; c++) order[next[colour[c]]++] = (uint32_t)c;
    }
    free(used);
    free(colour);
    return status;
}

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

/* Colours at each particle as rows of `words` 64-bit words, widened when a constraint finds none free. */
typedef struct used_colours {
    uint64_t *bits;
    size_t particles, words;
} used_colours;

static pbd_status widen(used_colours *u) {
    const size_t words = u->words ? 2 * u->words : 2;
    if (words * 64 > PBD_MOST_LIST_COLOURS)
        return pbd_error(PBD_NOT_SUPPORTED,
                         "more than %d colours would be needed: too many constraints share one particle",
                         PBD_MOST_LIST_COLOURS);
    uint64_t *bits = calloc(u->particles * words + 1, sizeof *bits);
    if (!bits) return pbd_error(PBD_FAILED, "out of memory for the colours of %zu particles", u->particles);
    for (size_t p = 0; p < u->particles; p++)
        for (size_t w = 0; w < u->words; w++) bits[p * words + w] = u->bits[p * u->words + w];
    free(u->bits);
    u->bits = bits;
    u->words = words;
    return pbd_ok();
}

/* The first colour that none of the particles has; words * 64 when there is none. */
static size_t free_colour(const used_colours *u, const uint32_t *mine, size_t count, const uint32_t *own) {
    for (size_t w = 0; w < u->words; w++) {
        uint64_t taken = own ? u->bits[*own * u->words + w] : 0;
        for (size_t k = 0; k < count && ~taken; k++) taken |= u->bits[mine[k] * u->words + w];
        if (~taken) return 64 * w + (size_t)__builtin_ctzll(~taken);
    }
    return 64 * u->words;
}

static pbd_status colour_one(used_colours *u, const uint32_t *mine, size_t count, const uint32_t *own, size_t *out) {
    while ((*out = free_colour(u, mine, count, own)) == 64 * u->words) PBD_TRY(widen(u));
    const uint64_t bit = UINT64_C(1) << *out % 64;
    for (size_t k = 0; k < count; k++) u->bits[mine[k] * u->words + *out / 64] |= bit;
    if (own) u->bits[*own * u->words + *out / 64] |= bit;
    return pbd_ok();
}

pbd_status pbd_colour_lists(size_t count, const size_t *first, const uint32_t *particle, size_t particles,
                            bool with_own, uint32_t *order, size_t **colour_first, int *colours) {
    used_colours used = {.particles = particles};
    uint16_t *colour = malloc((count + 1) * sizeof *colour);
    size_t *offset = calloc(PBD_MOST_LIST_COLOURS + 2, sizeof *offset);
    pbd_status status =
        colour && offset ? pbd_ok() : pbd_error(PBD_FAILED, "out of memory for colouring %zu constraints", count);
    *colours = 0;
    *colour_first = NULL;
    for (size_t c = 0; c < count && status.code == PBD_OK; c++) {
        const uint32_t own = (uint32_t)c;
        size_t mine;
        status = colour_one(&used, particle + first[c], first[c + 1] - first[c], with_own ? &own : NULL, &mine);
        if (status.code != PBD_OK) break;
        colour[c] = (uint16_t)mine;
        offset[mine + 2]++;
        if ((int)mine >= *colours) *colours = (int)mine + 1;
    }
    if (status.code == PBD_OK) {
        for (int k = 1; k <= *colours; k++) offset[k + 1] += offset[k];
        for (size_t c = 0; c < count; c++) order[offset[colour[c] + 1]++] = (uint32_t)c;
        *colour_first = offset;
    } else {
        free(offset);
    }
    free(used.bits);
    free(colour);
    return status;
}
