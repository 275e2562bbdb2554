/* Queries of a triangle surface in kernels, by a linear BVH (mesh_tree.h): the nearest point, the first triangle that a
 * segment crosses, and the triangles in a box.
 *
 * Ties go to the lowest triangle number. Results do not depend on the search radius: boxes are culled with a margin for
 * rounding. Positions or triangles with NaN have no nearest point. */
#ifndef PBD_MESH_SEARCH_H
#define PBD_MESH_SEARCH_H

#include "harness/exec/vec.h"

/* Largest number of levels of a tree: 30 bits of codes and 32 of indices distinguish nodes. */
enum { MESH_LEVELS = 64 };

#define MESH_NONE 0xffffffffu
#define MESH_FAR ((real)1e15) /* m: an unlimited reach; its square is finite in f32 */

typedef struct mesh_view {
    uint32_t triangles;
    const uint32_t *corner; /* triangles x 3: rows of `vertex` */
    const real *vertex;     /* rows of four: x, y, z, unused */
    const real *box;        /* nodes x 6: low, high. Nodes 0 to triangles - 2 are inner, then come the leaves */
    const uint32_t *child;  /* inner nodes x 2: nodes */
    const uint32_t *leaf;   /* by leaf: its triangle */
    const uint32_t *parent; /* by node, except the root. Queries climb by it: a stack would be in a GPU's slow memory */
} mesh_view;

PBD_FN uint32_t mesh_sibling(const mesh_view *m, uint32_t node) {
    const uint32_t *child = m->child + 2 * (size_t)m->parent[node];
    return child[0] == node ? child[1] : child[0];
}

PBD_FN vec3 mesh_corner(const mesh_view *m, uint32_t triangle, int k) {
    return load3(m->vertex, m->corner[3 * (size_t)triangle + (size_t)k]);
}

/* The normal by the right-hand rule, with twice the area as length. */
PBD_FN vec3 mesh_area(const mesh_view *m, uint32_t triangle) {
    const vec3 a = mesh_corner(m, triangle, 0);
    return vec3_cross(vec3_sub(mesh_corner(m, triangle, 1), a), vec3_sub(mesh_corner(m, triangle, 2), a));
}

/* ---- The nearest point of a triangle ----------------------------------------------------------------------------- */

/* Features of a triangle: its interior; the edge after corner k; corner k. */
enum { MESH_FACE, MESH_EDGE, MESH_CORNER = MESH_EDGE + 3, MESH_FEATURES = MESH_CORNER + 3 };

typedef struct mesh_foot {
    real square;    /* of the distance, m^2 */
    real weight[3]; /* barycentric coordinates */
    int feature;
} mesh_foot;

PBD_FN void mesh_try_edge(vec3 off, vec3 edge, int k, mesh_foot *best) {
    const real length = vec3_dot(edge, edge), along = vec3_dot(off, edge);
    const real t = along > 0 && length > 0 ? (along < length ? along / length : (real)1) : 0;
    const vec3 to = vec3_sub(off, vec3_scale(t, edge));
    const real square = vec3_dot(to, to);
    if (!(square < best->square)) return;
    const int next = k == 2 ? 0 : k + 1;
    best->square = square;
    best->weight[0] = best->weight[1] = best->weight[2] = 0;
    best->weight[k] = 1 - t;
    best->weight[next] = t;
    best->feature = !(t > 0) ? MESH_CORNER + k : t < 1 ? MESH_EDGE + k : MESH_CORNER + next;
}

PBD_FN real real_from_one(real x) { return x < 1 ? 1 - x : 0; }

/* The interior if x projects into it, otherwise the nearest edge. For thin triangles, whose interior is
 * ill-conditioned, the nearest of all: this also handles slivers and points. */
