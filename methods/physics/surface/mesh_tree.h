/* A linear BVH over triangles, built and updated on the device (T. Karras, Maximizing parallelism in the construction
 * of BVHs, octrees, and k-d trees, HPG 2012).
 *
 * Triangles are sorted by Morton codes of their box centres, ten bits per axis. From common prefixes, all inner nodes
 * find in parallel the leaves that they cover. Boxes are computed from the leaves up, one launch per level, so that no
 * atomics are needed and every backend builds the same tree for any number of threads.
 *
 * When vertices move, mesh_tree_refit recomputes the boxes of the existing tree. The tree stays correct for any motion,
 * but queries become slower as vertices leave their sorted order; mesh_tree_build restores it. A rigid mesh needs
 * neither: query in its frame.
 *
 * Kernels query a mesh_view (mesh_search.h). */
#ifndef PBD_MESH_TREE_H
#define PBD_MESH_TREE_H

#include "harness/exec/exec.h"
#include "methods/physics/surface/mesh_tree_kernels.h"

PBD_PRECISE(mesh_tree_create, mesh_tree_free, mesh_tree_build, mesh_tree_refit, mesh_tree_view, mesh_tree_nearest)

typedef struct mesh_tree {
    pbd_exec *exec;
    uint32_t triangles;
    int levels;
    uint32_t level[MESH_LEVELS + 1]; /* offsets of the levels in `order` */
    uint64_t builds, refits;
    /* Device. */
    uint32_t *code, *leaf, *child, *parent, *order, *depth;
    real *box, *block;
} mesh_tree;

/* Allocates a tree for this number of triangles. *t may be freed also after an error. */
pbd_status mesh_tree_create(mesh_tree *t, pbd_exec *exec, size_t triangles);
void mesh_tree_free(mesh_tree *t); /* safe on a zeroed one */
/* Builds the tree of a mesh on the device. Waits for the device. */
pbd_status mesh_tree_build(mesh_tree *t, const mesh_rows *mesh);
/* Recomputes the boxes of the tree for moved vertices. Does not wait. */
pbd_status mesh_tree_refit(mesh_tree *t, const mesh_rows *mesh);
/* For kernels. The boxes must contain the current vertices. */
mesh_view mesh_tree_view(const mesh_tree *t, const mesh_rows *mesh);
/* Finds the nearest point to each of n positions (rows of four) within `reach`, m; `out` is on the device. own: the
 * positions are the mesh's vertices, and the query of a vertex skips its triangles. */
pbd_status mesh_tree_nearest(const mesh_tree *t, const mesh_rows *mesh, const real *x, size_t n, double reach, bool own,
                             mesh_point *out);

#endif
