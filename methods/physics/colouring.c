#include "methods/physics/colouring.h"

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
                pbd_error(PBD_NOT_SUPPORTED, "constraint %zu needs more than %d colours: too many meet in one particle",
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
