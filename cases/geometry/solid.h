/* A solid that particles can fill: its bounding box and its signed distance function. It is made of the shapes below,
 * single or blended, or of a closed triangle mesh (triangle_mesh.h). */
#ifndef PBD_SOLID_H
#define PBD_SOLID_H

#include "methods/method.h"

typedef struct solid {
    double low[3], high[3]; /* m: a box that contains it */
    double volume;          /* m^3; 0: unknown */
    /* Signed distance from the surface, m: negative inside. The sign is exact. The magnitude is exact for meshes,
     * spheres, boxes, capsules, round cones, cylinders and tori; for ellipsoids and blended shapes near the surface. */
    double (*distance)(const struct solid *, const double x[3]);
    /* Whether distance(x) < -depth, computed faster; NULL: `distance` is used. */
    bool (*deeper)(const struct solid *, const double x[3], double depth);
    const void *of; /* data of `distance`; borrowed */
} solid;

/* Whether x is inside, and farther from the surface than `depth` (m). */
static inline bool solid_deeper(const solid *body, const double x[3], double depth) {
    return body->deeper ? body->deeper(body, x, depth) : body->distance(body, x) < -depth;
}

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

typedef enum shape_kind {
    SHAPE_SPHERE,
    SHAPE_BOX,
    SHAPE_ELLIPSOID,
    SHAPE_TORUS, /* about z */
    SHAPE_ROUND_CONE,
    SHAPE_CYLINDER
} shape_kind;

typedef struct shape {
    shape_kind kind;
    double at[3], to[3]; /* m: the centre, or the ends of an axis */
    double size[3];      /* m: radii; half the edges of a box; ring and tube radius of a torus */
} shape;

/* A sphere around a shape: the distance of a point from the shape is at least (r - radius)/stretch, where r >= radius
 * is the point's distance from the centre. */
typedef struct shape_bound {
    double centre[3], radius; /* m */
    double stretch;           /* 1 where the shape's distance is exact */
} shape_bound;

enum { SHAPES_MOST = 24 };

typedef struct shapes {
    int count;
    shape item[SHAPES_MOST];
    shape_bound bound[SHAPES_MOST];
    double blend; /* m: distance over which neighbours are blended; 0: a plain union */
} shapes;

void shapes_sphere(shapes *s, double x, double y, double z, double radius);
void shapes_box(shapes *s, const double low[3], const double high[3]);
void shapes_ellipsoid(shapes *s, double x, double y, double z, double rx, double ry, double rz);
void shapes_torus(shapes *s, double x, double y, double z, double ring, double tube);
/* The hull of two spheres; a capsule where the radii are equal. */
void shapes_cone(shapes *s, const double from[3], double from_radius, const double to[3], double to_radius);
void shapes_cylinder(shapes *s, const double from[3], const double to[3], double radius);

/* The solid made of the shapes, which it borrows. The volume is known of a single sphere, box, ellipsoid, torus,
 * cylinder or capsule. */
solid shapes_solid(const shapes *s);
/* Scales all lengths by `factor`, then moves the shapes by `by`, m. */
void shapes_place(shapes *s, double factor, const double by[3]);

/* ---- Bodies by name ---------------------------------------------------------------------------------------------- */

/* Each has its lowest point at z = 0, its centre above the origin, and a bounding box whose largest edge is 1 m. Bunny,
 * cow and armadillo are stand-ins, built of ellipsoids and round cones, for scanned meshes that are not shipped: with a
 * similar outline and for any number of particles. The armadillo stands on two legs and has two arms. */
typedef enum body_shape {
    BODY_SPHERE,
    BODY_BOX,     /* a cube */
    BODY_CAPSULE, /* lies along x: half as thick as long */
    BODY_TORUS,   /* flat: the ring's radius 0.34, the tube's 0.16 */
    BODY_SHEET,   /* a box 1 x 1 x 0.05 */
    BODY_BUNNY,
    BODY_COW,
    BODY_ARMADILLO,
    BODY_ANT, /* stands along x on six legs, the head at +x */
    BODY_SHAPES
} body_shape;

extern const char *const body_shape_names[BODY_SHAPES + 1]; /* ends with NULL */

void body_shape_make(body_shape which, shapes *out);

/* The armadillo's hand at +x: centre of the palm and radius, m. */
void armadillo_hand(double at[3], double *radius);

#endif
