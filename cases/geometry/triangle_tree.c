#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"

#include "cases/geometry/triangle_mesh.h"

enum { LEAF = 8, DEEPEST = 64 };

typedef struct tree_node {
    double low[3], high[3]; /* m */
    double centre[3];       /* m: area-weighted mean of the triangles' centroids */
    double normal[3];       /* m^2: sum of area times normal */
    double reach;           /* m: largest distance of their points from the centre */
    uint32_t first, count;  /* places in `order`; count 0: children are at first and first + 1 */
} tree_node;

struct triangle_tree {
    const uint32_t *triangle; /* borrowed */
    const double *position;
    tree_node *node;
    uint32_t *order; /* triangles, those of a leaf contiguous */
    size_t nodes, triangles;
};

/* ---- Vectors ----------------------------------------------------------------------------------------------------- */

static void difference(const double a[3], const double b[3], double out[3]) {
    for (int d = 0; d < 3; d++) out[d] = a[d] - b[d];
}
static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
static double length(const double a[3]) { return sqrt(dot(a, a)); }
static void cross(const double a[3], const double b[3], double out[3]) {
    for (int d = 0; d < 3; d++) out[d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
}

static const double *corner(const triangle_tree *t, size_t triangle, size_t k) {
    return t->position + 3 * (size_t)t->triangle[3 * triangle + k];
}

/* ---- Building ---------------------------------------------------------------------------------------------------- */

static void measure_node(const triangle_tree *t, tree_node *n, uint32_t first, uint32_t count) {
    double total = 0;
    *n = (tree_node){.low = {INFINITY, INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY, -INFINITY}};
    for (uint32_t i = first; i < first + count; i++) {
        const double *a = corner(t, t->order[i], 0), *b = corner(t, t->order[i], 1), *c = corner(t, t->order[i], 2);
        double ab[3], ac[3], area[3];
        difference(b, a, ab);
        difference(c, a, ac);
        cross(ab, ac, area);
        const double size = 0.5 * length(area) + 1e-300;
        total += size;
        for (int d = 0; d < 3; d++) {
            n->low[d] = fmin(n->low[d], fmin(a[d], fmin(b[d], c[d])));
            n->high[d] = fmax(n->high[d], fmax(a[d], fmax(b[d], c[d])));
            n->normal[d] += 0.5 * area[d];
            n->centre[d] += size * (a[d] + b[d] + c[d]) / 3;
        }
    }
    for (int d = 0; d < 3; d++) n->centre[d] /= total;
    for (uint32_t i = first; i < first + count; i++)
        for (size_t k = 0; k < 3; k++) {
            double off[3];
            difference(corner(t, t->order[i], k), n->centre, off);
            n->reach = fmax(n->reach, length(off));
        }
}

static double middle(const triangle_tree *t, uint32_t triangle, int d) {
    return corner(t, triangle, 0)[d] + corner(t, triangle, 1)[d] + corner(t, triangle, 2)[d];
}

/* Puts the triangles whose middle is below `at` first; returns how many there are. */
static uint32_t part(const triangle_tree *t, uint32_t first, uint32_t count, int d, double at) {
    uint32_t below = first;
    for (uint32_t i = first; i < first + count; i++)
        if (middle(t, t->order[i], d) < at) {
            const uint32_t swap = t->order[i];
            t->order[i] = t->order[below];
            t->order[below++] = swap;
        }
    return below - first;
}

/* Splits a node at the middle of its centroids' box, along the longest edge, or in half if that separates nothing. */
static void split(triangle_tree *t, uint32_t at, uint32_t first, uint32_t count, int depth) {
    measure_node(t, &t->node[at], first, count);
    t->node[at].first = first;
    t->node[at].count = count;
    if (count <= LEAF) return;
    double low[3], high[3];
    int axis = 0;
    for (int d = 0; d < 3; d++) {
        low[d] = INFINITY, high[d] = -INFINITY;
        for (uint32_t i = first; i < first + count; i++) {
            low[d] = fmin(low[d], middle(t, t->order[i], d));
            high[d] = fmax(high[d], middle(t, t->order[i], d));
        }
        if (high[d] - low[d] > high[axis] - low[axis]) axis = d;
    }
    uint32_t below = depth < DEEPEST - 34 ? part(t, first, count, axis, 0.5 * (low[axis] + high[axis])) : 0;
    if (below == 0 || below == count) below = count / 2;
    const uint32_t children = (uint32_t)t->nodes;
    t->nodes += 2;
    t->node[at].first = children;
    t->node[at].count = 0;
    split(t, children, first, below, depth + 1);
    split(t, children + 1, first + below, count - below, depth + 1);
}

pbd_status triangle_tree_make(size_t triangles, const uint32_t *triangle, const double *position, triangle_tree **out) {
    triangle_tree *t = calloc(1, sizeof *t);
    *out = t;
    if (t) {
        *t = (triangle_tree){.triangle = triangle, .position = position, .nodes = 1, .triangles = triangles};
        t->node = malloc((2 * triangles + 1) * sizeof *t->node);
        t->order = malloc((triangles + 1) * sizeof *t->order);
    }
    if (!t || !t->node || !t->order) {
        triangle_tree_free(t);
        *out = NULL;
        return pbd_no_memory();
    }
    for (size_t i = 0; i < triangles; i++) t->order[i] = (uint32_t)i;
    split(t, 0, 0, (uint32_t)triangles, 0);
    return pbd_ok();
}

void triangle_tree_free(triangle_tree *t) {
    if (!t) return;
    free(t->node);
    free(t->order);
    free(t);
}

/* ---- The winding number ------------------------------------------------------------------------------------------ */

/* The solid angle of a triangle over 4 pi (A. van Oosterom, J. Strackee, IEEE Trans. Biomed. Eng. 30, 1983). */
static double winding_of(const triangle_tree *t, size_t triangle, const double x[3]) {
    double a[3], b[3], c[3], bc[3];
    difference(corner(t, triangle, 0), x, a);
    difference(corner(t, triangle, 1), x, b);
    difference(corner(t, triangle, 2), x, c);
    const double la = length(a), lb = length(b), lc = length(c);
    cross(b, c, bc);
    const double over = dot(a, bc), under = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb;
    return over == 0 && under == 0 ? 0 : atan2(over, under) / 6.283185307179586;
}

/* A node is approximated by a dipole beyond this many times its reach. */
static const double FAR_AWAY = 3;

double triangle_tree_winding(const triangle_tree *t, const double x[3]) {
    uint32_t stack[DEEPEST * 2];
    int waiting = 1;
    double sum = 0;
    stack[0] = 0;
    while (waiting > 0) {
        const tree_node *n = &t->node[stack[--waiting]];
        double to[3];
        difference(n->centre, x, to);
        const double d = length(to);
        if (d > FAR_AWAY * n->reach) {
            sum += dot(to, n->normal) / (12.566370614359172 * d * d * d);
        } else if (n->count > 0) {
            for (uint32_t i = n->first; i < n->first + n->count; i++) sum += winding_of(t, t->order[i], x);
        } else {
            stack[waiting++] = n->first;
            stack[waiting++] = n->first + 1;
        }
    }
    return sum;
}

/* ---- The distance ------------------------------------------------------------------------------------------------ */

/* Squared distance to a triangle: C. Ericson, Real-Time Collision Detection, 2005, section 5.1.5. */
static double to_triangle(const triangle_tree *t, size_t triangle, const double x[3]) {
    const double *a = corner(t, triangle, 0), *b = corner(t, triangle, 1), *c = corner(t, triangle, 2);
    double ab[3], ac[3], ap[3], bp[3], cp[3], off[3];
    difference(b, a, ab);
    difference(c, a, ac);
    difference(x, a, ap);
    difference(x, b, bp);
    difference(x, c, cp);
    const double d1 = dot(ab, ap), d2 = dot(ac, ap), d3 = dot(ab, bp), d4 = dot(ac, bp), d5 = dot(ab, cp),
                 d6 = dot(ac, cp);
    const double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
    double v = 0, w = 0; /* the nearest point is a + v ab + w ac */
    if (d1 <= 0 && d2 <= 0) {
        v = w = 0;
    } else if (d3 >= 0 && d4 <= d3) {
        v = 1;
    } else if (d6 >= 0 && d5 <= d6) {
        w = 1;
    } else if (vc <= 0 && d1 >= 0 && d3 <= 0) {
        v = d1 / (d1 - d3);
    } else if (vb <= 0 && d2 >= 0 && d6 <= 0) {
        w = d2 / (d2 - d6);
    } else if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
        w = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        v = 1 - w;
    } else {
        v = vb / (va + vb + vc);
        w = vc / (va + vb + vc);
    }
    for (int d = 0; d < 3; d++) off[d] = ap[d] - v * ab[d] - w * ac[d];
    const double square = dot(off, off);
    return isfinite(square) ? square : fmin(dot(ap, ap), fmin(dot(bp, bp), dot(cp, cp)));
}

