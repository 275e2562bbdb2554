/* A solid that particles can fill: where it is, and how far a point is from its surface. Shapes made here, alone or
 * melted together, and closed triangle meshes (triangle_mesh.h). */
#ifndef PBD_SOLID_H
#define PBD_SOLID_H

#include "methods/method.h"

typedef struct solid {
    double low[3], high[3]; /* m: a box that holds it */
    double volume;          /* m^3; 0: not known */
    /* m: negative inside. Its sign is exact. Its size is the distance from the surface: exact for meshes, spheres,
     * boxes, capsules, round cones, cylinders and tori; near the surface for ellipsoids and where shapes melt. */
    double (*distance)(const struct solid *, const double x[3]);
    /* A faster way to ask whether distance(x) < -depth; NULL: by the distance. */
    bool (*deeper)(const struct solid *, const double x[3], double depth);
    const void *of; /* what `distance` reads; borrowed */
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
    double size[3];      /* m: radii; of a box half its edges; of a torus the ring's radius, then the tube's */
} shape;

enum { SHAPES_MOST = 24 };

typedef struct shapes {
    int count;
    shape item[SHAPES_MOST];
    double blend; /* m: neighbours melt into each other over this; 0: a plain union */
} shapes;

void shapes_sphere(shapes *s, double x, double y, double z, double radius);
void shapes_box(shapes *s, const double low[3], const double high[3]);
void shapes_ellipsoid(shapes *s, double x, double y, double z, double rx, double ry, double rz);
void shapes_torus(shapes *s, double x, double y, double z, double ring, double tube);
/* The hull of two spheres; a capsule where the radii are equal. */
void shapes_cone(shapes *s, const double from[3], double from_radius, const double to[3], double to_radius);
void shapes_cylinder(shapes *s, const double from[3], const double to[3], double radius);

/* The solid that they make; borrows them. Of a single sphere, box, ellipsoid, torus or cylinder, and of a single
 * capsule, the volume is known. */
solid shapes_solid(const shapes *s);
/* Lengths times a factor, and then moved. */
void shapes_place(shapes *s, double factor, const double by[3]);

/* ---- Bodies by name ---------------------------------------------------------------------------------------------- */

/* Each with its lowest point at z = 0, its middle over the origin, and the largest edge of its bounding box 1 m. Bunny,
 * cow and armadillo are stand-ins, built of ellipsoids and round cones, for scanned meshes that are not shipped: of
 * like outline and of any number of particles. The armadillo stands on two legs and has two arms. */
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

/* Where the armadillo's hand at +x is: the middle of its palm and its radius, m. */
void armadillo_hand(double at[3], double *radius);

#endif
