#include "methods/physics/surface/mesh_tree.h"

#include <math.h>

#include "harness/exec/arena.h"
#include "methods/physics/device/device_state.h"

enum { CODE_BITS = 30, DEPTH_BITS = 6 };

static size_t blocks_of(const mesh_tree *t) { return (t->triangles + MESH_BLOCK - 1) / MESH_BLOCK; }

static size_t arrays_of(const mesh_tree *t, device_array *row) {
    const size_t n = (size_t)t->triangles + 1;
    const device_array rows[] = {DEVICE_ARRAY(t->code, n),      DEVICE_ARRAY(t->leaf, n),
                                 DEVICE_ARRAY(t->child, 2 * n), DEVICE_ARRAY(t->parent, 2 * n),
                                 DEVICE_ARRAY(t->order, n),     DEVICE_ARRAY(t->depth, n),
                                 DEVICE_ARRAY(t->box, 12 * n),  DEVICE_ARRAY(t->block, 6 * blocks_of(t) + 1)};
    return DEVICE_ROWS(row, rows);
}

void mesh_tree_free(mesh_tree *t) {
    device_array row[DEVICE_MOST_ARRAYS];
    device_arrays_free(t->exec, row, arrays_of(t, row));
    *t = (mesh_tree){0};
}

pbd_status mesh_tree_create(mesh_tree *t, pbd_exec *exec, size_t triangles) {
    device_array row[DEVICE_MOST_ARRAYS];
    *t = (mesh_tree){.exec = exec, .triangles = (uint32_t)triangles};
    if (triangles > INT32_MAX / 2)
        return pbd_error(PBD_FAILED, "%zu triangles in one tree: %d at most", triangles, INT32_MAX / 2);
    return device_arrays_allocate(exec, row, arrays_of(t, row));
}

/* Sets `low` and `scale` from the bounding box of all triangles' box centres: its low corner, and 1024 over its
 * widths. */
static pbd_status scale_codes(mesh_tree *t, mesh_codes_args *codes) {
    const mesh_bounds_args args = {codes->mesh, t->triangles, t->block};
    const size_t blocks = blocks_of(t);
    PBD_TRY(PBD_RUN(t->exec, mesh_bounds, blocks, &args));
    double low[3], high[3];
    PBD_TRY(device_blocks_bounds(t->exec, t->block, blocks, low, high));
    for (size_t d = 0; d < 3; d++) {
        codes->low[d] = (real)low[d];
        codes->scale[d] = high[d] > low[d] ? (real)(1024 / (high[d] - low[d])) : 0;
    }
    return pbd_ok();
}

/* Sorts inner nodes by level and finds where each level begins. */
static pbd_status sort_levels(mesh_tree *t) {
    const size_t inner = t->triangles - 1;
    const mesh_depth_args args = {t->parent, t->depth, t->order};
    t->levels = 0;
    t->level[0] = 0;
    if (inner == 0) return pbd_ok();
    PBD_TRY(PBD_RUN(t->exec, mesh_depth, inner, &args));
    PBD_TRY(pbd_sort_pairs(t->exec, t->depth, t->order, inner, DEPTH_BITS));
    pbd_arena a PBD_ARENA;
    uint32_t *depth = pbd_new(&a, uint32_t, inner);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(pbd_download(t->exec, depth, t->depth, inner * sizeof *depth));
    for (size_t i = 0; i < inner; i++)
        if (i == 0 || depth[i] != depth[i - 1]) t->level[t->levels++] = (uint32_t)i;
    t->level[t->levels] = (uint32_t)inner;
    return pbd_ok();
}

static pbd_status fit(mesh_tree *t, const mesh_rows *mesh) {
    mesh_fit_args args = {*mesh, t->triangles, t->leaf, t->child, NULL, t->box};
    PBD_TRY(PBD_RUN(t->exec, mesh_fit_leaf, t->triangles, &args));
    for (int l = t->levels - 1; l >= 0; l--) {
        args.order = t->order + t->level[l];
        PBD_TRY(PBD_RUN(t->exec, mesh_fit_inner, t->level[l + 1] - t->level[l], &args));
    }
    return pbd_ok();
}

pbd_status mesh_tree_build(mesh_tree *t, const mesh_rows *mesh) {
    mesh_codes_args codes = {.mesh = *mesh, .code = t->code, .leaf = t->leaf};
    const mesh_join_args join = {t->code, t->triangles, t->child, t->parent};
    t->builds++;
    if (t->triangles == 0) return pbd_ok();
    PBD_TRY(scale_codes(t, &codes));
    PBD_TRY(PBD_RUN(t->exec, mesh_codes, t->triangles, &codes));
    PBD_TRY(pbd_sort_pairs(t->exec, t->code, t->leaf, t->triangles, CODE_BITS));
    if (t->triangles > 1) PBD_TRY(PBD_RUN(t->exec, mesh_join, t->triangles - 1, &join));
    PBD_TRY(sort_levels(t));
    return fit(t, mesh);
}

pbd_status mesh_tree_refit(mesh_tree *t, const mesh_rows *mesh) {
    t->refits++;
    return t->triangles == 0 ? pbd_ok() : fit(t, mesh);
}

mesh_view mesh_tree_view(const mesh_tree *t, const mesh_rows *mesh) {
    return (mesh_view){t->triangles, mesh->corner, mesh->vertex, t->box, t->child, t->leaf, t->parent};
}

pbd_status mesh_tree_nearest(const mesh_tree *t, const mesh_rows *mesh, const real *x, size_t n, double reach, bool own,
                             mesh_point *out) {
    const mesh_closest_args args = {mesh_tree_view(t, mesh), x, (real)fmin(reach, (double)MESH_FAR), own, out};
    return PBD_RUN(t->exec, mesh_find_closest, n, &args);
}