/* Squared distance to a box. */
static double to_box(const tree_node *n, const double x[3]) {
    double sum = 0;
    for (int d = 0; d < 3; d++) {
        const double out = fmax(fmax(n->low[d] - x[d], x[d] - n->high[d]), 0);
        sum += out * out;
    }
    return sum;
}

double triangle_tree_distance(const triangle_tree *t, const double x[3]) {
    uint32_t stack[DEEPEST * 2];
    int waiting = 1;
    double best = INFINITY;
    stack[0] = 0;
    while (waiting > 0) {
        const tree_node *n = &t->node[stack[--waiting]];
        if (to_box(n, x) >= best) continue;
        if (n->count > 0) {
            for (uint32_t i = n->first; i < n->first + n->count; i++) best = fmin(best, to_triangle(t, t->order[i], x));
        } else { /* the nearer child is visited first */
            const bool second = to_box(&t->node[n->first + 1], x) < to_box(&t->node[n->first], x);
            stack[waiting++] = n->first + !second;
            stack[waiting++] = n->first + second;
        }
    }
    return sqrt(best);
}

/* ---- Crossings --------------------------------------------------------------------------------------------------- */

/* Six times the signed volume of the tetrahedron (a, b, c, d); 0 if it is within rounding. */
static double turn(const double a[3], const double b[3], const double c[3], const double d[3]) {
    double p[3], q[3], r[3], n[3];
    difference(a, d, p);
    difference(b, d, q);
    difference(c, d, r);
    cross(q, r, n);
    const double six = dot(p, n), scale = length(p) * length(q) * length(r);
    return fabs(six) <= 1e-13 * scale ? 0 : six;
}

