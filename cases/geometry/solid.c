/* Distances of single shapes after I. Quilez, https://iquilezles.org/articles/distfunctions: exact except for the
 * ellipsoid's, which is correct to first order near its surface. */
#include "cases/geometry/solid.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

/* ---- Vectors ----------------------------------------------------------------------------------------------------- */

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
static double length(const double a[3]) { return sqrt(dot(a, a)); }
static void difference(const double a[3], const double b[3], double out[3]) {
    for (int d = 0; d < 3; d++) out[d] = a[d] - b[d];
}

/* ---- Distances --------------------------------------------------------------------------------------------------- */

static double to_box(const shape *s, const double p[3]) {
    double out[3], most = -INFINITY;
    for (int d = 0; d < 3; d++) {
        out[d] = fabs(p[d]) - s->size[d];
        most = fmax(most, out[d]);
        out[d] = fmax(out[d], 0);
    }
    return length(out) + fmin(most, 0);
}

static double to_ellipsoid(const shape *s, const double p[3]) {
    double scaled[3], twice[3];
    for (int d = 0; d < 3; d++) {
        scaled[d] = p[d] / s->size[d];
        twice[d] = scaled[d] / s->size[d];
    }
    const double k = length(scaled), slope = length(twice);
    if (!(k > 1e-9)) return -fmin(s->size[0], fmin(s->size[1], s->size[2]));
    return k * (k - 1) / slope;
}

static double to_torus(const shape *s, const double p[3]) {
    const double off = sqrt(p[0] * p[0] + p[1] * p[1]) - s->size[0];
    return sqrt(off * off + p[2] * p[2]) - s->size[1];
}

/* The hull of two spheres: nearest to one of them, or to the cone that touches both. */
static double to_round_cone(const shape *s, const double p[3]) {
    double axis[3];
    difference(s->to, s->at, axis);
    const double l2 = dot(axis, axis), thinner = s->size[0] - s->size[1], a2 = l2 - thinner * thinner;
    if (!(a2 > 0)) { /* one sphere contains the other */
        return thinner >= 0 ? length(p) - s->size[0]
                            : length((const double[]){p[0] - axis[0], p[1] - axis[1], p[2] - axis[2]}) - s->size[1];
    }
    double aside[3];
    const double y = dot(p, axis), z = y - l2;
    for (int d = 0; d < 3; d++) aside[d] = p[d] * l2 - axis[d] * y;
    const double x2 = dot(aside, aside), y2 = y * y * l2, z2 = z * z * l2;
    const double k = (thinner > 0 ? 1 : thinner < 0 ? -1 : 0) * thinner * thinner * x2;
    if ((z > 0 ? 1 : -1) * a2 * z2 > k) return sqrt(x2 + z2) / l2 - s->size[1];
    if ((y > 0 ? 1 : -1) * a2 * y2 < k) return sqrt(x2 + y2) / l2 - s->size[0];
    return (sqrt(x2 * a2 / l2) + y * thinner) / l2 - s->size[0];
}

static double to_cylinder(const shape *s, const double p[3]) {
    double axis[3], aside[3];
    difference(s->to, s->at, axis);
    const double l = length(axis), along = dot(p, axis) / l;
    for (int d = 0; d < 3; d++) aside[d] = p[d] - axis[d] / l * along;
    const double x = length(aside) - s->size[0], y = fabs(along - 0.5 * l) - 0.5 * l;
    const double out[3] = {fmax(x, 0), fmax(y, 0), 0};
    return length(out) + fmin(fmax(x, y), 0);
}

static double to_shape(const shape *s, const double x[3]) {
    double p[3];
    difference(x, s->at, p);
    switch (s->kind) {
        case SHAPE_SPHERE:
            return length(p) - s->size[0];
        case SHAPE_BOX:
            return to_box(s, p);
        case SHAPE_ELLIPSOID:
            return to_ellipsoid(s, p);
        case SHAPE_TORUS:
            return to_torus(s, p);
        case SHAPE_ROUND_CONE:
            return to_round_cone(s, p);
        case SHAPE_CYLINDER:
            return to_cylinder(s, p);
    }
    return INFINITY;
}