PBD_FN mesh_foot mesh_foot_on(vec3 a, vec3 b, vec3 c, vec3 x) {
    const vec3 ab = vec3_sub(b, a), ac = vec3_sub(c, a), ax = vec3_sub(x, a), n = vec3_cross(ab, ac);
    const real nn = vec3_dot(n, n), wide = (real)1e-4 * vec3_dot(ab, ab) * vec3_dot(ac, ac);
    const real wb = vec3_dot(vec3_cross(ax, ac), n), wc = vec3_dot(vec3_cross(ab, ax), n), wa = nn - wb - wc;
    mesh_foot best;
    best.square = (real)2 * MESH_FAR * MESH_FAR;
    best.weight[0] = best.weight[1] = best.weight[2] = 0;
    best.feature = MESH_FACE;
    if (nn > 0 && wa > 0 && wb > 0 && wc > 0) {
        const real height = vec3_dot(ax, n);
        best.weight[1] = wb / nn;
        best.weight[2] = wc / nn;
        best.weight[0] = real_from_one(best.weight[1] + best.weight[2]);
        const vec3 off = vec3_sub(vec3_sub(ax, vec3_scale(best.weight[1], ab)), vec3_scale(best.weight[2], ac));
        best.square = nn > wide ? height * (height / nn) : vec3_dot(off, off);
        if (nn > wide) return best;
    }
    mesh_try_edge(ax, ab, 0, &best);
    mesh_try_edge(vec3_sub(x, b), vec3_sub(c, b), 1, &best);
    mesh_try_edge(vec3_sub(x, c), vec3_sub(a, c), 2, &best);
    return best;
}

/* ---- The nearest point of the surface ---------------------------------------------------------------------------- */

typedef struct mesh_point {
    real weight[3];    /* barycentric coordinates, each at least 0, with sum 1 */
    real square;       /* of the distance, m^2 */
    uint32_t triangle; /* MESH_NONE: none within reach */
    int feature;
} mesh_point;

/* Squared distance to the box of a node. */
PBD_FN real mesh_to_box(const mesh_view *m, uint32_t node, vec3 x) {
    const real *box = m->box + 6 * (size_t)node, at[3] = {x.x, x.y, x.z};
    real sum = 0;
    for (int d = 0; d < 3; d++) {
        const real below = box[d] - at[d], above = at[d] - box[3 + d];
        const real out = below > above ? below : above;
        sum += out > 0 ? out * out : 0;
    }
    return sum;
}

/* Replaces *best if this triangle is nearer. Returns the squared distance of this triangle. */
PBD_FN real mesh_try_triangle(const mesh_view *m, uint32_t triangle, vec3 x, uint32_t without, mesh_point *best) {
    const uint32_t *corner = m->corner + 3 * (size_t)triangle;
    if (corner[0] == without || corner[1] == without || corner[2] == without) return MESH_FAR * MESH_FAR;
    const mesh_foot foot =
        mesh_foot_on(load3(m->vertex, corner[0]), load3(m->vertex, corner[1]), load3(m->vertex, corner[2]), x);
    if (!(foot.square <= best->square)) return foot.square;
    if (foot.square == best->square && triangle > best->triangle) return foot.square;
    best->square = foot.square;
    best->triangle = triangle;
    best->feature = foot.feature;
    for (int k = 0; k < 3; k++) best->weight[k] = foot.weight[k];
    return foot.square;
}

/* The nearest point within `reach`, m. without: skips triangles with this vertex, for queries at a mesh's own vertices;
 * MESH_NONE: skips none. *lead, m: by how much every other triangle is farther away than the nearest, computed up to
 * `most`. */
