/* A linear BVH over triangles, built and kept up on the device (T. Karras, Maximizing parallelism in the construction
 * of BVHs, octrees, and k-d trees, HPG 2012).
 *
 * Middles of triangles are given codes along a Z curve, ten bits along each axis, and sorted by them; each inner node
 * finds the leaves that it covers from common prefixes, all at once, and boxes are made from the leaves up. Nodes are
 * put in the order of their levels, so that boxes need no atomics: a launch makes those of one level, and every backend
 * makes the same tree, whatever its threads.
 *
 * Where vertices move, mesh_tree_refit recomputes the boxes of the existing tree, which stays correct however they
 * move and grows slower as they leave their order: mesh_tree_build then. A rigid thing needs neither: ask in its frame.
 *
 * Kernels that ask take a mesh_view (mesh_search.h). */
#ifndef PBD_MESH_TREE_H
#define PBD_MESH_TREE_H

#include "harness/exec/exec.h"
#include "methods/physics/surface/mesh_tree_kernels.h"

PBD_PRECISE(mesh_tree_create, mesh_tree_free, mesh_tree_build, mesh_tree_refit, mesh_tree_view, mesh_tree_nearest)

typedef struct mesh_tree {
    pbd_exec *exec;
    uint32_t triangles;
    int levels;
    uint32_t level[MESH_STACK + 1]; /* where in `order` each begins */
    uint64_t builds, refits;
    /* Device. */
    uint32_t *code, *leaf, *child, *parent, *order, *depth;
    real *box, *block;
} mesh_tree;

/* Room for so many triangles. *t may be freed also after an error. */
pbd_status mesh_tree_create(mesh_tree *t, pbd_exec *exec, size_t triangles);
void mesh_tree_free(mesh_tree *t); /* safe on a zeroed one */
/* For rows that are on the device: vertices (and where they will be), corners, a margin. Waits. */
pbd_status mesh_tree_build(mesh_tree *t, const mesh_rows *mesh);
/* The same tree for other places of the vertices. Does not wait. */
pbd_status mesh_tree_refit(mesh_tree *t, const mesh_rows *mesh);
/* What kernels ask: of the rows `vertex`, which boxes must hold. */
mesh_view mesh_tree_view(const mesh_tree *t, const mesh_rows *mesh);
/* The nearest point to each of n places (rows of four) within `reach`, m: triangle and weights of its corners, on the
 * device. own: places are the vertices themselves, by their rows, and triangles at a vertex do not count for it. */
pbd_status mesh_tree_nearest(const mesh_tree *t, const mesh_rows *mesh, const real *x, size_t n, double reach, bool own,
                             mesh_point *out);

#endif
