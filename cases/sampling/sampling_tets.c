/* Cubes and tetrahedra on the particles of a lattice. */
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"

#include "cases/sampling/sampling.h"

static const int offset[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                 {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
/* One tetrahedron in the middle, on four corners no two of which are neighbours, and one at each other corner. In
 * odd cubes the middle one has the other four corners, so that face diagonals of neighbouring cubes coincide. cut_cube
 * swaps corners where needed for det D_m > 0. */
static const int five[2][5][4] = {{{0, 2, 7, 5}, {0, 1, 2, 5}, {0, 2, 3, 7}, {0, 5, 7, 4}, {2, 7, 5, 6}},
                                  {{1, 3, 4, 6}, {0, 1, 3, 4}, {1, 2, 3, 6}, {1, 6, 4, 5}, {3, 4, 6, 7}}};

/* The order of the particles of a lattice. */
static int compare_sites(const int32_t *a, const int32_t *b) {
    for (int d = 0; d < 3; d++)
        if (a[d] != b[d]) return a[d] < b[d] ? -1 : 1;
    return 0;
}

/* Returns UINT32_MAX if the site is empty. */
static uint32_t particle_at(const sampling *s, const int32_t site[3]) {
    size_t low = 0, high = s->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_sites(s->site[middle], site) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->count && compare_sites(s->site[low], site) == 0 ? (uint32_t)low : UINT32_MAX;
}

static bool find_cube(const sampling *s, size_t lowest, uint32_t corner[8]) {
    for (int c = 0; c < 8; c++) {
        int32_t site[3];
        for (int d = 0; d < 3; d++) site[d] = s->site[lowest][d] + offset[c][d];
        if ((corner[c] = particle_at(s, site)) == UINT32_MAX) return false;
    }
    return true;
}

static double six_volumes(const double *x, const uint32_t *t) {
    double e[3][3];
    for (size_t c = 0; c < 3; c++)
        for (size_t d = 0; d < 3; d++) e[c][d] = x[3 * (size_t)t[c] + d] - x[3 * (size_t)t[3] + d];
    return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) + e[0][1] * (e[1][2] * e[2][0] - e[1][0] * e[2][2]) +
           e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
}

static void cut_cube(const sampling *s, size_t lowest, const uint32_t corner[8], uint32_t *tet) {
    const int odd = (s->site[lowest][0] + s->site[lowest][1] + s->site[lowest][2]) % 2;
    for (int t = 0; t < 5; t++, tet += 4) {
        for (int v = 0; v < 4; v++) tet[v] = corner[five[odd][t][v]];
        if (six_volumes(s->position, tet) > 0) continue;
        const uint32_t swap = tet[0];
        tet[0] = tet[1];
        tet[1] = swap;
    }
}

pbd_status sampling_tets(const sampling *s, uint32_t **tet, size_t *tets, size_t *loose) {
    pbd_arena a PBD_ARENA;
    unsigned char *used = pbd_new(&a, unsigned char, s->count);
    *tets = *loose = 0;
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY_NEW(*tet, 20 * s->count);
    for (size_t p = 0; p < s->count && s->site; p++) {
        uint32_t corner[8];
        if (!find_cube(s, p, corner)) continue;
        cut_cube(s, p, corner, *tet + 4 * *tets);
        *tets += 5;
        for (int c = 0; c < 8; c++) used[corner[c]] = 1;
    }
    for (size_t p = 0; p < s->count; p++) *loose += !used[p];
    return pbd_ok();
}

pbd_status sampling_cubes(const sampling *s, uint32_t **cube, size_t *cubes) {
    *cubes = 0;
    PBD_TRY_NEW(*cube, 8 * s->count);
    for (size_t p = 0; p < s->count && s->site; p++) *cubes += find_cube(s, p, *cube + 8 * *cubes);
    return pbd_ok();
}
