#include "cases/scenes/loaded.h"

#include <stdlib.h>

#include "cases/geometry/surface.h"
#include "harness/exec/arena.h"
#include "methods/physics/parts/surface_load.h"

static bool all_marked(const bool *marked, const uint32_t *corner, size_t corners) {
    for (size_t c = 0; c < corners; c++)
        if (!marked[corner[c]]) return false;
    return true;
}

/* A quad is stored as two consecutive triangles, (0, 1, 2) and (0, 2, 3). */
static pbd_status list_faces(const surface *outside, const bool *marked, size_t corners, pbd_loaded *out) {
    const size_t step = corners - 2;
    PBD_TRY_NEW(out->corner, corners * (outside->triangles / step));
    for (size_t t = 0; t < outside->triangles; t += step) {
        const uint32_t *node = outside->triangle + 3 * t, last = step == 2 ? node[5] : 0;
        const uint32_t corner[SURFACE_MOST_CORNERS] = {node[0], node[1], node[2], last};
        if (!all_marked(marked, corner, corners)) continue;
        memcpy(out->corner + corners * out->count++, corner, corners * sizeof *corner);
    }
    PBD_TRY_NEW(out->density, 3 * corners * out->count);
    return pbd_ok();
}

static int compare_edges(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    if (x[0] != y[0]) return x[0] < y[0] ? -1 : 1;
    return (x[1] > y[1]) - (x[1] < y[1]);
}

/* Lists each edge once. The diagonal of a quad is not an edge. */
static pbd_status list_edges(const surface *outside, const bool *marked, size_t corners, pbd_loaded *out) {
    size_t count = 0;
    pbd_arena a PBD_ARENA;
    uint32_t *edge = pbd_new(&a, uint32_t, 6 * outside->triangles);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t t = 0; t < outside->triangles; t++)
        for (size_t k = 0; k < 3; k++) {
            const uint32_t *node = outside->triangle + 3 * t, from = node[k], to = node[(k + 1) % 3];
            if ((corners == 4 && k == 2 - 2 * (t % 2)) || !marked[from] || !marked[to]) continue;
            edge[2 * count] = from < to ? from : to;
            edge[2 * count++ + 1] = from < to ? to : from;
        }
    qsort(edge, count, 2 * sizeof *edge, compare_edges);
    PBD_TRY_NEW(out->corner, 2 * count);
    for (size_t e = 0; e < count; e++)
        if (e == 0 || compare_edges(edge + 2 * e, edge + 2 * e - 2) != 0)
            memcpy(out->corner + 2 * out->count++, edge + 2 * e, 2 * sizeof *edge);
    PBD_TRY_NEW(out->density, 6 * out->count);
    return pbd_ok();
}

/* Lists the faces of one kind of cell; if there are none, and loads.forces contains that kind, the edges. */
static pbd_status list_cells(const pbd_scene *scene, const bool *marked, size_t corners, pbd_scene *out) {
    surface outside PBD_CLEANUP(surface_free) = {0};
    pbd_loaded *faces = corners == 4 ? &out->surface_load.quads : &out->surface_load.triangles;
    PBD_TRY(surface_of(scene, &outside));
    PBD_TRY(list_faces(&outside, marked, corners, faces));
    const bool own = (int)corners == surface_load_faces(out);
    return own && faces->count == 0 ? list_edges(&outside, marked, corners, &out->surface_load.edges) : pbd_ok();
}

pbd_status loaded_list(pbd_scene *scene, const bool *marked) {
    pbd_scene tets = *scene;
    PBD_TRY(list_cells(scene, marked, (size_t)surface_load_faces(scene), scene));
    tets.hexes.count = 0;
    if (scene->hexes.count == 0 || scene->tets.count == 0 || scene->surface_load.quads.count == 0) return pbd_ok();
    return list_cells(&tets, marked, 3, scene);
}

void loaded_uniform(pbd_scene *scene, const double density[3]) {
    pbd_surface_load *of = &scene->surface_load;
    for (size_t i = 0; i < 6 * of->edges.count; i++) of->edges.density[i] = density[i % 3];
    for (size_t i = 0; i < 9 * of->triangles.count; i++) of->triangles.density[i] = density[i % 3];
    for (size_t i = 0; i < 12 * of->quads.count; i++) of->quads.density[i] = density[i % 3];
}

void loaded_apply(pbd_scene *scene) {
    surface_load_add(scene, 2, scene->loads.forces);
    surface_load_add(scene, surface_load_faces(scene), scene->loads.forces);
}
