/* A grid over a triangle mesh. Each cell has the winding number at its centre and a distance from the centre within
 * which there is no surface. Most points then need neither a winding number nor a distance; those near the surface
 * count the crossings of the segment from the centre of their cell. */
#include <math.h>
#include <stdlib.h>

#include "cases/geometry/triangle_mesh.h"
#include "harness/exec/arena.h"
#include "harness/exec/team.h"

enum { CELLS = 96 /* along the longest edge */, BLOCK = 8 /* cells along the edge of a cube that is halved */ };

struct triangle_cells {
    const triangle_tree *tree;    /* borrowed */
    double low[3], high[3], edge; /* m */
    size_t n[3];                  /* cells along each axis, whole blocks */
    float *free;                  /* cells, m: no surface is nearer to the centre */
    int *winding;                 /* cells: at the centre */
};

static double distance_of(const double a[3], const double b[3]) {
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

static void centre_of(const triangle_cells *c, const size_t at[3], size_t size, double out[3]) {
    for (int d = 0; d < 3; d++) out[d] = c->low[d] + c->edge * ((double)at[d] + 0.5 * (double)size);
}

static int winding_from(const triangle_cells *c, const double from[3], int winding, const double x[3]) {
    return triangle_tree_step(c->tree, from, x, &winding) ? winding : (int)lround(triangle_tree_winding(c->tree, x));
}

/* Fills a cube of `size` cells along each edge, with its lowest corner at `at`; halves it while it may contain surface.
 * of_from: the winding number at `from`; from NULL: none is known. */
static void fill_cube(triangle_cells *c, const size_t at[3], size_t size, const double from[3], int of_from) {
    double centre[3], own[3];
    centre_of(c, at, size, centre);
    const int winding =
        from ? winding_from(c, from, of_from, centre) : (int)lround(triangle_tree_winding(c->tree, centre));
    const double clear = triangle_tree_distance(c->tree, centre);
    if (size > 1 && clear < 0.5 * sqrt(3) * c->edge * (double)size) {
        for (size_t k = 0; k < 8; k++) {
            const size_t half = size / 2,
                         part[3] = {at[0] + k / 4 * half, at[1] + k / 2 % 2 * half, at[2] + k % 2 * half};
            fill_cube(c, part, half, centre, winding);
        }
        return;
    }
    for (size_t k = 0; k < size * size * size; k++) {
        const size_t one[3] = {at[0] + k / size / size, at[1] + k / size % size, at[2] + k % size};
        const size_t cell = (one[0] * c->n[1] + one[1]) * c->n[2] + one[2];
        centre_of(c, one, 1, own);
        c->winding[cell] = winding;
        c->free[cell] = (float)((1 - 1e-6) * fmax(clear - distance_of(own, centre), 0));
    }
}

static void fill_blocks(void *context, size_t begin, size_t end) {
    triangle_cells *c = context;
    for (size_t block = begin; block < end; block++) {
        const size_t ny = c->n[1] / BLOCK, nz = c->n[2] / BLOCK;
        const size_t at[3] = {block / nz / ny * BLOCK, block / nz % ny * BLOCK, block % nz * BLOCK};
        fill_cube(c, at, BLOCK, NULL, 0);
    }
}

pbd_status triangle_cells_make(const triangle_tree *tree, const double low[3], const double high[3],
                               triangle_cells **out) {
    double longest = 0;
    size_t cells = 1;
    triangle_cells *c = *out = calloc(1, sizeof *c);
    if (!c) return pbd_no_memory();
    for (int d = 0; d < 3; d++) longest = fmax(longest, high[d] - low[d]);
    *c = (triangle_cells){.tree = tree, .edge = longest / CELLS};
    for (int d = 0; d < 3; d++) {
        c->low[d] = low[d];
        c->high[d] = high[d];
        c->n[d] = BLOCK * ((size_t)((high[d] - low[d]) / (BLOCK * c->edge)) + 1);
        cells *= c->n[d];
    }
    PBD_TRY_NEW(c->free, cells);
    PBD_TRY_NEW(c->winding, cells);
    pbd_team_run(cells / (BLOCK * BLOCK * BLOCK), 1, fill_blocks, c);
    return pbd_ok();
}

void triangle_cells_free(triangle_cells *c) {
    if (!c) return;
    free(c->free);
    free(c->winding);
    free(c);
}

bool triangle_cells_deeper(const triangle_cells *c, const double x[3], double depth) {
    size_t at[3];
    double centre[3];
    for (int d = 0; d < 3; d++) {
        if (!(x[d] >= c->low[d] && x[d] <= c->high[d])) return false;
        at[d] = (size_t)((x[d] - c->low[d]) / c->edge);
    }
    const size_t cell = (at[0] * c->n[1] + at[1]) * c->n[2] + at[2];
    centre_of(c, at, 1, centre);
    const double off = distance_of(x, centre), clear = (double)c->free[cell] - off;
    const int winding = clear > 0 ? c->winding[cell] : winding_from(c, centre, c->winding[cell], x);
    return winding > 0 && (clear > depth || triangle_tree_distance(c->tree, x) > depth);
}