/* Whether the segment from p to q crosses the plane of a triangle, from one side to the other, within the triangle. */
static bool pierces(const double p[3], const double q[3], const double *a, const double *b, const double *c) {
    const double above = turn(a, b, c, p), below = turn(a, b, c, q);
    if (!(above * below < 0)) return false;
    const double ab = turn(p, q, a, b), bc = turn(p, q, b, c), ca = turn(p, q, c, a);
    return (ab >= 0 && bc >= 0 && ca >= 0) || (ab <= 0 && bc <= 0 && ca <= 0);
}

/* Whether two coplanar triangles overlap: no edge of either separates them. */
static bool overlap_in_plane(const double *a[3], const double *b[3], const double normal[3]) {
    for (int which = 0; which < 2; which++) {
        const double *const *one = which ? b : a, *const *other = which ? a : b;
        for (int k = 0; k < 3; k++) {
            double edge[3], out[3], own = 0, nearest = INFINITY, off[3], scale = 0;
            difference(one[(k + 1) % 3], one[k], edge);
            cross(edge, normal, out);
            difference(one[(k + 2) % 3], one[k], off);
            own = dot(off, out);
            const double sign = own < 0 ? 1 : -1; /* so that the triangle itself lies where the product is below 0 */
            scale = fabs(own);
            for (int m = 0; m < 3; m++) {
                difference(other[m], one[k], off);
                nearest = fmin(nearest, sign * dot(off, out));
                scale = fmax(scale, fabs(dot(off, out)));
            }
            if (nearest >= -1e-9 * scale) return false;
        }
    }
    return true;
}

static int shared_corners(const uint32_t *a, const uint32_t *b) {
    int shared = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) shared += a[i] == b[k];
    return shared;
}

static bool in_one_plane(const double *a[3], const double *b[3]) {
    for (int m = 0; m < 3; m++)
        if (turn(a[0], a[1], a[2], b[m]) != 0) return false;
    return true;
}

/* Edges from a shared corner lie on one side of the other's plane or in it, so they cannot pierce it. */
static bool triangles_cross(const triangle_tree *t, size_t first, size_t second) {
    const uint32_t *m = t->triangle + 3 * first, *n = t->triangle + 3 * second;
    const double *a[3], *b[3];
    for (size_t k = 0; k < 3; k++) a[k] = corner(t, first, k), b[k] = corner(t, second, k);
    if (in_one_plane(a, b)) {
        double ab[3], ac[3], normal[3];
        difference(a[1], a[0], ab);
        difference(a[2], a[0], ac);
        cross(ab, ac, normal);
        return overlap_in_plane(a, b, normal);
    }
    if (shared_corners(m, n) >= 2) return false;
    for (int k = 0; k < 3; k++) {
        if (pierces(a[k], a[(k + 1) % 3], b[0], b[1], b[2])) return true;
        if (pierces(b[k], b[(k + 1) % 3], a[0], a[1], a[2])) return true;
    }
    return false;
}