PBD_FN_NOINLINE mesh_point mesh_nearest_by(const mesh_view *m, vec3 x, real reach, uint32_t without, real most,
                                           real *lead) {
    const real slack = (real)(1 + 32 * REAL_EPSILON), tiny = (real)(8 * REAL_EPSILON) * (real)(8 * REAL_EPSILON);
    const real least = tiny * vec3_dot(x, x); /* squared rounding error of a distance 0 */
    uint64_t later = 0; /* a bit per level above the node, the deepest lowest: the farther child is still to visit */
    uint32_t node = 0;
    mesh_point best;
    const real end = reach < MESH_FAR ? reach : MESH_FAR;
    real bound = (end + most) * (end + most), second = bound; /* squared: culling bound; second nearest so far */
    best.weight[0] = best.weight[1] = best.weight[2] = 0;
    best.square = end * end;
    best.triangle = MESH_NONE;
    best.feature = MESH_FACE;
    *lead = 0;
    const real sum = x.x + x.y + x.z;
    if (m->triangles == 0 || !(sum - sum == 0)) return best; /* NaN and infinity */
    for (real square = mesh_to_box(m, 0, x);;) {
        const int far = square > bound * slack + least;
        if (!far && node < m->triangles - 1) { /* the nearer child first */
            const uint32_t *child = m->child + 2 * (size_t)node;
            const real to[2] = {mesh_to_box(m, child[0], x), mesh_to_box(m, child[1], x)};
            const int first = to[1] < to[0];
            later = later << 1 | (uint64_t)((first ? to[0] : to[1]) <= bound * slack + least);
            node = child[first];
            square = first ? to[1] : to[0];
            continue;
        }
        if (!far) {
            const uint32_t was = best.triangle;
            const real before = best.square;
            const real now = mesh_try_triangle(m, m->leaf[node - (m->triangles - 1)], x, without, &best);
            if (best.triangle == was) {
                second = now < second ? now : second;
            } else {
                if (was != MESH_NONE && before < second) second = before;
                const real wide = most > 0 ? real_sqrt(best.square) + most : 0;
                bound = most > 0 ? wide * wide : best.square;
            }
        }
        if (later == 0) break;
        for (; !(later & 1); later >>= 1) node = m->parent[node];
        later ^= 1;
        node = mesh_sibling(m, node);
        square = mesh_to_box(m, node, x);
    }
    if (best.triangle != MESH_NONE && most > 0)
        *lead = real_sqrt(second < bound ? second : bound) - real_sqrt(best.square);
    return best;
}

PBD_FN mesh_point mesh_nearest(const mesh_view *m, vec3 x, real reach, uint32_t without) {
    real lead;
    return mesh_nearest_by(m, x, reach, without, 0, &lead);
}

PBD_FN vec3 mesh_place(const mesh_view *m, const mesh_point *p) {
    const vec3 a = vec3_scale(p->weight[0], mesh_corner(m, p->triangle, 0));
    const vec3 b = vec3_scale(p->weight[1], mesh_corner(m, p->triangle, 1));
    return vec3_add(vec3_add(a, b), vec3_scale(p->weight[2], mesh_corner(m, p->triangle, 2)));
}

/* ---- Triangles in a box ------------------------------------------------------------------------------------------ */

typedef struct mesh_walk {
    uint32_t node; /* to be tested next; MESH_NONE: none */
} mesh_walk;

PBD_FN void mesh_walk_begin(const mesh_view *m, mesh_walk *walk) { walk->node = m->triangles > 0 ? 0 : MESH_NONE; }

/* The node that follows `node` and all nodes below it in depth-first order, left children first. */
PBD_FN uint32_t mesh_after(const mesh_view *m, uint32_t node) {
    while (node != 0) {
        const uint32_t parent = m->parent[node], *child = m->child + 2 * (size_t)parent;
        if (child[0] == node) return child[1];
        node = parent;
    }
    return MESH_NONE;
}

PBD_FN int mesh_box_meets(const real *box, vec3 low, vec3 high) {
    return !(box[0] > high.x || box[3] < low.x || box[1] > high.y || box[4] < low.y || box[2] > high.z ||
             box[5] < low.z);
}

/* The next triangle, in the order of the tree, whose box overlaps that from low to high; MESH_NONE: no more. */
PBD_FN uint32_t mesh_walk_next(const mesh_view *m, mesh_walk *walk, vec3 low, vec3 high) {
    while (walk->node != MESH_NONE) {
        const uint32_t node = walk->node;
        const int meets = mesh_box_meets(m->box + 6 * (size_t)node, low, high), leaf = node >= m->triangles - 1;
        walk->node = meets && !leaf ? m->child[2 * (size_t)node] : mesh_after(m, node);
        if (meets && leaf) return m->leaf[node - (m->triangles - 1)];
    }
    return MESH_NONE;
}