/* Smooth minimum: rounded off where the two differ by less than `blend`, which makes a fillet in the crease. It is
 * never above the lesser of the two. */
static double melt(double a, double b, double blend) {
    const double least = a < b ? a : b, near = blend - fabs(a - b);
    return blend > 0 && near > 0 ? least - 0.25 * near * near / blend : least;
}

/* Whether a shape is too far from x to lower a distance found so far, given with the blend added, m. */
static bool beyond(const shape_bound *b, const double x[3], double distance_and_blend) {
    double p[3];
    if (!(distance_and_blend >= 0)) return false;
    difference(x, b->centre, p);
    const double far = b->radius + b->stretch * distance_and_blend;
    return dot(p, p) > far * far;
}

/* The distance from the blended shapes. Stops once it is below `enough`: the other shapes could only lower it. */
static double to_shapes_until(const shapes *s, const double x[3], double enough) {
    double distance = INFINITY;
    for (int i = 0; i < s->count && !(distance < enough); i++)
        if (!beyond(&s->bound[i], x, distance + s->blend))
            distance = melt(distance, to_shape(&s->item[i], x), s->blend);
    return distance;
}

static double to_shapes(const solid *body, const double x[3]) { return to_shapes_until(body->of, x, -INFINITY); }

static bool shapes_deeper(const solid *body, const double x[3], double depth) {
    return to_shapes_until(body->of, x, -depth) < -depth;
}

/* ---- The solid --------------------------------------------------------------------------------------------------- */

static void grow(solid *body, const double at[3], const double reach[3]) {
    for (int d = 0; d < 3; d++) {
        body->low[d] = fmin(body->low[d], at[d] - reach[d]);
        body->high[d] = fmax(body->high[d], at[d] + reach[d]);
    }
}

static void grow_by_shape(solid *body, const shape *s) {
    double reach[3];
    switch (s->kind) {
        case SHAPE_BOX:
        case SHAPE_ELLIPSOID:
            grow(body, s->at, s->size);
            break;
        case SHAPE_TORUS:
            reach[0] = reach[1] = s->size[0] + s->size[1];
            reach[2] = s->size[1];
            grow(body, s->at, reach);
            break;
        case SHAPE_SPHERE:
            reach[0] = reach[1] = reach[2] = s->size[0];
            grow(body, s->at, reach);
            break;
        case SHAPE_ROUND_CONE:
            reach[0] = reach[1] = reach[2] = s->size[0];
            grow(body, s->at, reach);
            reach[0] = reach[1] = reach[2] = s->size[1];
            grow(body, s->to, reach);
            break;
        case SHAPE_CYLINDER: {
            double axis[3];
            difference(s->to, s->at, axis);
            for (int d = 0; d < 3; d++) {
                const double cosine = axis[d] / length(axis);
                reach[d] = s->size[0] * sqrt(fmax(1 - cosine * cosine, 0));
            }
            grow(body, s->at, reach);
            grow(body, s->to, reach);
            break;
        }
    }
}

static double volume_of(const shape *s) {
    const double *r = s->size;
    double axis[3];
    difference(s->to, s->at, axis);
    switch (s->kind) {
        case SHAPE_SPHERE:
            return 4 * PI / 3 * r[0] * r[0] * r[0];
        case SHAPE_BOX:
            return 8 * r[0] * r[1] * r[2];
        case SHAPE_ELLIPSOID:
            return 4 * PI / 3 * r[0] * r[1] * r[2];
        case SHAPE_TORUS:
            return 2 * PI * PI * r[0] * r[1] * r[1];
        case SHAPE_CYLINDER:
            return PI * r[0] * r[0] * length(axis);
        case SHAPE_ROUND_CONE:
            return r[0] == r[1] ? PI * r[0] * r[0] * (length(axis) + 4 * r[0] / 3) : 0;
    }
    return 0;
}

