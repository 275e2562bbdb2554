/* Kernels that build a linear BVH over triangles, refit its boxes, and query it at many points. Overview:
 * mesh_tree.h. */
#ifndef PBD_MESH_TREE_KERNELS_H
#define PBD_MESH_TREE_KERNELS_H

#include "harness/exec/kernel.h"
#include "methods/physics/surface/mesh_search.h"

enum { MESH_BLOCK = 16 }; /* triangles per item of a reduction */

/* ---- The mesh ---------------------------------------------------------------------------------------------------- */

typedef struct mesh_rows {
    const real *vertex;     /* rows of four */
    const real *later;      /* the same vertices at a later time: boxes contain both. NULL: only `vertex` */
    const uint32_t *corner; /* triangles x 3 */
    real margin;            /* m, around boxes */
} mesh_rows;

/* Ignores NaN. */
PBD_FN void mesh_grow(real box[6], vec3 x) {
    const real at[3] = {x.x, x.y, x.z};
    for (int d = 0; d < 3; d++) {
        box[d] = at[d] < box[d] ? at[d] : box[d];
        box[3 + d] = at[d] > box[3 + d] ? at[d] : box[3 + d];
    }
}

PBD_FN void mesh_empty_box(real box[6]) {
    for (int d = 0; d < 3; d++) {
        box[d] = MESH_FAR;
        box[3 + d] = -MESH_FAR;
    }
}

PBD_FN void mesh_box_of(const mesh_rows *m, uint32_t triangle, real box[6]) {
    mesh_empty_box(box);
    for (size_t k = 0; k < 3; k++) {
        const uint32_t vertex = m->corner[3 * (size_t)triangle + k];
        mesh_grow(box, load3(m->vertex, vertex));
        if (m->later) mesh_grow(box, load3(m->later, vertex));
    }
    for (int d = 0; d < 3; d++) {
        box[d] -= m->margin;
        box[3 + d] += m->margin;
    }
}

/* ---- Morton codes ------------------------------------------------------------------------------------------------ */

typedef struct mesh_bounds_args {
    mesh_rows mesh;
    size_t triangles;
    real *out; /* by block: low and high corner of the bounds of box centres */
} mesh_bounds_args;

PBD_FN vec3 mesh_middle(const mesh_rows *m, uint32_t triangle) {
    real box[6];
    mesh_box_of(m, triangle, box);
    return vec3_make((real)0.5 * (box[0] + box[3]), (real)0.5 * (box[1] + box[4]), (real)0.5 * (box[2] + box[5]));
}

PBD_ITEM(mesh_bounds, mesh_bounds_args, block, MESH_BLOCK * 9 * sizeof(real), MESH_BLOCK * 30) {
    const size_t end = (block + 1) * MESH_BLOCK < a->triangles ? (block + 1) * MESH_BLOCK : a->triangles;
    real box[6];
    mesh_empty_box(box);
    for (size_t t = block * MESH_BLOCK; t < end; t++) mesh_grow(box, mesh_middle(&a->mesh, (uint32_t)t));
    for (size_t d = 0; d < 6; d++) a->out[6 * block + d] = box[d];
}

typedef struct mesh_codes_args {
    mesh_rows mesh;
    real low[3], scale[3]; /* m; 1/m: 1024 parts along each axis */
    uint32_t *code, *leaf;
} mesh_codes_args;

/* Spreads ten bits to every third bit. */
PBD_FN uint32_t mesh_spread_bits(real x) {
    uint32_t b = x > 0 ? (x < 1023 ? (uint32_t)x : 1023u) : 0; /* NaN: 0 */
    b = (b | b << 16) & 0x030000ffu;
    b = (b | b << 8) & 0x0300f00fu;
    b = (b | b << 4) & 0x030c30c3u;
    return (b | b << 2) & 0x09249249u;
}

PBD_ITEM(mesh_codes, mesh_codes_args, t, 9 * sizeof(real) + 20, 40) {
    const vec3 x = mesh_middle(&a->mesh, (uint32_t)t);
    a->code[t] = mesh_spread_bits((x.x - a->low[0]) * a->scale[0]) |
                 mesh_spread_bits((x.y - a->low[1]) * a->scale[1]) << 1 |
                 mesh_spread_bits((x.z - a->low[2]) * a->scale[2]) << 2;
    a->leaf[t] = (uint32_t)t;
}

/* ---- The tree, from common prefixes of sorted codes -------------------------------------------------------------- */

typedef struct mesh_join_args {
    const uint32_t *code; /* sorted */
    uint32_t triangles;
    uint32_t *child, *parent; /* inner nodes x 2; by node */
} mesh_join_args;