/* ---- Crossings of a segment -------------------------------------------------------------------------------------- */

typedef struct mesh_hit {
    uint32_t triangle; /* MESH_NONE: nothing is crossed */
    real time;         /* 0 at the start of the segment, 1 at its end */
    vec3 normal;       /* unit normal of the triangle, on the side of the start */
} mesh_hit;

enum { MESH_FROM_FRONT = 1, MESH_FROM_BACK = 2 }; /* front: the side from which corners are counter-clockwise */

/* Six times the volume of the tetrahedron spanned by a segment and an edge; 0 if within rounding, so that a segment
 * through an edge crosses both its triangles rather than none. */
PBD_FN real mesh_turn(vec3 along, vec3 a, vec3 b) {
    const vec3 across = vec3_cross(a, b);
    const real turn = vec3_dot(along, across), rounding = (real)(16 * REAL_EPSILON);
    const real scale = vec3_dot(along, along) * vec3_dot(a, a) * vec3_dot(b, b);
    return turn * turn <= rounding * rounding * scale ? 0 : turn;
}

/* slack, m: a start this far beyond the surface, by rounding, still counts as in front of it. */
PBD_FN void mesh_try_crossing(const mesh_view *m, uint32_t triangle, vec3 from, vec3 to, int sides, real slack,
                              mesh_hit *best) {
    const vec3 a = vec3_sub(mesh_corner(m, triangle, 0), from), b = vec3_sub(mesh_corner(m, triangle, 1), from);
    const vec3 c = vec3_sub(mesh_corner(m, triangle, 2), from), along = vec3_sub(to, from);
    const vec3 area = vec3_cross(vec3_sub(b, a), vec3_sub(c, a));
    const real size = real_sqrt(vec3_dot(area, area));
    if (!(size > 0)) return;
    const vec3 n = vec3_scale(1 / size, area);
    const real before = -vec3_dot(a, n), after = before + vec3_dot(along, n);
    const int front = (sides & MESH_FROM_FRONT) && before >= -slack && after < 0 && after < before;
    const int back = (sides & MESH_FROM_BACK) && before <= slack && after > 0 && after > before;
    if (!front && !back) return;
    const real ab = mesh_turn(along, a, b), bc = mesh_turn(along, b, c), ca = mesh_turn(along, c, a);
    if (!((ab >= 0 && bc >= 0 && ca >= 0) || (ab <= 0 && bc <= 0 && ca <= 0))) return;
    const real time = before / (before - after), at = time > 0 ? time : 0;
    if (!(at < best->time || (at == best->time && triangle < best->triangle))) return;
    best->time = at;
    best->triangle = triangle;
    best->normal = vec3_scale(front ? (real)1 : (real)-1, n);
}

/* The first triangle that the segment crosses from one of the given sides. */
PBD_FN_NOINLINE mesh_hit mesh_crossing(const mesh_view *m, vec3 from, vec3 to, int sides, real slack) {
    const vec3 low = vec3_make((from.x < to.x ? from.x : to.x) - slack, (from.y < to.y ? from.y : to.y) - slack,
                               (from.z < to.z ? from.z : to.z) - slack);
    const vec3 high = vec3_make((from.x > to.x ? from.x : to.x) + slack, (from.y > to.y ? from.y : to.y) + slack,
                                (from.z > to.z ? from.z : to.z) + slack);
    mesh_walk walk;
    mesh_hit best;
    best.triangle = MESH_NONE;
    best.time = 2;
    best.normal = vec3_make(0, 0, 1);
    mesh_walk_begin(m, &walk);
    for (uint32_t t = mesh_walk_next(m, &walk, low, high); t != MESH_NONE; t = mesh_walk_next(m, &walk, low, high))
        mesh_try_crossing(m, t, from, to, sides, slack, &best);
    return best;
}

#endif