solid shapes_solid(const shapes *s) {
    solid body = {.low = {INFINITY, INFINITY, INFINITY},
                  .high = {-INFINITY, -INFINITY, -INFINITY},
                  .distance = to_shapes,
                  .deeper = shapes_deeper,
                  .of = s};
    for (int i = 0; i < s->count; i++) grow_by_shape(&body, &s->item[i]);
    if (s->count == 1) {
        body.volume = volume_of(&s->item[0]);
        return body;
    }
    for (int d = 0; d < 3; d++) { /* a fillet may protrude a little */
        body.low[d] -= 0.25 * s->blend;
        body.high[d] += 0.25 * s->blend;
    }
    return body;
}

/* ---- Building ---------------------------------------------------------------------------------------------------- */

/* With k = |p/r|, a first-order distance from an ellipsoid with radii r is k (k - 1)/|p/r^2| >= (k - 1) least(r). */
static shape_bound bound_of(const shape *s) {
    shape_bound b = {.stretch = 1};
    const double *r = s->size;
    double axis[3];
    difference(s->to, s->at, axis);
    const double half = 0.5 * length(axis);
    for (int d = 0; d < 3; d++) b.centre[d] = 0.5 * (s->at[d] + s->to[d]);
    switch (s->kind) {
        case SHAPE_SPHERE:
            b.radius = r[0];
            break;
        case SHAPE_BOX:
            b.radius = length(r);
            break;
        case SHAPE_ELLIPSOID:
            b.radius = fmax(r[0], fmax(r[1], r[2]));
            b.stretch = b.radius / fmin(r[0], fmin(r[1], r[2]));
            break;
        case SHAPE_TORUS:
            b.radius = r[0] + r[1];
            break;
        case SHAPE_ROUND_CONE:
            b.radius = half + fmax(r[0], r[1]);
            break;
        case SHAPE_CYLINDER:
            b.radius = sqrt(half * half + r[0] * r[0]);
            break;
    }
    b.radius *= 1 + 1e-9; /* roundings of the shape's own distance */
    return b;
}

static void add(shapes *s, shape one) {
    assert(s->count < SHAPES_MOST);
    s->item[s->count] = one;
    s->bound[s->count++] = bound_of(&one);
}

void shapes_sphere(shapes *s, double x, double y, double z, double radius) {
    add(s, (shape){SHAPE_SPHERE, {x, y, z}, {x, y, z}, {radius, radius, radius}});
}

void shapes_box(shapes *s, const double low[3], const double high[3]) {
    shape box = {.kind = SHAPE_BOX};
    for (int d = 0; d < 3; d++) {
        box.at[d] = box.to[d] = 0.5 * (low[d] + high[d]);
        box.size[d] = 0.5 * (high[d] - low[d]);
    }
    add(s, box);
}

void shapes_ellipsoid(shapes *s, double x, double y, double z, double rx, double ry, double rz) {
    add(s, (shape){SHAPE_ELLIPSOID, {x, y, z}, {x, y, z}, {rx, ry, rz}});
}

void shapes_torus(shapes *s, double x, double y, double z, double ring, double tube) {
    add(s, (shape){SHAPE_TORUS, {x, y, z}, {x, y, z}, {ring, tube, 0}});
}

void shapes_cone(shapes *s, const double from[3], double from_radius, const double to[3], double to_radius) {
    add(s, (shape){SHAPE_ROUND_CONE, {from[0], from[1], from[2]}, {to[0], to[1], to[2]}, {from_radius, to_radius, 0}});
}

void shapes_cylinder(shapes *s, const double from[3], const double to[3], double radius) {
    add(s, (shape){SHAPE_CYLINDER, {from[0], from[1], from[2]}, {to[0], to[1], to[2]}, {radius, radius, 0}});
}

void shapes_place(shapes *s, double factor, const double by[3]) {
    s->blend *= factor;
    for (int i = 0; i < s->count; i++) {
        for (int d = 0; d < 3; d++) {
            s->item[i].at[d] = factor * s->item[i].at[d] + by[d];
            s->item[i].to[d] = factor * s->item[i].to[d] + by[d];
            s->item[i].size[d] *= factor;
        }
        s->bound[i] = bound_of(&s->item[i]);
    }
}