PBD_FN int mesh_leading_zeros(uint32_t x) { /* x > 0 */
    int zeros = 0;
    for (int step = 16; step > 0; step /= 2)
        if (x >> (32 - step) == 0) {
            zeros += step;
            x <<= step;
        }
    return zeros;
}

/* Number of common leading bits of the codes at i and j, extended by the indices so that no two are equal; -1 outside
 * the array. */
PBD_FN int mesh_prefix(const mesh_join_args *a, int64_t i, int64_t j) {
    if (j < 0 || j >= (int64_t)a->triangles) return -1;
    const uint32_t differ = a->code[i] ^ a->code[j];
    return differ ? mesh_leading_zeros(differ) : 32 + mesh_leading_zeros((uint32_t)i ^ (uint32_t)j);
}

/* Karras 2012, section 4: leaf i is one end of the range of leaves of inner node i. Finds the direction of the range,
 * its length, and its split. */
PBD_ITEM(mesh_join, mesh_join_args, node, 16, 0) {
    const int64_t i = (int64_t)node, step = mesh_prefix(a, i, i + 1) > mesh_prefix(a, i, i - 1) ? 1 : -1;
    const int least = mesh_prefix(a, i, i - step);
    int64_t most = 2, length = 0, split = 0;
    while (mesh_prefix(a, i, i + most * step) > least) most *= 2;
    for (int64_t t = most / 2; t > 0; t /= 2)
        if (mesh_prefix(a, i, i + (length + t) * step) > least) length += t;
    const int64_t j = i + length * step;
    const int whole = mesh_prefix(a, i, j);
    for (int64_t part = length; part > 1;) {
        part = (part + 1) / 2;
        if (mesh_prefix(a, i, i + (split + part) * step) > whole) split += part;
    }
    const int64_t first = i < j ? i : j, last = i < j ? j : i, at = i + split * step + (step < 0 ? -1 : 0);
    const uint32_t leaves = a->triangles - 1;
    const uint32_t left = first == at ? leaves + (uint32_t)at : (uint32_t)at;
    const uint32_t right = last == at + 1 ? leaves + (uint32_t)at + 1 : (uint32_t)at + 1;
    a->child[2 * node] = left;
    a->child[2 * node + 1] = right;
    a->parent[left] = (uint32_t)node;
    a->parent[right] = (uint32_t)node;
}

typedef struct mesh_depth_args {
    const uint32_t *parent;
    uint32_t *depth, *order;
} mesh_depth_args;

PBD_ITEM(mesh_depth, mesh_depth_args, node, 12, 0) {
    uint32_t depth = 0;
    for (uint32_t at = (uint32_t)node; at != 0; at = a->parent[at]) depth++;
    a->depth[node] = depth;
    a->order[node] = (uint32_t)node;
}

/* ---- Boxes ------------------------------------------------------------------------------------------------------- */

typedef struct mesh_fit_args {
    mesh_rows mesh;
    uint32_t triangles;
    const uint32_t *leaf, *child, *order; /* order: inner nodes of one level */
    real *box;
} mesh_fit_args;

PBD_ITEM(mesh_fit_leaf, mesh_fit_args, leaf, 15 * sizeof(real) + 16, 18) {
    real box[6];
    mesh_box_of(&a->mesh, a->leaf[leaf], box);
    for (size_t d = 0; d < 6; d++) a->box[6 * (a->triangles - 1 + leaf) + d] = box[d];
}

PBD_ITEM(mesh_fit_inner, mesh_fit_args, i, 18 * sizeof(real) + 12, 6) {
    const size_t node = a->order[i];
    const real *left = a->box + 6 * (size_t)a->child[2 * node], *right = a->box + 6 * (size_t)a->child[2 * node + 1];
    real *box = a->box + 6 * node;
    for (int d = 0; d < 3; d++) {
        box[d] = left[d] < right[d] ? left[d] : right[d];
        box[3 + d] = left[3 + d] > right[3 + d] ? left[3 + d] : right[3 + d];
    }
}

/* ---- Queries ----------------------------------------------------------------------------------------------------- */

typedef struct mesh_closest_args {
    mesh_view mesh;
    const real *x; /* rows of four */
    real reach;    /* m */
    int own;       /* x are the mesh's vertices: the query of a vertex skips its triangles */
    mesh_point *out;
} mesh_closest_args;

PBD_ITEM(mesh_find_closest, mesh_closest_args, i, 4 * sizeof(real) + sizeof(mesh_point), 1000) {
    a->out[i] = mesh_nearest(&a->mesh, load3(a->x, i), a->reach, a->own ? (uint32_t)i : MESH_NONE);
}

#endif