static bool boxes_meet(const tree_node *a, const tree_node *b) {
    for (int d = 0; d < 3; d++)
        if (a->low[d] > b->high[d] || b->low[d] > a->high[d]) return false;
    return true;
}

static bool triangle_boxes_meet(const triangle_tree *t, size_t a, size_t b) {
    for (int d = 0; d < 3; d++) {
        double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
        for (size_t k = 0; k < 3; k++) {
            low[0] = fmin(low[0], corner(t, a, k)[d]), high[0] = fmax(high[0], corner(t, a, k)[d]);
            low[1] = fmin(low[1], corner(t, b, k)[d]), high[1] = fmax(high[1], corner(t, b, k)[d]);
        }
        if (low[0] > high[1] || low[1] > high[0]) return false;
    }
    return true;
}

static bool leaves_cross(const triangle_tree *t, const tree_node *a, const tree_node *b, size_t pair[2]) {
    for (uint32_t i = a->first; i < a->first + a->count; i++)
        for (uint32_t k = a == b ? i + 1 : b->first; k < b->first + b->count; k++) {
            const uint32_t one = t->order[i], other = t->order[k];
            if (!triangle_boxes_meet(t, one, other) || !triangles_cross(t, one, other)) continue;
            pair[0] = one < other ? one : other;
            pair[1] = one < other ? other : one;
            return true;
        }
    return false;
}

static bool nodes_cross(const triangle_tree *t, uint32_t m, uint32_t n, size_t pair[2]) {
    const tree_node *a = &t->node[m], *b = &t->node[n];
    if (m != n && !boxes_meet(a, b)) return false;
    if (a->count > 0 && b->count > 0) return leaves_cross(t, a, b, pair);
    if (m == n)
        return nodes_cross(t, a->first, a->first, pair) || nodes_cross(t, a->first + 1, a->first + 1, pair) ||
               nodes_cross(t, a->first, a->first + 1, pair);
    /* Descends into the larger node if it has children, else into the other. */
    if (b->count > 0 || (a->count == 0 && a->reach > b->reach))
        return nodes_cross(t, a->first, n, pair) || nodes_cross(t, a->first + 1, n, pair);
    return nodes_cross(t, m, b->first, pair) || nodes_cross(t, m, b->first + 1, pair);
}

bool triangle_tree_crossing(const triangle_tree *t, size_t pair[2]) { return nodes_cross(t, 0, 0, pair); }

/* ---- Crossings along a line -------------------------------------------------------------------------------------- */

typedef enum piercing { BESIDE, THROUGH, ON_AN_EDGE } piercing;

/* Whether the segment from p to q crosses a triangle; *out: towards its outer side. */
static piercing pierce(const triangle_tree *t, size_t triangle, const double p[3], const double q[3], bool *out) {
    const double *a = corner(t, triangle, 0), *b = corner(t, triangle, 1), *c = corner(t, triangle, 2);
    const double from = turn(a, b, c, p), to = turn(a, b, c, q);
    if (from * to > 0) return BESIDE;
    const double ab = turn(p, q, a, b), bc = turn(p, q, b, c), ca = turn(p, q, c, a);
    const bool positive = ab > 0 || bc > 0 || ca > 0, negative = ab < 0 || bc < 0 || ca < 0;
    if (positive && negative) return BESIDE;
    *out = from > 0;
    return from * to < 0 && ab * bc * ca != 0 ? THROUGH : ON_AN_EDGE;
}

static bool box_meets_stretch(const tree_node *n, const double p[3], const double q[3]) {
    for (int d = 0; d < 3; d++)
        if (n->low[d] > fmax(p[d], q[d]) || n->high[d] < fmin(p[d], q[d])) return false;
    return true;
}

bool triangle_tree_step(const triangle_tree *t, const double from[3], const double to[3], int *winding) {
    uint32_t stack[DEEPEST * 2];
    int waiting = 1, change = 0;
    bool out;
    stack[0] = 0;
    while (waiting > 0) {
        const tree_node *n = &t->node[stack[--waiting]];
        if (!box_meets_stretch(n, from, to)) continue;
        if (n->count == 0) {
            stack[waiting++] = n->first;
            stack[waiting++] = n->first + 1;
        }
        for (uint32_t i = n->first; i < n->first + n->count; i++) {
            const piercing how = pierce(t, t->order[i], from, to, &out);
            if (how == ON_AN_EDGE) return false;
            if (how == THROUGH) change += out ? -1 : 1;
        }
    }
    *winding += change;
    return true;
}
